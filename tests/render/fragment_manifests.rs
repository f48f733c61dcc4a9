//! Values in manifests, and fragments with manifests of their own.

use serde_json::Value;

use crate::support::{TestProject, names};

/// Two profiles of one topology and a standalone one, and a payload that is a release.
fn release_project() -> TestProject {
    let mut project = TestProject::new().release(&[("tool", "q/tool@sha256:1")]);
    for (name, topology, cluster) in
        [("one", "one", "both"), ("mc", "two", "management"), ("guest", "two", "guest")]
    {
        let body = format!("topology: {topology}\ncluster: {cluster}\nselect: {{clusterProfile: x}}\n");
        project = project.profile(name, &body);
    }
    project
}

const PAGE: &str = "annotations: {include.release.openshift.io/x: 'true'}\n";

#[test]
fn values_are_filled_into_the_manifests_of_a_page_with_values() {
    let project = release_project();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${PREFIX}-config', namespace: ns}\ndata: {level: '${LEVEL}', image: '${IMAGE}', gone: '${GONE}', shell: '$${HOME} $HOME $(HOME)'}\n";
    let project = project.manifest("op/0000_50_op_1.yaml", config)
        .parameters("parameters: {log.level: {type: int, description: d, default: 2}, none: {type: string, description: d, optional: true}}\n");
    let values = "values: {PREFIX: a, LEVEL: '${log.level}', IMAGE: '${images.tool}', GONE: '${none}'}\n";
    let project = project.page("op", &format!("{PAGE}{values}"));
    assert_eq!(
        project.render("one")[0].to_string(),
        r#"{"apiVersion":"v1","data":{"image":"q/tool@sha256:1","level":2,"shell":"${HOME} $HOME $(HOME)"},"kind":"ConfigMap","metadata":{"name":"a-config","namespace":"ns"}}"#
    );
}

#[test]
fn a_manifest_of_a_page_without_values_is_not_changed() {
    let project = release_project();
    let config = r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        data: {shell: 'echo ${HOME}'}
        ";
    let project = project.manifest("op/1.yaml", config).page("op", PAGE);
    assert_eq!(project.render("one")[0]["data"]["shell"], "echo ${HOME}");
}

#[test]
fn a_name_in_a_manifest_that_is_not_defined_is_an_error() {
    let project = release_project()
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, namespace: ns}
            data:
              level: ${LEVLE}
            ",
        )
        .page("op", &format!("{PAGE}values: {{LEVEL: '1'}}\n"));
    assert!(
        project
            .render_error("one")
            .contains("payload/op/1.yaml:5:10: `${LEVLE}` is not defined\n  help: did you mean `${LEVEL}`?"),
        "{}",
        project.render_error("one")
    );
}

#[test]
fn a_value_cannot_mention_another_value() {
    let project = release_project()
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: '${B}', namespace: ns}
            ",
        )
        .page("op", &format!("{PAGE}values: {{A: a, B: '${{A}}'}}\n"));
    let shown = project.render_error("one");
    assert!(shown.contains("payload/op/component.yaml:5:19: `${A}` is not defined"), "{shown}");
}

const OPERATOR: &str = r"
    inputs: {name: name, image: image}
    values: {workload: 'Deployment/${name}', IMAGE: '${image}'}
    place: {management: [Deployment], guest: [Role], both: [ServiceAccount, 'Role/${name}-both']}
    omit: {'Role/${name}-prometheus': {in: [mc, guest], reason: nobody scrapes}}
    adds: [{workload: {metadata: {labels: {fragment: '${workload.name}'}}}}]
";

/// A component that uses the fragment `operator`, which has manifests, if its page says so.
fn with_operator_fragment(page: &str) -> TestProject {
    let role = |name: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: '{name}', namespace: ns}}\n"
        )
    };
    let roles =
        format!("{}---\n{}---\n{}", role("${name}"), role("${name}-both"), role("${name}-prometheus"));
    let service_account =
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '${name}', namespace: ns}\n";
    let deployment = r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: '${name}', namespace: ns}
        spec: {template: {spec: {containers: [{name: c, image: '${IMAGE}'}]}}}
    ";
    release_project()
        .fragment_folder(
            "operator",
            OPERATOR,
            &[("01_rbac.yaml", &roles), ("02_sa.yaml", service_account), ("03_deployment.yaml", deployment)],
        )
        .manifest("op/0000_10_op_crd.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n")
        .manifest(
            "op/0000_50_op_9.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: own, namespace: ns}
            ",
        )
        .page("op", &format!("{PAGE}{page}"))
}

const USES: &str = "uses: [{operator: {name: a, image: tool}}]\n";

#[test]
fn manifests_of_a_fragment_come_before_the_last_run_level_of_its_component() {
    let project = with_operator_fragment(USES);
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
    assert_eq!(one[5]["spec"]["template"]["spec"]["containers"][0]["image"], "q/tool@sha256:1");
    assert_eq!(one[5]["metadata"]["labels"]["fragment"], "a");
    let rows: Vec<Value> =
        serde_json::from_str(&project.run(&["list", "--profile", "one", "-o", "json"]).stdout).unwrap();
    assert_eq!(rows[1]["file"], "profiles/fragments/operator/01_rbac.yaml");
}

#[test]
fn a_fragment_places_its_objects_and_the_page_can_override_it() {
    let project = with_operator_fragment(&format!("{USES}place: {{management: [ConfigMap]}}\n"));
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
    let page = format!("{PAGE}{USES}place: {{management: [ConfigMap, Role/a], guest: [ServiceAccount]}}\n");
    let project = project.page("op", &page);
    assert_eq!(names(&project.render("mc")), ["Role/a", "Role/a-both", "Deployment/a", "ConfigMap/own"]);
}

#[test]
fn a_fragment_with_manifests_can_be_used_twice_and_its_page_can_name_its_workloads() {
    let page = "place: {management: [ConfigMap]}\nvalues: {workload: Deployment/b}\nuses: [{env: {name: X}}, {operator: {name: [a, b], image: tool}}]\n";
    let project = with_operator_fragment(page);
    let env = "inputs: {workload: workload, container: container, name: string}\nadds: [{pod: {spec: {containers: [{name: '${container}', env: [{name: '${name}', value: x}]}]}}}]\n";
    let project = project.fragment("env", env);
    let mc = project.render("mc");
    assert_eq!(mc[4]["metadata"]["name"], "b", "{:?}", names(&mc));
    let deployments: Vec<_> = mc.iter().filter(|object| object["kind"] == "Deployment").collect();
    assert_eq!(deployments.len(), 2);
    assert!(deployments[0]["spec"]["template"]["spec"]["containers"][0].get("env").is_none());
    assert_eq!(deployments[1]["spec"]["template"]["spec"]["containers"][0]["env"][0]["name"], "X");
}

#[test]
fn misuse_of_fragments_with_manifests_and_of_values() {
    let project = with_operator_fragment("uses: [{operator: {name: a, image: tol}}]\n");
    let shown = project.render_error("one");
    assert!(
        shown.contains("component.yaml:5:36: `tol` is not an image\n  help: the release has no image `tol`"),
        "{shown}"
    );
    let project = with_operator_fragment(&format!(
        "{USES}place: {{management: [ConfigMap]}}\nvalues: {{workload: Deployment/c}}\n"
    ));
    let shown = project.render_error("mc");
    assert!(
        shown.contains(
            "component.yaml:7:20: the component has no `Deployment/c`\n  help: did you mean `Deployment/a`?"
        ),
        "{shown}"
    );
    let project = with_operator_fragment(USES);
    let project = project.fragment_folder("operator", &OPERATOR.replace("IMAGE:", "images:"), &[]);
    let shown = project.render_error("one");
    assert!(shown.contains("`images` is already a built-in name\n  help: use another name"), "{shown}");
}

#[test]
fn an_input_is_one_of_its_choices() {
    let project =
        with_operator_fragment("place: {management: [ConfigMap], guest: []}\nuses: [{choice: {kind: c}}]\n");
    let body = r"
        inputs: {kind: {type: string, enum: [a, b]}}
        adds: [{nothing: '${kind}'}]
        ";
    let project = project.fragment("choice", body);
    let shown = project.render_error("one");
    assert!(
        shown.contains("component.yaml:6:24: the input `kind` must be one of \"a\", \"b\", not `c`"),
        "{shown}"
    );
}

#[test]
fn a_page_can_be_beside_the_profiles() {
    let project = release_project().manifest(
        "0000_50_op_1.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, namespace: ns}
        ",
    );
    let page = format!("{PAGE}files: ['0000_50_op_*']\nplace: {{guest: [ConfigMap]}}\n");
    let mut project = project.page_beside_profiles("our-op", &page);
    assert_eq!(names(&project.render("guest")), ["ConfigMap/a"]);
    for (files, message) in [
        ("", "our-op.yaml:1:1: the page does not say which files belong to it"),
        (
            "files: ['0000_50_operator_*']\n",
            "our-op.yaml:5:9: no file of the payload matches `0000_50_operator_*`",
        ),
    ] {
        project = project.page_beside_profiles("our-op", &format!("{PAGE}{files}"));
        let shown = project.render_error("guest");
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn defaults_can_mention_other_inputs_and_lists_of_objects_are_spliced() {
    let project =
        release_project().manifest("op/1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
    let uses = "uses: [{w: {all: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}]}}]\n";
    let project = project.page("op", &format!("{PAGE}{uses}"));
    let body = r"
        inputs: {all: list, aa: {type: string, default: '${bb}-aa'}, bb: {type: string, default: bb}}
        adds: [{objects: ['${all}', {apiVersion: v1, kind: ConfigMap, metadata: {name: '${aa}', namespace: ns}}]}]
        ";
    let project = project.fragment("w", body);
    assert_eq!(
        names(&project.render("one")),
        ["Namespace/ns", "ConfigMap/a", "ConfigMap/b", "ConfigMap/bb-aa"]
    );
}

#[test]
fn place_can_name_an_object_that_only_an_addition_brings() {
    let project =
        release_project().manifest("op/1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
    let part = "place: {management: [ConfigMap]}\nadds: [{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}]}]\n";
    let project = project.page("op", &format!("{PAGE}{part}"));
    assert_eq!(names(&project.render("mc")), ["ConfigMap/a"]);
    assert_eq!(names(&project.render("one")), ["Namespace/ns"]);
}
