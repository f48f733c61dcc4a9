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
        (Value::List(items), Value::List(more)) if more.iter().all(|item| item.as_str().is_some()) => {
            add_words(items, more, sources)
        }
        (Value::List(items), Value::List(more)) => {
            more.iter().try_for_each(|item| add_item(items, item, sources))
        }
        (current, new) if current == new => Ok(()),
        _ => Err(conflict(target, body, sources)),
    }
}

/// Adds texts to a list, such as arguments. A flag and the value behind it go together: `--config a` is one thing.
fn add_words(items: &mut Vec<Node>, more: &[Node], sources: &Sources) -> Result<(), Diagnostic> {
    let is_flag =
        |node: &Node| node.as_str().is_some_and(|text| text.starts_with('-') && !text.contains('='));
    let is_value = |node: &Node| node.as_str().is_some_and(|text| !text.starts_with('-'));
    let mut rest = more.iter().peekable();
    while let Some(item) = rest.next() {
        match rest.next_if(|next| is_flag(item) && is_value(next)) {
            Some(value) => match items.iter().position(|other| flag(other) == flag(item)) {
                Some(at) if items.get(at + 1) == Some(value) => {}
                Some(at) => return Err(conflict(&items[at], item, sources)),
                None => items.extend([item.clone(), value.clone()]),
            },
            None => add_item(items, item, sources)?,
        }
    }
    Ok(())
}

/// Adds a contribution to a pod template. Init containers that are new run before those of the manifest; an entry of
/// `containers` that is named like an init container adds to that one.
pub(super) fn add_pod(pod: &mut Node, body: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let mut rest = body.clone();
    let spec = rest.get_mut("spec").map(|spec| &mut spec.value);
    let (containers, init) = match spec {
        Some(Value::Map(spec)) => {
            only_lists(spec, sources)?;
            (take_list(spec, "containers"), take_list(spec, "initContainers"))
        }
        _ => (Vec::new(), Vec::new()),
    };
    add(pod, &rest, sources)?;
    one_source_each(pod, body, sources)?;
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

/// Containers that are no list would vanish.
fn only_lists(spec: &Map, sources: &Sources) -> Result<(), Diagnostic> {
    for key in ["containers", "initContainers"] {
        if let Some(entry) = spec.entry(key).filter(|entry| entry.value.as_list().is_none()) {
            return Err(Diagnostic::error(format!("`{key}` is a list, not {}", entry.value.value.kind()))
                .at(Location::of(entry.value.mark, sources)));
        }
    }
    Ok(())
}

/// A volume has one source: one author's `emptyDir` and another's `secret` do not make a volume.
fn one_source_each(pod: &Node, body: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let volumes = |pod: &Node| {
        let volumes = pod.get("spec").and_then(|spec| spec.get("volumes"));
        volumes.and_then(Node::as_list).unwrap_or_default().to_vec()
    };
    for added in volumes(body) {
        let same = |volume: &&Node| volume.get("name") == added.get("name");
        let all = volumes(pod);
        let crowded = all.iter().find(same).filter(|volume| volume.as_map().is_some_and(|map| map.len() > 2));
        if let Some(volume) = crowded {
            return Err(conflict(volume, &added, sources));
        }
    }
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
    // Subjects of one name may be of several kinds and namespaces.
    let told_apart = |other: &Node| {
        ["kind", "namespace"].iter().any(|field| {
            let (there, here) = (other.get(field), item.get(field));
            there.is_some() && here.is_some() && there != here
        })
    };
    let same = |other: &&mut Node, key: &str| other.get(key) == item.get(key) && !told_apart(other);
    let twin = key.and_then(|key| items.iter_mut().find(|other| same(other, key)));
    if let Some(twin) = twin {
        add(twin, item, sources)?;
        // A variable is given or taken from somewhere, not both.
        let both = twin.get("value").is_some() && twin.get("valueFrom").is_some();
        return if both { Err(conflict(twin, item, sources)) } else { Ok(()) };
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

/// The flag of an argument such as `--v=4`, or `-v=4` as Go's flags take it too, or `--v` with the value behind it.
fn flag(item: &Node) -> Option<&str> {
    let text = item.as_str().filter(|text| text.starts_with('-'))?;
    let name = text.split_once('=').map_or(text, |(flag, _)| flag).trim_start_matches('-');
    (!name.is_empty()).then_some(name)
}

fn conflict(target: &Node, body: &Node, sources: &Sources) -> Diagnostic {
    Diagnostic::error("two authors say different things about one field")
        .at(Location::of(body.mark, sources))
        .note(format!("the other is at {}", sources.show(target.mark)))
        .help("decide whose it is: make it an input, or use `set` or a patch where an exception is meant")
}
