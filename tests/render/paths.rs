//! Paths in files of a project stay inside: no name and no link reads another file of the host.

use std::os::unix::fs::symlink;

use crate::support::{TestProject, object, unindent};

/// Creates a project with a page whose patch file has this path.
fn with_patch_path(path: &str) -> TestProject {
    TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", "data: {}"))
        .page("op", &format!("patches: [{{reason: r, target: {{kind: ConfigMap}}, path: {path}}}]"))
        .file("outside.yaml", "data: {a: CANARY}\n")
}

#[test]
fn a_patch_file_is_below_the_folder_of_its_page() {
    let project = with_patch_path("more/patch.yaml").file("payload/op/more/patch.yaml", "data: {a: b}\n");
    assert_eq!(project.render("test")[0]["data"]["a"], "b");
    let project = with_patch_path("patch.yaml").file("patches/op/patch.yaml", "data: {a: c}\n");
    assert_eq!(project.render("test")[0]["data"]["a"], "c");
}

#[test]
fn a_patch_file_for_several_pages_is_directly_in_patches() {
    let project = with_patch_path("patch.yaml")
        .manifest("other/1.yaml", &object("v1", "ConfigMap", "ns", "d", "data: {}"))
        .page("other", "patches: [{reason: r, target: {kind: ConfigMap}, path: patch.yaml}]")
        .file("patches/patch.yaml", "data: {a: shared}\n");
    for object in project.render("test") {
        assert_eq!(object["data"]["a"], "shared", "{object}");
    }
    let project = project.file("patches/op/patch.yaml", "data: {a: own}\n");
    let values: Vec<_> = project.render("test").iter().map(|object| object["data"]["a"].clone()).collect();
    assert_eq!(values, ["own", "shared"]);
}

#[test]
fn a_patch_path_cannot_leave_its_folder() {
    let absolute = with_patch_path("x").path().join("outside.yaml").display().to_string();
    for path in ["../../outside.yaml", "more/../../../outside.yaml", absolute.as_str(), "/etc/passwd"] {
        let project = with_patch_path(path);
        project.assert_render_error(
            "test",
            &format!(
                "
                error: payload/op/component.yaml:4:56: the path leaves its folder: `{path}`
                  note: a page cannot read other files of the host
                  help: create it beside the page, in patches/op/, or for several pages in patches/
                "
            ),
        );
    }
}

#[test]
fn a_link_cannot_leave_its_folder() {
    let project = with_patch_path("patch.yaml");
    std::fs::create_dir_all(project.path().join("patches/op")).unwrap();
    symlink(project.path().join("outside.yaml"), project.path().join("patches/op/patch.yaml")).unwrap();
    project.assert_render_error(
        "test",
        "
        error: payload/op/component.yaml:4:56: the link leaves its folder: `patch.yaml`
          note: a page cannot read other files of the host
          help: create it beside the page, in patches/op/, or for several pages in patches/
        ",
    );
}

#[test]
fn a_link_cannot_leave_the_profiles_folder() {
    for (link, target) in [
        ("profiles/sets/default.yaml", "outside.yaml"),
        ("profiles/fragments/f.yaml", "outside.yaml"),
        ("profiles/components/c.yaml", "outside.yaml"),
        ("profiles/more.yaml", "outside.yaml"),
        ("profiles/fragments/f/1.yaml", "outside.yaml"),
    ] {
        let project = TestProject::standalone()
            .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", ""))
            .fragment_folder("f", "adds: [{nothing: x}]", &[])
            .file("outside.yaml", "CANARY: [x\n");
        let path = project.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(project.path().join(target), path).unwrap();
        assert_eq!(
            project.render_error("test"),
            unindent(&format!(
                "
                error: {link}: the link leaves the profiles folder
                  note: a project cannot read other files of the host
                  help: replace the link with a copy of its target
                "
            ))
        );
    }
}

#[test]
fn a_link_inside_the_profiles_folder_is_followed() {
    let project =
        TestProject::standalone().manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", "")).file(
            "profiles/data/real.txt",
            "apiVersion: transship.openshift.io/v1\nkind: Parameters\nmetadata: {name: default}\n",
        );
    std::fs::create_dir_all(project.path().join("profiles/sets")).unwrap();
    symlink("../data/real.txt", project.path().join("profiles/sets/default.yaml")).unwrap();
    assert_eq!(project.render("test").len(), 1);
}
