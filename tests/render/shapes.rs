//! Values in manifests, and shapes: fragments with manifests of their own.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

/// Two profiles of one topology and a standalone one, and a payload with release metadata.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, topology, cluster) in
        [("one", "one", "both"), ("mc", "two", "management"), ("guest", "two", "guest")]
    {
        let body = format!("topology: {topology}\ncluster: {cluster}\nselect: {{clusterProfile: x}}\n");
        folder.write(&format!("profiles/{name}.yaml"), file("Profile", name, &body));
    }
    folder.write(
        "payload/image-references",
        r#"{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.22.0"},"spec":{"tags":[{"name":"tool","from":{"kind":"DockerImage","name":"q/tool@sha256:1"}}]}}"#,
    );
    folder.write("payload/release-metadata", r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#);
    folder
}

const PAGE: &str = "annotations: {include.release.openshift.io/x: 'true'}\n";

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

fn names(documents: &[serde_json::Value]) -> Vec<String> {
    let name = |document: &serde_json::Value| {
        format!("{}/{}", document["kind"].as_str().unwrap(), document["metadata"]["name"].as_str().unwrap())
    };
    documents.iter().map(name).collect()
}

fn refused(folder: &Folder, profile: &str) -> String {
    folder.run(&["render", "--profile", profile]).refusal()
}

#[test]
fn values_are_put_into_the_manifests_of_a_page_that_declares_some() {
    let folder = folder();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${PREFIX}-config', namespace: ns}\ndata: {level: '${LEVEL}', image: '${IMAGE}', gone: '${GONE}', shell: '$${HOME} $HOME $(HOME)'}\n";
    folder.write("payload/op/0000_50_op_1.yaml", config);
    folder.write("profiles/p.yaml", file("Parameters", "p", "parameters: {log.level: {type: int, description: d, default: 2}, none: {type: string, description: d, optional: true}}\n"));
    let values = "values: {PREFIX: a, LEVEL: '${log.level}', IMAGE: '${images.tool}', GONE: '${none}'}\n";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{PAGE}{values}")));
    assert_eq!(
        render(&folder, "one")[0].to_string(),
        r#"{"apiVersion":"v1","data":{"image":"q/tool@sha256:1","level":2,"shell":"${HOME} $HOME $(HOME)"},"kind":"ConfigMap","metadata":{"name":"a-config","namespace":"ns"}}"#
    );
}

#[test]
fn without_values_a_manifest_is_not_touched() {
    let folder = folder();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\ndata: {shell: 'echo ${HOME}'}\n";
    folder.write("payload/op/1.yaml", config);
    folder.write("payload/op/component.yaml", file("Component", "op", PAGE));
    assert_eq!(render(&folder, "one")[0]["data"]["shell"], "echo ${HOME}");
}

#[test]
fn a_name_that_a_manifest_mentions_and_nobody_declares() {
    let folder = folder();
    folder.write(
        "payload/op/1.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\ndata:\n  level: ${LEVLE}\n",
    );
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("{PAGE}values: {{LEVEL: '1'}}\n")),
    );
    assert!(
        refused(&folder, "one").contains(
            "payload/op/1.yaml:5:10: `${LEVLE}` is not defined\n  help: did you mean `${LEVEL}`?"
        ),
        "{}",
        refused(&folder, "one")
    );
}

#[test]
fn a_value_does_not_see_another() {
    let folder = folder();
    folder.write(
        "payload/op/1.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${B}', namespace: ns}\n",
    );
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("{PAGE}values: {{A: a, B: '${{A}}'}}\n")),
    );
    let shown = refused(&folder, "one");
    assert!(shown.contains("payload/op/component.yaml:5:19: `${A}` is not defined"), "{shown}");
}

const SHAPE: &str = "description: an operator\n\
    inputs: {name: name, image: image}\n\
    values: {workload: 'Deployment/${name}', IMAGE: '${image}'}\n\
    place: {management: [Deployment], guest: [Role], both: [ServiceAccount, 'Role/${name}-both']}\n\
    omit: {'Role/${name}-prometheus': {in: [mc, guest], reason: nobody scrapes}}\n\
    adds: [{workload: {metadata: {labels: {shape: '${workload.name}'}}}}]\n";

fn with_shape(page: &str) -> Folder {
    let folder = folder();
    folder.write("profiles/fragments/operator/fragment.yaml", file("Fragment", "operator", SHAPE));
    let role = |name: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: '{name}', namespace: ns}}\n"
        )
    };
    folder.write(
        "profiles/fragments/operator/01_rbac.yaml",
        format!("{}---\n{}---\n{}", role("${name}"), role("${name}-both"), role("${name}-prometheus")),
    );
    folder.write(
        "profiles/fragments/operator/02_sa.yaml",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '${name}', namespace: ns}\n",
    );
    folder.write(
        "profiles/fragments/operator/03_deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: '${name}', namespace: ns}\nspec: {template: {spec: {containers: [{name: c, image: '${IMAGE}'}]}}}\n",
    );
    folder.write("payload/op/0000_10_op_crd.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
    folder.write(
        "payload/op/0000_50_op_9.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: ns}\n",
    );
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{PAGE}{page}")));
    folder
}

const USES: &str = "uses: [{operator: {name: a, image: tool}}]\n";

#[test]
fn a_shape_brings_its_manifests_before_the_last_run_level_of_its_user() {
    let folder = with_shape(USES);
    let one = render(&folder, "one");
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
    assert_eq!(one[5]["metadata"]["labels"]["shape"], "a");
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&folder.run(&["list", "--profile", "one", "-o", "json"]).stdout).unwrap();
    assert_eq!(rows[1]["file"], "profiles/fragments/operator/01_rbac.yaml");
}

#[test]
fn a_shape_says_where_its_objects_live_and_the_page_may_say_otherwise() {
    let folder = with_shape(&format!("{USES}place: {{management: [ConfigMap]}}\n"));
    assert_eq!(
        names(&render(&folder, "mc")),
        ["Role/a-both", "ServiceAccount/a", "Deployment/a", "ConfigMap/own"]
    );
    assert_eq!(
        names(&render(&folder, "guest")),
        ["Namespace/ns", "Role/a", "Role/a-both", "ServiceAccount/a"]
    );
    let list = folder.run(&["list", "--profile", "mc"]).stdout;
    assert!(list.contains("omitted: nobody scrapes"), "{list}");
    let page = format!("{PAGE}{USES}place: {{management: [ConfigMap, Role/a], guest: [ServiceAccount]}}\n");
    folder.write("payload/op/component.yaml", file("Component", "op", &page));
    assert_eq!(names(&render(&folder, "mc")), ["Role/a", "Role/a-both", "Deployment/a", "ConfigMap/own"]);
}

#[test]
fn a_shape_may_be_used_twice_and_its_user_names_its_workloads() {
    let page = "place: {management: [ConfigMap]}\nvalues: {workload: Deployment/b}\nuses: [{env: {name: X}}, {operator: {name: [a, b], image: tool}}]\n";
    let folder = with_shape(page);
    let env = "description: a variable\ninputs: {workload: workload, container: container, name: name}\nadds: [{pod: {spec: {containers: [{name: '${container}', env: [{name: '${name}', value: x}]}]}}}]\n";
    folder.write("profiles/fragments/env.yaml", file("Fragment", "env", env));
    let mc = render(&folder, "mc");
    assert_eq!(mc[4]["metadata"]["name"], "b", "{:?}", names(&mc));
    let deployments: Vec<_> = mc.iter().filter(|object| object["kind"] == "Deployment").collect();
    assert_eq!(deployments.len(), 2);
    assert!(deployments[0]["spec"]["template"]["spec"]["containers"][0].get("env").is_none());
    assert_eq!(deployments[1]["spec"]["template"]["spec"]["containers"][0]["env"][0]["name"], "X");
}

#[test]
fn misuse_of_shapes_and_values() {
    let folder = with_shape("uses: [{operator: {name: a, image: tol}}]\n");
    let shown = refused(&folder, "one");
    assert!(
        shown.contains("component.yaml:5:36: `tol` is not an image\n  help: the release has no image `tol`"),
        "{shown}"
    );
    let folder = with_shape(&format!(
        "{USES}place: {{management: [ConfigMap]}}\nvalues: {{workload: Deployment/c}}\n"
    ));
    let shown = refused(&folder, "mc");
    assert!(
        shown.contains(
            "component.yaml:7:20: the component has no `Deployment/c`\n  help: did you mean `Deployment/a`?"
        ),
        "{shown}"
    );
    let folder = with_shape(USES);
    folder.write(
        "profiles/fragments/operator/fragment.yaml",
        file("Fragment", "operator", &SHAPE.replace("IMAGE:", "images:")),
    );
    let shown = refused(&folder, "one");
    assert!(
        shown.contains("`images` is already a built-in name\n  help: use another name"),
        "{shown}"
    );
}

#[test]
fn an_input_is_one_of_its_choices() {
    let folder = with_shape("place: {management: [ConfigMap], guest: []}\nuses: [{word: {kind: c}}]\n");
    let body = "description: w\ninputs: {kind: {type: string, enum: [a, b]}}\nadds: [{nothing: '${kind}'}]\n";
    folder.write("profiles/fragments/word.yaml", file("Fragment", "word", body));
    let shown = refused(&folder, "one");
    assert!(
        shown.contains(
            "component.yaml:6:22: the input `kind` must be one of \"a\", \"b\", not `c`"
        ),
        "{shown}"
    );
}

#[test]
fn pages_may_lie_beside_the_profiles() {
    let folder = folder();
    folder.write(
        "payload/0000_50_op_1.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\n",
    );
    let page = format!("{PAGE}files: ['0000_50_op_*']\nplace: {{guest: [ConfigMap]}}\n");
    folder.write("profiles/components/op.yaml", file("Component", "our-op", &page));
    assert_eq!(names(&render(&folder, "guest")), ["ConfigMap/a"]);
    for (files, message) in [
        ("", "op.yaml:1:1: the page does not say which files belong to it"),
        (
            "files: ['0000_50_operator_*']\n",
            "op.yaml:5:9: no file of the payload matches `0000_50_operator_*`",
        ),
    ] {
        folder.write("profiles/components/op.yaml", file("Component", "our-op", &format!("{PAGE}{files}")));
        let shown = refused(&folder, "guest");
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn defaults_may_mention_each_other_in_any_order_and_lists_of_objects_are_spliced() {
    let folder = folder();
    folder.write("payload/op/1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
    let uses = "uses: [{w: {all: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}]}}]\n";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{PAGE}{uses}")));
    let word = "description: w\ninputs: {all: list, aa: {type: string, default: '${bb}-aa'}, bb: {type: string, default: bb}}\nadds: [{objects: ['${all}', {apiVersion: v1, kind: ConfigMap, metadata: {name: '${aa}', namespace: ns}}]}]\n";
    folder.write("profiles/fragments/w.yaml", file("Fragment", "w", word));
    assert_eq!(
        names(&render(&folder, "one")),
        ["Namespace/ns", "ConfigMap/a", "ConfigMap/b", "ConfigMap/bb-aa"]
    );
}

#[test]
fn a_place_may_name_what_only_a_part_brings() {
    let folder = folder();
    folder.write("payload/op/1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
    let part = "place: {management: [ConfigMap]}\nadds: [{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}]}]\n";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{PAGE}{part}")));
    assert_eq!(names(&render(&folder, "mc")), ["ConfigMap/a"]);
    assert_eq!(names(&render(&folder, "one")), ["Namespace/ns"]);
}
