//! Values from outside: sets, objects of a cluster, parameters of one page, and names that nobody uses.

use proptest::prelude::*;

use crate::support::{CHECKS, Folder};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

const DECLARED: &str = "parameters:\n  \
    region: {type: string, description: d, default: none, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}}\n  \
    ns: {type: name, description: d, default: clusters, read: {object: HostedControlPlane, path: /metadata/namespace}}\n  \
    second: {type: string, description: d, optional: true, read: {object: HostedControlPlane, path: /spec/list/1/a~1b}}\n";

/// A ConfigMap into which a profile writes every parameter, in two profiles.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, annotations: {x: x}}\ndata: {kept: text}\n");
    folder.write("profiles/parameters.yaml", file("Parameters", "p", DECLARED));
    folder.write("profiles/checks.yaml", CHECKS);
    for name in ["one", "two"] {
        let every = "policy: [{for: ConfigMap, set: {data: {region: '${region}', ns: '${ns}', second: '${second}'}}}]\n";
        let body = format!("topology: {name}\ncluster: both\n{every}");
        folder.write(&format!("profiles/{name}.yaml"), file("Profile", name, &body));
    }
    folder
}

fn data(folder: &Folder, more: &[&str]) -> String {
    let run = folder.run(&[&["render", "--profile", "one", "-o", "json"][..], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    object["data"].to_string()
}

fn refused(folder: &Folder, more: &[&str]) -> String {
    folder.run(&[&["render", "--profile", "one"][..], more].concat()).refusal()
}

const HOSTED: &str = "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\nmetadata: {name: h, namespace: clusters-h}\nspec: {list: [{}, {a/b: second}]}\n";
const INFRASTRUCTURE: &str = "apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {name: cluster}\nstatus: {platformStatus: {aws: {region: eu-1}}}\n";

#[test]
fn values_are_read_from_objects_and_whatever_is_given_is_stronger() {
    let folder = folder();
    folder.write("hcp.yaml", HOSTED);
    folder.write("infra.yaml", INFRASTRUCTURE);
    let both = ["--hosted-control-plane", "hcp.yaml", "--infrastructure", "infra.yaml"];
    assert_eq!(data(&folder, &[]), r#"{"kept":"text","ns":"clusters","region":"none"}"#);
    assert_eq!(
        data(&folder, &both),
        r#"{"kept":"text","ns":"clusters-h","region":"eu-1","second":"second"}"#
    );
    assert_eq!(
        data(&folder, &[&both[..], &["--set", "region=us-2"]].concat()),
        r#"{"kept":"text","ns":"clusters-h","region":"us-2","second":"second"}"#
    );
}

#[test]
fn what_the_guest_says_is_checked_and_must_be_bounded() {
    let folder = folder();
    folder.write("infra.yaml", INFRASTRUCTURE.replace("eu-1", "'eu 1; rm -rf /'"));
    let shown = refused(&folder, &["--infrastructure", "infra.yaml"]);
    assert!(
        shown.contains(
            "infra.yaml:4:41: `region` cannot be `eu 1; rm -rf /`\n  help: it must match [a-z0-9-]+"
        ),
        "{shown}"
    );
    folder.write(
        "profiles/parameters.yaml",
        file("Parameters", "p", &DECLARED.replace("pattern: '[a-z0-9-]+', ", "")),
    );
    let shown = refused(&folder, &[]);
    assert!(
        shown.contains("profiles/parameters.yaml:5:3: `region` is read from the guest, and may be anything\n  help: the guest is hostile: give it `pattern` or `enum`"),
        "{shown}"
    );
}

#[test]
fn mistakes_with_objects() {
    let folder = folder();
    folder.write("hcp.yaml", INFRASTRUCTURE);
    let shown = refused(&folder, &["--hosted-control-plane", "hcp.yaml"]);
    assert!(shown.contains("hcp.yaml:1:1: this is Infrastructure, not a HostedControlPlane"), "{shown}");
    folder.write(
        "profiles/parameters.yaml",
        file("Parameters", "p", &DECLARED.replace("/metadata/namespace", "metadata.namespace")),
    );
    let shown = refused(&folder, &[]);
    assert!(shown.contains("profiles/parameters.yaml:6:96: `metadata.namespace` is no path"), "{shown}");
}

#[test]
fn a_set_gives_values_to_the_profiles_it_names_and_has_golden_files() {
    let folder = folder();
    folder.write("profiles/sets/aws.yaml", file("Parameters", "aws", "in: [one]\nvalues: {region: eu-1}\n"));
    folder.write("profiles/sets/default.yaml", file("Parameters", "default", "values: {region: some-1}\n"));
    assert_eq!(data(&folder, &[]), r#"{"kept":"text","ns":"clusters","region":"some-1"}"#);
    assert_eq!(
        data(&folder, &["--params", "profiles/sets/aws.yaml"]),
        r#"{"kept":"text","ns":"clusters","region":"eu-1"}"#
    );
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    let golden = |path: &str| folder.read(&format!("golden/{path}/op/ns/ConfigMap_a.yaml"));
    assert!(
        golden("default/one").contains("region: some-1") && golden("default/two").contains("region: some-1")
    );
    assert!(golden("aws/one").contains("region: eu-1"));
    assert!(!folder.path().join("golden/aws/two").exists());
    assert_eq!(folder.run(&["golden", "check"]).code, 0);
    std::fs::remove_file(folder.path().join("profiles/sets/aws.yaml")).unwrap();
    let run = folder.run(&["golden", "check"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "golden/aws/one is stale: no profile and parameter set renders it\n")
    );
}

#[test]
fn mistakes_in_a_set() {
    for (body, message) in [
        (
            "in: [onee]\nvalues: {}\n",
            "sets/aws.yaml:4:6: there is no profile `onee`\n  help: did you mean `one`?",
        ),
        (
            "parameters: {x: {type: string, description: d}}\n",
            "sets/aws.yaml:1:1: a parameter set declares nothing",
        ),
    ] {
        let folder = folder();
        folder.write("profiles/sets/aws.yaml", file("Parameters", "aws", body));
        let shown = refused(&folder, &[]);
        assert!(shown.contains(message), "{shown}");
    }
    let folder = folder();
    folder.write("profiles/sets/aws.yaml", file("Parameters", "azure", "values: {}\n"));
    assert!(
        refused(&folder, &[]).contains("the set `azure` is in a file of another name\n  help: call it `aws`")
    );
    folder.write("profiles/sets/aws.yaml", file("Parameters", "aws", "values: {regio: x}\n"));
    let run = folder.run(&["golden", "check"]);
    assert!(
        run.code == 2 && run.stderr.contains("sets/aws.yaml:4:10: there is no parameter `regio`"),
        "{}",
        run.stderr
    );
    folder.write("profiles/more.yaml", file("Parameters", "more", "values: {region: x}\n"));
    assert!(refused(&folder, &[]).contains("profiles/more.yaml:1:1: values are given in a parameter set"));
}

#[test]
fn a_page_may_have_parameters_of_its_own_which_nobody_else_sees() {
    let folder = folder();
    let page = "parameters: {own: {type: string, description: d, default: x}}\nadds: [{objects: [{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, stringData: {v: '${own}'}}]}]\n";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let run = folder.run(&["render", "--profile", "one", "--set", "own=mine"]);
    assert!(run.stdout.contains("v: mine\n"), "{}{}", run.stdout, run.stderr);
    folder.write(
        "profiles/one.yaml",
        file("Profile", "one", "topology: t\ncluster: both\npolicy: [{for: Secret, set: {x: '${own}'}}]\n"),
    );
    let shown = refused(&folder, &[]);
    assert!(shown.contains("profiles/one.yaml:6:33: `${own}` stands for nothing\n  help: it is a parameter of the page of `op` alone"), "{shown}");
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", "parameters: {own: {type: string, description: d, default: x}}\n"),
    );
    assert!(
        refused(&folder, &[]).contains("payload/op/component.yaml:4:14: nobody uses the parameter `own`")
    );
}

#[test]
fn images_come_from_the_release_of_the_cluster() {
    let folder = Folder::new();
    let catalogue = |image: &str| {
        format!(
            r#"{{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{{"name":"4.22.0"}},"spec":{{"tags":[{{"name":"tool","from":{{"kind":"DockerImage","name":"{image}"}}}}]}}}}"#
        )
    };
    folder.write("payload/image-references", catalogue("q/own@sha256:1"));
    folder.write("payload/op/image-references", catalogue("quay.io/origin/tool"));
    folder.write("cp.json", catalogue("q/cp@sha256:2"));
    folder.write("guest.json", catalogue("q/guest@sha256:3"));
    folder.write("payload/op/1.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, annotations: {x: x}}\ndata: {own: '${O}', guest: '${G}', management: '${M}', written: 'quay.io/origin/tool:latest'}\n");
    let page = "values: {O: '${images.tool}', G: '${images.tool.guest}', M: '${images.tool.management}'}\nplace: {both: [ConfigMap]}\n";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    for (name, cluster) in [("mc", "management"), ("guest", "guest")] {
        folder.write(
            &format!("profiles/{name}.yaml"),
            file("Profile", name, &format!("topology: t\ncluster: {cluster}\n")),
        );
    }
    let data = |profile: &str, more: &[&str]| {
        let run = folder.run(&[&["render", "--profile", profile, "-o", "json"][..], more].concat());
        let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        object["data"].to_string()
    };
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
    let run = folder.run(&["render", "--profile", "mc", "--release-images", "hosted=x"]);
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
    fn a_text_changes_no_field_but_those_it_is_written_in(text in any_text()) {
        prop_assume!(!text.contains('\0'));
        let folder = folder();
        let declared = DECLARED.replace("default: none, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}", "default: none");
        folder.write("profiles/parameters.yaml", file("Parameters", "p", &declared));
        folder.write("params.json", serde_json::json!({"region": text}).to_string());
        let run = folder.run(&["render", "--profile", "one", "-o", "json", "--params", "params.json"]);
        prop_assert_eq!(run.code, 0, "{}", run.stderr);
        let lines: Vec<&str> = run.stdout.lines().collect();
        prop_assert_eq!(lines.len(), 1);
        let object: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        prop_assert_eq!(object, serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "ns", "annotations": {"x": "x"}},
            "data": {"kept": "text", "ns": "clusters", "region": text},
        }));
    }
}
