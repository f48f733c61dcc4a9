//! The settings of the cluster-version-operator's inclusion filters. A filter that is not set is off.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::fillable::Fillable;
use super::template::Names;
use super::typed::{Reader, typed};
use crate::object::ObjectId;
use crate::yaml::Node;

/// The settings of the eight filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Excludes manifests with the annotation `exclude.release.openshift.io/<this>`.
    pub exclude_identifier: Option<String>,
    /// The feature set of the cluster. Empty or `Default` is the default feature set.
    pub feature_set: Option<String>,
    /// The enabled feature gates.
    pub feature_gates: Option<BTreeSet<String>>,
    /// The major version of the cluster.
    pub major_version: Option<u64>,
    /// Includes manifests with the annotation `include.release.openshift.io/<this>`.
    pub cluster_profile: Option<String>,
    /// The capabilities of the cluster.
    pub capabilities: Option<Capabilities>,
    /// Objects that the cluster's administrator manages instead of the release.
    pub overrides: Vec<Override>,
}

/// Capabilities of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The enabled capabilities.
    pub enabled: BTreeSet<String>,
    /// All capabilities, enabled or not.
    pub known: BTreeSet<String>,
}

impl Capabilities {
    /// Creates capabilities from the enabled ones and further known ones.
    pub fn new(enabled: impl IntoIterator<Item = String>, known: impl IntoIterator<Item = String>) -> Self {
        let enabled: BTreeSet<String> = enabled.into_iter().collect();
        let known = known.into_iter().chain(enabled.iter().cloned()).collect();
        Self { enabled, known }
    }
}

/// An object that the cluster-version-operator does not manage, written as `group/kind/namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override(pub ObjectId);

/// A text that is not an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverrideError;

impl Override {
    /// Returns whether the override is for an object. The namespace of a cluster-scoped object is not compared.
    pub(crate) fn matches(&self, id: &ObjectId) -> bool {
        self.0.group == id.group
            && self.0.kind == id.kind
            && self.0.name == id.name
            && (id.namespace.is_empty() || self.0.namespace == id.namespace)
    }
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write group/kind/namespace/name, such as apps/Deployment/ns/name or /Namespace//name")
    }
}

impl std::error::Error for OverrideError {}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectId { group, kind, namespace, name } = &self.0;
        write!(f, "{group}/{kind}/{namespace}/{name}")
    }
}

impl FromStr for Override {
    type Err = OverrideError;

    /// Reads the cluster-version-operator's own order: `group/kind/namespace/name`. The group of core kinds and the
    /// namespace of cluster-scoped objects are empty.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [group, kind, namespace, name] if !kind.is_empty() && !name.is_empty() => Ok(Self(ObjectId {
                group: group.to_owned(),
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            })),
            _ => Err(OverrideError),
        }
    }
}

typed! {
    /// The settings of the cluster-version-operator's filters. A filter that is not set is off.
    #[derive(Default)]
    pub(super) struct FilterFields ("select") {
        /// Excludes manifests with the annotation `exclude.release.openshift.io/<this>`.
        "excludeIdentifier" exclude_identifier: Option<Fillable<String>>,
        /// The feature set of the cluster. Empty or `Default` is the default feature set.
        "featureSet" feature_set: Option<Fillable<String>>,
        /// The enabled feature gates.
        "featureGates" feature_gates: Option<Fillable<Vec<String>>>,
        /// The major version of the cluster.
        "majorVersion" major_version: Option<Fillable<u64>>,
        /// Includes manifests with the annotation `include.release.openshift.io/<this>`.
        "clusterProfile" cluster_profile: Option<Fillable<String>>,
        /// The enabled capabilities.
        "capabilities" capabilities: Option<Fillable<Vec<String>>>,
        /// Capabilities that exist but are disabled.
        "knownCapabilities" known_capabilities: Option<Fillable<Vec<String>>>,
    }
}

impl FilterFields {
    /// Returns these settings on top of those of the parent.
    pub(super) fn over(self, parent: Self) -> Self {
        Self {
            exclude_identifier: self.exclude_identifier.or(parent.exclude_identifier),
            feature_set: self.feature_set.or(parent.feature_set),
            feature_gates: self.feature_gates.or(parent.feature_gates),
            major_version: self.major_version.or(parent.major_version),
            cluster_profile: self.cluster_profile.or(parent.cluster_profile),
            capabilities: self.capabilities.or(parent.capabilities),
            known_capabilities: self.known_capabilities.or(parent.known_capabilities),
        }
    }

    /// Returns the settings as they are written, to look for names in them.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let texts = [&self.exclude_identifier, &self.feature_set, &self.cluster_profile];
        let lists = [&self.feature_gates, &self.capabilities, &self.known_capabilities];
        let texts = texts.into_iter().flatten().map(Fillable::node);
        let lists = lists.into_iter().flatten().map(Fillable::node);
        texts.chain(lists).chain(self.major_version.as_ref().map(Fillable::node))
    }

    /// Returns the settings as the filters use them. A filter is off if its setting is an absent value.
    pub(super) fn fill(&self, names: &dyn Names, reader: &mut Reader<'_>) -> Filters {
        let mut text = |field: &str, setting: &Option<Fillable<String>>| {
            setting.as_ref().and_then(|setting| setting.fill(field, names, reader))
        };
        let exclude_identifier = text("excludeIdentifier", &self.exclude_identifier);
        let feature_set = text("featureSet", &self.feature_set);
        let cluster_profile = text("clusterProfile", &self.cluster_profile);
        let mut list = |field: &str, setting: &Option<Fillable<Vec<String>>>| {
            setting.as_ref().and_then(|setting| setting.fill(field, names, reader))
        };
        let feature_gates = list("featureGates", &self.feature_gates);
        let enabled = list("capabilities", &self.capabilities);
        let known = list("knownCapabilities", &self.known_capabilities);
        let any_capability = enabled.is_some() || known.is_some();
        Filters {
            exclude_identifier,
            feature_set,
            feature_gates: feature_gates.map(|gates| gates.into_iter().collect()),
            major_version: self
                .major_version
                .as_ref()
                .and_then(|setting| setting.fill("majorVersion", names, reader)),
            cluster_profile,
            capabilities: any_capability
                .then(|| Capabilities::new(enabled.unwrap_or_default(), known.unwrap_or_default())),
            overrides: Vec::new(),
        }
    }
}
