//! `transship golden`: golden files compared with rendered objects.

use crate::support::{Folder, config_map, repository, run_in};

fn folder() -> Folder {
    let folder = Folder::with_payload(&[("op/0000_10_op_a.yaml", &config_map("a", "{key: one}"))]);
    let run = folder.run(&["golden", "update"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "golden/default/test: 2 files written\n"));
    folder
}

const FILE: &str = "golden/default/test/op/ns/ConfigMap_a.yaml";

#[test]
fn the_golden_files_of_the_bundled_payload_are_up_to_date() {
    let run = run_in(&repository(), &["golden", "check"], "");
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn update_writes_one_file_per_object_and_an_index() {
    let folder = folder();
    assert_eq!(
        folder.read(FILE),
        "apiVersion: v1\ndata:\n  key: one\nkind: ConfigMap\nmetadata:\n  annotations:\n    \
         include.release.openshift.io/test: \"true\"\n  name: a\n  namespace: ns\n"
    );
    assert_eq!(
        folder.read("golden/default/test/index.txt"),
        "# Applied in this order: run-level, file, and the manifest it came from.\n\
         10 op/ns/ConfigMap_a.yaml op/0000_10_op_a.yaml#1\n"
    );
    assert_eq!(folder.run(&["golden", "check"]).code, 0);
}

#[test]
fn a_changed_value_in_the_payload_is_a_difference() {
    let folder = folder();
    folder.write("payload/op/0000_10_op_a.yaml", config_map("a", "{key: two}"));
    let run = folder.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        format!(
            "{FILE} differs\n  /data/key: \"one\" -> \"two\"\n  --- golden\n  +++ rendered\n  @@ -1,6 +1,6 @@\n   \
             apiVersion: v1\n   data:\n  -  key: one\n  +  key: two\n   kind: ConfigMap\n   metadata:\n     annotations:\n"
        )
    );
    assert_eq!(
        run.stderr,
        "golden/default/test: 1 file differs; run `transship golden update` to update it\n"
    );
}

#[test]
fn any_changed_byte_of_a_golden_file_is_a_difference() {
    let folder = folder();
    let golden = folder.read(FILE);
    for at in 0..golden.len() {
        let mut changed = golden.clone().into_bytes();
        changed[at] ^= 1;
        folder.write(FILE, &changed);
        assert_eq!(folder.run(&["golden", "check"]).code, 1, "byte {at}");
    }
    folder.write(FILE, format!("{golden}\n"));
    let run = folder.run(&["golden", "check"]);
    assert!(
        run.stdout.starts_with(&format!("{FILE} differs\n  same values, different formatting\n")),
        "{}",
        run.stdout
    );
}

#[test]
fn stale_files_missing_files_and_a_changed_order_are_reported() {
    let folder = folder();
    folder.write("golden/default/test/op/ns/ConfigMap_old.yaml", "a: 1\n");
    folder.write("payload/op/0000_05_op_b.yaml", config_map("b", "{}"));
    let run = folder.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    for line in [
        "golden/default/test/op/ns/ConfigMap_b.yaml is missing: the object is new\n",
        "golden/default/test/op/ns/ConfigMap_old.yaml is stale: no object is rendered to this file\n",
        "golden/default/test/index.txt differs\n  the order in which objects are applied\n",
        "  +05 op/ns/ConfigMap_b.yaml op/0000_05_op_b.yaml#1\n",
    ] {
        assert!(run.stdout.contains(line), "{line} is not in\n{}", run.stdout);
    }
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    assert_eq!(folder.run(&["golden", "check"]).code, 0);
    assert!(!folder.path().join("golden/default/test/op/ns/ConfigMap_old.yaml").exists());
    let left: Vec<_> = std::fs::read_dir(folder.path().join("golden/default"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["test"], "no temporary folder is left behind");
}

#[test]
fn differences_can_be_printed_as_github_annotations() {
    let folder = folder();
    folder.write("payload/op/0000_10_op_a.yaml", config_map("a", "{key: two, 'a%b': c}"));
    let run = folder.run(&["golden", "check", "-o", "github"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        format!("::error file={FILE},line=3::/data/a%25b: \"c\" (added)%0A/data/key: \"one\" -> \"two\"\n")
    );
}

/// A Secret with a canary in every field that can contain its data.
fn secret(kind: &str, value: &str) -> String {
    config_map("s", &format!("{{key: {value}, same: CANARY}}"))
        .replace("kind: ConfigMap", &format!("kind: {kind}"))
        .replace(
            "  annotations:\n",
            &format!("  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: {value}\n"),
        )
        + &format!("stringData:\n  other: {value}\n")
}

#[test]
fn the_values_of_secrets_are_not_shown() {
    let folder = Folder::with_payload(&[("op/0000_10_op_a.yaml", &secret("Secret", "CANARY1"))]);
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    folder.write("payload/op/0000_10_op_a.yaml", secret("Secret", "CANARY2"));
    let path = "golden/default/test/op/ns/Secret_s.yaml";
    let golden = folder.read(path);
    for (what, golden) in [
        ("a Secret", golden.clone()),
        ("a golden file with another kind", golden.replace("kind: Secret", "kind: ConfigMap")),
        ("a golden file with another version", golden.replace("apiVersion: v1", "apiVersion: v2")),
        ("a golden file that is not valid YAML", golden.replace("key: ", "key: : ")),
        (
            "a golden file that is not valid YAML and has no kind",
            golden.replace("key: ", "key: : ").replace("Secret", ""),
        ),
    ] {
        folder.write(path, &golden);
        for format in ["text", "github"] {
            let run = folder.run(&["golden", "check", "-o", format]);
            assert_eq!(run.code, 1, "{what}");
            assert!(
                !run.stdout.contains("CANARY") && !run.stderr.contains("CANARY"),
                "{what}: {}",
                run.stdout
            );
        }
    }
    folder.write(path, golden);
    let run = folder.run(&["golden", "check"]);
    assert!(
        run.stdout.contains("/data/key: \"<hidden, before>\" -> \"<hidden, after>\"\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("/data/same: "), "{}", run.stdout);
}

#[test]
fn a_directory_with_other_files_is_not_replaced() {
    let folder = folder();
    folder.write("mine/notes.txt", "keep me");
    let run = folder.run(&["render", "--profile", "test", "--output", "mine"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with("error: mine: the folder contains files that transship did not write"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.read("mine/notes.txt"), "keep me");
    folder.write("mine/index.txt", "somebody else's index");
    assert_eq!(folder.run(&["render", "--profile", "test", "--output", "mine"]).code, 2);
    assert_eq!(folder.read("mine/notes.txt"), "keep me");
    let run = folder.run(&["render", "--profile", "test", "--output", "mine/notes.txt"]);
    assert!(
        run.code == 2 && run.stderr.contains("notes.txt: this is a file, not a folder"),
        "{}",
        run.stderr
    );
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    std::fs::create_dir(folder.path().join("real")).unwrap();
    assert_eq!(folder.run(&["render", "--profile", "test", "--output", "link"]).code, 0);
    assert!(folder.path().join("link").is_symlink() && folder.path().join("real/index.txt").is_file());
    let run = folder.run(&["render", "--profile", "test", "--output", "out"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "wrote out\nCOMPONENT  TEST\nop            1\ntotal         1\n");
    assert_eq!(folder.read("out/op/ns/ConfigMap_a.yaml"), folder.read(FILE));
}

#[test]
fn characters_that_file_systems_do_not_allow_are_escaped() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: \"system:a/../b%\"\n  \
                annotations: {include.release.openshift.io/test: 'true'}\n";
    let folder = Folder::with_payload(&[("x.yaml", role)]);
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    let path =
        "golden/default/test/_/_cluster/ClusterRole.rbac.authorization.k8s.io_system%3Aa%2F..%2Fb%25.yaml";
    assert!(folder.path().join(path).is_file());
}

#[test]
fn long_file_names_are_shortened_and_stay_unique() {
    let role = |last: char| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {}{last}\n  \
             annotations: {{include.release.openshift.io/test: 'true'}}\n",
            "x".repeat(251)
        )
    };
    let folder = Folder::with_payload(&[("x.yaml", &role('a')), ("y.yaml", &role('b'))]);
    let run = folder.run(&["golden", "update"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "golden/default/test: 3 files written\n"));
}

#[test]
fn invalid_utf8_in_a_golden_file_is_a_difference() {
    let folder = Folder::with_payload(&[("op/0000_10_op_a.yaml", &config_map("a", "{key: \u{fffd}}"))]);
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    let path = folder.path().join(FILE);
    let golden = std::fs::read(&path).unwrap();
    let at = golden.windows(3).position(|bytes| bytes == "\u{fffd}".as_bytes()).unwrap();
    std::fs::write(&path, [&golden[..at], b"\xff", &golden[at + 3..]].concat()).unwrap();
    assert_eq!(folder.run(&["golden", "check"]).code, 1);
}

#[test]
fn the_directory_of_a_removed_profile_is_stale() {
    let folder = folder();
    folder.write("profiles/gone.yaml", crate::support::profile("gone", ""));
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    std::fs::remove_file(folder.path().join("profiles/gone.yaml")).unwrap();
    let run = folder.run(&["golden", "check"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "golden/default/gone is stale: no profile and parameter set renders it\n")
    );
    assert_eq!(folder.run(&["golden", "check", "--profile", "test"]).code, 0);
    assert_eq!(folder.run(&["golden", "update"]).code, 0);
    assert!(!folder.path().join("golden/default/gone").exists());
}
