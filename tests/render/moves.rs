//! Objects that move between clusters, that are created once, or taken away; fields that are held; images of two releases.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

fn folder(page: &str, guest: &str) -> Folder {
    let folder = Folder::new();
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: old, annotations: {x: x}}\nspec: {template: {spec: {containers: [{name: c}]}}}\n";
    folder.write("payload/op/1.yaml", deployment);
    folder.write("payload/op/2.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, namespace: old, annotations: {release.openshift.io/create-only: 'true'}}\ndata: {k: v}\n");
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("place: {{management: [Deployment], guest: [ConfigMap]}}\n{page}")),
    );
    let every = "policy: [{for: pod, set: {spec: {hostNetwork: true}}}]\n";
    folder.write(
        "profiles/mc.yaml",
        file("Profile", "mc", &format!("topology: t\ncluster: management\nnamespace: hosted\n{every}")),
    );
    folder.write(
        "profiles/guest.yaml",
        file("Profile", "guest", &format!("topology: t\ncluster: guest\n{every}{guest}")),
    );
    folder.write("profiles/one.yaml", file("Profile", "one", "topology: one\ncluster: both\n"));
    folder
}

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

#[test]
fn an_object_that_moved_leaves_a_tombstone_where_it_was() {
    let patch = "patches: [{reason: all of them, target: {kind: Deployment}, patch: {spec: {replicas: 3}}, optional: true}]\n";
    let folder = folder(
        &format!(
            "moved: {{Deployment/d: it runs in the management cluster since 4.22, ConfigMap: it went to the guest}}\n{patch}"
        ),
        "",
    );
    let guest = render(&folder, "guest");
    assert_eq!(
        guest[0].to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"d","namespace":"old"}}"#,
        "neither policy nor patches touch it"
    );
    let mc = render(&folder, "mc");
    assert_eq!(mc[0]["spec"]["replicas"], 3);
    assert_eq!(
        mc[1].to_string(),
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"cm","namespace":"hosted"}}"#
    );
    assert_eq!(render(&folder, "one").len(), 2, "one cluster has nothing to leave");
    let run =
        folder.run(&["explain", "deployment/d", "--profile", "guest", "--path", "/metadata/annotations"]);
    assert!(
        run.stdout.contains(", set by a tombstone, because payload/op/component.yaml:5:9 moves the object to the other cluster"),
        "{}",
        run.stdout
    );
}

#[test]
fn an_object_that_never_was_cannot_leave() {
    let run = folder("moved: {Deployment/e: gone}\n", "").run(&["render", "--profile", "guest"]);
    assert!(
        run.code == 2 && run.stderr.contains("component.yaml:5:9: there is no manifest for `Deployment/e`"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_created_once_or_taken_away_says_so_in_what_is_rendered() {
    let folder = folder("", "strip: [include.release.openshift.io/*]\n");
    assert_eq!(
        render(&folder, "guest")[0]["metadata"]["annotations"]["release.openshift.io/create-only"],
        "true"
    );
    let deleted = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: old, annotations: {release.openshift.io/delete: 'true'}}\n";
    folder.write("payload/op/1.yaml", deleted);
    let mc = render(&folder, "mc");
    assert_eq!(
        mc[0].to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"release.openshift.io/delete":"true"},"name":"d","namespace":"hosted"}}"#
    );
}

#[test]
fn pinned_fields_are_in_the_object_and_the_rest_stays() {
    let folder = folder("", "pins: {ConfigMap/cm: {data: {held: h}}}\n");
    assert_eq!(render(&folder, "guest")[0]["data"].to_string(), r#"{"held":"h","k":"v"}"#);
    assert_eq!(render(&folder, "one")[1]["data"].to_string(), r#"{"k":"v"}"#);
    let run = folder.run(&["explain", "configmap/cm", "--profile", "guest", "--path", "/data/held"]);
    assert!(run.stdout.contains(", set by the pin at profiles/guest.yaml:7:8"), "{}", run.stdout);
}

#[test]
fn a_pin_without_an_object_is_an_error() {
    for (pins, message) in [
        (
            "pins: {ConfigMap/c: {data: {held: h}}}\n",
            "profiles/guest.yaml:7:8: there is no `ConfigMap/c` to hold fields in\n  help: did you mean `ConfigMap/cm`?",
        ),
        (
            "pins: {ConfigMap: {data: {held: h}}}\n",
            "profiles/guest.yaml:7:8: a pin holds fields of one object",
        ),
    ] {
        let run = folder("", pins).run(&["render", "--profile", "guest"]);
        assert!(run.code == 2 && run.stderr.contains(message), "{}", run.stderr);
    }
}

/// An operator in the management cluster may start pods in the guest: those images are the guest's.
#[test]
fn a_page_says_which_images_come_from_which_release() {
    let folder = folder("images: {guest: [node]}\n", "");
    let catalogue = |name: &str, prefix: &str| {
        let tag = |tag: &str| {
            format!(r#"{{"name":"{tag}","from":{{"kind":"DockerImage","name":"{prefix}/{tag}"}}}}"#)
        };
        format!(
            r#"{{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{{"name":"{name}"}},"spec":{{"tags":[{},{}]}}}}"#,
            tag("node"),
            tag("own")
        )
    };
    folder.write("payload/image-references", catalogue("4.22.0", "own.io"));
    folder.write("payload/release-metadata", r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#);
    folder.write("payload/op/image-references", catalogue("op", "quay.io/origin"));
    folder.write("cp", catalogue("4.22.1", "cp.io"));
    folder.write("guest", catalogue("4.21.0", "guest.io"));
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: old, annotations: {x: x}}\nspec: {template: {spec: {containers: [{name: c, image: quay.io/origin/own:latest, env: [{name: NODE_IMAGE, value: quay.io/origin/node}, {name: VERSION, value: 0.0.1-snapshot}]}]}}}\n";
    folder.write("payload/op/1.yaml", deployment);
    let run = folder.run(&[
        "render",
        "--profile",
        "mc",
        "-o",
        "json",
        "--release-images",
        "control-plane=cp",
        "--release-images",
        "guest=guest",
    ]);
    let container = &run.json()[0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (container["image"].as_str(), container["env"][0]["value"].as_str()),
        (Some("cp.io/own"), Some("guest.io/node"))
    );
    assert_eq!(container["env"][1]["value"], "4.21.0", "the version that the cluster reports is the guest's");
    folder.write(
        "payload/op/component.yaml",
        file(
            "Component",
            "op",
            "place: {management: [Deployment], guest: [ConfigMap]}\nimages: {guest: [nod]}\n",
        ),
    );
    let run = folder.run(&["render", "--profile", "mc"]);
    assert!(
        run.code == 2
            && run.stderr.contains(
                "component.yaml:5:18: the component has no image `nod`\n  help: did you mean `node`?"
            ),
        "{}",
        run.stderr
    );
}
