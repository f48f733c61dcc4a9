//! Tests of drift.

use serde_json::{Value, json};

use super::{DriftInput, find_drift};
use crate::apply::decide::json_fields::FieldPath;
use crate::object::ObjectId;
use crate::object::path::PathStep::{Index, Key};
use crate::yaml::{Node, Sensitivity};

const DEPLOYMENT: (&str, &str) = ("apps", "Deployment");

fn id((group, kind): (&str, &str)) -> ObjectId {
    let [group, kind, namespace, name] = [group, kind, "ns", "op"].map(str::to_owned);
    ObjectId { group, kind, namespace, name }
}

fn desired() -> Value {
    json!({"spec": {"replicas": 1, "template": {"spec": {
        "securityContext": {},
        "containers": [{"name": "op", "image": "i:1", "env": [{"name": "A", "value": "1"}]}],
    }}}})
}

/// The fields of [`desired`].
fn our_fields() -> Value {
    json!({"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {
        "f:securityContext": {},
        "f:containers": {r#"k:{"name":"op"}"#: {".": {}, "f:name": {}, "f:image": {},
            "f:env": {r#"k:{"name":"A"}"#: {".": {}, "f:name": {}, "f:value": {}}}}},
    }}}})
}

fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": operation, "time": "2026-01-02T03:04:05Z", "fieldsV1": fields})
}

/// Adds our entry and others to an object.
fn with_managers(mut object: Value, others: &[Value]) -> Value {
    let mut entries = vec![entry("transship", "Apply", &our_fields())];
    entries.extend(others.iter().cloned());
    object["metadata"]["managedFields"] = entries.into();
    object
}

fn drift_with(kind: (&str, &str), desired: &Value, live: &Value, of_others: &[FieldPath]) -> Vec<String> {
    let rendered = Node::from(desired);
    let id = id(kind);
    let input = DriftInput { id: &id, rendered: &rendered, desired, live, of_others, is_applied: true };
    find_drift(&input).0.iter().map(ToString::to_string).collect()
}

fn drift(live: &Value) -> Vec<String> {
    drift_with(DEPLOYMENT, &desired(), live, &[])
}

#[test]
fn what_others_add_is_reported_with_its_manager() {
    let mut live = desired();
    let pod = &mut live["spec"]["template"]["spec"];
    pod["hostNetwork"] = json!(true);
    pod["securityContext"] = json!({"runAsUser": 0});
    pod["containers"][0]["env"].as_array_mut().unwrap().push(json!({"name": "B", "value": "2"}));
    pod["containers"].as_array_mut().unwrap().push(json!({"name": "debug", "image": "d:1"}));
    let edit = entry(
        "kubectl-edit",
        "Update",
        &json!({"f:spec": {"f:template": {"f:spec": {
            "f:hostNetwork": {}, "f:securityContext": {"f:runAsUser": {}},
            "f:containers": {r#"k:{"name":"debug"}"#: {".": {}, "f:name": {}, "f:image": {}}},
        }}}}),
    );
    let operator = entry(
        "operator",
        "Apply",
        &json!({"f:spec": {"f:template": {"f:spec": {
            "f:containers": {r#"k:{"name":"op"}"#: {"f:env": {r#"k:{"name":"B"}"#: {".": {}}}}},
        }}}}),
    );
    let by_edit = "(added by kubectl-edit, Update, 2026-01-02T03:04:05Z)";
    assert_eq!(
        drift(&with_managers(live, &[edit, operator])),
        [
            format!(r#"/spec/template/spec/containers/[name=debug]: {{"image":"d:1","name":"debug"}} {by_edit}"#),
            r#"/spec/template/spec/containers/[name=op]/env/[name=B]: {"name":"B","value":"2"} (added by operator, Apply, 2026-01-02T03:04:05Z)"#.to_owned(),
            format!("/spec/template/spec/hostNetwork: true {by_edit}"),
            format!("/spec/template/spec/securityContext/runAsUser: 0 {by_edit}"),
        ]
    );
}

#[test]
fn what_others_change_or_remove_is_reported() {
    let mut live = desired();
    live["spec"]["template"]["spec"]["containers"][0] = json!({"name": "op", "image": "evil:1"});
    let image = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {r#"k:{"name":"op"}"#: {"f:image": {}}}}}}});
    let mut live = with_managers(live, &[entry("kubectl-set", "Update", &image)]);
    let ours = &mut live["metadata"]["managedFields"][0]["fieldsV1"];
    ours["f:spec"]["f:template"]["f:spec"]["f:containers"] =
        json!({r#"k:{"name":"op"}"#: {".": {}, "f:name": {}}});
    let expected = [
        r#"/spec/template/spec/containers/[name=op]/env: [{"name":"A","value":"1"}] (removed by an unknown manager)"#,
        r#"/spec/template/spec/containers/[name=op]/image: "evil:1" instead of "i:1" (changed by kubectl-set, Update, 2026-01-02T03:04:05Z)"#,
    ];
    assert_eq!(drift(&live), expected);
}

#[test]
fn defaults_other_fields_and_pending_changes_are_not_drift() {
    let mut live = desired();
    live["spec"]["replicas"] = json!(5);
    live["status"] = json!({"replicas": 5});
    live["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "2"});
    let pod = &mut live["spec"]["template"]["spec"];
    pod["dnsPolicy"] = json!("ClusterFirst");
    pod["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    pod["containers"][0]["startupProbe"] = json!({"periodSeconds": 10});
    // The next apply changes the image, which transship owns.
    pod["containers"][0]["image"] = json!("i:0");
    let others = json!({
        "f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}}, "f:status": {"f:replicas": {}},
        "f:spec": {"f:replicas": {}, "f:template": {"f:spec": {
            "f:dnsPolicy": {}, "f:containers": {r#"k:{"name":"op"}"#: {"f:resources": {"f:requests": {"f:cpu": {}}}}}}}},
    });
    assert_eq!(drift(&with_managers(live, &[entry("autoscaler", "Update", &others)])), Vec::<String>::new());
}

/// Whoever adds a container can also remove the record of it.
#[test]
fn what_nobody_owns_is_reported_if_it_is_no_default() {
    let mut live = with_managers(desired(), &[]);
    let pod = &mut live["spec"]["template"]["spec"];
    pod["hostPID"] = json!(true);
    pod["volumes"] = json!([{"name": "root", "hostPath": {"path": "/"}}]);
    let expected = [
        "/spec/template/spec/hostPID: true (added by an unknown manager)",
        r#"/spec/template/spec/volumes/[name=root]: {"hostPath":{"path":"/"},"name":"root"} (added by an unknown manager)"#,
    ];
    assert_eq!(drift(&live), expected);
    live["metadata"]["managedFields"] = json!([]);
    let lost = drift(&live);
    assert_eq!(lost[0], "/metadata/managedFields: (removed by an unknown manager)");
    assert_eq!(lost[1..], expected);
}

#[test]
fn a_default_of_the_api_server_is_no_drift() {
    let conversion = json!({"spec": {"conversion": {"strategy": "None"}}});
    let crd = ("apiextensions.k8s.io", "CustomResourceDefinition");
    assert_eq!(drift_with(crd, &json!({}), &with_managers(conversion, &[]), &[]), Vec::<String>::new());
    let constraints = json!({"volumes": ["*"], "allowPrivilegeEscalation": true});
    let scc = ("security.openshift.io", "SecurityContextConstraints");
    assert_eq!(drift_with(scc, &json!({}), &with_managers(constraints, &[]), &[]), Vec::<String>::new());
    let webhook = json!({"webhooks": [{"name": "evil"}]});
    let kind = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration");
    assert_eq!(drift_with(kind, &json!({"webhooks": []}), &with_managers(webhook, &[]), &[]).len(), 1);
}

#[test]
fn rules_subjects_webhooks_and_labels_are_compared() {
    let by = |fields: &Value| entry("kubectl-patch", "Update", fields);
    let who = "by kubectl-patch, Update, 2026-01-02T03:04:05Z)";
    let rbac = "rbac.authorization.k8s.io";
    let rules = |verb: &str| json!([{"verbs": [verb]}]);
    let role = json!({"rules": rules("*"), "metadata": {"managedFields": [by(&json!({"f:rules": {}}))]}});
    assert_eq!(
        drift_with((rbac, "Role"), &json!({"rules": rules("get")}), &role, &[])[1..],
        [format!(r#"/rules: [{{"verbs":["*"]}}] instead of [{{"verbs":["get"]}}] (changed {who}"#)]
    );
    let aggregated = json!({"aggregationRule": {}, "rules": []});
    assert_eq!(
        drift_with((rbac, "ClusterRole"), &aggregated, &role, &[]).len(),
        1,
        "only the managed fields"
    );
    let binding = json!({"subjects": [{"name": "op"}, {"name": "evil"}],
        "metadata": {"managedFields": [by(&json!({"f:subjects": {}}))]}});
    assert_eq!(
        drift_with((rbac, "RoleBinding"), &json!({"subjects": [{"name": "op"}]}), &binding, &[])[1..],
        [format!(r#"/subjects/[name=evil]: {{"name":"evil"}} (added {who}"#)]
    );
    let fields =
        json!({"f:metadata": {"f:labels": {"f:pod-security.kubernetes.io/enforce": {}, "f:team": {}}}});
    let namespace = json!({"metadata": {"managedFields": [by(&fields)],
        "labels": {"pod-security.kubernetes.io/enforce": "privileged", "team": "a"}}});
    assert_eq!(
        drift_with(("", "Namespace"), &json!({}), &namespace, &[])[1..],
        [format!(r#"/metadata/labels/pod-security.kubernetes.io~1enforce: "privileged" (added {who}"#)]
    );
    let webhook = |bundle: &str, policy: &str| json!({"webhooks": [{"name": "w", "failurePolicy": policy, "clientConfig": {"caBundle": bundle}}]});
    let mut live = webhook("Zm9v", "Ignore");
    let fields = json!({"f:webhooks": {r#"k:{"name":"w"}"#: {"f:clientConfig": {"f:caBundle": {}}, "f:failurePolicy": {}}}});
    live["metadata"] = json!({"managedFields": [by(&fields)]});
    let bundle: FieldPath =
        vec![Key("webhooks".into()), Index(0), Key("clientConfig".into()), Key("caBundle".into())];
    let kind = ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration");
    assert_eq!(
        drift_with(kind, &webhook("", "Fail"), &live, &[bundle])[1..],
        [format!(r#"/webhooks/[name=w]/failurePolicy: "Ignore" instead of "Fail" (changed {who}"#)],
        "the profile leaves the CA bundle to others"
    );
}

#[test]
fn programs_get_typed_values_and_nobody_gets_sensitive_ones() {
    let desired = desired();
    let mut rendered = Node::from(&desired);
    let secret = rendered.get_mut("spec").unwrap().get_mut("replicas").unwrap();
    *secret = Node::from(&json!("hunter2-hunter2"));
    secret.protect(Sensitivity::Secret);
    let mut live = with_managers(desired.clone(), &[]);
    live["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "v", "path": "hunter2-hunter2", "size": 1}]);
    let id = id(DEPLOYMENT);
    let input = DriftInput {
        id: &id,
        rendered: &rendered,
        desired: &desired,
        live: &live,
        of_others: &[],
        is_applied: true,
    };
    let (fields, left_out) = find_drift(&input);
    assert_eq!(left_out, 0);
    assert_eq!(
        fields.iter().map(super::DriftedField::to_json).collect::<Vec<Value>>(),
        [json!({
            "path": "/spec/template/spec/volumes/[name=v]", "change": "added", "manager": null, "operation": null,
            "time": null, "value": {"name": "v", "path": "<hidden>", "size": 1},
        })]
    );
}

/// A short value cannot be searched for, so its place decides.
#[test]
fn a_sensitive_value_that_someone_removed_is_hidden() {
    let desired = desired();
    let mut rendered = Node::from(&desired);
    let mut container = rendered.get_mut("spec").and_then(|spec| spec.get_mut("template")?.get_mut("spec"));
    let env = container.as_mut().and_then(|spec| spec.get_mut("containers"));
    if let Some(crate::yaml::Value::List(containers)) = env.map(|containers| &mut containers.value)
        && let Some(crate::yaml::Value::List(env)) = containers[0].get_mut("env").map(|env| &mut env.value)
    {
        env[0].get_mut("value").unwrap().protect(Sensitivity::Secret);
    }
    let mut live = desired.clone();
    live["spec"]["template"]["spec"]["containers"][0] = json!({"name": "op", "image": "i:1"});
    let mut live = with_managers(live, &[]);
    let ours = &mut live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"];
    ours["f:containers"] = json!({r#"k:{"name":"op"}"#: {".": {}, "f:name": {}, "f:image": {}}});
    let id = id(DEPLOYMENT);
    let input = DriftInput {
        id: &id,
        rendered: &rendered,
        desired: &desired,
        live: &live,
        of_others: &[],
        is_applied: true,
    };
    let fields: Vec<Value> = find_drift(&input).0.iter().map(super::DriftedField::to_json).collect();
    assert_eq!(fields.len(), 1, "{fields:?}");
    assert_eq!(fields[0]["rendered"], json!([{"name": "A", "value": "<hidden>"}]));
}

#[test]
fn the_number_of_fields_is_limited() {
    let mut live = with_managers(desired(), &[]);
    let volumes: Vec<Value> = (0..130).map(|number| json!({"name": format!("v{number}")})).collect();
    live["spec"]["template"]["spec"]["volumes"] = volumes.into();
    let (desired, id) = (desired(), id(DEPLOYMENT));
    let rendered = Node::from(&desired);
    let input = DriftInput {
        id: &id,
        rendered: &rendered,
        desired: &desired,
        live: &live,
        of_others: &[],
        is_applied: true,
    };
    let (fields, left_out) = find_drift(&input);
    assert_eq!((fields.len(), left_out), (100, 30));
}
