//! Where a field came from: every value knows the line that wrote it, and the files say why it is there.

use std::fmt::Write;

use crate::diagnostic::{Diagnostic, Location};
use crate::nearest::nearest;
use crate::object::{Object, ObjectId};
use crate::order::Plan;
use crate::payload::Manifest;
use crate::profile::Of;
use crate::transform::{Context, patch};
use crate::yaml::{Mark, Node, Value, json};

/// Finds the object that `kind/name` means, by its name in the payload; the kind in any case.
pub fn find<'p>(wanted: &str, plan: &'p Plan, context: &Context<'_>) -> Result<&'p Object, Diagnostic> {
    let shown = |id: &ObjectId| format!("{}/{}", id.kind, id.name);
    let hits: Vec<&Object> =
        plan.objects.iter().filter(|object| shown(&object.id).eq_ignore_ascii_case(wanted)).collect();
    match hits[..] {
        [object] => Ok(object),
        [] => {
            let names: Vec<String> = plan.objects.iter().map(|object| shown(&object.id)).collect();
            let error =
                Diagnostic::error(format!("the profile `{}` has no `{wanted}`", context.profile.name));
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

/// Says of every field below a path what it is, which line wrote it and why, and what it was in the manifest.
pub fn explain(object: &Object, path: &str, context: &Context<'_>) -> Result<String, Diagnostic> {
    let explainer =
        Explainer { context, object, loaded: object.manifest.map(|index| &context.payload.manifests[index]) };
    let mut out = format!("{} in the profile {}\n", object.id, context.profile.name);
    let here = patch::resolve(&object.root, path);
    match here.as_deref() {
        Ok([]) | Err(_) => match explainer.before(path) {
            Some(before) => {
                let _ = writeln!(out, "{path} is not there");
                explainer.was(before, &mut out);
            }
            None => return Err(explainer.unknown(path, here.err())),
        },
        Ok(nodes) => nodes.iter().for_each(|node| explainer.fields(node, path, &mut out)),
    }
    Ok(out)
}

struct Explainer<'a> {
    context: &'a Context<'a>,
    object: &'a Object,
    loaded: Option<&'a Manifest>,
}

impl<'a> Explainer<'a> {
    /// Every scalar below a node, with its origin.
    fn fields(&self, node: &Node, path: &str, out: &mut String) {
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                for entry in map {
                    let key = entry.key.replace('~', "~0").replace('/', "~1");
                    self.fields(&entry.value, &format!("{path}/{key}"), out);
                }
            }
            Value::List(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let segment = match item.get("name").and_then(Node::as_str) {
                        Some(name) => format!("[name={}]", name.replace('~', "~0").replace('/', "~1")),
                        None => index.to_string(),
                    };
                    self.fields(item, &format!("{path}/{segment}"), out);
                }
            }
            _ => self.field(node, path, out),
        }
    }

    fn field(&self, node: &Node, path: &str, out: &mut String) {
        let _ = writeln!(out, "{path}: {}", self.shown(node));
        let _ = writeln!(out, "  from {}", self.origin(node.mark));
        if let Some(before) = self.before(path).filter(|before| *before != node) {
            self.was(before, out);
        }
    }

    fn was(&self, before: &Node, out: &mut String) {
        let _ = writeln!(out, "  was {} at {}", self.shown(before), self.context.sources.show(before.mark));
    }

    /// A value as it may be shown: those of a Secret may not.
    fn shown(&self, node: &Node) -> String {
        if self.object.id.kind == "Secret" { "<hidden>".to_owned() } else { json::write(node) }
    }

    /// The value that the manifest has at a path.
    fn before(&self, path: &str) -> Option<&'a Node> {
        match patch::resolve(&self.loaded?.root, path).ok()?[..] {
            [node] => Some(node),
            _ => None,
        }
    }

    /// The line that wrote a value, and why it is there.
    fn origin(&self, mark: Mark) -> String {
        let place = self.context.sources.show(mark);
        match self.reason(mark) {
            Some(reason) => format!("{place}, {reason}"),
            None => place,
        }
    }

    fn reason(&self, mark: Mark) -> Option<String> {
        let Context { payload, profile, fragments, sources, .. } = *self.context;
        let page = payload.page(&self.object.component);
        let above = |other: Mark| other.source == mark.source && other <= mark;
        if let Some(fragment) = fragments.values().find(|fragment| fragment.mark.source == mark.source) {
            let name = fragment.value.name();
            let uses =
                page.into_iter().flat_map(|page| &page.uses).filter(|entry| entry.value.fragment == name);
            let uses: Vec<String> = uses.map(|entry| sources.show(entry.mark)).collect();
            let behind =
                if uses.is_empty() { String::new() } else { format!(", used at {}", uses.join(", ")) };
            return Some(format!("the fragment {name}: {}{behind}", fragment.value.about));
        }
        if profile.namespace.as_ref().is_some_and(|namespace| namespace.mark == mark) {
            return Some("where the profile puts every namespaced object".to_owned());
        }
        if let Some(entry) = profile.every.iter().rev().find(|entry| above(entry.mark)) {
            let of = match &entry.value.of {
                Of::Pod => "pod",
                Of::Container => "container",
                Of::Workload => "workload",
                Of::Kind(kind) => kind,
            };
            return Some(format!("what the profile says of every {of} at {}", sources.show(entry.mark)));
        }
        let page = page?;
        let patch = page.patches.iter().rev().find(|entry| {
            let in_file = || payload.patches(&self.object.component, page, entry).unwrap_or_default();
            match entry.value.path {
                Some(_) => in_file().iter().any(|document| document.mark.source == mark.source),
                None => above(entry.mark),
            }
        })?;
        Some(format!("a patch of {}, because {}", sources.show(patch.mark), patch.value.reason))
    }

    fn unknown(&self, path: &str, error: Option<patch::PatchError>) -> Diagnostic {
        let error_help = error.and_then(|error| error.help);
        let diagnostic = Diagnostic::error(format!("the object has no `{path}`"))
            .at(Location::of(self.object.root.mark, self.context.sources))
            .object(&self.object.id);
        Diagnostic { help: error_help.or(Some("leave out --path to see all fields".into())), ..diagnostic }
    }
}
