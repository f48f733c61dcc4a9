//! A finding as data.

use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::language::Check;
use crate::object::{Object, ObjectId};
use crate::yaml::{Mark, Node, Sources, Value};

/// Something that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// The profiles in which it was found.
    pub profiles: Vec<String>,
    /// The object, if it is about one.
    pub object: Option<ObjectId>,
    /// The field, as a path with `[name=x]` for items that have a name.
    pub path: String,
    /// Where it is written: the line that the field comes from, in a manifest, a page, a fragment or a profile.
    pub mark: Mark,
    /// What is wrong.
    pub message: String,
    /// Why it matters.
    pub why: Vec<String>,
    /// What to do.
    pub help: String,
    /// The payload's manifest that the object came from.
    pub(super) manifest: Option<usize>,
}

/// What is wrong at a node of an object.
pub(super) struct Fault<'n> {
    pub(super) check: Check,
    /// The node it is about, by which its path is found.
    pub(super) node: &'n Node,
    pub(super) mark: Mark,
    pub(super) message: String,
    pub(super) why: Vec<String>,
    pub(super) help: String,
    /// Another place that belongs to it, and what it is.
    also: Option<(&'static str, Mark)>,
}

impl<'n> Fault<'n> {
    pub(super) fn new(check: Check, node: &'n Node, message: impl Into<String>) -> Self {
        Self {
            check,
            node,
            mark: node.mark,
            message: message.into(),
            why: Vec::new(),
            help: String::new(),
            also: None,
        }
    }

    pub(super) fn at(mut self, mark: Mark) -> Self {
        self.mark = mark;
        self
    }

    pub(super) fn why(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    pub(super) fn also(mut self, what: &'static str, mark: Mark) -> Self {
        self.also = Some((what, mark));
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    pub(super) fn of(self, object: &Object, profile: Option<&str>, sources: &Sources) -> Finding {
        let also = self.also.map(|(what, mark)| format!("{what} {}", sources.show(mark)));
        Finding {
            check: self.check,
            profiles: profile.into_iter().map(str::to_owned).collect(),
            object: Some(object.id.clone()),
            path: path_to(&object.root, self.node).unwrap_or_default(),
            mark: self.mark,
            message: self.message,
            why: also.into_iter().chain(self.why).collect(),
            help: self.help,
            manifest: object.manifest,
        }
    }
}

impl Finding {
    /// The finding as a message for people.
    pub fn diagnostic(&self, sources: &Sources) -> Diagnostic {
        let object = self.object.as_ref().map(|id| match self.path.as_str() {
            "" => id.to_string(),
            path => format!("{id}, at {path}"),
        });
        let mut notes = self.why.clone();
        if !self.profiles.is_empty() {
            notes.push(format!("found in {}", self.profiles.join(", ")));
        }
        Diagnostic {
            code: Some(self.check.code()),
            object,
            notes,
            help: Some(self.help.clone()),
            ..match self.check.severity() {
                Severity::Error => Diagnostic::error(&self.message),
                Severity::Warning => Diagnostic::warning(&self.message),
            }
            .at(Location::of(self.mark, sources))
        }
    }
}

/// The path from a root to a node of it, found by looking for that very node. Only findings need one, and they are few.
fn path_to(root: &Node, wanted: &Node) -> Option<String> {
    if std::ptr::eq(root, wanted) {
        return Some(String::new());
    }
    let below = |node: &Node, segment: String| path_to(node, wanted).map(|rest| format!("/{segment}{rest}"));
    match &root.value {
        Value::Map(map) => map.iter().find_map(|entry| below(&entry.value, escaped(&entry.key))),
        Value::List(items) => {
            items.iter().enumerate().find_map(|(index, item)| below(item, segment(item, index)))
        }
        _ => None,
    }
}

fn escaped(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// Mounts by their path, since one volume may have several; others by their name, or else by their place.
fn segment(item: &Node, index: usize) -> String {
    let named = |key: &&str| item.get(key).and_then(Node::as_str).is_some();
    let name = ["mountPath", "name"].into_iter().find(named);
    let text = |key: &str| item.get(key).and_then(Node::as_str).map(escaped).unwrap_or_default();
    name.map_or_else(|| index.to_string(), |key| format!("[{key}={}]", text(key)))
}
