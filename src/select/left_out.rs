//! Manifests that a profile leaves out, whichever cluster their objects live in: by the cluster-version-operator's filters,
//! because their component does not exist, by `ignore` and `omit`, or by a patch that deletes their objects.

use std::collections::{BTreeMap, BTreeSet};

use super::{Exclusion, ExclusionFilter, include};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expand::{FragmentPlacement, ManifestId, Variables, View, patches};
use crate::glob;
use crate::language::{Filters, Marked, Omissions, Page, PatchEntry, Profile, unmet};
use crate::object::{Annotations, Cluster};
use crate::payload::{Manifest, PatchSelector, deletes_object};
use crate::yaml::{Mark, Node};

/// The annotation that includes a manifest in a cluster profile, or in a profile of transship.
pub(super) const INCLUDE: &str = "include.release.openshift.io/";

/// Why a manifest is left out.
pub(super) struct LeftOut {
    pub(super) exclusion: Exclusion,
    /// The entry of `omit`, `ignore` or `patches` that leaves it out.
    pub(super) decided_by: Option<Mark>,
    /// Whether it is left to the operator that owns its component.
    pub(super) is_left_to_operator: bool,
}

impl LeftOut {
    /// Returns the reason that does not depend on an entry of a page or profile.
    fn without_entry(exclusion: Exclusion) -> Self {
        Self { exclusion, decided_by: None, is_left_to_operator: false }
    }

    /// Returns the reason that an entry of a page or profile gives.
    fn by_entry(reason: &str, entry: Mark) -> Self {
        Self { exclusion: omitted(reason), decided_by: Some(entry), is_left_to_operator: false }
    }
}

/// Decides which manifests a profile leaves out.
pub(super) struct LeaveOut<'a> {
    pub(super) view: &'a View<'a>,
    /// `omit` of the fragments that each component uses.
    pub(super) fragment_placements: &'a BTreeMap<String, Vec<FragmentPlacement>>,
}

/// Returns the manifests that a profile leaves out and that have the same kind and name as another manifest. Names in
/// pages then refer to the other manifest.
pub(crate) fn variants_left_out(view: &View<'_>) -> Result<BTreeSet<ManifestId>, Diagnostics> {
    let mut by_name: BTreeMap<(&str, &str), Vec<&Manifest>> = BTreeMap::new();
    for manifest in &view.payload.manifests {
        by_name.entry((&manifest.id.kind, &manifest.id.name)).or_default().push(manifest);
    }
    let leave_out = LeaveOut { view, fragment_placements: &BTreeMap::new() };
    let mut errors = Diagnostics::default();
    let mut left_out = BTreeSet::new();
    for manifest in by_name.into_values().filter(|variants| variants.len() > 1).flatten() {
        if errors.ok_or_record(leave_out.reason(manifest)).flatten().is_some() {
            left_out.insert(manifest.key());
        }
    }
    errors.into_result(left_out)
}

impl<'a> LeaveOut<'a> {
    /// Returns why a manifest is left out, or `None` if it is not.
    pub(super) fn reason(&self, manifest: &Manifest) -> Result<Option<LeftOut>, Diagnostic> {
        if let Some(exclusion) = self.filtered(manifest) {
            return Ok(Some(LeftOut::without_entry(exclusion)));
        }
        let page = self.view.payload.page(self.component(manifest));
        if let Some(page) = page
            && let Some(exclusion) = self.component_absent(page, manifest)?
        {
            return Ok(Some(LeftOut::without_entry(exclusion)));
        }
        if let Some(page) = page
            && self.view.operators.contains(page.owner())
            && page.owner.is_some()
        {
            let exclusion = omitted(&format!("the operator of {} looks after it", page.owner()));
            return Ok(Some(LeftOut { exclusion, decided_by: None, is_left_to_operator: true }));
        }
        match (self.omitted(page, manifest)?, page) {
            (None, Some(page)) => self.deleted(page, manifest),
            (omitted, _) => Ok(omitted),
        }
    }

    pub(super) fn component(&self, manifest: &Manifest) -> &'a str {
        &self.view.payload.file(manifest).component
    }

    /// Applies the cluster-version-operator's filters. They also include a manifest whose annotations name a profile of
    /// this topology instead of the cluster profile; `place` then decides in which cluster it lives.
    fn filtered(&self, manifest: &Manifest) -> Option<Exclusion> {
        let filters = &self.view.profile.select;
        let reason = include(manifest, filters).err()?;
        if reason.filter != ExclusionFilter::ClusterProfile {
            return Some(reason);
        }
        match self.named_profiles(manifest).next().map(|profile| profile.name.clone()) {
            None => Some(reason),
            named => include(manifest, &Filters { cluster_profile: named, ..filters.clone() }).err(),
        }
    }

    /// Returns the profiles of this topology that a manifest names in its annotations.
    pub(super) fn named_profiles<'m>(
        &'m self,
        manifest: &'m Manifest,
    ) -> impl Iterator<Item = &'m Profile> + 'm {
        let annotations = Annotations::of(&manifest.root);
        let view = self.view;
        let named = move |profile: &&Profile| {
            view.profile.cluster != Cluster::Both
                && annotations.with_prefix(INCLUDE).any(|named| named == (profile.name.as_str(), "true"))
        };
        view.context.profiles.in_topology_of(view.profile).filter(named)
    }

    /// Returns why the whole component of a manifest does not exist.
    fn component_absent(&self, page: &Page, manifest: &Manifest) -> Result<Option<Exclusion>, Diagnostic> {
        let variables = Variables::of(self.view, self.component(manifest));
        let unmet = unmet(&page.when, &variables, self.view.context.sources)?;
        Ok(unmet.map(|condition| omitted(&format!("the component does not exist: {condition}"))))
    }

    /// Returns the reason and the entry of `ignore` or `omit` that leaves a manifest out.
    fn omitted(&self, page: Option<&Page>, manifest: &Manifest) -> Result<Option<LeftOut>, Diagnostic> {
        if let Some(page) = page {
            let file = self.view.payload.file(manifest).name();
            if let Some((_, reason)) = page.ignore.iter().find(|(pattern, _)| glob::matches(pattern, file)) {
                return Ok(Some(LeftOut::by_entry(&reason.value, reason.mark)));
            }
        }
        let page = page.map(|page| &page.omit);
        let placements = self.fragment_placements.get(self.component(manifest));
        let fragments = placements.into_iter().flatten().map(|placement| &placement.omit);
        for omissions in page.into_iter().chain(fragments).chain([&self.view.profile.omit]) {
            if let Some(left_out) = self.omitted_by(omissions, manifest)? {
                return Ok(Some(left_out));
            }
        }
        Ok(None)
    }

    fn omitted_by(&self, omissions: &Omissions, manifest: &Manifest) -> Result<Option<LeftOut>, Diagnostic> {
        for (selector, omission) in &omissions.0 {
            if !selector.value.matches(&manifest.id) || !self.view.profile.is_in(&omission.profiles) {
                continue;
            }
            let variables = Variables::of(self.view, self.component(manifest));
            if unmet(&omission.when, &variables, self.view.context.sources)?.is_none() {
                return Ok(Some(LeftOut::by_entry(&omission.reason, selector.mark)));
            }
        }
        Ok(None)
    }

    /// Returns the reason and the patch of the page that deletes the object of a manifest.
    fn deleted(&self, page: &Page, manifest: &Manifest) -> Result<Option<LeftOut>, Diagnostic> {
        for entry in &page.patches {
            if !self.view.profile.is_in(&entry.value.profiles) || !self.deletes(page, entry, manifest) {
                continue;
            }
            let variables = Variables::of(self.view, self.component(manifest));
            if unmet(&entry.value.when, &variables, self.view.context.sources)?.is_none() {
                return Ok(Some(LeftOut::by_entry(&entry.value.reason, entry.mark)));
            }
        }
        Ok(None)
    }

    /// Returns whether a patch deletes the object of a manifest. An invalid patch deletes nothing; it is reported when it is
    /// applied.
    fn deletes(&self, page: &Page, entry: &Marked<PatchEntry>, manifest: &Manifest) -> bool {
        let component = self.component(manifest);
        let has_deletion = |patches: Vec<Node>| patches.iter().any(deletes_object);
        if !may_delete(&entry.value)
            || !self.view.payload.patches(component, page, entry).is_ok_and(has_deletion)
        {
            return false;
        }
        let patches = patches(self.view, component, page, entry).unwrap_or_default();
        patches.iter().filter(|patch| deletes_object(patch)).any(|patch| {
            let selector = PatchSelector::of(&entry.value, patch, self.view.context.sources);
            selector.is_ok_and(|selector| selector.matches(&manifest.root, &manifest.id, &manifest.version))
        })
    }
}

/// Returns false if a patch deletes nothing. This is a cheap test before a patch that is text is parsed.
fn may_delete(entry: &PatchEntry) -> bool {
    entry.patch.as_ref().and_then(Node::as_str).is_none_or(|text| text.contains("$patch"))
}

/// Returns the exclusion for a reason that a page, a fragment or a profile gives.
pub(super) fn omitted(reason: &str) -> Exclusion {
    Exclusion { filter: ExclusionFilter::Omitted, message: reason.to_owned() }
}
