//! What manifests already ask for in fields that exist. Each finder knows where to look, what a fragment needs to know
//! about the fact, and how to take it away.

mod annotation;
mod proxy;
mod proxy_ca_bundle;
mod serving_cert;
mod tls;
mod token;
mod trusted_ca;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Location};
use crate::language::Intent;
use crate::language::template::{Lookup, Scope};
use crate::object::{Object, ObjectId};
use crate::yaml::{Mark, Node, Sources, Value};

pub(super) use proxy::inject as inject_proxy;
pub(super) use tls::inject as inject_tls;

/// A fact in an object.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) finder: Intent,
    /// Where it stands.
    pub(super) mark: Mark,
    /// What a fragment that honours it is told.
    pub(super) inputs: BTreeMap<&'static str, Value>,
    /// The objects that its inputs name, told apart by their namespaces.
    pub(super) objects: Vec<ObjectId>,
    /// Why no fragment can come in its place.
    pub(super) fixed: Option<&'static str>,
    /// Whether it cannot be taken away alone.
    pub(super) entangled: bool,
    /// Which one of its kind in the object: a volume, a webhook.
    key: String,
}

impl Fact {
    fn new(finder: Intent, mark: Mark, key: &str, inputs: Vec<(&'static str, Value)>) -> Self {
        Self {
            finder,
            mark,
            inputs: inputs.into_iter().collect(),
            objects: Vec::new(),
            fixed: None,
            entangled: false,
            key: key.to_owned(),
        }
    }
}

/// The Services that live in the other cluster: namespace and name.
pub(super) type Elsewhere = BTreeSet<(String, String)>;

/// Every fact in an object.
pub(super) fn find(object: &Object, elsewhere: &Elsewhere) -> Vec<Fact> {
    let mut facts = token::find(object);
    facts.extend(serving_cert::find(object));
    facts.extend(webhook::find(object, elsewhere));
    facts.extend(trusted_ca::find(object));
    facts.extend(proxy::find(object));
    facts.extend(proxy_ca_bundle::find(object));
    facts.extend(tls::find(object));
    for fact in &mut facts {
        fact.objects.push(object.id.clone());
    }
    facts
}

/// Takes a fact away from its object, so that a fragment can put something else in its place.
pub(super) fn take_away(root: &mut Node, kind: &str, fact: &Fact) {
    match fact.finder {
        Intent::ProjectedToken => token::take_away(root, kind, &fact.key),
        Intent::ServingCert => serving_cert::take_away(root),
        Intent::Webhook => webhook::take_away(root, kind, &fact.key),
        Intent::TrustedCa => trusted_ca::take_away(root),
        Intent::Proxy => annotation::remove(root, proxy::ANNOTATION),
        Intent::ProxyCaBundle => annotation::remove(root, proxy_ca_bundle::ANNOTATION),
        Intent::Tls => annotation::remove(root, tls::ANNOTATION),
    }
}

/// The values of a group of parameters, each under the name that it is written as; those that are absent are left out.
fn of_group<const N: usize>(
    group: &str,
    names: [(&'static str, &str); N],
    scope: &dyn Scope,
    at: Mark,
    sources: &Sources,
) -> Result<Vec<(&'static str, Value)>, Diagnostic> {
    let mut values = Vec::new();
    for (name, parameter) in names {
        let value = scope.get(&format!("{group}.{parameter}")).map_err(|why| {
            Diagnostic::error(format!("`${{{group}}}` gives no `{parameter}`"))
                .at(Location::of(at, sources))
                .help(why)
        })?;
        if let Lookup::Value(value) = value {
            values.push((name, value));
        }
    }
    Ok(values)
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

/// `Kind/name`, as fragments take it.
fn named(object: &Object) -> Value {
    text(&format!("{}/{}", object.id.kind, object.id.name))
}
