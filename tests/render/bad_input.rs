//! Invalid input: each mistake with its message, its position and its help.

mod files;
mod objects;
mod release;
mod syntax;

use crate::support::{TestProject, data};

/// Returns the error of a payload with one file.
fn payload_error(file: &str, content: &str) -> String {
    TestProject::standalone().manifest(file, content).render_error("test")
}

/// Compares the errors of one group of cases in `tests/data/bad-input.yaml`.
fn compare_errors(group: &str) {
    for case in data("bad-input.yaml")[group].as_array().unwrap() {
        let yaml = case["yaml"].as_str().unwrap();
        let error = case["error"].as_str().unwrap();
        assert_eq!(payload_error("x.yaml", yaml), error, "{yaml}");
    }
}
