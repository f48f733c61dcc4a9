//! What a profile takes in: the cluster-version-operator's filters, what pages and profiles leave out, and where the
//! rest lives.

use std::collections::{BTreeMap, BTreeSet};

use super::{Code, Reason, check, include};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Expanded, FragmentPlacement, Variables, View, brings};
use crate::glob;
use crate::language::{Component, Filters, Omissions, Place, Profile, Selector, unmet};
use crate::nearest::nearest;
use crate::object::{Annotations, Cluster, ObjectId, Scope, Scopes};
use crate::payload::{Manifest, Payload};
use crate::yaml::Mark;

/// What a profile takes in.
pub struct Selection {
    /// For each manifest, nothing if the profile takes it in, or the reason why not.
    pub out: Vec<Option<Reason>>,
    /// For each manifest the line that decided, where one did and not its annotations or its kind.
    pub by: Vec<Option<Mark>>,
    /// The components that exist: some manifest of theirs is in this cluster, or would be but for where it lives.
    pub components: BTreeSet<String>,
    /// The manifests that are out only because they live in the topology's other cluster.
    pub elsewhere: BTreeSet<usize>,
}

/// A profile whose manifests are selected.
pub struct Selected<'a> {
    /// The profile as it was expanded.
    pub expanded: Expanded<'a>,
    /// The decision for each manifest.
    pub selection: Selection,
}

impl<'a> Selected<'a> {
    /// Returns the profile.
    pub fn profile(&self) -> &'a Profile {
        self.expanded.view.profile
    }

    /// Returns the payload that the profile selects from, with the manifests of fragments.
    pub fn payload(&self) -> &Payload {
        &self.expanded.view.payload
    }

    /// Fails if the profile selects nothing: a misspelt cluster profile excludes every manifest.
    pub fn require_any(&self) -> Result<(), Diagnostics> {
        if !self.selection.components.is_empty() {
            return Ok(());
        }
        let out = &self.selection.out;
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for reason in out.iter().flatten() {
            *reasons.entry(reason.to_string()).or_default() += 1;
        }
        let mut error = Diagnostic::error(format!(
            "the profile `{}` selects none of the payload's {} manifests",
            self.profile().name,
            out.len()
        ));
        if let Some((reason, count)) = reasons.into_iter().max_by_key(|(_, count)| *count) {
            error = error.note(format!("{count} of them for this reason: {reason}"));
        }
        Err(error.help("check the names in `select`").into())
    }
}

/// Decides for each manifest whether the profile includes it.
pub fn select(expanded: Expanded<'_>) -> Result<Selected<'_>, Diagnostics> {
    let selection = decide(&expanded)?;
    Ok(Selected { expanded, selection })
}

fn decide(expanded: &Expanded<'_>) -> Result<Selection, Diagnostics> {
    let view = &expanded.view;
    check(&view.profile.select, &view.payload)?;
    let mut errors = Diagnostics::default();
    let mut selection = Selection {
        out: Vec::new(),
        by: Vec::new(),
        components: BTreeSet::new(),
        elsewhere: BTreeSet::new(),
    };
    let decider = Decider { view, expanded, scopes: view.scopes() };
    for (place, manifest) in view.payload.manifests.iter().enumerate() {
        let decision = errors.collect(decider.about(manifest)).unwrap_or_default();
        if decision.exists && !selection.components.contains(decider.component(manifest)) {
            selection.components.insert(decider.component(manifest).to_owned());
        }
        if decision.elsewhere {
            selection.elsewhere.insert(place);
        }
        selection.out.push(decision.out);
        selection.by.push(decision.by);
    }
    decider.report_idle(&mut errors);
    errors.or(selection)
}

/// What becomes of one manifest.
#[derive(Default)]
struct Decision {
    out: Option<Reason>,
    by: Option<Mark>,
    /// Whether its component is there.
    exists: bool,
    /// Whether it is out only because it lives in the other cluster.
    elsewhere: bool,
}

struct Decider<'a> {
    view: &'a View<'a>,
    expanded: &'a Expanded<'a>,
    scopes: Scopes,
}

/// The annotation by which a manifest says in which cluster profile, or in which profile of ours, it is.
const INCLUDE: &str = "include.release.openshift.io/";

impl Decider<'_> {
    fn about(&self, manifest: &Manifest) -> Result<Decision, Diagnostic> {
        let out = |reason| Decision { out: Some(reason), ..Decision::default() };
        if let Some(reason) = self.filtered(manifest) {
            return Ok(out(reason));
        }
        if let Some(reason) = self.absent(manifest)? {
            return Ok(out(reason));
        }
        if let Some((reason, by)) = self.omitted(manifest)? {
            return Ok(Decision { by: Some(by), exists: true, ..out(reason) });
        }
        // In a standalone cluster everything is in one place.
        if self.view.profile.cluster == Cluster::Both {
            return Ok(Decision { exists: true, ..Decision::default() });
        }
        let (home, by) = self.home(manifest)?;
        let elsewhere = home != Cluster::Both && home != self.view.profile.cluster;
        let reason = elsewhere.then(|| omitted(&format!("it lives in the {} cluster", home.name())));
        Ok(Decision { out: reason, by, exists: true, elsewhere })
    }

    fn component(&self, manifest: &Manifest) -> &str {
        &self.view.payload.file(manifest).component
    }

    fn page(&self, manifest: &Manifest) -> Option<&Component> {
        self.view.payload.page(self.component(manifest))
    }

    fn fragment_placements(&self, component: &str) -> &[FragmentPlacement] {
        self.expanded.fragment_placements.get(component).map(Vec::as_slice).unwrap_or_default()
    }

    /// The cluster-version-operator's filters; a manifest that names a profile of this topology is for that one.
    fn filtered(&self, manifest: &Manifest) -> Option<Reason> {
        let filters = &self.view.profile.select;
        let reason = include(manifest, filters).err()?;
        if reason.code != Code::ClusterProfile {
            return Some(reason);
        }
        match self.named_profiles(manifest).next().map(|profile| profile.name.clone()) {
            None => Some(reason),
            named => include(manifest, &Filters { cluster_profile: named, ..filters.clone() }).err(),
        }
    }

    /// The profiles of this topology that a manifest names.
    fn named_profiles<'m>(&'m self, manifest: &'m Manifest) -> impl Iterator<Item = &'m Profile> + 'm {
        let annotations = Annotations::of(&manifest.root);
        let view = self.view;
        let named = move |profile: &&Profile| {
            view.profile.cluster != Cluster::Both
                && annotations.get(&format!("{INCLUDE}{}", profile.name)) == Some("true")
        };
        view.context.profiles.beside(view.profile).filter(named)
    }

    /// Why the whole component is not there.
    fn absent(&self, manifest: &Manifest) -> Result<Option<Reason>, Diagnostic> {
        let Some(page) = self.page(manifest) else { return Ok(None) };
        let names = Variables::of(self.view, self.component(manifest));
        let why = unmet(&page.when, &names, self.view.context.sources)?;
        Ok(why.map(|why| omitted(&format!("the component does not exist: {why}"))))
    }

    /// Why one manifest of it is left out, and the line that says so.
    fn omitted(&self, manifest: &Manifest) -> Result<Option<(Reason, Mark)>, Diagnostic> {
        if let Some(page) = self.page(manifest) {
            let file = self.view.payload.file(manifest).name();
            if let Some((_, reason)) = page.ignore.iter().find(|(pattern, _)| glob::matches(pattern, file)) {
                return Ok(Some((omitted(&reason.value), reason.mark)));
            }
        }
        let page = self.page(manifest).map(|page| &page.omit);
        let shapes = self.fragment_placements(self.component(manifest)).iter().map(|says| &says.omit);
        for omissions in page.into_iter().chain(shapes).chain([&self.view.profile.omit]) {
            if let Some(reason) = self.by_list(omissions, manifest)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    fn by_list(
        &self,
        omissions: &Omissions,
        manifest: &Manifest,
    ) -> Result<Option<(Reason, Mark)>, Diagnostic> {
        for (selector, omission) in &omissions.0 {
            let concerned =
                selector.value.matches(&manifest.id) && self.view.profile.is_in(&omission.profiles);
            let names = || Variables::of(self.view, self.component(manifest));
            if concerned && unmet(&omission.when, &names(), self.view.context.sources)?.is_none() {
                return Ok(Some((omitted(&omission.reason), selector.mark)));
            }
        }
        Ok(None)
    }

    /// Where an object lives: where its annotations say, or its page, or a schema, and then by which line;
    /// cluster-scoped ones in the guest.
    fn home(&self, manifest: &Manifest) -> Result<(Cluster, Option<Mark>), Diagnostic> {
        let cluster_scoped = self.scopes.of(&manifest.id.group, &manifest.id.kind) == Some(Scope::Cluster);
        let entries = self.expanded.place_of(self.component(manifest), &manifest.id);
        if let Some(home) = self.annotated_home(manifest) {
            if cluster_scoped && home != Cluster::Guest {
                return Err(self
                    .error(
                        manifest.root.mark,
                        "a cluster-scoped object cannot be in a hosted control plane's namespace",
                        manifest,
                    )
                    .help(format!("remove its annotation `{INCLUDE}<profile>` for the management cluster")));
            }
            return match entries.iter().find(|(entry, _)| entry.value.name.is_some()) {
                Some((entry, _)) => Err(self
                    .error(
                        entry.mark,
                        "an annotation of the manifest already says where this object lives",
                        manifest,
                    )
                    .help(format!("remove the entry, or the annotations `{INCLUDE}<profile>`"))),
                None => Ok((home, None)),
            };
        }
        match entries[..] {
            [] if cluster_scoped => Ok((Cluster::Guest, None)),
            [(entry, cluster)] if cluster_scoped && cluster != Cluster::Guest => Err(self
                .error(
                    entry.mark,
                    "a cluster-scoped object cannot be in a hosted control plane's namespace",
                    manifest,
                )
                .help("cluster-scoped objects are in the guest, and need no entry")),
            [(entry, cluster)] => Ok((cluster, Some(entry.mark))),
            [] => Err(self
                .error(manifest.root.mark, "nobody says in which cluster this object lives", manifest)
                .help(format!(
                    "name `{}/{}` or its kind under `place` in {}",
                    manifest.id.kind,
                    manifest.id.name,
                    self.view.payload.page_file(self.component(manifest))
                ))),
            [(first, _), (second, _), ..] => Err(self
                .error(second.mark, "two entries of `place` decide about one object", manifest)
                .note(format!("the other is at {}", self.view.context.sources.show(first.mark)))
                .help("name it under `both` if it is in both clusters")),
        }
    }

    fn annotated_home(&self, manifest: &Manifest) -> Option<Cluster> {
        let homes: BTreeSet<Cluster> = self.named_profiles(manifest).map(|profile| profile.cluster).collect();
        if homes.len() > 1 { Some(Cluster::Both) } else { homes.into_iter().next() }
    }

    fn error(&self, mark: Mark, message: &str, manifest: &Manifest) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.view.context.sources)).object(&manifest.id)
    }

    /// Entries that mean no object at all are mistakes, in whatever profile.
    fn report_idle(&self, errors: &mut Diagnostics) {
        let payload = &self.view.payload;
        for (component, page) in &payload.pages {
            let own: Vec<&Manifest> = payload.of_component(component).map(|(_, manifest)| manifest).collect();
            let ids: Vec<ObjectId> = own.iter().map(|manifest| manifest.id.clone()).collect();
            let place = page.place.iter().flat_map(Place::entries).map(|(entry, _)| entry);
            // What only a part brings has a place as well, in whatever profile it does.
            let place = place.filter(|entry| !brings(page, self.view.context.profiles, &entry.value));
            let others = page.omit.0.iter().chain(&page.moved.0);
            let others = others.filter(|(_, omission)| !omission.optional).map(|(selector, _)| selector);
            for entry in place.chain(others) {
                self.report_if_idle(&entry.value, entry.mark, &ids, errors);
            }
            for (pattern, reason) in &page.ignore {
                if !own.iter().any(|manifest| glob::matches(pattern, payload.file(manifest).name())) {
                    let error = Diagnostic::error(format!("no file of the component matches `{pattern}`"));
                    errors.0.push(
                        error
                            .at(Location::of(reason.mark, self.view.context.sources))
                            .help("remove the entry"),
                    );
                }
            }
        }
        let omissions = &self.view.profile.omit.0;
        if !omissions.is_empty() {
            let all: Vec<ObjectId> = payload.manifests.iter().map(|manifest| manifest.id.clone()).collect();
            for (selector, _) in omissions.iter().filter(|(_, omission)| !omission.optional) {
                self.report_if_idle(&selector.value, selector.mark, &all, errors);
            }
        }
    }

    fn report_if_idle(&self, selector: &Selector, mark: Mark, ids: &[ObjectId], errors: &mut Diagnostics) {
        if ids.iter().any(|id| selector.matches(id)) {
            return;
        }
        let names: Vec<String> =
            ids.iter().flat_map(|id| [id.kind.clone(), format!("{}/{}", id.kind, id.name)]).collect();
        let error = Diagnostic::error(format!("there is no manifest for `{selector}`"))
            .at(Location::of(mark, self.view.context.sources));
        errors.0.push(match nearest(&selector.to_string(), names.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("remove the entry"),
        });
    }
}

fn omitted(reason: &str) -> Reason {
    Reason { code: Code::Omitted, message: reason.to_owned() }
}
