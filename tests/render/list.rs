//! `list`: the decision and the reason for every manifest, for a payload with the layout of a release image.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Run, TestProject, repository, run_in};

/// Creates a project with a release image in the folder `release`.
fn release() -> TestProject {
    TestProject::new()
        .release_image("release")
        .file("release/manifests/ignored", "not: a manifest")
        .file("release/manifests/below/ignored.yaml", "not: a manifest")
        .file(
            "release/manifests/0000_90_cvo_own.yaml",
            r"
            apiVersion: v1
            kind: Namespace
            metadata: {name: cvo, annotations: {include.release.openshift.io/hypershift: 'true'}}
            ",
        )
        .file("release/release-manifests/0000_50_op_a.yaml", OPERATOR)
}

const OPERATOR: &str = r"
apiVersion: v1
kind: ConfigMap
metadata:
  name: in
  annotations: {include.release.openshift.io/hypershift: 'true'}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: other-profile
  annotations: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: gate
  annotations: {include.release.openshift.io/hypershift: 'true', release.openshift.io/feature-gate: New}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: capability
  annotations: {include.release.openshift.io/hypershift: 'true', capability.openshift.io/name: Storage}
---
apiVersion: v1
kind: Namespace
metadata:
  name: overridden
  annotations: {include.release.openshift.io/hypershift: 'true'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: bare, namespace: ns}
";

fn list_release(project: &TestProject, flags: &[&str]) -> Run {
    project.run(&[&["list", "--payload", "release", "-o", "json"][..], flags].concat())
}

fn rows(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the names of the excluded objects.
fn excluded(run: &Run) -> Vec<Value> {
    let mut names = Vec::new();
    for row in rows(run) {
        if row["included"] == false {
            names.push(row["name"].clone());
        }
    }
    names
}

#[test]
fn lists_every_manifest_with_its_decision_and_reason() {
    let run = list_release(
        &release(),
        &[
            "--cluster-profile=hypershift",
            "--feature-set=Default",
            "--feature-gate=Old",
            "--known-capability=Storage",
            "--override=/Namespace//overridden",
        ],
    );
    let expected = json!([
        {
            "file": "manifests/0000_90_cvo_own.yaml", "document": 1,
            "group": "", "version": "v1", "kind": "Namespace", "namespace": "", "name": "cvo",
            "included": true, "reason": null, "cluster": null,
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 1,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "in",
            "included": true, "reason": null, "cluster": null,
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 2,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "other-profile",
            "included": false, "cluster": null,
            "reason": {"code": "cluster-profile", "message": "include.release.openshift.io/hypershift unset"},
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 3,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "gate",
            "included": false, "cluster": null,
            "reason": {"code": "feature-gate", "message": "feature gate New is required but not enabled"},
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 4,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "capability",
            "included": false, "cluster": null,
            "reason": {"code": "capability", "message": "disabled capabilities: Storage"},
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 5,
            "group": "", "version": "v1", "kind": "Namespace", "namespace": "", "name": "overridden",
            "included": false, "cluster": null,
            "reason": {"code": "override", "message": "overridden"},
        },
        {
            "file": "release-manifests/0000_50_op_a.yaml", "document": 6,
            "group": "apps", "version": "v1", "kind": "Deployment", "namespace": "ns", "name": "bare",
            "included": false, "cluster": null,
            "reason": {"code": "no-annotations", "message": "no annotations"},
        },
    ]);
    assert_eq!(Value::Array(rows(&run)), expected);
}

#[test]
fn a_filter_without_its_flag_is_off() {
    assert_eq!(excluded(&list_release(&release(), &[])), ["bare"]);
}

#[test]
fn a_filter_can_be_on_with_nothing_enabled() {
    let run = list_release(&release(), &["--feature-gate", "", "--capability", ""]);
    assert_eq!(excluded(&run), ["gate", "capability", "bare"]);
}

#[test]
fn the_running_payload_enables_capabilities_implicitly() {
    let project = release().file(
        "before/a.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: capability, annotations: {include.release.openshift.io/hypershift: 'true'}}
        ",
    );
    let run = list_release(&project, &["--previous-payload", "before"]);
    assert_eq!(run.stderr, "implicitly enabled capabilities: Storage\n");
    assert_eq!(excluded(&run), ["bare"]);
}

#[test]
fn a_profile_adds_the_cluster_of_each_object() {
    let run = run_in(&repository(), &["list", "--profile", "standalone", "-o", "json"], "");
    let rows = rows(&run);
    let (included, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row["included"] == true);
    assert_eq!((included.len(), others.len()), (73, 66));
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &others {
        assert_eq!(row["cluster"], Value::Null);
        *reasons.entry(row["reason"]["code"].as_str().unwrap()).or_default() += 1;
    }
    // Variants of CRDs for other feature sets, CRDs whose feature gates are off, operands and the webhook.
    assert_eq!(reasons, BTreeMap::from([("feature-gate", 4), ("feature-set", 4), ("omitted", 58)]));
    for row in included {
        assert_eq!(
            [&row["included"], &row["cluster"], &row["reason"]],
            [&json!(true), &json!("both"), &Value::Null]
        );
    }
}

#[test]
fn the_table_shows_counts_and_the_payload() {
    let run = release().run(&["list", "--payload", "release", "--cluster-profile", "hypershift"]);
    assert_eq!(
        run.stdout,
        "\
INCLUDED  CLUSTER  OBJECT                   NAMESPACE  FILE                  REASON
yes       -        Namespace/cvo            -          0000_90_cvo_own.yaml
yes       -        ConfigMap/in             -          0000_50_op_a.yaml
no        -        ConfigMap/other-profile  -          0000_50_op_a.yaml     cluster-profile: include.release.openshift.io/hypershift unset
yes       -        ConfigMap/gate           -          0000_50_op_a.yaml
yes       -        ConfigMap/capability     -          0000_50_op_a.yaml
yes       -        Namespace/overridden     -          0000_50_op_a.yaml
no        -        Deployment/bare          ns         0000_50_op_a.yaml     no-annotations: no annotations
"
    );
    assert!(run.stderr.starts_with("7 manifests, 5 included, 2 excluded\npayload sha256:"), "{}", run.stderr);
    assert!(run.stderr.contains("\nClusterVersion status.versionHash "), "{}", run.stderr);
}

#[test]
fn orphans_are_in_no_profile_or_only_in_standalone_profiles() {
    let project = TestProject::new()
        .profile(
            "guest",
            r"
            topology: two
            cluster: guest
            select: {clusterProfile: guest}
            ",
        )
        .profile(
            "mc",
            r"
            topology: two
            cluster: management
            namespace: hosted
            select: {clusterProfile: mc}
            ",
        )
        .profile(
            "alone",
            r"
            topology: one
            cluster: both
            select: {clusterProfile: alone}
            ",
        )
        .manifest(
            "a.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: everywhere
              annotations:
                include.release.openshift.io/guest: 'true'
                include.release.openshift.io/mc: 'true'
                include.release.openshift.io/alone: 'true'
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: nowhere, annotations: {a: b}}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: only-standalone, annotations: {include.release.openshift.io/alone: 'true'}}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: only-guest, annotations: {include.release.openshift.io/guest: 'true'}}
            ",
        );
    let orphans = rows(&project.run(&["list", "--orphans", "-o", "json"]));
    let expected = json!([
        {
            "file": "a.yaml", "document": 2,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "nowhere",
            "included": false, "cluster": null,
            "reason": {"code": "cluster-profile", "message": "include.release.openshift.io/alone unset"},
        },
        {
            "file": "a.yaml", "document": 3,
            "group": "", "version": "v1", "kind": "ConfigMap", "namespace": "", "name": "only-standalone",
            "included": true, "cluster": "both",
            "reason": {"code": "cluster-profile", "message": "include.release.openshift.io/guest unset"},
        },
    ]);
    assert_eq!(Value::Array(orphans), expected);
}

#[test]
fn a_filter_without_effect_is_an_error() {
    let flags = ["--feature-set", "TechPreview", "--override", "/Namespace//overriden"];
    assert_eq!(
        list_release(&release(), &flags).refusal(),
        "\
error: there is no feature set `TechPreview`
  help: use one of CustomNoUpgrade, Default, DevPreviewNoUpgrade, OKD, TechPreviewNoUpgrade
error: the override `/Namespace//overriden` matches no manifest of the payload
  help: did you mean `overridden`?
2 errors
"
    );
}

/// Returns the line of the summary with the hash of the included manifests.
fn hash_line(flags: &[&str]) -> String {
    let command = ["list", "--payload", "release", "--cluster-profile", "hypershift"];
    let run = release().run(&[&command[..], flags].concat());
    run.stderr.lines().last().unwrap().to_owned()
}

#[test]
fn the_hash_ignores_capabilities_and_overrides() {
    let hash = hash_line(&[]);
    assert!(hash.starts_with("ClusterVersion status.versionHash "), "{hash}");
    assert_eq!(hash_line(&["--capability", "", "--override", "/Namespace//overridden"]), hash);
    assert_ne!(hash_line(&["--feature-gate", ""]), hash);
}

#[test]
fn go_templates_of_the_cluster_version_operator_are_warned_about() {
    let project = release().file(
        "release/manifests/0000_00_cvo_a.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: t, annotations: {image: '{{.ReleaseImage}}'}}
        ",
    );
    assert_eq!(
        list_release(&project, &[]).stderr,
        "\
warning: release/manifests/0000_00_cvo_a.yaml: this file is a Go template, which is not evaluated
  note: the cluster-version-operator fills in values such as `{{.ReleaseImage}}` before it applies the file
"
    );
    let summary = project.run(&["list", "--payload", "release"]).stderr;
    assert!(
        summary.ends_with(
            "\nClusterVersion status.versionHash is not known: the cluster-version-operator fills in 1 of the manifests first\n"
        ),
        "{summary}"
    );
}

#[test]
fn control_characters_in_a_value_cannot_forge_a_row() {
    let project = TestProject::new().manifest(
        "a.yaml",
        r#"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, annotations: {release.openshift.io/feature-set: "x\nin  both  Fake/row"}}
        "#,
    );
    let table = project.run(&["list", "--feature-set", "Default"]).stdout;
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains(r#"feature-set: unrecognized value "x\nin  both  Fake/row" in "#), "{table}");
}

/// Returns the files that the cluster-version-operator of a hosted cluster must leave out.
fn cvo_omit(more: &[&str]) -> Vec<String> {
    let arguments = [&["list", "--cvo-omit", "-o", "json"][..], more].concat();
    let run = run_in(&repository(), &arguments, "");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_cluster_version_operator_leaves_out_what_transship_applies_in_either_cluster() {
    let files = cvo_omit(&[]);
    assert_eq!(files.len(), 46);
    for (file, is_left_out) in [
        // In the management cluster, in the guest, and in both.
        ("0000_60_cluster-storage-operator_10_deployment.yaml", true),
        ("0000_50_csi-snapshot-controller_05_operator_rbac.yaml", true),
        ("0000_50_csi-snapshot-controller_04_serviceaccount.yaml", true),
        ("0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml", true),
        // Another feature set, and a Role that no profile of the topology has.
        ("0000_50_csi-driver_01_clustercsidrivers-OKD.crd.yaml", false),
        ("0000_90_cluster-storage-operator_01_prometheusrbac.yaml", false),
        // It is in the image of an operator and not in a release.
        ("0000_60_csi-snapshot-controller_csi_controller_deployment.yaml", false),
    ] {
        assert_eq!(files.iter().any(|it| it == file), is_left_out, "{file}");
    }
    let run = run_in(&repository(), &["list", "--cvo-omit", "--profile", "hypershift-mc"], "");
    let commands: Vec<String> =
        files.iter().map(|file| format!("rm -f /var/payload/release-manifests/{file}\n")).collect();
    assert_eq!(run.stdout, commands.concat());
}

#[test]
fn the_cluster_version_operator_keeps_what_transship_does_not_apply() {
    // The operators run in the guest on this cloud.
    let files = cvo_omit(&["--set", "platform.type=IBMCloud"]);
    assert!(!files.iter().any(|file| file.contains("deployment")), "{files:?}");
}

/// Without its operator, nobody reports the status of a ClusterOperator, and the cluster-version-operator would wait for it.
#[test]
fn no_cluster_version_operator_starts_operators_that_are_switched_off() {
    let files = cvo_omit(&["--set", "operands=ours"]);
    for file in [
        "0000_50_csi-snapshot-controller_07_deployment.yaml",
        "0000_50_csi-snapshot-controller_10_clusteroperator.yaml",
        "0000_60_cluster-storage-operator_11_cluster_operator.yaml",
    ] {
        assert!(files.iter().any(|it| it == file), "{file}");
    }
    assert!(!files.iter().any(|file| file.contains("csi_controller_deployment")), "{files:?}");
}

#[test]
fn an_object_that_nobody_applies_any_more_is_named() {
    let project = TestProject::new()
        .profile("mc", "topology: hosted\ncluster: management\nnamespace: ns\nselect: {clusterProfile: any}\n")
        .profile("guest", "topology: hosted\ncluster: guest\nselect: {clusterProfile: any}\n")
        .page("op", "place: {guest: [ConfigMap]}\nomit: {ConfigMap/b: nobody reads it}\n")
        .manifest(
            "op/0000_10_op_a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: ns\n  annotations: {include.release.openshift.io/any: 'true'}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  namespace: ns\n  annotations: {include.release.openshift.io/any: 'true'}\n",
        );
    let run = project.run(&["list", "--cvo-omit"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "rm -f /var/payload/release-manifests/0000_10_op_a.yaml\n");
    let note = "0000_10_op_a.yaml also contains ConfigMap/b in ns, which transship does not apply: without the file, nobody applies it\n";
    assert_eq!(run.stderr, note);
}

#[test]
fn a_topology_without_a_guest_has_no_cluster_version_operator_of_a_hosted_cluster() {
    assert_eq!(
        run_in(&repository(), &["list", "--cvo-omit", "--profile", "standalone"], "").refusal(),
        "\
error: `--cvo-omit` needs a topology with a guest cluster
  help: name one of its profiles with --profile
"
    );
}
