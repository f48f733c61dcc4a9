//! The patches of pages, with values filled in.

use super::View;
use super::fragment_walk::{FragmentWalk, Pass};
use super::manifests::ManifestCollector;
use super::variables::Variables;
use crate::diagnostic::Diagnostic;
use crate::language::template::{names, substitute};
use crate::language::{Marked, Page, PatchEntry};
use crate::yaml::Node;

/// Returns the patches of an entry of a page, with the values, parameters and built-in names filled in that the page
/// knows. A patch that consists of one name without a value is left out.
pub(crate) fn patches(
    view: &View<'_>,
    component: &str,
    page: &Page,
    entry: &Marked<PatchEntry>,
) -> Result<Vec<Node>, Diagnostic> {
    let mut patches = Vec::new();
    let mut mentioned = Vec::new();
    for patch in view.payload.patches(component, page, entry)? {
        names(&patch, &mut mentioned);
        patches.push(patch);
    }
    let mut variables = Variables::of(view, component);
    if !mentioned.is_empty() {
        let walk = FragmentWalk::new(view, component, Pass::Manifests, ManifestCollector::default());
        walk.bind_values(&page.values, &mut variables)?;
    }
    let mut filled = Vec::new();
    for patch in &patches {
        filled.extend(substitute(patch, &variables, view.context.sources)?);
    }
    Ok(filled)
}
