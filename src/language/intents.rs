//! How a profile honours what manifests already ask for in fields that exist.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::typed::{Marked, Reader, Typed, typed, words};
use crate::yaml::{Node, Value};

words! {
    /// A fact that can be found in a manifest.
    pub enum Intent {
        /// A pod's volume with a token of its service account for an audience.
        "projected-token" => ProjectedToken,
        /// A Service that asks for a certificate.
        "serving-cert" => ServingCert,
        /// A webhook, API or conversion whose Service lives in the other cluster.
        "webhook" => Webhook,
        /// A ConfigMap that asks for the bundle of trusted certificates.
        "trusted-ca" => TrustedCa,
        /// Containers that ask for the proxy's variables.
        "proxy" => Proxy,
        /// A container that asks for the certificates that the proxy's connections need.
        "proxy-cabundle" => ProxyCaBundle,
        /// A configuration that asks for the cluster's TLS settings.
        "tls" => Tls,
    }
}

impl Intent {
    /// The name of the finder in files.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// What becomes of a found fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntentRule {
    /// It stays: something in the cluster sees to it.
    Keep,
    /// It is taken away, and this fragment says what comes in its place.
    Fragment(String),
    /// It is done here, from this group of parameters.
    Parameters(String),
    /// It must not be there, for this reason.
    Refuse(String),
}

typed! {
    struct Refusal ("a refusal") {
        /// Why it must not be there.
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

/// What becomes of each fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intents(pub BTreeMap<Intent, Marked<IntentRule>>);

impl Typed for Intents {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.error(node.mark, format!("this must be a map, not {}", node.value.kind()));
            return None;
        };
        let mut honours = BTreeMap::new();
        for entry in map {
            let name = Node { value: Value::String(entry.key.clone()), mark: entry.mark };
            let (finder, honour) = (Intent::read(&name, reader), IntentRule::read(&entry.value, reader));
            if let (Some(finder), Some(value)) = (finder, honour) {
                honours.insert(finder, Marked { value, mark: entry.mark });
            }
        }
        Some(Self(honours))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        let entry = |(name, _): &(&str, Intent)| ((*name).to_owned(), IntentRule::schema());
        let properties: serde_json::Map<String, Json> = Intent::WORDS.iter().map(entry).collect();
        json!({"type": "object", "additionalProperties": false, "properties": properties})
    }
}
