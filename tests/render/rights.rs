//! `transship rights`: the Roles and ClusterRoles that the commands for clusters need.

use crate::support::{Run, TestProject, object, unindent};

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Returns a manifest of a cluster-scoped object, with an annotation.
fn cluster_scoped(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{x: x}}}}\n{body}"
    )
}

fn annotated(annotation: &str, name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, annotations: {{{annotation}: \"true\"}}}}\n"
    )
}

/// Creates a project for one cluster. Each manifest has a run level.
fn project(manifests: &[(&str, String)]) -> TestProject {
    let mut project = TestProject::standalone();
    for (level, manifest) in manifests {
        project = project.manifest(&format!("op/0000_{level}_op_a.yaml"), manifest);
    }
    project
}

/// Joins manifests to one file.
fn file(manifests: &[String]) -> String {
    manifests.join("---\n")
}

#[track_caller]
fn assert_rights(run: &Run, expected: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (0, unindent(expected).as_str()), "{}", run.stderr);
}

fn rights(project: &TestProject, arguments: &[&str]) -> Run {
    project.run_checked(&[&["rights", "--topology", "test"][..], arguments].concat())
}

/// A project with an object for each kind of request.
fn every_request() -> TestProject {
    let crd = "spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Cluster, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n";
    let manifests = [
        cluster_scoped("v1", "Namespace", "ns", ""),
        object("v1", "ConfigMap", "ns", "applied", ""),
        annotated("release.openshift.io/create-only", "created"),
        annotated("release.openshift.io/delete", "gone"),
        object("batch/v1", "Job", "ns", "j", JOB),
        object("v1", "Secret", "other", "s", ""),
        cluster_scoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.test", crd),
        cluster_scoped("config.openshift.io/v1", "ClusterOperator", "op", "status: {relatedObjects: []}\n"),
    ];
    project(&[("10", file(&manifests))]).checks(
        "kinds: {ClusterOperator.config.openshift.io: {servedBy: a test, scope: Cluster}}\n\
         externals: [{objects: [Namespace/*], images: [example.test/*], reason: a test}]\n",
    )
}

/// The namespace `ns` is created by the payload, so that its rights cannot be in a Role in it. An object that is created
/// with POST needs `create` without a name.
#[test]
fn rights_follow_from_the_requests_for_each_object() {
    assert_rights(
        &rights(&every_request(), &[]),
        r#"
        test: ClusterRole/transship-test
          - {apiGroups: [""], resources: [configmaps], verbs: [list, create]}
          - {apiGroups: [""], resources: [configmaps], resourceNames: [applied], verbs: [get, patch, delete]}
          - {apiGroups: [""], resources: [configmaps], resourceNames: [created, gone], verbs: [get, delete]}
          - {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}
          - {apiGroups: [""], resources: [namespaces], resourceNames: [ns], verbs: [get, create, patch, delete]}
          - {apiGroups: [""], resources: [namespaces, secrets], verbs: [list]}
          - {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list]}
          - {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [widgets.example.test], verbs: [get, create, patch, delete]}
          - {apiGroups: [batch], resources: [jobs], verbs: [list, create]}
          - {apiGroups: [batch], resources: [jobs], resourceNames: [j], verbs: [get, patch, delete]}
          - {apiGroups: [config.openshift.io], resources: [clusteroperators], verbs: [list]}
          - {apiGroups: [config.openshift.io], resources: [clusteroperators], resourceNames: [op], verbs: [get, create, patch, delete]}
          - {apiGroups: [config.openshift.io], resources: [clusteroperators/status], resourceNames: [op], verbs: [patch]}
          - {apiGroups: [example.test], resources: [widgets], verbs: [list]}
        test: Role/transship-test in openshift-config-managed
          - {apiGroups: [""], resources: [configmaps], resourceNames: [transship-test], verbs: [get, update, delete]}
          - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
          - {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [transship-test], verbs: [get, update, delete]}
        test: Role/transship-test in other
          - {apiGroups: [""], resources: [secrets], resourceNames: [s], verbs: [get, create, patch, delete]}
        "#,
    );
}

/// The rights for a Secret and a Job, in the namespaces of others.
#[test]
fn each_command_has_its_own_rights() {
    let manifests = [object("v1", "Secret", "ns", "s", ""), object("batch/v1", "Job", "ns", "j", JOB)];
    let project = project(&[("10", file(&manifests))])
        .checks("externals: [{objects: [Namespace/*], images: [example.test/*], reason: a test}]\n");
    for (commands, secrets, jobs, inventory, lease) in [
        (
            "dry-run",
            &["[s], verbs: [get]"][..],
            &["[j], verbs: [get]"][..],
            &["[transship-test], verbs: [get]"][..],
            &[][..],
        ),
        (
            "orphan",
            &["[s], verbs: [get, patch]"],
            &["[j], verbs: [get, patch]"],
            &["[transship-test], verbs: [get, update, delete]"],
            &["verbs: [create]", "[transship-test], verbs: [get, update, delete]"],
        ),
        (
            "diff",
            &["[s], verbs: [get, patch]"],
            &["[j], verbs: [get, patch]"],
            &["[transship-test], verbs: [get]"],
            &[],
        ),
        (
            "delete",
            &["[s], verbs: [get, delete]"],
            &["[j], verbs: [get, delete]"],
            &["[transship-test], verbs: [get, update, delete]"],
            &["verbs: [create]", "[transship-test], verbs: [get, update, delete]"],
        ),
        (
            "prune",
            &["[s], verbs: [get, delete]"],
            &["[j], verbs: [get, delete]"],
            &["[transship-test], verbs: [get, update]"],
            &["verbs: [create]", "[transship-test], verbs: [get, update]"],
        ),
        (
            "apply",
            &["[s], verbs: [get, create, patch]"],
            &["verbs: [create]", "[j], verbs: [get, patch, delete]"],
            &["verbs: [create]", "[transship-test], verbs: [get, update]"],
            &["verbs: [create]", "[transship-test], verbs: [get, update]"],
        ),
    ] {
        let rules = |group: &str, resource: &str, rules: &[&str]| {
            let line = |rule: &&str| {
                let names = if rule.starts_with('[') { "resourceNames: " } else { "" };
                format!("  - {{apiGroups: [{group}], resources: [{resource}], {names}{rule}}}\n")
            };
            rules.iter().map(line).collect::<String>()
        };
        let expected = [
            "test: ClusterRole/transship-test\n",
            &rules("\"\"", "namespaces", &["[kube-system], verbs: [get]"]),
            &rules("\"\"", "secrets", &["verbs: [list]"]),
            &rules("batch", "jobs", &["verbs: [list]"]),
            "test: Role/transship-test in ns\n",
            &rules("\"\"", "secrets", secrets),
            &rules("batch", "jobs", jobs),
            "test: Role/transship-test in openshift-config-managed\n",
            &rules("\"\"", "configmaps", inventory),
            &rules("coordination.k8s.io", "leases", lease),
        ];
        let run = rights(&project, &["--for", commands]);
        assert_eq!((run.code, run.stdout), (0, expected.concat()), "{commands}: {}", run.stderr);
    }
    let run = rights(&project, &["--for", "apply", "--recreate", "Secret"]);
    let expected = "  - {apiGroups: [\"\"], resources: [secrets], verbs: [create]}\n  - {apiGroups: [\"\"], resources: [secrets], resourceNames: [s], verbs: [get, patch, delete]}\n";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

const JOB: &str = "spec: {template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: c, image: example.test/c}]}}}\n";

/// The API server rejects a request to create a Role with rights that the user does not have, and a binding to such a Role.
#[test]
fn rights_that_the_payload_grants_are_spelled_out() {
    let binding = |name: &str, kind: &str, role: &str| {
        let role = format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {role}}}\n");
        object(RBAC, "RoleBinding", "ns", name, &role)
    };
    let project = project(&[
        (
            "10",
            file(&[
                binding("b1", "Role", "ours"),
                binding("b2", "ClusterRole", "view"),
                binding("b3", "ClusterRole", "aggregated"),
                binding("b4", "Role", "later"),
                object(
                    RBAC,
                    "Role",
                    "ns",
                    "ours",
                    "rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]\n",
                ),
                cluster_scoped(
                    RBAC,
                    "ClusterRole",
                    "wide",
                    "rules: [{apiGroups: [\"\"], resources: [nodes], verbs: [\"*\"]}, {nonResourceURLs: [/metrics], verbs: [get]}]\n",
                ),
                cluster_scoped(
                    RBAC,
                    "ClusterRole",
                    "aggregated",
                    "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n",
                ),
            ]),
        ),
        ("20", object(RBAC, "Role", "ns", "later", "")),
    ]);
    assert_rights(
        &rights(&project, &["--for", "diff"]),
        r#"
        test: ClusterRole/transship-test
          - {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}
          - {apiGroups: [""], resources: [nodes], verbs: ["*"]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [aggregated], verbs: [get, patch, escalate]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [wide], verbs: [get, patch]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles, rolebindings, roles], verbs: [list]}
          - {nonResourceURLs: [/metrics], verbs: [get]}
        test: Role/transship-test in ns
          - {apiGroups: [apps], resources: [deployments], verbs: [get]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [aggregated, view], verbs: [bind]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], resourceNames: [b1, b2, b3, b4], verbs: [get, patch]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [later], verbs: [get, patch, bind]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [ours], verbs: [get, patch]}
        test: Role/transship-test in openshift-config-managed
          - {apiGroups: [""], resources: [configmaps], resourceNames: [transship-test], verbs: [get]}
        "#,
    );
}

/// In a management cluster, one Role in the namespace of the hosted control plane is enough.
#[test]
fn a_hosted_control_plane_needs_one_role() {
    let project = TestProject::new()
        .manifest("op/0000_10_op_a.yaml", &object("v1", "ConfigMap", "ns", "c", ""))
        .page("op", "place: {management: [ConfigMap]}\n")
        .mc_and_guest("namespace: hcp\n", "")
        .checks("externals: [{objects: [Namespace/*], reason: a test}]\n");
    let run = |arguments: &[&str]| project.run_checked(&[&["rights", "--topology", "t"], arguments].concat());
    assert_rights(
        &run(&["--cluster", "management", "-o", "yaml", "--subject", "ServiceAccount/ns/deployer"]),
        r#"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: transship-t
          namespace: hcp
        rules:
        - apiGroups:
          - ""
          resources:
          - configmaps
          verbs:
          - list
          - create
        - apiGroups:
          - ""
          resourceNames:
          - c
          resources:
          - configmaps
          verbs:
          - get
          - patch
          - delete
        - apiGroups:
          - ""
          resourceNames:
          - transship-t
          resources:
          - configmaps
          verbs:
          - get
          - update
          - delete
        - apiGroups:
          - ""
          resourceNames:
          - hcp
          resources:
          - namespaces
          verbs:
          - get
        - apiGroups:
          - coordination.k8s.io
          resources:
          - leases
          verbs:
          - create
        - apiGroups:
          - coordination.k8s.io
          resourceNames:
          - transship-t
          resources:
          - leases
          verbs:
          - get
          - update
          - delete
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: transship-t
          namespace: hcp
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: transship-t
        subjects:
        - kind: ServiceAccount
          name: deployer
          namespace: ns
        "#,
    );
    assert_eq!(
        run(&["-o", "yaml"]).refusal(),
        "error: a stream can contain the objects of only one cluster\n  note: `kubectl apply` would apply the objects of all clusters to one of them\n  help: choose one with --cluster management or --cluster guest\n"
    );
}

#[test]
fn pruning_needs_rights_on_the_objects_of_the_previous_payload() {
    let project = TestProject::standalone()
        .manifest("op/0000_10_op_a.yaml", &object("v1", "Secret", "ns", "new", ""))
        .file(
            "old/op/0000_10_op_a.yaml",
            &object("v1", "Service", "ns", "old", "spec: {ports: [{port: 1}]}\n"),
        );
    assert_rights(
        &rights(&project, &["--for", "prune", "--previous-payload", "old"]),
        r#"
        test: ClusterRole/transship-test
          - {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}
          - {apiGroups: [""], resources: [secrets, services], verbs: [list]}
        test: Role/transship-test in ns
          - {apiGroups: [""], resources: [secrets], resourceNames: [new], verbs: [get, delete]}
          - {apiGroups: [""], resources: [services], resourceNames: [old], verbs: [get, delete]}
        test: Role/transship-test in openshift-config-managed
          - {apiGroups: [""], resources: [configmaps], resourceNames: [transship-test], verbs: [get, update]}
          - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
          - {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [transship-test], verbs: [get, update]}
        "#,
    );
}

/// A CRD says how its resource is called, and so may the declaration of a kind.
#[test]
fn resources_have_the_plural_of_their_kind() {
    let project = project(&[(
        "10",
        file(&[
            object("networking.k8s.io/v1", "NetworkPolicy", "ns", "policy", "spec: {podSelector: {}}\n"),
            cluster_scoped("storage.k8s.io/v1", "StorageClass", "s", "provisioner: p\n"),
            cluster_scoped("security.openshift.io/v1", "SecurityContextConstraints", "c", ""),
            cluster_scoped("example.test/v1", "Gateway", "g", ""),
        ]),
    )])
    .checks(
        "kinds: {Gateway.example.test: {servedBy: a test, scope: Cluster, plural: gateways}}\n\
         externals: [{objects: [Namespace/*], reason: a test}]\n",
    );
    let run = rights(&project, &["--for", "dry-run"]);
    for resource in ["networkpolicies", "storageclasses", "securitycontextconstraints", "gateways"] {
        assert!(
            run.stdout.contains(&format!("resources: [{resource}], ")),
            "{resource}: {}{}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn mistakes_are_reported() {
    let project = every_request();
    assert_eq!(
        rights(&project, &["--cluster", "guest"]).refusal(),
        "error: the topology has only one cluster\n  help: remove --cluster\n"
    );
    assert_eq!(
        project.run(&["rights"]).refusal(),
        "error: no topology is given\n  help: use --topology with one of: test\n"
    );
    for subject in
        ["deployer", "User/", "ServiceAccount/deployer", "ServiceAccount//a", "ServiceAccount/a/b/c", "Pod/a"]
    {
        let run = rights(&project, &["--subject", subject]).refusal();
        let expected = format!(
            "error: invalid value '{subject}' for '--subject <KIND/NAME>': write User/NAME, Group/NAME or ServiceAccount/NAMESPACE/NAME\n"
        );
        assert!(run.starts_with(&expected), "{run}");
    }
    let names: Vec<String> = (0..400).map(|number| format!("n{number}")).collect();
    let rule = format!("rules: [{{apiGroups: [a], resources: [{0}], verbs: [{0}]}}]\n", names.join(", "));
    let project =
        TestProject::standalone().manifest("op/0000_10_op_a.yaml", &object(RBAC, "Role", "ns", "r", &rule));
    assert_eq!(
        rights(&project, &[]).refusal(),
        "error: payload/op/0000_10_op_a.yaml:1:1: the rules grant more than 100000 rights\n  object: Role.rbac.authorization.k8s.io/r in ns\n  note: each verb on each resource and each name is a right\n  help: use fewer verbs, resources or names, or `*`\n"
    );
}
