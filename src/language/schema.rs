//! JSON Schemas of the files, made from the types that read them and from the fragments at hand.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::checks::ChecksFile;
use super::component::Component;
use super::fragment::{Fragment, FragmentFile};
use super::parameters::ParametersFile;
use super::profile::ProfileFile;
use super::typed::Typed;

/// One schema for all kinds: an editor that knows it completes and checks every file of the language. What can be used,
/// and with which inputs, is what the fragments say.
pub fn schema(fragments: &BTreeMap<String, Fragment>) -> Json {
    let kind = |kind: &str, mut schema: Json| {
        schema["properties"]["kind"] = json!({"const": kind});
        schema
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Files of transship",
        "oneOf": [
            kind("Checks", ChecksFile::schema()),
            kind("Component", Component::schema()),
            kind("Fragment", FragmentFile::schema()),
            kind("Parameters", ParametersFile::schema()),
            kind("Profile", ProfileFile::schema()),
        ],
        "$defs": {"use": uses(fragments)},
    })
}

/// One fragment with its inputs; any, where none is known.
fn uses(fragments: &BTreeMap<String, Fragment>) -> Json {
    if fragments.is_empty() {
        return json!({"type": "object", "minProperties": 1, "maxProperties": 1});
    }
    let one = |fragment: &Fragment| {
        let inputs = fragment.body.inputs.iter();
        let properties: serde_json::Map<String, Json> =
            inputs.clone().map(|(name, input)| (name.clone(), input.value.value_schema())).collect();
        let required: Vec<&String> =
            inputs.filter(|(_, input)| input.value.is_required()).map(|(name, _)| name).collect();
        let inputs = json!({
            "type": ["object", "null"], "description": fragment.body.description,
            "additionalProperties": false, "properties": properties, "required": required,
        });
        let name = fragment.name();
        json!({"type": "object", "properties": {name: inputs}, "required": [name], "additionalProperties": false})
    };
    json!({"oneOf": fragments.values().map(one).collect::<Vec<_>>()})
}
