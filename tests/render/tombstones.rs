//! Objects that moved to another cluster, objects that are created once or deleted, and pins.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: old, annotations: {x: x}}
spec: {template: {spec: {containers: [{name: c}]}}}
";

const CONFIG_MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: old, annotations: {release.openshift.io/create-only: 'true'}}
data: {k: v}
";

/// Creates a Deployment in the management cluster and a ConfigMap in the guest, with more fields for the page and for the
/// guest's profile.
fn folder(page: &str, guest: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", DEPLOYMENT);
    folder.write("payload/op/2.yaml", CONFIG_MAP);
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("place: {{management: [Deployment], guest: [ConfigMap]}}\n{page}")),
    );
    let policy = "policy: [{for: pod, set: {spec: {hostNetwork: true}}}]\n";
    folder.write(
        "profiles/mc.yaml",
        file("Profile", "mc", &format!("topology: t\ncluster: management\nnamespace: hosted\n{policy}")),
    );
    folder.write(
        "profiles/guest.yaml",
        file("Profile", "guest", &format!("topology: t\ncluster: guest\n{policy}{guest}")),
    );
    folder.write("profiles/one.yaml", file("Profile", "one", "topology: one\ncluster: both\n"));
    folder
}

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

const MOVED: &str = "\
moved: {Deployment/d: it runs in the management cluster since 4.22, ConfigMap: it went to the guest}
patches: [{reason: all of them, target: {kind: Deployment}, patch: {spec: {replicas: 3}}, optional: true}]
";

#[test]
fn an_object_that_moved_leaves_a_tombstone_that_policy_and_patches_do_not_change() {
    let folder = folder(MOVED, "");
    assert_eq!(
        render(&folder, "guest")[0].to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"d","namespace":"old"}}"#
    );
    let mc = render(&folder, "mc");
    assert_eq!(mc[0]["spec"]["replicas"], 3);
    assert_eq!(
        mc[1].to_string(),
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"cm","namespace":"hosted"}}"#
    );
}

#[test]
fn a_standalone_cluster_has_no_tombstones_for_moved_objects() {
    let rendered = render(&folder(MOVED, ""), "one");
    let kinds: Vec<_> = rendered.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Deployment", "ConfigMap"]);
    assert!(rendered.iter().all(|object| !object.to_string().contains("release.openshift.io/delete")));
}

#[test]
fn explain_names_the_line_that_says_that_an_object_moved() {
    let folder = folder(MOVED, "");
    let run =
        folder.run(&["explain", "deployment/d", "--profile", "guest", "--path", "/metadata/annotations"]);
    assert!(
        run.stdout.contains(", set by a tombstone, because payload/op/component.yaml:5:9 moves the object to the other cluster"),
        "{}",
        run.stdout
    );
}

#[test]
fn only_an_object_with_a_manifest_can_have_moved() {
    let shown = folder("moved: {Deployment/e: gone}\n", "").run(&["render", "--profile", "guest"]).refusal();
    assert!(shown.contains("component.yaml:5:9: no manifest matches `Deployment/e`"), "{shown}");
}

#[test]
fn annotations_for_objects_that_are_created_once_or_deleted_stay() {
    let folder = folder("", "strip: [include.release.openshift.io/*]\n");
    assert_eq!(
        render(&folder, "guest")[0]["metadata"]["annotations"]["release.openshift.io/create-only"],
        "true"
    );
    let deleted = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: old, annotations: {release.openshift.io/delete: 'true'}}
";
    folder.write("payload/op/1.yaml", deleted);
    assert_eq!(
        render(&folder, "mc")[0].to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"d","namespace":"hosted"}}"#
    );
}

#[test]
fn pinned_fields_are_set_and_other_fields_stay() {
    let folder = folder("", "pins: {ConfigMap/cm: {data: {held: h}}}\n");
    assert_eq!(render(&folder, "guest")[0]["data"].to_string(), r#"{"held":"h","k":"v"}"#);
    assert_eq!(render(&folder, "one")[1]["data"].to_string(), r#"{"k":"v"}"#);
    let run = folder.run(&["explain", "configmap/cm", "--profile", "guest", "--path", "/data/held"]);
    assert!(run.stdout.contains(", set by the pin at profiles/guest.yaml:7:8"), "{}", run.stdout);
}

#[test]
fn a_pin_needs_one_existing_object() {
    for (pins, message) in [
        (
            "pins: {ConfigMap/c: {data: {held: h}}}\n",
            "profiles/guest.yaml:7:8: there is no object `ConfigMap/c` to pin fields of\n  help: did you mean `ConfigMap/cm`?",
        ),
        (
            "pins: {ConfigMap: {data: {held: h}}}\n",
            "profiles/guest.yaml:7:8: a pin must name one object and its fields",
        ),
    ] {
        let shown = folder("", pins).run(&["render", "--profile", "guest"]).refusal();
        assert!(shown.contains(message), "{shown}");
    }
}
