//! Only add: maps merge, named items meet by name, other lists get what they lack, and two that disagree are an error.

use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

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

/// Adds a contribution to a pod template. Init containers that are new run before those of the manifest; an entry of
/// `containers` that is named like an init container adds to that one.
pub(super) fn add_pod(pod: &mut Node, body: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let mut rest = body.clone();
    let spec = rest.get_mut("spec").map(|spec| &mut spec.value);
    let (containers, init) = match spec {
        Some(Value::Map(spec)) => (take_list(spec, "containers"), take_list(spec, "initContainers")),
        _ => (Vec::new(), Vec::new()),
    };
    add(pod, &rest, sources)?;
    let Some(Value::Map(spec)) = pod.get_mut("spec").map(|spec| &mut spec.value) else { return Ok(()) };
    let (mut main, mut initial) = (take_list(spec, "containers"), take_list(spec, "initContainers"));
    for (index, item) in init.iter().enumerate() {
        match named_like(&mut initial, item) {
            Some(twin) => add(twin, item, sources)?,
            None => initial.insert(index.min(initial.len()), item.clone()),
        }
    }
    for item in &containers {
        match named_like(&mut initial, item) {
            Some(twin) => add(twin, item, sources)?,
            None => add_item(&mut main, item, sources)?,
        }
    }
    put_list(spec, "containers", main, body.mark);
    put_list(spec, "initContainers", initial, body.mark);
    Ok(())
}

fn take_list(spec: &mut Map, key: &str) -> Vec<Node> {
    match spec.remove(key).map(|entry| entry.value.value) {
        Some(Value::List(items)) => items,
        _ => Vec::new(),
    }
}

fn put_list(spec: &mut Map, key: &str, items: Vec<Node>, mark: Mark) {
    if !items.is_empty() {
        let value = Node { value: Value::List(items), mark };
        spec.insert(Entry { key: key.into(), mark, value });
    }
}

fn named_like<'n>(items: &'n mut [Node], item: &Node) -> Option<&'n mut Node> {
    let name = item.get("name").and_then(Node::as_str)?.to_owned();
    items.iter_mut().find(|other| other.get("name").and_then(Node::as_str) == Some(&name))
}

fn add_item(items: &mut Vec<Node>, item: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let key = ["mountPath", "name"].into_iter().find(|key| item.get(key).is_some());
    let twin = key.and_then(|key| items.iter_mut().find(|other| other.get(key) == item.get(key)));
    if let Some(twin) = twin {
        return add(twin, item, sources);
    }
    // One flag given twice with different values: whichever is last would win.
    if let Some(flag) = flag(item)
        && let Some(other) = items.iter().find(|other| self::flag(other) == Some(flag) && *other != item)
    {
        return Err(conflict(other, item, sources));
    }
    if !items.contains(item) {
        items.push(item.clone());
    }
    Ok(())
}

/// The flag of an argument such as `--v=4`.
fn flag(item: &Node) -> Option<&str> {
    let text = item.as_str().filter(|text| text.starts_with('-'))?;
    text.split_once('=').map(|(flag, _)| flag)
}

fn conflict(target: &Node, body: &Node, sources: &Sources) -> Diagnostic {
    Diagnostic::error("two authors say different things about one field")
        .at(Location::of(body.mark, sources))
        .note(format!("the other is at {}", sources.show(target.mark)))
        .help("decide whose it is: make it an input, or use `set` or a patch where an exception is meant")
}
