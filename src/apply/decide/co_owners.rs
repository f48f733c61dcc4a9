//! Names the other owners of a field that the API server does not accept. If another manager still owns a field that
//! transship no longer sends, server-side apply keeps it, and the object may be invalid with it.

use serde_json::Value;

use crate::apply::decide::json_fields::FieldPath;
use crate::apply::decide::managed_fields::{MANAGER, contains, entries, field_owner, is_previous_manager};
use crate::object::path::PathStep;

/// The number of fields whose owners a message names.
const NAMED_FIELDS: usize = 3;

/// Describes the other managers of the fields that the API server does not accept, and what to do about them. Empty if
/// there are none. `fields` are the fields of the API server's message, such as `spec.ports[1].name`.
pub(crate) fn describe_co_owners<'f>(live: &Value, fields: impl Iterator<Item = &'f str>) -> String {
    let (mut descriptions, mut adoptable, mut applied) = (Vec::new(), false, false);
    for field in fields.take(NAMED_FIELDS) {
        let Some((name, owners)) = owners_of(live, field) else { continue };
        adoptable |= owners.iter().any(|entry| is_previous_manager(entry));
        applied |= owners.iter().any(|entry| entry["operation"] == "Apply");
        let owners: Vec<String> = owners.into_iter().map(field_owner).collect();
        let description = format!("{name} is also owned by {}", owners.join(", "));
        if !descriptions.contains(&description) {
            descriptions.push(description);
        }
    }
    if adoptable {
        descriptions.push("--adopt takes over fields that were set with update requests".to_owned());
    }
    if applied {
        descriptions.push("a manager that uses Apply must give up its field first".to_owned());
    }
    let mut text = String::new();
    for description in descriptions {
        text.push_str("; ");
        text.push_str(&description);
    }
    text
}

/// Returns the other owners of a field or, if it has none, of the field around it: in a union, one field forbids another.
fn owners_of<'o>(live: &'o Value, field: &str) -> Option<(String, Vec<&'o Value>)> {
    let steps = parse(field);
    let mut path: FieldPath = Vec::new();
    let (mut value, mut name) = (live, String::new());
    let mut names = Vec::new();
    for step in steps {
        name.push_str(&step.text);
        let Some(below) = step.resolve(value) else { break };
        value = below.0;
        path.push(below.1);
        names.push(name.clone());
    }
    // The fields directly below `spec` have too many owners to name those of `spec`.
    while path.len() >= 2 {
        let is_other = |entry: &&Value| {
            entry["manager"] != MANAGER
                && entry.get("subresource").is_none()
                && contains(&entry["fieldsV1"], live, &path)
        };
        let owners: Vec<&Value> = entries(live).filter(is_other).collect();
        if !owners.is_empty() {
            return Some((names[path.len() - 1].clone(), owners));
        }
        path.pop();
    }
    None
}

/// A part of a field name in a message of the API server.
struct FieldPart {
    /// The part with its separator.
    text: String,
    key: String,
}

impl FieldPart {
    /// Returns the value below `value`, with the step to it.
    fn resolve<'v>(&self, value: &'v Value) -> Option<(&'v Value, PathStep)> {
        if let Some(below) = value.get(&self.key) {
            return Some((below, PathStep::Key(self.key.clone())));
        }
        let index: usize = self.key.parse().ok()?;
        Some((value.get(index)?, PathStep::Index(index)))
    }
}

/// Splits a field such as `spec.ports[1].name` or `metadata.annotations[example.test/a]`.
fn parse(field: &str) -> Vec<FieldPart> {
    let mut parts = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        if let Some((key, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            parts.push(FieldPart { text: format!("[{key}]"), key: key.to_owned() });
            rest = after;
            continue;
        }
        let name = rest.trim_start_matches('.');
        let end = name.find(['.', '[']).unwrap_or(name.len());
        if end == 0 {
            break;
        }
        let separator = if parts.is_empty() { "" } else { "." };
        parts.push(FieldPart { text: format!("{separator}{}", &name[..end]), key: name[..end].to_owned() });
        rest = &name[end..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::describe_co_owners;

    fn live(manager: &str, operation: &str) -> Value {
        let env = json!({"f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:value": {}}}});
        let fields = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": env}, "f:mode": {}}});
        let entry = |manager: &str, operation: &str| json!({"manager": manager, "operation": operation, "fieldsV1": fields});
        json!({
            "metadata": {"annotations": {"a.b/c": "d"}, "managedFields": [
                entry("transship", "Apply"), entry(manager, operation),
            ]},
            "spec": {"mode": 1, "other": 2, "containers": [{"name": "c", "env": [{"name": "A", "value": "x"}]}]},
        })
    }

    #[test]
    fn the_owner_of_the_other_field_of_a_union_is_named() {
        let env = "spec.containers[0].env[0].valueFrom";
        assert_eq!(
            describe_co_owners(&live("argocd", "Apply"), [env, env].into_iter()),
            "; spec.containers[0].env[0] is also owned by argocd (Apply); a manager that uses Apply must give up its \
             field first"
        );
        assert_eq!(
            describe_co_owners(&live("kubectl-edit", "Update"), ["spec.mode"].into_iter()),
            "; spec.mode is also owned by kubectl-edit (Update); --adopt takes over fields that were set with update \
             requests"
        );
    }

    #[test]
    fn fields_without_another_owner_are_not_described() {
        let live = live("argocd", "Apply");
        for field in
            ["spec.other", "metadata.annotations[a.b/c]", "spec", "", "[", "spec.containers[7]x", ".."]
        {
            let described = describe_co_owners(&live, [field].into_iter());
            let expected = if field.contains('7') {
                "; spec.containers is also owned by argocd (Apply); a manager that uses Apply must give up its field first"
            } else {
                ""
            };
            assert_eq!(described, expected, "{field}");
        }
    }
}
