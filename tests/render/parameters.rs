//! Values of parameters: parameter sets, objects of a cluster, parameters of one page, and parameters that nothing uses.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{CHECKS, Run, TestProject, image_references, object};

const DECLARED: &str = r"parameters:
  region: {type: string, description: d, default: none, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}}
  ns: {type: name, description: d, default: clusters, read: {object: HostedControlPlane, path: /metadata/namespace}}
  second: {type: string, description: d, optional: true, read: {object: HostedControlPlane, path: /spec/list/1/a~1b}}
";

/// A ConfigMap into which two profiles write every parameter.
fn two_profiles() -> TestProject {
    let policy =
        "policy: [{for: ConfigMap, set: {data: {region: '${region}', ns: '${ns}', second: '${second}'}}}]\n";
    let profile = |topology: &str| format!("topology: {topology}\ncluster: both\n{policy}");
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "a", "data: {kept: text}\n"))
        .parameters(DECLARED)
        .file("profiles/checks.yaml", CHECKS)
        .profile("one", &profile("one"))
        .profile("two", &profile("two"))
}

fn data(project: &TestProject, arguments: &[&str]) -> String {
    project.render_with("one", arguments)[0]["data"].to_string()
}

const HOSTED: &str = r"apiVersion: hypershift.openshift.io/v1beta1
kind: HostedControlPlane
metadata: {name: h, namespace: clusters-h}
spec: {list: [{}, {a/b: second}]}
";
const INFRASTRUCTURE: &str = r"apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
status: {platformStatus: {aws: {region: eu-1}}}
";

#[test]
fn values_are_read_from_objects_and_given_values_take_precedence() {
    let project = two_profiles();
    project.write("hcp.yaml", HOSTED);
    project.write("infra.yaml", INFRASTRUCTURE);
    let both = ["--hosted-control-plane", "hcp.yaml", "--infrastructure", "infra.yaml"];
    assert_eq!(data(&project, &[]), r#"{"kept":"text","ns":"clusters","region":"none"}"#);
    assert_eq!(
        data(&project, &both),
        r#"{"kept":"text","ns":"clusters-h","region":"eu-1","second":"second"}"#
    );
    assert_eq!(
        data(&project, &[&both[..], &["--set", "region=us-2"]].concat()),
        r#"{"kept":"text","ns":"clusters-h","region":"us-2","second":"second"}"#
    );
}

#[test]
fn values_from_the_guest_are_checked_and_must_be_limited() {
    let project = two_profiles();
    project.write("infra.yaml", INFRASTRUCTURE.replace("eu-1", "'eu 1; rm -rf /'"));
    let shown = project.render_error_with("one", &["--infrastructure", "infra.yaml"]);
    assert!(
        shown.contains(
            "infra.yaml:4:41: the parameter `region` must be text that matches `[a-z0-9-]+`, not `eu 1; rm -rf /`"
        ),
        "{shown}"
    );
    let project = project.parameters(&DECLARED.replace("pattern: '[a-z0-9-]+', ", ""));
    let shown = project.render_error("one");
    assert!(
        shown.contains("profiles/parameters.yaml:5:3: the parameter `region` is read from the guest and accepts any value\n  note: the guest's administrator decides what the value is\n  help: limit it with `pattern` or `enum`"),
        "{shown}"
    );
}

#[test]
fn an_object_of_the_wrong_kind_or_a_wrong_path_is_an_error() {
    let project = two_profiles();
    project.write("hcp.yaml", INFRASTRUCTURE);
    let shown = project.render_error_with("one", &["--hosted-control-plane", "hcp.yaml"]);
    assert!(
        shown.contains("hcp.yaml:1:1: expected `kind: HostedControlPlane`, found `kind: Infrastructure`"),
        "{shown}"
    );
    let project = project.parameters(&DECLARED.replace("/metadata/namespace", "metadata.namespace"));
    let shown = project.render_error("one");
    assert!(
        shown.contains("profiles/parameters.yaml:6:96: `metadata.namespace` is not a JSON pointer"),
        "{shown}"
    );
}

#[test]
fn a_parameter_set_applies_to_its_profiles_and_has_golden_files() {
    let project = two_profiles()
        .parameter_set("aws", "in: [one]\nvalues: {region: eu-1}\n")
        .parameter_set("default", "values: {region: some-1}\n");
    assert_eq!(data(&project, &[]), r#"{"kept":"text","ns":"clusters","region":"some-1"}"#);
    assert_eq!(
        data(&project, &["--params", "profiles/sets/aws.yaml"]),
        r#"{"kept":"text","ns":"clusters","region":"eu-1"}"#
    );
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let golden = |path: &str| project.read(&format!("golden/{path}/op/ns/ConfigMap_a.yaml"));
    assert!(
        golden("default/one").contains("region: some-1") && golden("default/two").contains("region: some-1")
    );
    assert!(golden("aws/one").contains("region: eu-1"));
    assert!(!project.path().join("golden/aws/two").exists());
    assert_eq!(project.run(&["golden", "check"]).code, 0);
    std::fs::remove_file(project.path().join("profiles/sets/aws.yaml")).unwrap();
    let run = project.run(&["golden", "check"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "golden/aws/one is stale: no profile and parameter set renders it\n")
    );
}

#[test]
fn mistakes_in_a_parameter_set() {
    for (body, message) in [
        (
            "in: [onee]\nvalues: {}\n",
            "sets/aws.yaml:4:6: there is no profile `onee`\n  help: did you mean `one`?",
        ),
        (
            "parameters: {x: {type: string, description: d}}\n",
            "sets/aws.yaml:1:1: a parameter set cannot declare parameters",
        ),
    ] {
        let project = two_profiles().parameter_set("aws", body);
        let shown = project.render_error("one");
        assert!(shown.contains(message), "{shown}");
    }
    let project = two_profiles();
    let set =
        "apiVersion: transship.openshift.io/v1\nkind: Parameters\nmetadata: {name: azure}\nvalues: {}\n";
    let project = project.file("profiles/sets/aws.yaml", set);
    assert!(project.render_error("one").contains(
        "the parameter set `azure` is in the file aws.yaml\n  help: name it `aws`, or rename the file"
    ));
    let project = project.parameter_set("aws", "values: {regio: x}\n");
    let run = project.run(&["golden", "check"]);
    assert!(
        run.code == 2 && run.stderr.contains("sets/aws.yaml:4:10: there is no parameter `regio`"),
        "{}",
        run.stderr
    );
    let project = project.parameters("values: {region: x}\n");
    assert!(
        project
            .render_error("one")
            .contains("profiles/parameters.yaml:1:1: only a parameter set can have `in` and `values`")
    );
}

#[test]
fn only_a_page_can_use_its_own_parameters() {
    let project = two_profiles();
    let page = "parameters: {own: {type: string, description: d, default: x}}\nadds: [{objects: [{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, stringData: {v: '${own}'}}]}]\n";
    let project = project.page("op", page);
    let run = project.run(&["render", "--profile", "one", "--set", "own=mine"]);
    assert!(run.stdout.contains("v: mine\n"), "{}{}", run.stdout, run.stderr);
    let project = project.profile(
        "one",
        r"
            topology: t
            cluster: both
            policy: [{for: Secret, set: {x: '${own}'}}]
            ",
    );
    let shown = project.render_error("one");
    assert!(shown.contains("profiles/one.yaml:6:33: `${own}` is not defined\n  help: only the page of `op` can use this parameter"), "{shown}");
    let project = project.page("op", "parameters: {own: {type: string, description: d, default: x}}\n");
    assert!(
        project
            .render_error("one")
            .contains("payload/op/component.yaml:4:14: nothing uses the parameter `own`")
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
        .profile("mc", "topology: t\ncluster: management\n")
        .profile("guest", "topology: t\ncluster: guest\n");
    let data =
        |profile: &str, arguments: &[&str]| project.render_with(profile, arguments)[0]["data"].to_string();
    let own = r#"{"guest":"q/own@sha256:1","management":"q/own@sha256:1","own":"q/own@sha256:1","written":"q/own@sha256:1"}"#;
    assert_eq!(data("mc", &[]), own);
    let two = ["--release-images", "control-plane=cp.json", "--release-images", "guest=guest.json"];
    assert_eq!(
        data("mc", &two),
        r#"{"guest":"q/guest@sha256:3","management":"q/cp@sha256:2","own":"q/cp@sha256:2","written":"q/cp@sha256:2"}"#
    );
    assert_eq!(
        data("guest", &two),
        r#"{"guest":"q/guest@sha256:3","management":"q/cp@sha256:2","own":"q/guest@sha256:3","written":"q/guest@sha256:3"}"#
    );
    let run = project.run(&["render", "--profile", "mc", "--release-images", "hosted=x"]);
    assert!(run.code == 2 && run.stderr.contains("write control-plane=FILE or guest=FILE"), "{}", run.stderr);
}

/// A text that may look like anything.
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

    /// Data stays data: whatever a parameter holds, only the fields that mention it change, and they hold just that.
    #[test]
    fn a_text_changes_only_the_fields_that_mention_it(text in any_text()) {
        prop_assume!(!text.contains('\0'));
        let project = two_profiles();
        let declared = DECLARED.replace("default: none, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}", "default: none");
        let project = project.parameters(&declared);
        project.write("params.json", json!({"region": text}).to_string());
        let run = project.run(&["render", "--profile", "one", "-o", "json", "--params", "params.json"]);
        prop_assert_eq!(run.code, 0, "{}", run.stderr);
        let lines: Vec<&str> = run.stdout.lines().collect();
        prop_assert_eq!(lines.len(), 1);
        let object: Value = serde_json::from_str(lines[0]).unwrap();
        prop_assert_eq!(object, json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "ns", "annotations": {"x": "x"}},
            "data": {"kept": "text", "ns": "clusters", "region": text},
        }));
    }
}

#[test]
fn a_secret_parameter_is_in_no_message() {
    let project = TestProject::with_deployment(
        "when: {p.word: other}\n",
        "namespace: hosted\npolicy: [{for: Deployment, set: {metadata: {labels: {w: '${p.word}', n: 'pin ${p.pin}'}}}}]\n",
    )
        .parameters("parameters: {p.word: {type: string, description: d, secret: true}, p.pin: {type: int, description: d, secret: true}}\n")
        .manifest("b/1.yaml", &object("v1", "Secret", "ns", "s", "data: {}\n"))
        .page(
            "b",
            r"
            place: {management: [Secret]}
            uses: [{w: {kind: '${p.word}'}}]
            ",
        )
        .fragment(
            "w",
            r"
            inputs: {kind: {type: string, enum: [a]}}
            adds: [{nothing: x}]
            ",
        );
    let given = ["--set", "p.word=hunter2", "--set", "p.pin=424242"];
    let run = |project: &TestProject, arguments: &[&str]| project.run(&[arguments, &given[..]].concat());
    let quiet = |run: &Run| {
        !format!("{}{}", run.stdout, run.stderr).contains("hunter2") && !run.stdout.contains("424242")
    };
    let refused = run(&project, &["render", "--profile", "mc"]);
    assert!(
        refused.code == 2
            && quiet(&refused)
            && refused.stderr.contains("the input `kind` must be one of \"a\""),
        "{}",
        refused.stderr
    );
    let project = project.page("b", "place: {management: [Secret]}\n");
    let list = run(&project, &["list", "--profile", "mc"]);
    assert!(
        list.code == 0
            && quiet(&list)
            && list.stdout.contains("the component does not exist: p.word has another value"),
        "{}{}",
        list.stdout,
        list.stderr
    );
    let project = project.page("op", "place: {management: [Deployment]}\n");
    assert!(quiet(&run(&project, &["explain", "deployment/d", "--profile", "mc"])));
    let checks = r"
        externals: [{objects: [Namespace/ns, ServiceAccount/sa], reason: r}]
        allow: [{check: missing-field, for: [Deployment/d], reason: r}, {check: unneeded-token, for: [Deployment/d], reason: r}, {check: missing-namespace, for: [Secret], reason: r}]
        ";
    let project = project.checks(checks);
    let update = run(&project, &["golden", "update"]);
    assert_eq!(update.code, 0, "{}", update.stderr);
    let text =
        project.read("golden/default/mc/op/hosted/Deployment.apps_d.yaml").replace("hunter2", "hunter1");
    project.write("golden/default/mc/op/hosted/Deployment.apps_d.yaml", text);
    let check = run(&project, &["golden", "check"]);
    assert!(check.code == 1 && !check.stdout.contains("hunter"), "{}", check.stdout);
    assert!(
        check.stdout.contains("differs (not shown, because it contains a secret parameter)"),
        "{}",
        check.stdout
    );
}
