//! Connects to a cluster: builds a client from a kubeconfig.
//!
//! The client consists of kube's own layers over a connector that sets `TCP_NODELAY`. kube's connector does not, which
//! costs 40 ms on each new connection. This module becomes `Client::try_from` when
//! [kube-rs/kube#2056](https://github.com/kube-rs/kube/issues/2056) is fixed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioExecutor;
use kube::client::{AuthError, Body, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::filter::AsyncFilterLayer;
use tower::{BoxError, Service, ServiceBuilder};

use crate::apply::wire::credentials::{self, ChangingToken, CredentialError};
use crate::apply::wire::kubeconfig::{self, InvalidField};
use crate::apply::wire::proxy;
use crate::apply::wire::write_guard::GuardedBody;
use crate::diagnostic::{Diagnostic, Location};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the next bytes of the API server. This is longer than the default timeout of an admission webhook.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The longest part of the user agent, in characters. A namespace has at most 63.
const MAX_AGENT_PART: usize = 64;

/// The help for a credential plugin that fails.
const PLUGIN_HELP: &str = "run the command of `exec` in the kubeconfig to see what it prints";

/// How to reach a cluster, as in kubectl's flags.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// The kubeconfig; by default `KUBECONFIG`, `~/.kube/config` or the token of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; by default the current one.
    pub context: Option<String>,
    /// The user to impersonate.
    pub act_as: Option<String>,
    /// How long a credential plugin may take; by default any time.
    pub timeout: Option<Duration>,
    /// The part of the user agent after the version, such as the command.
    pub user_agent: Vec<String>,
}

impl Endpoint {
    /// Creates a client. Sends no request. Reports connections that others can read.
    pub async fn connect(&self, mut on_warning: impl FnMut(Diagnostic)) -> Result<Client, Diagnostic> {
        let (mut config, user) = self.read().await?;
        if let Ok(agent) = http::HeaderValue::from_str(&user_agent(&self.user_agent)) {
            config.headers.push((http::header::USER_AGENT, agent));
        }
        if self.act_as.is_some() {
            config.auth_info.impersonate.clone_from(&self.act_as);
        }
        let invalid = |invalid: InvalidField| self.locate(invalid.diagnostic(user.as_deref()));
        kubeconfig::check(&config).map_err(invalid)?;
        let proxy = proxy::find(&config).map_err(invalid)?;
        for warning in kubeconfig::warnings(&config) {
            on_warning(self.locate(warning));
        }
        let token = match self.resolve_credentials(&mut config).await? {
            Ok(token) => token,
            Err(CredentialError::Field(field)) => return Err(invalid(field)),
            Err(CredentialError::Plugin(error)) => {
                return Err(self.locate(Diagnostic::error(error.to_string()).help(PLUGIN_HELP)));
            }
        };
        client(config, proxy, token).map_err(|error| {
            self.locate(Diagnostic::error(format!("cannot create a client: {}", root_cause(&error))))
        })
    }

    /// Reads the kubeconfig. Returns it with the name of its user.
    async fn read(&self) -> Result<(Config, Option<String>), Diagnostic> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let read = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let user = read.as_ref().ok().and_then(|read| kubeconfig::user_name(read, self.context.as_deref()));
        let user = user.map(str::to_owned);
        // Without a kubeconfig, the token of the pod is used.
        if self.kubeconfig.is_none() && self.context.is_none() {
            return Ok((Config::infer().await.map_err(|error| no_cluster(&error))?, user));
        }
        let config = match read {
            Ok(read) => Config::from_custom_kubeconfig(read, &options).await,
            Err(error) => Err(error),
        };
        Ok((config.map_err(|error| self.locate(invalid_kubeconfig(&error)))?, user))
    }

    /// Reads the token file or runs the credential plugin of a kubeconfig. After the timeout, kills the plugin.
    async fn resolve_credentials(
        &self,
        config: &mut Config,
    ) -> Result<Result<Option<Arc<ChangingToken>>, CredentialError>, Diagnostic> {
        let resolve = credentials::resolve(&mut config.auth_info);
        let Some(limit) = self.timeout else { return Ok(resolve.await) };
        tokio::time::timeout(limit, resolve).await.map_err(|_| {
            let message = "the credential plugin of the kubeconfig did not end before the timeout";
            self.locate(Diagnostic::error(message).note("transship has killed it").help(PLUGIN_HELP))
        })
    }

    fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        match &self.kubeconfig {
            Some(path) => diagnostic.at(Location::file(path.display().to_string())),
            None => diagnostic,
        }
    }
}

/// Returns the user agent: the version, and the parts as a comment, as RFC 9110 writes it.
fn user_agent(parts: &[String]) -> String {
    let version = concat!("transship/", env!("CARGO_PKG_VERSION"));
    if parts.is_empty() {
        return version.to_owned();
    }
    let is_safe = |char: char| char.is_ascii_alphanumeric() || " ._:/-".contains(char);
    let safe = |part: &String| -> String {
        let chars = part.chars().take(MAX_AGENT_PART);
        chars.map(|char| if is_safe(char) { char } else { '_' }).collect()
    };
    let parts: Vec<String> = parts.iter().map(safe).collect();
    format!("{version} ({})", parts.join("; "))
}

/// Creates a client. The client does not retry, because `ApiServer` does.
fn client(
    config: Config,
    proxy: Option<Intercept>,
    token: Option<Arc<ChangingToken>>,
) -> Result<Client, kube::Error> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let Some(proxy) = proxy else { return with_connector(http, config, token) };
    match proxy.uri().scheme_str() {
        Some("https") => {
            let https = config.rustls_https_connector_with_connector(http)?;
            with_connector(proxy::tunnel(&proxy, https), config, token)
        }
        Some("socks5" | "socks5h") => with_connector(proxy::socks(&proxy, http), config, token),
        _ => with_connector(proxy::tunnel(&proxy, http), config, token),
    }
}

/// Creates a client that connects with `connector`.
fn with_connector<C>(
    connector: C,
    config: Config,
    token: Option<Arc<ChangingToken>>,
) -> Result<Client, kube::Error>
where
    C: Service<
            Uri,
            Response: Connection + Read + Write + Send + Unpin + 'static,
            Future: Send,
            Error: Into<BoxError>,
        >,
    C: Clone + Send + Sync + 'static,
{
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(connector)?);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_read_timeout(Some(READ_TIMEOUT));
    connector.set_reset_reader_on_write(true);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .option_layer(token.map(|token| {
            AsyncFilterLayer::new(move |request: http::Request<Body>| Arc::clone(&token).authorize(request))
        }))
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .map_request(GuardedBody::wrap)
        .service(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace))
}

/// Connects with a kubeconfig; by default as kubectl does.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Diagnostic> {
    Endpoint { kubeconfig: kubeconfig.map(Path::to_owned), ..Endpoint::default() }.connect(|_| {}).await
}

fn invalid_kubeconfig(error: &KubeconfigError) -> Diagnostic {
    Diagnostic::error(format!("cannot use the kubeconfig: {}", describe(error)))
        .help("check that `kubectl --kubeconfig FILE version` works")
}

fn no_cluster(error: &kube::config::InferConfigError) -> Diagnostic {
    let message = match error.source().and_then(|source| source.downcast_ref::<KubeconfigError>()) {
        Some(error) => describe(error),
        None => "no kubeconfig found".to_owned(),
    };
    Diagnostic::error(format!("no cluster to connect to: {message}"))
        .note("there is no ServiceAccount token either: transship does not run in a pod")
        .help("use --kubeconfig or set KUBECONFIG")
}

/// Describes an error of a kubeconfig. Parse errors quote the file, which may contain tokens, so they are not repeated.
fn describe(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(_) => "it is not a valid kubeconfig in YAML".to_owned(),
        KubeconfigError::ReadConfig(error, _) => format!("cannot read it: {error}"),
        other => other.to_string(),
    }
}

/// Returns the innermost cause of an error: the one that a user can act on.
pub(crate) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut last = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        // The output of a credential plugin may contain the credential.
        if error.is::<AuthError>() {
            return "cannot use the credentials of the kubeconfig".to_owned();
        }
        last = error.to_string();
        cause = error.source();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::user_agent;

    #[test]
    fn the_user_agent_is_ascii() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(user_agent(&[]), format!("transship/{version}"));
        let long = "x".repeat(70);
        let parts = ["apply", "a)b\n(ü;", "clusters-example", "run 7f3a", &long].map(str::to_owned);
        let expected =
            format!("transship/{version} (apply; a_b____; clusters-example; run 7f3a; {})", &long[..64]);
        assert_eq!(user_agent(&parts), expected);
    }
}
