//! The bundled payload is applied in both topologies. A second apply writes nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::applied_state::{kinds_of, labelled};
use super::{Run, repository, run_hosted, run_in, run_standalone};
use crate::TestBedCase;
use crate::audit::{self, Entry, Mark};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::storage_payload::a_hosted_cluster_is_applied_once", |bed| {
        a_hosted_cluster_is_applied_once(bed, &Counts { operands: "operator", management: 22, guest: 51 });
    }),
    ("apply::storage_payload::a_hosted_cluster_without_its_operators_is_applied_once", |bed| {
        a_hosted_cluster_is_applied_once(
            bed,
            &Counts { operands: "driver-operators", management: 18, guest: 53 },
        );
        bed.reset();
        a_hosted_cluster_is_applied_once(bed, &Counts { operands: "ours", management: 17, guest: 69 });
    }),
    ("apply::storage_payload::a_standalone_cluster_is_applied_once", a_standalone_cluster_is_applied_once),
];

/// Returns everything that is rendered for a profile, with a value of the parameter `operands`.
pub(super) fn rendered(profile: &str, operands: &str) -> Vec<Value> {
    let set = format!("operands={operands}");
    let run = run_in(repository(), &["render", "--profile", profile, "-o", "json", "--set", &set]);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the path of an object.
pub(super) fn path(cluster: &TestCluster, object: &Value) -> String {
    let (api, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    let root = if api.contains('/') { format!("/apis/{api}") } else { format!("/api/{api}") };
    let resources = cluster.get(&root).unwrap();
    let resource = resources["resources"].as_array().unwrap().iter();
    let mut resource =
        resource.filter(|one| one["kind"] == kind && !one["name"].as_str().unwrap().contains('/'));
    let plural = resource.next().unwrap()["name"].as_str().unwrap().to_owned();
    let name = object["metadata"]["name"].as_str().unwrap();
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("{root}/{plural}/{name}"),
    }
}

/// Checks that every object of a profile exists and that transship owns its fields.
fn assert_there(cluster: &TestCluster, profile: &str, operands: &str) {
    for object in rendered(profile, operands) {
        let path = path(cluster, &object);
        let live = cluster.get(&path).unwrap_or_else(|| panic!("{path} is not there"));
        let managers = live["metadata"]["managedFields"].as_array().unwrap();
        let ours = |entry: &&Value| entry["manager"] == "transship" && entry["operation"] == "Apply";
        let created = object["metadata"]["annotations"]["release.openshift.io/create-only"] == "true";
        assert!(created || managers.iter().any(|entry| ours(&entry)), "{path}: {managers:?}");
    }
}

/// Returns kind, namespace and name of an object.
fn name(path: &str, object: &Value) -> String {
    let kind = path.split('?').next().unwrap().rsplit('/').next().unwrap();
    format!("{kind} {} {}", object["metadata"]["namespace"], object["metadata"]["name"])
}

/// Checks that exactly the objects of a profile have our label.
fn assert_nothing_else(cluster: &TestCluster, profile: &str, operands: &str) {
    let kinds = kinds_of(cluster);
    let there: BTreeSet<String> = kinds
        .iter()
        .flat_map(|kind| labelled(cluster, kind).into_iter().map(|(_, live)| name(kind, &live)))
        .collect();
    let of_kind = |object: &Value| {
        let path = path(cluster, object);
        name(path.rsplit_once('/').unwrap().0, object)
    };
    let expected: BTreeSet<String> = rendered(profile, operands).iter().map(of_kind).collect();
    assert_eq!(there, expected);
}

/// Checks the initial status of a `ClusterOperator`.
fn assert_related(cluster: &TestCluster, operator: &str) {
    let live = cluster.get(&format!("/apis/config.openshift.io/v1/clusteroperators/{operator}")).unwrap();
    let related = live["status"]["relatedObjects"].as_array().unwrap();
    let namespace =
        json!({"group": "", "resource": "namespaces", "name": "openshift-cluster-storage-operator"});
    assert!(related.contains(&namespace), "{related:?}");
}

fn assert_done(run: &Run) {
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

/// Checks that there were no writes since a mark, and that no kind was listed twice in one namespace.
fn assert_only_looked(cluster: &TestCluster, mark: Mark) {
    let entries: Vec<Entry> = cluster.audit.since(mark).into_iter().filter(Entry::is_ours).collect();
    assert_eq!(audit::writes(&entries), Vec::<&Entry>::new());
    let lists: Vec<&str> = entries
        .iter()
        .filter(|one| one.verb == "list" && one.code == 200)
        .map(|one| one.uri.as_str())
        .collect();
    let different: BTreeSet<&str> = lists.iter().copied().collect();
    assert_eq!(lists.len(), different.len(), "{lists:?}");
    assert!(!lists.is_empty());
}

/// The objects of the bundled payload with a value of `operands`.
struct Counts {
    operands: &'static str,
    management: usize,
    guest: usize,
}

/// A second apply changes nothing, and deleting leaves nothing.
fn a_hosted_cluster_is_applied_once(bed: &TestBed, counts: &Counts) {
    let Counts { operands, management, guest } = *counts;
    let set = format!("operands={operands}");
    let set = ["--set", "hcp.namespace=clusters-example", "--set", &set, "--timeout", "60s"];
    let run = run_hosted(bed, repository(), "apply", &[&set[..], &["--wait"]].concat());
    assert_done(&run);
    assert_eq!(
        run.stdout,
        format!(
            "management: {management} created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n\
             guest: {guest} created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n"
        )
    );
    assert_there(&bed.management, "hypershift-mc", operands);
    assert_there(&bed.guest, "hypershift-guest", operands);
    assert_nothing_else(&bed.management, "hypershift-mc", operands);
    assert_nothing_else(&bed.guest, "hypershift-guest", operands);
    if operands == "operator" {
        assert_related(&bed.guest, "storage");
        assert_related(&bed.guest, "csi-snapshot-controller");
    }
    let marks = [bed.management.audit.mark(), bed.guest.audit.mark()];
    let run = run_hosted(bed, repository(), "apply", &[&set[..], &["--wait", "--prune"]].concat());
    assert_done(&run);
    assert_eq!(
        run.stdout,
        format!(
            "management: 0 created, 0 changed, {management} unchanged, 0 pruned, 0 failed\n\
             guest: 0 created, 0 changed, {guest} unchanged, 0 pruned, 0 failed\n"
        )
    );
    assert_only_looked(&bed.management, marks[0]);
    assert_only_looked(&bed.guest, marks[1]);
    let run = run_hosted(bed, repository(), "delete", &set);
    assert_done(&run);
    for cluster in [&bed.management, &bed.guest] {
        let inventories = cluster.list("/api/v1/configmaps?labelSelector=applyset.kubernetes.io%2Fid");
        assert_eq!(inventories, Vec::<Value>::new());
        assert_eq!(kinds_of(cluster), Vec::<String>::new());
    }
}

fn a_standalone_cluster_is_applied_once(bed: &TestBed) {
    let cluster = bed.standalone();
    let run = run_standalone(cluster, repository(), "apply", &["--wait", "--timeout", "60s"]);
    assert_done(&run);
    assert_eq!(run.stdout, "cluster: 73 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n");
    assert_there(cluster, "standalone", "operator");
    assert_nothing_else(cluster, "standalone", "operator");
    assert_related(cluster, "storage");
    let inventory = "/api/v1/namespaces/openshift-config-managed/configmaps/transship-standalone";
    let inventory = cluster.get(inventory).unwrap();
    let project = transship::Project::load(repository()).unwrap();
    assert_eq!(inventory["data"]["renderDigest"], project.render_digest());
    let mark = cluster.audit.mark();
    let run = run_standalone(cluster, repository(), "apply", &["--wait", "--timeout", "60s"]);
    assert_eq!(
        run.stdout, "cluster: 0 created, 0 changed, 73 unchanged, 0 pruned, 0 failed\n",
        "{}",
        run.stderr
    );
    assert_only_looked(cluster, mark);
}
