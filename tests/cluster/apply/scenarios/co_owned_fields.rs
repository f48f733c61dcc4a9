//! Fields that others own or fill in, next to those that transship applies.

use serde_json::{Value, json};

use super::super::fixture::{DEPLOYMENT_PATH, Project, WIDGET};
use super::{assert_code, message_of, objects_with, patch_as, wait_until, written_paths};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::co_owned_fields::a_renumbered_port_is_healed", a_renumbered_port_is_healed),
    (
        "apply::co_owned_fields::a_port_of_another_applier_is_reported_with_its_owner",
        a_port_of_another_applier_is_reported_with_its_owner,
    ),
    (
        "apply::co_owned_fields::the_other_owner_of_a_union_is_reported",
        the_other_owner_of_a_union_is_reported,
    ),
    (
        "apply::co_owned_fields::the_rules_of_an_aggregated_role_are_left_alone",
        the_rules_of_an_aggregated_role_are_left_alone,
    ),
    ("apply::co_owned_fields::a_null_of_a_custom_resource_is_kept", a_null_of_a_custom_resource_is_kept),
    ("apply::co_owned_fields::pull_secrets_of_others_are_kept", pull_secrets_of_others_are_kept),
];

const SERVICE_PATH: &str = "/api/v1/namespaces/openshift-op/services/op-webhook";

fn ports(cluster: &TestCluster) -> Value {
    let ports = cluster.get(SERVICE_PATH).unwrap()["spec"]["ports"].clone();
    let ports = ports.as_array().unwrap().iter();
    ports.map(|port| json!([port["name"], port["port"], port["targetPort"]])).collect()
}

fn assert_nothing_to_write(cluster: &TestCluster, project: &Project) {
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// Someone renumbers the port of a Service and a port of a container. The next apply sets the rendered numbers again.
fn a_renumbered_port_is_healed(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("30_deployment", "containerPort: 8443", "containerPort: 8443\n          name: https");
    project.apply_ok(cluster, &[]);
    let port = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 8443}]);
    let renumber = |path: &str, patch: &Value| {
        let path = format!("{path}?fieldManager=kubectl-edit");
        cluster.patch(&path, "application/json-patch+json", &patch.to_string());
    };
    renumber(SERVICE_PATH, &port);
    let number = "/spec/template/spec/containers/0/ports/0/containerPort";
    renumber(DEPLOYMENT_PATH, &json!([{"op": "replace", "path": number, "value": 9443}]));
    let diff = project.run(cluster, "diff", &["--live"]);
    assert_eq!(diff.code, 1, "{}{}", diff.stdout, diff.stderr);
    assert!(!diff.stdout.contains("rejected"), "{}", diff.stdout);
    let run = project.apply_ok(cluster, &[]);
    let both = ["Deployment.apps/op in openshift-op", "Service/op-webhook in openshift-op"];
    assert_eq!(objects_with(&run, "changed"), both);
    assert_eq!(ports(cluster), json!([["https", 443, 8443]]));
    let live = cluster.get(DEPLOYMENT_PATH).unwrap();
    let container = &live["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["ports"], json!([{"containerPort": 8443, "name": "https", "protocol": "TCP"}]));
    assert_nothing_to_write(cluster, &project);
}

/// Another applier added a port with the name of ours. The port is theirs, so the message names them.
fn a_port_of_another_applier_is_reported_with_its_owner(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let theirs = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 8443}]);
    cluster.patch(SERVICE_PATH, "application/json-patch+json", &theirs.to_string());
    let applied = json!({"apiVersion": "v1", "kind": "Service", "spec": {
        "ports": [{"name": "https", "port": 8443, "protocol": "TCP", "targetPort": 8443}]}});
    let path = format!("{SERVICE_PATH}?fieldManager=argocd&force=true");
    cluster.patch(&path, "application/apply-patch+yaml", &applied.to_string());
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", "Service/op-webhook in openshift-op").unwrap();
    assert!(message.contains("Duplicate value: \"https\""), "{message}");
    assert!(
        message.contains("spec.ports[\"port\":8443,\"protocol\":\"TCP\"] has the name of a rendered"),
        "{message}"
    );
    assert!(message.contains("argocd (Apply)"), "{message}");
    assert_eq!(ports(cluster), json!([["https", 8443, 8443]]));
}

/// A variable changes from a value to a reference, but another applier owns the value, too. The message names it.
fn the_other_owner_of_a_union_is_reported(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let with_env = |env: &str| format!("image: example.test/op:1\n        env:\n        - {env}");
    let (value, reference) = (
        "{name: MODE, value: one}",
        "{name: MODE, valueFrom: {configMapKeyRef: {name: settings, key: mode}}}",
    );
    project.change("30_deployment", "image: example.test/op:1", &with_env(value));
    project.apply_ok(cluster, &[]);
    let container = json!({"name": "op", "env": [{"name": "MODE", "value": "one"}]});
    let theirs = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "spec": {"template": {"spec": {"containers": [container]}}}});
    let path = format!("{DEPLOYMENT_PATH}?fieldManager=argocd");
    cluster.patch(&path, "application/apply-patch+yaml", &theirs.to_string());
    project.change("30_deployment", value, reference);
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", "Deployment.apps/op in openshift-op").unwrap();
    let expected = "; spec.template.spec.containers[0].env[0] is also owned by argocd (Apply)";
    assert!(message.contains(expected), "{message}");
}

const AGGREGATED: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: op-aggregated
aggregationRule:
  clusterRoleSelectors:
  - matchLabels: {example.test/aggregate: \"true\"}
rules: []
";

const PART: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: op-part
  labels: {example.test/aggregate: \"true\"}
rules:
- apiGroups: [\"\"]
  resources: [configmaps]
  verbs: [get]
";

/// A controller fills in the rules of an aggregated role. The next apply writes nothing, and an apply of another field
/// keeps the rules.
fn the_rules_of_an_aggregated_role_are_left_alone(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/op-aggregated";
    project.write_manifest("50_aggregated", AGGREGATED);
    project.write_manifest("50_part", PART);
    project.apply_ok(cluster, &[]);
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]);
    wait_until("the rules", || cluster.get(path).unwrap()["rules"] == rules);
    assert_nothing_to_write(cluster, &project);
    project.change("50_aggregated", "  name: op-aggregated\n", "  name: op-aggregated\n  labels: {a: b}\n");
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    let live = cluster.get(path).unwrap();
    assert_eq!((&live["rules"], &live["metadata"]["labels"]["a"]), (&rules, &json!("b")));
    assert_eq!(written_paths(cluster, mark).iter().filter(|written| *written == path).count(), 1);
}

/// A `nullable` field with a default has an explicit null. It stays null; in other fields, a null means nothing.
fn a_null_of_a_custom_resource_is_kept(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change(
        "10_crd",
        "              size: {type: integer}\n",
        "              size: {type: integer, nullable: true, default: 7}\n              \
         other: {type: integer, default: 8}\n              plain: {type: integer}\n              \
         map: {type: object, nullable: true, properties: {a: {type: string}}}\n",
    );
    project.change("50_widget", "  size: 1\n", "  size: null\n  other: null\n  plain: null\n  map: null\n");
    project.apply_ok(cluster, &[]);
    let spec = |cluster: &TestCluster| cluster.get(WIDGET).unwrap()["spec"].clone();
    assert_eq!(spec(cluster), json!({"size": null, "other": 8, "map": null}));
    assert_nothing_to_write(cluster, &project);
    patch_as(cluster, "admin", WIDGET, &json!({"spec": {"size": 3}}));
    project.apply_ok(cluster, &[]);
    assert_eq!(spec(cluster)["size"], Value::Null);
    assert_nothing_to_write(cluster, &project);
    project.change("50_widget", "  size: null\n", "");
    project.apply_ok(cluster, &[]);
    assert_eq!(spec(cluster)["size"], 7, "without the null, the default is set");
}

/// Others add pull secrets and secrets to a `ServiceAccount`. They stay, even if another field is applied.
fn pull_secrets_of_others_are_kept(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let path = "/api/v1/namespaces/openshift-op/serviceaccounts/op";
    let lists = "imagePullSecrets: [{name: credentials}]\nsecrets: [{name: credentials}]\n";
    project.change(
        "20_account",
        "  namespace: openshift-op\n",
        &format!("  namespace: openshift-op\n{lists}"),
    );
    project.apply_ok(cluster, &[]);
    let named = |names: &[&str]| -> Value { names.iter().map(|name| json!({"name": name})).collect() };
    assert_eq!(cluster.get(path).unwrap()["imagePullSecrets"], named(&["credentials"]));
    let (pull, secrets) = (named(&["credentials", "dockercfg"]), named(&["credentials", "token"]));
    patch_as(cluster, "controller", path, &json!({"imagePullSecrets": pull, "secrets": secrets}));
    assert_nothing_to_write(cluster, &project);
    project.change("20_account", "  name: op\n", "  name: op\n  labels: {a: b}\n");
    project.apply_ok(cluster, &[]);
    let live = cluster.get(path).unwrap();
    assert_eq!((&live["imagePullSecrets"], &live["secrets"]), (&pull, &secrets));
    assert_eq!(live["metadata"]["labels"]["a"], "b");
    assert_nothing_to_write(cluster, &project);
}
