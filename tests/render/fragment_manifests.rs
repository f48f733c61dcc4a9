//! Values in manifests, and fragments with manifests of their own.

use serde_json::{Value, json};

use crate::support::{TestProject, find, names, unindent};

/// Creates a profile `one` and the profiles `mc` and `guest` of another topology, and a payload that is a release. The page
/// of the component `op` continues with this at line 5.
fn project_with_release(page: &str) -> TestProject {
    let page = unindent(page);
    TestProject::new()
        .release(&[("tool", "q/tool@sha256:1")])
        .profile(
            "one",
            r"
            topology: one
            cluster: both
            select: {clusterProfile: x}
            ",
        )
        .mc_and_guest("select: {clusterProfile: x}", "select: {clusterProfile: x}")
        .page("op", &format!("annotations: {{include.release.openshift.io/x: 'true'}}\n{page}"))
}

const NAMESPACE: &str = r"
    apiVersion: v1
    kind: Namespace
    metadata: {name: ns}
    ";

#[test]
fn values_are_filled_into_the_manifests_of_a_page_with_values() {
    let project = project_with_release(
        r"
        values: {PREFIX: a, LEVEL: '${log.level}', IMAGE: '${images.tool}', GONE: '${none}'}
        ",
    )
    .manifest(
        "op/0000_50_op_1.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: '${PREFIX}-config', namespace: ns}
        data: {level: '${LEVEL}', image: '${IMAGE}', gone: '${GONE}', shell: '$${HOME} $HOME $(HOME)'}
        ",
    )
    .parameters(
        r"
        parameters:
          log.level: {type: int, description: d, default: 2}
          none: {type: string, description: d, optional: true}
        ",
    );
    assert_eq!(
        project.render("one"),
        [json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a-config", "namespace": "ns"},
            "data": {"image": "q/tool@sha256:1", "level": "2", "shell": "${HOME} $HOME $(HOME)"},
        })]
    );
}

#[test]
fn a_manifest_of_a_page_without_values_is_not_changed() {
    let project = project_with_release("").manifest(
        "op/1.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        data: {shell: 'echo ${HOME}'}
        ",
    );
    assert_eq!(project.render("one")[0]["data"]["shell"], "echo ${HOME}");
}

#[test]
fn a_name_in_a_manifest_that_is_not_defined_is_an_error() {
    let project = project_with_release("values: {LEVEL: '1'}").manifest(
        "op/1.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        data:
          level: ${LEVLE}
        ",
    );
    project.assert_render_error(
        "one",
        r"
        error: payload/op/1.yaml:5:10: `${LEVLE}` is not defined
          help: did you mean `${LEVEL}`?
        ",
    );
}

#[test]
fn a_value_cannot_mention_another_value() {
    let project = project_with_release("values: {A: a, B: '${A}'}").manifest(
        "op/1.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: '${B}', namespace: ns}
        ",
    );
    project.assert_render_error(
        "one",
        r"
        error: payload/op/component.yaml:5:19: `${A}` is not defined
          help: declare it as a parameter or under `values` of the page; write `$${A}` for the text itself
        ",
    );
}

const OPERATOR: &str = r"
    inputs: {name: name, image: image}
    values: {workload: 'Deployment/${name}', IMAGE: '${image}'}
    place: {management: [Deployment], guest: [Role], both: [ServiceAccount, 'Role/${name}-both']}
    omit: {'Role/${name}-prometheus': {in: [mc, guest], reason: nobody scrapes}}
    adds: [{workload: {metadata: {labels: {fragment: '${workload.name}'}}}}]
    ";

const ROLES: &str = r"
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata: {name: '${name}', namespace: ns}
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata: {name: '${name}-both', namespace: ns}
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata: {name: '${name}-prometheus', namespace: ns}
    ";

const SERVICE_ACCOUNT: &str = r"
    apiVersion: v1
    kind: ServiceAccount
    metadata: {name: '${name}', namespace: ns}
    ";

const DEPLOYMENT: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: '${name}', namespace: ns}
    spec: {template: {spec: {containers: [{name: c, image: '${IMAGE}'}]}}}
    ";

/// Creates a component, and the fragment `operator`, which has manifests.
fn project_with_operator(page: &str) -> TestProject {
    project_with_release(page)
        .fragment_folder(
            "operator",
            OPERATOR,
            &[("01_rbac.yaml", ROLES), ("02_sa.yaml", SERVICE_ACCOUNT), ("03_deployment.yaml", DEPLOYMENT)],
        )
        .manifest("op/0000_10_op_crd.yaml", NAMESPACE)
        .manifest(
            "op/0000_50_op_9.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: own, namespace: ns}
            ",
        )
}

#[test]
fn manifests_of_a_fragment_come_before_the_last_run_level_of_its_component() {
    let project = project_with_operator("uses: [{operator: {name: a, image: tool}}]");
    let one = project.render("one");
    assert_eq!(
        names(&one),
        [
            "Namespace/ns",
            "Role/a",
            "Role/a-both",
            "Role/a-prometheus",
            "ServiceAccount/a",
            "Deployment/a",
            "ConfigMap/own"
        ]
    );
    let deployment = find(&one, "Deployment", "a");
    assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "q/tool@sha256:1");
    assert_eq!(deployment["metadata"]["labels"], json!({"fragment": "a"}));
    let run = project.run(&["list", "--profile", "one", "-o", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(rows[1]["file"], "profiles/fragments/operator/01_rbac.yaml");
}

#[test]
fn a_fragment_places_its_objects() {
    let project = project_with_operator(
        r"
        uses: [{operator: {name: a, image: tool}}]
        place: {management: [ConfigMap]}
        ",
    );
    assert_eq!(
        names(&project.render("mc")),
        ["Role/a-both", "ServiceAccount/a", "Deployment/a", "ConfigMap/own"]
    );
    assert_eq!(
        names(&project.render("guest")),
        ["Namespace/ns", "Role/a", "Role/a-both", "ServiceAccount/a"]
    );
    let list = project.run(&["list", "--profile", "mc"]).stdout;
    assert!(list.contains("omitted: nobody scrapes"), "{list}");
}

#[test]
fn a_page_overrides_where_a_fragment_places_its_objects() {
    let project = project_with_operator(
        r"
        uses: [{operator: {name: a, image: tool}}]
        place: {management: [ConfigMap, Role/a], guest: [ServiceAccount]}
        ",
    );
    assert_eq!(names(&project.render("mc")), ["Role/a", "Role/a-both", "Deployment/a", "ConfigMap/own"]);
}

#[test]
fn a_fragment_with_manifests_can_be_used_twice_and_its_page_can_name_its_workloads() {
    let project = project_with_operator(
        r"
        place: {management: [ConfigMap]}
        values: {workload: Deployment/b}
        uses: [{env: {name: X}}, {operator: {name: [a, b], image: tool}}]
        ",
    )
    .fragment(
        "env",
        r"
        inputs: {workload: workload, container: container, name: string}
        adds: [{pod: {spec: {containers: [{name: '${container}', env: [{name: '${name}', value: x}]}]}}}]
        ",
    );
    let mc = project.render("mc");
    assert_eq!(
        names(&mc),
        [
            "Role/a-both",
            "ServiceAccount/a",
            "Deployment/a",
            "Role/b-both",
            "ServiceAccount/b",
            "Deployment/b",
            "ConfigMap/own",
        ]
    );
    for (name, env) in [("a", Value::Null), ("b", json!([{"name": "X", "value": "x"}]))] {
        let deployment = find(&mc, "Deployment", name);
        assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["env"], env, "{name}");
    }
}

#[test]
fn an_image_that_the_release_does_not_have_is_an_error() {
    project_with_operator("uses: [{operator: {name: a, image: tol}}]").assert_render_error(
        "one",
        r"
        error: payload/op/component.yaml:5:36: `tol` is not an image
          help: the release has no image `tol`
        ",
    );
}

#[test]
fn a_workload_in_values_must_be_one_of_the_component() {
    let project = project_with_operator(
        r"
        uses: [{operator: {name: a, image: tool}}]
        place: {management: [ConfigMap]}
        values: {workload: Deployment/c}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:7:20: the component has no `Deployment/c`
          help: did you mean `Deployment/a`?
        ",
    );
}

#[test]
fn a_value_cannot_have_the_name_of_a_built_in_one() {
    let project = project_with_operator("uses: [{operator: {name: a, image: tool}}]").fragment_folder(
        "operator",
        &OPERATOR.replace("IMAGE:", "images:"),
        &[],
    );
    project.assert_render_error(
        "one",
        r"
        error: profiles/fragments/operator/fragment.yaml:6:42: `images` is already a built-in name
          help: use another name
        error: profiles/fragments/operator/03_deployment.yaml:4:56: `${IMAGE}` is not defined
          help: did you mean `${image}`?
        2 errors
        ",
    );
}

#[test]
fn an_input_is_one_of_its_choices() {
    let project = project_with_operator(
        r"
        place: {management: [ConfigMap], guest: []}
        uses: [{choice: {kind: c}}]
        ",
    )
    .fragment(
        "choice",
        r"
        inputs: {kind: {type: string, enum: [a, b]}}
        adds: [{nothing: '${kind}'}]
        ",
    );
    project.assert_render_error(
        "one",
        r#"
        error: payload/op/component.yaml:6:24: the input `kind` must be one of "a", "b", not `c`
        "#,
    );
}

/// Creates a payload without folders, and a page beside the profiles.
fn project_with_page_beside_profiles(page: &str) -> TestProject {
    TestProject::new()
        .manifest(
            "0000_50_op_1.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, namespace: ns, annotations: {x: x}}
            ",
        )
        .mc_and_guest("", "")
        .page_beside_profiles("our-op", page)
}

#[test]
fn a_page_can_be_beside_the_profiles() {
    let project = project_with_page_beside_profiles(
        r"
        files: ['0000_50_op_*']
        place: {guest: [ConfigMap]}
        ",
    );
    assert_eq!(names(&project.render("guest")), ["ConfigMap/a"]);
}

#[test]
fn a_page_beside_the_profiles_must_name_files_of_the_payload() {
    project_with_page_beside_profiles("place: {guest: [ConfigMap]}").assert_render_error(
        "guest",
        r"
        error: profiles/components/our-op.yaml:1:1: the page does not say which files belong to it
          help: name them under `files`, with `*` for any text
        ",
    );
    project_with_page_beside_profiles("files: ['0000_50_operator_*']").assert_render_error(
        "guest",
        r"
        error: profiles/components/our-op.yaml:4:9: no file of the payload matches `0000_50_operator_*`
          help: check the pattern; `*` matches any text
        ",
    );
}

#[test]
fn defaults_can_mention_other_inputs_and_lists_of_objects_are_spliced() {
    let project = project_with_release(
        r"
        uses:
        - w:
            all:
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}
        ",
    )
    .manifest("op/1.yaml", NAMESPACE)
    .fragment(
        "w",
        r"
        inputs: {all: list, aa: {type: string, default: '${bb}-aa'}, bb: {type: string, default: bb}}
        adds: [{objects: ['${all}', {apiVersion: v1, kind: ConfigMap, metadata: {name: '${aa}', namespace: ns}}]}]
        ",
    );
    assert_eq!(
        names(&project.render("one")),
        ["Namespace/ns", "ConfigMap/a", "ConfigMap/b", "ConfigMap/bb-aa"]
    );
}

#[test]
fn place_can_name_an_object_that_only_an_addition_adds() {
    let project = project_with_release(
        r"
        place: {management: [ConfigMap]}
        adds: [{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}]}]
        ",
    )
    .manifest("op/1.yaml", NAMESPACE);
    assert_eq!(names(&project.render("mc")), ["ConfigMap/a"]);
    assert_eq!(names(&project.render("one")), ["Namespace/ns"]);
}
