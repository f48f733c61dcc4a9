//! `diff --live` shows what left the payload, and `diff --live --drift` what others changed. Both only read.

use serde_json::{Value, json};

use super::Run;
use super::fixture::{DEPLOYMENT_PATH, Project, SECRET, WEBHOOK_PATH, map};
use super::rights::{assert_nothing_forbidden, grant, roles};
use super::scenarios::{assert_code, patch_as};
use crate::TestBedCase;
use crate::audit::Entry;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::drift::diff_shows_what_left_the_payload", diff_shows_what_left_the_payload),
    ("apply::drift::drift_names_the_manager_and_the_time", drift_names_the_manager_and_the_time),
    ("apply::drift::drift_covers_rights_webhooks_and_missing_objects", drift_covers_rights_and_webhooks),
    ("apply::drift::drift_needs_only_rights_to_read", drift_needs_only_rights_to_read),
];

const ROLE_PATH: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/openshift-op/roles/op";

/// Looks for drift, and checks that transship only reads.
fn drift(cluster: &TestCluster, project: &Project, more: &[&str]) -> Run {
    let mark = cluster.audit.mark();
    let run = project.run(cluster, "diff", &[&["--live", "--drift"], more].concat());
    let other = cluster.audit.since(mark).into_iter().filter(Entry::is_ours);
    let other: Vec<_> = other.filter(|one| one.verb != "get" && one.verb != "list").collect();
    assert_eq!(other, Vec::new(), "it only reads");
    run
}

/// Returns the lines of JSON output.
fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the time that the API server recorded for a manager.
fn time_of(cluster: &TestCluster, path: &str, manager: &str) -> Value {
    let live = cluster.get(path).unwrap();
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    entries.iter().find(|entry| entry["manager"] == manager).unwrap()["time"].clone()
}

fn diff_shows_what_left_the_payload(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    project.apply_ok(cluster, &[]);
    let role = "Role.rbac.authorization.k8s.io/op in openshift-op";
    project.remove("50_role");
    for more in [&["--live"][..], &["--live", "--drift"], &["--live", "role/op"]] {
        let run = project.run(cluster, "diff", more);
        let expected = format!("cluster    {role} is no longer rendered: apply --prune deletes it\n");
        assert_eq!((run.code, run.stdout), (1, expected), "{more:?}");
    }
    project.remove("40_class");
    project.remove("50_widget");
    let run = project.run(cluster, "diff", &["--live"]);
    let held = "is no longer rendered: apply --prune keeps it: 3 of 13 objects would be pruned at once";
    let expected: String = ["StorageClass.storage.k8s.io/fast", role, "Widget.example.test/one"]
        .map(|object| format!("cluster    {object} {held}\n"))
        .concat();
    assert_eq!((run.code, run.stdout), (1, expected));
    cluster.call("DELETE", ROLE_PATH, "application/json", "").ok().unwrap();
    let run = project.run(cluster, "diff", &["--live", "-o", "json"]);
    let gone = lines(&run).into_iter().find(|line| line["object"]["kind"] == "Role").unwrap();
    let object = json!({"group": "rbac.authorization.k8s.io", "kind": "Role", "namespace": "openshift-op", "name": "op"});
    let expected = json!({
        "cluster": "both", "change": "released", "message": "it no longer exists", "fields": [], "object": object,
    });
    assert_eq!((run.code, gone), (1, expected));
    assert_code(&project.run(cluster, "diff", &["--live", "role/opp"]), 2);
    project.apply_ok(cluster, &["--prune", "--approve-prune", "all"]);
    assert_code(&project.run(cluster, "diff", &["--live"]), 0);
}

fn drift_names_the_manager_and_the_time(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let same = drift(cluster, &project, &[]);
    assert_eq!((same.code, same.stdout.as_str()), (0, ""), "{}", same.stderr);
    let pod = |change: Value| json!({"spec": {"template": {"spec": change}}}).to_string();
    for (manager, change) in [
        ("kubectl-edit", pod(json!({"containers": [{"name": "debug", "image": "example.test/debug:1"}]}))),
        ("kubectl-patch", pod(json!({"hostNetwork": true}))),
    ] {
        let path = format!("{DEPLOYMENT_PATH}?fieldManager={manager}");
        cluster.patch(&path, "application/strategic-merge-patch+json", &change);
    }
    // A field that does not matter, and a value of a Secret.
    patch_as(cluster, "kubectl-scale", DEPLOYMENT_PATH, &json!({"spec": {"minReadySeconds": 1}}));
    patch_as(cluster, "kubectl-edit", SECRET, &json!({"data": {"other": "Y2FuYXJ5"}}));
    assert_code(&project.run(cluster, "diff", &["--live"]), 0);
    let [edited, patched] =
        ["kubectl-edit", "kubectl-patch"].map(|manager| time_of(cluster, DEPLOYMENT_PATH, manager));
    let run = drift(cluster, &project, &[]);
    let container = r#"{"image":"example.test/debug:1","imagePullPolicy":"IfNotPresent","name":"debug","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}"#;
    let (at, by) = (edited.as_str().unwrap(), patched.as_str().unwrap());
    assert_eq!(
        run.stdout,
        format!(
            "cluster    Deployment.apps/op in openshift-op has drifted
  /spec/template/spec/containers/[name=debug]: {container} (added by kubectl-edit, Update, {at})
  /spec/template/spec/hostNetwork: true (added by kubectl-patch, Update, {by})
"
        )
    );
    assert_eq!(run.code, 1);
    let run = drift(cluster, &project, &["-o", "json", "deployment/op"]);
    let found = lines(&run);
    assert_eq!(
        (found.len(), &found[0]["change"], &found[0]["moreFields"]),
        (1, &json!("drifted"), &json!(0))
    );
    assert_eq!(
        found[0]["fields"][1],
        json!({
            "path": "/spec/template/spec/hostNetwork", "change": "added", "value": true,
            "manager": "kubectl-patch", "operation": "Update", "time": patched,
        })
    );
    assert_eq!(found[0]["fields"][0]["value"]["image"], "example.test/debug:1");
}

fn drift_covers_rights_and_webhooks(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
    patch_as(cluster, "somebody", ROLE_PATH, &json!({"rules": rules}));
    let webhook = json!({"webhooks": [{
        "name": "op.example.test", "failurePolicy": "Fail", "clientConfig": {"caBundle": "Zm9v"},
    }]});
    let path = format!("{WEBHOOK_PATH}?fieldManager=somebody");
    cluster.patch(&path, "application/strategic-merge-patch+json", &webhook.to_string());
    cluster.call("DELETE", &map("settings"), "application/json", "").ok().unwrap();
    let run = drift(cluster, &project, &["-o", "json"]);
    assert_code(&run, 1);
    let found: Vec<(Value, Value)> = lines(&run)
        .iter()
        .map(|line| {
            let field = &line["fields"][0];
            let about =
                json!([line["change"], field["path"], field["value"], field["rendered"], field["manager"]]);
            (line["object"]["kind"].clone(), about)
        })
        .collect();
    let rendered = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]);
    let policy = "/webhooks/[name=op.example.test]/failurePolicy";
    assert_eq!(
        found,
        [
            (json!("ConfigMap"), json!(["missing", null, null, null, null])),
            (
                json!("ValidatingWebhookConfiguration"),
                json!(["drifted", policy, "Fail", "Ignore", "somebody"])
            ),
            (json!("Role"), json!(["drifted", "/rules", rules, rendered, "somebody"])),
        ]
    );
    project.apply_ok(cluster, &[]);
    assert_code(&drift(cluster, &project, &[]), 0);
}

fn drift_needs_only_rights_to_read(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    patch_as(cluster, "somebody", ROLE_PATH, &json!({"rules": []}));
    project.remove("20_settings");
    let roles = roles(project.path(), &["--topology", "standalone", "--for", "drift"]);
    for rule in roles.iter().flat_map(|role| role["rules"].as_array().cloned().unwrap_or_default()) {
        for verb in rule["verbs"].as_array().unwrap() {
            assert!(["get", "list"].contains(&verb.as_str().unwrap()), "{rule}");
        }
    }
    grant(cluster, &roles);
    let mark = cluster.audit.mark();
    let run = drift(cluster, &project, &["--as", "somebody", "-o", "json"]);
    assert_code(&run, 1);
    let changes: Vec<Value> = lines(&run).iter().map(|line| line["change"].clone()).collect();
    assert_eq!(changes, ["drifted", "pruned"]);
    assert_nothing_forbidden(cluster, mark);
    // The comparison with dry runs needs the right to patch.
    let run = project.run(cluster, "diff", &["--live", "--as", "somebody"]);
    assert!(
        run.stdout.contains("Role.rbac.authorization.k8s.io/op in openshift-op would be rejected"),
        "{}",
        run.stdout
    );
}
