//! Applies the patches of pages, in the order in which they are written. A patch selects objects by their manifests,
//! before policy and earlier patches changed them.

use super::patch::{self, PatchError};
use super::patch_target::PatchSelector;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Variables, View};
use crate::language::{ItemPosition, Marked, Page, PatchEntry, unmet};
use crate::object::{Cause, Object, ObjectId, Schema};
use crate::yaml::Node;

/// Applies the patches of a component's page.
pub(super) fn apply(objects: &mut [Object], view: &View<'_>, component: &str) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for patcher in patchers(view, component) {
        let result = match patcher.is_active() {
            Ok(true) => patcher.apply(objects),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        errors.0.extend(result.err());
    }
    errors.into_result(())
}

/// Returns an object as the patches of its page will leave it, without changing it.
///
/// The policy for pods needs bindings and configuration in their final state, before patches are applied (see
/// `finish::pod_context`). Errors are ignored here: [`apply`] applies the same patches again and reports them.
pub(super) fn preview(object: &Object, view: &View<'_>, component: &str) -> Node {
    let mut copy = object.clone();
    for patcher in patchers(view, component) {
        if may_select(&patcher.entry.value, &copy.id) && matches!(patcher.is_active(), Ok(true)) {
            let _reported_by_apply = patcher.apply(std::slice::from_mut(&mut copy));
        }
    }
    copy.root
}

/// Returns false if a patch cannot select an object. This is a cheap test before its regular expressions are compiled.
fn may_select(entry: &PatchEntry, id: &ObjectId) -> bool {
    let Some(target) = &entry.target else { return true };
    let may_match = |wanted: &Option<Marked<String>>, found: &str| match wanted {
        Some(wanted) => wanted.value == found || !is_literal(&wanted.value),
        None => true,
    };
    may_match(&target.kind, &id.kind)
        && may_match(&target.name, &id.name)
        && may_match(&target.namespace, &id.namespace)
}

/// Returns whether a regular expression matches only itself.
fn is_literal(regex: &str) -> bool {
    regex.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the patches of a component's page for this profile.
fn patchers<'a>(view: &'a View<'a>, component: &'a str) -> Vec<Patcher<'a>> {
    let Some(page) = view.payload.page(component) else { return Vec::new() };
    let entries = page.patches.iter().filter(|entry| view.profile.is_in(&entry.value.profiles));
    entries.map(|entry| Patcher { view, component, page, entry }).collect()
}

/// Applies one entry of `patches`.
struct Patcher<'a> {
    view: &'a View<'a>,
    component: &'a str,
    page: &'a Page,
    entry: &'a Marked<PatchEntry>,
}

impl Patcher<'_> {
    /// Returns whether the conditions in `when` are met.
    fn is_active(&self) -> Result<bool, Diagnostic> {
        let variables = Variables::of(self.view, self.component);
        Ok(unmet(&self.entry.value.when, &variables, self.view.context.sources)?.is_none())
    }

    fn apply(&self, objects: &mut [Object]) -> Result<(), Diagnostic> {
        let patches = self.view.payload.patches(self.component, self.page, self.entry)?;
        self.check_patches(&patches)?;
        for patch in &patches {
            let selector = PatchSelector::of(&self.entry.value, patch, self.view.context.sources)?;
            let (mut selected, mut changed) = (false, false);
            for object in objects.iter_mut().filter(|object| !object.is_tombstone()) {
                if self.selects(&selector, object) {
                    selected = true;
                    changed |= self.apply_to(object, patch)?;
                }
            }
            if self.entry.value.optional {
                continue;
            }
            if !selected {
                return Err(self.selects_nothing(objects, &selector));
            }
            if !changed {
                return Err(self
                    .error("the patch changes nothing")
                    .note("the object already has these values")
                    .help("remove it, or write `optional: true` if it may have no effect"));
            }
        }
        Ok(())
    }

    /// Refuses patches that are wrong for every object.
    fn check_patches(&self, patches: &[Node]) -> Result<(), Diagnostic> {
        if patches.is_empty() && !self.entry.value.optional {
            return Err(self.error("the patch is empty").help("remove it, or write what it changes"));
        }
        if self.entry.value.position.is_some() && patches.iter().any(|patch| patch.as_list().is_some()) {
            return Err(self
                .error("`position` has no effect on a JSON patch")
                .help("remove `position`; it is for strategic merge patches"));
        }
        for patch in patches {
            if patch.get("$patch").and_then(Node::as_str) == Some("delete") {
                return Err(Diagnostic::error("a patch cannot remove a whole object")
                    .at(Location::of(patch.mark, self.view.context.sources))
                    .help("exclude the object with `omit`, which takes a reason that `list` shows"));
            }
        }
        Ok(())
    }

    /// Returns whether a patch selects an object: by its manifest, or by the object itself if an addition created it.
    fn selects(&self, selector: &PatchSelector, object: &Object) -> bool {
        if let Some(manifest) = object.manifest.map(|index| &self.view.payload.manifests[index]) {
            return selector.matches(&manifest.root, &manifest.id, &manifest.version);
        }
        let api_version = api_version(&object.root);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        selector.matches(&object.root, &object.id, version)
    }

    /// Applies the patch to an object. Returns whether the object changed.
    fn apply_to(&self, object: &mut Object, patch: &Node) -> Result<bool, Diagnostic> {
        let before = object.root.clone();
        self.patch(object, patch).map_err(|error| self.failed(error, object))?;
        object.history.record(&object.root, || Cause::Patch(self.entry.mark));
        // A patch may rename an object.
        let (id, _) =
            ObjectId::of(&object.root).map_err(|error| self.error(&error.message).object(&object.id))?;
        object.id = id;
        Ok(before != object.root)
    }

    fn patch(&self, object: &mut Object, patch: &Node) -> Result<(), PatchError> {
        if patch.as_list().is_some() {
            return patch::apply_operations(&mut object.root, &patch::operations(patch)?);
        }
        let schema = self.view.schema(&object.id, api_version(&object.root)).unwrap_or(Schema::Unknown);
        patch::refuse_emptied_lists(patch, schema)?;
        let position = self.entry.value.position.unwrap_or(ItemPosition::First);
        patch::strategic(&mut object.root, patch, schema, position).map(drop)
    }

    fn failed(&self, error: PatchError, object: &Object) -> Diagnostic {
        let sources = self.view.context.sources;
        let diagnostic =
            Diagnostic::error(error.message).at(Location::of(error.mark, sources)).object(&object.id).note(
                format!("applied by {}, because {}", sources.show(self.entry.mark), self.entry.value.reason),
            );
        Diagnostic { help: error.help, ..diagnostic }
    }

    fn selects_nothing(&self, objects: &[Object], selector: &PatchSelector) -> Diagnostic {
        let known: Vec<String> = objects.iter().map(|object| object.id.kind_and_name()).collect();
        self.error(&format!("the patch matches no object of `{}`", self.component))
            .help("check its target, or write `optional: true` if it may match nothing")
            .suggest(selector.kind_and_name(), known.iter().map(String::as_str))
    }

    fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(self.entry.mark, self.view.context.sources))
    }
}

fn api_version(root: &Node) -> &str {
    root.get("apiVersion").and_then(Node::as_str).unwrap_or_default()
}
