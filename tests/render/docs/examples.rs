//! Runs the examples of the README and of every page.
//!
//! Pages below `docs/language/` share the files of `docs/language/example.md`. Each section has a folder of its own that
//! starts with these files; a `yaml` block adds or replaces a file, named by the comment in its first line.
//!
//! The commands of the other pages run in the repository. A `yaml` block that begins with the path of a file must be a part
//! of that file.
//!
//! A `console` block shows standard output, then standard error, then the exit code if it is not 0.

use std::fmt::Write;

use transship::yaml::{self, Node, SourceId, Value};

use super::markdown::{Block, Shown, blocks, sections};
use super::{Page, guide};
use crate::support::{Folder, Run, repository, shell_in};

const GUIDE: &str = "docs/language/";
const EXAMPLE: &str = "docs/language/example.md";

/// The number of commands on all pages when the guide was split up. Examples must not get lost.
const COMMANDS: usize = 160;

/// A command with the output that its page shows and the output that it prints.
struct Ran {
    shown: Shown,
    printed: String,
}

fn pages() -> Vec<Page> {
    let mut pages = guide();
    pages.push(Page::read("README.md"));
    pages
}

fn printed(run: &Run) -> String {
    let code = if run.code == 0 { String::new() } else { format!("exit code {}\n", run.code) };
    format!("{}{}{code}", run.stdout, run.stderr)
}

/// Runs the commands of a page, in order.
fn run(page: &Page) -> Vec<Ran> {
    if page.path.starts_with(GUIDE) { run_in_example(page) } else { run_in_repository(page) }
}

fn run_in_repository(page: &Page) -> Vec<Ran> {
    let lines: Vec<&str> = page.text.lines().collect();
    let consoles = blocks(&lines).into_iter().filter(|block| block.language == "console");
    let commands = consoles.flat_map(|console| console.commands());
    let repository = repository();
    commands.map(|shown| ran(&repository, shown)).collect()
}

fn run_in_example(page: &Page) -> Vec<Ran> {
    let example = Page::read(EXAMPLE);
    let lines: Vec<&str> = example.text.lines().collect();
    let mut all = Vec::new();
    for section in sections(&page.text) {
        let folder = Folder::new();
        for file in blocks(&lines).iter().filter(|block| block.language == "yaml") {
            write(&folder, file, &example);
        }
        for block in blocks(&section.lines) {
            match block.language {
                "yaml" => write(&folder, &block, page),
                "console" => {
                    all.extend(block.commands().into_iter().map(|shown| ran(folder.path(), shown)));
                }
                other => panic!("{}: a block is `yaml` or `console`, not `{other}`", page.path),
            }
        }
    }
    all
}

fn write(folder: &Folder, file: &Block<'_>, page: &Page) {
    let Some(path) = file.path() else {
        panic!("{}: a yaml block begins with `# path/of/the/file.yaml`: {:?}", page.path, file.lines[0]);
    };
    folder.write(path, file.text());
}

fn ran(folder: &std::path::Path, shown: Shown) -> Ran {
    let printed = printed(&shell_in(folder, &shown.command));
    Ran { shown, printed }
}

#[test]
fn every_command_prints_what_its_page_shows() {
    let mut wrong = String::new();
    let mut commands = 0;
    for page in pages() {
        for Ran { shown: Shown { command, output }, printed } in run(&page) {
            commands += 1;
            if printed != output {
                let path = &page.path;
                let _ =
                    writeln!(wrong, "{path}:\n$ {command}\nprints\n{printed}and the page shows\n{output}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}`make docs` updates the pages");
    assert!(commands >= COMMANDS, "only {commands} commands are left on the pages");
}

/// Not a test: `make docs` writes what the commands print into the pages.
#[test]
#[ignore = "it changes the pages"]
fn rewrite() {
    for page in pages() {
        let mut text = page.text.clone();
        let mut from = 0;
        for Ran { shown: Shown { command, output }, printed } in run(&page) {
            let at = from + text[from..].find(&format!("\n$ {command}\n")).unwrap() + command.len() + 4;
            text.replace_range(at..at + output.len(), &printed);
            from = at + printed.len() - 1;
        }
        page.write(&text);
    }
}

#[test]
fn sections_have_unique_titles_and_content() {
    for page in guide() {
        let mut titles = std::collections::BTreeSet::new();
        for section in sections(&page.text) {
            let (path, title) = (&page.path, section.title);
            assert!(titles.insert(title), "{path}: two sections are called \"{title}\"");
            assert!(section.lines.iter().any(|line| !line.is_empty()), "{path}: \"{title}\" is empty");
        }
    }
}

/// Whether all that is shown is in the file, in the same order where it is a list.
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
fn files_that_are_shown_are_those_of_the_repository() {
    let tree = |text: &str| yaml::read(text, SourceId(0)).unwrap().remove(0).root;
    let mut files = 0;
    for page in pages().iter().filter(|page| !page.path.starts_with(GUIDE)) {
        let lines: Vec<&str> = page.text.lines().collect();
        for block in blocks(&lines).iter().filter(|block| block.language == "yaml") {
            let Some(path) = block.path().filter(|path| path.contains('/')) else { continue };
            let file = std::fs::read_to_string(repository().join(path)).unwrap();
            assert!(is_part(&tree(&block.text()), &tree(&file)), "{}: {path} is different", page.path);
            files += 1;
        }
    }
    assert!(files >= 3, "{files}");
}
