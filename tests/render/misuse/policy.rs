//! The policy for every pod of a hosted control plane: the errors for mistakes, and the objects that it does not change.

use serde_json::Value;

use super::{DEPLOYMENT, GUEST, MC, find, named, pod, project, project_with_page, render, render_error, run};

/// One policy entry after the other, with the fields that exist already.
#[test]
fn policy_for_accounts_and_workloads() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\nimagePullSecrets: [{name: mine}]\n---\n";
    let deployment = DEPLOYMENT.replacen(
        "namespace: old}",
        "namespace: old, labels: {own: stays, hypershift.openshift.io/managed-by: me}, annotations: {own: stays}}",
        1,
    );
    let project = project(&format!("{account}{deployment}"), "owner: somebody\n");
    let mc = render(&project, MC, &[]);
    assert_eq!(
        find(&mc, "ServiceAccount", "sa").to_string(),
        r#"{"apiVersion":"v1","imagePullSecrets":[{"name":"mine"},{"name":"pull-secret"}],"kind":"ServiceAccount","metadata":{"name":"sa","namespace":"clusters-example"}}"#
    );
    assert_eq!(
        find(&mc, "Deployment", "d")["metadata"].to_string(),
        r#"{"annotations":{"own":"stays","release.openshift.io/desired-version":"4.22.0"},"labels":{"hypershift.openshift.io/managed-by":"somebody","own":"stays"},"name":"d","namespace":"clusters-example"}"#
    );
    let standalone = render(&project, "standalone", &[]);
    assert_eq!(
        find(&standalone, "ServiceAccount", "sa")["imagePullSecrets"].to_string(),
        r#"[{"name":"mine"}]"#
    );
    assert_eq!(
        find(&standalone, "Deployment", "d")["metadata"].to_string(),
        r#"{"annotations":{"own":"stays"},"labels":{"hypershift.openshift.io/managed-by":"me","own":"stays"},"name":"d","namespace":"old"}"#
    );
}

#[test]
fn policy_for_rollouts() {
    for (stated, settings, expected) in [
        (
            "",
            "HighlyAvailable",
            r#"[2,2,{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0},"type":"RollingUpdate"}]"#,
        ),
        ("", "SingleReplica", "[1,2,null]"),
        (
            "replicas: 3\n  revisionHistoryLimit: 9\n  strategy: {type: Recreate}\n  ",
            "SingleReplica",
            r#"[3,2,{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}]"#,
        ),
        ("replicas: 1\n  strategy: {type: Recreate}\n  ", "HighlyAvailable", r#"[1,2,{"type":"Recreate"}]"#),
    ] {
        let manifest = DEPLOYMENT.replace("selector: {match", &format!("{stated}selector: {{match"));
        let settings = format!("hcp.availability={settings}");
        let mc = render(&project(&manifest, ""), MC, &["--set", &settings]);
        let spec = &find(&mc, "Deployment", "d")["spec"];
        let fields = ["replicas", "revisionHistoryLimit", "strategy"].map(|field| spec[field].clone());
        assert_eq!(Value::from(fields.to_vec()).to_string(), expected, "{stated}");
        assert_eq!(spec["selector"].to_string(), r#"{"matchLabels":{"app":"d"}}"#);
    }
}

#[test]
fn policy_for_disruption_budgets() {
    let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: d, namespace: old}\nspec: {minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, selector: {matchLabels: {app: d}}}\n";
    let project = project(&format!("{DEPLOYMENT}{budget}"), "");
    let spec =
        |more: &[&str]| find(&render(&project, MC, more), "PodDisruptionBudget", "d")["spec"].to_string();
    assert_eq!(
        spec(&[]),
        r#"{"maxUnavailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}"#,
        "what is stated stays, but for how many"
    );
    assert_eq!(
        spec(&["--set", "hcp.availability=SingleReplica"]),
        r#"{"minAvailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}"#
    );
}

#[test]
fn policy_for_where_pods_run() {
    let manifest = DEPLOYMENT
        .replace("metadata: {labels: {app: d}}", "metadata: {labels: {app: d}, annotations: {own: stays, hypershift.openshift.io/restart-date: old}}")
        .replace("serviceAccountName: sa\n", "serviceAccountName: sa\n      hostNetwork: true\n      dnsPolicy: Default\n      priorityClassName: mine\n      nodeSelector: {role: master}\n      tolerations: [{key: mine, operator: Exists}]\n      affinity: {podAntiAffinity: {own: stays}}\n");
    let project = project(&manifest, "");
    let mc = render(&project, MC, &[]);
    let template = &find(&mc, "Deployment", "d")["spec"]["template"];
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"],
        "data,socket-dir,tmp-dir"
    );
    assert_eq!(annotations["own"], "stays");
    assert_eq!(annotations.get("hypershift.openshift.io/restart-date"), None);
    assert_eq!(annotations.as_object().unwrap().len(), 3, "and the hash of what is mounted: {annotations}");
    assert_eq!(
        template["metadata"]["labels"].to_string(),
        r#"{"app":"d","hypershift.openshift.io/control-plane-component":"d","hypershift.openshift.io/hosted-control-plane":"clusters-example"}"#
    );
    let spec = &template["spec"];
    assert_eq!(
        (spec.get("hostNetwork"), spec.get("nodeSelector"), spec.get("securityContext")),
        (None, None, None)
    );
    assert_eq!(
        (spec["priorityClassName"].as_str(), spec["dnsPolicy"].as_str()),
        (Some("hypershift-control-plane"), Some("Default"))
    );
    assert_eq!(
        spec["tolerations"].to_string(),
        r#"[{"effect":"NoSchedule","key":"hypershift.openshift.io/control-plane","operator":"Equal","value":"true"},{"effect":"NoSchedule","key":"hypershift.openshift.io/cluster","operator":"Equal","value":"clusters-example"}]"#
    );
    assert_eq!(
        spec["affinity"].to_string(),
        r#"{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchExpressions":[{"key":"hypershift.openshift.io/control-plane","operator":"In","values":["true"]}]},"weight":50},{"preference":{"matchExpressions":[{"key":"hypershift.openshift.io/cluster","operator":"In","values":["clusters-example"]}]},"weight":100}]},"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"labelSelector":{"matchLabels":{"hypershift.openshift.io/hosted-control-plane":"clusters-example"}},"topologyKey":"kubernetes.io/hostname"},"weight":100}]},"podAntiAffinity":{"own":"stays"}}"#
    );
    let restarted =
        render(&project, MC, &["--set", "hcp.restartDate=2026", "--set", "hcp.priorityClass=high"]);
    let template = &find(&restarted, "Deployment", "d")["spec"]["template"];
    assert_eq!(template["metadata"]["annotations"]["hypershift.openshift.io/restart-date"], "2026");
    assert_eq!(template["spec"]["priorityClassName"], "high");
    let standalone = render(&project, "standalone", &[]);
    assert_eq!(pod(&standalone)["nodeSelector"].to_string(), r#"{"role":"master"}"#);
    assert_eq!(pod(&standalone)["hostNetwork"], true);
}

#[test]
fn policy_for_as_what_pods_run() {
    let manifest = DEPLOYMENT.replace(
        "serviceAccountName: sa\n",
        "serviceAccountName: sa\n      securityContext: {runAsUser: 0, fsGroup: 7}\n",
    );
    let project = project(&manifest, "");
    let context = |more: &[&str]| pod(&render(&project, MC, more))["securityContext"].to_string();
    assert_eq!(context(&[]), r#"{"fsGroup":7,"runAsUser":0}"#);
    assert_eq!(context(&["--set", "management.isOpenShift=false"]), r#"{"fsGroup":7,"runAsUser":1001}"#);
}

#[test]
fn policy_for_the_token_of_the_management_cluster() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n---\n";
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: old}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: sa, namespace: old}]\n";
    for (manifests, label, automount) in [
        (format!("{account}{DEPLOYMENT}"), None, Some(false)),
        (format!("{account}{DEPLOYMENT}{binding}"), Some("true"), None),
    ] {
        let mc = render(&project(&manifests, ""), MC, &[]);
        let template = &find(&mc, "Deployment", "d")["spec"]["template"];
        assert_eq!(
            template["metadata"]["labels"]["hypershift.openshift.io/need-management-kas-access"].as_str(),
            label
        );
        assert_eq!(template["spec"]["automountServiceAccountToken"].as_bool(), automount);
    }
}

#[test]
fn policy_for_containers() {
    let manifest = DEPLOYMENT.replace(
        "args: [run]",
        "imagePullPolicy: Always, terminationMessagePolicy: File, securityContext: {readOnlyRootFilesystem: false, runAsNonRoot: true}, volumeMounts: [{name: data, mountPath: /tmp}]",
    );
    let project = project(&manifest, "");
    let mc = render(&project, MC, &[]);
    assert_eq!(
        named(&mc, "containers", "driver").to_string(),
        r#"{"image":"i","imagePullPolicy":"Always","name":"driver","securityContext":{"readOnlyRootFilesystem":true,"runAsNonRoot":true},"terminationMessagePolicy":"File","volumeMounts":[{"mountPath":"/tmp","name":"data"}]}"#
    );
    assert_eq!(
        named(&mc, "containers", "other")["volumeMounts"].to_string(),
        r#"[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]"#
    );
    assert_eq!(named(&mc, "volumes", "tmp-dir").to_string(), r#"{"emptyDir":{},"name":"tmp-dir"}"#);
    let all = manifest.replace("mountPath: /data}", "mountPath: /tmp}");
    let volumes = pod(&render(&self::project(&all, ""), MC, &[]))["volumes"].to_string();
    assert!(!volumes.contains("tmp-dir"), "every container has its own: {volumes}");
}

#[test]
fn a_volume_for_tmp_that_is_something_else() {
    let manifest = DEPLOYMENT.replace("volumes: [", "volumes: [{name: tmp-dir, hostPath: {path: /x}}, ");
    assert_eq!(
        render_error(&project(&manifest, ""), MC),
        "error: hypershift-mc.yaml(name: tmp-dir): this field already has a different value\n  object: Deployment.apps/d in old\n  \
         note: the other value is at payload/op/0000_50_op_1.yaml:13:17\n  \
         help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch\n"
    );
}

#[test]
fn misuse_of_the_parameters_of_the_policy() {
    let project = project(DEPLOYMENT, "");
    for (setting, message) in [
        (
            "hcp.availability=Highly",
            "error: --set hcp.availability:1:1: the parameter `hcp.availability` must be one of \"HighlyAvailable\", \"SingleReplica\", not `Highly`\n",
        ),
        (
            "management.isOpenShift='false'",
            "error: --set management.isOpenShift:1:1: the parameter `management.isOpenShift` must be true or false, not the text `false`\n",
        ),
        (
            "hcp.runAsUser=root",
            "error: --set hcp.runAsUser:1:1: the parameter `hcp.runAsUser` must be a whole number, not the text `root`\n",
        ),
        (
            "hcp.labels=[a]",
            "error: --set hcp.labels:1:1: the parameter `hcp.labels` must be a map, not a list\n",
        ),
        (
            "hcp.tolerations={a: b}",
            "error: --set hcp.tolerations:1:1: the parameter `hcp.tolerations` must be a list, not a map\n",
        ),
        (
            "hcp.nodeSelector=a",
            "error: --set hcp.nodeSelector:1:1: the parameter `hcp.nodeSelector` must be a map, not the text `a`\n",
        ),
        (
            "hcp.namespace=A_B",
            "error: --set hcp.namespace:1:1: the parameter `hcp.namespace` must be a name of lower-case letters, digits, `-` and `.`, not `A_B`\n",
        ),
        (
            "hcp.priorityClass=",
            "error: --set hcp.priorityClass:1:1: the parameter `hcp.priorityClass` must be a name of lower-case letters, digits, `-` and `.`, not ``\n",
        ),
    ] {
        let run = run(&project, MC, &["--set", setting]);
        assert_eq!((run.code, run.stderr.as_str()), (2, message), "{setting}");
    }
}

/// What holds for every pod of a hosted control plane holds for no other.
#[test]
fn policy_leaves_pods_of_the_guest_alone() {
    let guest = render(&project_with_page(DEPLOYMENT, "place: {guest: [Deployment]}\n"), GUEST, &[]);
    assert_eq!(
        find(&guest, "Deployment", "d").to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"old"},"spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"args":["--own=1"],"image":"i","name":"other","volumeMounts":[{"mountPath":"/data","name":"data"}]},{"args":["run"],"image":"i","name":"driver"}],"serviceAccountName":"sa","volumes":[{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}}]}}}}"#
    );
}
