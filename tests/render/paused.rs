//! `pausedUntil`: `apply` writes nothing while a profile is paused.

use crate::support::{Run, TestProject, config_map, unindent};

const LATER: &str = "9999-01-01T00:00:00Z";

/// Runs `apply` for a topology that is paused, without a cluster: a command that is not refused fails to find one.
fn apply(arguments: &[&str]) -> Run {
    let body = "extends: base\ncluster: ";
    let project = TestProject::new()
        .manifest("op/1.yaml", &config_map("a", "{}"))
        .page("op", "place: {management: [ConfigMap]}\n")
        .parameters("parameters:\n  paused: {type: string, description: d, optional: true}\n")
        .profile("base", "abstract: true\ntopology: t\npausedUntil: ${paused}\n")
        .profile("mc", &format!("{body}management\nnamespace: clusters-a\n"))
        .profile("guest", &format!("{body}guest\n"))
        .file("kubeconfig", "apiVersion: v1\nkind: Config\n");
    let clusters = ["--management-kubeconfig", "kubeconfig", "--guest-kubeconfig", "kubeconfig"];
    project.run(&[&["apply", "--topology", "t"][..], &clusters, arguments].concat())
}

#[test]
fn apply_refuses_to_write_while_it_is_paused() {
    for (value, state) in [("true", "paused".to_owned()), (LATER, format!("paused until {LATER}"))] {
        let run = apply(&["--set", &format!("paused={value}")]);
        assert_eq!(
            run.refusal(),
            unindent(&format!(
                "
                error: profiles/base.yaml:6:14: the topology `t` is {state}
                  note: `apply` writes nothing while the profile is paused
                  help: wait, or apply nevertheless with --set paused=false
                "
            ))
        );
    }
}

#[test]
fn apply_is_not_paused_for_ever() {
    let not_paused = apply(&[]).stderr;
    assert!(not_paused.contains("kubeconfig"), "{not_paused}");
    for value in ["false", "2022-03-03T03:28:48Z"] {
        assert_eq!(apply(&["--set", &format!("paused={value}")]).stderr, not_paused, "{value}");
    }
    assert_eq!(apply(&["--set", "paused=true", "--dry-run"]).stderr, not_paused, "it writes nothing");
}

#[test]
fn another_text_is_an_error() {
    assert_eq!(
        apply(&["--set", "paused=tomorrow"]).refusal(),
        unindent(
            "
            error: profiles/base.yaml:6:14: `pausedUntil` is neither a time nor a boolean
              help: give it a time, as in 2026-03-03T03:28:48Z, or `true` or `false`
            "
        )
    );
}
