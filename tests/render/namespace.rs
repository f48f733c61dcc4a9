//! The move of all namespaced objects to the profile's namespace, and the references to them.

use crate::support::{Folder, profile};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

/// Creates a payload of these documents, and a profile with the namespace `hosted`.
fn folder(documents: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", documents);
    let page = "annotations: {include.release.openshift.io/x: 'true'}\n";
    folder.write(
        "payload/op/component.yaml",
        format!("{HEADER}kind: Component\nmetadata: {{name: op}}\n{page}"),
    );
    let body = "topology: t\ncluster: both\nselect: {clusterProfile: x}\nnamespace: hosted\n";
    folder.write("profiles/one.yaml", format!("{HEADER}kind: Profile\nmetadata: {{name: one}}\n{body}"));
    folder
}

/// Renders, and returns the objects and the warnings.
fn render(folder: &Folder) -> (Vec<serde_json::Value>, String) {
    let run = folder.run(&["render", "--profile", "one", "-o", "json"]);
    (run.json(), run.stderr)
}

const ACCOUNT: &str = "\
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: old}
---
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: old}
---
";

#[test]
fn subjects_are_updated_if_their_service_account_moved() {
    let binding = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}
subjects:
- {kind: ServiceAccount, name: sa, namespace: old}
- {kind: ServiceAccount, name: other, namespace: old2}
- {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old:sa'}
- {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old2:other'}
";
    let (rendered, warnings) = render(&folder(&format!("{ACCOUNT}{binding}")));
    assert_eq!(
        rendered[1]["subjects"],
        serde_json::json!([
            {"kind": "ServiceAccount", "name": "sa", "namespace": "hosted"},
            {"kind": "ServiceAccount", "name": "other", "namespace": "old2"},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:serviceaccount:hosted:sa"},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:serviceaccount:old2:other"},
        ])
    );
    assert!(rendered[1]["metadata"].get("namespace").is_none(), "a cluster-scoped object has no namespace");
    assert_eq!(warnings, "");
}

#[test]
fn services_that_the_api_server_calls_are_updated() {
    let clients = "\
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
spec: {group: x.y, scope: Cluster, names: {kind: X, plural: xs}, conversion: {webhook: {clientConfig: {service: {name: metrics, namespace: old}}}}}
---
apiVersion: x.y/v1
kind: X
metadata: {name: one}
";
    let (rendered, _) = render(&folder(&format!("{SERVICE}{clients}")));
    assert_eq!(rendered[1]["webhooks"][0]["clientConfig"]["service"]["namespace"], "hosted");
    assert_eq!(rendered[2]["spec"]["service"]["namespace"], "hosted");
    assert_eq!(
        rendered[3]["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"],
        "hosted"
    );
    assert!(
        rendered[4]["metadata"].get("namespace").is_none(),
        "a cluster-scoped custom resource has no namespace"
    );
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
        let config = format!(
            "\
apiVersion: v1
kind: ConfigMap
metadata: {{name: c, namespace: old, annotations: {{at: '{text}'}}}}
data: {{at: '{text}'}}
"
        );
        let (rendered, _) = render(&folder(&format!("{SERVICE}{config}")));
        assert_eq!(rendered[1]["data"]["at"], expected);
        assert_eq!(rendered[1]["metadata"]["annotations"]["at"], expected);
    }
}

#[test]
fn service_monitors_are_updated() {
    let monitor = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: ServiceMonitor, plural: servicemonitors}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: m, namespace: old}
spec: {namespaceSelector: {matchNames: [old, elsewhere]}, endpoints: [{tlsConfig: {serverName: metrics.old.svc}}]}
";
    let (rendered, warnings) = render(&folder(&format!("{SERVICE}{monitor}")));
    assert_eq!(
        rendered[2]["spec"].to_string(),
        r#"{"endpoints":[{"tlsConfig":{"serverName":"metrics.hosted.svc"}}],"namespaceSelector":{"matchNames":["hosted","elsewhere"]}}"#
    );
    assert_eq!(warnings, "");
}

#[test]
fn other_text_stays_and_is_reported_unless_it_names_a_namespace_of_the_guest() {
    let deployment = "\
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
";
    let (rendered, warnings) = render(&folder(deployment));
    assert_eq!(
        rendered[0]["spec"]["template"]["spec"]["containers"][0]["args"].to_string(),
        r#"["--leader-election-namespace=old","--service-account-namespace=old","--watch=old","--older=older"]"#
    );
    assert_eq!(
        warnings,
        "warning: payload/op/1.yaml:12:11: the namespace `old` is still mentioned here\n  \
         object: Deployment.apps/d in hosted\n  \
         note: its objects are now in `hosted`\n  \
         help: if it is a namespace of the guest, ignore this warning; otherwise change it with an addition or a patch\n"
    );
}

/// Returns a manifest with the name `a` in the namespace `old`.
fn namespaced(head: &str, rest: &str) -> String {
    format!(
        "{head}\nmetadata: {{name: a, namespace: old, annotations: {{include.release.openshift.io/test: 'true'}}}}\n{rest}"
    )
}

/// Returns a manifest with the name `a` and no namespace.
fn cluster_scoped(head: &str, rest: &str) -> String {
    namespaced(head, rest).replace(", namespace: old, annotations", ", annotations")
}

const SUBJECTS: &str = "\
subjects:
- {kind: ServiceAccount, name: a, namespace: old}
- {kind: ServiceAccount, name: foreign, namespace: old}
- {kind: User, name: a, namespace: old}
";

const CRD_SPEC: &str = "\
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing}
  conversion: {webhook: {clientConfig: {service: {name: a, namespace: old}}}}
";

#[test]
fn namespaced_objects_move_and_cluster_scoped_objects_do_not() {
    let webhook = "webhooks:\n- name: w\n  clientConfig: {service: {name: a, namespace: old}}\n";
    let api_service = "spec: {groupPriorityMinimum: 1, service: {name: a, namespace: old}}\n";
    let folder = Folder::with_payload(&[
        ("1.yaml", &namespaced("apiVersion: v1\nkind: ServiceAccount", "")),
        ("2.yaml", &namespaced("apiVersion: v1\nkind: Service", "")),
        ("3.yaml", &namespaced("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding", SUBJECTS)),
        (
            "4.yaml",
            &cluster_scoped(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration",
                webhook,
            ),
        ),
        ("5.yaml", &cluster_scoped("apiVersion: apiregistration.k8s.io/v1\nkind: APIService", api_service)),
        ("6.yaml", &cluster_scoped("apiVersion: example.com/v1\nkind: Thing", "")),
        (
            "7.yaml",
            &cluster_scoped("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition", CRD_SPEC),
        ),
    ]);
    folder.write("profiles/test.yaml", profile("test", "namespace: new\n"));
    let rendered = folder.run(&["render", "--profile", "test", "-o", "json"]).json();
    let at =
        |index: usize, pointer: &str| rendered[index].pointer(pointer).and_then(serde_json::Value::as_str);
    for index in 0..3 {
        assert_eq!(at(index, "/metadata/namespace"), Some("new"));
    }
    for index in 3..7 {
        assert_eq!(at(index, "/metadata/namespace"), None);
    }
    assert_eq!(
        [0, 1, 2].map(|subject| at(2, &format!("/subjects/{subject}/namespace"))),
        [Some("new"), Some("old"), Some("old")],
        "only the ServiceAccount that moved"
    );
    assert_eq!(at(3, "/webhooks/0/clientConfig/service/namespace"), Some("new"));
    assert_eq!(at(4, "/spec/service/namespace"), Some("new"));
    assert_eq!(at(6, "/spec/conversion/webhook/clientConfig/service/namespace"), Some("new"));
}

#[test]
fn a_kind_of_unknown_scope_is_an_error() {
    let thing = namespaced("apiVersion: example.com/v1\nkind: Thing", "");
    let folder = Folder::with_payload(&[("x.yaml", &thing)]);
    folder.write("profiles/test.yaml", profile("test", "namespace: new\n"));
    assert_eq!(
        folder.run(&["render", "--profile", "test"]).refusal(),
        "error: payload/x.yaml:1:1: it is not known whether Thing.example.com is namespaced or cluster-scoped\n  \
         object: Thing.example.com/a in old\n  \
         help: add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file\n"
    );
}
