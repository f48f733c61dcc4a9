//! The README: its first command, and the make targets that it names. `docs/examples.rs` runs its other commands.

use crate::support::{Folder, repository, shell_in};

/// The lines around the first command and its output.
const BEGIN: &str = "<!-- The first run: `make docs` updates the output. -->\n";
const END: &str = "<!-- End of the first run. -->\n";

fn readme() -> String {
    std::fs::read_to_string(repository().join("README.md")).unwrap()
}

/// The first command of the README, and the output that is shown.
fn first_run(text: &str) -> (&str, &str) {
    let (_, rest) = text.split_once(BEGIN).unwrap();
    let (block, _) = rest.split_once(END).unwrap();
    let fenced = |language: &str| {
        let (_, rest) = block.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    (fenced("sh"), fenced("text"))
}

/// Runs the first command with a temporary folder for `rendered`. Returns what it prints and the number of files.
fn run_first(command: &str) -> (String, usize) {
    let arguments = command
        .trim_end()
        .strip_prefix("cargo run --release --no-default-features --features cli -- ")
        .unwrap();
    let folder = Folder::new();
    let rendered = folder.path().join("rendered");
    let arguments = arguments.replace("rendered", rendered.to_str().unwrap());
    let run = shell_in(&repository(), &format!("transship {arguments}"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let files = shell_in(&rendered, "find . -name '*.yaml'").stdout.lines().count();
    (folder.without_path(&format!("{}{}", run.stdout, run.stderr)), files)
}

#[test]
fn the_first_command_renders_the_bundled_payload() {
    let text = readme();
    let (command, output) = first_run(&text);
    let (printed, files) = run_first(command);
    assert_eq!(printed, output, "`make docs` updates README.md");
    assert_eq!(files, 73 + 22 + 51);
}

#[test]
#[ignore = "it writes: `make docs` runs it"]
fn rewrite() {
    let text = readme();
    let (command, output) = first_run(&text);
    let (printed, _) = run_first(command);
    let text = text.replace(&format!("```text\n{output}```"), &format!("```text\n{printed}```"));
    std::fs::write(repository().join("README.md"), text).unwrap();
}

#[test]
fn make_has_every_target_that_is_named() {
    let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
    for page in ["README.md", "CONTRIBUTING.md", "docs/benchmarks.md", "tests/README.md"] {
        let text = std::fs::read_to_string(repository().join(page)).unwrap();
        let named: Vec<&str> =
            text.split(['`', '\n']).filter_map(|piece| piece.strip_prefix("make ")).collect();
        assert!(!named.is_empty(), "{page}");
        for target in named {
            assert!(makefile.contains(&format!("\n{target}:")), "{page}: make {target}");
        }
    }
    assert!(readme().contains("```sh\nmake test\n```"));
    assert!(std::fs::read_to_string(repository().join(".ci/run")).unwrap().contains("\nmake test\n"));
}
