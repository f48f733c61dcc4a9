//! Pins: fields that a profile enforces on an object.

use super::patch;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::View;
use crate::object::{Cause, Object};

/// Sets the pinned fields of a profile. A pin for an object that the payload does not have is an error. A pin for an
/// object that this profile does not render, because it excludes the manifest or another cluster has it, has no effect.
pub(super) fn apply(objects: &mut [Object], view: &View<'_>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for (selector, fields) in &view.profile.pins.0 {
        if let Some(object) = objects.iter_mut().find(|object| selector.value.matches(&object.id)) {
            patch::merge(&mut object.root, fields);
            object.history.record(&object.root, || Cause::Pin(selector.mark));
        } else if !view.payload.manifests.iter().any(|manifest| selector.value.matches(&manifest.id)) {
            let known: Vec<String> = objects.iter().map(|object| object.id.kind_and_name()).collect();
            errors.0.push(
                Diagnostic::error(format!("there is no object `{}` to pin fields of", selector.value))
                    .at(Location::of(selector.mark, view.context.sources))
                    .help("remove the pin")
                    .suggest(&selector.value.to_string(), known.iter().map(String::as_str)),
            );
        }
    }
    errors.into_result(())
}
