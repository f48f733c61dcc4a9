//! Messages about objects that are missing because a profile excludes their manifests.

use super::{Exclusion, Selection};
use crate::payload::{Manifest, Payload};
use crate::yaml::Sources;

impl Selection {
    /// Returns the manifests that the profile excludes, with the reasons. Does not return manifests whose objects are
    /// in the other cluster of the topology.
    pub(crate) fn excluded<'s>(
        &'s self,
        payload: &'s Payload,
    ) -> impl Iterator<Item = (&'s Manifest, &'s Exclusion)> {
        let decided = payload.manifests.iter().zip(&self.exclusions).enumerate();
        decided.filter_map(|(index, (manifest, exclusion))| {
            let exclusion = exclusion.as_ref().filter(|_| !self.in_other_cluster.contains(&index))?;
            Some((manifest, exclusion))
        })
    }
}

/// Returns a note about an excluded manifest whose object would match, with the reason for the exclusion.
pub(crate) fn would_match(manifest: &Manifest, exclusion: &Exclusion, sources: &Sources) -> String {
    let place = sources.show(manifest.root.mark);
    let reason = &exclusion.message;
    format!(
        "{}/{} at {place} would match, but the profile excludes it: {reason}",
        manifest.id.kind, manifest.id.name
    )
}
