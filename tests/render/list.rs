//! `list`: the decision and the reason for every manifest, for a payload with the layout of a release image.

use serde_json::{Value as Json, json};

use crate::support::{Folder, Run, repository, run_in};

fn object(kind: &str, name: &str, annotations: &str) -> String {
    format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n  annotations: {{{annotations}}}\n")
}

/// A release image's two folders.
fn release() -> Folder {
    let include = "include.release.openshift.io/hypershift: 'true'";
    let folder = Folder::new();
    let write = |path: &str, text: &str| folder.write(&format!("release/{path}"), text);
    write("manifests/0000_90_cvo_own.yaml", &object("Namespace", "cvo", include));
    write("manifests/ignored", "not: a manifest");
    write("manifests/below/ignored.yaml", "not: a manifest");
    write(
        "release-manifests/image-references",
        "{\"kind\":\"ImageStream\",\"apiVersion\":\"image.openshift.io/v1\",\"metadata\":{\"name\":\"4.22.0\"}}",
    );
    write(
        "release-manifests/release-metadata",
        "{\"kind\":\"cincinnati-metadata-v0\",\"version\":\"4.22.0\"}",
    );
    let gate = format!("{include}, release.openshift.io/feature-gate: New");
    let capability = format!("{include}, capability.openshift.io/name: Storage");
    let documents = [
        object("ConfigMap", "in", include),
        object("ConfigMap", "other-profile", "a: b"),
        object("ConfigMap", "gate", &gate),
        object("ConfigMap", "capability", &capability),
        object("Namespace", "overridden", include),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: bare, namespace: ns}\n".to_owned(),
    ];
    write("release-manifests/0000_50_op_a.yaml", &documents.join("---\n"));
    folder
}

fn list(folder: &Folder, more: &[&str]) -> Run {
    let arguments = [&["list", "--payload", "release", "-o", "json"][..], more].concat();
    folder.run(&arguments)
}

fn rows(run: &Run) -> Vec<Json> {
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn lists_every_manifest_with_its_decision_and_reason() {
    let folder = release();
    let run = list(
        &folder,
        &[
            "--cluster-profile",
            "hypershift",
            "--feature-set",
            "Default",
            "--feature-gate",
            "Old",
            "--known-capability",
            "Storage",
            "--override",
            "/Namespace//overridden",
        ],
    );
    let row = |file: &str, document: usize, kind: &str, name: &str, reason: Option<(&str, &str)>| {
        json!({
            "file": file, "document": document, "group": if kind == "Deployment" { "apps" } else { "" }, "version": "v1",
            "kind": kind, "namespace": if kind == "Deployment" { "ns" } else { "" }, "name": name,
            "included": reason.is_none(),
            "reason": reason.map(|(code, message)| json!({"code": code, "message": message})),
            "cluster": null,
        })
    };
    let file = "release-manifests/0000_50_op_a.yaml";
    assert_eq!(
        rows(&run),
        [
            row("manifests/0000_90_cvo_own.yaml", 1, "Namespace", "cvo", None),
            row(file, 1, "ConfigMap", "in", None),
            row(
                file,
                2,
                "ConfigMap",
                "other-profile",
                Some(("cluster-profile", "include.release.openshift.io/hypershift unset"))
            ),
            row(
                file,
                3,
                "ConfigMap",
                "gate",
                Some(("feature-gate", "feature gate New is required but not enabled"))
            ),
            row(file, 4, "ConfigMap", "capability", Some(("capability", "disabled capabilities: Storage"))),
            row(file, 5, "Namespace", "overridden", Some(("override", "overridden"))),
            row(file, 6, "Deployment", "bare", Some(("no-annotations", "no annotations"))),
        ]
    );
}

#[test]
fn a_filter_without_its_flag_is_off() {
    let all = rows(&list(&release(), &[]));
    let out: Vec<_> =
        all.iter().filter(|row| row["included"] == false).map(|row| row["name"].clone()).collect();
    assert_eq!(out, ["bare"]);
}

#[test]
fn the_running_payload_enables_capabilities_implicitly() {
    let folder = release();
    folder.write(
        "before/a.yaml",
        object("ConfigMap", "capability", "include.release.openshift.io/hypershift: 'true'"),
    );
    let run = list(&folder, &["--previous-payload", "before"]);
    assert_eq!(run.stderr, "implicitly enabled capabilities: Storage\n");
    let row = rows(&run).into_iter().find(|row| row["name"] == "capability").unwrap();
    assert_eq!(row["included"], true);
}

#[test]
fn a_profile_adds_the_cluster_of_each_object() {
    let run = run_in(&repository(), &["list", "--profile", "standalone", "-o", "json"], "");
    let rows = rows(&run);
    assert_eq!(rows.len(), 98);
    assert!(
        rows.iter().all(|row| row["included"] == true && row["cluster"] == "both" && row["reason"].is_null())
    );
}

#[test]
fn the_table_shows_counts_and_the_payload() {
    let run = release().run(&["list", "--payload", "release", "--cluster-profile", "hypershift"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["INCLUDED", "CLUSTER", "OBJECT", "NAMESPACE", "FILE", "REASON"]
    );
    assert_eq!(
        lines[3].split_whitespace().collect::<Vec<_>>().join(" "),
        "no - ConfigMap/other-profile - 0000_50_op_a.yaml cluster-profile: include.release.openshift.io/hypershift unset"
    );
    assert!(run.stderr.starts_with("7 manifests, 5 included, 2 excluded\npayload sha256:"), "{}", run.stderr);
    assert!(run.stderr.contains("\nClusterVersion status.versionHash "), "{}", run.stderr);
}

#[test]
fn orphans_are_in_no_profile_or_only_in_standalone_ones() {
    let folder = Folder::new();
    let profile = |name: &str, topology: &str, cluster: &str| {
        crate::support::profile(name, "")
            .replace(&format!("topology: {name}"), &format!("topology: {topology}"))
            .replace("cluster: both", &format!("cluster: {cluster}"))
            .replace("clusterProfile: test", &format!("clusterProfile: {name}"))
    };
    folder.write("profiles/guest.yaml", profile("guest", "two", "guest"));
    folder.write("profiles/mc.yaml", profile("mc", "two", "management\nnamespace: hosted"));
    folder.write("profiles/alone.yaml", profile("alone", "one", "both"));
    let include = |names: &[&str]| -> String {
        names
            .iter()
            .map(|name| format!("include.release.openshift.io/{name}: 'true'"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let documents = [
        object("ConfigMap", "everywhere", &include(&["guest", "mc", "alone"])),
        object("ConfigMap", "nowhere", "a: b"),
        object("ConfigMap", "homeless", &include(&["alone"])),
        object("ConfigMap", "guest-only", &include(&["guest"])),
    ];
    folder.write("payload/a.yaml", documents.join("---\n"));
    let found: Vec<_> = rows(&folder.run(&["list", "--orphans", "-o", "json"]))
        .iter()
        .map(|row| json!([row["name"], row["included"], row["cluster"], row["reason"]["message"]]))
        .collect();
    assert_eq!(
        found,
        [
            json!(["nowhere", false, null, "include.release.openshift.io/alone unset"]),
            json!(["homeless", true, "both", "include.release.openshift.io/guest unset"]),
        ]
    );
}

#[test]
fn a_filter_can_be_on_and_empty() {
    let all = rows(&list(&release(), &["--feature-gate", "", "--capability", ""]));
    let out: Vec<_> =
        all.iter().filter(|row| row["included"] == false).map(|row| row["name"].clone()).collect();
    assert_eq!(out, ["gate", "capability", "bare"]);
}

#[test]
fn a_filter_without_effect_is_an_error() {
    let run = list(&release(), &["--feature-set", "TechPreview", "--override", "/Namespace//overriden"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.stderr,
        "error: there is no feature set `TechPreview`\n  \
         help: use one of CustomNoUpgrade, Default, DevPreviewNoUpgrade, OKD, TechPreviewNoUpgrade\n\
         error: the override `/Namespace//overriden` matches no manifest of the payload\n  \
         help: did you mean `overridden`?\n2 errors\n"
    );
}

#[test]
fn the_hash_ignores_capabilities_and_overrides() {
    let hash = |more: &[&str]| {
        let run = release()
            .run(&[&["list", "--payload", "release", "--cluster-profile", "hypershift"][..], more].concat());
        run.stderr.lines().last().unwrap().to_owned()
    };
    assert_eq!(hash(&[]), hash(&["--capability", "", "--override", "/Namespace//overridden"]));
    assert_ne!(hash(&[]), hash(&["--feature-gate", ""]));
}

#[test]
fn go_templates_of_the_cluster_version_operator_are_warned_about() {
    let folder = release();
    folder.write(
        "release/manifests/0000_00_cvo_a.yaml",
        object("ConfigMap", "t", "image: '{{.ReleaseImage}}'"),
    );
    let run = list(&folder, &[]);
    assert!(
        run.stderr
            .starts_with("warning: release/manifests/0000_00_cvo_a.yaml: this file is a Go template, which is not evaluated"),
        "{}",
        run.stderr
    );
}

#[test]
fn control_characters_in_a_name_cannot_forge_a_row() {
    let folder = Folder::new();
    folder.write(
        "payload/a.yaml",
        object("ConfigMap", "'a'", "release.openshift.io/feature-set: \"x\\nin  both  Fake/row\""),
    );
    let run = folder.run(&["list", "--feature-set", "Default"]);
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
}
