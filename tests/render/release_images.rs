//! Images and versions of the release in manifests.

use serde_json::json;

use crate::support::{TestProject, config_map, find, image_references};

const POD: &str = r"
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {x: x}}
spec:
  containers:
  - name: c
    image: quay.io/openshift/origin-op:latest
    env:
    - {name: IMAGE, value: quay.io/openshift/origin-op}
    - {name: VERSION, value: 0.0.1-snapshot}
    - {name: TEXT, value: see quay.io/openshift/origin-op:latest}
    - {name: OTHER, value: quay.io/openshift/origin-op-2}
";

/// The images that the manifests of a component contain.
const SOURCES: &str = r"
kind: ImageStream
apiVersion: image.openshift.io/v1
spec:
  tags:
  - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
";

#[test]
fn images_and_versions_are_replaced_in_folders_with_image_references() {
    let project = TestProject::standalone()
        .release(&[("op", "quay.io/r@sha256:01")])
        .manifest("op/a.yaml", POD)
        .manifest("op/image-references", SOURCES);
    assert_eq!(
        project.render("test")[0]["spec"],
        json!({
            "containers": [{
                "name": "c",
                "image": "quay.io/r@sha256:01",
                "env": [
                    {"name": "IMAGE", "value": "quay.io/r@sha256:01"},
                    {"name": "VERSION", "value": "4.22.0"},
                    {"name": "TEXT", "value": "see quay.io/r@sha256:01"},
                    {"name": "OTHER", "value": "quay.io/openshift/origin-op-2"},
                ],
            }],
        })
    );
}

#[test]
fn without_image_references_the_version_is_replaced_and_images_are_not() {
    let project = TestProject::standalone()
        .release(&[("op", "quay.io/r@sha256:01")])
        .manifest("op/a.yaml", &config_map("a", "{}"))
        .manifest("op/image-references", SOURCES)
        .manifest("other/b.yaml", POD);
    let rendered = project.render("test");
    let container = &find(&rendered, "Pod", "a")["spec"]["containers"][0];
    assert_eq!(container["image"], "quay.io/openshift/origin-op:latest");
    assert_eq!(container["env"][1]["value"], "4.22.0");
}

#[test]
fn an_image_that_the_release_does_not_have_is_an_error() {
    let project = TestProject::standalone()
        .manifest("op/image-references", SOURCES)
        .manifest("op/a.yaml", &config_map("a", "{}"));
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/op/image-references:5:5: the release has no image `op`
  note: its manifests would keep an image that exists only during development
  help: add the tag to the payload's image-references, or remove it here
"
    );
}

#[test]
fn two_tags_with_the_same_repository_are_an_error() {
    let project = TestProject::standalone()
        .release(&[("op", "quay.io/r@sha256:01"), ("op2", "quay.io/r@sha256:02")])
        .manifest("op/a.yaml", &config_map("a", "{}"))
        .manifest(
            "op/image-references",
            r"
            kind: ImageStream
            apiVersion: image.openshift.io/v1
            spec:
              tags:
              - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
              - {name: op2, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:other'}}
            ",
        );
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/op/image-references:6:5: two tags have the repository `quay.io/openshift/origin-op`
  help: give each tag a repository of its own
"
    );
}

/// Creates a project with an operator that runs in the management cluster and starts pods in the guest. The page says that
/// one image is of the release of the guest.
fn with_two_releases(guest_image: &str) -> TestProject {
    TestProject::new()
        .release(&[("node", "own.io/node"), ("own", "own.io/own")])
        .file("cp", &image_references("4.22.1", &[("node", "cp.io/node"), ("own", "cp.io/own")]))
        .file("guest", &image_references("4.21.0", &[("node", "guest.io/node"), ("own", "guest.io/own")]))
        .manifest(
            "op/image-references",
            &image_references("op", &[("node", "quay.io/origin/node"), ("own", "quay.io/origin/own")]),
        )
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
        .page("op", &format!("place: {{management: [Deployment]}}\nimages: {{guest: [{guest_image}]}}\n"))
        .mc_and_guest("", "")
}

#[test]
fn a_page_says_which_images_come_from_the_release_of_the_guest() {
    let releases = ["--release-images", "control-plane=cp", "--release-images", "guest=guest"];
    let rendered = with_two_releases("node").render_with("mc", &releases);
    let container = &rendered[0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "cp.io/own");
    assert_eq!(container["env"][0]["value"], "guest.io/node");
    assert_eq!(container["env"][1]["value"], "4.21.0", "the cluster reports the version of the guest");
}

#[test]
fn an_image_in_a_page_that_the_component_does_not_have_is_an_error() {
    assert_eq!(
        with_two_releases("nod").render_error("mc"),
        "\
error: payload/op/component.yaml:5:18: the component has no image `nod`
  help: did you mean `node`?
"
    );
}
