//! Adds the contributions of pages and fragments to the objects of a component. Contributions only add, so their order
//! decides the position of new list items and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::additive_merge::{merge_object_addition, merge_pod_addition};
use super::component::ComponentContext;
use super::new_object::{self, cause};
use super::unknown_containers::ContainerNames;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Contribution, ContributionTarget, View};
use crate::object::{Object, ObjectId, PayloadPosition, map, metadata, take_pod_template};
use crate::yaml::{Mark, Sources, Value};

/// Groups contributions by the component whose objects they change. That is the component with the manifest of the
/// object, which need not be the component whose page contributes.
pub(super) fn by_owner(
    contributions: Vec<(&str, Contribution)>,
    view: &View<'_>,
) -> BTreeMap<String, Vec<Contribution>> {
    let mut owners: HashMap<&ObjectId, Vec<&str>> = HashMap::new();
    // A profile of a large payload may have no such contribution, and the index takes time.
    if contributions.iter().any(|(_, contribution)| contribution.target == ContributionTarget::Object) {
        for manifest in &view.payload.manifests {
            owners.entry(&manifest.id).or_default().push(&view.payload.file(manifest).component);
        }
    }
    let mut by_owner: BTreeMap<String, Vec<Contribution>> = BTreeMap::new();
    for (component, contribution) in contributions {
        let mut owner = component;
        if contribution.target == ContributionTarget::Object
            && let Ok((id, _)) = ObjectId::of(&contribution.node)
            && let Some(owners) = owners.get(&id)
            && !owners.contains(&component)
        {
            owner = owners[0];
        }
        by_owner.entry(owner.to_owned()).or_default().push(contribution);
    }
    by_owner
}

/// Adds contributions to the objects of a component.
pub(super) fn apply(
    objects: &mut Vec<Object>,
    contributions: &[Contribution],
    component: &ComponentContext<'_>,
) -> Result<(), Diagnostics> {
    let sources = component.sources();
    let containers = ContainerNames::of(objects);
    let unneeded = uses_without_workload(contributions, objects);
    let contributions = with_pod_templates_apart(contributions);
    // New objects come after those that were added earlier, in the order in which they are written.
    let first = objects.iter().map(|object| object.position.sequence + 1).max().unwrap_or_default();
    let mut errors = Diagnostics::default();
    for (index, contribution) in in_order(&contributions) {
        if contribution.target == ContributionTarget::Object && unneeded.contains(&contribution.uses) {
            continue;
        }
        if let Err(error) = add(objects, &contribution, first + index, component) {
            errors.0.push(with_uses(error, &contribution, sources));
        }
    }
    errors.into_result(())?;
    let mut errors = Diagnostics::default();
    for contribution in &contributions {
        for error in containers.unknown_in(contribution, objects, sources) {
            errors.0.push(with_uses(error, contribution, sources));
        }
    }
    errors.into_result(())
}

/// Adds notes to an error about a contribution: the uses of fragments that led to it, the innermost first.
fn with_uses(mut error: Diagnostic, contribution: &Contribution, sources: &Sources) -> Diagnostic {
    for mark in contribution.uses.iter().rev() {
        error = error.note(format!("used at {}", sources.show(*mark)));
    }
    error
}

/// Returns the uses of fragments that have an addition with `in` for a workload that is not in this cluster. The
/// cluster does not need the other objects of such a use either.
fn uses_without_workload<'c>(
    contributions: &'c [Contribution],
    objects: &[Object],
) -> BTreeSet<&'c Vec<Mark>> {
    let mut uses = BTreeSet::new();
    for contribution in contributions {
        let (ContributionTarget::Pod(workload) | ContributionTarget::Workload(workload)) =
            &contribution.target
        else {
            continue;
        };
        if contribution.is_limited_to_profiles
            && !contribution.uses.is_empty()
            && !objects.iter().any(|object| object.id == *workload)
        {
            uses.insert(&contribution.uses);
        }
    }
    uses
}

/// Splits each contribution to a workload into one to its pod template and one to its other fields, so that the same rules
/// hold for the pod template however it is written.
fn with_pod_templates_apart(contributions: &[Contribution]) -> Vec<Contribution> {
    let mut split = Vec::with_capacity(contributions.len());
    for contribution in contributions {
        let mut contribution = contribution.clone();
        if let ContributionTarget::Workload(workload) = &contribution.target
            && let Some(template) = take_pod_template(&mut contribution.node, &workload.kind)
        {
            let target = ContributionTarget::Pod(workload.clone());
            split.push(Contribution { target, node: template, ..contribution.clone() });
        }
        split.push(contribution);
    }
    split
}

/// Sorts contributions so that each one finds what it refers to. Returns each with its index.
///
/// Init containers come first, because an entry of `containers` may add to one of them. Contributions that leave out
/// the namespace of their object come last: another contribution may create that object.
fn in_order(contributions: &[Contribution]) -> Vec<(usize, Contribution)> {
    let (mut ordered, mut without_namespace) = (Vec::new(), Vec::new());
    for (index, contribution) in contributions.iter().enumerate() {
        ordered.extend(only_init_containers(contribution).map(|contribution| (index, contribution)));
    }
    for (index, contribution) in contributions.iter().enumerate() {
        let contribution = without_init_containers(contribution.clone());
        let is_object = contribution.target == ContributionTarget::Object;
        if is_object && metadata(&contribution.node, "namespace").is_none() {
            without_namespace.push((index, contribution));
        } else {
            ordered.push((index, contribution));
        }
    }
    ordered.extend(without_namespace);
    ordered
}

/// Returns only the init containers of a contribution to a pod; `None` if it has none.
fn only_init_containers(contribution: &Contribution) -> Option<Contribution> {
    if !matches!(contribution.target, ContributionTarget::Pod(_)) {
        return None;
    }
    let init_containers = contribution.node.get("spec")?.get("initContainers")?.clone();
    let mark = contribution.node.mark;
    let spec = map([("initContainers", init_containers)], mark);
    Some(Contribution { node: map([("spec", spec)], mark), ..contribution.clone() })
}

fn without_init_containers(mut contribution: Contribution) -> Contribution {
    if let ContributionTarget::Pod(_) = contribution.target
        && let Some(Value::Map(spec)) = contribution.node.get_mut("spec").map(|spec| &mut spec.value)
    {
        spec.remove("initContainers");
    }
    contribution
}

fn add(
    objects: &mut Vec<Object>,
    contribution: &Contribution,
    sequence: usize,
    component: &ComponentContext<'_>,
) -> Result<(), Diagnostic> {
    match &contribution.target {
        ContributionTarget::Pod(workload) | ContributionTarget::Workload(workload) => {
            add_to_workload(objects, workload, contribution, component.sources())
        }
        ContributionTarget::Object => add_object(objects, contribution, sequence, component),
    }
}

/// Adds to a workload or its pod template. Does nothing if the workload lives in another cluster: the profile of that
/// cluster adds the contribution.
fn add_to_workload(
    objects: &mut [Object],
    workload: &ObjectId,
    contribution: &Contribution,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    let mut objects = objects.iter_mut().filter(|object| !object.is_tombstone());
    let Some(object) = objects.find(|object| object.id == *workload) else { return Ok(()) };
    let result = match contribution.target {
        ContributionTarget::Pod(_) => merge_pod_addition(object, &contribution.node, sources),
        _ => merge_object_addition(object, &contribution.node, sources),
    };
    object.history.record(&object.root, || cause(contribution));
    result.map_err(|error| error.object(workload))
}

/// Adds to the object with the identity of the contribution, or creates it.
fn add_object(
    objects: &mut Vec<Object>,
    contribution: &Contribution,
    sequence: usize,
    component: &ComponentContext<'_>,
) -> Result<(), Diagnostic> {
    let sources = component.sources();
    let (id, _) = ObjectId::of(&contribution.node).map_err(|error| {
        Diagnostic::error(error.message).at(Location::of(error.mark, sources)).help(error.help)
    })?;
    let mut existing = objects.iter_mut().filter(|object| !object.is_tombstone());
    if let Some(object) = existing.find(|object| is_same(&id, &object.id)) {
        let result = merge_object_addition(object, &contribution.node, sources);
        object.history.record(&object.root, || cause(contribution));
        return result.map_err(|error| error.object(&object.id));
    }
    // Without `in`, the contribution is for the object of the manifest, whichever cluster it lives in.
    let mut manifests = component.view().payload.of_component(component.name);
    if !contribution.is_limited_to_profiles && manifests.any(|(_, manifest)| is_same(&id, &manifest.id)) {
        return Ok(());
    }
    if let Some(object) = new_object::create(id, contribution, component, objects)? {
        let position = PayloadPosition { sequence, ..object.position };
        objects.push(Object { position, ..object });
    }
    Ok(())
}

/// Compares the identity in a contribution with that of an object. A contribution may leave out the namespace.
fn is_same(contribution: &ObjectId, object: &ObjectId) -> bool {
    object.group == contribution.group
        && object.kind == contribution.kind
        && object.name == contribution.name
        && (contribution.namespace.is_empty() || object.namespace == contribution.namespace)
}
