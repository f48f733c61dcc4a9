//! Objects that are applied before what they need, and two manifests of one object.

use super::{assert_no_findings, one_cluster, two_clusters, valid};

const EARLY: &str = r"
apiVersion: v1
kind: ServiceAccount
metadata: {name: early, namespace: late}
---
apiVersion: example.test/v1
kind: Late
metadata: {name: early}
---
apiVersion: batch/v1
kind: Job
metadata: {name: early, namespace: op}
spec:
  template:
    spec:
      serviceAccountName: late
      restartPolicy: Never
      containers: [{name: main, image: example.test/image}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: early}
webhooks:
- name: early.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: late, namespace: op}}
";

const LATE: &str = r"
apiVersion: v1
kind: Namespace
metadata: {name: late}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lates.example.test}
spec:
  group: example.test
  names: {kind: Late, plural: lates}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: late, namespace: op}
---
apiVersion: v1
kind: Service
metadata: {name: late, namespace: op}
spec: {ports: [{port: 443}]}
";

#[test]
fn an_object_at_an_earlier_run_level_than_what_it_needs_is_reported() {
    let project = one_cluster(&valid("one.yaml"))
        .manifest("op/0000_60_op_01.yaml", EARLY)
        .manifest("op/0000_61_op_02.yaml", LATE);
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[wrong-order]: payload/op/0000_60_op_01.yaml:1:1: the object is applied before its namespace, Namespace/late
  object: ServiceAccount/early in late
  note: it is in op/0000_60_op_01.yaml, the other object is in op/0000_61_op_02.yaml
  note: the API server rejects objects in a namespace that does not exist
  note: found in one
  help: change the run level of one of the files: the number after `0000_`
error[wrong-order]: payload/op/0000_60_op_01.yaml:5:1: the object is applied before the CRD of its kind, CustomResourceDefinition.apiextensions.k8s.io/lates.example.test
  object: Late.example.test/early
  note: it is in op/0000_60_op_01.yaml, the other object is in op/0000_61_op_02.yaml
  note: the API server does not serve the kind until the CRD exists
  note: found in one
  help: change the run level of one of the files: the number after `0000_`
error[wrong-order]: payload/op/0000_60_op_01.yaml:9:1: the object is applied before an object that its pods need, ServiceAccount/late in op
  object: Job.batch/early in op
  note: it is in op/0000_60_op_01.yaml, the other object is in op/0000_61_op_02.yaml
  note: its run level never becomes ready, and later run levels never start
  note: found in one
  help: change the run level of one of the files: the number after `0000_`
error[wrong-order]: payload/op/0000_60_op_01.yaml:19:1: the object is applied before the Service that it calls, Service/late in op
  object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/early
  note: it is in op/0000_60_op_01.yaml, the other object is in op/0000_61_op_02.yaml
  note: requests that match the webhook fail until the Service exists
  note: found in one
  help: change the run level of one of the files: the number after `0000_`
"
    );
}

#[test]
fn files_without_a_run_level_are_ordered_by_their_names() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: early, namespace: late}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: late}\n";
    let project =
        one_cluster(&valid("one.yaml")).manifest("op/a.yaml", account).manifest("op/b.yaml", namespace);
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[wrong-order]: payload/op/a.yaml:1:1: the object is applied before its namespace, Namespace/late
  object: ServiceAccount/early in late
  note: it is in op/a.yaml, the other object is in op/b.yaml
  note: the API server rejects objects in a namespace that does not exist
  note: found in one
  help: rename one of the files: those without a run level are applied in the order of their names
"
    );
}

#[test]
fn objects_of_one_run_level_are_ordered_by_what_they_need() {
    let project = one_cluster(&valid("one.yaml"))
        .manifest("op/0000_60_op_01.yaml", EARLY)
        .manifest("op/0000_60_op_02.yaml", LATE);
    assert_no_findings(&project);
}

#[test]
fn two_selected_manifests_of_one_object_are_reported() {
    let project = two_clusters(&valid("two.yaml")).manifest(
        "op/0000_50_op_02.yaml",
        r"
        apiVersion: v1
        kind: Namespace
        metadata: {name: op}
        ",
    );
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[duplicate-object]: payload/op/0000_50_op_02.yaml:1:1: two manifests describe the same object
  object: Namespace/op
  note: the other manifest is at payload/op/0000_50_op_01.yaml:7:1
  note: each apply would overwrite one with the other
  note: found in guest
  help: exclude one of them with a release annotation, a capability or a feature set
"
    );
}
