//! The run levels of objects that depend on each other.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{Because, Object, edges};
use crate::payload::RunLevel;

/// Checks that each object is applied after what it needs, or at the same run level.
pub(super) fn check(objects: &[Object], report: &mut Report) {
    let all: Vec<&Object> = objects.iter().collect();
    for edge in edges(&all) {
        let (needed, object) = (all[edge.first], all[edge.then]);
        if is_applied_after(needed, object) {
            report.add(wrong_order(object, needed, edge.because));
        }
    }
}

/// Returns whether an object is applied after another because of their run levels. Within one level, objects are
/// ordered by what they need. A file without a run level is applied at its position in the payload.
fn is_applied_after(object: &Object, other: &Object) -> bool {
    match (run_level(object), run_level(other)) {
        (Some(level), Some(other)) => level > other,
        _ => object.position > other.position,
    }
}

fn run_level(object: &Object) -> Option<&str> {
    RunLevel::of(&object.ordered_as).map(|level| level.number)
}

fn wrong_order(object: &Object, needed: &Object, because: Because) -> Finding {
    let (role, why) = match because {
        Because::Namespace => {
            ("its namespace", "the API server rejects objects in a namespace that does not exist")
        }
        Because::Kind => {
            ("the CRD of its kind", "the API server does not serve the kind until the CRD exists")
        }
        Because::Pod => (
            "an object that its pods need",
            "its run level never becomes ready, and later run levels never start",
        ),
        Because::Called => {
            ("the Service that it calls", "requests that match the webhook fail until the Service exists")
        }
    };
    let message = format!("the object is applied before {role}, {}", needed.id);
    Finding::new(Check::WrongOrder, &Field::root(object), message)
        .note(format!("it is in {}, the other object is in {}", object.file, needed.file))
        .note(why)
        .help("change the run level of one of the files, the number after `0000_`")
}
