//! Credentials in the guest, whose users can read them.

use super::context::CheckContext;
use super::credentials::{self, PRIVATE_KEY, TOKEN, decode_base64, is_reference};
use super::field::Field;
use super::finding::{Finding, Report};
use super::texts::SCHEMA;
use crate::language::Check;
use crate::object::{Cluster, ISSUED, IssuedOrigin};
use crate::yaml::Value;

/// Keys of a Secret that contain credentials, whatever the value looks like.
const CREDENTIAL_KEYS: [(&str, &str); 11] = [
    (".dockerconfigjson", "registry credentials"),
    (".dockercfg", "registry credentials"),
    ("aws_access_key_id", "cloud credentials"),
    ("aws_secret_access_key", "cloud credentials"),
    ("azure_client_secret", "cloud credentials"),
    ("clouds.yaml", "cloud credentials"),
    ("password", "a password"),
    ("service_account.json", "cloud credentials"),
    ("ssh-privatekey", PRIVATE_KEY),
    ("tls.key", PRIVATE_KEY),
    ("token", TOKEN),
];

/// Checks that an object of the guest contains no credentials, key material or kubeconfig.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Guest {
        return;
    }
    if let Some(origin) = &root.object.issued {
        check_issued(root, origin, report);
    }
    let is_file = |key: &str| matches!(key, "data" | "stringData");
    let has_files = matches!(root.object.id.kind.as_str(), "Secret" | "ConfigMap");
    if has_files {
        check_data(root, report);
    }
    for entry in root.node.as_map().into_iter().flatten() {
        if !(has_files && is_file(&entry.key)) {
            check_texts(&root.entry(entry), report);
        }
    }
}

/// Checks an issued Secret. It has no data yet, so its origin says what it will contain.
fn check_issued(root: &Field<'_>, origin: &IssuedOrigin, report: &mut Report) {
    let content = match origin {
        IssuedOrigin::Kubeconfig(_) => "a kubeconfig",
        IssuedOrigin::Credentials(_) => "credentials",
        IssuedOrigin::Signer => PRIVATE_KEY,
        IssuedOrigin::Certificate(_) | IssuedOrigin::Bundle { .. } => return,
    };
    let annotations = root.at("/metadata/annotations");
    // A patch or `strip` may have removed the annotation.
    match annotations.as_ref().and_then(|annotations| annotations.get(ISSUED)) {
        Some(annotation) => report.add(secret_in_guest(&annotation, content)),
        None => report.add(secret_in_guest(root, content)),
    }
}

/// Checks the data of a Secret or ConfigMap: a key may name its credentials, and a value may be a file with some.
fn check_data(root: &Field<'_>, report: &mut Report) {
    for data in ["data", "stringData"] {
        let Some(data) = root.get(data) else { continue };
        for entry in data.node.as_map().into_iter().flatten() {
            let Some(value) = entry.value.as_str() else { continue };
            if let Some(content) = by_key(root, &entry.key, value).or_else(|| credentials::in_file(value)) {
                report.add(secret_in_guest(&data.entry(entry), content));
            }
        }
    }
}

/// Returns the credentials that a key of a Secret or ConfigMap names.
fn by_key(root: &Field<'_>, key: &str, value: &str) -> Option<&'static str> {
    let decoded = decode_base64(value);
    let value = decoded.as_deref().unwrap_or(value).trim();
    if root.object.id.kind == "Secret"
        && let Some((_, content)) = CREDENTIAL_KEYS.iter().find(|(own, _)| key.eq_ignore_ascii_case(own))
    {
        return if value.is_empty() || is_reference(value) { None } else { Some(content) };
    }
    credentials::in_setting(key, value)
}

/// Checks every text of an object that is no Secret and no ConfigMap.
fn check_texts(field: &Field<'_>, report: &mut Report) {
    match &field.node.value {
        Value::String(text) => {
            if let Some(content) = credentials::in_text(text) {
                report.add(secret_in_guest(field, content));
            }
        }
        Value::List(_) => field.items("").for_each(|item| check_texts(&item, report)),
        Value::Map(map) => {
            for entry in map.iter().filter(|entry| entry.key != SCHEMA) {
                check_texts(&field.entry(entry), report);
            }
        }
        _ => {}
    }
}

/// Returns the finding for credentials in the guest.
pub(super) fn secret_in_guest(field: &Field<'_>, content: &str) -> Finding {
    Finding::new(Check::SecretInGuest, field, format!("the guest receives {content}"))
        .note("users of the guest can read it")
        .help("keep it in the management cluster: workloads there reach the guest with a kubeconfig or a minted token")
}
