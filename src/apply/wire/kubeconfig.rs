//! Checks the fields of a kubeconfig that transship sends in headers and URLs. If a header or URL is invalid, the
//! libraries that send it panic, or connect in a way that the kubeconfig does not ask for.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use kube::Config;
use kube::config::{AuthInfo, Kubeconfig};
use serde_json::Value;

use crate::diagnostic::Diagnostic;

/// The longest URL of an API server. Paths of requests are appended to it.
const MAX_SERVER_LENGTH: usize = 4096;
/// The fields of a user that become text in a header, as they are named in a kubeconfig.
const HEADER_FIELDS: [&str; 6] = ["token", "username", "password", "as", "as-uid", "as-groups"];

/// A field of a kubeconfig that cannot be used. The message never contains its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidField {
    /// The field, as it is named in a kubeconfig.
    field: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    ControlCharacter,
    Empty,
    Unreadable(String),
    NotHttp,
    TooLong,
    ProxyScheme(String),
    Provider,
}

impl InvalidField {
    fn new(field: &str, problem: Problem) -> Self {
        Self { field: field.to_owned(), problem }
    }

    /// Returns the error for a field whose value cannot be a header.
    pub(crate) fn control_character(field: &str) -> Self {
        Self::new(field, Problem::ControlCharacter)
    }

    /// Returns the error for a file that cannot be read.
    pub(crate) fn unreadable(field: &str, error: &std::io::Error) -> Self {
        Self::new(field, Problem::Unreadable(error.to_string()))
    }

    /// Returns the error for a proxy with a scheme that transship does not know.
    pub(crate) fn proxy_scheme(field: &str, proxy: &Uri) -> Self {
        Self::new(field, Problem::ProxyScheme(proxy.scheme_str().unwrap_or_default().to_owned()))
    }

    fn note(&self) -> &'static str {
        match self.problem {
            Problem::ControlCharacter | Problem::Empty | Problem::Unreadable(_) => {
                "transship sends it in a header of each request"
            }
            Problem::NotHttp | Problem::TooLong => "transship sends all requests to this URL",
            Problem::ProxyScheme(_) => "transship does not connect directly if a proxy is configured",
            Problem::Provider => "kubectl does not support it either",
        }
    }

    fn help(&self) -> &'static str {
        match self.problem {
            Problem::ControlCharacter => {
                "remove line breaks and other control characters; a YAML block scalar (`|`) ends with a line break"
            }
            Problem::Empty | Problem::Unreadable(_) => "write the token into the file",
            Problem::NotHttp => "write a URL such as https://api.example.com:6443",
            Problem::TooLong => "write a shorter URL",
            Problem::ProxyScheme(_) => "use http, https, socks5 or socks5h",
            Problem::Provider => "use a credential plugin (`exec`)",
        }
    }

    /// Converts the error, given the name of the user.
    pub(crate) fn diagnostic(&self, user: Option<&str>) -> Diagnostic {
        let owner = match user {
            Some(user) if !self.is_of_cluster() => format!(" of the user `{user}`"),
            _ => String::new(),
        };
        Diagnostic::error(format!("cannot use the kubeconfig: the field `{}`{owner} {self}", self.field))
            .note(self.note())
            .help(self.help())
    }

    fn is_of_cluster(&self) -> bool {
        matches!(self.problem, Problem::NotHttp | Problem::TooLong | Problem::ProxyScheme(_))
    }
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::ControlCharacter => f.write_str("contains a line break or another control character"),
            Problem::Empty => f.write_str("names an empty file"),
            Problem::Unreadable(error) => write!(f, "names a file that cannot be read: {error}"),
            Problem::NotHttp => f.write_str("is not a URL with http or https and a host"),
            Problem::TooLong => write!(f, "is longer than {MAX_SERVER_LENGTH} bytes"),
            Problem::ProxyScheme(scheme) if scheme.is_empty() => f.write_str("has no scheme"),
            Problem::ProxyScheme(scheme) => write!(f, "has the unknown scheme `{scheme}`"),
            Problem::Provider => f.write_str("names an authentication provider that no longer exists"),
        }
    }
}

/// Checks all fields that become a header or a URL.
pub(crate) fn check(config: &Config) -> Result<(), InvalidField> {
    check_server(&config.cluster_url)?;
    check_user(&config.auth_info)
}

fn check_server(server: &Uri) -> Result<(), InvalidField> {
    let is_http = matches!(server.scheme_str(), Some("http" | "https"));
    if !is_http || server.host().is_none_or(str::is_empty) {
        return Err(InvalidField::new("server", Problem::NotHttp));
    }
    if server.to_string().len() > MAX_SERVER_LENGTH {
        return Err(InvalidField::new("server", Problem::TooLong));
    }
    Ok(())
}

fn check_user(user: &AuthInfo) -> Result<(), InvalidField> {
    // In JSON, the fields have the names of the file, and secrets are texts.
    let fields = serde_json::to_value(user).unwrap_or_default();
    for field in HEADER_FIELDS {
        check_text(field, &fields[field])?;
    }
    for (key, values) in fields["as-user-extra"].as_object().into_iter().flatten() {
        check_text("as-user-extra", &Value::from(key.as_str()))?;
        check_text("as-user-extra", values)?;
    }
    let provider = &fields["auth-provider"];
    if provider.is_object() && provider["name"] != "oidc" {
        return Err(InvalidField::new("auth-provider", Problem::Provider));
    }
    check_text("auth-provider", &provider["config"]["id-token"])
}

/// Checks a text, or each text of a list.
fn check_text(field: &str, value: &Value) -> Result<(), InvalidField> {
    let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let has_control = |text: &Value| text.as_str().is_some_and(|text| text.chars().any(char::is_control));
    if texts.iter().any(has_control) {
        return Err(InvalidField::control_character(field));
    }
    Ok(())
}

/// Reads the content of a token file, without white space around it, as client-go does.
pub(crate) fn read_token(content: &str) -> Result<&str, InvalidField> {
    let token = content.trim();
    if token.is_empty() {
        return Err(InvalidField::new("tokenFile", Problem::Empty));
    }
    check_text("tokenFile", &Value::from(token))?;
    Ok(token)
}

/// Returns warnings about a connection that others can read or redirect.
pub(crate) fn warnings(config: &Config) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let server = &config.cluster_url;
    if server.scheme_str() == Some("http") && !is_local(server) {
        warnings.push(
            Diagnostic::warning(
                "the kubeconfig uses http: the connection to the API server is not encrypted",
            )
            .note("everyone on the way can read and change credentials and objects")
            .help("use https"),
        );
    }
    if config.accept_invalid_certs {
        warnings.push(
            Diagnostic::warning("the kubeconfig does not verify the API server (`insecure-skip-tls-verify`)")
                .note("everyone on the way can read and change credentials and objects")
                .help("set `certificate-authority` or `certificate-authority-data` instead"),
        );
    }
    warnings
}

/// Returns whether a server is on this machine.
pub(crate) fn is_local(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the name of the user that a kubeconfig uses.
pub(crate) fn user_name<'k>(kubeconfig: &'k Kubeconfig, context: Option<&str>) -> Option<&'k str> {
    let context = context.or(kubeconfig.current_context.as_deref())?;
    let named = kubeconfig.contexts.iter().find(|named| named.name == context)?;
    named.context.as_ref()?.user.as_deref()
}

#[cfg(test)]
mod tests {
    use kube::Config;
    use serde_json::{Value, json};

    use super::{InvalidField, Problem, check, read_token};

    fn config(server: &str, user: &Value) -> Config {
        let mut config = Config::new(server.parse().unwrap());
        config.auth_info = serde_json::from_value(user.clone()).unwrap();
        config
    }

    fn field_of(server: &str, user: &Value) -> Option<String> {
        check(&config(server, user)).err().map(|invalid| invalid.field)
    }

    #[test]
    fn no_header_contains_a_control_character() {
        for text in ["a\n", "a\rb", "\u{1}", "a\u{7f}", "a\u{85}", "\0"] {
            for (field, user) in [
                ("token", json!({"token": text})),
                ("username", json!({"username": text, "password": "p"})),
                ("password", json!({"username": "u", "password": text})),
                ("as", json!({"as": text})),
                ("as-uid", json!({"as-uid": text})),
                ("as-groups", json!({"as-groups": ["g", text]})),
                ("as-user-extra", json!({"as-user-extra": {"k": [text]}})),
                ("as-user-extra", json!({"as-user-extra": {text: ["v"]}})),
                ("auth-provider", json!({"auth-provider": {"name": "oidc", "config": {"id-token": text}}})),
            ] {
                assert_eq!(field_of("https://api", &user).as_deref(), Some(field), "{user}");
            }
        }
        let all = json!({"token": "t", "as": "ü", "as-groups": ["g"], "as-user-extra": {"k": ["v"]}});
        assert_eq!(field_of("https://api:6443/base", &all), None);
    }

    #[test]
    fn commands_of_removed_providers_are_not_run() {
        let gcp = json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "sleep"}}});
        assert_eq!(field_of("https://api", &gcp).as_deref(), Some("auth-provider"));
    }

    #[test]
    fn the_server_is_a_url() {
        for server in ["api", "api:6443", "/api", "ftp://api", "unix://api/x"] {
            assert_eq!(field_of(server, &json!({})).as_deref(), Some("server"), "{server}");
        }
        let long = format!("https://api/{}", "x".repeat(5000));
        assert_eq!(field_of(&long, &json!({})).as_deref(), Some("server"));
    }

    #[test]
    fn white_space_around_a_token_in_a_file_is_removed() {
        assert_eq!(read_token(" abc\r\n\n"), Ok("abc"));
        assert_eq!(read_token("\n"), Err(InvalidField::new("tokenFile", Problem::Empty)));
        assert_eq!(read_token("a\nb"), Err(InvalidField::new("tokenFile", Problem::ControlCharacter)));
    }
}
