//! Small inputs that used to cost much time or memory. The command runs with limits of CPU time and memory, far above its
//! needs and far below those of the fault.
#![cfg(unix)]

use std::fmt::Write;
use std::process::{Command, Output};

use super::support::{TestProject, object};

/// Runs the command with 20 seconds of CPU time and 2 GB of address space.
fn run_limited(project: &TestProject, arguments: &[&str]) -> Output {
    let limited = "ulimit -t 20; ulimit -v 2000000; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_transship")]).args(arguments);
    command.current_dir(project.path()).output().unwrap()
}

/// Runs the command with limits, and returns what it prints.
fn stdout(project: &TestProject, arguments: &[&str]) -> String {
    let output = run_limited(project, arguments);
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command with limits, and returns its errors.
fn errors(project: &TestProject, arguments: &[&str]) -> String {
    let output = run_limited(project, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors:.2000}");
    errors
}

/// Returns a map with 200,000 keys: the even or the odd numbers.
fn data(first: u32, value: &str) -> String {
    let mut text = String::from("data:\n");
    for number in 0..200_000 {
        let _ = writeln!(text, "  k{:06}: {value}", 2 * number + first);
    }
    text
}

/// Patches a ConfigMap with 200,000 keys. Returns the lines of the result.
fn patched_lines(patch_type: &str, patch: &str) -> usize {
    let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{}", data(0, "x"));
    let project = TestProject::new().file("object.yaml", &object).file("patch.yaml", patch);
    stdout(&project, &["patch", "--type", patch_type, "--patch", "patch.yaml", "object.yaml"]).lines().count()
}

#[test]
fn a_patch_with_many_new_keys_takes_no_quadratic_time() {
    for patch_type in ["merge", "strategic"] {
        assert_eq!(patched_lines(patch_type, &data(1, "x")), 400_005);
    }
}

#[test]
fn a_patch_that_removes_many_keys_takes_no_quadratic_time() {
    for patch_type in ["merge", "strategic"] {
        assert_eq!(patched_lines(patch_type, &data(0, "null")), 5);
    }
}

#[test]
fn explain_takes_no_quadratic_time_for_a_list_with_many_items() {
    let mut env = String::from("spec: {template: {spec: {containers: [{name: c, env: [");
    for number in 0..40_000 {
        let _ = write!(env, "{{name: V{number}}}, ");
    }
    env += "]}]}}}\n";
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", &env))
        .page("op", "values: {workload: Deployment/d}\nadds: [{pod: {spec: {hostNetwork: false}}}]\n");
    let explained = stdout(&project, &["explain", "deployment/d", "--profile", "test"]);
    assert_eq!(explained.lines().filter(|line| line.contains("/env/[name=V")).count(), 40_000);
}

#[test]
fn very_long_names_are_not_compared_to_suggest_one() {
    // Without `? `, a key has at most 1,024 characters.
    let (kind, other) = ("K".repeat(200_000), "K".repeat(199_999));
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", &kind, "ns", "d", ""))
        .page("op", &format!("omit:\n  ? {other}/d\n  : a test\n"));
    let errors = errors(&project, &["render", "--profile", "test"]);
    assert!(errors.contains("no manifest matches `KKK"), "{errors:.2000}");
    assert!(!errors.contains("did you mean"), "{errors:.2000}");
}

#[test]
fn a_pattern_with_many_stars_takes_no_exponential_time() {
    let pattern = "a*".repeat(60) + "b";
    let name = "a".repeat(200);
    let project = TestProject::standalone()
        .manifest(&format!("op/{name}.yaml"), &object("v1", "ConfigMap", "ns", "d", ""))
        .page("op", &format!("ignore: {{'{pattern}': a test}}\n"));
    assert_eq!(
        errors(&project, &["render", "--profile", "test"]),
        format!(
            "error: payload/op/component.yaml:4:10: no file of the component matches `{pattern}`\n  \
             help: remove the entry\n"
        )
    );
}

#[test]
fn large_regular_expressions_are_refused() {
    for (pattern, problem, help) in [
        ("(?:a?){20000}a{20000}", "with too many repetitions", "write smaller numbers in `{…}`"),
        ("((a{200}){200}){200}", "with too many repetitions", "write smaller numbers in `{…}`"),
        (&*"a|".repeat(600), "with more than 1000 bytes", "write a shorter one"),
    ] {
        let patch =
            format!("patches: [{{reason: x, target: {{name: '{pattern}'}}, patch: {{data: {{a: b}}}}}}]\n");
        let parameter =
            format!("parameters: {{p.x: {{type: string, description: d, pattern: '{pattern}'}}}}\n");
        for (page, field) in [(patch, "this"), (parameter, "`pattern`")] {
            let project = TestProject::standalone()
                .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", &"a".repeat(20_000), ""))
                .page("op", &page);
            let errors = errors(&project, &["render", "--profile", "test"]);
            let expected = format!(": {field} is a regular expression {problem}\n  help: {help}\n");
            assert!(errors.ends_with(&expected), "{errors:.2000}");
        }
    }
}

#[test]
fn the_largest_regular_expression_takes_linear_time() {
    // Every `a?` stays possible until the end of the text.
    let patch = "patches: [{reason: x, target: {name: '(?:(?:a?){200})*b'}, patch: {data: {a: b}}}]\n";
    let mut project = TestProject::standalone().page("op", patch);
    for (number, length) in [253; 100].into_iter().chain([50_000_000]).enumerate() {
        let name = format!("{}{number}", "a".repeat(length));
        project = project.manifest(&format!("op/{number}.yaml"), &object("v1", "ConfigMap", "ns", &name, ""));
    }
    let errors = errors(&project, &["render", "--profile", "test"]);
    assert!(errors.contains("the patch matches no object of `op`"), "{errors:.2000}");
}

#[test]
fn a_document_with_many_duplicate_keys_gets_few_warnings() {
    let text = "a: 1\n".repeat(300_000);
    let project = TestProject::new().file("x.yaml", &text);
    let output = run_limited(&project, &["fmt", "x.yaml"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a: 1\n");
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert_eq!(warnings.matches("warning: ").count(), 20);
    assert!(
        warnings.contains("  note: this document has more duplicate keys, which are not listed\n"),
        "{warnings}"
    );
}
