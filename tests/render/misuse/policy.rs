//! The policy for every pod of a hosted control plane: the errors for mistakes, and the objects that it does not change.

use serde_json::{Value, json};

use super::{DEPLOYMENT, GUEST, MC, STANDALONE, assert_error, pod_item, project_in_management};
use crate::support::{TestProject, find, item, pod_spec, unindent};

const SERVICE_ACCOUNT: &str = r"apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: old}
imagePullSecrets: [{name: mine}]
---
";

/// Returns the Deployment with more fields in the spec of its pods.
fn deployment_with(fields: &str) -> String {
    let mut manifest = DEPLOYMENT.to_owned();
    let position = manifest.find("      serviceAccountName").unwrap();
    manifest.insert_str(position, &indented(fields, "      "));
    manifest
}

/// Returns fields of YAML with this indentation.
fn indented(fields: &str, indentation: &str) -> String {
    let mut text = String::new();
    for line in unindent(fields).lines() {
        text.extend([indentation, line, "\n"]);
    }
    text
}

#[test]
fn policy_adds_a_pull_secret_and_labels_to_those_of_the_manifest() {
    let deployment = DEPLOYMENT.replacen(
        "namespace: old}",
        "namespace: old, labels: {own: stays, hypershift.openshift.io/managed-by: me}, annotations: {own: stays}}",
        1,
    );
    let project = project_in_management(&format!("{SERVICE_ACCOUNT}{deployment}"), "");
    let mc = project.render(MC);
    assert_eq!(
        *find(&mc, "ServiceAccount", "sa"),
        json!({
            "apiVersion": "v1",
            "imagePullSecrets": [{"name": "mine"}, {"name": "pull-secret"}],
            "kind": "ServiceAccount",
            "metadata": {"name": "sa", "namespace": "clusters-example"},
        })
    );
    assert_eq!(
        find(&mc, "Deployment", "d")["metadata"],
        json!({
            "annotations": {"own": "stays", "release.openshift.io/desired-version": "4.22.0"},
            "labels": {"hypershift.openshift.io/managed-by": "control-plane-operator", "own": "stays"},
            "name": "d",
            "namespace": "clusters-example",
        })
    );
    let standalone = project.render(STANDALONE);
    assert_eq!(find(&standalone, "ServiceAccount", "sa")["imagePullSecrets"], json!([{"name": "mine"}]));
    assert_eq!(
        find(&standalone, "Deployment", "d")["metadata"],
        json!({
            "annotations": {"own": "stays"},
            "labels": {"hypershift.openshift.io/managed-by": "me", "own": "stays"},
            "name": "d",
            "namespace": "old",
        })
    );
}

#[test]
fn policy_for_rollouts_depends_on_the_number_of_replicas() {
    for (fields, availability, replicas, strategy) in [
        (
            "",
            "HighlyAvailable",
            2,
            json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}, "type": "RollingUpdate"}),
        ),
        ("", "SingleReplica", 1, Value::Null),
        (
            r"
            replicas: 3
            revisionHistoryLimit: 9
            strategy: {type: Recreate}
            ",
            "SingleReplica",
            3,
            json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"}),
        ),
        (
            r"
            replicas: 1
            strategy: {type: Recreate}
            ",
            "HighlyAvailable",
            1,
            json!({"type": "Recreate"}),
        ),
    ] {
        let manifest =
            DEPLOYMENT.replace("  selector: {match", &(indented(fields, "  ") + "  selector: {match"));
        let setting = format!("hcp.availability={availability}");
        let mc = project_in_management(&manifest, "").render_with(MC, &["--set", &setting]);
        let spec = &find(&mc, "Deployment", "d")["spec"];
        assert_eq!(spec["replicas"], replicas, "{fields}");
        assert_eq!(spec["revisionHistoryLimit"], 2, "{fields}");
        assert_eq!(spec["strategy"], strategy, "{fields}");
        assert_eq!(spec["selector"], json!({"matchLabels": {"app": "d"}}), "{fields}");
    }
}

#[test]
fn policy_sets_only_the_number_of_a_disruption_budget() {
    let budget = r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: d, namespace: old}
spec: {minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, selector: {matchLabels: {app: d}}}
";
    let project = project_in_management(&format!("{DEPLOYMENT}{budget}"), "");
    assert_eq!(
        find(&project.render(MC), "PodDisruptionBudget", "d")["spec"],
        json!({
            "maxUnavailable": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
        })
    );
    let single = project.render_with(MC, &["--set", "hcp.availability=SingleReplica"]);
    assert_eq!(
        find(&single, "PodDisruptionBudget", "d")["spec"],
        json!({
            "minAvailable": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
        })
    );
}

#[test]
fn policy_decides_on_which_nodes_pods_run() {
    let manifest = deployment_with(
        r"
        hostNetwork: true
        dnsPolicy: Default
        priorityClassName: mine
        nodeSelector: {role: master}
        tolerations: [{key: mine, operator: Exists}]
        affinity: {podAntiAffinity: {own: stays}}
        ",
    )
    .replace(
        "metadata: {labels: {app: d}}",
        "metadata: {labels: {app: d}, annotations: {own: stays, hypershift.openshift.io/restart-date: old}}",
    );
    let project = project_in_management(&manifest, "");
    let mc = project.render(MC);
    let template = &find(&mc, "Deployment", "d")["spec"]["template"];
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"],
        "data,socket-dir,tmp-dir"
    );
    assert_eq!(annotations["own"], "stays");
    assert_eq!(annotations.get("hypershift.openshift.io/restart-date"), None);
    assert_eq!(
        annotations.as_object().unwrap().len(),
        3,
        "the third is the hash of the configuration: {annotations}"
    );
    assert_eq!(
        template["metadata"]["labels"],
        json!({
            "app": "d",
            "hypershift.openshift.io/control-plane-component": "d",
            "hypershift.openshift.io/hosted-control-plane": "clusters-example",
        })
    );
    let spec = &template["spec"];
    for absent in ["hostNetwork", "nodeSelector", "securityContext"] {
        assert_eq!(spec.get(absent), None, "{absent}");
    }
    assert_eq!(spec["priorityClassName"], "hypershift-control-plane");
    assert_eq!(spec["dnsPolicy"], "Default");
    assert_eq!(
        spec["tolerations"],
        json!([
            {
                "effect": "NoSchedule",
                "key": "hypershift.openshift.io/control-plane",
                "operator": "Equal",
                "value": "true",
            },
            {
                "effect": "NoSchedule",
                "key": "hypershift.openshift.io/cluster",
                "operator": "Equal",
                "value": "clusters-example",
            },
        ])
    );
    assert_eq!(
        spec["affinity"],
        json!({
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "preference": {
                            "matchExpressions": [
                                {
                                    "key": "hypershift.openshift.io/control-plane",
                                    "operator": "In",
                                    "values": ["true"],
                                },
                            ],
                        },
                        "weight": 50,
                    },
                    {
                        "preference": {
                            "matchExpressions": [
                                {
                                    "key": "hypershift.openshift.io/cluster",
                                    "operator": "In",
                                    "values": ["clusters-example"],
                                },
                            ],
                        },
                        "weight": 100,
                    },
                ],
            },
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "podAffinityTerm": {
                            "labelSelector": {
                                "matchLabels": {
                                    "hypershift.openshift.io/hosted-control-plane": "clusters-example",
                                },
                            },
                            "topologyKey": "kubernetes.io/hostname",
                        },
                        "weight": 100,
                    },
                ],
            },
            "podAntiAffinity": {"own": "stays"},
        })
    );
    let restarted =
        project.render_with(MC, &["--set", "hcp.restartDate=2026", "--set", "hcp.priorityClass=high"]);
    let template = &find(&restarted, "Deployment", "d")["spec"]["template"];
    assert_eq!(template["metadata"]["annotations"]["hypershift.openshift.io/restart-date"], "2026");
    assert_eq!(template["spec"]["priorityClassName"], "high");
    let standalone = project.render(STANDALONE);
    assert_eq!(pod_spec(&standalone, "d")["nodeSelector"], json!({"role": "master"}));
    assert_eq!(pod_spec(&standalone, "d")["hostNetwork"], true);
}

#[test]
fn policy_sets_the_user_of_pods_outside_openshift() {
    let manifest = deployment_with("securityContext: {runAsUser: 0, fsGroup: 7}");
    let project = project_in_management(&manifest, "");
    assert_eq!(pod_spec(&project.render(MC), "d")["securityContext"], json!({"fsGroup": 7, "runAsUser": 0}));
    let mc = project.render_with(MC, &["--set", "management.isOpenShift=false"]);
    assert_eq!(pod_spec(&mc, "d")["securityContext"], json!({"fsGroup": 7, "runAsUser": 1001}));
    let without = project_in_management(DEPLOYMENT, "");
    let mc = without.render_with(MC, &["--set", "management.isOpenShift=false", "--set", "hcp.runAsUser=5"]);
    assert_eq!(pod_spec(&mc, "d")["securityContext"], json!({"fsGroup": 5, "runAsUser": 5}));
}

#[test]
fn policy_sets_the_modes_of_volumes() {
    let manifest = DEPLOYMENT.replace(
        "volumes: [",
        "volumes: [{name: s, secret: {secretName: s, defaultMode: 0400}}, {name: c, configMap: {name: c, defaultMode: 0777}}, ",
    );
    let project = project_in_management(&manifest, "");
    let volumes = pod_spec(&project.render(MC), "d")["volumes"].clone();
    assert_eq!(item(&volumes, "s")["secret"]["defaultMode"], 0o640);
    assert_eq!(item(&volumes, "c")["configMap"]["defaultMode"], 0o644);
    let standalone = pod_spec(&project.render(STANDALONE), "d")["volumes"].clone();
    assert_eq!(item(&standalone, "s")["secret"]["defaultMode"], 0o400);
}

const ROLE_BINDING: &str = r"apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: old}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: sa, namespace: old}]
";

#[test]
fn only_pods_whose_service_account_is_bound_get_a_token_of_the_management_cluster() {
    for (manifests, label, automount) in [
        (format!("{SERVICE_ACCOUNT}{DEPLOYMENT}"), Value::Null, json!(false)),
        (format!("{SERVICE_ACCOUNT}{DEPLOYMENT}{ROLE_BINDING}"), json!("true"), Value::Null),
    ] {
        let mc = project_in_management(&manifests, "").render(MC);
        let template = &find(&mc, "Deployment", "d")["spec"]["template"];
        assert_eq!(
            template["metadata"]["labels"]["hypershift.openshift.io/need-management-kas-access"],
            label
        );
        assert_eq!(template["spec"]["automountServiceAccountToken"], automount);
    }
}

#[test]
fn policy_keeps_the_policies_and_mounts_of_a_container() {
    let manifest = DEPLOYMENT.replace(
        "args: [run]",
        "imagePullPolicy: Always, terminationMessagePolicy: File, securityContext: {readOnlyRootFilesystem: false, runAsNonRoot: true}, volumeMounts: [{name: data, mountPath: /tmp}]",
    );
    let project = project_in_management(&manifest, "");
    let mc = project.render(MC);
    assert_eq!(
        *pod_item(&mc, "containers", "driver"),
        json!({
            "image": "i",
            "imagePullPolicy": "Always",
            "name": "driver",
            "securityContext": {"readOnlyRootFilesystem": true, "runAsNonRoot": true},
            "terminationMessagePolicy": "File",
            "volumeMounts": [{"mountPath": "/tmp", "name": "data"}],
        })
    );
    assert_eq!(
        pod_item(&mc, "containers", "other")["volumeMounts"],
        json!([{"mountPath": "/data", "name": "data"}, {"mountPath": "/tmp", "name": "tmp-dir"}])
    );
    assert_eq!(*pod_item(&mc, "volumes", "tmp-dir"), json!({"emptyDir": {}, "name": "tmp-dir"}));
    let all = manifest.replace("mountPath: /data}", "mountPath: /tmp}");
    let volumes = pod_spec(&project_in_management(&all, "").render(MC), "d")["volumes"].to_string();
    assert!(!volumes.contains("tmp-dir"), "every container mounts /tmp on its own: {volumes}");
}

#[test]
fn a_volume_of_the_manifest_with_the_name_tmp_dir_is_a_conflict() {
    let manifest = DEPLOYMENT.replace("volumes: [", "volumes: [{name: tmp-dir, hostPath: {path: /x}}, ");
    assert_error(
        &project_in_management(&manifest, ""),
        MC,
        r#"
        error: profiles/hypershift-mc.yaml(name: tmp-dir): `/spec/template/spec/volumes/[name=tmp-dir]` cannot be set to `{"emptyDir":{},"name":"tmp-dir"}`, because it is `{"hostPath":{"path":"/x"},"name":"tmp-dir"}`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:13:17
          help: give both the same value, or remove this one and change the field with `patches` in the page
        "#,
    );
}

#[test]
fn a_parameter_of_the_policy_must_have_its_type() {
    let project = project_in_management(DEPLOYMENT, "");
    for (setting, message) in [
        ("hcp.availability=Highly", r#"one of "HighlyAvailable", "SingleReplica", not `Highly`"#),
        ("management.isOpenShift='false'", "true or false, not the text `false`"),
        ("hcp.runAsUser=root", "a whole number, not the text `root`"),
        ("hcp.labels=[a]", "a map, not a list"),
        ("hcp.tolerations={a: b}", "a list, not a map"),
        ("hcp.nodeSelector=a", "a map, not the text `a`"),
        ("hcp.namespace=A_B", "a name of lower-case letters, digits, `-` and `.`, not `A_B`"),
        ("hcp.priorityClass=", "a name of lower-case letters, digits, `-` and `.`, not ``"),
    ] {
        let name = setting.split_once('=').unwrap().0;
        assert_eq!(
            project.render_error_with(MC, &["--set", setting]),
            format!("error: --set {name}:1:1: the parameter `{name}` must be {message}\n")
        );
    }
}

#[test]
fn policy_does_not_change_pods_of_the_guest() {
    let guest = TestProject::with_bundled_profiles(DEPLOYMENT, "place: {guest: [Deployment]}").render(GUEST);
    assert_eq!(
        *find(&guest, "Deployment", "d"),
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "old"},
            "spec": {
                "selector": {"matchLabels": {"app": "d"}},
                "template": {
                    "metadata": {"labels": {"app": "d"}},
                    "spec": {
                        "containers": [
                            {
                                "args": ["--own=1"],
                                "image": "i",
                                "name": "other",
                                "volumeMounts": [{"mountPath": "/data", "name": "data"}],
                            },
                            {"args": ["run"], "image": "i", "name": "driver"},
                        ],
                        "serviceAccountName": "sa",
                        "volumes": [
                            {"emptyDir": {}, "name": "data"},
                            {"emptyDir": {}, "name": "socket-dir"},
                            {"name": "metrics-serving-cert", "secret": {"secretName": "cert"}},
                        ],
                    },
                },
            },
        })
    );
}
