//! What leaves an object when it is taken over: what only those before us have set, and nobody wants.

use serde_json::{Map, Value};

use crate::apply::decide::managed_fields::{is_earlier, position, unite};
use crate::object::path::PathStep as Step;

/// An object without what only those before us have set; nothing if there is none of that.
pub(in crate::apply) fn without(object: &Value) -> Option<Value> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let (mut theirs, mut others) = (Value::from(Map::new()), Value::from(Map::new()));
    for entry in entries {
        unite(if is_earlier(entry) { &mut theirs } else { &mut others }, &entry["fieldsV1"]);
    }
    let mut rest = object.clone();
    take(&mut rest, &theirs, &others);
    (rest != *object).then_some(rest)
}

fn take(value: &mut Value, theirs: &Value, others: &Value) {
    for (step, below) in theirs.as_object().into_iter().flatten().filter(|(step, _)| *step != ".") {
        match others.get(step) {
            None => remove(value, step),
            // Somebody else has all of it.
            Some(kept) if is_leaf(kept) => {}
            // An item of a list goes with all that others have put into it, unless they have the item itself.
            Some(kept) if step.starts_with("k:") && kept.get(".").is_none() => remove(value, step),
            Some(kept) => {
                let child = match position(value, step) {
                    Some(Step::Key(key)) => value.get_mut(key),
                    Some(Step::Index(index)) => value.get_mut(index),
                    None => None,
                };
                if let Some(child) = child {
                    take(child, below, kept);
                }
            }
        }
    }
}

fn is_leaf(fields: &Value) -> bool {
    fields.as_object().is_none_or(Map::is_empty)
}

fn remove(value: &mut Value, step: &str) {
    match (position(value, step), value) {
        (Some(Step::Key(key)), Value::Object(map)) => _ = map.remove(&key),
        (Some(Step::Index(index)), Value::Array(items)) if index < items.len() => _ = items.remove(index),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::without;

    /// An object that `kubectl apply` made, with all of it, and that others have some of.
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
    fn what_nobody_else_has_leaves() {
        let others = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {
                "f:args": {"v:\"y\"": {}},
                "f:ports": {"k:{\"port\":1}": {".": {}, "f:port": {}}},
            },
        });
        let rest = without(&object(&others)).unwrap();
        assert_eq!(rest["metadata"]["labels"], json!({"a": "1"}));
        assert_eq!(rest["spec"], json!({"args": ["y"], "ports": [{"port": 2}, {"port": 1}]}));
    }

    #[test]
    fn what_others_have_stays() {
        let all = json!({"f:metadata": {"f:labels": {}}, "f:spec": {}});
        assert_eq!(without(&object(&all)), None, "all of it is somebody else's");
        assert_eq!(without(&json!({"metadata": {}})), None);
    }

    #[test]
    fn a_whole_item_leaves() {
        let mut others = json!({"f:metadata": {"f:labels": {}}, "f:spec": {
            "f:mode": {}, "f:args": {}, "f:deep": {}, "f:ports": {"k:{\"port\":2}": {}},
        }});
        let rest = without(&object(&others)).unwrap();
        assert_eq!(rest["spec"]["ports"], json!([{"port": 2}]));
        others["f:spec"]["f:ports"] = json!({"k:{\"port\":1}": {"f:name": {}}});
        let rest = without(&object(&others)).unwrap();
        assert_eq!(rest["spec"]["ports"], json!([{"port": 2}]), "with what others put into it");
        assert_eq!(rest["spec"]["args"], json!(["x", "y"]));
    }
}
