//! Images and versions of the release in manifests.

use serde_json::json;

use crate::support::{TestProject, image_references, object};

const POD: &str = r"
    apiVersion: v1
    kind: Pod
    metadata: {name: a, annotations: {x: x}}
    spec:
      containers:
      - name: c
        image: quay.io/openshift/origin-op:latest
        env:
        - {name: IMAGE, value: 'quay.io/openshift/origin-op:latest'}
        - {name: VERSION, value: 0.0.1-snapshot}
        - {name: TEXT, value: see quay.io/openshift/origin-op:latest}
        - {name: OTHER, value: quay.io/openshift/origin-op-2}
    ";

/// The images of the source, which the release replaces.
const SOURCES: &str = r"
    kind: ImageStream
    apiVersion: image.openshift.io/v1
    spec:
      tags:
      - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
    ";

const PROFILE: &str = r"
    topology: one
    cluster: both
    ";

#[test]
fn images_and_versions_are_replaced_in_folders_with_image_references() {
    let project = TestProject::new()
        .release(&[("op", "quay.io/r@sha256:01")])
        .profile("one", PROFILE)
        .file("payload/op/image-references", SOURCES)
        .manifest("op/a.yaml", POD)
        .manifest("other/b.yaml", &POD.replace("name: a,", "name: b,"));
    let rendered = project.render("one");
    assert_eq!(
        rendered[0]["spec"]["containers"],
        json!([{
            "name": "c",
            "image": "quay.io/r@sha256:01",
            "env": [
                {"name": "IMAGE", "value": "quay.io/r@sha256:01"},
                {"name": "VERSION", "value": "4.22.0"},
                {"name": "TEXT", "value": "see quay.io/r@sha256:01"},
                {"name": "OTHER", "value": "quay.io/openshift/origin-op-2"},
            ],
        }])
    );
    assert_eq!(
        rendered[1]["spec"]["containers"][0]["image"], "quay.io/openshift/origin-op:latest",
        "a folder without image-references is not changed"
    );
}

#[test]
fn an_image_that_the_release_does_not_have_is_an_error() {
    let project = TestProject::new()
        .profile("one", PROFILE)
        .file("payload/op/image-references", SOURCES)
        .manifest("op/a.yaml", &object("v1", "ConfigMap", "ns", "a", ""));
    project.assert_render_error(
        "one",
        r"
        error: payload/op/image-references:5:5: the release has no image `op`
          note: its manifests would keep an image that exists only during development
          help: add the tag to the payload's image-references, or remove it here
        ",
    );
}

#[test]
fn two_tags_with_the_same_source_are_an_error() {
    let project = TestProject::new()
        .release(&[("op", "quay.io/r@sha256:01"), ("op2", "quay.io/r@sha256:02")])
        .profile("one", PROFILE)
        .file(
            "payload/op/image-references",
            r"
            kind: ImageStream
            apiVersion: image.openshift.io/v1
            spec:
              tags:
              - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
              - {name: op2, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
            ",
        )
        .manifest("op/a.yaml", &object("v1", "ConfigMap", "ns", "a", ""));
    project.assert_render_error(
        "one",
        r"
        error: payload/op/image-references:6:5: the tags `op` and `op2` have the same source `quay.io/openshift/origin-op:latest`
          help: give each tag a source of its own: another repository, or another tag of it
        ",
    );
}

/// Creates an operator in the management cluster that starts pods in the guest, and the images of two other releases.
fn project_with_two_releases() -> TestProject {
    TestProject::new()
        .release(&[("node", "own.io/node"), ("own", "own.io/own")])
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: d, namespace: old, annotations: {x: x}}
            spec:
              template:
                spec:
                  containers:
                  - name: c
                    image: quay.io/origin/own:latest
                    env:
                    - {name: NODE_IMAGE, value: quay.io/origin/node}
                    - {name: VERSION, value: 0.0.1-snapshot}
            ",
        )
        .file(
            "payload/op/image-references",
            &image_references("op", &[("node", "quay.io/origin/node"), ("own", "quay.io/origin/own")]),
        )
        .page(
            "op",
            r"
            place: {management: [Deployment]}
            images: {guest: [node]}
            ",
        )
        .mc_and_guest("", "")
        .file("cp", &image_references("4.22.1", &[("node", "cp.io/node"), ("own", "cp.io/own")]))
        .file("guest", &image_references("4.21.0", &[("node", "guest.io/node"), ("own", "guest.io/own")]))
}

#[test]
fn a_page_says_which_images_come_from_the_release_of_the_guest() {
    let releases = ["--release-images", "control-plane=cp", "--release-images", "guest=guest"];
    let rendered = project_with_two_releases().render_with("mc", &releases);
    let container = &rendered[0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "cp.io/own");
    assert_eq!(container["env"][0]["value"], "guest.io/node");
    assert_eq!(container["env"][1]["value"], "4.21.0", "the operator reports the version of the guest");
}

#[test]
fn an_image_in_a_page_that_the_component_does_not_have_is_an_error() {
    let project = project_with_two_releases().page(
        "op",
        r"
        place: {management: [Deployment]}
        images: {guest: [nod]}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:5:18: the component has no image `nod`
          help: did you mean `node`?
        ",
    );
}

/// Creates a ConfigMap with a text, and the release with the versions of programs in the annotation of its tag `op`.
fn project_with_text(text: &str, versions: &str) -> TestProject {
    TestProject::new()
        .release(&[("op", "quay.io/r@sha256:01")])
        .file(
            "payload/image-references",
            &format!(
                r"
                kind: ImageStream
                apiVersion: image.openshift.io/v1
                metadata: {{name: 4.22.0+b}}
                spec:
                  tags:
                  - name: op
                    annotations: {{io.openshift.build.versions: '{versions}'}}
                    from: {{kind: DockerImage, name: 'quay.io/r@sha256:01'}}
                "
            ),
        )
        .file("payload/release-metadata", r#"{"kind": "cincinnati-metadata-v0", "version": "4.22.0+b"}"#)
        .profile("one", PROFILE)
        .file("payload/op/image-references", SOURCES)
        .manifest("op/a.yaml", &object("v1", "ConfigMap", "ns", "a", &format!("data: {{text: '{text}'}}")))
}

#[test]
fn every_image_and_version_of_a_text_is_replaced() {
    let text = r#"{"version": "0.0.1-snapshot", "a": "quay.io/openshift/origin-op:latest", "b": "docker://quay.io/openshift/origin-op:latest", "k": "0.0.1-snapshot-kubernetes"}"#;
    let rendered = project_with_text(text, "kubernetes=1.33.2+x, etcd=3.5.21").render("one");
    assert_eq!(
        rendered[0]["data"]["text"],
        r#"{"version": "4.22.0", "a": "quay.io/r@sha256:01", "b": "docker://quay.io/r@sha256:01", "k": "1.33.2"}"#
    );
}

#[test]
fn a_version_of_the_whole_release_is_used_if_no_image_declares_it() {
    let release = r"
        kind: ImageStream
        apiVersion: image.openshift.io/v1
        metadata: {name: 4.22.0+b, annotations: {io.openshift.build.versions: 'etcd=3.5.21,kubernetes=1.0.0'}}
        spec:
          tags:
          - name: op
            annotations: {io.openshift.build.versions: kubernetes=1.33.2}
            from: {kind: DockerImage, name: 'quay.io/r@sha256:01'}
        ";
    let project = project_with_text("0.0.1-snapshot-etcd 0.0.1-snapshot-kubernetes", "");
    let rendered = project.file("payload/image-references", release).render("one");
    assert_eq!(rendered[0]["data"]["text"], "3.5.21 1.33.2");
}

#[test]
fn a_version_that_no_image_declares_is_an_error() {
    project_with_text("0.0.1-snapshot-kubernetes", "etcd=3.5.21").assert_render_error(
        "one",
        r"
        error: payload/op/a.yaml:4:14: no image of the component declares the version of `kubernetes` for `0.0.1-snapshot-kubernetes`
          note: `oc adm release new` refuses such a manifest
          help: add it to the annotation `io.openshift.build.versions` of a tag in the release's image-references
        ",
    );
}

#[test]
fn an_invalid_version_of_a_program_is_an_error() {
    project_with_text("", "kubernetes=1.33").assert_render_error(
        "one",
        r"
        error: payload/image-references:7:48: `kubernetes=1.33` is not a version of a program
          help: write name=version, such as kubernetes=1.33.2
        ",
    );
}

#[test]
fn a_tag_without_an_image_is_an_error() {
    let sources = SOURCES.replace("quay.io/openshift/origin-op:latest", "");
    project_with_text("", "").file("payload/op/image-references", &sources).assert_render_error(
        "one",
        r"
        error: payload/op/image-references:5:5: the tag `op` has no image
          help: write the image under `from.name`
        ",
    );
}

/// Renders a Deployment that uses an image which the release does not have.
fn project_with_minter(parameters: &str) -> TestProject {
    TestProject::new()
        .release(&[("op", "quay.io/r@sha256:01")])
        .profile("one", PROFILE)
        .checks("externals: [{objects: [Namespace/*], reason: a test}]\n")
        .file(
            "profiles/parameters.yaml",
            &format!(
                "apiVersion: transship.openshift.io/v1\nkind: Parameters\nmetadata: {{name: p}}\nparameters:\n{parameters}"
            ),
        )
        .manifest("op/1.yaml", &object("v1", "Pod", "ns", "a", "spec: {containers: [{name: c}]}"))
        .page("op", "adds:\n- for: Pod/a\n  pod: {spec: {containers: [{name: c, image: '${images.minter}'}]}}\n")
}

const MINTER: &str = "  images.minter: {type: string, description: mints, optional: true, read: {object: HostedControlPlane, path: /metadata/annotations/minter}}\n";

#[test]
fn a_parameter_gives_an_image_that_the_release_does_not_have() {
    let project = project_with_minter(MINTER);
    let image = |arguments: &[&str]| {
        project.render_with("one", arguments)[0]["spec"]["containers"][0]["image"].clone()
    };
    assert_eq!(image(&["--set", "images.minter=example.test/minter:1"]), "example.test/minter:1");
    project.write(
        "hcp.yaml",
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\nmetadata: {name: h, namespace: n, annotations: {minter: 'example.test/cpo:2'}}\n",
    );
    assert_eq!(image(&["--hosted-control-plane", "hcp.yaml"]), "example.test/cpo:2");
}

#[test]
fn an_image_that_nothing_gives_is_an_error_that_names_the_parameter() {
    let error = project_with_minter(MINTER).render_error_with("one", &[]);
    assert!(error.contains(": `${images.minter}` is not defined\n"), "{error}");
    let help = "  help: the release has no image `minter`; pass --set images.minter=PULLSPEC\n";
    assert!(error.ends_with(help), "{error}");
    let error = project_with_minter("  images.other: {type: string, description: x, optional: true}\n");
    let error = error.render_error_with("one", &[]);
    assert!(error.contains("help: the release has no image `minter`\n"), "{error}");
}

#[test]
fn a_parameter_replaces_an_image_of_the_release() {
    let project = project_with_minter("  images.op: {type: string, description: op, optional: true}\n")
        .page("op", "adds:\n- for: Pod/a\n  pod: {spec: {containers: [{name: c, image: '${images.op}'}]}}\n");
    let image = |arguments: &[&str]| {
        project.render_with("one", arguments)[0]["spec"]["containers"][0]["image"].clone()
    };
    assert_eq!(image(&[]), "quay.io/r@sha256:01");
    assert_eq!(image(&["--set", "images.op=example.test/op@sha256:02"]), "example.test/op@sha256:02");
}
