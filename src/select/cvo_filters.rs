//! The cluster-version-operator's eight filters, in its order. The first filter that excludes a manifest gives the reason.

use std::collections::BTreeSet;
use std::fmt;

use crate::language::{Capabilities, Filters, Override};
use crate::object::{Annotations, ObjectId};
use crate::payload::Manifest;

const FEATURE_SET: &str = "release.openshift.io/feature-set";
const FEATURE_GATE: &str = "release.openshift.io/feature-gate";
const MAJOR_VERSION: &str = "release.openshift.io/major-version";
const CAPABILITY: &str = "capability.openshift.io/name";

/// The feature sets, in the order in which messages list them.
pub(super) const FEATURE_SETS: [&str; 5] =
    ["CustomNoUpgrade", "Default", "DevPreviewNoUpgrade", "OKD", "TechPreviewNoUpgrade"];

/// The filter that excludes a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExclusionFilter {
    /// The manifest has no annotations.
    NoAnnotations,
    /// The manifest excludes itself with an identifier.
    Excluded,
    /// The manifest has both a feature set and a feature gate.
    SetAndGate,
    /// The cluster has another feature set.
    FeatureSet,
    /// A feature gate is disabled that must be enabled, or the reverse.
    FeatureGate,
    /// The cluster has another major version.
    MajorVersion,
    /// The manifest is for another cluster profile.
    ClusterProfile,
    /// A capability is disabled or unknown.
    Capability,
    /// The cluster's administrator manages the object.
    Override,
    /// A page or the profile leaves the object out, or it lives in another cluster.
    Omitted,
}

/// The reason why a manifest is excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The filter that excludes it.
    pub filter: ExclusionFilter,
    /// The message, as the cluster-version-operator logs it.
    pub message: String,
}

impl ExclusionFilter {
    /// Returns the name for output.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoAnnotations => "no-annotations",
            Self::Excluded => "excluded",
            Self::SetAndGate => "set-and-gate",
            Self::FeatureSet => "feature-set",
            Self::FeatureGate => "feature-gate",
            Self::MajorVersion => "major-version",
            Self::ClusterProfile => "cluster-profile",
            Self::Capability => "capability",
            Self::Override => "override",
            Self::Omitted => "omitted",
        }
    }

    /// Returns an exclusion by this filter.
    fn because(self, message: impl Into<String>) -> Result<(), Exclusion> {
        Err(Exclusion { filter: self, message: message.into() })
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.filter.name(), self.message)
    }
}

/// Whether a capability that the cluster does not know excludes a manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownCapability {
    Excludes,
    /// For a payload to which the cluster is updated: it may have new capabilities.
    Allowed,
}

/// Applies the filters to a manifest. The error is the reason why they exclude it.
pub fn include(manifest: &Manifest, filters: &Filters) -> Result<(), Exclusion> {
    include_with(manifest, filters, UnknownCapability::Excludes)
}

pub(super) fn include_with(
    manifest: &Manifest,
    filters: &Filters,
    unknown: UnknownCapability,
) -> Result<(), Exclusion> {
    let annotations = Annotations::of(&manifest.root);
    if !annotations.exist() {
        return ExclusionFilter::NoAnnotations.because("no annotations");
    }
    if let Some(identifier) = &filters.exclude_identifier {
        excluded(&annotations, identifier)?;
    }
    if filters.feature_set.is_some() && filters.feature_gates.is_some() {
        set_and_gate(&annotations)?;
    }
    if let Some(set) = &filters.feature_set {
        feature_set(&annotations, set)?;
    }
    if let Some(gates) = &filters.feature_gates {
        feature_gates(&annotations, gates)?;
    }
    if let Some(version) = filters.major_version {
        major_version(&annotations, &manifest.id, version)?;
    }
    if let Some(profile) = &filters.cluster_profile {
        cluster_profile(&annotations, profile)?;
    }
    if let Some(capabilities) = &filters.capabilities {
        capability(&annotations, capabilities, unknown)?;
    }
    overridden(&manifest.id, &filters.overrides)
}

fn excluded(annotations: &Annotations<'_>, identifier: &str) -> Result<(), Exclusion> {
    let key = format!("exclude.release.openshift.io/{identifier}");
    if annotations.get(&key) == Some("true") {
        ExclusionFilter::Excluded.because(format!("{key}=true"))
    } else {
        Ok(())
    }
}

fn set_and_gate(annotations: &Annotations<'_>) -> Result<(), Exclusion> {
    if annotations.get(FEATURE_SET).is_some() && annotations.get(FEATURE_GATE).is_some() {
        return ExclusionFilter::SetAndGate.because(
            "both feature set and feature gate annotations are present: manifests may specify either a feature set \
             or a feature gate, but not both",
        );
    }
    Ok(())
}

/// The list is not trimmed: a space makes an unknown name, and one unknown name excludes the manifest.
fn feature_set(annotations: &Annotations<'_>, required: &str) -> Result<(), Exclusion> {
    let Some(value) = annotations.get(FEATURE_SET) else { return Ok(()) };
    let required = if required.is_empty() { "Default" } else { required };
    let sets: BTreeSet<&str> = value.split(',').collect();
    if let Some(unknown) = value.split(',').find(|set| !FEATURE_SETS.contains(set)) {
        let known = FEATURE_SETS.join(",");
        return ExclusionFilter::FeatureSet.because(format!(
            "unrecognized value {unknown:?} in {FEATURE_SET}={value}; known values are: {known}"
        ));
    }
    if !sets.contains(required) {
        let sets: Vec<_> = sets.into_iter().collect();
        return ExclusionFilter::FeatureSet
            .because(format!("{required:?} is required, and {FEATURE_SET}={}", sets.join(",")));
    }
    Ok(())
}

fn feature_gates(annotations: &Annotations<'_>, on: &BTreeSet<String>) -> Result<(), Exclusion> {
    for gate in requirements(annotations.get(FEATURE_GATE)) {
        match gate.strip_prefix('-') {
            Some(gate) if on.contains(gate) => {
                return ExclusionFilter::FeatureGate.because(format!(
                    "feature gate {gate} is enabled but manifest requires it to be disabled"
                ));
            }
            None if !on.contains(gate) => {
                return ExclusionFilter::FeatureGate
                    .because(format!("feature gate {gate} is required but not enabled"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn major_version(annotations: &Annotations<'_>, id: &ObjectId, version: u64) -> Result<(), Exclusion> {
    let Some(value) = annotations.get(MAJOR_VERSION) else { return Ok(()) };
    let supported =
        [("config.openshift.io", "FeatureGate"), ("apiextensions.k8s.io", "CustomResourceDefinition")];
    if !supported.contains(&(id.group.as_str(), id.kind.as_str())) {
        return ExclusionFilter::MajorVersion
            .because("major version filtering is only supported for feature gates and custom resources");
    }
    let (mut wanted, mut unwanted) = (BTreeSet::new(), BTreeSet::new());
    for requirement in requirements(Some(value)) {
        let (set, verb, digits) = match requirement.strip_prefix('-') {
            Some(digits) => (&mut unwanted, "excluded", digits),
            None => (&mut wanted, "included", requirement),
        };
        match parse_uint(digits) {
            Ok(number) => set.insert(number),
            Err(error) => {
                let message = format!("invalid {verb} major version {digits:?} in annotation: {error}");
                return ExclusionFilter::MajorVersion.because(message);
            }
        };
    }
    let both: Vec<_> = wanted.intersection(&unwanted).map(u64::to_string).collect();
    if !both.is_empty() {
        return ExclusionFilter::MajorVersion
            .because(format!("inclusion and exclusion requirements overlap: [{}]", both.join(" ")));
    }
    if unwanted.contains(&version) {
        return ExclusionFilter::MajorVersion
            .because(format!("major version {version} matches excluded version {version}"));
    }
    if !wanted.is_empty() && !wanted.contains(&version) {
        return ExclusionFilter::MajorVersion
            .because(format!("major version {version} does not match any required versions"));
    }
    Ok(())
}

/// Go's `strconv.ParseUint` with its error messages. It accepts only digits, while Rust also accepts a plus sign.
fn parse_uint(digits: &str) -> Result<u64, String> {
    let well_formed = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if well_formed { "value out of range" } else { "invalid syntax" };
    let number = digits.parse().ok().filter(|_| well_formed);
    number.ok_or_else(|| format!("strconv.ParseUint: parsing {digits:?}: {why}"))
}

/// Returns the entries of a comma-separated list, trimmed and without empty ones.
fn requirements(value: Option<&str>) -> impl Iterator<Item = &str> {
    value.unwrap_or_default().split(',').map(str::trim).filter(|requirement| !requirement.is_empty())
}

fn cluster_profile(annotations: &Annotations<'_>, profile: &str) -> Result<(), Exclusion> {
    let key = format!("include.release.openshift.io/{profile}");
    match annotations.get(&key) {
        Some("true") => Ok(()),
        Some(value) => ExclusionFilter::ClusterProfile.because(format!("unrecognized value {key}={value}")),
        None => ExclusionFilter::ClusterProfile.because(format!("{key} unset")),
    }
}

fn capability(
    annotations: &Annotations<'_>,
    cluster: &Capabilities,
    unknown: UnknownCapability,
) -> Result<(), Exclusion> {
    let names = capabilities(annotations);
    let (known, unrecognized): (Vec<_>, Vec<_>) = names
        .into_iter()
        .partition(|name| unknown == UnknownCapability::Allowed || cluster.known.contains(*name));
    if !unrecognized.is_empty() {
        let names = unrecognized.join(", ");
        return ExclusionFilter::Capability.because(format!("unrecognized capability names: {names}"));
    }
    let disabled: Vec<_> = known.into_iter().filter(|name| !cluster.enabled.contains(*name)).collect();
    if !disabled.is_empty() {
        return ExclusionFilter::Capability
            .because(format!("disabled capabilities: {}", disabled.join(", ")));
    }
    Ok(())
}

/// Returns the capabilities of a manifest. All of them must be enabled.
pub(super) fn capabilities<'a>(annotations: &Annotations<'a>) -> Vec<&'a str> {
    match annotations.get(CAPABILITY) {
        None | Some("") => Vec::new(),
        Some(value) => value.split('+').collect(),
    }
}

fn overridden(id: &ObjectId, entries: &[Override]) -> Result<(), Exclusion> {
    if entries.iter().any(|entry| entry.matches(id)) {
        ExclusionFilter::Override.because("overridden")
    } else {
        Ok(())
    }
}
