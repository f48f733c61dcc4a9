//! The move of all namespaced objects to the profile's namespace, and the references to them.

use serde_json::json;

use crate::support::{Run, TestProject, find, unindent};

/// Creates a project with these documents, and the profile `one` with the namespace `hosted`.
fn moved(documents: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", documents)
        .page("op", "annotations: {include.release.openshift.io/x: 'true'}\n")
        .profile(
            "one",
            r"
            topology: t
            cluster: both
            namespace: hosted
            ",
        )
}

/// Renders objects beside a ServiceAccount `sa` and a Service `metrics`. All are in the namespace `old` before.
fn render_with_account_and_service(documents: &str) -> Run {
    let documents = unindent(documents);
    moved(&format!("{ACCOUNT_AND_SERVICE}{documents}")).run(&["render", "-o", "json"])
}

const ACCOUNT_AND_SERVICE: &str = r"
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: old}
---
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: old}
---
";

#[test]
fn subjects_are_updated_if_their_service_account_moved() {
    let run = render_with_account_and_service(
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: b}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}
        subjects:
        - {kind: ServiceAccount, name: sa, namespace: old}
        - {kind: ServiceAccount, name: other, namespace: old2}
        - {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old:sa'}
        - {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old2:other'}
        ",
    );
    let rendered = run.json();
    let binding = find(&rendered, "ClusterRoleBinding", "b");
    assert_eq!(
        binding["subjects"],
        json!([
            {"kind": "ServiceAccount", "name": "sa", "namespace": "hosted"},
            {"kind": "ServiceAccount", "name": "other", "namespace": "old2"},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:serviceaccount:hosted:sa"},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:serviceaccount:old2:other"},
        ])
    );
    assert_eq!(binding["metadata"].get("namespace"), None, "a cluster-scoped object has no namespace");
    assert_eq!(run.stderr, "");
}

#[test]
fn only_subjects_of_the_kind_service_account_are_updated() {
    let run = render_with_account_and_service(
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: b, namespace: old}
        subjects:
        - {kind: ServiceAccount, name: sa, namespace: old}
        - {kind: ServiceAccount, name: foreign, namespace: old}
        - {kind: User, name: sa, namespace: old}
        ",
    );
    let rendered = run.json();
    let binding = find(&rendered, "RoleBinding", "b");
    assert_eq!(binding["metadata"]["namespace"], "hosted");
    assert_eq!(
        binding["subjects"],
        json!([
            {"kind": "ServiceAccount", "name": "sa", "namespace": "hosted"},
            {"kind": "ServiceAccount", "name": "foreign", "namespace": "old"},
            {"kind": "User", "name": "sa", "namespace": "old"},
        ])
    );
}

#[test]
fn services_that_the_api_server_calls_are_updated() {
    let run = render_with_account_and_service(
        r"
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: v}
        webhooks: [{name: a.b.c, clientConfig: {service: {name: metrics, namespace: old}}}]
        ---
        apiVersion: apiregistration.k8s.io/v1
        kind: APIService
        metadata: {name: v1.x.y}
        spec: {service: {name: metrics, namespace: old}}
        ---
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: xs.x.y}
        spec:
          group: x.y
          scope: Cluster
          names: {kind: X, plural: xs}
          conversion: {webhook: {clientConfig: {service: {name: metrics, namespace: old}}}}
        ",
    );
    let rendered = run.json();
    let webhook = find(&rendered, "ValidatingWebhookConfiguration", "v");
    assert_eq!(webhook["webhooks"][0]["clientConfig"]["service"]["namespace"], "hosted");
    let api_service = find(&rendered, "APIService", "v1.x.y");
    assert_eq!(api_service["spec"]["service"]["namespace"], "hosted");
    let crd = find(&rendered, "CustomResourceDefinition", "xs.x.y");
    assert_eq!(crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"], "hosted");
}

#[test]
fn dns_names_of_moved_services_are_updated_in_all_text() {
    for (text, expected) in [
        ("metrics.old.svc", "metrics.hosted.svc"),
        ("https://metrics.old.svc:443/x", "https://metrics.hosted.svc:443/x"),
        ("--to=metrics.old.svc.cluster.local,b", "--to=metrics.hosted.svc.cluster.local,b"),
        ("metrics.old.svc and metrics.old.svc.", "metrics.hosted.svc and metrics.hosted.svc."),
        ("kubernetes.default.svc", "kubernetes.default.svc"),
        ("other.old.svc", "other.old.svc"),
        ("x-metrics.old.svc", "x-metrics.old.svc"),
        ("metrics.old.svcs", "metrics.old.svcs"),
        ("old.svc", "old.svc"),
        (".svc", ".svc"),
    ] {
        let config = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "c", "namespace": "old", "annotations": {"at": text}},
            "data": {"at": text},
        });
        let rendered = moved(&format!("{ACCOUNT_AND_SERVICE}{config}")).render("one");
        let config = find(&rendered, "ConfigMap", "c");
        assert_eq!(config["data"]["at"], expected);
        assert_eq!(config["metadata"]["annotations"]["at"], expected);
    }
}

#[test]
fn service_monitors_are_updated() {
    let run = render_with_account_and_service(
        r"
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: servicemonitors.monitoring.coreos.com}
        spec:
          group: monitoring.coreos.com
          scope: Namespaced
          names: {kind: ServiceMonitor, plural: servicemonitors}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: m, namespace: old}
        spec:
          namespaceSelector: {matchNames: [old, elsewhere]}
          endpoints: [{tlsConfig: {serverName: metrics.old.svc}}]
        ",
    );
    let rendered = run.json();
    assert_eq!(
        find(&rendered, "ServiceMonitor", "m")["spec"],
        json!({
            "endpoints": [{"tlsConfig": {"serverName": "metrics.hosted.svc"}}],
            "namespaceSelector": {"matchNames": ["hosted", "elsewhere"]},
        })
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn other_text_stays_and_is_reported_unless_it_names_a_namespace_of_the_guest() {
    let project = moved(
        r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: d, namespace: old}
        spec:
          template:
            spec:
              containers:
              - name: c
                args:
                - --leader-election-namespace=old
                - --service-account-namespace=old
                - --watch=old
                - --older=older
        ",
    );
    let run = project.run(&["render", "-o", "json"]);
    assert_eq!(
        run.json()[0]["spec"]["template"]["spec"]["containers"][0]["args"],
        json!([
            "--leader-election-namespace=old",
            "--service-account-namespace=old",
            "--watch=old",
            "--older=older",
        ])
    );
    assert_eq!(
        run.stderr,
        "\
warning: payload/op/1.yaml:12:11: the namespace `old` is still named here
  object: Deployment.apps/d in hosted
  note: its objects are now in `hosted`
  help: if it is a namespace of the guest, ignore this warning; otherwise change it with an addition or a patch
"
    );
}

#[test]
fn namespaced_objects_move_and_cluster_scoped_objects_do_not() {
    let run = render_with_account_and_service(
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: a, namespace: old}
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: a}
        ---
        apiVersion: apiregistration.k8s.io/v1
        kind: APIService
        metadata: {name: a}
        ---
        apiVersion: example.com/v1
        kind: Thing
        metadata: {name: a}
        ---
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: a}
        spec: {group: example.com, scope: Cluster, names: {kind: Thing}}
        ",
    );
    let rendered = run.json();
    let mut namespaces = Vec::new();
    for object in &rendered {
        namespaces.push((object["kind"].as_str().unwrap(), object["metadata"]["namespace"].as_str()));
    }
    assert_eq!(
        namespaces,
        [
            ("ServiceAccount", Some("hosted")),
            ("Service", Some("hosted")),
            ("RoleBinding", Some("hosted")),
            ("ValidatingWebhookConfiguration", None),
            ("APIService", None),
            ("Thing", None),
            ("CustomResourceDefinition", None),
        ]
    );
}

#[test]
fn a_kind_of_unknown_scope_is_an_error() {
    let project = moved(
        r"
        apiVersion: example.com/v1
        kind: Thing
        metadata: {name: a, namespace: old}
        ",
    );
    assert_eq!(
        project.render_error("one"),
        "\
error: payload/op/1.yaml:1:1: transship does not know whether Thing.example.com is namespaced or cluster-scoped
  object: Thing.example.com/a in old
  help: add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file
"
    );
}
