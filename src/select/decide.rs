//! Decides for each manifest whether a profile includes it: by the cluster-version-operator's filters, by `omit` and
//! `ignore`, and by the cluster in which the object lives.

use std::collections::{BTreeMap, BTreeSet};

use super::left_out::{INCLUDE, LeaveOut, LeftOut, omitted};
use super::{Exclusion, check};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Expanded, View, may_add, may_reload, mentions};
use crate::glob;
use crate::language::{Marked, Place, Profile, Selector};
use crate::object::{Cluster, ObjectId, Scope, Scopes};
use crate::payload::{self, Manifest, Payload};
use crate::yaml::Mark;

/// The decision for each manifest of a payload.
pub(crate) struct Selection {
    /// For each manifest, the reason why the profile excludes it; `None` if it includes it.
    pub(crate) exclusions: Vec<Option<Exclusion>>,
    /// For each manifest, the position of the entry of `place`, `omit`, `ignore` or `patches` that decided. `None` if its
    /// annotations or its kind decided.
    pub(crate) decided_by: Vec<Option<Mark>>,
    /// The components that exist in this topology: the filters include at least one of their manifests.
    pub(crate) components: BTreeSet<String>,
    /// The indexes of the manifests that are excluded only because their objects live in the other cluster.
    pub(crate) in_other_cluster: BTreeSet<usize>,
    /// The indexes of the manifests whose objects live in this cluster and are left to their operators.
    pub(crate) left_to_operators: BTreeSet<usize>,
}

/// A profile whose manifests are selected.
pub(crate) struct Selected<'a> {
    /// The profile as it was expanded.
    pub(crate) expanded: Expanded<'a>,
    /// The decision for each manifest.
    pub(crate) selection: Selection,
}

impl<'a> Selected<'a> {
    /// Returns the profile.
    pub(crate) fn profile(&self) -> &'a Profile {
        self.expanded.view.profile
    }

    /// Returns the payload that the profile selects from, with the manifests of fragments.
    pub(crate) fn payload(&self) -> &Payload {
        &self.expanded.view.payload
    }

    /// Fails if the profile selects nothing: a misspelled cluster profile excludes every manifest.
    pub(crate) fn require_any(&self) -> Result<(), Diagnostics> {
        if !self.selection.components.is_empty() {
            return Ok(());
        }
        let exclusions = &self.selection.exclusions;
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for reason in exclusions.iter().flatten() {
            *reasons.entry(reason.to_string()).or_default() += 1;
        }
        let mut error = Diagnostic::error(format!(
            "the profile `{}` selects none of the payload's {} manifests",
            self.profile().name,
            exclusions.len()
        ));
        if let Some((reason, count)) = reasons.into_iter().max_by_key(|(_, count)| *count) {
            error = error.note(format!("{count} of them for this reason: {reason}"));
        }
        Err(error.help("check the names in `select`").into())
    }
}

/// Decides for each manifest whether the profile includes it.
pub(crate) fn select(expanded: Expanded<'_>) -> Result<Selected<'_>, Diagnostics> {
    let selection = decide(&expanded)?;
    Ok(Selected { expanded, selection })
}

fn decide(expanded: &Expanded<'_>) -> Result<Selection, Diagnostics> {
    let view = &expanded.view;
    check(&view.profile.select, &view.payload)?;
    let mut errors = Diagnostics::default();
    let mut selection = Selection {
        exclusions: Vec::new(),
        decided_by: Vec::new(),
        components: BTreeSet::new(),
        in_other_cluster: BTreeSet::new(),
        left_to_operators: BTreeSet::new(),
    };
    let leave_out = LeaveOut { view, fragment_placements: &expanded.fragment_placements };
    let decider = Decider { view, expanded, leave_out, scopes: view.scopes() };
    for (index, manifest) in view.payload.manifests.iter().enumerate() {
        let decision = errors.ok_or_record(decider.decide(manifest)).unwrap_or_default();
        if decision.component_exists && !selection.components.contains(decider.component(manifest)) {
            selection.components.insert(decider.component(manifest).to_owned());
        }
        if decision.is_in_other_cluster {
            selection.in_other_cluster.insert(index);
        }
        if decision.is_left_to_operator {
            selection.left_to_operators.insert(index);
        }
        selection.exclusions.push(decision.exclusion);
        selection.decided_by.push(decision.decided_by);
    }
    decider.report_unmatched(&mut errors);
    errors.into_result(selection)
}

/// The decision for one manifest.
#[derive(Default)]
struct Decision {
    exclusion: Option<Exclusion>,
    decided_by: Option<Mark>,
    /// Whether its component exists in this topology.
    component_exists: bool,
    /// Whether it is excluded only because its object lives in the other cluster.
    is_in_other_cluster: bool,
    /// Whether its object lives in this cluster and is left to its operator.
    is_left_to_operator: bool,
}

struct Decider<'a> {
    view: &'a View<'a>,
    expanded: &'a Expanded<'a>,
    leave_out: LeaveOut<'a>,
    scopes: Scopes,
}

const CLUSTER_SCOPED_IN_MANAGEMENT: &str = "a cluster-scoped object cannot live in the management cluster";

impl Decider<'_> {
    fn decide(&self, manifest: &Manifest) -> Result<Decision, Diagnostic> {
        if let Some(left_out) = self.leave_out.reason(manifest)? {
            let LeftOut { exclusion, decided_by, is_left_to_operator } = left_out;
            return Ok(Decision {
                exclusion: Some(exclusion),
                decided_by,
                // An entry of `omit`, `ignore` or `patches` leaves out a part of a component that exists.
                component_exists: decided_by.is_some(),
                is_left_to_operator: is_left_to_operator && self.lives_here(manifest)?,
                ..Decision::default()
            });
        }
        // A standalone cluster has all objects.
        if self.view.profile.cluster == Cluster::Both {
            return Ok(Decision { component_exists: true, ..Decision::default() });
        }
        let (cluster, decided_by) = self.cluster_of(manifest)?;
        let is_in_other_cluster = cluster != Cluster::Both && cluster != self.view.profile.cluster;
        let reason =
            is_in_other_cluster.then(|| omitted(&format!("it lives in the {} cluster", cluster.name())));
        Ok(Decision {
            exclusion: reason,
            decided_by,
            component_exists: true,
            is_in_other_cluster,
            ..Decision::default()
        })
    }

    /// Returns whether an object lives in the cluster of this profile.
    fn lives_here(&self, manifest: &Manifest) -> Result<bool, Diagnostic> {
        let here = self.view.profile.cluster;
        Ok(here == Cluster::Both
            || matches!(self.cluster_of(manifest)?.0, it if it == here || it == Cluster::Both))
    }

    fn component(&self, manifest: &Manifest) -> &str {
        self.leave_out.component(manifest)
    }

    /// Returns the cluster in which an object lives, and the entry of `place` that decides it. Annotations take precedence.
    /// A cluster-scoped object lives in the guest.
    fn cluster_of(&self, manifest: &Manifest) -> Result<(Cluster, Option<Mark>), Diagnostic> {
        let scope = self.scopes.of(&manifest.id.group, &manifest.id.kind);
        let is_cluster_scoped = scope == Some(Scope::Cluster);
        let entries = self.expanded.place_of(self.component(manifest), &manifest.id);
        if let Some(cluster) = self.annotated_cluster(manifest) {
            return self.check_annotated_cluster(manifest, cluster, scope, &entries);
        }
        match entries[..] {
            [] if is_cluster_scoped => Ok((Cluster::Guest, None)),
            [] if scope.is_none() => Err(self.unknown_scope(manifest)),
            [] => Err(self.no_cluster(manifest)),
            [(entry, cluster)] if is_cluster_scoped && cluster != Cluster::Guest => Err(self
                .error(entry.mark, CLUSTER_SCOPED_IN_MANAGEMENT, manifest)
                .help("remove the entry: cluster-scoped objects are in the guest")),
            [(entry, cluster)] => Ok((cluster, Some(entry.mark))),
            [(first, _), (second, _), ..] => Err(self
                .error(second.mark, "two entries of `place` match one object", manifest)
                .note(format!("the other is at {}", self.view.context.sources.show(first.mark)))
                .help("if the object is in both clusters, name it under `both`")),
        }
    }

    /// Checks that annotations and `place` do not contradict each other.
    fn check_annotated_cluster(
        &self,
        manifest: &Manifest,
        cluster: Cluster,
        scope: Option<Scope>,
        entries: &[(&Marked<Selector>, Cluster)],
    ) -> Result<(Cluster, Option<Mark>), Diagnostic> {
        if scope == Some(Scope::Cluster) && cluster != Cluster::Guest {
            return Err(self
                .error(manifest.root.mark, CLUSTER_SCOPED_IN_MANAGEMENT, manifest)
                .help(format!("remove the annotation `{INCLUDE}<profile>` for the management cluster")));
        }
        if let Some((entry, _)) = entries.iter().find(|(entry, _)| entry.value.name.is_some()) {
            return Err(self
                .error(
                    entry.mark,
                    "the annotations of the manifest already say where the object lives",
                    manifest,
                )
                .help(format!("remove the entry, or the annotations `{INCLUDE}<profile>`")));
        }
        Ok((cluster, None))
    }

    fn annotated_cluster(&self, manifest: &Manifest) -> Option<Cluster> {
        let clusters: BTreeSet<Cluster> =
            self.leave_out.named_profiles(manifest).map(|profile| profile.cluster).collect();
        if clusters.len() > 1 { Some(Cluster::Both) } else { clusters.into_iter().next() }
    }

    fn unknown_scope(&self, manifest: &Manifest) -> Diagnostic {
        let message = format!("the kind {} is unknown", manifest.id.kind_and_group());
        self.error(manifest.root.mark, &message, manifest)
            .note("whether it is cluster-scoped decides in which cluster the object lives")
            .help("add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file")
    }

    fn no_cluster(&self, manifest: &Manifest) -> Diagnostic {
        let object = format!("{}/{}", manifest.id.kind, manifest.id.name);
        let page = payload::page_file(self.component(manifest));
        self.error(
            manifest.root.mark,
            &format!("the page does not say which cluster `{object}` belongs to"),
            manifest,
        )
        .help(format!("add it or its kind under `place` in {page}"))
    }

    fn error(&self, mark: Mark, message: &str, manifest: &Manifest) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.view.context.sources)).object(&manifest.id)
    }

    /// Reports entries of `place`, `omit`, `moved`, `ignore` and `reloads` that match nothing in any profile.
    fn report_unmatched(&self, errors: &mut Diagnostics) {
        let payload = &self.view.payload;
        for (component, page) in &payload.pages {
            let manifests: Vec<&Manifest> =
                payload.of_component(component).map(|(_, manifest)| manifest).collect();
            for (entry, _) in page.place.iter().flat_map(Place::entries) {
                // An entry may also be for an object that an addition creates, perhaps in another profile.
                if !may_add(page, self.view.context.profiles, &entry.value) {
                    self.report_if_unmatched(entry, &manifests, errors);
                }
            }
            for (entry, omission) in page.omit.0.iter().chain(&page.moved.0) {
                if !omission.optional {
                    self.report_if_unmatched(entry, &manifests, errors);
                }
            }
            for entry in &page.reloads.0 {
                let in_manifest = manifests.iter().any(|manifest| mentions(&manifest.root, &entry.value));
                if !in_manifest && !may_reload(page, self.view.context.profiles, &entry.value) {
                    self.report_if_unmatched(entry, &manifests, errors);
                }
            }
            for (pattern, reason) in &page.ignore {
                if !manifests.iter().any(|manifest| glob::matches(pattern, payload.file(manifest).name())) {
                    errors.0.push(
                        Diagnostic::error(format!("no file of the component matches `{pattern}`"))
                            .at(Location::of(reason.mark, self.view.context.sources))
                            .help("remove the entry"),
                    );
                }
            }
        }
        let all: Vec<&Manifest> = payload.manifests.iter().collect();
        for (entry, omission) in &self.view.profile.omit.0 {
            if !omission.optional {
                self.report_if_unmatched(entry, &all, errors);
            }
        }
    }

    fn report_if_unmatched(
        &self,
        selector: &Marked<Selector>,
        manifests: &[&Manifest],
        errors: &mut Diagnostics,
    ) {
        if manifests.iter().any(|manifest| selector.value.matches(&manifest.id)) {
            return;
        }
        let mut names = Vec::new();
        for ObjectId { kind, name, .. } in manifests.iter().map(|manifest| &manifest.id) {
            names.push(kind.clone());
            names.push(format!("{kind}/{name}"));
        }
        errors.0.push(
            Diagnostic::error(format!("no manifest matches `{}`", selector.value))
                .at(Location::of(selector.mark, self.view.context.sources))
                .help("remove the entry")
                .suggest(&selector.value.to_string(), names.iter().map(String::as_str)),
        );
    }
}
