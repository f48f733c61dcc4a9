//! Applies the patches of pages, in the order in which they are written. A patch selects objects by their manifests,
//! before policy and earlier patches changed them.

use std::collections::BTreeMap;

use super::new_items;
use super::patch::{self, ItemPosition, NewItem, PatchError};
use super::patch_address::Address;
use super::patch_uses::{PatchEffect, PatchUse};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{self, Variables, View};
use crate::language::{Marked, Page, PatchEntry, PatchPosition, is_literal, unmet};
use crate::nearest::nearest;
use crate::object::{Cause, Object, ObjectId, Schema};
use crate::payload::{PatchSelector, deletes_object};
use crate::select::Selection;
use crate::yaml::{Entry, Mark, Node, Value};

/// Applies the patches of a component's page. Adds what each of them did to `uses`.
pub(super) fn apply(
    objects: &mut Vec<Object>,
    view: &View<'_>,
    component: &str,
    selection: &Selection,
    uses: &mut Vec<PatchUse>,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for patcher in patchers(view, component) {
        let effects = match patcher.is_active() {
            Ok(false) => continue,
            Ok(true) => patcher.apply(objects, selection),
            Err(error) => Err(error.into()),
        };
        match effects {
            Ok(effects) => uses.push(patcher.used(Some(effects))),
            Err(found) => {
                errors.append(found);
                uses.push(patcher.used(None));
            }
        }
    }
    errors.into_result(())
}

/// Returns the uses of a component's patches that are not applied because of an error before them.
pub(super) fn not_applied(view: &View<'_>, component: &str) -> Vec<PatchUse> {
    patchers(view, component).iter().map(|patcher| patcher.used(None)).collect()
}

/// Returns an object as the patches of its page will leave it, without changing it. Returns `None` if they delete it.
///
/// The policy for pods needs bindings and configuration in their final state, before patches are applied (see
/// `finish::pod_context`). Errors are ignored here: [`apply`] applies the same patches again and reports them.
pub(super) fn preview(
    object: &Object,
    view: &View<'_>,
    component: &str,
    selection: &Selection,
) -> Option<Node> {
    let mut copy = vec![object.clone()];
    for patcher in patchers(view, component) {
        if may_select(&patcher.entry.value, &object.id) && matches!(patcher.is_active(), Ok(true)) {
            let _reported_by_apply = patcher.apply(&mut copy, selection);
        }
    }
    copy.pop().map(|object| object.root)
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

    /// Returns what the entry did in this profile.
    fn used(&self, effects: Option<BTreeMap<Mark, PatchEffect>>) -> PatchUse {
        PatchUse {
            component: self.component.to_owned(),
            entry: self.entry.clone(),
            profile: self.view.profile.name.clone(),
            effects,
        }
    }

    /// Applies the patches of the entry. Returns the effect of each.
    fn apply(
        &self,
        objects: &mut Vec<Object>,
        selection: &Selection,
    ) -> Result<BTreeMap<Mark, PatchEffect>, Diagnostics> {
        let patches = expand::patches(self.view, self.component, self.page, self.entry)?;
        self.check_patches(&patches)?;
        let mut effects = BTreeMap::new();
        for patch in &patches {
            let selector = PatchSelector::of(&self.entry.value, patch, self.view.context.sources)?;
            let mut effect = if deletes_object(patch) {
                self.delete(objects, &selector, selection)
            } else {
                self.change(objects, &selector, patch)?
            };
            if !effect.matches {
                let known: Vec<String> = objects.iter().map(|object| object.id.kind_and_name()).collect();
                let near = nearest(selector.kind_and_name(), known.iter().map(String::as_str));
                effect.near = near.map(str::to_owned);
            }
            effects.insert(patch.mark, effect);
        }
        Ok(effects)
    }

    /// Deletes the objects that a patch selects. The profile has left out those of manifests already.
    fn delete(
        &self,
        objects: &mut Vec<Object>,
        selector: &PatchSelector,
        selection: &Selection,
    ) -> PatchEffect {
        let count = objects.len();
        objects.retain(|object| {
            object.manifest.is_some() || object.is_tombstone() || !self.selects(selector, object)
        });
        let deleted = objects.len() < count || selection.decided_by.contains(&Some(self.entry.mark));
        PatchEffect { matches: deleted, changes: deleted, ..PatchEffect::default() }
    }

    /// Applies a patch to the objects that it selects.
    fn change(
        &self,
        objects: &mut [Object],
        selector: &PatchSelector,
        patch: &Node,
    ) -> Result<PatchEffect, Diagnostics> {
        let mut effect = PatchEffect::default();
        for object in objects.iter_mut().filter(|object| !object.is_tombstone()) {
            if !self.selects(selector, object) {
                continue;
            }
            effect.matches = true;
            let before = object.root.clone();
            let created = self.patch(object, patch).map_err(|error| self.failed(error, object))?;
            object.history.record(&object.root, || Cause::Patch(self.entry.mark));
            // A JSON patch may rename an object.
            let (id, _) =
                ObjectId::of(&object.root).map_err(|error| self.error(&error.message).object(&object.id))?;
            object.id = id;
            effect.changes |= before != object.root;
            self.require_declared(&created, object)?;
            effect.created.extend(created.iter().map(new_items::declaration));
        }
        Ok(effect)
    }

    /// Refuses patches that are wrong for every object.
    fn check_patches(&self, patches: &[Node]) -> Result<(), Diagnostic> {
        let entry = &self.entry.value;
        if patches.is_empty() && !entry.optional {
            return Err(self.error("the patch is empty").help("remove it, or write what it changes"));
        }
        if !patches.iter().any(|patch| patch.as_list().is_some()) {
            return Ok(());
        }
        for (field, is_given) in
            [("position", entry.position.is_some()), ("creates", !entry.creates.is_empty())]
        {
            if is_given {
                return Err(self
                    .error(&format!("`{field}` has no effect on a JSON patch"))
                    .help(format!("remove `{field}`; it is for strategic merge patches")));
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

    /// Applies a patch to an object. Returns the list items that it created.
    fn patch(&self, object: &mut Object, patch: &Node) -> Result<Vec<NewItem>, PatchError> {
        if patch.as_list().is_some() {
            return patch::apply_operations(&mut object.root, &patch::operations(patch)?)
                .map(|()| Vec::new());
        }
        let schema = self.view.schema(&object.id, api_version(&object.root)).unwrap_or(Schema::Unknown);
        patch::refuse_emptied_lists(patch, schema)?;
        let position = match self.entry.value.position {
            None | Some(PatchPosition::First) => ItemPosition::First,
            Some(PatchPosition::Last) => ItemPosition::Last,
        };
        let address = Address::of(&object.root);
        let patch = with_nulls_for_deletions(patch);
        let created = patch::strategic(&mut object.root, &patch, schema, position)?;
        address.restore(&mut object.root);
        Ok(created)
    }

    /// Refuses items that a patch creates in an object and the entry does not declare.
    fn require_declared(&self, created: &[NewItem], object: &Object) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for item in new_items::undeclared(created, &self.entry.value.creates) {
            let message = format!("`{}` has no item `{}`, and the patch creates it", item.path, item.key);
            let error = PatchError { message, mark: item.mark, help: Some(new_items::help(item)) };
            errors.0.push(self.failed(error, object));
        }
        errors.into_result(())
    }

    fn failed(&self, error: PatchError, object: &Object) -> Diagnostic {
        let sources = self.view.context.sources;
        let diagnostic =
            Diagnostic::error(error.message).at(Location::of(error.mark, sources)).object(&object.id).note(
                format!("applied by {}, because {}", sources.show(self.entry.mark), self.entry.value.reason),
            );
        Diagnostic { help: error.help, ..diagnostic }
    }

    fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(self.entry.mark, self.view.context.sources))
    }
}

/// Returns a patch with null for each field whose value is `$patch: delete`. As in kustomize, it removes the field.
/// Kubernetes would leave an empty map there.
fn with_nulls_for_deletions(patch: &Node) -> Node {
    let value = match &patch.value {
        Value::Map(map) => Value::Map(map.iter().map(with_null_for_deletion).collect()),
        Value::List(items) => Value::List(items.iter().map(with_nulls_for_deletions).collect()),
        _ => return patch.clone(),
    };
    patch.with_value(value)
}

fn with_null_for_deletion(field: &Entry) -> Entry {
    let value = if deletes_object(&field.value) {
        field.value.with_value(Value::Null)
    } else {
        with_nulls_for_deletions(&field.value)
    };
    Entry { value, ..field.clone() }
}

fn api_version(root: &Node) -> &str {
    root.get("apiVersion").and_then(Node::as_str).unwrap_or_default()
}
