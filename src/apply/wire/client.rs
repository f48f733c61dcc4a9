//! A kubeconfig in, a client out; and what a failed request says, without anything secret.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::{AuthError, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::{BoxError, Service, ServiceBuilder};

use crate::apply::wire::proxy;
use crate::diagnostic::{Diagnostic, Location};

/// How long a connection may take.
const CONNECTION: Duration = Duration::from_secs(10);
/// How long an answer may take: longer than a webhook that the server asks has by default. A server that says nothing for so
/// long is as good as gone.
const ANSWER: Duration = Duration::from_secs(15);

/// Which cluster is meant, as kubectl's flags say it.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// A kubeconfig; without it `KUBECONFIG`, `~/.kube/config`, or the pod's own token.
    pub kubeconfig: Option<PathBuf>,
    /// A context of it; without it the current one.
    pub context: Option<String>,
    /// Somebody to act as.
    pub act_as: Option<String>,
}

impl Endpoint {
    /// Connects as kubectl would. Nothing is sent yet.
    pub async fn connect(&self) -> Result<Client, Diagnostic> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let mut config = match &self.kubeconfig {
            Some(path) => from_file(path, &options).await?,
            None if self.context.is_some() => {
                Config::from_kubeconfig(&options).await.map_err(|error| unusable(&error))?
            }
            None => Config::infer().await.map_err(|error| nowhere(&error))?,
        };
        let agent = concat!("transship/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        if self.act_as.is_some() {
            config.auth_info.impersonate.clone_from(&self.act_as);
        }
        client(config).map_err(|error| {
            let error = Diagnostic::error(format!("no client can be made: {}", reason(&error)));
            match &self.kubeconfig {
                Some(path) => error.at(Location::file(path.display().to_string())),
                None => error,
            }
        })
    }
}

/// A client whose connections send at once what is written: otherwise each would begin with a pause of 40 ms, in which
/// either end waits for the other. Nothing is tried again here: that is done with a deadline and a budget.
fn client(config: Config) -> Result<Client, kube::Error> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let Some(proxy) = proxy::of(&config) else { return over(http, config) };
    match proxy.uri().scheme_str() {
        Some("http") => over(proxy::tunnel(&proxy, http), config),
        Some("https") => {
            over(proxy::tunnel(&proxy, config.rustls_https_connector_with_connector(http)?), config)
        }
        Some("socks5" | "socks5h") => over(proxy::socks(&proxy, http), config),
        _ => Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy.uri().clone()) }),
    }
}

/// A client whose connections are made in this way.
fn over<C>(connector: C, config: Config) -> Result<Client, kube::Error>
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
    connector.set_connect_timeout(Some(CONNECTION));
    connector.set_read_timeout(Some(ANSWER));
    connector.set_reset_reader_on_write(true);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace))
}

/// Connects by this file, or as kubectl would without one.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Diagnostic> {
    Endpoint { kubeconfig: kubeconfig.map(Path::to_owned), ..Endpoint::default() }.connect().await
}

async fn from_file(path: &Path, options: &KubeConfigOptions) -> Result<Config, Diagnostic> {
    let here = |error: &KubeconfigError| unusable(error).at(Location::file(path.display().to_string()));
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| here(&error))?;
    Config::from_custom_kubeconfig(kubeconfig, options).await.map_err(|error| here(&error))
}

fn unusable(error: &KubeconfigError) -> Diagnostic {
    Diagnostic::error(format!("the kubeconfig cannot be used: {}", words(error)))
        .help("check that `kubectl --kubeconfig` takes it")
}

fn nowhere(error: &kube::config::InferConfigError) -> Diagnostic {
    let message = match error.source().and_then(|source| source.downcast_ref::<KubeconfigError>()) {
        Some(error) => words(error),
        None => "there is none".to_owned(),
    };
    Diagnostic::error(format!("no cluster to talk to: {message}"))
        .note("this is no pod with a token of its own either")
        .help("give --kubeconfig, or set KUBECONFIG")
}

/// A file that cannot be parsed is quoted in the error of the reader, tokens and all.
fn words(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(_) => "it is not the YAML of a kubeconfig".to_owned(),
        KubeconfigError::ReadConfig(error, _) => format!("it cannot be read: {error}"),
        other => other.to_string(),
    }
}

/// Why a request failed, in one line: the innermost cause, which is the one that a person can do something about.
pub(in crate::apply) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut last = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        // What a credential plugin printed may be the credential.
        if error.is::<AuthError>() {
            return "the credentials of the kubeconfig cannot be used".to_owned();
        }
        last = error.to_string();
        cause = error.source();
    }
    last
}
