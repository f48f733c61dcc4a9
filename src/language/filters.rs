//! What the cluster-version-operator's inclusion filters are asked. A filter that is not set is off.

use std::collections::BTreeSet;

use super::typed::typed;

/// The inputs of the eight filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Leaves out what is annotated `exclude.release.openshift.io/<this>`.
    pub exclude_identifier: Option<String>,
    /// The feature set of the cluster; empty or `Default` for the default one.
    pub feature_set: Option<String>,
    /// The feature gates that are on.
    pub feature_gates: Option<BTreeSet<String>>,
    /// The major version of the cluster.
    pub major_version: Option<u64>,
    /// Takes in what is annotated `include.release.openshift.io/<this>`.
    pub cluster_profile: Option<String>,
    /// The cluster's capabilities.
    pub capabilities: Option<Capabilities>,
    /// Objects that the cluster's administrator has taken over.
    pub overrides: Vec<Override>,
}

/// Capabilities of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Those that are on.
    pub enabled: BTreeSet<String>,
    /// Those that exist.
    pub known: BTreeSet<String>,
}

impl Capabilities {
    /// Capabilities that are on, and others that exist. What is on exists.
    pub fn new(enabled: impl IntoIterator<Item = String>, known: impl IntoIterator<Item = String>) -> Self {
        let enabled: BTreeSet<String> = enabled.into_iter().collect();
        let known = known.into_iter().chain(enabled.iter().cloned()).collect();
        Self { enabled, known }
    }
}

/// An object that is not managed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; it does not count for objects that have none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl std::fmt::Display for Override {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}/{}", self.group, self.kind, self.namespace, self.name)
    }
}

impl std::str::FromStr for Override {
    type Err = String;

    /// `group/kind/namespace/name`; the group and the namespace may be empty.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [group, kind, namespace, name] if !kind.is_empty() && !name.is_empty() => Ok(Self {
                group: group.into(),
                kind: kind.into(),
                namespace: namespace.into(),
                name: name.into(),
            }),
            _ => Err(
                "write it as group/kind/namespace/name, such as apps/Deployment/ns/name or /Namespace//name"
                    .into(),
            ),
        }
    }
}

typed! {
    /// What the cluster-version-operator's filters are asked. A filter that is not set is off.
    #[derive(Default)]
    pub(super) struct FilterFields ("select") {
        /// Leaves out what is annotated `exclude.release.openshift.io/<this>`.
        "excludeIdentifier" exclude_identifier: Option<String>,
        /// The feature set of the cluster; empty or `Default` for the default one.
        "featureSet" feature_set: Option<String>,
        /// The feature gates that are on.
        "featureGates" feature_gates: Option<Vec<String>>,
        /// The major version of the cluster.
        "majorVersion" major_version: Option<u64>,
        /// Takes in what is annotated `include.release.openshift.io/<this>`.
        "clusterProfile" cluster_profile: Option<String>,
        /// The capabilities that are on.
        "capabilities" capabilities: Option<Vec<String>>,
        /// Further capabilities that exist.
        "knownCapabilities" known_capabilities: Option<Vec<String>>,
    }
}

impl FilterFields {
    /// What a child says, and what its parent says where the child is silent.
    pub(super) fn over(self, parent: &Self) -> Self {
        let parent = parent.clone();
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

    pub(super) fn filters(self) -> Filters {
        let any_capability = self.capabilities.is_some() || self.known_capabilities.is_some();
        Filters {
            exclude_identifier: self.exclude_identifier,
            feature_set: self.feature_set,
            feature_gates: self.feature_gates.map(|gates| gates.into_iter().collect()),
            major_version: self.major_version,
            cluster_profile: self.cluster_profile,
            capabilities: any_capability.then(|| {
                Capabilities::new(
                    self.capabilities.unwrap_or_default(),
                    self.known_capabilities.unwrap_or_default(),
                )
            }),
            overrides: Vec::new(),
        }
    }
}
