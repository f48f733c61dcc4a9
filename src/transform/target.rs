//! Which objects a patch means, in kustomize's way.

use regex_lite::Regex;

use crate::diagnostic::{Diagnostic, Location};
use crate::language::{Marked, PatchEntry, PatchTarget};
use crate::object::ObjectId;
use crate::yaml::{Node, Sources};

/// The conditions of a target, ready to be asked.
pub(super) struct Matcher {
    fields: Vec<(Field, Regex)>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
    shown: String,
}

#[derive(Clone, Copy)]
enum Field {
    Group,
    Version,
    Kind,
    Name,
    Namespace,
}

/// `key=value`, `key!=value`, `key` or `!key`
struct Requirement {
    key: String,
    value: Option<String>,
    wanted: bool,
}

impl Matcher {
    /// The objects that a patch means: those of its target, or without one the object that it names itself.
    pub(super) fn of(entry: &PatchEntry, patch: &Node, sources: &Sources) -> Result<Self, Diagnostic> {
        match &entry.target {
            Some(target) => Self::of_target(target, sources),
            None => Self::of_patch(patch, sources),
        }
    }

    fn of_target(target: &PatchTarget, sources: &Sources) -> Result<Self, Diagnostic> {
        let mut fields = Vec::new();
        for (field, text) in [
            (Field::Group, &target.group),
            (Field::Version, &target.version),
            (Field::Kind, &target.kind),
            (Field::Name, &target.name),
            (Field::Namespace, &target.namespace),
        ] {
            if let Some(text) = text {
                fields.push((field, regex(text, sources)?));
            }
        }
        let text =
            |text: &Option<Marked<String>>| text.as_ref().map_or("*", |text| text.value.as_str()).to_owned();
        Ok(Self {
            fields,
            labels: requirements(target.label_selector.as_ref(), sources)?,
            annotations: requirements(target.annotation_selector.as_ref(), sources)?,
            shown: format!("{}/{}", text(&target.kind), text(&target.name)),
        })
    }

    fn of_patch(patch: &Node, sources: &Sources) -> Result<Self, Diagnostic> {
        let kind = patch.get("kind").and_then(Node::as_str);
        let name = patch.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
        let (Some(kind), Some(name)) = (kind, name) else {
            return Err(Diagnostic::error("nobody says which object this patch means")
                .at(Location::of(patch.mark, sources))
                .help("give the entry a `target`, or the patch `kind` and `metadata.name`"));
        };
        let exactly = |text: &str| Regex::new(&format!("^{}$", regex_lite::escape(text)));
        let metadata = |field: &str| patch.get("metadata").and_then(|metadata| metadata.get(field));
        let mut fields = vec![(Field::Kind, kind), (Field::Name, name)];
        fields.extend(metadata("namespace").and_then(Node::as_str).map(|text| (Field::Namespace, text)));
        if let Some(api_version) = patch.get("apiVersion").and_then(Node::as_str) {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            fields.extend([(Field::Group, group), (Field::Version, version)]);
        }
        let fields =
            fields.into_iter().filter_map(|(field, text)| Some((field, exactly(text).ok()?))).collect();
        Ok(Self { fields, labels: Vec::new(), annotations: Vec::new(), shown: format!("{kind}/{name}") })
    }

    pub(super) fn matches(&self, root: &Node, id: &ObjectId, version: &str) -> bool {
        let metadata = |field: &str| root.get("metadata").and_then(|metadata| metadata.get(field));
        self.fields.iter().all(|(field, regex)| {
            regex.is_match(match field {
                Field::Group => &id.group,
                Field::Version => version,
                Field::Kind => &id.kind,
                Field::Name => &id.name,
                Field::Namespace => &id.namespace,
            })
        }) && self.labels.iter().all(|requirement| requirement.holds(metadata("labels")))
            && self.annotations.iter().all(|requirement| requirement.holds(metadata("annotations")))
    }

    /// `Kind/name`, as messages compare it.
    pub(super) fn shown(&self) -> String {
        self.shown.clone()
    }
}

impl Requirement {
    fn holds(&self, map: Option<&Node>) -> bool {
        let found = map.and_then(|map| map.get(&self.key)).and_then(Node::as_str);
        let fits = match (&self.value, found) {
            (None, found) => found.is_some(),
            (Some(value), found) => found == Some(value.as_str()),
        };
        fits == self.wanted
    }
}

fn regex(text: &Marked<String>, sources: &Sources) -> Result<Regex, Diagnostic> {
    Regex::new(&format!("^(?:{})$", text.value)).map_err(|error| {
        Diagnostic::error(format!("this is no regular expression: {error}"))
            .at(Location::of(text.mark, sources))
    })
}

fn requirements(
    selector: Option<&Marked<String>>,
    sources: &Sources,
) -> Result<Vec<Requirement>, Diagnostic> {
    if let Some(set) = selector.filter(|selector| selector.value.contains('(')) {
        return Err(Diagnostic::error("a selector with a set of values")
            .at(Location::of(set.mark, sources))
            .help("write `key=value`, `key!=value`, `key` or `!key`, with commas between; one patch for each value"));
    }
    let parts = selector.map_or("", |selector| selector.value.as_str()).split(',').map(str::trim);
    let requirements = parts
        .filter(|part| !part.is_empty())
        .map(|part| {
            let owned = |key: &str, value: Option<&str>, wanted| Requirement {
                key: key.trim().to_owned(),
                value: value.map(|value| value.trim().to_owned()),
                wanted,
            };
            match (part.split_once("!="), part.split_once("=="), part.split_once('='), part.strip_prefix('!'))
            {
                (Some((key, value)), ..) => owned(key, Some(value), false),
                (_, Some((key, value)), ..) | (_, _, Some((key, value)), _) => owned(key, Some(value), true),
                (_, _, _, Some(key)) => owned(key, None, false),
                _ => owned(part, None, true),
            }
        })
        .collect();
    Ok(requirements)
}
