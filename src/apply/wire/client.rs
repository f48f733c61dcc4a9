//! Connects to a cluster: builds a client from a kubeconfig.
//!
//! The client consists of kube's own layers over a connector that sets `TCP_NODELAY`. kube's connector does not, which
//! costs 40 ms on each new connection. This module becomes `Client::try_from` when
//! [kube-rs/kube#2056](https://github.com/kube-rs/kube/issues/2056) is fixed.

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

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the next bytes of the API server. This is longer than the default timeout of an admission webhook.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// How to reach a cluster, as in kubectl's flags.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// The kubeconfig; by default `KUBECONFIG`, `~/.kube/config` or the token of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; by default the current one.
    pub context: Option<String>,
    /// The user to impersonate.
    pub act_as: Option<String>,
}

impl Endpoint {
    /// Creates a client. Sends no request.
    pub async fn connect(&self) -> Result<Client, Diagnostic> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let mut config = match &self.kubeconfig {
            Some(path) => from_file(path, &options).await?,
            None if self.context.is_some() => {
                Config::from_kubeconfig(&options).await.map_err(|error| invalid_kubeconfig(&error))?
            }
            None => Config::infer().await.map_err(|error| no_cluster(&error))?,
        };
        let agent = concat!("transship/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        if self.act_as.is_some() {
            config.auth_info.impersonate.clone_from(&self.act_as);
        }
        client(config).map_err(|error| {
            let error = Diagnostic::error(format!("cannot create a client: {}", root_cause(&error)));
            match &self.kubeconfig {
                Some(path) => error.at(Location::file(path.display().to_string())),
                None => error,
            }
        })
    }
}

/// Creates a client, with a proxy if the kubeconfig or the environment has one. The client does not retry, because
/// `ApiServer` does.
fn client(config: Config) -> Result<Client, kube::Error> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let Some(proxy) = proxy::find(&config) else { return with_connector(http, config) };
    match proxy.uri().scheme_str() {
        Some("http") => with_connector(proxy::tunnel(&proxy, http), config),
        Some("https") => {
            let https = config.rustls_https_connector_with_connector(http)?;
            with_connector(proxy::tunnel(&proxy, https), config)
        }
        Some("socks5" | "socks5h") => with_connector(proxy::socks(&proxy, http), config),
        _ => Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy.uri().clone()) }),
    }
}

/// Creates a client that connects with `connector`.
fn with_connector<C>(connector: C, config: Config) -> Result<Client, kube::Error>
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
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace))
}

/// Connects with a kubeconfig; by default as kubectl does.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Diagnostic> {
    Endpoint { kubeconfig: kubeconfig.map(Path::to_owned), ..Endpoint::default() }.connect().await
}

async fn from_file(path: &Path, options: &KubeConfigOptions) -> Result<Config, Diagnostic> {
    let config = match Kubeconfig::read_from(path) {
        Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, options).await,
        Err(error) => Err(error),
    };
    config.map_err(|error| invalid_kubeconfig(&error).at(Location::file(path.display().to_string())))
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
