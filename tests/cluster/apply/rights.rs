//! `transship rights`: with exactly its roles, every command works. Without one of their rules, a request is forbidden.

use std::path::Path;

use serde_json::{Value, json};
use transship::yaml::{self, SourceId, json as yaml_json};
use walkdir::WalkDir;

use super::fixture::Project;
use super::scenarios::{assert_code, create, message_of, objects_with, wait_until};
use super::{Run, repository, run_hosted, run_in, run_standalone};
use crate::TestBedCase;
use crate::audit::{Entry, Mark};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::rights::a_hosted_cluster_needs_no_other_rights", a_hosted_cluster_needs_no_other_rights),
    ("apply::rights::a_standalone_cluster_needs_no_other_rights", a_standalone_cluster_needs_no_other_rights),
    ("apply::rights::without_a_right_a_request_is_forbidden", without_a_right_a_request_is_forbidden),
];

/// Manifests that only the older payload has. Their Role grants a right that no other one does.
const EXTRA: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: extra
  namespace: openshift-cluster-storage-operator
  annotations:
    include.release.openshift.io/self-managed-high-availability: \"true\"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: extra
  namespace: openshift-cluster-storage-operator
  annotations:
    include.release.openshift.io/self-managed-high-availability: \"true\"
rules:
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get]
";

/// Copies the bundled payload with its profiles and patches.
pub(super) fn copied_payload() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["payload", "profiles", "patches"] {
        for entry in WalkDir::new(repository().join(name)) {
            let entry = entry.unwrap();
            let copy = folder.path().join(entry.path().strip_prefix(repository()).unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(copy).unwrap();
            } else {
                std::fs::copy(entry.path(), copy).unwrap();
            }
        }
    }
    folder
}

/// Copies the bundled payload and adds [`EXTRA`].
fn older_payload() -> tempfile::TempDir {
    let folder = copied_payload();
    let extra = "payload/csi-snapshot-controller-operator/0000_95_csi-snapshot-controller_extra.yaml";
    std::fs::write(folder.path().join(extra), EXTRA).unwrap();
    folder
}

/// Returns the roles and bindings that `rights` prints for a user.
pub(super) fn roles(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let format = ["rights", "-o", "yaml", "--subject", "User/somebody"];
    let run = run_in(folder, &[&format[..], arguments].concat());
    assert_code(&run, 0);
    let documents = yaml::read(&run.stdout, SourceId(0)).unwrap();
    documents.iter().map(|it| serde_json::from_str(&yaml_json::write(&it.root)).unwrap()).collect()
}

/// Creates the roles, and waits until the API server knows all their rules.
pub(super) fn grant(cluster: &TestCluster, roles: &[Value]) {
    let texts: Vec<String> = roles.iter().map(ToString::to_string).collect();
    cluster.apply_yaml(&texts.join("\n---\n"));
    for role in roles {
        for rule in role["rules"].as_array().into_iter().flatten() {
            let request = json!({
                "user": "somebody", "resourceAttributes": attributes(rule, &role["metadata"]["namespace"]),
            });
            if rule["resources"][0].is_string() {
                wait_until("the right", || is_allowed(cluster, &request));
            }
        }
    }
}

/// Returns a request that a rule allows.
fn attributes(rule: &Value, namespace: &Value) -> Value {
    let resource = rule["resources"][0].as_str().unwrap();
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    json!({
        "verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": resource, "subresource": subresource,
        "name": rule["resourceNames"][0].as_str().unwrap_or_default(), "namespace": namespace.as_str().unwrap_or_default(),
    })
}

fn is_allowed(cluster: &TestCluster, spec: &Value) -> bool {
    let review =
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    create(cluster, "test", path, &review).ok().unwrap()["status"]["allowed"] == true
}

/// Checks that the API server refused none of our requests since a mark.
pub(super) fn assert_nothing_forbidden(cluster: &TestCluster, mark: Mark) {
    let entries: Vec<Entry> = cluster.audit.since(mark).into_iter().filter(Entry::is_ours).collect();
    // A Role in the namespace of a hosted control plane cannot grant the right to read `kube-system`.
    let is_expected = |entry: &&Entry| {
        entry.user_agent.contains("; hypershift; ") && entry.uri == "/api/v1/namespaces/kube-system"
    };
    let forbidden = entries.iter().filter(|entry| entry.code == 403 && !is_expected(entry));
    assert_eq!(forbidden.collect::<Vec<_>>(), Vec::<&Entry>::new());
    assert!(!entries.is_empty());
}

/// Runs a command in a folder, with further arguments.
type RunCommand<'b> = dyn Fn(&Path, &str, &[&str]) -> Run + 'b;

/// A topology: its clusters, each with the flags of `rights`, and how to run a command.
struct Topology<'b> {
    clusters: Vec<(&'b TestCluster, Vec<&'static str>)>,
    run: Box<RunCommand<'b>>,
}

impl Topology<'_> {
    fn grant(&self, arguments: &[&str]) {
        for (cluster, flags) in &self.clusters {
            grant(cluster, &roles(repository(), &[flags, arguments].concat()));
        }
    }

    fn run(&self, folder: &Path, command: &str, more: &[&str]) -> Run {
        (self.run)(folder, command, &[&["--as", "somebody", "--timeout", "120s"], more].concat())
    }

    /// Installs an older payload, upgrades it, compares it and deletes it.
    fn use_all_commands(&self, pruned: &str) {
        let older = older_payload();
        let older_payload = older.path().join("payload").display().to_string();
        let marks: Vec<Mark> = self.clusters.iter().map(|(cluster, _)| cluster.audit.mark()).collect();
        self.grant(&["--payload", &older_payload]);
        assert_code(&self.run(older.path(), "apply", &["--wait", "--prune"]), 0);
        self.grant(&["--previous-payload", &older_payload]);
        let run = self.run(repository(), "apply", &["--wait", "--prune"]);
        assert_eq!((run.code, run.stdout.as_str()), (0, pruned), "{}", run.stderr);
        assert_code(&self.run(repository(), "apply", &["--dry-run"]), 0);
        assert_code(&self.run(repository(), "diff", &["--live", "--drift"]), 0);
        // The API server compares the rules of a Role with the user's rights in a dry run as well.
        let role =
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/csi-snapshot-controller-operator-clusterrole";
        self.guest().patch(role, "application/merge-patch+json", r#"{"rules": []}"#);
        assert_code(&self.run(repository(), "diff", &["--live"]), 1);
        assert_code(&self.run(repository(), "apply", &["--wait"]), 0);
        assert_code(&self.run(repository(), "diff", &["--live"]), 0);
        assert_code(&self.run(repository(), "delete", &[]), 0);
        for ((cluster, _), mark) in self.clusters.iter().zip(marks) {
            assert_nothing_forbidden(cluster, mark);
        }
    }

    fn guest(&self) -> &TestCluster {
        self.clusters.last().unwrap().0
    }
}

fn a_hosted_cluster_needs_no_other_rights(bed: &TestBed) {
    let flags = |cluster| vec!["--topology", "hypershift", "--cluster", cluster];
    let management = roles(repository(), &flags("management"));
    let kinds: Vec<&str> = management.iter().map(|role| role["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Role", "RoleBinding"]);
    let topology = Topology {
        clusters: vec![(&bed.management, flags("management")), (&bed.guest, flags("guest"))],
        run: Box::new(|folder, command, more| run_hosted(bed, folder, command, more)),
    };
    topology.use_all_commands(
        "management: 0 created, 0 changed, 22 unchanged, 1 pruned, 0 failed\nguest: 0 created, 0 changed, 51 unchanged, 1 pruned, 0 failed\n",
    );
}

fn a_standalone_cluster_needs_no_other_rights(bed: &TestBed) {
    let cluster = bed.standalone();
    let topology = Topology {
        clusters: vec![(cluster, vec!["--topology", "standalone"])],
        run: Box::new(move |folder, command, more| run_standalone(cluster, folder, command, more)),
    };
    topology.use_all_commands("cluster: 0 created, 0 changed, 73 unchanged, 2 pruned, 0 failed\n");
}

/// Returns the roles without the rules that a function selects.
fn without(mut roles: Vec<Value>, is_left_out: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut left_out = 0;
    for rules in roles.iter_mut().filter_map(|role| role.get_mut("rules")?.as_array_mut()) {
        let before = rules.len();
        rules.retain(|rule| !is_left_out(rule));
        left_out += before - rules.len();
    }
    assert_eq!(left_out, 1, "{roles:?}");
    roles
}

fn without_a_right_a_request_is_forbidden(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let all = roles(project.path(), &["--topology", "standalone"]);
    let has = |rule: &Value, resource: &str, is_named: bool| {
        rule["resources"] == json!([resource]) && rule["resourceNames"].is_array() == is_named
    };
    // The named rule for Jobs is the one to apply them.
    grant(cluster, &without(all.clone(), |rule| has(rule, "jobs", true)));
    let somebody = ["--as", "somebody"];
    let run = project.apply(cluster, &somebody);
    assert_code(&run, 3);
    let job = "Job.batch/migrate in openshift-op";
    assert_eq!(objects_with(&run, "failed"), [job]);
    let why = message_of(&run, "failed", job).unwrap();
    assert!(
        why.starts_with("forbidden: jobs.batch \"migrate\" is forbidden: User \"somebody\" cannot "),
        "{why}"
    );
    // The rule without names is what the Role of the payload grants.
    grant(cluster, &all);
    project.change("50_role", "configmaps", "endpoints");
    let run = project.apply(cluster, &somebody);
    assert_code(&run, 3);
    let role = "Role.rbac.authorization.k8s.io/op in openshift-op";
    assert_eq!(objects_with(&run, "failed"), [role]);
    let why = message_of(&run, "failed", role).unwrap();
    assert!(why.contains("is attempting to grant RBAC permissions not currently held"), "{why}");
    grant(cluster, &roles(project.path(), &["--topology", "standalone"]));
    assert_code(&project.apply(cluster, &somebody), 0);
}
