//! Text in manifests that Kubernetes ignores.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::diagnostic::{IGNORED_TEXT, IGNORED_TEXT_HELP};
use crate::language::Check;

/// Checks that no text follows the document of a manifest. Kubernetes reads the document and ignores the text.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let manifests = &context.rendered.view.payload.manifests;
    let manifest = root.object.manifest.and_then(|index| manifests.get(index));
    if let Some(start) = manifest.and_then(|manifest| manifest.ignored_text) {
        report.add(
            Finding::new(Check::IgnoredText, root, IGNORED_TEXT)
                .at(start)
                .note("the document ends before it, so the cluster never gets it")
                .help(IGNORED_TEXT_HELP),
        );
    }
}
