//! The reference of the language: every file that it shows is written, every command run, and every field is in it.
//!
//! A section begins with `## ` or `### ` and has a folder of its own, with the files of the section "The example" in it.
//! Its blocks are taken in turn: a `yaml` block is a file, named by the comment in its first line; a `console` block
//! holds commands, each with what it prints: standard output, then standard error, then the exit code if it is not 0.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::support::{Folder, Run, repository, shell_in};

const EXAMPLE: &str = "The example";
const REFERENCE: &str = "Reference";

/// A part of the page under one heading.
struct Section<'t> {
    title: &'t str,
    lines: Vec<&'t str>,
}

/// A block between fences.
enum Block<'t> {
    File { path: &'t str, text: String },
    Console(Vec<Shown>),
}

/// A command, and what the page says that it prints.
struct Shown {
    command: String,
    output: String,
}

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/language.md")).unwrap()
}

fn sections(page: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { title: "", lines: Vec::new() }];
    let mut fenced = false;
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        let title = line.strip_prefix("## ").or(line.strip_prefix("### ")).filter(|_| !fenced);
        match title {
            Some(title) => sections.push(Section { title, lines: Vec::new() }),
            None => sections.last_mut().unwrap().lines.push(line),
        }
    }
    sections
}

impl<'t> Section<'t> {
    fn blocks(&self) -> Vec<Block<'t>> {
        let mut blocks = Vec::new();
        let mut lines = self.lines.iter().copied();
        while let Some(line) = lines.next() {
            let fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
            assert_eq!(
                fence,
                line.starts_with("```"),
                "{}: a fence is ``` at the margin: {line}",
                self.title
            );
            let Some(language) = line.strip_prefix("```") else { continue };
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(match language {
                "yaml" => self.file(&body),
                "console" => Block::Console(self.console(&body)),
                _ => panic!("{}: a block is `yaml` or `console`, not `{language}`", self.title),
            });
        }
        blocks
    }

    fn file(&self, body: &[&'t str]) -> Block<'t> {
        let path = body.first().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let fine = !path.is_empty() && !path.contains(' ') && !path.starts_with('/') && !path.contains("..");
        assert!(fine, "{}: a yaml block begins with `# path/of/the/file.yaml`, not {path:?}", self.title);
        Block::File { path, text: body.join("\n") + "\n" }
    }

    fn console(&self, body: &[&'t str]) -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::new();
        for line in body {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown { command: command.to_owned(), output: String::new() }),
                (None, Some(last)) if last.output.is_empty() && last.command.ends_with('\\') => {
                    last.command.extend(["\n", line]);
                }
                (None, Some(last)) => last.output.extend([line, "\n"]),
                (None, None) => panic!("{}: a console block begins with `$ `, not {line:?}", self.title),
            }
        }
        all
    }
}

fn printed(run: &Run) -> String {
    let code = if run.code == 0 { String::new() } else { format!("exit code {}\n", run.code) };
    format!("{}{}{code}", run.stdout, run.stderr)
}

/// Puts the blocks of every section to work, in a folder that has those of the example: every command with the title of
/// its section and what it really prints.
fn played(page: &str) -> Vec<(&str, Shown, String)> {
    let sections = sections(page);
    let example = sections.iter().find(|section| section.title == EXAMPLE).unwrap().blocks();
    let mut played = Vec::new();
    for section in &sections {
        let folder = Folder::new();
        for block in &example {
            if let Block::File { path, text } = block {
                folder.write(path, text);
            }
        }
        for block in section.blocks() {
            match block {
                Block::File { path, text } => folder.write(path, text),
                Block::Console(commands) => played.extend(commands.into_iter().map(|shown| {
                    let said = printed(&shell_in(folder.path(), &shown.command));
                    (section.title, shown, said)
                })),
            }
        }
    }
    played
}

#[test]
fn every_example_is_what_is_printed() {
    let page = page();
    let mut wrong = String::new();
    for (title, Shown { command, output }, said) in played(&page) {
        if said != output {
            let title = format!("docs/language.md, \"{title}\"\n$ {command}\n");
            wrong.extend([title.as_str(), "prints\n", &said, "and the page says\n", &output, "\n"]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}`make docs` rewrites what the page says");
}

/// Not a test: `make docs` writes what the commands print into the page.
#[test]
#[ignore = "it changes the page"]
fn rewrite() {
    let page = page();
    let mut new = page.clone();
    let mut from = 0;
    for (_, Shown { command, output }, said) in played(&page) {
        let at = from + new[from..].find(&format!("\n$ {command}\n")).unwrap() + command.len() + 4;
        new.replace_range(at..at + output.len(), &said);
        from = at + said.len() - 1;
    }
    std::fs::write(repository().join("docs/language.md"), new).unwrap();
}

#[test]
fn no_two_sections_have_one_name_and_none_is_empty() {
    let page = page();
    let mut titles = BTreeSet::new();
    for section in sections(&page) {
        assert!(titles.insert(section.title), "two sections are called \"{}\"", section.title);
        let shown = section.blocks().iter().any(|block| matches!(block, Block::Console(_)));
        let text = section.lines.iter().any(|line| !line.is_empty());
        assert!(shown || text, "the section \"{}\" shows and says nothing", section.title);
    }
    assert!(titles.len() > 50, "{titles:?}");
}

#[test]
fn links_lead_to_headings() {
    let page = page();
    let anchor = |title: &str| {
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -".contains(*letter));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    let headings: BTreeSet<String> =
        page.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' ')).map(anchor).collect();
    for link in page.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(headings.contains(link), "there is no heading #{link}");
    }
}

fn schema() -> Json {
    serde_json::from_str(&Folder::new().run(&["schema"]).stdout).unwrap()
}

/// The fields of one type: each with whether it is required.
type Fields = BTreeMap<String, bool>;

/// The fields of every type in a schema.
fn types(schema: &Json, found: &mut BTreeSet<Fields>) {
    if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
        let required = |name: &str| {
            let names = schema.get("required").and_then(Json::as_array);
            names.is_some_and(|names| names.iter().any(|other| other == name))
        };
        found.insert(properties.keys().map(|name| (name.clone(), required(name))).collect());
    }
    match schema {
        Json::Object(map) => map.values().for_each(|value| types(value, found)),
        Json::Array(items) => items.iter().for_each(|item| types(item, found)),
        _ => {}
    }
}

/// The words that a schema allows somewhere.
fn words(schema: &Json, found: &mut BTreeSet<String>) {
    match schema {
        Json::Object(map) => {
            let words = map.get("enum").and_then(Json::as_array).into_iter().flatten();
            found.extend(words.filter_map(Json::as_str).map(str::to_owned));
            map.values().for_each(|value| self::words(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| self::words(item, found)),
        _ => {}
    }
}

/// The tables of the reference: the fields of a type under its title.
fn tables(page: &str) -> Vec<(String, Fields)> {
    let sections = sections(page);
    let reference = sections.iter().find(|section| section.title == REFERENCE).unwrap();
    let mut tables: Vec<(String, Fields)> = Vec::new();
    for line in &reference.lines {
        if let Some(title) = line.strip_prefix("#### ") {
            tables.push((title.to_owned(), Fields::new()));
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, field, default, ..] = cells[..]
            && let Some(field) = field.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
        {
            let twice = tables.last_mut().unwrap().1.insert(field.to_owned(), default == "required");
            assert_eq!(twice, None, "`{field}` stands twice in one table");
        }
    }
    tables
}

/// The page can never fall behind: a field that the schema has and the reference has not, or the other way round, or
/// with another answer to whether it is required, is found here.
#[test]
fn the_reference_has_every_field_and_no_other() {
    let page = page();
    let mut known = BTreeSet::new();
    types(&schema(), &mut known);
    let tables = tables(&page);
    for (title, fields) in &tables {
        let common = |other: &&Fields| other.keys().filter(|name| fields.contains_key(*name)).count();
        let nearest = known.iter().max_by_key(common).unwrap();
        let only = |left: &Fields, right: &Fields| {
            let differs = |(name, required): &(&String, &bool)| right.get(*name) != Some(*required);
            left.iter().filter(differs).map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let (too_much, missing) = (only(fields, nearest), only(nearest, fields));
        assert!(
            too_much.is_empty() && missing.is_empty(),
            "the table \"{title}\" is not as `transship schema` has it, in what is there or in what is required: \
             only the table has {too_much:?}, only the schema {missing:?}"
        );
    }
    for fields in &known {
        let shown = tables.iter().any(|(_, other)| other == fields);
        assert!(shown, "no table of the reference has exactly the fields {fields:?}");
    }
    let quoted: BTreeSet<&str> = page.split('`').collect();
    let mut all_words: BTreeSet<String> = known.iter().flat_map(|fields| fields.keys().cloned()).collect();
    words(&schema(), &mut all_words);
    let missing: Vec<&String> = all_words.iter().filter(|word| !quoted.contains(word.as_str())).collect();
    assert!(missing.is_empty(), "the page never says {missing:?}");
}
