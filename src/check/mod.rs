//! What must hold for the objects of a cluster before anything is done with them.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::Object;
use crate::yaml::Sources;

/// Checks that no two objects are the same one. Two files may hold variants of one object as long as only one of them
/// is selected, so this can only be told now.
pub fn unique(objects: &[Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut first = HashMap::with_capacity(objects.len());
    for object in objects {
        let Some(other) = first.insert(&object.id, object) else { continue };
        errors.0.push(
            Diagnostic::error("two manifests for one object")
                .at(Location::of(object.root.mark, sources))
                .object(&object.id)
                .note(format!("the other is at {}", sources.show(other.root.mark)))
                .note("whichever is applied last would win, and every pass would change the object back and forth")
                .help("leave one out with CVO's annotations, a capability or a feature set"),
        );
    }
    errors.or(())
}
