//! The run-levels beside what objects need: whatever is needed comes first, or at the same level.

use super::finding::Fault;
use crate::language::Check;
use crate::object::{Dependency, DependencyReason, Object, dependencies};
use crate::payload::RunLevel;

/// Objects that come before what they need.
pub(super) fn check(objects: &[Object]) -> Vec<(&Object, Fault<'_>)> {
    let all: Vec<&Object> = objects.iter().collect();
    let against = dependencies(&all)
        .into_iter()
        .filter(|dependency| is_later(all[dependency.prerequisite], all[dependency.dependent]));
    against
        .map(|dependency| {
            let dependent = all[dependency.dependent];
            (dependent, fault(dependency, all[dependency.prerequisite], dependent))
        })
        .collect()
}

/// Within a level the order follows the needs, so only levels can be in the way. A file without a level is applied alone,
/// in its place.
fn is_later(first: &Object, then: &Object) -> bool {
    match (level(first), level(then)) {
        (Some(first), Some(then)) => first > then,
        _ => first.position > then.position,
    }
}

fn level(object: &Object) -> Option<&str> {
    RunLevel::of(&object.ordered_as).map(|level| level.number)
}

fn fault<'n>(dependency: Dependency, first: &Object, then: &'n Object) -> Fault<'n> {
    let needs = &first.id;
    let (what, why) = match dependency.reason {
        DependencyReason::Namespace => {
            ("its namespace", "the API server refuses an object whose namespace is not there")
        }
        DependencyReason::CustomResourceDefinition => {
            ("the definition of its kind", "the API server does not know the kind until then")
        }
        DependencyReason::Pod => {
            ("what its pods need", "its level would never be ready, and the next never begin")
        }
        DependencyReason::WebhookService => {
            ("the Service that it calls", "every request that it is asked about would fail until then")
        }
    };
    let fault = Fault::new(Check::TooEarly, &then.root, format!("it comes before {what}, {needs}"));
    let files = format!("this is in {}, the other in {}", then.file, first.file);
    fault.why(files).why(why).help("give one of the files another run-level, the number behind `0000_`")
}
