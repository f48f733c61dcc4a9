//! `-v`, `-q` and `--log-format`: what goes to stderr, and what never does.

use serde_json::Value;

use crate::support::{Run, TestProject, config_map};

/// Creates a project with one ConfigMap that the profile includes and one that it does not.
fn included_and_excluded() -> TestProject {
    TestProject::standalone()
        .manifest("op/1.yaml", &config_map("included", "{}"))
        .manifest("op/2.yaml", &config_map("excluded", "{}").replace("/test", "/other"))
        .profile(
            "test",
            r"
            topology: test
            cluster: both
            select: {clusterProfile: test}
            ",
        )
}

fn render_with_flags(project: &TestProject, flags: &[&str]) -> Run {
    let run = project.run(&[&["render"], flags].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run
}

/// Parses each line of stderr as JSON.
fn json_lines(run: &Run) -> Vec<Value> {
    run.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn without_flags_nothing_is_logged() {
    assert_eq!(render_with_flags(&included_and_excluded(), &[]).stderr, "");
}

#[test]
fn verbose_logs_what_was_loaded_selected_and_rendered() {
    let stderr = render_with_flags(&included_and_excluded(), &["-v"]).stderr;
    for line in [
        "INFO loaded the project files=2 manifests=2 pages=0 profiles=1",
        "INFO selected manifests profile=\"test\" included=1 excluded=1",
        "INFO rendered profile=\"test\" objects=1 warnings=0",
    ] {
        assert!(stderr.contains(line), "{line}\nis not in\n{stderr}");
    }
    assert!(!stderr.contains("DEBUG"), "{stderr}");
}

#[test]
fn twice_verbose_logs_the_decision_for_each_manifest() {
    let stderr = render_with_flags(&included_and_excluded(), &["-vv"]).stderr;
    for line in [
        "DEBUG included profile=\"test\" object=ConfigMap/included in ns file=op/1.yaml",
        "DEBUG excluded profile=\"test\" object=ConfigMap/excluded in ns file=op/2.yaml \
         reason=cluster-profile: include.release.openshift.io/test unset",
    ] {
        assert!(stderr.contains(line), "{line}\nis not in\n{stderr}");
    }
}

#[test]
fn with_the_format_json_every_line_on_stderr_is_an_object() {
    let project = included_and_excluded();
    let lines = json_lines(&render_with_flags(&project, &["--output", "out", "--log-format", "json"]));
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(messages, ["loaded the project", "selected manifests", "rendered"]);
    assert_eq!(lines[1]["included"], 1);

    let failed = project.run(&["render", "--profile", "tset", "--log-format", "json"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (2, ""));
    let error = json_lines(&failed).pop().unwrap();
    assert_eq!(error["level"], "ERROR");
    assert_eq!(error["message"], "error: there is no profile `tset`\n  help: did you mean `test`?");
}

#[test]
fn quiet_prints_errors_and_nothing_else() {
    let project = included_and_excluded();
    assert_eq!(render_with_flags(&project, &["-q"]).stderr, "");
    assert_eq!(
        project.render_error_with("tset", &["-q"]),
        "\
error: there is no profile `tset`
  help: did you mean `test`?
"
    );
}

#[test]
fn quiet_and_verbose_exclude_each_other() {
    let error = included_and_excluded().run(&["render", "-q", "-v"]).refusal();
    assert!(
        error.starts_with("error: the argument '--quiet' cannot be used with '--verbose...'\n"),
        "{error}"
    );
}

#[test]
fn a_secret_is_never_logged() {
    let project = TestProject::standalone().manifest(
        "op/1.yaml",
        r"
        apiVersion: v1
        kind: Secret
        metadata: {name: s, namespace: ns, annotations: {x: x}}
        stringData: {password: canary-3f9a}
        ",
    );
    for flags in [&["-vvv"][..], &["-vvv", "--log-format", "json"]] {
        let run = render_with_flags(&project, flags);
        assert!(run.stdout.contains("canary-3f9a"), "render prints the object itself");
        assert!(!run.stderr.is_empty(), "{flags:?}");
        assert!(!run.stderr.contains("canary-3f9a"), "{}", run.stderr);
    }
}
