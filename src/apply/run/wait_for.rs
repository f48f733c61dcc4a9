//! `wait-for`: waits until objects exist. A custom resource that exists implies that its kind is served.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kube::api::{Api, DynamicObject};
use kube::core::ApiResource;
use kube::discovery::{ApiCapabilities, Scope};
use kube::{Client, Error, discovery};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;

use crate::apply::wire::client::root_cause;
use crate::diagnostic::Diagnostic;
use crate::object::Selector;

/// The delay between polls. Hundreds of control planes may start at once, so it is not short.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

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
    /// The API server does not answer, or the answer cannot be read.
    Unreachable(String),
}

impl fmt::Display for WaitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("exists"),
            Self::NotFound => f.write_str("does not exist yet"),
            Self::KindNotServed => f.write_str("its kind is not served yet"),
            Self::Rejected(message) => write!(f, "the API server rejects the request: {message}"),
            Self::Unreachable(reason) => write!(f, "the API server does not answer: {reason}"),
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
/// deadline, with their last state. Fails at once for an object that can never exist: its name has a namespace although
/// its kind is cluster-scoped, or the other way round.
pub async fn wait_for(
    client: &Client,
    objects: &[WaitTarget],
    timeout: Duration,
    mut on_progress: impl FnMut(&WaitProgress<'_>) + Send,
) -> Result<Vec<(WaitTarget, WaitState)>, Diagnostic> {
    let started = Instant::now();
    let deadline = started + timeout;
    let mut waiting: Vec<(&WaitTarget, Option<WaitState>)> =
        objects.iter().map(|object| (object, None)).collect();
    loop {
        for (object, last) in &mut waiting {
            let state = match timeout_at(deadline, poll(client, object)).await {
                Ok(state) => state?,
                Err(_) => WaitState::Unreachable("no answer before the deadline".to_owned()),
            };
            debug!(%object, ?state, "poll");
            if last.as_ref() != Some(&state) {
                on_progress(&WaitProgress { object, state: &state, elapsed: started.elapsed() });
            }
            *last = Some(state);
        }
        waiting.retain(|(_, state)| *state != Some(WaitState::Exists));
        if waiting.is_empty() || Instant::now() + POLL_INTERVAL > deadline {
            let missing = waiting.into_iter().filter_map(|(object, state)| Some((object.clone(), state?)));
            return Ok(missing.collect());
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn poll(client: &Client, object: &WaitTarget) -> Result<WaitState, Diagnostic> {
    let found = match find_resource(client, object).await {
        Ok(Some((resource, capabilities))) => {
            let api = api(client, object, &resource, &capabilities)?;
            api.get_metadata_opt(&object.name).await
        }
        Ok(None) => return Ok(WaitState::KindNotServed),
        Err(error) => Err(error),
    };
    Ok(match found {
        Ok(Some(_)) => WaitState::Exists,
        Ok(None) => WaitState::NotFound,
        // Someone may grant the permission or create the namespace later.
        Err(Error::Api(status)) if (400..500).contains(&status.code) => WaitState::Rejected(status.message),
        Err(error) => WaitState::Unreachable(root_cause(&error)),
    })
}

/// Returns the most stable version of a kind that is served.
async fn find_resource(
    client: &Client,
    object: &WaitTarget,
) -> Result<Option<(ApiResource, ApiCapabilities)>, Error> {
    match discovery::group(client, &object.group).await {
        Ok(group) => {
            let resources = group.resources_by_stability();
            Ok(resources.into_iter().find(|(resource, _)| resource.kind == object.kind))
        }
        Err(Error::Discovery(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn api(
    client: &Client,
    object: &WaitTarget,
    resource: &ApiResource,
    capabilities: &ApiCapabilities,
) -> Result<Api<DynamicObject>, Diagnostic> {
    let client = client.clone();
    match (&object.namespace, &capabilities.scope) {
        (Some(namespace), Scope::Namespaced) => Ok(Api::namespaced_with(client, namespace, resource)),
        (None, Scope::Cluster) => Ok(Api::all_with(client, resource)),
        (None, Scope::Namespaced) => Err(Diagnostic::error(format!("`{object}` has no namespace"))
            .note(format!("the kind {} is namespaced", object.kind))
            .help("write the namespace before the name")),
        (Some(_), Scope::Cluster) => Err(Diagnostic::error(format!("`{object}` has a namespace"))
            .note(format!("the kind {} is cluster-scoped", object.kind))
            .help("remove the namespace")),
    }
}
