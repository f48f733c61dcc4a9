//! The render digest, which `list` prints: it changes with everything that a render depends on, and with nothing else.

use crate::support::{TestProject, object};

const PAGE: &str = r"
uses: [{label: {}}]
adds:
- objects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}, data: {a: '${color}', p: '${password}'}}
patches: [{reason: r, target: {kind: ConfigMap}, path: patch.yaml}]
";

const FRAGMENT: &str = r"
adds:
- objects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns, labels: {from: fragment}}}
";

const PARAMETERS: &str = r"
parameters:
  color: {type: string, description: d, default: red}
  password: {type: string, description: d, default: p, secret: true}
";

const RELEASE_IMAGES: &str = r#"{
  "kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "1.0.0"},
  "spec": {"tags": [{"name": "op", "from": {"kind": "DockerImage", "name": "example.test/op@sha256:00"}}]}
}"#;

fn project() -> TestProject {
    TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", &object("v1", "ConfigMap", "ns", "c", "data: {b: b}"))
        .page("op", PAGE)
        .fragment("label", FRAGMENT)
        .parameters(PARAMETERS)
        .parameter_set("other", "values: {color: green}\n")
        .file("patches/op/patch.yaml", "data: {b: patched}\n")
        .file("payload/image-references", RELEASE_IMAGES)
}

/// Returns the digest that `list` prints with more flags.
fn digest_with(project: &TestProject, flags: &[&str]) -> String {
    let run = project.run(&[&["list", "--profile", "test"], flags].concat());
    let line = run.stderr.lines().last().unwrap_or_default();
    line.strip_prefix("render sha256:").unwrap_or_else(|| panic!("{}", run.stderr)).to_owned()
}

fn digest(project: &TestProject) -> String {
    digest_with(project, &[])
}

#[test]
fn the_digest_changes_with_every_input() {
    let before = digest(&project());
    assert_eq!(before.len(), 64, "{before}");
    let manifest = object("v1", "ConfigMap", "ns", "c", "data: {b: c}");
    let changed = [
        ("manifest", project().manifest("op/0000_50_op_1.yaml", &manifest)),
        ("page", project().page("op", &format!("{PAGE}values: {{unused: v}}\n"))),
        ("fragment", project().fragment("label", &FRAGMENT.replace("from: fragment", "from: label"))),
        (
            "profile",
            project().profile("test", "topology: test\ncluster: both\nselect: {featureSet: Default}\n"),
        ),
        ("patch", project().file("patches/op/patch.yaml", "data: {b: other}\n")),
        ("image", project().file("payload/image-references", &RELEASE_IMAGES.replace(":00", ":11"))),
        ("declaration", project().parameters(&PARAMETERS.replace("red", "blue"))),
    ];
    for (input, project) in changed {
        assert_ne!(digest(&project), before, "{input}");
    }
    assert_ne!(digest_with(&project(), &["--set", "color=green"]), before);
}

#[test]
fn the_digest_does_not_depend_on_other_sets_comments_or_folders() {
    let before = digest(&project());
    assert_eq!(digest(&project().parameter_set("other", "values: {color: blue}\n")), before);
    assert_eq!(digest(&project().page("op", &format!("# a comment\n{PAGE}"))), before);
    let project = project();
    std::fs::rename(project.path().join("profiles"), project.path().join("moved")).unwrap();
    assert_eq!(digest_with(&project, &["--profiles", "moved"]), before);
}

/// Users of the guest can read the digest in the inventory, and could try out values.
#[test]
fn the_digest_does_not_reveal_a_secret_parameter() {
    assert_eq!(digest_with(&project(), &["--set", "password=other"]), digest(&project()));
}
