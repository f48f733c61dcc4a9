//! Names, finalizers and owners of objects, and fields that only the API server sets.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::{Check, INVENTORY_NAMESPACE};
use crate::yaml::Value;

/// The fields of the metadata that only the API server sets.
const SERVER_FIELDS: [&str; 9] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Checks that an object has no finalizers, no owners and no fields of the API server, and is not the inventory.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for finalizer in root.items("/metadata/finalizers") {
        let name = finalizer.as_str().unwrap_or_default();
        report.add(
            Finding::new(Check::Finalizer, &finalizer, format!("the object has the finalizer `{name}`"))
                .note("the API server deletes the object only after a controller removes the finalizer; without this controller, pruning and the deletion of a hosted control plane never finish")
                .help("remove it: the controller that needs a finalizer adds it"),
        );
    }
    check_server_fields(root, report);
    check_owners(root, context, report);
    check_inventory(root, context, report);
}

/// Checks that the metadata has no fields that the API server sets. A null, as in `creationTimestamp: null`, means
/// nothing.
fn check_server_fields(root: &Field<'_>, report: &mut Report) {
    let Some(metadata) = root.get("metadata") else { return };
    for name in SERVER_FIELDS {
        let Some(field) = metadata.get(name).filter(|field| !matches!(field.node.value, Value::Null)) else {
            continue;
        };
        let (note, help) = if name == "generateName" {
            ("`apply` needs a name that is the same in every run", "remove it, and set `name`")
        } else {
            (
                "it describes an object in one cluster; in any other, the API server rejects the object or ignores the field",
                "remove it: it is probably left from an object that was read from a cluster",
            )
        };
        let message = format!("the object sets `metadata.{name}`");
        report.add(Finding::new(Check::ServerField, &field, message).note(note).help(help));
    }
}

/// Checks that an object has no owners, except one whose uid a parameter gives. A reference needs the uid of its owner, which no
/// manifest can know.
fn check_owners(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for owner in root.items("/metadata/ownerReferences") {
        let text = |key: &str| {
            owner.get(key).and_then(|field| field.as_str().map(str::to_owned)).unwrap_or_default()
        };
        if context.rendered.view.context.parameters.has_given_value(&text("uid")) {
            continue;
        }
        let message = format!("the object belongs to {}/{} with a fixed uid", text("kind"), text("name"));
        report.add(
            Finding::new(Check::OwnerReference, &owner, message)
                .note("if no object has this uid, the garbage collector deletes the object, and each `apply` creates it again")
                .help("remove it: `apply --prune` and `delete` delete the object; if the owner exists with this uid, allow it with a reason"),
        );
    }
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
