//! Patches of pages: directives, nulls, lists and insertions.

use serde_json::{Value, json};

use crate::support::{TestProject, object};

const SPEC: &str =
    "spec: {template: {spec: {containers: [{name: c, ports: [{containerPort: 1}]}], volumes: []}}}\n";

/// A Deployment with finalizers and a patch.
fn patched(patch: &str) -> TestProject {
    let manifest = object("apps/v1", "Deployment", "ns", "d", SPEC)
        .replace("name: d,", "name: d, finalizers: [a/a, b/b, a/a],");
    TestProject::new()
        .manifest("op/1.yaml", &manifest)
        .page("op", &format!("patches: [{{reason: x, target: {{kind: Deployment}}, patch: {patch}}}]\n"))
        .profile("one", "topology: t\ncluster: both\n")
}

fn result(patch: &str) -> Value {
    patched(patch).render("one").remove(0)
}

#[test]
fn a_new_map_has_no_nulls_and_no_directives() {
    let patch = "{spec: {strategy: {$retainKeys: [type], type: RollingUpdate, rollingUpdate: {maxSurge: null, maxUnavailable: 1}, other: null}}}";
    assert_eq!(
        result(patch)["spec"]["strategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}})
    );
}

#[test]
fn an_element_order_must_list_the_items_of_the_patch() {
    let patch = "{metadata: {$setElementOrder/finalizers: [b/b, a/a], finalizers: [c/c]}}";
    let shown = patched(patch).render_error("one");
    assert!(
        shown.contains("`$setElementOrder/finalizers` does not fit the items in `finalizers`"),
        "{shown}"
    );
}

#[test]
fn a_list_of_unique_strings_loses_its_duplicates() {
    assert_eq!(
        result("{metadata: {finalizers: [c/c]}}")["metadata"]["finalizers"],
        json!(["c/c", "a/a", "b/b"])
    );
}

#[test]
fn null_for_a_list_inside_a_list_is_refused() {
    let patch = "{spec: {template: {spec: {containers: [{name: c, ports: null}]}}}}";
    let shown = patched(patch).render_error("one");
    assert!(shown.contains("`ports:` without a value removes the whole list"), "{shown}");
}

#[test]
fn a_default_for_the_items_of_an_empty_list_is_an_error() {
    let shown = patched("[{op: default, path: '/spec/template/spec/volumes/[*]/name', value: x}]")
        .render_error("one");
    assert!(
        shown.contains("the path `/spec/template/spec/volumes/[*]` selects nothing in this object"),
        "{shown}"
    );
}

#[test]
fn a_value_can_be_inserted_before_or_after_an_item() {
    for (operation, expected) in [
        ("insert-before", json!(["a/a", "new", "b/b", "a/a"])),
        ("insert-after", json!(["a/a", "b/b", "new", "a/a"])),
    ] {
        let patch = format!("[{{op: {operation}, path: /metadata/finalizers/1, value: new}}]");
        assert_eq!(result(&patch)["metadata"]["finalizers"], expected, "{operation}");
    }
}
