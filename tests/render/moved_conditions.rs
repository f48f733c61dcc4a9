//! `moved` with conditions: an object leaves a tombstone only if all of them hold.

use crate::support::{TestProject, names};

/// Returns the objects of the guest if the Deployment moved to the management cluster under these conditions.
fn guest_objects(conditions: &str) -> Vec<String> {
    let page = format!("moved: {{Deployment/d: {{reason: x{conditions}}}}}\n");
    names(&TestProject::with_deployment(&page, "").render("guest"))
}

#[test]
fn a_moved_object_leaves_a_tombstone_only_under_its_conditions() {
    assert_eq!(guest_objects(""), ["Deployment/d"]);
    assert_eq!(guest_objects(", in: [guest], when: {component.name: op}"), ["Deployment/d"]);
    assert_eq!(guest_objects(", in: [mc], when: {component.name: op}"), [""; 0]);
    assert_eq!(guest_objects(", in: [guest], when: {component.name: other}"), [""; 0]);
}
