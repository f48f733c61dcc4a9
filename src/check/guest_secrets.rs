//! Credentials in the guest, whose users can read them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{Cluster, ISSUED, IssuedOrigin};
use crate::yaml::Value;

/// Keys of a Secret that contain credentials, whatever the value looks like.
const CREDENTIAL_KEYS: [(&str, &str); 10] = [
    (".dockerconfigjson", "registry credentials"),
    (".dockercfg", "registry credentials"),
    ("aws_access_key_id", "cloud credentials"),
    ("aws_secret_access_key", "cloud credentials"),
    ("azure_client_secret", "cloud credentials"),
    ("clouds.yaml", "cloud credentials"),
    ("password", "a password"),
    ("service_account.json", "cloud credentials"),
    ("ssh-privatekey", "a private key"),
    ("tls.key", "a private key"),
];

/// Texts up to this length are too short for credentials.
const LONGEST_HARMLESS_TEXT: usize = 16;

/// Checks that an object of the guest contains no credentials, key material or kubeconfig.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Guest {
        return;
    }
    match &root.object.issued {
        Some(origin) => check_issued(root, origin, report),
        None if root.object.id.kind == "Secret" => check_keys(root, report),
        None => {}
    }
    check_texts(root, report);
}

/// Checks an issued Secret. It has no data yet, so its origin says what it will contain.
fn check_issued(root: &Field<'_>, origin: &IssuedOrigin, report: &mut Report) {
    let content = match origin {
        IssuedOrigin::Kubeconfig { .. } => "a kubeconfig",
        IssuedOrigin::Credentials { .. } => "credentials",
        IssuedOrigin::Certificate { .. } => return,
    };
    let annotations = root.at("/metadata/annotations");
    // A patch or `strip` may have removed the annotation.
    match annotations.as_ref().and_then(|annotations| annotations.get(ISSUED)) {
        Some(annotation) => report.add(secret_in_guest(&annotation, content)),
        None => report.add(secret_in_guest(root, content)),
    }
}

/// Checks the keys of a Secret.
fn check_keys(secret: &Field<'_>, report: &mut Report) {
    for data in ["data", "stringData"] {
        let Some(data) = secret.get(data) else { continue };
        for entry in data.node.as_map().into_iter().flatten() {
            let value = entry.value.as_str().unwrap_or_default();
            for (key, content) in CREDENTIAL_KEYS {
                if entry.key.eq_ignore_ascii_case(key) && !value.trim().is_empty() {
                    report.add(secret_in_guest(&data.entry(entry), content));
                }
            }
        }
    }
}

/// Checks every text of an object, decoded if it is base64.
fn check_texts(field: &Field<'_>, report: &mut Report) {
    match &field.node.value {
        Value::String(text) if text.len() > LONGEST_HARMLESS_TEXT => {
            let content = credentials_in(text).or_else(|| credentials_in(&decode_base64(text)?));
            if let Some(content) = content {
                report.add(secret_in_guest(field, content));
            }
        }
        Value::List(_) => field.items("").for_each(|item| check_texts(&item, report)),
        Value::Map(map) => map.iter().for_each(|entry| check_texts(&field.entry(entry), report)),
        _ => {}
    }
}

fn secret_in_guest(field: &Field<'_>, content: &str) -> Finding {
    Finding::new(Check::SecretInGuest, field, format!("the guest receives {content}"))
        .note("users of the guest can read it")
        .help("keep it in the management cluster: workloads there reach the guest with a kubeconfig or a minted token")
}

/// Decodes base64, in one line or several.
pub(super) fn decode_base64(text: &str) -> Option<String> {
    let joined: String = text.split_whitespace().collect();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !joined.bytes().all(is_base64) {
        return None;
    }
    String::from_utf8(BASE64.decode(joined).ok()?).ok()
}

/// Returns the kind of credentials that a text contains.
fn credentials_in(text: &str) -> Option<&'static str> {
    // Most texts contain no credentials: decide that without a copy in lower case.
    if !text.contains("PRIVATE KEY-----") && !text.contains('_') && !text.contains("current-context") {
        return None;
    }
    if contains_private_key(text) {
        return Some("a private key");
    }
    let lower = text.to_ascii_lowercase();
    let has_value_for = |keys: [&str; 3]| keys.into_iter().any(|key| contains_value_for(&lower, key));
    if has_value_for(["aws_secret_access_key", "private_key", "azure_client_secret"]) {
        return Some("cloud credentials");
    }
    let is_kubeconfig = lower.contains("current-context") && lower.contains("clusters");
    if is_kubeconfig && has_value_for(["client-key-data", "token", "password"]) {
        return Some("a kubeconfig");
    }
    None
}

/// Returns whether a text has a key such as `token`, followed by `:` or `=` and a value.
fn contains_value_for(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(start, _)| {
        let after_key = text[start + key.len()..].trim_start_matches(['"', ' ']);
        let Some(value) = after_key.strip_prefix([':', '=']) else { return false };
        value.trim_start_matches([' ', '"', '\'']).starts_with(|first: char| first.is_ascii_alphanumeric())
    })
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
        body.bytes().take_while(is_base64).count() >= SHORTEST_KEY
    })
}
