//! Nulls in objects. For a built-in kind, a null means that the field is not set. In a custom resource, a null is a value if
//! the schema of the field says `nullable`: the API server keeps it and does not set the default. It rejects any other
//! null, or drops it.

use std::collections::HashMap;

use serde_json::Value;

use crate::apply::decide::json_fields::remove_nulls;
use crate::object::Object;
use crate::yaml::{self, Node};

/// The schemas of the custom resources that have nulls, by `apiVersion` and kind.
#[derive(Default)]
pub(crate) struct NullableFields(HashMap<(String, String), Value>);

impl NullableFields {
    /// Finds the schemas in the CRDs of a plan.
    pub(crate) fn new(objects: &[Object]) -> Self {
        let mut schemas = HashMap::new();
        if !objects.iter().any(|object| has_null(&object.root)) {
            return Self(schemas);
        }
        for crd in objects.iter().filter(|object| object.id.kind == "CustomResourceDefinition") {
            let spec = Value::from(&crd.root)["spec"].take();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            for version in spec["versions"].as_array().into_iter().flatten() {
                let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
                let schema = version["schema"]["openAPIV3Schema"].clone();
                schemas.insert((api_version, text(&spec["names"]["kind"])), schema);
            }
        }
        Self(schemas)
    }

    /// Removes the nulls of an object that are not values. If no CRD of the plan has the schema of the object, removes
    /// all.
    pub(crate) fn remove_other_nulls(&self, object: &mut Value) {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let Some(schema) = self.0.get(&(text("apiVersion"), text("kind"))) else {
            return remove_nulls(object);
        };
        if let Some(metadata) = object.get_mut("metadata") {
            remove_nulls(metadata);
        }
        remove_by_schema(object, schema);
    }
}

fn has_null(node: &Node) -> bool {
    match &node.value {
        yaml::Value::Null => true,
        yaml::Value::List(items) => items.iter().any(has_null),
        yaml::Value::Map(map) => map.iter().any(|entry| has_null(&entry.value)),
        _ => false,
    }
}

/// Removes the keys whose value is null, unless the schema allows a null there, or accepts anything.
fn remove_by_schema(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => {
            let of = |key: &str| schema["properties"].get(key).or_else(|| schema.get("additionalProperties"));
            let accepts_anything = schema["x-kubernetes-preserve-unknown-fields"] == true;
            map.retain(|key, value| match of(key) {
                _ if !value.is_null() => true,
                Some(below) => below["nullable"] == true,
                None => accepts_anything,
            });
            for (key, value) in map.iter_mut() {
                match of(key) {
                    Some(below) => remove_by_schema(value, below),
                    None if accepts_anything => {}
                    None => remove_nulls(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove_by_schema(item, &schema["items"])),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::remove_by_schema;

    #[test]
    fn a_null_stays_where_the_schema_allows_it() {
        let nullable = json!({"type": "integer", "nullable": true});
        let schema = json!({"properties": {
            "size": nullable, "plain": {"type": "integer"},
            "list": {"items": {"properties": {"a": nullable}}},
            "map": {"additionalProperties": nullable},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
        }});
        let mut object = json!({
            "size": null, "plain": null, "list": [{"a": null, "b": null}], "map": {"x": null},
            "any": {"y": null, "z": {"w": null}}, "unknown": {"v": null},
        });
        remove_by_schema(&mut object, &schema);
        assert_eq!(
            object,
            json!({"size": null, "list": [{"a": null}], "map": {"x": null}, "any": {"y": null, "z": {"w": null}},
                "unknown": {}})
        );
    }
}
