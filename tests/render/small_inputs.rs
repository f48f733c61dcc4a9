//! Inputs that are small and used to cost much time. The command runs with a limit of CPU time.
#![cfg(unix)]

use std::fmt::Write;
use std::process::Command;

use super::support::TestProject;

/// Returns a map with 200,000 keys: the even or the odd numbers.
fn data(first: u32, value: &str) -> String {
    let mut text = String::from("data:\n");
    for number in 0..200_000 {
        let _ = writeln!(text, "  k{:06}: {value}", 2 * number + first);
    }
    text
}

/// Patches a ConfigMap with 200,000 keys, within 10 seconds of CPU time. Returns the lines of the result.
fn patched_lines(patch_type: &str, patch: &str) -> usize {
    let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{}", data(0, "x"));
    let project = TestProject::new().file("object.yaml", &object).file("patch.yaml", patch);
    let limited = "ulimit -t 10; exec \"$0\" patch --type \"$1\" --patch patch.yaml object.yaml";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_transship"), patch_type]).current_dir(project.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().count()
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
