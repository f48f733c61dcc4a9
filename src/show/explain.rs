//! Where a field came from: the line that wrote it, why it is there, and what it was before, step by step.

use std::fmt::Write;

use crate::diagnostic::{Diagnostic, Location};
use crate::expand::View;
use crate::language::PolicyTarget;
use crate::nearest::nearest;
use crate::object::path::{self, PathError};
use crate::object::{Cause, Object, ObjectId, Revision};
use crate::order::Plan;
use crate::yaml::{Mark, Node, Value, json};

/// Finds the object that `kind/name` means, by its name in the payload; the kind in any case.
pub fn find<'p>(wanted: &str, plan: &'p Plan, view: &View<'_>) -> Result<&'p Object, Diagnostic> {
    let shown = |id: &ObjectId| format!("{}/{}", id.kind, id.name);
    let hits: Vec<&Object> = plan.objects.iter().filter(|object| is_called(&object.id, wanted)).collect();
    match hits[..] {
        [object] => Ok(object),
        [] => {
            let names: Vec<String> = plan.objects.iter().map(|object| shown(&object.id)).collect();
            let error = Diagnostic::error(format!("the profile `{}` has no `{wanted}`", view.profile.name));
            Err(match nearest(wanted, names.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`transship list` shows what there is"),
            })
        }
        _ => {
            let all: Vec<String> = hits.iter().map(|object| object.id.to_string()).collect();
            Err(Diagnostic::error(format!("`{wanted}` means {} objects", hits.len())).note(all.join("; ")))
        }
    }
}

/// Whether `kind/name`, the kind in any case and with or without its group, means an object.
pub fn is_called(id: &ObjectId, wanted: &str) -> bool {
    [&id.kind, &id.kind_and_group()]
        .iter()
        .any(|kind| format!("{kind}/{}", id.name).eq_ignore_ascii_case(wanted))
}

/// Says of every field at or below a path what it is, which line wrote it and why, and what it was before; and of every
/// field that is gone, who took it away. The object must have kept its history.
pub fn explain(object: &Object, path: &str, view: &View<'_>) -> Result<String, Diagnostic> {
    let explainer = Explainer { view, object, steps: object.history.revisions() };
    let mut out = format!("{} in the profile {}\n", object.id, view.profile.name);
    let here = path::resolve(&object.root, path);
    match here.as_deref() {
        Ok([]) | Err(_) => {
            if explainer.steps.iter().all(|step| at(&step.root, path).is_none()) {
                return Err(explainer.unknown(path, here.err()));
            }
            explainer.gone(path, &mut out);
        }
        Ok(nodes) => nodes.iter().for_each(|node| explainer.fields(node, path, &mut out)),
    }
    Ok(out)
}

struct Explainer<'a> {
    view: &'a View<'a>,
    object: &'a Object,
    steps: &'a [Revision],
}

/// The one node at a path, if there is one.
fn at<'n>(root: &'n Node, path: &str) -> Option<&'n Node> {
    match path::resolve(root, path).ok()?[..] {
        [node] => Some(node),
        _ => None,
    }
}

fn escaped(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// The segment that names an item: mounts by their path, since one volume may have several.
fn named(item: &Node) -> Option<String> {
    let key = ["mountPath", "name"].into_iter().find(|key| item.get(key).is_some())?;
    Some(format!("[{key}={}]", escaped(item.get(key)?.as_str()?)))
}

impl Explainer<'_> {
    /// Every scalar below a node, with its origin, and what is no longer there.
    fn fields(&self, node: &Node, path: &str, out: &mut String) {
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                for entry in map {
                    self.fields(&entry.value, &format!("{path}/{}", escaped(&entry.key)), out);
                }
            }
            Value::List(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let segment = named(item).unwrap_or_else(|| index.to_string());
                    self.fields(item, &format!("{path}/{segment}"), out);
                }
            }
            _ => self.field(node, path, out),
        }
        self.missing(node, path, out);
    }

    fn field(&self, node: &Node, path: &str, out: &mut String) {
        let _ = writeln!(out, "{path}: {}", self.shown(node, path));
        let changes = self.changes(path);
        let reason = changes.first().map(|change| self.reason(&change.step.cause)).unwrap_or_default();
        let _ = writeln!(out, "  from {}{reason}", self.view.context.sources.show(node.mark));
        self.earlier(&changes, path, out);
    }

    /// A field that some step took away.
    fn gone(&self, path: &str, out: &mut String) {
        let changes = self.changes(path);
        let Some(last) = changes.first() else { return };
        let _ = writeln!(out, "{path} is not there");
        let _ = writeln!(out, "  removed{}", self.reason(&last.step.cause));
        self.earlier(&changes, path, out);
    }

    /// What a field was before each change, the latest first.
    fn earlier(&self, changes: &[Change<'_>], path: &str, out: &mut String) {
        for (index, change) in changes.iter().enumerate() {
            let Some(before) = change.before else { continue };
            let reason =
                changes.get(index + 1).map(|earlier| self.reason(&earlier.step.cause)).unwrap_or_default();
            let place = self.view.context.sources.show(before.mark);
            let _ = writeln!(out, "  was {} at {place}{reason}", self.shown(before, path));
        }
    }

    /// Every step that changed what stands at a path, the latest first.
    fn changes(&self, path: &str) -> Vec<Change<'_>> {
        let mut changes = Vec::new();
        let mut before = None;
        // Items without a name have only their place in the list, which other items may have moved.
        let by_place = path.split('/').any(|segment| segment.parse::<usize>().is_ok());
        for step in self.steps {
            let now = at(&step.root, path);
            if now != before {
                let same_item = !by_place
                    || now.map(|node| node.mark.source) == before.map(|node: &Node| node.mark.source);
                changes.push(Change { step, before: before.filter(|_| same_item) });
            }
            before = now;
        }
        changes.reverse();
        changes
    }

    /// Keys and named items that a map or list once had.
    fn missing(&self, node: &Node, path: &str, out: &mut String) {
        let mut paths: Vec<String> = Vec::new();
        for earlier in self.steps.iter().filter_map(|step| at(&step.root, path)) {
            let children: Vec<String> = match (&earlier.value, &node.value) {
                (Value::Map(map), Value::Map(now)) => {
                    let gone = map.iter().filter(|entry| now.get(&entry.key).is_none());
                    gone.map(|entry| format!("{path}/{}", escaped(&entry.key))).collect()
                }
                (Value::List(items), Value::List(now)) => {
                    let names: Vec<String> = now.iter().filter_map(named).collect();
                    let gone = items.iter().filter_map(named).filter(|name| !names.contains(name));
                    gone.map(|name| format!("{path}/{name}")).collect()
                }
                _ => Vec::new(),
            };
            paths.extend(children);
        }
        paths.sort();
        paths.dedup();
        for path in &paths {
            self.gone(path, out);
        }
    }

    /// A value as it may be shown: a Secret's data and what a secret parameter holds may not.
    fn shown(&self, node: &Node, path: &str) -> String {
        // Annotations may repeat the data, as kubectl's own does; the origin of an issued Secret does not.
        let public =
            ["/metadata/name", "/metadata/namespace", "/metadata/labels", "/type", "/kind", "/apiVersion"];
        let data = !public.iter().any(|field| path.starts_with(field)) && !path.ends_with("~1issued");
        let text = json::show(node);
        let holds = |secret: &str| holds(node, secret);
        if self.object.id.kind == "Secret" && data || self.view.context.parameters.secrets().any(holds) {
            return "<hidden>".to_owned();
        }
        text
    }

    /// Why a step was taken, in words that follow a place.
    fn reason(&self, cause: &Cause) -> String {
        let show = |mark: &Mark| self.view.context.sources.show(*mark);
        match cause {
            Cause::Manifest => String::new(),
            Cause::Release => ", with the images and the version of the release".to_owned(),
            Cause::Addition { addition: part, uses } => {
                let fragments = &self.view.context.profiles.fragments;
                let fragment = fragments.values().find(|fragment| fragment.mark.source == part.source);
                let about = fragment.map(|fragment| {
                    format!(", the fragment {}: {}", fragment.name(), fragment.body.description)
                });
                let uses = uses.iter().rev().map(|mark| format!(", used at {}", show(mark)));
                let about = about.unwrap_or_else(|| format!(", a part of {}", show(part)));
                about + &uses.collect::<String>()
            }
            Cause::Intent { rule, field } => {
                format!(", honoured as {} says, found at {}", show(rule), show(field))
            }
            Cause::Issued => ", whose material only an apply can make".to_owned(),
            Cause::Policy(mark) => self.policy(*mark),
            Cause::Patch(mark) => {
                let page = self.view.payload.page(&self.object.component);
                let mut patches = page.into_iter().flat_map(|page| &page.patches);
                let reason =
                    patches.find(|entry| entry.mark == *mark).map(|entry| entry.value.reason.as_str());
                format!(", by the patch at {}, because {}", show(mark), reason.unwrap_or("its page says so"))
            }
            Cause::Namespace(_) => ", where the profile puts every namespaced object".to_owned(),
            Cause::Moved(mark) => format!(", a tombstone, since {} says that it moved", show(mark)),
            Cause::Pin(mark) => format!(", held in the live object, as {} says", show(mark)),
            Cause::Strip => ", with the annotations that the profile strips".to_owned(),
        }
    }

    fn policy(&self, mark: Mark) -> String {
        let entry = self.view.profile.policy.iter().find(|entry| entry.mark == mark);
        let of = match entry.map(|entry| &entry.value.target) {
            Some(PolicyTarget::Pod) | None => "pod",
            Some(PolicyTarget::Container) => "container",
            Some(PolicyTarget::Workload) => "workload",
            Some(PolicyTarget::Kind(kind)) => kind.as_str(),
        };
        format!(", what the profile says of every {of} at {}", self.view.context.sources.show(mark))
    }

    fn unknown(&self, path: &str, error: Option<PathError>) -> Diagnostic {
        let error_help = error.and_then(|error| error.help);
        let diagnostic = Diagnostic::error(format!("the object has no `{path}`"))
            .at(Location::of(self.object.root.mark, self.view.context.sources))
            .object(&self.object.id);
        Diagnostic { help: error_help.or(Some("leave out --path to see all fields".into())), ..diagnostic }
    }
}

/// Whether some text below a node holds a secret.
fn holds(node: &Node, secret: &str) -> bool {
    match &node.value {
        Value::String(text) => text.contains(secret),
        Value::Number(_) => json::write(node) == secret,
        Value::List(items) => items.iter().any(|item| holds(item, secret)),
        Value::Map(map) => map.iter().any(|entry| holds(&entry.value, secret)),
        _ => false,
    }
}

/// A step that changed a field, and what the field was before.
struct Change<'a> {
    step: &'a Revision,
    before: Option<&'a Node>,
}
