//! The tree that a document becomes: values, and the position of each.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::{Map, Mark, Number};

/// A string in the tree. Strings of up to 23 bytes, which most are, need no allocation; copies of longer ones share
/// their bytes.
pub type Text = SmolStr;

/// A value and the position where it was written.
///
/// Two nodes are equal if their values are equal, wherever they were written.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where the value was written. A value that an alias inserted has the position of its anchor.
    pub mark: Mark,
    /// Who may see the value. Copies keep it; reading sets it to public, and whoever knows more sets it.
    pub sensitivity: Sensitivity,
    /// How the value was written. Writing does not depend on it.
    pub style: ScalarStyle,
}

/// How a scalar was written. Maps and lists are plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalarStyle {
    /// Without quotes, or not in a file.
    #[default]
    Plain,
    /// In quotes, or as a block. Reading makes every such scalar a string.
    Quoted,
    /// A program filled the value into a text without quotes, such as `${port}`. Reading never sets it.
    Filled,
}

/// Who may see a value. Of two values that are combined, the more sensitive one decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// Everybody.
    #[default]
    Public,
    /// Whoever can read the files that the value is written in. Messages do not show it.
    Masked,
    /// Only whoever gave the value. Messages do not show it, and no file in a repository may contain it.
    Secret,
}

/// A JSON value. Integers keep all their digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer or a float.
    Number(Number),
    /// A string.
    String(Text),
    /// A list.
    List(Vec<Node>),
    /// A map from strings to nodes.
    Map(Map),
}

/// A key of a [`Map`] with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Text,
    /// Where the key was written.
    pub mark: Mark,
    /// The value.
    pub value: Node,
}

/// A key that a map has more than once. The last value wins, as it does in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: Text,
    /// Where the key with the ignored value was written.
    pub dropped: Mark,
    /// Where the key with the value that wins was written.
    pub kept: Mark,
}

impl Node {
    /// Creates a public node.
    pub fn new(value: Value, mark: Mark) -> Self {
        Self { value, mark, sensitivity: Sensitivity::Public, style: ScalarStyle::Plain }
    }

    /// Returns a node with another value, and with the position, the sensitivity and the style of this one.
    #[must_use]
    pub fn with_value(&self, value: Value) -> Self {
        Self { value, mark: self.mark, sensitivity: self.sensitivity, style: self.style }
    }

    /// Makes the node and everything below it at least this sensitive.
    pub fn protect(&mut self, sensitivity: Sensitivity) {
        self.sensitivity = self.sensitivity.max(sensitivity);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.protect(sensitivity)),
            Value::Map(map) => map.values_mut().for_each(|value| value.protect(sensitivity)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns the highest sensitivity of the node and everything below it.
    pub fn highest_sensitivity(&self) -> Sensitivity {
        let below = match &self.value {
            Value::List(items) => items.iter().map(Node::highest_sensitivity).max(),
            Value::Map(map) => map.iter().map(|entry| entry.value.highest_sensitivity()).max(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        self.sensitivity.max(below.unwrap_or_default())
    }

    /// Returns the value of a key, if this is a map that has the key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key)
    }

    /// Returns the value of a key for changing it, if this is a map that has the key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Map(map) => map.get_mut(key),
            _ => None,
        }
    }

    /// Returns the boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    /// Returns the integer, if this is one that fits into an `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Number(Number::Int(int)) => Some(int),
            _ => None,
        }
    }

    /// Returns the string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the items, if this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns a copy with strings replaced: `new` is called for every string value, and returns its replacement or
    /// `None` to keep it. Returns `None` if `new` keeps them all. Keys do not change, and unchanged parts stay shared.
    ///
    /// ```
    /// use kubernetes_yaml::{SourceId, read, write};
    ///
    /// let root = &read("image: a:1\nname: b\n", SourceId::default())?[0].root;
    /// let changed = root.with_texts(&|text| text.strip_suffix(":1").map(|name| format!("{name}:2")));
    /// assert_eq!(write(&changed.unwrap()), "image: a:2\nname: b\n");
    /// # Ok::<(), kubernetes_yaml::SyntaxError>(())
    /// ```
    pub fn with_texts(&self, new: &impl Fn(&str) -> Option<String>) -> Option<Node> {
        let value = match &self.value {
            Value::String(text) => Value::String(new(text)?.into()),
            Value::List(items) => {
                let mut copy: Option<Vec<Node>> = None;
                for (index, item) in items.iter().enumerate() {
                    if let Some(item) = item.with_texts(new) {
                        copy.get_or_insert_with(|| items.clone())[index] = item;
                    }
                }
                Value::List(copy?)
            }
            Value::Map(map) => {
                let mut copy: Option<Map> = None;
                for (index, entry) in map.iter().enumerate() {
                    if let Some(value) = entry.value.with_texts(new) {
                        let copy = copy.get_or_insert_with(|| map.clone());
                        Arc::make_mut(&mut copy.entries)[index].value = value;
                    }
                }
                Value::Map(copy?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        };
        Some(self.with_value(value))
    }
}

/// A node without a position.
impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self::new(value, Mark::default())
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Value {
    /// Returns the kind of value as messages name it, such as `a list`.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}
