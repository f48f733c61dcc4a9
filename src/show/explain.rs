//! The origin of each field of an object: the line that set it, why, and its earlier values.

use std::fmt::Write;

use super::revised_field::{RevisedField, node_at};
use crate::diagnostic::{Diagnostic, Location};
use crate::expand::View;
use crate::language::PolicyTarget;
use crate::object::mask::is_sensitive;
use crate::object::path::{self, PathError, item_segment};
use crate::object::{Cause, Object, ObjectId, Revision};
use crate::order::Plan;
use crate::printable;
use crate::select::Selected;
use crate::yaml::{Mark, Node, Sources, Value, json};

/// Finds the object with a name such as `deployment/api`, as [`is_called`] matches it.
pub(crate) fn find<'p>(wanted: &str, plan: &'p Plan, view: &View<'_>) -> Result<&'p Object, Diagnostic> {
    let matching: Vec<&Object> = plan.objects.iter().filter(|object| is_called(&object.id, wanted)).collect();
    match matching[..] {
        [object] => Ok(object),
        [] => {
            let names: Vec<String> =
                plan.objects.iter().map(|object| format!("{}/{}", object.id.kind, object.id.name)).collect();
            Err(Diagnostic::error(format!("the profile `{}` has no object `{wanted}`", view.profile.name))
                .help("run `transship list` to see all objects")
                .suggest(wanted, names.iter().map(String::as_str)))
        }
        _ => {
            let ids: Vec<String> = matching.iter().map(|object| object.id.to_string()).collect();
            Err(Diagnostic::error(format!("`{wanted}` matches {} objects", matching.len()))
                .note(ids.join("; ")))
        }
    }
}

/// Returns the error for an object that a profile does not have because it excludes the manifest, with the reason.
pub(crate) fn excluded(wanted: &str, selected: &Selected<'_>, sources: &Sources) -> Option<Diagnostic> {
    let decided = selected.payload().manifests.iter().zip(&selected.selection.exclusions);
    let mut excluded = decided.filter_map(|(manifest, exclusion)| Some((manifest, exclusion.as_ref()?)));
    let (manifest, exclusion) = excluded.find(|(manifest, _)| is_called(&manifest.id, wanted))?;
    let message = format!("the profile `{}` excludes this manifest: {exclusion}", selected.profile().name);
    Some(
        Diagnostic::error(message)
            .at(Location::of(manifest.root.mark, sources))
            .object(&manifest.id)
            .help("run `transship list --profile <name>` to see the decision about every manifest"),
    )
}

/// Returns whether an object has the name `kind/name` or `kind.group/name`, with upper or lower case.
pub(crate) fn is_called(id: &ObjectId, wanted: &str) -> bool {
    let kinds = [id.kind.clone(), id.kind_and_group()];
    kinds.iter().any(|kind| format!("{kind}/{}", id.name).eq_ignore_ascii_case(wanted))
}

/// Explains each field at or below a path: its value, the line that set it, why, and its earlier values. Fields that
/// were removed are explained too. The object must have been rendered with its history.
pub(crate) fn explain(object: &Object, path: &str, view: &View<'_>) -> Result<String, Diagnostic> {
    let explainer = Explainer { view, object, revisions: object.history.revisions() };
    let mut out = format!("{} (profile {})\n", object.id, view.profile.name);
    match path::resolve(&object.root, path) {
        Ok(nodes) if !nodes.is_empty() => {
            for node in nodes {
                explainer.explain_tree(node, &explainer.field(path), &mut out);
            }
        }
        result => {
            let field = explainer.field(path);
            if field.versions.iter().all(Option::is_none) {
                return Err(explainer.unknown_path(path, result.err()));
            }
            explainer.explain_removed(&field, &mut out);
        }
    }
    Ok(out)
}

struct Explainer<'a> {
    view: &'a View<'a>,
    object: &'a Object,
    revisions: &'a [Revision],
}

/// A change of a field.
struct Change<'a> {
    cause: &'a Cause,
    /// The value before the change.
    before: Option<&'a Node>,
}

impl<'a> Explainer<'a> {
    /// Finds a field in every revision.
    fn field(&self, path: &str) -> RevisedField<'a> {
        let versions = self.revisions.iter().map(|revision| node_at(&revision.root, path)).collect();
        RevisedField { path: path.to_owned(), versions }
    }

    /// Explains all fields below a node, and those that were removed from it.
    fn explain_tree(&self, node: &Node, field: &RevisedField<'_>, out: &mut String) {
        match &node.value {
            // Even the keys of a sensitive map are not shown.
            _ if is_sensitive(node) => return self.explain_field(node, field, out),
            Value::Map(map) if !map.is_empty() => {
                for entry in map {
                    self.explain_tree(&entry.value, &field.key(&entry.key), out);
                }
            }
            Value::List(items) if !items.is_empty() => {
                let revised = field.items();
                for (index, item) in items.iter().enumerate() {
                    self.explain_tree(item, &revised.item(&item_segment(item, index)), out);
                }
            }
            _ => self.explain_field(node, field, out),
        }
        for removed in field.removed_children(node) {
            self.explain_removed(&removed, out);
        }
    }

    fn explain_field(&self, node: &Node, field: &RevisedField<'_>, out: &mut String) {
        let changes = self.changes(field);
        let origin = self.origin(node, changes.first());
        let path = printable::line(&field.path);
        let _ = writeln!(out, "{path}: {}\n  from {origin}", json::show(node));
        self.explain_earlier(&changes, out);
    }

    fn explain_removed(&self, field: &RevisedField<'_>, out: &mut String) {
        let changes = self.changes(field);
        let Some(last) = changes.first() else { return };
        let by = self.describe(last.cause).unwrap_or_default();
        let _ = writeln!(out, "{} is not set\n  removed {by}", printable::line(&field.path));
        self.explain_earlier(&changes, out);
    }

    /// Writes the earlier values of a field, the latest first.
    fn explain_earlier(&self, changes: &[Change<'_>], out: &mut String) {
        for (index, change) in changes.iter().enumerate() {
            if let Some(before) = change.before {
                let origin = self.origin(before, changes.get(index + 1));
                let _ = writeln!(out, "  was {} at {origin}", json::show(before));
            }
        }
    }

    /// Returns the line that a value comes from, and the revision that set it.
    fn origin(&self, value: &Node, change: Option<&Change<'_>>) -> String {
        let location = self.show(value.mark);
        match change.and_then(|change| self.describe(change.cause)) {
            Some(by) => format!("{location}, set {by}"),
            None => location,
        }
    }

    /// Returns the revisions that changed a field, the latest first.
    fn changes<'f>(&'f self, field: &RevisedField<'f>) -> Vec<Change<'f>> {
        // An item without a name is known by its index only, and a change may have moved it.
        let has_index = field.path.split('/').any(|segment| segment.parse::<usize>().is_ok());
        let mut changes = Vec::new();
        let mut before: Option<&Node> = None;
        for (revision, after) in self.revisions.iter().zip(&field.versions) {
            if *after != before {
                let source = |node: Option<&Node>| node.map(|node| node.mark.source);
                let is_same_item = !has_index || source(*after) == source(before);
                changes.push(Change { cause: &revision.cause, before: before.filter(|_| is_same_item) });
            }
            before = *after;
        }
        changes.reverse();
        changes
    }

    /// Describes a cause, to follow "set" or "removed". Returns `None` for a value of the manifest itself.
    fn describe(&self, cause: &Cause) -> Option<String> {
        Some(match cause {
            Cause::Manifest => return None,
            Cause::Release => "by the images and the version of the release".to_owned(),
            Cause::Addition { addition, uses } => self.describe_addition(*addition, uses),
            Cause::Intent { rule, field } => {
                format!("by the `intents` entry at {}, because of {}", self.show(*rule), self.show(*field))
            }
            Cause::Issued => "by an issued object; apply fills in the values".to_owned(),
            Cause::Policy(mark) => self.describe_policy(*mark),
            Cause::Patch(mark) => self.describe_patch(*mark),
            Cause::Namespace(_) => "by the namespace of the profile".to_owned(),
            Cause::Moved(mark) => {
                format!("by a tombstone, because {} moves the object to the other cluster", self.show(*mark))
            }
            Cause::Pin(mark) => format!("by the pin at {}", self.show(*mark)),
            Cause::Strip => "by the rules for annotations that are not rendered".to_owned(),
        })
    }

    fn describe_addition(&self, addition: Mark, uses: &[Mark]) -> String {
        let mut fragments = self.view.context.profiles.fragments.values();
        let mut text = match fragments.find(|fragment| fragment.mark.source == addition.source) {
            Some(fragment) => format!("by the fragment {}: {}", fragment.name(), fragment.body.description),
            None => format!("by the addition at {}", self.show(addition)),
        };
        for used in uses.iter().rev() {
            let _ = write!(text, ", used at {}", self.show(*used));
        }
        text
    }

    fn describe_policy(&self, mark: Mark) -> String {
        let entry = self.view.profile.policy.iter().find(|entry| entry.mark == mark);
        let target = match entry.map(|entry| &entry.value.target) {
            Some(PolicyTarget::Pod) | None => "pod",
            Some(PolicyTarget::Object) => "object",
            Some(PolicyTarget::Container) => "container",
            Some(PolicyTarget::Volume) => "volume",
            Some(PolicyTarget::Workload) => "workload",
            Some(PolicyTarget::Kind(kind)) => kind.as_str(),
        };
        format!("by the policy entry for every {target} at {}", self.show(mark))
    }

    fn describe_patch(&self, mark: Mark) -> String {
        let page = self.view.payload.page(&self.object.component);
        let mut patches = page.into_iter().flat_map(|page| &page.patches);
        match patches.find(|entry| entry.mark == mark) {
            Some(entry) => format!("by the patch at {}: {}", self.show(mark), entry.value.reason),
            None => format!("by the patch at {}", self.show(mark)),
        }
    }

    fn show(&self, mark: Mark) -> String {
        self.view.context.sources.show(mark)
    }

    fn unknown_path(&self, path: &str, error: Option<PathError>) -> Diagnostic {
        let help = error.and_then(|error| error.help);
        Diagnostic::error(format!("the object has no field `{path}`"))
            .at(Location::of(self.object.root.mark, self.view.context.sources))
            .object(&self.object.id)
            .help(help.unwrap_or_else(|| "leave out --path to see all fields".to_owned()))
    }
}
