//! A difference between a live cluster and the rendered objects, as `diff --live` prints it.

use serde_json::{Value, json};

use crate::apply::decide::drift::DriftedField;
use crate::apply::decide::event::{cluster_name, single_line};
use crate::apply::decide::json_fields::without_server_fields;
use crate::apply::decide::predecessor::Predecessor;
use crate::object::{Cluster, ObjectId, SensitiveTexts, mask};
use crate::show;
use crate::yaml::Node;

/// An object that differs from what is rendered.
pub struct LiveChange {
    /// The cluster.
    pub cluster: Cluster,
    /// The object.
    pub object: ObjectId,
    /// How it differs.
    pub(crate) difference: Difference,
}

/// How a live object differs from what is rendered.
pub(crate) enum Difference {
    /// An apply would change it.
    Applied(BeforeAfter),
    /// An apply would fail or recreate the object, or its result is unknown. The text says why.
    Unknown(String),
    /// It cannot be read. The text says why.
    Unreadable(String),
    /// It is no longer rendered.
    NotRendered(NotRendered),
    /// Others changed fields that matter.
    Drifted {
        fields: Vec<DriftedField>,
        /// How many more fields differ.
        more: usize,
    },
    /// transship applied it, and it no longer exists.
    Missing,
}

/// The way in which `apply --prune` handles an object that is no longer rendered.
pub(crate) enum NotRendered {
    /// Deletes it.
    Pruned,
    /// Keeps it. The text says why.
    Held(String),
    /// Only removes it from the inventory. The text says why.
    Released(String),
}

/// An object before and after an apply; `None` if it does not exist.
#[derive(PartialEq)]
pub(crate) struct BeforeAfter {
    before: Option<Node>,
    after: Option<Node>,
    /// That transship takes the object over, and from whom; empty if it does not.
    takeover: String,
}

impl BeforeAfter {
    /// Reads both versions, and marks the values that are sensitive in the rendered object.
    pub(crate) fn new(before: Option<Value>, after: Option<Value>, rendered: &Node) -> Self {
        let texts = SensitiveTexts::of([rendered]);
        let protected = |object: Option<Value>| {
            let mut node = Node::from(&without_server_fields(object?));
            mask::protect_like(&mut node, rendered);
            texts.protect(&mut node);
            Some(node)
        };
        Self { before: protected(before), after: protected(after), takeover: String::new() }
    }

    /// Returns the same objects, with the manager from which transship takes them over.
    pub(crate) fn taken_over_from(mut self, predecessor: Option<&Predecessor>) -> Self {
        self.takeover = predecessor.map_or_else(String::new, Predecessor::describe_takeover);
        self
    }

    pub(crate) fn is_same(&self) -> bool {
        self.before == self.after
    }
}

impl LiveChange {
    /// Returns whether transship could not find out how the object differs.
    pub fn is_failure(&self) -> bool {
        matches!(self.difference, Difference::Unreadable(_))
    }

    /// Formats the change as a line of JSON.
    pub fn json(&self) -> String {
        let ObjectId { group, kind, namespace, name } = &self.object;
        let (change, message) = self.difference.describe();
        let mut line = json!({
            "cluster": self.cluster.name(), "change": change, "message": message, "fields": self.fields(),
            "object": {"group": group, "kind": kind, "namespace": namespace, "name": name},
        });
        if let Difference::Drifted { more, .. } = &self.difference {
            line["moreFields"] = json!(more);
        }
        line.to_string()
    }

    /// Returns the fields that differ, for programs.
    fn fields(&self) -> Vec<Value> {
        match &self.difference {
            Difference::Applied(BeforeAfter { before: Some(before), after: Some(after), .. }) => {
                show::fields(before, after).iter().map(show::Change::to_json).collect()
            }
            Difference::Drifted { fields, .. } => fields.iter().map(DriftedField::to_json).collect(),
            _ => Vec::new(),
        }
    }

    /// Formats the change as text: the object, and one line per field.
    pub fn text(&self) -> String {
        let title = format!("{:<10} {}", cluster_name(self.cluster), self.object);
        let with_fields =
            |title: String, fields: Vec<String>| format!("{title}\n  {}\n", fields.join("\n  "));
        let rest = match &self.difference {
            Difference::Applied(BeforeAfter { before: Some(before), after: Some(after), takeover }) => {
                let fields = show::fields(before, after);
                let title = if takeover.is_empty() { title } else { format!("{title} {takeover}") };
                return with_fields(title, fields.iter().map(ToString::to_string).collect());
            }
            Difference::Drifted { fields, more } => {
                let mut lines: Vec<String> =
                    fields.iter().map(|field| single_line(&field.to_string())).collect();
                if *more > 0 {
                    lines.push(format!("and {more} more"));
                }
                return with_fields(format!("{title} has drifted"), lines);
            }
            Difference::Applied(BeforeAfter { after: Some(_), .. }) => "would be created".to_owned(),
            Difference::Applied(_) => "would be deleted".to_owned(),
            Difference::Unknown(reason) => reason.clone(),
            Difference::Unreadable(reason) => format!("cannot be read: {reason}"),
            Difference::Missing => "no longer exists".to_owned(),
            Difference::NotRendered(NotRendered::Pruned) => {
                "is no longer rendered: apply --prune deletes it".to_owned()
            }
            Difference::NotRendered(NotRendered::Held(reason)) => {
                format!("is no longer rendered: apply --prune keeps it: {reason}")
            }
            Difference::NotRendered(NotRendered::Released(reason)) => {
                format!("is no longer rendered: apply --prune only removes it from the inventory: {reason}")
            }
        };
        format!("{title} {}\n", single_line(&rest))
    }
}

impl Difference {
    /// Returns the word for JSON, and the message.
    fn describe(&self) -> (&'static str, &str) {
        match self {
            Self::Applied(BeforeAfter { before: Some(_), after: Some(_), takeover }) => ("changed", takeover),
            Self::Applied(BeforeAfter { before: None, after: Some(_), .. }) => ("created", ""),
            Self::Applied(BeforeAfter { after: None, .. }) => ("deleted", ""),
            Self::Unknown(reason) => ("unknown", reason),
            Self::Unreadable(reason) => ("unreadable", reason),
            Self::NotRendered(NotRendered::Pruned) => ("pruned", ""),
            Self::NotRendered(NotRendered::Held(reason)) => ("held", reason),
            Self::NotRendered(NotRendered::Released(reason)) => ("released", reason),
            Self::Drifted { .. } => ("drifted", ""),
            Self::Missing => ("missing", ""),
        }
    }
}
