//! Patch formats, compared with the recorded results of Kubernetes' own code and of the RFCs.

use proptest::prelude::*;
use serde_json::Value as Json;
use transship::patch::ItemPosition;
use transship::patch::{self, PatchError};
use transship::yaml::{self, Node, SourceId};

use crate::support::{Folder, repository};

fn node(text: &str) -> Node {
    yaml::read(text, SourceId(0)).unwrap().remove(0).root
}

fn truth(file: &str) -> Vec<Json> {
    serde_json::from_str(&std::fs::read_to_string(repository().join("tests/data/truth").join(file)).unwrap())
        .unwrap()
}

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

/// Sorts every list, to compare results that differ only in the order of items.
fn unordered(node: &Node) -> Json {
    sorted(serde_json::from_str(&yaml::json::write(node)).unwrap())
}

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
                    assert_eq!(unordered(&ours), unordered(&theirs), "{name}");
                }
            }
            (theirs, ours) => panic!("{name}: {ours:?} instead of {theirs:?}"),
        }
    }
}

const POD: &str = "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: a}, {name: b}]\n";

#[test]
fn new_items_come_last_unless_the_position_is_first() {
    let change = "spec: {containers: [{name: c}, {name: b, image: i}]}";
    let names = |position| {
        let patched = strategic(POD, change, position).unwrap();
        let containers = patched.get("spec").unwrap().get("containers").unwrap().as_list().unwrap().to_vec();
        containers
            .iter()
            .map(|item| item.get("name").unwrap().as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(ItemPosition::Last), ["a", "b", "c"]);
    assert_eq!(names(ItemPosition::First), ["c", "a", "b"]);
}

#[test]
fn errors_in_strategic_merge_patches_name_the_line() {
    for (change, line, message, help) in [
        (
            "spec:\n  containers:\n  - image: i\n",
            3,
            "the item has no `name`",
            "add it: the items of this list are merged by `name`",
        ),
        (
            "spec:\n  containers:\n  - {name: a, $patch: remove}\n",
            3,
            "this is not a `$patch` directive",
            "write `delete` or `replace`",
        ),
        (
            "spec:\n  containers: [x]\n",
            2,
            "the items of the list and of the patch are of different types",
            "",
        ),
        (
            "spec:\n  $retainKeys: [nodeName]\n  hostname: h\n",
            3,
            "the patch sets `hostname`, which `$retainKeys` does not list",
            "",
        ),
        ("- a\n", 1, "a strategic merge patch is a map, not a list", ""),
    ] {
        let error = strategic(POD, change, ItemPosition::Last).unwrap_err();
        assert_eq!((error.mark.line, error.message.as_str()), (line, message));
        assert!(error.help.unwrap_or_default().starts_with(help));
    }
}

#[test]
fn lists_of_custom_resources_merge_by_the_keys_in_the_crd() {
    let crd = node(
        "properties:\n  spec:\n    properties:\n      rules:\n        x-kubernetes-list-type: map\n        \
         x-kubernetes-list-map-keys: [id]\n        items: {properties: {id: {type: string}, tags: {x-kubernetes-list-type: set}}}\n",
    );
    let mut target = node("spec: {rules: [{id: one, v: 1, tags: [x]}, {id: two}], plain: [1]}");
    let change = node("spec: {rules: [{id: one, w: 2, tags: [x, z]}, {id: three}]}");
    patch::strategic_merge(&mut target, &change, Some(&crd), ItemPosition::Last).unwrap();
    assert_eq!(
        yaml::json::write(&target),
        r#"{"spec":{"plain":[1],"rules":[{"id":"one","tags":["x","z"],"v":1,"w":2},{"id":"two"},{"id":"three"}]}}"#
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
fn errors_in_json_patches_suggest_a_correction() {
    for (change, message, help) in [
        (
            "[{op: replace, path: '/spec/containers/[name=aa]/x', value: 1}]",
            "does not have an item with name=aa",
            "did you mean `[name=a]`?",
        ),
        (
            "[{op: remove, path: /spec/container}]",
            "does not have the key `container`",
            "did you mean `containers`?",
        ),
        ("[{op: remove, path: '/spec/containers/[--v]'}]", "does not have the argument --v", ""),
        (
            "[{op: add, path: spec, value: 1}]",
            "the path `spec` does not start with `/`",
            "write it as a JSON pointer",
        ),
        (
            "[{op: add, path: '/spec/containers/[name=a]', value: 1}]",
            "`add` needs a key, an index or `-`",
            "use `replace`",
        ),
        ("[{op: add, path: /spec/s/01, value: 1}]", "`01` is not an index of a list", "write a number"),
        ("[{op: add, path: /m/~2, value: 1}]", "`~` in `~2` is not followed by `0` or `1`", "write `~0`"),
        ("[{op: remove, path: '/spec/[x]'}]", "`[x]` is not a segment of a path", "write `[key=value]`"),
        ("[{op: replac, path: /m, value: 1}]", "there is no operation `replac`", "did you mean `replace`?"),
        ("[{op: add, value: 1}]", "the operation has no field `path`", ""),
        ("[{op: move, from: /m, path: /m/k}]", "a value cannot be moved into itself", ""),
        ("{op: add}", "a JSON patch is a list of operations, not a map", ""),
    ] {
        let error = json_patch(DOCUMENT, change).unwrap_err();
        assert!(error.message.contains(message), "{change}: {}", error.message);
        assert!(error.help.clone().unwrap_or_default().starts_with(help), "{change}: {:?}", error.help);
    }
    let two = "{l: [{name: a}, {name: a}]}";
    let error = json_patch(two, "[{op: remove, path: '/l/[name=a]'}]").unwrap_err();
    assert_eq!(error.message, "2 items have name=a");
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
        let mut node_ = node(target);
        patch::merge(&mut node_, &node(change));
        assert_eq!(yaml::json::write(&node_), result, "{target} and {change}");
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

#[test]
fn the_patch_command_prints_the_result_and_reports_if_nothing_changes() {
    let folder = Folder::new();
    folder.write("pod.yaml", POD);
    folder.write("add.yaml", "spec: {containers: [{name: a, image: i}]}\n");
    folder.write("ops.yaml-patch", "- {op: remove, path: '/spec/containers/[name=b]'}\n");
    folder.write("none.yaml", "kind: Pod\n");
    let run = folder.run(&["patch", "pod.yaml", "--patch", "add.yaml"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: i\n    name: a\n  - name: b\n")
    );
    let run = folder.run(&["patch", "pod.yaml", "--patch", "add.yaml", "--type", "merge"]);
    assert_eq!(run.stdout, "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: i\n    name: a\n");
    let run = folder.run(&["patch", "pod.yaml", "--patch", "ops.yaml-patch"]);
    assert_eq!(run.stdout, "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n");
    let run = folder.run(&["patch", "pod.yaml", "--patch", "none.yaml"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "the patch changes nothing\n"));
    folder.write("ops.yaml-patch", "- {op: remove, path: '/spec/containers/[name=c]'}\n");
    let run = folder.run(&["patch", "pod.yaml", "--patch", "ops.yaml-patch"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with("error: ops.yaml-patch:1:22: the object does not have an item with name=c"),
        "{}",
        run.stderr
    );
}

/// The folder is like the overlays of cluster-storage-operator: strategic merge patches, operations in a `.yaml-patch` file
/// and as text, `$patch: delete`, targets by name and annotation.
#[test]
fn patches_give_the_same_results_as_kustomize() {
    let folder = repository().join("tests/data/kustomize");
    let run = crate::support::run_in(&folder, &["render", "--profile", "test"], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let read = |text: &str| yaml::read(text, SourceId(0)).unwrap();
    let (ours, theirs) =
        (read(&run.stdout), read(&std::fs::read_to_string(folder.join("expected.yaml")).unwrap()));
    assert_eq!(ours.len(), 3);
    assert_eq!(theirs.len(), 3);
    let find = |kind: &str| {
        let is = |document: &&yaml::Document| document.root.get("kind").and_then(Node::as_str) == Some(kind);
        (&ours.iter().find(is).unwrap().root, &theirs.iter().find(is).unwrap().root)
    };
    for kind in ["Role", "Service", "Deployment"] {
        let (ours, theirs) = find(kind);
        // kustomize puts the items of a patch first, and drops a map that becomes empty.
        assert_eq!(
            unordered(&without_empty_annotations(ours)),
            unordered(&without_empty_annotations(theirs)),
            "{kind}"
        );
    }
    let containers = find("Deployment")
        .0
        .get("spec")
        .unwrap()
        .get("template")
        .unwrap()
        .get("spec")
        .unwrap()
        .get("containers")
        .unwrap();
    let names: Vec<_> = containers
        .as_list()
        .unwrap()
        .iter()
        .map(|container| container.get("name").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(names, ["driver-operator", "token-minter"], "new items come last");
}

fn without_empty_annotations(node: &Node) -> Node {
    let mut node = node.clone();
    if let Some(yaml::Value::Map(metadata)) = node.get_mut("metadata").map(|node| &mut node.value)
        && metadata.get("annotations").and_then(Node::as_map).is_some_and(yaml::Map::is_empty)
    {
        metadata.remove("annotations");
    }
    node
}
