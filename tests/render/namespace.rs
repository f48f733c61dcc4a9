//! Everything to one namespace, and what names it along with it.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

/// A payload of these documents, in a profile that moves everything to `hosted`.
fn folder(documents: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", documents);
    let page = "annotations: {include.release.openshift.io/x: 'true'}\n";
    folder.write(
        "payload/op/component.yaml",
        format!("{HEADER}kind: Component\nmetadata: {{name: op}}\n{page}"),
    );
    folder.write(
        "profiles/one.yaml",
        format!("{HEADER}kind: Profile\nmetadata: {{name: one}}\ntopology: t\ncluster: both\nselect: {{clusterProfile: x}}\nnamespace: hosted\n"),
    );
    folder
}

fn render(folder: &Folder) -> (Vec<serde_json::Value>, String) {
    let run = folder.run(&["render", "--profile", "one", "-o", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    (run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), run.stderr)
}

const ACCOUNT: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n---\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: metrics, namespace: old}\n---\n";

#[test]
fn subjects_follow_those_that_moved_and_no_others() {
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects:\n\
        - {kind: ServiceAccount, name: sa, namespace: old}\n- {kind: ServiceAccount, name: other, namespace: old2}\n\
        - {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old:sa'}\n\
        - {kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:old2:other'}\n";
    let (rendered, warnings) = render(&folder(&format!("{ACCOUNT}{binding}")));
    assert_eq!(
        rendered[1]["subjects"].to_string(),
        r#"[{"kind":"ServiceAccount","name":"sa","namespace":"hosted"},{"kind":"ServiceAccount","name":"other","namespace":"old2"},{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:serviceaccount:hosted:sa"},{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:serviceaccount:old2:other"}]"#
    );
    assert!(rendered[1]["metadata"].get("namespace").is_none(), "a cluster-scoped object has none");
    assert_eq!(warnings, "");
}

#[test]
fn the_services_that_the_api_server_calls_follow() {
    let clients = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v}\nwebhooks: [{name: a.b.c, clientConfig: {service: {name: metrics, namespace: old}}}]\n---\n\
        apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.y}\nspec: {service: {name: metrics, namespace: old}}\n---\n\
        apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: xs.x.y}\nspec: {group: x.y, scope: Cluster, names: {kind: X, plural: xs}, conversion: {webhook: {clientConfig: {service: {name: metrics, namespace: old}}}}}\n---\n\
        apiVersion: x.y/v1\nkind: X\nmetadata: {name: one}\n";
    let (rendered, _) = render(&folder(&format!("{SERVICE}{clients}")));
    assert_eq!(rendered[1]["webhooks"][0]["clientConfig"]["service"]["namespace"], "hosted");
    assert_eq!(rendered[2]["spec"]["service"]["namespace"], "hosted");
    assert_eq!(
        rendered[3]["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"],
        "hosted"
    );
    assert!(rendered[4]["metadata"].get("namespace").is_none(), "a cluster-scoped custom resource has none");
}

#[test]
fn names_of_services_in_texts_follow() {
    let text = |text: &str, expected: &str| {
        let config = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: old, annotations: {{at: '{text}'}}}}\ndata: {{at: '{text}'}}\n"
        );
        let (rendered, _) = render(&folder(&format!("{SERVICE}{config}")));
        assert_eq!(rendered[1]["data"]["at"], expected);
        assert_eq!(rendered[1]["metadata"]["annotations"]["at"], expected);
    };
    text("metrics.old.svc", "metrics.hosted.svc");
    text("https://metrics.old.svc:443/x", "https://metrics.hosted.svc:443/x");
    text("--to=metrics.old.svc.cluster.local,b", "--to=metrics.hosted.svc.cluster.local,b");
    text("metrics.old.svc and metrics.old.svc.", "metrics.hosted.svc and metrics.hosted.svc.");
    text("kubernetes.default.svc", "kubernetes.default.svc");
    text("other.old.svc", "other.old.svc");
    text("x-metrics.old.svc", "x-metrics.old.svc");
    text("metrics.old.svcs", "metrics.old.svcs");
    text("old.svc", "old.svc");
    text(".svc", ".svc");
}

#[test]
fn monitors_follow() {
    let monitor = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: servicemonitors.monitoring.coreos.com}\nspec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: ServiceMonitor, plural: servicemonitors}}\n---\n\
        apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m, namespace: old}\nspec: {namespaceSelector: {matchNames: [old, elsewhere]}, endpoints: [{tlsConfig: {serverName: metrics.old.svc}}]}\n";
    let (rendered, warnings) = render(&folder(&format!("{SERVICE}{monitor}")));
    assert_eq!(
        rendered[2]["spec"].to_string(),
        r#"{"endpoints":[{"tlsConfig":{"serverName":"metrics.hosted.svc"}}],"namespaceSelector":{"matchNames":["hosted","elsewhere"]}}"#
    );
    assert_eq!(warnings, "");
}

#[test]
fn what_belongs_to_the_guest_stays_and_what_is_left_over_is_reported() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: old}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        args:\n        \
        - --leader-election-namespace=old\n        - --service-account-namespace=old\n        - --watch=old\n        - --older=older\n";
    let (rendered, warnings) = render(&folder(deployment));
    let args = &rendered[0]["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(
        args.to_string(),
        r#"["--leader-election-namespace=old","--service-account-namespace=old","--watch=old","--older=older"]"#
    );
    assert_eq!(
        warnings,
        "warning: payload/op/1.yaml:12:11: the namespace `old` is still mentioned here\n  object: Deployment.apps/d in hosted\n  \
         note: its objects are now in `hosted`\n  help: if it is the guest's, nothing is wrong; else say it with a name that is known\n"
    );
}
