//! Profiles: their fields, and the errors for mistakes in them.

use crate::support::{TestProject, config_map};

/// Creates a project with one ConfigMap and no profiles.
fn without_profiles() -> TestProject {
    TestProject::new().manifest("a.yaml", &config_map("a", "{}"))
}

/// Returns the error of a project whose profile `p` is this file.
fn profile_error(yaml: &str) -> String {
    without_profiles().file("profiles/p.yaml", yaml).render_error("p")
}

/// A manifest that all filters of the profile include, and one for each filter that excludes it.
const MANIFESTS: &str = r"
apiVersion: v1
kind: ConfigMap
metadata:
  name: all-filters
  namespace: ns
  annotations:
    include.release.openshift.io/test: 'true'
    release.openshift.io/feature-gate: A,B
    capability.openshift.io/name: Storage
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: feature-set
  namespace: ns
  annotations: {include.release.openshift.io/test: 'true', release.openshift.io/feature-set: Default}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: feature-gate
  namespace: ns
  annotations: {include.release.openshift.io/test: 'true', release.openshift.io/feature-gate: C}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: known-capability
  namespace: ns
  annotations: {include.release.openshift.io/test: 'true', capability.openshift.io/name: Insights}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: unknown-capability
  namespace: ns
  annotations: {include.release.openshift.io/test: 'true', capability.openshift.io/name: Console}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: major-version
  annotations: {include.release.openshift.io/test: 'true', release.openshift.io/major-version: '5'}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: exclude-identifier
  namespace: ns
  annotations: {include.release.openshift.io/test: 'true', exclude.release.openshift.io/internal: 'true'}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-profile
  namespace: ns
  annotations: {x: x}
";

#[test]
fn a_profile_has_filters_a_cluster_and_a_namespace() {
    let project = TestProject::new().manifest("a.yaml", MANIFESTS).profile(
        "p",
        r"
        topology: p
        cluster: both
        namespace: clusters-a
        select:
          clusterProfile: test
          featureSet: TechPreviewNoUpgrade
          featureGates: [A, B]
          capabilities: [Storage]
          knownCapabilities: [Insights]
          majorVersion: 4
          excludeIdentifier: internal
        ",
    );
    assert_eq!(
        project.run(&["list", "--profile", "p"]).stdout,
        "\
INCLUDED  CLUSTER  OBJECT                                  NAMESPACE  FILE    REASON
yes       both     ConfigMap/all-filters                   ns         a.yaml
no        -        ConfigMap/feature-set                   ns         a.yaml  feature-set: \"TechPreviewNoUpgrade\" is required, and release.openshift.io/feature-set=Default
no        -        ConfigMap/feature-gate                  ns         a.yaml  feature-gate: feature gate C is required but not enabled
no        -        ConfigMap/known-capability              ns         a.yaml  capability: disabled capabilities: Insights
no        -        ConfigMap/unknown-capability            ns         a.yaml  capability: unrecognized capability names: Console
no        -        CustomResourceDefinition/major-version  -          a.yaml  major-version: major version 4 does not match any required versions
no        -        ConfigMap/exclude-identifier            ns         a.yaml  excluded: exclude.release.openshift.io/internal=true
no        -        ConfigMap/cluster-profile               ns         a.yaml  cluster-profile: include.release.openshift.io/test unset
"
    );
    assert_eq!(project.render("p")[0]["metadata"]["namespace"], "clusters-a");
}

#[test]
fn all_mistakes_are_reported_with_line_and_help() {
    let error = profile_error(
        r"
        apiVersion: transship.openshift.io/v1
        kind: Profil
        metadata: {name: p, labels: {}}
        topologie: x
        cluster: [a]
        select:
          clusterProfil: x
          majorVersion: -1
          featureGates: A
        ",
    );
    assert_eq!(
        error,
        "\
error: profiles/p.yaml:2:7: `kind` cannot be `Profil`
  help: did you mean `Profile`?
error: profiles/p.yaml:3:21: metadata has no field `labels`
  help: its fields are name
error: profiles/p.yaml:5:10: `cluster` must be text, not a list
error: profiles/p.yaml:9:17: `featureGates` must be a list, not text
error: profiles/p.yaml:8:17: `majorVersion` must be a whole number, zero or more, not a number
error: profiles/p.yaml:7:3: select has no field `clusterProfil`
  help: did you mean `clusterProfile`?
error: profiles/p.yaml:4:1: a profile has no field `topologie`
  help: did you mean `topology`?
7 errors
"
    );
}

#[test]
fn an_unknown_cluster_is_an_error() {
    let project = without_profiles().profile("p", "topology: p\ncluster: mgmt\n");
    assert_eq!(
        project.render_error("p"),
        "\
error: profiles/p.yaml:5:10: `cluster` cannot be `mgmt`
  help: use one of management, guest, both
"
    );
}

#[test]
fn two_profiles_with_one_name_are_an_error() {
    let profile = r"
        apiVersion: transship.openshift.io/v1
        kind: Profile
        metadata: {name: p}
        topology: p
        cluster: both
        ";
    let project = without_profiles().file("profiles/a.yaml", profile).file("profiles/b.yaml", profile);
    assert_eq!(
        project.render_error("p"),
        "\
error: profiles/b.yaml:1:1: the profile `p` is declared twice
  note: the first is at profiles/a.yaml:1:1
"
    );
}

#[test]
fn a_profile_has_one_document() {
    let error = profile_error(
        r"
        apiVersion: transship.openshift.io/v1
        kind: Profile
        metadata: {name: p}
        topology: p
        cluster: both
        ---
        a: 1
        ",
    );
    assert_eq!(
        error,
        "\
error: profiles/p.yaml: the file must have one document, not 2
  help: move each document to its own file
"
    );
}

#[test]
fn a_folder_without_profiles_is_an_error() {
    let project = without_profiles().file("profiles/README.md", "nothing");
    assert_eq!(
        project.render_error("p"),
        "\
error: profiles: the folder has no profile
  help: add a file such as standalone.yaml with `kind: Profile`
"
    );
}

#[test]
fn a_duplicate_key_in_a_profile_is_an_error() {
    let error = profile_error(
        r"
        apiVersion: transship.openshift.io/v1
        kind: Profile
        metadata: {name: p}
        topology: p
        cluster: both
        topology: other
        ",
    );
    assert_eq!(
        error,
        "\
error: profiles/p.yaml:6:1: the key `topology` is duplicated
  note: the first is at profiles/p.yaml:4:1
  help: remove one of them
"
    );
}

#[test]
fn an_unknown_profile_suggests_the_closest_name() {
    let project = TestProject::standalone().manifest("a.yaml", &config_map("a", "{}"));
    assert_eq!(
        project.render_error("tset"),
        "\
error: there is no profile `tset`
  help: did you mean `test`?
"
    );
    assert_eq!(
        project.render_error("standalone"),
        "\
error: there is no profile `standalone`
  help: use one of test
"
    );
}

#[test]
fn names_are_checked_because_they_become_paths() {
    for name in ["../../escaped", "/abs", "A", "-a", ""] {
        let error = profile_error(&format!(
            "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {{name: '{name}'}}\n\
             topology: p\ncluster: both\n"
        ));
        assert_eq!(
            error,
            format!(
                "error: profiles/p.yaml:3:18: `name` cannot be `{name}`\n  \
                 help: use at most 63 lower-case letters, digits and `-`, with no `-` at either end\n"
            )
        );
    }
}

#[test]
fn the_namespace_must_be_a_valid_name() {
    let project = without_profiles().profile(
        "p",
        r"
        topology: p
        cluster: both
        namespace: Not A/Name
        ",
    );
    assert_eq!(
        project.render_error("p"),
        "\
error: profiles/p.yaml:6:12: `Not A/Name` is not a valid name for a namespace
  help: use at most 63 lower-case letters, digits and `-`; start and end with a letter or digit
"
    );
}

#[test]
fn a_missing_name_is_reported_with_the_other_mistakes() {
    let error = profile_error(
        r"
        apiVersion: transship.openshift.io/v1
        kind: Profile
        topology: x
        cluster: bth
        ",
    );
    assert_eq!(
        error,
        "\
error: profiles/p.yaml:1:1: a profile needs the field `metadata`
error: profiles/p.yaml:4:10: `cluster` cannot be `bth`
  help: did you mean `both`?
2 errors
"
    );
}

#[test]
fn selecting_nothing_is_an_error() {
    let project = without_profiles().profile(
        "p",
        r"
        topology: p
        cluster: both
        select: {clusterProfile: tset}
        ",
    );
    assert_eq!(
        project.render_error("p"),
        "\
error: the profile `p` selects none of the payload's 1 manifests
  note: 1 of them for this reason: cluster-profile: include.release.openshift.io/tset unset
  help: check the names in `select`
"
    );
    assert_eq!(project.run(&["golden", "update"]).refusal(), project.render_error("p"));
}

#[test]
fn errors_of_all_profiles_are_reported_together() {
    let project = without_profiles()
        .profile(
            "one",
            r"
            topology: one
            cluster: both
            select: {clusterProfile: nobody}
            ",
        )
        .profile(
            "two",
            r"
            topology: two
            cluster: both
            select: {clusterProfile: nobody}
            ",
        );
    assert_eq!(
        project.run(&["golden", "check"]).refusal(),
        "\
error: the profile `one` selects none of the payload's 1 manifests
  note: 1 of them for this reason: cluster-profile: include.release.openshift.io/nobody unset
  help: check the names in `select`
error: the profile `two` selects none of the payload's 1 manifests
  note: 1 of them for this reason: cluster-profile: include.release.openshift.io/nobody unset
  help: check the names in `select`
2 errors
"
    );
}

#[test]
fn a_profile_must_have_or_inherit_topology_and_cluster() {
    let project = without_profiles().profile("p", "");
    assert_eq!(
        project.render_error("p"),
        "\
error: profiles/p.yaml:1:1: a profile needs the field `topology`
error: profiles/p.yaml:1:1: a profile needs the field `cluster`
2 errors
"
    );
}

#[test]
fn an_unknown_parent_is_the_only_error() {
    let project = TestProject::with_deployment("", "extends: hypershft\n")
        .fragment("w", "adds: [{in: [guest], nothing: x}]\n");
    assert_eq!(
        project.render_error("guest"),
        "error: profiles/mc.yaml:6:10: there is no profile `hypershft` to extend\n"
    );
}
