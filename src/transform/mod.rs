//! What a profile does to the manifests it takes in.

mod add;
mod contribute;
mod handle_intents;
mod images;
mod intents;
mod issued;
mod moves;
mod namespace;
mod page_patches;
pub mod patch;
mod policy;
mod strip;
mod target;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Expanded, PodContext, View, mentions};
use crate::language::template::substitute_text;
use crate::language::{DnsLabel, Marked};
use crate::object::{Cause, History, Object, Position, Scopes, Side, has_pods, is_tombstone};
use crate::parallel::{self, Worth};
use crate::payload::Manifest;
use crate::select::{Selected, Selection};
use crate::yaml::Node;

pub use handle_intents::{WithIntents, handle_intents};

/// The objects of one profile, by component.
pub struct Assembled<'a> {
    /// The profile as it was expanded.
    pub expanded: Expanded<'a>,
    /// The components with their objects.
    pub components: Vec<Component>,
    scopes: Scopes,
}

/// The objects of one component.
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its objects in this cluster.
    pub objects: Vec<Object>,
}

/// Turns the selected manifests into objects, with the release's images, and adds what pages and fragments contribute.
pub fn assemble(selected: Selected<'_>) -> Result<Assembled<'_>, Diagnostics> {
    let Selected { expanded, selection } = selected;
    let view = &expanded.view;
    let catalogues = images::Catalogues::of(&view.payload, view.profile.cluster)?;
    let scopes = view.scopes();
    let mut all = Vec::new();
    for (component, contributions) in &expanded.contributions {
        all.extend(contributions.iter().map(|contribution| (component.as_str(), contribution.clone())));
    }
    let contributions = contribute::by_owner(all.into_iter(), view);
    let assemble_component = |name: &String| {
        let mut objects = selected_objects(view, name, &selection, &catalogues);
        let tombstones = moves::tombstones(view, name, &selection)?;
        if let Some(contributions) = contributions.get(name) {
            contribute::apply(&mut objects, contributions, name, &expanded, &scopes)?;
        }
        objects.extend(tombstones);
        Ok(Component { name: name.clone(), objects })
    };
    let components = parallel::map(Worth::Little, &selection.components, assemble_component);
    let components = Diagnostics::gather(components)?;
    Ok(Assembled { expanded, components, scopes })
}

/// The finished objects of a profile.
pub struct Rendered<'a> {
    /// What the profile sees.
    pub view: View<'a>,
    /// The objects, in the order of the payload.
    pub objects: Vec<Object>,
    /// The namespace that they were put into.
    pub namespace: Option<String>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// What holds for every pod, the pages' patches, the profile's namespace, and last the annotations that nobody needs any
/// more. The objects come in the order of the payload.
pub fn finish(cluster: WithIntents<'_>) -> Result<Rendered<'_>, Diagnostics> {
    let WithIntents { assembled: Assembled { expanded, mut components, .. }, found } = cluster;
    let view = expanded.view;
    let nobody = PodContext::default();
    let first =
        Diagnostics::gather(parallel::map(Worth::Little, &mut components, |component: &mut Component| {
            issued::apply(&mut component.objects, view.context.sources)?;
            every_of(component, &view, &nobody, |object| !has_pods(&object.id.kind))
        }));
    // Pods last: what they are told about the objects around them is then as it will be.
    let around = around(&components, &view);
    let finished = parallel::map(Worth::Little, components, |mut component: Component| {
        every_of(&mut component, &view, &around, |object| has_pods(&object.id.kind))?;
        page_patches::apply(&mut component.objects, &view, &component.name)?;
        handle_intents::check(&component.objects, &view, &component.name, &found)?;
        Ok(component.objects)
    });
    let mut objects: Vec<Object> =
        both(first, Diagnostics::gather(finished))?.1.into_iter().flatten().collect();
    objects.sort_by_key(|object| object.position);
    moves::pin(&mut objects, &view)?;
    let namespace = view.profile.namespace.as_ref();
    let namespace = namespace.map(|namespace| target_namespace(namespace, &view)).transpose()?;
    let mut warnings = Vec::new();
    if let Some(namespace) = &namespace {
        warnings = namespace::move_to(namespace, &mut objects, &view.scopes(), view.context.sources)?;
    }
    strip::apply(&mut objects, &view.profile.strip);
    Ok(Rendered { view, objects, namespace: namespace.map(|namespace| namespace.value), warnings })
}

/// Two results, or all that is wrong with either.
fn both<A, B>(first: Result<A, Diagnostics>, second: Result<B, Diagnostics>) -> Result<(A, B), Diagnostics> {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (first, second) => {
            let errors = first.err().into_iter().chain(second.err()).flat_map(|errors| errors.0);
            Err(Diagnostics(errors.collect()))
        }
    }
}

/// What the profile says about every object of a component that is chosen.
fn every_of(
    component: &mut Component,
    view: &View<'_>,
    around: &PodContext,
    chosen: impl Fn(&Object) -> bool,
) -> Result<(), Diagnostics> {
    let objects = component.objects.iter_mut().filter(|object| chosen(object) && !is_tombstone(&object.root));
    Diagnostics::gather(objects.map(|object| policy::apply(object, view, &component.name, around))).map(drop)
}

/// What pods will find around them, as far as the profile asks for it.
fn around(components: &[Component], view: &View<'_>) -> PodContext {
    let mut around = PodContext::default();
    let (bindings, config) =
        (mentions(view.profile, "pod.usesOwnApi"), mentions(view.profile, "pod.configHash"));
    for component in components {
        for object in &component.objects {
            let outcome = || page_patches::outcome(object, view, &component.name);
            match object.id.kind.as_str() {
                "RoleBinding" | "ClusterRoleBinding" if bindings => around.bind(&object.id, &outcome()),
                "ConfigMap" | "Secret" if config => around.configure(&object.id, outcome()),
                _ => {}
            }
        }
    }
    around
}

/// Returns the selected manifests of a component as objects, with the release's images.
fn selected_objects(
    view: &View<'_>,
    component: &str,
    selection: &Selection,
    catalogues: &images::Catalogues,
) -> Vec<Object> {
    let manifests = view.payload.of_component(component);
    let included = manifests.filter(|(place, _)| selection.out[*place].is_none());
    included.map(|(place, manifest)| object(place, manifest, view, catalogues)).collect()
}

fn object(place: usize, manifest: &Manifest, view: &View<'_>, catalogues: &images::Catalogues) -> Object {
    let mut history = History::new(view.context.recording);
    let mut root = manifest.object();
    history.note(&root, || Cause::Manifest);
    catalogues.fill_in(&mut root, &view.payload.file(manifest).path);
    history.note(&root, || Cause::Release);
    Object { manifest: Some(place), ..in_place_of(place, manifest, root, history, view) }
}

/// An object that comes where a manifest stands.
fn in_place_of(place: usize, manifest: &Manifest, root: Node, history: History, view: &View<'_>) -> Object {
    let file = view.payload.file(manifest);
    Object {
        root,
        id: manifest.id.clone(),
        cluster: view.profile.cluster,
        component: file.component.clone(),
        file: file.path.clone(),
        ordered_as: file.ordered_as.clone(),
        position: Position { manifest: place, side: Side::Itself, number: 0 },
        document: manifest.document,
        manifest: None,
        history,
    }
}

/// The profile's namespace with its parameters put in.
fn target_namespace(namespace: &Marked<String>, view: &View<'_>) -> Result<Marked<String>, Diagnostic> {
    let text =
        substitute_text(&namespace.value, namespace.mark, view.context.parameters, view.context.sources)?;
    if DnsLabel::is_valid(&text) {
        return Ok(Marked { value: text, mark: namespace.mark });
    }
    Err(Diagnostic::error(format!("`{}` is no name of a namespace", namespace.value))
        .at(Location::of(namespace.mark, view.context.sources))
        .help("it is at most 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`"))
}
