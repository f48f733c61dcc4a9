//! References after the move to the profile's namespace.

use serde_json::json;

use crate::support::{TestProject, names, object};

#[test]
fn a_reference_within_a_namespace_gets_no_namespace() {
    let spec = "spec: {template: {spec: {containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}}\n";
    let project = TestProject::new()
        .manifest("op/1.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {x: x}}\n")
        .manifest("op/2.yaml", &object("apps/v1", "Deployment", "ns", "d", spec))
        .profile("one", "topology: t\ncluster: both\nnamespace: hosted\n");
    let rendered = project.render("one");
    assert_eq!(names(&rendered), ["Secret/s", "Deployment/d"]);
    assert_eq!(rendered[0]["metadata"]["namespace"], "hosted");
    assert_eq!(
        rendered[1]["spec"]["template"]["spec"]["containers"][0]["envFrom"],
        json!([{"secretRef": {"name": "s"}}])
    );
}
