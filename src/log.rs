//! Log events about a rendering. The pure modules do not log, so `lib.rs` logs their results.

use tracing::{Level, debug, enabled, info};

use crate::check::Checked;
use crate::language::Profiles;
use crate::payload::Payload;
use crate::select::Selected;
use crate::transform::Rendered;

/// Logs what was loaded.
pub(crate) fn loaded(payload: &Payload, profiles: &Profiles) {
    let Payload { files, manifests, pages, .. } = payload;
    let profiles = profiles.iter().count();
    info!(
        files = files.len(),
        manifests = manifests.len(),
        pages = pages.len(),
        profiles,
        "loaded the project"
    );
}

/// Logs how many manifests a profile includes and, at the level debug, the decision for each.
pub(crate) fn selected(selected: &Selected<'_>) {
    let profile = selected.profile().name.as_str();
    let decisions = &selected.selection.exclusions;
    let excluded = decisions.iter().flatten().count();
    info!(profile, included = decisions.len() - excluded, excluded, "selected manifests");
    if !enabled!(Level::DEBUG) {
        return;
    }
    let payload = selected.payload();
    for (manifest, reason) in payload.manifests.iter().zip(decisions) {
        let (object, file) = (&manifest.id, &payload.file(manifest).path);
        match reason {
            None => debug!(profile, %object, %file, "included"),
            Some(reason) => debug!(profile, %object, %file, %reason, "excluded"),
        }
    }
}

/// Logs how many objects a profile has.
pub(crate) fn rendered(rendered: &Rendered<'_>) {
    let Rendered { view, objects, warnings, .. } = rendered;
    info!(profile = view.profile.name, objects = objects.len(), warnings = warnings.len(), "rendered");
}

/// Logs how many findings the checks have.
pub(crate) fn checked(checked: &Checked) {
    info!(profile = checked.profile, findings = checked.findings.len(), "checked");
}
