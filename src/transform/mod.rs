//! What a profile does to the manifests it takes in.

mod images;
mod namespace;
pub mod patch;

use crate::diagnostic::Diagnostics;
use crate::object::Object;
use crate::parallel;
use crate::payload::{Manifest, Payload};
use crate::profile::Profile;
use crate::select::Reason;

/// Makes objects of the manifests that are in: images filled in from the release, then moved to the profile's
/// namespace where it has one.
pub fn all(payload: &Payload, profile: &Profile, out: &[Option<Reason>]) -> Result<Vec<Object>, Diagnostics> {
    let catalogues = images::Catalogues::of(payload)?;
    let included: Vec<&Manifest> = payload
        .manifests
        .iter()
        .zip(out)
        .filter(|(_, out)| out.is_none())
        .map(|(manifest, _)| manifest)
        .collect();
    let mut objects = parallel::map(&included, |manifest| {
        let file = payload.file(manifest);
        let mut root = manifest.root.clone();
        catalogues.fill_in(&mut root, &file.path);
        Object {
            root,
            id: manifest.id.clone(),
            cluster: profile.cluster,
            component: file.component.clone(),
            file: file.path.clone(),
            document: manifest.document,
        }
    });
    if let Some(namespace) = &profile.namespace {
        namespace::move_to(namespace, &mut objects, payload)?;
    }
    Ok(objects)
}
