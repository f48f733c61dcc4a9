//! Objects that left a cluster, and fields that are held in those that stay.

use super::{in_place_of, patch};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Variables, View};
use crate::language::unmet;
use crate::nearest::nearest;
use crate::object::{Cause, DELETE, History, Object};
use crate::payload::Manifest;
use crate::select::Selection;
use crate::yaml::{Entry, Map, Mark, Node, Value};

/// A tombstone for every object of a component that lives in the topology's other cluster now and was here before.
pub(super) fn tombstones(
    view: &View<'_>,
    component: &str,
    selection: &Selection,
) -> Result<Vec<Object>, Diagnostic> {
    let Some(page) = view.payload.page(component) else { return Ok(Vec::new()) };
    let names = Variables::of(view, component);
    let mut tombstones = Vec::new();
    for (selector, omission) in &page.moved.0 {
        if !view.profile.is_in(&omission.profiles)
            || unmet(&omission.when, &names, view.context.sources)?.is_some()
        {
            continue;
        }
        let manifests = view.payload.of_component(component);
        let left = manifests.filter(|(place, manifest)| {
            selection.elsewhere.contains(place) && selector.value.matches(&manifest.id)
        });
        tombstones.extend(left.map(|(place, manifest)| tombstone(place, manifest, selector.mark, view)));
    }
    Ok(tombstones)
}

fn tombstone(place: usize, manifest: &Manifest, mark: Mark, view: &View<'_>) -> Object {
    let text = |text: &str| Node { value: Value::String(text.into()), mark };
    let map = |entries: Vec<(&str, Node)>| {
        let entry = |(key, value): (&str, Node)| Entry { key: key.into(), mark, value };
        let entries = entries.into_iter().map(entry).collect();
        Node { value: Value::Map(Map::from_entries(entries, |_, _| {})), mark }
    };
    let api_version = manifest.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let mut metadata =
        vec![("name", text(&manifest.id.name)), ("annotations", map(vec![(DELETE, text("true"))]))];
    if !manifest.id.namespace.is_empty() {
        metadata.push(("namespace", text(&manifest.id.namespace)));
    }
    let kind = text(&manifest.id.kind);
    let root = map(vec![("apiVersion", text(api_version)), ("kind", kind), ("metadata", map(metadata))]);
    let mut history = History::new(view.context.recording);
    history.note(&root, || Cause::Left(mark));
    in_place_of(place, manifest, root, history, view)
}

/// Writes the fields that a profile holds into their objects. A pin for an object that nobody has is a mistake.
pub(super) fn pin(objects: &mut [Object], view: &View<'_>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for (selector, fields) in &view.profile.pins.0 {
        let Some(object) = objects.iter_mut().find(|object| selector.value.matches(&object.id)) else {
            // Left out for a reason, or in the other cluster: then there is nothing to hold.
            if view.payload.manifests.iter().any(|manifest| selector.value.matches(&manifest.id)) {
                continue;
            }
            let known: Vec<String> =
                objects.iter().map(|object| format!("{}/{}", object.id.kind, object.id.name)).collect();
            let error = Diagnostic::error(format!("there is no `{}` to hold fields in", selector.value))
                .at(Location::of(selector.mark, view.context.sources));
            errors.0.push(match nearest(&selector.value.to_string(), known.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("remove the entry"),
            });
            continue;
        };
        patch::merge(&mut object.root, fields);
        object.history.note(&object.root, || Cause::Pinned(selector.mark));
    }
    errors.or(())
}
