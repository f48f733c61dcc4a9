//! Small patches that would make an object huge.
#![cfg(unix)]

use std::process::Command;

use crate::support::{TestProject, unindent};

/// Returns the error of a patch. The command may use 10 seconds of CPU time and 2 GiB of memory.
fn error(object: &str, patch: &str) -> String {
    let project = TestProject::new().file("object.yaml", object).file("patch.yaml", patch);
    let limited = "ulimit -t 10; ulimit -v 2097152; exec \"$0\" patch --patch patch.yaml object.yaml";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_transship")]).current_dir(project.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn operations_cannot_double_an_object_again_and_again() {
    let patch = "- {op: copy, from: '', path: /l/-}\n".repeat(26);
    assert_eq!(
        error("l: []\n", &patch),
        unindent(
            r"
            error: patch.yaml:20:3: the patch makes the object larger than 2000000 values
              help: an API server rejects such an object; check the paths
            "
        )
    );
}

#[test]
fn operations_cannot_double_a_long_text_again_and_again() {
    let patch = "- {op: copy, from: '', path: /l/-}\n".repeat(20);
    assert_eq!(
        error(&format!("text: {}\nl: []\n", "x".repeat(1 << 20)), &patch),
        unindent(
            r"
            error: patch.yaml:6:3: the patch makes the object larger than 64 MiB
              help: an API server rejects such an object; check the paths
            "
        )
    );
}

#[test]
fn operations_cannot_nest_an_object_without_end() {
    let patch = "- {op: copy, from: /a, path: /b/a}\n- {op: move, from: /b, path: /a}\n- {op: add, path: /b, value: {}}\n";
    assert_eq!(
        error("{a: {}, b: {}}\n", &patch.repeat(20_000)),
        unindent(
            r"
            error: patch.yaml:1495:3: the patch nests the object more than 500 levels deep
              help: an API server rejects such an object; check the paths
            "
        )
    );
}
