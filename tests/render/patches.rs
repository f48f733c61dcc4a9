//! Patch formats, compared with the recorded results of Kubernetes' own code and of the RFCs.

mod command;
mod limits;

use serde_json::{Value as Json, json};
use transship::patch::{self, ItemPosition, PatchError};
use transship::yaml::{self, Node, SourceId};

use crate::support::{find, repository, run_in, unindent};

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

fn to_json(node: &Node) -> Json {
    serde_json::from_str(&yaml::json::write(node)).unwrap()
}

#[test]
fn strategic_merge_gives_the_same_results_as_kubernetes() {
    let cases = truth("strategic-merge.json");
    assert_eq!(cases.len(), 48);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let ours =
            strategic(&case["original"].to_string(), &case["patch"].to_string(), ItemPosition::Kubernetes);
        match (case.get("result"), ours) {
            (None, Err(_)) => {}
            (Some(theirs), Ok(ours)) => {
                assert_eq!(to_json(&ours), to_json(&node(&theirs.to_string())), "{name}");
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
fn new_items_come_where_kubernetes_or_kustomize_puts_them_or_last() {
    let change = "spec: {containers: [{name: c}, {name: b, image: i}]}";
    assert_eq!(containers_after(change, ItemPosition::Kubernetes), ["c", "a", "b"]);
    assert_eq!(containers_after(change, ItemPosition::First), ["c", "b", "a"]);
    assert_eq!(containers_after(change, ItemPosition::Last), ["a", "b", "c"]);
}

#[test]
fn a_patch_orders_the_items_that_it_has() {
    let change = "spec: {containers: [{name: b}, {name: a}]}";
    assert_eq!(containers_after(change, ItemPosition::Kubernetes), ["b", "a"]);
    assert_eq!(containers_after(change, ItemPosition::First), ["b", "a"]);
    assert_eq!(containers_after(change, ItemPosition::Last), ["a", "b"]);
    let ordered =
        "spec: {$setElementOrder/containers: [{name: b}, {name: c}, {name: a}], containers: [{name: c}]}";
    for position in [ItemPosition::Kubernetes, ItemPosition::First, ItemPosition::Last] {
        assert_eq!(containers_after(ordered, position), ["b", "c", "a"]);
    }
}

#[test]
fn two_new_items_with_the_same_key_are_merged() {
    let change = "spec: {containers: [{name: c, image: i, tty: true}, {name: c, tty: null, args: [x]}]}";
    let patched = strategic(&unindent(POD), change, ItemPosition::Last).unwrap();
    assert_eq!(
        to_json(&patched)["spec"]["containers"],
        json!([{"name": "a"}, {"name": "b"}, {"name": "c", "image": "i", "args": ["x"]}])
    );
}

#[test]
fn a_new_item_has_no_nulls_and_no_directives() {
    let change = "spec: {containers: [{name: c, tty: null, ports: [{containerPort: 1, $patch: delete}], \
                  resources: {$retainKeys: [limits], limits: {cpu: 1}}}]}";
    let patched = strategic(&unindent(POD), change, ItemPosition::Last).unwrap();
    assert_eq!(
        to_json(&patched)["spec"]["containers"][2],
        json!({"name": "c", "ports": [], "resources": {"limits": {"cpu": 1}}})
    );
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
fn json_patch_gives_the_results_of_kubernetes_and_of_rfc_6902() {
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
        // kustomize drops a map that becomes empty.
        assert_eq!(
            without_empty_annotations(object),
            without_empty_annotations(find(&theirs, kind, name)),
            "{kind}"
        );
    }
}

fn without_empty_annotations(object: &Json) -> Json {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    if metadata.get("annotations") == Some(&json!({})) {
        metadata.remove("annotations");
    }
    object
}
