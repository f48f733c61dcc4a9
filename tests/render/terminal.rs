//! Names and values cannot move the cursor of a terminal, hide or reorder text, or start a line of output.

use crate::support::{TestProject, object};

/// Characters that a terminal must not receive, each in a text of its own.
const HOSTILE: [char; 8] =
    ['\u{1b}', '\u{7}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{2028}', '\u{e0041}'];

fn is_hostile(character: char) -> bool {
    HOSTILE.contains(&character)
}

/// Creates a project with hostile characters in names, keys and values. Object names, which the API server restricts, are
/// those of RBAC, where it does not.
fn project() -> TestProject {
    let escapes = HOSTILE.map(|character| format!("\\U{:08x}", u32::from(character))).concat();
    let text = format!("\"x{escapes}y\"");
    let body = format!("data: {{{text}: {text}, list: 'plain'}}\nextra: [{{name: {text}, a: 1}}]\n");
    let role = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {text}, annotations: {{x: x}}}}\nrules: []\n"
    );
    TestProject::new()
        .profile("test", "topology: test\ncluster: both\n")
        .profile("other", "topology: other\ncluster: both\nselect: {featureSet: Default}\npolicy: [{for: ConfigMap, set: {data: null, extra: null}}]\n")
        .checks("externals: [{objects: [Namespace/*], reason: a test}]\n")
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", &body))
        .manifest("op/2.yaml", &role)
        .manifest("op/3\u{202e}.yaml", &object("v1", "ConfigMap", "ns", "d", ""))
}

#[test]
fn no_command_prints_characters_that_hide_or_move_text() {
    let project = project();
    let run = project.run(&["render", "--profile", "test", "--output", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    project.write("golden/default/test/index.txt", project.read("out/index.txt"));
    for arguments in [
        &["render", "--profile", "test", "--no-check"][..],
        &["render", "--profile", "test", "--no-check", "-o", "json"],
        &["list", "--profile", "test"],
        &["list", "--profile", "test", "-o", "json"],
        &["lint"],
        &["lint", "-o", "json"],
        &["lint", "-o", "sarif"],
        &["explain", "configmap/c", "--profile", "test"],
        &["diff", "--profile", "test", "--profile", "other"],
        &["golden", "check"],
        &["golden", "check", "-o", "github"],
        &["fmt", "payload/op/1.yaml"],
        &["fmt", "payload/op/1.yaml", "-o", "json"],
        &["explain", "configmap/\u{1b}[2J", "--profile", "test"],
    ] {
        for logging in [&["-vvv"][..], &["-vvv", "--log-format", "json"]] {
            let run = project.run_checked(&[arguments, logging].concat());
            let output = run.stdout + &run.stderr;
            assert!(!output.is_empty(), "{arguments:?}");
            assert!(!output.contains(is_hostile), "{arguments:?} prints\n{}", output.escape_debug());
        }
    }
}

#[test]
fn yaml_and_json_keep_the_value() {
    let project = project();
    let json = project.render("test");
    let hostile: String = HOSTILE.iter().collect();
    let key = format!("x{hostile}y");
    assert_eq!(json[0]["data"][&key], key.as_str());
    let yaml = project.run(&["render", "--profile", "test"]).stdout;
    let escaped = r#""x\e\a\x7F\x9B\u202E\u200B\L\U000E0041y""#;
    assert!(yaml.contains(&format!("? {escaped}\n  : {escaped}\n")), "{yaml}");
}
