//! The message, position and help for every kind of invalid text.
#![allow(
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and a table may be long"
)]

use kubernetes_yaml::{SourceId, SyntaxError, read};

fn refused(text: &str) -> SyntaxError {
    match read(text, SourceId::default()) {
        Err(error) => error,
        Ok(documents) => panic!("{text:?} was read as {documents:?}"),
    }
}

/// Formats an error as `line:column: message`.
fn shown(error: &SyntaxError) -> String {
    format!("{}:{}: {}", error.line, error.column, error.message())
}

#[test]
fn yaml() {
    for (text, message, help) in [
        (
            "a: [1,\n",
            "2:1: expected a value",
            "check the indentation of this line, and that every bracket and brace is closed",
        ),
        (
            "a: b: c\n",
            "1:5: unexpected `: ` inside a value",
            "put the value in quotes if the `:` is part of it; otherwise check the indentation",
        ),
        (
            "a: 1\n b: 2\n",
            "2:3: unexpected `: ` inside a value",
            "put the value in quotes if the `:` is part of it; otherwise check the indentation",
        ),
        ("a:\n\t- b\n", "2:1: a tab cannot be used for indentation", "indent with spaces"),
        (
            "a: x\n\ty\n",
            "2:1: a tab cannot be used for indentation",
            "indent with spaces; the value that starts on line 1 continues here",
        ),
        (
            "a: |\n\tb\n",
            "2:1: a tab cannot be used for indentation",
            "indent the lines of a block with spaces; a tab may follow the spaces",
        ),
        (
            "a: *b\n",
            "1:4: this alias refers to an unknown anchor",
            "define the anchor earlier in the same document; put a value that begins with `*` in quotes",
        ),
        ("a: &b [*b]\n", "1:8: this alias refers to a value that contains it", ""),
        (
            "a: \"b\n",
            "1:4: the closing quote is missing",
            "close the quote; a line that starts with `---` ends the document, even inside quotes",
        ),
        (
            "a: \"\\/\"\n",
            "1:5: unknown escape sequence",
            "write `\\\\` for a backslash in double quotes, or use single quotes",
        ),
        ("a: \"\\x4\"\n", "1:5: the escape sequence has too few hexadecimal digits", ""),
        (
            "a: \"\\ud83d\"\n",
            "1:5: the escape sequence is not a Unicode character",
            "write the character itself, or `\\U` with eight digits; YAML has no surrogate pairs",
        ),
        ("a: {{ x }}\n", "1:5: a list or map cannot be a key", "put a template such as `{{ x }}` in quotes"),
        (
            "a: 1\n--- b\n",
            "2:1: unexpected text after `---`",
            "put it on the next line; if this line belongs to a string, indent it",
        ),
        (
            "%YAML 1.1\n---\na: 1\n",
            "1:1: directives such as `%YAML` and `%TAG` are not supported",
            "remove the directive; kubectl refuses it as well",
        ),
        (
            "a: 1\nb\n",
            "2:1: expected `:` after this key",
            "write `key: value`, with a space after the colon; indent the further lines of a value deeper than its key",
        ),
        ("a: @b\n", "1:4: `@` cannot start a value", "put the value in quotes"),
        ("a: .inf\n", "1:4: JSON cannot represent this number", "put it in quotes if it is text"),
        ("~: 1\n", "1:1: null cannot be a key", "put the key in quotes if it is text"),
        (
            "<<: 1\n",
            "1:1: the merge key `<<` needs a map or a list of maps",
            "put `<<` in quotes if it is an ordinary key",
        ),
        (
            "a: !!int x\n",
            "1:10: this value does not match its tag `tag:yaml.org,2002:int`",
            "remove the tag, or write a value of that type",
        ),
        (
            "a: \u{1}\n",
            "1:4: the control character U+0001 is not allowed",
            "remove it, or write it as an escape sequence in double quotes",
        ),
        (
            "- a\nb: 1\n",
            "2:1: expected a list item that starts with `-`",
            "check that this line is indented like the list it belongs to",
        ),
        ("a: 1\n- b\n", "2:1: expected a key", "check that this line is indented like the map it belongs to"),
        (
            "a: - b\n",
            "1:4: a list item cannot start here",
            "start the list on the line after its key, with every `-` in the same column",
        ),
        ("a: ? b\n", "1:4: a key with `?` cannot start here", ""),
        (
            "a: | b\n",
            "1:4: unexpected text after `|` or `>`",
            "start the text on the next line, indented; put a value that begins with `|` or `>` in quotes",
        ),
        (
            "a: &\n",
            "1:4: invalid name of an anchor or alias",
            "use letters, digits, `-` and `_`; put a value that begins with `&` or `*` in quotes",
        ),
        ("a: !<x\n", "1:4: invalid tag", "put a value that begins with `!` in quotes"),
        (
            "{a: b c: d}\n",
            "1:8: expected `,` or `}`",
            "close the bracket or brace; if this is text, put it in quotes",
        ),
        (
            "[a b: c\n",
            "2:1: expected `,` or `]`",
            "close the bracket or brace; if this is text, put it in quotes",
        ),
        ("18446744073709551615: a\n", "1:1: this integer is too large for a key", ""),
        (
            "\u{feff}\u{feff}a: 1\n",
            "1:1: the document starts with two byte-order marks",
            "remove them; Kubernetes loses the first character of some lines after two marks",
        ),
        (
            "---\n...\nkind: Role\n",
            "3:1: Kubernetes ignores this text, because the document before it is empty and ends here",
            "remove the line `...`, or write `---` in its place",
        ),
    ] {
        let error = refused(text);
        assert_eq!(shown(&error), message, "{text:?}");
        assert_eq!(error.help().unwrap_or_default(), help, "{text:?}");
    }
}

#[test]
fn json() {
    for (text, message) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "3:3: expected `,`"),
        ("{}{}{\"a\": 1,}", "1:13: expected another item after `,`"),
        ("{}{}{\"a\": tru}", "1:11: expected `true`"),
        ("{}{}{\"a\": 1e999}", "1:11: JSON cannot represent this number"),
        ("{}{}{\"a\": \"b", "1:11: the string is not closed, or contains a control character"),
        ("{}{}{\"a\": \"\\x\"}", "1:12: unknown escape sequence"),
        ("{}{}{\"a\": \"\\u12\"}", "1:12: `\\u` needs four hexadecimal digits"),
        ("{}{}{\"a\": }", "1:11: expected a JSON value"),
    ] {
        assert_eq!(shown(&refused(text)), message, "{text:?}");
    }
}

#[test]
fn keys_that_are_too_long() {
    let error = refused(&format!("{}: 1\n", "k".repeat(1025)));
    assert_eq!(shown(&error), "1:1026: the key is longer than 1,024 characters");
}

#[test]
fn nesting_that_is_too_deep() {
    let message = "this value is nested more than 500 levels deep";
    for text in ["[".repeat(100_000), "- ".repeat(100_000), format!("{{\"a\":{}", "[".repeat(100_000))] {
        assert_eq!(refused(&text).message(), message);
    }
    let nested = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    assert!(read(&nested, SourceId::default()).is_ok());
    assert_eq!(refused(&format!("- {nested}")).message(), message);
}

#[test]
fn aliases_that_expand_to_an_excessive_size() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let aliases = format!("*a{}, ", level - 1).repeat(10);
        text = format!("{text}a{level}: &a{level} [{aliases}]\n");
    }
    assert_eq!(refused(&text).message(), "aliases expand this document to an excessive size");
}

#[test]
fn the_error_is_a_standard_error() {
    let error: Box<dyn std::error::Error> = refused("a: b: c\n").into();
    assert_eq!(error.to_string(), "line 1, column 5: unexpected `: ` inside a value");
}
