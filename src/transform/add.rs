//! Only add: maps merge, named items meet by name, other lists get what they lack, and two that disagree are an error.

use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Node, Sources, Value};

/// Adds a contribution to a node.
pub(super) fn add(target: &mut Node, body: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    match (&mut target.value, &body.value) {
        (Value::Map(map), Value::Map(more)) => {
            for entry in more {
                match map.get_mut(&entry.key) {
                    Some(current) => add(current, &entry.value, sources)?,
                    None => map.insert(entry.clone()),
                }
            }
            Ok(())
        }
        (Value::List(items), Value::List(more)) => {
            more.iter().try_for_each(|item| add_item(items, item, sources))
        }
        (current, new) if current == new => Ok(()),
        _ => Err(conflict(target, body, sources)),
    }
}

fn add_item(items: &mut Vec<Node>, item: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let key = ["name", "mountPath"].into_iter().find(|key| item.get(key).is_some());
    let twin = key.and_then(|key| items.iter_mut().find(|other| other.get(key) == item.get(key)));
    if let Some(twin) = twin {
        return add(twin, item, sources);
    }
    if !items.contains(item) {
        items.push(item.clone());
    }
    Ok(())
}

fn conflict(target: &Node, body: &Node, sources: &Sources) -> Diagnostic {
    Diagnostic::error("two authors say different things about one field")
        .at(Location::of(body.mark, sources))
        .note(format!("the other is at {}", sources.show(target.mark)))
        .help("decide whose it is: make it an input, or use `set` or a patch where an exception is meant")
}
