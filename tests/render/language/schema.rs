//! The JSON schema of the language.

use serde_json::{Value, json};

use super::project_with_three_objects;
use crate::support::TestProject;

fn schema(project: &TestProject) -> Value {
    serde_json::from_str(&project.run(&["schema"]).stdout).unwrap()
}

#[test]
fn the_schema_describes_every_field() {
    let schema = schema(&TestProject::new());
    let mut kinds = Vec::new();
    for kind in schema["oneOf"].as_array().unwrap() {
        kinds.push(&kind["properties"]["kind"]["const"]);
    }
    assert_eq!(kinds, ["Checks", "Component", "Fragment", "Parameters", "Profile"]);
    let page = &schema["oneOf"][1];
    assert_eq!(page["additionalProperties"], false);
    assert_eq!(page["required"], json!(["apiVersion", "kind", "metadata"]));
    assert_eq!(
        page["properties"]["owner"]["description"],
        "The component whose operator looks after these objects. While a Deployment of that component is in the topology, the \
         objects are left to the operator. Without an owner, or without its Deployment, transship applies them."
    );
    assert_eq!(
        page["properties"]["patches"]["items"]["properties"]["position"]["enum"],
        json!(["first", "last"])
    );
}

#[test]
fn the_schema_of_uses_lists_the_fragments_and_their_inputs() {
    let project = project_with_three_objects().fragment(
        "word",
        r"
        inputs: {workload: workload, port: port, kind: {type: string, enum: [a, b], optional: true}}
        adds: [{nothing: x}]
        ",
    );
    let schema = schema(&project);
    assert_eq!(schema["oneOf"][1]["properties"]["uses"]["items"], json!({"$ref": "#/$defs/use"}));
    let word = &schema["$defs"]["use"]["oneOf"][0]["properties"]["word"];
    assert_eq!(word["description"], "a test");
    assert_eq!(word["required"], json!(["port"]));
    assert_eq!(word["properties"]["port"]["anyOf"][0]["maximum"], 65535);
    assert_eq!(word["properties"]["kind"]["anyOf"][0], json!({"enum": ["a", "b"]}));
}
