//! Others who write in the cluster, or have a say in what is written there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{
    CLASS_PATH, DEFINITION_PATH, DEPLOYMENT_PATH, JOB_PATH, NAMESPACE, OBJECTS, Project, SECRET,
    WEBHOOK_PATH, WIDGET, map,
};
use super::{assert_code, edit, inventory, make, objects, times, told, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::faults::{Fault, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::others::a_rival", a_rival),
    ("apply::faults::others::what_is_ours_is_put_right", what_is_ours_is_put_right),
    ("apply::faults::others::a_value_that_is_rewritten", a_value_that_is_rewritten),
    ("apply::faults::others::a_webhook_that_does_not_answer", a_webhook_that_does_not_answer),
    ("apply::faults::others::a_namespace_that_never_goes", a_namespace_that_never_goes),
    ("apply::faults::others::a_namespace_of_others_that_never_goes", a_namespace_of_others_that_never_goes),
    ("apply::faults::others::texts_of_a_secret", texts_of_a_secret),
    ("apply::faults::others::a_job_of_others", a_job_of_others),
    ("apply::faults::others::a_webhook_that_hangs", a_webhook_that_hangs),
    ("apply::faults::others::what_was_there_before_us", what_was_there_before_us),
    ("apply::faults::others::what_belongs_to_another_set", what_belongs_to_another_set),
];

const MAPS: &str = "/api/v1/namespaces/openshift-op/configmaps";

fn mode(side: &Side) -> Value {
    side.get(&map("settings")).unwrap()["data"]["mode"].clone()
}

/// Somebody sets a field of ours to his own value all the time: it ends nevertheless, and nothing else is written.
fn a_rival(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    let patch = Which::matching(|seen| seen.method == "PATCH");
    side.proxy.fault(patch, usize::MAX, Fault::Delay(Duration::from_millis(300)));
    let (mark, ends) = (side.audit.mark(), AtomicBool::new(false));
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                edit(side, "rival", &map("settings"), &json!({"data": {"mode": "his"}}));
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let run = project.apply(side, &[]);
        ends.store(true, Ordering::SeqCst);
        run
    });
    assert_code(&run, 0);
    let written = written(side, mark);
    assert!((1..=5).contains(&times(&written, &map("settings"))), "{written:?}");
    assert_eq!(
        written.iter().filter(|path| path.starts_with(MAPS)).count(),
        times(&written, &map("settings"))
    );
    assert!(written.len() <= 6, "only the inventory beside it: {written:?}");
}

/// Texts of a Secret are kept as bytes: who changes those is seen.
fn texts_of_a_secret(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.change(
        "20_secret",
        "data:\n  password: Y2FuYXJ5LWluLWEtY2FnZQ==",
        "stringData:\n  password: one\n  more: two",
    );
    project.applied(side, &[]);
    let data = |side: &Side| side.get(SECRET).unwrap()["data"].clone();
    assert_eq!(data(side), json!({"password": "b25l", "more": "dHdv"}));
    edit(side, "admin", SECRET, &json!({"data": {"password": "aGlz"}}));
    project.change("20_secret", "\n  more: two", "");
    project.applied(side, &[]);
    assert_eq!(data(side), json!({"password": "b25l"}));
}

/// A Job of others has the name of ours, and nothing in it that we would set differently: it is theirs.
fn a_job_of_others(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make(side, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "theirs", "image": "example.test/theirs:1"}]});
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    make(side, "somebody", "/apis/batch/v1/namespaces/openshift-op/jobs", &job).ok().unwrap();
    let before = side.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "failed", "Job.batch/migrate in openshift-op").unwrap(),
        "it was there before us, and spec.template cannot be changed on an object that is there; --adopt takes it over"
    );
    assert_eq!(side.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
    project.applied(side, &["--adopt"]);
    assert_ne!(side.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
}

/// What somebody changes of ours is put right with one write; what he adds of his own is his.
fn what_is_ours_is_put_right(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    edit(side, "admin", &map("settings"), &json!({"data": {"mode": "his"}}));
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 1 changed, 13 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written(side, mark), [map("settings")]);
    assert_eq!(mode(side), "one");
    let label = json!({"metadata": {"labels": {"team": "his"}}, "data": {"more": "his"}});
    edit(side, "admin", &map("settings"), &label);
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
    assert_eq!(side.get(&map("settings")).unwrap()["metadata"]["labels"]["team"], "his");
}

/// An admission policy writes another value than ours: after the first time that is how it is.
fn a_value_that_is_rewritten(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata:\n  name: rewrites\nspec:\n  \
         failurePolicy: Fail\n  reinvocationPolicy: Never\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      \
         apiVersions: [v1]\n      operations: [CREATE, UPDATE]\n      resources: [configmaps]\n  matchConditions:\n  - name: it\n    \
         expression: object.metadata.name == 'settings'\n  mutations:\n  - patchType: ApplyConfiguration\n    applyConfiguration:\n      \
         expression: 'Object{data: {\"mode\": \"rewritten\"}}'\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata:\n  name: rewrites\nspec:\n  policyName: rewrites\n",
    );
    let is_rewritten = || {
        let probe = json!({"metadata": {"name": "settings"}, "data": {"mode": "x"}});
        let answer = make(side, "test&dryRun=All", "/api/v1/namespaces/default/configmaps", &probe);
        answer.ok().is_ok_and(|map| map["data"]["mode"] == "rewritten")
    };
    until("a rewriting", is_rewritten);
    project.applied(side, &[]);
    assert_eq!(mode(side), "rewritten");
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new(), "{}", run.stderr);
    // An API server knows a policy for about a second longer than etcd does: the next case would meet it.
    side.delete("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/rewrites");
    until("an end of it", || !is_rewritten());
}

/// A webhook on this machine that must agree to every `ConfigMap`.
fn put_webhook(side: &Side, port: u16, seconds: usize) {
    side.apply_yaml(&format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: closed\nwebhooks:\n\
         - name: closed.example.test\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n  \
         timeoutSeconds: {seconds}\n  clientConfig:\n    url: https://127.0.0.1:{port}/\n  namespaceSelector:\n    matchExpressions:\n    \
         - key: kubernetes.io/metadata.name\n      operator: In\n      values: [openshift-op, default]\n  rules:\n  - apiGroups: [\"\"]\n    \
         apiVersions: [v1]\n    operations: [CREATE, UPDATE]\n    resources: [configmaps]\n",
    ));
}

/// A webhook takes connections and says nothing: its objects fail, and nobody takes the API server for gone.
fn a_webhook_that_hangs(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    put_webhook(side, silent.local_addr().unwrap().port(), 10);
    // At the end of the second the API server answers or cuts the connection, whichever of its two ends is faster.
    let probe = "/api/v1/namespaces/default/configmaps?dryRun=All&timeout=1s";
    let map = json!({"metadata": {"name": "probe"}});
    until("a refusal", || side.attempt("POST", probe, &map).is_none_or(|answer| answer.code >= 500));
    let run = project.apply(side, &["--timeout", "60s"]);
    assert_code(&run, 3);
    let failed = ["ConfigMap/chosen in openshift-op", "ConfigMap/settings in openshift-op"];
    assert_eq!(objects(&run, "failed"), failed, "{}", run.stderr);
    let why = told(&run, "failed", failed[1]).unwrap();
    assert!(why.contains("failed calling webhook \"closed.example.test\""), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| side.get(path).is_some()));
}

/// A webhook must agree to every `ConfigMap` and is not there: only those fail, and the next time they do not.
fn a_webhook_that_does_not_answer(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let name = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/closed";
    put_webhook(side, 1, 1);
    let probe = json!({"metadata": {"name": "probe"}});
    let answers = || make(side, "test&dryRun=All", "/api/v1/namespaces/default/configmaps", &probe).code;
    until("a refusal", || answers() == 500);
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let failed = ["ConfigMap/chosen in openshift-op", "ConfigMap/settings in openshift-op"];
    assert_eq!(objects(&run, "failed"), failed);
    for object in failed {
        let why = told(&run, "failed", object).unwrap();
        assert!(why.contains("failed calling webhook \"closed.example.test\""), "{why}");
    }
    let why = told(&run, "failed", failed[1]).unwrap();
    assert!(why.starts_with("a webhook that must agree does not answer: "), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| side.get(path).is_some()));
    side.delete(name);
    until("an agreement", || answers() == 201);
    project.applied(side, &[]);
    assert_eq!(mode(side), "one");
}

/// The namespace is there, and is being deleted for ever.
fn never_gone(side: &Side) {
    let namespace = json!({"metadata": {"name": NAMESPACE, "finalizers": ["example.test/never"]}});
    make(side, "test", "/api/v1/namespaces", &namespace).ok().unwrap();
    side.delete("/api/v1/namespaces/openshift-op");
    side.wait("/api/v1/namespaces/openshift-op", |it| it["status"]["phase"] == "Terminating");
}

/// A namespace is being deleted and never goes: that is told with what holds it, what belongs into it is not even tried, and
/// the rest is applied.
fn a_namespace_that_never_goes(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    never_gone(side);
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let why = told(&run, "failed", "Namespace/openshift-op").unwrap();
    assert!(why.starts_with("it was deleted and waits for its finalizers: example.test/never"), "{why}");
    assert_eq!(objects(&run, "blocked").len(), 8, "{}", run.stderr);
    let why = told(&run, "blocked", "ConfigMap/settings in openshift-op").unwrap();
    assert_eq!(why, "it needs its namespace, Namespace/openshift-op");
    assert!([DEFINITION_PATH, CLASS_PATH, WEBHOOK_PATH, WIDGET].iter().all(|path| side.get(path).is_some()));
}

/// The same where the namespace is somebody else's: what belongs into it says so, and is tried once.
fn a_namespace_of_others_that_never_goes(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    never_gone(side);
    project.leave_out("10_namespace");
    project.write(
        "profiles/checks.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata:\n  name: checks\nexternals:\n\
         - objects: [Namespace/openshift-op]\n  reason: somebody else makes it\n",
    );
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let expected = "its namespace openshift-op is being deleted, so nothing can be put into it";
    let applied = ["ServiceAccount/op", "ConfigMap/settings", "Secret/credentials", "Service/op-webhook"];
    let only_created = "ConfigMap/chosen";
    for object in applied.into_iter().chain([only_created]) {
        let why = told(&run, "failed", &format!("{object} in openshift-op"));
        assert_eq!(why.as_deref(), Some(expected), "{object}: {}", run.stderr);
    }
    assert_eq!(
        objects(&run, "blocked"),
        ["Deployment.apps/op in openshift-op", "Job.batch/migrate in openshift-op"]
    );
    let seen = side.proxy.seen();
    let tried =
        seen.iter().filter(|seen| seen.method == "PATCH" && seen.path.contains("/namespaces/openshift-op/"));
    assert_eq!(tried.count(), 5, "one try for each: {seen:#?}");
}

pub(crate) fn make_settings(side: &Side, metadata: &Value) {
    make(side, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let settings = json!({"metadata": metadata, "data": {"mode": "theirs", "extra": "theirs"}});
    make(side, "kubectl-client-side-apply", MAPS, &settings).ok().unwrap();
}

/// An object that others made differs from ours: it is told where and whose that is, and stays. Who wants it is asked
/// to say so, and then has it without what only the others had set.
fn what_was_there_before_us(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make_settings(side, &json!({"name": "settings"}));
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
        "it was there before us, and others own what we would set: .data.mode (conflict with \
         \"kubectl-client-side-apply\" using v1); --adopt takes it over"
    );
    assert_eq!(mode(side), "theirs");
    assert_eq!(objects(&run, "failed").len(), 1);
    project.applied(side, &["--adopt"]);
    assert_eq!(side.get(&map("settings")).unwrap()["data"], json!({"mode": "one"}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// An object of another set is never touched, whatever we are told.
fn what_belongs_to_another_set(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let labels = json!({"applyset.kubernetes.io/part-of": "applyset-other-v1"});
    make_settings(side, &json!({"name": "settings", "labels": labels}));
    let before = side.get(&map("settings")).unwrap();
    for more in [&[][..], &["--adopt"]] {
        let run = project.apply(side, more);
        assert_code(&run, 3);
        assert_eq!(
            told(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
            "it belongs to another set, applyset-other-v1: two rollouts would change it back and forth"
        );
    }
    assert_eq!(inventory(side).len(), OBJECTS);
    assert_eq!(side.get(&map("settings")).unwrap(), before);
}
