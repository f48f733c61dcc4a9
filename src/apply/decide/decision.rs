//! Decides what to do with an object, from its desired and live state. `apply`, its dry run and `diff --live` all use
//! this decision, so they agree.

use std::borrow::Cow;

use serde_json::Value;

use crate::apply::decide::desired::{Desired, without_set_label};
use crate::apply::decide::inventory::{Inventory, InventoryEntry, PART_OF};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{Adoption, OnConflict, Ownership};
use crate::apply::decide::rollout::Action;
use crate::apply::decide::{digest, managed_fields};
use crate::object::ObjectId;

/// What to do with an object.
pub(crate) enum Decision<'d> {
    /// Nothing: it is as desired.
    Skip,
    /// Create it; its fields belong to others afterwards.
    Create,
    /// Apply these fields.
    Apply { fields: Cow<'d, Value>, on_conflict: OnConflict, ownership: Ownership },
    /// Delete it.
    Delete,
}

impl Decision<'_> {
    /// Returns the name of the decision for logs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Create => "create",
            Self::Apply { .. } => "apply",
            Self::Delete => "delete",
        }
    }

    /// Returns why, for logs.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Skip => "it is as desired",
            Self::Create => "it does not exist",
            Self::Apply { ownership: Ownership::Found, .. } => "it differs, and it existed before",
            Self::Apply { .. } => "it is new, or it differs",
            Self::Delete => "it has a tombstone",
        }
    }
}

/// What a decision depends on besides the object.
pub(crate) struct DecisionContext<'c> {
    /// The inventory as it was at the start.
    pub(crate) inventory: &'c Inventory,
    /// The name of the `ApplySet`.
    pub(crate) set: &'c str,
    pub(crate) adoption: Adoption,
}

/// An object with what a step does to it and what it should become.
pub(crate) struct Subject<'d> {
    pub(crate) id: &'d ObjectId,
    pub(crate) action: Action,
    pub(crate) desired: &'d Desired,
}

impl Subject<'_> {
    /// Returns the digest of what transship wants the object to be.
    pub(crate) fn desired_digest(&self) -> String {
        match (self.action, &self.desired.pinned) {
            (Action::Create, Some(pinned)) => digest::of_value(pinned),
            _ => self.desired.digest.clone(),
        }
    }
}

impl DecisionContext<'_> {
    /// Decides what to do with an object. `live` is `None` if it does not exist.
    pub(crate) fn decide<'d>(
        &self,
        subject: &Subject<'d>,
        live: Option<&Value>,
    ) -> Result<Decision<'d>, ObjectError> {
        let Some(live) = live else { return Ok(self.decide_missing(subject)) };
        match subject.action {
            Action::Delete => Ok(Decision::Delete),
            Action::Create | Action::Apply if self.is_up_to_date(subject, live) => Ok(Decision::Skip),
            Action::Create => self.decide_pinned(subject, live),
            Action::Apply => self.decide_existing(subject, live),
        }
    }

    fn decide_missing<'d>(&self, subject: &Subject<'d>) -> Decision<'d> {
        match subject.action {
            Action::Delete => Decision::Skip,
            Action::Create => Decision::Create,
            Action::Apply => {
                let on_conflict = match self.adoption {
                    Adoption::On => OnConflict::Force,
                    Adoption::Off => OnConflict::Fail,
                };
                let fields = Cow::Borrowed(&subject.desired.applied);
                Decision::Apply { fields, on_conflict, ownership: Ownership::Ours }
            }
        }
    }

    /// Pinned fields are enforced on every object that does not belong to another `ApplySet`.
    fn decide_pinned<'d>(&self, subject: &Subject<'d>, live: &Value) -> Result<Decision<'d>, ObjectError> {
        let Some(pinned) = &subject.desired.pinned else { return Ok(Decision::Skip) };
        self.is_ours(live, self.inventory.find(subject.id))?;
        Ok(Decision::Apply {
            fields: Cow::Borrowed(pinned),
            on_conflict: OnConflict::Force,
            ownership: Ownership::Ours,
        })
    }

    fn decide_existing<'d>(&self, subject: &Subject<'d>, live: &Value) -> Result<Decision<'d>, ObjectError> {
        let entry = self.inventory.find(subject.id);
        let ours = self.is_ours(live, entry)?;
        let adopts = self.adoption == Adoption::On;
        let on_conflict = if ours || adopts { OnConflict::Force } else { OnConflict::Fail };
        let applied = &subject.desired.applied;
        if !adopts && (!ours || entry.is_some_and(|entry| entry.found)) {
            let fields = Cow::Owned(without_set_label(applied));
            return Ok(Decision::Apply { fields, on_conflict, ownership: Ownership::Found });
        }
        Ok(Decision::Apply { fields: Cow::Borrowed(applied), on_conflict, ownership: Ownership::Ours })
    }

    /// Returns whether there is nothing to do. With `--adopt`, an object that still has something of its previous
    /// managers is not up to date.
    fn is_up_to_date(&self, subject: &Subject<'_>, live: &Value) -> bool {
        let Some(entry) = self.inventory.find(subject.id) else { return false };
        let adopts = self.adoption == Adoption::On
            && subject.action == Action::Apply
            && (entry.found || managed_fields::adoption_patch(live).is_some());
        !adopts && is_as_applied(entry, live, &subject.desired_digest())
    }

    /// Returns whether transship created or adopted an object. Fails if it belongs to another `ApplySet`.
    fn is_ours(&self, live: &Value, entry: Option<&InventoryEntry>) -> Result<bool, ObjectError> {
        let set = set_label(live);
        let in_our_set = set == Some(self.set);
        if let Some(set) = set
            && !in_our_set
        {
            return Err(ObjectError::OtherSet(set.to_owned()));
        }
        let same_object =
            entry.is_some_and(|entry| !entry.uid.is_empty() && live["metadata"]["uid"] == *entry.uid);
        let written_by_us = managed_fields::ours(live).is_some() || managed_fields::has_unsplit_seeds(live);
        Ok(same_object || in_our_set && written_by_us)
    }
}

/// Returns the `ApplySet` whose label an object carries.
pub(crate) fn set_label(live: &Value) -> Option<&str> {
    live["metadata"]["labels"][PART_OF].as_str()
}

/// Returns whether an object is the one that transship applied, with the same desired state, and whether its fields
/// are unchanged since.
fn is_as_applied(entry: &InventoryEntry, live: &Value, desired: &str) -> bool {
    entry.desired == desired
        && live["metadata"]["uid"] == *entry.uid
        && live["metadata"].get("deletionTimestamp").is_none()
        && managed_fields::digest(live).is_some_and(|digest| digest == entry.live)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Decision, DecisionContext, Subject};
    use crate::apply::decide::desired::Desired;
    use crate::apply::decide::inventory::{Inventory, InventoryEntry, PART_OF};
    use crate::apply::decide::managed_fields::{self, MANAGER};
    use crate::apply::decide::ownership::Adoption;
    use crate::apply::decide::rollout::Action;
    use crate::object::ObjectId;

    const SET: &str = "applyset-ours-v1";

    fn id() -> ObjectId {
        let [group, kind, namespace, name] = ["", "ConfigMap", "ns", "settings"].map(str::to_owned);
        ObjectId { group, kind, namespace, name }
    }

    fn desired() -> Desired {
        let applied = json!({"metadata": {"labels": {PART_OF: SET}}, "data": {"mode": "one"}});
        Desired { applied, seed: None, initial_status: None, pinned: None, digest: "d".to_owned() }
    }

    /// A live object with a set label and one manager of `data.mode`.
    fn live(set: &str, manager: &str, operation: &str) -> Value {
        json!({
            "metadata": {"uid": "u", "labels": {PART_OF: set}, "managedFields": [
                {"manager": manager, "operation": operation, "fieldsV1": {"f:data": {"f:mode": {}}}},
            ]},
            "data": {"mode": "one"},
        })
    }

    fn foreign() -> Value {
        let mut live = live("", "kubectl-client-side-apply", "Update");
        live["metadata"]["labels"] = json!({});
        live
    }

    /// The entry that an apply of `live` left.
    fn entry(live: &Value) -> InventoryEntry {
        InventoryEntry {
            uid: "u".to_owned(),
            desired: "d".to_owned(),
            live: managed_fields::digest(live).unwrap_or_default(),
            ..InventoryEntry::planned(&id(), "v1")
        }
    }

    /// Describes the decision, or the error.
    fn decide(
        action: Action,
        live: Option<&Value>,
        entry: Option<InventoryEntry>,
        adoption: Adoption,
    ) -> String {
        let (id, desired) = (id(), desired());
        let inventory = Inventory { entries: entry.into_iter().collect(), ..Inventory::default() };
        let context = DecisionContext { inventory: &inventory, set: SET, adoption };
        match context.decide(&Subject { id: &id, action, desired: &desired }, live) {
            Ok(Decision::Apply { on_conflict, ownership, .. }) => format!("{on_conflict:?} {ownership:?}"),
            Ok(decision) => decision.name().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_missing_object_is_applied_or_created() {
        assert_eq!(decide(Action::Apply, None, None, Adoption::Off), "Fail Ours");
        assert_eq!(decide(Action::Apply, None, None, Adoption::On), "Force Ours");
        assert_eq!(decide(Action::Create, None, None, Adoption::Off), "create");
        assert_eq!(decide(Action::Delete, None, None, Adoption::Off), "skip");
    }

    #[test]
    fn our_object_is_skipped_until_a_field_changes() {
        let mut ours = live(SET, MANAGER, "Apply");
        let applied = Some(entry(&ours));
        assert_eq!(decide(Action::Apply, Some(&ours), applied.clone(), Adoption::Off), "skip");
        assert_eq!(decide(Action::Delete, Some(&ours), applied.clone(), Adoption::Off), "delete");
        ours["data"]["other"] = json!("theirs");
        assert_eq!(decide(Action::Apply, Some(&ours), applied.clone(), Adoption::Off), "skip");
        ours["data"]["mode"] = json!("theirs");
        assert_eq!(decide(Action::Apply, Some(&ours), applied, Adoption::Off), "Force Ours");
        assert_eq!(decide(Action::Apply, Some(&ours), None, Adoption::Off), "Force Ours", "a lost inventory");
    }

    #[test]
    fn an_object_of_others_stays_theirs_without_adoption() {
        let foreign = foreign();
        assert_eq!(decide(Action::Apply, Some(&foreign), None, Adoption::Off), "Fail Found");
        assert_eq!(decide(Action::Apply, Some(&foreign), None, Adoption::On), "Force Ours");
        assert_eq!(decide(Action::Create, Some(&foreign), None, Adoption::Off), "skip");
        let found = InventoryEntry { found: true, ..entry(&foreign) };
        assert_eq!(decide(Action::Apply, Some(&foreign), Some(found.clone()), Adoption::Off), "Force Found");
        assert_eq!(decide(Action::Apply, Some(&foreign), Some(found), Adoption::On), "Force Ours");
    }

    #[test]
    fn an_object_of_another_set_is_never_changed() {
        let other = live("applyset-other-v1", MANAGER, "Apply");
        for adoption in [Adoption::Off, Adoption::On] {
            let error = decide(Action::Apply, Some(&other), None, adoption);
            assert!(error.contains("another ApplySet, applyset-other-v1"), "{error}");
        }
    }
}
