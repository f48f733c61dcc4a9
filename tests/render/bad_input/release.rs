//! A payload with the layout of a release image that is incomplete or contradicts itself.

use std::os::unix::fs::symlink;

use crate::support::{TestProject, config_map, image_references};

#[test]
fn a_release_without_its_files_is_an_error() {
    let project = TestProject::standalone().manifest("release-manifests/a.yaml", &config_map("a", "{}"));
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/manifests: cannot open the file: No such file or directory (os error 2)
  help: make it readable, or remove it from the payload
error: payload/manifests: the release does not have this file or folder
  note: a release image has the cluster-version-operator's own manifests there
  help: extract the release again, or set --payload to the folder with `manifests` and `release-manifests`
error: payload/release-manifests/release-metadata: the release does not have this file or folder
  note: the cluster-version-operator does not load a release without it
  help: extract the release again, or set --payload to the folder with `manifests` and `release-manifests`
error: payload/release-manifests/image-references: the release does not have this file or folder
  note: the cluster-version-operator does not load a release without it
  help: extract the release again, or set --payload to the folder with `manifests` and `release-manifests`
4 errors
"
    );
}

/// Creates a valid release image.
fn release() -> TestProject {
    TestProject::standalone()
        .release_image("payload")
        .manifest("manifests/b.yaml", &config_map("b", "{}"))
        .manifest("release-manifests/a.yaml", &config_map("a", "{}"))
}

#[test]
fn invalid_release_metadata_is_an_error() {
    for (metadata, expected) in [
        (
            r#"{"kind":"x"}"#,
            "\
error: payload/release-manifests/release-metadata:1:1: this is not release metadata
  help: its `kind` must be `cincinnati-metadata-v0`
",
        ),
        (
            r#"{"kind":"cincinnati-metadata-v0"}"#,
            "\
error: payload/release-manifests/release-metadata:1:1: the release metadata has no `version`
  help: add one, such as \"version\": \"4.22.0\"
",
        ),
        (
            r#"{"kind":"cincinnati-metadata-v0","version":"4.22"}"#,
            "\
error: payload/release-manifests/release-metadata:1:44: `4.22` is not a semantic version
  help: write it as 4.22.0 or 4.22.0-rc.1
",
        ),
        ("{", "error: payload/release-manifests/release-metadata:1:2: expected `\"`\n"),
    ] {
        let project = release().manifest("release-manifests/release-metadata", metadata);
        assert_eq!(project.render_error("test"), expected);
    }
}

#[test]
fn invalid_metadata_and_image_references_are_reported_together() {
    let project = release()
        .manifest("release-manifests/release-metadata", r#"{"kind":"x"}"#)
        .manifest("release-manifests/image-references", r#"{"kind":"ImageStream","apiVersion":"v1"}"#);
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/release-manifests/release-metadata:1:1: this is not release metadata
  help: its `kind` must be `cincinnati-metadata-v0`
error: payload/release-manifests/image-references:1:1: this is not an ImageStream
  help: it must have `kind: ImageStream` and `apiVersion: image.openshift.io/v1`
2 errors
"
    );
}

#[test]
fn image_references_of_another_release_are_an_error() {
    let project = release().manifest("release-manifests/image-references", &image_references("4.21.0", &[]));
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/release-manifests/image-references: image-references is of the release `4.21.0`, but release-metadata is of `4.22.0`
  help: take image-references and release-metadata from the same release
"
    );
}

#[test]
fn the_folders_of_a_release_cannot_leave_the_payload() {
    let project = TestProject::standalone()
        .manifest("manifests/a.yaml", &config_map("a", "{}"))
        .file("elsewhere/b.yaml", &config_map("b", "{}"));
    symlink("../elsewhere", project.path().join("payload/release-manifests")).unwrap();
    let error = project.render_error("test");
    assert!(error.starts_with("error: payload/release-manifests: the link leaves the payload\n"), "{error}");
}
