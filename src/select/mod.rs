//! Which manifests are in, and why the others are not.

mod capability;
mod decide;
mod include;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::Filters;
use crate::nearest::nearest;
use crate::payload::Payload;

pub use capability::{for_update, implicitly_enabled};
pub use decide::{Selected, Selection, select};
pub use include::{Code, Reason, include};

/// What became of a payload's manifests: for each one, in order, nothing if it is in, or the reason why it is out.
pub fn by(filters: &Filters, payload: &Payload) -> Vec<Option<Reason>> {
    payload.manifests.iter().map(|manifest| include(manifest, filters).err()).collect()
}

/// The filters that the cluster-version-operator applies when it loads a payload, and hashes what is left;
/// capabilities and overrides act only when it applies it.
#[must_use]
pub fn at_load(filters: &Filters) -> Filters {
    Filters { capabilities: None, overrides: Vec::new(), ..filters.clone() }
}

/// Checks that every filter can do something: a name that does not exist would otherwise silently do nothing.
pub fn check(filters: &Filters, payload: &Payload) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let known = include::FEATURE_SETS;
    if let Some(set) = filters.feature_set.as_deref().filter(|set| !set.is_empty() && !known.contains(set)) {
        let help = match nearest(set, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        errors.0.push(Diagnostic::error(format!("there is no feature set `{set}`")).help(help));
    }
    for entry in &filters.overrides {
        let hit = payload.manifests.iter().any(|manifest| include::overrides(entry, &manifest.id));
        if !hit {
            let names = payload.manifests.iter().map(|manifest| manifest.id.name.as_str());
            let error =
                Diagnostic::error(format!("the override `{entry}` is for no manifest of the payload"));
            errors.0.push(match nearest(&entry.name, names) {
                Some(near) if near != entry.name => error.help(format!("did you mean the name `{near}`?")),
                _ => error.help("check group, kind and namespace; the group of core kinds is empty"),
            });
        }
    }
    errors.or(())
}
