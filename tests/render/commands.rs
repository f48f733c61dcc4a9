//! The command line: `fmt`, `render`, `diff`, and the help of all commands.

use std::process::{Command, Stdio};

use crate::support::{Folder, Run, config_map, repository, run_in};

fn fmt(arguments: &[&str], input: &str) -> Run {
    run_in(&repository(), &[&["fmt"][..], arguments].concat(), input)
}

#[test]
fn fmt_reads_yaml_as_kubernetes_does() {
    let run = fmt(&["-o", "json"], "mode: 0640\non: yes\n---\n---\n[1_000, 1.0]\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, "{\"mode\":416,\"true\":true}\n[1000,1]\n"));
    let run = fmt(&["-"], "b: 1\na: 'x'\n---\n{\"c\": \"yes\"}\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, "a: x\nb: 1\n---\nc: \"yes\"\n"));
    let run = fmt(&[], "a: 1\na: 2\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, "a: 2\n"));
    assert!(
        run.stderr.starts_with("warning: <stdin>:2:1: duplicate key `a`: the last value is used"),
        "{}",
        run.stderr
    );
    let run = fmt(&[], "a: [\n");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: <stdin>:2:1: "), "{}", run.stderr);
    assert_eq!(fmt(&["nothing.yaml"], "").code, 2);
}

#[test]
fn render_prints_objects_in_the_order_in_which_they_are_applied() {
    let run = run_in(&repository(), &["render", "--profile", "standalone", "-o", "json"], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let kinds: Vec<String> = run
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.len(), 98);
    // CRDs, then the namespace that the rest is in, and last what needs the custom kinds.
    assert!(kinds[..4].iter().all(|kind| kind == "CustomResourceDefinition"), "{kinds:?}");
    assert_eq!(kinds[4], "Namespace");
    assert_eq!(kinds[97], "VolumeSnapshotClass");
}

#[test]
fn diff_shows_objects_of_one_profile_and_changed_fields_without_secrets() {
    let folder = Folder::new();
    let header = "apiVersion: transship.openshift.io/v1\n";
    for (name, more) in [("a", ""), ("b", "omit: {ConfigMap/left: why}\nnamespace: other\n")] {
        let cluster = if name == "a" { "both" } else { "management" };
        folder.write(
            &format!("profiles/{name}.yaml"),
            format!("{header}kind: Profile\nmetadata: {{name: {name}}}\ntopology: {name}\ncluster: {cluster}\n{more}"),
        );
    }
    let page = "\
annotations: {include.release.openshift.io/any: 'true'}
place: {management: [ConfigMap, Secret]}
patches:
- reason: r
  in: [b]
  target: {kind: Secret}
  patch: [{op: replace, path: /data/k, value: bmV3}]
";
    folder.write(
        "payload/op/component.yaml",
        format!("{header}kind: Component\nmetadata: {{name: op}}\n{page}"),
    );
    let object = |kind: &str, name: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: op}}\ndata: {{k: {data}}}\n---\n"
        )
    };
    folder.write(
        "payload/op/a.yaml",
        object("ConfigMap", "left", "a")
            + &object("ConfigMap", "moved", "a")
            + &object("Secret", "s", "aHVzaA=="),
    );
    let diff =
        |more: &[&str]| folder.run(&[&["diff", "--profile", "a", "--profile", "b"][..], more].concat());
    let moved = "\
ConfigMap/moved differs
  --- a
  +++ b
  @@ -4,4 +4,4 @@
   kind: ConfigMap
   metadata:
     name: moved
  -  namespace: op
  +  namespace: other
";
    let run = diff(&["configmap/moved"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, moved), "{}", run.stderr);
    let run = diff(&[]);
    assert!(
        run.stdout.starts_with("ConfigMap/left in op is only in a\nConfigMap/moved differs\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("  -  k: <hidden, before>\n  +  k: <hidden, after>\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("aHVzaA") && !run.stdout.contains("bmV3"), "{}", run.stdout);
    let run = folder.run(&["diff", "--profile", "a", "--profile", "a"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    let run = folder.run(&["diff", "--profile", "a"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "error: `diff` compares exactly two profiles\n  help: pass --profile twice, for example --profile standalone --profile hypershift-mc\n"
        )
    );
    let run = diff(&["configmap/move"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "error: the profile `a` has no object `configmap/move`\n  help: did you mean `ConfigMap/moved`?\n"
        )
    );
}

#[test]
fn render_can_be_limited_to_one_component() {
    let folder =
        Folder::with_payload(&[("a/x.yaml", &config_map("a", "{}")), ("b/x.yaml", &config_map("b", "{}"))]);
    let run = folder.run(&["render", "--component", "b"]);
    assert!(run.stdout.contains("name: b") && !run.stdout.contains("name: a"), "{}", run.stdout);
    let run = folder.run(&["render", "--component", "storage"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (2, "error: there is no component `storage`\n  help: use one of a, b\n")
    );
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transship"))
        .args(["render", "--profile", "standalone"])
        .current_dir(repository())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn an_invalid_command_line_is_an_error() {
    for (arguments, error) in [
        (&["render", "--nothing"][..], "error: unexpected argument '--nothing' found\n"),
        (&["fmt", "-o", "xml"], "error: invalid value 'xml' for '-o <FORMAT>'\n"),
        (
            &["list", "--override", "a/b"],
            "error: invalid value 'a/b' for '--override <GROUP/KIND/NAMESPACE/NAME>'",
        ),
        (
            &[],
            "One release payload, every topology, the right cluster\n\nUsage: transship [OPTIONS] <COMMAND>\n",
        ),
    ] {
        let shown = run_in(&repository(), arguments, "").refusal();
        assert!(shown.starts_with(error), "{shown}");
    }
}

#[test]
fn the_help_of_each_command_has_an_example() {
    for command in ["render", "list", "fmt", "golden", "patch", "schema", "explain"] {
        let run = run_in(&repository(), &[command, "--help"], "");
        assert_eq!(run.code, 0);
        assert!(
            run.stdout.contains("Example") && run.stdout.contains(&format!("transship {command}")),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn render_refuses_several_profiles_in_one_stream() {
    let folder = Folder::with_payload(&[("a/x.yaml", &config_map("a", "{}"))]);
    folder.write("profiles/guest.yaml", crate::support::profile("guest", ""));
    let run = folder.run(&["render"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains(
            "help: choose one with --profile (guest, test), or write all of them to a folder with --output"
        ),
        "{}",
        run.stderr
    );
    assert_eq!(folder.run(&["render", "--output", "out"]).code, 0);
    assert!(
        folder.path().join("out/guest/index.txt").is_file()
            && folder.path().join("out/test/index.txt").is_file()
    );
}
