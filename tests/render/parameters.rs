//! Values of parameters: parameter sets, objects of a cluster, parameters of one page, and parameters that nothing uses.

mod canary;
mod conversion;
mod guest;
mod secrets;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{CHECKS, TestProject, image_references, object, unindent};

const DECLARED: &str = r"
    parameters:
      region: {type: string, description: d, default: none, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}}
      ns: {type: name, description: d, default: clusters, read: {object: HostedControlPlane, path: /metadata/namespace}}
      second: {type: string, description: d, optional: true, read: {object: HostedControlPlane, path: /spec/list/1/a~1b}}
    ";

/// Creates a ConfigMap into which two profiles write every parameter.
fn project_with_parameters() -> TestProject {
    let policy =
        "policy: [{for: ConfigMap, set: {data: {region: '${region}', ns: '${ns}', second: '${second}'}}}]";
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "a", "data: {kept: text}"))
        .parameters(DECLARED)
        .file("profiles/checks.yaml", CHECKS)
        .profile("one", &format!("topology: one\ncluster: both\n{policy}"))
        .profile("two", &format!("topology: two\ncluster: both\n{policy}"))
}

/// Renders the profile `one`, and returns the data of the ConfigMap.
fn data(project: &TestProject, arguments: &[&str]) -> Value {
    project.render_with("one", arguments)[0]["data"].clone()
}

const HOSTED_CONTROL_PLANE: &str = r"
    apiVersion: hypershift.openshift.io/v1beta1
    kind: HostedControlPlane
    metadata: {name: h, namespace: clusters-h}
    spec: {list: [{}, {a/b: second}]}
    ";
const INFRASTRUCTURE: &str = r"
    apiVersion: config.openshift.io/v1
    kind: Infrastructure
    metadata: {name: cluster}
    status: {platformStatus: {aws: {region: eu-1}}}
    ";

#[test]
fn values_are_read_from_objects_and_given_values_take_precedence() {
    let project =
        project_with_parameters().file("hcp.yaml", HOSTED_CONTROL_PLANE).file("infra.yaml", INFRASTRUCTURE);
    assert_eq!(data(&project, &[]), json!({"kept": "text", "ns": "clusters", "region": "none"}));
    let objects = ["--hosted-control-plane", "hcp.yaml", "--infrastructure", "infra.yaml"];
    assert_eq!(
        data(&project, &objects),
        json!({"kept": "text", "ns": "clusters-h", "region": "eu-1", "second": "second"})
    );
    assert_eq!(
        data(&project, &[&objects[..], &["--set", "region=us-2"]].concat()),
        json!({"kept": "text", "ns": "clusters-h", "region": "us-2", "second": "second"})
    );
}

#[test]
fn a_value_from_the_guest_must_match_its_declaration() {
    let project =
        project_with_parameters().file("infra.yaml", &INFRASTRUCTURE.replace("eu-1", "'eu 1; rm -rf /'"));
    assert_eq!(
        project.render_error_with("one", &["--infrastructure", "infra.yaml"]),
        unindent(
            r"
            error: infra.yaml:4:41: the parameter `region` must be text that matches `[a-z0-9-]+`, not `eu 1; rm -rf /`
              note: it is read from `/status/platformStatus/aws/region` of the Infrastructure
            "
        )
    );
}

#[test]
fn a_parameter_that_is_read_from_the_guest_must_limit_its_values() {
    let project = project_with_parameters().parameters(&DECLARED.replace("pattern: '[a-z0-9-]+', ", ""));
    project.assert_render_error(
        "one",
        r"
        error[unvalidated-guest-value]: profiles/parameters.yaml:5:3: the parameter `region` is read from the guest and accepts any value
          note: the guest's administrator decides what the value is
          help: limit it with `pattern` or `enum`
        ",
    );
}

#[test]
fn an_object_of_the_wrong_kind_is_an_error() {
    let project = project_with_parameters().file("hcp.yaml", INFRASTRUCTURE);
    assert_eq!(
        project.render_error_with("one", &["--hosted-control-plane", "hcp.yaml"]),
        unindent(
            r"
            error: hcp.yaml:1:1: expected `kind: HostedControlPlane`, found `kind: Infrastructure`
              help: save the object with `kubectl get -o yaml`
            "
        )
    );
}

#[test]
fn the_path_of_a_parameter_must_be_a_json_pointer() {
    let project =
        project_with_parameters().parameters(&DECLARED.replace("/metadata/namespace", "metadata.namespace"));
    project.assert_render_error(
        "one",
        r"
        error: profiles/parameters.yaml:6:96: `metadata.namespace` is not a JSON pointer
          help: start it with `/`, as in /spec/platform/type
        ",
    );
}

#[test]
fn a_parameter_set_applies_to_its_profiles_and_has_golden_files() {
    let project = project_with_parameters()
        .parameter_set(
            "aws",
            r"
            in: [one]
            values: {region: eu-1}
            ",
        )
        .parameter_set("default", "values: {region: some-1}");
    assert_eq!(data(&project, &[]), json!({"kept": "text", "ns": "clusters", "region": "some-1"}));
    assert_eq!(
        data(&project, &["--params", "profiles/sets/aws.yaml"]),
        json!({"kept": "text", "ns": "clusters", "region": "eu-1"})
    );
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    for (folder, region) in
        [("default/one", "region: some-1"), ("default/two", "region: some-1"), ("aws/one", "region: eu-1")]
    {
        let golden = project.read(&format!("golden/{folder}/op/ns/ConfigMap_a.yaml"));
        assert!(golden.contains(region), "{folder}: {golden}");
    }
    assert!(!project.path().join("golden/aws/two").exists());
    assert_eq!(project.run(&["golden", "check"]).code, 0);
    std::fs::remove_file(project.path().join("profiles/sets/aws.yaml")).unwrap();
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout, "golden/aws/one is stale: no profile and parameter set renders it\n");
}

#[test]
fn a_parameter_set_can_only_name_profiles_and_values() {
    for (body, expected) in [
        (
            r"
            in: [onee]
            values: {}
            ",
            r"
            error: profiles/sets/aws.yaml:4:6: there is no profile `onee`
              help: did you mean `one`?
            ",
        ),
        (
            "parameters: {x: {type: string, description: d}}",
            r"
            error: profiles/sets/aws.yaml:1:1: a parameter set cannot declare parameters
              help: move `parameters` to a file beside the profiles
            ",
        ),
    ] {
        project_with_parameters().parameter_set("aws", body).assert_render_error("one", expected);
    }
}

#[test]
fn a_parameter_set_must_have_the_name_of_its_file() {
    let project = project_with_parameters().file(
        "profiles/sets/aws.yaml",
        r"
        apiVersion: transship.openshift.io/v1
        kind: Parameters
        metadata: {name: azure}
        values: {}
        ",
    );
    project.assert_render_error(
        "one",
        r"
        error: profiles/sets/aws.yaml:1:1: the parameter set `azure` is in the file aws.yaml
          help: name it `aws`, or rename the file
        ",
    );
}

#[test]
fn a_parameter_set_with_an_unknown_parameter_is_an_error_of_golden() {
    let project = project_with_parameters().parameter_set("aws", "values: {regio: x}");
    assert_eq!(
        project.run(&["golden", "check"]).refusal(),
        unindent(
            r"
            error: profiles/sets/aws.yaml:4:10: there is no parameter `regio`
              help: did you mean `region`?
            "
        )
    );
}

#[test]
fn only_a_parameter_set_can_have_values() {
    project_with_parameters().parameters("values: {region: x}").assert_render_error(
        "one",
        r"
        error: profiles/parameters.yaml:1:1: only a parameter set can have `in` and `values`
          help: move them to a file under sets/
        ",
    );
}

#[test]
fn only_a_page_can_use_its_own_parameters() {
    let project = project_with_parameters().page(
        "op",
        r"
        parameters: {own: {type: string, description: d, default: x}}
        adds: [{objects: [{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, stringData: {v: '${own}'}}]}]
        ",
    );
    let rendered = project.render_with("one", &["--set", "own=mine"]);
    assert_eq!(rendered[1]["stringData"], json!({"v": "mine"}));
    let project = project.profile(
        "one",
        r"
        topology: t
        cluster: both
        policy: [{for: Secret, set: {x: '${own}'}}]
        ",
    );
    project.assert_render_error(
        "one",
        r"
        error: profiles/one.yaml:6:33: `${own}` is not defined
          help: only the page of `op` can use this parameter
        ",
    );
}

#[test]
fn a_parameter_of_a_page_that_nothing_uses_is_an_error() {
    let project =
        project_with_parameters().page("op", "parameters: {own: {type: string, description: d, default: x}}");
    project.assert_render_error(
        "one",
        r"
        error: payload/op/component.yaml:4:14: nothing uses the parameter `own`
          note: setting it has no effect
          help: remove it
        ",
    );
}

#[test]
fn images_come_from_the_release_of_the_cluster() {
    let images = |pullspec: &str| image_references("4.22.0", &[("tool", pullspec)]);
    let project = TestProject::new()
        .manifest("image-references", &images("q/own@sha256:1"))
        .manifest("op/image-references", &images("quay.io/origin/tool"))
        .file("cp.json", &images("q/cp@sha256:2"))
        .file("guest.json", &images("q/guest@sha256:3"))
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: a, namespace: ns, annotations: {x: x}}
            data: {own: '${O}', guest: '${G}', management: '${M}', written: 'quay.io/origin/tool:latest'}
            ",
        )
        .page(
            "op",
            r"
            values: {O: '${images.tool}', G: '${images.tool.guest}', M: '${images.tool.management}'}
            place: {both: [ConfigMap]}
            ",
        )
        .mc_and_guest("", "");
    assert_eq!(
        project.render("mc")[0]["data"],
        json!({
            "guest": "q/own@sha256:1",
            "management": "q/own@sha256:1",
            "own": "q/own@sha256:1",
            "written": "q/own@sha256:1",
        })
    );
    let releases = ["--release-images", "control-plane=cp.json", "--release-images", "guest=guest.json"];
    assert_eq!(
        project.render_with("mc", &releases)[0]["data"],
        json!({
            "guest": "q/guest@sha256:3",
            "management": "q/cp@sha256:2",
            "own": "q/cp@sha256:2",
            "written": "q/cp@sha256:2",
        })
    );
    assert_eq!(
        project.render_with("guest", &releases)[0]["data"],
        json!({
            "guest": "q/guest@sha256:3",
            "management": "q/cp@sha256:2",
            "own": "q/guest@sha256:3",
            "written": "q/guest@sha256:3",
        })
    );
    let error = project.render_error_with("mc", &["--release-images", "hosted=x"]);
    assert!(error.contains("write control-plane=FILE or guest=FILE"), "{error}");
}

/// Generates texts that look like YAML, like references and like nothing in particular.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "---\n",
        "${ns}",
        "${",
        "}",
        "{{ x }}",
        "$(X)",
        "'",
        "\"",
        ": ",
        "- ",
        "#",
        "&a",
        "*a",
        "!!int",
        "|",
        "> ",
        "\t",
        "{a: b}",
        "[",
        "]",
        ",",
        "null",
        "true",
        "0640",
        "\\",
        "é",
        "\u{1F600}",
        "\u{2028}",
        "key: value\n",
        "apiVersion: v1\n",
        " ",
    ]);
    prop::collection::vec(prop_oneof![pieces.prop_map(str::to_owned), any::<String>()], 0..6)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever text a parameter has, only the fields that mention it change, and they contain exactly that text.
    #[test]
    fn a_text_changes_only_the_fields_that_mention_it(text in any_text()) {
        prop_assume!(!text.contains('\0'));
        let any_region = DECLARED.replace(
            "pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}",
            "",
        );
        let project = project_with_parameters().parameters(&any_region);
        project.write("params.json", json!({"region": text}).to_string());
        let rendered = project.render_with("one", &["--params", "params.json"]);
        let expected = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "ns", "annotations": {"x": "x"}},
            "data": {"kept": "text", "ns": "clusters", "region": text},
        });
        prop_assert_eq!(rendered, vec![expected]);
    }
}
