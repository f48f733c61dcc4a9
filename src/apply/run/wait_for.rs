//! Waits until objects exist. That a custom resource exists implies that its kind is served.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kube::api::{Api, DynamicObject};
use kube::core::ApiResource;
use kube::discovery::{ApiCapabilities, Scope};
use kube::{Client, Error, discovery};
use tokio::time::{Instant, sleep, timeout_at};

use crate::apply::wire::client::reason;
use crate::diagnostic::Diagnostic;

/// Looked at again after this long: hundreds of control planes start at once, and none is in that much of a hurry.
const PAUSE: Duration = Duration::from_secs(1);

/// An object that must exist: `Kind/name`, `Kind.group/name`, or either with a namespace before the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    kind: String,
    group: String,
    namespace: Option<String>,
    name: String,
}

impl FromStr for Awaited {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => return Err(how_to_write()),
        };
        let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
        let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase());
        if !is_kind || name.is_empty() || namespace == Some("") {
            return Err(how_to_write());
        }
        Ok(Self {
            kind: kind.to_owned(),
            group: group.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }
}

fn how_to_write() -> String {
    "write Kind.group/name or Kind.group/namespace/name, such as ClusterOperator.config.openshift.io/storage"
        .to_owned()
}

impl fmt::Display for Awaited {
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

/// What was seen of an object when it was last looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It exists.
    There,
    /// It does not.
    Missing,
    /// Nor does its kind.
    KindNotServed,
    /// The server does not let us look; its words.
    Refused(String),
    /// No answer, or none that can be read.
    Unreachable(String),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::There => f.write_str("there"),
            Self::Missing => f.write_str("not there yet"),
            Self::KindNotServed => f.write_str("its kind is not served yet"),
            Self::Refused(words) => write!(f, "the server refuses: {words}"),
            Self::Unreachable(words) => write!(f, "the server cannot be reached: {words}"),
        }
    }
}

/// One object, what is seen of it now, and since when it is waited for.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The object.
    pub object: &'a Awaited,
    /// What is seen of it.
    pub seen: &'a Seen,
    /// The time since the start.
    pub after: Duration,
}

/// Waits until all objects exist, and tells each change of what is seen. What is still missing at the deadline comes
/// back, with what was seen of it last. An object that can never exist, because its kind has no namespace or has one,
/// is an error at once.
pub async fn wait_for(
    client: &Client,
    objects: &[Awaited],
    timeout: Duration,
    mut tell: impl FnMut(&Progress<'_>),
) -> Result<Vec<(Awaited, Seen)>, Diagnostic> {
    let begun = Instant::now();
    let deadline = begun + timeout;
    let mut waiting: Vec<(&Awaited, Option<Seen>)> = objects.iter().map(|object| (object, None)).collect();
    loop {
        for (object, last) in &mut waiting {
            let silent = |_| Ok(Seen::Unreachable("no answer before the deadline".to_owned()));
            let seen = timeout_at(deadline, look(client, object)).await.unwrap_or_else(silent)?;
            if last.as_ref() != Some(&seen) {
                tell(&Progress { object, seen: &seen, after: begun.elapsed() });
            }
            *last = Some(seen);
        }
        waiting.retain(|(_, seen)| *seen != Some(Seen::There));
        if waiting.is_empty() || Instant::now() + PAUSE > deadline {
            let missing = waiting.into_iter().filter_map(|(object, seen)| Some((object.clone(), seen?)));
            return Ok(missing.collect());
        }
        sleep(PAUSE).await;
    }
}

async fn look(client: &Client, object: &Awaited) -> Result<Seen, Diagnostic> {
    let found = match kind_of(client, object).await {
        Ok(Some((resource, capabilities))) => {
            let api = api_of(client, object, &resource, &capabilities)?;
            api.get_metadata_opt(&object.name).await.map(|found| found.map_or(Seen::Missing, |_| Seen::There))
        }
        Ok(None) => Ok(Seen::KindNotServed),
        Err(error) => Err(error),
    };
    Ok(found.unwrap_or_else(|error| match error {
        // Waiting may cure it, as rights and namespaces are made too.
        Error::Api(status) if (400..500).contains(&status.code) => Seen::Refused(status.message),
        error => Seen::Unreachable(reason(&error)),
    }))
}

/// The most stable version of a kind that is served, if any is.
async fn kind_of(client: &Client, object: &Awaited) -> Result<Option<(ApiResource, ApiCapabilities)>, Error> {
    match discovery::group(client, &object.group).await {
        Ok(group) => {
            let mut kinds = group.resources_by_stability().into_iter();
            Ok(kinds.find(|(resource, _)| resource.kind == object.kind))
        }
        Err(Error::Discovery(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn api_of(
    client: &Client,
    object: &Awaited,
    resource: &ApiResource,
    capabilities: &ApiCapabilities,
) -> Result<Api<DynamicObject>, Diagnostic> {
    let client = client.clone();
    match (&object.namespace, &capabilities.scope) {
        (Some(namespace), Scope::Namespaced) => Ok(Api::namespaced_with(client, namespace, resource)),
        (None, Scope::Cluster) => Ok(Api::all_with(client, resource)),
        (None, Scope::Namespaced) => Err(Diagnostic::error(format!("`{object}` names no object"))
            .note(format!("a {} is always in a namespace", object.kind))
            .help("write the namespace before the name")),
        (Some(_), Scope::Cluster) => Err(Diagnostic::error(format!("`{object}` names no object"))
            .note(format!("a {} is in no namespace", object.kind))
            .help("leave the namespace out")),
    }
}
