//! Capabilities that an update enables implicitly, so that the cluster keeps everything that it runs.

use std::collections::{BTreeSet, HashMap};

use super::cvo_filters::{UnknownCapability, capabilities, include_with};
use crate::language::Filters;
use crate::object::Annotations;
use crate::payload::{Manifest, Payload};

/// Returns the capabilities that an update from `current` to `update` enables. An update enables a capability if it moves
/// an object under it that the cluster already runs.
pub fn implicitly_enabled(update: &Payload, current: &Payload, filters: &Filters) -> BTreeSet<String> {
    let is_included =
        |manifest: &Manifest| include_with(manifest, filters, UnknownCapability::Allowed).is_ok();
    let mut running: HashMap<_, Vec<&Manifest>> = HashMap::new();
    for manifest in current.manifests.iter().filter(|manifest| is_included(manifest)) {
        running.entry(&manifest.id).or_default().push(manifest);
    }
    let already_enabled = filters.capabilities.as_ref().map(|capabilities| &capabilities.enabled);
    let mut enabled = BTreeSet::new();
    for manifest in update.manifests.iter().filter(|manifest| !is_included(manifest)) {
        for current in running.get(&manifest.id).into_iter().flatten() {
            let current_capabilities = capabilities_of(current);
            for name in capabilities_of(manifest) {
                let is_enabled = already_enabled.is_some_and(|enabled| enabled.contains(name));
                if !is_enabled && !current_capabilities.contains(&name) {
                    enabled.insert(name.to_owned());
                }
            }
        }
    }
    enabled
}

/// Returns the filters after an update from `current`, and the capabilities that it enables.
pub(crate) fn for_update(
    filters: &Filters,
    update: &Payload,
    current: &Payload,
) -> (Filters, BTreeSet<String>) {
    let implied = implicitly_enabled(update, current, filters);
    let mut filters = filters.clone();
    let capabilities = filters.capabilities.get_or_insert_default();
    capabilities.enabled.extend(implied.iter().cloned());
    capabilities.known.extend(implied.iter().cloned());
    (filters, implied)
}

fn capabilities_of(manifest: &Manifest) -> Vec<&str> {
    capabilities(&Annotations::of(&manifest.root))
}
