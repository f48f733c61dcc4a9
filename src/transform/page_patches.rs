//! The patches of pages: applied last, in the order in which they are written, each to the objects it means as they
//! were loaded.

use super::patch::{self, PatchError, Position};
use super::target;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Variables, View};
use crate::language::{Component, ItemPosition, Marked, PatchEntry, unmet};
use crate::nearest::nearest;
use crate::object::{Cause, Object, ObjectId, Schema, is_tombstone};
use crate::yaml::Node;

/// Applies the patches of a component's page.
pub(super) fn apply(objects: &mut [Object], view: &View<'_>, component: &str) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let Some(page) = view.payload.page(component) else { return Ok(()) };
    for entry in page.patches.iter().filter(|entry| view.profile.is_in(&entry.value.profiles)) {
        match unmet(&entry.value.when, &Variables::of(view, component), view.context.sources) {
            Ok(Some(_)) => {}
            Ok(None) => {
                let patcher = Patcher { view, component, page, entry };
                errors.0.extend(patcher.apply(objects).err());
            }
            Err(error) => errors.0.push(error),
        }
    }
    errors.or(())
}

/// What the patches of its page will make of one object; where they cannot be applied, what they leave of it.
pub(super) fn outcome(object: &Object, view: &View<'_>, component: &str) -> Node {
    let mut object = object.clone();
    let Some(page) = view.payload.page(component) else { return object.root };
    for entry in page.patches.iter().filter(|entry| view.profile.is_in(&entry.value.profiles)) {
        let patcher = Patcher { view, component, page, entry };
        let holds = || {
            matches!(
                unmet(&entry.value.when, &Variables::of(view, component), view.context.sources),
                Ok(None)
            )
        };
        if may_mean(&entry.value, &object.id) && holds() {
            // What is wrong with a patch is said when it is applied for good.
            let _ = patcher.apply(std::slice::from_mut(&mut object));
        }
    }
    object.root
}

/// Whether a patch can mean an object, as far as its target says so in plain words.
fn may_mean(entry: &PatchEntry, id: &ObjectId) -> bool {
    let Some(target) = &entry.target else { return true };
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let excludes = |wanted: &Option<Marked<String>>, found: &str| {
        wanted.as_ref().is_some_and(|wanted| plain(&wanted.value) && wanted.value != found)
    };
    !excludes(&target.kind, &id.kind)
        && !excludes(&target.name, &id.name)
        && !excludes(&target.namespace, &id.namespace)
}

struct Patcher<'a> {
    view: &'a View<'a>,
    component: &'a str,
    page: &'a Component,
    entry: &'a Marked<PatchEntry>,
}

impl Patcher<'_> {
    fn apply(&self, objects: &mut [Object]) -> Result<(), Diagnostic> {
        let patches = self.view.payload.patches(self.component, self.page, self.entry)?;
        if patches.is_empty() && !self.entry.value.optional {
            return Err(Diagnostic::error("the patch is empty")
                .at(Location::of(self.entry.mark, self.view.context.sources))
                .help("remove it, or write what it changes"));
        }
        if self.entry.value.position.is_some() && patches.iter().any(|patch| patch.as_list().is_some()) {
            return Err(Diagnostic::error("operations say themselves where an item goes")
                .at(Location::of(self.entry.mark, self.view.context.sources))
                .help("remove `position`; it is for strategic merge patches"));
        }
        for patch in &patches {
            if patch.get("$patch").and_then(Node::as_str) == Some("delete") {
                return Err(Diagnostic::error("a patch cannot take a whole object away")
                    .at(Location::of(patch.mark, self.view.context.sources))
                    .help("leave it out with `omit`, whose reason `list` shows"));
            }
            let target = target::Matcher::of(&self.entry.value, patch, self.view.context.sources)?;
            let mut hits = 0;
            let mut changed = false;
            for object in objects.iter_mut().filter(|object| !is_tombstone(&object.root)) {
                if !self.is_meant(object, &target) {
                    continue;
                }
                hits += 1;
                changed |= self.one(object, patch)?;
            }
            if !self.entry.value.optional {
                self.must_have_acted(hits, changed, objects, &target)?;
            }
        }
        Ok(())
    }

    /// Whether an object is meant: as it was loaded, or as it is if a fragment brought it.
    fn is_meant(&self, object: &Object, target: &target::Matcher) -> bool {
        if let Some(loaded) = object.manifest.map(|index| &self.view.payload.manifests[index]) {
            return target.matches(&loaded.root, &loaded.id, &loaded.version);
        }
        let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        target.matches(&object.root, &object.id, api_version.rsplit('/').next().unwrap_or_default())
    }

    /// Applies the patch to one object; says whether anything changed.
    fn one(&self, object: &mut Object, patch: &Node) -> Result<bool, Diagnostic> {
        let before = object.root.clone();
        let result = if patch.as_list().is_some() {
            patch::operations(patch)
                .and_then(|operations| patch::apply_operations(&mut object.root, &operations))
        } else {
            let api_version = before.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
            let schema = self.view.schema(&object.id, api_version).unwrap_or(Schema::Unknown);
            let position = match self.entry.value.position {
                Some(ItemPosition::First) => Position::First,
                _ => Position::Last,
            };
            patch::no_empty_lists(patch, schema)
                .and_then(|()| patch::strategic(&mut object.root, patch, schema, position))
        };
        result.map_err(|error| self.failed(error, object))?;
        object.history.note(&object.root, || Cause::Patch(self.entry.mark));
        // A patch may rename an object.
        let (id, _) = ObjectId::of(&object.root).map_err(|error| {
            Diagnostic::error(error.message)
                .at(Location::of(self.entry.mark, self.view.context.sources))
                .object(&object.id)
        })?;
        object.id = id;
        Ok(before != object.root)
    }

    fn failed(&self, error: PatchError, object: &Object) -> Diagnostic {
        let diagnostic = Diagnostic::error(error.message)
            .at(Location::of(error.mark, self.view.context.sources))
            .object(&object.id);
        Diagnostic { help: error.help, ..diagnostic }.note(format!(
            "applied by {}, because {}",
            self.view.context.sources.show(self.entry.mark),
            self.entry.value.reason
        ))
    }

    /// Nothing silently does nothing.
    fn must_have_acted(
        &self,
        hits: usize,
        changed: bool,
        objects: &[Object],
        target: &target::Matcher,
    ) -> Result<(), Diagnostic> {
        let at = || Location::of(self.entry.mark, self.view.context.sources);
        if hits == 0 {
            let names: Vec<String> =
                objects.iter().map(|object| format!("{}/{}", object.id.kind, object.id.name)).collect();
            let error =
                Diagnostic::error(format!("the patch matches no object of `{}`", self.component)).at(at());
            return Err(match nearest(&target.shown(), names.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("check its target, or write `optional: true` if it may match nothing"),
            });
        }
        if !changed {
            return Err(Diagnostic::error("the patch changes nothing")
                .at(at())
                .note("everything is already as it says")
                .help("remove it, or write `optional: true` if that is meant"));
        }
        Ok(())
    }
}
