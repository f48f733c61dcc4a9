//! `owner` in pages: an operator and transship never apply the same object.

use serde_json::Value;

use crate::support::{TestProject, object, unindent};

const DEPLOYMENT: &str = "spec:\n  selector: {matchLabels: {app: x}}\n  template:\n    metadata: {labels: {app: x}}\n    \
                          spec: {automountServiceAccountToken: false, containers: [{name: x, image: example.test/x}]}\n";

fn deployment(name: &str) -> String {
    object("apps/v1", "Deployment", "ns", name, DEPLOYMENT)
}

fn config_map(name: &str) -> String {
    object("v1", "ConfigMap", "ns", name, "")
}

/// Creates a project for one cluster with an operator, which the parameter `operators` switches on, and its operand.
fn project() -> TestProject {
    TestProject::standalone()
        .parameters("parameters:\n  operators: {type: bool, description: d, default: true}\n")
        .manifest("op/0000_10_op_a.yaml", &deployment("op"))
        .page("op", "when: {operators: true}\n")
        .manifest("operand/0000_20_operand_a.yaml", &config_map("operand"))
        .page("operand", "owner: op\n")
}

/// Returns the objects of a rendering as `Kind/name`.
fn names(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    objects.iter().map(|it| format!("{}/{}", text(&it["kind"]), text(&it["metadata"]["name"]))).collect()
}

#[test]
fn operands_are_left_to_their_operator() {
    let project = project();
    assert_eq!(names(&project.render("test")), ["Deployment/op"]);
    let list = project.run(&["list", "--profile", "test"]).stdout;
    assert!(list.contains("omitted: the operator of op looks after it"), "{list}");
}

#[test]
fn transship_applies_operands_whose_operator_is_not_in_the_topology() {
    let objects = project().render_with("test", &["--set", "operators=false"]);
    assert_eq!(names(&objects), ["ConfigMap/operand"]);
}

#[test]
fn a_component_without_a_deployment_has_no_operator() {
    let project = project().manifest("op/0000_10_op_a.yaml", &config_map("op"));
    assert_eq!(names(&project.render("test")), ["ConfigMap/op", "ConfigMap/operand"]);
}

#[test]
fn a_deployment_that_is_omitted_is_no_operator() {
    let project = project()
        .manifest("op/0000_10_op_b.yaml", &config_map("op"))
        .page("op", "when: {operators: true}\nomit: {Deployment/op: it runs elsewhere}\n");
    assert_eq!(names(&project.render("test")), ["ConfigMap/op", "ConfigMap/operand"]);
}

/// The operator runs in the management cluster and looks after objects of the guest.
#[test]
fn an_operator_looks_after_objects_of_both_clusters() {
    let project = TestProject::new()
        .manifest("op/0000_10_op_a.yaml", &deployment("op"))
        .page("op", "place: {management: [Deployment]}\n")
        .manifest("operand/0000_20_operand_a.yaml", &config_map("operand"))
        .manifest("other/0000_20_other_a.yaml", &config_map("other"))
        .page("other", "place: {guest: [ConfigMap]}\n")
        .page("operand", "owner: op\nplace: {guest: [ConfigMap]}\n")
        .checks("externals: [{objects: [Namespace/ns], reason: r}]\n")
        .mc_and_guest("namespace: hcp\n", "");
    assert_eq!(names(&project.render("guest")), ["ConfigMap/other"]);
    assert_eq!(names(&project.render("mc")), ["Deployment/op"]);
}

/// An operator installs another operator, whose operands stay with that one.
#[test]
fn operators_of_operators_count() {
    let project = project()
        .manifest("driver-operator/0000_20_driver-operator_a.yaml", &deployment("driver-operator"))
        .page("driver-operator", "owner: op\n")
        .page("operand", "owner: driver-operator\n");
    assert_eq!(names(&project.render("test")), ["Deployment/op"]);
    let objects = project.render_with("test", &["--set", "operators=false"]);
    assert_eq!(names(&objects), ["Deployment/driver-operator"]);
}

/// The additions of the page of the operands belong to the operands.
#[test]
fn additions_of_operands_are_left_to_the_operator() {
    let added =
        "adds:\n- objects:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: added, namespace: ns}}\n";
    let project = project().page("operand", &format!("owner: op\n{added}"));
    assert_eq!(names(&project.render("test")), ["Deployment/op"]);
    let objects = project.render_with("test", &["--set", "operators=false"]);
    assert_eq!(names(&objects), ["ConfigMap/operand", "ConfigMap/added"]);
}

#[test]
fn an_object_that_an_operator_and_transship_apply_is_an_error() {
    let project = project().manifest("op/0000_10_op_b.yaml", &config_map("operand"));
    let found = project.lint(&[]);
    let expected = unindent(
        "
        error[two-owners]: payload/op/0000_10_op_b.yaml:1:1: the object has two owners: transship and the operator of op
          object: ConfigMap/operand in ns
          note: `owner` at payload/operand/component.yaml:4:8 leaves the manifest at payload/operand/0000_20_operand_a.yaml:1:1 to the operator
          note: each of them would undo the changes of the other
          note: found in test
          help: remove this object, or leave out the operator in this topology
        ",
    );
    assert!(found.stdout.contains(&expected), "{}{}", found.stdout, found.stderr);
    let objects = project.render_with("test", &["--set", "operators=false"]);
    assert_eq!(names(&objects), ["ConfigMap/operand"]);
}

/// The namespace of the profile applies to the objects of the operator as well. An object of the other cluster is another one.
#[test]
fn two_owners_are_found_in_one_cluster_only() {
    let project = |place: &str| {
        TestProject::new()
            .manifest("op/0000_10_op_a.yaml", &deployment("op"))
            .manifest("op/0000_10_op_b.yaml", &config_map("operand"))
            .page("op", "place: {management: [Deployment, ConfigMap]}\n")
            .manifest("operand/0000_20_operand_a.yaml", &config_map("operand"))
            .page("operand", &format!("owner: op\nplace: {{{place}: [ConfigMap]}}\n"))
            .manifest("other/0000_20_other_a.yaml", &config_map("other"))
            .page("other", "place: {both: [ConfigMap]}\n")
            .checks("externals: [{objects: [Namespace/ns], reason: r}]\n")
            .mc_and_guest("namespace: hcp\n", "")
    };
    let lint = |place: &str| project(place).lint(&[]).stdout;
    assert!(lint("management").contains("object: ConfigMap/operand in hcp"), "{}", lint("management"));
    assert!(!lint("guest").contains("two-owners"), "{}", lint("guest"));
}

#[test]
fn an_owner_is_another_component_of_the_payload() {
    project().page("operand", "owner: opp\n").assert_render_error(
        "test",
        "
        error: payload/operand/component.yaml:4:8: there is no component `opp`
          note: `owner` names the component whose operator looks after these objects
          help: did you mean `op`?
        ",
    );
    project().page("operand", "owner: operand\n").assert_render_error(
        "test",
        "
        error: payload/operand/component.yaml:4:8: `operand` names itself as its owner
          note: the objects that an operator looks after are a component of their own
          help: move the operator to another component, or remove `owner`
        ",
    );
}
