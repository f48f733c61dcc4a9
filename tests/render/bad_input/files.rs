//! Links, and files that are not regular files.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::support::{TestProject, config_map, names};

#[test]
fn links_that_leave_the_payload_or_have_no_target_are_errors() {
    let project = TestProject::standalone()
        .manifest("real.yaml", &config_map("a", "{}"))
        .manifest("folder/b.yaml", &config_map("b", "{}"))
        .file("outside.yaml", &config_map("c", "{}"));
    let payload = project.path().join("payload");
    symlink("../outside.yaml", payload.join("out.yaml")).unwrap();
    symlink("nothing.yaml", payload.join("broken.yaml")).unwrap();
    symlink("folder", payload.join("again")).unwrap();
    symlink("/", payload.join("root")).unwrap();
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/again: the link leads to a folder of the payload
  note: every manifest in the folder would exist twice
  help: remove the link, or link single files
error: payload/out.yaml: the link leaves the payload
  note: the digest of a payload must cover all of its content
  help: replace the link with a copy of its target
error: payload/root: the link leaves the payload
  note: the digest of a payload must cover all of its content
  help: replace the link with a copy of its target
error: payload/broken.yaml: the link has no target: No such file or directory (os error 2)
  help: remove it
4 errors
"
    );
}

#[test]
fn links_within_the_payload_are_read() {
    let project = TestProject::standalone().manifest("..data/a.yaml", &config_map("a", "{}"));
    symlink("..data/a.yaml", project.path().join("payload/a.yaml")).unwrap();
    assert_eq!(names(&project.render("test")), ["ConfigMap/a"]);
}

#[test]
fn a_manifest_must_be_a_regular_file() {
    let project = TestProject::standalone().manifest("a.yaml", &config_map("a", "{}"));
    let _listener = UnixListener::bind(project.path().join("payload/x.yaml")).unwrap();
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/x.yaml: this is not a regular file
  help: remove the pipe, socket or device, or rename it
"
    );
}

#[test]
fn the_files_of_a_release_must_be_regular_files() {
    for (path, help) in [
        ("payload/release-metadata", "replace it with a file"),
        ("payload/image-references", "replace it with a file"),
        ("payload/op/image-references", "remove the pipe, socket or device, or rename it"),
    ] {
        let project = TestProject::standalone().manifest("op/a.yaml", &config_map("a", "{}"));
        nix::unistd::mkfifo(&project.path().join(path), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = project.render_error("test");
        assert_eq!(error, format!("error: {path}: this is not a regular file\n  help: {help}\n"));
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    let project = TestProject::standalone().manifest("a.yaml", &config_map("a", "{}"));
    // Nobody can open a link to itself, not even root.
    symlink("x.yaml", project.path().join("payload/x.yaml")).unwrap();
    let error = project.render_error("test");
    assert!(error.starts_with("error: payload/x.yaml: the link has no target: "), "{error}");
}

#[test]
fn the_payload_must_be_a_folder() {
    let project = TestProject::standalone();
    assert_eq!(
        project.render_error("test"),
        "\
error: payload: cannot open the payload: No such file or directory (os error 2)
  help: set the folder of the manifests with --payload
"
    );
    let project = project.file("payload", "a file");
    assert_eq!(
        project.render_error("test"),
        "\
error: payload: the payload is not a folder
  help: set --payload to the folder of the manifests, not to one of them
"
    );
}
