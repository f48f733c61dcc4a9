//! `as` and `optional` of `read`.

use serde_json::{Value, json};

use crate::support::{TestProject, object, unindent};

/// Creates a project whose ConfigMap has the value of a parameter that is read from `/spec/field` of this object.
fn project(parameter: &str, field: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "a", "data: {kept: text}"))
        .parameters(&format!("parameters:\n  a: {{description: d, optional: true, {parameter}}}\n"))
        .profile("one", "topology: one\ncluster: both\npolicy: [{for: ConfigMap, set: {data: {a: '${a}'}}}]")
        .file("hcp.yaml", &format!("kind: HostedControlPlane\nspec: {{field: {field}}}\n"))
}

const OBJECT: [&str; 2] = ["--hosted-control-plane", "hcp.yaml"];

/// Returns the converted value; null if there is none.
fn converted(r#type: &str, conversion: &str, field: &str) -> Value {
    let read = format!("{{object: HostedControlPlane, path: /spec/field, as: {conversion}}}");
    let project = project(&format!("type: {type}, read: {read}"), field);
    project.render_with("one", &OBJECT)[0]["data"]["a"].clone()
}

#[test]
fn a_list_becomes_a_text() {
    let tags = "[{key: a, value: '1'}, {key: k8s, value: x}, {key: b, value: '2'}]";
    let text = "{item: '${key}=${value}', except: k8s=.*, join: ','}";
    assert_eq!(converted("string", text, tags), "a=1,b=2");
    assert_eq!(converted("string", text, "[{key: k8s, value: x}]"), Value::Null);
    assert_eq!(converted("string", "{join: ' '}", "[a, b]"), "a b");
    assert_eq!(converted("list", "{item: '<${k}>'}", "[{k: 1}, {k: x}]"), json!(["<1>", "<x>"]));
}

#[test]
fn texts_become_other_values() {
    let table = "{values: {Old: VersionTLS10, New: VersionTLS12}}";
    assert_eq!(converted("string", table, "Old"), "VersionTLS10");
    assert_eq!(converted("string", table, "Custom"), Value::Null);
    assert_eq!(converted("list", "{values: {Old: [a, b]}}", "Old"), json!(["a", "b"]));
    assert_eq!(converted("list", "{values: {a: A, b: B}}", "[b, c, a]"), json!(["B", "A"]));
    assert_eq!(converted("list", "{values: {a: A}}", "[c]"), Value::Null);
    assert_eq!(converted("int", "{values: {a: 5}}", "a"), "5");
}

#[test]
fn entries_of_a_map_are_selected_by_a_prefix() {
    let map = "{p/x.y: 'cpu=1,memory=2Gi', p/z: 'a=b=c', other: 'no pairs'}";
    assert_eq!(
        converted("map", "{prefix: p/, pairs: true}", map),
        json!({"x.y": {"cpu": "1", "memory": "2Gi"}, "z": {"a": "b=c"}})
    );
    assert_eq!(converted("map", "{prefix: p/}", map), json!({"x.y": "cpu=1,memory=2Gi", "z": "a=b=c"}));
    assert_eq!(converted("map", "{prefix: q/}", map), Value::Null);
}

/// A conversion for another kind of value leaves it to the type of the parameter.
#[test]
fn the_converted_value_must_fit_the_declaration() {
    let error = |declared: &str, field: &str| project(declared, field).render_error_with("one", &OBJECT);
    let read = "read: {object: HostedControlPlane, path: /spec/field, as: {join: ','}}";
    assert_eq!(
        error(&format!("type: string, pattern: '[a-z,]+', {read}"), "[a, B]"),
        unindent(
            "
            error: hcp.yaml:2:15: the parameter `a` must be text that matches `[a-z,]+`, not `a,B`
              note: it is read from `/spec/field` of the HostedControlPlane
            "
        )
    );
    assert_eq!(
        error(&format!("type: string, {read}"), "[{a: b}]"),
        unindent(
            "
            error: hcp.yaml:2:15: the parameter `a` must be text, not a list
              note: it is read from `/spec/field` of the HostedControlPlane
            "
        )
    );
}

#[test]
fn a_text_without_pairs_and_an_unknown_field_are_errors() {
    let read = |conversion: &str| {
        format!("read: {{object: HostedControlPlane, path: /spec/field, as: {conversion}}}")
    };
    for (text, problem) in [
        ("cpu:1", "pair 1 of the text has no name or no value"),
        ("cpu=1,", "pair 2 of the text has no name or no value"),
        (" =1", "pair 1 of the text has no name or no value"),
        ("cpu= ", "pair 1 of the text has no name or no value"),
        ("cpu=1, cpu=2", "pair 2 of the text has the name of an earlier one"),
    ] {
        let project = project(&format!("type: map, {}", read("{pairs: true}")), &format!("{{x: '{text}'}}"));
        assert_eq!(
            project.render_error_with("one", &OBJECT),
            unindent(&format!(
                "
                error: hcp.yaml:2:19: {problem}
                  help: write names and values as in `cpu=100m,memory=1Gi`
                "
            ))
        );
    }
    let project = project(&format!("type: list, {}", read("{item: '${nmae}'}")), "[{name: x}]");
    assert_eq!(
        project.render_error_with("one", &OBJECT),
        unindent(
            "
            error: profiles/parameters.yaml:5:116: `${nmae}` is not defined
              help: the item of the list does not have this field
            "
        )
    );
}

#[test]
fn a_conversion_without_effect_is_an_error() {
    let error = |conversion: &str| {
        let read = format!("read: {{object: HostedControlPlane, path: /spec/field, as: {conversion}}}");
        project(&format!("type: string, {read}"), "x").render_error("one")
    };
    assert_eq!(
        error("{item: key, join: ','}"),
        unindent(
            "
            error: profiles/parameters.yaml:5:118: `key` names no field of the item
              help: write fields of the item as in `${key}=${value}`
            "
        )
    );
    assert_eq!(
        error("{values: [a]}"),
        unindent(
            "
            error: profiles/parameters.yaml:5:120: `values` must be a map, not a list
              help: write `text: value` for each text
            "
        )
    );
}

#[test]
fn an_item_may_be_optional() {
    let read = "read: {object: HostedControlPlane, path: '/spec/field/[name=ec2]/url'";
    let field = "[{name: s3, url: s}, {name: ec2, url: e}]";
    let optional = format!("type: string, {read}, optional: true}}");
    let render = |field: &str| project(&optional, field).render_with("one", &OBJECT)[0]["data"]["a"].clone();
    assert_eq!(render(field), "e");
    assert_eq!(render("[{name: s3, url: s}]"), Value::Null);
    assert_eq!(
        project(&format!("type: string, {read}}}"), "[{name: s3, url: s}]").render_error_with("one", &OBJECT),
        unindent(
            "
            error: hcp.yaml:2:15: the HostedControlPlane has no item with name=ec2
              note: a parameter is read from `/spec/field/[name=ec2]/url` of the HostedControlPlane
              note: the items have s3
              help: pass the object of the right cluster and version, or set the parameter with --set a=…
            "
        )
    );
}
