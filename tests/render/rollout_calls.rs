//! Calls of the guest to Services of the management cluster, and the message for a dependency cycle.

use transship::Project;
use transship::apply::{ClusterPlan, DependencyCycle, DependencyReason, Rollout};
use transship::{Cluster, ObjectId};

use crate::support::{TestProject, object};

const WEBHOOK: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v, annotations: {x: x}}\nwebhooks: [{name: w, clientConfig: {url: 'https://hook.ns.svc:443/v'}}]\n";

/// Returns whether the webhook of the guest depends on an object with the name in its URL.
fn depends_on(place: &str, manifest: &str) -> bool {
    let project = TestProject::new()
        .manifest("op/1.yaml", WEBHOOK)
        .manifest("op/2.yaml", manifest)
        .page("op", &format!("place: {place}\n"))
        .profile("guest", "topology: t\ncluster: guest\n")
        .profile("mc", "topology: t\ncluster: management\n");
    let project = Project::load(project.path()).unwrap();
    let profiles = project.profiles.named(None).unwrap();
    let plans = transship::render_unchecked(&project.context(), &profiles).unwrap();
    let mut clusters = Vec::new();
    for (profile, plan) in profiles.iter().zip(&plans) {
        clusters.push(ClusterPlan { cluster: profile.cluster, plan });
    }
    let rollout = Rollout::new(&clusters).unwrap();
    let webhook = rollout.steps.iter().find(|step| step.object.id.name == "v").unwrap();
    assert_eq!(webhook.object.cluster, Cluster::Guest);
    webhook.dependencies.iter().any(|other| other.reason == DependencyReason::CallsManagementService)
}

#[test]
fn a_url_is_only_a_call_if_the_management_cluster_has_the_service() {
    let service = object("v1", "Service", "ns", "hook", "spec: {ports: [{port: 443}]}\n");
    assert!(depends_on("{management: [Service]}", &service));
    assert!(!depends_on("{guest: [Service]}", &service), "the Service of the guest is not called");
    assert!(!depends_on("{management: [ConfigMap]}", &object("v1", "ConfigMap", "ns", "hook", "data: {}\n")));
    let of_another_group = object("serving.knative.dev/v1", "Service", "ns", "hook", "spec: {}\n");
    assert!(!depends_on("{management: [Service]}", &of_another_group));
    let deleted = service.replace("{x: x}", "{release.openshift.io/delete: 'true'}");
    assert!(!depends_on("{management: [Service]}", &deleted));
}

#[test]
fn the_message_for_a_cycle_names_its_objects_in_order() {
    let id = |kind: &str, name: &str| ObjectId {
        group: String::new(),
        kind: kind.to_owned(),
        namespace: "ns".to_owned(),
        name: name.to_owned(),
    };
    let cycle = DependencyCycle { objects: vec![id("Pod", "a"), id("Secret", "b"), id("Pod", "a")] };
    assert_eq!(
        cycle.to_string(),
        "objects depend on each other: Pod/a in ns, which waits for Secret/b in ns, which waits for Pod/a in ns"
    );
}
