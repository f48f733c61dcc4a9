//! The order of what additions add, and null, which counts as absent.

use serde_json::{Value, json};

use crate::support::{TestProject, find, item, names, object, pod_spec};

const INIT: &str = r"
    inputs: {workload: workload, name: string}
    adds:
    - pod:
        spec:
          initContainers: [{name: '${name}', image: q/i}]
          containers:
          - {name: c, env: [{name: '${name}', value: x}]}
          - {name: 'side-${name}', image: q/s}
    - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '${name}', namespace: ns}}]}
    ";

fn names_of(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

/// Creates a Deployment with the init containers `own-1` and `own-2`, whose page continues with this body.
fn project_with_init_containers(page: &str) -> TestProject {
    let spec = "spec: {template: {spec: {initContainers: [{name: own-1}, {name: own-2}], containers: [{name: c}]}}}\n";
    TestProject::with_deployment(page, "")
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", spec))
}

#[test]
fn what_fragments_add_comes_in_the_order_of_uses_and_before_the_manifests_init_containers() {
    let project = project_with_init_containers(
        "uses: [{init: {workload: Deployment/d, name: a}}, {init: {workload: Deployment/d, name: b}}]\n",
    )
    .fragment("init", INIT);
    let rendered = project.render("mc");
    let pod = pod_spec(&rendered, "d");
    assert_eq!(names_of(&pod["initContainers"]), ["a", "b", "own-1", "own-2"]);
    assert_eq!(names_of(&pod["containers"]), ["c", "side-a", "side-b"]);
    assert_eq!(names_of(&item(&pod["containers"], "c")["env"]), ["a", "b"]);
    assert_eq!(names(&rendered), ["ConfigMap/a", "ConfigMap/b", "Deployment/d"]);
}

#[test]
fn what_a_page_adds_itself_comes_before_what_its_fragments_add() {
    // The second entry is written for the workload, and its ConfigMap has no namespace: neither changes the order.
    let project = project_with_init_containers(
        r"
        values: {workload: Deployment/d}
        uses: [{init: {name: a}}]
        adds:
        - {pod: {spec: {initContainers: [{name: page-1, image: q/i}], containers: [{name: c, env: [{name: page-1, value: x}]}]}}}
        - in: [mc]
          workload: {spec: {template: {spec: {initContainers: [{name: page-2, image: q/i}], containers: [{name: side, image: q/s}]}}}}
          objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}]
        ",
    )
    .fragment("init", INIT);
    let rendered = project.render("mc");
    let pod = pod_spec(&rendered, "d");
    assert_eq!(names_of(&pod["initContainers"]), ["page-1", "page-2", "a", "own-1", "own-2"]);
    assert_eq!(names_of(&pod["containers"]), ["c", "side", "side-a"]);
    assert_eq!(names_of(&item(&pod["containers"], "c")["env"]), ["page-1", "a"]);
    assert_eq!(names(&rendered), ["ConfigMap/page", "ConfigMap/a", "Deployment/d"]);
}

#[test]
fn init_containers_of_policy_come_after_those_of_additions() {
    let policy = r"
        policy:
        - {for: pod, add: {spec: {initContainers: [{name: policy-1, image: q/i}]}}}
        - {for: Deployment, add: {spec: {template: {spec: {initContainers: [{name: policy-2, image: q/i}]}}}}}
        ";
    let spec = "spec: {template: {spec: {initContainers: [{name: own}], containers: [{name: c}]}}}\n";
    let page = "uses: [{init: {workload: Deployment/d, name: a}}]\n";
    let project = TestProject::with_deployment(page, policy)
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", spec))
        .fragment("init", INIT);
    let rendered = project.render("mc");
    assert_eq!(names_of(&pod_spec(&rendered, "d")["initContainers"]), ["a", "policy-1", "policy-2", "own"]);
}

#[test]
fn an_addition_to_a_workloads_template_needs_containers_that_exist() {
    project_with_init_containers(
        r"
        values: {workload: Deployment/d}
        adds: [{workload: {spec: {template: {spec: {containers: [{name: cc}]}}}}}]
        ",
    )
    .assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:6:65: there is no container `cc` to add to
          object: Deployment.apps/d in ns
          help: did you mean `c`?
        ",
    );
}

const NULLS: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d, namespace: ns, annotations: {x: x}, labels: }
    spec:
      replicas: null
      template:
        metadata: {annotations: , labels: {app: a}}
        spec:
          initContainers:
          nodeSelector: null
          containers:
          - {name: c, args: , env: [{name: E, value: }], volumeMounts: [{name: v, mountPath: /v, subPath: }]}
          volumes: [{name: v, emptyDir: }]
    ";

#[test]
fn an_addition_fills_fields_that_are_null() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", NULLS)
        .profile(
            "test",
            "topology: test\ncluster: both\npolicy: [{for: Deployment, add: {metadata: {labels: {b: b}}}}]\n",
        )
        .page(
            "op",
            r"
            values: {workload: Deployment/d}
            adds:
            - workload: {metadata: {labels: {a: a}}, spec: {replicas: 3}}
              pod:
                metadata: {annotations: {a: a}}
                spec:
                  nodeSelector: {a: a}
                  initContainers: [{name: i, image: q/i}]
                  containers:
                  - name: c
                    args: [run]
                    env: [{name: E, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
                    volumeMounts: [{name: v, mountPath: /v, subPath: s}]
                  volumes: [{name: v, secret: {secretName: s}}]
            ",
        );
    let deployment = &project.render("test")[0];
    assert_eq!(deployment["metadata"]["labels"], json!({"a": "a", "b": "b"}));
    assert_eq!(deployment["spec"]["replicas"], json!(3));
    let template = &deployment["spec"]["template"];
    assert_eq!(template["metadata"]["annotations"], json!({"a": "a"}));
    assert_eq!(template["spec"]["nodeSelector"], json!({"a": "a"}));
    assert_eq!(template["spec"]["initContainers"], json!([{"name": "i", "image": "q/i"}]));
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["args"], json!(["run"]));
    assert_eq!(container["env"][0]["valueFrom"], json!({"fieldRef": {"fieldPath": "spec.nodeName"}}));
    assert_eq!(container["volumeMounts"], json!([{"name": "v", "mountPath": "/v", "subPath": "s"}]));
    assert_eq!(template["spec"]["volumes"][0]["secret"], json!({"secretName": "s"}));
}

#[test]
fn null_in_an_addition_adds_nothing() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "m", "data: {a: b}\n"))
        .profile("test", "topology: test\ncluster: both\npolicy: [{for: ConfigMap, add: {data: {a: }, binaryData: }}]\n")
        .page(
            "op",
            "adds: [{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: m, labels: }, data: , immutable: }]}]\n",
        );
    let annotations = json!({"x": "x"});
    let metadata = json!({"name": "m", "namespace": "ns", "annotations": annotations});
    assert_eq!(
        project.render("test"),
        [json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}})]
    );
}

#[test]
fn labels_and_annotations_that_are_null_or_become_empty_are_not_rendered() {
    let manifest = r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: d, namespace: ns, annotations: {x: x}, labels: }
        spec:
          template:
            metadata: {annotations: {a: a}, labels: }
            spec: {nodeSelector: null}
        ---
        apiVersion: example.com/v1
        kind: Custom
        metadata: {name: c, namespace: ns, annotations: {x: x}, labels: {}}
        spec: {nothing: null, labels: null}
        ";
    let profile = r"
        topology: test
        cluster: both
        strip: [x]
        policy: [{for: pod, set: {metadata: {annotations: {a: null}}}}]
        ";
    let project = TestProject::standalone().manifest("op/1.yaml", manifest).profile("test", profile);
    assert_eq!(
        project.render("test"),
        [
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "d", "namespace": "ns"},
                "spec": {"template": {"metadata": {}, "spec": {"nodeSelector": null}}},
            }),
            // An empty map stays as it is in the manifest, and null may mean something to a custom resource.
            json!({
                "apiVersion": "example.com/v1",
                "kind": "Custom",
                "metadata": {"name": "c", "namespace": "ns", "labels": {}},
                "spec": {"nothing": null, "labels": null},
            }),
        ]
    );
}

fn with_prune_annotation(value: &str) -> TestProject {
    let manifest = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n  namespace: ns\n  annotations:\n    \
         transship.openshift.io/prune: {value}\n    example.test/of: test\n"
    );
    TestProject::standalone().manifest("op/0000_50_op_key.yaml", &manifest).page("op", "")
}

#[test]
fn the_annotation_that_keeps_an_object_does_not_reach_the_cluster() {
    let objects = with_prune_annotation("keep").render("test");
    assert_eq!(
        find(&objects, "Secret", "key")["metadata"]["annotations"],
        json!({"example.test/of": "test"})
    );
}

#[test]
fn another_value_than_keep_is_an_error() {
    with_prune_annotation("\"false\"").assert_render_error(
        "test",
        "
        error: payload/op/0000_50_op_key.yaml:7:35: the annotation `transship.openshift.io/prune` has another value than `keep`
          object: Secret/key in ns
          note: the annotation says that `apply` does not prune the object when it is no longer rendered
          help: write `keep`, or remove the annotation
        ",
    );
}
