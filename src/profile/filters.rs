//! What the cluster-version-operator's inclusion filters are asked. A filter that is not set is off.

use std::collections::BTreeSet;

use super::Fields;

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

/// Reads the `select` field of a profile.
pub(super) fn read(mut fields: Fields<'_, '_>) -> Filters {
    let gates = fields.texts("featureGates");
    let enabled = fields.texts("capabilities");
    let known = fields.texts("knownCapabilities");
    let capabilities = (enabled.is_some() || known.is_some())
        .then(|| Capabilities::new(enabled.unwrap_or_default(), known.unwrap_or_default()));
    let filters = Filters {
        exclude_identifier: fields.text("excludeIdentifier"),
        feature_set: fields.text("featureSet"),
        feature_gates: gates.map(|gates| gates.into_iter().collect()),
        major_version: fields.whole("majorVersion"),
        cluster_profile: fields.text("clusterProfile"),
        capabilities,
        overrides: Vec::new(),
    };
    fields.finish();
    filters
}
