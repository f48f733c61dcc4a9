//! Predecessors: the managers whose fields transship takes over. A profile names managers that transship succeeds
//! (`adopts`), and `--adopt` adds all known tools and operators that write whole objects.

use serde_json::{Value, json};

use crate::apply::decide::inventory::PART_OF;
use crate::apply::decide::managed_fields::{
    self, MANAGER, SEED_MANAGER, entries, is_previous_manager, merge_field_sets, replace_entries,
};
use crate::apply::decide::ownership::{Adoption, apply_set_of};
use crate::apply::decide::predecessor::Predecessor;
use crate::object::path::PathStep;

/// The annotation of an object that is being taken over. Its value is the [`Predecessor`].
pub(crate) const SUCCEEDS: &str = "transship.openshift.io/succeeds";

/// The managers whose fields transship takes over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Predecessors<'p> {
    /// The managers that transship succeeds.
    pub(crate) named: &'p [String],
    /// Whether to take over the fields of all known managers as well.
    pub(crate) adoption: Adoption,
}

impl Predecessors<'_> {
    #[cfg(test)]
    pub(crate) fn of_adoption(adoption: Adoption) -> Self {
        Self { named: &[], adoption }
    }

    /// Returns whether transship takes over the fields of an entry of the managed fields.
    pub(crate) fn include(self, entry: &Value) -> bool {
        self.adoption == Adoption::On && is_previous_manager(entry) || self.is_named(entry)
    }

    /// Returns whether a manager that transship succeeds set fields with an entry. A status belongs to a controller, which
    /// goes on.
    fn is_named(self, entry: &Value) -> bool {
        entry.get("subresource").is_none()
            && entry["manager"].as_str().is_some_and(|manager| self.names(manager))
    }

    /// Returns whether transship succeeds a manager.
    pub(crate) fn names(self, manager: &str) -> bool {
        self.named.iter().any(|name| name == manager)
    }

    /// Returns whether there are fields to take over.
    pub(crate) fn own_fields_of(self, object: &Value) -> bool {
        entries(object).any(|entry| self.include(entry))
    }

    /// Returns whether predecessors own a field, one of its parents or one of its children.
    pub(crate) fn own(self, object: &Value, path: &[PathStep]) -> bool {
        let mut included = entries(object).filter(|entry| self.include(entry));
        included.any(|entry| managed_fields::contains(&entry["fieldsV1"], object, path))
    }

    /// Returns the manager that transship succeeds for an object: of those that own fields of it, the first one in the
    /// profile's order. If an earlier run was interrupted while it took the object over, the annotation of that run names it.
    pub(crate) fn of(self, object: &Value) -> Option<Predecessor> {
        for name in self.named {
            let mut named = entries(object).filter(|entry| self.is_named(entry));
            if let Some(entry) = named.find(|entry| entry["manager"] == **name) {
                return Some(Predecessor { manager: name.clone(), applies: entry["operation"] == "Apply" });
            }
        }
        // Anyone may set the annotation; only transship sets it together with the label.
        apply_set_of(object)?;
        let announced = Predecessor::parse(object["metadata"]["annotations"][SUCCEEDS].as_str()?)?;
        self.names(&announced.manager).then_some(announced)
    }
}

/// Returns the merge patch that transfers the fields of predecessors to transship; `None` if they own none.
pub(crate) fn adoption_patch(object: &Value, predecessors: Predecessors<'_>) -> Option<Value> {
    let (previous, mut rest): (Vec<&Value>, Vec<&Value>) =
        entries(object).partition(|entry| predecessors.include(entry));
    let api_version = &previous.first()?["apiVersion"];
    let mut fields = json!({});
    let is_ours = |entry: &&Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    if let Some(position) = rest.iter().position(is_ours) {
        fields = rest.remove(position)["fieldsV1"].clone();
    }
    for entry in &previous {
        merge_field_sets(&mut fields, &entry["fieldsV1"]);
    }
    let adopted = json!({
        "manager": MANAGER, "operation": "Apply", "apiVersion": api_version,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    });
    rest.push(&adopted);
    Some(replace_entries(object, &rest))
}

/// Returns the merge patch with which transship leaves an object: without the label of its `ApplySet`, and with all fields
/// of transship given to the manager that had them before. If there was none, nobody owns the fields afterwards.
pub(crate) fn leaving_patch(object: &Value, predecessor: Option<&Predecessor>) -> Value {
    let is_ours = |entry: &&Value| entry["manager"] == MANAGER || entry["manager"] == SEED_MANAGER;
    let (ours, mut rest): (Vec<&Value>, Vec<&Value>) = entries(object).partition(is_ours);
    let given_back = predecessor.and_then(|to| take_theirs(&mut rest, &ours, to));
    rest.extend(&given_back);
    // The API server ignores an empty list.
    let nobody = json!({});
    if rest.is_empty() {
        rest.push(&nobody);
    }
    let mut patch = replace_entries(object, &rest);
    if object["metadata"]["labels"].get(PART_OF).is_some() {
        patch["metadata"]["labels"] = json!({PART_OF: null});
    }
    patch
}

/// Returns the entry of the manager that gets all fields of `ours`, together with its own fields. Removes its own entry from
/// `rest`.
fn take_theirs(rest: &mut Vec<&Value>, ours: &[&Value], to: &Predecessor) -> Option<Value> {
    let api_version = &ours.iter().find(|entry| entry["manager"] == MANAGER).or(ours.first())?["apiVersion"];
    let is_theirs = |entry: &&Value| {
        entry["manager"] == *to.manager
            && entry["operation"] == to.operation()
            && entry.get("subresource").is_none()
            && entry["apiVersion"] == *api_version
    };
    let mut fields = json!({});
    if let Some(position) = rest.iter().position(is_theirs) {
        fields = rest.remove(position)["fieldsV1"].clone();
    }
    // The status belongs to its controller, and field sets of other versions have other fields.
    let is_of_object =
        |entry: &&&Value| entry.get("subresource").is_none() && entry["apiVersion"] == *api_version;
    for entry in ours.iter().filter(is_of_object) {
        merge_field_sets(&mut fields, &entry["fieldsV1"]);
    }
    remove_label_of_set(&mut fields);
    Some(json!({
        "manager": to.manager, "operation": to.operation(), "apiVersion": api_version,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    }))
}

/// Removes the label of the `ApplySet` from a field set.
fn remove_label_of_set(fields: &mut Value) {
    let Some(metadata) = fields.get_mut("f:metadata").and_then(Value::as_object_mut) else { return };
    let Some(labels) = metadata.get_mut("f:labels").and_then(Value::as_object_mut) else { return };
    labels.remove(&format!("f:{PART_OF}"));
    if labels.keys().all(|step| step == ".") {
        metadata.remove("f:labels");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Predecessors, adoption_patch, leaving_patch};
    use crate::apply::decide::inventory::PART_OF;
    use crate::apply::decide::managed_fields::{MANAGER, SEED_MANAGER};
    use crate::apply::decide::ownership::Adoption;
    use crate::apply::decide::predecessor::Predecessor;
    use crate::object::path::PathStep::Key;

    fn object(entries: &Value) -> Value {
        json!({"metadata": {"managedFields": entries}, "spec": {"a": 1, "b": 2}})
    }

    const ADOPT: Predecessors<'_> = Predecessors { named: &[], adoption: Adoption::On };

    /// An object of which transship and another manager own fields.
    fn applied() -> Value {
        json!({
            "metadata": {"resourceVersion": "7", "managedFields": [
                {"manager": MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}},
            ]},
            "spec": {"replicas": 1, "other": "o"},
        })
    }

    fn entry(manager: &str, operation: &str) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": {"f:spec": {"f:a": {}}}})
    }

    #[test]
    fn managers_that_the_profile_names_are_succeeded_whatever_their_operation() {
        let named = ["cvo".to_owned(), "cpo".to_owned()];
        let predecessors = Predecessors { named: &named, adoption: Adoption::Off };
        let mut status = entry("cvo", "Update");
        status["subresource"] = json!("status");
        for (entries, expected) in [
            (json!([entry("cvo", "Apply")]), Some(("cvo", true))),
            (json!([entry("cvo", "Update")]), Some(("cvo", false))),
            (json!([entry("cpo", "Update"), entry("cvo", "Apply")]), Some(("cvo", true))),
            (json!([entry("kubectl-edit", "Update"), entry("helm", "Update")]), None),
            (json!([status]), None),
        ] {
            let object = object(&entries);
            let expected =
                expected.map(|(manager, applies)| Predecessor { manager: manager.to_owned(), applies });
            assert_eq!(predecessors.own_fields_of(&object), expected.is_some(), "{object}");
            assert_eq!(predecessors.own(&object, &[Key("spec".to_owned())]), expected.is_some(), "{object}");
            assert!(!predecessors.own(&object, &[Key("spec".to_owned()), Key("b".to_owned())]));
            assert_eq!(predecessors.of(&object), expected, "{object}");
        }
    }

    #[test]
    fn an_interrupted_run_left_the_predecessor_in_an_annotation() {
        let named = ["cvo".to_owned()];
        let predecessors = Predecessors { named: &named, adoption: Adoption::Off };
        for (announced, expected) in
            [("Update:cvo", Some(false)), ("Apply:cvo", Some(true)), ("Apply:other", None)]
        {
            let mut object = object(&json!([entry("transship", "Apply")]));
            object["metadata"]["annotations"] = json!({super::SUCCEEDS: announced});
            assert_eq!(predecessors.of(&object), None, "without the label, the annotation is not ours");
            object["metadata"]["labels"] = json!({PART_OF: "applyset-a-v1"});
            assert!(!predecessors.own_fields_of(&object));
            assert_eq!(
                predecessors.of(&object).map(|predecessor| predecessor.applies),
                expected,
                "{announced}"
            );
        }
    }

    #[test]
    fn adoption_takes_over_the_fields_of_known_tools_but_records_no_predecessor() {
        let object = object(&json!([entry("kubectl-edit", "Update")]));
        for (adoption, expected) in [(Adoption::Off, false), (Adoption::On, true)] {
            let predecessors = Predecessors::of_adoption(adoption);
            assert_eq!(predecessors.own_fields_of(&object), expected);
            assert_eq!(predecessors.of(&object), None);
        }
    }

    #[test]
    fn adoption_transfers_fields_of_previous_managers() {
        let mut old = applied();
        assert_eq!(adoption_patch(&old, ADOPT), None, "other managers keep their fields");
        old["metadata"]["managedFields"][1]["manager"] = json!("kubectl-client-side-apply");
        let patch = adoption_patch(&old, ADOPT).unwrap();
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let entries = patch["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0]["manager"], &entries[0]["operation"]), (&json!(MANAGER), &json!("Apply")));
        assert_eq!(entries[0]["fieldsV1"]["f:spec"]["f:other"], json!({}));
        assert_eq!(entries[0]["fieldsV1"]["f:spec"]["f:replicas"], json!({}));
    }

    #[test]
    fn adoption_keeps_what_other_managers_applied() {
        let mut old = applied();
        let theirs =
            json!({"manager": "argocd", "operation": "Apply", "fieldsV1": {"f:spec": {"f:pull": {}}}});
        let previous = json!({"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}});
        let ours = old["metadata"]["managedFields"][0].clone();
        old["metadata"]["managedFields"] = json!([theirs, previous, ours]);
        let patch = adoption_patch(&old, ADOPT).unwrap();
        let entries = patch["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0], theirs);
        assert_eq!(entries[1]["manager"], MANAGER);
    }

    #[test]
    fn a_manager_that_transship_succeeds_gets_its_fields_back() {
        let mut object = applied();
        object["metadata"]["labels"] = json!({PART_OF: "applyset-a-v1", "app": "op"});
        object["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
            json!({"f:labels": {".": {}, format!("f:{PART_OF}"): {}}});
        let ours = object["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].clone();
        let other = object["metadata"]["managedFields"][1].clone();
        let seed =
            json!({"manager": SEED_MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": {"f:seed": {}}}});
        // A first status, which its controller owns from now on.
        let status = json!({
            "manager": SEED_MANAGER, "operation": "Apply", "subresource": "status", "fieldsV1": {"f:status": {}},
        });
        object["metadata"]["managedFields"].as_array_mut().unwrap().extend([seed, status]);
        for applies in [true, false] {
            let predecessor = Predecessor { manager: "cvo".to_owned(), applies };
            let patch = leaving_patch(&object, Some(&predecessor));
            assert_eq!(patch["metadata"]["resourceVersion"], "7");
            assert_eq!(patch["metadata"]["labels"], json!({PART_OF: null}));
            let entries = patch["metadata"]["managedFields"].as_array().unwrap();
            let mut fields = ours.clone();
            fields["f:seed"] = json!({});
            assert_eq!(entries[0], other);
            assert_eq!(entries[1]["manager"], "cvo");
            assert_eq!(entries[1]["operation"], if applies { "Apply" } else { "Update" });
            assert_eq!(entries[1]["fieldsV1"], json!({"f:spec": fields, "f:metadata": {}}));
            assert_eq!(entries.len(), 2);
        }
    }

    #[test]
    fn without_a_predecessor_nobody_owns_the_fields_afterwards() {
        let mut object = applied();
        object["metadata"]["labels"] = json!({PART_OF: "applyset-a-v1"});
        let other = object["metadata"]["managedFields"][1].clone();
        let patch = leaving_patch(&object, None);
        assert_eq!(patch["metadata"]["managedFields"], json!([other]));
        assert_eq!(patch["metadata"]["labels"], json!({PART_OF: null}));
        object["metadata"]["managedFields"].as_array_mut().unwrap().pop();
        assert_eq!(leaving_patch(&object, None)["metadata"]["managedFields"], json!([{}]));
    }
}
