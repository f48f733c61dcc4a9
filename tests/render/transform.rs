//! Images and versions from the release, and the move to one namespace.

use crate::support::{Folder, profile};

const RELEASE: &str = "kind: ImageStream\napiVersion: image.openshift.io/v1\nmetadata: {name: 4.22.0}\nspec:\n  tags:\n  \
                       - {name: op, from: {kind: DockerImage, name: 'quay.io/r@sha256:01'}}\n";
const SOURCES: &str = "kind: ImageStream\napiVersion: image.openshift.io/v1\nspec:\n  tags:\n  \
                       - {name: op, from: {kind: DockerImage, name: 'quay.io/openshift/origin-op:latest'}}\n";
const METADATA: &str = "{\"kind\":\"cincinnati-metadata-v0\",\"version\":\"4.22.0\"}";

fn render(folder: &Folder) -> String {
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

#[test]
fn images_and_versions_come_from_the_release() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    include.release.openshift.io/test: 'true'\n\
               spec:\n  containers:\n  - name: c\n    image: quay.io/openshift/origin-op:latest\n    env:\n    \
               - {name: IMAGE, value: quay.io/openshift/origin-op}\n    - {name: VERSION, value: 0.0.1-snapshot}\n    \
               - {name: TEXT, value: see quay.io/openshift/origin-op:latest}\n    - {name: OTHER, value: quay.io/openshift/origin-op-2}\n";
    let folder = Folder::with_payload(&[
        ("op/a.yaml", pod),
        ("other/b.yaml", &pod.replace("name: a", "name: b")),
        ("op/image-references", SOURCES),
        ("image-references", RELEASE),
        ("release-metadata", METADATA),
    ]);
    let rendered = render(&folder);
    let (ours, other) = rendered.split_once("---\n").unwrap();
    assert_eq!(
        ours,
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    include.release.openshift.io/test: \"true\"\n  name: a\n\
         spec:\n  containers:\n  - env:\n    - name: IMAGE\n      value: quay.io/r@sha256:01\n    - name: VERSION\n      \
         value: 4.22.0\n    - name: TEXT\n      value: see quay.io/r@sha256:01\n    - name: OTHER\n      \
         value: quay.io/openshift/origin-op-2\n    image: quay.io/r@sha256:01\n    name: c\n"
    );
    assert!(
        other.contains("image: quay.io/openshift/origin-op:latest"),
        "a folder without image-references is left alone"
    );
}

#[test]
fn an_image_that_the_release_does_not_have() {
    let folder = Folder::with_payload(&[
        ("op/image-references", SOURCES),
        ("op/a.yaml", &crate::support::config_map("a", "{}")),
    ]);
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .starts_with("error: payload/op/image-references:5:5: the release has no image `op`\n  note: "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_repository_that_stands_for_two_images() {
    let two = format!(
        "{SOURCES}  - {{name: op2, from: {{kind: DockerImage, name: 'quay.io/openshift/origin-op:other'}}}}\n"
    );
    let release =
        format!("{RELEASE}  - {{name: op2, from: {{kind: DockerImage, name: 'quay.io/r@sha256:02'}}}}\n");
    let manifest = crate::support::config_map("a", "{}");
    let folder = Folder::with_payload(&[
        ("op/image-references", &two),
        ("image-references", &release),
        ("op/a.yaml", &manifest),
    ]);
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with(
            "error: payload/op/image-references:6:5: the repository `quay.io/openshift/origin-op` stands for two tags"
        ),
        "{}",
        run.stderr
    );
}

fn object(head: &str, rest: &str) -> String {
    format!(
        "{head}\nmetadata: {{name: a, namespace: old, annotations: {{include.release.openshift.io/test: 'true'}}}}\n{rest}"
    )
}

#[test]
fn objects_move_to_the_namespace_and_references_follow() {
    let rbac = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding";
    let subjects = "subjects:\n- {kind: ServiceAccount, name: a, namespace: old}\n- {kind: ServiceAccount, name: foreign, namespace: old}\n\
                    - {kind: User, name: a, namespace: old}\n";
    let webhook = "webhooks:\n- name: w\n  clientConfig: {service: {name: a, namespace: old}}\n";
    let cluster =
        |head: &str, rest: &str| object(head, rest).replace(", namespace: old, annotations", ", annotations");
    let folder = Folder::with_payload(&[
        ("1.yaml", &object("apiVersion: v1\nkind: ServiceAccount", "")),
        ("2.yaml", &object("apiVersion: v1\nkind: Service", "")),
        ("3.yaml", &object(rbac, subjects)),
        (
            "4.yaml",
            &cluster(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration",
                webhook,
            ),
        ),
        (
            "5.yaml",
            &cluster(
                "apiVersion: apiregistration.k8s.io/v1\nkind: APIService",
                "spec: {groupPriorityMinimum: 1, service: {name: a, namespace: old}}\n",
            ),
        ),
        ("6.yaml", &cluster("apiVersion: example.com/v1\nkind: Thing", "")),
        (
            "7.yaml",
            &cluster(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition",
                "spec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Thing}\n  conversion: {webhook: {clientConfig: {service: {name: a, namespace: old}}}}\n",
            ),
        ),
    ]);
    folder.write("profiles/test.yaml", profile("test", "namespace: new\n"));
    let documents: Vec<serde_json::Value> = folder
        .run(&["render", "--profile", "test", "-o", "json"])
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let at =
        |index: usize, pointer: &str| documents[index].pointer(pointer).and_then(serde_json::Value::as_str);
    for index in 0..3 {
        assert_eq!(at(index, "/metadata/namespace"), Some("new"));
    }
    for index in 3..7 {
        assert_eq!(at(index, "/metadata/namespace"), None, "cluster-scoped objects have no namespace");
    }
    assert_eq!(
        [0, 1, 2].map(|subject| at(2, &format!("/subjects/{subject}/namespace"))),
        [Some("new"), Some("old"), Some("old")]
    );
    assert_eq!(at(3, "/webhooks/0/clientConfig/service/namespace"), Some("new"));
    assert_eq!(at(4, "/spec/service/namespace"), Some("new"));
    assert_eq!(at(6, "/spec/conversion/webhook/clientConfig/service/namespace"), Some("new"));
}

#[test]
fn a_kind_whose_scope_nobody_knows_is_not_moved_by_guess() {
    let folder = Folder::with_payload(&[("x.yaml", &object("apiVersion: example.com/v1\nkind: Thing", ""))]);
    folder.write("profiles/test.yaml", profile("test", "namespace: new\n"));
    let run = folder.run(&["render", "--profile", "test"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.stderr,
        "error: payload/x.yaml:1:1: nobody knows whether Thing.example.com lives in a namespace\n  \
         object: Thing.example.com/a in old\n  help: put its CustomResourceDefinition into the payload, or declare it under `kinds` in a Checks file\n"
    );
}
