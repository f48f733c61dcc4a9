//! The address in a strategic merge patch: `apiVersion`, `kind`, and the name and namespace. It is never content.

use serde_json::{Value, json};

use crate::support::{TestProject, names, object};

/// Renders two ConfigMaps with the patches of their page.
fn patched(patches: &str) -> Vec<Value> {
    TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "one", "data: {a: b}"))
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "two", "data: {a: b}"))
        .page("op", patches)
        .render("test")
}

#[test]
fn a_patch_with_a_target_never_renames_its_object_or_changes_its_kind() {
    let rendered = patched(
        r"
        patches:
        - reason: x
          target: {kind: ConfigMap, name: one}
          patch: {apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: zz, labels: {l: v}}, data: {k: v}}
        ",
    );
    assert_eq!(
        rendered[0],
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "one", "namespace": "ns", "annotations": {"x": "x"}, "labels": {"l": "v"}},
            "data": {"a": "b", "k": "v"},
        })
    );
}

#[test]
fn a_patch_cannot_remove_the_address() {
    for metadata in ["null", "{name: null, namespace: null}", "{$patch: replace}", "{$patch: delete}"] {
        let rendered = patched(&format!(
            "patches: [{{reason: x, target: {{name: one}}, patch: {{apiVersion: null, kind: null, metadata: {metadata}, data: {{k: v}}}}}}]"
        ));
        assert_eq!(names(&rendered), ["ConfigMap/one", "ConfigMap/two"], "{metadata}");
        assert_eq!(rendered[0]["metadata"]["namespace"], "ns", "{metadata}");
    }
}

#[test]
fn a_patch_that_replaces_the_whole_object_keeps_its_address() {
    let rendered = patched(
        "patches: [{reason: x, target: {name: one}, patch: {$patch: replace, kind: Other, immutable: true}}]",
    );
    assert_eq!(
        rendered[0],
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "namespace": "ns"}, "immutable": true})
    );
}

#[test]
fn a_patch_without_a_namespace_does_not_give_one_to_an_object() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: one, annotations: {x: x}}\n")
        .page("op", "patches: [{reason: x, target: {kind: Namespace}, patch: {metadata: {namespace: zz, labels: {a: b}}}}]");
    assert_eq!(
        project.render("test")[0]["metadata"],
        json!({"name": "one", "annotations": {"x": "x"}, "labels": {"a": "b"}})
    );
}

#[test]
fn a_patch_that_changes_only_the_address_changes_nothing() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "one", "data: {a: b}"))
        .page("op", "patches: [{reason: x, target: {kind: ConfigMap}, patch: {metadata: {name: other}}}]");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:11: the patch changes nothing in the profile `test`
          note: the object already has these values
          help: remove it, or write `optional: true` if it may have no effect
        ",
    );
}

/// An operation names the field, so it is content.
#[test]
fn after_a_rename_by_an_operation_a_patch_for_the_old_name_keeps_the_new_one() {
    let rendered = patched(
        r"
        patches:
        - {reason: x, target: {name: one}, patch: [{op: replace, path: /metadata/name, value: new}]}
        - {reason: x, patch: {kind: ConfigMap, metadata: {name: one}, data: {k: v}}}
        ",
    );
    assert_eq!(rendered[0]["metadata"]["name"], "new");
    assert_eq!(rendered[0]["data"], json!({"a": "b", "k": "v"}));
}

#[test]
fn a_patch_can_delete_an_object_and_list_shows_its_reason() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "one", "data: {a: b}"))
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "two", "data: {a: b}"))
        .page(
            "op",
            r"
            patches:
            - {reason: nobody reads it, path: delete.yaml}
            - {reason: an addition creates it, target: {name: three}, patch: {$patch: delete}}
            adds:
            - objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: three, namespace: ns}}]
            ",
        )
        .file(
            "patches/op/delete.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n$patch: delete\n",
        );
    assert_eq!(names(&project.render("test")), ["ConfigMap/one"]);
    let list = project.run(&["list", "--profile", "test"]).stdout;
    assert!(list.contains("omitted: nobody reads it"), "{list}");
}

#[test]
fn a_patch_that_deletes_no_object_is_an_error() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "one", "data: {a: b}"))
        .page(
            "op",
            "patches: [{reason: x, patch: {kind: ConfigMap, metadata: {name: onee}, $patch: delete}}]",
        );
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:11: the patch matches no object of `op` in the profile `test`
          help: did you mean `ConfigMap/one`?
        ",
    );
}
