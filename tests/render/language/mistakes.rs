//! Mistakes that would silently do nothing, or something else than intended.

use super::project_with_three_objects;
use crate::support::TestProject;

#[test]
fn mistakes_in_a_page_are_all_reported() {
    let project = project_with_three_objects().page(
        "op",
        r"
        onwer: x
        place: {managment: [a], guest: [deployment]}
        patches: [{reason: r, position: middle}]
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:5:33: `deployment` is not a selector: a kind starts with an upper-case letter and has only letters and digits
          help: write `Kind`, `Kind/name` or `Kind.group/namespace/name`, such as Deployment/csi-snapshot-controller
        error: payload/op/component.yaml:5:9: place has no field `managment`
          help: did you mean `management`?
        error: payload/op/component.yaml:6:33: `position` cannot be `middle`
          help: use one of first, last
        error: payload/op/component.yaml:4:1: a page has no field `onwer`
          help: did you mean `owner`?
        4 errors
        ",
    );
}

/// Creates the three objects, a fragment `label`, and a parameter `platform` that a profile uses.
fn project_with_fragment_and_parameter() -> TestProject {
    project_with_three_objects()
        .fragment(
            "label",
            r"
            inputs: {workload: workload, name: {type: name, default: x}}
            adds: [{workload: {metadata: {labels: {x: '${name}'}}}}]
            ",
        )
        .parameters(
            r"
            parameters:
              platform: {type: string, description: d, enum: [AWS, Azure], default: AWS}
            ",
        )
        .profile("user", "topology: u\ncluster: both\nnamespace: '${platform}'")
}

#[test]
fn mistakes_in_a_page_without_effect_are_errors() {
    for (page, expected) in [
        (
            r"
            owner: a
            owner: b
            ",
            r"
            error: payload/op/component.yaml:5:1: the key `owner` is duplicated
              note: the first is at payload/op/component.yaml:4:1
              help: remove one of them
            ",
        ),
        (
            "files: ['*']",
            r"
            error: payload/op/component.yaml:4:9: a page in the payload cannot have `files`
              note: it is for the files of its folder
              help: remove `files`, or move the page to profiles/components/
            ",
        ),
        (
            "adds: [{}]",
            r"
            error: payload/op/component.yaml:4:8: this `adds` entry adds nothing
              help: remove it, or give the reason with `nothing: …`
            ",
        ),
        (
            "adds: [{nothing: x, workload: {}}]",
            r"
            error: payload/op/component.yaml:4:8: this `adds` entry adds something and has `nothing`
              help: remove `nothing`, or split the entry in two
            ",
        ),
        (
            r"
            parameters: {p.x: {type: string, description: d, default: a, read: {object: Infrastructure, path: nopath}}}
            when: {p.x: a}
            ",
            r"
            error: payload/op/component.yaml:4:99: `nopath` is not a JSON pointer
              help: start it with `/`, as in /spec/platform/type
            error[unvalidated-guest-value]: payload/op/component.yaml:4:14: the parameter `p.x` is read from the guest and accepts any value
              note: the guest's administrator decides what the value is
              help: limit it with `pattern` or `enum`
            2 errors
            ",
        ),
        (
            "patches: [{reason: x, target: {kind: Deployment}, patch: ''}]",
            r"
            error: payload/op/component.yaml:4:11: the patch is empty
              help: remove it, or write what it changes
            ",
        ),
        (
            "patches: [{reason: x, position: first, target: {kind: Deployment}, patch: [{op: remove, path: /spec}]}]",
            r"
            error: payload/op/component.yaml:4:11: `position` has no effect on a JSON patch
              help: remove `position`; it is for strategic merge patches
            ",
        ),
        (
            "adds: [{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}]",
            r"
            error: payload/op/component.yaml:4:19: the new object has no namespace
              object: ConfigMap/c
              help: write `metadata.namespace`, with the namespace that the payload uses
            ",
        ),
        (
            "uses: [{label: {workload: Service/s}}]",
            r"
            error: payload/op/component.yaml:4:27: `Service/s` has no pods
              help: name a workload, such as a Deployment or DaemonSet
            ",
        ),
        (
            "uses: [{label: {workload: Deployment/a, name: Not A Name}}]",
            r"
            error: payload/op/component.yaml:4:47: the input `name` must be a name of lower-case letters, digits, `-` and `.`, not `Not A Name`
            ",
        ),
        (
            "when: {platform: Azur}",
            r#"
            error: payload/op/component.yaml:4:18: `platform` can never be "Azur"
              help: `platform` is one of "AWS", "Azure"
            "#,
        ),
    ] {
        project_with_fragment_and_parameter().page("op", page).assert_render_error("test", expected);
    }
}

#[test]
fn mistakes_in_a_policy_without_effect_are_errors() {
    for (policy, expected) in [
        (
            "{for: Deployment}",
            r"
            error: profiles/test.yaml:6:10: the policy entry has none of `add`, `default`, `set` and `replace`
              help: add one of them
            ",
        ),
        (
            "{for: Deploymnt, set: {}}",
            r"
            error: profiles/test.yaml:6:10: there is no kind `Deploymnt`
              help: did you mean `Deployment`?
            ",
        ),
        (
            "{for: Deployment.apps, set: {}}",
            r"
            error: profiles/test.yaml:6:16: `Deployment.apps` is not a kind
              help: write a kind without a group, such as Deployment
            ",
        ),
        (
            "{for: pod, set: {spec: {priorityClassName: a}}}, {for: workload, set: {spec: {template: {spec: {priorityClassName: b}}}}}",
            r"
            error: profiles/test.yaml:6:125: two policy rules set `/spec/template/spec/priorityClassName` differently
              object: Deployment.apps/a in ns
              note: the other rule is at profiles/test.yaml:6:53
              help: limit one of them with `when`, or remove one
            ",
        ),
        (
            "{for: Service, set: {metadata: {labels: null}}}, {for: Service, set: {metadata: {labels: {a: b}}}}",
            r"
            error: profiles/test.yaml:6:103: two policy rules set `/metadata/labels/a` differently
              object: Service/s in ns
              note: the other rule is at profiles/test.yaml:6:50
              help: limit one of them with `when`, or remove one
            ",
        ),
        (
            "{for: Service, set: {spec: {type: ClusterIP}}}, {for: Service, replace: {/spec: {ports: []}}}",
            r"
            error: profiles/test.yaml:6:90: two policy rules set `/spec` differently
              object: Service/s in ns
              note: the other rule is at profiles/test.yaml:6:44
              help: limit one of them with `when`, or remove one
            ",
        ),
        (
            "{for: Service, replace: {/spec: {a: A}}}, {for: Service, replace: {/spec: {a: B}}}",
            r"
            error: profiles/test.yaml:6:84: two policy rules set `/spec` differently
              object: Service/s in ns
              note: the other rule is at profiles/test.yaml:6:42
              help: limit one of them with `when`, or remove one
            ",
        ),
        (
            "{for: Service, replace: {/metadta/labels: {a: b}}}",
            r"
            error: profiles/test.yaml:6:35: the object does not have the key `metadta`, which the path `/metadta` names
              object: Service/s in ns
              note: `replace` sets `/metadta/labels` only in a map that exists
              help: did you mean `metadata`?
            ",
        ),
        (
            "{for: Service, replace: {/spec/a/b: null}}",
            r"
            error: profiles/test.yaml:6:35: the object does not have the key `spec`, which the path `/spec/a` names
              object: Service/s in ns
              note: `replace` sets `/spec/a/b` only in a map that exists
              help: set the map around the field with `default`, or limit the entry with `when`
            ",
        ),
        (
            "{for: Service, replace: {/kind/a: A}}",
            r"
            error: profiles/test.yaml:6:35: `replace` cannot set `/kind/a`, because `/kind` is not a map
              object: Service/s in ns
              help: name a field of a map, and select an item of a list with `[name=x]`
            ",
        ),
        (
            "{for: Service, replace: {spec: A, '/a/[*]': B, '': C}}",
            r"
            error: profiles/test.yaml:6:57: `replace` cannot replace ``, which is not a field
              help: end the path with the key of a map, as in /spec/nodeSelector
            error: profiles/test.yaml:6:44: `replace` cannot replace `/a/[*]`, which is not a field
              help: end the path with the key of a map, as in /spec/nodeSelector
            error: profiles/test.yaml:6:35: the path `spec` does not start with `/`
              help: write it as a JSON pointer, such as /spec/template/spec/containers/[name=x]/image
            3 errors
            ",
        ),
        (
            "{for: Service, replace: [/spec]}",
            r"
            error: profiles/test.yaml:6:34: `replace` must be a map of JSON pointers, not a list
            ",
        ),
    ] {
        let project = project_with_fragment_and_parameter()
            .profile("test", &format!("topology: t\ncluster: both\npolicy: [{policy}]"));
        project.assert_render_error("test", expected);
    }
}
