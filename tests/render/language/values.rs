//! Parameters, and `${}` in texts.

use serde_json::json;

use super::{declare_parameters, project_with_three_objects};
use crate::support::{names, unindent};

#[test]
fn values_are_filled_in_and_lists_are_spliced() {
    let project = declare_parameters(project_with_three_objects()).profile(
        "test",
        r#"
        topology: t
        cluster: both
        policy:
        - for: ConfigMap
          set:
            data:
              text: ${a.text}
              whole: ${a.whole}
              flag: ${a.flag}
              list: [first, '${a.list}', last]
              gone: ${a.none}
              mixed: "<${a.text}-${a.whole}-${a.flag}>"
              escaped: $${a.text} $(X) $Y
              name: ${component.name}/${workload.kind}/${workload.name}
        "#,
    );
    assert_eq!(
        project.render("test")[2]["data"],
        json!({
            "text": "hello",
            "whole": "5",
            "flag": "true",
            "list": ["first", "x", {"k": "v"}, "last"],
            "mixed": "<hello-5-true>",
            "escaped": "${a.text} $(X) $Y",
            "name": "op/ConfigMap/cm",
        })
    );
}

#[test]
fn values_come_from_files_and_settings_and_the_last_wins() {
    let project = declare_parameters(project_with_three_objects())
        .profile(
            "test",
            r"
            topology: t
            cluster: both
            policy: [{for: ConfigMap, set: {data: {v: '${a.text}', w: '${a.whole}'}}}]
            ",
        )
        .file("one.yaml", "a: {text: one, whole: 1}")
        .file("two.yaml", "a.text: two");
    for (arguments, text, whole) in [
        (&[][..], "hello", "5"),
        (&["--params", "one.yaml"], "one", "1"),
        (&["--params", "one.yaml", "--params", "two.yaml"], "two", "1"),
        (&["--params", "one.yaml", "--set", "a.text=yes", "--set", "a.whole=7"], "yes", "7"),
    ] {
        let rendered = project.render_with("test", arguments);
        assert_eq!(rendered[2]["data"], json!({"v": text, "w": whole}), "{arguments:?}");
    }
}

#[test]
fn a_value_must_match_its_declaration() {
    let project = project_with_three_objects()
        .parameters(
            r"
            parameters:
              region: {type: string, description: d, pattern: '[a-z]+-[0-9]', default: eu-1}
              kind: {type: string, description: d, enum: [AWS, Azure], default: AWS}
              port: {type: port, description: d, default: 443}
              token: {type: string, description: d, secret: true, enum: [a], default: a}
              needed: {type: name, description: d}
            ",
        )
        .file(
            "p.yaml",
            r"
            region: EU
            kind: GCP
            port: 70000
            token: CANARY
            neded: x
            needed: Not_A_Name
            ",
        );
    let error = project.render_error_with("test", &["--params", "p.yaml"]);
    assert_eq!(
        error,
        unindent(
            r#"
            error: p.yaml:5:1: there is no parameter `neded`
              help: did you mean `needed`?
            error: p.yaml:2:7: the parameter `kind` must be one of "AWS", "Azure", not `GCP`
            error: p.yaml:6:9: the parameter `needed` must be a name of lower-case letters, digits, `-` and `.`, not `Not_A_Name`
            error: p.yaml:3:7: the parameter `port` must be a port number from 1 to 65535, not the number 70000
            error: p.yaml:1:9: the parameter `region` must be text that matches `[a-z]+-[0-9]`, not `EU`
            error: p.yaml:4:8: the parameter `token` must be one of "a"
            6 errors
            "#
        )
    );
    assert!(!error.contains("CANARY"), "the value of a secret parameter is in no message");
    project.assert_render_error(
        "test",
        r"
        error: profiles/parameters.yaml:9:3: the parameter `needed` has no value
          help: set it with --set needed=…, or in a file with --params
        ",
    );
}

#[test]
fn a_reference_that_cannot_be_replaced_is_an_error() {
    for (text, expected) in [
        (
            "${a.tex}",
            r"
            error: profiles/test.yaml:6:43: `${a.tex}` is not defined
              help: did you mean `${a.text}`?
            ",
        ),
        (
            "x ${a.list}",
            r"
            error: profiles/test.yaml:6:43: `${a.list}` is a list and cannot be part of a text
              object: ConfigMap/cm in ns
              help: make it the whole value
            ",
        ),
        (
            "x ${a.none}",
            r"
            error: profiles/test.yaml:6:43: `${a.none}` has no value and is part of a text
              object: ConfigMap/cm in ns
              help: give it a value, or make it the whole value, which is then left out
            ",
        ),
        (
            "${a b}",
            r"
            error: profiles/test.yaml:6:43: `${` must contain a name and end with `}`
              help: write `$${` for the text `${`
            ",
        ),
        (
            "${a.text",
            r"
            error: profiles/test.yaml:6:43: `${` must contain a name and end with `}`
              help: write `$${` for the text `${`
            ",
        ),
    ] {
        let policy = format!("policy: [{{for: ConfigMap, set: {{data: {{v: '{text}'}}}}}}]");
        let project = declare_parameters(project_with_three_objects())
            .profile("test", &format!("topology: t\ncluster: both\n{policy}"));
        project.assert_render_error("test", expected);
    }
}

/// Each text would change the structure around it if it were inserted before parsing.
#[test]
fn a_value_never_changes_the_structure_around_it() {
    let project = declare_parameters(project_with_three_objects()).profile(
        "test",
        r"
        topology: t
        cluster: both
        policy: [{for: ConfigMap, set: {data: {v: '${a.text}', w: 'x${a.text}z'}}}]
        ",
    );
    for text in [
        "a: b",
        "- x",
        "\"",
        "'",
        "line\nkey: value",
        "---\nkind: X",
        "${a.text}",
        "{{ x }}",
        "{\"a\": 1}",
        "yes",
        "#",
    ] {
        project.write("p.json", json!({"a": {"text": text}}).to_string());
        let rendered = project.render_with("test", &["--params", "p.json"]);
        assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
        assert_eq!(rendered[2]["data"], json!({"v": text, "w": format!("x{text}z")}));
    }
}

#[test]
fn the_namespace_of_a_profile_can_be_a_parameter() {
    let project = declare_parameters(project_with_three_objects()).profile(
        "test",
        r"
        topology: t
        cluster: both
        namespace: ${ns}
        ",
    );
    for object in project.render("test") {
        assert_eq!(object["metadata"]["namespace"], "target");
    }
}

#[test]
fn a_field_with_an_absent_value_is_left_out_in_policies() {
    let project = declare_parameters(project_with_three_objects()).profile(
        "test",
        r"
        topology: t
        cluster: both
        policy:
        - {for: Service, add: {metadata: {labels: {x: '${a.none}', kept: k}}}}
        - {for: ConfigMap, default: {metadata: {labels: {x: '${a.none}', kept: k}}}}
        ",
    );
    let rendered = project.render("test");
    assert_eq!(rendered[1]["metadata"]["labels"], json!({"kept": "k"}));
    assert_eq!(rendered[2]["metadata"]["labels"], json!({"kept": "k"}));
}

#[test]
fn explain_hides_the_value_of_a_secret_parameter() {
    let project = project_with_three_objects()
        .parameters("parameters: {token: {type: string, description: d, secret: true}}")
        .profile(
            "test",
            r"
            topology: t
            cluster: both
            policy: [{for: ConfigMap, set: {data: {v: 'x-${token}-y'}}}]
            ",
        );
    let arguments =
        ["explain", "configmap/cm", "--profile", "test", "--path", "/data/v", "--set", "token=s3cret"];
    let run = project.run(&arguments);
    assert_eq!(run.stderr, "");
    assert_eq!(
        run.stdout,
        unindent(
            r"
            ConfigMap/cm in ns (profile test)
            /data/v: <hidden>
              from profiles/test.yaml:6:43, set by the policy entry for every ConfigMap at profiles/test.yaml:6:10
            "
        )
    );
}
