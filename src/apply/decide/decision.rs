//! Decides what to do with an object, from its desired and live state. `apply`, its dry run and `diff --live` all use
//! this decision, so they agree.

use std::borrow::Cow;

use serde_json::Value;

use crate::apply::decide::desired::{Desired, without_apply_set_label};
use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{
    Adoption, ApplySets, OnConflict, Ownership, apply_set_of, reason_not_to_delete,
};
use crate::apply::decide::predecessors::Predecessors;
use crate::apply::decide::rollout::Action;
use crate::apply::decide::{digest, managed_fields};
use crate::object::ObjectId;

/// The action that an object needs.
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

    /// Returns the reason for the decision, for logs.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Skip => "it is as desired",
            Self::Create => "it does not exist",
            Self::Apply { ownership: Ownership::NotOurs, .. } => "it differs, and it existed before",
            Self::Apply { .. } => "it is new, it differs, or it is taken over",
            Self::Delete => "it has a tombstone",
        }
    }
}

/// The state of the cluster that decisions depend on.
pub(crate) struct DecisionContext<'c> {
    /// The inventory as it was at the start.
    pub(crate) inventory: &'c Inventory,
    /// The cluster's `ApplySet`.
    pub(crate) apply_sets: &'c ApplySets,
    /// The managers whose fields transship takes over.
    pub(crate) predecessors: Predecessors<'c>,
}

/// The object to decide about, the action of its step and its desired state.
pub(crate) struct DecisionInput<'d> {
    pub(crate) id: &'d ObjectId,
    pub(crate) action: Action,
    pub(crate) desired: &'d Desired,
}

impl DecisionInput<'_> {
    /// Returns the digest of the fields that transship enforces. For an object that transship only creates, these are
    /// the pinned fields.
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
        input: &DecisionInput<'d>,
        live: Option<&Value>,
    ) -> Result<Decision<'d>, ObjectError> {
        if let IssueState::Impossible(reason) = &input.desired.issue
            && input.action != Action::Delete
        {
            return Err(ObjectError::NotIssued { reason: reason.clone() });
        }
        let Some(live) = live else { return Ok(self.decide_missing(input)) };
        match input.action {
            Action::Delete => self.decide_tombstone(input, live),
            Action::Create | Action::Apply if self.is_up_to_date(input, live) => Ok(Decision::Skip),
            Action::Create => self.decide_pinned(input, live),
            Action::Apply => self.decide_existing(input, live),
        }
    }

    fn decide_missing<'d>(&self, input: &DecisionInput<'d>) -> Decision<'d> {
        match input.action {
            Action::Delete => Decision::Skip,
            Action::Create => Decision::Create,
            Action::Apply => {
                // The object may exist nevertheless: transship does not read an object that is probably new.
                let on_conflict = match self.predecessors.adoption {
                    Adoption::On => OnConflict::Force,
                    Adoption::Off => OnConflict::Fail,
                };
                let fields = Cow::Borrowed(&input.desired.applied);
                Decision::Apply { fields, on_conflict, ownership: Ownership::Ours }
            }
        }
    }

    /// Decides about an object with a tombstone. An object of others is deleted only with `--adopt`.
    fn decide_tombstone<'d>(
        &self,
        input: &DecisionInput<'d>,
        live: &Value,
    ) -> Result<Decision<'d>, ObjectError> {
        self.check_apply_set(live)?;
        match reason_not_to_delete(self.inventory.find(input.id), live, self.apply_sets) {
            Some(reason) if self.predecessors.adoption == Adoption::Off => {
                Err(ObjectError::tombstone(reason, live))
            }
            _ => Ok(Decision::Delete),
        }
    }

    /// Decides about an object that transship otherwise only creates. Its pinned fields are enforced even if someone else
    /// created it, unless it belongs to another `ApplySet`.
    fn decide_pinned<'d>(
        &self,
        input: &DecisionInput<'d>,
        live: &Value,
    ) -> Result<Decision<'d>, ObjectError> {
        let Some(pinned) = &input.desired.pinned else { return Ok(Decision::Skip) };
        self.check_apply_set(live)?;
        Ok(Decision::Apply {
            fields: Cow::Borrowed(pinned),
            on_conflict: OnConflict::Force,
            ownership: Ownership::Ours,
        })
    }

    fn decide_existing<'d>(
        &self,
        input: &DecisionInput<'d>,
        live: &Value,
    ) -> Result<Decision<'d>, ObjectError> {
        let entry = self.inventory.find(input.id);
        self.check_apply_set(live)?;
        let ours = self.is_ours(live, entry);
        let adopts = self.predecessors.adoption == Adoption::On;
        let found = entry.is_some_and(|entry| entry.found);
        let succeeds = self.predecessors.of(live).is_some() && (!ours || found);
        // Of an object that transship succeeds, it takes over the fields of its predecessors, not those of third parties.
        let is_forced = adopts || ours && !succeeds;
        let on_conflict = if is_forced { OnConflict::Force } else { OnConflict::Fail };
        let applied = &input.desired.applied;
        if !adopts && !succeeds && (!ours || found) {
            let fields = Cow::Owned(without_apply_set_label(applied));
            return Ok(Decision::Apply { fields, on_conflict, ownership: Ownership::NotOurs });
        }
        Ok(Decision::Apply { fields: Cow::Borrowed(applied), on_conflict, ownership: Ownership::Ours })
    }

    /// Returns whether there is nothing to write. An object is not up to date while predecessors own some of its fields.
    fn is_up_to_date(&self, input: &DecisionInput<'_>, live: &Value) -> bool {
        let Some(entry) = self.inventory.find(input.id) else { return false };
        let is_found = entry.found && self.predecessors.adoption == Adoption::On;
        let adopts = input.action == Action::Apply && (is_found || self.predecessors.own_fields_of(live));
        let is_complete = input.desired.issue.is_in(&input.desired.applied, live);
        is_complete && !adopts && is_as_applied(entry, live, &input.desired_digest())
    }

    /// Fails if an object belongs to another `ApplySet`.
    fn check_apply_set(&self, live: &Value) -> Result<(), ObjectError> {
        match apply_set_of(live) {
            Some(other) if !self.apply_sets.has(other) => Err(ObjectError::OtherApplySet(other.to_owned())),
            _ => Ok(()),
        }
    }

    /// Returns whether transship created or adopted an object. If the inventory is lost, decides by the label and the
    /// managed fields.
    fn is_ours(&self, live: &Value, entry: Option<&InventoryEntry>) -> bool {
        let same_object =
            entry.is_some_and(|entry| !entry.uid.is_empty() && live["metadata"]["uid"] == *entry.uid);
        let in_our_set = self.apply_sets.contain(live);
        let applied_by_us = managed_fields::ours(live).is_some() || managed_fields::has_unsplit_seeds(live);
        same_object || in_our_set && applied_by_us
    }
}

/// Returns whether transship applied this very object with the same desired state, and no other client changed or took
/// over transship's fields since.
fn is_as_applied(entry: &InventoryEntry, live: &Value, desired: &str) -> bool {
    entry.desired_digest == desired
        && live["metadata"]["uid"] == *entry.uid
        && live["metadata"].get("deletionTimestamp").is_none()
        && managed_fields::digest(live).is_some_and(|digest| digest == entry.live_digest)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::{Decision, DecisionContext, DecisionInput};
    use crate::apply::decide::desired::Desired;
    use crate::apply::decide::digest;
    use crate::apply::decide::inventory::{Inventory, InventoryEntry, PART_OF};
    use crate::apply::decide::issue_state::IssueState;
    use crate::apply::decide::managed_fields::{self, MANAGER};
    use crate::apply::decide::ownership::{Adoption, ApplySets, OnConflict, Ownership};
    use crate::apply::decide::predecessors::Predecessors;
    use crate::apply::decide::rollout::Action;
    use crate::credentials::due::Due;
    use crate::object::ObjectId;

    const SET: &str = "applyset-ours-v1";

    fn sets() -> ApplySets {
        ApplySets { current: SET.to_owned(), previous: Vec::new() }
    }

    fn id() -> ObjectId {
        let [group, kind, namespace, name] = ["", "ConfigMap", "ns", "settings"].map(str::to_owned);
        ObjectId { group, kind, namespace, name }
    }

    fn desired() -> Desired {
        let applied = json!({"metadata": {"labels": {PART_OF: SET}}, "data": {"mode": "one"}});
        Desired {
            applied,
            seed: None,
            initial_status: None,
            pinned: None,
            issue: IssueState::Complete,
            digest: "d".to_owned(),
        }
    }

    /// A live object with the label of an `ApplySet` and one manager of `data.mode`.
    fn live(set: &str, manager: &str, operation: &str) -> Value {
        json!({
            "metadata": {"uid": "u", "labels": {PART_OF: set}, "managedFields": [
                {"manager": manager, "operation": operation, "fieldsV1": {"f:data": {"f:mode": {}}}},
            ]},
            "data": {"mode": "one"},
        })
    }

    fn foreign() -> Value {
        live_of("kubectl-client-side-apply")
    }

    /// An object that another manager created.
    fn live_of(manager: &str) -> Value {
        let mut live = live("", manager, "Update");
        live["metadata"]["labels"] = json!({});
        live
    }

    /// The entry that an apply of `live` left.
    fn entry(live: &Value) -> InventoryEntry {
        InventoryEntry {
            uid: "u".to_owned(),
            desired_digest: "d".to_owned(),
            live_digest: managed_fields::digest(live).unwrap_or_default(),
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
        let predecessors = Predecessors::of_adoption(adoption);
        let context = DecisionContext { inventory: &inventory, apply_sets: &sets(), predecessors };
        match context.decide(&DecisionInput { id: &id, action, desired: &desired }, live) {
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
    fn an_issued_object_with_new_values_is_applied_and_one_without_fails() {
        let decide = |live: &Value, entry: Option<InventoryEntry>, issue: IssueState, action| {
            let desired = Desired { issue, ..desired() };
            let inventory = Inventory { entries: entry.into_iter().collect(), ..Inventory::default() };
            let context = DecisionContext {
                inventory: &inventory,
                apply_sets: &sets(),
                predecessors: Predecessors::default(),
            };
            match context.decide(&DecisionInput { id: &id(), action, desired: &desired }, Some(live)) {
                Ok(decision) => decision.name().to_owned(),
                Err(error) => format!("{error} {:?}", error.class()),
            }
        };
        let ours = live(SET, MANAGER, "Apply");
        let applied = Some(entry(&ours));
        assert_eq!(decide(&ours, applied.clone(), IssueState::Complete, Action::Apply), "skip");
        assert_eq!(decide(&ours, applied.clone(), IssueState::Issued, Action::Apply), "skip");
        let mut other = ours.clone();
        other["data"]["mode"] = json!("another value");
        let of_other = Some(entry(&other));
        assert_eq!(decide(&other, of_other, IssueState::Issued, Action::Apply), "apply");
        assert_eq!(decide(&ours, applied.clone(), IssueState::Due(Due::Renewal), Action::Apply), "apply");
        let impossible = || IssueState::Impossible("no signer".to_owned());
        let error = "its values cannot be issued: no signer Transient";
        assert_eq!(decide(&ours, applied.clone(), impossible(), Action::Apply), error);
        assert_eq!(decide(&ours, applied, impossible(), Action::Delete), "delete");
    }

    #[test]
    fn our_object_is_skipped_until_a_field_changes() {
        let mut ours = live(SET, MANAGER, "Apply");
        let applied = Some(entry(&ours));
        assert_eq!(decide(Action::Apply, Some(&ours), applied.clone(), Adoption::Off), "skip");
        ours["data"]["other"] = json!("theirs");
        assert_eq!(decide(Action::Apply, Some(&ours), applied.clone(), Adoption::Off), "skip");
        ours["data"]["mode"] = json!("theirs");
        assert_eq!(decide(Action::Apply, Some(&ours), applied, Adoption::Off), "Force Ours");
        assert_eq!(decide(Action::Apply, Some(&ours), None, Adoption::Off), "Force Ours", "a lost inventory");
    }

    #[test]
    fn an_object_of_others_stays_theirs_without_adoption() {
        let foreign = foreign();
        assert_eq!(decide(Action::Apply, Some(&foreign), None, Adoption::Off), "Fail NotOurs");
        assert_eq!(decide(Action::Apply, Some(&foreign), None, Adoption::On), "Force Ours");
        assert_eq!(decide(Action::Create, Some(&foreign), None, Adoption::Off), "skip");
        let found = InventoryEntry { found: true, ..entry(&foreign) };
        assert_eq!(
            decide(Action::Apply, Some(&foreign), Some(found.clone()), Adoption::Off),
            "Force NotOurs"
        );
        assert_eq!(decide(Action::Apply, Some(&foreign), Some(found), Adoption::On), "Force Ours");
    }

    #[test]
    fn an_object_of_a_manager_that_transship_succeeds_becomes_ours_and_third_parties_keep_their_fields() {
        let named = ["cluster-version-operator".to_owned()];
        let predecessors = Predecessors { named: &named, adoption: Adoption::Off };
        let decide = |live: &Value, entry: Option<InventoryEntry>, action| {
            let (id, desired) = (id(), desired());
            let inventory = Inventory { entries: entry.into_iter().collect(), ..Inventory::default() };
            let context = DecisionContext { inventory: &inventory, apply_sets: &sets(), predecessors };
            match context.decide(&DecisionInput { id: &id, action, desired: &desired }, Some(live)).unwrap() {
                Decision::Apply { on_conflict, ownership, .. } => format!("{on_conflict:?} {ownership:?}"),
                decision => decision.name().to_owned(),
            }
        };
        let theirs = live_of("cluster-version-operator");
        assert_eq!(decide(&theirs, None, Action::Apply), "Fail Ours");
        assert_eq!(
            decide(&theirs, None, Action::Create),
            "skip",
            "an object that is only created stays theirs"
        );
        assert_eq!(decide(&live_of("another-operator"), None, Action::Apply), "Fail NotOurs");
        let found = InventoryEntry { found: true, ..entry(&theirs) };
        assert_eq!(decide(&theirs, Some(found), Action::Apply), "Fail Ours");
        // The predecessor wrote the object again.
        let mut shared = live(SET, MANAGER, "Apply");
        let again =
            json!({"manager": "cluster-version-operator", "operation": "Update", "fieldsV1": {"f:data": {}}});
        shared["metadata"]["managedFields"].as_array_mut().unwrap().push(again);
        assert_eq!(decide(&shared, Some(entry(&shared)), Action::Apply), "Force Ours");
    }

    #[test]
    fn an_object_of_another_set_is_never_changed() {
        let other = live("applyset-other-v1", MANAGER, "Apply");
        for adoption in [Adoption::Off, Adoption::On] {
            let error = decide(Action::Apply, Some(&other), None, adoption);
            assert!(error.contains("another ApplySet, applyset-other-v1"), "{error}");
        }
    }

    #[test]
    fn a_tombstone_deletes_an_object_of_others_only_with_adoption() {
        let ours = live(SET, MANAGER, "Apply");
        let applied = Some(entry(&ours));
        assert_eq!(decide(Action::Delete, Some(&ours), applied, Adoption::Off), "delete");
        let error = "it has a tombstone, but it is not in the inventory, so transship does not delete it; its field \
                     managers are kubectl-client-side-apply; --adopt deletes it";
        assert_eq!(decide(Action::Delete, Some(&foreign()), None, Adoption::Off), error);
        assert_eq!(decide(Action::Delete, Some(&foreign()), None, Adoption::On), "delete");
        let other = live("applyset-other-v1", MANAGER, "Apply");
        for adoption in [Adoption::Off, Adoption::On] {
            let error = decide(Action::Delete, Some(&other), None, adoption);
            assert!(error.contains("another ApplySet, applyset-other-v1"), "{error}");
        }
    }

    #[test]
    fn logs_tell_the_decision_and_its_reason() {
        let apply = |ownership| Decision::Apply {
            fields: Cow::Owned(json!({})),
            on_conflict: OnConflict::Fail,
            ownership,
        };
        for (decision, name, reason) in [
            (Decision::Skip, "skip", "it is as desired"),
            (Decision::Create, "create", "it does not exist"),
            (apply(Ownership::Ours), "apply", "it is new, it differs, or it is taken over"),
            (apply(Ownership::NotOurs), "apply", "it differs, and it existed before"),
            (Decision::Delete, "delete", "it has a tombstone"),
        ] {
            assert_eq!((decision.name(), decision.reason()), (name, reason));
        }
    }

    #[test]
    fn pinned_fields_of_an_object_that_is_only_created_are_enforced_until_they_match() {
        let pinned = json!({"data": {"mode": "one"}});
        let desired = Desired { pinned: Some(pinned.clone()), ..desired() };
        let live = live(SET, MANAGER, "Apply");
        let decide = |entry: InventoryEntry, adoption| {
            let inventory = Inventory { entries: vec![entry].into(), ..Inventory::default() };
            let predecessors = Predecessors::of_adoption(adoption);
            let context = DecisionContext { inventory: &inventory, apply_sets: &sets(), predecessors };
            let input = DecisionInput { id: &id(), action: Action::Create, desired: &desired };
            match context.decide(&input, Some(&live)).unwrap() {
                Decision::Apply { fields, on_conflict, ownership } => {
                    assert_eq!(*fields, pinned);
                    format!("{on_conflict:?} {ownership:?}")
                }
                decision => decision.name().to_owned(),
            }
        };
        let up_to_date =
            InventoryEntry { desired_digest: digest::of_value(&pinned), found: true, ..entry(&live) };
        assert_eq!(decide(up_to_date.clone(), Adoption::Off), "skip");
        assert_eq!(decide(up_to_date, Adoption::On), "skip", "it is not adopted");
        let of_whole_object = entry(&live);
        assert_eq!(decide(of_whole_object, Adoption::Off), "Force Ours");
    }

    #[test]
    fn an_object_is_not_up_to_date_if_it_was_replaced_or_is_being_deleted() {
        let ours = live(SET, MANAGER, "Apply");
        let skips = |live: &Value, entry: InventoryEntry| {
            decide(Action::Apply, Some(live), Some(entry), Adoption::Off) == "skip"
        };
        assert!(skips(&ours, entry(&ours)));
        assert!(!skips(&ours, InventoryEntry { desired_digest: "other".to_owned(), ..entry(&ours) }));
        let mut replaced = ours.clone();
        replaced["metadata"]["uid"] = json!("another");
        assert!(!skips(&replaced, entry(&ours)));
        let mut deleted = ours.clone();
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert!(!skips(&deleted, entry(&ours)));
    }

    #[test]
    fn adoption_is_due_until_it_has_happened() {
        let ours = live(SET, MANAGER, "Apply");
        let applied = entry(&ours);
        let found = InventoryEntry { found: true, ..entry(&ours) };
        let mut shared = ours.clone();
        let previous = json!({"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:data": {}}});
        shared["metadata"]["managedFields"].as_array_mut().unwrap().push(previous);
        for (live, entry, without, with) in [
            (&ours, &applied, "skip", "skip"),
            (&ours, &found, "skip", "Force Ours"),
            (&shared, &applied, "skip", "Force Ours"),
        ] {
            assert_eq!(decide(Action::Apply, Some(live), Some(entry.clone()), Adoption::Off), without);
            assert_eq!(decide(Action::Apply, Some(live), Some(entry.clone()), Adoption::On), with);
        }
    }

    #[test]
    fn a_label_alone_does_not_make_an_object_ours() {
        let labelled = live(SET, "kubectl-edit", "Update");
        assert_eq!(decide(Action::Apply, Some(&labelled), None, Adoption::Off), "Fail NotOurs");
        let mut unlabelled = live(SET, MANAGER, "Apply");
        unlabelled["metadata"]["labels"] = json!({});
        assert_eq!(decide(Action::Apply, Some(&unlabelled), None, Adoption::Off), "Fail NotOurs");
        let of_another = InventoryEntry { uid: "another".to_owned(), ..entry(&foreign()) };
        assert_eq!(decide(Action::Apply, Some(&foreign()), Some(of_another), Adoption::Off), "Fail NotOurs");
        let planned = InventoryEntry { uid: String::new(), ..entry(&foreign()) };
        assert_eq!(decide(Action::Apply, Some(&foreign()), Some(planned), Adoption::Off), "Fail NotOurs");
    }
}
