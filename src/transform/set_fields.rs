//! The fields that the rules of a policy set or replace. Two rules that give a field different values are an error.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Location};
use crate::object::path;
use crate::yaml::{Mark, Node, Sources, Value};

/// The fields of one object that rules have set: the value and the line of each.
#[derive(Default)]
pub(super) struct SetFields(BTreeMap<String, (Node, Mark)>);

impl SetFields {
    /// Records the fields that a `set` rule sets: every leaf of its body.
    pub(super) fn record_leaves(
        &mut self,
        body: &Node,
        path: &str,
        sources: &Sources,
    ) -> Result<(), Diagnostic> {
        if let Value::Map(map) = &body.value
            && !map.is_empty()
        {
            for entry in map {
                self.record_leaves(&entry.value, &path::field(path, &entry.key), sources)?;
            }
            return Ok(());
        }
        self.record(body, path, sources)
    }

    /// Records one field. Refuses it if another rule sets it to a different value, because the order of the rules must not
    /// matter. A rule that sets a whole map conflicts with one that sets a part of it.
    pub(super) fn record(&mut self, body: &Node, path: &str, sources: &Sources) -> Result<(), Diagnostic> {
        if let Some(other) = self.conflicting_field(body, path) {
            return Err(Diagnostic::error(format!("two policy rules set `{path}` differently"))
                .at(Location::of(body.mark, sources))
                .note(format!("the other rule is at {}", sources.show(other)))
                .help("limit one of them with `when`, or remove one"));
        }
        self.0.insert(path.to_owned(), (body.clone(), body.mark));
        Ok(())
    }

    /// Returns the line of a rule that sets a field, a part of it or a map around it to something else.
    fn conflicting_field(&self, body: &Node, path: &str) -> Option<Mark> {
        let mut parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some((_, mark)) = parents.find_map(|parent| self.0.get(parent)) {
            return Some(*mark);
        }
        let children = format!("{path}/");
        if let Some((child, (_, mark))) = self.0.range(children.clone()..).next()
            && child.starts_with(&children)
        {
            return Some(*mark);
        }
        match self.0.get(path) {
            Some((value, mark)) if value != body => Some(*mark),
            _ => None,
        }
    }
}
