//! The JSON Schema of all files, generated from the types that read them and from the fragments of the project.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::checks::ChecksFile;
use super::fragment::{Fragment, FragmentFile};
use super::page::Page;
use super::parameters::ParametersFile;
use super::profile::ProfileFile;
use super::typed::Typed;

/// Returns one schema for all kinds of files, with which an editor completes and checks them. It includes the inputs of
/// the project's fragments.
pub(crate) fn schema(fragments: &BTreeMap<String, Fragment>) -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Files of transship",
        "oneOf": [
            of_kind("Checks", ChecksFile::schema()),
            of_kind("Component", Page::schema()),
            of_kind("Fragment", FragmentFile::schema()),
            of_kind("Parameters", ParametersFile::schema()),
            of_kind("Profile", ProfileFile::schema()),
        ],
        "$defs": {"use": use_schema(fragments)},
    })
}

/// Returns the schema of a file with its `kind` fixed.
fn of_kind(kind: &str, mut schema: Json) -> Json {
    schema["properties"]["kind"] = json!({"const": kind});
    schema
}

/// Returns the schema of an entry of `uses`: one of the fragments with its inputs. Without fragments, any.
fn use_schema(fragments: &BTreeMap<String, Fragment>) -> Json {
    if fragments.is_empty() {
        return json!({"type": "object", "minProperties": 1, "maxProperties": 1});
    }
    json!({"oneOf": fragments.values().map(fragment_use_schema).collect::<Vec<_>>()})
}

fn fragment_use_schema(fragment: &Fragment) -> Json {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for (name, input) in &fragment.body.inputs {
        properties.insert(name.clone(), input.value.value_schema());
        if input.value.is_required() {
            required.push(name);
        }
    }
    let inputs = json!({
        "type": ["object", "null"], "description": fragment.body.description,
        "additionalProperties": false, "properties": properties, "required": required,
    });
    let name = fragment.name();
    json!({"type": "object", "properties": {name: inputs}, "required": [name], "additionalProperties": false})
}
