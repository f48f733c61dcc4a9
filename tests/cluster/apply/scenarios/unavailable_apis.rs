//! Kinds whose API server is not available: their objects exist, although nobody can read them.

use serde_json::json;

use super::super::fixture::{OBJECTS, Project, WIDGET};
use super::{assert_code, inventory, is_in_inventory, message_of, objects_with, patch_as, wait_until};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    (
        "apply::unavailable_apis::an_object_that_cannot_be_read_is_not_gone",
        an_object_that_cannot_be_read_is_not_gone,
    ),
    (
        "apply::unavailable_apis::an_unavailable_kind_affects_only_its_objects",
        an_unavailable_kind_affects_only_its_objects,
    ),
];

const API_SERVICE: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.test";

/// Lets a Service that does not exist serve `example.test/v1`, instead of the API server itself.
fn take_away(cluster: &TestCluster) {
    let change = json!({
        "metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": null}},
        "spec": {"service": {"namespace": "openshift-op", "name": "gone"}, "insecureSkipTLSVerify": true},
    });
    patch_as(cluster, "test", API_SERVICE, &change);
    wait_until("the kind is not available", || cluster.call("GET", WIDGET, "", "").code == 503);
}

fn give_back(cluster: &TestCluster) {
    let change = json!({
        "metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": "true"}},
        "spec": {"service": null, "insecureSkipTLSVerify": null},
    });
    patch_as(cluster, "test", API_SERVICE, &change);
    wait_until("the kind is available", || cluster.get(WIDGET).is_some());
}

fn an_object_that_cannot_be_read_is_not_gone(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    take_away(cluster);
    let run = project.run(cluster, "delete", &["--approve-delete", "all"]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", "Widget.example.test/one").unwrap();
    assert!(message.contains("503"), "{message}");
    assert!(!objects_with(&run, "deleted").contains(&"Widget.example.test/one".to_owned()));
    assert!(is_in_inventory(cluster, "Widget", "one"));
    give_back(cluster);
    let run = project.run(cluster, "delete", &["--approve-delete", "all"]);
    assert_code(&run, 0);
    assert!(objects_with(&run, "deleted").contains(&"Widget.example.test/one".to_owned()), "{}", run.stderr);
    assert!(cluster.get(WIDGET).is_none());
}

fn an_unavailable_kind_affects_only_its_objects(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    take_away(cluster);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("50_widget", "size: 1", "size: 2");
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let crd = "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.test";
    assert_eq!(objects_with(&run, "failed"), [crd], "{}", run.stderr);
    assert_eq!(objects_with(&run, "blocked"), ["Widget.example.test/one"], "{}", run.stderr);
    assert_eq!(objects_with(&run, "changed"), ["ConfigMap/settings in openshift-op"], "{}", run.stderr);
    assert_eq!(inventory(cluster).len(), OBJECTS);
    give_back(cluster);
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(WIDGET).unwrap()["spec"]["size"], 2);
}
