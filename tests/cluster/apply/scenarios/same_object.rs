//! One live object that the API server serves in two API groups.

use super::super::Run;
use super::super::fixture::{NAMESPACE, Project};
use super::{is_in_inventory, objects_with, written_paths};
use crate::TestBedCase;
use crate::test_bed::TestBed;

pub(crate) const CASES: &[TestBedCase] = &[(
    "apply::same_object::prune_keeps_an_object_that_changes_its_api_group",
    prune_keeps_an_object_that_changes_its_api_group,
)];

const OLD: &str = "\
apiVersion: v1
kind: Event
metadata:
  name: upgrade
  namespace: openshift-op
involvedObject: {apiVersion: v1, kind: ConfigMap, name: settings, namespace: openshift-op}
eventTime: \"2026-01-01T00:00:00.000000Z\"
action: Upgrade
reason: Upgrade
message: one
type: Normal
reportingComponent: example.test/op
reportingInstance: op
";

const NEW: &str = "\
apiVersion: events.k8s.io/v1
kind: Event
metadata:
  name: upgrade
  namespace: openshift-op
  labels: {group: new}
regarding: {apiVersion: v1, kind: ConfigMap, name: settings, namespace: openshift-op}
eventTime: \"2026-01-01T00:00:00.000000Z\"
action: Upgrade
reason: Upgrade
note: one
type: Normal
reportingController: example.test/op
reportingInstance: op
";

/// The manifest of an Event changes its API group. Both names are one object, which stays with its uid.
fn prune_keeps_an_object_that_changes_its_api_group(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let path = format!("/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events/upgrade");
    project.write_manifest("30_event", OLD);
    project.apply_ok(cluster, &["--wait"]);
    let uid = cluster.get(&path).unwrap()["metadata"]["uid"].clone();
    project.write_manifest("30_event", NEW);
    let expected = "the same object is now applied as Event.events.k8s.io/upgrade in openshift-op";
    let old = "Event/upgrade in openshift-op";
    for more in [&["--dry-run"][..], &[]] {
        let run = project.apply_ok(cluster, &[&["--prune", "--approve-prune", "all"], more].concat());
        // A dry run prints its events to stdout.
        let run = Run { stderr: run.stdout + &run.stderr, stdout: String::new(), ..run };
        assert!(run.stderr.contains(&format!(" {old}: {expected}\n")), "{}", run.stderr);
        assert_eq!(objects_with(&run, "pruned"), Vec::<String>::new());
        let live = cluster.get(&path).unwrap();
        assert_eq!(live["metadata"]["uid"], uid, "{}", run.stderr);
    }
    assert_eq!(cluster.get(&path).unwrap()["metadata"]["labels"]["group"], "new");
    assert!(is_in_inventory(cluster, "Event", "upgrade"));
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(objects_with(&run, "released"), Vec::<String>::new());
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}
