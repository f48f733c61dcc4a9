//! Valid YAML that is not an object of Kubernetes, and objects that are in the payload twice.

use super::{compare_errors, payload_error};
use crate::support::{TestProject, config_map};

#[test]
fn documents_that_are_not_objects_are_errors() {
    compare_errors("objects");
}

#[test]
fn a_name_or_namespace_must_be_text() {
    compare_errors("names");
}

#[test]
fn an_object_that_is_twice_in_one_file_is_an_error() {
    let yaml = r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        ";
    assert_eq!(
        payload_error("x.yaml", yaml),
        "\
error: payload/x.yaml:5:1: the file has the same object twice
  object: ConfigMap/a in ns
  note: the first is at payload/x.yaml:1:1
  help: remove one of them; objects with different API versions are the same object
"
    );
}

#[test]
fn an_object_in_two_files_is_an_error_that_names_both() {
    let project = TestProject::standalone()
        .manifest("a.yaml", &config_map("a", "{}"))
        .manifest("b.yaml", &config_map("a", "{x: y1}"));
    assert_eq!(
        project.render_error("test"),
        "\
error[duplicate-object]: payload/b.yaml:1:1: two manifests describe the same object
  object: ConfigMap/a in ns
  note: the other manifest is at payload/a.yaml:1:1
  note: each apply would overwrite one with the other
  help: exclude one of them with a release annotation, a capability or a feature set
"
    );
}

#[test]
fn an_annotation_that_is_not_text_is_reported() {
    let project = TestProject::standalone().manifest("included.yaml", &config_map("b", "{}")).manifest(
        "x.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
          namespace: ns
          annotations: {include.release.openshift.io/test: true}
        ",
    );
    let run = project.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 0);
    assert_eq!(
        run.stderr,
        "\
warning: payload/x.yaml:6:52: the annotation `include.release.openshift.io/test` is a boolean, not text
  object: ConfigMap/a in ns
  note: the cluster-version-operator ignores all annotations of the object and excludes it
  help: put the value in quotes
"
    );
}

#[test]
fn names_cannot_move_the_cursor_of_a_terminal() {
    let yaml = r#"
        apiVersion: v1
        kind: A
        metadata: {name: "a\e[2J"}
        ---
        apiVersion: v1
        kind: A
        metadata: {name: "a\e[2J"}
        "#;
    assert_eq!(
        payload_error("x.yaml", yaml),
        "\
error: payload/x.yaml:5:1: the file has the same object twice
  object: A/a\\u{1b}[2J
  note: the first is at payload/x.yaml:1:1
  help: remove one of them; objects with different API versions are the same object
"
    );
}

#[test]
fn a_payload_without_manifests_is_an_error() {
    assert_eq!(
        payload_error("README.md", "nothing"),
        "\
error: payload: the folder has no manifests
  help: manifests are files with the extension .yaml, .yml or .json
"
    );
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_files() {
    let project = TestProject::standalone()
        .manifest("c.yaml", "a: [\n")
        .manifest("a.yaml", "a: 1\n")
        .manifest("b.yaml", &config_map("b", "{}"))
        .manifest("image-references", "kind: Pod\n");
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/a.yaml:1:1: this object has no `kind`
  help: add `kind:`, or give the file another ending than .yaml
error: payload/c.yaml:2:1: expected a value
  help: check the indentation of this line, and that every bracket and brace is closed
error: payload/image-references:1:1: this is not an ImageStream
  help: it must have `kind: ImageStream` and `apiVersion: image.openshift.io/v1`
3 errors
"
    );
}
