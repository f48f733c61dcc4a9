//! Checks for two clusters: references across them, secrets in the guest, and objects of the management cluster.

use super::{assert_no_findings, changed, two_clusters, two_clusters_with_page, valid};

#[test]
fn harmless_texts_in_the_guest_have_no_findings() {
    for text in [
        // A Service with the same name in another namespace.
        "  url: https://op.openshift-monitoring.svc\n",
        // A part of a private key.
        "  script: grep -q 'BEGIN RSA PRIVATE KEY-----' file\n",
        // A kubeconfig without a token.
        r"  kubeconfig: |
    current-context: a
    clusters: []
    users: [{name: a, user: {tokenFile: /token}}]
",
    ] {
        assert_no_findings(&two_clusters(&changed("two.yaml", "  url: https://console.op.svc\n", text)));
    }
}

#[test]
fn a_service_account_can_turn_off_the_token_for_its_pods() {
    let account = r"kind: ServiceAccount
metadata:
  name: op
  namespace: op
";
    let manifests = changed("two.yaml", account, &format!("automountServiceAccountToken: false\n{account}"))
        .replace("      automountServiceAccountToken: false\n", "");
    assert_no_findings(&two_clusters(&manifests));
}

#[test]
fn an_issued_kubeconfig_is_not_allowed_in_the_guest() {
    let page = r"
        adds:
        - in: [guest]
          objects:
          - apiVersion: transship.openshift.io/v1
            kind: IssuedKubeconfig
            metadata: {name: issued, namespace: op}
            spec: {server: 'https://api:6443', authority: root-ca, as: {namespace: op, serviceAccount: op}}
        ";
    let signer =
        "externals: [{objects: [Secret/op/root-ca], in: [guest], reason: someone else creates it}]\n";
    let project = two_clusters_with_page(&valid("two.yaml"), page).checks(signer);
    let run = project.lint(&["--profile", "guest"]);
    assert_eq!(
        run.stdout,
        "\
error[secret-in-guest]: payload/op/component.yaml:12:5: the guest receives a kubeconfig
  object: Secret/issued in op, at /metadata/annotations/transship.openshift.io~1issued
  note: users of the guest can read it
  note: found in guest
  help: keep it in the management cluster: workloads there reach the guest with a kubeconfig or a minted token
"
    );
}

#[test]
fn issued_credentials_are_not_allowed_in_the_guest() {
    let page = r"
        adds:
        - in: [guest]
          objects:
          - apiVersion: transship.openshift.io/v1
            kind: IssuedCredentials
            metadata: {name: issued, namespace: op}
            spec: {aws: {region: us-east-1}}
        ";
    let run = two_clusters_with_page(&valid("two.yaml"), page).lint(&["--profile", "guest"]);
    assert_eq!(
        run.stdout,
        "\
error[secret-in-guest]: payload/op/component.yaml:12:5: the guest receives credentials
  object: Secret/issued in op, at /metadata/annotations/transship.openshift.io~1issued
  note: users of the guest can read it
  note: found in guest
  help: keep it in the management cluster: workloads there reach the guest with a kubeconfig or a minted token
"
    );
}

/// An external such as `Namespace/*` does not make a namespace of the other cluster one of this cluster.
#[test]
fn a_pattern_of_externals_does_not_hide_a_subject_of_the_other_cluster() {
    let manifests =
        changed("two.yaml", "name: system:serviceaccounts:op", "name: system:serviceaccounts:clusters-a");
    let project = two_clusters(&manifests).checks("externals: [{objects: [Namespace/*], reason: r}]\n");
    assert_eq!(
        project.lint(&["--profile", "guest"]).stdout,
        "\
error[wrong-cluster-subject]: payload/op/0000_50_op_01.yaml:98:9: the subject is in the namespace `clusters-a`, which belongs to the other cluster
  object: ClusterRoleBinding.rbac.authorization.k8s.io/watcher, at /subjects/[name=system:serviceaccounts:clusters-a]/name
  note: anyone who can create this namespace in this cluster gets the rights
  note: found in guest
  help: use a subject of this cluster, or omit the binding in this profile
warning[unused-external]: profiles/checks.yaml:4:24: no object uses the external `Namespace/*`
  note: its reason is: r
  note: found in guest
  help: remove it, or limit it to some profiles with `in`
"
    );
}

#[test]
fn a_message_about_a_service_does_not_repeat_the_value_of_a_secret() {
    let manifests = changed("two.yaml", "note: nothing to see", "url: https://u:p@op.op.svc/canary");
    assert_eq!(
        two_clusters(&manifests).lint(&[]).stdout,
        "\
error[wrong-cluster]: payload/op/0000_50_op_01.yaml:106:8: the value names a Service of the other cluster
  object: Secret/in-guest in op, at /stringData/url
  note: DNS of this cluster does not resolve the name
  note: found in guest
  help: add a Service with this name to this cluster that forwards to the other one, or use an external URL
"
    );
}

/// `place` rejects such an object, but a patch can still change a kind.
#[test]
fn a_cluster_scoped_object_in_the_management_cluster_is_reported() {
    let page = r"
        patches:
        - reason: r
          in: [mc]
          target: {kind: ConfigMap, name: config}
          patch:
          - {op: replace, path: /kind, value: Node}
          - {op: remove, path: /data}
          - {op: remove, path: /metadata/namespace}
        ";
    assert_eq!(
        two_clusters_with_page(&valid("two.yaml"), page).lint(&[]).stdout,
        "\
error[cluster-scoped]: payload/op/0000_50_op_01.yaml:12:1: Node is cluster-scoped and not allowed in the management cluster
  object: Node/config
  note: hosted control planes share the management cluster: another one could overwrite the object
  note: found in mc
  help: place it in the guest, or omit it in this profile
error[missing-object]: payload/op/0000_50_op_01.yaml:71:19: there is no ConfigMap `config` in the namespace `clusters-a`
  object: Deployment.apps/op in clusters-a, at /spec/template/spec/containers/[name=op]/envFrom/0/configMapRef/name
  note: the pod waits for it and never starts
  note: found in mc
  help: add it to the payload, or declare it under `externals` and say who creates it
"
    );
}

#[test]
fn a_parameter_from_the_guest_needs_a_pattern_or_enum() {
    let project = two_clusters(&valid("two.yaml")).parameters(
        r"
        parameters:
          region:
            type: string
            description: d
            optional: true
            read: {object: Infrastructure, path: /status/region}
        ",
    );
    assert_eq!(
        project.lint(&[]).refusal(),
        "\
error[unvalidated-guest-value]: profiles/parameters.yaml:5:3: the parameter `region` is read from the guest and accepts any value
  note: the guest's administrator decides what the value is
  help: limit it with `pattern` or `enum`
"
    );
}
