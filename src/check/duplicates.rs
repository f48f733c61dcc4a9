//! Several manifests for the same object.

use std::collections::HashMap;

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::Object;
use crate::yaml::Sources;

/// Checks that no two manifests describe the same object. A payload may contain several variants of an object as long
/// as a profile selects only one of them, so this is only known after rendering.
pub(super) fn check(objects: &[Object], sources: &Sources, report: &mut Report) {
    let mut seen = HashMap::with_capacity(objects.len());
    for object in objects {
        let Some(other) = seen.insert(&object.id, object) else { continue };
        report.add(
            Finding::new(
                Check::DuplicateObject,
                &Field::root(object),
                "two manifests describe the same object",
            )
            .note(format!("the other manifest is at {}", sources.show(other.root.mark)))
            .note("each apply would overwrite one with the other")
            .help("exclude one of them with a release annotation, a capability or a feature set"),
        );
    }
}
