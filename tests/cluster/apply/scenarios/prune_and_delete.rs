//! `--prune` and `delete`.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{
    CLASS_PATH, CRD_PATH, DEPLOYMENT_PATH, HOSTED, INVENTORY, NAMESPACE, OBJECTS, Project, WIDGET,
    config_map, map,
};
use super::super::{Run, run_in};
use super::{
    assert_code, create, inventory, is_in_inventory, message_of, objects_with, patch_as, wait_until,
    written_paths,
};
use crate::TestBedCase;
use crate::audit;
use crate::fault_rules::{Fault, RequestMatcher, SeenRequest};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::prune_and_delete::pruning_many_objects_needs_approval", pruning_many_objects_needs_approval),
    (
        "apply::prune_and_delete::pruning_namespaces_and_crds_needs_approval",
        pruning_namespaces_and_crds_needs_approval,
    ),
    ("apply::prune_and_delete::an_empty_render_is_an_error", an_empty_render_is_an_error),
    ("apply::prune_and_delete::an_incomplete_rollout_prunes_nothing", an_incomplete_rollout_prunes_nothing),
    (
        "apply::prune_and_delete::a_rejected_deletion_is_retried_by_the_next_run",
        a_rejected_deletion_is_retried_by_the_next_run,
    ),
    ("apply::prune_and_delete::a_finalizer_is_reported_and_kept", a_finalizer_is_reported_and_kept),
    (
        "apply::prune_and_delete::a_second_delete_waits_for_a_terminating_namespace",
        a_second_delete_waits_for_a_terminating_namespace,
    ),
    (
        "apply::prune_and_delete::a_finalizer_in_the_guest_does_not_affect_the_management_cluster",
        a_finalizer_in_the_guest_does_not_affect_the_management_cluster,
    ),
    (
        "apply::prune_and_delete::delete_without_guest_deletes_from_the_management_cluster",
        delete_without_guest_deletes_from_the_management_cluster,
    ),
    ("apply::prune_and_delete::objects_are_deleted_in_phases", objects_are_deleted_in_phases),
    ("apply::prune_and_delete::objects_of_others_are_released", objects_of_others_are_released),
    (
        "apply::prune_and_delete::an_object_released_during_a_delete_stays",
        an_object_released_during_a_delete_stays,
    ),
    (
        "apply::prune_and_delete::a_recreated_object_can_be_deleted_after_a_crash",
        a_recreated_object_can_be_deleted_after_a_crash,
    ),
    ("apply::prune_and_delete::a_crd_stays_while_its_objects_exist", a_crd_stays_while_its_objects_exist),
    ("apply::prune_and_delete::a_lost_inventory_is_written_again", a_lost_inventory_is_written_again),
    ("apply::prune_and_delete::an_apply_during_a_delete_waits_for_it", an_apply_during_a_delete_waits_for_it),
];

const MAPS: &str = "/api/v1/namespaces/openshift-op/configmaps";

fn count_many(cluster: &TestCluster) -> usize {
    let name = |map: &Value| map["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    cluster.list(MAPS).iter().filter(|map| name(map).starts_with("many-")).count()
}

fn held(run: &Run, object: &str) -> String {
    message_of(run, "held", object).unwrap_or_else(|| panic!("{object}: {}{}", run.stdout, run.stderr))
}

/// Many objects are no longer rendered. None is pruned until the number is approved.
fn pruning_many_objects_needs_approval(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.add_many(12);
    project.apply_ok(cluster, &[]);
    project.remove_many(12);
    let one = "ConfigMap/many-3 in openshift-op";
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(held(&run, one), "12 of 25 objects would be pruned at once");
    assert_eq!(objects_with(&run, "held").len(), 12);
    let run = project.apply_ok(cluster, &["--prune", "--approve-prune", "5"]);
    assert_eq!(held(&run, one), "--approve-prune allows 5, but 12 objects of the cluster would be pruned");
    assert_eq!((count_many(cluster), inventory(cluster).len()), (12, 25));
    let run = project.apply_ok(cluster, &["--prune", "--approve-prune", "12"]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 12 pruned, 0 failed\n");
    assert_eq!((count_many(cluster), inventory(cluster).len()), (0, OBJECTS));
    project.add_many(12);
    project.apply_ok(cluster, &[]);
    project.remove_many(12);
    project.apply_ok(cluster, &["--prune", "--approve-prune", "all"]);
    assert_eq!(count_many(cluster), 0);
}

/// A namespace and a CRD are no longer rendered. They stay until someone approves; other objects are pruned.
fn pruning_namespaces_and_crds_needs_approval(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.write_manifest("10_more", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-more\n");
    project.add_many(3);
    project.apply_ok(cluster, &[]);
    for name in ["10_more", "10_crd", "50_widget"] {
        project.remove(name);
    }
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(held(&run, "Widget.example.test/one"), "--prune deletes it");
    let run = project.apply_ok(cluster, &["--prune"]);
    let definition = "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.test";
    assert_eq!(held(&run, "Namespace/openshift-more"), "deleting it deletes everything in the namespace");
    assert_eq!(held(&run, definition), "deleting it deletes every object of its kind");
    assert_eq!(objects_with(&run, "pruned"), ["Widget.example.test/one"]);
    assert!(cluster.get(WIDGET).is_none() && cluster.get(CRD_PATH).is_some());
    let run = project.apply_ok(cluster, &["--prune", "--approve-prune", "2"]);
    assert_eq!(objects_with(&run, "pruned"), [definition, "Namespace/openshift-more"]);
    assert!(cluster.get(CRD_PATH).is_none());
    assert!(cluster.get("/api/v1/namespaces/openshift-more").is_none());
}

/// Rendering no objects is an error, whatever was approved.
fn an_empty_render_is_an_error(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let text = std::fs::read_to_string(project.path().join("profiles/standalone.yaml")).unwrap();
    project.write("profiles/standalone.yaml", &text.replace("clusterProfile: any", "clusterProfile: other"));
    let mark = cluster.audit.mark();
    let run = project.apply(cluster, &["--prune", "--approve-prune", "all"]);
    assert_code(&run, 2);
    assert!(
        run.stderr.contains("the profile `standalone` selects none of the payload's 14 manifests"),
        "{}",
        run.stderr
    );
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_eq!(inventory(cluster).len(), OBJECTS);
    // The same if only a tombstone is left.
    project.write("profiles/standalone.yaml", &text);
    std::fs::remove_dir_all(project.path().join("payload/op")).unwrap();
    project.restore("30_old");
    project.place_everything_here();
    project.write("profiles/standalone.yaml", text.split("intents:").next().unwrap());
    let run = project.apply(cluster, &["--prune", "--approve-prune", "all"]);
    assert_code(&run, 2);
    let expected = "no objects are rendered for the profile `standalone`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(cluster.get(&map("settings")).is_some());
}

/// If anything fails, nothing is pruned.
fn an_incomplete_rollout_prunes_nothing(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.remove("20_settings");
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    let run = project.apply(cluster, &["--prune"]);
    assert_code(&run, 3);
    assert_eq!(
        held(&run, "ConfigMap/settings in openshift-op"),
        "the rollout is incomplete, so nothing is pruned"
    );
    assert!(cluster.get(&map("settings")).is_some());
}

/// A policy rejects a deletion. That is reported, and the next run deletes the object.
fn a_rejected_deletion_is_retried_by_the_next_run(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    cluster.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: keeps\nspec:\n  failurePolicy: Fail\n  \
         matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      apiVersions: [v1]\n      operations: [DELETE]\n      \
         resources: [configmaps]\n  validations:\n  - expression: \"oldObject.metadata.name != 'settings'\"\n    message: settings are kept\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: keeps\nspec:\n  \
         policyName: keeps\n  validationActions: [Deny]\n",
    );
    let dry = format!("{}?dryRun=All", map("settings"));
    let may_go = || cluster.call("DELETE", &dry, "application/json", "").code < 300;
    wait_until("a refusal", || !may_go());
    project.remove("20_settings");
    let run = project.apply(cluster, &["--prune"]);
    assert_code(&run, 3);
    let why = message_of(&run, "failed", "ConfigMap/settings in openshift-op").unwrap();
    assert!(why.contains("settings are kept"), "{why}");
    assert!(is_in_inventory(cluster, "ConfigMap", "settings"));
    let deletes = cluster.proxy.seen().iter().filter(|seen| seen.method == "DELETE").count();
    assert_eq!(deletes, 1);
    cluster.delete("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/keeps");
    wait_until("an agreement", may_go);
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(objects_with(&run, "pruned"), ["ConfigMap/settings in openshift-op"]);
    assert!(cluster.get(&map("settings")).is_none() && !is_in_inventory(cluster, "ConfigMap", "settings"));
}

/// A finalizer is never removed. It is reported at the timeout, and the object stays in the inventory.
fn a_finalizer_is_reported_and_kept(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let finalizers = |all: Value| {
        patch_as(cluster, "admin", &map("settings"), &json!({"metadata": {"finalizers": all}}));
    };
    finalizers(json!(["example.test/never"]));
    project.remove("20_settings");
    let run = project.apply(cluster, &["--prune", "--timeout", "4s"]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
        "it is being deleted and waits for its finalizers: example.test/never"
    );
    assert!(is_in_inventory(cluster, "ConfigMap", "settings"));
    let seen = cluster.proxy.seen();
    let asked = seen.iter().filter(|seen| seen.path.starts_with(&map("settings"))).count();
    assert!(asked < 15, "{asked}");
    finalizers(Value::Null);
    project.apply_ok(cluster, &["--prune"]);
    assert!(!is_in_inventory(cluster, "ConfigMap", "settings"));
}

/// A namespace does not go. A second delete, which the API server rejects, waits for it like the first one.
fn a_second_delete_waits_for_a_terminating_namespace(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    patch_as(cluster, "admin", &namespace, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    for _ in 0..2 {
        cluster.proxy.reset();
        let run = project.run(cluster, "delete", &["--timeout", "8s"]);
        assert_code(&run, 3);
        let why = message_of(&run, "failed", "Namespace/openshift-op").unwrap();
        assert!(
            why.starts_with("it is being deleted and waits for its finalizers: example.test/never"),
            "{why}"
        );
        assert!(is_in_inventory(cluster, "Namespace", NAMESPACE));
        let seen = cluster.proxy.seen();
        let asked = seen.iter().filter(|seen| seen.path.split('?').next() == Some(&namespace)).count();
        assert!((2..20).contains(&asked), "{asked}");
    }
    patch_as(cluster, "admin", &namespace, &json!({"metadata": {"finalizers": null}}));
    assert_code(&project.run(cluster, "delete", &[]), 0);
    assert!(cluster.get(&namespace).is_none());
}

/// An object in the guest does not go. Objects that may be needed to remove its finalizer stay, and everything in the
/// management cluster is deleted.
fn a_finalizer_in_the_guest_does_not_affect_the_management_cluster(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    patch_as(&bed.guest, "admin", WIDGET, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    let run = project.run_hosted(bed, "delete", &["--timeout", "8s"]);
    assert_code(&run, 3);
    assert!(
        run.stdout
            .starts_with("management: 0 created, 0 changed, 0 unchanged, 8 deleted, 0 pruned, 0 failed\n"),
        "{}",
        run.stdout
    );
    assert_eq!(
        message_of(&run, "failed", "Widget.example.test/one").unwrap(),
        "it is being deleted and waits for its finalizers: example.test/never"
    );
    let home = format!("/api/v1/namespaces/{HOSTED}/configmaps/transship-hypershift");
    assert!(bed.management.get(&home).is_none());
    let class = "StorageClass.storage.k8s.io/fast";
    assert_eq!(message_of(&run, "blocked", class).unwrap(), "the timeout ended before it could be deleted");
    assert!(bed.guest.get(CLASS_PATH).is_some());
    patch_as(&bed.guest, "admin", WIDGET, &json!({"metadata": {"finalizers": null}}));
    let run = project.run_hosted(bed, "delete", &[]);
    assert_code(&run, 0);
    // The object was deleted when its finalizer was removed.
    assert_eq!(message_of(&run, "released", "Widget.example.test/one").unwrap(), "it was already deleted");
    assert!(bed.guest.get(CRD_PATH).is_none());
}

/// The guest no longer exists, and neither does its kubeconfig.
fn delete_without_guest_deletes_from_the_management_cluster(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let kubeconfig = bed.management.kubeconfig().display().to_string();
    let delete = ["delete", "--topology", "hypershift", "--management-kubeconfig", &kubeconfig];
    let run = run_in(project.path(), &delete);
    assert_code(&run, 2);
    assert!(run.stderr.contains("no kubeconfig or context is given for the guest"), "{}", run.stderr);
    let run = run_in(project.path(), &[&delete[..], &["--without-guest", "--approve-delete", "8"]].concat());
    assert_code(&run, 0);
    assert_eq!(run.stdout, "management: 0 created, 0 changed, 0 unchanged, 8 deleted, 0 pruned, 0 failed\n");
    assert!(bed.guest.get(WIDGET).is_some());
}

/// Webhooks are deleted first, and custom resources before their CRD. Nothing is left.
fn objects_are_deleted_in_phases(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let mark = cluster.audit.mark();
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 0);
    let entries = cluster.audit.since(mark);
    let deletes = audit::writes(&entries).into_iter().filter(|one| one.verb == "delete" && one.code < 300);
    let paths: Vec<&str> = deletes.map(|one| one.uri.split('?').next().unwrap()).collect();
    let at = |part: &str| {
        paths.iter().position(|path| path.contains(part)).unwrap_or_else(|| panic!("{part}: {paths:?}"))
    };
    assert!(at("validatingwebhookconfigurations") < at("/widgets/one"));
    assert!(at("/widgets/one") < at("customresourcedefinitions"));
    assert!(at("deployments") < at("customresourcedefinitions"));
    assert_eq!(paths.last(), Some(&INVENTORY));
    assert!(cluster.get(INVENTORY).is_none() && cluster.get(CRD_PATH).is_none());
    assert!(cluster.get(&format!("/api/v1/namespaces/{NAMESPACE}")).is_none());
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 0 unchanged, 13 deleted, 0 pruned, 0 failed\n");
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 1);
    let nothing = "there is nothing to delete: no inventory in cluster: ConfigMap/transship-standalone in openshift-config-managed\n";
    assert!(run.stderr.contains(nothing), "{}", run.stderr);
}

/// An object that someone recreated, and objects without our label, are not deleted.
fn objects_of_others_are_released(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.write_manifest("20_another", &config_map("another", "one"));
    project.write_manifest(
        "20_namespace",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-more\n",
    );
    project.apply_ok(cluster, &[]);
    let labels = cluster.get(&map("another")).unwrap()["metadata"]["labels"].clone();
    cluster.delete(&map("another"));
    create(cluster, "admin", MAPS, &json!({"metadata": {"name": "another", "labels": labels}})).ok().unwrap();
    let part_of = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}});
    patch_as(cluster, "admin", &map("settings"), &part_of);
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    patch_as(cluster, "admin", &namespace, &part_of);
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 0);
    let released = |object: &str| message_of(&run, "released", object);
    assert_eq!(released("ConfigMap/another in openshift-op").unwrap(), "another object with its name exists");
    let label = "it no longer has transship's label";
    assert_eq!(released("ConfigMap/settings in openshift-op").unwrap(), label);
    assert_eq!(released("Namespace/openshift-op").unwrap(), label);
    assert!(cluster.get(&map("another")).is_some() && cluster.get(&map("settings")).is_some());
    assert!(cluster.get("/api/v1/namespaces/openshift-more").is_none());
    assert!(cluster.get(INVENTORY).is_none());
}

/// Someone removes the label while a delete request is in flight. The object stays.
fn an_object_released_during_a_delete_stays(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.remove("20_settings");
    let is_it = |seen: &SeenRequest| seen.method == "DELETE" && seen.path.starts_with(&map("settings"));
    cluster.proxy.fault(RequestMatcher::matching(is_it), 1, Fault::Delay(Duration::from_secs(1)));
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(cluster, &["--prune"]));
        wait_until("a delete", || cluster.proxy.seen().iter().any(is_it));
        patch_as(
            cluster,
            "admin",
            &map("settings"),
            &json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}}),
        );
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert_eq!(
        message_of(&run, "released", "ConfigMap/settings in openshift-op").unwrap(),
        "it no longer has transship's label"
    );
    assert!(cluster.get(&map("settings")).is_some() && !is_in_inventory(cluster, "ConfigMap", "settings"));
}

/// A run recreates an object and is interrupted before it writes the inventory. The object can still be deleted.
fn a_recreated_object_can_be_deleted_after_a_crash(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let before = cluster.get(INVENTORY).unwrap()["data"].clone();
    cluster.delete(DEPLOYMENT_PATH);
    project.apply_ok(cluster, &[]);
    assert_ne!(cluster.get(INVENTORY).unwrap()["data"], before);
    patch_as(cluster, "test", INVENTORY, &json!({"data": before}));
    assert_code(&project.run(cluster, "delete", &[]), 0);
    assert!(cluster.get(DEPLOYMENT_PATH).is_none());
}

/// A custom resource does not go. Its CRD stays, because its deletion would delete the custom resource.
fn a_crd_stays_while_its_objects_exist(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    patch_as(cluster, "test", WIDGET, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    let run = project.run(cluster, "delete", &["--timeout", "3s"]);
    assert_code(&run, 3);
    let definition = "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.test";
    assert_eq!(
        message_of(&run, "blocked", definition).unwrap(),
        "deleting it would delete Widget.example.test/one, which still exists"
    );
    assert!(cluster.get(CRD_PATH).unwrap()["metadata"].get("deletionTimestamp").is_none());
    assert!(is_in_inventory(cluster, "CustomResourceDefinition", "widgets.example.test"));
    patch_as(cluster, "test", WIDGET, &json!({"metadata": {"finalizers": null}}));
    assert_code(&project.run(cluster, "delete", &[]), 0);
    assert!(cluster.get(CRD_PATH).is_none());
}

/// Without an inventory, nothing is deleted. The next apply finds all objects and writes the inventory again.
fn a_lost_inventory_is_written_again(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    cluster.delete(INVENTORY);
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 3);
    let expected = "the inventory does not exist, but 13 objects have its label; run `transship apply` to write it again";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(cluster.get(DEPLOYMENT_PATH).is_some());
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_code(&project.run(cluster, "delete", &[]), 0);
    assert!(cluster.get(DEPLOYMENT_PATH).is_none() && cluster.get(INVENTORY).is_none());
}

/// Someone applies everything again while a delete waits. The apply waits for the delete, and names it if it takes too long.
fn an_apply_during_a_delete_waits_for_it(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let finalizers = |all: Value| {
        patch_as(cluster, "test", &map("settings"), &json!({"metadata": {"finalizers": all}}));
    };
    finalizers(json!(["example.test/never"]));
    let (delete, apply) = std::thread::scope(|scope| {
        let delete = scope.spawn(|| project.run(cluster, "delete", &["--timeout", "60s"]));
        wait_until("a deletion", || cluster.get(DEPLOYMENT_PATH).is_none());
        let refused = project.apply(cluster, &["--lock-timeout", "1s"]);
        assert_code(&refused, 3);
        let message = "another command writes to the cluster: transship delete by ";
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
        assert!(cluster.get(DEPLOYMENT_PATH).is_none());
        let apply = scope.spawn(|| project.apply(cluster, &["--timeout", "60s"]));
        finalizers(Value::Null);
        (delete.join().unwrap(), apply.join().unwrap())
    });
    assert_code(&delete, 0);
    assert_code(&apply, 0);
    assert!(cluster.get(DEPLOYMENT_PATH).is_some());
    assert_eq!(inventory(cluster).len(), OBJECTS);
}
