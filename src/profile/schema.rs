//! JSON Schemas of the files, made from the types that read them.

use serde_json::{Value as Json, json};

use super::component::Component;
use super::fragment::FragmentFile;
use super::parameters::ParametersFile;
use super::profile::ProfileFile;
use super::typed::Typed;

/// One schema for all kinds: an editor that knows it completes and checks every file of the language.
pub fn schema() -> Json {
    let kind = |kind: &str, mut schema: Json| {
        schema["properties"]["kind"] = json!({"const": kind});
        schema
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Files of transship",
        "oneOf": [
            kind("Component", Component::schema()),
            kind("Fragment", FragmentFile::schema()),
            kind("Parameters", ParametersFile::schema()),
            kind("Profile", ProfileFile::schema()),
        ],
    })
}
