//! Settings that turn off TLS, authentication or authorization.

use super::credentials::decode_base64;
use super::field::Field;
use super::finding::{Finding, Report};
use super::security_context::describe;
use crate::language::Check;
use crate::object::{CA_BUNDLE, annotation};
use crate::yaml::Value;

/// Values that make a flag insecure.
enum InsecureIf {
    /// The flag is set, and not to `false`.
    Enabled,
    /// The flag is set to `false`.
    Disabled,
    /// The value is a port or an address that others can reach. Port 0 means none.
    Port,
    /// The value contains one of these texts.
    Contains(&'static [&'static str]),
    /// The value is not empty.
    Set,
}

/// Flags of Kubernetes, OpenShift, etcd and common sidecars, without their dashes.
const FLAGS: [(&str, InsecureIf); 27] = [
    ("anonymous-auth", InsecureIf::Enabled),
    ("disable-authentication", InsecureIf::Enabled),
    ("disable-authorization", InsecureIf::Enabled),
    ("disable-tls", InsecureIf::Enabled),
    ("insecure", InsecureIf::Enabled),
    ("insecure-skip-tls-verify", InsecureIf::Enabled),
    ("insecure-skip-tls-verify-backend", InsecureIf::Enabled),
    ("insecure-skip-verify", InsecureIf::Enabled),
    ("insecure-transport", InsecureIf::Enabled),
    ("kubelet-insecure-tls", InsecureIf::Enabled),
    ("skip-tls-verify", InsecureIf::Enabled),
    ("ssl-insecure-skip-verify", InsecureIf::Enabled),
    ("ssl-upstream-insecure-skip-verify", InsecureIf::Enabled),
    ("tls-skip-verify", InsecureIf::Enabled),
    ("client-cert-auth", InsecureIf::Disabled),
    ("peer-client-cert-auth", InsecureIf::Disabled),
    ("service-account-lookup", InsecureIf::Disabled),
    ("tls-verify", InsecureIf::Disabled),
    ("verify-tls", InsecureIf::Disabled),
    ("insecure-bind-address", InsecureIf::Port),
    ("insecure-listen-address", InsecureIf::Port),
    ("insecure-port", InsecureIf::Port),
    ("authorization-always-allow-paths", InsecureIf::Contains(&["/*"])),
    ("authorization-mode", InsecureIf::Contains(&["AlwaysAllow"])),
    ("tls-cipher-suites", InsecureIf::Contains(&["RC4", "3DES", "NULL"])),
    (
        "tls-min-version",
        InsecureIf::Contains(&["TLS10", "TLS11", "TLS1.0", "TLS1.1", "TLSv1.0", "TLSv1.1", "SSL"]),
    ),
    ("token-auth-file", InsecureIf::Set),
];

/// The beginnings of addresses that only the pod itself can reach.
const LOCAL: [&str; 4] = ["127.", "localhost", "[::1]", "::1"];

/// Checks the fields and texts of an object that can turn off the verification of TLS.
pub(super) fn check(root: &Field<'_>, report: &mut Report) {
    match root.object.id.kind.as_str() {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            root.for_each("webhooks/*/clientConfig", &mut |client| check_client(client, report));
        }
        "CustomResourceDefinition" => {
            root.for_each("spec/conversion/webhook/clientConfig", &mut |client| {
                check_client(client, report);
            });
        }
        "APIService" => {
            root.for_each("spec/insecureSkipTLSVerify", &mut |field| check_skipped(field, report));
        }
        "ServiceMonitor" => {
            root.for_each("spec/endpoints/*/tlsConfig/insecureSkipVerify", &mut |field| {
                check_skipped(field, report);
            });
        }
        "ConfigMap" | "Secret" => {
            for data in ["data/*", "stringData/*"] {
                root.for_each(data, &mut |field| check_text(field, report));
            }
        }
        _ => {}
    }
}

/// Checks how the API server calls a webhook by its URL.
fn check_client(client: &Field<'_>, report: &mut Report) {
    // `apply` fills in the authorities of the signer.
    let is_filled_in = annotation(&client.object.root, CA_BUNDLE).is_some();
    let Some(url) = client.at("/url") else { return };
    let Some((scheme, rest)) = url.as_str().and_then(|text| text.split_once("://")) else { return };
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    let is_service = host.split('.').any(|label| label == "svc");
    if scheme.eq_ignore_ascii_case("http") {
        report.add(
            insecure(&url, "the API server calls the webhook without TLS".to_owned())
                .note("the API server rejects the object, because others could read and change the requests")
                .help("use `https://`, and set `caBundle`"),
        );
    } else if is_service && client.at("/caBundle").is_none() && !is_filled_in {
        report.add(
            insecure(&url, "the API server cannot verify the certificate of the webhook".to_owned())
                .note("no public authority signs names of Services; with `failurePolicy: Ignore`, requests pass unchecked")
                .help("set `caBundle`, or name the signer in the annotation `transship.openshift.io/ca-bundle`"),
        );
    }
}

fn check_skipped(field: &Field<'_>, report: &mut Report) {
    if field.node.value == Value::Bool(true) {
        report.add(
            insecure(field, format!("the certificate of the {} is not verified", target_of(field)))
                .note("anyone who can respond in its place receives the requests and the credentials in them")
                .help("remove the field, and set the CA"),
        );
    }
}

fn target_of(field: &Field<'_>) -> &'static str {
    if field.object.id.kind == "APIService" { "aggregated API server" } else { "metrics endpoint" }
}

/// Checks a text that may be a kubeconfig, decoded if it is base64.
fn check_text(field: &Field<'_>, report: &mut Report) {
    let skips_verification = |text: &str| text.contains("insecure-skip-tls-verify: true");
    let Some(text) = field.as_str() else { return };
    if skips_verification(text) || decode_base64(text).is_some_and(|decoded| skips_verification(&decoded)) {
        report.add(
            insecure(field, "a kubeconfig does not verify the certificate of the API server".to_owned())
                .note("anyone who can respond in its place receives the credentials of the kubeconfig")
                .help("set `certificate-authority` or `certificate-authority-data`"),
        );
    }
}

/// Checks the flags of the containers of a pod, also those in a script.
pub(super) fn check_flags(pod: &Field<'_>, report: &mut Report) {
    for container in pod.containers() {
        for list in ["/command", "/args"] {
            let mut items = container.items(list).peekable();
            while let Some(item) = items.next() {
                let next = items.peek().and_then(Field::as_str);
                let Some(flag) = item.as_str().and_then(|text| insecure_flag(text, next)) else { continue };
                report.add(
                    insecure(&item, format!("{} has the insecure flag `--{flag}`", describe(&container)))
                        .note("it turns off TLS, authentication or authorization for every client that can connect")
                        .help("remove the flag, or set it to a secure value"),
                );
            }
        }
    }
}

/// Returns the first insecure flag in an argument, which may be a script. Without `=`, the value of a flag is the next
/// word of the script, or the next argument.
fn insecure_flag<'t>(argument: &'t str, next: Option<&'t str>) -> Option<&'t str> {
    let is_separator = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ';' | '\\');
    let mut words = argument.split(is_separator).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").or(word.strip_prefix('-')) else { continue };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let Some((name, condition)) = FLAGS.iter().find(|(own, _)| *own == name) else { continue };
        if condition.holds(value, words.peek().copied().or(next)) {
            return Some(name);
        }
    }
    None
}

impl InsecureIf {
    /// Returns whether a flag with this value is insecure. Without a value, a flag that is not a boolean takes the next
    /// word.
    fn holds(&self, value: Option<&str>, next: Option<&str>) -> bool {
        // Only the running container knows the value of a variable.
        let other = value.or(next).unwrap_or_default();
        let is_known = !other.is_empty() && !other.contains('$');
        match self {
            Self::Enabled => !matches!(value, Some("false" | "False" | "FALSE" | "f" | "0")),
            Self::Disabled => matches!(value, Some("false" | "False" | "FALSE" | "f" | "0")),
            Self::Port => is_known && other != "0" && !LOCAL.iter().any(|local| other.starts_with(local)),
            Self::Contains(texts) => texts.iter().any(|text| other.contains(text)),
            Self::Set => !other.is_empty(),
        }
    }
}

fn insecure(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::InsecureSetting, field, message)
}

#[cfg(test)]
mod tests {
    use super::insecure_flag;

    #[test]
    fn flags_that_turn_protection_off_are_found() {
        for (argument, next) in [
            ("--insecure-skip-tls-verify", None),
            ("--insecure-skip-tls-verify=true", None),
            ("-insecure-skip-verify", None),
            ("--anonymous-auth=true", None),
            ("--authorization-mode=AlwaysAllow", None),
            ("--authorization-mode=RBAC,AlwaysAllow", None),
            ("--authorization-mode", Some("AlwaysAllow")),
            ("--insecure-port=8080", None),
            ("--insecure-port", Some("8080")),
            ("--insecure-listen-address=0.0.0.0:8080", None),
            ("--insecure-listen-address=:8080", None),
            ("--client-cert-auth=false", None),
            ("--tls-min-version=VersionTLS10", None),
            ("--token-auth-file=/etc/tokens.csv", None),
            ("exec op --v=2 \\\n  --insecure-port=8080 \\\n  --port=1", None),
            ("set -e; op --authorization-mode AlwaysAllow", None),
        ] {
            assert!(insecure_flag(argument, next).is_some(), "{argument}");
        }
    }

    #[test]
    fn secure_values_of_these_flags_are_not_found() {
        for (argument, next) in [
            ("--insecure-skip-tls-verify=false", None),
            ("--anonymous-auth=false", None),
            ("--authorization-mode=Node,RBAC", None),
            ("--authorization-mode", Some("RBAC")),
            ("--insecure-port=0", None),
            ("--insecure-port", Some("0")),
            ("--insecure-listen-address=127.0.0.1:8080", None),
            ("--insecure-listen-address=localhost:8080", None),
            ("--insecure-listen-address=", None),
            ("--insecure-port=$(PORT)", None),
            ("--client-cert-auth", None),
            ("--client-cert-auth=true", None),
            ("--tls-min-version=VersionTLS12", None),
            ("--tls-min-version=VersionTLS13", None),
            ("--insecure-registries", None),
            ("an insecure-port=8080", None),
        ] {
            assert_eq!(insecure_flag(argument, next), None, "{argument}");
        }
    }
}
