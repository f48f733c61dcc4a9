//! What is done before what, in one cluster or two.

use std::fmt::Write;
use std::path::Path;

use transship::Project;
use transship::apply::{Action, Half, Need, Rollout, Step};
use transship::object::{Cluster, DependencyReason};
use transship::order::{Chunk, Plan, Stage};

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

/// What one cluster gets of these files.
fn plan(files: &[(&str, String)]) -> Plan {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Folder::with_payload(&files).render().unwrap()
}

/// What both clusters of a topology get of these files: namespaced objects of the management cluster are those of `place`.
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

/// What every profile of a folder gets of the payload beside it, with the default set.
fn rendered(folder: &Path) -> Vec<(String, Plan)> {
    let project = Project::load(folder).unwrap();
    let wanted = project.profiles.named(None).unwrap();
    let plans = transship::render_unchecked(&project.context(), &wanted).unwrap();
    wanted.iter().map(|profile| profile.name.clone()).zip(plans).collect()
}

fn standalone(plan: &Plan) -> [Half<'_>; 1] {
    [Half { cluster: Cluster::Both, plan }]
}

fn two(plans: &[Plan]) -> [Half<'_>; 2] {
    [
        Half { cluster: Cluster::Management, plan: &plans[0] },
        Half { cluster: Cluster::Guest, plan: &plans[1] },
    ]
}

/// A step as `half.stage level object`, with what it waits for and why.
fn step(rollout: &Rollout<'_>, step: &Step<'_>) -> String {
    let action = match step.action {
        Action::Apply => "",
        Action::Create => " once",
        Action::Delete => " away",
    };
    let level = step.level.unwrap_or("-");
    let mut text = format!("{}.{} {level} {}{action}", step.half, step.stage, step.object.id);
    for (other, need) in &step.needs {
        write!(text, " < {} ({})", rollout.steps[*other].object.id, need.words()).unwrap();
    }
    text
}

fn graph(halves: &[Half<'_>]) -> Vec<String> {
    let rollout = Rollout::of(halves).unwrap();
    rollout.steps.iter().map(|one| step(&rollout, one)).collect()
}

fn circle(halves: &[Half<'_>]) -> Vec<String> {
    Rollout::of(halves).unwrap_err()
}

#[test]
fn a_level_is_a_stage_and_a_job_one_of_its_own() {
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
fn nothing_to_do_is_no_step() {
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
fn what_is_in_a_namespace_waits_for_it() {
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
fn what_is_of_a_kind_waits_for_its_definition() {
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
             < CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com (the definition of its kind)",
            "0.0 10 Widget.other.com/v in ns < Namespace/ns (its namespace)",
            "0.0 10 CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
        ]
    );
}

/// A pod that runs as an account, mounts and takes variables; one Secret may be missing, and one is of another namespace.
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
fn what_runs_waits_for_what_its_pods_need() {
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
            "0.0 10 Deployment.apps/d in ns < ServiceAccount/sa in ns (what its pods need) \
             < ConfigMap/mounted in ns (what its pods need) < Secret/taken in ns (what its pods need)",
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
fn a_webhook_waits_for_the_service_that_it_calls() {
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

/// A webhook of the guest that calls a URL, and a Service of the management cluster behind it, at a later level.
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
fn a_guest_waits_for_the_service_that_it_calls_in_the_management_cluster() {
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
        let [management, guest_half] = two(&plans);
        let turned = graph(&[guest_half, management]);
        assert_eq!(turned[0], guest.replacen("1.0", "0.0", 1), "the order of the clusters does not matter");
    }
}

#[test]
fn in_one_cluster_a_url_is_no_need() {
    let plans = hooked("https://hook.hcp.svc:443/validate");
    for cluster in [Cluster::Both, Cluster::Management] {
        let halves = [Half { cluster, plan: &plans[0] }, Half { cluster, plan: &plans[1] }];
        assert!(Rollout::of(&halves).unwrap().steps.iter().all(|step| step.needs.is_empty()));
    }
}

#[test]
fn clusters_do_not_share_what_they_have() {
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
        circle(&two(&plans)),
        ["ServiceAccount/sa in ns", "Namespace/ns", "ServiceAccount/sa in ns"],
        "the guest has its namespace too late, and the management cluster has none"
    );
    assert_eq!(
        graph(&two(&plans)[..1]),
        [
            "0.0 10 Deployment.apps/d in ns < ServiceAccount/sa in ns (what its pods need) \
             < ConfigMap/mounted in ns (what its pods need)",
            "0.0 10 ServiceAccount/sa in ns",
            "0.0 10 ConfigMap/mounted in ns",
        ]
    );
}

#[test]
fn what_is_created_once_and_what_is_taken_away() {
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
            "0.0 10 ConfigMap/once in ns once",
            "0.0 10 ConfigMap/gone in ns away",
            "0.0 10 ConfigMap/both in ns away",
            "0.0 10 ConfigMap/always in ns",
            "0.0 10 Deployment.apps/old in ns away",
            "0.0 10 ServiceAccount/sa in ns",
        ]
    );
}

#[test]
fn what_is_taken_away_is_not_waited_for() {
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
            "0.1 20 Namespace/ns away",
            "0.1 20 CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com away",
        ]
    );
}

/// Every order of four things.
fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]);
    all.filter(|order| (0..4).all(|n| order.contains(&n))).collect()
}

#[test]
fn within_a_level_the_order_of_the_files_does_not_matter() {
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
                 < ServiceAccount/sa in ns (what its pods need) < ConfigMap/mounted in ns (what its pods need)",
                "0.0 10 Namespace/ns",
                "0.0 10 ServiceAccount/sa in ns < Namespace/ns (its namespace)",
            ],
            "{order:?}"
        );
    }
}

/// A stage of one object.
fn stage(at: usize, level: &str) -> Stage {
    Stage { chunks: vec![Chunk { objects: at..at + 1, run_level: Some(level.to_owned()) }] }
}

#[test]
fn a_kind_that_is_defined_too_late_is_a_circle() {
    let one_level = plan(&[
        ("0000_10_a_1.yaml", object("example.com/v1 Widget ns/w", "")),
        (
            "0000_10_a_2.yaml",
            object("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", WIDGETS),
        ),
    ]);
    assert!(Rollout::of(&standalone(&one_level)).is_ok());
    let two_levels = Plan { stages: vec![stage(0, "10"), stage(1, "20")], ..one_level };
    assert_eq!(
        circle(&standalone(&two_levels)),
        [
            "Widget.example.com/w in ns",
            "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
            "Widget.example.com/w in ns",
        ]
    );
}

#[test]
fn a_circle_has_only_its_members() {
    let plan = plan(&[
        ("0000_05_a_1.yaml", object("v1 Namespace ns", "")),
        ("0000_10_a_1.yaml", object("v1 ConfigMap ns/beside", "")),
        ("0000_20_a_1.yaml", object("apps/v1 Deployment ns/d", POD)),
        ("0000_30_a_1.yaml", object("v1 ConfigMap ns/between", "")),
        ("0000_40_a_1.yaml", object("v1 ServiceAccount ns/sa", "")),
        ("0000_50_a_1.yaml", object("v1 ConfigMap ns/behind", "")),
    ]);
    assert_eq!(
        circle(&standalone(&plan)),
        ["Deployment.apps/d in ns", "ServiceAccount/sa in ns", "Deployment.apps/d in ns"]
    );
}

#[test]
fn a_job_before_what_it_mounts_is_a_circle_within_a_level() {
    let plan = plan(&[
        ("0000_10_a_1.yaml", object("batch/v1 Job ns/j", POD)),
        ("0000_10_a_2.yaml", object("v1 ConfigMap ns/mounted", "")),
    ]);
    assert_eq!(
        circle(&standalone(&plan)),
        ["Job.batch/j in ns", "ConfigMap/mounted in ns", "Job.batch/j in ns"]
    );
}

#[test]
fn levels_of_one_cluster_do_not_hold_back_the_other() {
    let plans = hooked("https://hook.hcp.svc:443/validate");
    assert_eq!(graph(&two(&plans)).len(), 2, "the guest's level 10 waits for the management cluster's 20");
}

#[test]
fn only_a_definition_must_be_ready() {
    let all = [
        (Need::Own(DependencyReason::Namespace), false, "its namespace"),
        (Need::Own(DependencyReason::CustomResourceDefinition), true, "the definition of its kind"),
        (Need::Own(DependencyReason::Pod), false, "what its pods need"),
        (Need::Own(DependencyReason::WebhookService), false, "the Service that it calls"),
        (Need::CalledAcross, false, "the Service that it calls in the management cluster"),
    ];
    for (need, readiness, words) in all {
        assert_eq!((need.is_of_readiness(), need.words()), (readiness, words));
    }
}

/// The storage payload in both topologies: it can be ordered, and the guest's webhook waits for its Service.
#[test]
fn the_bundled_payload_has_no_circle() {
    let plans = rendered(&repository());
    let plan = |name: &str| &plans.iter().find(|(profile, _)| profile == name).unwrap().1;
    let alone = standalone(plan("standalone"));
    let rollout = Rollout::of(&alone).unwrap();
    assert_eq!(rollout.steps.len(), alone[0].plan.objects.len());
    let halves = [
        Half { cluster: Cluster::Management, plan: plan("hypershift-mc") },
        Half { cluster: Cluster::Guest, plan: plan("hypershift-guest") },
    ];
    let rollout = Rollout::of(&halves).unwrap();
    let across = |step: &&Step<'_>| step.needs.iter().any(|(_, need)| *need == Need::CalledAcross);
    let waiting: Vec<&str> =
        rollout.steps.iter().filter(across).map(|step| step.object.id.kind.as_str()).collect();
    assert_eq!(waiting, ["ValidatingWebhookConfiguration"]);
}

/// In one cluster, what is waited for is never at a later stage, and nothing waits for itself.
#[test]
fn needs_of_the_bundled_payload_go_backwards() {
    for (profile, plan) in &rendered(&repository()) {
        let rollout = Rollout::of(&standalone(plan)).unwrap();
        for (at, one) in rollout.steps.iter().enumerate() {
            for (other, _) in &one.needs {
                let early = *other != at && rollout.steps[*other].stage <= one.stage;
                assert!(early, "{profile}: {}", step(&rollout, one));
            }
        }
    }
}
