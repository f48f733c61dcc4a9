//! The command line: `fmt`, `render`, `diff`, and the help of all commands.

use std::process::{Command, Stdio};

use crate::support::{Run, TestProject, config_map, names, repository, run_in};

fn fmt(arguments: &[&str], input: &str) -> Run {
    run_in(&repository(), &[&["fmt"][..], arguments].concat(), input)
}

#[test]
fn fmt_prints_json_as_kubernetes_reads_it() {
    let run = fmt(
        &["-o", "json"],
        "\
mode: 0640
on: yes
---
---
[1_000, 1.0]
",
    );
    assert_eq!((run.code, run.stdout.as_str()), (0, "{\"mode\":416,\"true\":true}\n[1000,1]\n"));
}

#[test]
fn fmt_prints_canonical_yaml() {
    let run = fmt(
        &["-"],
        "\
b: 1
a: 'x'
---
{\"c\": \"yes\"}
",
    );
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (
            0,
            "\
a: x
b: 1
---
c: \"yes\"
"
        )
    );
}

#[test]
fn fmt_warns_about_duplicate_keys() {
    let run = fmt(&[], "a: 1\na: 2\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, "a: 2\n"));
    assert_eq!(
        run.stderr,
        "\
warning: <stdin>:2:1: duplicate key `a`: the last value is used
  note: transship ignores the value at <stdin>:1:1, as kubectl does
  help: remove one of them
"
    );
}

#[test]
fn fmt_fails_for_invalid_yaml_and_missing_files() {
    assert_eq!(
        fmt(&[], "a: [\n").refusal(),
        "\
error: <stdin>:2:1: expected a value
  help: check the indentation of this line, and that every bracket and brace is closed
"
    );
    assert_eq!(
        fmt(&["nothing.yaml"], "").refusal(),
        "\
error: nothing.yaml: cannot read the file: No such file or directory (os error 2)
  help: check that it is a file and readable
"
    );
}

#[test]
fn render_prints_objects_in_the_order_in_which_they_are_applied() {
    let run = run_in(&repository(), &["render", "--profile", "standalone", "-o", "json"], "");
    let names = names(&run.json());
    assert_eq!(names.len(), 73);
    // A CRD, then the namespace of the other objects, and last what watches the pods of all operators.
    assert!(names[0].starts_with("CustomResourceDefinition/"), "{names:?}");
    assert!(names[1].starts_with("Namespace/"), "{names:?}");
    assert!(names[72].starts_with("NetworkPolicy/") || names[72].starts_with("ServiceMonitor/"), "{names:?}");
}

#[test]
fn render_can_be_limited_to_one_component() {
    let project = TestProject::standalone()
        .manifest("a/x.yaml", &config_map("a", "{}"))
        .manifest("b/x.yaml", &config_map("b", "{}"));
    assert_eq!(names(&project.render_with("test", &["--component", "b"])), ["ConfigMap/b"]);
    assert_eq!(
        project.render_error_with("test", &["--component", "storage"]),
        "\
error: there is no component `storage`
  help: use one of a, b
"
    );
}

#[test]
fn render_prints_one_profile_and_writes_several_to_a_folder() {
    let project = TestProject::standalone()
        .manifest("a/x.yaml", &config_map("a", "{}"))
        .profile("guest", "topology: guest\ncluster: both\n");
    assert_eq!(
        project.run(&["render"]).refusal(),
        "\
error: a stream can contain the objects of only one profile
  note: `kubectl apply` would apply the objects of all clusters to one of them
  help: choose one with --profile (guest, test), or write all of them to a folder with --output
"
    );
    assert_eq!(project.run(&["render", "--output", "out"]).code, 0);
    assert!(project.path().join("out/guest/index.txt").is_file());
    assert!(project.path().join("out/test/index.txt").is_file());
}

/// Creates a project with the profiles `a` and `b`. The profile `b` omits an object, moves all others to a namespace and
/// patches a Secret.
fn two_different_profiles() -> TestProject {
    TestProject::new()
        .manifest(
            "op/a.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: left, namespace: op}
            data: {k: a}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: moved, namespace: op}
            data: {k: a}
            ---
            apiVersion: v1
            kind: Secret
            metadata: {name: s, namespace: op}
            data: {k: aHVzaA==}
            ",
        )
        .page(
            "op",
            r"
            annotations: {include.release.openshift.io/any: 'true'}
            place: {management: [ConfigMap, Secret]}
            patches:
            - reason: r
              in: [b]
              target: {kind: Secret}
              patch: [{op: replace, path: /data/k, value: bmV3}]
            ",
        )
        .profile("a", "topology: a\ncluster: both\n")
        .profile(
            "b",
            r"
            topology: b
            cluster: management
            omit: {ConfigMap/left: why}
            namespace: other
            ",
        )
}

#[test]
fn diff_shows_objects_of_one_profile_and_changed_fields_without_secrets() {
    let run = two_different_profiles().run(&["diff", "--profile", "a", "--profile", "b"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
ConfigMap/left in op is only in a
ConfigMap/moved differs
  --- a
  +++ b
  @@ -4,4 +4,4 @@
   kind: ConfigMap
   metadata:
     name: moved
  -  namespace: op
  +  namespace: other
Secret/s differs
  --- a
  +++ b
  @@ -1,7 +1,7 @@
   apiVersion: v1
   data:
  -  k: <hidden, before>
  +  k: <hidden, after>
   kind: Secret
   metadata:
     name: s
  -  namespace: op
  +  namespace: other
"
    );
}

#[test]
fn diff_can_be_limited_to_one_object() {
    let project = two_different_profiles();
    let run = project.run(&["diff", "--profile", "a", "--profile", "b", "configmap/moved"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "\
ConfigMap/moved differs
  --- a
  +++ b
  @@ -4,4 +4,4 @@
   kind: ConfigMap
   metadata:
     name: moved
  -  namespace: op
  +  namespace: other
"
    );
    let run = project.run(&["diff", "--profile", "a", "--profile", "b", "configmap/move"]);
    assert_eq!(
        run.refusal(),
        "\
error: the profile `a` has no object `configmap/move`
  help: did you mean `ConfigMap/moved`?
"
    );
}

#[test]
fn diff_compares_exactly_two_profiles() {
    let project = two_different_profiles();
    let run = project.run(&["diff", "--profile", "a", "--profile", "a"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert_eq!(
        project.run(&["diff", "--profile", "a"]).refusal(),
        "\
error: `diff` compares exactly two profiles
  help: pass --profile twice, for example --profile standalone --profile hypershift-mc
"
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
    let run = Run::of(&child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn an_invalid_command_line_is_an_error() {
    for (arguments, error) in [
        (&["render", "--nothing"][..], "error: unexpected argument '--nothing' found\n"),
        (&["fmt", "-o", "xml"], "error: invalid value 'xml' for '-o <FORMAT>'\n"),
        (
            &["list", "--override", "a/b"],
            "error: invalid value 'a/b' for '--override <GROUP/KIND/NAMESPACE/NAME>': ",
        ),
        (
            &[],
            "Render an OpenShift release payload for each cluster of a topology, check it and apply it\n\n\
             Usage: transship [OPTIONS] <COMMAND>\n",
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
        assert!(run.stdout.contains("Example"), "{}", run.stdout);
        assert!(run.stdout.contains(&format!("transship {command}")), "{}", run.stdout);
    }
}
