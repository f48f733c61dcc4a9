//! Patch formats, compared with the recorded results of Kubernetes' own code and of the RFCs.

mod command;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use transship::patch::{self, ItemPosition, PatchError};
use transship::yaml::{self, Node, SourceId};

use crate::support::{find, pod_spec, repository, run_in, unindent};

/// Reads one YAML document.
fn node(text: &str) -> Node {
    yaml::read(text, SourceId(0)).unwrap().remove(0).root
}

/// Reads a file with recorded results.
fn truth(file: &str) -> Vec<Json> {
    let path = repository().join("tests/data/truth").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Applies a strategic merge patch with the schema of a built-in kind.
fn strategic(original: &str, change: &str, position: ItemPosition) -> Result<Node, PatchError> {
    let mut target = node(original);
    patch::strategic_merge(&mut target, &node(change), None, position)?;
    Ok(target)
}

/// Cases in which Kubernetes puts new items first and transship puts them last.
const APPENDED: [&str; 5] = [
    "list/add-two-order",
    "list/container-ports-string-key",
    "list/sa-secrets",
    "prim/finalizers-delete-and-add",
    "prim/finalizers-union",
];

fn to_json(node: &Node) -> Json {
    serde_json::from_str(&yaml::json::write(node)).unwrap()
}

/// Sorts every list, to compare results that differ only in the order of items.
fn sorted(value: Json) -> Json {
    match value {
        Json::Array(items) => {
            let mut items: Vec<Json> = items.into_iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            Json::Array(items)
        }
        Json::Object(map) => Json::Object(map.into_iter().map(|(key, value)| (key, sorted(value))).collect()),
        scalar => scalar,
    }
}

#[test]
fn strategic_merge_gives_the_same_results_as_kubernetes() {
    let cases = truth("strategic-merge.json");
    assert_eq!(cases.len(), 48);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let ours = strategic(&case["original"].to_string(), &case["patch"].to_string(), ItemPosition::Last);
        match (case.get("result"), ours) {
            (None, Err(_)) => {}
            (Some(theirs), Ok(ours)) => {
                let theirs = node(&theirs.to_string());
                if ours != theirs {
                    assert!(APPENDED.contains(&name), "{name}: {}", yaml::json::write(&ours));
                    assert_eq!(sorted(to_json(&ours)), sorted(to_json(&theirs)), "{name}");
                }
            }
            (theirs, ours) => panic!("{name}: {ours:?} instead of {theirs:?}"),
        }
    }
}

const POD: &str = r"
    apiVersion: v1
    kind: Pod
    spec:
      containers: [{name: a}, {name: b}]
    ";

/// Returns the names of the containers of the pod after a strategic merge patch.
fn containers_after(change: &str, position: ItemPosition) -> Vec<String> {
    let patched = strategic(&unindent(POD), change, position).unwrap();
    let mut names = Vec::new();
    for container in to_json(&patched)["spec"]["containers"].as_array().unwrap() {
        names.push(container["name"].as_str().unwrap().to_owned());
    }
    names
}

#[test]
fn new_items_come_last_unless_the_position_is_first() {
    let change = "spec: {containers: [{name: c}, {name: b, image: i}]}";
    assert_eq!(containers_after(change, ItemPosition::Last), ["a", "b", "c"]);
    assert_eq!(containers_after(change, ItemPosition::First), ["c", "a", "b"]);
}

#[test]
fn lists_of_custom_resources_merge_by_the_keys_in_the_crd() {
    let schema = node(&unindent(
        r"
        properties:
          spec:
            properties:
              rules:
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
                items: {properties: {id: {type: string}, tags: {x-kubernetes-list-type: set}}}
        ",
    ));
    let mut target = node("spec: {rules: [{id: one, v: 1, tags: [x]}, {id: two}], plain: [1]}");
    let change = node("spec: {rules: [{id: one, w: 2, tags: [x, z]}, {id: three}]}");
    patch::strategic_merge(&mut target, &change, Some(&schema), ItemPosition::Last).unwrap();
    assert_eq!(
        to_json(&target),
        json!({
            "spec": {
                "plain": [1],
                "rules": [{"id": "one", "tags": ["x", "z"], "v": 1, "w": 2}, {"id": "two"}, {"id": "three"}],
            },
        })
    );
}

fn json_patch(document: &str, change: &str) -> Result<String, PatchError> {
    let mut target = node(document);
    patch::apply_operations(&mut target, &patch::operations(&node(change))?)?;
    Ok(yaml::json::write(&target))
}

#[test]
fn json_patch_gives_the_results_of_rfc_6902() {
    let cases = truth("json-patch.json");
    assert_eq!(cases.len(), 25);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let ours = json_patch(&case["doc"].to_string(), &case["patch"].to_string());
        let rfc = case.get("rfc6902").and_then(Json::as_str);
        match (rfc, case.get("result_text").and_then(Json::as_str)) {
            (Some("error"), _) | (None, None) => assert!(ours.is_err(), "{name}: {ours:?}"),
            (Some(_), _) => assert_eq!(ours.unwrap(), "{\"z\":1}", "{name}"),
            (None, Some(theirs)) => assert_eq!(node(&ours.unwrap()), node(theirs), "{name}"),
        }
    }
}

const DOCUMENT: &str =
    "{spec: {containers: [{name: a, args: [--v=2, run, --x]}, {name: b/c}], s: [1, 2]}, m: {k: v}}";

#[test]
fn paths_can_select_items_by_name_and_flag() {
    for (change, result) in [
        (
            "[{op: replace, path: '/spec/containers/[name=b~1c]/name', value: d}]",
            r#"{"m":{"k":"v"},"spec":{"containers":[{"args":["--v=2","run","--x"],"name":"a"},{"name":"d"}],"s":[1,2]}}"#,
        ),
        (
            "[{op: add, path: '/spec/containers/[*]/tty', value: true}, {op: remove, path: '/spec/s/[*]'}]",
            r#"{"m":{"k":"v"},"spec":{"containers":[{"args":["--v=2","run","--x"],"name":"a","tty":true},{"name":"b/c","tty":true}],"s":[]}}"#,
        ),
        (
            "[{op: remove, path: '/spec/containers/[name=a]/args/[--v]'}, {op: remove, path: '/spec/containers/[name=b~1c]'}]",
            r#"{"m":{"k":"v"},"spec":{"containers":[{"args":["run","--x"],"name":"a"}],"s":[1,2]}}"#,
        ),
        (
            "[{op: set-flag, path: '/spec/containers/[name=a]/args', value: --v=4}, {op: set-flag, path: '/spec/containers/[name=a]/args', value: --w}]",
            r#"{"m":{"k":"v"},"spec":{"containers":[{"args":["--v=4","run","--x","--w"],"name":"a"},{"name":"b/c"}],"s":[1,2]}}"#,
        ),
        (
            "[{op: append, path: '/spec/containers/[name=b~1c]/args', value: z}, {op: insert-before, path: '/spec/s/1', value: 9}, \
              {op: insert-after, path: '/spec/containers/[name=a]/args/[--v]', value: i}]",
            r#"{"m":{"k":"v"},"spec":{"containers":[{"args":["--v=2","i","run","--x"],"name":"a"},{"args":["z"],"name":"b/c"}],"s":[1,9,2]}}"#,
        ),
        (
            "[{op: default, path: /m/k, value: new}, {op: default, path: /m/l, value: new}]",
            r#"{"m":{"k":"v","l":"new"},"spec":{"containers":[{"args":["--v=2","run","--x"],"name":"a"},{"name":"b/c"}],"s":[1,2]}}"#,
        ),
    ] {
        assert_eq!(json_patch(DOCUMENT, change).unwrap(), result, "{change}");
    }
}

#[test]
fn merge_patch_gives_the_results_of_rfc_7386() {
    for (target, change, result) in [
        ("{a: b}", "{a: c}", r#"{"a":"c"}"#),
        ("{a: b, b: c}", "{a: null}", r#"{"b":"c"}"#),
        ("{a: [b]}", "{a: c}", r#"{"a":"c"}"#),
        ("{a: {b: c}}", "{a: {b: d, c: null}}", r#"{"a":{"b":"d"}}"#),
        ("{a: [{b: c}]}", "{a: [1]}", r#"{"a":[1]}"#),
        ("[a, b]", "[c, d]", r#"["c","d"]"#),
        ("{e: null}", "{a: 1}", r#"{"a":1,"e":null}"#),
        ("[1, 2]", "{a: b, c: null}", r#"{"a":"b"}"#),
        ("{}", "{a: {bb: {ccc: null}}}", r#"{"a":{"bb":{}}}"#),
    ] {
        let mut merged = node(target);
        patch::merge(&mut merged, &node(change));
        assert_eq!(yaml::json::write(&merged), result, "{target} and {change}");
    }
}

/// Generates operations that often fit the document.
fn any_operation() -> impl Strategy<Value = String> {
    let path = || {
        prop_oneof![
            Just("/a"),
            Just("/a/0"),
            Just("/a/-"),
            Just("/b"),
            Just("/b/c"),
            Just("/a/1/x"),
            Just("/b/c~1d"),
            Just("")
        ]
    };
    let value = || prop_oneof![Just("1"), Just("\"x\""), Just("[1,{\"x\":2}]"), Just("{\"c\":null}")];
    (0..6usize, path(), path(), value()).prop_map(|(op, path, from, value)| {
        let op = ["add", "remove", "replace", "move", "copy", "test"][op];
        format!("{{\"op\":\"{op}\",\"path\":\"{path}\",\"from\":\"{from}\",\"value\":{value}}}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn json_patch_agrees_with_an_independent_implementation(operations in proptest::collection::vec(any_operation(), 1..5)) {
        let document = r#"{"a":[1,{"x":true},"s"],"b":{"c":{"d":1},"c/d":2}}"#;
        let change = format!("[{}]", operations.join(","));
        let mut oracle: Json = serde_json::from_str(document).unwrap();
        let parsed: json_patch::Patch = serde_json::from_str(&change).unwrap();
        let theirs = json_patch::patch_unsafe(&mut oracle, &parsed).map(|()| oracle.to_string());
        let ours = json_patch(document, &change);
        match (ours, theirs) {
            // In a list, because the reader skips a document that is null.
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(node(&format!("[{ours}]")), node(&format!("[{theirs}]")), "{}", change),
            (Err(_), Err(_)) => {}
            // The crate allows removing the whole document.
            (Err(error), Ok(_)) if error.message.contains("as a whole") => {}
            (ours, theirs) => prop_assert!(false, "{change}: {ours:?} and {theirs:?}"),
        }
    }
}

/// The folder is like the overlays of cluster-storage-operator: strategic merge patches, operations in a `.yaml-patch` file
/// and as text, `$patch: delete`, targets by name and annotation.
#[test]
fn patches_give_the_same_results_as_kustomize() {
    let folder = repository().join("tests/data/kustomize");
    let ours = run_in(&folder, &["render", "--profile", "test", "-o", "json"], "").json();
    let expected = std::fs::read_to_string(folder.join("expected.yaml")).unwrap();
    let mut theirs = Vec::new();
    for document in yaml::read(&expected, SourceId(0)).unwrap() {
        theirs.push(to_json(&document.root));
    }
    assert_eq!((ours.len(), theirs.len()), (3, 3));
    for object in &ours {
        let (kind, name) = (object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        // kustomize puts the items of a patch first, and drops a map that becomes empty.
        assert_eq!(
            sorted(without_empty_annotations(object)),
            sorted(without_empty_annotations(find(&theirs, kind, name))),
            "{kind}"
        );
    }
    let containers = pod_spec(&ours, "driver-operator")["containers"].as_array().unwrap();
    let names: Vec<&Json> = containers.iter().map(|container| &container["name"]).collect();
    assert_eq!(names, ["driver-operator", "token-minter"], "new items come last");
}

fn without_empty_annotations(object: &Json) -> Json {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    if metadata.get("annotations") == Some(&json!({})) {
        metadata.remove("annotations");
    }
    object
}
