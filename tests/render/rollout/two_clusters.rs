//! Rollouts to a management cluster and a guest.

use transship::Cluster;
use transship::Plan;
use transship::apply::ClusterPlan;

use super::{POD, cluster_scoped, config_map, cycle, graph, plans_of, two};
use crate::support::object;

/// Creates a webhook of the guest that calls a URL, and a Service of the management cluster at a later level.
fn plans_with_webhook(url: &str) -> [Plan; 2] {
    let webhooks = format!("webhooks: [{{name: w, clientConfig: {{url: '{url}'}}}}]");
    plans_of(
        "place: {management: [Service]}",
        &[
            (
                "0000_10_op_1.yaml",
                cluster_scoped(
                    "admissionregistration.k8s.io/v1",
                    "ValidatingWebhookConfiguration",
                    "v",
                    &webhooks,
                ),
            ),
            ("0000_20_op_1.yaml", object("v1", "Service", "hcp", "hook", "")),
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
        let plans = plans_with_webhook(url);
        assert_eq!(graph(&two(&plans)), ["0.0 20 Service/hook in hcp", guest], "{url}");
        let [management, guest_plan] = two(&plans);
        let reversed = graph(&[guest_plan, management]);
        assert_eq!(reversed[0], guest.replacen("1.0", "0.0", 1), "the order of the clusters does not matter");
    }
}

#[test]
fn a_url_is_no_dependency_within_one_cluster() {
    let plans = plans_with_webhook("https://hook.hcp.svc:443/validate");
    for cluster in [Cluster::Both, Cluster::Management] {
        let clusters = [ClusterPlan { cluster, plan: &plans[0] }, ClusterPlan { cluster, plan: &plans[1] }];
        assert_eq!(
            graph(&clusters),
            [
                "0.0 20 Service/hook in hcp",
                "1.0 10 ValidatingWebhookConfiguration.admissionregistration.k8s.io/v",
            ]
        );
    }
}

#[test]
fn clusters_do_not_share_objects() {
    let plans = plans_of(
        "place: {management: [Deployment], both: [ServiceAccount, ConfigMap]}",
        &[
            ("0000_10_op_1.yaml", object("apps/v1", "Deployment", "ns", "d", POD)),
            ("0000_10_op_2.yaml", object("v1", "ServiceAccount", "ns", "sa", "")),
            ("0000_10_op_3.yaml", config_map("mounted")),
            ("0000_20_op_1.yaml", cluster_scoped("v1", "Namespace", "ns", "")),
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
fn levels_of_one_cluster_do_not_delay_the_other() {
    let plans = plans_with_webhook("https://hook.hcp.svc:443/validate");
    assert_eq!(graph(&two(&plans)).len(), 2, "the guest's level 10 depends on the management cluster's 20");
}
