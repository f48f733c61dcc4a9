//! A fragment: a word with typed inputs and its meaning in every topology side by side. It only adds.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::common::{Header, Metadata};
use super::typed::{Marked, Reader, Typed, typed, words};
use super::when::When;
use crate::yaml::{Node, Number, Value};

words! {
    /// The kind of a fragment's file.
    pub enum FragmentKind {
        /// A fragment.
        "Fragment" => Fragment,
    }
}

typed! {
    /// A reusable piece: what a word means in each topology.
    pub struct Fragment ("a fragment") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Fragment`
        "kind" kind: FragmentKind,
        /// The name of the fragment, by which pages use it.
        "metadata" metadata: Metadata,
        /// What the word says, in one sentence.
        "about" about: String,
        /// What its user must or may say.
        "inputs" inputs: BTreeMap<String, Marked<Input>>,
        /// Other fragments that it is made of.
        "uses" uses: Vec<Marked<Use>>,
        /// What it adds, and where.
        "parts" parts: Vec<Marked<Part>>,
    }
}

typed! {
    /// Something that is added.
    pub struct Part ("a part") {
        /// The profiles it concerns; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// It is added only then.
        "when" when: When,
        /// Why nothing is needed in these profiles.
        "nothing" nothing: Option<String>,
        /// A part of the pod template of the workload.
        "pod" pod: Option<Node>,
        /// A part of the workload itself.
        "workload" workload: Option<Node>,
        /// Objects, whole or in part; those of one identity are merged.
        "objects" objects: Vec<Node>,
        /// Other fragments that are used here.
        "uses" uses: Vec<Marked<Use>>,
    }
}

/// What a user of a fragment says for one of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// What a value must be.
    pub r#type: InputType,
    /// Its value where none is given; may mention inputs.
    pub default: Option<Node>,
    /// It may be absent.
    pub optional: bool,
    /// Taken from the user's scope where it is not given.
    pub inherit: bool,
}

typed! {
    /// An input with more to say than its type.
    struct InputFields ("an input") {
        /// What a value must be.
        "type" r#type: InputType,
        /// Its value where none is given; may mention inputs.
        "default" default: Option<Node>,
        /// It may be absent.
        "optional" optional: bool,
        /// Taken from the user's scope where it is not given.
        "inherit" inherit: bool,
    }
}

words! {
    /// What the value of an input must be.
    pub enum InputType {
        /// Any text.
        "string" => String,
        /// A name of an object, a container or a volume.
        "name" => Name,
        /// A path in a container.
        "path" => Path,
        /// A number of a port.
        "port" => Port,
        /// A whole number.
        "int" => Int,
        /// `true` or `false`.
        "bool" => Bool,
        /// A list.
        "list" => List,
        /// A map.
        "map" => Map,
        /// An object with pods, as `Kind/name`; inherited from whoever uses the fragment.
        "workload" => Workload,
        /// The name of a container; without it, the workload's only one.
        "container" => Container,
    }
}

impl InputType {
    /// Whether a value fits.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::String | Self::Name | Self::Workload | Self::Container, Value::String(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Number(Number::Int(_)))
            | (Self::List, Value::List(_))
            | (Self::Map, Value::Map(_)) => true,
            (Self::Path, Value::String(text)) => text.starts_with('/'),
            (Self::Port, Value::Number(Number::Int(port))) => (1..=65535).contains(port),
            _ => false,
        }
    }
}

impl Typed for Input {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if node.as_str().is_some() {
            let r#type = InputType::read(node, reader)?;
            return Some(Self { r#type, default: None, optional: false, inherit: false });
        }
        let InputFields { r#type, default, optional, inherit } = InputFields::read(node, reader)?;
        Some(Self { r#type, default, optional, inherit })
    }

    fn schema() -> Json {
        json!({"oneOf": [InputType::schema(), InputFields::schema()]})
    }
}

/// One use of a fragment: its name and what is said for its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The fragment.
    pub fragment: String,
    /// The inputs, each with its line.
    pub inputs: BTreeMap<String, Marked<Node>>,
}

impl Typed for Use {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let entries: Vec<_> = node.as_map().into_iter().flatten().collect();
        let [entry] = entries[..] else {
            reader.error(node.mark, "a use is one fragment with its inputs").help =
                Some("write `- fragment: {input: value}`".into());
            return None;
        };
        let inputs = match &entry.value.value {
            Value::Null => BTreeMap::new(),
            _ => BTreeMap::<String, Marked<Node>>::read(&entry.value, reader)?,
        };
        Some(Self { fragment: entry.key.to_string(), inputs })
    }

    fn schema() -> Json {
        json!({"type": "object", "minProperties": 1, "maxProperties": 1})
    }
}

impl Fragment {
    /// The name of the fragment.
    pub fn name(&self) -> &str {
        &self.metadata.name.0
    }
}
