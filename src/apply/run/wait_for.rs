//! `wait-for`: waits until objects exist. A custom resource that exists implies that its kind is served.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kube::Client;
use kube::discovery::Scope;
use tokio::time::{Instant, sleep_until, timeout_at};
use tracing::debug;

use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::discovery::{self, ServedResource};
use crate::apply::wire::error::RequestError;
use crate::apply::wire::request::ObjectPath;
use crate::diagnostic::Diagnostic;
use crate::object::Selector;

/// The delay between polls. Hundreds of control planes may start at once, so it is not short.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last poll may take, which starts at the deadline.
const LAST_POLL: Duration = Duration::from_millis(500);

/// An object to wait for: `Kind/name`, `Kind.group/name` or `Kind.group/namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitTarget {
    kind: String,
    group: String,
    namespace: Option<String>,
    name: String,
}

/// A text that is not a [`WaitTarget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidWaitTarget;

impl fmt::Display for InvalidWaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "write Kind.group/name or Kind.group/namespace/name, such as \
             ClusterOperator.config.openshift.io/storage",
        )
    }
}

impl std::error::Error for InvalidWaitTarget {}

impl FromStr for WaitTarget {
    type Err = InvalidWaitTarget;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let selector = Selector::parse_with_name(text).map_err(|_| InvalidWaitTarget)?;
        let Selector { kind, group, namespace, name } = selector;
        // A selector without a group matches any group. `wait-for` needs exactly one kind, so a target without a group
        // means the core group.
        let group = group.unwrap_or_default();
        Ok(Self { kind, group, namespace, name: name.ok_or(InvalidWaitTarget)? })
    }
}

impl fmt::Display for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, "/{namespace}")?;
        }
        write!(f, "/{}", self.name)
    }
}

/// The state of an object when it was last polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitState {
    /// It exists.
    Exists,
    /// It does not exist.
    NotFound,
    /// Its kind is not served.
    KindNotServed,
    /// The API server rejects the request. The text is its message.
    Rejected(String),
    /// The API server does not respond, or the response cannot be read.
    Unreachable(String),
    /// The response of the API server is larger than transship reads.
    TooLarge(String),
    /// The API server does not accept the credentials, or has an invalid certificate. The text says why.
    NotTrusted(String),
}

impl WaitState {
    /// Returns whether waiting does not help.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::TooLarge(_) | Self::NotTrusted(_))
    }
}

impl fmt::Display for WaitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("exists"),
            Self::NotFound => f.write_str("does not exist yet"),
            Self::KindNotServed => f.write_str("its kind is not served yet"),
            Self::Rejected(message) => write!(f, "the API server rejects the request: {message}"),
            Self::Unreachable(reason) => write!(f, "the API server does not respond: {reason}"),
            Self::TooLarge(reason) | Self::NotTrusted(reason) => f.write_str(reason),
        }
    }
}

/// A change of an object's state.
#[derive(Debug)]
pub struct WaitProgress<'a> {
    /// The object.
    pub object: &'a WaitTarget,
    /// Its state.
    pub state: &'a WaitState,
    /// The time since the start.
    pub elapsed: Duration,
}

/// Waits until all objects exist, and reports each change of their state. Returns the objects that do not exist at the
/// deadline, with their last state. Ends before the deadline if a response is too large, or if the API server does not
/// accept the credentials or has an invalid certificate. Fails at once for an object that can never exist: it has a
/// namespace although its kind is cluster-scoped, or no namespace although its kind is namespaced.
pub async fn wait_for(
    client: &Client,
    objects: &[WaitTarget],
    timeout: Duration,
    mut on_progress: impl FnMut(&WaitProgress<'_>) + Send,
) -> Result<Vec<(WaitTarget, WaitState)>, Diagnostic> {
    let started = Instant::now();
    let deadline = started + timeout;
    // The next poll is the retry.
    let server = ApiServer::new(client.clone(), Duration::ZERO, deadline);
    let mut waiting: Vec<(&WaitTarget, Option<WaitState>)> =
        objects.iter().map(|object| (object, None)).collect();
    loop {
        for (object, last) in &mut waiting {
            let limit = deadline.max(Instant::now() + LAST_POLL);
            let state = match timeout_at(limit, poll(&server, object)).await {
                Ok(state) => state?,
                Err(_) => WaitState::Unreachable("no response before the deadline".to_owned()),
            };
            debug!(%object, ?state, "poll");
            if last.as_ref() != Some(&state) {
                on_progress(&WaitProgress { object, state: &state, elapsed: started.elapsed() });
            }
            *last = Some(state);
        }
        waiting.retain(|(_, state)| *state != Some(WaitState::Exists));
        let is_hopeless =
            waiting.iter().any(|(_, state)| state.as_ref().is_some_and(WaitState::is_permanent));
        if waiting.is_empty() || is_hopeless || Instant::now() >= deadline {
            let missing = waiting.into_iter().filter_map(|(object, state)| Some((object.clone(), state?)));
            return Ok(missing.collect());
        }
        // The last poll is at the deadline.
        sleep_until(deadline.min(Instant::now() + POLL_INTERVAL)).await;
    }
}

async fn poll(server: &ApiServer, object: &WaitTarget) -> Result<WaitState, Diagnostic> {
    let found = match discovery::discover_stable(server, &object.group, &object.kind).await {
        Ok(Some(resource)) => exists(server, &path(object, &resource)?).await,
        Ok(None) => return Ok(WaitState::KindNotServed),
        Err(error) => Err(error),
    };
    Ok(match found {
        Ok(true) => WaitState::Exists,
        Ok(false) => WaitState::NotFound,
        Err(RequestError::Api(error)) if error.code == 401 => WaitState::NotTrusted(
            "the API server does not accept the credentials of the kubeconfig".to_owned(),
        ),
        Err(error @ RequestError::Certificate(_)) => WaitState::NotTrusted(error.to_string()),
        // Someone may grant the right or create the namespace later.
        Err(RequestError::Api(error)) if (400..500).contains(&error.code) => {
            WaitState::Rejected(error.message().to_owned())
        }
        Err(RequestError::Connection(reason)) => WaitState::Unreachable(reason),
        Err(error) if error.is_too_large() => WaitState::TooLarge(error.to_string()),
        Err(error) => WaitState::Unreachable(error.to_string()),
    })
}

async fn exists(server: &ApiServer, path: &ObjectPath) -> Result<bool, RequestError> {
    Ok(server.get(path.get_metadata()?).await?.is_some())
}

fn path(object: &WaitTarget, resource: &ServedResource) -> Result<ObjectPath, Diagnostic> {
    match (&object.namespace, &resource.scope) {
        (Some(namespace), Scope::Namespaced) => Ok(resource.object(namespace, &object.name)),
        (None, Scope::Cluster) => Ok(resource.object("", &object.name)),
        (None, Scope::Namespaced) => Err(Diagnostic::error(format!("`{object}` has no namespace"))
            .note(format!("the kind {} is namespaced", object.kind))
            .help("write the namespace before the name")),
        (Some(_), Scope::Cluster) => Err(Diagnostic::error(format!("`{object}` has a namespace"))
            .note(format!("the kind {} is cluster-scoped", object.kind))
            .help("remove the namespace")),
    }
}
