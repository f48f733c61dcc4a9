//! Intents: what manifests ask for in fields and annotations that already exist. One file per intent.
//!
//! To add an intent, add a variant to [`Intent`] and a file here with its [`IntentHandler`], and name the handler in
//! [`handler`]; the compiler asks for the last step.

mod projected_token;
mod proxy;
mod proxy_ca_bundle;
mod serving_cert;
mod tls;
mod trusted_ca;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Location};
use crate::language::Intent;
use crate::language::template::{Lookup, Names};
use crate::object::{Object, ObjectId};
use crate::yaml::{Mark, Node, Sources, Value};

/// The code for one intent.
pub(super) struct IntentHandler {
    /// Finds the intent in an object. An object can have it several times, for example in several volumes.
    detect: fn(&Object, &RemoteServices) -> Vec<DetectedIntent>,
    /// Removes the intent from the object, so that a fragment can add something else.
    pub(super) remove: fn(&mut Object, &DetectedIntent),
    /// Fulfils the intent in the object itself, with values from parameters. `None` if that is not possible.
    pub(super) fulfil: Option<Fulfil>,
}

type Fulfil = fn(&mut Object, &ParameterGroup<'_>) -> Result<(), Diagnostic>;

/// Returns the code for an intent.
pub(super) fn handler(intent: Intent) -> IntentHandler {
    match intent {
        Intent::ProjectedToken => projected_token::HANDLER,
        Intent::ServingCert => serving_cert::HANDLER,
        Intent::Webhook => webhook::HANDLER,
        Intent::TrustedCa => trusted_ca::HANDLER,
        Intent::Proxy => proxy::HANDLER,
        Intent::ProxyCaBundle => proxy_ca_bundle::HANDLER,
        Intent::Tls => tls::HANDLER,
    }
}

/// An intent in an object.
#[derive(Clone, Debug)]
pub(super) struct DetectedIntent {
    pub(super) intent: Intent,
    /// The field or annotation with the intent.
    pub(super) mark: Mark,
    /// The inputs for a fragment that replaces the intent.
    pub(super) inputs: BTreeMap<&'static str, Node>,
    /// The objects that the inputs name. The object with the intent is the last one.
    pub(super) objects: Vec<ObjectId>,
    /// Why a fragment cannot replace the intent.
    pub(super) obstacle: Option<Obstacle>,
    /// The name of the volume, webhook or container, if an object can have the intent several times.
    item: String,
}

/// The reason why a fragment cannot replace an intent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obstacle {
    pub(super) reason: &'static str,
    /// How to fix it.
    pub(super) help: &'static str,
}

impl DetectedIntent {
    fn new(intent: Intent, mark: Mark, inputs: Vec<(&'static str, Node)>) -> Self {
        let inputs = inputs.into_iter().collect();
        Self { intent, mark, inputs, objects: Vec::new(), obstacle: None, item: String::new() }
    }
}

/// The Services that live in another cluster of the topology: namespace and name.
pub(super) type RemoteServices = BTreeSet<(String, String)>;

/// Finds all intents in an object.
pub(super) fn detect(object: &Object, remote_services: &RemoteServices) -> Vec<DetectedIntent> {
    let mut all = Vec::new();
    for (_, intent) in Intent::NAMES {
        all.extend((handler(*intent).detect)(object, remote_services));
    }
    for detected in &mut all {
        detected.objects.push(object.id.clone());
    }
    all
}

/// A group of parameters that the profile names for an intent, such as `${proxy}`.
pub(super) struct ParameterGroup<'a> {
    pub(super) name: &'a str,
    pub(super) scope: &'a dyn Names,
    /// The entry of `intents` that names the group.
    pub(super) mark: Mark,
    pub(super) sources: &'a Sources,
}

impl ParameterGroup<'_> {
    /// Returns the values of parameters of the group, each under the name that the object uses for it. Absent parameters
    /// are left out.
    fn values<const N: usize>(
        &self,
        names: [(&'static str, &str); N],
    ) -> Result<Vec<(&'static str, Node)>, Diagnostic> {
        let mut values = Vec::new();
        for (name, parameter) in names {
            let value = self.scope.get(&format!("{}.{parameter}", self.name)).map_err(|why| {
                Diagnostic::error(format!("the group `${{{}}}` has no parameter `{parameter}`", self.name))
                    .at(Location::of(self.mark, self.sources))
                    .help(why)
            })?;
            if let Lookup::Value(value) = value {
                values.push((name, value));
            }
        }
        Ok(values)
    }
}

/// Returns the names in an annotation that lists them, separated by commas.
fn comma_separated(list: &Node) -> impl Iterator<Item = &str> {
    list.as_str().unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty())
}

fn text(text: &str) -> Node {
    Value::String(text.into()).into()
}

/// Returns `Kind/name`, as inputs of the types `object` and `workload` take it.
fn reference_to(object: &Object) -> Node {
    text(&object.id.kind_and_name())
}
