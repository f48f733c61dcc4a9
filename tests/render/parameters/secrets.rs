//! Secret parameters: no output of a command shows their values.

use crate::support::{Run, TestProject, object, unindent};

/// Creates a Deployment with a label from the parameter `p.word` and one from `p.pin`, which are both secret.
fn project_with_secrets() -> TestProject {
    TestProject::with_deployment(
        "",
        r"
        namespace: hosted
        policy: [{for: Deployment, set: {metadata: {labels: {w: '${p.word}', n: 'pin ${p.pin}'}}}}]
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

#[test]
fn golden_does_not_show_the_value_of_a_secret_parameter() {
    let project = project_with_secrets().checks(
        r"
        externals: [{objects: [Namespace/ns, ServiceAccount/sa], reason: r}]
        allow:
        - {check: missing-field, for: [Deployment/d], reason: r}
        - {check: unneeded-token, for: [Deployment/d], reason: r}
        - {check: missing-namespace, for: [Secret], reason: r}
        ",
    );
    let run = run_with_secrets(&project, &["golden", "update"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let path = "golden/default/mc/op/hosted/Deployment.apps_d.yaml";
    project.write(path, project.read(path).replace("hunter2", "hunter1"));
    let run = run_with_secrets(&project, &["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_no_secrets(&run);
    assert!(
        run.stdout.contains("differs (not shown, because it contains a secret parameter)"),
        "{}",
        run.stdout
    );
}
