//! The address of an object. A strategic merge patch names its object with these fields; they are no content, so the patch
//! never renames the object, moves it or changes its kind. kustomize does the same.

use crate::yaml::{Entry, Map, Node, Value};

/// The fields of the address at the top of an object.
const ROOT_FIELDS: [&str; 2] = ["apiVersion", "kind"];
/// The fields of the address in the metadata of an object.
const METADATA_FIELDS: [&str; 2] = ["name", "namespace"];

/// The address of an object before a patch: each field, and its value if the object has it.
pub(super) struct Address {
    root: Vec<(&'static str, Option<Entry>)>,
    metadata: Vec<(&'static str, Option<Entry>)>,
}

impl Address {
    /// Returns the address of an object.
    pub(super) fn of(object: &Node) -> Self {
        Self {
            root: fields(Some(object), &ROOT_FIELDS),
            metadata: fields(object.get("metadata"), &METADATA_FIELDS),
        }
    }

    /// Gives an object this address again.
    pub(super) fn restore(self, object: &mut Node) {
        let mark = object.mark;
        let Value::Map(root) = &mut object.value else { return };
        put(root, self.root);
        if root.get("metadata").and_then(Node::as_map).is_none() {
            root.insert(Entry {
                key: "metadata".into(),
                mark,
                value: Node::new(Value::Map(Map::default()), mark),
            });
        }
        if let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) {
            put(metadata, self.metadata);
        }
    }
}

fn fields(parent: Option<&Node>, keys: &[&'static str]) -> Vec<(&'static str, Option<Entry>)> {
    let parent = parent.and_then(Node::as_map);
    keys.iter().map(|key| (*key, parent.and_then(|map| map.entry(key)).cloned())).collect()
}

fn put(map: &mut Map, fields: Vec<(&'static str, Option<Entry>)>) {
    for (key, field) in fields {
        match field {
            Some(entry) => map.insert(entry),
            None => drop(map.remove(key)),
        }
    }
}
