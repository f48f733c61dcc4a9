//! Objects that moved to another cluster, objects that are created once or deleted, and pins.

use serde_json::{Value, json};

use crate::support::{TestProject, names, unindent};

/// Creates a project with a Deployment in the management cluster and a ConfigMap in the guest. The page of their component
/// continues with this body at line 5.
fn deployment_and_config_map(page: &str) -> TestProject {
    let page = unindent(page);
    TestProject::new()
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: d, namespace: old, annotations: {x: x}}
            spec: {template: {spec: {containers: [{name: c}]}}}
            ",
        )
        .manifest(
            "op/2.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: cm, namespace: old, annotations: {release.openshift.io/create-only: 'true'}}
            data: {k: v}
            ",
        )
        .page("op", &format!("place: {{management: [Deployment], guest: [ConfigMap]}}\n{page}"))
        .profile(
            "mc",
            r"
            topology: t
            cluster: management
            namespace: hosted
            policy: [{for: pod, set: {spec: {hostNetwork: true}}}]
            ",
        )
        .profile(
            "guest",
            r"
            topology: t
            cluster: guest
            policy: [{for: pod, set: {spec: {hostNetwork: true}}}]
            ",
        )
        .profile("one", "topology: one\ncluster: both\n")
}

const MOVED: &str = r"
moved: {Deployment/d: it runs in the management cluster since 4.22, ConfigMap: it went to the guest}
patches:
- reason: all of them
  target: {kind: Deployment}
  patch: {spec: {replicas: 3}}
  optional: true
";

fn tombstone(api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "annotations": {"release.openshift.io/delete": "true"},
            "name": name,
            "namespace": namespace,
        },
    })
}

#[test]
fn an_object_that_moved_leaves_a_tombstone_that_policy_and_patches_do_not_change() {
    let project = deployment_and_config_map(MOVED);
    assert_eq!(project.render("guest")[0], tombstone("apps/v1", "Deployment", "old", "d"));
    let mc = project.render("mc");
    assert_eq!(mc[0]["spec"]["replicas"], 3);
    assert_eq!(mc[1], tombstone("v1", "ConfigMap", "hosted", "cm"));
}

#[test]
fn a_standalone_cluster_has_no_tombstones_for_moved_objects() {
    let rendered = deployment_and_config_map(MOVED).render("one");
    assert_eq!(names(&rendered), ["Deployment/d", "ConfigMap/cm"]);
    for object in rendered {
        assert_eq!(object.pointer("/metadata/annotations/release.openshift.io~1delete"), None);
    }
}

#[test]
fn explain_names_the_line_that_says_that_an_object_moved() {
    let arguments = ["explain", "deployment/d", "--profile", "guest", "--path", "/metadata/annotations"];
    assert_eq!(
        deployment_and_config_map(MOVED).run(&arguments).stdout,
        "\
Deployment.apps/d in old (profile guest)
/metadata/annotations/release.openshift.io~1delete: \"true\"
  from payload/op/component.yaml:5:9, set by a tombstone, because payload/op/component.yaml:5:9 moves the object to the other cluster
"
    );
}

#[test]
fn only_an_object_with_a_manifest_can_have_moved() {
    assert_eq!(
        deployment_and_config_map("moved: {Deployment/e: gone}\n").render_error("guest"),
        "\
error: payload/op/component.yaml:5:9: no manifest matches `Deployment/e`
  help: did you mean `Deployment/d`?
"
    );
}

#[test]
fn the_annotation_for_objects_that_are_created_once_is_not_stripped() {
    let project = deployment_and_config_map("").profile(
        "guest",
        r"
        topology: t
        cluster: guest
        strip: [include.release.openshift.io/*]
        ",
    );
    let annotations = &project.render("guest")[0]["metadata"]["annotations"];
    assert_eq!(*annotations, json!({"release.openshift.io/create-only": "true"}));
}

#[test]
fn a_manifest_with_the_delete_annotation_is_rendered_without_changes_of_policy() {
    let project = deployment_and_config_map("").manifest(
        "op/1.yaml",
        r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: d, namespace: old, annotations: {release.openshift.io/delete: 'true'}}
        ",
    );
    assert_eq!(project.render("mc"), [tombstone("apps/v1", "Deployment", "hosted", "d")]);
}

#[test]
fn pinned_fields_are_set_and_other_fields_stay() {
    let project = deployment_and_config_map("").profile(
        "guest",
        r"
        topology: t
        cluster: guest
        pins: {ConfigMap/cm: {data: {held: h}}}
        ",
    );
    assert_eq!(project.render("guest")[0]["data"], json!({"held": "h", "k": "v"}));
    assert_eq!(project.render("one")[1]["data"], json!({"k": "v"}));
    let run = project.run(&["explain", "configmap/cm", "--profile", "guest", "--path", "/data/held"]);
    assert_eq!(
        run.stdout,
        "\
ConfigMap/cm in old (profile guest)
/data/held: \"h\"
  from profiles/guest.yaml:6:36, set by the pin at profiles/guest.yaml:6:8
"
    );
}

#[test]
fn a_pin_needs_one_existing_object() {
    let without_object = deployment_and_config_map("").profile(
        "guest",
        r"
        topology: t
        cluster: guest
        pins: {ConfigMap/c: {data: {held: h}}}
        ",
    );
    assert_eq!(
        without_object.render_error("guest"),
        "\
error: profiles/guest.yaml:6:8: there is no object `ConfigMap/c` to pin fields of
  help: did you mean `ConfigMap/cm`?
"
    );
    let whole_kind = deployment_and_config_map("").profile(
        "guest",
        r"
        topology: t
        cluster: guest
        pins: {ConfigMap: {data: {held: h}}}
        ",
    );
    assert_eq!(
        whole_kind.render_error("guest"),
        "\
error: profiles/guest.yaml:6:8: a pin must name one object and its fields
  help: write `Kind/name:` with the fields below it
"
    );
}
