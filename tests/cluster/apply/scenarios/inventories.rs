//! Inventories that are lost, old, moved, foreign or rejected, their history, and the approval of `delete`.

use serde_json::{Value, json};

use super::super::fixture::{DEPLOYMENT_PATH, HOSTED, INVENTORY, OBJECTS, Project, WIDGET, config_map, map};
use super::super::{Run, run_in, run_standalone};
use super::{assert_code, create, inventory, message_of, objects_with, patch_as, wait_until, written_paths};
use crate::TestBedCase;
use crate::fault_rules::{Fault, Reply, RequestMatcher};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::inventories::delete_needs_the_exact_number", delete_needs_the_exact_number),
    ("apply::inventories::delete_keeps_what_a_manifest_keeps", delete_keeps_what_a_manifest_keeps),
    (
        "apply::inventories::a_guest_that_rejects_the_user_stops_delete",
        a_guest_that_rejects_the_user_stops_delete,
    ),
    ("apply::inventories::the_history_lists_runs_that_changed_something", the_history_lists_runs),
    ("apply::inventories::an_older_payload_needs_a_flag", an_older_payload_needs_a_flag),
    (
        "apply::inventories::objects_that_left_while_the_inventory_was_lost_are_held",
        objects_that_left_while_the_inventory_was_lost_are_held,
    ),
    ("apply::inventories::an_older_format_is_read_and_replaced", an_older_format_is_read_and_replaced),
    (
        "apply::inventories::an_earlier_name_in_the_guest_is_replaced",
        an_earlier_name_in_the_guest_is_replaced,
    ),
    ("apply::inventories::a_foreign_config_map_is_not_overwritten", a_foreign_config_map_is_not_overwritten),
    ("apply::inventories::a_payload_can_bring_the_namespace", a_payload_can_bring_the_namespace),
    (
        "apply::inventories::a_webhook_that_rejects_the_inventory_can_be_corrected",
        a_webhook_that_rejects_the_inventory_can_be_corrected,
    ),
    ("apply::inventories::a_renamed_topology_moves_its_inventory", a_renamed_topology_moves_its_inventory),
    (
        "apply::inventories::a_move_keeps_what_was_recorded_meanwhile",
        a_move_keeps_what_was_recorded_meanwhile,
    ),
];

fn delete(cluster: &TestCluster, project: &Project, more: &[&str]) -> Run {
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let flags = ["delete", "--topology", "standalone", "--kubeconfig", &kubeconfig, "--timeout", "30s"];
    run_in(project.path(), &[&flags[..], more].concat())
}

fn delete_needs_the_exact_number(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let mark = cluster.audit.mark();
    for more in [&[][..], &["--approve-delete", "12"]] {
        let run = delete(cluster, &project, more);
        assert_code(&run, 2);
        let expected = "error: the deletion is not approved\n  note: cluster: 13 objects would be deleted; for one of them, \
                        deleting it deletes ";
        assert!(run.stderr.starts_with(expected), "{}", run.stderr);
        assert!(run.stderr.ends_with("pass --approve-delete 13\n"), "{}", run.stderr);
    }
    let run = delete(cluster, &project, &["--dry-run"]);
    assert_code(&run, 0);
    assert_eq!(run.stdout.matches("would delete").count(), 13, "{}", run.stdout);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_code(&delete(cluster, &project, &["--approve-delete", "13"]), 0);
    assert!(cluster.get(DEPLOYMENT_PATH).is_none());
}

/// The manifest of an object says that it stays. So does its namespace, and the inventory that lists it.
fn delete_keeps_what_a_manifest_keeps(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let keep =
        "metadata:\n  annotations:\n    transship.openshift.io/prune: keep\n    example.test/of: test\n";
    project.write_manifest("20_key", &config_map("key", "one").replacen("metadata:\n", keep, 1));
    project.apply_ok(cluster, &[]);
    let run = delete(cluster, &project, &["--dry-run"]);
    assert_code(&run, 3);
    // The message about the namespace says what its deletion would delete.
    assert_eq!(run.stdout.matches(" would delete   ").count(), 12, "{}", run.stdout);
    assert!(run.stdout.contains("would hold     ConfigMap/key in openshift-op"), "{}", run.stdout);
    let run = delete(cluster, &project, &["--approve-delete", "13"]);
    assert_code(&run, 3);
    let held = "held        ConfigMap/key in openshift-op: the annotation transship.openshift.io/prune of its last manifest";
    assert!(run.stderr.contains(held), "{}", run.stderr);
    let blocked = "blocked     Namespace/openshift-op: deleting it would delete ConfigMap/key in openshift-op, which still exists";
    assert!(run.stderr.contains(blocked), "{}", run.stderr);
    assert!(cluster.get(&map("key")).is_some() && cluster.get(DEPLOYMENT_PATH).is_none());
    assert_eq!(inventory(cluster).len(), 2);
}

/// The token of the guest has expired. Nothing is deleted in the management cluster.
fn a_guest_that_rejects_the_user_stops_delete(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let expired = Fault::Respond(Reply::status(401, "Unauthorized"));
    bed.guest.proxy.fault(RequestMatcher::All, usize::MAX, expired);
    let mark = bed.management.audit.mark();
    let run = project.run_hosted(bed, "delete", &[]);
    assert_code(&run, 3);
    assert!(run.stderr.contains("guest           failed      the API server returns 401"), "{}", run.stderr);
    assert!(
        run.stderr.contains("management      blocked     nothing was deleted, because another cluster"),
        "{}",
        run.stderr
    );
    assert_eq!(written_paths(&bed.management, mark), Vec::<String>::new());
    let kubeconfig = bed.management.kubeconfig().display().to_string();
    let flags = ["delete", "--topology", "hypershift", "--management-kubeconfig", &kubeconfig];
    let run = run_in(project.path(), &[&flags[..], &["--without-guest", "--approve-delete", "all"]].concat());
    assert_code(&run, 0);
}

fn history(cluster: &TestCluster, project: &Project) -> Vec<(String, String)> {
    let run = run_standalone(cluster, project.path(), "history", &["-o", "json"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let runs = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["run"].clone());
    let mut all = Vec::new();
    for run in runs {
        assert_eq!((&run["user"], run["id"].as_str().unwrap().len()), (&json!("admin"), 8), "{run}");
        assert_eq!(run["started"].as_str().unwrap().len(), "2026-11-18T15:04:05Z".len());
        all.push((text(&run["command"]), text(&run["outcome"])));
    }
    all
}

fn the_history_lists_runs(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    assert_code(&run_standalone(cluster, project.path(), "history", &[]), 1);
    project.apply_ok(cluster, &[]);
    project.apply_ok(cluster, &[]);
    let done = ("apply".to_owned(), "complete".to_owned());
    assert_eq!(history(cluster, &project), std::slice::from_ref(&done));
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    assert_code(&project.apply(cluster, &[]), 3);
    assert_eq!(history(cluster, &project), [done, ("apply".to_owned(), "incomplete".to_owned())]);
    let table = run_standalone(cluster, project.path(), "history", &[]);
    assert_code(&table, 0);
    assert!(
        table
            .stdout
            .starts_with("CLUSTER  STARTED               RUN       COMMAND  OUTCOME     PAYLOAD  USER\n")
    );
}

fn an_older_payload_needs_a_flag(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let release = |version: &str| {
        let metadata = format!("{{\"kind\": \"cincinnati-metadata-v0\", \"version\": \"{version}\"}}");
        project.write("payload/release-metadata", &metadata);
    };
    release("4.22.1");
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(INVENTORY).unwrap()["data"]["payloadVersion"], "4.22.1");
    release("4.22.0");
    project.change("20_settings", "mode: one", "mode: two");
    let mark = cluster.audit.mark();
    let run = project.apply(cluster, &[]);
    assert_code(&run, 2);
    let expected = "error: the payload 4.22.0 is older than 4.22.1, which was applied last\n";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    project.apply_ok(cluster, &["--allow-downgrade"]);
    project.apply_ok(cluster, &[]);
}

/// An object leaves the payload while the inventory is lost. Its kind leaves the payload too.
fn objects_that_left_while_the_inventory_was_lost_are_held(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    project.write_manifest("20_left", &config_map("left", "one"));
    project.apply_ok(cluster, &[]);
    for emptied in [true, false] {
        if emptied {
            patch_as(cluster, "admin", INVENTORY, &json!({"data": null}));
        } else {
            cluster.delete(INVENTORY);
        }
        for name in ["20_left", "50_role"].into_iter().filter(|_| emptied) {
            project.remove(name);
        }
        let run = project.apply_ok(cluster, &["--prune"]);
        let expected = "the inventory was lost and is restored from labels, so nothing is pruned; check the object, then \
                        apply again with --prune";
        let (left, role) =
            ("ConfigMap/left in openshift-op", "Role.rbac.authorization.k8s.io/op in openshift-op");
        assert_eq!(objects_with(&run, "held"), [left, role]);
        assert_eq!(message_of(&run, "held", role).unwrap(), expected);
        assert_eq!(inventory(cluster).len(), OBJECTS + 1);
    }
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(objects_with(&run, "pruned").len(), 2);
    assert!(cluster.get(&map("left")).is_none());
}

fn an_older_format_is_read_and_replaced(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let newer = json!({"formatVersion": null, "history": null, "clusterUID": null, "payloadVersion": null});
    patch_as(cluster, "admin", INVENTORY, &json!({"data": newer}));
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert!(written_paths(cluster, mark).iter().all(|path| INVENTORY.starts_with(path)));
    let data = cluster.get(INVENTORY).unwrap()["data"].clone();
    let uid = cluster.get("/api/v1/namespaces/kube-system").unwrap()["metadata"]["uid"].clone();
    assert_eq!((&data["formatVersion"], &data["clusterUID"]), (&json!("3"), &uid));
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// The inventory of the guest has the name and the set of an earlier version of transship.
fn an_earlier_name_in_the_guest_is_replaced(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let maps = "/api/v1/namespaces/openshift-config-managed/configmaps";
    let now = format!("{maps}/transship-hypershift-{HOSTED}");
    let mut earlier = bed.guest.get(&now).unwrap();
    let objects = earlier["data"]["objects"].clone();
    let set = "applyset-moved-from-v1";
    earlier["metadata"] =
        json!({"name": "transship-hypershift", "labels": {"applyset.kubernetes.io/id": set}});
    earlier["data"] = json!({"installed": "true", "revision": "r", "objects": objects});
    bed.guest.delete(&now);
    create(&bed.guest, "transship", maps, &earlier).ok().unwrap();
    let run = project.run_hosted(bed, "apply", &[]);
    assert_code(&run, 0);
    assert!(bed.guest.get(&format!("{maps}/transship-hypershift")).is_none());
    assert_eq!(bed.guest.get(&now).unwrap()["data"]["objects"].as_str().unwrap().lines().count(), 6);
    assert_code(&project.run_hosted(bed, "delete", &[]), 0);
    assert!(bed.guest.get(WIDGET).is_none());
}

fn a_foreign_config_map_is_not_overwritten(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let collection = "/api/v1/namespaces/openshift-config-managed/configmaps";
    let foreign = json!({"metadata": {"name": "transship-standalone"}, "data": {"theirs": "value"}});
    create(cluster, "somebody", collection, &foreign).ok().unwrap();
    let mark = cluster.audit.mark();
    for command in ["apply", "delete"] {
        let run = project.run(cluster, command, &[]);
        assert_code(&run, 3);
        let expected = "ConfigMap/transship-standalone in openshift-config-managed has the name of the inventory, but it is \
                        not an inventory of transship; delete or rename it";
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_eq!(cluster.get(INVENTORY).unwrap()["data"], json!({"theirs": "value"}));
}

/// The payload contains the namespace of its own inventory.
fn a_payload_can_bring_the_namespace(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let path = "/api/v1/namespaces/openshift-config-managed";
    cluster.delete(path);
    wait_until("the end of the namespace", || cluster.get(path).is_none());
    project.write_manifest(
        "00_home",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-config-managed\n",
    );
    project.apply_ok(cluster, &[]);
    assert_eq!(inventory(cluster).len(), OBJECTS + 1);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_code(&project.run(cluster, "delete", &["--timeout", "60s"]), 0);
    assert!(cluster.get(path).is_none() && cluster.get(DEPLOYMENT_PATH).is_none());
}

/// A webhook of the payload rejects every ConfigMap, because nothing responds to it. The next payload corrects it.
fn a_webhook_that_rejects_the_inventory_can_be_corrected(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let closed = |policy: &str, url: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: closed\n\
             webhooks:\n- name: closed.example.test\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  \
             failurePolicy: {policy}\n  timeoutSeconds: 1\n  clientConfig:\n    url: {url}\n  rules:\n  - apiGroups: ['']\n    \
             apiVersions: [v1]\n    operations: [CREATE, UPDATE]\n    resources: [configmaps]\n"
        )
    };
    project.write_manifest("60_closed", &closed("Fail", "https://127.0.0.1:1/check"));
    project.apply(cluster, &[]);
    wait_until("a rejection", || {
        let dry = json!({"metadata": {"name": "x"}});
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        cluster.attempt("POST", path, &dry).is_some_and(|response| response.code >= 400)
    });
    // The inventory must list a new object before it is created.
    project.write_manifest("65_more", &config_map("more", "one"));
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert!(cluster.get(&map("more")).is_none());
    project.write_manifest("60_closed", &closed("Ignore", "https://127.0.0.1:1/check"));
    project.write_manifest("70_new", &config_map("new", "one"));
    project.apply_ok(cluster, &["--retry-timeout", "15s", "--timeout", "40s"]);
    assert!(cluster.get(&map("new")).is_some());
    assert_eq!(inventory(cluster).len(), OBJECTS + 3);
}

fn a_renamed_topology_moves_its_inventory(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let profile = std::fs::read_to_string(project.path().join("profiles/standalone.yaml")).unwrap();
    project.write("profiles/standalone.yaml", &profile.replace("topology: standalone", "topology: alone"));
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let cluster_flags = ["--topology", "alone", "--kubeconfig", &kubeconfig, "--timeout", "20s"];
    let run = |words: &[&str], more: &[&str]| run_in(project.path(), &[words, &cluster_flags, more].concat());
    let other = run(&["apply"], &[]);
    assert_code(&other, 3);
    assert!(other.stderr.contains("another ApplySet"), "{}", other.stderr);
    cluster.delete("/api/v1/namespaces/openshift-config-managed/configmaps/transship-alone");
    let from = ["--from-topology", "standalone"];
    let moved = run(&["inventory", "move"], &from);
    assert_code(&moved, 0);
    assert_eq!(
        moved.stdout,
        "moved 13 objects from ConfigMap/transship-standalone in openshift-config-managed to ConfigMap/transship-alone in \
         openshift-config-managed\n"
    );
    assert!(cluster.get(INVENTORY).is_none());
    assert_eq!(
        run(&["inventory", "move"], &from).stdout,
        "already moved to ConfigMap/transship-alone in openshift-config-managed\n"
    );
    let run_again = run(&["apply"], &[]);
    assert_code(&run_again, 0);
    assert!(run_again.stdout.starts_with("cluster: 0 created, 12 changed, "), "{}", run_again.stdout);
    let mark = cluster.audit.mark();
    assert_code(&run(&["apply"], &[]), 0);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    assert_code(&run(&["delete"], &["--approve-delete", "13"]), 0);
    assert!(cluster.get(DEPLOYMENT_PATH).is_none());
}

/// A move was interrupted before it deleted the old inventory, and a command with the earlier name added an object to it.
fn a_move_keeps_what_was_recorded_meanwhile(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let mut old = cluster.get(INVENTORY).unwrap();
    let profile = std::fs::read_to_string(project.path().join("profiles/standalone.yaml")).unwrap();
    project.write("profiles/standalone.yaml", &profile.replace("topology: standalone", "topology: alone"));
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let cluster_flags = ["--topology", "alone", "--kubeconfig", &kubeconfig];
    let command = [&["inventory", "move", "--from-topology", "standalone"], &cluster_flags[..]].concat();
    assert_code(&run_in(project.path(), &command), 0);
    let objects = old["data"]["objects"].as_str().unwrap().to_owned();
    old["data"]["objects"] = json!(objects + "v1 ConfigMap openshift-op late - - - -\n");
    old["metadata"] = json!({"name": "transship-standalone", "labels": old["metadata"]["labels"]});
    let maps = "/api/v1/namespaces/openshift-config-managed/configmaps";
    create(cluster, "transship", maps, &old).ok().unwrap();
    let moved = run_in(project.path(), &command);
    assert_code(&moved, 0);
    assert!(moved.stdout.starts_with("moved 14 objects from "), "{}", moved.stdout);
    assert!(cluster.get(INVENTORY).is_none());
    let new = cluster.get(&format!("{maps}/transship-alone")).unwrap();
    let objects = new["data"]["objects"].as_str().unwrap();
    assert_eq!((objects.lines().count(), objects.contains(" late ")), (OBJECTS + 1, true));
}
