//! Patches of pages.

use serde_json::json;

use super::{declare_parameters, project_with_three_objects};
use crate::support::object;

#[test]
fn patches_of_a_page_work_as_in_kustomize() {
    let project = declare_parameters(project_with_three_objects())
        .page(
            "op",
            r"
            patches:
            - reason: by name in the patch
              creates: [containers/d]
              patch:
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: a}
                spec: {template: {spec: {containers: [{name: c, image: i}, {name: d}]}}}
            - reason: operations as text
              target: {kind: Deployment}
              patch: |-
                - op: set-flag
                  path: /spec/template/spec/containers/[name=c]/args
                  value: --v=4
            - reason: from a file, in this profile
              in: [test]
              path: remove.yaml
              target: {group: apps, name: 'a|b', annotationSelector: x=x}
            - reason: not here
              in: [user]
              path: remove.yaml
            - reason: not now
              when: {a.text: other}
              path: remove.yaml
            - reason: before the others
              position: first
              creates: [containers/z]
              target: {labelSelector: '!nothing', kind: Deployment}
              patch: {spec: {template: {spec: {containers: [{name: z}]}}}}
            ",
        )
        .file(
            "patches/op/remove.yaml",
            r"
            spec:
              template:
                spec:
                  initContainers: [{name: i, $patch: delete}]
                  hostNetwork: null
            ",
        );
    assert_eq!(
        project.render("test")[0]["spec"]["template"]["spec"],
        json!({
            "initContainers": [],
            "containers": [{"name": "z"}, {"args": ["run", "--v=4"], "image": "i", "name": "c"}, {"name": "d"}],
            "tolerations": [{"key": "old"}],
        })
    );
}

#[test]
fn targets_select_objects_by_their_original_names() {
    let project = project_with_three_objects().page(
        "op",
        r"
        patches:
        - {reason: renames, target: {kind: Service}, patch: [{op: replace, path: /metadata/name, value: new}]}
        - {reason: still meant, target: {kind: Service, name: s}, patch: {spec: {type: ClusterIP}}}
        ",
    );
    let service = &project.render("test")[1];
    assert_eq!(service["metadata"]["name"], "new");
    assert_eq!(service["spec"]["type"], "ClusterIP");
}

#[test]
fn a_patch_that_does_nothing_is_an_error() {
    for (patch, expected) in [
        (
            "{reason: r, target: {kind: Deployment, name: aa}, patch: {a: b}}",
            r"
            error: payload/op/component.yaml:4:11: the patch matches no object of `op` in the profile `test`
              help: did you mean `Deployment/a`?
            ",
        ),
        (
            "{reason: r, target: {kind: Deployment}, patch: {kind: Deployment}}",
            r"
            error: payload/op/component.yaml:4:11: the patch changes nothing in the profile `test`
              note: the object already has these values
              help: remove it, or write `optional: true` if it may have no effect
            ",
        ),
        (
            "{reason: r, patch: {a: b}}",
            r"
            error: payload/op/component.yaml:4:30: the patch does not say which object it is for
              help: give the entry a `target`, or the patch `kind` and `metadata.name`
            ",
        ),
        (
            "{reason: r, target: {kind: X}}",
            r"
            error: payload/op/component.yaml:4:11: the patch has neither `path` nor `patch`
              help: give it one of them
            ",
        ),
        (
            "{reason: r, target: {kind: X}, path: none.yaml}",
            r"
            error: payload/op/component.yaml:4:48: there is no patch file `none.yaml`
              help: create it beside the page, in patches/op/, or for several pages in patches/
            ",
        ),
        (
            "{target: {kind: X}, patch: {}}",
            r"
            error: payload/op/component.yaml:4:11: a patch needs the field `reason`
            ",
        ),
        (
            "{reason: r, target: {kind: '('}, patch: {a: b}}",
            r"
            error: payload/op/component.yaml:4:38: this is not a regular expression: found open group without closing ')'
            ",
        ),
        (
            "{reason: because, target: {kind: Deployment}, patch: [{op: remove, path: /spec/replicas}]}",
            r"
            error: payload/op/component.yaml:4:84: the object does not have the key `replicas`, which the path `/spec/replicas` names
              object: Deployment.apps/a in ns
              note: applied by payload/op/component.yaml:4:11, because because
            ",
        ),
    ] {
        let project = project_with_three_objects().page("op", &format!("patches: [{patch}]"));
        project.assert_render_error("test", expected);
    }
}

#[test]
fn a_mistake_in_a_patch_for_several_objects_is_reported_once() {
    let project = project_with_three_objects()
        .page("op", "patches: [{reason: r, target: {name: '.*'}, patch: [{op: remvoe, path: /data}]}]");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:53: there is no operation `remvoe`
          object: Deployment.apps/a in ns
          note: applied by payload/op/component.yaml:4:11, because r
          help: did you mean `remove`?
        ",
    );
}

#[test]
fn an_optional_patch_may_match_nothing() {
    let project = project_with_three_objects()
        .page("op", "patches: [{reason: r, optional: true, target: {kind: X}, patch: {a: b}}]");
    assert_eq!(project.render("test").len(), 3);
}

#[test]
fn a_list_without_a_value_in_a_strategic_patch_is_an_error() {
    let project = project_with_three_objects().page(
        "op",
        r"
        patches:
        - reason: meant something else
          target: {kind: Deployment}
          patch:
            spec:
              template:
                spec:
                  containers:
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:11:11: `containers:` without a value removes the whole list
          object: Deployment.apps/a in ns
          note: applied by payload/op/component.yaml:5:3, because meant something else
          help: write the items; to remove items, write `- $patch: delete` for each of them
        ",
    );
}

#[test]
fn a_list_that_is_not_merged_by_a_key_can_be_removed() {
    let project = project_with_three_objects().page(
        "op",
        r"
        patches:
        - reason: no taints there
          target: {kind: Deployment}
          patch: {spec: {template: {spec: {tolerations: null}}}}
        ",
    );
    let rendered = project.render("test");
    assert_eq!(rendered[0]["spec"]["template"]["spec"].get("tolerations"), None);
}

#[test]
fn a_patch_file_beside_its_page_is_not_a_manifest() {
    let project =
        project_with_three_objects().page("op", "patches: [{reason: x, path: more.yaml}]").manifest(
            "op/more.yaml",
            r"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: a}
            spec: {replicas: 3}
            ",
        );
    let rendered = project.render("test");
    assert_eq!(rendered.len(), 3);
    assert_eq!(rendered[0]["spec"]["replicas"], 3);
}

#[test]
fn a_patch_that_gives_two_objects_the_same_name_is_an_error() {
    let project = project_with_three_objects()
        .page(
            "op",
            r"
            patches:
            - reason: x
              target: {kind: ConfigMap, name: cm}
              patch: [{op: replace, path: /metadata/name, value: other}]
            ",
        )
        .manifest("op/4.yaml", &object("v1", "ConfigMap", "ns", "other", ""));
    project.assert_render_error(
        "test",
        r"
        error[duplicate-object]: payload/op/4.yaml:1:1: two manifests describe the same object
          object: ConfigMap/other in ns
          note: the other manifest is at payload/op/3.yaml:1:1
          note: each apply would overwrite one with the other
          help: exclude one of them with a release annotation, a capability or a feature set
        ",
    );
}
