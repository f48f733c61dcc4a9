//! Pages of components: `place`, `omit`, `when`, `annotations` and `adds`.

use serde_json::{Value, json};

use super::{declare_parameters, list, project_with_three_objects};
use crate::support::{TestProject, names, object};

const CLUSTER_ROLE: &str = r"
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    metadata: {name: r, annotations: {x: x}}
    ";

#[test]
fn an_object_lives_in_the_cluster_that_its_page_names() {
    let project = project_with_three_objects()
        .manifest("op/4.yaml", CLUSTER_ROLE)
        .page(
            "op",
            r"
            place:
              management: [Deployment, Service]
              both: [ConfigMap]
            ",
        )
        .mc_and_guest("", "");
    assert_eq!(names(&project.render("mc")), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
    assert_eq!(names(&project.render("guest")), ["ConfigMap/cm", "ClusterRole/r"]);
    let project = project_with_three_objects().manifest("op/4.yaml", CLUSTER_ROLE);
    assert_eq!(project.render("test").len(), 4);
}

#[test]
fn an_entry_with_a_name_takes_precedence_over_one_with_a_kind() {
    let project = project_with_three_objects()
        .page(
            "op",
            r"
            place:
              management: [Deployment, Service, ConfigMap]
              guest: [Service/s]
            ",
        )
        .profile("test", "topology: t\ncluster: guest");
    assert_eq!(names(&project.render("test")), ["Service/s"]);
}

#[test]
fn every_object_needs_an_entry_of_place() {
    let project = project_with_three_objects()
        .page("op", "place: {management: [Deployment]}")
        .profile("test", "topology: t\ncluster: management");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/2.yaml:1:1: the page does not say which cluster `Service/s` belongs to
          object: Service/s in ns
          help: add it or its kind under `place` in op/component.yaml
        error: payload/op/3.yaml:1:1: the page does not say which cluster `ConfigMap/cm` belongs to
          object: ConfigMap/cm in ns
          help: add it or its kind under `place` in op/component.yaml
        2 errors
        ",
    );
}

#[test]
fn every_entry_of_place_needs_objects_that_no_other_entry_matches() {
    let project = project_with_three_objects()
        .page(
            "op",
            "place: {management: [Deployment, Service, Deploymnt/a], guest: [Service], both: [ConfigMap]}",
        )
        .profile("test", "topology: t\ncluster: management");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:65: two entries of `place` match one object
          object: Service/s in ns
          note: the other is at payload/op/component.yaml:4:34
          help: if the object is in both clusters, name it under `both`
        error: payload/op/component.yaml:4:43: no manifest matches `Deploymnt/a`
          help: did you mean `Deployment/a`?
        2 errors
        ",
    );
}

#[test]
fn a_cluster_scoped_object_cannot_live_in_the_management_cluster() {
    let project = project_with_three_objects()
        .manifest("op/4.yaml", CLUSTER_ROLE)
        .page("op", "place: {management: [Deployment, Service, ConfigMap, ClusterRole]}")
        .profile("test", "topology: t\ncluster: management");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:54: a cluster-scoped object cannot live in the management cluster
          object: ClusterRole.rbac.authorization.k8s.io/r
          help: remove the entry: cluster-scoped objects are in the guest
        ",
    );
}

#[test]
fn the_list_shows_the_reasons_of_omissions() {
    let project = project_with_three_objects()
        .page(
            "op",
            r"
            omit:
              Service: nobody calls it
              ConfigMap/cm: {reason: only elsewhere, in: [other]}
            ignore: {'1.yaml': made by hand}
            ",
        )
        .profile("other", "topology: t\ncluster: both");
    assert_eq!(names(&project.render("test")), ["ConfigMap/cm"]);
    let rows = list(&project);
    assert_eq!(rows[0]["reason"], json!({"code": "omitted", "message": "made by hand"}));
    assert_eq!(rows[1]["reason"], json!({"code": "omitted", "message": "nobody calls it"}));
    assert_eq!(rows[2]["reason"], Value::Null);
}

#[test]
fn an_omission_that_matches_nothing_is_an_error() {
    let project = project_with_three_objects()
        .page(
            "op",
            r"
            omit: {Servic: x}
            ignore: {'*.yml': x}
            ",
        )
        .profile(
            "test",
            r"
            topology: t
            cluster: both
            omit: {Route: why}
            ",
        );
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:8: no manifest matches `Servic`
          help: did you mean `Service`?
        error: payload/op/component.yaml:5:10: no file of the component matches `*.yml`
          help: remove the entry
        error: profiles/test.yaml:6:8: no manifest matches `Route`
          help: remove the entry
        3 errors
        ",
    );
}

#[test]
fn a_component_exists_if_its_conditions_hold() {
    let project = declare_parameters(project_with_three_objects())
        .page("op", "when: {a.text: [hello, other], a.none: absent, a.whole: present}")
        .manifest("b/1.yaml", &object("v1", "ConfigMap", "ns", "b", ""));
    assert_eq!(project.render("test").len(), 4);
    assert_eq!(names(&project.render_with("test", &["--set", "a.text=no"])), ["ConfigMap/b"]);
    let run = project.run(&["list", "--profile", "test", "--set", "a.text=no"]);
    assert!(run.stdout.contains("omitted: the component does not exist: a.text is no"), "{}", run.stdout);
    let project = project.page("op", "when: {a.txt: x}");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:8: `a.txt` is not defined
          help: did you mean `a.text`?
        ",
    );
}

#[test]
fn annotations_of_the_page_apply_to_manifests_that_lack_them() {
    let project = project_with_three_objects()
        .manifest(
            "op/4.yaml",
            r"
            apiVersion: v1
            kind: Secret
            metadata: {name: bare}
            ",
        )
        .manifest(
            "op/5.yaml",
            r"
            apiVersion: v1
            kind: Secret
            metadata: {name: not, annotations: {include.release.openshift.io/x: 'false'}}
            ",
        )
        .page("op", "annotations: {include.release.openshift.io/x: 'true'}")
        .profile(
            "test",
            r"
            topology: t
            cluster: both
            select: {clusterProfile: x}
            ",
        );
    let rendered = project.render("test");
    assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm", "Secret/bare"]);
    assert_eq!(rendered[0]["metadata"]["annotations"], json!({"x": "x"}), "they are no part of the object");
    assert_eq!(rendered[3]["metadata"].get("annotations"), None);
}

fn config_map_for(name: &str, annotations: &str) -> String {
    format!(
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {{name: {name}, namespace: ns, annotations: {{{annotations}}}}}
        "
    )
}

/// The annotation of the cluster-version-operator can also name a profile.
#[test]
fn an_include_annotation_places_an_object() {
    let mc = "include.release.openshift.io/mc: 'true'";
    let guest = "include.release.openshift.io/guest: 'true'";
    let project = TestProject::new()
        .manifest("op/1.yaml", &config_map_for("m", mc))
        .manifest("op/2.yaml", &config_map_for("g", guest))
        .manifest("op/3.yaml", &config_map_for("b", &format!("{mc}, {guest}")))
        .manifest("op/4.yaml", &config_map_for("none", "include.release.openshift.io/other: 'true'"))
        .mc_and_guest("select: {clusterProfile: hosted}", "select: {clusterProfile: hosted}");
    assert_eq!(names(&project.render("mc")), ["ConfigMap/m", "ConfigMap/b"]);
    assert_eq!(names(&project.render("guest")), ["ConfigMap/g", "ConfigMap/b"]);
    let list = project.run(&["list", "--profile", "mc"]).stdout;
    assert!(list.contains("omitted: it lives in the guest cluster"), "{list}");
    assert!(list.contains("cluster-profile: "), "{list}");
    let project = project.page("op", "place: {guest: [ConfigMap/m]}");
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:4:17: the annotations of the manifest already say where the object lives
          object: ConfigMap/m in ns
          help: remove the entry, or the annotations `include.release.openshift.io/<profile>`
        ",
    );
}

#[test]
fn the_list_shows_the_objects_that_a_page_adds() {
    let project = project_with_three_objects().page(
        "op",
        "adds: [{objects: [{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: new, namespace: ns}}]}]",
    );
    assert_eq!(
        list(&project)[3],
        json!({
            "by": "payload/op/component.yaml:4:19",
            "cluster": "both",
            "document": 0,
            "file": "",
            "group": "apps",
            "included": true,
            "kind": "DaemonSet",
            "name": "new",
            "namespace": "ns",
            "reason": null,
            "version": "v1",
        })
    );
}

#[test]
fn the_name_of_a_page_must_be_its_folder() {
    let project = project_with_three_objects().file(
        "payload/op/component.yaml",
        r"
        apiVersion: transship.openshift.io/v1
        kind: Component
        metadata: {name: other}
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:1:1: the page of `other` is in the folder `op`
          help: rename it to `op`, or the folder to `other`
        ",
    );
}
