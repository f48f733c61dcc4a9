//! Intents: requests that manifests make in fields or annotations that already exist, and how a profile handles them.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::typed::{Marked, Reader, Typed, string_enum, typed};
use crate::yaml::{Node, Value};

string_enum! {
    /// Something that a manifest asks for in a field or annotation that already exists.
    pub(crate) enum Intent {
        /// A pod mounts a `ServiceAccount` token for an audience.
        "projected-token" => ProjectedToken,
        /// A Service asks for a serving certificate.
        "serving-cert" => ServingCert,
        /// A webhook, `APIService` or CRD conversion calls a Service in the other cluster.
        "webhook" => Webhook,
        /// A ConfigMap asks for the bundle of trusted certificates.
        "trusted-ca" => TrustedCa,
        /// A workload asks for the environment variables of the proxy.
        "proxy" => Proxy,
        /// A container asks for the certificates of the proxy.
        "proxy-cabundle" => ProxyCaBundle,
        /// A configuration asks for the TLS settings of the cluster.
        "tls" => Tls,
    }
}

impl Intent {
    /// Returns the name that files use.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// How an intent is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IntentRule {
    /// `keep`: the request stays as it is, because a controller in the cluster handles it.
    Keep,
    /// The request is removed, and this fragment is used instead.
    Fragment(String),
    /// `${group}`: transship handles the request with the values of this group of parameters.
    Parameters(String),
    /// The request is an error, for this reason.
    Refuse(String),
}

typed! {
    struct Refusal ("an intent") {
        /// Why a manifest must not ask for it.
        "refuse" reason: String,
    }
}

impl Typed for IntentRule {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Map(_) = node.value {
            return Refusal::read(node, reader).map(|refusal| Self::Refuse(refusal.reason));
        }
        let text = String::read(node, reader)?;
        let group = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        Some(match (text.as_str(), group) {
            ("keep", _) => Self::Keep,
            (_, Some(group)) => Self::Parameters(group.to_owned()),
            (fragment, None) => Self::Fragment(fragment.to_owned()),
        })
    }

    fn schema() -> Json {
        json!({"oneOf": [{"type": "string"}, Refusal::schema()]})
    }
}

/// How each intent is handled.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Intents(pub(crate) BTreeMap<Intent, Marked<IntentRule>>);

impl Intents {
    /// Returns these rules on top of those of the parent.
    pub(super) fn over(self, mut parent: Self) -> Self {
        parent.0.extend(self.0);
        parent
    }
}

impl Typed for Intents {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map");
            return None;
        };
        let mut rules = BTreeMap::new();
        for entry in map {
            let name = Node::new(Value::String(entry.key.clone()), entry.mark);
            let intent = Intent::read(&name, reader);
            let rule = IntentRule::read(&entry.value, reader);
            if let (Some(intent), Some(value)) = (intent, rule) {
                rules.insert(intent, Marked { value, mark: entry.mark });
            }
        }
        Some(Self(rules))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        let properties: serde_json::Map<String, Json> =
            Intent::NAMES.iter().map(|(name, _)| ((*name).to_owned(), IntentRule::schema())).collect();
        json!({"type": "object", "additionalProperties": false, "properties": properties})
    }
}
