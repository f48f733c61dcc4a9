//! Finds credentials in texts: keys, tokens, kubeconfigs, registry credentials and passwords.
//!
//! The functions decode base64 and read JSON, YAML and INI, so they find a credential in any of these forms.
//! Placeholders such as `${password}` and paths of files do not count as credentials. The time is linear in the length
//! of the string.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE_NO_PAD as BASE64_URL};

use crate::yaml::{self, Node, SourceId, Value};

pub(super) const PRIVATE_KEY: &str = "a private key";
pub(super) const TOKEN: &str = "a token";
const PASSWORD: &str = "a password";
const KUBECONFIG: &str = "a kubeconfig";
const CLOUD: &str = "cloud credentials";
const REGISTRY: &str = "registry credentials";

/// How often a text may be encoded in base64: in the data of a Secret, and once more by mistake.
const MAX_ENCODINGS: usize = 2;

/// Texts up to this length are too short for a key, a token or a file with credentials.
const LONGEST_HARMLESS_TEXT: usize = 16;

/// Texts above this length are not read as YAML, only line by line. The files that programs read are much shorter.
const LONGEST_YAML: usize = 256 * 1024;

/// Returns the credentials in a string of any object. Finds only credentials that cannot be mistaken for something
/// else.
pub(super) fn in_text(text: &str) -> Option<&'static str> {
    in_each_encoding(text, |text| {
        in_any_text(text)
            .or_else(|| in_structure(text, SettingsOf::Kubeconfigs))
            .or_else(|| text.lines().find_map(|line| in_line(line).filter(|content| *content == CLOUD)))
    })
}

/// Returns the credentials that a file contains, such as a value of a ConfigMap or Secret. Also finds passwords in
/// settings.
pub(super) fn in_file(text: &str) -> Option<&'static str> {
    in_each_encoding(text, |text| {
        in_any_text(text)
            .or_else(|| in_structure(text, SettingsOf::Programs))
            .or_else(|| text.lines().find_map(in_line))
    })
}

/// Returns the credentials that a setting contains by its name, such as `aadClientSecret` or `DB_PASSWORD`.
pub(super) fn in_setting(name: &str, value: &str) -> Option<&'static str> {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let content = if ends_with(&["password", "passwd", "passphrase"]) {
        PASSWORD
    } else if ends_with(&["clientsecret", "secretaccesskey", "accesskeysecret", "privatekey"]) {
        CLOUD
    } else if ends_with(&["token", "apikey"]) && looks_random(value) {
        TOKEN
    } else {
        return None;
    };
    is_literal(value).then_some(content)
}

/// Decodes base64, in one line or several. Returns `None` if the text is not base64 of a text.
pub(super) fn decode_base64(text: &str) -> Option<String> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !text.bytes().all(|byte| is_base64(byte) || byte.is_ascii_whitespace()) {
        return None;
    }
    let joined: Cow<'_, str> = if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        text.split_ascii_whitespace().collect()
    } else {
        text.into()
    };
    String::from_utf8(BASE64.decode(joined.as_bytes()).ok()?).ok()
}

/// Calls a function for a string, for its base64-decoded value, and for that value decoded again. Returns the first
/// result.
fn in_each_encoding(text: &str, find: impl Fn(&str) -> Option<&'static str>) -> Option<&'static str> {
    if text.len() <= LONGEST_HARMLESS_TEXT {
        return find(text).or_else(|| find(&decode_base64(text)?));
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_ENCODINGS {
        if let Some(found) = find(&text) {
            return Some(found);
        }
        text = Cow::Owned(decode_base64(&text)?);
    }
    find(&text)
}

/// Returns the credentials that are recognizable wherever they are in a text.
fn in_any_text(text: &str) -> Option<&'static str> {
    if contains_private_key(text) {
        return Some(PRIVATE_KEY);
    }
    contains_jwt(text).then_some(TOKEN)
}

/// Returns whether a text has a PEM header of a private key with key material after it, not only the header.
fn contains_private_key(text: &str) -> bool {
    const HEADER: &str = "PRIVATE KEY-----";
    const SHORTEST_KEY: usize = 16;
    text.match_indices(HEADER).any(|(start, _)| {
        // Line breaks may be written as `\n`.
        let body = text[start + HEADER.len()..]
            .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\\' || letter == 'n');
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        body.bytes().take(SHORTEST_KEY).take_while(is_base64).count() == SHORTEST_KEY
    })
}

/// Returns whether a text contains a signed JSON Web Token, such as the token of a `ServiceAccount`.
fn contains_jwt(text: &str) -> bool {
    /// The beginning of a JSON object in base64.
    const START: &str = "eyJ";
    if !text.contains(START) {
        return false;
    }
    let is_part_of_token = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    text.split(|letter: char| !is_part_of_token(letter)).filter(|word| word.starts_with(START)).any(|word| {
        let mut parts = word.splitn(4, '.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let header = BASE64_URL.decode(header).unwrap_or_default();
        let names_algorithm = header.windows(5).any(|window| window == b"\"alg\"");
        names_algorithm && claims.starts_with(START) && !signature.is_empty()
    })
}

/// The settings to look at in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingsOf {
    /// Those of kubeconfigs and of registries, which are always credentials.
    Kubeconfigs,
    /// Those of all programs.
    Programs,
}

/// Returns the credentials in the structure of a JSON or YAML file.
fn in_structure(text: &str, settings: SettingsOf) -> Option<&'static str> {
    // Few strings contain one of these names. Searching for them is much cheaper than reading every string as YAML.
    const NAMES: [&str; 8] = ["users", "auth", "assword", "asswd", "ecret", "oken", "SECRET", "TOKEN"];
    let is_candidate = text.len() <= LONGEST_YAML && text.contains(':');
    if !is_candidate || !NAMES.iter().any(|name| text.contains(name)) {
        return None;
    }
    let documents = yaml::read(text, SourceId(0)).ok()?;
    documents.iter().find_map(|document| in_node(&document.root, settings))
}

fn in_node(node: &Node, settings: SettingsOf) -> Option<&'static str> {
    if is_kubeconfig(node) {
        return Some(KUBECONFIG);
    }
    if let Some(auth) = node.get("auth").and_then(Node::as_str)
        && decode_base64(auth).is_some_and(|decoded| decoded.contains(':'))
    {
        return Some(REGISTRY);
    }
    match &node.value {
        Value::List(items) => items.iter().find_map(|item| in_node(item, settings)),
        Value::Map(map) => map.iter().find_map(|entry| match entry.value.as_str() {
            Some(value) if settings == SettingsOf::Programs => in_setting(&entry.key, value),
            _ => in_node(&entry.value, settings),
        }),
        _ => None,
    }
}

/// Returns whether a node is a kubeconfig with the credentials of a user, not only with paths of files.
fn is_kubeconfig(node: &Node) -> bool {
    let users = node.get("users").and_then(Node::as_list).unwrap_or_default();
    node.get("clusters").is_some()
        && users.iter().filter_map(|user| user.get("user")).any(|user| {
            ["token", "password", "client-key-data"]
                .iter()
                .filter_map(|field| user.get(field)?.as_str())
                .any(|value| !value.is_empty() && !is_reference(value))
        })
}

/// Returns the credentials in a line such as `password = x` or `PASSWORD: x`.
fn in_line(line: &str) -> Option<&'static str> {
    let line = line.trim();
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name.trim_start_matches("export ").trim_matches([' ', '\t', '"', '\'', '-', ',']);
    let value = value.trim().trim_end_matches(',');
    // A name with a space is part of a sentence, not a setting.
    if name.contains(' ') { None } else { in_setting(name, value) }
}

/// Returns whether a value is the credential itself, and not a reference to it or a switch such as `true`.
pub(super) fn is_literal(value: &str) -> bool {
    const SHORTEST_PASSWORD: usize = 4;
    let value = value.trim().trim_matches(['"', '\'']);
    let is_switch = ["true", "false", "null", "none", "required", "optional", "enabled", "disabled"]
        .iter()
        .any(|switch| value.eq_ignore_ascii_case(switch));
    let is_masked = value.chars().all(|letter| matches!(letter, '*' | 'x' | 'X' | '.' | '-'));
    let is_word = value.len() >= SHORTEST_PASSWORD && !value.contains(char::is_whitespace);
    is_word && !is_switch && !is_masked && !is_reference(value)
}

/// Returns whether a value only says where the credential is: a placeholder, or the path of a file.
pub(super) fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '%', '/', '.', '~'])
        || value.starts_with("file:")
        || [".crt", ".key", ".pem", ".txt"].iter().any(|ending| value.ends_with(ending))
        || ["${", "$(", "{{"].iter().any(|start| value.contains(start))
}

/// Returns whether a value looks like a generated one, not like a word or a name.
fn looks_random(value: &str) -> bool {
    const SHORTEST_TOKEN: usize = 16;
    value.len() >= SHORTEST_TOKEN
        && value.contains(|letter: char| letter.is_ascii_digit())
        && value.contains(|letter: char| letter.is_ascii_alphabetic())
        && !value.contains(['/', ':', ' '])
}

#[cfg(test)]
mod tests {
    use super::{decode_base64, in_file, in_setting, in_text};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD as BASE64;

    const PEM: &str =
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";

    #[test]
    fn credentials_are_found_in_any_text() {
        let kubeconfig = "clusters: []\nusers: [{name: a, user: {token: canary}}]\n";
        let json =
            "{\"clusters\": [], \"users\": [{\"name\": \"a\", \"user\": {\"client-key-data\": \"canary\"}}]}";
        let pull_secret = "{\"auths\": {\"registry.example.test\": {\"auth\": \"dXNlcjpwYXNz\"}}}";
        for (text, content) in [
            (PEM, "a private key"),
            (JWT, "a token"),
            (&format!("Authorization: Bearer {JWT}"), "a token"),
            (kubeconfig, "a kubeconfig"),
            (json, "a kubeconfig"),
            (pull_secret, "registry credentials"),
        ] {
            let once = BASE64.encode(text);
            let twice = BASE64.encode(&once);
            for text in [text, &once, &twice] {
                assert_eq!(in_text(text), Some(content), "{text}");
            }
        }
    }

    #[test]
    fn passwords_are_found_in_files() {
        for text in [
            "password = hunter2",
            "[Global]\nuser = a\npassword = hunter2\n",
            "[Global]\n\"secret-name\" = \"a\"\nPassword=\"hunter2\"\n",
            "export DB_PASSWORD=hunter2",
            "database: {user: a, password: hunter2}",
            "{\"aadClientId\": \"a\", \"aadClientSecret\": \"hunter2\"}",
            "aws_secret_access_key = canary",
            "private_key: abcd",
            "list:\n- {deep: [{clientSecret: hunter2}]}",
        ] {
            assert!(in_file(text).is_some(), "{text}");
            assert!(in_file(&BASE64.encode(text)).is_some(), "{text}");
            assert!(matches!(in_text(text), None | Some("cloud credentials")), "{text}");
        }
    }

    #[test]
    fn placeholders_paths_and_names_are_no_credentials() {
        for text in [
            "password = ${password}",
            "password = $(PASSWORD)",
            "password = {{ .Password }}",
            "password = <password>",
            "password = %PASSWORD%",
            "password = ********",
            "password = ",
            "password: /etc/secret/password",
            "passwordFile = hunter2",
            "# password = hunter2",
            "requirePassword: true",
            "the password: it must be long enough",
            "token: openshift",
            "tokenFile: /var/run/secrets/token",
            "audienceOfToken: sts.amazonaws.com",
            "clientSecret: {name: oauth}",
            "private_key: server.key",
            "clusters: []\nusers: [{name: a, user: {tokenFile: /var/run/token, client-key: /etc/tls.key}}]",
            "clusters: []\nusers: [{name: a, user: {token: '${TOKEN}'}}]",
            "{\"auths\": {}}",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n",
            "eyJub3QiOiJhIHRva2VuIn0.eyJ.x",
            "a.b.c",
        ] {
            assert_eq!(in_file(text), None, "{text}");
            assert_eq!(in_file(&BASE64.encode(text)), None, "{text}");
        }
    }

    #[test]
    fn settings_are_found_by_their_name() {
        for (name, value) in [
            ("DB_PASSWORD", "hunter2"),
            ("db-passwd", "hunter2"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI"),
            ("aadClientSecret", "hunter2"),
            ("GITHUB_TOKEN", "ghp16C7e42F292c6912E7"),
        ] {
            assert!(in_setting(name, value).is_some(), "{name}");
        }
        for (name, value) in [
            ("CREDENTIALS_SECRET", "ebs-cloud-credentials"),
            ("PASSWORD_FILE", "hunter2"),
            ("TOKEN", "openshift"),
            ("TOKEN", "/var/run/secrets/token"),
            ("ID_TOKEN", "bound-service-account-signing-key"),
        ] {
            assert_eq!(in_setting(name, value), None, "{name}");
        }
    }

    /// The work grows with the length of the text, not faster.
    #[test]
    fn large_values_are_read_once() {
        let texts = [
            "password: ".repeat(200_000),
            "eyJ".repeat(500_000),
            "eyJ.".repeat(400_000),
            "PRIVATE KEY-----n".repeat(100_000),
            "{\"auth\":".repeat(200_000),
            BASE64.encode("token = a\n".repeat(150_000)),
            "A".repeat(1_500_000),
            "A ".repeat(700_000),
        ];
        for text in texts {
            assert_eq!(in_file(&text), None);
        }
    }

    #[test]
    fn base64_may_have_line_breaks() {
        assert_eq!(decode_base64("aGVs\nbG8=\n").as_deref(), Some("hello"));
        assert_eq!(decode_base64("not base64!"), None);
    }
}
