//! Objects that an addition creates: which cluster and namespace they live in, and their position in the payload.

use super::component::ComponentContext;
use crate::diagnostic::{Diagnostic, Location};
use crate::expand::Contribution;
use crate::object::{
    Cause, Cluster, History, Object, ObjectId, PayloadPosition, RelativePosition, Scope, mask, text,
};
use crate::yaml::{Entry, Node, Value};

/// Creates the object of a contribution. Returns `None` if it lives in another cluster.
pub(super) fn create(
    mut id: ObjectId,
    contribution: &Contribution,
    component: &ComponentContext<'_>,
    objects: &[Object],
) -> Result<Option<Object>, Diagnostic> {
    // Assume that a kind of unknown scope is namespaced; the checks report it.
    let scope = component.scopes.of(&id.group, &id.kind).unwrap_or(Scope::Namespaced);
    if !lives_here(&id, scope, contribution, component)? {
        return Ok(None);
    }
    let mut root = contribution.node.clone();
    if scope == Scope::Namespaced && id.namespace.is_empty() {
        let Some(workload) = &contribution.workload else {
            return Err(Diagnostic::error("the new object has no namespace")
                .at(Location::of(root.mark, component.sources()))
                .object(&id)
                .help("write `metadata.namespace`, with the namespace that the payload uses"));
        };
        id.namespace.clone_from(&workload.namespace);
        set_namespace(&mut root, &id.namespace);
    }
    mask::protect_secret(&mut root);
    let mut history = History::new(component.view().context.recording);
    history.record(&root, || cause(contribution));
    let position = position(contribution, component, objects);
    let payload = &component.view().payload;
    let neighbour = payload.file(&payload.manifests[position.manifest]);
    Ok(Some(Object {
        root,
        id,
        cluster: component.view().profile.cluster,
        component: component.name.to_owned(),
        file: neighbour.path.clone(),
        ordered_as: neighbour.ordered_as.clone(),
        position,
        document: 0,
        manifest: None,
        added_init_containers: 0,
        kept: false,
        issued: None,
        config_hash: None,
        history,
    }))
}

/// Returns whether a new object lives in the profile's cluster. If the addition has `in`, the object lives in the clusters
/// of these profiles. Otherwise a cluster-scoped object lives in the guest, and `place` of the page or of a fragment decides
/// for others.
fn lives_here(
    id: &ObjectId,
    scope: Scope,
    contribution: &Contribution,
    component: &ComponentContext<'_>,
) -> Result<bool, Diagnostic> {
    let cluster = component.view().profile.cluster;
    let location = Location::of(contribution.addition, component.sources());
    if scope == Scope::Cluster && cluster == Cluster::Management && contribution.is_limited_to_profiles {
        return Err(Diagnostic::error(
            "a cluster-scoped object cannot be in a hosted control plane's namespace",
        )
        .at(location)
        .object(id)
        .help("limit the addition to profiles of the guest with `in`"));
    }
    if cluster == Cluster::Both || contribution.is_limited_to_profiles {
        return Ok(true);
    }
    if scope == Scope::Cluster {
        return Ok(cluster == Cluster::Guest);
    }
    match component.expanded.place_of(component.name, id)[..] {
        [(_, placed)] => Ok(placed == Cluster::Both || placed == cluster),
        _ => Err(Diagnostic::error("it is not clear in which cluster this new object lives")
            .at(location)
            .object(id)
            .help("limit the addition to profiles with `in`, or add the object under `place` in the page")),
    }
}

/// Returns the position of a new object: directly before the workload or object that it is for, or after all other objects
/// of the component. The caller sets its order among other new objects.
fn position(
    contribution: &Contribution,
    component: &ComponentContext<'_>,
    objects: &[Object],
) -> PayloadPosition {
    let sequence = 0;
    if let Some(neighbour) = contribution.workload.as_ref().or(contribution.intent_object.as_ref())
        && let Some(manifest) = manifest_of(neighbour, component, objects)
    {
        return PayloadPosition { manifest, relative_position: RelativePosition::BeforeManifest, sequence };
    }
    let last_object = objects.iter().map(|object| object.position.manifest).max();
    let last_manifest = || component.view().payload.of_component(component.name).last();
    let manifest = last_object.or_else(|| last_manifest().map(|(index, _)| index)).unwrap_or_default();
    PayloadPosition { manifest, relative_position: RelativePosition::AfterManifest, sequence }
}

/// Returns the manifest of an object. If there are several, returns the manifest that the profile includes.
fn manifest_of(id: &ObjectId, component: &ComponentContext<'_>, objects: &[Object]) -> Option<usize> {
    let included = objects.iter().find(|object| object.id == *id && object.manifest.is_some());
    let mut manifests = component.view().payload.of_component(component.name);
    let any = || manifests.find(|(_, manifest)| manifest.id == *id).map(|(index, _)| index);
    included.and_then(|object| object.manifest).or_else(any)
}

fn set_namespace(root: &mut Node, namespace: &str) {
    let mark = root.mark;
    if let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) {
        metadata.insert(Entry { key: "namespace".into(), mark, value: text(namespace, mark) });
    }
}

/// Returns the cause of a change by a contribution.
pub(super) fn cause(contribution: &Contribution) -> Cause {
    Cause::Addition { addition: contribution.addition, uses: contribution.uses.clone() }
}
