//! The cluster-version-operator's filters: which manifests each includes and excludes, with the operator's own messages.

use serde_json::Value;

use crate::support::{Run, TestProject};

/// Returns what `list` says about each manifest: its file, and `included` or the code and the message of the reason.
fn decisions(project: &TestProject, flags: &[&str]) -> Vec<(String, String)> {
    let run = project.run(&[&["list", "-o", "json"][..], flags].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let mut decisions = Vec::new();
    for row in rows {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let reason = &row["reason"];
        let decision = if row["included"] == true {
            "included".to_owned()
        } else {
            text(&reason["code"]) + ": " + &text(&reason["message"])
        };
        decisions.push((text(&row["file"]), decision));
    }
    decisions
}

/// Returns the decision about one manifest.
fn decision(manifest: &str, flags: &[&str]) -> String {
    let project = TestProject::new().manifest("x.yaml", manifest);
    let (_, decision) = decisions(&project, flags).remove(0);
    decision
}

/// Returns a ConfigMap with these annotations, in YAML's flow style.
fn config_map(annotations: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: ns, annotations: {{{annotations}}}}}\n"
    )
}

#[test]
fn a_manifest_without_annotations_is_excluded() {
    for (metadata, expected) in [
        ("{name: a, namespace: ns}", "no-annotations: no annotations"),
        ("{name: a, namespace: ns, annotations: }", "no-annotations: no annotations"),
        // The operator ignores annotations of which one is not text.
        ("{name: a, namespace: ns, annotations: {a: b, c: 1}}", "no-annotations: no annotations"),
        ("{name: a, namespace: ns, annotations: {}}", "included"),
    ] {
        let manifest = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n");
        assert_eq!(decision(&manifest, &[]), expected, "{metadata}");
    }
}

#[test]
fn a_manifest_with_the_exclude_annotation_is_excluded() {
    for (annotations, flags, expected) in [
        (
            "exclude.release.openshift.io/internal: 'true'",
            &["--exclude-id", "internal"][..],
            "excluded: exclude.release.openshift.io/internal=true",
        ),
        ("exclude.release.openshift.io/internal: 'True'", &["--exclude-id", "internal"], "included"),
        ("exclude.release.openshift.io/internal: 'true'", &[], "included"),
    ] {
        assert_eq!(decision(&config_map(annotations), flags), expected, "{annotations} {flags:?}");
    }
}

#[test]
fn a_manifest_of_another_feature_set_is_excluded() {
    for (annotations, flags, expected) in [
        ("", &["--feature-set", "OKD"][..], "included"),
        ("release.openshift.io/feature-set: Default", &["--feature-set", ""], "included"),
        ("release.openshift.io/feature-set: 'Default,OKD'", &["--feature-set", "OKD"], "included"),
        (
            "release.openshift.io/feature-set: 'TechPreviewNoUpgrade,CustomNoUpgrade'",
            &["--feature-set", ""],
            "feature-set: \"Default\" is required, \
             and release.openshift.io/feature-set=CustomNoUpgrade,TechPreviewNoUpgrade",
        ),
        (
            "release.openshift.io/feature-set: 'Default, OKD'",
            &["--feature-set", "Default"],
            "feature-set: unrecognized value \" OKD\" in release.openshift.io/feature-set=Default, OKD; \
             known values are: CustomNoUpgrade,Default,DevPreviewNoUpgrade,OKD,TechPreviewNoUpgrade",
        ),
        ("release.openshift.io/feature-set: nonsense", &[], "included"),
    ] {
        assert_eq!(decision(&config_map(annotations), flags), expected, "{annotations} {flags:?}");
    }
}

#[test]
fn a_manifest_with_unmet_feature_gates_is_excluded() {
    for (annotations, expected) in [
        ("release.openshift.io/feature-gate: ' A , -B ,,'", "included"),
        (
            "release.openshift.io/feature-gate: 'A,C'",
            "feature-gate: feature gate C is required but not enabled",
        ),
        (
            "release.openshift.io/feature-gate: -A",
            "feature-gate: feature gate A is enabled but manifest requires it to be disabled",
        ),
    ] {
        assert_eq!(decision(&config_map(annotations), &["--feature-gate", "A"]), expected, "{annotations}");
    }
}

#[test]
fn a_manifest_cannot_require_a_feature_set_and_a_feature_gate() {
    let manifest =
        config_map("release.openshift.io/feature-gate: A, release.openshift.io/feature-set: Default");
    assert_eq!(
        decision(&manifest, &["--feature-gate", "A", "--feature-set", ""]),
        "set-and-gate: both feature set and feature gate annotations are present: \
         manifests may specify either a feature set or a feature gate, but not both"
    );
    assert_eq!(decision(&manifest, &["--feature-gate", "A"]), "included");
}

#[test]
fn a_crd_of_another_major_version_is_excluded() {
    for (value, expected) in [
        ("4", "included"),
        ("4,5", "included"),
        ("-5", "included"),
        ("", "included"),
        ("5", "major-version: major version 4 does not match any required versions"),
        ("-4", "major-version: major version 4 matches excluded version 4"),
        ("4,-4", "major-version: inclusion and exclusion requirements overlap: [4]"),
        (
            "x",
            "major-version: invalid included major version \"x\" in annotation: \
             strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
        (
            "-x",
            "major-version: invalid excluded major version \"x\" in annotation: \
             strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
    ] {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: a, annotations: {{release.openshift.io/major-version: '{value}'}}}}\n"
        );
        assert_eq!(decision(&crd, &["--major-version", "4"]), expected, "{value}");
    }
}

#[test]
fn only_feature_gates_and_crds_can_have_a_major_version() {
    assert_eq!(
        decision(&config_map("release.openshift.io/major-version: '4'"), &["--major-version", "4"]),
        "major-version: major version filtering is only supported for feature gates and custom resources"
    );
}

#[test]
fn a_manifest_of_another_cluster_profile_is_excluded() {
    for (annotations, expected) in [
        ("include.release.openshift.io/hypershift: 'true'", "included"),
        ("", "cluster-profile: include.release.openshift.io/hypershift unset"),
        (
            "include.release.openshift.io/hypershift: 'yes'",
            "cluster-profile: unrecognized value include.release.openshift.io/hypershift=yes",
        ),
    ] {
        let flags = ["--cluster-profile", "hypershift"];
        assert_eq!(decision(&config_map(annotations), &flags), expected, "{annotations}");
    }
}

#[test]
fn a_manifest_of_a_disabled_or_unknown_capability_is_excluded() {
    for (value, expected) in [
        ("A+B", "included"),
        ("", "included"),
        ("A+C", "capability: disabled capabilities: C"),
        ("X+C+Y", "capability: unrecognized capability names: X, Y"),
    ] {
        let manifest = config_map(&format!("capability.openshift.io/name: '{value}'"));
        let flags = ["--capability", "A", "--capability", "B", "--known-capability", "C"];
        assert_eq!(decision(&manifest, &flags), expected, "{value}");
    }
}

#[test]
fn an_override_excludes_an_object_by_group_kind_namespace_and_name() {
    let project = TestProject::new()
        .manifest(
            "ns.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, namespace: ns, annotations: {}}
            ",
        )
        .manifest(
            "other-namespace.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, namespace: other, annotations: {}}
            ",
        )
        .manifest(
            "other-group.yaml",
            r"
            apiVersion: apps/v1
            kind: ConfigMap
            metadata: {name: a, namespace: ns, annotations: {}}
            ",
        )
        .manifest(
            "no-namespace.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, annotations: {}}
            ",
        );
    for (entry, expected) in [
        ("/ConfigMap/ns/a", &["no-namespace.yaml", "ns.yaml"][..]),
        ("/ConfigMap/other/a", &["no-namespace.yaml", "other-namespace.yaml"]),
        ("apps/ConfigMap/ns/a", &["other-group.yaml"]),
        ("/ConfigMap/ignored/a", &["no-namespace.yaml"]),
    ] {
        let mut overridden = Vec::new();
        for (file, decision) in decisions(&project, &["--override", entry]) {
            if decision != "included" {
                assert_eq!(decision, "override: overridden");
                overridden.push(file);
            }
        }
        assert_eq!(overridden, expected, "{entry}");
    }
}

#[test]
fn an_override_needs_four_parts() {
    assert_eq!(
        TestProject::new().run(&["list", "--override", "ConfigMap/a"]).refusal(),
        "\
error: invalid value 'ConfigMap/a' for '--override <GROUP/KIND/NAMESPACE/NAME>': write group/kind/namespace/name, such as apps/Deployment/ns/name or /Namespace//name

For more information, try '--help'.
"
    );
}

#[test]
fn the_first_filter_that_fails_gives_the_reason() {
    let manifest = config_map("capability.openshift.io/name: X, exclude.release.openshift.io/i: 'true'");
    let exclude = "--exclude-id=i";
    let profile = "--cluster-profile=p";
    let capability = "--capability=";
    let r#override = "--override=/ConfigMap/ns/a";
    for (flags, expected) in [
        (&[exclude, profile, capability, r#override][..], "excluded: exclude.release.openshift.io/i=true"),
        (&[profile, capability, r#override], "cluster-profile: include.release.openshift.io/p unset"),
        (&[capability, r#override], "capability: unrecognized capability names: X"),
        (&[r#override], "override: overridden"),
        (&[], "included"),
    ] {
        assert_eq!(decision(&manifest, flags), expected, "{flags:?}");
    }
}

/// Lists the payload of an update. The cluster runs the first manifest, enables the capability `Enabled` and not the
/// capability `Disabled`.
fn update_from(current: &str, update: &str) -> Run {
    let project = TestProject::new().manifest("x.yaml", update).file("current/x.yaml", current);
    project.run(&[
        "list",
        "--previous-payload=current",
        "--capability=Enabled",
        "--known-capability=Disabled",
        "-o=json",
    ])
}

#[test]
fn an_update_enables_capabilities_of_objects_that_the_cluster_runs() {
    for (case, current, update, expected) in [
        ("a new capability", "", "capability.openshift.io/name: New", "New"),
        (
            "further capabilities",
            "capability.openshift.io/name: Enabled",
            "capability.openshift.io/name: Enabled+New+Disabled",
            "Disabled, New",
        ),
        (
            "disabled before and after the update",
            "capability.openshift.io/name: Disabled",
            "capability.openshift.io/name: Disabled+New",
            "",
        ),
        (
            "enabled before and after the update",
            "capability.openshift.io/name: Enabled",
            "capability.openshift.io/name: Enabled",
            "",
        ),
        ("an enabled capability", "", "capability.openshift.io/name: Enabled", ""),
    ] {
        let run = update_from(&config_map(current), &config_map(update));
        let message = match expected {
            "" => String::new(),
            names => format!("implicitly enabled capabilities: {names}\n"),
        };
        assert_eq!((run.code, run.stderr), (0, message), "{case}");
    }
}

#[test]
fn an_update_enables_no_capabilities_of_objects_that_the_cluster_does_not_run() {
    let other = config_map("").replace("name: a,", "name: b,");
    let run = update_from(&other, &config_map("capability.openshift.io/name: New"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

/// Returns the hash of the included manifests.
fn version_hash(project: &TestProject, flags: &[&str]) -> String {
    let summary = project.run(&[&["list"][..], flags].concat()).stderr;
    let line = summary.lines().last().unwrap();
    line.strip_prefix("ClusterVersion status.versionHash ").expect(line).to_owned()
}

/// A manifest as it is in a JSON file of a release.
const JSON: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"include.release.openshift.io/self-managed-high-availability":"true"},"name":"a"}}"#;

#[test]
fn the_hash_equals_that_of_a_live_cluster() {
    let json = TestProject::new().manifest("a.json", JSON);
    let yaml = TestProject::new().manifest(
        "a.yaml",
        r#"
        kind: ConfigMap
        apiVersion: v1
        metadata:
          name: a
          annotations:
            include.release.openshift.io/self-managed-high-availability: "true"
        "#,
    );
    assert_eq!(version_hash(&json, &[]), "NBD0u-yTvDw=");
    assert_eq!(version_hash(&yaml, &[]), "NBD0u-yTvDw=");
    assert_eq!(version_hash(&json, &["--cluster-profile", "other"]), "y_Kc5IQiIyU=", "of no manifests");
}

#[test]
fn the_hash_of_a_json_file_depends_on_its_spaces() {
    let project = TestProject::new().manifest("a.json", &JSON.replace(':', ": "));
    assert_ne!(version_hash(&project, &[]), "NBD0u-yTvDw=");
}
