//! Changes of immutable fields, and of the API version.

use serde_json::json;

use super::super::fixture::{DEPLOYMENT_PATH, INVENTORY, JOB_PATH, Project, WIDGET, map};
use super::{assert_code, message_of, objects_with, wait_until, written_paths};
use crate::TestBedCase;
use crate::base_state::BaseState;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::immutable_fields::a_changed_job_is_recreated", a_changed_job_is_recreated),
    ("apply::immutable_fields::a_changed_selector_needs_recreate", a_changed_selector_needs_recreate),
    ("apply::immutable_fields::immutable_objects_need_recreate", immutable_objects_need_recreate),
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
