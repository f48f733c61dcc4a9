//! Capabilities that an update switches on by itself, so that nothing a cluster already runs is lost.

use std::collections::{BTreeSet, HashMap};

use super::include::{Unknown, capabilities, include_with};
use crate::language::Filters;
use crate::object::Annotations;
use crate::payload::{Manifest, Payload};

/// The capabilities that must be on after an update from `current` to `update`: an object that the cluster runs now,
/// and would lose because the update put it under a capability that is off, switches that capability on.
pub fn implicitly_enabled(update: &Payload, current: &Payload, filters: &Filters) -> BTreeSet<String> {
    let in_with = |manifest: &Manifest| include_with(manifest, filters, Unknown::Allowed).is_ok();
    let mut running: HashMap<_, Vec<&Manifest>> = HashMap::new();
    for manifest in current.manifests.iter().filter(|manifest| in_with(manifest)) {
        running.entry(&manifest.id).or_default().push(manifest);
    }
    let on = filters.capabilities.as_ref().map(|capabilities| &capabilities.enabled);
    let mut enabled = BTreeSet::new();
    for manifest in update.manifests.iter().filter(|manifest| !in_with(manifest)) {
        for now in running.get(&manifest.id).into_iter().flatten() {
            let before = of(now);
            let new = of(manifest).into_iter().filter(|name| !before.contains(name));
            enabled.extend(new.filter(|name| on.is_none_or(|on| !on.contains(*name))).map(str::to_owned));
        }
    }
    enabled
}

/// The filters after an update from `current`, and what it switched on.
pub fn for_update(filters: &Filters, update: &Payload, current: &Payload) -> (Filters, BTreeSet<String>) {
    let implied = implicitly_enabled(update, current, filters);
    let mut filters = filters.clone();
    let capabilities = filters.capabilities.get_or_insert_default();
    capabilities.enabled.extend(implied.iter().cloned());
    capabilities.known.extend(implied.iter().cloned());
    (filters, implied)
}

fn of(manifest: &Manifest) -> Vec<&str> {
    capabilities(&Annotations::of(&manifest.root))
}
