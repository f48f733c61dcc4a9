//! Somebody may do everything but one thing: that is named, and the rest is done.

use serde_json::json;

use super::super::fixture::{CLASS_PATH, DEPLOYMENT_PATH, JOB_PATH, Project, SECRET, WIDGET};
use super::{assert_code, make, objects, told, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::rights::to_write", to_write),
    ("apply::faults::rights::to_list", to_list),
    ("apply::faults::rights::to_look_at_all", to_look_at_all),
];

const JOB: &str = "Job.batch/migrate in openshift-op";
/// As whom everything is done.
const DEPLOYER: [&str; 2] = ["--as", "deployer"];

fn as_deployer<'a>(more: &[&'a str]) -> Vec<&'a str> {
    DEPLOYER.into_iter().chain(more.iter().copied()).collect()
}

/// The deployer may do these things with Jobs, and everything with all else.
fn allow(side: &Side, verbs: &[&str]) {
    side.apply_yaml(&format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: deployer\nrules:\n\
         - apiGroups: [\"\", apps, apiextensions.k8s.io, storage.k8s.io, admissionregistration.k8s.io, rbac.authorization.k8s.io, example.test]\n  \
         resources: [\"*\"]\n  verbs: [\"*\"]\n- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [{}]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: deployer\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployer}}\n\
         subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: deployer}}]\n",
        verbs.join(", ")
    ));
    for verb in ["get", "list", "create", "patch"] {
        until("the right", || may(side, verb, "jobs", "batch") == verbs.contains(&verb));
    }
    until("the right", || may(side, "patch", "secrets", ""));
}

fn may(side: &Side, verb: &str, resource: &str, group: &str) -> bool {
    let spec = json!({"user": "deployer", "resourceAttributes": {"verb": verb, "resource": resource, "group": group}});
    let review =
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    make(side, "test", path, &review).ok().unwrap()["status"]["allowed"] == true
}

/// One kind cannot be written: the object says so in the words of the API server. Once it may be, it is.
fn to_write(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    allow(side, &["get", "list"]);
    let run = project.apply(side, &DEPLOYER);
    assert_code(&run, 3);
    assert_eq!(objects(&run, "failed"), [JOB]);
    let why = told(&run, "failed", JOB).unwrap();
    assert!(why.starts_with("it is forbidden: jobs.batch \"migrate\" is forbidden: User \"deployer\" cannot patch resource \"jobs\" in API group \"batch\" in the namespace \"openshift-op\""), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| side.get(path).is_some()));
    allow(side, &["get", "list", "create", "patch"]);
    assert_code(&project.apply(side, &DEPLOYER), 0);
    assert!(side.get(JOB_PATH).is_some());
}

/// One kind cannot be listed: its objects are asked for one after the other, as is whether they are ready, and nothing is
/// written twice.
fn to_list(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    allow(side, &["get", "create", "patch"]);
    assert_code(&project.apply(side, &DEPLOYER), 0);
    let mark = side.audit.mark();
    assert_code(&project.apply(side, &DEPLOYER), 0);
    assert_eq!(written(side, mark), Vec::<String>::new());
    side.delete(JOB_PATH);
    let run = project.apply(side, &as_deployer(&["--wait"]));
    assert_code(&run, 0);
    assert_eq!(objects(&run, "created"), [JOB]);
    assert_eq!(objects(&run, "ready"), [JOB]);
}

/// One kind cannot be seen: nobody says of it that it would be created.
fn to_look_at_all(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    allow(side, &["create", "patch"]);
    let cannot = "User \"deployer\" cannot get resource \"jobs\" in API group \"batch\"";
    let run = project.run(side, "apply", &as_deployer(&["--dry-run"]));
    assert_code(&run, 3);
    let line = run.stdout.lines().find(|line| line.contains("Job.batch/migrate")).unwrap();
    assert!(line.contains(" failed ") && line.contains(cannot), "{line}");
    let run = project.run(side, "diff", &as_deployer(&["--live"]));
    assert!(
        run.stdout.contains("Job.batch/migrate in openshift-op cannot be looked at: it is forbidden: "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(cannot) && run.code == 1, "{}", run.stdout);
}
