//! The public names of the crate are those that ARCHITECTURE.md lists.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::repository;

/// The public modules, and the file that names what is in each.
const MODULES: [(&str, &str); 5] = [
    ("transship", "lib.rs"),
    ("transship::apply", "apply/mod.rs"),
    ("transship::cli", "cli/mod.rs"),
    ("transship::cvo", "cvo.rs"),
    ("transship::patch", "transform/patch/mod.rs"),
];

type Names = BTreeMap<String, BTreeSet<String>>;

/// Returns the names of public items and re-exports that are directly in a file.
fn public_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find("\npub ") {
        rest = &rest[start + "\npub ".len()..];
        let (keyword, item) = rest.split_once(' ').unwrap();
        match keyword {
            "use" => {
                let (path, _) = item.split_once(';').unwrap();
                names.extend(imported_names(path));
            }
            "mod" => {}
            _ => {
                let item = item.strip_prefix("fn ").unwrap_or(item);
                let end = item.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap();
                names.insert(item[..end].to_owned());
            }
        }
    }
    names
}

/// Returns the names that `pub use path` makes public: `{A, b as c}` is `A` and `c`.
fn imported_names(path: &str) -> Vec<String> {
    let list = match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}'),
        None => path.rsplit("::").next().unwrap(),
    };
    let mut names = Vec::new();
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let name = item.rsplit_once(" as ").map_or(item, |(_, name)| name);
        names.push(name.to_owned());
    }
    names
}

fn names_in_code() -> Names {
    let mut names = Names::new();
    for (module, file) in MODULES {
        let text = std::fs::read_to_string(repository().join("src").join(file)).unwrap();
        let mut public = public_names(&text);
        // Modules are listed with their names.
        public.retain(|name| name != "yaml" && name != "patch");
        names.insert(module.to_owned(), public);
    }
    names
}

/// Reads the list of ARCHITECTURE.md: per module one item, with the names in backticks after the colon.
fn names_in_architecture() -> Names {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("## Public names\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut names = Names::new();
    for item in section.split("\n- ").skip(1) {
        let (module, list) = item.split_once(": ").unwrap();
        let (list, _) = list.split_once(". ").unwrap_or((list, ""));
        let in_backticks = list.split('`').skip(1).step_by(2);
        names.insert(module.trim_matches('`').to_owned(), in_backticks.map(str::to_owned).collect());
    }
    names
}

#[test]
fn the_public_names_are_those_in_the_architecture_page() {
    assert_eq!(names_in_code(), names_in_architecture());
}

#[test]
fn there_are_at_most_80_public_names() {
    let count: usize = names_in_code().values().map(BTreeSet::len).sum();
    assert!((20..=80).contains(&count), "{count} public names");
}

#[test]
fn only_the_listed_modules_are_public() {
    let text = std::fs::read_to_string(repository().join("src/lib.rs")).unwrap();
    let public: Vec<&str> = text.lines().filter(|line| line.starts_with("pub mod ")).collect();
    assert_eq!(public, ["pub mod apply;", "pub mod cli;", "pub mod cvo;", "pub mod fuzzing;"]);
    assert!(
        text.contains("\n#[cfg(any(fuzzing, test))]\npub mod fuzzing;\n"),
        "only cargo-fuzz and unit tests see it"
    );
    assert!(text.contains("\npub use transform::patch;\n"));
}
