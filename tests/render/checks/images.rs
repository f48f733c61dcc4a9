//! Images that are not in the release, and placeholders.

use crate::support::{TestProject, image_references, unindent};

/// Creates a Pod in a project with a release.
fn project_with_pod() -> TestProject {
    TestProject::new()
        .release(&[("op", "quay.io/r@sha256:01")])
        .profile("one", "topology: one\ncluster: both\n")
        .checks("externals: [{objects: [Namespace/*], reason: a test}]\n")
        .manifest(
            "op/a.yaml",
            r"
            apiVersion: v1
            kind: Pod
            metadata: {name: a, namespace: ns, annotations: {x: x}}
            spec:
              containers:
              - name: c
                image: quay.io/openshift/origin-opp:latest
                command: [sh, -c, 'echo ${HOME} ${OPERAND:-x}']
                env:
                - {name: OPERAND_IMAGE, value: quay.io/r@sha256:01}
                - {name: OTHER_IMAGE, value: quay.io/other/image}
                - {name: VERSION, value: v0.0.1-snapshot}
            ",
        )
}

#[test]
fn lint_reports_images_that_are_not_of_the_release_and_placeholders_that_are_left() {
    let run = project_with_pod()
        .file(
            "payload/op/image-references",
            &image_references("op", &[("op", "quay.io/openshift/origin-op:latest")]),
        )
        .lint(&[]);
    assert_eq!(
        run.stdout,
        unindent(
            r"
            error[unpinned-image]: payload/op/a.yaml:7:12: the image `quay.io/openshift/origin-opp:latest` is not in the release
              object: Pod/a in ns, at /spec/containers/[name=c]/image
              note: the release does not contain it, so a disconnected cluster cannot pull it
              note: found in one
              help: did you mean `quay.io/openshift/origin-op:latest`?
            warning[unfilled-placeholder]: payload/op/a.yaml:8:23: `${HOME}` is not replaced by a value
              object: Pod/a in ns, at /spec/containers/[name=c]/command/2
              note: transship inserts values in pages, fragments and profiles, not in manifests
              note: found in one
              help: set the field with a patch or an addition; if a shell replaces it, allow the finding
            error[unpinned-image]: payload/op/a.yaml:11:34: the image `quay.io/other/image` is not in the release
              object: Pod/a in ns, at /spec/containers/[name=c]/env/[name=OTHER_IMAGE]/value
              note: the release does not contain it, so a disconnected cluster cannot pull it
              note: found in one
              help: add its source to the image-references of the component, or declare the image under `externals` in a Checks file
            error[placeholder-version]: payload/op/a.yaml:12:30: the placeholder `0.0.1-snapshot` has no version
              object: Pod/a in ns, at /spec/containers/[name=c]/env/[name=VERSION]/value
              note: a cluster would report the placeholder instead of the version of the release
              note: found in one
              help: add release-metadata to the payload; a letter, digit or underscore next to the placeholder prevents the replacement
            "
        )
    );
}

#[test]
fn an_image_that_an_external_declares_has_no_finding() {
    let checks = r"
        externals:
        - {objects: [Namespace/*], reason: a test}
        - {images: ['quay.io/*'], reason: the cluster pulls them from quay.io}
        - {images: ['docker.io/*'], reason: nothing uses it}
        allow:
        - {check: unfilled-placeholder, for: [Pod/a], reason: the shell replaces it}
        - {check: placeholder-version, for: [Pod/a], reason: a test}
        ";
    let run = project_with_pod().checks(checks).lint(&[]);
    assert_eq!(
        run.stdout,
        unindent(
            r"
            warning[unused-external]: profiles/checks.yaml:7:13: no object uses the external `docker.io/*`
              note: its reason is: nothing uses it
              note: found in one
              help: remove it, or limit it to some profiles with `in`
            "
        )
    );
}
