//! Tests for fields that belong to others.

use serde_json::{Value, json};

use super::{FieldRules, MANAGER, SEED_MANAGER, encode_string_data, version_of};
use crate::Project;
use crate::apply::decide::inventory::PART_OF;
use crate::apply::decide::ownership::Adoption;

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
";

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns, annotations: {x: x}}
spec:
  replicas: 1
  template: {spec: {containers: [{name: c, image: rendered}]}}
";

/// Calls a function with the rules of the profile and the rendered Deployment.
fn with_rules<T>(call: impl Fn(&FieldRules<'_>, &crate::object::Object) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("payload/op/1.yaml", DEPLOYMENT), ("profiles/standalone.yaml", PROFILE)] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let project = Project::load(folder.path()).unwrap();
    let profile = project.profiles.named(None).unwrap()[0];
    let plan = crate::render_unchecked(&project.context(), &[profile]).unwrap().remove(0);
    call(&FieldRules::new(profile, &plan.objects, "set".to_owned()), &plan.objects[0])
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
    let released = with_rules(|rules, object| rules.fields_to_release(object, &live, adoption))?;
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
        with_rules(|rules, object| rules.remaining_seeds(object, &live))
    };
    let mut with_replicas = identity.clone();
    with_replicas["spec"] = json!({"replicas": 7});
    assert_eq!(remaining(&[(SEED_MANAGER, "Apply", replicas())]), with_replicas);
    assert_eq!(remaining(&[(MANAGER, "Apply", replicas())]), identity);
}

#[test]
fn the_version_is_the_last_part_of_the_api_version() {
    with_rules(|_, object| assert_eq!(version_of(object), "v1"));
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
