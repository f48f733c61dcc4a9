//! Values that are read from objects of the guest: every type must be limited, and no value gets past its limits.

use serde_json::{Value, json};

use crate::support::{CHECKS, TestProject, object};

/// Declares a parameter `p` that is read from the Infrastructure, and writes it into the annotation of a ConfigMap, or as
/// its data.
fn project(declaration: &str) -> TestProject {
    let target = if declaration.contains("type: map") { "data: '${p}'" } else { "data: {p: '${p}'}" };
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "a", "data: {}"))
        .parameters(&format!(
            "parameters:\n  p: {{description: d, optional: true, {declaration}, read: {{object: Infrastructure, path: /status/p}}}}\n"
        ))
        .file("profiles/checks.yaml", CHECKS)
        .profile("one", &format!("topology: one\ncluster: both\npolicy: [{{for: ConfigMap, set: {{{target}}}}}]"))
}

/// Returns the position of a text in the declaration.
fn position(declaration: &str, text: &str) -> String {
    let before = "  p: {description: d, optional: true, ".len() + declaration.find(text).unwrap();
    format!("5:{}", before + 1)
}

/// Gives the parameter a value in the Infrastructure.
fn with_value(project: TestProject, value: &Value) -> TestProject {
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure",
        "metadata": {"name": "cluster"}, "status": {"p": value},
    });
    project.file("infra.json", &infrastructure.to_string())
}

const FLAG: [&str; 2] = ["--infrastructure", "infra.json"];
const NOTE: &str = "\n  note: it is read from `/status/p` of the Infrastructure\n";

/// Asserts that the value is refused, and with which problem.
fn assert_refused(declaration: &str, value: &Value, problem: &str) {
    let errors = with_value(project(declaration), value).render_error_with("one", &FLAG);
    let (location, message) = errors.split_once(": the parameter `p` ").expect(&errors);
    assert!(location.starts_with("error: infra.json:1:"), "{errors}");
    assert_eq!(message, format!("{problem}{NOTE}"), "{declaration}");
}

const MAP: &str = "type: map, keys: '[a-z./-]+', pattern: '[a-z]*'";
const LIST: &str = "type: list, pattern: '[a-z]*'";
const TEXT: &str = "type: string, pattern: '[a-z]*'";

#[test]
fn a_map_of_the_guest_has_allowed_keys_and_values() {
    let value = json!({"node-role/infra": "", "zone": "a"});
    assert_eq!(with_value(project(MAP), &value).render_with("one", &FLAG)[0]["data"], value);
    for (value, problem) in [
        (json!({"a": {"b": "c"}}), "must be text that matches `[a-z]*`, not a map"),
        (json!({"a": ["b"]}), "must be text that matches `[a-z]*`, not a list"),
        (json!({"a": true}), "must be text that matches `[a-z]*`, not true"),
        (json!({"a": "B"}), "must be text that matches `[a-z]*`, not `B`"),
        (json!({"A": "b"}), "must have only keys that match `[a-z./-]+`, not the key `A`"),
        (json!({"": "b"}), "must have only keys that match `[a-z./-]+`, not the key ``"),
        (json!("a"), "must be a map, not the text `a`"),
    ] {
        assert_refused(MAP, &value, problem);
    }
    let listed = "type: map, keys: [a, b], pattern: '[a-z]*'";
    assert_refused(listed, &json!({"c": "x"}), "must have only the keys `a`, `b`, not the key `c`");
}

#[test]
fn a_list_of_the_guest_has_allowed_items() {
    let value = json!(["a", "b"]);
    assert_eq!(with_value(project(LIST), &value).render_with("one", &FLAG)[0]["data"]["p"], value);
    for (value, problem) in [
        (json!(["a", {"b": "c"}]), "must be text that matches `[a-z]*`, not a map"),
        (json!([["a"]]), "must be text that matches `[a-z]*`, not a list"),
        (json!(["a", 1]), "must be text that matches `[a-z]*`, not the number 1"),
        (json!(["a", "a b"]), "must be text that matches `[a-z]*`, not `a b`"),
        (json!({"a": "b"}), "must be a list, not a map"),
    ] {
        assert_refused(LIST, &value, problem);
    }
}

#[test]
fn values_of_the_guest_have_a_limited_size() {
    let (long, items) = ("a".repeat(1025), vec!["a"; 65]);
    let map: serde_json::Map<String, Value> = (0..65u8)
        .map(|i| (char::from(b'a' + i % 26).to_string().repeat(1 + usize::from(i / 26)), json!("a")))
        .collect();
    for (declaration, value, problem) in [
        (TEXT, json!(long), "must have at most 1024 characters"),
        ("type: string, pattern: '[a-z]*', maxLength: 3", json!("aaaa"), "must have at most 3 characters"),
        (LIST, json!([long]), "must have at most 1024 characters"),
        (LIST, json!(items), "must have at most 64 items, not 65"),
        ("type: list, pattern: '[a-z]*', maxItems: 1", json!(["a", "b"]), "must have at most 1 items, not 2"),
        (MAP, json!(map), "must have at most 64 items, not 65"),
        (MAP, json!({"a": long}), "must have at most 1024 characters"),
        (MAP, json!({long.as_str(): "a"}), "must have at most 1024 characters"),
    ] {
        assert_refused(declaration, &value, problem);
    }
    let allowed = with_value(project("type: string, pattern: '[a-z]*', maxLength: 2000"), &json!(long));
    assert_eq!(allowed.render_with("one", &FLAG)[0]["data"]["p"], json!(long));
}

#[test]
fn no_pattern_lets_line_breaks_and_invisible_characters_of_the_guest_pass() {
    // The check tries common texts, and none of them starts with `x:`.
    let declaration = r"type: string, pattern: 'x:(?s).*'";
    let problem = "must be text without line breaks, control characters and invisible characters";
    for hostile in ["x:a\nb", "x:\r", "x:\u{1b}[2J", "x:\u{0}", "x:\u{202e}", "x:\u{200b}", "x:\u{2028}"] {
        assert_refused(declaration, &json!(hostile), problem);
    }
}

#[test]
fn messages_show_an_excerpt_of_a_hostile_value_in_one_line() {
    let hostile = format!("A\n::error::\u{1b}[2J{}", "x".repeat(5000));
    let errors =
        with_value(project("type: string, enum: [a]"), &json!(hostile)).render_error_with("one", &FLAG);
    let quoted = format!(r"A\n::error::\u{{1b}}[2J{}…", "x".repeat(100 - 15));
    assert!(errors.ends_with(&format!("must be one of \"a\", not `{quoted}`{NOTE}")), "{errors}");
}

/// Asserts what lint reports about a declaration.
fn assert_unlimited(declaration: &str, at: Option<&str>, accepts: &str, help: &str) {
    let position = at.map_or("5:3".to_owned(), |text| position(declaration, text));
    assert_eq!(
        project(declaration).lint(&[]).refusal(),
        format!(
            "error[unvalidated-guest-value]: profiles/parameters.yaml:{position}: the parameter `p` is read from the guest and accepts {accepts}\n  \
             note: the guest's administrator decides what the value is\n  help: {help}\n"
        ),
        "{declaration}"
    );
}

#[test]
fn every_type_that_can_contain_anything_must_be_limited() {
    let text = "limit it with `pattern` or `enum`";
    assert_unlimited("type: string", None, "any value", text);
    assert_unlimited("type: path", None, "any value", text);
    assert_unlimited("type: string, maxLength: 9", None, "any value", text);
    assert_unlimited("type: list", None, "any value", "limit the items with `pattern`");
    assert_unlimited("type: list, maxItems: 3", None, "any value", "limit the items with `pattern`");
    assert_unlimited("type: map, pattern: '[a-z]+'", None, "any key", "limit the keys with `keys`");
    assert_unlimited("type: map, keys: '[a-z]+'", None, "any value", "limit the values with `pattern`");
    for limited in
        ["type: name", "type: int", "type: port", "type: bool", "type: string, enum: [a]", MAP, LIST, TEXT]
    {
        assert_eq!(project(limited).lint(&[]).code, 0, "{limited}");
    }
}

#[test]
fn a_pattern_that_accepts_hostile_characters_is_no_limit() {
    let help = "list the allowed characters, as in `[A-Za-z0-9.-]+`";
    let all = "line breaks, control characters, invisible characters, `{` and `$`";
    let most = "control characters, invisible characters, `{` and `$`";
    for (pattern, accepted) in
        [("(?s).*", all), (r"[\s\S]*", all), (".*", most), (".+", most), ("[a-z{]+", "`{`")]
    {
        let accepts = format!("values with {accepted}");
        assert_unlimited(&format!("type: string, pattern: '{pattern}'"), Some("'"), &accepts, help);
    }
    assert_unlimited("type: map, keys: '.+', pattern: a", Some("'.+'"), &format!("keys with {most}"), help);
    assert_unlimited("type: list, pattern: '.+'", Some("'.+'"), &format!("values with {most}"), help);
    // The default tells what texts the pattern accepts.
    assert_unlimited(
        "type: string, default: 'x:', pattern: 'x:.*'",
        Some("'x:.*"),
        &format!("values with {most}"),
        help,
    );
}

#[test]
fn a_limit_must_fit_the_type() {
    for (declaration, at, message, field) in [
        (
            "type: int, pattern: '[0-9]'",
            "'[0",
            "`pattern` limits text, but the value is a whole number",
            "pattern",
        ),
        (
            "type: bool, maxLength: 1",
            "1",
            "`maxLength` limits text, but the value is true or false",
            "maxLength",
        ),
        (
            "type: name, maxItems: 1",
            "1",
            "`maxItems` limits a list or a map, but the value is a name of lower-case letters, digits, `-` and `.`",
            "maxItems",
        ),
        ("type: list, keys: [a], pattern: a", "[a", "`keys` limits a map, but the value is a list", "keys"),
    ] {
        let errors = project(declaration).lint(&[]).refusal();
        let position = position(declaration, at);
        let expected =
            format!("error: profiles/parameters.yaml:{position}: {message}\n  help: remove `{field}`\n");
        assert_eq!(errors, expected, "{declaration}");
    }
    let wrong = "type: map, keys: 1, pattern: a";
    let problem = "`keys` must be a regular expression or a list of keys, not a number";
    assert_eq!(
        project(wrong).lint(&[]).refusal(),
        format!("error: profiles/parameters.yaml:{}: {problem}\n", position(wrong, "1"))
    );
}
