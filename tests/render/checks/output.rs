//! The output of findings, and the commands that fail because of them.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{changed, one_cluster, read};
use crate::support::TestProject;

/// Creates a project with one finding: an unknown field `emptydir`.
fn with_unknown_field() -> TestProject {
    one_cluster(&changed("one.yaml", "        emptyDir: {}", "        emptydir: {}"))
}

#[test]
fn render_and_golden_update_fail_if_there_are_errors() {
    let project = with_unknown_field();
    let expected = "\
error[unknown-field]: payload/op/0000_50_op_01.yaml:121:9: unknown field `emptydir`
  object: Deployment.apps/op in op, at /spec/template/spec/volumes/[name=scratch]/emptydir
  note: server-side apply rejects the object, with an error that looks like a server failure
  note: found in one
  help: did you mean `emptyDir`?
";
    assert_eq!(project.run_checked(&["render", "--profile", "one"]).refusal(), expected);
    assert_eq!(project.run_checked(&["render", "--output", "out"]).refusal(), expected);
    assert_eq!(project.run_checked(&["golden", "update"]).refusal(), expected);
    assert!(!project.path().join("out").exists());
    assert!(!project.path().join("golden").exists());
}

#[test]
fn explain_and_render_without_checks_do_not_fail() {
    let project = with_unknown_field();
    let run = project.run_checked(&["render", "--profile", "one", "--no-check"]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("emptydir: {}"), "{}", run.stdout);
    assert_eq!(project.run_checked(&["explain", "deployment/op", "--profile", "one"]).code, 0);
}

#[test]
fn findings_can_be_printed_as_json() {
    let finding: Value = serde_json::from_str(&with_unknown_field().lint(&["-o", "json"]).stdout).unwrap();
    assert_eq!(
        finding,
        json!({
            "code": "unknown-field",
            "severity": "error",
            "message": "unknown field `emptydir`",
            "file": "payload/op/0000_50_op_01.yaml",
            "line": 121,
            "column": 9,
            "object": {"group": "apps", "kind": "Deployment", "name": "op", "namespace": "op"},
            "path": "/spec/template/spec/volumes/[name=scratch]/emptydir",
            "profiles": ["one"],
            "notes": ["server-side apply rejects the object, with an error that looks like a server failure"],
            "help": "did you mean `emptyDir`?",
        })
    );
}

#[test]
fn findings_can_be_printed_as_sarif() {
    let sarif: Value = serde_json::from_str(&with_unknown_field().lint(&["-o", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unknown-field");
    assert_eq!(result["level"], "error");
    assert_eq!(
        result["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": {"uri": "payload/op/0000_50_op_01.yaml"},
            "region": {"startColumn": 9, "startLine": 121},
        })
    );
}

#[test]
fn sarif_has_a_rule_for_each_check_of_the_page() {
    let sarif: Value = serde_json::from_str(&with_unknown_field().lint(&["-o", "sarif"]).stdout).unwrap();
    let mut rules = Vec::new();
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
        rules.push(rule["id"].as_str().unwrap());
    }
    let page = read("docs/checks.md");
    let mut checks = Vec::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        checks.push(row.split('`').next().unwrap());
    }
    // The last rule is that of errors, which are not findings of a check.
    checks.push("invalid-input");
    assert_eq!(rules, checks);
}

#[test]
fn more_than_a_hundred_findings_of_an_object_are_counted() {
    let mut variables = String::new();
    for number in 0..150 {
        writeln!(variables, "        - name: E{number}\n          value: {number}").unwrap();
    }
    let manifests = changed("one.yaml", "        - name: MODE\n          value: fast\n", &variables);
    let output = one_cluster(&manifests).lint(&[]).stdout;
    assert_eq!(output.matches("error[wrong-type]").count(), 100);
    assert_eq!(output.matches("note: 50 more findings for this object are not listed\n").count(), 1);
}
