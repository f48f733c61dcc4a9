//! The first step: manifests become objects, and get what pages and fragments contribute.

use super::component::{Component, ComponentContext};
use super::images::ImageReplacements;
use super::manifest_object::from_manifest;
use super::{contribute, filled_texts, tombstones};
use crate::diagnostic::Diagnostics;
use crate::expand::{Expanded, View};
use crate::object::{Object, Scopes};
use crate::parallel::{self, MIN_COMPONENTS_PER_THREAD};
use crate::select::{Selected, Selection};

/// The objects of one profile, by component.
pub(crate) struct Assembled<'a> {
    /// The profile and its expanded contributions.
    pub(crate) expanded: Expanded<'a>,
    /// The components with their objects.
    pub(crate) components: Vec<Component>,
    pub(super) scopes: Scopes,
    /// The decision about each manifest.
    pub(super) selection: Selection,
}

/// Turns the selected manifests into objects, inserts the release's images, and adds what pages and fragments contribute.
pub(crate) fn assemble(selected: Selected<'_>) -> Result<Assembled<'_>, Diagnostics> {
    let Selected { expanded, selection } = selected;
    let view = &expanded.view;
    let images = ImageReplacements::of(&view.payload, view.profile.cluster)?;
    let scopes = view.scopes();
    let mut contributions = Vec::new();
    for (component, own) in &expanded.contributions {
        contributions.extend(own.iter().map(|contribution| (component.as_str(), contribution.clone())));
    }
    let contributions = contribute::by_owner(contributions, view);
    let components = parallel::map(MIN_COMPONENTS_PER_THREAD, &selection.components, |name: &String| {
        let mut objects = selected_objects(view, name, &selection, &images)?;
        let tombstones = tombstones::tombstones(view, name, &selection)?;
        if let Some(contributions) = contributions.get(name) {
            let context = ComponentContext { name, expanded: &expanded, scopes: &scopes };
            contribute::apply(&mut objects, contributions, &context)?;
        }
        // Only a contribution, or a page with values, fills values into manifests.
        if contributions.contains_key(name) || view.payload.page(name).is_some() {
            filled_texts::convert(&mut objects, view);
        }
        objects.extend(tombstones);
        Ok(Component { name: name.clone(), objects })
    });
    let components = Diagnostics::collect(components)?;
    Ok(Assembled { expanded, components, scopes, selection })
}

/// Returns the selected manifests of a component as objects with the release's images.
fn selected_objects(
    view: &View<'_>,
    component: &str,
    selection: &Selection,
    images: &ImageReplacements,
) -> Result<Vec<Object>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut objects = Vec::new();
    for (index, _) in view.payload.of_component(component) {
        if selection.exclusions[index].is_none() {
            match from_manifest(index, view, images) {
                Ok(object) => objects.push(object),
                Err(more) => errors.append(more),
            }
        }
    }
    errors.into_result(objects)
}
