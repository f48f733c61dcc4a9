//! Tests of the test bed.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::TestBedCase;
use crate::playground::follow_version;
use crate::requests::{self, block_on};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("test_bed::a_deployment_becomes_available", a_deployment_becomes_available),
    ("test_bed::deleting_a_deployment_deletes_its_pods", deleting_a_deployment_deletes_its_pods),
    ("test_bed::a_job_completes", a_job_completes),
    ("test_bed::failing_pods_keep_a_deployment_unavailable", failing_pods_keep_a_deployment_unavailable),
    ("test_bed::a_daemon_set_has_one_pod_per_node", a_daemon_set_has_one_pod_per_node),
    ("test_bed::cluster_operators_report_their_status", cluster_operators_report_their_status),
    (
        "test_bed::the_playground_follows_the_version_of_operators",
        the_playground_follows_the_version_of_operators,
    ),
    ("test_bed::a_reset_deletes_everything_new", a_reset_deletes_everything_new),
    ("test_bed::a_reset_deletes_the_whole_payload", a_reset_deletes_the_whole_payload),
    ("test_bed::a_reset_restores_deleted_objects", a_reset_restores_deleted_objects),
    ("test_bed::the_audit_log_names_the_client", the_audit_log_names_the_client),
    ("test_bed::a_restarted_api_server_keeps_its_data", a_restarted_api_server_keeps_its_data),
    ("test_bed::a_standalone_cluster_has_the_whole_platform", a_standalone_cluster_has_the_whole_platform),
];

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/it";

/// A workload of a kind with a selector.
fn workload(kind: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: it, namespace: default}}\nspec:\n  \
         selector: {{matchLabels: {{app: it}}}}\n  template:\n    metadata: {{labels: {{app: it}}}}\n    \
         spec: {{containers: [{{name: it, image: example.com/it}}]}}\n"
    )
}

fn is(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|it| it["type"] == kind && it["status"] == status))
}

fn a_deployment_becomes_available(bed: &TestBed) {
    for cluster in [&bed.management, &bed.guest] {
        cluster.apply_yaml(&workload("Deployment"));
        let began = Instant::now();
        cluster.wait(DEPLOYMENT, |it| is(it, "Available", "True") && it["status"]["readyReplicas"] == 1);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}

fn deleting_a_deployment_deletes_its_pods(bed: &TestBed) {
    let cluster = &bed.guest;
    cluster.apply_yaml(&workload("Deployment"));
    cluster.wait(DEPLOYMENT, |it| it["status"]["readyReplicas"] == 1);
    cluster.delete(DEPLOYMENT);
    cluster.wait("/api/v1/namespaces/default/pods", |list| list["items"] == Value::Array(vec![]));
    assert!(cluster.list("/apis/apps/v1/namespaces/default/replicasets").is_empty());
}

fn a_job_completes(bed: &TestBed) {
    let cluster = &bed.guest;
    cluster.apply_yaml(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: it, namespace: default}\nspec:\n  template:\n    \
         spec: {restartPolicy: Never, containers: [{name: it, image: example.com/it}]}\n",
    );
    cluster.wait("/apis/batch/v1/namespaces/default/jobs/it", |it| is(it, "Complete", "True"));
}

fn failing_pods_keep_a_deployment_unavailable(bed: &TestBed) {
    let cluster = &bed.management;
    cluster.stand_in.pods_fail(true);
    cluster.apply_yaml(&workload("Deployment"));
    cluster.wait("/api/v1/namespaces/default/pods", |list| is(&list["items"][0], "Ready", "False"));
    std::thread::sleep(Duration::from_millis(500));
    let pod = &cluster.list("/api/v1/namespaces/default/pods")[0];
    assert_eq!(pod["status"]["phase"], "Pending");
    assert!(is(&cluster.get(DEPLOYMENT).unwrap(), "Available", "False"));
    cluster.stand_in.pods_fail(false);
    cluster.wait(DEPLOYMENT, |it| is(it, "Available", "True"));
}

fn a_daemon_set_has_one_pod_per_node(bed: &TestBed) {
    const DAEMON_SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/it";
    let cluster = &bed.guest;
    cluster.stand_in.nodes(0);
    cluster.wait("/api/v1/nodes", |list| list["items"] == Value::Array(vec![]));
    cluster.apply_yaml(&workload("DaemonSet"));
    let it = cluster.wait(DAEMON_SET, |it| it["status"]["observedGeneration"] == 1);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(it["status"]["desiredNumberScheduled"], 0);
    assert!(cluster.list("/api/v1/namespaces/default/pods").is_empty());
    cluster.stand_in.nodes(2);
    cluster.wait(DAEMON_SET, |it| it["status"]["numberReady"] == 2);
}

const CLUSTER_OPERATOR: &str = "/apis/config.openshift.io/v1/clusteroperators/storage";

fn cluster_operators_report_their_status(bed: &TestBed) {
    let cluster = &bed.guest;
    let operator = "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: storage}\n";
    cluster.apply_yaml(operator);
    cluster.apply_yaml(&payload("storage/0000_50_storage_01_storages.crd.yaml"));
    cluster.apply_yaml("apiVersion: operator.openshift.io/v1\nkind: Storage\nmetadata: {name: cluster}\nspec: {managementState: Managed}\n");
    let it = cluster.wait(CLUSTER_OPERATOR, |it| is(it, "Available", "True") && is(it, "Degraded", "False"));
    assert_eq!(it["status"]["versions"][0], serde_json::json!({"name": "operator", "version": "4.22.0"}));
    let storage = "/apis/operator.openshift.io/v1/storages/cluster";
    cluster.wait(storage, |it| is(it, "Available", "True") && it["status"]["observedGeneration"] == 1);
    cluster.stand_in.operators_fail(true);
    cluster.wait(CLUSTER_OPERATOR, |it| is(it, "Available", "False") && is(it, "Degraded", "True"));
    cluster.stand_in.operators_fail(false);
    cluster.stand_in.version("4.23.0");
    cluster.wait(CLUSTER_OPERATOR, |it| it["status"]["versions"][0]["version"] == "4.23.0");
}

/// The operator runs in the management cluster, and its ClusterOperator is in the guest.
fn the_playground_follows_the_version_of_operators(bed: &TestBed) {
    bed.guest
        .apply_yaml("apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: storage}\n");
    let image = "image: example.com/it";
    let with_version = format!("{image}, env: [{{name: OPERATOR_IMAGE_VERSION, value: 4.23.1}}]");
    bed.management.apply_yaml(&workload("Deployment").replace(image, &with_version));
    follow_version(bed);
    bed.guest.wait(CLUSTER_OPERATOR, |it| it["status"]["versions"][0]["version"] == "4.23.1");
}

/// Reads a manifest of the payload.
fn payload(path: &str) -> String {
    std::fs::read_to_string(format!("{}/payload/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Creates everything that could affect a later case, ten times in a row: custom resources, and a namespace with pods.
fn a_reset_deletes_everything_new(bed: &TestBed) {
    let cluster = &bed.management;
    let before = everything(cluster);
    let mut slowest = Duration::ZERO;
    for round in 0..10 {
        cluster.apply_yaml(&kind_and_object());
        cluster.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: it}\n");
        cluster.apply_yaml(&workload("Deployment").replace("namespace: default", "namespace: it"));
        cluster.apply_yaml(&workload("DaemonSet").replace("app: it", "app: too"));
        // A case may end while controllers still work.
        if round % 2 == 0 {
            cluster.wait("/apis/apps/v1/namespaces/it/deployments/it", |it| is(it, "Available", "True"));
        }
        let began = Instant::now();
        bed.reset();
        slowest = slowest.max(began.elapsed());
        assert_eq!(everything(cluster), before, "round {round}");
        assert!(cluster.get("/apis/example.test/v1/things/it").is_none(), "its kind is gone");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(everything(cluster), before, "round {round}, and nothing comes back");
    }
    eprintln!("the slowest of ten resets took {slowest:?}");
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
}

/// Creates what cases create: CRDs with objects, aggregated roles and pods.
fn a_reset_deletes_the_whole_payload(bed: &TestBed) {
    let cluster = &bed.guest;
    let before = everything(cluster);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/ours/hypershift-guest");
    let index = std::fs::read_to_string(format!("{golden}/index.txt")).unwrap();
    let files = index.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(' ').nth(1));
    let manifests: Vec<_> =
        files.map(|file| std::fs::read_to_string(format!("{golden}/{file}")).unwrap()).collect();
    for round in 0..3 {
        cluster.apply_yaml(&manifests.join("\n---\n"));
        cluster.wait("/api/v1/namespaces/openshift-cluster-csi-drivers/pods", |list| {
            is(&list["items"][0], "Ready", "True")
        });
        bed.reset();
        assert_eq!(everything(cluster), before, "round {round}");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(everything(cluster), before, "round {round}, and nothing comes back");
    }
}

/// A CRD and an object with a finalizer that nobody removes.
fn kind_and_object() -> String {
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.test}\n\
     spec:\n  group: example.test\n  scope: Cluster\n  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    \
     served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n\
     ---\napiVersion: example.test/v1\nkind: Thing\nmetadata: {name: it, finalizers: [example.test/never]}\n"
        .to_owned()
}

/// Returns the names of all objects of all kinds, except events and leases.
fn everything(cluster: &TestCluster) -> Vec<String> {
    block_on(async {
        let client = requests::client(&cluster.direct(), "test").await;
        let get = async |path: &str| {
            requests::call_with_retry(&client, "GET", path, "application/json", Vec::new())
                .await
                .ok()
                .unwrap()
        };
        let mut names = Vec::new();
        let groups = get("/apis").await;
        let version = |group: &Value| format!("/apis/{}", text(&group["preferredVersion"]["groupVersion"]));
        let groups = groups["groups"].as_array().unwrap().iter().map(version);
        for path in groups.chain(["/api/v1".to_owned()]) {
            for kind in
                get(&path).await["resources"].as_array().unwrap().iter().filter(|kind| is_listed(kind))
            {
                let kind = format!("{path}/{}", text(&kind["name"]));
                for object in get(&kind).await["items"].as_array().unwrap() {
                    let metadata = &object["metadata"];
                    names.push(format!(
                        "{kind} {} {}",
                        text(&metadata["namespace"]),
                        text(&metadata["name"])
                    ));
                }
            }
        }
        names
    })
}

fn is_listed(kind: &Value) -> bool {
    let can_be = kind["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"));
    can_be && !matches!(text(&kind["name"]), "events" | "leases" | "componentstatuses")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn a_reset_restores_deleted_objects(bed: &TestBed) {
    let cluster = &bed.management;
    let secret = "/api/v1/namespaces/clusters-example/secrets/pull-secret";
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/hypershift-control-plane";
    let (before, uid) = (
        cluster.get(secret).unwrap()["data"].clone(),
        cluster.get(class).unwrap()["metadata"]["uid"].clone(),
    );
    cluster.patch(secret, "application/merge-patch+json", r#"{"data": {".dockerconfigjson": "e30="}}"#);
    cluster.delete(class);
    cluster.delete("/api/v1/namespaces/clusters-example");
    bed.reset();
    assert_eq!(cluster.get(secret).unwrap()["data"], before);
    assert_eq!(cluster.get(class).unwrap()["metadata"]["uid"], uid);
    assert_eq!(cluster.get("/api/v1/namespaces/clusters-example").unwrap()["status"]["phase"], "Active");
}

fn the_audit_log_names_the_client(bed: &TestBed) {
    let cluster = &bed.guest;
    let namespaces = "/api/v1/namespaces";
    for number in 0..20 {
        let mark = cluster.audit.mark();
        let body = format!(r#"{{"metadata": {{"name": "it-{number}"}}}}"#);
        let by = |agent, query: &'static str, kubeconfig: &std::path::Path| {
            block_on(async {
                let client = requests::client(kubeconfig, agent).await;
                let path = format!("{namespaces}{query}");
                requests::call(&client, "POST", &path, "application/json", body.clone().into())
                    .await
                    .unwrap()
                    .code
            })
        };
        assert_eq!(by("transship/1", "?dryRun=All", &cluster.direct()), 201);
        assert_eq!(by("transship/1", "", cluster.kubeconfig()), 201);
        assert_eq!(by("kubectl/1", "", &cluster.direct()), 409);
        cluster.list(namespaces);
        let entries = cluster.audit.since(mark);
        let told: Vec<_> = entries
            .iter()
            .map(|it| (it.user_agent.as_str(), it.verb.as_str(), it.code, it.dry_run))
            .collect();
        let expected = [
            ("transship/1", "create", 201, true),
            ("transship/1", "create", 201, false),
            ("kubectl/1", "create", 409, false),
            ("test", "list", 200, false),
        ];
        assert_eq!(told, expected);
        assert_eq!(crate::audit::writes(&entries).len(), 2);
    }
}

fn a_restarted_api_server_keeps_its_data(bed: &TestBed) {
    let cluster = &bed.guest;
    cluster.apply_yaml(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it, namespace: default}\ndata: {a: b}\n",
    );
    cluster.control_plane.kill();
    assert!(std::net::TcpStream::connect(("127.0.0.1", cluster.control_plane.port())).is_err());
    cluster.control_plane.restart();
    assert_eq!(cluster.get("/api/v1/namespaces/default/configmaps/it").unwrap()["data"]["a"], "b");
    cluster.apply_yaml(&workload("Deployment"));
    cluster.wait(DEPLOYMENT, |it| is(it, "Available", "True"));
}

fn a_standalone_cluster_has_the_whole_platform(bed: &TestBed) {
    let cluster = bed.standalone();
    for path in [
        "/apis/cloudcredential.openshift.io/v1/credentialsrequests",
        "/apis/monitoring.coreos.com/v1/servicemonitors",
        "/api/v1/namespaces/openshift-cloud-credential-operator",
        "/api/v1/namespaces/openshift-config-managed",
        "/api/v1/namespaces/openshift-monitoring/serviceaccounts/prometheus-k8s",
        "/apis/config.openshift.io/v1/clusteroperators",
    ] {
        assert!(cluster.get(path).is_some(), "{path}");
    }
}
