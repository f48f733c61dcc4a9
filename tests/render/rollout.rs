//! The steps of a rollout and their dependencies, in one cluster or two.

use std::fmt::Write;
use std::path::Path;

use transship::Cluster;
use transship::Project;
use transship::apply::{Action, ClusterPlan, DependencyReason, Rollout, Step};
use transship::{Chunk, Plan, Stage};

use crate::support::{Folder, repository};

/// A manifest, from `apiVersion kind name` or `apiVersion kind namespace/name`, annotations and the rest of it.
fn annotated(what: &str, annotations: &str, body: &str) -> String {
    let [api, kind, name] = what.split(' ').collect::<Vec<_>>()[..] else { panic!("{what}") };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let namespace = if namespace.is_empty() { String::new() } else { format!("namespace: {namespace}, ") };
    format!(
        "apiVersion: {api}\nkind: {kind}\nmetadata: {{{namespace}name: {name}, annotations: {{\
         include.release.openshift.io/test: 'true'{annotations}}}}}\n{body}"
    )
}

fn object(what: &str, body: &str) -> String {
    annotated(what, "", body)
}

const DELETE: &str = ", release.openshift.io/delete: 'true'";
const CREATE_ONLY: &str = ", release.openshift.io/create-only: 'true'";
const WIDGETS: &str =
    "spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced}\n";

/// Renders files for one cluster.
fn plan(files: &[(&str, String)]) -> Plan {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Folder::with_payload(&files).render().unwrap()
}

/// Renders files for both clusters of a topology. `place` says which objects are in the management cluster.
fn both(place: &str, files: &[(&str, String)]) -> Vec<Plan> {
    let header = "apiVersion: transship.openshift.io/v1\n";
    let folder = Folder::new();
    for (path, text) in files {
        folder.write(&format!("payload/op/{path}"), text);
    }
    let page = format!("{header}kind: Component\nmetadata: {{name: op}}\nplace: {place}\n");
    folder.write("payload/op/component.yaml", page);
    for (name, cluster) in [("a-mc", "management"), ("b-guest", "guest")] {
        let profile = format!(
            "{header}kind: Profile\nmetadata: {{name: {name}}}\ntopology: t\ncluster: {cluster}\n\
             select: {{clusterProfile: test}}\n"
        );
        folder.write(&format!("profiles/{name}.yaml"), profile);
    }
    rendered(folder.path()).into_iter().map(|(_, plan)| plan).collect()
}

/// Renders every profile of a folder with the default parameter set.
fn rendered(folder: &Path) -> Vec<(String, Plan)> {
    let project = Project::load(folder).unwrap();
    let wanted = project.profiles.named(None).unwrap();
    let plans = transship::render_unchecked(&project.context(), &wanted).unwrap();
    wanted.iter().map(|profile| profile.name.clone()).zip(plans).collect()
}

fn standalone(plan: &Plan) -> [ClusterPlan<'_>; 1] {
    [ClusterPlan { cluster: Cluster::Both, plan }]
}

fn two(plans: &[Plan]) -> [ClusterPlan<'_>; 2] {
    [
        ClusterPlan { cluster: Cluster::Management, plan: &plans[0] },
        ClusterPlan { cluster: Cluster::Guest, plan: &plans[1] },
    ]
}

/// Formats a step as `cluster.stage level object`, with its dependencies.
fn step(rollout: &Rollout<'_>, step: &Step<'_>) -> String {
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

fn graph(clusters: &[ClusterPlan<'_>]) -> Vec<String> {
    let rollout = Rollout::new(clusters).unwrap();
    rollout.steps.iter().map(|one| step(&rollout, one)).collect()
}

/// Returns the objects of a dependency cycle.
fn cycle(clusters: &[ClusterPlan<'_>]) -> Vec<String> {
    Rollout::new(clusters).unwrap_err().objects.iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_level_is_a_stage_and_a_job_has_its_own() {
    let plan = plan(&[
        ("0000_20_a_1.yaml", object("v1 ConfigMap ns/d", "")),
        ("0000_10_b_1.yaml", object("v1 ConfigMap ns/b", "")),
        ("0000_10_a_1.yaml", object("v1 ConfigMap ns/a", "")),
        ("0000_20_a_2.yaml", object("batch/v1 Job ns/j", "")),
        ("0000_20_a_3.yaml", object("v1 ConfigMap ns/e", "")),
        ("later.yaml", object("v1 ConfigMap ns/f", "")),
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
        warnings: Vec::new(),
    };
    assert_eq!(graph(&standalone(&empty)), [""; 0]);
}

#[test]
fn objects_depend_on_their_namespace() {
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("v1 ConfigMap ns/a", "")),
        ("0000_10_a_2.yaml", object("v1 ConfigMap other/b", "")),
        ("0000_10_a_3.yaml", object("v1 Namespace ns", "")),
        ("0000_10_a_4.yaml", object("rbac.authorization.k8s.io/v1 ClusterRole ns", "")),
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
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("v1 Namespace ns", "")),
        ("0000_10_a_2.yaml", object("example.com/v1 Widget ns/w", "")),
        ("0000_10_a_3.yaml", object("other.com/v1 Widget ns/v", "")),
        (
            "0000_10_a_4.yaml",
            object("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", WIDGETS),
        ),
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
const POD: &str = "\
spec:
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
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("apps/v1 Deployment ns/d", POD)),
        ("0000_10_a_2.yaml", object("v1 ServiceAccount ns/sa", "")),
        ("0000_10_a_3.yaml", object("v1 ConfigMap ns/mounted", "")),
        ("0000_10_a_4.yaml", object("v1 Secret ns/taken", "")),
        ("0000_10_a_5.yaml", object("v1 Secret ns/missing", "")),
        ("0000_10_a_6.yaml", object("v1 Secret other/elsewhere", "")),
        ("0000_10_a_7.yaml", object("scheduling.k8s.io/v1 PriorityClass high", "value: 1\n")),
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

const CALLS: &str = "webhooks: [{name: w, clientConfig: {service: {name: hook, namespace: ns}}}]\n";

#[test]
fn webhooks_depend_on_the_service_they_call() {
    let plan = plan(&[
        (
            "0000_10_a_1.yaml",
            object("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration v", CALLS),
        ),
        ("0000_10_a_2.yaml", object("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration m", CALLS)),
        ("0000_10_a_3.yaml", object("v1 Service ns/hook", "")),
        ("0000_10_a_4.yaml", object("v1 Service other/hook", "")),
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

/// A webhook of the guest that calls a URL, and a Service of the management cluster at a later level.
fn hooked(url: &str) -> Vec<Plan> {
    let webhooks = format!("webhooks: [{{name: w, clientConfig: {{url: '{url}'}}}}]\n");
    both(
        "{management: [Service]}",
        &[
            (
                "0000_10_op_1.yaml",
                object("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration v", &webhooks),
            ),
            ("0000_20_op_1.yaml", object("v1 Service hcp/hook", "")),
        ],
    )
}

#[test]
fn guest_webhooks_depend_on_services_of_the_management_cluster() {
    let webhook = "1.0 10 ValidatingWebhookConfiguration.admissionregistration.k8s.io/v";
    let waits =
        format!("{webhook} < Service/hook in hcp (the Service that it calls in the management cluster)");
    for (url, guest) in [
        ("https://hook.hcp.svc:443/validate", waits.as_str()),
        ("https://hook.hcp.svc/validate", waits.as_str()),
        ("https://hook.hcp.svc", waits.as_str()),
        ("https://hook.other.svc:443/validate", webhook),
        ("https://hook.hcp:443/validate", webhook),
        ("https://example.com/hook.hcp.svc", webhook),
    ] {
        let plans = hooked(url);
        assert_eq!(graph(&two(&plans)), ["0.0 20 Service/hook in hcp", guest], "{url}");
        let [management, guest_plan] = two(&plans);
        let reversed = graph(&[guest_plan, management]);
        assert_eq!(reversed[0], guest.replacen("1.0", "0.0", 1), "the order of the clusters does not matter");
    }
}

#[test]
fn a_url_is_no_dependency_within_one_cluster() {
    let plans = hooked("https://hook.hcp.svc:443/validate");
    for cluster in [Cluster::Both, Cluster::Management] {
        let clusters = [ClusterPlan { cluster, plan: &plans[0] }, ClusterPlan { cluster, plan: &plans[1] }];
        assert!(Rollout::new(&clusters).unwrap().steps.iter().all(|step| step.dependencies.is_empty()));
    }
}

#[test]
fn clusters_do_not_share_objects() {
    let plans = both(
        "{management: [Deployment], both: [ServiceAccount, ConfigMap]}",
        &[
            ("0000_10_op_1.yaml", object("apps/v1 Deployment ns/d", POD)),
            ("0000_10_op_2.yaml", object("v1 ServiceAccount ns/sa", "")),
            ("0000_10_op_3.yaml", object("v1 ConfigMap ns/mounted", "")),
            ("0000_20_op_1.yaml", object("v1 Namespace ns", "")),
        ],
    );
    assert_eq!(
        cycle(&two(&plans)),
        ["ServiceAccount/sa in ns", "Namespace/ns", "ServiceAccount/sa in ns"],
        "the guest has its namespace at a later level, and the management cluster has none"
    );
    assert_eq!(
        graph(&two(&plans)[..1]),
        [
            "0.0 10 Deployment.apps/d in ns < ServiceAccount/sa in ns (an object that its pods use) \
             < ConfigMap/mounted in ns (an object that its pods use)",
            "0.0 10 ServiceAccount/sa in ns",
            "0.0 10 ConfigMap/mounted in ns",
        ]
    );
}

#[test]
fn annotations_decide_between_apply_create_and_delete() {
    let plan = plan(&[
        ("0000_10_a_1.yaml", annotated("v1 ConfigMap ns/once", CREATE_ONLY, "")),
        ("0000_10_a_2.yaml", annotated("v1 ConfigMap ns/gone", DELETE, "")),
        ("0000_10_a_3.yaml", annotated("v1 ConfigMap ns/both", &format!("{CREATE_ONLY}{DELETE}"), "")),
        (
            "0000_10_a_4.yaml",
            annotated("v1 ConfigMap ns/always", ", release.openshift.io/create-only: 'false'", ""),
        ),
        ("0000_10_a_5.yaml", annotated("apps/v1 Deployment ns/old", DELETE, POD)),
        ("0000_10_a_6.yaml", object("v1 ServiceAccount ns/sa", "")),
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
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("v1 ConfigMap ns/a", "")),
        ("0000_10_a_2.yaml", object("example.com/v1 Widget ns/w", "")),
        ("0000_20_a_1.yaml", annotated("v1 Namespace ns", DELETE, "")),
        (
            "0000_20_a_2.yaml",
            annotated(
                "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com",
                DELETE,
                WIDGETS,
            ),
        ),
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

/// All permutations of four indices.
fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]);
    all.filter(|order| (0..4).all(|n| order.contains(&n))).collect()
}

#[test]
fn the_order_of_files_within_a_level_does_not_matter() {
    let objects = [
        object("v1 Namespace ns", ""),
        object("v1 ServiceAccount ns/sa", ""),
        object("v1 ConfigMap ns/mounted", ""),
        object("apps/v1 Deployment ns/d", POD),
    ];
    let files = ["0000_10_a_1.yaml", "0000_10_a_2.yaml", "0000_10_b_1.yaml", "0000_10_c_1.yaml"];
    assert_eq!(orders().len(), 24);
    for order in orders() {
        let plan =
            plan(&files.iter().zip(order).map(|(f, at)| (*f, objects[at].clone())).collect::<Vec<_>>());
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

/// A stage with one object.
fn stage(at: usize, level: &str) -> Stage {
    Stage { chunks: vec![Chunk { objects: at..at + 1, run_level: Some(level.to_owned()) }] }
}

#[test]
fn a_crd_at_a_later_level_is_a_cycle() {
    let one_level = plan(&[
        ("0000_10_a_1.yaml", object("example.com/v1 Widget ns/w", "")),
        (
            "0000_10_a_2.yaml",
            object("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", WIDGETS),
        ),
    ]);
    assert!(Rollout::new(&standalone(&one_level)).is_ok());
    let two_levels = Plan { stages: vec![stage(0, "10"), stage(1, "20")], ..one_level };
    assert_eq!(
        cycle(&standalone(&two_levels)),
        [
            "Widget.example.com/w in ns",
            "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
            "Widget.example.com/w in ns",
        ]
    );
}

#[test]
fn a_cycle_contains_only_its_members() {
    let plan = plan(&[
        ("0000_05_a_1.yaml", object("v1 Namespace ns", "")),
        ("0000_10_a_1.yaml", object("v1 ConfigMap ns/beside", "")),
        ("0000_20_a_1.yaml", object("apps/v1 Deployment ns/d", POD)),
        ("0000_30_a_1.yaml", object("v1 ConfigMap ns/between", "")),
        ("0000_40_a_1.yaml", object("v1 ServiceAccount ns/sa", "")),
        ("0000_50_a_1.yaml", object("v1 ConfigMap ns/behind", "")),
    ]);
    assert_eq!(
        cycle(&standalone(&plan)),
        ["Deployment.apps/d in ns", "ServiceAccount/sa in ns", "Deployment.apps/d in ns"]
    );
}

#[test]
fn a_job_before_a_mounted_object_is_a_cycle() {
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("batch/v1 Job ns/j", POD)),
        ("0000_10_a_2.yaml", object("v1 ConfigMap ns/mounted", "")),
    ]);
    assert_eq!(
        cycle(&standalone(&plan)),
        ["Job.batch/j in ns", "ConfigMap/mounted in ns", "Job.batch/j in ns"]
    );
}

#[test]
fn levels_of_one_cluster_do_not_delay_the_other() {
    let plans = hooked("https://hook.hcp.svc:443/validate");
    assert_eq!(graph(&two(&plans)).len(), 2, "the guest's level 10 depends on the management cluster's 20");
}

#[test]
fn only_a_crd_must_be_ready() {
    let all = [
        (
            DependencyReason::SameCluster(transship::apply::SameClusterReason::Namespace),
            false,
            "its namespace",
        ),
        (
            DependencyReason::SameCluster(transship::apply::SameClusterReason::CustomResourceDefinition),
            true,
            "the CRD of its kind",
        ),
        (
            DependencyReason::SameCluster(transship::apply::SameClusterReason::Pod),
            false,
            "an object that its pods use",
        ),
        (
            DependencyReason::SameCluster(transship::apply::SameClusterReason::WebhookService),
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

/// The storage payload of both topologies can be ordered, and the guest's webhook depends on its Service.
#[test]
fn the_bundled_payload_has_no_cycle() {
    let plans = rendered(&repository());
    let plan = |name: &str| &plans.iter().find(|(profile, _)| profile == name).unwrap().1;
    let alone = standalone(plan("standalone"));
    let rollout = Rollout::new(&alone).unwrap();
    assert_eq!(rollout.steps.len(), alone[0].plan.objects.len());
    let clusters = [
        ClusterPlan { cluster: Cluster::Management, plan: plan("hypershift-mc") },
        ClusterPlan { cluster: Cluster::Guest, plan: plan("hypershift-guest") },
    ];
    let rollout = Rollout::new(&clusters).unwrap();
    let calls_management = DependencyReason::CallsManagementService;
    let across =
        |step: &&Step<'_>| step.dependencies.iter().any(|dependency| dependency.reason == calls_management);
    let waiting: Vec<&str> =
        rollout.steps.iter().filter(across).map(|step| step.object.id.kind.as_str()).collect();
    assert_eq!(waiting, ["ValidatingWebhookConfiguration"]);
}

/// Within a cluster, no step depends on itself or on a later stage.
#[test]
fn dependencies_of_the_bundled_payload_point_to_earlier_stages() {
    for (profile, plan) in &rendered(&repository()) {
        let rollout = Rollout::new(&standalone(plan)).unwrap();
        for (id, dependent) in rollout.steps() {
            for dependency in &dependent.dependencies {
                let is_earlier = dependency.on != id && rollout.step(dependency.on).stage <= dependent.stage;
                assert!(is_earlier, "{profile}: {}", step(&rollout, dependent));
            }
        }
    }
}
