//! Decides for each manifest whether a profile includes it, and why not.

mod capability;
mod cvo_filters;
mod decide;
mod explain_exclusion;
mod left_out;
mod operators;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::Filters;
use crate::payload::Payload;

pub(crate) use capability::for_update;
pub use capability::implicitly_enabled;
pub use cvo_filters::{Exclusion, ExclusionFilter, include};
pub(crate) use decide::{Selected, Selection, select};
pub(crate) use explain_exclusion::would_match;
pub(crate) use left_out::variants_left_out;
pub(crate) use operators::operators;

/// Returns for each manifest of a payload the reason why the filters exclude it; `None` if they include it.
pub(crate) fn exclusions(filters: &Filters, payload: &Payload) -> Vec<Option<Exclusion>> {
    payload.manifests.iter().map(|manifest| include(manifest, filters).err()).collect()
}

/// Returns the filters that the cluster-version-operator applies when it loads and hashes a payload. Capabilities and
/// overrides take effect only when it applies the payload.
#[must_use]
pub(crate) fn filters_at_load(filters: &Filters) -> Filters {
    Filters { capabilities: None, overrides: Vec::new(), ..filters.clone() }
}

/// Reports filters without effect: an unknown feature set, or an override for no manifest.
pub(crate) fn check(filters: &Filters, payload: &Payload) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let known = cvo_filters::FEATURE_SETS;
    if let Some(set) = filters.feature_set.as_deref().filter(|set| !set.is_empty() && !known.contains(set)) {
        errors.0.push(
            Diagnostic::error(format!("there is no feature set `{set}`"))
                .help(format!("use one of {}", known.join(", ")))
                .suggest(set, known),
        );
    }
    for entry in &filters.overrides {
        if payload.manifests.iter().any(|manifest| entry.matches(&manifest.id)) {
            continue;
        }
        // A manifest with the same name differs in group, kind or namespace.
        let names = payload.manifests.iter().map(|manifest| manifest.id.name.as_str());
        let other_names = names.filter(|name| *name != entry.0.name);
        errors.0.push(
            Diagnostic::error(format!("the override `{entry}` matches no manifest of the payload"))
                .help("check group, kind and namespace; the group of core kinds is empty")
                .suggest(&entry.0.name, other_names),
        );
    }
    errors.into_result(())
}
