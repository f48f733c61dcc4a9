//! `docs/language/reference.md`: every field of every kind, from `transship schema`. `make docs` rewrites it.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value as Json};

use super::markdown::anchor;
use super::{Page, guide};
use crate::support::Folder;

const PATH: &str = "docs/language/reference.md";

const INTRODUCTION: &str = "\
# Reference of all fields

`make docs` generates this page from `transship schema`, which comes from the types in
`src/language/`.
";

fn schema() -> Json {
    serde_json::from_str(&Folder::new().run(&["schema"]).stdout).unwrap()
}

/// The page while it is written: one table for each type, in the order in which fields mention them.
struct Reference {
    page: String,
    /// Titles of the types that have a table.
    written: BTreeSet<String>,
}

impl Reference {
    fn of(schema: &Json) -> Self {
        let mut reference = Self { page: INTRODUCTION.to_owned(), written: BTreeSet::new() };
        for kind in schema["oneOf"].as_array().unwrap() {
            let name = kind["properties"]["kind"]["const"].as_str().unwrap();
            reference.table("##", name, kind);
        }
        reference
    }

    /// Writes the table of a type, then those of the types that its fields mention.
    fn table(&mut self, level: &str, title: &str, schema: &Json) {
        assert!(self.written.insert(title.to_owned()), "two types are called {title}");
        let _ = write!(
            self.page,
            "\n{level} {title}\n\n| field | type | required | description |\n|---|---|---|---|\n"
        );
        let fields = schema["properties"].as_object().unwrap();
        let required = schema["required"].as_array();
        for (name, field) in fields {
            let required = required.is_some_and(|names| names.iter().any(|other| other == name));
            let required = if required { "yes" } else { "" };
            let description = description(name, field).replace('|', "\\|");
            let _ =
                writeln!(self.page, "| `{name}` | {} | {required} | {description} |", type_of(name, field));
        }
        for (name, field) in fields {
            for (title, schema) in types(name, field) {
                if !self.written.contains(&title) {
                    self.table("###", &title, schema);
                }
            }
        }
    }
}

/// Returns the description of a field. The schema has none for `kind`, whose value is a constant, and for intents.
fn description<'s>(name: &str, field: &'s Json) -> &'s str {
    match field["description"].as_str() {
        Some(description) => description,
        None if name == "kind" => "The kind of the file.",
        None => "See [Intents](intents.md).",
    }
}

/// Returns the title of a type that has fields: `a policy entry` becomes `Policy entry`.
fn title(field: &str, schema: &Json) -> String {
    let title = schema["title"].as_str().unwrap_or(field);
    let noun = title.strip_prefix("a ").or(title.strip_prefix("an ")).unwrap_or(title);
    noun[..1].to_uppercase() + &noun[1..]
}

/// Returns the types with fields that a field mentions, each with its title.
fn types<'s>(field: &str, schema: &'s Json) -> Vec<(String, &'s Json)> {
    if schema["properties"].is_object() {
        return vec![(title(field, schema), schema)];
    }
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    let inner = [schema.get("items"), schema.get("additionalProperties")].into_iter().flatten();
    alternatives.chain(inner).flat_map(|schema| types(field, schema)).collect()
}

/// Describes the type of a field, with a link to its table if it has one.
fn type_of(field: &str, schema: &Json) -> String {
    let Some(keys) = schema.as_object() else { return "any".to_owned() };
    if keys.contains_key("properties") {
        let title = title(field, schema);
        return format!("[{title}](#{})", anchor(&title));
    }
    if let Some(constant) = keys.get("const").and_then(Json::as_str) {
        return format!("`{constant}`");
    }
    if let Some(words) = keys.get("enum").and_then(Json::as_array) {
        if field == "check" {
            return "a [check](../checks.md#all-checks)".to_owned();
        }
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect();
        return words.join(", ");
    }
    if let Some(alternatives) = keys.get("oneOf").and_then(Json::as_array) {
        let types: Vec<String> = alternatives.iter().map(|schema| type_of(field, schema)).collect();
        return types.join(" or ");
    }
    if keys.contains_key("$ref") {
        return "[use of a fragment](component-adds.md#uses)".to_owned();
    }
    plain_type_of(field, keys)
}

fn plain_type_of(field: &str, schema: &Map<String, Json>) -> String {
    match schema.get("type").and_then(Json::as_str) {
        Some("array") => format!("list of {}", type_of(field, &schema["items"])),
        Some("object") => match schema.get("additionalProperties") {
            Some(values) if values.is_object() => format!("map of {}", type_of(field, values)),
            _ => "map".to_owned(),
        },
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

#[test]
fn the_page_is_as_the_schema() {
    let page = Reference::of(&schema()).page;
    assert!(Page::read(PATH).text == page, "`make docs` updates {PATH}");
}

#[test]
#[ignore = "it writes: `make docs` runs it"]
fn rewrite() {
    Page { path: PATH.to_owned(), text: String::new() }.write(&Reference::of(&schema()).page);
}

/// Returns the names of fields, and the words of enums, of a schema.
fn names(schema: &Json, found: &mut BTreeSet<String>) {
    match schema {
        Json::Object(map) => {
            let fields = map.get("properties").and_then(Json::as_object);
            found.extend(fields.into_iter().flat_map(Map::keys).cloned());
            let words = map.get("enum").and_then(Json::as_array).into_iter().flatten();
            found.extend(words.filter_map(Json::as_str).map(str::to_owned));
            map.values().for_each(|value| names(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

/// The guide explains every field and every word; the generated reference does not count.
#[test]
fn the_guide_names_every_field_and_word() {
    let pages: Vec<Page> = guide().into_iter().filter(|page| page.path != PATH).collect();
    let quoted: BTreeSet<&str> = pages.iter().flat_map(|page| page.text.split('`')).collect();
    let mut all = BTreeSet::new();
    names(&schema(), &mut all);
    let missing: Vec<&String> = all.iter().filter(|name| !quoted.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "the guide never explains {missing:?}");
}

#[test]
fn every_field_has_a_description() {
    fn check(schema: &Json, missing: &mut Vec<String>) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            // `kind` is a constant, and intents are described in `docs/language/intents.md`.
            let described = field["description"].is_string() || field["const"].is_string();
            if !described && schema["title"].is_string() {
                missing.push(name.clone());
            }
        }
        match schema {
            Json::Object(map) => map.values().for_each(|value| check(value, missing)),
            Json::Array(items) => items.iter().for_each(|item| check(item, missing)),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    check(&schema(), &mut missing);
    assert!(missing.is_empty(), "these fields have no doc comment in src/language: {missing:?}");
}
