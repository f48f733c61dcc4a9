//! Passwords and tokens that are written into a pod instead of a Secret.

use super::context::CheckContext;
use super::credentials::{in_setting, in_text, is_literal};
use super::field::Field;
use super::finding::{Finding, Report};
use super::guest_secrets::secret_in_guest;
use super::security_context::describe;
use crate::language::Check;
use crate::object::Cluster;
use crate::yaml::Node;

/// The commands of a container, its probes and its hooks.
const COMMANDS: [&str; 7] = [
    "command/*",
    "args/*",
    "livenessProbe/exec/command/*",
    "readinessProbe/exec/command/*",
    "startupProbe/exec/command/*",
    "lifecycle/postStart/exec/command/*",
    "lifecycle/preStop/exec/command/*",
];

/// The HTTP requests of probes and hooks.
const REQUESTS: [&str; 5] = [
    "livenessProbe/httpGet",
    "readinessProbe/httpGet",
    "startupProbe/httpGet",
    "lifecycle/postStart/httpGet",
    "lifecycle/preStop/httpGet",
];

/// HTTP headers that authenticate a request.
const HEADERS: [&str; 5] = ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-auth-token"];

/// Checks that a pod has no password or token in its variables, arguments or probes.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for container in pod.containers() {
        let mut add = |field: &Field<'_>, content: &str| {
            report.add(match context.cluster() {
                Cluster::Guest => secret_in_guest(field, content),
                Cluster::Management | Cluster::Both => literal(field, &container, content),
            });
        };
        for variable in container.items("/env") {
            let name = variable.node.get("name").and_then(Node::as_str).unwrap_or_default();
            if let Some(value) = variable.get("value")
                && let Some(text) = value.as_str()
                && let Some(content) = in_setting(name, text).or_else(|| in_url(text))
            {
                add(&value, content);
            }
        }
        for path in COMMANDS {
            let mut previous = String::new();
            container.for_each(path, &mut |argument| {
                let Some(text) = argument.as_str() else { return };
                if let Some(content) = in_command(text, &previous) {
                    add(argument, content);
                }
                text.clone_into(&mut previous);
            });
        }
        for path in REQUESTS {
            container.for_each(path, &mut |request| check_request(request, &mut add));
        }
    }
}

fn check_request(request: &Field<'_>, add: &mut dyn FnMut(&Field<'_>, &str)) {
    for header in request.items("/httpHeaders") {
        let name = header.node.get("name").and_then(Node::as_str).unwrap_or_default();
        let Some(value) = header.get("value") else { continue };
        // The scheme comes before the credentials, as in `Bearer x`.
        let credentials = value.as_str().and_then(|text| text.split_whitespace().next_back());
        if HEADERS.contains(&name.to_ascii_lowercase().as_str()) && credentials.is_some_and(is_literal) {
            add(&value, "a token");
        }
    }
    if let Some(path) = request.get("path")
        && let Some((_, query)) = path.as_str().and_then(|text| text.split_once('?'))
    {
        let mut parameters = query.split('&').filter_map(|parameter| parameter.split_once('='));
        if let Some(content) = parameters.find_map(|(name, value)| in_setting(name, value)) {
            add(&path, content);
        }
    }
}

/// Returns the credentials in an argument, which may be a script. The value of a flag can be the next word, or the next
/// argument.
fn in_command(argument: &str, previous: &str) -> Option<&'static str> {
    let is_flag = |word: &str| word.starts_with('-') && !word.contains('=');
    let is_separator =
        |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ';' | '\\' | '&');
    let mut flag = is_flag(previous).then_some(previous);
    for word in argument.split(is_separator).filter(|word| !word.is_empty()) {
        let found = match (word.split_once('='), flag) {
            (Some((name, value)), _) => in_setting(name, value),
            (None, Some(flag)) if !word.starts_with('-') => in_setting(flag, word),
            (None, _) => None,
        };
        if let Some(content) = found.or_else(|| in_url(word)) {
            return Some(content);
        }
        flag = is_flag(word).then_some(word);
    }
    in_text(argument)
}

/// Returns whether a URL contains the password of a user, as in `https://user:password@host`.
fn in_url(text: &str) -> Option<&'static str> {
    let (_, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    is_literal(password).then_some("a password")
}

fn literal(field: &Field<'_>, container: &Field<'_>, content: &str) -> Finding {
    Finding::new(
        Check::LiteralSecret,
        field,
        format!("{} has {content} in its manifest", describe(container)),
    )
    .note("everyone who can read the payload, the golden files or the object can read it")
    .help("put it into a Secret, and refer to it with `secretKeyRef` or a volume")
}

#[cfg(test)]
mod tests {
    use super::{in_command, in_url};

    #[test]
    fn credentials_in_commands_are_found() {
        for (argument, previous) in [
            ("--password=hunter2", ""),
            ("hunter2", "--password"),
            ("mysqladmin ping --password=hunter2", ""),
            ("mysqladmin ping --password hunter2", ""),
            ("PGPASSWORD=hunter2 psql", ""),
            ("curl https://user:hunter2@host/healthz", ""),
            ("--client-secret=hunter2", ""),
        ] {
            assert!(in_command(argument, previous).is_some(), "{argument}");
        }
    }

    #[test]
    fn references_to_credentials_are_not_found() {
        for (argument, previous) in [
            ("--password=$(PASSWORD)", ""),
            ("--password-file=/etc/secret/password", ""),
            ("/etc/secret/password", "--password"),
            ("--v=2", "--password"),
            ("test -f /var/run/secrets/token", ""),
            ("--token-audience=openshift", ""),
            ("--upstream=http://127.0.0.1:8201/", ""),
            ("the password is in the file", ""),
        ] {
            assert_eq!(in_command(argument, previous), None, "{argument}");
        }
        assert_eq!(in_url("https://$(USER):$(PASSWORD)@host"), None);
        assert_eq!(in_url("https://host:8443/a:b@c"), None);
    }
}
