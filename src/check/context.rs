//! The input of the checks of one cluster.

use std::collections::HashSet;

use super::cluster_index::ClusterIndex;
use super::grants::Grants;
use super::label_index::LabelIndex;
use super::network_policies::{NetworkPolicies, network_policies};
use super::rbac::{self, BoundAccounts};
use super::served_kinds::ServedKinds;
use crate::diagnostic::Diagnostic;
use crate::expand::Variables;
use crate::language::{Marked, Need, unmet};
use crate::object::{Cluster, ReferenceRule, Scopes};
use crate::payload::Manifest;
use crate::select::would_match;
use crate::transform::Rendered;
use crate::yaml::Sources;

/// Everything that a check may look at: one cluster, its indexes, and the other clusters of the topology.
pub(super) struct CheckContext<'a> {
    pub(super) rendered: &'a Rendered<'a>,
    /// The objects of this cluster.
    pub(super) here: &'a ClusterIndex<'a>,
    /// The objects of the other clusters of the topology.
    pub(super) others: Vec<&'a ClusterIndex<'a>>,
    pub(super) kinds: ServedKinds<'a>,
    pub(super) scopes: Scopes,
    pub(super) labels: LabelIndex<'a>,
    /// The ServiceAccounts to which a binding of this cluster grants rights.
    pub(super) bound_accounts: BoundAccounts<'a>,
    /// The rights that the bindings of this cluster grant.
    pub(super) grants: Grants<'a>,
    pub(super) network_policies: NetworkPolicies<'a>,
    /// The fields in which objects of declared kinds reference other objects.
    pub(super) reference_rules: Vec<ReferenceRule<'a>>,
    /// The pullspecs of the releases of all clusters.
    pub(super) release_images: HashSet<&'a str>,
    /// What pages need in this cluster, each with its component.
    pub(super) needs: Vec<(&'a str, &'a Marked<Need>)>,
    /// Namespace and name of each Service of the payload, before a profile moves it to its namespace.
    payload_services: HashSet<(&'a str, &'a str)>,
}

impl<'a> CheckContext<'a> {
    /// Indexes a cluster. Fails if the condition of a need cannot be evaluated.
    pub(super) fn new(
        rendered: &'a Rendered<'a>,
        here: &'a ClusterIndex<'a>,
        others: Vec<&'a ClusterIndex<'a>>,
    ) -> Result<Self, Diagnostic> {
        let mut payload_services = HashSet::new();
        for manifest in &rendered.view.payload.manifests {
            if manifest.id.kind == "Service" {
                payload_services.insert((manifest.id.namespace.as_str(), manifest.id.name.as_str()));
            }
        }
        Ok(Self {
            rendered,
            here,
            others,
            kinds: ServedKinds::new(rendered),
            scopes: rendered.view.scopes(),
            labels: LabelIndex::new(&rendered.objects),
            bound_accounts: rbac::bound_accounts(&rendered.objects),
            grants: Grants::new(&rendered.objects),
            network_policies: network_policies(&rendered.objects),
            reference_rules: rendered.view.context.profiles.checks.reference_rules(),
            release_images: rendered.view.payload.pullspecs().collect(),
            needs: needs(rendered)?,
            payload_services,
        })
    }

    /// Returns the role of this cluster in its topology.
    pub(super) fn cluster(&self) -> Cluster {
        self.rendered.view.profile.cluster
    }

    /// Returns all files that were read, to show positions.
    pub(super) fn sources(&self) -> &'a Sources {
        self.rendered.view.context.sources
    }

    /// Returns a note about the first manifest that the profile excludes and that meets a condition.
    pub(super) fn excluded_match(&self, is_match: impl Fn(&Manifest) -> bool) -> Option<String> {
        let mut excluded = self.rendered.selection.excluded(&self.rendered.view.payload);
        let (manifest, exclusion) = excluded.find(|(manifest, _)| is_match(manifest))?;
        Some(would_match(manifest, exclusion, self.sources()))
    }

    /// Returns whether a namespace belongs to another cluster and not to this one.
    pub(super) fn is_namespace_of_other_cluster(&self, namespace: &str) -> bool {
        self.others.iter().any(|other| other.has_objects_in(namespace))
            && !self.here.has_objects_in(namespace)
            && !self.here.declares_namespace(namespace)
    }

    /// Returns whether another cluster has a Service, under the name that it has there or that it had in the payload.
    pub(super) fn is_service_of_other_cluster(&self, namespace: &str, name: &str) -> bool {
        if self.others.iter().any(|other| other.has_service(namespace, name)) {
            return true;
        }
        self.payload_services.contains(&(namespace, name))
            && self.others.iter().any(|other| other.has_in_any_namespace("Service", "", name))
    }
}

/// Returns what pages need in a cluster, each with its component.
pub(super) fn needs<'a>(rendered: &'a Rendered<'a>) -> Result<Vec<(&'a str, &'a Marked<Need>)>, Diagnostic> {
    let view = &rendered.view;
    let mut needs = Vec::new();
    for (component, page) in &view.payload.pages {
        let variables = Variables::of(view, component);
        for need in &page.needs {
            let is_here =
                need.value.cluster.includes(view.profile.cluster) && view.profile.is_in(&need.value.profiles);
            if is_here && unmet(&need.value.when, &variables, view.context.sources)?.is_none() {
                needs.push((component.as_str(), need));
            }
        }
    }
    Ok(needs)
}
