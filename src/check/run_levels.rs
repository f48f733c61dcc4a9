//! The run levels of objects that depend on each other.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{DependencyReason, Object, dependencies};
use crate::payload::RunLevel;

/// Checks that each object is applied after what it needs, or at the same run level.
pub(super) fn check(objects: &[Object], report: &mut Report) {
    let all: Vec<&Object> = objects.iter().collect();
    for dependency in dependencies(&all) {
        let (needed, object) = (all[dependency.prerequisite], all[dependency.dependent]);
        if is_applied_after(needed, object) {
            report.findings.extend(wrong_order(object, needed, dependency.reason));
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

/// Returns the finding for an object that is applied before what it needs; `None` if that is allowed.
fn wrong_order(object: &Object, needed: &Object, reason: DependencyReason) -> Option<Finding> {
    let (role, why) = match reason {
        DependencyReason::Namespace => {
            ("its namespace", "the API server rejects objects in a namespace that does not exist")
        }
        DependencyReason::CustomResourceDefinition => {
            ("the CRD of its kind", "the API server does not serve the kind until the CRD exists")
        }
        DependencyReason::Pod => (
            "an object that its pods need",
            "its run level never becomes ready, and later run levels never start",
        ),
        // `apply` needs the right to bind the role then.
        DependencyReason::Role => return None,
        DependencyReason::WebhookService => {
            ("the Service that it calls", "requests that match the webhook fail until the Service exists")
        }
    };
    let message = format!("the object is applied before {role}, {}", needed.id);
    let finding = Finding::new(Check::WrongOrder, &Field::root(object), message)
        .note(format!("it is in {}, the other object is in {}", object.file, needed.file))
        .note(why)
        .help(help(object, needed));
    Some(finding)
}

fn help(object: &Object, needed: &Object) -> &'static str {
    let has_run_level = |object: &Object| RunLevel::of(base_name(&object.file)).is_some();
    if has_run_level(object) && has_run_level(needed) {
        "change the run level of one of the files: the number after `0000_`"
    } else {
        "rename one of the files: those without a run level are applied in the order of their names"
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
