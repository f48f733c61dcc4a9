//! That the test bed does what its cases rely on.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::BedCase;
use crate::bed::Bed;
use crate::call::{self, block_on};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("bed_itself::a_deployment_becomes_available", a_deployment_becomes_available),
    ("bed_itself::a_deleted_deployment_takes_its_pods_along", a_deleted_deployment_takes_its_pods_along),
    ("bed_itself::a_job_completes", a_job_completes),
    ("bed_itself::pods_that_fail_keep_it_unavailable", pods_that_fail_keep_it_unavailable),
    ("bed_itself::a_daemon_set_has_as_many_pods_as_there_are_nodes", a_daemon_set_has_as_many_pods_as_nodes),
    ("bed_itself::operators_report", operators_report),
    ("bed_itself::a_reset_leaves_nothing_behind", a_reset_leaves_nothing_behind),
    ("bed_itself::a_reset_takes_the_whole_payload_away", a_reset_takes_the_whole_payload_away),
    ("bed_itself::a_reset_brings_back_what_was_there", a_reset_brings_back_what_was_there),
    ("bed_itself::the_audit_log_knows_who_wrote", the_audit_log_knows_who_wrote),
    ("bed_itself::an_api_server_comes_back_with_its_data", an_api_server_comes_back_with_its_data),
    ("bed_itself::a_standalone_cluster_has_the_whole_platform", a_standalone_cluster_has_the_whole_platform),
];

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/it";

/// A workload of any kind that has a selector.
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

fn a_deployment_becomes_available(bed: &Bed) {
    for side in [&bed.management, &bed.guest] {
        side.apply_yaml(&workload("Deployment"));
        let began = Instant::now();
        side.wait(DEPLOYMENT, |it| is(it, "Available", "True") && it["status"]["readyReplicas"] == 1);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}

fn a_deleted_deployment_takes_its_pods_along(bed: &Bed) {
    let side = &bed.guest;
    side.apply_yaml(&workload("Deployment"));
    side.wait(DEPLOYMENT, |it| it["status"]["readyReplicas"] == 1);
    side.delete(DEPLOYMENT);
    side.wait("/api/v1/namespaces/default/pods", |list| list["items"] == Value::Array(vec![]));
    assert!(side.list("/apis/apps/v1/namespaces/default/replicasets").is_empty());
}

fn a_job_completes(bed: &Bed) {
    let side = &bed.guest;
    side.apply_yaml(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: it, namespace: default}\nspec:\n  template:\n    \
         spec: {restartPolicy: Never, containers: [{name: it, image: example.com/it}]}\n",
    );
    side.wait("/apis/batch/v1/namespaces/default/jobs/it", |it| is(it, "Complete", "True"));
}

fn pods_that_fail_keep_it_unavailable(bed: &Bed) {
    let side = &bed.management;
    side.stand_in.pods_fail(true);
    side.apply_yaml(&workload("Deployment"));
    side.wait("/api/v1/namespaces/default/pods", |list| is(&list["items"][0], "Ready", "False"));
    std::thread::sleep(Duration::from_millis(500));
    let pod = &side.list("/api/v1/namespaces/default/pods")[0];
    assert_eq!(pod["status"]["phase"], "Pending");
    assert!(is(&side.get(DEPLOYMENT).unwrap(), "Available", "False"));
    side.stand_in.pods_fail(false);
    side.wait(DEPLOYMENT, |it| is(it, "Available", "True"));
}

fn a_daemon_set_has_as_many_pods_as_nodes(bed: &Bed) {
    const DAEMON_SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/it";
    let side = &bed.guest;
    side.stand_in.nodes(0);
    side.wait("/api/v1/nodes", |list| list["items"] == Value::Array(vec![]));
    side.apply_yaml(&workload("DaemonSet"));
    let it = side.wait(DAEMON_SET, |it| it["status"]["observedGeneration"] == 1);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(it["status"]["desiredNumberScheduled"], 0);
    assert!(side.list("/api/v1/namespaces/default/pods").is_empty());
    side.stand_in.nodes(2);
    side.wait(DAEMON_SET, |it| it["status"]["numberReady"] == 2);
}

const CLUSTER_OPERATOR: &str = "/apis/config.openshift.io/v1/clusteroperators/storage";

fn operators_report(bed: &Bed) {
    let side = &bed.guest;
    let operator = "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: storage}\n";
    side.apply_yaml(operator);
    side.apply_yaml(&payload("cluster-storage-operator/0000_50_cluster_storage_operator_01_crd.yaml"));
    side.apply_yaml("apiVersion: operator.openshift.io/v1\nkind: Storage\nmetadata: {name: cluster}\nspec: {managementState: Managed}\n");
    let it = side.wait(CLUSTER_OPERATOR, |it| is(it, "Available", "True") && is(it, "Degraded", "False"));
    assert_eq!(it["status"]["versions"][0], serde_json::json!({"name": "operator", "version": "4.22.0"}));
    let storage = "/apis/operator.openshift.io/v1/storages/cluster";
    side.wait(storage, |it| is(it, "Available", "True") && it["status"]["observedGeneration"] == 1);
    side.stand_in.operators_fail(true);
    side.wait(CLUSTER_OPERATOR, |it| is(it, "Available", "False") && is(it, "Degraded", "True"));
    side.stand_in.operators_fail(false);
    side.stand_in.version("4.23.0");
    side.wait(CLUSTER_OPERATOR, |it| it["status"]["versions"][0]["version"] == "4.23.0");
}

/// A manifest of the payload.
fn payload(path: &str) -> String {
    std::fs::read_to_string(format!("{}/payload/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Everything in which an earlier case could be felt, ten times in a row: kinds with objects, a namespace with pods.
fn a_reset_leaves_nothing_behind(bed: &Bed) {
    let side = &bed.management;
    let before = everything(side);
    let mut slowest = Duration::ZERO;
    for round in 0..10 {
        side.apply_yaml(&kind_and_object());
        side.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: it}\n");
        side.apply_yaml(&workload("Deployment").replace("namespace: default", "namespace: it"));
        side.apply_yaml(&workload("DaemonSet").replace("app: it", "app: too"));
        // Not always at rest when it ends.
        if round % 2 == 0 {
            side.wait("/apis/apps/v1/namespaces/it/deployments/it", |it| is(it, "Available", "True"));
        }
        let began = Instant::now();
        bed.reset();
        slowest = slowest.max(began.elapsed());
        assert_eq!(everything(side), before, "round {round}");
        assert!(side.get("/apis/example.test/v1/things/it").is_none(), "its kind is gone");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(everything(side), before, "round {round}, and nothing comes back");
    }
    eprintln!("the slowest of ten resets took {slowest:?}");
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
}

/// What the cases are about: six kinds with objects, webhooks, roles that are added up, pods.
fn a_reset_takes_the_whole_payload_away(bed: &Bed) {
    let side = &bed.guest;
    let before = everything(side);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/default/hypershift-guest");
    let index = std::fs::read_to_string(format!("{golden}/index.txt")).unwrap();
    let files = index.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(' ').nth(1));
    let manifests: Vec<_> =
        files.map(|file| std::fs::read_to_string(format!("{golden}/{file}")).unwrap()).collect();
    for round in 0..3 {
        side.apply_yaml(&manifests.join("\n---\n"));
        side.wait(CLUSTER_OPERATOR, |it| is(it, "Available", "True"));
        side.wait("/api/v1/namespaces/openshift-cluster-csi-drivers/pods", |list| {
            is(&list["items"][0], "Ready", "True")
        });
        bed.reset();
        assert_eq!(everything(side), before, "round {round}");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(everything(side), before, "round {round}, and nothing comes back");
    }
}

/// A kind of its own, with a finalizer that nobody takes away.
fn kind_and_object() -> String {
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.test}\n\
     spec:\n  group: example.test\n  scope: Cluster\n  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    \
     served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n\
     ---\napiVersion: example.test/v1\nkind: Thing\nmetadata: {name: it, finalizers: [example.test/never]}\n"
        .to_owned()
}

/// The names of all objects of all kinds, but for events and leases.
fn everything(side: &Side) -> Vec<String> {
    block_on(async {
        let client = call::client(&side.direct(), "test").await;
        let get = async |path: &str| {
            call::patiently(&client, "GET", path, "application/json", Vec::new()).await.ok().unwrap()
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

fn a_reset_brings_back_what_was_there(bed: &Bed) {
    let side = &bed.management;
    let secret = "/api/v1/namespaces/clusters-example/secrets/pull-secret";
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/hypershift-control-plane";
    let (before, uid) =
        (side.get(secret).unwrap()["data"].clone(), side.get(class).unwrap()["metadata"]["uid"].clone());
    side.patch(secret, "application/merge-patch+json", r#"{"data": {".dockerconfigjson": "e30="}}"#);
    side.delete(class);
    side.delete("/api/v1/namespaces/clusters-example");
    bed.reset();
    assert_eq!(side.get(secret).unwrap()["data"], before);
    assert_eq!(side.get(class).unwrap()["metadata"]["uid"], uid);
    assert_eq!(side.get("/api/v1/namespaces/clusters-example").unwrap()["status"]["phase"], "Active");
}

fn the_audit_log_knows_who_wrote(bed: &Bed) {
    let side = &bed.guest;
    let namespaces = "/api/v1/namespaces";
    for number in 0..20 {
        let mark = side.audit.mark();
        let body = format!(r#"{{"metadata": {{"name": "it-{number}"}}}}"#);
        let by = |agent, query: &'static str, kubeconfig: &std::path::Path| {
            block_on(async {
                let client = call::client(kubeconfig, agent).await;
                let path = format!("{namespaces}{query}");
                call::call(&client, "POST", &path, "application/json", body.clone().into())
                    .await
                    .unwrap()
                    .code
            })
        };
        assert_eq!(by("transship/1", "?dryRun=All", &side.direct()), 201);
        assert_eq!(by("transship/1", "", side.kubeconfig()), 201);
        assert_eq!(by("kubectl/1", "", &side.direct()), 409);
        side.list(namespaces);
        let entries = side.audit.since(mark);
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

fn an_api_server_comes_back_with_its_data(bed: &Bed) {
    let side = &bed.guest;
    side.apply_yaml(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it, namespace: default}\ndata: {a: b}\n",
    );
    side.control_plane.kill();
    assert!(std::net::TcpStream::connect(("127.0.0.1", side.control_plane.port())).is_err());
    side.control_plane.restart();
    assert_eq!(side.get("/api/v1/namespaces/default/configmaps/it").unwrap()["data"]["a"], "b");
    side.apply_yaml(&workload("Deployment"));
    side.wait(DEPLOYMENT, |it| is(it, "Available", "True"));
}

fn a_standalone_cluster_has_the_whole_platform(bed: &Bed) {
    let side = bed.standalone();
    for path in [
        "/apis/cloudcredential.openshift.io/v1/credentialsrequests",
        "/apis/monitoring.coreos.com/v1/servicemonitors",
        "/api/v1/namespaces/openshift-cloud-credential-operator",
        "/api/v1/namespaces/openshift-config-managed",
        "/api/v1/namespaces/openshift-monitoring/serviceaccounts/prometheus-k8s",
        "/apis/config.openshift.io/v1/clusteroperators",
    ] {
        assert!(side.get(path).is_some(), "{path}");
    }
}
