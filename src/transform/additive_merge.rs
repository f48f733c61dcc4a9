//! Merges an addition into an object: maps merge, list items with the same name merge, other lists get the items that they
//! do not have. A field that already has a different value is an error. A field that is null is not set.

use super::conflict::Conflict;
use crate::diagnostic::{Diagnostic, Location};
use crate::object::path::{ITEM_KEYS, escape, item_segment};
use crate::object::{Object, list, mask, pod, pod_mut, pod_path, take_pod_template, volumes};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

/// Merges an addition into an object. Its pod template follows the rules for pods.
pub(super) fn merge_object_addition(
    object: &mut Object,
    addition: &Node,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    let kind = object.id.kind.as_str();
    let mut rest = addition.clone();
    // An error about a Secret must not show its values.
    mask::protect_secret(&mut rest);
    if pod(&object.root, kind).is_none_or(|pod| pod.as_map().is_none()) {
        return merge_addition(&mut object.root, &rest, "", sources);
    }
    let Some(template) = take_pod_template(&mut rest, kind) else {
        return merge_addition(&mut object.root, &rest, "", sources);
    };
    merge_addition(&mut object.root, &rest, "", sources)?;
    merge_pod_addition(object, &template, sources)
}

/// Merges an addition into a node. `path` is the path of the node in its object.
pub(super) fn merge_addition(
    target: &mut Node,
    addition: &Node,
    path: &str,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    merge(target, addition).map_err(|conflict| conflict.diagnostic(path, sources))
}

/// The result of a merge.
type Merged = Result<(), Conflict>;

fn merge(target: &mut Node, addition: &Node) -> Merged {
    target.sensitivity = target.sensitivity.max(addition.sensitivity);
    match (&mut target.value, &addition.value) {
        (_, Value::Null) => Ok(()),
        (Value::Null, _) => {
            *target = addition.clone();
            Ok(())
        }
        (Value::Map(map), Value::Map(added)) => {
            for entry in added.iter().filter(|entry| entry.value.value != Value::Null) {
                match map.get_mut(&entry.key) {
                    Some(current) => {
                        merge(current, &entry.value).map_err(|error| error.in_field(&entry.key))?;
                    }
                    None => map.insert(entry.clone()),
                }
            }
            Ok(())
        }
        (Value::List(items), Value::List(added)) => {
            if added.iter().all(|item| item.as_str().is_some()) {
                return merge_strings(items, added);
            }
            for item in added {
                merge_item(items, item)?;
            }
            Ok(())
        }
        (current, new) if current == new => Ok(()),
        _ => Err(Conflict::new(target, addition)),
    }
}

/// Merges an addition into the pod template of an object, if it has one.
///
/// New init containers run before those of the manifest, in the order in which they are added. An entry of `containers`
/// with the name of an init container adds to that init container.
pub(super) fn merge_pod_addition(
    object: &mut Object,
    addition: &Node,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    if let Some(spec) = addition.get("spec").and_then(Node::as_map) {
        require_container_lists(spec, sources)?;
    }
    let path = pod_path(&object.id.kind);
    merge_pod(object, addition).map_err(|conflict| conflict.diagnostic(&path, sources))
}

fn merge_pod(object: &mut Object, addition: &Node) -> Merged {
    let Some(pod) = pod_mut(&mut object.root, &object.id.kind) else { return Ok(()) };
    let mut rest = addition.clone();
    let (mut added, mut added_init) = (Vec::new(), Vec::new());
    if let Some(Value::Map(spec)) = rest.get_mut("spec").map(|spec| &mut spec.value) {
        added = take_list(spec, "containers");
        added_init = take_list(spec, "initContainers");
    }
    let volumes_before = volumes(pod).to_vec();
    merge(pod, &rest)?;
    require_one_source_per_volume(pod, &volumes_before, addition)
        .map_err(|conflict| conflict.in_field("volumes").in_field("spec"))?;
    let Some(Value::Map(spec)) = pod.get_mut("spec").map(|spec| &mut spec.value) else { return Ok(()) };
    let mut containers = take_list(spec, "containers");
    let mut init_containers = take_list(spec, "initContainers");
    for item in &added_init {
        if find_by_name(&mut init_containers, item).is_some() {
            merge_container(&mut init_containers, item, "initContainers")?;
            continue;
        }
        let index = object.added_init_containers.min(init_containers.len());
        init_containers.insert(index, item.clone());
        object.added_init_containers += 1;
    }
    for item in &added {
        match find_by_name(&mut init_containers, item) {
            Some(_) => merge_container(&mut init_containers, item, "initContainers")?,
            None => merge_container(&mut containers, item, "containers")?,
        }
    }
    put_list(spec, "containers", containers, addition.mark);
    put_list(spec, "initContainers", init_containers, addition.mark);
    Ok(())
}

/// Merges a container into the one with the same name, or adds it.
fn merge_container(containers: &mut Vec<Node>, container: &Node, field: &str) -> Merged {
    merge_item(containers, container).map_err(|conflict| conflict.in_field(field).in_field("spec"))
}

/// Refuses `containers` that is not a list: `take_list` would drop it.
fn require_container_lists(spec: &Map, sources: &Sources) -> Result<(), Diagnostic> {
    for key in ["containers", "initContainers"] {
        let Some(value) = present(spec.get(key)) else { continue };
        if value.as_list().is_none() {
            return Err(Diagnostic::error(format!("`{key}` is a list, not {}", value.value.kind()))
                .at(Location::of(value.mark, sources)));
        }
    }
    Ok(())
}

/// Refuses an addition that gives a volume a second source, such as `secret` next to `emptyDir`.
fn require_one_source_per_volume(pod: &Node, before: &[Node], addition: &Node) -> Merged {
    for added in volumes(addition) {
        let has_name = |volume: &&Node| volume.get("name") == added.get("name");
        let merged = volumes(pod).iter().find(has_name);
        // A volume has a name and a source.
        let fields = |map: &Map| map.iter().filter(|entry| entry.value.value != Value::Null).count();
        if let Some(volume) = merged
            && volume.as_map().is_some_and(|map| fields(map) > 2)
        {
            let current = before.iter().find(has_name).unwrap_or(volume);
            return Err(Conflict::new(current, added).in_item(item_segment(added, 0)));
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
        spec.insert(Entry { key: key.into(), mark, value: list(items, mark) });
    }
}

fn find_by_name<'n>(items: &'n mut [Node], item: &Node) -> Option<&'n mut Node> {
    let name = item.get("name").and_then(Node::as_str)?;
    items.iter_mut().find(|other| other.get("name").and_then(Node::as_str) == Some(name))
}

/// Merges strings into a list, such as command-line arguments. A flag and a value that follows it belong together.
fn merge_strings(items: &mut Vec<Node>, added: &[Node]) -> Merged {
    let mut rest = added.iter().peekable();
    while let Some(item) = rest.next() {
        let Some(value) = rest.next_if(|next| takes_value(item) && is_value(next)) else {
            merge_item(items, item)?;
            continue;
        };
        match items.iter().position(|other| flag_of(other) == flag_of(item)) {
            Some(index) if items.get(index + 1) == Some(value) => {}
            Some(index) => {
                let other =
                    items.get(index + 1).filter(|other| takes_value(&items[index]) && is_value(other));
                let current = other
                    .map_or(items[index].clone(), |other| Node { mark: items[index].mark, ..other.clone() });
                let added = Node { mark: item.mark, ..value.clone() };
                return Err(Conflict::new(&current, &added).in_item(flag_segment(item)));
            }
            None => items.extend([item.clone(), value.clone()]),
        }
    }
    Ok(())
}

/// Returns whether an argument is a flag without a value, so that the next argument may be its value.
fn takes_value(argument: &Node) -> bool {
    argument.as_str().is_some_and(|text| text.starts_with('-') && !text.contains('='))
}

fn is_value(argument: &Node) -> bool {
    argument.as_str().is_some_and(|text| !text.starts_with('-'))
}

/// Returns the flag of an argument such as `--v=4`, `-v=4` or `--v`, without its dashes.
fn flag_of(argument: &Node) -> Option<&str> {
    let text = argument.as_str()?;
    if !text.starts_with('-') {
        return None;
    }
    let flag = text.split_once('=').map_or(text, |(flag, _)| flag).trim_start_matches('-');
    (!flag.is_empty()).then_some(flag)
}

/// Returns the segment of a path that selects an argument by its flag, such as `[--v]`.
fn flag_segment(argument: &Node) -> String {
    let text = mask::text(argument);
    format!("[{}]", escape(text.split_once('=').map_or(text, |(flag, _)| flag)))
}

/// Merges an item into a list: into the item with the same mount path or name, or as a new item.
fn merge_item(items: &mut Vec<Node>, item: &Node) -> Merged {
    if let Some(index) = items.iter().position(|other| is_same_item(other, item)) {
        let existing = &mut items[index];
        let before = existing.clone();
        merge(existing, item).map_err(|conflict| conflict.in_item(item_segment(item, index)))?;
        // An environment variable has either a value or a source.
        if present(existing.get("value")).is_some() && present(existing.get("valueFrom")).is_some() {
            return Err(Conflict::new(&before, item).in_item(item_segment(item, index)));
        }
        return Ok(());
    }
    // If a flag is given twice, the program uses only the last one.
    if let Some(flag) = flag_of(item)
        && let Some(other) = items.iter().find(|other| flag_of(other) == Some(flag) && *other != item)
    {
        return Err(Conflict::new(other, item).in_item(flag_segment(item)));
    }
    if !items.contains(item) {
        items.push(item.clone());
    }
    Ok(())
}

/// Returns whether two items describe the same thing.
fn is_same_item(other: &Node, item: &Node) -> bool {
    let Some(key) = ITEM_KEYS.into_iter().find(|key| present(item.get(key)).is_some()) else {
        return false;
    };
    // The subjects of a binding can have the same name in several namespaces.
    let differs = |field: &str| match (other.get(field), item.get(field)) {
        (Some(other), Some(own)) => other != own,
        _ => false,
    };
    other.get(key) == item.get(key) && !differs("kind") && !differs("namespace")
}

/// Returns a field that is set. A field that is null is not set.
fn present(field: Option<&Node>) -> Option<&Node> {
    field.filter(|node| node.value != Value::Null)
}
