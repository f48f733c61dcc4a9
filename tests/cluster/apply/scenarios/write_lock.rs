//! One command at a time writes.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::super::fixture::{INVENTORY, OBJECTS, Project, map};
use super::super::program;
use super::super::rights::{grant, roles};
use super::{assert_code, create, inventory, patch_as, wait_until, written_paths};
use crate::TestBedCase;
use crate::fault_rules::{Fault, RequestMatcher};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::write_lock::a_dead_holder_is_succeeded", a_dead_holder_is_succeeded),
    ("apply::write_lock::two_versions_end_in_one_of_them", two_versions_end_in_one_of_them),
    ("apply::write_lock::a_paused_command_writes_nothing_more", a_paused_command_writes_nothing_more),
    (
        "apply::write_lock::a_late_request_of_a_succeeded_command_changes_nothing",
        a_late_request_of_a_succeeded_command_changes_nothing,
    ),
    (
        "apply::write_lock::a_client_that_writes_all_the_time_does_not_prevent_a_write",
        a_client_that_writes_all_the_time_does_not_prevent_a_write,
    ),
    ("apply::write_lock::a_command_without_changes_takes_no_lease", a_command_without_changes_takes_no_lease),
    ("apply::write_lock::without_leases_the_inventory_protects", without_leases_the_inventory_protects),
];

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/openshift-config-managed/leases";

fn lease(cluster: &TestCluster) -> Value {
    cluster.get(&format!("{LEASES}/transship-standalone")).unwrap()
}

/// The holder of the Lease died. Its Lease ends after its duration, whatever its clock said.
fn a_dead_holder_is_succeeded(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let held = json!({
        "metadata": {"name": "transship-standalone"},
        "spec": {
            "holderIdentity": "transship apply by nobody (run 0)", "leaseDurationSeconds": 3,
            "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2036-01-01T00:00:00.000000Z",
        },
    });
    create(cluster, "test", LEASES, &held).ok().unwrap();
    let refused = project.apply(cluster, &["--lock-timeout", "1s"]);
    assert_code(&refused, 3);
    let message = "another command writes to the cluster: transship apply by nobody (run 0) since \
                   2026-01-01T00:00:00.000000Z, last renewed 2036-01-01T00:00:00.000000Z; waited 1 s for it (--lock-timeout)";
    assert!(refused.stderr.contains(message), "{}", refused.stderr);
    assert!(cluster.get(INVENTORY).is_none());
    project.apply_ok(cluster, &[]);
    assert_eq!(lease(cluster)["spec"], json!({"leaseTransitions": 1}), "it is released");
}

/// Two versions start at almost the same time, five times. Both succeed, and one of them is in the cluster as a whole.
fn two_versions_end_in_one_of_them(bed: &TestBed) {
    let (cluster, one, two) = (&bed.guest, Project::new(), Project::new());
    one.add_many(8);
    two.add_many(8);
    for round in 0..5 {
        let (first, second) = (format!("mode: a{round}"), format!("mode: b{round}"));
        for number in 0..8 {
            let name = format!("20_many_{number}");
            let before = if round == 0 {
                ["mode: one".to_owned(), "mode: one".to_owned()]
            } else {
                [format!("mode: a{}", round - 1), format!("mode: b{}", round - 1)]
            };
            one.change(&name, &before[0], &first);
            two.change(&name, &before[1], &second);
        }
        std::thread::scope(|scope| {
            let first = scope.spawn(|| one.apply(cluster, &[]));
            std::thread::sleep(Duration::from_millis(40 * round));
            let second = two.apply(cluster, &[]);
            assert_code(&second, 0);
            assert_code(&first.join().unwrap(), 0);
        });
        let modes: Vec<Value> = (0..8)
            .map(|number| cluster.get(&map(&format!("many-{number}"))).unwrap()["data"]["mode"].clone())
            .collect();
        assert!(modes.iter().all(|mode| *mode == modes[0]), "{modes:?}");
        assert_eq!(inventory(cluster).len(), OBJECTS + 8);
    }
}

fn start(project: &Project, cluster: &TestCluster) -> Child {
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let mut command = program(project.path());
    command.args(["apply", "--topology", "standalone", "--kubeconfig", &kubeconfig, "--concurrency", "4"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A command is paused in the middle of its writes, and another one succeeds it. When it wakes up, it writes nothing more.
fn a_paused_command_writes_nothing_more(bed: &TestBed) {
    let (cluster, old, new) = (&bed.guest, Project::new(), Project::new());
    old.add_many(30);
    new.add_many(30);
    for number in 0..30 {
        new.change(&format!("20_many_{number}"), "mode: one", "mode: two");
    }
    let is_many =
        |seen: &crate::fault_rules::SeenRequest| seen.method == "PATCH" && seen.path.contains("/many-");
    cluster.proxy.fault(RequestMatcher::matching(is_many), 40, Fault::Delay(Duration::from_millis(150)));
    let mut paused = start(&old, cluster);
    let pid = Pid::from_raw(paused.id().try_into().unwrap());
    wait_until("some writes", || cluster.proxy.seen().iter().filter(|seen| is_many(seen)).count() > 6);
    kill(pid, Signal::SIGSTOP).unwrap();
    cluster.proxy.clear_faults();
    new.apply_ok(cluster, &["--timeout", "60s"]);
    let mark = cluster.audit.mark();
    kill(pid, Signal::SIGCONT).unwrap();
    assert_eq!(paused.wait().unwrap().code(), Some(3));
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    for number in 0..30 {
        assert_eq!(cluster.get(&map(&format!("many-{number}"))).unwrap()["data"]["mode"], "two");
    }
    assert_eq!(inventory(cluster).len(), OBJECTS + 30);
}

/// A command is paused while one of its requests is on the way, and another command succeeds it. The request arrives late.
fn a_late_request_of_a_succeeded_command_changes_nothing(bed: &TestBed) {
    let (cluster, old, new) = (&bed.guest, Project::new(), Project::new());
    old.apply_ok(cluster, &[]);
    old.change("20_settings", "mode: one", "mode: old");
    new.change("20_settings", "mode: one", "mode: new");
    let is_patch = |seen: &crate::fault_rules::SeenRequest| {
        seen.method == "PATCH" && seen.path.contains("/configmaps/settings?")
    };
    cluster.proxy.reset();
    cluster.proxy.fault(RequestMatcher::matching(is_patch), 1, Fault::Delay(Duration::from_secs(6)));
    let mut paused = start(&old, cluster);
    let pid = Pid::from_raw(paused.id().try_into().unwrap());
    wait_until("the patch", || cluster.proxy.seen().iter().any(is_patch));
    kill(pid, Signal::SIGSTOP).unwrap();
    let mark = cluster.audit.mark();
    cluster.delete(&format!("{LEASES}/transship-standalone"));
    new.apply_ok(cluster, &[]);
    let codes = || -> Vec<u16> {
        let entries = cluster.audit.since(mark);
        let of_settings =
            entries.iter().filter(|entry| entry.verb == "patch" && entry.uri.contains("/settings?"));
        of_settings.map(|entry| entry.code).collect()
    };
    wait_until("the late request", || codes().len() == 2);
    assert_eq!(codes(), [200, 409]);
    kill(pid, Signal::SIGCONT).unwrap();
    assert_eq!(paused.wait().unwrap().code(), Some(3));
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "new");
    assert_eq!(codes(), [200, 409]);
}

/// Each attempt reads the object and finds that someone wrote it again. The last one succeeds nevertheless.
fn a_client_that_writes_all_the_time_does_not_prevent_a_write(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    let patch = RequestMatcher::matching(|seen| seen.method == "PATCH");
    cluster.proxy.fault(patch, usize::MAX, Fault::Delay(Duration::from_millis(300)));
    let mark = cluster.audit.mark();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                let change =
                    json!({"metadata": {"annotations": {"example.test/number": number.to_string()}}});
                patch_as(cluster, "status", &map("settings"), &change);
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let run = project.apply(cluster, &[]);
        ends.store(true, Ordering::SeqCst);
        assert_code(&run, 0);
    });
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "two");
    let entries = cluster.audit.since(mark);
    let codes: Vec<u16> = crate::audit::writes(&entries)
        .into_iter()
        .filter(|entry| entry.uri.contains("/configmaps/settings?"))
        .map(|entry| entry.code)
        .collect();
    assert_eq!(codes, [409, 409, 409, 409, 200]);
}

fn a_command_without_changes_takes_no_lease(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    cluster.proxy.reset();
    project.apply_ok(cluster, &["--wait"]);
    assert!(!cluster.proxy.seen().iter().any(|seen| seen.path.contains("/leases")));
}

/// The user may not use Leases. An older rollout stops when a newer one writes the inventory.
fn without_leases_the_inventory_protects(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.add_many(30);
    let mut roles = roles(project.path(), &["--topology", "standalone"]);
    for rules in roles.iter_mut().filter_map(|role| role.get_mut("rules")?.as_array_mut()) {
        rules.retain(|rule| rule["resources"] != json!(["leases"]));
    }
    grant(cluster, &roles);
    let is_many =
        |seen: &crate::fault_rules::SeenRequest| seen.method == "PATCH" && seen.path.contains("/many-");
    cluster.proxy.fault(
        RequestMatcher::matching(is_many),
        usize::MAX,
        Fault::Delay(Duration::from_millis(400)),
    );
    let newer = Project::new();
    newer.add_many(30);
    for number in 0..30 {
        newer.change(&format!("20_many_{number}"), "mode: one", "mode: two");
    }
    let older = std::thread::scope(|scope| {
        let older = scope.spawn(|| project.apply(cluster, &["--as", "somebody", "--concurrency", "4"]));
        wait_until("some writes", || cluster.proxy.seen().iter().filter(|seen| is_many(seen)).count() > 6);
        assert_code(&newer.apply(cluster, &["--as", "somebody"]), 0);
        older.join().unwrap()
    });
    assert_code(&older, 3);
    assert!(older.stderr.contains("another command has written the inventory"), "{}", older.stderr);
    newer.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(&map("many-29")).unwrap()["data"]["mode"], "two");
}
