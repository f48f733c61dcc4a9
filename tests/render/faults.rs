//! `tests/data/faults.yaml` lists the faults that were found in comparisons with other implementations, in attacks and in
//! first use. Each entry names the test that fails if the fault returns, or the page that documents a departure.

use serde_json::Value;

use crate::support::{data, repository};

/// Returns why an entry does not prove what it claims.
fn problem(entry: &Value) -> Option<String> {
    let text = |field: &str| entry[field].as_str();
    for field in ["fault", "found"] {
        if text(field).is_none_or(str::is_empty) {
            return Some(format!("`{field}` is missing"));
        }
    }
    match (&entry["tests"], text("departure")) {
        (Value::Array(tests), None) if !tests.is_empty() => {
            tests.iter().find_map(|test| missing_test(test.as_str().unwrap_or_default()))
        }
        (Value::Null, Some(page)) => {
            let exists = repository().join(page).is_file();
            (!exists).then(|| format!("there is no page {page}"))
        }
        _ => Some("it needs either `tests` or `departure`".to_owned()),
    }
}

/// Returns an error if a test such as `tests/render/order.rs::a_name` does not exist.
pub(crate) fn missing_test(test: &str) -> Option<String> {
    let Some((file, name)) = test.split_once("::") else {
        return Some(format!("`{test}` is not written as file::name"));
    };
    let Ok(source) = std::fs::read_to_string(repository().join(file)) else {
        return Some(format!("there is no file {file}"));
    };
    // In Rust the whole name and not the start of a longer one; in a table of cases `case: <name>`.
    let is_table = file.starts_with("tests/data/");
    let is_defined = if is_table {
        source.lines().any(|line| line.trim_start_matches("- ") == format!("case: {name}"))
    } else {
        source.contains(&format!("fn {name}("))
    };
    (!is_defined).then(|| format!("{file} has no test `{name}`"))
}

#[test]
fn each_fault_names_a_test_that_exists_or_a_departure() {
    let list = data("faults.yaml");
    let entries = list.as_array().unwrap();
    let mut problems = Vec::new();
    for entry in entries {
        if let Some(problem) = problem(entry) {
            problems.push(format!("{}: {problem}", entry["fault"]));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn an_entry_without_a_real_test_is_a_problem() {
    let entry = |test: &str| serde_json::json!({"fault": "a", "found": "b", "tests": [test]});
    assert_eq!(problem(&entry("tests/render/faults.rs::an_entry_without_a_real_test_is_a_problem")), None);
    assert_eq!(
        problem(&entry("tests/render/faults.rs::an_entry_without")).unwrap(),
        "tests/render/faults.rs has no test `an_entry_without`"
    );
    assert_eq!(
        problem(&entry("tests/render/fault.rs::a")).unwrap(),
        "there is no file tests/render/fault.rs"
    );
}
