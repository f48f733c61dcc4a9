//! `transship patch`: its output, and the errors for mistakes in a patch.

use super::{DOCUMENT, POD};
use crate::support::{TestProject, run_in, unindent};

/// Creates a pod, and patches for it.
fn project_with_patches() -> TestProject {
    TestProject::new()
        .file("pod.yaml", POD)
        .file("add.yaml", "spec: {containers: [{name: a, image: i}]}")
        .file("remove.yaml-patch", "- {op: remove, path: '/spec/containers/[name=b]'}")
        .file("remove-unknown.yaml-patch", "- {op: remove, path: '/spec/containers/[name=c]'}")
        .file("none.yaml", "kind: Pod")
}

#[test]
fn the_patch_command_prints_the_result() {
    for (arguments, expected) in [
        (
            &["--patch", "add.yaml"][..],
            r"
            apiVersion: v1
            kind: Pod
            spec:
              containers:
              - image: i
                name: a
              - name: b
            ",
        ),
        (
            &["--patch", "add.yaml", "--type", "merge"],
            r"
            apiVersion: v1
            kind: Pod
            spec:
              containers:
              - image: i
                name: a
            ",
        ),
        (
            &["--patch", "remove.yaml-patch"],
            r"
            apiVersion: v1
            kind: Pod
            spec:
              containers:
              - name: a
            ",
        ),
    ] {
        let run = project_with_patches().run(&[&["patch", "pod.yaml"], arguments].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(run.stdout, unindent(expected), "{arguments:?}");
    }
}

#[test]
fn a_manifest_is_read_from_standard_input_and_written_as_json() {
    let project = project_with_patches();
    let manifest = project.read("pod.yaml");
    let patch = ["patch", "-", "--patch", "remove.yaml-patch", "-o", "json"];
    let run = run_in(project.path(), &patch, &manifest);
    assert_eq!(
        run.stdout,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"a\"}]}}\n"
    );
    let run = run_in(project.path(), &patch, "a: [\n");
    assert!(run.stderr.starts_with("error: <stdin>:"), "{}", run.stderr);
}

#[test]
fn the_patch_command_reports_if_nothing_changes() {
    let run = project_with_patches().run(&["patch", "pod.yaml", "--patch", "none.yaml"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.stderr, "the patch changes nothing\n");
}

#[test]
fn the_patch_command_names_the_line_of_an_error() {
    let run = project_with_patches().run(&["patch", "pod.yaml", "--patch", "remove-unknown.yaml-patch"]);
    assert_eq!(
        run.refusal(),
        unindent(
            r"
            error: remove-unknown.yaml-patch:1:22: the object does not have an item with name=c, which the path `/spec/containers/[name=c]` names
              help: did you mean `[name=a]`?
            "
        )
    );
}

/// Returns the error of the command for an object and a patch of a type.
fn patch_error(object: &str, change: &str, patch_type: &str) -> String {
    let project = TestProject::new().file("object.yaml", object).file("change.yaml", change);
    project.run(&["patch", "object.yaml", "--patch", "change.yaml", "--type", patch_type]).refusal()
}

#[test]
fn errors_in_strategic_merge_patches_name_the_line() {
    for (change, expected) in [
        (
            r"
            spec:
              containers:
              - image: i
            ",
            r"
            error: change.yaml:3:5: the item has no `name`
              help: add it: the items of this list are merged by `name`
            ",
        ),
        (
            r"
            spec:
              containers:
              - {name: a, $patch: remove}
            ",
            r"
            error: change.yaml:3:23: this is not a `$patch` directive
              help: write `delete` or `replace`
            ",
        ),
        (
            r"
            spec:
              containers: [x]
            ",
            r"
            error: change.yaml:2:15: the items of the list and of the patch are of different types
            ",
        ),
        (
            r"
            spec:
              $retainKeys: [nodeName]
              hostname: h
            ",
            r"
            error: change.yaml:3:3: the patch sets `hostname`, which `$retainKeys` does not list
            ",
        ),
        (
            "- a",
            r"
            error: change.yaml:1:1: a strategic merge patch is a map, not a list
            ",
        ),
    ] {
        assert_eq!(patch_error(POD, change, "strategic"), unindent(expected));
    }
}

#[test]
fn errors_in_json_patches_suggest_a_correction() {
    for (change, expected) in [
        (
            "[{op: replace, path: '/spec/containers/[name=aa]/x', value: 1}]",
            r"
            error: change.yaml:1:22: the object does not have an item with name=aa, which the path `/spec/containers/[name=aa]/x` names
              help: did you mean `[name=a]`?
            ",
        ),
        (
            "[{op: remove, path: /spec/container}]",
            r"
            error: change.yaml:1:21: the object does not have the key `container`, which the path `/spec/container` names
              help: did you mean `containers`?
            ",
        ),
        (
            "[{op: remove, path: '/spec/containers/[--v]'}]",
            r"
            error: change.yaml:1:21: the object does not have the argument --v, which the path `/spec/containers/[--v]` names
            ",
        ),
        (
            "[{op: add, path: spec, value: 1}]",
            r"
            error: change.yaml:1:18: the path `spec` does not start with `/`
              help: write it as a JSON pointer, such as /spec/template/spec/containers/[name=x]/image
            ",
        ),
        (
            "[{op: add, path: '/spec/containers/[name=a]', value: 1}]",
            r"
            error: change.yaml:1:2: `add` needs a key, an index or `-` at the end of its path
              help: use `replace`, `insert-before` or `insert-after` for an item that exists
            ",
        ),
        (
            "[{op: add, path: /spec/s/01, value: 1}]",
            r"
            error: change.yaml:1:18: `01` is not an index of a list
              help: write a number, `-` to append, or `[name=x]` to select an item by its name
            ",
        ),
        (
            "[{op: add, path: /m/~2, value: 1}]",
            r"
            error: change.yaml:1:18: `~` in `~2` is not followed by `0` or `1`
              help: write `~0` for `~` and `~1` for `/`
            ",
        ),
        (
            "[{op: remove, path: '/spec/[x]'}]",
            r"
            error: change.yaml:1:21: `[x]` is not a segment of a path
              help: write `[key=value]`, `[--flag]` or `[*]`
            ",
        ),
        (
            "[{op: replac, path: /m, value: 1}]",
            r"
            error: change.yaml:1:2: there is no operation `replac`
              help: did you mean `replace`?
            ",
        ),
        (
            "[{op: add, value: 1}]",
            r"
            error: change.yaml:1:2: the operation has no field `path`
            ",
        ),
        (
            "[{op: move, from: /m, path: /m/k}]",
            r"
            error: change.yaml:1:2: a value cannot be moved into itself
            ",
        ),
        (
            "{op: add}",
            r"
            error: change.yaml:1:1: a JSON patch is a list of operations, not a map
            ",
        ),
    ] {
        assert_eq!(patch_error(DOCUMENT, change, "json"), unindent(expected));
    }
}

#[test]
fn a_name_in_a_path_must_select_one_item() {
    let change = "[{op: remove, path: '/l/[name=a]'}]";
    assert_eq!(
        patch_error("{l: [{name: a}, {name: a}]}", change, "json"),
        unindent(
            r"
            error: change.yaml:1:21: 2 items have name=a
              help: select one of them, by its index or by another key
            "
        )
    );
}
