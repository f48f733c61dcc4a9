//! Single requests, with a user agent that the audit log can tell from others.

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue, Request};
use http_body_util::BodyExt;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tokio::time::error::Elapsed;
use tower::{BoxError, ServiceBuilder};

/// The time after which a server counts as unreachable.
const PATIENCE: Duration = Duration::from_secs(20);

/// The response of a server.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl Response {
    /// Returns the body of a successful response.
    pub(crate) fn ok(self) -> Result<Value, String> {
        match self.code {
            200..=299 => Ok(serde_json::from_str(&self.text).unwrap_or(Value::Null)),
            code => Err(format!("{code}: {}", self.text)),
        }
    }
}

/// Runs a future on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Creates a client without retries, with a user agent.
pub(crate) async fn client(kubeconfig: &Path, agent: &'static str) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    client_of(config, agent)
}

/// Creates a client for a server without authentication.
pub(crate) fn open_client(port: u16) -> Client {
    client_of(Config::new(format!("http://127.0.0.1:{port}").parse().unwrap()), "test")
}

fn client_of(mut config: Config, agent: &'static str) -> Client {
    config.headers.push((HeaderName::from_static("user-agent"), HeaderValue::from_static(agent)));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().unwrap())
        .layer(config.extra_headers_layer().unwrap())
        .map_err(BoxError::from)
        .service(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector(&config)));
    Client::new(service, config.default_namespace)
}

/// Creates a connector with `TCP_NODELAY`. Without it, every connection starts with a delay of 40 ms.
pub(crate) fn connector(config: &Config) -> impl Connect + Clone + Send + Sync + 'static {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    config.rustls_https_connector_with_connector(http).unwrap()
}

/// Sends a request. An error means that there was no response.
pub(crate) async fn call(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Result<Response, kube::Error> {
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    let request = request.body(Body::from(body)).unwrap();
    let exchange = async {
        let response = client.send(request).await?;
        let code = response.status().as_u16();
        let text = response.into_body().collect().await?.to_bytes();
        Ok(Response { code, text: String::from_utf8_lossy(&text).into_owned() })
    };
    let late = |error: Elapsed| kube::Error::Service(error.into());
    tokio::time::timeout(PATIENCE, exchange).await.map_err(late)?
}

/// Sends a request that must get a response. Repeats it after a 429: the API server responds to the first request for a
/// custom resource with it.
pub(crate) async fn call_with_retry(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Response {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let response = call(client, method, path, content_type, body.clone()).await.unwrap();
        if response.code != 429 || Instant::now() > deadline {
            return response;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends a JSON body.
pub(crate) async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Response, kube::Error> {
    let content_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    call(client, method, path, content_type, serde_json::to_vec(body).unwrap()).await
}

/// Sends a GET request.
pub(crate) async fn get(client: &Client, path: &str) -> Result<Response, kube::Error> {
    call(client, "GET", path, "application/json", Vec::new()).await
}
