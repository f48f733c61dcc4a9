//! The effects of the patches of pages in the clusters of a topology. A patch must match an object and change it in at least one
//! of them: an object that lives in one cluster is not in the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{Marked, PatchEntry};
use crate::yaml::{Mark, Sources};

/// The effects of one entry of `patches` in one profile.
pub(super) struct PatchUse {
    /// The component of the page.
    pub(super) component: String,
    /// The entry.
    pub(super) entry: Marked<PatchEntry>,
    /// The profile.
    pub(super) profile: String,
    /// The effect of each patch of the entry, by its position. `None` if one of them was not applied because of an error.
    pub(super) effects: Option<BTreeMap<Mark, PatchEffect>>,
}

/// The effect of one patch.
#[derive(Default)]
pub(super) struct PatchEffect {
    /// Whether it matches an object.
    pub(super) matches: bool,
    /// Whether it changed or deleted an object.
    pub(super) changes: bool,
    /// An object with a similar name, if it matches none.
    pub(super) near: Option<String>,
    /// The list items that it created, as `list/name`.
    pub(super) created: BTreeSet<String>,
}

/// The effects of all patches in several profiles of one topology.
#[derive(Default)]
pub(super) struct PatchUses(BTreeMap<Mark, EntryUses>);

/// The effects of one entry of `patches` in several profiles.
struct EntryUses {
    component: String,
    entry: PatchEntry,
    profiles: Vec<String>,
    effects: BTreeMap<Mark, PatchEffect>,
    /// Whether an error in a profile hides what the entry would do there.
    is_undecided: bool,
}

impl PatchUses {
    /// Adds what an entry did in another profile.
    pub(super) fn add(&mut self, found: PatchUse) {
        let PatchUse { component, entry, profile, effects } = found;
        let uses = self.0.entry(entry.mark).or_insert_with(|| EntryUses {
            component,
            entry: entry.value,
            profiles: Vec::new(),
            effects: BTreeMap::new(),
            is_undecided: false,
        });
        uses.profiles.push(profile);
        uses.is_undecided |= effects.is_none();
        for (mark, effect) in effects.into_iter().flatten() {
            uses.effects.entry(mark).or_default().add(effect);
        }
    }

    /// Returns an error for each patch that matches no object, changes nothing, or does not create an item that it
    /// declares.
    pub(super) fn errors(&self, sources: &Sources) -> Diagnostics {
        let mut errors = Diagnostics::default();
        for (mark, uses) in self.0.iter().filter(|(_, uses)| !uses.is_undecided) {
            let location = Location::of(*mark, sources);
            for effect in uses.effects.values().filter(|_| !uses.entry.optional) {
                let error = uses.without_effect(effect);
                errors.0.extend(error.map(|error| error.at(location.clone())));
            }
            errors.0.extend(uses.not_created(sources));
        }
        errors
    }
}

impl PatchEffect {
    fn add(&mut self, other: Self) {
        self.matches |= other.matches;
        self.changes |= other.changes;
        self.near = self.near.take().or(other.near);
        self.created.extend(other.created);
    }
}

impl EntryUses {
    /// Returns the error for a patch that does nothing.
    fn without_effect(&self, effect: &PatchEffect) -> Option<Diagnostic> {
        let profiles = in_profiles(&self.profiles);
        if !effect.matches {
            let message = format!("the patch matches no object of `{}` {profiles}", self.component);
            let help = match &effect.near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "check its target, or write `optional: true` if it may match nothing".to_owned(),
            };
            return Some(Diagnostic::error(message).help(help));
        }
        if effect.changes {
            return None;
        }
        let error = Diagnostic::error(format!("the patch changes nothing {profiles}"));
        Some(
            error
                .note("the object already has these values")
                .help("remove it, or write `optional: true` if it may have no effect"),
        )
    }

    /// Returns an error for each item under `creates` that no patch of the entry creates.
    fn not_created(&self, sources: &Sources) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        if !self.effects.values().any(|effect| effect.matches) {
            return errors;
        }
        let created: BTreeSet<&str> =
            self.effects.values().flat_map(|effect| &effect.created).map(String::as_str).collect();
        for item in self.entry.creates.iter().filter(|item| !created.contains(item.value.0.as_str())) {
            let message =
                format!("the patch does not create `{}` {}", item.value.0, in_profiles(&self.profiles));
            let error = Diagnostic::error(message)
                .at(Location::of(item.mark, sources))
                .note("the object already has the item, or the patch does not have it")
                .help("remove it from `creates`")
                .suggest(&item.value.0, created.iter().copied());
            errors.push(error);
        }
        errors
    }
}

/// Returns the names of profiles for a message.
fn in_profiles(profiles: &[String]) -> String {
    match profiles {
        [only] => format!("in the profile `{only}`"),
        [first @ .., last] => format!("in the profiles `{}` and `{last}`", first.join("`, `")),
        [] => String::new(),
    }
}
