//! How the rules of a policy add, default, set and replace fields.

use serde_json::{Value, json};

use crate::support::{TestProject, object};

/// Renders a Deployment with this spec under a policy.
fn spec_after(spec: &str, policy: &str) -> Value {
    let project = TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", &format!("spec: {spec}\n")))
        .profile("one", &format!("topology: t\ncluster: both\npolicy: {policy}\n"));
    project.render("one")[0]["spec"].clone()
}

#[test]
fn a_rule_for_a_kind_does_not_treat_its_lists_as_those_of_a_pod() {
    let crd = r"
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: xs.x.y, annotations: {x: x}}
        spec: {group: x.y, scope: Namespaced, names: {kind: X, plural: xs}}
        ";
    let project = TestProject::new()
        .manifest("op/1.yaml", crd)
        .manifest("op/2.yaml", &object("x.y/v1", "X", "ns", "one", "spec: {initContainers: [{name: old}]}\n"))
        .profile(
            "one",
            r"
            topology: t
            cluster: both
            policy: [{for: X, add: {spec: {initContainers: [{name: new}], containers: {any: value}}}}]
            ",
        );
    assert_eq!(
        project.render("one")[1]["spec"],
        json!({"initContainers": [{"name": "old"}, {"name": "new"}], "containers": {"any": "value"}})
    );
}

#[test]
fn null_for_a_field_that_does_not_exist_creates_no_empty_maps() {
    let policy = "[{for: Deployment, set: {spec: {strategy: {rollingUpdate: null}, replicas: 2}}}]";
    assert_eq!(spec_after("{replicas: 1}", policy), json!({"replicas": 2}));
    assert_eq!(
        spec_after("{strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}", policy),
        json!({"replicas": 2, "strategy": {"type": "Recreate"}})
    );
}

#[test]
fn a_default_replaces_null() {
    let policy = "[{for: Deployment, default: {spec: {replicas: 2, strategy: {type: Recreate}}}}]";
    assert_eq!(
        spec_after("{replicas: null, strategy: {}}", policy),
        json!({"replicas": 2, "strategy": {"type": "Recreate"}})
    );
}

#[test]
fn two_rules_may_set_a_field_to_the_same_value() {
    let policy =
        "[{for: Deployment, set: {spec: {replicas: 2}}}, {for: workload, set: {spec: {replicas: 2}}}]";
    assert_eq!(spec_after("{}", policy), json!({"replicas": 2}));
}

#[test]
fn replace_sets_a_field_as_a_whole() {
    let pod = "{replicas: 1, template: {spec: {nodeSelector: {role: master}, containers: [{name: a, image: one}, {name: b}]}}}";
    for (policy, pointer, expected) in [
        (
            "[{for: pod, replace: {/spec/nodeSelector: {role: hcp}}}]",
            "/template/spec/nodeSelector",
            json!({"role": "hcp"}),
        ),
        (
            "[{for: pod, replace: {/metadata: {labels: {a: b, none: null}}}}]",
            "/template/metadata",
            json!({"labels": {"a": "b", "none": null}}),
        ),
        (
            "[{for: pod, replace: {'/spec/containers/[name=a]/image': two}}]",
            "/template/spec/containers",
            json!([{"image": "two", "name": "a"}, {"name": "b"}]),
        ),
        (
            "[{for: container, replace: {/image: '${container.name}'}}]",
            "/template/spec/containers",
            json!([{"image": "a", "name": "a"}, {"image": "b", "name": "b"}]),
        ),
        (
            "[{for: Deployment, replace: {/spec/strategy: {type: Recreate}}}]",
            "/strategy/type",
            json!("Recreate"),
        ),
        (
            "[{for: Deployment, set: {spec: {replicas: 2}}}, {for: Deployment, replace: {/spec/minReadySeconds: '${workload.replicas}'}}]",
            "/minReadySeconds",
            json!(2),
        ),
    ] {
        assert_eq!(spec_after(pod, policy).pointer(pointer), Some(&expected), "{policy}");
    }
}

/// `set` would keep the keys of the manifest.
#[test]
fn replace_removes_a_field_without_a_value() {
    let pod = "{template: {spec: {nodeSelector: {role: master}, containers: []}}}";
    for policy in [
        "[{for: pod, replace: {/spec/nodeSelector: null}}]",
        "[{for: pod, replace: {/spec/nodeSelector: '${pod.localVolumes}'}}]",
    ] {
        assert_eq!(spec_after(pod, policy)["template"]["spec"], json!({"containers": []}), "{policy}");
    }
    let kept = spec_after(pod, "[{for: pod, set: {spec: {nodeSelector: {zone: a}}}}]");
    assert_eq!(kept["template"]["spec"]["nodeSelector"], json!({"role": "master", "zone": "a"}));
}
