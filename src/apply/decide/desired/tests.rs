//! Tests for fields that belong to others.

use serde_json::{Value, json};

use super::{
    Desired, FieldRules, MANAGER, SEED_MANAGER, encode_string_data, version_of, without_apply_set_label,
};
use crate::Project;
use crate::apply::decide::digest;
use crate::apply::decide::inventory::PART_OF;
use crate::apply::decide::ownership::Adoption;
use crate::apply::decide::predecessors::Predecessors;
use crate::object::Object;

const PROFILE: &str = "apiVersion: transship.openshift.io/v1
kind: Profile
metadata: {name: standalone}
topology: standalone
cluster: both
seeds:
- {for: Deployment, path: /spec/replicas, reason: a test}
- {for: Deployment, path: '/spec/template/spec/containers/[*]/image', reason: a test}
unmanaged:
- {for: Deployment, path: /spec/paused, reason: a test}
pins:
  ConfigMap/cm: {data: {pinned: here}}
  ConfigMap/ns/cm: {metadata: {labels: {also: pinned}}}
";

const MANIFESTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns, annotations: {x: x}}
spec:
  replicas: 1
  paused: false
  strategy: null
  template: {spec: {containers: [{name: c, image: rendered}]}}
status: {replicas: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: ns, annotations: {x: x}}
data: {other: rendered}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: scaled, namespace: ns, annotations: {x: x}}
spec: {replicas: 2, serviceName: s}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: hpa, namespace: ns, annotations: {x: x}}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: scaled}, minReplicas: 1}
---
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata: {name: op, annotations: {x: x}}
status: {relatedObjects: [{group: '', resource: namespaces, name: ns}], versions: [{name: operator, version: '1'}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: ns, annotations: {x: x}}
secrets: [{name: token}]
imagePullSecrets: [{name: pull-secret}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: aggregated, annotations: {x: x}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
rules: []
---
apiVersion: example.test/v1
kind: Widget
metadata: {name: w, creationTimestamp: null, annotations: {x: x}}
spec: {size: null, plain: null}
---
apiVersion: example.test/v1
kind: Other
metadata: {name: o, annotations: {x: x}}
spec: {size: null}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.test, annotations: {x: x}}
spec:
  group: example.test
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    schema: {openAPIV3Schema: {properties: {spec: {properties: {size: {nullable: true}, plain: {type: integer}}}}}}
";

const SET: &str = "applyset-test-v1";

/// Calls a function with the rules of the profile and the rendered object of a kind.
fn with_object<T>(kind: &str, call: impl Fn(&FieldRules<'_>, &Object) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("payload/op/1.yaml", MANIFESTS), ("profiles/standalone.yaml", PROFILE)] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let project = Project::load(folder.path()).unwrap();
    let profile = project.profiles.named(None).unwrap()[0];
    let plan = crate::render_unchecked(&project.context(), &[profile]).unwrap().remove(0);
    let object = plan.objects.iter().find(|object| object.id.kind == kind).unwrap();
    call(&FieldRules::new(profile, &plan.objects, SET.to_owned()), object)
}

/// A live Deployment with a second container, and the fields that managers own.
fn live(managers: &[(&str, &str, Value)]) -> Value {
    let mut entries = Vec::new();
    for (manager, operation, fields) in managers {
        entries.push(json!({"manager": manager, "operation": operation, "fieldsV1": fields}));
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns", "managedFields": entries},
        "spec": {"replicas": 7, "paused": true, "template": {"spec": {"containers": [
            {"name": "old", "image": "live"}, {"name": "c", "image": "live"},
        ]}}},
    })
}

fn released(managers: &[(&str, &str, Value)], adoption: Adoption) -> Option<Value> {
    let live = live(managers);
    let released = with_object("Deployment", |rules, object| {
        rules.fields_to_release(object, &live, Predecessors::of_adoption(adoption))
    })?;
    assert_eq!(released["metadata"], json!({"name": "d", "namespace": "ns"}));
    Some(released["spec"].clone())
}

fn replicas() -> Value {
    json!({"f:spec": {"f:replicas": {}}})
}

fn image_of(container: &str) -> Value {
    let item = format!("k:{}", json!({"name": container}));
    json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {item: {"f:image": {}}}}}}})
}

#[test]
fn fields_of_others_are_released_with_their_live_values() {
    assert_eq!(released(&[(MANAGER, "Apply", replicas())], Adoption::Off), Some(json!({"replicas": 7})));
    let paused = json!({"f:spec": {"f:paused": {}}});
    assert_eq!(released(&[(MANAGER, "Apply", paused)], Adoption::Off), Some(json!({"paused": true})));
    let others = json!({"f:spec": {"f:strategy": {}}});
    assert_eq!(released(&[(MANAGER, "Apply", others)], Adoption::On), None);
}

#[test]
fn fields_of_previous_managers_are_released_only_for_adoption() {
    let previous = [("kubectl-edit", "Update", replicas())];
    assert_eq!(released(&previous, Adoption::Off), None);
    assert_eq!(released(&previous, Adoption::On), Some(json!({"replicas": 7})));
}

#[test]
fn fields_that_were_released_before_are_sent_again() {
    let managers = [(MANAGER, "Apply", replicas()), (SEED_MANAGER, "Apply", image_of("c"))];
    assert_eq!(
        released(&managers, Adoption::Off),
        Some(json!({"replicas": 7, "template": {"spec": {"containers": [{"name": "c", "image": "live"}]}}}))
    );
    let only_seeds = [(SEED_MANAGER, "Apply", replicas())];
    assert_eq!(released(&only_seeds, Adoption::Off), None, "there is nothing left to release");
}

#[test]
fn items_that_are_no_longer_rendered_are_not_released() {
    let managers = [(MANAGER, "Apply", replicas()), (SEED_MANAGER, "Apply", image_of("old"))];
    assert_eq!(released(&managers, Adoption::Off), Some(json!({"replicas": 7})));
}

#[test]
fn nothing_is_released_before_the_seeds_are_split() {
    let whole =
        json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}, "f:spec": {"f:replicas": {}}});
    let managers = [(MANAGER, "Apply", replicas()), (SEED_MANAGER, "Apply", whole)];
    assert_eq!(released(&managers, Adoption::Off), None);
}

#[test]
fn remaining_seeds_are_those_of_the_seed_manager() {
    let identity =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"}});
    let remaining = |managers: &[(&str, &str, Value)]| {
        let live = live(managers);
        with_object("Deployment", |rules, object| rules.remaining_seeds(object, &live))
    };
    let mut with_replicas = identity.clone();
    with_replicas["spec"] = json!({"replicas": 7});
    assert_eq!(remaining(&[(SEED_MANAGER, "Apply", replicas())]), with_replicas);
    assert_eq!(remaining(&[(MANAGER, "Apply", replicas())]), identity);
}

#[test]
fn the_version_is_the_last_part_of_the_api_version() {
    with_object("Deployment", |_, object| assert_eq!(version_of(object), "v1"));
}

#[test]
fn string_data_of_a_secret_is_encoded() {
    let encoded = |mut object: Value| {
        encode_string_data(&mut object);
        object
    };
    let secret = |api_version: &str, texts: Value| json!({"apiVersion": api_version, "kind": "Secret", "data": {"a": "QQ=="}, "stringData": texts});
    assert_eq!(
        encoded(secret("v1", json!({"b": "B"}))),
        json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "QQ==", "b": "Qg=="}})
    );
    let other_kind = secret("example.test/v1", json!({"b": "B"}));
    assert_eq!(encoded(other_kind.clone()), other_kind);
    let not_a_text = secret("v1", json!({"b": "B", "c": 1}));
    assert_eq!(encoded(not_a_text.clone()), not_a_text, "the API server rejects it");
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself has one lifetime of the rules, and the function needs any"
)]
fn desired(kind: &str) -> Desired {
    with_object(kind, |rules, object| rules.desired(object))
}

#[test]
fn the_desired_state_has_no_fields_of_others() {
    let desired = desired("Deployment");
    let identity = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"},
    });
    assert_eq!(
        desired.applied,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "ns", "annotations": {"x": "x"}, "labels": {PART_OF: SET}},
            "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}},
        })
    );
    assert_eq!(desired.digest, digest::of_value(&desired.applied));
    let seeds =
        json!({"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "rendered"}]}}});
    let mut seed = identity.clone();
    seed["spec"] = seeds.clone();
    assert_eq!(desired.seed, Some(seed));
    let mut created = desired.applied.clone();
    created["spec"] = seeds;
    assert_eq!(desired.with_seed(), created);
    assert_eq!((&desired.pinned, &desired.initial_status), (&None, &None));
}

#[test]
fn pinned_fields_have_their_rendered_values() {
    assert_eq!(
        desired("ConfigMap").pinned,
        Some(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "cm", "namespace": "ns", "labels": {"also": "pinned"}},
            "data": {"pinned": "here"},
        }))
    );
}

#[test]
fn the_replicas_of_an_autoscaled_workload_are_a_seed() {
    let desired = desired("StatefulSet");
    assert_eq!(desired.applied["spec"], json!({"serviceName": "s"}));
    assert_eq!(desired.seed.unwrap()["spec"], json!({"replicas": 2}));
}

#[test]
fn pull_secrets_of_a_service_account_are_a_seed() {
    let desired = desired("ServiceAccount");
    assert_eq!(desired.applied.get("imagePullSecrets"), None);
    assert_eq!(desired.applied["secrets"], json!([{"name": "token"}]), "a list that is merged by name");
    assert_eq!(desired.seed.unwrap()["imagePullSecrets"], json!([{"name": "pull-secret"}]));
}

#[test]
fn the_rules_of_an_aggregated_cluster_role_are_never_sent() {
    let desired = desired("ClusterRole");
    assert_eq!((desired.with_seed().get("rules"), &desired.seed), (None, &None));
    assert!(desired.applied["aggregationRule"].is_object());
}

#[test]
fn a_null_is_sent_only_in_a_field_that_is_nullable() {
    let widget = desired("Widget");
    assert_eq!(widget.applied["spec"], json!({"size": null}));
    assert_eq!(widget.applied["metadata"].get("creationTimestamp"), None);
    assert_eq!(desired("Other").applied["spec"], json!({}), "no CRD of the plan has its schema");
}

#[test]
fn a_recreated_object_keeps_the_live_values_of_others() {
    let live = live(&[]);
    let kept = with_object("Deployment", |rules, object| rules.fields_to_keep(object, &live)).unwrap();
    let containers = json!([{"name": "c", "image": "live"}]);
    assert_eq!(
        kept["spec"],
        json!({"replicas": 7, "paused": true, "template": {"spec": {"containers": containers}}})
    );
    let nothing = json!({"metadata": {"name": "d"}, "spec": {}});
    assert_eq!(with_object("Deployment", |rules, object| rules.fields_to_keep(object, &nothing)), None);
}

#[test]
fn the_first_status_of_a_cluster_operator_names_its_related_objects() {
    let desired = desired("ClusterOperator");
    assert_eq!(desired.applied.get("status"), None);
    assert_eq!(
        desired.initial_status,
        Some(json!({
            "apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "op"},
            "status": {"relatedObjects": [{"group": "", "resource": "namespaces", "name": "ns"}]},
        }))
    );
}

#[test]
fn without_the_label_of_the_set_no_empty_labels_are_left() {
    let labelled = |labels: Value| json!({"metadata": {"name": "d", "labels": labels}});
    assert_eq!(without_apply_set_label(&labelled(json!({PART_OF: SET}))), json!({"metadata": {"name": "d"}}));
    assert_eq!(
        without_apply_set_label(&labelled(json!({PART_OF: SET, "a": "b"}))),
        labelled(json!({"a": "b"}))
    );
}
