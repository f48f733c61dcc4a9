//! `-v`, `-q` and `--log-format`: what goes to stderr, and what never does.

use crate::support::{Folder, Run, config_map};

/// A project with one ConfigMap that the profile includes and one that it does not.
fn project() -> Folder {
    let excluded = config_map("excluded", "{}").replace("/test", "/other");
    Folder::with_payload(&[("op/1.yaml", &config_map("included", "{}")), ("op/2.yaml", &excluded)])
}

fn render(project: &Folder, flags: &[&str]) -> Run {
    let run = project.run(&[&["render"], flags].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run
}

/// Parses each line of stderr as JSON.
fn json_lines(run: &Run) -> Vec<serde_json::Value> {
    run.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn without_flags_nothing_is_logged() {
    assert_eq!(render(&project(), &[]).stderr, "");
}

#[test]
fn verbose_logs_what_was_loaded_selected_and_rendered() {
    let stderr = render(&project(), &["-v"]).stderr;
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
    let stderr = render(&project(), &["-vv"]).stderr;
    for line in [
        "DEBUG included profile=\"test\" object=ConfigMap/included in ns file=op/1.yaml",
        "DEBUG excluded profile=\"test\" object=ConfigMap/excluded in ns file=op/2.yaml \
         reason=cluster-profile: include.release.openshift.io/test unset",
    ] {
        assert!(stderr.contains(line), "{line}\nis not in\n{stderr}");
    }
}

#[test]
fn json_makes_every_line_on_stderr_an_object() {
    let project = project();
    let lines = json_lines(&render(&project, &["--output", "out", "--log-format", "json"]));
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(messages, ["loaded the project", "selected manifests", "rendered"]);
    assert_eq!(lines[1]["included"], 1);

    let failed = project.run(&["render", "--profile", "tset", "--log-format", "json"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (2, ""));
    let error = json_lines(&failed).pop().unwrap();
    assert_eq!(error["level"], "ERROR");
    assert!(error["message"].as_str().unwrap().starts_with("error: there is no profile `tset`"), "{error}");
}

#[test]
fn quiet_prints_errors_and_nothing_else() {
    let project = project();
    assert_eq!(render(&project, &["-q"]).stderr, "");
    let failed = project.run(&["render", "--profile", "tset", "-q"]);
    assert!(failed.code == 2 && failed.stderr.starts_with("error: "), "{}", failed.stderr);
}

#[test]
fn quiet_and_verbose_exclude_each_other() {
    let run = project().run(&["render", "-q", "-v"]);
    assert!(run.code == 2 && run.stderr.contains("cannot be used with"), "{}", run.stderr);
}

#[test]
fn a_secret_is_never_logged() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: ns\n  annotations:\n    \
                  include.release.openshift.io/test: \"true\"\nstringData:\n  password: canary-3f9a\n";
    let project = Folder::with_payload(&[("op/1.yaml", secret)]);
    for flags in [&["-vvv"][..], &["-vvv", "--log-format", "json"]] {
        let run = render(&project, flags);
        assert!(run.stdout.contains("canary-3f9a"), "render prints the object itself");
        assert!(!run.stderr.is_empty() && !run.stderr.contains("canary-3f9a"), "{}", run.stderr);
    }
}
