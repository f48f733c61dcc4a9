//! Entries of Checks files that nothing uses.

use std::collections::BTreeSet;

use super::cluster_index::ExternalId;
use super::context::CheckContext;
use super::{Checked, Declaration, Finding};
use crate::language::Check;

/// Reports the externals that no reference of this cluster uses, and records the others as used.
pub(super) fn check_externals(
    context: &CheckContext<'_>,
    used: &BTreeSet<ExternalId>,
    checked: &mut Checked,
) {
    for (position, external) in context.here.externals().iter().enumerate() {
        if used.contains(&ExternalId(position)) {
            checked.used.insert(Declaration { mark: external.mark, profile: Some(checked.profile.clone()) });
            continue;
        }
        let message = format!("no object uses the external `{}`", external.pattern);
        let mut finding = Finding::in_file(Check::UnusedExternal, external.mark, message)
            .note(format!("its reason is: {}", external.reason))
            .help("remove it, or limit it to some profiles with `in`");
        finding.profiles.push(checked.profile.clone());
        checked.findings.push(finding);
    }
}

/// Reports the declared kinds that no manifest of the payload has, and records the others as used.
pub(super) fn check_kinds(context: &CheckContext<'_>, checked: &mut Checked) {
    let view = &context.rendered.view;
    for ((group, kind), declared) in &view.context.profiles.checks.kinds {
        let mut manifests = view.payload.manifests.iter();
        if manifests.any(|manifest| manifest.id.group == *group && manifest.id.kind == *kind) {
            checked.used.insert(Declaration { mark: declared.mark, profile: None });
            continue;
        }
        let message = format!("no manifest has the declared kind {kind}.{group}");
        checked.findings.push(
            Finding::in_file(Check::UnusedExternal, declared.mark, message)
                .note(format!("it is declared as served by: {}", declared.entry.served_by))
                .help("remove it"),
        );
    }
}
