//! What cannot be changed on an object that is there.

use serde_json::json;

use super::super::fixture::{DEPLOYMENT_PATH, INVENTORY, JOB_PATH, Project, WIDGET, map};
use super::{assert_code, objects, told, until, written};
use crate::BedCase;
use crate::base_state::BaseState;
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::changing::another_job", another_job),
    ("apply::faults::changing::another_selector", another_selector),
    ("apply::faults::changing::what_was_said_to_be_immutable", what_was_said_to_be_immutable),
    ("apply::faults::changing::another_strategy", another_strategy),
    ("apply::faults::changing::a_version_that_is_gone", a_version_that_is_gone),
    ("apply::faults::changing::an_older_state", an_older_state),
];

fn uid(side: &Side, path: &str) -> String {
    side.get(path).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// A Job cannot be changed and is made to be run: it is made again.
fn another_job(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &["--wait"]);
    let before = uid(side, JOB_PATH);
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = project.applied(side, &["--wait"]);
    assert_eq!(objects(&run, "recreated"), ["Job.batch/migrate in openshift-op"]);
    assert_ne!(uid(side, JOB_PATH), before);
    let mark = side.audit.mark();
    project.applied(side, &["--wait"]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// A Deployment with another selector is another one: it is made again if somebody says so, and else told.
fn another_selector(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let before = uid(side, DEPLOYMENT_PATH);
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let deployment = "Deployment.apps/op in openshift-op";
    assert_eq!(
        told(&run, "failed", deployment).unwrap(),
        "spec.selector cannot be changed on an object that is there; --recreate Deployment/op takes it away and makes it again"
    );
    assert_eq!(objects(&run, "changed"), ["Service/op-webhook in openshift-op"]);
    assert_eq!(uid(side, DEPLOYMENT_PATH), before);
    let run = project.applied(side, &["--recreate", "Deployment/op"]);
    assert_eq!(objects(&run, "recreated"), [deployment]);
    assert_ne!(uid(side, DEPLOYMENT_PATH), before);
    let live = side.get(DEPLOYMENT_PATH).unwrap();
    assert_eq!(live["spec"]["selector"]["matchLabels"], json!({"app": "operator"}));
}

/// A map that says of itself that it never changes, and a class whose value cannot: told alike, and made again alike.
fn what_was_said_to_be_immutable(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.only_here();
    project.change("20_settings", "\ndata:\n", "\nimmutable: true\ndata:\n");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: op\nvalue: 1\n";
    project.put("20_class", class);
    project.applied(side, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("20_class", "value: 1", "value: 2");
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let both = ["ConfigMap/settings in openshift-op", "PriorityClass.scheduling.k8s.io/op"];
    assert_eq!(objects(&run, "failed"), both);
    for (object, field, name) in
        [(both[0], "data", "ConfigMap/settings"), (both[1], "value", "PriorityClass/op")]
    {
        assert_eq!(
            told(&run, "failed", object).unwrap(),
            format!(
                "{field} cannot be changed on an object that is there; --recreate {name} takes it away and makes it again"
            )
        );
    }
    let run = project.applied(side, &["--recreate", "ConfigMap/settings", "--recreate", "PriorityClass/op"]);
    assert_eq!(objects(&run, "recreated"), both);
    assert_eq!(side.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// The API server fills in how pods are replaced one by one, and takes no other way while that is there.
fn another_strategy(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    assert!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"]["rollingUpdate"].is_object());
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  strategy: {type: Recreate}\n");
    let run = project.applied(side, &[]);
    assert_eq!(objects(&run, "changed"), ["Deployment.apps/op in openshift-op"]);
    assert_eq!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// A definition loses a version, and what we applied is recorded in that one: it is changed all the same, what we do not
/// want any more leaves it, and after that nothing is written.
fn a_version_that_is_gone(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
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
    project.put("10_definition", &definition(&format!("{new}{old}")));
    project.put("50_widget", &widget("v1beta1", "{size: 1, colour: red}"));
    project.applied(side, &[]);
    project.put("10_definition", &definition(&new));
    project.put("50_widget", &widget("v1", "{size: 2}"));
    side.apply_yaml(&definition(&new));
    until("the end of the old version", || side.get("/apis/example.test/v1beta1").is_none());
    let diff = project.run(side, "diff", &["--live"]);
    let expected = "cluster    Widget.example.test/one would be changed; what is recorded of its fields is in \
                    example.test/v1beta1, which is not served any more, so nobody can say how\n";
    assert!(diff.stdout.contains(expected), "{}", diff.stdout);
    let run = project.applied(side, &[]);
    assert_eq!(side.get(WIDGET).unwrap()["spec"], json!({"size": 2}), "{}", run.stderr);
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// The cluster is put back to where it was before the last rollout, with its inventory: what that had changed is changed
/// again, and nothing else.
fn an_older_state(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let before = BaseState::remember(&side.control_plane);
    project.change("20_settings", "mode: one", "mode: two");
    project.applied(side, &[]);
    before.restore(&side.control_plane);
    assert_eq!(side.get(&map("settings")).unwrap()["data"]["mode"], "one");
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(objects(&run, "changed"), ["ConfigMap/settings in openshift-op"]);
    assert_eq!(written(side, mark), [INVENTORY, map("settings").as_str(), INVENTORY]);
}
