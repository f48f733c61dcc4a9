//! What an operator sees and controls: one line per cause, the run in events and in the user agent, partial applies, limits
//! of the load, and objects that are kept.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fixture::{HOSTED, INVENTORY, OBJECTS, Project, config_map, map};
use super::scenarios::{assert_code, message_of, objects_with, written_paths};
use super::{Run, run_hosted, run_standalone};
use crate::TestBedCase;
use crate::audit::Entry;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::operator_view::a_lost_guest_is_one_line", a_lost_guest_is_one_line),
    ("apply::operator_view::events_and_requests_name_the_run", events_and_requests_name_the_run),
    ("apply::operator_view::a_dry_run_reads_as_one", a_dry_run_reads_as_one),
    ("apply::operator_view::a_partial_apply_changes_nothing_else", a_partial_apply_changes_nothing_else),
    ("apply::operator_view::a_partial_apply_is_no_installation", a_partial_apply_is_no_installation),
    (
        "apply::operator_view::a_partial_apply_leaves_other_clusters_alone",
        a_partial_apply_leaves_others_alone,
    ),
    ("apply::operator_view::the_load_is_limited", the_load_is_limited),
    ("apply::operator_view::a_kept_object_is_never_pruned", a_kept_object_is_never_pruned),
];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All objects of a guest that does not respond are one line. `-v` and JSON have a line for each.
fn a_lost_guest_is_one_line(bed: &TestBed) {
    let project = Project::new();
    bed.guest.proxy.refuse(true);
    let apply = |more: &[&str]| {
        run_hosted(
            bed,
            project.path(),
            "apply",
            &[&["--retry-timeout", "1s", "--timeout", "20s"], more].concat(),
        )
    };
    let blocked = |run: &Run| -> Vec<String> {
        let lines = run.stderr.lines().filter(|line| line.starts_with("guest           blocked"));
        lines.map(str::to_owned).collect()
    };
    let run = apply(&[]);
    assert_code(&run, 3);
    let [line] = &blocked(&run)[..] else { panic!("{}", run.stderr) };
    let why = "guest           blocked     6 objects: their cluster cannot be used: no response: ";
    assert!(line.starts_with(why), "{line}");
    let run = apply(&["-v"]);
    assert_eq!(objects_with(&run, "blocked").len(), 6, "{}", run.stderr);
    let events = lines(&apply(&["-o", "json"]).stdout);
    assert_eq!(events.iter().filter(|event| event["event"] == "blocked").count(), 6);
}

/// Returns the ids of the runs in the user agents of transship's requests since the last call.
fn user_agents(entries: Vec<Entry>) -> BTreeSet<String> {
    entries.into_iter().filter(Entry::is_ours).map(|entry| entry.user_agent).collect()
}

fn events_and_requests_name_the_run(bed: &TestBed) {
    let project = Project::new();
    let mark = bed.guest.audit.mark();
    let run = project.run_hosted(bed, "apply", &["-o", "json"]);
    assert_code(&run, 0);
    let events = lines(&run.stdout);
    let id = events[0]["run"].as_str().unwrap();
    assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let mut elapsed = 0.0;
    for event in &events {
        assert_eq!((&event["run"], &event["dryRun"]), (&json!(id), &json!(false)));
        let time = event["time"].as_str().unwrap();
        assert!(time.len() == "2026-05-04T03:02:01.500Z".len() && time.ends_with('Z'), "{time}");
        let now = event["elapsedSeconds"].as_f64().unwrap();
        assert!(now >= elapsed, "{events:?}");
        elapsed = now;
    }
    assert!(events.last().unwrap().get("summary").is_some());
    let version = env!("CARGO_PKG_VERSION");
    let agent = format!("transship/{version} (apply; hypershift; clusters-example; run {id})");
    assert_eq!(user_agents(bed.guest.audit.since(mark)), BTreeSet::from([agent]));
    let run = project.run_hosted(bed, "apply", &[]);
    let last = run.stderr.lines().last().unwrap();
    assert!(last.starts_with("run ") && last.contains(" took ") && !last.contains(id), "{last}");
}

fn a_dry_run_reads_as_one(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let run = project.apply(cluster, &["--dry-run"]);
    assert_code(&run, 0);
    assert!(run.stdout.starts_with("cluster      10 would create   "), "{}", run.stdout);
    let summary =
        "cluster: 13 would be created, 0 would be changed, 1 unchanged, 0 would be pruned, 0 would fail\n";
    assert!(run.stdout.ends_with(summary) && !run.stdout.contains(" created "), "{}", run.stdout);
    let events = lines(&project.apply(cluster, &["--dry-run", "-o", "json"]).stdout);
    assert!(events.iter().all(|event| event["dryRun"] == true), "{events:?}");
}

/// Returns the data of the inventory.
fn inventory_data(cluster: &TestCluster) -> Value {
    cluster.get(INVENTORY).unwrap_or_default()["data"].clone()
}

fn a_partial_apply_changes_nothing_else(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    project.apply_ok(cluster, &[]);
    let before = inventory_data(cluster);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("30_deployment", "replicas: 1", "replicas: 2");
    project.remove("50_role");
    project.write_manifest("20_new", &config_map("new", "one"));
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &["--object", "ConfigMap/settings", "--object", "ConfigMap/new"]);
    assert_eq!(run.stdout, "cluster: 1 created, 1 changed, 0 unchanged, 0 pruned, 0 failed\n");
    let mut written = written_paths(cluster, mark);
    written.retain(|path| path != INVENTORY);
    written.sort();
    assert_eq!(written, [map("new"), map("settings")]);
    let after = inventory_data(cluster);
    for key in ["installed", "revision", "renderDigest"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    let of = |data: &Value| -> Vec<String> {
        data["objects"].as_str().unwrap().lines().map(str::to_owned).collect()
    };
    let (old, new) = (of(&before), of(&after));
    let changed: Vec<&String> = new.iter().filter(|line| !old.contains(line)).collect();
    assert_eq!((old.len(), new.len(), changed.len()), (OBJECTS, OBJECTS + 1, 2), "{new:#?}");
    // The same again writes nothing, and a whole apply finds the rest.
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &["--component", "op", "--object", "ConfigMap/settings"]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(objects_with(&run, "changed"), ["Deployment.apps/op in openshift-op"]);
    assert_eq!(objects_with(&run, "pruned"), ["Role.rbac.authorization.k8s.io/op in openshift-op"]);
}

fn a_partial_apply_is_no_installation(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &["--object", "Namespace", "--object", "ConfigMap/settings"]);
    let data = inventory_data(cluster);
    assert_eq!((&data["installed"], &data["renderDigest"]), (&json!("false"), &json!("")));
    assert_eq!(data["objects"].as_str().unwrap().lines().count(), 2);
    let mark = cluster.audit.mark();
    for (flags, expected) in [
        (&["--object", "ConfigMap/setings"][..], "no rendered object is `ConfigMap/setings`"),
        (&["--object", "ConfigMap/setings"], "ConfigMap/settings"),
        (&["--component", "opp"], "no object is rendered for the component `opp`"),
        (&["--component", "op", "--prune"], "cannot be used with"),
        (&["--object", "ConfigMap", "--prune"], "cannot be used with"),
    ] {
        let run = project.apply(cluster, flags);
        assert_eq!(run.code, 2, "{flags:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{flags:?}: {}", run.stderr);
    }
    assert!(cluster.audit.since(mark).iter().all(|entry| !entry.is_ours()), "no request is sent");
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 11 created, 0 changed, 3 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(inventory_data(cluster)["installed"], "true");
}

fn a_partial_apply_leaves_others_alone(bed: &TestBed) {
    let project = Project::new();
    let mark = bed.management.audit.mark();
    let run = project.run_hosted(bed, "apply", &["--object", "StorageClass"]);
    assert_code(&run, 0);
    assert_eq!(run.stdout, "guest: 1 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n");
    // The management cluster records the guest, and nothing else changes in it.
    let inventory = format!("/api/v1/namespaces/{HOSTED}/configmaps/transship-hypershift");
    assert!(written_paths(&bed.management, mark).iter().all(|path| inventory.starts_with(path)));
    let bound = bed.management.get(&inventory).unwrap();
    assert_eq!((&bound["data"]["objects"], &bound["data"]["installed"]), (&json!(""), &json!("false")));
}

fn the_load_is_limited(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.add_many(20);
    let apply = |more: &[&str]| {
        cluster.proxy.reset();
        let began = Instant::now();
        assert_code(&run_standalone(cluster, project.path(), "apply", more), 0);
        // Renewals of the Lease never wait.
        let seen = cluster.proxy.seen().into_iter().filter(|seen| !seen.path.contains("/leases"));
        (seen.count(), cluster.proxy.most_in_flight(), began.elapsed())
    };
    let (requests, in_flight, _) = apply(&["--concurrency", "1"]);
    assert!(requests > 33 && in_flight == 1, "{requests} {in_flight}");
    project.change("20_settings", "mode: one", "mode: two");
    for number in 0..20 {
        project.change(&format!("20_many_{number}"), "mode: one", "mode: two");
    }
    let (requests, in_flight, elapsed) = apply(&["--qps", "10"]);
    // The first second's requests may be sent at once.
    let least = Duration::from_millis(100 * (u64::try_from(requests).unwrap() - 11));
    assert!(requests > 30 && in_flight > 1 && elapsed >= least, "{requests} {in_flight} {elapsed:?}");
    assert_eq!(project.run(cluster, "apply", &["--concurrency", "0"]).code, 2);
}

fn a_kept_object_is_never_pruned(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let keep = "  annotations:\n    transship.openshift.io/prune: keep\n    example.test/of: test\n";
    let manifest = config_map("key", "one").replacen("metadata:\n", &format!("metadata:\n{keep}"), 1);
    project.write_manifest("20_key", &manifest);
    project.apply_ok(cluster, &[]);
    let live = cluster.get(&map("key")).unwrap();
    assert_eq!(live["metadata"]["annotations"], json!({"example.test/of": "test"}));
    project.remove("20_key");
    let why = "the annotation transship.openshift.io/prune of its last manifest keeps it";
    let (object, uid) = ("ConfigMap/key in openshift-op", live["metadata"]["uid"].clone());
    for _ in 0..2 {
        let run = project.apply_ok(cluster, &["--prune", "--approve-prune", "all"]);
        assert_eq!(message_of(&run, "held", object).as_deref(), Some(why), "{}", run.stderr);
        assert_eq!(cluster.get(&map("key")).unwrap()["metadata"]["uid"], uid);
    }
    let run = project.run(cluster, "diff", &["--live"]);
    let expected = format!("cluster    {object} is no longer rendered: apply --prune keeps it: {why}\n");
    assert_eq!((run.code, run.stdout), (1, expected));
    // A manifest without the annotation ends that.
    project.write_manifest("20_key", &config_map("key", "one"));
    project.apply_ok(cluster, &[]);
    project.remove("20_key");
    assert_eq!(objects_with(&project.apply_ok(cluster, &["--prune"]), "pruned"), [object]);
}
