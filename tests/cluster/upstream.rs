//! The proxy's connection to the API server, and the bodies that it sends back.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::time::Sleep;

use crate::fault_rules::Reply;

/// The reason why a connection is closed early.
#[derive(Debug)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is cut")
    }
}

impl std::error::Error for Broken {}

type Passer = Box<
    dyn Fn(Request<Incoming>) -> Pin<Box<dyn Future<Output = Option<Response<Incoming>>> + Send>>
        + Send
        + Sync,
>;

/// A client of one API server, without credentials.
pub(crate) struct Upstream {
    server: Uri,
    send: Passer,
}

impl Upstream {
    pub(crate) fn new(kubeconfig: &Path) -> Self {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = crate::requests::block_on(Config::from_custom_kubeconfig(kubeconfig, &options)).unwrap();
        let connector = crate::requests::connector(&config);
        let client = Client::builder(TokioExecutor::new()).build::<_, Incoming>(connector);
        let send: Passer = Box::new(move |request| {
            let response = client.request(request);
            Box::pin(async { response.await.ok() })
        });
        Self { server: config.cluster_url, send }
    }

    /// Forwards a request. Both bodies are streamed.
    pub(crate) async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Incoming>, Broken> {
        let (mut head, body) = request.into_parts();
        let mut to = self.server.clone().into_parts();
        to.path_and_query = head.uri.path_and_query().cloned();
        head.uri = Uri::from_parts(to).map_err(|_| Broken)?;
        head.headers.remove(HOST);
        (self.send)(Request::from_parts(head, body)).await.ok_or(Broken)
    }
}

/// The body of a response.
pub(crate) enum ResponseBody {
    /// The real one, streamed.
    Streamed(Incoming),
    /// The proxy's own, or a part of the real one; and what to wait for before the connection breaks.
    Text { text: Option<Bytes>, breaks: Option<Pin<Box<Sleep>>> },
}

impl ResponseBody {
    /// Creates a response of the proxy.
    pub(crate) fn reply(reply: &Reply) -> Response<Self> {
        let mut response = Response::builder().status(reply.code);
        for (name, value) in &reply.headers {
            response = response.header(*name, value);
        }
        response.body(Self::Text { text: Some(reply.body.clone().into()), breaks: None }).unwrap()
    }

    /// Reads a whole response. Only then has the API server finished the request.
    pub(crate) async fn discard(response: Response<Incoming>) -> Result<(), Broken> {
        response.into_body().collect().await.map(drop).map_err(|_| Broken)
    }

    /// Returns half of a response, or the first events of a watch. Then the connection breaks.
    pub(crate) async fn half(response: Response<Incoming>, endless: bool) -> Result<Response<Self>, Broken> {
        let (mut head, mut body) = response.into_parts();
        let text = if endless {
            let frame = body.frame().await.and_then(Result::ok).ok_or(Broken)?;
            frame.into_data().map_err(|_| Broken)?
        } else {
            let all = body.collect().await.map_err(|_| Broken)?.to_bytes();
            if !head.headers.contains_key(TRANSFER_ENCODING) {
                head.headers.insert(CONTENT_LENGTH, all.len().into());
            }
            all.slice(..all.len() / 2)
        };
        // The data must be sent before the connection breaks.
        let breaks = Box::pin(tokio::time::sleep(Duration::from_millis(50)));
        Ok(Response::from_parts(head, Self::Text { text: Some(text), breaks: Some(breaks) }))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut *self {
            Self::Streamed(body) => {
                Pin::new(body).poll_frame(context).map(|frame| frame.map(|frame| frame.map_err(|_| Broken)))
            }
            Self::Text { text, breaks } => match (text.take(), breaks) {
                (Some(text), _) => Poll::Ready(Some(Ok(Frame::data(text)))),
                (None, Some(breaks)) => breaks.as_mut().poll(context).map(|()| Some(Err(Broken))),
                (None, None) => Poll::Ready(None),
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Streamed(body) => body.size_hint(),
            Self::Text { text: Some(text), breaks: None } => SizeHint::with_exact(text.len() as u64),
            Self::Text { .. } => SizeHint::default(),
        }
    }
}
