//! Invalid input: each kind with its message, its position and its help.

use std::os::unix::fs::symlink;

use crate::support::{Folder, config_map, repository, run_in};

/// The errors of a payload, as printed.
fn errors(folder: &Folder) -> String {
    folder.shown(&folder.payload().expect_err("the payload must be refused"))
}

fn load_error(path: &str, text: impl AsRef<[u8]>) -> String {
    let folder = Folder::with_payload(&[]);
    folder.write(&format!("payload/{path}"), text);
    errors(&folder)
}

#[test]
fn invalid_yaml_is_reported_with_its_position() {
    for (text, message) in [
        ("a: [1,\n", "payload/x.yaml:2:1: expected a value"),
        ("a: b: c\n", "payload/x.yaml:1:5: unexpected `: ` inside a value"),
        ("a: 1\n b: 2\n", "payload/x.yaml:2:3: unexpected `: ` inside a value"),
        ("a:\n\t- b\n", "payload/x.yaml:2:1: a tab cannot be used for indentation"),
        ("a: *b\n", "payload/x.yaml:1:4: this alias refers to an unknown anchor"),
        ("a: &b [*b]\n", "payload/x.yaml:1:8: this alias refers to a value that contains it"),
        ("a: \"b\n", "payload/x.yaml:1:4: the closing quote is missing"),
        ("a: \"\\/\"\n", "payload/x.yaml:1:5: unknown escape sequence"),
        ("a: {{ x }}\n", "payload/x.yaml:1:5: a list or map cannot be a key"),
        ("a: 1\n---\nb: {\n", "payload/x.yaml:4:1: expected a value"),
        ("a: 1\n--- b\n", "payload/x.yaml:2:1: unexpected text after `---`"),
        (
            "%YAML 1.1\n---\na: 1\n",
            "payload/x.yaml:1:1: directives such as `%YAML` and `%TAG` are not supported",
        ),
        ("a\nb: 1\n", "payload/x.yaml:2:2: unexpected `: ` inside a value"),
        ("a: 1\nb\n", "payload/x.yaml:2:1: expected `:` after this key"),
        ("a: @b\n", "payload/x.yaml:1:4: `@` cannot start a value"),
        ("a: .inf\n", "payload/x.yaml:1:4: JSON cannot represent this number"),
        ("~: 1\n", "payload/x.yaml:1:1: null cannot be a key"),
        ("<<: 1\n", "payload/x.yaml:1:1: the merge key `<<` needs a map or a list of maps"),
        ("a: !!int x\n", "payload/x.yaml:1:10: this value does not match its tag `tag:yaml.org,2002:int`"),
        ("a: \u{1}\n", "payload/x.yaml:1:4: the control character U+0001"),
        ("- a\nb: 1\n", "payload/x.yaml:2:1: expected a list item that starts with `-`"),
    ] {
        let shown = load_error("x.yaml", text);
        assert!(shown.starts_with(&format!("error: {message}")), "{text:?} gave\n{shown}");
    }
}

#[test]
fn invalid_json_is_reported_where_it_ends() {
    let shown = load_error("x.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n");
    assert!(shown.starts_with("error: payload/x.json:3:3: expected `,`"), "{shown}");
    let shown = load_error("x.yaml", "{a: b c: d}\n");
    assert!(shown.starts_with("error: payload/x.yaml:1:8: expected `,` or `}`"), "{shown}");
}

#[test]
fn several_json_documents_are_not_read_as_yaml() {
    let object = "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}}\n";
    let shown = load_error("x.json", format!("{object}{object}{{\"a\": tru}}\n"));
    assert!(shown.starts_with("error: payload/x.json:3:7: expected `true`"), "{shown}");
}

#[test]
fn documents_that_are_not_objects_are_errors() {
    for (text, message, help) in [
        (
            "- a\n",
            "this document is a list, not an object",
            "a manifest starts with `apiVersion:` and `kind:`",
        ),
        ("a: 1\n", "this object has no `kind`", "add `kind:`, or give the file another ending than .yaml"),
        ("kind: A\nmetadata: {name: a}\n", "this object has no valid `apiVersion`", "write `apiVersion: v1`"),
        ("apiVersion: a/b/c\nkind: A\n", "this object has no valid `apiVersion`", "write `apiVersion: v1`"),
        (
            "apiVersion: v1\nkind: A\n",
            "this object has no `metadata.name`",
            "every object of a payload needs a name",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: []\n",
            "this is a list of objects",
            "write each object as a document",
        ),
    ] {
        let shown = load_error("x.yaml", text);
        assert!(
            shown.starts_with(&format!("error: payload/x.yaml:1:1: {message}\n  help: {help}")),
            "{shown}"
        );
    }
}

#[test]
fn an_object_that_is_twice_in_one_file_is_an_error() {
    let object = config_map("a", "{}");
    let shown = load_error("x.yaml", format!("{object}---\n{object}"));
    assert_eq!(
        shown,
        "error: payload/x.yaml:10:1: the file has the same object twice\n  object: ConfigMap/a in ns\n  \
         note: the first is at payload/x.yaml:1:1\n  \
         help: remove one of them; objects with different API versions are the same object"
    );
}

#[test]
fn an_object_in_two_files_is_an_error_that_names_both() {
    let folder =
        Folder::with_payload(&[("a.yaml", &config_map("a", "{}")), ("b.yaml", &config_map("a", "{x: y1}"))]);
    let error = folder.render().unwrap_err();
    assert_eq!(
        folder.shown(&error),
        "error[duplicate-object]: payload/b.yaml:1:1: two manifests describe the same object\n  object: ConfigMap/a in ns\n  \
         note: the other manifest is at payload/a.yaml:1:1\n  \
         note: each apply would overwrite one with the other\n  \
         help: exclude one of them with a release annotation, a capability or a feature set"
    );
}

#[test]
fn duplicate_keys_are_read_as_kubectl_reads_them_and_reported_with_both_lines() {
    for (file, text) in [
        ("x.yaml", config_map("a", "\n  k: one\n  k: two")),
        (
            "x.json",
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\n\n\n\n\n\n\n\n\
             \"data\":{\"k\":\"one\",\n  \"k\":\"two\"}}"
                .to_owned(),
        ),
    ] {
        let folder = Folder::with_payload(&[(file, &text)]);
        let payload = folder.payload().unwrap();
        let data = payload.manifests[0].root.get("data").unwrap();
        assert_eq!(data.get("k").unwrap().as_str(), Some("two"));
        let shown = folder.without_path(&payload.warnings[0].to_string());
        let first = if file == "x.yaml" { "9:3" } else { "9:9" };
        assert_eq!(
            shown,
            format!(
                "warning: payload/{file}:10:3: duplicate key `k`: the last value is used\n  \
                 note: the value at payload/{file}:{first} is ignored, as kubectl does\n  \
                 help: remove one of them"
            )
        );
    }
}

#[test]
fn an_annotation_that_is_not_text_is_reported() {
    let text = config_map("a", "{}").replace("\"true\"", "true");
    let folder = Folder::with_payload(&[("x.yaml", &text)]);
    let shown = folder.without_path(&folder.payload().unwrap().warnings[0].to_string());
    assert_eq!(
        shown,
        "warning: payload/x.yaml:7:40: the annotation `include.release.openshift.io/test` is a boolean, not text\n  \
         object: ConfigMap/a in ns\n  note: the cluster-version-operator ignores all annotations of the object and excludes it\n  \
         help: put the value in quotes"
    );
}

#[test]
fn a_file_that_is_not_utf8_is_an_error() {
    let shown = load_error("x.yaml", b"a: 1\nb: x\xff\n");
    assert_eq!(
        shown,
        "error: payload/x.yaml:2:5: the file is not UTF-8 from here on\n  \
         help: save the file as UTF-8; encode binary data as base64"
    );
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = Folder::with_payload(&[]);
    let file = std::fs::File::create(folder.path().join("payload/x.yaml")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    assert!(
        errors(&folder).starts_with("error: payload/x.yaml: the file is larger than 64 MiB\n  note: "),
        "{}",
        errors(&folder)
    );
}

#[test]
fn deep_nesting_is_an_error() {
    for (file, text) in [
        ("x.yaml", "[".repeat(100_000)),
        ("x.json", format!("{{\"a\":{}", "[".repeat(100_000))),
        ("y.yaml", "- ".repeat(100_000)),
    ] {
        let shown = load_error(file, text);
        assert!(shown.contains(": this value is nested more than 500 levels deep"), "{shown}");
    }
}

#[test]
fn exponential_aliases_are_an_error() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        text = format!("{text}a{level}: &a{level} [{before}]\n");
    }
    let shown = load_error("x.yaml", text);
    assert!(shown.contains("aliases expand this document to an excessive size"), "{shown}");
}

#[test]
fn links_that_leave_the_payload_or_have_no_target_are_errors() {
    let folder = Folder::with_payload(&[
        ("real.yaml", &config_map("a", "{}")),
        ("folder/b.yaml", &config_map("b", "{}")),
    ]);
    folder.write("outside.yaml", config_map("c", "{}"));
    let payload = folder.path().join("payload");
    symlink("../outside.yaml", payload.join("out.yaml")).unwrap();
    symlink("nothing.yaml", payload.join("broken.yaml")).unwrap();
    symlink("folder", payload.join("again")).unwrap();
    symlink("/", payload.join("root")).unwrap();
    let shown = errors(&folder);
    for message in [
        "error: payload/out.yaml: the link leaves the payload",
        "error: payload/root: the link leaves the payload",
        "error: payload/broken.yaml: the link has no target",
        "error: payload/again: the link leads to a folder of the payload",
    ] {
        assert!(shown.contains(message), "{message} is not in\n{shown}");
    }
}

#[test]
fn links_within_the_payload_are_read() {
    let folder = Folder::with_payload(&[("..data/a.yaml", &config_map("a", "{}"))]);
    symlink("..data/a.yaml", folder.path().join("payload/a.yaml")).unwrap();
    assert_eq!(folder.payload().unwrap().manifests.len(), 1);
}

#[test]
fn a_manifest_must_be_a_regular_file() {
    let folder = Folder::with_payload(&[]);
    let socket = folder.path().join("payload/x.yaml");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    assert_eq!(
        errors(&folder),
        "error: payload/x.yaml: this is not a regular file\n  \
         help: remove the pipe, socket or device, or rename it"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    // A link to itself cannot be opened by anybody, not even by root.
    let folder = Folder::with_payload(&[]);
    symlink("x.yaml", folder.path().join("payload/x.yaml")).unwrap();
    assert!(
        errors(&folder).starts_with("error: payload/x.yaml: the link has no target: "),
        "{}",
        errors(&folder)
    );
    let folder = Folder::new();
    assert!(errors(&folder).starts_with("error: payload: cannot open the payload: "), "{}", errors(&folder));
    folder.write("payload", "a file");
    assert!(
        errors(&folder).starts_with("error: payload: the payload is not a folder"),
        "{}",
        errors(&folder)
    );
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_files() {
    let folder = Folder::with_payload(&[
        ("c.yaml", "a: [\n"),
        ("a.yaml", "a: 1\n"),
        ("b.yaml", &config_map("b", "{}")),
    ]);
    folder.write("payload/image-references", "kind: Pod\n");
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stdout, "");
    let lines: Vec<&str> = run.stderr.lines().filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(
        lines,
        [
            "error: payload/a.yaml:1:1: this object has no `kind`",
            "error: payload/c.yaml:2:1: expected a value",
            "error: payload/image-references:1:1: this is not an ImageStream",
            "3 errors",
        ]
    );
}

#[test]
fn an_incomplete_release_is_an_error() {
    let folder = Folder::with_payload(&[("release-manifests/a.yaml", &config_map("a", "{}"))]);
    let shown = errors(&folder);
    for missing in ["manifests", "release-manifests/release-metadata", "release-manifests/image-references"] {
        assert!(
            shown.contains(&format!(
                "error: payload/{missing}: the release does not have this file or folder"
            )),
            "{shown}"
        );
    }
    folder.write("payload/manifests/b.yaml", config_map("b", "{}"));
    folder.write(
        "payload/release-manifests/image-references",
        "{\"kind\":\"ImageStream\",\"apiVersion\":\"v1\"}",
    );
    for (metadata, message) in [
        ("{\"kind\":\"x\"}", "this is not release metadata"),
        ("{\"kind\":\"cincinnati-metadata-v0\"}", "the release metadata has no `version`"),
        ("{\"kind\":\"cincinnati-metadata-v0\",\"version\":\"4.22\"}", "`4.22` is not a semantic version"),
        ("{", "payload/release-manifests/release-metadata:1:2: "),
    ] {
        folder.write("payload/release-manifests/release-metadata", metadata);
        let shown = errors(&folder);
        assert!(shown.contains(message), "{shown}");
        assert!(
            shown.contains("payload/release-manifests/image-references:1:1: this is not an ImageStream"),
            "{shown}"
        );
    }
    folder.write(
        "payload/release-manifests/release-metadata",
        "{\"kind\":\"cincinnati-metadata-v0\",\"version\":\"4.22.0\"}",
    );
    folder.write(
        "payload/release-manifests/image-references",
        "{\"kind\":\"ImageStream\",\"apiVersion\":\"image.openshift.io/v1\",\"metadata\":{\"name\":\"4.21.0\"}}",
    );
    assert_eq!(
        errors(&folder),
        "error: payload/release-manifests/image-references: image-references is of the release `4.21.0`, but release-metadata is of `4.22.0`\n  \
         help: take image-references and release-metadata from the same release"
    );
}

#[test]
fn a_secret_in_a_broken_file_is_not_printed() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  key: CANARY: x\n";
    let shown = load_error("x.yaml", text);
    assert!(shown.contains("x.yaml:6:14") && !shown.contains("CANARY"), "{shown}");
}

#[test]
fn an_invalid_command_line_shows_usage() {
    for arguments in
        [&["render", "--nothing"][..], &["fmt", "-o", "xml"], &[], &["list", "--override", "a/b"]]
    {
        let run = run_in(&repository(), arguments, "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains("Usage:") || run.stderr.contains("error:"), "{}", run.stderr);
    }
}

#[test]
fn a_name_or_namespace_must_be_text() {
    for (metadata, place, kind) in [
        ("{name: y}", "3:18", "`name` is a boolean"),
        ("{name: a, namespace: n}", "3:32", "`namespace` is a boolean"),
        ("{name: 2024}", "3:18", "`name` is a number"),
    ] {
        let shown = load_error("x.yaml", format!("apiVersion: v1\nkind: A\nmetadata: {metadata}\n"));
        assert_eq!(
            shown,
            format!("error: payload/x.yaml:{place}: {kind}, not text\n  help: put the value in quotes")
        );
    }
}

#[test]
fn a_payload_without_manifests_is_an_error() {
    let folder = Folder::with_payload(&[("README.md", "nothing")]);
    assert!(
        errors(&folder).starts_with("error: payload: the folder has no manifests"),
        "{}",
        errors(&folder)
    );
}

#[test]
fn metadata_files_must_be_regular_files() {
    for path in ["release-metadata", "image-references", "op/image-references"] {
        let folder = Folder::with_payload(&[("op/a.yaml", &config_map("a", "{}"))]);
        let pipe = folder.path().join("payload").join(path);
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(
            errors(&folder).starts_with(&format!("error: payload/{path}: this is not a regular file")),
            "{}",
            errors(&folder)
        );
    }
}

#[test]
fn the_folders_of_a_release_cannot_leave_the_payload() {
    let folder = Folder::with_payload(&[("manifests/a.yaml", &config_map("a", "{}"))]);
    folder.write("elsewhere/b.yaml", config_map("b", "{}"));
    symlink("../elsewhere", folder.path().join("payload/release-manifests")).unwrap();
    assert!(
        errors(&folder).starts_with("error: payload/release-manifests: the link leaves the payload"),
        "{}",
        errors(&folder)
    );
}

#[test]
fn a_secret_that_looks_like_an_alias_is_not_printed() {
    let shown = load_error("x.yaml", "apiVersion: v1\nkind: Secret\nstringData: {p: *CANARY}\n");
    assert!(shown.contains("x.yaml:3:17") && !shown.contains("CANARY"), "{shown}");
}

#[test]
fn a_key_that_is_too_long_is_an_error() {
    let shown = load_error("x.yaml", format!("{}: 1\n", "k".repeat(1030)));
    assert!(
        shown.starts_with("error: payload/x.yaml:1:1031: the key is longer than 1,024 characters"),
        "{shown}"
    );
}

#[test]
fn names_cannot_move_the_cursor_of_a_terminal() {
    let shown = load_error(
        "x.yaml",
        "apiVersion: v1\nkind: A\nmetadata: {name: \"a\\e[2J\"}\n---\napiVersion: v1\nkind: A\nmetadata: {name: \"a\\e[2J\"}\n",
    );
    assert!(shown.contains("object: A/a\\u{1b}[2J\n"), "{shown}");
}

#[test]
fn an_endless_stream_is_rejected() {
    let run = run_in(&repository(), &["fmt", "/dev/zero"], "");
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: /dev/zero: the file is larger than 64 MiB"), "{}", run.stderr);
}
