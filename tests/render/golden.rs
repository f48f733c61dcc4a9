//! `transship golden`: golden files compared with rendered objects.

use std::os::unix::fs::symlink;

use crate::support::{TestProject, config_map, repository, run_in};

const FILE: &str = "golden/default/test/op/ns/ConfigMap_a.yaml";

/// Creates a project with one ConfigMap and writes its golden files.
fn with_golden_files() -> TestProject {
    let project = TestProject::standalone().manifest("op/0000_10_op_a.yaml", &config_map("a", "{key: one}"));
    let run = project.run(&["golden", "update"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "golden/default/test: 2 files written\n"));
    project
}

#[test]
fn the_golden_files_of_the_bundled_payload_are_up_to_date() {
    let run = run_in(&repository(), &["golden", "check"], "");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

#[test]
fn update_writes_one_file_per_object_and_an_index() {
    let project = with_golden_files();
    assert_eq!(
        project.read(FILE),
        "\
apiVersion: v1
data:
  key: one
kind: ConfigMap
metadata:
  annotations:
    include.release.openshift.io/test: \"true\"
  name: a
  namespace: ns
"
    );
    assert_eq!(
        project.read("golden/default/test/index.txt"),
        "\
# Applied in this order: run-level, file, and the manifest it came from.
10 op/ns/ConfigMap_a.yaml op/0000_10_op_a.yaml#1
"
    );
    assert_eq!(project.run(&["golden", "check"]).code, 0);
}

#[test]
fn a_changed_value_in_the_payload_is_a_difference() {
    let project = with_golden_files().manifest("op/0000_10_op_a.yaml", &config_map("a", "{key: two}"));
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
golden/default/test/op/ns/ConfigMap_a.yaml differs
  /data/key: \"one\" -> \"two\"
  --- golden
  +++ rendered
  @@ -1,6 +1,6 @@
   apiVersion: v1
   data:
  -  key: one
  +  key: two
   kind: ConfigMap
   metadata:
     annotations:
"
    );
    assert_eq!(
        run.stderr,
        "golden/default/test: 1 file differs; run `transship golden update` to update it\n"
    );
}

#[test]
fn any_changed_byte_of_a_golden_file_is_a_difference() {
    let project = with_golden_files();
    let golden = project.read(FILE);
    for index in 0..golden.len() {
        let mut changed = golden.clone().into_bytes();
        changed[index] ^= 1;
        project.write(FILE, &changed);
        assert_eq!(project.run(&["golden", "check"]).code, 1, "byte {index}");
    }
}

#[test]
fn different_formatting_of_a_golden_file_is_a_difference() {
    let project = with_golden_files();
    project.write(FILE, project.read(FILE) + "\n");
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
golden/default/test/op/ns/ConfigMap_a.yaml differs
  same values, different formatting
  --- golden
  +++ rendered
  @@ -7,4 +7,3 @@
       include.release.openshift.io/test: \"true\"
     name: a
     namespace: ns
  -
"
    );
}

#[test]
fn stale_files_missing_files_and_a_changed_order_are_reported() {
    let project = with_golden_files()
        .file("golden/default/test/op/ns/ConfigMap_old.yaml", "a: 1\n")
        .manifest("op/0000_05_op_b.yaml", &config_map("b", "{}"));
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
golden/default/test/index.txt differs
  the order in which objects are applied
  --- golden
  +++ rendered
  @@ -1,2 +1,3 @@
   # Applied in this order: run-level, file, and the manifest it came from.
  +05 op/ns/ConfigMap_b.yaml op/0000_05_op_b.yaml#1
   10 op/ns/ConfigMap_a.yaml op/0000_10_op_a.yaml#1
golden/default/test/op/ns/ConfigMap_b.yaml is missing: the object is new
golden/default/test/op/ns/ConfigMap_old.yaml is stale: no object is rendered to this file
"
    );
}

#[test]
fn update_removes_stale_files_and_leaves_no_temporary_folder_behind() {
    let project = with_golden_files().manifest("op/0000_04_op_old.yaml", &config_map("old", "{}"));
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    assert!(project.path().join("golden/default/test/op/ns/ConfigMap_old.yaml").exists());
    std::fs::remove_file(project.path().join("payload/op/0000_04_op_old.yaml")).unwrap();
    let project = project.manifest("op/0000_05_op_b.yaml", &config_map("b", "{}"));
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    assert_eq!(project.run(&["golden", "check"]).code, 0);
    assert!(!project.path().join("golden/default/test/op/ns/ConfigMap_old.yaml").exists());
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(project.path().join("golden/default")).unwrap() {
        folders.push(entry.unwrap().file_name());
    }
    assert_eq!(folders, ["test"]);
}

#[test]
fn differences_can_be_printed_as_github_annotations() {
    let project =
        with_golden_files().manifest("op/0000_10_op_a.yaml", &config_map("a", "{key: two, 'a%b': c}"));
    let run = project.run(&["golden", "check", "-o", "github"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "::error file=golden/default/test/op/ns/ConfigMap_a.yaml,line=3::/data/a%25b: \"c\" (added)%0A/data/key: \"one\" -> \"two\"\n"
    );
}

/// Returns a Secret with a value in every field that can contain its data.
fn secret(value: &str) -> String {
    format!(
        "\
apiVersion: v1
kind: Secret
metadata:
  name: s
  namespace: ns
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: {value}
data: {{key: {value}, same: CANARY}}
stringData: {{other: {value}}}
"
    )
}

#[test]
fn the_values_of_secrets_are_not_shown() {
    let project = TestProject::standalone().manifest("op/0000_10_op_a.yaml", &secret("CANARY1"));
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let project = project.manifest("op/0000_10_op_a.yaml", &secret("CANARY2"));
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
golden/default/test/op/ns/Secret_s.yaml differs
  /data/key: \"<hidden, before>\" -> \"<hidden, after>\"
  /metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration: \"<hidden, before>\" -> \"<hidden, after>\"
  /stringData/other: \"<hidden, before>\" -> \"<hidden, after>\"
  --- golden
  +++ rendered
  @@ -1,12 +1,12 @@
   apiVersion: v1
   data:
  -  key: <hidden, before>
  +  key: <hidden, after>
     same: <hidden>
   kind: Secret
   metadata:
     annotations:
  -    kubectl.kubernetes.io/last-applied-configuration: <hidden, before>
  +    kubectl.kubernetes.io/last-applied-configuration: <hidden, after>
     name: s
     namespace: ns
   stringData:
  -  other: <hidden, before>
  +  other: <hidden, after>
"
    );
}

#[test]
fn the_values_of_secrets_are_not_shown_whatever_the_golden_file_contains() {
    let project = TestProject::standalone().manifest("op/0000_10_op_a.yaml", &secret("CANARY1"));
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let project = project.manifest("op/0000_10_op_a.yaml", &secret("CANARY2"));
    let path = "golden/default/test/op/ns/Secret_s.yaml";
    let golden = project.read(path);
    let invalid = golden.replace("key: ", "key: : ");
    for (case, golden) in [
        ("another kind", golden.replace("kind: Secret", "kind: ConfigMap")),
        ("another version", golden.replace("apiVersion: v1", "apiVersion: v2")),
        ("invalid YAML", invalid.clone()),
        ("invalid YAML without a kind", invalid.replace("Secret", "")),
        ("a Secret", golden),
    ] {
        project.write(path, &golden);
        for format in ["text", "github"] {
            let run = project.run(&["golden", "check", "-o", format]);
            assert_eq!(run.code, 1, "{case}");
            let output = run.stdout + &run.stderr;
            assert!(!output.contains("CANARY"), "{case}: {output}");
        }
    }
}

#[test]
fn a_folder_with_other_files_is_not_replaced() {
    let project = with_golden_files().file("mine/notes.txt", "keep me");
    let render = ["render", "--profile", "test", "--output", "mine"];
    assert_eq!(
        project.run(&render).refusal(),
        "\
error: mine: the folder contains files that transship did not write
  note: they would be deleted: notes.txt
  help: move them elsewhere, or choose an empty or a new folder
"
    );
    let project = project.file("mine/index.txt", "somebody else's index");
    assert_eq!(
        project.run(&render).refusal(),
        "\
error: mine: the folder contains files that transship did not write
  note: they would be deleted: index.txt, notes.txt
  help: move them elsewhere, or choose an empty or a new folder
"
    );
    assert_eq!(project.read("mine/notes.txt"), "keep me");
}

#[test]
fn a_foreign_file_in_a_folder_of_transship_is_never_deleted() {
    let project = with_golden_files();
    let render = ["render", "--profile", "test", "--output", "out"];
    assert_eq!(project.run(&render).code, 0);
    let index = project.read("out/index.txt");
    for folder in ["out", "golden/default/test", "golden/old/test"] {
        project.write(&format!("{folder}/index.txt"), &index);
        project.write(&format!("{folder}/op/mine.yaml"), "keep me");
        let update = ["golden", "update"];
        let run = project.run(if folder == "out" { &render[..] } else { &update });
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        let expected = format!(
            "error: {folder}: the folder contains files that transship did not write\n  note: they would be deleted: op/mine.yaml\n  help: move them elsewhere, or choose an empty or a new folder\n"
        );
        assert!(run.stderr.ends_with(&expected), "{}", run.stderr);
        assert_eq!(project.read(&format!("{folder}/op/mine.yaml")), "keep me");
        std::fs::remove_dir_all(project.path().join(folder)).unwrap();
    }
}

#[test]
fn golden_files_are_not_read_through_links_pipes_and_devices() {
    let project = with_golden_files().file("elsewhere/secret.yaml", "password: CANARY\n");
    let folder = project.path().join("golden/default/test/op");
    let name = std::fs::read_dir(folder.join("ns")).unwrap().next().unwrap().unwrap().file_name();
    let file = folder.join("ns").join(name);
    std::fs::remove_file(&file).unwrap();
    symlink(project.path().join("elsewhere/secret.yaml"), &file).unwrap();
    symlink("/dev/zero", folder.join("zero.yaml")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(folder.join("pipe.yaml")).status().unwrap();
    assert!(status.success());
    for format in ["text", "github"] {
        let run = project.run(&["golden", "check", "-o", format]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        let reported = run.stdout.matches("a link, a pipe or a device, which is not opened").count();
        assert_eq!(reported, 3, "{}", run.stdout);
        assert!(!run.stdout.contains("CANARY"), "{}", run.stdout);
    }
    std::fs::remove_dir_all(project.path().join("golden/default/test")).unwrap();
    symlink(project.path().join("elsewhere"), project.path().join("golden/default/test")).unwrap();
    for command in ["check", "update"] {
        assert_eq!(
            project.run(&["golden", command]).refusal(),
            "\
error: golden/default/test: this is not a folder
  note: golden files are not read or written through links, which may lead anywhere
  help: replace it with a folder
"
        );
    }
}

#[test]
fn the_name_of_a_stale_folder_cannot_start_a_line_of_output() {
    let project = with_golden_files();
    let index = project.read("golden/default/test/index.txt");
    project.write("golden/x\n::error::forged/test/index.txt", index);
    for arguments in [&["golden", "check"][..], &["golden", "check", "-o", "github"], &["golden", "update"]] {
        let run = project.run(arguments);
        let output = run.stdout + &run.stderr;
        assert!(output.contains("forged"), "{output}");
        assert!(!output.lines().any(|line| line.starts_with("::error::")), "{output}");
    }
}

#[test]
fn a_file_is_not_replaced_by_a_folder() {
    let project = with_golden_files().file("mine/notes.txt", "keep me");
    let run = project.run(&["render", "--profile", "test", "--output", "mine/notes.txt"]);
    assert_eq!(
        run.refusal(),
        "\
error: mine/notes.txt: this is a file, not a folder
  help: choose an empty or a new folder
"
    );
    assert_eq!(project.read("mine/notes.txt"), "keep me");
}

#[test]
fn objects_are_written_to_the_target_of_a_link() {
    let project = with_golden_files();
    symlink("real", project.path().join("link")).unwrap();
    std::fs::create_dir(project.path().join("real")).unwrap();
    assert_eq!(project.run(&["render", "--profile", "test", "--output", "link"]).code, 0);
    assert!(project.path().join("link").is_symlink());
    assert!(project.path().join("real/index.txt").is_file());
}

#[test]
fn render_writes_the_same_files_as_golden_update() {
    let project = with_golden_files();
    let run = project.run(&["render", "--profile", "test", "--output", "out"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout,
        "\
wrote out
COMPONENT  TEST
op            1
total         1
"
    );
    assert_eq!(project.read("out/op/ns/ConfigMap_a.yaml"), project.read(FILE));
}

#[test]
fn characters_that_file_systems_do_not_allow_are_escaped() {
    let project = TestProject::standalone().manifest(
        "x.yaml",
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: 'system:a/../b%', annotations: {x: x}}
        ",
    );
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let path =
        "golden/default/test/_/_cluster/ClusterRole.rbac.authorization.k8s.io_system%3Aa%2F..%2Fb%25.yaml";
    assert!(project.path().join(path).is_file());
}

#[test]
fn long_file_names_are_shortened_and_stay_unique() {
    let prefix = "x".repeat(251);
    let mut project = TestProject::standalone();
    for last in ["a", "b"] {
        let role = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
             metadata: {{name: {prefix}{last}, annotations: {{x: x}}}}\n"
        );
        project = project.manifest(&format!("{last}.yaml"), &role);
    }
    let run = project.run(&["golden", "update"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "golden/default/test: 3 files written\n"));
}

#[test]
fn invalid_utf8_in_a_golden_file_is_a_difference() {
    let project =
        TestProject::standalone().manifest("op/0000_10_op_a.yaml", &config_map("a", "{key: \u{fffd}}"));
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let golden = project.read(FILE);
    let (before, after) = golden.split_once('\u{fffd}').unwrap();
    project.write(FILE, [before.as_bytes(), b"\xff", after.as_bytes()].concat());
    assert_eq!(project.run(&["golden", "check"]).code, 1);
}

#[test]
fn the_folder_of_a_removed_profile_is_stale() {
    let project = with_golden_files().profile("gone", "topology: gone\ncluster: both\n");
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    std::fs::remove_file(project.path().join("profiles/gone.yaml")).unwrap();
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout, "golden/default/gone is stale: no profile and parameter set renders it\n");
    assert_eq!(project.run(&["golden", "check", "--profile", "test"]).code, 0);
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    assert!(!project.path().join("golden/default/gone").exists());
}
