//! A user who lacks one right: the error names it, and everything else is applied.

use serde_json::json;

use super::super::fixture::{CLASS_PATH, DEPLOYMENT_PATH, JOB_PATH, Project, SECRET, WIDGET};
use super::{assert_code, create, message_of, objects_with, wait_until, written_paths};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::missing_rights::a_forbidden_write_fails_one_object", a_forbidden_write_fails_one_object),
    ("apply::missing_rights::a_forbidden_list_is_replaced_by_reads", a_forbidden_list_is_replaced_by_reads),
    ("apply::missing_rights::a_forbidden_read_is_reported", a_forbidden_read_is_reported),
];

const JOB: &str = "Job.batch/migrate in openshift-op";
/// The user for all commands.
const DEPLOYER: [&str; 2] = ["--as", "deployer"];

fn as_deployer<'a>(more: &[&'a str]) -> Vec<&'a str> {
    DEPLOYER.into_iter().chain(more.iter().copied()).collect()
}

/// Allows these verbs for Jobs, and everything for other resources.
fn allow(cluster: &TestCluster, verbs: &[&str]) {
    cluster.apply_yaml(&format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: deployer\nrules:\n\
         - apiGroups: [\"\", apps, apiextensions.k8s.io, storage.k8s.io, admissionregistration.k8s.io, rbac.authorization.k8s.io, example.test]\n  \
         resources: [\"*\"]\n  verbs: [\"*\"]\n- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [{}]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: deployer\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployer}}\n\
         subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: deployer}}]\n",
        verbs.join(", ")
    ));
    for verb in ["get", "list", "create", "patch"] {
        wait_until("the right", || may(cluster, verb, "jobs", "batch") == verbs.contains(&verb));
    }
    wait_until("the right", || may(cluster, "patch", "secrets", ""));
}

fn may(cluster: &TestCluster, verb: &str, resource: &str, group: &str) -> bool {
    let spec = json!({"user": "deployer", "resourceAttributes": {"verb": verb, "resource": resource, "group": group}});
    let review =
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    create(cluster, "test", path, &review).ok().unwrap()["status"]["allowed"] == true
}

/// A kind cannot be written. The message of the API server is reported. With the right, the object is applied.
fn a_forbidden_write_fails_one_object(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    allow(cluster, &["get", "list"]);
    let run = project.apply(cluster, &DEPLOYER);
    assert_code(&run, 3);
    assert_eq!(objects_with(&run, "failed"), [JOB]);
    let why = message_of(&run, "failed", JOB).unwrap();
    assert!(why.starts_with("forbidden: jobs.batch \"migrate\" is forbidden: User \"deployer\" cannot patch resource \"jobs\" in API group \"batch\" in the namespace \"openshift-op\""), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| cluster.get(path).is_some()));
    allow(cluster, &["get", "list", "create", "patch"]);
    assert_code(&project.apply(cluster, &DEPLOYER), 0);
    assert!(cluster.get(JOB_PATH).is_some());
}

/// A kind cannot be listed. Its objects are read one by one, also to see whether they are ready, and nothing is
/// written twice.
fn a_forbidden_list_is_replaced_by_reads(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    allow(cluster, &["get", "create", "patch"]);
    assert_code(&project.apply(cluster, &as_deployer(&["--wait"])), 0);
    let mark = cluster.audit.mark();
    assert_code(&project.apply(cluster, &DEPLOYER), 0);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    cluster.delete(JOB_PATH);
    let run = project.apply(cluster, &as_deployer(&["--wait"]));
    assert_code(&run, 0);
    assert_eq!(objects_with(&run, "created"), [JOB]);
    assert_eq!(objects_with(&run, "ready"), [JOB]);
}

/// A kind cannot be read. Neither `--dry-run` nor `diff` claims that the object would be created.
fn a_forbidden_read_is_reported(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    allow(cluster, &["create", "patch"]);
    let cannot = "User \"deployer\" cannot get resource \"jobs\" in API group \"batch\"";
    let run = project.run(cluster, "apply", &as_deployer(&["--dry-run"]));
    assert_code(&run, 3);
    let line = run.stdout.lines().find(|line| line.contains("Job.batch/migrate")).unwrap();
    assert!(line.contains(" would fail ") && line.contains(cannot), "{line}");
    let run = project.run(cluster, "diff", &as_deployer(&["--live"]));
    assert!(
        run.stdout.contains("Job.batch/migrate in openshift-op cannot be read: forbidden: "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(cannot) && run.code == 3, "{}", run.stdout);
}
