//! The `replace` rules of a policy: each sets fields as a whole, whatever they contained.

use super::set_fields::SetFields;
use crate::diagnostic::{Diagnostic, Location};
use crate::language::template::{Names, substitute};
use crate::object::path::{Path, PathError, PathStep, Segment, field, node_at_mut};
use crate::yaml::{Entry, Map, Node, Sources, Value};

/// Fills in the variables of a `replace` body. An absent value becomes null, which removes the field.
pub(super) fn substitute_fields(
    body: &Node,
    names: &dyn Names,
    sources: &Sources,
) -> Result<Node, Diagnostic> {
    let mut entries = Vec::new();
    for entry in body.as_map().into_iter().flatten() {
        let value = substitute(&entry.value, names, sources)?;
        let null = Node::new(Value::Null, entry.value.mark);
        entries.push(Entry { value: value.unwrap_or(null), ..entry.clone() });
    }
    Ok(body.with_value(Value::Map(Map::of(entries))))
}

/// Replaces the fields that a body names. `path` is the path of the target in its object.
pub(super) fn replace(
    target: &mut Node,
    path: &str,
    body: &Node,
    set_fields: &mut SetFields,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    for entry in body.as_map().into_iter().flatten() {
        let (parent, key) = parent_and_key(entry).map_err(|error| refused(error, entry, sources))?;
        for location in parent.find(target).map_err(|error| refused(error, entry, sources))? {
            let full = location.iter().fold(path.to_owned(), |path, step| match step {
                PathStep::Key(key) => field(&path, key),
                PathStep::Index(index) => format!("{path}/{index}"),
            });
            set_fields.record(&entry.value, &field(&full, &key), sources)?;
            let Some(Value::Map(map)) = node_at_mut(target, &location).map(|node| &mut node.value) else {
                return Err(not_a_map(&parent, entry, sources));
            };
            if entry.value.value == Value::Null {
                map.remove(&key);
            } else {
                map.insert(Entry { key: key.as_str().into(), ..entry.clone() });
            }
        }
    }
    Ok(())
}

/// Splits the path of a field into that of its map and the key.
fn parent_and_key(entry: &Entry) -> Result<(Path, String), PathError> {
    let path = Path::parse(&entry.key, entry.mark)?;
    match path.split_last() {
        Some((parent, Segment::Name(key))) => Ok((parent, key.clone())),
        _ => Err(path.missing("the field")),
    }
}

/// Returns the error for a path whose map does not exist.
fn refused(error: PathError, entry: &Entry, sources: &Sources) -> Diagnostic {
    let help = "set the map around the field with `default`, or limit the entry with `when`".to_owned();
    Diagnostic::error(error.message)
        .at(Location::of(entry.mark, sources))
        .note(format!("`replace` sets `{}` only in a map that exists", entry.key))
        .help(error.help.unwrap_or(help))
}

fn not_a_map(parent: &Path, entry: &Entry, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("`replace` cannot set `{}`, because `{parent}` is not a map", entry.key))
        .at(Location::of(entry.mark, sources))
        .help("name a field of a map, and select an item of a list with `[name=x]`")
}
