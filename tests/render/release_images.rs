//! Images and versions of the release in manifests.

use crate::support::{Folder, config_map};

const RELEASE: &str = "\
kind: ImageStream
apiVersion: image.openshift.io/v1
metadata: {name: 4.22.0}
spec:
  tags:
  - {name: op, from: {kind: DockerImage, name: 'quay.io/r@sha256:01'}}
";

const SOURCES: &str = "\
kind: ImageStream
apiVersion: image.openshift.io/v1
spec:
  tags:
  - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}
";

const METADATA: &str = r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#;

#[test]
fn images_and_versions_are_replaced_in_folders_with_image_references() {
    let pod = "\
apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations:
    include.release.openshift.io/test: 'true'
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
    let folder = Folder::with_payload(&[
        ("op/a.yaml", pod),
        ("other/b.yaml", &pod.replace("name: a", "name: b")),
        ("op/image-references", SOURCES),
        ("image-references", RELEASE),
        ("release-metadata", METADATA),
    ]);
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (with_references, without_references) = run.stdout.split_once("---\n").unwrap();
    assert_eq!(
        with_references,
        "\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    include.release.openshift.io/test: \"true\"
  name: a
spec:
  containers:
  - env:
    - name: IMAGE
      value: quay.io/r@sha256:01
    - name: VERSION
      value: 4.22.0
    - name: TEXT
      value: see quay.io/r@sha256:01
    - name: OTHER
      value: quay.io/openshift/origin-op-2
    image: quay.io/r@sha256:01
    name: c
"
    );
    assert!(
        without_references.contains("image: quay.io/openshift/origin-op:latest"),
        "a folder without image-references is left alone: {without_references}"
    );
}

#[test]
fn an_image_that_the_release_does_not_have_is_an_error() {
    let folder =
        Folder::with_payload(&[("op/image-references", SOURCES), ("op/a.yaml", &config_map("a", "{}"))]);
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(
        run.refusal(),
        "error: payload/op/image-references:5:5: the release has no image `op`\n  \
         note: its manifests would keep an image that exists only during development\n  \
         help: add the tag to the payload's image-references, or remove it here\n"
    );
}

#[test]
fn two_tags_with_the_same_repository_are_an_error() {
    let two = format!(
        "{SOURCES}  - {{name: op2, from: {{kind: DockerImage, name: 'quay.io/openshift/origin-op:other'}}}}\n"
    );
    let release =
        format!("{RELEASE}  - {{name: op2, from: {{kind: DockerImage, name: 'quay.io/r@sha256:02'}}}}\n");
    let manifest = config_map("a", "{}");
    let folder = Folder::with_payload(&[
        ("op/image-references", &two),
        ("image-references", &release),
        ("op/a.yaml", &manifest),
    ]);
    assert_eq!(
        folder.run(&["render", "--profile", "test"]).refusal(),
        "error: payload/op/image-references:6:5: two tags have the repository `quay.io/openshift/origin-op`\n  \
         help: give each tag a repository of its own\n"
    );
}

const DEPLOYMENT: &str = "\
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
";

fn page(tag: &str) -> String {
    format!(
        "\
apiVersion: transship.openshift.io/v1
kind: Component
metadata: {{name: op}}
place: {{management: [Deployment]}}
images: {{guest: [{tag}]}}
"
    )
}

fn image_stream(name: &str, registry: &str) -> String {
    format!(
        "\
kind: ImageStream
apiVersion: image.openshift.io/v1
metadata: {{name: {name}}}
spec:
  tags:
  - {{name: node, from: {{kind: DockerImage, name: {registry}/node}}}}
  - {{name: own, from: {{kind: DockerImage, name: {registry}/own}}}}
"
    )
}

/// Returns a component whose operator runs in the management cluster and starts pods in the guest.
fn folder_with_two_releases() -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", DEPLOYMENT);
    folder.write("payload/op/component.yaml", page("node"));
    for (name, cluster) in [("mc", "management"), ("guest", "guest")] {
        let profile = format!(
            "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {{name: {name}}}\ntopology: t\ncluster: {cluster}\n"
        );
        folder.write(&format!("profiles/{name}.yaml"), profile);
    }
    folder.write("payload/image-references", image_stream("4.22.0", "own.io"));
    folder.write("payload/release-metadata", METADATA);
    folder.write("payload/op/image-references", image_stream("op", "quay.io/origin"));
    folder.write("cp", image_stream("4.22.1", "cp.io"));
    folder.write("guest", image_stream("4.21.0", "guest.io"));
    folder
}

#[test]
fn a_page_says_which_images_come_from_the_release_of_the_guest() {
    let folder = folder_with_two_releases();
    let releases = ["--release-images", "control-plane=cp", "--release-images", "guest=guest"];
    let run = folder.run(&[&["render", "--profile", "mc", "-o", "json"][..], &releases].concat());
    let container = &run.json()[0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (container["image"].as_str(), container["env"][0]["value"].as_str()),
        (Some("cp.io/own"), Some("guest.io/node"))
    );
    assert_eq!(container["env"][1]["value"], "4.21.0", "the cluster reports the version of the guest");
}

#[test]
fn an_image_in_a_page_that_the_component_does_not_have_is_an_error() {
    let folder = folder_with_two_releases();
    folder.write("payload/op/component.yaml", page("nod"));
    assert_eq!(
        folder.run(&["render", "--profile", "mc"]).refusal(),
        "error: payload/op/component.yaml:5:18: the component has no image `nod`\n  help: did you mean `node`?\n"
    );
}
