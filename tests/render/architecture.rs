//! The limits between modules: the order of the folders, no import cycles, and which folders may use the disk, the
//! network or the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use walkdir::WalkDir;

use crate::support::repository;

/// The folders of `src/`. Each may use only those before it.
const FOLDERS: [&str; 14] = [
    "object",
    "language",
    "payload",
    "expand",
    "select",
    "transform",
    "check",
    "order",
    "rights",
    "cloud_role",
    "emit",
    "show",
    "credentials",
    "apply",
];

/// The folders of `src/apply/`. Each may use only those before it.
const APPLY_FOLDERS: [&str; 5] = ["decide", "wire", "cluster", "object", "run"];

/// The folders whose results depend on their input only. `credentials` creates keys and reads the clock, and `apply` also
/// talks to clusters.
fn pure_folders() -> &'static [&'static str] {
    &FOLDERS[..FOLDERS.len() - 2]
}

struct SourceFile {
    /// The path below `src/`.
    path: String,
    text: String,
}

impl SourceFile {
    /// The paths that the file imports from this crate, without the leading `crate::`.
    fn imports(&self) -> BTreeSet<String> {
        let is_path = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == ':';
        let code = self.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut imports = BTreeSet::new();
        for line in code {
            for (start, prefix) in line.match_indices("crate::") {
                let rest = &line[start + prefix.len()..];
                let end = rest.find(|char| !is_path(char)).unwrap_or(rest.len());
                imports.insert(rest[..end].trim_end_matches(':').to_owned());
            }
        }
        imports
    }
}

/// Reads all files of a folder of `src/`.
fn files_of(folder: &str) -> Vec<SourceFile> {
    let src = repository().join("src");
    let mut files = Vec::new();
    for entry in WalkDir::new(src.join(folder)) {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            let text = std::fs::read_to_string(&path).unwrap();
            files.push(SourceFile { path: below(&path, &src), text });
        }
    }
    assert!(!files.is_empty(), "the folder {folder} does not exist");
    files
}

fn below(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()
}

/// Fails if a file of the folder contains one of the words.
fn assert_without(folder: &str, words: &[&str]) {
    for SourceFile { path, text } in files_of(folder) {
        for word in words {
            assert!(!text.contains(word), "{path} uses {word}");
        }
    }
}

/// The unit of the import graph that a file or an imported path belongs to: a folder of `src/`, a folder of `src/apply/`, or
/// a file directly in `src/`.
fn unit_of(segments: &[&str]) -> String {
    match segments {
        ["apply", folder, ..] if APPLY_FOLDERS.contains(folder) => format!("apply/{folder}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

/// The modules that each module imports.
type ImportGraph = BTreeMap<String, BTreeSet<String>>;

/// The units that each unit imports.
fn import_graph() -> ImportGraph {
    let mut graph = ImportGraph::new();
    for file in files_of(".") {
        let path = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let unit = unit_of(&path.split('/').collect::<Vec<_>>());
        // The roots of the crate and of `apply` only name their modules, and nothing imports the command line.
        if ["lib", "main", "cli", "apply"].contains(&unit.as_str()) {
            continue;
        }
        for import in file.imports() {
            let imported = unit_of(&import.split("::").collect::<Vec<_>>());
            if imported != unit {
                graph.entry(unit.clone()).or_default().insert(imported);
            }
        }
    }
    graph
}

#[test]
fn a_folder_uses_only_folders_before_it() {
    for (index, folder) in FOLDERS.iter().enumerate() {
        for file in files_of(folder) {
            // Other spellings would hide an import from these tests.
            assert!(
                !file.text.contains("crate::{") && !file.text.contains("super::super"),
                "{} must write its imports as `crate::module::…`",
                file.path
            );
            for import in file.imports() {
                let imported = import.split("::").next().unwrap();
                let is_later = FOLDERS[index + 1..].contains(&imported);
                assert!(!is_later, "{} uses {imported}, which comes after {folder}", file.path);
            }
        }
    }
}

#[test]
fn a_folder_of_apply_uses_only_folders_before_it() {
    for (index, folder) in APPLY_FOLDERS.iter().enumerate() {
        for file in files_of(&format!("apply/{folder}")) {
            for import in file.imports() {
                let segments: Vec<&str> = import.split("::").collect();
                let ["apply", imported, ..] = segments[..] else { continue };
                let is_allowed = APPLY_FOLDERS[..=index].contains(&imported);
                assert!(is_allowed, "{} uses apply::{imported}, which comes after {folder}", file.path);
            }
        }
    }
}

/// Requests do not know what they are for. They share one helper with the inventory: the escaping of names.
#[test]
fn wire_does_not_use_decisions() {
    for file in files_of("apply/wire") {
        for import in file.imports() {
            let is_allowed = !import.starts_with("apply::decide") || import.contains("decide::url_segment");
            assert!(is_allowed, "{} uses {import}", file.path);
        }
    }
}

#[test]
fn decisions_have_no_network_clock_or_async_code() {
    assert_without(
        "apply/decide",
        &["kube::", "tokio", "http::", "async ", ".await", "Instant", "SystemTime", "std::env", "fastrand"],
    );
}

/// Removes modules that import nothing that is left, until only cycles are left.
fn assert_without_cycles(mut graph: ImportGraph) {
    loop {
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        let before = graph.len();
        graph.retain(|_, imports| imports.iter().any(|import| left.contains(import)));
        if graph.len() == before {
            break;
        }
    }
    assert!(graph.is_empty(), "these import each other: {graph:#?}");
}

#[test]
fn there_is_no_import_cycle_between_folders() {
    let graph = import_graph();
    assert!(graph["apply/run"].contains("apply/decide"), "the graph has edges");
    assert_without_cycles(graph);
}

#[test]
fn there_is_no_import_cycle_between_files_of_apply() {
    let mut graph = ImportGraph::new();
    for file in files_of("apply") {
        let module = file.path.trim_end_matches(".rs").replace('/', "::");
        for import in file.imports() {
            // `apply::folder::file::Item` is in `apply::folder::file`.
            let segments: Vec<&str> = import.split("::").collect();
            if segments.len() > 2 && segments[0] == "apply" {
                let imported = segments[..3].join("::");
                if imported != module {
                    graph.entry(module.clone()).or_default().insert(imported);
                }
            }
        }
    }
    assert!(graph.len() > 20, "the graph has edges");
    assert_without_cycles(graph);
}

#[test]
fn only_the_first_and_last_stages_use_the_disk() {
    let disk = [
        "std::fs",
        "File::",
        "crate::file",
        "WalkDir",
        "tempfile",
        ".exists()",
        ".is_dir()",
        ".is_file()",
        "canonicalize",
    ];
    for folder in ["object", "expand", "select", "transform", "check", "order", "show"] {
        assert_without(folder, &disk);
    }
}

#[test]
fn only_apply_uses_the_network() {
    let words = ["std::env", "TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs", "kube::", "tokio::"];
    for folder in pure_folders().iter().chain(&["credentials"]) {
        assert_without(folder, &words);
    }
}

#[test]
fn only_credentials_and_apply_use_the_clock_or_randomness() {
    let words = ["std::time", "SystemTime", "Instant", "rand::", "fastrand", "aws_lc_rs", "rcgen"];
    for folder in pure_folders() {
        assert_without(folder, &words);
    }
}

/// Keys and certificates do not end up on the disk or in a log.
#[test]
fn credentials_have_no_disk_log_or_async_code() {
    assert_without(
        "credentials",
        &["std::fs", "File::", "tracing::", "log::", "println!", "async ", ".await"],
    );
}

#[test]
fn pure_stages_do_not_log() {
    for folder in pure_folders() {
        assert_without(folder, &["tracing::", "log::"]);
    }
}
