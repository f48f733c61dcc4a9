//! Objects with two owners: an operator that the topology contains, and transship.

use std::collections::HashMap;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::ObjectId;
use crate::payload::Manifest;

/// Checks that no rendered object is one that a page leaves to an operator. Both would apply it, again and again.
pub(super) fn check(context: &CheckContext<'_>, report: &mut Report) {
    let left_to_operators = left_to_operators(context);
    if left_to_operators.is_empty() {
        return;
    }
    let payload = &context.rendered.view.payload;
    for object in &context.rendered.objects {
        let Some(manifest) = left_to_operators.get(&object.id) else { continue };
        let page = payload.page(&payload.file(manifest).component);
        let Some(owner) = page.and_then(|page| page.owner.as_ref()) else { continue };
        let message = format!("the object has two owners: transship and the operator of {}", owner.value);
        report.add(
            Finding::new(Check::TwoOwners, &Field::root(object), message)
                .note(format!(
                    "`owner` at {} leaves the manifest at {} to the operator",
                    context.sources().show(owner.mark),
                    context.sources().show(manifest.root.mark)
                ))
                .note("each of them would undo the changes of the other")
                .help("remove this object, or leave out the operator in this topology"),
        );
    }
}

/// Returns the manifests that are left to operators, by the identities that their objects have in this cluster.
fn left_to_operators<'a>(context: &CheckContext<'a>) -> HashMap<ObjectId, &'a Manifest> {
    let mut left_to_operators = HashMap::new();
    for (manifest, namespace) in context.rendered.left_to_operators() {
        let id = ObjectId { namespace: namespace.to_owned(), ..manifest.id.clone() };
        left_to_operators.insert(id, manifest);
    }
    left_to_operators
}
