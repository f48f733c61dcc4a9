//! Orphaned fields: fields that only predecessors own. Adoption removes them.

use serde_json::{Map, Value};

use crate::apply::decide::managed_fields::{can_find_items, child_mut, merge_field_sets, resolve_step};
use crate::apply::decide::predecessors::Predecessors;
use crate::object::path::PathStep;

/// Returns an object without its orphaned fields; `None` if it has none.
pub(crate) fn without_orphaned_fields(object: &Value, predecessors: Predecessors<'_>) -> Option<Value> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let mut previous = Value::from(Map::new());
    let mut others = Value::from(Map::new());
    for entry in entries {
        let fields = if predecessors.include(entry) { &mut previous } else { &mut others };
        merge_field_sets(fields, &entry["fieldsV1"]);
    }
    let mut rest = object.clone();
    remove_orphaned(&mut rest, &previous, &others);
    (rest != *object).then_some(rest)
}

/// Removes the fields that are in `previous` and not in `others`.
fn remove_orphaned(value: &mut Value, previous: &Value, others: &Value) {
    let Some(previous) = previous.as_object().filter(|previous| can_find_items(value, previous)) else {
        return;
    };
    for (step, below) in previous.iter().filter(|(step, _)| *step != ".") {
        match others.get(step) {
            None => remove(value, step),
            // Another manager owns the whole field.
            Some(kept) if is_leaf(kept) => {}
            // A list item is removed with everything in it, unless another manager owns the item itself.
            Some(kept) if step.starts_with("k:") && kept.get(".").is_none() => remove(value, step),
            Some(kept) => {
                if let Some(child) = child_mut(value, step) {
                    remove_orphaned(child, below, kept);
                }
            }
        }
    }
}

fn is_leaf(fields: &Value) -> bool {
    fields.as_object().is_none_or(Map::is_empty)
}

fn remove(value: &mut Value, step: &str) {
    match (resolve_step(value, step), value) {
        (Some(PathStep::Key(key)), Value::Object(map)) => _ = map.remove(&key),
        (Some(PathStep::Index(index)), Value::Array(items)) if index < items.len() => _ = items.remove(index),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::without_orphaned_fields;
    use crate::apply::decide::ownership::Adoption;
    use crate::apply::decide::predecessors::Predecessors;

    const ADOPT: Predecessors<'_> = Predecessors { named: &[], adoption: Adoption::On };

    /// An object that `kubectl apply` created, and of which another manager owns some fields.
    fn object(others: &Value) -> Value {
        let theirs = json!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}, "f:b": {}}},
            "f:spec": {
                "f:mode": {},
                "f:args": {".": {}, "v:\"x\"": {}, "v:\"y\"": {}},
                "f:ports": {".": {}, "k:{\"port\":1}": {".": {}, "f:port": {}, "f:name": {}}},
                "f:deep": {"f:er": {}},
            },
        });
        json!({
            "metadata": {"labels": {"a": "1", "b": "2"}, "managedFields": [
                {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": theirs},
                {"manager": "transship", "operation": "Apply", "fieldsV1": others},
            ]},
            "spec": {
                "mode": "m", "args": ["x", "y"], "ports": [{"port": 2}, {"port": 1, "name": "n"}],
                "deep": {"er": 1, "unowned": 2},
            },
        })
    }

    #[test]
    fn fields_without_another_owner_are_removed() {
        let others = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {
                "f:args": {"v:\"y\"": {}},
                "f:ports": {"k:{\"port\":1}": {".": {}, "f:port": {}}},
            },
        });
        let rest = without_orphaned_fields(&object(&others), ADOPT).unwrap();
        assert_eq!(rest["metadata"]["labels"], json!({"a": "1"}));
        assert_eq!(rest["spec"], json!({"args": ["y"], "ports": [{"port": 2}, {"port": 1}]}));
    }

    #[test]
    fn fields_of_other_managers_stay() {
        let all = json!({"f:metadata": {"f:labels": {}}, "f:spec": {}});
        assert_eq!(without_orphaned_fields(&object(&all), ADOPT), None, "another manager owns every field");
        assert_eq!(without_orphaned_fields(&json!({"metadata": {}}), ADOPT), None);
    }

    #[test]
    fn list_items_are_removed_as_a_whole() {
        let mut others = json!({"f:metadata": {"f:labels": {}}, "f:spec": {
            "f:mode": {}, "f:args": {}, "f:deep": {}, "f:ports": {"k:{\"port\":2}": {}},
        }});
        let rest = without_orphaned_fields(&object(&others), ADOPT).unwrap();
        assert_eq!(rest["spec"]["ports"], json!([{"port": 2}]));
        others["f:spec"]["f:ports"] = json!({"k:{\"port\":1}": {"f:name": {}}});
        let rest = without_orphaned_fields(&object(&others), ADOPT).unwrap();
        assert_eq!(rest["spec"]["ports"], json!([{"port": 2}]), "with the fields that others put into it");
        assert_eq!(rest["spec"]["args"], json!(["x", "y"]));
    }

    #[test]
    fn an_index_after_the_end_of_a_list_is_ignored() {
        let object = |index: &str| {
            let fields = json!({"f:spec": {"f:args": {index: {}}}});
            let others = json!({"f:spec": {"f:args": {".": {}}}});
            json!({
                "metadata": {"managedFields": [
                    {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": fields},
                    {"manager": "transship", "operation": "Apply", "fieldsV1": others},
                ]},
                "spec": {"args": ["x"]},
            })
        };
        assert_eq!(without_orphaned_fields(&object("i:1"), ADOPT), None);
        let rest = without_orphaned_fields(&object("i:0"), ADOPT).unwrap();
        assert_eq!(rest["spec"]["args"], json!([]));
    }
}
