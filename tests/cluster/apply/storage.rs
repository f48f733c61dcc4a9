//! The bundled payload goes out in both topologies, and a second time nothing is written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::faults::{make, until};
use super::ours::{kinds_of, labelled};
use super::{Run, alone, hosted, repository, run_in};
use crate::BedCase;
use crate::audit::{self, Entry, Mark};
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::storage::a_hosted_cluster", a_hosted_cluster),
    ("apply::storage::a_standalone_cluster", a_standalone_cluster),
    ("apply::storage::the_rights_of_the_page", the_rights_of_the_page),
];

/// Everything that is rendered for a profile.
fn rendered(profile: &str) -> Vec<Value> {
    let run = run_in(repository(), &["render", "--profile", profile, "-o", "json"]);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Where an object is, by what the cluster says it serves.
fn path(side: &Side, object: &Value) -> String {
    let (api, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    let root = if api.contains('/') { format!("/apis/{api}") } else { format!("/api/{api}") };
    let resources = side.get(&root).unwrap();
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

/// Every object of a profile is there, and its fields are ours.
fn assert_there(side: &Side, profile: &str) {
    for object in rendered(profile) {
        let path = path(side, &object);
        let live = side.get(&path).unwrap_or_else(|| panic!("{path} is not there"));
        let managers = live["metadata"]["managedFields"].as_array().unwrap();
        let ours = |entry: &&Value| entry["manager"] == "transship" && entry["operation"] == "Apply";
        let created = object["metadata"]["annotations"]["release.openshift.io/create-only"] == "true";
        assert!(created || managers.iter().any(|entry| ours(&entry)), "{path}: {managers:?}");
    }
}

/// What an object is called, with its kind and namespace.
fn name(path: &str, object: &Value) -> String {
    let kind = path.split('?').next().unwrap().rsplit('/').next().unwrap();
    format!("{kind} {} {}", object["metadata"]["namespace"], object["metadata"]["name"])
}

/// Exactly what is rendered for a profile is in its cluster, of all that is there because of us.
fn assert_nothing_else(side: &Side, profile: &str) {
    let kinds = kinds_of(side);
    let there: BTreeSet<String> = kinds
        .iter()
        .flat_map(|kind| labelled(side, kind).into_iter().map(|(_, live)| name(kind, &live)))
        .collect();
    let of_kind = |object: &Value| {
        let path = path(side, object);
        name(path.rsplit_once('/').unwrap().0, object)
    };
    let expected: BTreeSet<String> = rendered(profile).iter().map(of_kind).collect();
    assert_eq!(there, expected);
}

/// What an operator is about is told before it says so itself.
fn assert_related(side: &Side, operator: &str) {
    let live = side.get(&format!("/apis/config.openshift.io/v1/clusteroperators/{operator}")).unwrap();
    let related = live["status"]["relatedObjects"].as_array().unwrap();
    let namespace =
        json!({"group": "", "resource": "namespaces", "name": "openshift-cluster-storage-operator"});
    assert!(related.contains(&namespace), "{related:?}");
}

fn assert_done(run: &Run) {
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

/// What the program asked of a cluster since a mark: no writes, and no kind listed twice in one namespace.
fn assert_only_looked(side: &Side, mark: Mark) {
    let entries: Vec<Entry> = side.audit.since(mark).into_iter().filter(Entry::is_ours).collect();
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

fn a_hosted_cluster(bed: &Bed) {
    let run = hosted(bed, repository(), "apply", &["--wait", "--timeout", "60s"]);
    assert_done(&run);
    assert_eq!(
        run.stdout,
        "management: 45 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\nguest: 66 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n"
    );
    assert_there(&bed.management, "hypershift-mc");
    assert_there(&bed.guest, "hypershift-guest");
    assert_nothing_else(&bed.management, "hypershift-mc");
    assert_nothing_else(&bed.guest, "hypershift-guest");
    assert_related(&bed.guest, "storage");
    assert_related(&bed.guest, "csi-snapshot-controller");
    let marks = [bed.management.audit.mark(), bed.guest.audit.mark()];
    let run = hosted(bed, repository(), "apply", &["--wait", "--timeout", "60s", "--prune"]);
    assert_done(&run);
    assert_eq!(
        run.stdout,
        "management: 0 created, 0 changed, 45 unchanged, 0 pruned, 0 failed\nguest: 0 created, 0 changed, 66 unchanged, 0 pruned, 0 failed\n"
    );
    assert_only_looked(&bed.management, marks[0]);
    assert_only_looked(&bed.guest, marks[1]);
    let run = hosted(bed, repository(), "delete", &["--timeout", "60s"]);
    assert_done(&run);
    for side in [&bed.management, &bed.guest] {
        let inventories = side.list("/api/v1/configmaps?labelSelector=applyset.kubernetes.io%2Fid");
        assert_eq!(inventories, Vec::<Value>::new());
        assert_eq!(kinds_of(side), Vec::<String>::new());
    }
}

fn a_standalone_cluster(bed: &Bed) {
    let side = bed.standalone();
    let run = alone(side, repository(), "apply", &["--wait", "--timeout", "60s"]);
    assert_done(&run);
    assert_eq!(run.stdout, "cluster: 98 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n");
    assert_there(side, "standalone");
    assert_nothing_else(side, "standalone");
    assert_related(side, "storage");
    let mark = side.audit.mark();
    let run = alone(side, repository(), "apply", &["--wait", "--timeout", "60s"]);
    assert_eq!(
        run.stdout, "cluster: 0 created, 0 changed, 98 unchanged, 0 pruned, 0 failed\n",
        "{}",
        run.stderr
    );
    assert_only_looked(side, mark);
}

/// What `docs/apply.md` says that somebody must be allowed to do in a cluster.
fn rights(cluster: &str) -> String {
    let page = std::fs::read_to_string(repository().join("docs/apply.md")).unwrap();
    let (_, role) = page.split_once(&format!("```yaml\n# {cluster}\n")).unwrap();
    role.split_once("```").unwrap().0.to_owned()
}

/// Gives the rights of the page to somebody, and waits until he has the last of them.
fn give(side: &Side, cluster: &str, binding: &str, attributes: &Value) {
    let subject = "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: somebody}]";
    let group = "apiGroup: rbac.authorization.k8s.io";
    side.apply_yaml(&format!(
        "{}---\napiVersion: rbac.authorization.k8s.io/v1\n{binding}\nroleRef: {{{group}, kind: {}, name: transship}}\n{subject}\n",
        rights(cluster),
        if cluster == "guest" { "ClusterRole" } else { "Role" },
    ));
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": "somebody", "resourceAttributes": attributes},
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    until("the right", || make(side, "test", path, &review).ok().unwrap()["status"]["allowed"] == true);
}

/// With the rights that the page names, and no others, the payload is applied, again and again, and deleted.
fn the_rights_of_the_page(bed: &Bed) {
    let in_namespace = "kind: RoleBinding\nmetadata: {name: transship, namespace: clusters-example}";
    let last = json!({
        "verb": "escalate", "resource": "roles", "group": "rbac.authorization.k8s.io", "namespace": "clusters-example",
    });
    give(&bed.management, "management", in_namespace, &last);
    let in_cluster = "kind: ClusterRoleBinding\nmetadata: {name: transship}";
    let last = json!({"verb": "delete", "resource": "storageclasses", "group": "storage.k8s.io"});
    give(&bed.guest, "guest", in_cluster, &last);
    let somebody = ["--as", "somebody", "--timeout", "60s"];
    for (command, more) in [
        ("apply", &["--wait", "--prune"][..]),
        ("apply", &["--dry-run"]),
        ("diff", &["--live"]),
        ("delete", &[]),
    ] {
        let run = hosted(bed, repository(), command, &[&somebody, more].concat());
        assert_done(&run);
        assert!(!run.stderr.contains("forbidden"), "{}", run.stderr);
    }
}
