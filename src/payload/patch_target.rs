//! The target of a patch, as in kustomize: regular expressions for kind, name and so on, and selectors for labels and
//! annotations.

use crate::diagnostic::{Diagnostic, Location};
use crate::language::{Marked, PatchEntry, PatchTarget, TextPattern};
use crate::object::{ObjectId, metadata, metadata_text};
use crate::yaml::{Node, Sources};

/// The longest name that a regular expression can match, in bytes. API servers reject longer names of most kinds.
const MAX_TEXT_LENGTH: usize = 1024;

/// Selects the objects that a patch applies to.
pub(crate) struct PatchSelector {
    fields: Vec<(Field, Rule)>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
    kind_and_name: String,
}

#[derive(Clone, Copy)]
enum Field {
    Group,
    Version,
    Kind,
    Name,
    Namespace,
}

/// The condition that the value of a field must meet.
enum Rule {
    Exactly(String),
    Matching(TextPattern),
}

impl Rule {
    fn is_met(&self, text: &str) -> bool {
        match self {
            Self::Exactly(expected) => expected == text,
            Self::Matching(pattern) => text.len() <= MAX_TEXT_LENGTH && pattern.matches(text),
        }
    }
}

/// A part of a label or annotation selector.
struct Requirement {
    key: String,
    condition: Condition,
}

enum Condition {
    /// `key`
    Exists,
    /// `!key`
    Absent,
    /// `key=value`
    Equals(String),
    /// `key!=value`
    Differs(String),
}

impl PatchSelector {
    /// Returns the selector for a patch: its target, or the object that the patch itself names.
    pub(crate) fn of(entry: &PatchEntry, patch: &Node, sources: &Sources) -> Result<Self, Diagnostic> {
        match &entry.target {
            Some(target) => Self::of_target(target, sources),
            None => Self::of_patch(patch, sources),
        }
    }

    fn of_target(target: &PatchTarget, sources: &Sources) -> Result<Self, Diagnostic> {
        let mut fields = Vec::new();
        for (field, pattern) in [
            (Field::Group, &target.group),
            (Field::Version, &target.version),
            (Field::Kind, &target.kind),
            (Field::Name, &target.name),
            (Field::Namespace, &target.namespace),
        ] {
            if let Some(pattern) = pattern {
                fields.push((field, Rule::Matching(text_pattern(pattern, sources)?)));
            }
        }
        let shown = |pattern: &Option<Marked<String>>| match pattern {
            Some(pattern) => pattern.value.clone(),
            None => "*".to_owned(),
        };
        Ok(Self {
            fields,
            labels: requirements(target.label_selector.as_ref(), sources)?,
            annotations: requirements(target.annotation_selector.as_ref(), sources)?,
            kind_and_name: format!("{}/{}", shown(&target.kind), shown(&target.name)),
        })
    }

    fn of_patch(patch: &Node, sources: &Sources) -> Result<Self, Diagnostic> {
        let kind = patch.get("kind").and_then(Node::as_str);
        let (Some(kind), Some(name)) = (kind, metadata_text(patch, "name")) else {
            return Err(Diagnostic::error("the patch does not say which object it is for")
                .at(Location::of(patch.mark, sources))
                .help("give the entry a `target`, or the patch `kind` and `metadata.name`"));
        };
        let mut values = vec![(Field::Kind, kind), (Field::Name, name)];
        if let Some(namespace) = metadata_text(patch, "namespace") {
            values.push((Field::Namespace, namespace));
        }
        if let Some(api_version) = patch.get("apiVersion").and_then(Node::as_str) {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            values.extend([(Field::Group, group), (Field::Version, version)]);
        }
        let fields =
            values.into_iter().map(|(field, value)| (field, Rule::Exactly(value.to_owned()))).collect();
        let kind_and_name = format!("{kind}/{name}");
        Ok(Self { fields, labels: Vec::new(), annotations: Vec::new(), kind_and_name })
    }

    /// Returns whether an object is selected.
    pub(crate) fn matches(&self, root: &Node, id: &ObjectId, version: &str) -> bool {
        let fields_match = self.fields.iter().all(|(field, rule)| {
            rule.is_met(match field {
                Field::Group => &id.group,
                Field::Version => version,
                Field::Kind => &id.kind,
                Field::Name => &id.name,
                Field::Namespace => &id.namespace,
            })
        });
        fields_match
            && self.labels.iter().all(|label| label.is_met(metadata(root, "labels")))
            && self.annotations.iter().all(|annotation| annotation.is_met(metadata(root, "annotations")))
    }

    /// Returns `Kind/name` as the patch has it, to suggest similar objects.
    pub(crate) fn kind_and_name(&self) -> &str {
        &self.kind_and_name
    }
}

impl Requirement {
    fn parse(text: &str) -> Self {
        let new = |key: &str, condition: Condition| Self { key: key.trim().to_owned(), condition };
        let owned = |value: &str| value.trim().to_owned();
        if let Some((key, value)) = text.split_once("!=") {
            return new(key, Condition::Differs(owned(value)));
        }
        if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
            return new(key, Condition::Equals(owned(value)));
        }
        match text.strip_prefix('!') {
            Some(key) => new(key, Condition::Absent),
            None => new(text, Condition::Exists),
        }
    }

    fn is_met(&self, map: Option<&Node>) -> bool {
        let found = map.and_then(|map| map.get(&self.key)).and_then(Node::as_str);
        match &self.condition {
            Condition::Exists => found.is_some(),
            Condition::Absent => found.is_none(),
            Condition::Equals(value) => found == Some(value),
            Condition::Differs(value) => found != Some(value),
        }
    }
}

fn text_pattern(pattern: &Marked<String>, sources: &Sources) -> Result<TextPattern, Diagnostic> {
    TextPattern::new(&pattern.value).map_err(|invalid| {
        let error = Diagnostic::error(format!("this {invalid}")).at(Location::of(pattern.mark, sources));
        match invalid.help() {
            Some(help) => error.help(help),
            None => error,
        }
    })
}

fn requirements(
    selector: Option<&Marked<String>>,
    sources: &Sources,
) -> Result<Vec<Requirement>, Diagnostic> {
    let Some(selector) = selector else { return Ok(Vec::new()) };
    if selector.value.contains('(') {
        return Err(Diagnostic::error("set-based selectors are not supported")
            .at(Location::of(selector.mark, sources))
            .help("write `key=value`, `key!=value`, `key` or `!key`, separated by commas; write one patch per value"));
    }
    let parts = selector.value.split(',').map(str::trim).filter(|part| !part.is_empty());
    Ok(parts.map(Requirement::parse).collect())
}

/// Returns whether a patch deletes the objects that it selects: a map with `$patch: delete`, as in kustomize.
pub(crate) fn deletes_object(patch: &Node) -> bool {
    patch.get("$patch").and_then(Node::as_str) == Some("delete")
}
