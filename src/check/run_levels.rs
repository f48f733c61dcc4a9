//! The run-levels beside what objects need: whatever is needed comes first, or at the same level.

use super::finding::Fault;
use crate::language::Check;
use crate::object::{Because, Edge, Object, edges};
use crate::payload::RunLevel;

/// Objects that come before what they need.
pub(super) fn check(objects: &[Object]) -> Vec<(&Object, Fault<'_>)> {
    let all: Vec<&Object> = objects.iter().collect();
    let against = edges(&all).into_iter().filter(|edge| is_later(all[edge.first], all[edge.then]));
    against.map(|edge| (all[edge.then], fault(edge, all[edge.first], all[edge.then]))).collect()
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

fn fault<'n>(edge: Edge, first: &Object, then: &'n Object) -> Fault<'n> {
    let needs = &first.id;
    let (what, why) = match edge.because {
        Because::Namespace => {
            ("its namespace", "the API server refuses an object whose namespace is not there")
        }
        Because::Kind => ("the definition of its kind", "the API server does not know the kind until then"),
        Because::Pod => ("what its pods need", "its level would never be ready, and the next never begin"),
        Because::Called => {
            ("the Service that it calls", "every request that it is asked about would fail until then")
        }
    };
    let fault = Fault::new(Check::TooEarly, &then.root, format!("it comes before {what}, {needs}"));
    let files = format!("this is in {}, the other in {}", then.file, first.file);
    fault.why(files).why(why).help("give one of the files another run-level, the number behind `0000_`")
}
