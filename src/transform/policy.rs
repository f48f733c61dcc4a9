//! What a profile says about every pod, container, workload or kind: add, then default, then set.

use std::collections::BTreeMap;

use super::add;
use super::patch;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{PodContext, Variables, View, Workload};
use crate::language::template::substitute;
use crate::language::{Marked, PolicyRule, PolicyTarget, unmet};
use crate::object::{
    Cause, Object, containers as containers_in_order, containers_mut, has_pods, is_workload, pod, pod_mut,
    pod_path,
};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

/// What `set` entries have set so far in one object: by field, the value and the line.
type Set = BTreeMap<String, (Node, Mark)>;

/// The three layers, in the order in which they act.
#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Add,
    Default,
    Set,
}

/// Applies what the profile says about every pod, container, workload or kind to an object.
pub(super) fn apply(
    object: &mut Object,
    view: &View<'_>,
    component: &str,
    around: &PodContext,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut set = Set::new();
    for layer in [Layer::Add, Layer::Default, Layer::Set] {
        // Each layer sees what the one before it made.
        let workload = Workload { id: object.id.clone(), root: object.root.clone() };
        let scope = Variables {
            workload: Some(workload),
            pod_context: Some(around),
            ..Variables::of(view, component)
        };
        for entry in &view.profile.policy {
            match entry_to(object, entry, layer, &scope, &mut set) {
                Ok(true) => object.history.note(&object.root, || Cause::Policy(entry.mark)),
                Ok(false) => {}
                Err(error) => errors.0.push(error.object(&object.id)),
            }
        }
    }
    errors.or(())
}

/// Applies an entry to an object, if it belongs to the layer and concerns the object. Returns whether it did.
fn entry_to(
    object: &mut Object,
    entry: &Marked<PolicyRule>,
    layer: Layer,
    scope: &Variables<'_>,
    set: &mut Set,
) -> Result<bool, Diagnostic> {
    let body = match layer {
        Layer::Add => &entry.value.add,
        Layer::Default => &entry.value.default,
        Layer::Set => &entry.value.set,
    };
    let (Some(body), true) = (body, concerns(&entry.value.target, object)) else { return Ok(false) };
    let kind = object.id.kind.clone();
    match entry.value.target {
        PolicyTarget::Kind(_) | PolicyTarget::Workload => {
            one(&mut object.root, "", entry, body, layer, scope, set)
        }
        PolicyTarget::Pod => match pod_mut(&mut object.root, &kind) {
            Some(pod) => one(pod, &pod_path(&kind), entry, body, layer, scope, set),
            None => Ok(false),
        },
        PolicyTarget::Container => {
            // As the layer found them: entries of one layer do not see each other.
            let before = scope.workload.as_ref().and_then(|workload| pod(&workload.root, &kind));
            let before = before.map(containers_in_order).unwrap_or_default();
            let containers = pod_mut(&mut object.root, &kind).map(containers_mut).unwrap_or_default();
            let mut any = false;
            for (index, container) in containers.into_iter().enumerate() {
                let seen = before.get(index).map_or_else(|| container.clone(), |before| (*before).clone());
                let scope = Variables { container: Some(seen), ..scope.clone() };
                any |= one(
                    container,
                    &format!("{}/spec/containers/{index}", pod_path(&kind)),
                    entry,
                    body,
                    layer,
                    &scope,
                    set,
                )?;
            }
            Ok(any)
        }
    }
}

/// Applies the body of an entry to one target, if its conditions hold there.
fn one(
    target: &mut Node,
    at: &str,
    entry: &Marked<PolicyRule>,
    body: &Node,
    layer: Layer,
    scope: &Variables<'_>,
    set: &mut Set,
) -> Result<bool, Diagnostic> {
    let sources = scope.view.context.sources;
    if unmet(&entry.value.when, scope, sources)?.is_some() {
        return Ok(false);
    }
    let body = match layer {
        Layer::Set => substitute_keeping_null(body, scope, sources)?,
        Layer::Add | Layer::Default => substitute(body, scope, sources)?,
    };
    let Some(body) = body else { return Ok(false) };
    match layer {
        Layer::Add if entry.value.target == PolicyTarget::Pod => add::add_pod(target, &body, sources)?,
        Layer::Add => add::add(target, &body, sources)?,
        Layer::Default => default(target, &body),
        Layer::Set => {
            agree(&body, at, set, sources)?;
            if let Some(body) = without_idle_nulls(&body, Some(target)) {
                patch::merge(target, &body);
            }
        }
    }
    Ok(true)
}

fn concerns(of: &PolicyTarget, object: &Object) -> bool {
    match of {
        PolicyTarget::Kind(kind) => *kind == object.id.kind,
        PolicyTarget::Workload => is_workload(&object.id.kind),
        PolicyTarget::Pod | PolicyTarget::Container => has_pods(&object.id.kind),
    }
}

/// Absent values in a `set` remove their field, as null does.
fn substitute_keeping_null(
    body: &Node,
    scope: &Variables<'_>,
    sources: &Sources,
) -> Result<Option<Node>, Diagnostic> {
    if let Value::Map(map) = &body.value {
        let mut out = body.clone();
        if let Value::Map(new) = &mut out.value {
            for entry in map {
                let value = substitute_keeping_null(&entry.value, scope, sources)?;
                let null = Node { value: Value::Null, mark: entry.value.mark };
                new.insert(Entry { value: value.unwrap_or(null), ..entry.clone() });
            }
        }
        return Ok(Some(out));
    }
    substitute(body, scope, sources)
}

/// What is left of a body when the nulls that have nothing to remove are gone: they would leave empty maps behind.
fn without_idle_nulls(body: &Node, target: Option<&Node>) -> Option<Node> {
    let Value::Map(map) = &body.value else {
        return (body.value != Value::Null || target.is_some()).then(|| body.clone());
    };
    let below = |key: &str| target.and_then(|target| target.get(key));
    let entries: Vec<Entry> = map
        .iter()
        .filter_map(|entry| {
            let value = without_idle_nulls(&entry.value, below(&entry.key))?;
            Some(Entry { value, ..entry.clone() })
        })
        .collect();
    let idle = entries.is_empty() && !map.is_empty();
    (!idle).then(|| Node { value: Value::Map(Map::from_entries(entries, |_, _| {})), mark: body.mark })
}

/// Fills in what is not there, map by map; a list counts as one value.
fn default(target: &mut Node, body: &Node) {
    let (Value::Map(map), Value::Map(defaults)) = (&mut target.value, &body.value) else { return };
    for entry in defaults.iter().filter(|entry| entry.value.value != Value::Null) {
        match map.get_mut(&entry.key) {
            Some(current) if current.value == Value::Null => *current = entry.value.clone(),
            Some(current) => default(current, &entry.value),
            None => map.insert(entry.clone()),
        }
    }
}

/// Two entries that set one field differently would make their order matter, and so would one that sets a whole and
/// another that sets a part of it.
fn agree(body: &Node, at: &str, set: &mut Set, sources: &Sources) -> Result<(), Diagnostic> {
    if let Value::Map(map) = &body.value
        && !map.is_empty()
    {
        return map.iter().try_for_each(|entry| {
            let key = entry.key.replace('~', "~0").replace('/', "~1");
            agree(&entry.value, &format!("{at}/{key}"), set, sources)
        });
    }
    let below = format!("{at}/");
    let whole = at.match_indices('/').map(|(end, _)| &at[..end]).find_map(|above| set.get(above));
    let part = set.range(below.clone()..).next().filter(|(path, _)| path.starts_with(&below));
    let same = set.get(at).filter(|(other, _)| other != body);
    let other = whole.or(part.map(|(_, other)| other)).or(same).map(|(_, mark)| *mark);
    if let Some(mark) = other {
        return Err(Diagnostic::error(format!("two `policy` entries set `{at}` differently"))
            .at(Location::of(body.mark, sources))
            .note(format!("the other is at {}", sources.show(mark)))
            .help("limit one of them with `when`, or say it once"));
    }
    set.insert(at.to_owned(), (body.clone(), body.mark));
    Ok(())
}
