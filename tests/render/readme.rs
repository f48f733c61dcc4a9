//! Every command that the README shows, run as it stands there, with the output that it shows.

use transship::yaml::{self, Node, SourceId, Value};

use crate::support::{Run, repository, shell_in};

fn readme() -> String {
    std::fs::read_to_string(repository().join("README.md")).unwrap()
}

/// The text of every fenced block of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Runs a line; what it says on both streams, in the order in which it says it.
fn shell(line: &str) -> Run {
    shell_in(&repository(), &format!("{{ {line}; }} 2>&1"))
}

#[test]
fn commands_give_the_output_that_is_shown() {
    let text = readme();
    let consoles = blocks(&text, "console");
    assert_eq!(consoles.len(), 7);
    for console in consoles {
        let (command, expected) = console.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let run = shell(command);
        let digest = |line: &&str| {
            line.contains("payload sha256:") || line.contains(" manifests, ") || line.contains("versionHash")
        };
        let said: String = run.stdout.split_inclusive('\n').filter(|line| !digest(line)).collect();
        assert_eq!(said, expected, "$ {command}");
    }
}

#[test]
fn the_command_to_run_renders_the_bundled_payload() {
    let text = readme();
    let run =
        blocks(&text, "sh").iter().find_map(|block| block.strip_prefix("cargo run --release -- ")).unwrap();
    let rendered = shell(&format!("transship {}", run.trim_end()));
    assert_eq!(rendered.code, 0);
    assert_eq!(rendered.stdout.matches("\nkind: ").count(), 98);
}

#[test]
fn make_has_every_target_that_is_named() {
    let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
    let text = readme();
    let named: Vec<&str> = text.split(['`', '\n']).filter_map(|piece| piece.strip_prefix("make ")).collect();
    assert!(named.contains(&"test") && named.contains(&"bench"), "{named:?}");
    for target in named {
        assert!(makefile.contains(&format!("\n{target}:")), "make {target}");
    }
    assert!(std::fs::read_to_string(repository().join(".ci/run")).unwrap().contains("\nmake test\n"));
}

/// A YAML block without its comments, as a tree.
fn tree(block: &str) -> Node {
    yaml::read(block, SourceId(0)).unwrap().remove(0).root
}

/// Whether everything that is shown is in the file, in the same order where it is a list.
fn is_part(shown: &Node, file: &Node) -> bool {
    match (&shown.value, &file.value) {
        (Value::Map(shown), Value::Map(file)) => {
            shown.iter().all(|entry| file.get(&entry.key).is_some_and(|other| is_part(&entry.value, other)))
        }
        (Value::List(shown), Value::List(file)) => {
            let mut rest = file.iter();
            shown.iter().all(|item| rest.any(|other| is_part(item, other)))
        }
        _ => shown == file,
    }
}

#[test]
fn the_files_that_are_shown_are_the_bundled_ones() {
    let text = readme();
    let blocks = blocks(&text, "yaml");
    let files = [
        "payload/csi-snapshot-controller/component.yaml",
        "profiles/fragments/hosted-control-plane-reader.yaml",
        "profiles/hypershift-mc.yaml",
    ];
    assert_eq!(blocks.len(), files.len());
    for (block, file) in blocks.iter().zip(files) {
        let bundled = std::fs::read_to_string(repository().join(file)).unwrap();
        assert!(is_part(&tree(block), &tree(&bundled)), "{file} does not say\n{block}");
    }
}
