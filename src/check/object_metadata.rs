//! Names and finalizers of objects.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::{Check, INVENTORY_NAMESPACE};

/// Checks that an object has no finalizers, and is not the inventory.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for finalizer in root.items("/metadata/finalizers") {
        let name = finalizer.as_str().unwrap_or_default();
        report.add(
            Finding::new(Check::Finalizer, &finalizer, format!("the object has the finalizer `{name}`"))
                .note("the API server deletes the object only after a controller removes the finalizer; without this controller, pruning and the deletion of a hosted control plane never finish")
                .help("remove it: the controller that needs a finalizer adds it"),
        );
    }
    check_inventory(root, context, report);
}

/// Checks that an object is not the ConfigMap in which `apply` lists the objects that it applied.
fn check_inventory(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let id = &root.object.id;
    let rendered = context.rendered;
    let namespace = rendered.namespace.as_deref().unwrap_or(INVENTORY_NAMESPACE);
    let is_inventory = id.kind == "ConfigMap"
        && id.group.is_empty()
        && id.namespace == namespace
        && id.name == rendered.view.profile.inventory_name(rendered.hosted_control_plane.as_deref());
    if is_inventory {
        let name = root.at("/metadata/name").unwrap_or(*root);
        report.add(
            Finding::new(Check::ReservedName, &name, "the object has the name of the inventory")
                .note("`apply` lists the objects that it applied in this ConfigMap, and would overwrite it every time")
                .help("rename the ConfigMap"),
        );
    }
}
