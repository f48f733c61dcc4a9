//! The files of a release that the cluster-version-operator (CVO) of a hosted cluster must leave out, because transship applies
//! their objects.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::object::Annotations;
use crate::payload::{Manifest, Payload};
use crate::select::{ExclusionFilter, Selected};

/// The annotation of the manifests that a CVO applies. Manifests without it are those of operators.
const INCLUDE: &str = "include.release.openshift.io/";

/// Where HyperShift's CVO pod keeps its copy of the release. Its init container removes files there.
const RELEASE_MANIFESTS: &str = "/var/payload/release-manifests";

/// The files to leave out, by name.
pub(crate) struct CvoOmit<'p>(BTreeMap<&'p str, Vec<&'p Manifest>>);

impl<'p> CvoOmit<'p> {
    /// Finds the files with an object that one of the profiles applies, or whose component is switched off: if an operator does
    /// not run, its ClusterOperator must not exist either. All profiles are those of one topology.
    pub(crate) fn of(payload: &'p Payload, profiles: &[Selected<'_>]) -> Self {
        let mut files: BTreeMap<&str, (bool, Vec<&Manifest>)> = BTreeMap::new();
        for (index, manifest) in payload.manifests.iter().enumerate().filter(|(_, it)| is_of_release(it)) {
            let path = payload.file(manifest).path.as_str();
            let name = path.rsplit('/').next().unwrap_or(path);
            let (is_ours, others) = files.entry(name).or_default();
            match decision(index, profiles) {
                Decision::Applied | Decision::SwitchedOff => *is_ours = true,
                Decision::Omitted => others.push(manifest),
                Decision::Excluded => {}
            }
        }
        let ours = files.into_iter().filter(|(_, (is_ours, _))| *is_ours);
        Self(ours.map(|(name, (_, others))| (name, others)).collect())
    }

    /// Returns the commands that remove the files, one per line, as the init container of HyperShift's CVO pod runs them.
    pub(crate) fn commands(&self) -> String {
        let mut commands = String::new();
        for name in self.0.keys() {
            _ = writeln!(commands, "rm -f {RELEASE_MANIFESTS}/{name}");
        }
        commands
    }

    /// Returns the names of the files.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().copied().collect()
    }

    /// Describes the objects in these files that transship does not apply: nobody applies them if the CVO leaves the file out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, others) in &self.0 {
            for manifest in others {
                notes.push(format!("{name} also contains {}, which transship does not apply: without the file, nobody applies it", manifest.id));
            }
        }
        notes
    }
}

/// What the profiles of a topology do with a manifest.
enum Decision {
    /// At least one of them applies it.
    Applied,
    /// Its component does not exist, or an operator applies it.
    SwitchedOff,
    /// A page or a profile leaves it out.
    Omitted,
    /// The filters leave it out, as those of a CVO do.
    Excluded,
}

fn decision(index: usize, profiles: &[Selected<'_>]) -> Decision {
    let mut decision = Decision::Excluded;
    for selection in profiles.iter().map(|profile| &profile.selection) {
        let Some(exclusion) = &selection.exclusions[index] else { return Decision::Applied };
        if exclusion.filter != ExclusionFilter::Omitted || selection.in_other_cluster.contains(&index) {
            continue;
        }
        // A component that does not exist and an operator that owns its operands are the omissions without an entry.
        let has_entry = selection.decided_by[index].is_some();
        decision = if has_entry { Decision::Omitted } else { Decision::SwitchedOff };
    }
    decision
}

/// Returns whether a CVO applies a manifest: it has an annotation for a cluster profile that is not its page's.
fn is_of_release(manifest: &Manifest) -> bool {
    let mut profiles = Annotations::of(&manifest.root).with_prefix(INCLUDE);
    profiles.any(|(profile, _)| {
        let is_same = |key: &str| key.strip_prefix(INCLUDE) == Some(profile);
        !manifest.page_annotations.iter().any(|key| is_same(key.as_ref()))
    })
}
