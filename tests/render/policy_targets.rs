//! Policy rules for every object, for volumes, and for containers that are not init containers.

use serde_json::{Value, json};

use crate::support::{TestProject, find, pod_spec};

const MANIFESTS: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d, namespace: ns, annotations: {x: x}}
    spec:
      template:
        spec:
          initContainers: [{name: i}]
          containers: [{name: a}, {name: b}]
          volumes:
          - {name: key, secret: {secretName: key}}
          - {name: other, secret: {secretName: other, defaultMode: 256}}
          - {name: config, configMap: {name: c}}
          - {name: none, emptyDir: }
    ---
    apiVersion: v1
    kind: ServiceAccount
    metadata: {name: s, namespace: ns, annotations: {x: x}}
    ";

/// Renders the objects with this policy.
fn render(policy: &str) -> Vec<Value> {
    let policy = crate::support::unindent(policy);
    TestProject::new()
        .manifest("op/1.yaml", MANIFESTS)
        .profile("test", &format!("topology: test\ncluster: both\n{policy}"))
        .render("test")
}

#[test]
fn a_rule_for_objects_applies_to_every_object() {
    let rendered = render(
        r"
        policy:
        - {for: object, add: {metadata: {labels: {part-of: '${component.name}'}}}}
        - {for: object, when: {workload.kind: ServiceAccount}, set: {metadata: {annotations: {x: null}}}}
        ",
    );
    assert_eq!(rendered.len(), 2);
    for object in &rendered {
        assert_eq!(object["metadata"]["labels"], json!({"part-of": "op"}));
    }
    assert_eq!(find(&rendered, "ServiceAccount", "s")["metadata"]["annotations"], json!(null));
    assert_eq!(find(&rendered, "Deployment", "d")["metadata"]["annotations"], json!({"x": "x"}));
}

#[test]
fn a_rule_for_volumes_can_depend_on_their_source_and_name() {
    let rendered = render(
        r"
        policy:
        - {for: volume, when: {volume.source: secret}, default: {secret: {defaultMode: 416}}}
        - {for: volume, when: {volume.source: configMap}, add: {configMap: {optional: true}}}
        - {for: volume, when: {volume.name: other}, set: {secret: {optional: true, secretName: null}}}
        - {for: volume, when: {volume.source: absent}, set: {emptyDir: {sizeLimit: 1Gi}}}
        ",
    );
    assert_eq!(
        pod_spec(&rendered, "d")["volumes"],
        json!([
            {"name": "key", "secret": {"secretName": "key", "defaultMode": 416}},
            {"name": "other", "secret": {"defaultMode": 256, "optional": true}},
            {"name": "config", "configMap": {"name": "c", "optional": true}},
            {"name": "none", "emptyDir": {"sizeLimit": "1Gi"}},
        ])
    );
}

#[test]
fn a_rule_for_containers_can_leave_out_init_containers() {
    let rendered = render(
        r"
        policy:
        - {for: container, when: {container.init: false}, set: {livenessProbe: {tcpSocket: {port: 1}}}}
        - {for: container, when: {container.init: true}, set: {workingDir: '/${container.name}'}}
        ",
    );
    let pod = pod_spec(&rendered, "d");
    let probe = json!({"tcpSocket": {"port": 1}});
    assert_eq!(
        pod["containers"],
        json!([{"name": "a", "livenessProbe": probe}, {"name": "b", "livenessProbe": probe}])
    );
    assert_eq!(pod["initContainers"], json!([{"name": "i", "workingDir": "/i"}]));
}

#[test]
fn names_of_volumes_are_known_only_in_rules_for_volumes() {
    TestProject::new()
        .manifest("op/1.yaml", MANIFESTS)
        .profile(
            "test",
            "topology: test\ncluster: both\npolicy: [{for: pod, set: {metadata: {labels: {a: '${volume.source}'}}}}]\n",
        )
        .assert_render_error(
            "test",
            r"
            error: profiles/test.yaml:6:50: `${volume.source}` is not defined
              object: Deployment.apps/d in ns
              help: it is defined only in a policy rule with `for: volume`
            ",
        );
}
