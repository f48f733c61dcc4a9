//! Other clients that write to the cluster, and admission that changes or rejects writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{
    CLASS_PATH, CRD_PATH, DEPLOYMENT_PATH, INVENTORY, JOB_PATH, NAMESPACE, OBJECTS, Project, SECRET,
    WEBHOOK_PATH, WIDGET, map,
};
use super::{
    assert_code, count_of, create, inventory, message_of, objects_with, patch_as, wait_until, written_paths,
};
use crate::TestBedCase;
use crate::fault_rules::{Fault, RequestMatcher};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    (
        "apply::other_writers::a_competing_writer_does_not_cause_a_loop",
        a_competing_writer_does_not_cause_a_loop,
    ),
    ("apply::other_writers::changes_of_our_fields_are_reverted", changes_of_our_fields_are_reverted),
    (
        "apply::other_writers::a_mutating_policy_does_not_cause_a_loop",
        a_mutating_policy_does_not_cause_a_loop,
    ),
    (
        "apply::other_writers::a_failing_webhook_affects_only_its_objects",
        a_failing_webhook_affects_only_its_objects,
    ),
    (
        "apply::other_writers::a_terminating_namespace_blocks_its_objects",
        a_terminating_namespace_blocks_its_objects,
    ),
    (
        "apply::other_writers::objects_in_a_terminating_namespace_of_others_fail",
        objects_in_a_terminating_namespace_of_others_fail,
    ),
    ("apply::other_writers::string_data_of_a_secret_is_compared", string_data_of_a_secret_is_compared),
    ("apply::other_writers::a_job_of_others_needs_adopt", a_job_of_others_needs_adopt),
    (
        "apply::other_writers::a_hanging_webhook_is_not_an_unreachable_cluster",
        a_hanging_webhook_is_not_an_unreachable_cluster,
    ),
    (
        "apply::other_writers::a_field_conflict_is_reported_and_resolved_by_adopt",
        a_field_conflict_is_reported_and_resolved_by_adopt,
    ),
    (
        "apply::other_writers::objects_of_another_apply_set_are_not_changed",
        objects_of_another_apply_set_are_not_changed,
    ),
];

const MAPS: &str = "/api/v1/namespaces/openshift-op/configmaps";

fn mode(cluster: &TestCluster) -> Value {
    cluster.get(&map("settings")).unwrap()["data"]["mode"].clone()
}

/// Another client sets one of our fields all the time. The command ends, and writes nothing else.
fn a_competing_writer_does_not_cause_a_loop(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    let patch = RequestMatcher::matching(|seen| seen.method == "PATCH");
    cluster.proxy.fault(patch, usize::MAX, Fault::Delay(Duration::from_millis(300)));
    let (mark, ends) = (cluster.audit.mark(), AtomicBool::new(false));
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                patch_as(cluster, "rival", &map("settings"), &json!({"data": {"mode": "his"}}));
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let run = project.apply(cluster, &[]);
        ends.store(true, Ordering::SeqCst);
        run
    });
    assert_code(&run, 0);
    let written = written_paths(cluster, mark);
    assert!((1..=5).contains(&count_of(&written, &map("settings"))), "{written:?}");
    assert_eq!(
        written.iter().filter(|path| path.starts_with(MAPS)).count(),
        count_of(&written, &map("settings"))
    );
    assert!(written.len() <= 6, "only the inventory beside it: {written:?}");
}

/// `stringData` is stored as `data`. Changes of the stored values are noticed.
fn string_data_of_a_secret_is_compared(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change(
        "20_secret",
        "data:\n  password: Y2FuYXJ5LWluLWEtY2FnZQ==",
        "stringData:\n  password: one\n  more: two",
    );
    project.apply_ok(cluster, &[]);
    let data = |cluster: &TestCluster| cluster.get(SECRET).unwrap()["data"].clone();
    assert_eq!(data(cluster), json!({"password": "b25l", "more": "dHdv"}));
    patch_as(cluster, "admin", SECRET, &json!({"data": {"password": "aGlz"}}));
    project.change("20_secret", "\n  more: two", "");
    project.apply_ok(cluster, &[]);
    assert_eq!(data(cluster), json!({"password": "b25l"}));
}

/// A Job that someone else created has the name of ours. It stays theirs, even though no field conflicts.
fn a_job_of_others_needs_adopt(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    create(cluster, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "theirs", "image": "example.test/theirs:1"}]});
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    create(cluster, "somebody", "/apis/batch/v1/namespaces/openshift-op/jobs", &job).ok().unwrap();
    let before = cluster.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "Job.batch/migrate in openshift-op").unwrap(),
        "it existed before, and spec.template is immutable; --adopt takes it over"
    );
    assert_eq!(cluster.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
    project.apply_ok(cluster, &["--adopt"]);
    assert_ne!(cluster.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
}

/// A changed field of ours is reverted with one write. Fields that others add stay.
fn changes_of_our_fields_are_reverted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    patch_as(cluster, "admin", &map("settings"), &json!({"data": {"mode": "his"}}));
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 1 changed, 13 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written_paths(cluster, mark), [INVENTORY, &map("settings"), INVENTORY]);
    assert_eq!(mode(cluster), "one");
    let label = json!({"metadata": {"labels": {"team": "his"}}, "data": {"more": "his"}});
    patch_as(cluster, "admin", &map("settings"), &label);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_eq!(cluster.get(&map("settings")).unwrap()["metadata"]["labels"]["team"], "his");
}

/// An admission policy replaces one of our values. The second apply writes nothing.
fn a_mutating_policy_does_not_cause_a_loop(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata:\n  name: rewrites\nspec:\n  \
         failurePolicy: Fail\n  reinvocationPolicy: Never\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      \
         apiVersions: [v1]\n      operations: [CREATE, UPDATE]\n      resources: [configmaps]\n  matchConditions:\n  - name: it\n    \
         expression: object.metadata.name == 'settings'\n  mutations:\n  - patchType: ApplyConfiguration\n    applyConfiguration:\n      \
         expression: 'Object{data: {\"mode\": \"rewritten\"}}'\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata:\n  name: rewrites\nspec:\n  policyName: rewrites\n",
    );
    let is_rewritten = || {
        let probe = json!({"metadata": {"name": "settings"}, "data": {"mode": "x"}});
        let response = create(cluster, "test&dryRun=All", "/api/v1/namespaces/default/configmaps", &probe);
        response.ok().is_ok_and(|map| map["data"]["mode"] == "rewritten")
    };
    wait_until("a rewriting", is_rewritten);
    project.apply_ok(cluster, &[]);
    assert_eq!(mode(cluster), "rewritten");
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new(), "{}", run.stderr);
    // The API server enforces a deleted policy for about a second longer, which would affect the next case.
    cluster.delete("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/rewrites");
    wait_until("an end of it", || !is_rewritten());
}

/// Creates a webhook on this machine that must admit every `ConfigMap`.
fn put_webhook(cluster: &TestCluster, port: u16, seconds: usize) {
    cluster.apply_yaml(&format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: closed\nwebhooks:\n\
         - name: closed.example.test\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n  \
         timeoutSeconds: {seconds}\n  clientConfig:\n    url: https://127.0.0.1:{port}/\n  namespaceSelector:\n    matchExpressions:\n    \
         - key: kubernetes.io/metadata.name\n      operator: In\n      values: [openshift-op, default]\n  rules:\n  - apiGroups: [\"\"]\n    \
         apiVersions: [v1]\n    operations: [CREATE, UPDATE]\n    resources: [configmaps]\n",
    ));
}

/// A webhook accepts connections and does not respond. Its objects fail, but the cluster does not count as unreachable.
fn a_hanging_webhook_is_not_an_unreachable_cluster(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    put_webhook(cluster, silent.local_addr().unwrap().port(), 10);
    // After one second, the API server either responds or closes the connection.
    let probe = "/api/v1/namespaces/default/configmaps?dryRun=All&timeout=1s";
    let map = json!({"metadata": {"name": "probe"}});
    wait_until("a refusal", || {
        cluster.attempt("POST", probe, &map).is_none_or(|response| response.code >= 500)
    });
    let run = project.apply(cluster, &["--timeout", "60s"]);
    assert_code(&run, 3);
    let failed = ["ConfigMap/chosen in openshift-op", "ConfigMap/settings in openshift-op"];
    assert_eq!(objects_with(&run, "failed"), failed, "{}", run.stderr);
    let why = message_of(&run, "failed", failed[1]).unwrap();
    assert!(why.contains("failed calling webhook \"closed.example.test\""), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| cluster.get(path).is_some()));
}

/// A webhook for every `ConfigMap` is not running. Only ConfigMaps fail, and the next apply succeeds.
fn a_failing_webhook_affects_only_its_objects(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let name = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/closed";
    put_webhook(cluster, 1, 1);
    let probe = json!({"metadata": {"name": "probe"}});
    let responses =
        || create(cluster, "test&dryRun=All", "/api/v1/namespaces/default/configmaps", &probe).code;
    wait_until("a refusal", || responses() == 500);
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let failed = ["ConfigMap/chosen in openshift-op", "ConfigMap/settings in openshift-op"];
    assert_eq!(objects_with(&run, "failed"), failed);
    for object in failed {
        let why = message_of(&run, "failed", object).unwrap();
        assert!(why.contains("failed calling webhook \"closed.example.test\""), "{why}");
    }
    let why = message_of(&run, "failed", failed[1]).unwrap();
    assert!(why.starts_with("an admission webhook does not respond: "), "{why}");
    assert!([DEPLOYMENT_PATH, SECRET, WIDGET, CLASS_PATH].iter().all(|path| cluster.get(path).is_some()));
    cluster.delete(name);
    wait_until("an agreement", || responses() == 201);
    project.apply_ok(cluster, &[]);
    assert_eq!(mode(cluster), "one");
}

/// Creates the namespace with a finalizer and deletes it.
fn never_gone(cluster: &TestCluster) {
    let namespace = json!({"metadata": {"name": NAMESPACE, "finalizers": ["example.test/never"]}});
    create(cluster, "test", "/api/v1/namespaces", &namespace).ok().unwrap();
    cluster.delete("/api/v1/namespaces/openshift-op");
    cluster.wait("/api/v1/namespaces/openshift-op", |it| it["status"]["phase"] == "Terminating");
}

/// A namespace is being deleted and never goes. Its finalizer is reported, objects in it are not tried, and the rest
/// is applied.
fn a_terminating_namespace_blocks_its_objects(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    never_gone(cluster);
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let why = message_of(&run, "failed", "Namespace/openshift-op").unwrap();
    assert!(why.starts_with("it is being deleted and waits for its finalizers: example.test/never"), "{why}");
    assert_eq!(objects_with(&run, "blocked").len(), 8, "{}", run.stderr);
    let why = message_of(&run, "blocked", "ConfigMap/settings in openshift-op").unwrap();
    assert_eq!(why, "it needs its namespace, Namespace/openshift-op");
    assert!([CRD_PATH, CLASS_PATH, WEBHOOK_PATH, WIDGET].iter().all(|path| cluster.get(path).is_some()));
}

/// The same with a namespace that someone else manages: objects in it fail after one attempt.
fn objects_in_a_terminating_namespace_of_others_fail(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    never_gone(cluster);
    project.remove("10_namespace");
    project.write(
        "profiles/checks.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata:\n  name: checks\nexternals:\n\
         - objects: [Namespace/openshift-op]\n  reason: someone else creates it\n",
    );
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let expected = "its namespace openshift-op is being deleted, so nothing can be created in it";
    let applied = ["ServiceAccount/op", "ConfigMap/settings", "Secret/credentials", "Service/op-webhook"];
    let only_created = "ConfigMap/chosen";
    for object in applied.into_iter().chain([only_created]) {
        let why = message_of(&run, "failed", &format!("{object} in openshift-op"));
        assert_eq!(why.as_deref(), Some(expected), "{object}: {}", run.stderr);
    }
    assert_eq!(
        objects_with(&run, "blocked"),
        ["Deployment.apps/op in openshift-op", "Job.batch/migrate in openshift-op"]
    );
    let seen = cluster.proxy.seen();
    let tried =
        seen.iter().filter(|seen| seen.method == "PATCH" && seen.path.contains("/namespaces/openshift-op/"));
    assert_eq!(tried.count(), 5, "one try for each: {seen:#?}");
}

pub(crate) fn make_settings(cluster: &TestCluster, metadata: &Value) {
    create(cluster, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let settings = json!({"metadata": metadata, "data": {"mode": "theirs", "extra": "theirs"}});
    create(cluster, "kubectl-client-side-apply", MAPS, &settings).ok().unwrap();
}

/// An object that others created conflicts with ours. The fields and their managers are reported, and the object
/// stays. `--adopt` takes it over and removes orphaned fields.
fn a_field_conflict_is_reported_and_resolved_by_adopt(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_settings(cluster, &json!({"name": "settings"}));
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
        "it existed before, and other field managers own fields that transship would set: .data.mode (conflict with \
         \"kubectl-client-side-apply\" using v1); --adopt takes it over"
    );
    assert_eq!(mode(cluster), "theirs");
    assert_eq!(objects_with(&run, "failed").len(), 1);
    project.apply_ok(cluster, &["--adopt"]);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"], json!({"mode": "one"}));
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// An object of another `ApplySet` is never changed, even with `--adopt`.
fn objects_of_another_apply_set_are_not_changed(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let labels = json!({"applyset.kubernetes.io/part-of": "applyset-other-v1"});
    make_settings(cluster, &json!({"name": "settings", "labels": labels}));
    let before = cluster.get(&map("settings")).unwrap();
    for more in [&[][..], &["--adopt"]] {
        let run = project.apply(cluster, more);
        assert_code(&run, 3);
        assert_eq!(
            message_of(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
            "it belongs to another ApplySet, applyset-other-v1, so transship does not change it"
        );
    }
    assert_eq!(inventory(cluster).len(), OBJECTS);
    assert_eq!(cluster.get(&map("settings")).unwrap(), before);
}
