//! `needs` in pages: identities hold the rights that they use, and those that they grant.

use crate::support::{TestProject, object, unindent};

const RBAC: &str = "rbac.authorization.k8s.io/v1";

fn cluster_scoped(kind: &str, name: &str, body: &str) -> String {
    format!("apiVersion: {RBAC}\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{x: x}}}}\n{body}")
}

fn role_ref(kind: &str, name: &str) -> String {
    format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}\n")
}

const ACCOUNT: &str = "subjects: [{kind: ServiceAccount, name: op, namespace: ns}]\n";

/// Creates a project for one cluster with the ServiceAccount `op`, these manifests and these needs.
fn project(manifests: &[String], needs: &str) -> TestProject {
    let account = [object("v1", "ServiceAccount", "ns", "op", "")];
    TestProject::standalone()
        .manifest("op/0000_10_op_a.yaml", &[&account, manifests].concat().join("---\n"))
        .page("op", &format!("needs:\n{}", unindent(needs)))
}

/// Returns the findings of `lint` of this module's checks.
fn lint(project: &TestProject) -> String {
    let run = project.lint(&[]);
    assert!(run.code < 2, "{}", run.stderr);
    run.stdout
}

const NEEDS_PODS: &str = "
- identity: ServiceAccount/op
  cluster: guest
  rules: [{apiGroups: [\"\"], resources: [pods], verbs: [get, list]}]
";

const PODS: &str = "rules: [{apiGroups: [\"\"], resources: [pods], verbs: [get, list]}]\n";

/// A finding for [`NEEDS_PODS`] without any rights.
const LACKS_PODS: &str = "\
error[missing-right]: payload/op/component.yaml:5:3: `op` lacks rights that it uses
  object: ServiceAccount/op in ns
  note: the API server rejects its requests
  note: missing: - {apiGroups: [\"\"], resources: [pods], verbs: [get, list]}
  note: found in test
  help: add the rules to a role, and bind it to the ServiceAccount
";

#[test]
fn a_need_is_met_by_any_binding_of_the_identity() {
    let role = cluster_scoped("ClusterRole", "r", PODS);
    let subjects = [
        ACCOUNT,
        "subjects: [{kind: User, name: 'system:serviceaccount:ns:op'}]\n",
        "subjects: [{kind: Group, name: 'system:serviceaccounts:ns'}]\n",
        "subjects: [{kind: Group, name: 'system:serviceaccounts'}]\n",
        "subjects: [{kind: Group, name: 'system:authenticated'}]\n",
    ];
    for subject in subjects {
        let binding = cluster_scoped("ClusterRoleBinding", "b", &(role_ref("ClusterRole", "r") + subject));
        let found = lint(&project(&[role.clone(), binding], NEEDS_PODS));
        assert!(!found.contains("missing-right"), "{subject}{found}");
    }
    for subject in [
        "subjects: [{kind: ServiceAccount, name: other, namespace: ns}]\n",
        "subjects: [{kind: Group, name: 'system:serviceaccounts:other'}]\n",
        "subjects: [{kind: User, name: op}]\n",
    ] {
        let binding = cluster_scoped("ClusterRoleBinding", "b", &(role_ref("ClusterRole", "r") + subject));
        let found = lint(&project(&[role.clone(), binding], NEEDS_PODS));
        assert!(found.contains(LACKS_PODS), "{subject}{found}");
    }
}

/// A RoleBinding counts only in its namespace.
#[test]
fn rights_in_a_namespace_do_not_count_in_the_cluster() {
    let role = cluster_scoped("ClusterRole", "r", PODS);
    let binding = object(RBAC, "RoleBinding", "ns", "b", &(role_ref("ClusterRole", "r") + ACCOUNT));
    let manifests = [role, binding];
    assert_eq!(lint(&project(&manifests, NEEDS_PODS)), LACKS_PODS);
    let in_namespace = |namespace: &str| {
        let cluster = format!("cluster: guest\n  namespace: {namespace}\n");
        lint(&project(&manifests, &NEEDS_PODS.replace("cluster: guest\n", &cluster)))
    };
    assert_eq!(in_namespace("ns"), "");
    assert_eq!(in_namespace("other"), LACKS_PODS.replace("uses\n", "uses in the namespace `other`\n"));
    // The default for the management cluster is the namespace of the identity.
    assert_eq!(lint(&project(&manifests, &NEEDS_PODS.replace("guest", "management"))), "");
}

#[test]
fn the_rules_of_an_aggregated_role_are_those_that_it_selects() {
    let selector = |label: &str| {
        format!(
            "aggregationRule: {{clusterRoleSelectors: [{{matchLabels: {{{label}: 'true'}}}}]}}\nrules: []\n"
        )
    };
    let labelled = |name: &str, label: &str, body: &str| {
        cluster_scoped("ClusterRole", name, body)
            .replace("annotations:", &format!("labels: {{{label}: 'true'}}, annotations:"))
    };
    let manifests = [
        cluster_scoped("ClusterRole", "r", &selector("one")),
        labelled("middle", "one", &selector("two")),
        labelled("last", "two", PODS),
        cluster_scoped("ClusterRoleBinding", "b", &(role_ref("ClusterRole", "r") + ACCOUNT)),
    ];
    assert_eq!(lint(&project(&manifests, NEEDS_PODS)), "");
    assert!(
        lint(&project(&[&manifests[..2], &manifests[3..]].concat(), NEEDS_PODS)).contains("missing-right")
    );
}

#[test]
fn a_role_that_is_not_rendered_is_named() {
    let binding =
        |role: &str| cluster_scoped("ClusterRoleBinding", "b", &(role_ref("ClusterRole", role) + ACCOUNT));
    let found = lint(&project(&[binding("view")], NEEDS_PODS));
    let note = "  note: the rules of ClusterRole/view, which someone else creates, are not known\n";
    assert_eq!(found, LACKS_PODS.replace("  note: found in", &format!("{note}  note: found in")));
    assert_eq!(lint(&project(&[binding("cluster-admin")], NEEDS_PODS)), "");
}

/// Returns manifests that bind a ClusterRole with these rules to the identity, and the ClusterRole `operand`.
fn granting(rules: &str) -> [String; 3] {
    [
        cluster_scoped("ClusterRole", "own", &format!("rules: [{rules}]\n")),
        cluster_scoped("ClusterRoleBinding", "own", &(role_ref("ClusterRole", "own") + ACCOUNT)),
        cluster_scoped(
            "ClusterRole",
            "operand",
            "rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, list]}]\n",
        ),
    ]
}

const GRANTS: &str = "
- identity: ServiceAccount/op
  cluster: guest
  grants: [ClusterRole/operand]
";

const MAY_CREATE: &str = "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles, clusterrolebindings], verbs: [create, update]}";

#[test]
fn an_identity_holds_what_it_grants() {
    let partly = format!("{MAY_CREATE}, {{apiGroups: [apps], resources: [deployments], verbs: [get]}}");
    assert_eq!(
        lint(&project(&granting(&partly), GRANTS)),
        "\
error[missing-right]: payload/op/component.yaml:7:12: `op` lacks rights to create `ClusterRole/operand` and its bindings
  object: ServiceAccount/op in ns
  note: an identity can grant only rights that it holds, and the API server rejects the role
  note: missing: - {apiGroups: [apps], resources: [deployments], verbs: [list]}
  note: found in test
  help: add the rules to ClusterRole.rbac.authorization.k8s.io/own
"
    );
    for enough in [
        format!("{MAY_CREATE}, {{apiGroups: [apps], resources: ['*'], verbs: [get, list]}}"),
        format!(
            "{MAY_CREATE}, {{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [operand], verbs: [escalate, bind]}}"
        ),
    ] {
        let found = lint(&project(&granting(&enough), GRANTS));
        assert!(!found.contains("missing-right"), "{enough}: {found}");
    }
    // `escalate` alone lets it create the role, but not bind it.
    let escalate = format!(
        "{MAY_CREATE}, {{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}}"
    );
    assert!(lint(&project(&granting(&escalate), GRANTS)).contains("missing: - {apiGroups: [apps]"));
    let found = lint(&project(
        &granting("{apiGroups: [apps], resources: [deployments], verbs: [get, list]}"),
        GRANTS,
    ));
    for missing in [
        "  note: missing: - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings, clusterroles], verbs: [create]}\n",
        "  note: missing: - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [operand], verbs: [update]}\n",
    ] {
        assert!(found.contains(missing), "{found}");
    }
}

#[test]
fn an_identity_that_can_grant_rights_says_which() {
    let undeclared = "\
warning[undeclared-grants]: payload/op/0000_10_op_a.yaml:1:1: `op` can create clusterroles, clusterrolebindings, but no page says which
  object: ServiceAccount/op in ns
  note: an identity can grant only rights that it holds, and transship cannot check that without `grants`
  note: found in test
  help: name the roles that it creates and binds under `grants` in `needs` of its page
";
    let pods = NEEDS_PODS.replace(
        "resources: [pods], verbs: [get, list]",
        "resources: [], nonResourceURLs: [/x], verbs: [get]",
    );
    let rules = format!("{MAY_CREATE}, {{nonResourceURLs: [/x], verbs: [get]}}");
    let found = lint(&project(&granting(&rules), &pods));
    assert!(found.contains(undeclared), "{found}");
    // It may grant everything, so that there is nothing to check.
    let all = "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}, {nonResourceURLs: ['*'], verbs: ['*']}";
    let found = lint(&project(&granting(all), &pods));
    assert!(!found.contains("undeclared-grants"), "{found}");
}

/// In two clusters, an identity has the rights of the cluster in which it acts. Its namespace is that of the profile.
#[test]
fn needs_are_checked_in_their_cluster() {
    let role = |rules: &str| {
        let body = format!("rules: [{rules}]\n");
        [
            object(RBAC, "Role", "ns", "r", &body),
            object(
                RBAC,
                "RoleBinding",
                "ns",
                "r",
                &(role_ref("Role", "r") + "subjects: [{kind: ServiceAccount, name: op, namespace: ns}]\n"),
            ),
            object("v1", "ServiceAccount", "ns", "op", ""),
        ]
        .join("---\n")
    };
    let project = TestProject::new()
        .manifest("op/0000_10_op_a.yaml", &role("{apiGroups: [\"\"], resources: [pods], verbs: [get]}"))
        .page(
            "op",
            r#"
            place: {management: [Role, RoleBinding], both: [ServiceAccount]}
            needs:
            - identity: ServiceAccount/op
              cluster: management
              rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
            - identity: ServiceAccount/op
              cluster: guest
              namespace: ns
              in: [guest]
              rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
            "#,
        )
        .mc_and_guest("namespace: hcp\n", "")
        .checks("externals: [{objects: [Namespace/*], in: [guest], reason: a test}]\n");
    assert_eq!(
        lint(&project),
        "\
error[missing-right]: payload/op/component.yaml:6:3: `op` lacks rights that it uses in the namespace `hcp`
  object: ServiceAccount/op in hcp
  note: the API server rejects its requests
  note: missing: - {apiGroups: [\"\"], resources: [pods], verbs: [list]}
  note: found in mc
  help: add the rules to Role.rbac.authorization.k8s.io/r in hcp
error[missing-right]: payload/op/component.yaml:9:3: `op` lacks rights that it uses in the namespace `ns`
  object: ServiceAccount/op in ns
  note: the API server rejects its requests
  note: missing: - {apiGroups: [\"\"], resources: [secrets], verbs: [get]}
  note: found in guest
  help: add the rules to a role, and bind it to the ServiceAccount
"
    );
}

#[test]
fn needs_of_unknown_objects_are_reported() {
    let needs = "
        - identity: ServiceAccount/opp
          cluster: guest
          grants: [ClusterRole/operand]
        - identity: ServiceAccount/op
          cluster: guest
          grants: [ClusterRole/opperand]
        ";
    assert_eq!(
        lint(&project(&[], needs)),
        "\
error[missing-object]: payload/op/component.yaml:5:13: `ServiceAccount/opp` is not an object of the component in this cluster
  note: the rights of this need are not checked
  note: found in test
  help: place the ServiceAccount in this cluster, or limit the need with `in`
error[missing-object]: payload/op/component.yaml:10:12: the payload has no role `ClusterRole/opperand`
  note: the rights that it grants are not checked
  note: found in test
  help: correct the name, or limit the need with `in`
"
    );
}
