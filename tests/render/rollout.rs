//! The steps of a rollout and their dependencies, in one cluster or two.

mod bundled_payload;
mod cycles;
mod two_clusters;

use std::fmt::Write;

use transship::apply::{Action, ClusterPlan, DependencyReason, Rollout, SameClusterReason, Step};
use transship::{Cluster, Plan};

use crate::support::{TestProject, object, plan};

fn config_map(name: &str) -> String {
    object("v1", "ConfigMap", "ns", name, "")
}

fn cluster_scoped(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    object(api_version, kind, "ns", name, body).replacen(", namespace: ns", "", 1)
}

fn widget_crd() -> String {
    let spec = "spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced}";
    cluster_scoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com", spec)
}

const DELETE: &str = "release.openshift.io/delete: 'true'";
const CREATE_ONLY: &str = "release.openshift.io/create-only: 'true'";

/// Adds an annotation to a manifest.
fn annotated(manifest: &str, annotation: &str) -> String {
    manifest.replace("annotations: {", &format!("annotations: {{{annotation}, "))
}

/// Creates a project with these files.
fn project_with(files: &[(&str, String)]) -> TestProject {
    let mut project = TestProject::new();
    for (path, manifest) in files {
        project = project.manifest(&format!("op/{path}"), manifest);
    }
    project
}

/// Renders files for one cluster.
fn plan_of(files: &[(&str, String)]) -> Plan {
    let project = project_with(files).profile("one", "topology: one\ncluster: both");
    plan(project.path(), "one")
}

fn standalone(plan: &Plan) -> [ClusterPlan<'_>; 1] {
    [ClusterPlan { cluster: Cluster::Both, plan }]
}

/// Renders files for the management cluster and the guest. The page says which objects are in which cluster.
fn plans_of(page: &str, files: &[(&str, String)]) -> [Plan; 2] {
    let project = project_with(files).page("op", page).mc_and_guest("", "");
    [plan(project.path(), "mc"), plan(project.path(), "guest")]
}

fn two(plans: &[Plan; 2]) -> [ClusterPlan<'_>; 2] {
    [
        ClusterPlan { cluster: Cluster::Management, plan: &plans[0] },
        ClusterPlan { cluster: Cluster::Guest, plan: &plans[1] },
    ]
}

/// Describes a step as `cluster.stage level object action < dependency (reason)`.
fn describe(rollout: &Rollout<'_>, step: &Step<'_>) -> String {
    let action = match step.action {
        Action::Apply => "",
        Action::Create => " create",
        Action::Delete => " delete",
    };
    let level = step.level.unwrap_or("-");
    let mut text = format!("{}.{} {level} {}{action}", step.cluster.0, step.stage, step.object.id);
    for dependency in &step.dependencies {
        write!(text, " < {} ({})", rollout.step(dependency.on).object.id, dependency.reason).unwrap();
    }
    text
}

/// Returns the description of every step.
fn graph(clusters: &[ClusterPlan<'_>]) -> Vec<String> {
    let rollout = Rollout::new(clusters).unwrap();
    rollout.steps.iter().map(|step| describe(&rollout, step)).collect()
}

/// Returns the objects of a dependency cycle.
fn cycle(clusters: &[ClusterPlan<'_>]) -> Vec<String> {
    Rollout::new(clusters).unwrap_err().objects.iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_level_is_a_stage_and_a_job_has_its_own() {
    let plan = plan_of(&[
        ("0000_20_a_1.yaml", config_map("d")),
        ("0000_10_b_1.yaml", config_map("b")),
        ("0000_10_a_1.yaml", config_map("a")),
        ("0000_20_a_2.yaml", object("batch/v1", "Job", "ns", "j", "")),
        ("0000_20_a_3.yaml", config_map("e")),
        ("later.yaml", config_map("f")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 ConfigMap/a in ns",
            "0.0 10 ConfigMap/b in ns",
            "0.1 20 ConfigMap/d in ns",
            "0.2 20 Job.batch/j in ns",
            "0.3 20 ConfigMap/e in ns",
            "0.4 - ConfigMap/f in ns",
        ]
    );
}

#[test]
fn an_empty_plan_has_no_steps() {
    assert_eq!(graph(&[]), [""; 0]);
    let empty = Plan {
        profile: "one".to_owned(),
        objects: Vec::new(),
        stages: Vec::new(),
        namespace: None,
        hosted_control_plane: None,
        warnings: Vec::new(),
    };
    assert_eq!(graph(&standalone(&empty)), [""; 0]);
}

#[test]
fn objects_depend_on_their_namespace() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", config_map("a")),
        ("0000_10_a_2.yaml", object("v1", "ConfigMap", "other", "b", "")),
        ("0000_10_a_3.yaml", cluster_scoped("v1", "Namespace", "ns", "")),
        ("0000_10_a_4.yaml", cluster_scoped("rbac.authorization.k8s.io/v1", "ClusterRole", "ns", "")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 ConfigMap/a in ns < Namespace/ns (its namespace)",
            "0.0 10 ConfigMap/b in other",
            "0.0 10 Namespace/ns",
            "0.0 10 ClusterRole.rbac.authorization.k8s.io/ns",
        ]
    );
}

#[test]
fn custom_resources_depend_on_their_crd() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", cluster_scoped("v1", "Namespace", "ns", "")),
        ("0000_10_a_2.yaml", object("example.com/v1", "Widget", "ns", "w", "")),
        ("0000_10_a_3.yaml", object("other.com/v1", "Widget", "ns", "v", "")),
        ("0000_10_a_4.yaml", widget_crd()),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 Namespace/ns",
            "0.0 10 Widget.example.com/w in ns < Namespace/ns (its namespace) \
             < CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com (the CRD of its kind)",
            "0.0 10 Widget.other.com/v in ns < Namespace/ns (its namespace)",
            "0.0 10 CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
        ]
    );
}

/// A pod with a `ServiceAccount`, volumes and variables. One Secret is optional, and one is in another namespace.
const POD: &str = r"spec:
  template:
    spec:
      serviceAccountName: sa
      priorityClassName: high
      volumes:
      - {name: m, configMap: {name: mounted}}
      - {name: n, secret: {secretName: missing, optional: true}}
      - {name: o, secret: {secretName: elsewhere}}
      containers:
      - {name: c, envFrom: [{secretRef: {name: taken}}]}
";

#[test]
fn workloads_depend_on_the_objects_their_pods_use() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", object("apps/v1", "Deployment", "ns", "d", POD)),
        ("0000_10_a_2.yaml", object("v1", "ServiceAccount", "ns", "sa", "")),
        ("0000_10_a_3.yaml", config_map("mounted")),
        ("0000_10_a_4.yaml", object("v1", "Secret", "ns", "taken", "")),
        ("0000_10_a_5.yaml", object("v1", "Secret", "ns", "missing", "")),
        ("0000_10_a_6.yaml", object("v1", "Secret", "other", "elsewhere", "")),
        ("0000_10_a_7.yaml", cluster_scoped("scheduling.k8s.io/v1", "PriorityClass", "high", "value: 1")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 Deployment.apps/d in ns < ServiceAccount/sa in ns (an object that its pods use) \
             < ConfigMap/mounted in ns (an object that its pods use) < Secret/taken in ns (an object that its pods use)",
            "0.0 10 ServiceAccount/sa in ns",
            "0.0 10 ConfigMap/mounted in ns",
            "0.0 10 Secret/taken in ns",
            "0.0 10 Secret/missing in ns",
            "0.0 10 Secret/elsewhere in other",
            "0.0 10 PriorityClass.scheduling.k8s.io/high",
        ]
    );
}

const CALLS: &str = "webhooks: [{name: w, clientConfig: {service: {name: hook, namespace: ns}}}]";

#[test]
fn webhooks_depend_on_the_service_they_call() {
    let plan = plan_of(&[
        (
            "0000_10_a_1.yaml",
            cluster_scoped("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "v", CALLS),
        ),
        (
            "0000_10_a_2.yaml",
            cluster_scoped("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "m", CALLS),
        ),
        ("0000_10_a_3.yaml", object("v1", "Service", "ns", "hook", "")),
        ("0000_10_a_4.yaml", object("v1", "Service", "other", "hook", "")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 ValidatingWebhookConfiguration.admissionregistration.k8s.io/v \
             < Service/hook in ns (the Service that it calls)",
            "0.0 10 MutatingWebhookConfiguration.admissionregistration.k8s.io/m \
             < Service/hook in ns (the Service that it calls)",
            "0.0 10 Service/hook in ns",
            "0.0 10 Service/hook in other",
        ]
    );
}

/// Within a run level, the binding comes after its role. A binding of an earlier level comes first.
#[test]
fn bindings_depend_on_their_role() {
    let role = |name: &str| object("rbac.authorization.k8s.io/v1", "Role", "ns", name, "rules: []\n");
    let binding = |role: &str| {
        let role_ref =
            format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {role}}}\n");
        object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", role, &role_ref)
    };
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", binding("same")),
        ("0000_10_a_2.yaml", role("same")),
        ("0000_10_a_3.yaml", binding("later")),
        ("0000_20_a_1.yaml", role("later")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 RoleBinding.rbac.authorization.k8s.io/same in ns < Role.rbac.authorization.k8s.io/same in ns (its role)",
            "0.0 10 Role.rbac.authorization.k8s.io/same in ns",
            "0.0 10 RoleBinding.rbac.authorization.k8s.io/later in ns",
            "0.1 20 Role.rbac.authorization.k8s.io/later in ns",
        ]
    );
}

#[test]
fn annotations_decide_between_apply_create_and_delete() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", annotated(&config_map("once"), CREATE_ONLY)),
        ("0000_10_a_2.yaml", annotated(&config_map("gone"), DELETE)),
        ("0000_10_a_3.yaml", annotated(&annotated(&config_map("both"), CREATE_ONLY), DELETE)),
        ("0000_10_a_4.yaml", annotated(&config_map("always"), "release.openshift.io/create-only: 'false'")),
        ("0000_10_a_5.yaml", annotated(&object("apps/v1", "Deployment", "ns", "old", POD), DELETE)),
        ("0000_10_a_6.yaml", object("v1", "ServiceAccount", "ns", "sa", "")),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 ConfigMap/once in ns create",
            "0.0 10 ConfigMap/gone in ns delete",
            "0.0 10 ConfigMap/both in ns delete",
            "0.0 10 ConfigMap/always in ns",
            "0.0 10 Deployment.apps/old in ns delete",
            "0.0 10 ServiceAccount/sa in ns",
        ]
    );
}

#[test]
fn nothing_depends_on_a_tombstone() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", config_map("a")),
        ("0000_10_a_2.yaml", object("example.com/v1", "Widget", "ns", "w", "")),
        ("0000_20_a_1.yaml", annotated(&cluster_scoped("v1", "Namespace", "ns", ""), DELETE)),
        ("0000_20_a_2.yaml", annotated(&widget_crd(), DELETE)),
    ]);
    assert_eq!(
        graph(&standalone(&plan)),
        [
            "0.0 10 ConfigMap/a in ns",
            "0.0 10 Widget.example.com/w in ns",
            "0.1 20 Namespace/ns delete",
            "0.1 20 CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com delete",
        ]
    );
}

fn permutations_of_four() -> Vec<[usize; 4]> {
    let mut permutations = Vec::new();
    for number in 0..256 {
        let digits = [number & 3, number >> 2 & 3, number >> 4 & 3, number >> 6];
        if (0..4).all(|digit| digits.contains(&digit)) {
            permutations.push(digits);
        }
    }
    permutations
}

#[test]
fn the_order_of_files_within_a_level_does_not_matter() {
    let objects = [
        cluster_scoped("v1", "Namespace", "ns", ""),
        object("v1", "ServiceAccount", "ns", "sa", ""),
        config_map("mounted"),
        object("apps/v1", "Deployment", "ns", "d", POD),
    ];
    let orders = permutations_of_four();
    assert_eq!(orders.len(), 24);
    for order in orders {
        let plan = plan_of(&[
            ("0000_10_a_1.yaml", objects[order[0]].clone()),
            ("0000_10_a_2.yaml", objects[order[1]].clone()),
            ("0000_10_b_1.yaml", objects[order[2]].clone()),
            ("0000_10_c_1.yaml", objects[order[3]].clone()),
        ]);
        let mut steps = graph(&standalone(&plan));
        steps.sort();
        assert_eq!(
            steps,
            [
                "0.0 10 ConfigMap/mounted in ns < Namespace/ns (its namespace)",
                "0.0 10 Deployment.apps/d in ns < Namespace/ns (its namespace) \
                 < ServiceAccount/sa in ns (an object that its pods use) < ConfigMap/mounted in ns (an object that its pods use)",
                "0.0 10 Namespace/ns",
                "0.0 10 ServiceAccount/sa in ns < Namespace/ns (its namespace)",
            ],
            "{order:?}"
        );
    }
}

#[test]
fn only_a_crd_must_be_ready() {
    let all = [
        (DependencyReason::SameCluster(SameClusterReason::Namespace), false, "its namespace"),
        (
            DependencyReason::SameCluster(SameClusterReason::CustomResourceDefinition),
            true,
            "the CRD of its kind",
        ),
        (DependencyReason::SameCluster(SameClusterReason::Pod), false, "an object that its pods use"),
        (DependencyReason::SameCluster(SameClusterReason::Role), false, "its role"),
        (
            DependencyReason::SameCluster(SameClusterReason::WebhookService),
            false,
            "the Service that it calls",
        ),
        (
            DependencyReason::CallsManagementService,
            false,
            "the Service that it calls in the management cluster",
        ),
    ];
    for (reason, readiness, text) in all {
        assert_eq!((reason.requires_readiness(), reason.to_string().as_str()), (readiness, text));
    }
}
