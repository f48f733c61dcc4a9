//! The policy of the bundled profile `hypershift-mc`.

use serde_json::{Value, json};

use super::{DEPLOYMENT, MC, PLACE, STANDALONE, deployment_with_token};
use crate::support::{TestProject, find, item, pod_spec};

#[test]
fn policy_applies_to_all_containers_including_those_of_fragments() {
    let mc = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE).render(MC);
    let pod = pod_spec(&mc, "d");
    let all =
        [pod["containers"].as_array().unwrap().clone(), pod["initContainers"].as_array().unwrap().clone()]
            .concat();
    assert_eq!(all.len(), 3);
    for container in all {
        assert_eq!(container["imagePullPolicy"], "IfNotPresent", "{container}");
        assert_eq!(container["terminationMessagePolicy"], "FallbackToLogsOnError", "{container}");
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true, "{container}");
        assert_eq!(
            *item(&container["volumeMounts"], "tmp-dir"),
            json!({"mountPath": "/tmp", "name": "tmp-dir"})
        );
    }
    let metadata = &find(&mc, "Deployment", "d")["spec"]["template"]["metadata"];
    assert_eq!(
        metadata["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"],
        "token,tmp-dir"
    );
    assert_eq!(
        pod["automountServiceAccountToken"], false,
        "no binding of this cluster names its ServiceAccount"
    );
}

/// Renders the Deployment for the management cluster, and returns its spec.
fn deployment_spec(project: &TestProject, arguments: &[&str]) -> Value {
    find(&project.render_with(MC, arguments), "Deployment", "d")["spec"].clone()
}

#[test]
fn replicas_default_to_the_availability_of_the_control_plane() {
    let project = TestProject::with_bundled_profiles(DEPLOYMENT, PLACE);
    let highly_available = deployment_spec(&project, &[]);
    assert_eq!(highly_available["replicas"], 2);
    assert_eq!(
        highly_available["strategy"],
        json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}, "type": "RollingUpdate"})
    );
    let single = deployment_spec(&project, &["--set", "hcp.availability=SingleReplica"]);
    assert_eq!(single["replicas"], 1);
    assert_eq!(single.get("strategy"), None);
}

#[test]
fn the_replicas_of_a_manifest_stay() {
    let manifest = DEPLOYMENT.replace("selector:", "replicas: 1\n      selector:");
    let project = TestProject::with_bundled_profiles(&manifest, PLACE);
    assert_eq!(deployment_spec(&project, &[])["replicas"], 1);
}

#[test]
fn labels_of_the_hosted_control_plane_do_not_replace_those_of_the_manifest() {
    let project = TestProject::with_bundled_profiles(DEPLOYMENT, PLACE).file(
        "params.yaml",
        r"
        hcp:
          labels: {app: stolen, team: storage}
          nodeSelector: {role: infra}
          tolerations: [{key: t, operator: Exists}]
        management: {isOpenShift: false}
        ",
    );
    let mc = project.render_with(MC, &["--params", "params.yaml"]);
    let labels = &find(&mc, "Deployment", "d")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(labels["app"], "d");
    assert_eq!(labels["team"], "storage");
    let pod = pod_spec(&mc, "d");
    assert_eq!(pod["nodeSelector"], json!({"role": "infra"}));
    assert_eq!(pod["tolerations"][2], json!({"key": "t", "operator": "Exists"}));
    assert_eq!(pod["securityContext"]["runAsUser"], 1001);
}

#[test]
fn a_container_that_is_new_in_the_manifest_gets_the_policy_without_changes_to_the_page() {
    let manifest = deployment_with_token().replace(
        "- {name: other, image: i}",
        "- {name: other, image: i}\n          - {name: fresh, image: i}",
    );
    let mc = TestProject::with_bundled_profiles(&manifest, PLACE).render(MC);
    assert_eq!(
        *item(&pod_spec(&mc, "d")["containers"], "fresh"),
        json!({
            "name": "fresh",
            "image": "i",
            "imagePullPolicy": "IfNotPresent",
            "securityContext": {"readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"mountPath": "/tmp", "name": "tmp-dir"}],
        })
    );
}

#[test]
fn a_disruption_budget_depends_on_the_availability_of_the_control_plane() {
    let budget = r"
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: d, namespace: old}
        spec: {maxUnavailable: 50%, selector: {matchLabels: {app: d}}}
        ";
    let page = "place: {management: [Deployment, PodDisruptionBudget]}";
    let project =
        TestProject::with_bundled_profiles(DEPLOYMENT, page).manifest("op/0000_50_op_2.yaml", budget);
    let mc = project.render(MC);
    assert_eq!(
        find(&mc, "PodDisruptionBudget", "d")["spec"],
        json!({
            "maxUnavailable": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        })
    );
    let single = project.render_with(MC, &["--set", "hcp.availability=SingleReplica"]);
    assert_eq!(
        find(&single, "PodDisruptionBudget", "d")["spec"],
        json!({
            "minAvailable": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        })
    );
    let standalone = project.render(STANDALONE);
    assert_eq!(
        find(&standalone, "PodDisruptionBudget", "d")["spec"],
        json!({"maxUnavailable": "50%", "selector": {"matchLabels": {"app": "d"}}})
    );
}
