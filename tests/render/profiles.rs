//! Profiles: their fields, and the errors for mistakes in them.

use transship::Cluster;

use crate::support::{Folder, TestProject, profile};

/// Returns the errors of loading a profile.
fn load_error(text: &str) -> String {
    let project = TestProject::new().file("profiles/p.yaml", text);
    project.shown(&project.profiles().expect_err("the profile must be an error"))
}

#[test]
fn a_profile_has_filters_a_cluster_and_a_namespace() {
    let folder = Folder::new();
    let more = "  featureSet: TechPreviewNoUpgrade\n  featureGates: [A, B]\n  capabilities: [Storage]\n  \
                knownCapabilities: [Insights]\n  majorVersion: 4\n  excludeIdentifier: internal\nnamespace: clusters-a\n";
    folder.write("profiles/p.yaml", profile("p", more));
    let profiles = folder.profiles().unwrap();
    let p = profiles.named(Some("p")).unwrap()[0];
    assert_eq!((p.cluster, p.topology.as_str(), p.namespace()), (Cluster::Both, "p", Some("clusters-a")));
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(p.select.cluster_profile.as_deref(), Some("test"));
    assert_eq!(p.select.feature_set.as_deref(), Some("TechPreviewNoUpgrade"));
    assert_eq!(p.select.feature_gates, Some(set(&["A", "B"])));
    assert_eq!(p.select.major_version, Some(4));
    assert_eq!(p.select.exclude_identifier.as_deref(), Some("internal"));
    let capabilities = p.select.capabilities.as_ref().unwrap();
    assert_eq!(
        (&capabilities.enabled, &capabilities.known),
        (&set(&["Storage"]), &set(&["Insights", "Storage"]))
    );
}

#[test]
fn all_mistakes_are_reported_with_line_and_help() {
    let shown = load_error(
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
    for message in [
        "error: profiles/p.yaml:2:7: `kind` cannot be `Profil`\n  help: did you mean `Profile`?",
        "error: profiles/p.yaml:3:21: metadata has no field `labels`\n  help: its fields are name",
        "error: profiles/p.yaml:4:1: a profile has no field `topologie`\n  help: did you mean `topology`?",
        "error: profiles/p.yaml:5:10: `cluster` must be text, not a list",
        "error: profiles/p.yaml:7:3: select has no field `clusterProfil`\n  help: did you mean `clusterProfile`?",
        "error: profiles/p.yaml:8:17: `majorVersion` must be a whole number, zero or more, not a number",
        "error: profiles/p.yaml:9:17: `featureGates` must be a list, not text",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn an_unknown_cluster_is_an_error() {
    let shown = load_error(&profile("p", "").replace("cluster: both", "cluster: mgmt"));
    assert_eq!(
        shown,
        "error: profiles/p.yaml:6:10: `cluster` cannot be `mgmt`\n  help: use one of management, guest, both"
    );
}

#[test]
fn duplicate_profiles_several_documents_and_no_profile_are_errors() {
    let folder = Folder::new();
    folder.write("profiles/a.yaml", profile("p", ""));
    folder.write("profiles/b.yaml", profile("p", ""));
    let shown = folder.shown(&folder.profiles().unwrap_err());
    assert_eq!(
        shown,
        "error: profiles/b.yaml:1:1: the profile `p` is declared twice\n  note: the first is at profiles/a.yaml:1:1"
    );
    assert!(
        load_error(&format!("{}---\na: 1\n", profile("p", "")))
            .contains("the file must have one document, not 2")
    );
    let folder = Folder::new();
    folder.write("profiles/README.md", "nothing");
    assert!(
        folder
            .shown(&folder.profiles().unwrap_err())
            .starts_with("error: profiles: the folder has no profile")
    );
}

#[test]
fn a_duplicate_key_in_a_profile_is_an_error() {
    let shown = load_error(&format!("{}topology: other\n", profile("p", "")));
    assert_eq!(
        shown,
        "error: profiles/p.yaml:9:1: the key `topology` is duplicated\n  note: the first is at profiles/p.yaml:5:1\n  \
         help: remove one of them"
    );
}

#[test]
fn an_unknown_profile_suggests_the_closest_name() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    for (name, help) in [("tset", "did you mean `test`?"), ("standalone", "use one of test")] {
        let run = folder.run(&["render", "--profile", name]);
        assert_eq!(run.code, 2);
        assert_eq!(run.stderr, format!("error: there is no profile `{name}`\n  help: {help}\n"));
    }
}

#[test]
fn names_are_checked_because_they_become_paths() {
    for name in ["../../escaped", "/abs", "A", "-a", ""] {
        let shown = load_error(&profile("p", "").replace("name: p", &format!("name: \"{name}\"")));
        assert!(
            shown.starts_with(&format!("error: profiles/p.yaml:4:9: `name` cannot be `{name}`\n  help: ")),
            "{shown}"
        );
    }
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    folder.write("profiles/test.yaml", profile("test", "namespace: Not A/Name\n"));
    let shown = folder.shown(&folder.render().unwrap_err());
    assert!(
        shown.starts_with("error: profiles/test.yaml:9:12: `Not A/Name` is not a valid name for a namespace"),
        "{shown}"
    );
}

#[test]
fn a_missing_name_is_reported_with_the_other_mistakes() {
    let shown =
        load_error("apiVersion: transship.openshift.io/v1\nkind: Profile\ntopology: x\ncluster: bth\n");
    assert!(
        shown.contains("a profile needs the field `metadata`") && shown.contains("`cluster` cannot be `bth`"),
        "{shown}"
    );
}

#[test]
fn selecting_nothing_is_an_error() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    folder.write(
        "profiles/test.yaml",
        profile("test", "").replace("clusterProfile: test", "clusterProfile: tset"),
    );
    for arguments in [&["render", "--profile", "test"][..], &["golden", "update"]] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2);
        assert_eq!(
            run.stderr,
            "error: the profile `test` selects none of the payload's 1 manifests\n  \
             note: 1 of them for this reason: cluster-profile: include.release.openshift.io/tset unset\n  \
             help: check the names in `select`\n"
        );
    }
}

#[test]
fn errors_of_all_profiles_are_reported_together() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    for name in ["one", "two"] {
        folder.write(
            &format!("profiles/{name}.yaml"),
            profile(name, "").replace("clusterProfile: test", "clusterProfile: nobody"),
        );
    }
    let run = folder.run(&["golden", "check"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("the profile `one` selects") && run.stderr.contains("the profile `two` selects"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_profile_must_have_or_inherit_topology_and_cluster() {
    let shown = load_error("apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {name: p}\n");
    assert_eq!(
        shown,
        "error: profiles/p.yaml:1:1: a profile needs the field `topology`\n\
         error: profiles/p.yaml:1:1: a profile needs the field `cluster`"
    );
}

#[test]
fn an_unknown_parent_is_the_only_error() {
    let project = TestProject::with_deployment("", "extends: hypershft\n")
        .fragment("w", "adds: [{in: [guest], nothing: x}]\n");
    let shown = project.render_error("guest");
    assert!(shown.contains("profiles/mc.yaml:6:10: there is no profile `hypershft` to extend"), "{shown}");
}
