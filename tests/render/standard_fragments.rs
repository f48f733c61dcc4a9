//! The fragments and the policy in `profiles/`: the effect of each on a minimal manifest.

use proptest::prelude::*;

use crate::support::{Folder, repository, run_in};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

/// Returns a Deployment with two containers, and more fields for its pod.
fn deployment(pod: &str) -> String {
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d, namespace: old, labels: {{app: d}}}}
spec:
  selector: {{matchLabels: {{app: d}}}}
  template:
    metadata: {{labels: {{app: d}}}}
    spec:
      serviceAccountName: sa
      containers:
      - {{name: other, image: i}}
      - {{name: driver, image: i, volumeMounts: [{{name: token, mountPath: /token, readOnly: true}}]}}
{pod}"
    )
}

const TOKEN: &str = "      volumes: [{name: token, projected: {sources: [{serviceAccountToken: {audience: openshift, path: jwt}}]}}]\n";
const EMPTY: &str = "      volumes: [{name: token, emptyDir: {}}]\n";

/// A component that uses the parameters of the bundled pages, with the objects whose fields the bundled profiles pin.
const CSI_PAGE: &str = "\
apiVersion: transship.openshift.io/v1
kind: Component
metadata: {name: csi}
values: {a: '${platform.type}', b: '${aws.region}', c: '${infrastructure.name}', d: '${operands}'}
";
const PINNED_OBJECTS: &str = "\
apiVersion: operator.openshift.io/v1
kind: CSISnapshotController
metadata: {name: cluster, annotations: {x: x}}
---
apiVersion: operator.openshift.io/v1
kind: Storage
metadata: {name: cluster, annotations: {x: x}}
---
apiVersion: operator.openshift.io/v1
kind: ClusterCSIDriver
metadata: {name: ebs.csi.aws.com, annotations: {x: x}}
";

const IMAGES: &str = "\
kind: ImageStream
apiVersion: image.openshift.io/v1
metadata: {name: 4.22.0}
spec:
  tags:
  - {name: token-minter, from: {kind: DockerImage, name: 'q/minter@sha256:1'}}
  - {name: transship, from: {kind: DockerImage, name: q/transship}}
  - {name: kube-rbac-proxy, from: {kind: DockerImage, name: q/proxy}}
  - {name: csi-external-attacher, from: {kind: DockerImage, name: q/attacher}}
  - {name: csi-livenessprobe, from: {kind: DockerImage, name: q/liveness}}
";

fn folder(manifests: &str, page: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/0000_50_op_1.yaml", manifests);
    let annotations = "annotations: {include.release.openshift.io/hypershift: 'true', include.release.openshift.io/self-managed-high-availability: 'true'}\n";
    folder.write(
        "payload/op/component.yaml",
        format!("{HEADER}kind: Component\nmetadata: {{name: op}}\n{annotations}{page}"),
    );
    folder.write("payload/csi/component.yaml", CSI_PAGE);
    folder.write("payload/csi/9.yaml", PINNED_OBJECTS);
    folder.write("payload/image-references", IMAGES);
    folder.write("payload/release-metadata", r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#);
    folder
}

/// Renders with the bundled profiles.
fn render(folder: &Folder, profile: &str, more: &[&str]) -> Vec<serde_json::Value> {
    let profiles = repository().join("profiles").display().to_string();
    let arguments =
        [&["render", "--profile", profile, "-o", "json", "--profiles", &profiles][..], more].concat();
    run_in(folder.path(), &arguments, "").json()
}

fn find<'o>(objects: &'o [serde_json::Value], kind: &str) -> &'o serde_json::Value {
    objects.iter().find(|object| object["kind"] == kind).unwrap()
}

fn containers<'o>(objects: &'o [serde_json::Value], list: &str) -> &'o Vec<serde_json::Value> {
    static NONE: Vec<serde_json::Value> = Vec::new();
    find(objects, "Deployment")["spec"]["template"]["spec"][list].as_array().unwrap_or(&NONE)
}

fn named<'o>(containers: &'o [serde_json::Value], name: &str) -> &'o serde_json::Value {
    containers.iter().find(|container| container["name"] == name).unwrap()
}

const PLACE: &str = "place: {management: [Deployment]}\n";

#[test]
fn guest_api_passes_the_kubeconfig_as_a_flag_or_as_a_variable() {
    for (inputs, args, env) in [
        ("arg: --guest-kubeconfig", r#"["--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#, "null"),
        ("arg: --kubeconfig", r#"["--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#, "null"),
        (
            "arg: --kubeconfig, env: KUBECONFIG",
            r#"["--kubeconfig=$(KUBECONFIG)"]"#,
            r#"[{"name":"KUBECONFIG","value":"/etc/guest-kubeconfig/kubeconfig"}]"#,
        ),
    ] {
        let page = format!(
            "{PLACE}uses: [{{guest-api: {{workload: Deployment/d, container: driver, {inputs}}}}}]\n"
        );
        let folder = folder(&deployment(EMPTY), &page);
        let mc = render(&folder, "hypershift-mc", &[]);
        let driver = named(containers(&mc, "containers"), "driver");
        assert_eq!((driver["args"].to_string().as_str(), driver["env"].to_string().as_str()), (args, env));
        assert_eq!(
            driver["volumeMounts"][1].to_string(),
            r#"{"mountPath":"/etc/guest-kubeconfig","name":"guest-kubeconfig","readOnly":true}"#
        );
        let other = named(containers(&mc, "containers"), "other");
        assert_eq!(
            (other.get("args"), other["volumeMounts"].to_string().as_str()),
            (None, r#"[{"mountPath":"/tmp","name":"tmp-dir"}]"#),
            "other containers stay unchanged"
        );
        let secret = find(&mc, "Secret");
        assert_eq!(
            secret["metadata"].to_string(),
            r#"{"annotations":{"transship.openshift.io/issued":"kubeconfig for the guest cluster as system:serviceaccount:old:sa"},"name":"d-kubeconfig","namespace":"clusters-example"}"#
        );
        let standalone = render(&folder, "standalone", &[]);
        assert_eq!(
            containers(&standalone, "containers")[1].to_string(),
            r#"{"image":"i","name":"driver","volumeMounts":[{"mountPath":"/token","name":"token","readOnly":true}]}"#
        );
    }
}

#[test]
fn a_token_minter_is_a_native_sidecar_if_the_management_cluster_supports_it() {
    let folder = folder(&deployment(TOKEN), PLACE);
    let args = r#"["--service-account-namespace=old","--service-account-name=sa","--token-audience=openshift","--token-file=/token/jwt","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#;
    let mc = render(&folder, "hypershift-mc", &[]);
    let minter = named(containers(&mc, "initContainers"), "token-minter-token");
    assert_eq!(
        (minter["args"].to_string().as_str(), minter["restartPolicy"].as_str()),
        (args, Some("Always"))
    );
    assert_eq!(minter["startupProbe"]["exec"]["command"].to_string(), r#"["test","-f","/token/jwt"]"#);
    let old = render(&folder, "hypershift-mc", &["--set", "management.nativeSidecars=false"]);
    let sidecar = named(containers(&old, "containers"), "token-minter-token");
    assert_eq!((sidecar["args"].to_string().as_str(), sidecar.get("restartPolicy")), (args, None));
    assert!(containers(&old, "initContainers").is_empty());
    for objects in [&mc, &old] {
        let spec = &find(objects, "Deployment")["spec"]["template"]["spec"];
        assert_eq!(spec["volumes"][0].to_string(), r#"{"emptyDir":{"medium":"Memory"},"name":"token"}"#);
        let driver = named(containers(objects, "containers"), "driver");
        assert_eq!(
            driver["volumeMounts"][0].to_string(),
            r#"{"mountPath":"/token","name":"token","readOnly":true}"#,
            "the container that mounts the token, not the first one"
        );
    }
    let guest = render(&folder, "hypershift-guest", &[]);
    let names: Vec<&str> = guest.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["ServiceAccount", "Role", "RoleBinding"],
        "the account, and the right to mint its tokens"
    );
    assert_eq!(
        guest[0].to_string(),
        r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa","namespace":"old"}}"#
    );
    assert!(
        find(&render(&folder, "standalone", &[]), "Deployment")["spec"]["template"]["spec"]["volumes"][0]
            .get("projected")
            .is_some()
    );
}

#[test]
fn a_oneshot_token_minter_is_a_plain_init_container() {
    let uses = "uses: [{token-minter: {workload: Deployment/d, container: driver, volume: once, mountPath: /once, serviceAccount: robot, oneshot: true}}]\n";
    let folder = folder(&deployment(EMPTY), &format!("{PLACE}{uses}"));
    let mc = render(&folder, "hypershift-mc", &[]);
    let minter = named(containers(&mc, "initContainers"), "token-minter-once");
    assert_eq!(minter["args"][4], "--oneshot");
    assert!(minter.get("restartPolicy").is_none() && minter.get("startupProbe").is_none());
    assert_eq!(render(&folder, "hypershift-guest", &[])[0]["metadata"]["name"], "robot");
}

#[test]
fn cloud_credentials_are_mounted_only_in_the_container_that_needs_them() {
    let uses = "uses: [{cloud-credentials: {workload: Deployment/d, container: driver, secret: ebs-cloud-credentials}}]\n";
    let folder = folder(&deployment(EMPTY), &format!("{PLACE}{uses}"));
    let mc = render(&folder, "hypershift-mc", &[]);
    let text = |name: &str| named(containers(&mc, "containers"), name).to_string();
    assert!(text("driver").contains(
        r#""env":[{"name":"AWS_SHARED_CREDENTIALS_FILE","value":"/etc/cloud-credentials/credentials"}]"#
    ));
    assert!(
        text("driver")
            .contains(r#"{"mountPath":"/etc/cloud-credentials","name":"cloud-credentials","readOnly":true}"#)
    );
    assert!(!text("other").contains("cloud-credentials") && !text("other").contains("AWS_"));
}

#[test]
fn webhook_url_replaces_the_service_of_a_webhook_in_the_guest() {
    let manifests = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: old}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}\nwebhooks: [{name: a.b.c, clientConfig: {service: {name: hook, namespace: old, path: /check}}}]\n";
    let folder = folder(manifests, "place: {management: [Service]}\n");
    let mc = render(&folder, "hypershift-mc", &[]);
    assert_eq!(
        mc[0]["metadata"]["labels"].to_string(),
        r#"{"hypershift.openshift.io/allow-guest-webhooks":"true"}"#
    );
    let guest = render(&folder, "hypershift-guest", &["--set", "hcp.caBundle=QUJD"]);
    assert_eq!(
        guest[0]["webhooks"][0]["clientConfig"].to_string(),
        r#"{"caBundle":"QUJD","url":"https://hook.clusters-example.svc:443/check"}"#
    );
    assert!(guest[0]["metadata"].get("annotations").is_none());
    let standalone = render(&folder, "standalone", &[]);
    assert_eq!(
        find(&standalone, "ValidatingWebhookConfiguration")["webhooks"][0]["clientConfig"]["service"]["name"],
        "hook"
    );
}

#[test]
fn policy_applies_to_all_containers_including_those_of_fragments() {
    let folder = folder(&deployment(TOKEN), PLACE);
    let mc = render(&folder, "hypershift-mc", &[]);
    let all: Vec<_> = containers(&mc, "containers").iter().chain(containers(&mc, "initContainers")).collect();
    assert_eq!(all.len(), 3);
    for container in all {
        assert_eq!(container["imagePullPolicy"], "IfNotPresent", "{container}");
        assert_eq!(container["terminationMessagePolicy"], "FallbackToLogsOnError");
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert!(container["volumeMounts"].to_string().contains(r#""mountPath":"/tmp""#));
    }
    let template = &find(&mc, "Deployment")["spec"]["template"];
    assert_eq!(
        template["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"],
        "token,tmp-dir"
    );
    assert_eq!(
        template["spec"]["automountServiceAccountToken"], false,
        "nothing in this cluster is bound to its account"
    );
}

#[test]
fn replicas_default_to_the_availability_of_the_control_plane() {
    let free = folder(&deployment(EMPTY), PLACE);
    let spec = |folder: &Folder, more: &[&str]| {
        find(&render(folder, "hypershift-mc", more), "Deployment")["spec"].clone()
    };
    let high = spec(&free, &[]);
    assert_eq!(
        (high["replicas"].as_i64(), high["strategy"]["rollingUpdate"].to_string().as_str()),
        (Some(2), r#"{"maxSurge":1,"maxUnavailable":0}"#)
    );
    let single = spec(&free, &["--set", "hcp.availability=SingleReplica"]);
    assert_eq!((single["replicas"].as_i64(), single.get("strategy")), (Some(1), None));
    let stated =
        folder(&deployment(EMPTY).replace("spec:\n  selector", "spec:\n  replicas: 1\n  selector"), PLACE);
    assert_eq!(spec(&stated, &[])["replicas"], 1);
}

#[test]
fn labels_of_the_hosted_control_plane_do_not_replace_those_of_the_manifest() {
    let folder = folder(&deployment(EMPTY), PLACE);
    folder.write("params.yaml", "hcp: {labels: {app: stolen, team: storage}, nodeSelector: {role: infra}, tolerations: [{key: t, operator: Exists}]}\n");
    let mc = render(
        &folder,
        "hypershift-mc",
        &["--params", "params.yaml", "--set", "management.isOpenShift=false"],
    );
    let template = &find(&mc, "Deployment")["spec"]["template"];
    assert_eq!(
        (template["metadata"]["labels"]["app"].as_str(), template["metadata"]["labels"]["team"].as_str()),
        (Some("d"), Some("storage"))
    );
    assert_eq!(template["spec"]["nodeSelector"].to_string(), r#"{"role":"infra"}"#);
    assert_eq!(template["spec"]["tolerations"][2].to_string(), r#"{"key":"t","operator":"Exists"}"#);
    assert_eq!(template["spec"]["securityContext"]["runAsUser"], 1001);
}

#[test]
fn a_container_that_is_new_in_the_manifest_gets_the_policy_without_changes_to_the_page() {
    let more = deployment(TOKEN).replace(
        "- {name: other, image: i}\n",
        "- {name: other, image: i}\n      - {name: fresh, image: i}\n",
    );
    let mc = render(&folder(&more, PLACE), "hypershift-mc", &[]);
    assert_eq!(
        named(containers(&mc, "containers"), "fresh").to_string(),
        r#"{"image":"i","imagePullPolicy":"IfNotPresent","name":"fresh","securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/tmp","name":"tmp-dir"}]}"#
    );
}

#[test]
fn the_name_of_a_manifest_file_does_not_change_the_result() {
    let first = folder(&deployment(TOKEN), PLACE);
    let second = folder(&deployment(TOKEN), PLACE);
    std::fs::rename(
        second.path().join("payload/op/0000_50_op_1.yaml"),
        second.path().join("payload/op/0000_50_op_99_renamed.yaml"),
    )
    .unwrap();
    for profile in ["standalone", "hypershift-mc", "hypershift-guest"] {
        assert_eq!(render(&first, profile, &[]), render(&second, profile, &[]));
    }
}

/// Uses of fragments. `issue: false` because two uses of guest-api would create the same Secret.
const USES: [&str; 6] = [
    "{guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, issue: false}}",
    "{guest-api: {workload: Deployment/d, container: other, arg: --config, env: KUBECONFIG, issue: false}}",
    "{cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud}}",
    "{control-plane-image: {workload: Deployment/d, container: other, env: IMAGE, image: csi-livenessprobe}}",
    "{env: {workload: Deployment/d, container: other, name: A, value: b}}",
    "{wait-for: {workload: Deployment/d, objects: [Storage.operator.openshift.io/cluster]}}",
];

const SETTINGS: [&str; 4] = [
    "hcp.availability=SingleReplica",
    "management.isOpenShift=false",
    "management.nativeSidecars=false",
    "hcp.labels={team: storage}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Puts the result back into the payload and renders it again.
    #[test]
    fn rendering_is_idempotent(
        uses in proptest::sample::subsequence(&USES[..], 0..=USES.len()),
        settings in proptest::sample::subsequence(&SETTINGS[..], 0..=SETTINGS.len()),
        token in any::<bool>(),
        annotated in any::<bool>(),
    ) {
        let annotations = "labels: {app: d}, annotations: {config.openshift.io/inject-proxy-cabundle: 'driver, other', config.openshift.io/inject-proxy: other}}\nspec:";
        let mut manifest = deployment(if token { TOKEN } else { EMPTY });
        if annotated {
            manifest = manifest.replace("labels: {app: d}}\nspec:", annotations);
        }
        let page = format!("{PLACE}uses: [{}]\n", uses.join(", "));
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let first = render(&folder(&manifest, &page), "hypershift-mc", &settings);
        let second = render(&folder(&find(&first, "Deployment").to_string(), &page), "hypershift-mc", &settings);
        // The hash differs, because the issued Secrets are not in the second payload.
        let without_hash = |objects: &[serde_json::Value]| {
            let mut deployment = find(objects, "Deployment").clone();
            let annotations = deployment.pointer_mut("/spec/template/metadata/annotations").unwrap();
            annotations.as_object_mut().unwrap().remove("component.hypershift.openshift.io/config-hash");
            deployment
        };
        prop_assert_eq!(without_hash(&second), without_hash(&first));
    }
}

/// The errors name every fragment that says nothing about the new profile, and then every intent without a rule.
#[test]
fn a_new_profile_must_decide_about_every_fragment_and_intent() {
    let folder = folder(&deployment(TOKEN), PLACE);
    for entry in walkdir::WalkDir::new(repository().join("profiles")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(repository()).unwrap().display().to_string();
            folder.write(&path, std::fs::read(entry.path()).unwrap());
        }
    }
    let edge = "extends: hypershift\ntopology: edge\ncluster: management\n";
    folder.write("profiles/edge.yaml", format!("{HEADER}kind: Profile\nmetadata: {{name: edge}}\n{edge}"));
    let run = folder.run(&["render", "--profile", "edge"]);
    let undecided: Vec<&str> = run
        .stderr
        .lines()
        .filter_map(|line| line.split_once("the fragment `"))
        .map(|(_, rest)| rest)
        .collect();
    let fragments = [
        "control-plane-image",
        "guest-api",
        "hosted-control-plane-reader",
        "service-twin",
        "serving-cert",
        "token-minter",
        "trusted-ca",
        "wait-for",
        "webhook-url",
    ];
    assert_eq!(
        undecided,
        fragments.map(|fragment| format!("{fragment}` has no addition for the profile edge"))
    );
    for fragment in fragments {
        let path = format!("profiles/fragments/{fragment}.yaml");
        let text = folder.read(&path).replacen("  - standalone\n", "  - standalone\n  - edge\n", 1);
        folder.write(&path, text);
    }
    let run = folder.run(&["render", "--profile", "edge"]);
    assert_eq!(
        run.stderr,
        "error: payload/op/0000_50_op_1.yaml:13:17: the profile `edge` has no rule for the intent `projected-token`\n  object: Deployment.apps/d in old\n  \
         help: write `projected-token: keep`, a fragment, or `refuse: <reason>` under its `intents`\n"
    );
}

const MONITORED: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: d-metrics, namespace: old}\nspec: {selector: {app: d}, ports: [{name: own, port: 443}]}\n---\n\
    apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: d-monitor, namespace: old}\nspec: {selector: {matchLabels: {app: d}}, endpoints: [{port: own}]}\n---\n\
    apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: servicemonitors.monitoring.coreos.com}\nspec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: ServiceMonitor, plural: servicemonitors}}\n---\n";

/// The page gives one port number; the container, the Service and the `ServiceMonitor` get it.
#[test]
fn a_csi_sidecar_adds_metrics_and_rbac() {
    let page = "values: {short: ebs, workload: Deployment/d}\nplace: {management: [Deployment, Service, ServiceMonitor]}\nuses:\n\
        - csi-sidecar: {sidecar: attacher, local: 8203, exposed: 9203, reads: [volumeattachment, node], args: [--timeout=60s]}\n- csi-liveness: {health: 10301}\n";
    let folder = folder(&format!("{MONITORED}{}", deployment(EMPTY)), page);
    let mc = render(&folder, "hypershift-mc", &[]);
    let all = containers(&mc, "containers");
    assert_eq!(
        named(all, "csi-attacher")["args"].to_string(),
        r#"["--csi-address=/var/lib/csi/sockets/pluginproxy/csi.sock","--http-endpoint=localhost:8203","--leader-election","--leader-election-lease-duration=137s","--leader-election-renew-deadline=107s","--leader-election-retry-period=26s","--leader-election-namespace=old","--v=2","--timeout=60s","--kubeconfig=$(KUBECONFIG)"]"#
    );
    let proxy = named(all, "attacher-kube-rbac-proxy");
    assert_eq!(
        (proxy["image"].as_str(), proxy["ports"][0].to_string().as_str()),
        (Some("q/proxy"), r#"{"containerPort":9203,"name":"attacher-m","protocol":"TCP"}"#)
    );
    assert_eq!(
        find(&mc, "Service")["spec"]["ports"].to_string(),
        r#"[{"name":"own","port":443},{"name":"attacher-m","port":9203,"protocol":"TCP","targetPort":"attacher-m"}]"#
    );
    let endpoint = &find(&mc, "ServiceMonitor")["spec"]["endpoints"][1];
    assert_eq!(
        (endpoint["port"].as_str(), endpoint["tlsConfig"]["serverName"].as_str()),
        (Some("attacher-m"), Some("d-metrics.clusters-example.svc"))
    );
    assert_eq!(named(all, "csi-liveness-probe")["args"][2], "--health-port=10301");
    let guest = render(&folder, "hypershift-guest", &[]);
    let bindings: Vec<_> = guest
        .iter()
        .filter(|object| object["kind"] == "ClusterRoleBinding")
        .map(|object| {
            (object["metadata"]["name"].as_str().unwrap(), object["roleRef"]["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        bindings,
        [
            ("ebs-csi-main-attacher-binding", "openshift-csi-main-attacher-role"),
            (
                "ebs-csi-volumeattachment-reader-attacher-binding",
                "openshift-csi-attacher-volumeattachment-reader-role"
            ),
            ("ebs-csi-node-reader-attacher-binding", "openshift-csi-attacher-node-reader-role"),
        ]
    );
    assert_eq!(
        guest.iter().find(|object| object["kind"] == "ClusterRoleBinding").unwrap()["subjects"].to_string(),
        r#"[{"kind":"ServiceAccount","name":"sa","namespace":"old"}]"#,
        "the namespace of the guest, not that of the hosted control plane"
    );
    assert!(mc.iter().all(|object| object["kind"] != "ClusterRoleBinding"));
}

#[test]
fn two_sidecars_with_the_same_port_name_conflict() {
    let page = "values: {short: ebs, workload: Deployment/d}\nplace: {management: [Deployment, Service, ServiceMonitor]}\nuses:\n\
        - metrics-proxy: {proxy: a, port: m, local: 1, exposed: 9203}\n- metrics-proxy: {proxy: b, port: m, local: 2, exposed: 9204}\n";
    let folder = folder(&format!("{MONITORED}{}", deployment(EMPTY)), page);
    let profiles = repository().join("profiles").display().to_string();
    let run = run_in(folder.path(), &["render", "--profile", "hypershift-mc", "--profiles", &profiles], "");
    assert!(
        run.code == 2
            && run
                .stderr
                .contains("this field already has a different value\n  object: Service/d-metrics in old"),
        "{}",
        run.stderr
    );
}

#[test]
fn service_twin_adds_a_service_without_a_selector_to_the_guest() {
    let manifests = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: old}\nspec: {selector: {app: d}, ports: [{port: 443}]}\n";
    let folder = folder(
        manifests,
        "place: {management: [Service]}\nuses: [{service-twin: {service: Service/hook, port: 443, ip: 10.0.0.7}}]\n",
    );
    assert_eq!(render(&folder, "hypershift-mc", &[])[0]["spec"]["selector"]["app"], "d");
    let guest = render(&folder, "hypershift-guest", &[]);
    assert_eq!(
        guest[0]["spec"].to_string(),
        r#"{"ports":[{"name":"twin","port":443,"protocol":"TCP","targetPort":443}]}"#,
        "without a selector"
    );
    assert_eq!(
        guest[1]["subsets"].to_string(),
        r#"[{"addresses":[{"ip":"10.0.0.7"}],"ports":[{"name":"twin","port":443,"protocol":"TCP"}]}]"#
    );
    assert_eq!(render(&folder, "standalone", &[]).len(), 1);
}

#[test]
fn wait_for_adds_an_init_container_that_waits_for_objects_of_the_guest() {
    let page = format!(
        "{PLACE}uses: [{{wait-for: {{workload: Deployment/d, objects: [Storage.operator.openshift.io/cluster, Secret/ns/a]}}}}]\n"
    );
    let folder = folder(&deployment(EMPTY), &page);
    let mc = render(&folder, "hypershift-mc", &[]);
    let waiting = named(containers(&mc, "initContainers"), "wait-for-guest");
    assert_eq!(
        (
            waiting["image"].as_str(),
            waiting["command"].to_string().as_str(),
            waiting["args"].to_string().as_str()
        ),
        (
            Some("q/transship"),
            r#"["transship","wait-for"]"#,
            r#"["Storage.operator.openshift.io/cluster","Secret/ns/a","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#
        )
    );
    for container in containers(&mc, "containers") {
        let text = container.to_string();
        assert!(
            !text.contains("kubeconfig") && !text.contains("wait-for"),
            "no other container is concerned: {text}"
        );
    }
    assert!(containers(&render(&folder, "standalone", &[]), "initContainers").is_empty());
}

#[test]
fn proxy_cabundle_mounts_the_trusted_ca_bundle() {
    let manifest = deployment(EMPTY).replace(
        "labels: {app: d}}\nspec:",
        "labels: {app: d}, annotations: {config.openshift.io/inject-proxy-cabundle: driver}}\nspec:",
    );
    let bundled = folder(&manifest, PLACE);
    for profile in ["standalone", "hypershift-mc"] {
        let objects = render(&bundled, profile, &[]);
        let mounts = named(containers(&objects, "containers"), "driver")["volumeMounts"].to_string();
        assert!(
            mounts.contains(r#"{"mountPath":"/etc/pki/ca-trust/extracted/pem","name":"trusted-ca-bundle","readOnly":true}"#),
            "{mounts}"
        );
        assert!(!named(containers(&objects, "containers"), "other").to_string().contains("trusted"));
        let volumes = find(&objects, "Deployment")["spec"]["template"]["spec"]["volumes"].to_string();
        assert!(
            volumes.contains(r#"{"configMap":{"items":[{"key":"ca-bundle.crt","path":"tls-ca-bundle.pem"}],"name":"op-trusted-ca-bundle"},"name":"trusted-ca-bundle"}"#),
            "{volumes}"
        );
    }
    let absent = folder(&manifest.replace("cabundle: driver", "cabundle: drivr"), PLACE);
    let profiles = repository().join("profiles").display().to_string();
    let run = run_in(absent.path(), &["render", "--profile", "standalone", "--profiles", &profiles], "");
    let stderr = run.stderr.replace(&format!("{profiles}/"), "");
    assert_eq!(
        (run.code, stderr.as_str()),
        (
            2,
            "error: fragments/proxy-cabundle.yaml:16:15: there is no container `drivr` to add to\n  object: Deployment.apps/d in old\n  \
             note: used at standalone.yaml:16:3\n  help: did you mean `driver`?\n"
        )
    );
}

#[test]
fn a_disruption_budget_depends_on_the_availability_of_the_control_plane() {
    let manifests = format!(
        "{}---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: d, namespace: old}}\nspec: {{maxUnavailable: 50%, selector: {{matchLabels: {{app: d}}}}}}\n",
        deployment(EMPTY)
    );
    let folder = folder(&manifests, "place: {management: [Deployment, PodDisruptionBudget]}\n");
    let spec = |profile: &str, more: &[&str]| {
        find(&render(&folder, profile, more), "PodDisruptionBudget")["spec"].to_string()
    };
    assert_eq!(
        spec("hypershift-mc", &[]),
        r#"{"maxUnavailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}"#
    );
    assert_eq!(
        spec("hypershift-mc", &["--set", "hcp.availability=SingleReplica"]),
        r#"{"minAvailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}"#
    );
    assert_eq!(spec("standalone", &[]), r#"{"maxUnavailable":"50%","selector":{"matchLabels":{"app":"d"}}}"#);
}

#[test]
fn env_and_control_plane_image_set_environment_variables() {
    let page = format!(
        "{PLACE}uses: [{{env: {{workload: Deployment/d, container: other, name: A, value: b}}}}, {{control-plane-image: {{workload: Deployment/d, container: driver, env: LIVENESS, image: csi-livenessprobe}}}}]\n"
    );
    let folder = folder(&deployment(EMPTY), &page);
    let mc = render(&folder, "hypershift-mc", &[]);
    assert_eq!(
        named(containers(&mc, "containers"), "other")["env"].to_string(),
        r#"[{"name":"A","value":"b"}]"#
    );
    assert_eq!(
        named(containers(&mc, "containers"), "driver")["env"].to_string(),
        r#"[{"name":"LIVENESS","value":"q/liveness"}]"#
    );
    let standalone = render(&folder, "standalone", &[]);
    assert_eq!(
        named(containers(&standalone, "containers"), "other")["env"].to_string(),
        r#"[{"name":"A","value":"b"}]"#
    );
    assert!(named(containers(&standalone, "containers"), "driver").get("env").is_none());
}
