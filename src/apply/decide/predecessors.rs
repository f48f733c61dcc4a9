//! Predecessors: the managers whose fields transship takes over. A profile names managers that transship succeeds
//! (`adopts`), and `--adopt` adds all known tools and operators that write whole objects.

use std::fmt;

use serde_json::Value;

use crate::apply::decide::managed_fields::{self, entries, is_previous_manager};
use crate::apply::decide::ownership::Adoption;
use crate::apply::decide::url_segment::{escape, unescape};
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
        let announced = Predecessor::parse(object["metadata"]["annotations"][SUCCEEDS].as_str()?)?;
        self.names(&announced.manager).then_some(announced)
    }
}

/// The manager that an object had before transship took it over. `delete --orphan` gives the fields back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predecessor {
    /// Its field manager.
    pub(crate) manager: String,
    /// Whether it used server-side apply, and not update requests.
    pub(crate) applies: bool,
}

impl Predecessor {
    /// Returns the operation of its entries in the managed fields.
    pub(crate) fn operation(&self) -> &'static str {
        if self.applies { "Apply" } else { "Update" }
    }

    /// Says that an apply takes an object over.
    pub(crate) fn describe_takeover(&self) -> String {
        format!("is taken over from {}", self.manager)
    }

    /// Reads what [`fmt::Display`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (operation, manager) = text.split_once(':')?;
        let applies = match operation {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        Some(Self { manager: unescape(manager)?, applies })
    }
}

impl fmt::Display for Predecessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.operation(), escape(&self.manager))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Predecessor, Predecessors};
    use crate::apply::decide::ownership::Adoption;
    use crate::object::path::PathStep::Key;

    fn object(entries: &Value) -> Value {
        json!({"metadata": {"managedFields": entries}, "spec": {"a": 1, "b": 2}})
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
    fn a_predecessor_is_read_as_it_is_written() {
        for (manager, applies, text) in [
            ("cluster-version-operator", true, "Apply:cluster-version-operator"),
            ("some tool, 1", false, "Update:some%20tool%2C%201"),
        ] {
            let predecessor = Predecessor { manager: manager.to_owned(), applies };
            assert_eq!(predecessor.to_string(), text);
            assert_eq!(Predecessor::parse(text), Some(predecessor));
        }
        for text in ["", "Apply", "Apply:", "Patch:cvo", "Update:a b"] {
            assert_eq!(Predecessor::parse(text), None, "{text}");
        }
    }
}
