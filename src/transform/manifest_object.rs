//! Objects that come from manifests of the payload.

use super::images::ImageReplacements;
use crate::diagnostic::Diagnostics;
use crate::expand::View;
use crate::object::{Cause, History, Object, PayloadPosition, RelativePosition};
use crate::yaml::Node;

/// Returns a manifest as an object with the release's images.
pub(super) fn from_manifest(
    index: usize,
    view: &View<'_>,
    images: &ImageReplacements,
) -> Result<Object, Diagnostics> {
    let manifest = &view.payload.manifests[index];
    let mut history = History::new(view.context.recording);
    let mut root = manifest.object();
    history.record(&root, || Cause::Manifest);
    images.replace(&mut root, &view.payload.file(manifest).path, view.context.sources)?;
    history.record(&root, || Cause::Release);
    Ok(Object { manifest: Some(index), ..at_manifest_position(index, root, history, view) })
}

/// Returns an object with the identity, the file and the position of a manifest.
pub(super) fn at_manifest_position(index: usize, root: Node, history: History, view: &View<'_>) -> Object {
    let manifest = &view.payload.manifests[index];
    let file = view.payload.file(manifest);
    Object {
        root,
        id: manifest.id.clone(),
        cluster: view.profile.cluster,
        component: file.component.clone(),
        file: file.path.clone(),
        ordered_as: file.ordered_as.clone(),
        position: PayloadPosition {
            manifest: index,
            relative_position: RelativePosition::Manifest,
            sequence: 0,
        },
        document: manifest.document,
        manifest: None,
        added_init_containers: 0,
        kept: false,
        issued: None,
        config_hash: None,
        history,
    }
}
