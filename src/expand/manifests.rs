//! The manifests of every component as one profile sees them: with values put in, and those of shapes beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::View;
use super::contributions::{Contribution, contributions};
use super::fragment_walk::{Visitor, Walk, wrong};
use super::variables::Variables;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::template::{substitute, substitute_text};
use crate::language::{
    Addition, Component, Fragment, Marked, Omission, Omissions, Place, Selector, When, unmet,
};
use crate::object::{Cluster, ObjectId};
use crate::parallel::{self, MIN_COMPONENTS_PER_THREAD};
use crate::payload::{ExpandedManifest, Manifest};
use crate::yaml::Mark;

/// A profile's view with values filled in, and what pages and fragments say about it.
pub struct Expanded<'a> {
    /// What the profile sees, with the manifests of fragments.
    pub view: View<'a>,
    /// What the shapes that a component uses say, by component.
    pub fragment_placements: BTreeMap<String, Vec<FragmentPlacement>>,
    /// What pages contribute, by component.
    pub contributions: BTreeMap<String, Vec<Contribution>>,
}

/// Where a shape's objects live, and which are left out.
#[derive(Clone, Debug, Default)]
pub struct FragmentPlacement {
    /// Where they live.
    pub place: Place,
    /// Which are left out.
    pub omit: Omissions,
}

impl Expanded<'_> {
    /// The entries of `place` that decide about an object of a component: the page's, or where it has none those of the
    /// shapes it uses, of which several may say the same.
    pub fn place_of(&self, component: &str, id: &ObjectId) -> Vec<(&Marked<Selector>, Cluster)> {
        let page = self.view.payload.page(component).and_then(|page| page.place.as_ref());
        let entries = page.map(|place| place.of(id)).unwrap_or_default();
        if !entries.is_empty() {
            return entries;
        }
        let says = self.fragment_placements.get(component).into_iter().flatten();
        let mut entries: Vec<_> = says.flat_map(|says| says.place.of(id)).collect();
        let named = entries.iter().any(|(entry, _)| entry.value.name.is_some());
        entries.retain(|(entry, _)| entry.value.name.is_some() == named);
        entries.dedup_by_key(|(_, cluster)| *cluster);
        entries
    }
}

/// Puts values into manifests, and the manifests of shapes beside those of the components that use them.
pub fn expand(view: View<'_>) -> Result<Expanded<'_>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let (mut changed, mut shapes, mut says) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (component, page) in &view.payload.pages {
        match written(&view, component, page) {
            Ok(written) => {
                changed.extend(written.own);
                if !written.shapes.is_empty() {
                    shapes.insert(component.clone(), written.shapes);
                }
                if !written.fragment_placements.is_empty() {
                    says.insert(component.clone(), written.fragment_placements);
                }
            }
            Err(found) => errors.0.extend(found.0),
        }
    }
    errors.or(())?;
    let mut view = view;
    if !changed.is_empty() || !shapes.is_empty() {
        view.payload = Arc::new(view.payload.with(changed, shapes, view.context.sources)?);
    }
    let contributions = all_contributions(&view)?;
    Ok(Expanded { view, fragment_placements: says, contributions })
}

fn all_contributions(view: &View<'_>) -> Result<BTreeMap<String, Vec<Contribution>>, Diagnostics> {
    let components: Vec<&String> = view.payload.pages.keys().collect();
    let mut errors = Diagnostics::default();
    let mut all = BTreeMap::new();
    let found = parallel::map(MIN_COMPONENTS_PER_THREAD, components, |component| {
        (component, contributions(view, component))
    });
    for (component, found) in found {
        match found {
            Ok(found) => drop(all.insert(component.clone(), found)),
            Err(found) => errors.0.extend(found.0),
        }
    }
    errors.or(all)
}

/// A component's manifests, written out.
#[derive(Default)]
struct Written {
    /// Its own, where a value was put in: their place in the payload, and what they became.
    own: Vec<(usize, Manifest)>,
    /// Those of shapes.
    shapes: Vec<ExpandedManifest>,
    fragment_placements: Vec<FragmentPlacement>,
}

fn written(view: &View<'_>, component: &str, page: &Component) -> Result<Written, Diagnostics> {
    let payload = &view.payload;
    let manifests = payload.of_component(component).map(|(_, manifest)| manifest).collect();
    let visitor = Shapes { written: Written::default() };
    let mut walk = Walk { manifests, meant: &[], complete: false, visitor, errors: Diagnostics::default() };
    let mut names = Variables::of(view, component);
    walk.values(&page.values, &mut names)?;
    walk.body(&page.adds, &page.uses, &names, &[]);
    let Walk { visitor: Shapes { mut written }, mut errors, .. } = walk;
    if !page.values.is_empty() {
        for (index, manifest) in payload.of_component(component) {
            if let Some(changed) = errors.collect(with_values(manifest, &names)).flatten() {
                written.own.push((index, changed));
            }
        }
    }
    errors.or(written)
}

/// A manifest with its values put in; nothing if it mentions none.
fn with_values(manifest: &Manifest, names: &Variables<'_>) -> Result<Option<Manifest>, Diagnostic> {
    let sources = names.view.context.sources;
    let root = substitute(&manifest.root, names, sources).map_err(|error| error.object(&manifest.id))?;
    match root {
        Some(root) if root != manifest.root => manifest.become_object(root, sources).map(Some),
        _ => Ok(None),
    }
}

/// Writes out the manifests of every shape that is used.
struct Shapes {
    written: Written,
}

impl Visitor for Shapes {
    fn part(&mut self, _: &Marked<Addition>, _: &Variables<'_>, _: &[Mark]) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn fragment(&mut self, fragment: &Fragment, names: &Variables<'_>) -> Result<(), Diagnostic> {
        for manifest in &fragment.manifests {
            let filled = substitute(&manifest.root, names, names.view.context.sources)?.ok_or_else(|| {
                wrong(names, manifest.root.mark, "this manifest is nothing but an absent value")
            })?;
            self.written.shapes.push(ExpandedManifest {
                file: manifest.file.clone(),
                document: manifest.document,
                root: filled,
            });
        }
        let body = &fragment.body;
        if body.place.is_some() || !body.omit.0.is_empty() {
            let place =
                body.place.as_ref().map(|place| fill_place(place, names)).transpose()?.unwrap_or_default();
            let mut omit = Vec::new();
            for (selector, omission) in &body.omit.0 {
                // Here its inputs are known, later they are not.
                if unmet(&omission.when, names, names.view.context.sources)?.is_none() {
                    let omission = Omission { when: When::new(), ..omission.clone() };
                    omit.push((fill(selector, names)?, omission));
                }
            }
            self.written.fragment_placements.push(FragmentPlacement { place, omit: Omissions(omit) });
        }
        Ok(())
    }
}

fn fill_place(place: &Place, names: &Variables<'_>) -> Result<Place, Diagnostic> {
    let all = |entries: &[Marked<Selector>]| -> Result<Vec<_>, Diagnostic> {
        entries.iter().map(|entry| fill(entry, names)).collect()
    };
    Ok(Place { management: all(&place.management)?, guest: all(&place.guest)?, both: all(&place.both)? })
}

/// A selector whose name may mention inputs.
fn fill(selector: &Marked<Selector>, names: &Variables<'_>) -> Result<Marked<Selector>, Diagnostic> {
    let name = selector.value.name.as_ref();
    let name = name
        .map(|name| substitute_text(name, selector.mark, names, names.view.context.sources))
        .transpose()?;
    Ok(Marked { value: Selector { name, ..selector.value.clone() }, mark: selector.mark })
}
