//! Changes of immutable fields, and of the API version.

use serde_json::json;

use super::super::fixture::{CLASS_PATH, DEPLOYMENT_PATH, INVENTORY, JOB_PATH, Project, WIDGET, map};
use super::{assert_code, message_of, objects_with, patch_as, wait_until, written_paths};
use crate::TestBedCase;
use crate::base_state::BaseState;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::immutable_fields::a_changed_job_is_recreated", a_changed_job_is_recreated),
    ("apply::immutable_fields::a_changed_selector_needs_recreate", a_changed_selector_needs_recreate),
    ("apply::immutable_fields::immutable_objects_need_recreate", immutable_objects_need_recreate),
    (
        "apply::immutable_fields::a_dry_run_decides_what_can_be_recreated",
        a_dry_run_decides_what_can_be_recreated,
    ),
    ("apply::immutable_fields::a_recreated_object_keeps_its_seeds", a_recreated_object_keeps_its_seeds),
    (
        "apply::immutable_fields::an_object_that_cannot_be_created_is_not_deleted",
        an_object_that_cannot_be_created_is_not_deleted,
    ),
    ("apply::immutable_fields::the_rollout_strategy_can_change", the_rollout_strategy_can_change),
    (
        "apply::immutable_fields::managed_fields_move_to_a_served_version",
        managed_fields_move_to_a_served_version,
    ),
    (
        "apply::immutable_fields::a_restored_cluster_gets_only_the_lost_changes",
        a_restored_cluster_gets_only_the_lost_changes,
    ),
];

fn uid(cluster: &TestCluster, path: &str) -> String {
    cluster.get(path).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// A Job is immutable and is recreated.
fn a_changed_job_is_recreated(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &["--wait"]);
    let before = uid(cluster, JOB_PATH);
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = project.apply_ok(cluster, &["--wait"]);
    assert_eq!(objects_with(&run, "recreated"), ["Job.batch/migrate in openshift-op"]);
    assert_ne!(uid(cluster, JOB_PATH), before);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &["--wait"]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// A changed selector of a Deployment is reported, and the Deployment is recreated with `--recreate`.
fn a_changed_selector_needs_recreate(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let before = uid(cluster, DEPLOYMENT_PATH);
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let deployment = "Deployment.apps/op in openshift-op";
    assert_eq!(
        message_of(&run, "failed", deployment).unwrap(),
        "spec.selector is immutable; --recreate Deployment/op deletes the object and creates it again"
    );
    assert_eq!(objects_with(&run, "changed"), ["Service/op-webhook in openshift-op"]);
    assert_eq!(uid(cluster, DEPLOYMENT_PATH), before);
    let run = project.apply_ok(cluster, &["--recreate", "Deployment/op"]);
    assert_eq!(objects_with(&run, "recreated"), [deployment]);
    assert_ne!(uid(cluster, DEPLOYMENT_PATH), before);
    let live = cluster.get(DEPLOYMENT_PATH).unwrap();
    assert_eq!(live["spec"]["selector"]["matchLabels"], json!({"app": "operator"}));
}

/// An immutable ConfigMap and a `PriorityClass` are reported and recreated in the same way.
fn immutable_objects_need_recreate(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    project.change("20_settings", "\ndata:\n", "\nimmutable: true\ndata:\n");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: op\nvalue: 1\n";
    project.write_manifest("20_class", class);
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("20_class", "value: 1", "value: 2");
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let both = ["ConfigMap/settings in openshift-op", "PriorityClass.scheduling.k8s.io/op"];
    assert_eq!(objects_with(&run, "failed"), both);
    for (object, field, name) in
        [(both[0], "data", "ConfigMap/settings"), (both[1], "value", "PriorityClass/op")]
    {
        assert_eq!(
            message_of(&run, "failed", object).unwrap(),
            format!("{field} is immutable; --recreate {name} deletes the object and creates it again")
        );
    }
    let run =
        project.apply_ok(cluster, &["--recreate", "ConfigMap/settings", "--recreate", "PriorityClass/op"]);
    assert_eq!(objects_with(&run, "recreated"), both);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// A kind with a field that only a rule of its schema makes immutable.
const GADGETS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.test
spec:
  group: example.test
  names: {kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              colour:
                type: string
                x-kubernetes-validations:
                - {rule: self == oldSelf, message: choose a colour once}
";

/// Objects that the API server does not change, each with its own words: manifest, text before and after, object and
/// path.
const UNCHANGEABLE: [(&str, &str, &str, &str, &str); 6] = [
    (
        "50_gadget",
        "colour: red",
        "colour: green",
        "Gadget.example.test/one",
        "/apis/example.test/v1/gadgets/one",
    ),
    (
        "40_class",
        "provisioner: example.test/fast",
        "provisioner: example.test/fast\nparameters: {a: b}",
        "StorageClass.storage.k8s.io/fast",
        "/apis/storage.k8s.io/v1/storageclasses/fast",
    ),
    (
        "20_service",
        "  selector: {app: op}",
        "  clusterIP: None\n  selector: {app: op}",
        "Service/op-webhook in openshift-op",
        "/api/v1/namespaces/openshift-op/services/op-webhook",
    ),
    (
        "50_binding",
        "name: op\nsubjects",
        "name: other\nsubjects",
        "RoleBinding.rbac.authorization.k8s.io/op in openshift-op",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/openshift-op/rolebindings/op",
    ),
    (
        "30_set",
        "serviceName: op-webhook",
        "serviceName: op-webhook\n  podManagementPolicy: Parallel",
        "StatefulSet.apps/set in openshift-op",
        "/apis/apps/v1/namespaces/openshift-op/statefulsets/set",
    ),
    (
        "30_pod",
        "name: it\n",
        "name: other\n",
        "Pod/single in openshift-op",
        "/api/v1/namespaces/openshift-op/pods/single",
    ),
];

fn add_unchangeable(project: &Project) {
    project.place_everything_here();
    project.write_manifest("10_gadgets", GADGETS);
    project.write_manifest(
        "50_gadget",
        "apiVersion: example.test/v1\nkind: Gadget\nmetadata:\n  name: one\nspec:\n  colour: red\n",
    );
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: other\n  \
                namespace: openshift-op\nrules:\n- apiGroups: [\"\"]\n  resources: [configmaps]\n  verbs: [get]\n";
    project.write_manifest("50_other", role);
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: op\n  \
                   namespace: openshift-op\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  \
                   name: op\nsubjects:\n- {kind: ServiceAccount, name: op, namespace: openshift-op}\n";
    project.write_manifest("50_binding", binding);
    let pod = "serviceAccountName: op\nINautomountServiceAccountToken: false\nINcontainers:\n\
               IN- name: it\nIN  image: example.test/op:1\n";
    let metadata = "metadata:\n  name: NAME\n  namespace: openshift-op\n";
    let set = format!(
        "apiVersion: apps/v1\nkind: StatefulSet\n{}spec:\n  serviceName: op-webhook\n  replicas: 0\n  selector:\n    \
         matchLabels: {{app: set}}\n  template:\n    metadata:\n      labels: {{app: set}}\n    spec:\n      {}",
        metadata.replace("NAME", "set"),
        pod.replace("IN", "      ")
    );
    project.write_manifest("30_set", &set);
    let single = format!(
        "apiVersion: v1\nkind: Pod\n{}spec:\n  {}",
        metadata.replace("NAME", "single"),
        pod.replace("IN", "  ")
    );
    project.write_manifest("30_pod", &single);
}

/// The API server rejects changes of some objects with words of their own. Without `--recreate`, the message says that it
/// helps. With it, the objects are recreated.
fn a_dry_run_decides_what_can_be_recreated(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    add_unchangeable(&project);
    project.apply_ok(cluster, &[]);
    let before = UNCHANGEABLE.map(|(.., path)| uid(cluster, path));
    for (manifest, from, to, ..) in UNCHANGEABLE {
        project.change(manifest, from, to);
    }
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let mut flags = Vec::new();
    for (.., object, _) in UNCHANGEABLE {
        let (kind, name) = object.split(" in ").next().unwrap().split_once('/').unwrap();
        let named = format!("{}/{name}", kind.split('.').next().unwrap());
        let message =
            message_of(&run, "failed", object).unwrap_or_else(|| panic!("{object}: {}", run.stderr));
        assert!(message.contains(&format!("--recreate {named} deletes ")), "{message}");
        flags.extend(["--recreate".to_owned(), named]);
    }
    assert_eq!(UNCHANGEABLE.map(|(.., path)| uid(cluster, path)), before);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let diff = project.run(cluster, "diff", &["--live"]);
    let advice = diff
        .stdout
        .lines()
        .filter(|line| line.contains(" would be rejected: ") && line.contains("--recreate "));
    assert_eq!(advice.count(), UNCHANGEABLE.len(), "{}{}", diff.stdout, diff.stderr);
    let run = project.apply_ok(cluster, &flags);
    assert_eq!(objects_with(&run, "recreated").len(), UNCHANGEABLE.len(), "{}", run.stderr);
    for ((.., object, path), before) in UNCHANGEABLE.iter().zip(before) {
        assert_ne!(uid(cluster, path), before, "{object}");
    }
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// The administrator changed a seed of a class that is then recreated. The change stays, and `transship-seed` owns it.
fn a_recreated_object_keeps_its_seeds(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let default = "storageclass.kubernetes.io/is-default-class";
    project.apply_ok(cluster, &[]);
    patch_as(cluster, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false"}}}));
    project.change("40_class", "provisioner: example.test/fast", "provisioner: example.test/faster");
    let before = uid(cluster, CLASS_PATH);
    let run = project.apply_ok(cluster, &["--recreate", "StorageClass/fast"]);
    assert_eq!(objects_with(&run, "recreated"), ["StorageClass.storage.k8s.io/fast"]);
    assert_ne!(uid(cluster, CLASS_PATH), before);
    let live = cluster.get(CLASS_PATH).unwrap();
    assert_eq!(live["provisioner"], "example.test/faster");
    assert_eq!(live["metadata"]["annotations"][default], "false");
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let seeds = entries.iter().find(|entry| entry["manager"] == "transship-seed").unwrap();
    assert_eq!(
        seeds["fieldsV1"],
        json!({"f:metadata": {"f:annotations": {format!("f:{default}"): {}}}}),
        "it owns nothing else"
    );
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// The user named an object, but it is invalid as it is rendered. It is not deleted.
fn an_object_that_cannot_be_created_is_not_deleted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let before = uid(cluster, DEPLOYMENT_PATH);
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    project.change("30_deployment", "replicas: 1", "replicas: -1");
    let run = project.apply(cluster, &["--recreate", "Deployment/op"]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", "Deployment.apps/op in openshift-op").unwrap();
    assert!(message.contains("spec.replicas: Invalid value: -1"), "{message}");
    assert!(!message.contains("--recreate"), "{message}");
    assert_eq!(uid(cluster, DEPLOYMENT_PATH), before);
}

/// The API server sets the defaults of a rolling update, and rejects another strategy while they are there.
fn the_rollout_strategy_can_change(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    assert!(cluster.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"]["rollingUpdate"].is_object());
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  strategy: {type: Recreate}\n");
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(objects_with(&run, "changed"), ["Deployment.apps/op in openshift-op"]);
    assert_eq!(cluster.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// A CRD stops serving the version in which we applied an object. The object is changed all the same, removed fields
/// leave it, and the next apply writes nothing.
fn managed_fields_move_to_a_served_version(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let schema = "schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, colour: {type: string}}}}}}";
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.test\nspec:\n  \
             group: example.test\n  names: {{kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}}\n  \
             scope: Cluster\n  versions:\n{versions}"
        )
    };
    let new = format!("  - {{name: v1, served: true, storage: true, {schema}}}\n");
    let old = format!("  - {{name: v1beta1, served: true, storage: false, {schema}}}\n");
    let widget = |version: &str, spec: &str| {
        format!("apiVersion: example.test/{version}\nkind: Widget\nmetadata:\n  name: one\nspec: {spec}\n")
    };
    project.write_manifest("10_crd", &definition(&format!("{new}{old}")));
    project.write_manifest("50_widget", &widget("v1beta1", "{size: 1, colour: red}"));
    project.apply_ok(cluster, &[]);
    project.write_manifest("10_crd", &definition(&new));
    project.write_manifest("50_widget", &widget("v1", "{size: 2}"));
    cluster.apply_yaml(&definition(&new));
    wait_until("the end of the old version", || cluster.get("/apis/example.test/v1beta1").is_none());
    let diff = project.run(cluster, "diff", &["--live"]);
    let expected = "cluster    Widget.example.test/one would be changed, but the API server cannot say how: its managed \
                    fields are recorded in example.test/v1beta1, which is no longer served\n";
    assert!(diff.stdout.contains(expected), "{}", diff.stdout);
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(WIDGET).unwrap()["spec"], json!({"size": 2}), "{}", run.stderr);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// etcd is restored from a backup before the last rollout, with the inventory. Only what that rollout changed is
/// changed again.
fn a_restored_cluster_gets_only_the_lost_changes(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let before = BaseState::remember(&cluster.control_plane);
    project.change("20_settings", "mode: one", "mode: two");
    project.apply_ok(cluster, &[]);
    before.restore(&cluster.control_plane);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "one");
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(objects_with(&run, "changed"), ["ConfigMap/settings in openshift-op"]);
    assert_eq!(written_paths(cluster, mark), [INVENTORY, map("settings").as_str(), INVENTORY]);
}
