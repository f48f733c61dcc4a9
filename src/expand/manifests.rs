//! The manifests of every component in one profile: its own, with values filled in, and those of its fragments.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::View;
use super::contributions::{Contribution, contributions};
use super::fragment_walk::{FailedUse, FragmentWalk, Pass, Visitor, error_at};
use super::variables::Variables;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::template::{substitute, substitute_text};
use crate::language::{Addition, Fragment, Marked, Omission, Omissions, Page, Place, Selector, When, unmet};
use crate::object::{Cluster, ObjectId, metadata_text};
use crate::parallel::{self, MIN_COMPONENTS_PER_THREAD};
use crate::payload::{ExpandedManifest, Manifest};
use crate::yaml::{Mark, Node};

/// A profile with its pages and fragments evaluated.
pub(crate) struct Expanded<'a> {
    /// The profile, and the payload with the manifests of fragments.
    pub(crate) view: View<'a>,
    /// `place` and `omit` of the fragments that a component uses, by component.
    pub(crate) fragment_placements: BTreeMap<String, Vec<FragmentPlacement>>,
    /// The contributions of pages, by component.
    pub(crate) contributions: BTreeMap<String, Vec<Contribution>>,
}

/// `place` and `omit` of one use of a fragment, with values filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct FragmentPlacement {
    /// The cluster in which each object lives.
    pub(crate) place: Place,
    /// The objects that are left out.
    pub(crate) omit: Omissions,
}

impl Expanded<'_> {
    /// Returns the entries of `place` that apply to an object: the page's, or if it has none those of the fragments that
    /// it uses. Entries with the same cluster are returned once.
    pub(crate) fn place_of(&self, component: &str, id: &ObjectId) -> Vec<(&Marked<Selector>, Cluster)> {
        let page = self.view.payload.page(component).and_then(|page| page.place.as_ref());
        let entries = page.map(|place| place.of(id)).unwrap_or_default();
        if !entries.is_empty() {
            return entries;
        }
        let mut entries = Vec::new();
        for placement in self.fragment_placements.get(component).into_iter().flatten() {
            entries.extend(placement.place.of(id));
        }
        let is_named = entries.iter().any(|(entry, _)| entry.value.name.is_some());
        entries.retain(|(entry, _)| entry.value.name.is_some() == is_named);
        entries.dedup_by_key(|(_, cluster)| *cluster);
        entries
    }
}

/// Fills values into manifests, adds the manifests of fragments, and collects contributions.
pub(crate) fn expand(mut view: View<'_>) -> Result<Expanded<'_>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut changed = BTreeMap::new();
    let mut from_fragments = BTreeMap::new();
    let mut fragment_placements = BTreeMap::new();
    for (component, page) in &view.payload.pages {
        match expand_component(&view, component, page) {
            Ok(expanded) => {
                changed.extend(expanded.changed);
                if !expanded.from_fragments.is_empty() {
                    from_fragments.insert(component.clone(), expanded.from_fragments);
                }
                if !expanded.placements.is_empty() {
                    fragment_placements.insert(component.clone(), expanded.placements);
                }
            }
            Err(found) => errors.append(found),
        }
    }
    errors.into_result(())?;
    if !changed.is_empty() || !from_fragments.is_empty() {
        let payload = view.payload.with_manifests(changed, from_fragments, view.context.sources)?;
        view.payload = Arc::new(payload);
    }
    let contributions = all_contributions(&view)?;
    Ok(Expanded { view, fragment_placements, contributions })
}

fn all_contributions(view: &View<'_>) -> Result<BTreeMap<String, Vec<Contribution>>, Diagnostics> {
    let components: Vec<&String> = view.payload.pages.keys().collect();
    let results = parallel::map(MIN_COMPONENTS_PER_THREAD, components, |component| {
        (component, contributions(view, component))
    });
    let mut errors = Diagnostics::default();
    let mut all = BTreeMap::new();
    for (component, result) in results {
        match result {
            Ok(contributions) => {
                all.insert(component.clone(), contributions);
            }
            Err(found) => errors.append(found),
        }
    }
    errors.into_result(all)
}

/// The manifests of one component in one profile.
#[derive(Default)]
struct ExpandedComponent {
    /// Its own manifests into which a value was filled in, by their index in the payload.
    changed: Vec<(usize, Manifest)>,
    /// The manifests of the fragments that it uses.
    from_fragments: Vec<ExpandedManifest>,
    placements: Vec<FragmentPlacement>,
}

fn expand_component(view: &View<'_>, component: &str, page: &Page) -> Result<ExpandedComponent, Diagnostics> {
    let mut with_fragments = view.clone();
    let mut number_brought = 0;
    let (mut expanded, mut errors) = loop {
        let mut walk = walk_fragments(&with_fragments, component, page)?;
        let brought = &walk.visitor.0.from_fragments;
        // A fragment may need an object that another fragment brings, wherever that is in `uses`.
        let is_complete = !walk.is_incomplete && walk.errors.0.is_empty();
        if is_complete || brought.len() == number_brought {
            note_who_brings_missing(&walk.failed, &mut walk.errors, view);
            break (walk.visitor.0, walk.errors);
        }
        number_brought = brought.len();
        let brought = BTreeMap::from([(component.to_owned(), brought.clone())]);
        let payload = view.payload.with_manifests(BTreeMap::new(), brought, view.context.sources)?;
        with_fragments.payload = Arc::new(payload);
    };
    // transship fills in `${…}` only if the page has `values`. Otherwise it may belong to a shell script.
    if !page.values.is_empty() {
        let mut variables = Variables::of(&with_fragments, component);
        let walk =
            FragmentWalk::new(&with_fragments, component, Pass::Manifests, ManifestCollector::default());
        walk.bind_values(&page.values, &mut variables)?;
        for (index, manifest) in view.payload.of_component(component) {
            if let Some(changed) = errors.ok_or_record(with_values(manifest, &variables)).flatten() {
                expanded.changed.push((index, changed));
            }
        }
    }
    errors.into_result(expanded)
}

/// Visits the fragments that a component uses, and collects their manifests.
fn walk_fragments<'w>(
    view: &'w View<'_>,
    component: &str,
    page: &Page,
) -> Result<FragmentWalk<'w, ManifestCollector>, Diagnostics> {
    let mut walk = FragmentWalk::new(view, component, Pass::Manifests, ManifestCollector::default());
    let mut variables = Variables::of(view, component);
    walk.bind_values(&page.values, &mut variables)?;
    walk.is_incomplete = walk.missing.take().is_some();
    walk.visit_body(&page.adds, &page.uses, &variables, &[]);
    Ok(walk)
}

/// Adds a note to the error of each use that needs an object of a fragment which fails as well.
fn note_who_brings_missing(failed: &[FailedUse], errors: &mut Diagnostics, view: &View<'_>) {
    for needs in failed {
        for brings in failed {
            let fragment = view.context.profiles.fragments.get(&brings.fragment);
            if !fragment.is_some_and(|fragment| may_bring(fragment, &needs.missing)) {
                continue;
            }
            let place = view.context.sources.show(brings.mark);
            let note =
                format!("the fragment `{}` brings it, but its use at {place} fails as well", brings.fragment);
            if let Some(error) = errors.0.get_mut(needs.error) {
                error.notes.push(note);
                error.help =
                    Some("remove the cycle: two fragments cannot need objects of each other".to_owned());
            }
        }
    }
}

/// Returns whether a fragment has a manifest with the kind and name of a selector.
fn may_bring(fragment: &Fragment, selector: &Selector) -> bool {
    fragment.manifests.iter().any(|manifest| {
        let name = metadata_text(&manifest.root, "name").unwrap_or_default();
        // A name with `${…}` can become any name.
        let has_name = selector.name.as_deref().is_none_or(|wanted| wanted == name || name.contains("${"));
        has_name && manifest.root.get("kind").and_then(Node::as_str) == Some(&selector.kind)
    })
}

/// Returns a manifest with its values filled in, or `None` if it mentions no name.
fn with_values(manifest: &Manifest, variables: &Variables<'_>) -> Result<Option<Manifest>, Diagnostic> {
    let sources = variables.view.context.sources;
    let root = substitute(&manifest.root, variables, sources).map_err(|error| error.object(&manifest.id))?;
    match root {
        Some(root) if root != manifest.root => manifest.with_root(root, sources).map(Some),
        _ => Ok(None),
    }
}

/// Collects the manifests of every fragment that is used, with `place` and `omit`.
#[derive(Default)]
pub(super) struct ManifestCollector(ExpandedComponent);

impl Visitor for ManifestCollector {
    fn addition(&mut self, _: &Marked<Addition>, _: &Variables<'_>, _: &[Mark]) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn fragment(&mut self, fragment: &Fragment, variables: &Variables<'_>) -> Result<(), Diagnostic> {
        let sources = variables.view.context.sources;
        for manifest in &fragment.manifests {
            let Some(root) = substitute(&manifest.root, variables, sources)? else {
                let message = "this manifest is a `${…}` that has no value";
                return Err(error_at(variables, manifest.root.mark, message));
            };
            self.0.from_fragments.push(ExpandedManifest {
                file: manifest.file.clone(),
                document: manifest.document,
                root,
            });
        }
        self.0.placements.extend(placement(fragment, variables)?);
        Ok(())
    }
}

/// Returns `place` and `omit` of a fragment with values filled in, if it has any.
fn placement(
    fragment: &Fragment,
    variables: &Variables<'_>,
) -> Result<Option<FragmentPlacement>, Diagnostic> {
    let body = &fragment.body;
    if body.place.is_none() && body.omit.0.is_empty() {
        return Ok(None);
    }
    let place = match &body.place {
        Some(place) => Place {
            management: fill_selectors(&place.management, variables)?,
            guest: fill_selectors(&place.guest, variables)?,
            both: fill_selectors(&place.both, variables)?,
        },
        None => Place::default(),
    };
    let mut omit = Vec::new();
    for (selector, omission) in &body.omit.0 {
        // Evaluated here, because the inputs of the fragment are not known later.
        if unmet(&omission.when, variables, variables.view.context.sources)?.is_none() {
            let omission = Omission { when: When::new(), ..omission.clone() };
            omit.push((fill_selector(selector, variables)?, omission));
        }
    }
    Ok(Some(FragmentPlacement { place, omit: Omissions(omit) }))
}

fn fill_selectors(
    selectors: &[Marked<Selector>],
    variables: &Variables<'_>,
) -> Result<Vec<Marked<Selector>>, Diagnostic> {
    selectors.iter().map(|selector| fill_selector(selector, variables)).collect()
}

/// Fills values into the namespace and the name of a selector.
fn fill_selector(
    selector: &Marked<Selector>,
    variables: &Variables<'_>,
) -> Result<Marked<Selector>, Diagnostic> {
    let mut filled = selector.clone();
    for text in [&mut filled.value.namespace, &mut filled.value.name].into_iter().flatten() {
        *text = substitute_text(text, selector.mark, variables, variables.view.context.sources)?;
    }
    Ok(filled)
}
