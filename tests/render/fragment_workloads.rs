//! Fragments that need a workload which another fragment brings, and additions that name their workloads.

use serde_json::json;

use crate::support::{TestProject, find, names, object, pod_spec};

fn workload(kind: &str, name: &str) -> String {
    object(
        "apps/v1",
        kind,
        "ns",
        name,
        "spec: {template: {spec: {serviceAccountName: sa, containers: [{name: c}]}}}\n",
    )
}

/// The fragment `runner` brings a Deployment, and `config` brings a ConfigMap for a workload.
fn project_with_fragments(page: &str) -> TestProject {
    TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "Secret", "ns", "s", ""))
        .fragment_folder(
            "runner",
            "inputs: {name: string}\n",
            &[("1.yaml", &workload("Deployment", "'${name}'"))],
        )
        .fragment_folder(
            "config",
            "inputs: {workload: workload}\nadds: [{pod: {metadata: {labels: {by: config}}}}]\n",
            &[("1.yaml", &object("v1", "ConfigMap", "ns", "'${workload.name}-config'", ""))],
        )
        .page("op", page)
}

#[test]
fn a_fragment_can_use_a_workload_that_another_fragment_brings_in_any_order() {
    for uses in [
        "uses: [{runner: {name: r}}, {config: {workload: Deployment/r}}]\n",
        "uses: [{config: {workload: Deployment/r}}, {runner: {name: r}}]\n",
        "values: {workload: Deployment/r}\nuses: [{config: {}}, {runner: {name: r}}]\n",
        "adds: [{for: Deployment/r, uses: [{config: {}}]}]\nuses: [{runner: {name: r}}]\n",
    ] {
        let project = project_with_fragments(uses);
        let rendered = project.render("test");
        let mut found = names(&rendered);
        found.sort();
        assert_eq!(found, ["ConfigMap/r-config", "Deployment/r", "Secret/s"], "{uses}");
        let template = &find(&rendered, "Deployment", "r")["spec"]["template"];
        assert_eq!(template["metadata"]["labels"], json!({"by": "config"}), "{uses}");
    }
}

#[test]
fn a_chain_of_fragments_brings_what_the_next_one_needs() {
    let project = project_with_fragments("uses: [{config: {workload: StatefulSet/r-2}}, {second: {workload: Deployment/r}}, {runner: {name: r}}]\n")
        .fragment_folder(
            "second",
            "inputs: {workload: workload}\n",
            &[("1.yaml", &workload("StatefulSet", "'${workload.name}-2'"))],
        );
    let mut found = names(&project.render("test"));
    found.sort();
    assert_eq!(found, ["ConfigMap/r-2-config", "Deployment/r", "Secret/s", "StatefulSet/r-2"]);
}

#[test]
fn fragments_that_need_workloads_of_each_other_are_an_error() {
    let needs = "inputs: {workload: workload}\n";
    project_with_fragments("uses: [{a: {workload: Deployment/b}}, {b: {workload: Deployment/a}}]\n")
        .fragment_folder("a", needs, &[("1.yaml", &workload("Deployment", "a"))])
        .fragment_folder("b", needs, &[("1.yaml", &workload("Deployment", "b"))])
        .assert_render_error(
            "test",
            r"
            error: payload/op/component.yaml:4:23: the component has no `Deployment/b`
              note: the fragment `b` brings it, but its use at payload/op/component.yaml:4:39 fails as well
              help: remove the cycle: two fragments cannot need objects of each other
            error: payload/op/component.yaml:4:54: the component has no `Deployment/a`
              note: the fragment `a` brings it, but its use at payload/op/component.yaml:4:8 fails as well
              help: remove the cycle: two fragments cannot need objects of each other
            2 errors
            ",
        );
}

#[test]
fn a_workload_that_no_fragment_brings_is_an_error() {
    project_with_fragments("uses: [{config: {workload: Deployment/rr}}, {runner: {name: r}}]\n")
        .assert_render_error(
            "test",
            r"
        error: payload/op/component.yaml:4:28: the component has no `Deployment/rr`
          help: did you mean `Deployment/r`?
        ",
        );
}

/// A component with the workloads `controller` and `node`. The page continues with this body.
fn project_with_two_workloads(page: &str) -> TestProject {
    TestProject::standalone()
        .manifest("op/1.yaml", &workload("Deployment", "controller"))
        .manifest("op/2.yaml", &workload("DaemonSet", "node"))
        .page("op", page)
}

#[test]
fn an_addition_names_its_workload() {
    let project = project_with_two_workloads(
        r"
        values: {workload: Deployment/controller}
        adds:
        - {pod: {spec: {priorityClassName: controller}}}
        - {for: DaemonSet/node, pod: {spec: {priorityClassName: '${workload.name}'}}}
        - for: [Deployment/controller, DaemonSet/node]
          workload: {metadata: {labels: {kind: '${workload.kind}'}}}
          objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '${workload.name}-config'}}]
        ",
    );
    let rendered = project.render("test");
    assert_eq!(
        names(&rendered),
        ["ConfigMap/controller-config", "Deployment/controller", "ConfigMap/node-config", "DaemonSet/node"]
    );
    assert_eq!(pod_spec(&rendered, "controller")["priorityClassName"], "controller");
    let node = find(&rendered, "DaemonSet", "node");
    assert_eq!(node["spec"]["template"]["spec"]["priorityClassName"], "node");
    assert_eq!(node["metadata"]["labels"], json!({"kind": "DaemonSet"}));
}

#[test]
fn an_addition_of_a_fragment_names_its_workload_with_inputs() {
    let project = project_with_two_workloads("uses: [{both: {workload: Deployment/controller, node: node}}]\n").fragment(
        "both",
        r"
        inputs: {workload: workload, node: string}
        adds:
        - {for: 'DaemonSet/${node}', pod: {metadata: {labels: {for: '${workload.name}', name: '${workload}'}}}}
        - {pod: {metadata: {labels: {for: '${workload.name}'}}}}
        ",
    );
    let rendered = project.render("test");
    let labels = |kind, name| find(&rendered, kind, name)["spec"]["template"]["metadata"]["labels"].clone();
    assert_eq!(labels("DaemonSet", "node"), json!({"for": "node", "name": "DaemonSet/node"}));
    assert_eq!(labels("Deployment", "controller"), json!({"for": "controller"}));
}

#[test]
fn an_addition_that_names_no_workload_of_the_component_is_an_error() {
    project_with_two_workloads("adds: [{for: DaemonSet/nod, pod: {spec: {}}}, {for: [], pod: {spec: {}}}]\n")
        .assert_render_error(
            "test",
            r"
            error: payload/op/component.yaml:4:53: `for` names no workload
              help: remove it, or name workloads such as `DaemonSet/node`
            ",
        );
    project_with_two_workloads("adds: [{for: DaemonSet/nod, pod: {spec: {}}}]\n").assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:14: the component has no `DaemonSet/nod`
          help: did you mean `DaemonSet/node`?
        ",
    );
}

#[test]
fn an_omission_of_a_fragment_can_depend_on_its_inputs() {
    let fragment = r"
        inputs: {name: string, enabled: bool}
        omit: {'ConfigMap/${name}': {reason: it is off, when: {enabled: false}}}
        ";
    let project = project_with_fragments(
        "uses: [{flag: {name: a, enabled: true}}, {flag: {name: b, enabled: false}}]\n",
    )
    .fragment_folder("flag", fragment, &[("1.yaml", &object("v1", "ConfigMap", "ns", "'${name}'", ""))]);
    assert_eq!(names(&project.render("test")), ["ConfigMap/a", "Secret/s"]);
}
