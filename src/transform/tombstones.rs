//! Tombstones for objects that moved to another cluster of the topology.

use super::manifest_object::at_manifest_position;
use crate::diagnostic::Diagnostic;
use crate::expand::{Variables, View};
use crate::language::unmet;
use crate::object::{Cause, DELETE, History, Object, map, text};
use crate::payload::Manifest;
use crate::select::Selection;
use crate::yaml::{Mark, Node};

/// Returns a tombstone for each object that the page of a component lists under `moved`, if the object now lives in
/// another cluster of the topology.
pub(super) fn tombstones(
    view: &View<'_>,
    component: &str,
    selection: &Selection,
) -> Result<Vec<Object>, Diagnostic> {
    let Some(page) = view.payload.page(component) else { return Ok(Vec::new()) };
    let variables = Variables::of(view, component);
    let mut tombstones = Vec::new();
    for (selector, moved) in &page.moved.0 {
        if !view.profile.is_in(&moved.profiles)
            || unmet(&moved.when, &variables, view.context.sources)?.is_some()
        {
            continue;
        }
        for (index, manifest) in view.payload.of_component(component) {
            if selection.in_other_cluster.contains(&index) && selector.value.matches(&manifest.id) {
                let root = tombstone(manifest, selector.mark);
                let mut history = History::new(view.context.recording);
                history.record(&root, || Cause::Moved(selector.mark));
                tombstones.push(at_manifest_position(index, root, history, view));
            }
        }
    }
    Ok(tombstones)
}

fn tombstone(manifest: &Manifest, mark: Mark) -> Node {
    let api_version = manifest.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let mut metadata = vec![
        ("annotations", map([(DELETE, text("true", mark))], mark)),
        ("name", text(manifest.id.name.as_str(), mark)),
    ];
    if !manifest.id.namespace.is_empty() {
        metadata.push(("namespace", text(manifest.id.namespace.as_str(), mark)));
    }
    map(
        [
            ("apiVersion", text(api_version, mark)),
            ("kind", text(manifest.id.kind.as_str(), mark)),
            ("metadata", map(metadata, mark)),
        ],
        mark,
    )
}
