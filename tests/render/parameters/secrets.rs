//! Secret parameters: no output of a command shows their values.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Run, TestProject, object, unindent};

/// Creates a Deployment with a label from the parameter `p.word` and one from `p.pin`, which are both secret.
fn project_with_secrets() -> TestProject {
    TestProject::with_deployment(
        "",
        r"
        namespace: hosted
        policy: [{for: Deployment, set: {metadata: {labels: {w: '${p.word}', pin: 'pin ${p.pin}'}}}}]
        ",
    )
    .parameters(
        r"
        parameters:
          p.word: {type: string, description: d, secret: true}
          p.pin: {type: int, description: d, secret: true}
        ",
    )
    .manifest("b/1.yaml", &object("v1", "Secret", "ns", "s", "data: {}"))
    .page("b", "place: {management: [Secret]}")
}

fn run_with_secrets(project: &TestProject, arguments: &[&str]) -> Run {
    let secrets = ["--set", "p.word=hunter2", "--set", "p.pin=424242"];
    project.run(&[arguments, &secrets[..]].concat())
}

#[track_caller]
fn assert_no_secrets(run: &Run) {
    for output in [&run.stdout, &run.stderr] {
        assert!(!output.contains("hunter"), "{output}");
        assert!(!output.contains("424242"), "{output}");
    }
}

#[test]
fn an_error_does_not_show_the_value_of_a_secret_parameter() {
    let project = project_with_secrets()
        .page(
            "b",
            r"
            place: {management: [Secret]}
            uses: [{w: {kind: '${p.word}'}}]
            ",
        )
        .fragment(
            "w",
            r"
            inputs: {kind: {type: string, enum: [a]}}
            adds: [{nothing: x}]
            ",
        );
    let run = run_with_secrets(&project, &["render", "--profile", "mc"]);
    assert_no_secrets(&run);
    assert_eq!(
        run.refusal(),
        unindent(
            r#"
            error: payload/b/component.yaml:5:19: the input `kind` must be one of "a"
            "#
        )
    );
}

#[test]
fn the_list_does_not_show_the_value_of_a_secret_parameter() {
    let project = project_with_secrets().page(
        "op",
        r"
        place: {management: [Deployment]}
        when: {p.word: other}
        ",
    );
    let run = run_with_secrets(&project, &["list", "--profile", "mc"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_no_secrets(&run);
    assert!(run.stdout.contains("the component does not exist: p.word has another value"), "{}", run.stdout);
}

#[test]
fn explain_does_not_show_the_value_of_a_secret_parameter() {
    let run = run_with_secrets(&project_with_secrets(), &["explain", "deployment/d", "--profile", "mc"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_no_secrets(&run);
}

/// Allows what the checks find in the project, so that `golden` renders it.
fn with_allowances(project: TestProject) -> TestProject {
    project.checks(
        r"
        externals: [{objects: [Namespace/ns, ServiceAccount/sa], reason: r}]
        allow:
        - {check: missing-field, for: [Deployment/d], reason: r}
        - {check: unneeded-token, for: [Deployment/d], reason: r}
        - {check: missing-namespace, for: [Secret], reason: r}
        ",
    )
}

#[test]
fn golden_files_do_not_contain_secret_parameters_of_the_command_line() {
    let project = with_allowances(project_with_secrets());
    for command in ["update", "check"] {
        let run = run_with_secrets(&project, &["golden", command]);
        assert_no_secrets(&run);
        assert_eq!(
            run.refusal(),
            unindent(
                "
                error: profiles/mc.yaml:7:75: the golden file would contain the value of a secret parameter
                  object: Deployment.apps/d in hosted, at /metadata/labels/pin
                  note: golden files are part of the repository
                  help: give the parameter a placeholder in profiles/sets/, and no value on the command line
                error: profiles/mc.yaml:7:57: the golden file would contain the value of a secret parameter
                  object: Deployment.apps/d in hosted, at /metadata/labels/w
                  note: golden files are part of the repository
                  help: give the parameter a placeholder in profiles/sets/, and no value on the command line
                2 errors
                "
            )
        );
        assert!(!project.path().join("golden").exists());
    }
}

#[test]
fn golden_files_contain_placeholders_of_parameter_sets_and_differences_hide_them() {
    let project = with_allowances(project_with_secrets())
        .parameter_set("default", r#"values: {p: {word: "hunter2\n\tof \"all\"", pin: 424242}}"#);
    let run = project.run(&["golden", "update"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let path = "golden/default/mc/op/hosted/Deployment.apps_d.yaml";
    let golden = project.read(path);
    assert!(golden.contains("pin 424242") && golden.contains("hunter2"), "{golden}");
    project.write(path, golden.replace("hunter2", "hunter1").replace("replicas: 1", "replicas: 2"));
    for format in ["text", "github"] {
        let run = project.run(&["golden", "check", "-o", format]);
        assert_eq!(run.code, 1);
        assert_no_secrets(&run);
        let expected = "/metadata/labels/w: \"<hidden, before>\" -> \"<hidden, after>\"";
        assert!(run.stdout.contains(expected), "{}", run.stdout);
    }
}

#[test]
fn a_name_cannot_have_the_value_of_a_secret_parameter() {
    let manifest = object("v1", "ConfigMap", "ns", "'${p.word}'", "");
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", ""))
        .page("op", "uses: [{f: {}}]")
        .fragment_folder("f", "adds: []", &[("1.yaml", &manifest)])
        .parameters("parameters: {p.word: {type: string, description: d, secret: true}}");
    let run = project.run(&["render", "--profile", "test", "--set", "p.word=hunter2"]);
    assert_no_secrets(&run);
    assert_eq!(
        run.refusal(),
        unindent(
            "
            error: profiles/fragments/f/1.yaml:3:18: `name` has the value of a secret parameter
              help: use a parameter that is not secret: names are part of URLs, and logs, events and the inventory show them
            "
        )
    );
    let project = TestProject::with_deployment("", "namespace: '${p.word}'\n")
        .parameters("parameters: {p.word: {type: string, description: d, secret: true}}");
    let run = project.run(&["render", "--profile", "mc", "--set", "p.word=hunter2"]);
    assert_no_secrets(&run);
    assert_eq!(
        run.refusal(),
        unindent(
            "
            error: profiles/mc.yaml:6:12: `${p.word}` has the value of a secret parameter
              note: names are not secret: they are part of URLs, and logs, events and the inventory show them
              help: use a parameter that is not secret
            "
        )
    );
}

#[test]
fn files_with_secrets_are_readable_only_for_their_owner() {
    let project = project_with_secrets()
        .manifest("c/1.yaml", &object("v1", "ConfigMap", "ns", "c", ""))
        .page("c", "place: {management: [ConfigMap]}");
    let run = run_with_secrets(&project, &["render", "--profile", "mc", "--output", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let modes = ["op/hosted/Deployment.apps_d", "b/hosted/Secret_s", "c/hosted/ConfigMap_c"].map(|file| {
        let path = project.path().join(format!("out/{file}.yaml"));
        format!("{file} {:o}", std::fs::metadata(path).unwrap().permissions().mode() & 0o077)
    });
    assert_eq!(modes[..2], ["op/hosted/Deployment.apps_d 0", "b/hosted/Secret_s 0"]);
    assert_ne!(modes[2], "c/hosted/ConfigMap_c 0");
}
