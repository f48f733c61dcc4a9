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
    let view = &context.rendered.view;
    let namespace = context.rendered.namespace.as_ref();
    let mut left_to_operators = HashMap::new();
    for index in &context.rendered.selection.left_to_operators {
        let manifest = &view.payload.manifests[*index];
        let mut id = manifest.id.clone();
        if let Some(namespace) = namespace.filter(|_| !id.namespace.is_empty()) {
            namespace.clone_into(&mut id.namespace);
        }
        left_to_operators.insert(id, manifest);
    }
    left_to_operators
}
