//! Merges what pages and fragments contribute into the objects of a component. They only add, so their order decides
//! positions in lists and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::add;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Contribution, ContributionTarget, Expanded, View};
use crate::nearest::nearest;
use crate::object::{
    Cause, Cluster, History, Object, ObjectId, Position, Scope, Scopes, Side, containers, is_tombstone, pod,
    pod_mut,
};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

/// Contributions by the component that gets them: an object is merged where its manifest is, whoever speaks of it.
pub(super) fn by_owner<'c>(
    contributions: impl Iterator<Item = (&'c str, Contribution)>,
    view: &View<'_>,
) -> BTreeMap<String, Vec<Contribution>> {
    let manifests = view.payload.manifests.iter();
    let mut owners: HashMap<&ObjectId, Vec<&str>> = HashMap::new();
    for manifest in manifests {
        owners.entry(&manifest.id).or_default().push(&view.payload.file(manifest).component);
    }
    let mut by_owner: BTreeMap<String, Vec<Contribution>> = BTreeMap::new();
    for (component, contribution) in contributions {
        let id = match contribution.target {
            ContributionTarget::Object => ObjectId::of(&contribution.node).ok().map(|(id, _)| id),
            ContributionTarget::Pod(_) | ContributionTarget::Workload(_) => None,
        };
        let owners = id.and_then(|id| owners.get(&id)).filter(|owners| !owners.contains(&component));
        let owner = owners.and_then(|owners| owners.first()).copied().unwrap_or(component);
        by_owner.entry(owner.to_owned()).or_default().push(contribution);
    }
    by_owner
}

/// Adds contributions to a component's objects.
pub(super) fn apply(
    objects: &mut Vec<Object>,
    contributions: &[Contribution],
    component: &str,
    expanded: &Expanded<'_>,
    scopes: &Scopes,
) -> Result<(), Diagnostics> {
    let view = &expanded.view;
    let mut errors = Diagnostics::default();
    let before = container_names(objects);
    let mut contributor = Contributor { view, component, expanded, scopes, objects };
    let used = |contribution: &Contribution, error: Diagnostic| {
        let notes =
            contribution.uses.iter().map(|mark| format!("used at {}", view.context.sources.show(*mark)));
        notes.rev().fold(error, Diagnostic::note)
    };
    let idle = idle_uses(contributions, contributor.objects);
    for contribution in &in_order(contributions) {
        if contribution.target == ContributionTarget::Object && idle.contains(&&contribution.uses) {
            continue;
        }
        errors.collect(contributor.one(contribution).map_err(|error| used(contribution, error)));
    }
    errors.or(())?;
    let mut errors = Diagnostics::default();
    for contribution in contributions {
        let nobody = unknown_containers(objects, contribution, &before, view.context.sources);
        errors.0.extend(nobody.into_iter().map(|error| used(contribution, error)));
    }
    errors.or(())
}

/// Uses of fragments whose part for the pods of this cluster is about a workload that is not here: what else they bring
/// into this cluster nobody needs.
fn idle_uses<'c>(contributions: &'c [Contribution], objects: &[Object]) -> BTreeSet<&'c Vec<Mark>> {
    let is_here = |workload: &ObjectId| objects.iter().any(|object| object.id == *workload);
    let idle = |contribution: &&Contribution| match &contribution.target {
        ContributionTarget::Pod(workload) | ContributionTarget::Workload(workload) => {
            contribution.limited && !contribution.uses.is_empty() && !is_here(workload)
        }
        ContributionTarget::Object => false,
    };
    contributions.iter().filter(idle).map(|contribution| &contribution.uses).collect()
}

/// The containers that there are: the workload's place and the container's name.
type Containers = BTreeSet<(Position, String)>;

fn name_of(container: &Node) -> &str {
    container.get("name").and_then(Node::as_str).unwrap_or_default()
}

fn container_names(objects: &[Object]) -> Containers {
    let of_object = |object: &Object| {
        let containers = pod(&object.root, &object.id.kind).map(containers).unwrap_or_default();
        let position = object.position;
        containers
            .into_iter()
            .map(move |container| (position, name_of(container).to_owned()))
            .collect::<Vec<_>>()
    };
    objects.iter().flat_map(of_object).collect()
}

/// The containers that a contribution adds to though nobody has them: without an image, nothing could run there.
fn unknown_containers(
    objects: &[Object],
    contribution: &Contribution,
    before: &Containers,
    sources: &Sources,
) -> Vec<Diagnostic> {
    let ContributionTarget::Pod(workload) = &contribution.target else { return Vec::new() };
    let Some(object) = objects.iter().find(|object| object.id == *workload) else { return Vec::new() };
    let all = pod(&object.root, &workload.kind).map(containers).unwrap_or_default();
    let is_nobody = |name: &str| {
        let known = before.contains(&(object.position, name.to_owned()));
        let runs = |container: &&Node| name_of(container) == name && container.get("image").is_some();
        !known && !all.iter().any(runs)
    };
    let added = containers(&contribution.node).into_iter().filter(|container| is_nobody(name_of(container)));
    let others = || all.iter().map(|container| name_of(container)).filter(|name| !is_nobody(name));
    added
        .map(|container| {
            let name = name_of(container);
            let error = Diagnostic::error(format!("there is no container `{name}` to add to"))
                .at(Location::of(container.get("name").unwrap_or(container).mark, sources))
                .object(workload);
            match nearest(name, others()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!(
                    "there are {}; a new one needs an `image`",
                    others().collect::<Vec<_>>().join(", ")
                )),
            }
        })
        .collect()
}

/// Contributions in an order in which none hides what another needs: init containers first, since an entry of `containers`
/// may be about one; then whole names before those that leave the namespace out.
fn in_order(contributions: &[Contribution]) -> Vec<Contribution> {
    let mut ordered: Vec<Contribution> = contributions.iter().filter_map(init_containers).collect();
    let (rest, unnamed): (Vec<Contribution>, Vec<Contribution>) =
        contributions.iter().cloned().map(without_init_containers).partition(|contribution| {
            let namespace = contribution.node.get("metadata").and_then(|metadata| metadata.get("namespace"));
            contribution.target != ContributionTarget::Object || namespace.is_some()
        });
    ordered.extend(rest);
    ordered.extend(unnamed);
    ordered
}

/// The init containers that a contribution brings, alone.
fn init_containers(contribution: &Contribution) -> Option<Contribution> {
    let list = contribution.node.get("spec")?.as_map()?.entry("initContainers")?.clone();
    if !matches!(contribution.target, ContributionTarget::Pod(_)) {
        return None;
    }
    let mark = contribution.node.mark;
    let map = |entry: Entry| Node { value: Value::Map(Map::from_entries(vec![entry], |_, _| {})), mark };
    let node = map(Entry { key: "spec".into(), mark, value: map(list) });
    Some(Contribution { node, ..contribution.clone() })
}

fn without_init_containers(mut contribution: Contribution) -> Contribution {
    if let (ContributionTarget::Pod(_), Some(Value::Map(spec))) =
        (&contribution.target, contribution.node.get_mut("spec").map(|spec| &mut spec.value))
    {
        spec.remove("initContainers");
    }
    contribution
}

struct Contributor<'a, 'o> {
    view: &'a View<'a>,
    component: &'a str,
    expanded: &'a Expanded<'a>,
    scopes: &'a Scopes,
    objects: &'o mut Vec<Object>,
}

impl Contributor<'_, '_> {
    fn one(&mut self, contribution: &Contribution) -> Result<(), Diagnostic> {
        match &contribution.target {
            ContributionTarget::Pod(workload) | ContributionTarget::Workload(workload) => {
                self.add_to_workload(workload, contribution)
            }
            ContributionTarget::Object => self.object(contribution),
        }
    }

    /// A workload that lives elsewhere gets its part there.
    fn add_to_workload(
        &mut self,
        workload: &ObjectId,
        contribution: &Contribution,
    ) -> Result<(), Diagnostic> {
        let mut objects = self.objects.iter_mut().filter(|object| !is_tombstone(&object.root));
        let Some(object) = objects.find(|object| object.id == *workload) else {
            return Ok(());
        };
        let sources = self.view.context.sources;
        let result = match contribution.target {
            ContributionTarget::Pod(_) => pod_mut(&mut object.root, &workload.kind)
                .map_or(Ok(()), |pod| add::add_pod(pod, &contribution.node, sources)),
            _ => add::add(&mut object.root, &contribution.node, sources),
        };
        object.history.note(&object.root, || cause(contribution));
        result.map_err(|error| error.object(workload))
    }

    /// An object, whole or in part: merged into the one of its identity, or new.
    fn object(&mut self, contribution: &Contribution) -> Result<(), Diagnostic> {
        let sources = self.view.context.sources;
        let (mut id, _) = ObjectId::of(&contribution.node).map_err(|error| {
            Diagnostic::error(error.message).at(Location::of(error.mark, sources)).help(error.help)
        })?;
        let same = |other: &ObjectId| {
            other.group == id.group
                && other.kind == id.kind
                && other.name == id.name
                && (id.namespace.is_empty() || other.namespace == id.namespace)
        };
        let mut objects = self.objects.iter_mut().filter(|object| !is_tombstone(&object.root));
        if let Some(object) = objects.find(|object| same(&object.id)) {
            let result = add::add(&mut object.root, &contribution.node, sources);
            object.history.note(&object.root, || cause(contribution));
            return result.map_err(|error| error.object(&object.id));
        }
        // A part that does not say where it belongs adds to its namesake, wherever that lives.
        let elsewhere =
            self.view.payload.of_component(self.component).any(|(_, manifest)| same(&manifest.id));
        let namespaced = self.scopes.of(&id.group, &id.kind) != Some(Scope::Cluster);
        if elsewhere && !contribution.limited || !self.is_here(&id, contribution, namespaced)? {
            return Ok(());
        }
        let mut root = contribution.node.clone();
        if namespaced && id.namespace.is_empty() {
            let Some(workload) = &contribution.workload else {
                return Err(Diagnostic::error("nobody says in which namespace this new object lives")
                    .at(Location::of(root.mark, sources))
                    .object(&id)
                    .help("write `metadata.namespace`, by its name in the payload"));
            };
            id.namespace.clone_from(&workload.namespace);
            set_namespace(&mut root, &id.namespace);
        }
        self.insert(root, id, contribution);
        Ok(())
    }

    /// Whether a new object belongs into this profile's cluster: its part says so, the law does, the page or a schema.
    fn is_here(
        &self,
        id: &ObjectId,
        contribution: &Contribution,
        namespaced: bool,
    ) -> Result<bool, Diagnostic> {
        let cluster = self.view.profile.cluster;
        if !namespaced && cluster == Cluster::Management && contribution.limited {
            return Err(Diagnostic::error(
                "a cluster-scoped object cannot be in a hosted control plane's namespace",
            )
            .at(Location::of(contribution.part, self.view.context.sources))
            .object(id)
            .help("limit its part to profiles of the guest"));
        }
        if cluster == Cluster::Both || contribution.limited {
            return Ok(true);
        }
        if !namespaced {
            return Ok(cluster == Cluster::Guest);
        }
        match self.expanded.place_of(self.component, id)[..] {
            [(_, home)] => Ok(home == Cluster::Both || home == cluster),
            _ => Err(Diagnostic::error("nobody says in which cluster this new object lives")
                .at(Location::of(contribution.part, self.view.context.sources))
                .object(id)
                .help("limit its part with `in`, or name it under `place` in the page")),
        }
    }

    /// A new object comes right before the workload it is for, or behind everything else of its component.
    fn insert(&mut self, root: Node, id: ObjectId, contribution: &Contribution) {
        let payload = &self.view.payload;
        let neighbour = payload.of_component(self.component).find(|(_, manifest)| {
            Some(&manifest.id) == contribution.workload.as_ref().or(contribution.meets.as_ref())
        });
        let last = self.objects.iter().map(|object| object.position.manifest).max();
        let last = last.or(payload.of_component(self.component).last().map(|(place, _)| place));
        let (manifest, side) = match neighbour {
            Some((place, _)) => (place, Side::Before),
            None => (last.unwrap_or_default(), Side::Behind),
        };
        let neighbour = payload.file(&payload.manifests[manifest]);
        let mut history = History::new(self.view.context.recording);
        history.note(&root, || cause(contribution));
        self.objects.push(Object {
            root,
            id,
            cluster: self.view.profile.cluster,
            component: self.component.to_owned(),
            file: neighbour.path.clone(),
            ordered_as: neighbour.ordered_as.clone(),
            position: Position { manifest, side, number: self.objects.len() },
            document: 0,
            manifest: None,
            history,
        });
    }
}

fn cause(contribution: &Contribution) -> Cause {
    Cause::Addition { part: contribution.part, uses: contribution.uses.clone() }
}

fn set_namespace(root: &mut Node, namespace: &str) {
    let mark = root.mark;
    if let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) {
        let value = Node { value: Value::String(namespace.into()), mark };
        metadata.insert(Entry { key: "namespace".into(), mark, value });
    }
}
