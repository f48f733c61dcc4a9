//! Parameters: values from outside, declared with their type before anything uses them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::checks::Check;
use super::common::{Header, Metadata};
use super::template::{Lookup, Scope};
use super::typed::{Marked, Reader, Typed, typed, words};
use crate::diagnostic::Diagnostics;
use crate::nearest::nearest;
use crate::yaml::{Mark, Node, Number, Sources, Value, json};

words! {
    /// The kind of a file that declares parameters.
    pub(super) enum ParametersKind {
        /// Parameters.
        "Parameters" => Parameters,
    }
}

typed! {
    /// A file that declares parameters, or under `sets/` one that gives them values.
    pub(super) struct ParametersFile ("a Parameters file") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Parameters`
        "kind" kind: ParametersKind,
        /// The name of the file's subject.
        "metadata" metadata: Metadata,
        /// The parameters by their dotted names.
        "parameters" parameters: BTreeMap<String, Marked<Parameter>>,
        /// In a set: the profiles it concerns; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// In a set: the values.
        "values" values: Option<Node>,
    }
}

typed! {
    /// One parameter.
    pub struct Parameter ("a parameter") {
        /// What a value must be.
        "type" r#type: Type,
        /// What it is for, in one sentence.
        "description" description: String,
        /// The values it may have.
        "enum" choices: Vec<Node>,
        /// A regular expression that a text must match as a whole.
        "pattern" pattern: Option<Marked<String>>,
        /// Its value where none is given. A parameter without one must be given, unless it is optional.
        "default" default: Option<Node>,
        /// It may be absent: what is written with it alone is then left out.
        "optional" optional: bool,
        /// Its value is shown in no message.
        "secret" secret: bool,
        /// Where its value stands in an object of the cluster, where that object is at hand: one place, or several of which
        /// the first that is there counts.
        "read" read: Reads,
    }
}

typed! {
    /// Where the value of a parameter stands.
    pub(super) struct Read ("read") {
        /// The object.
        "object" object: Readable,
        /// The path of the value in it, as a JSON pointer.
        "path" path: Marked<String>,
    }
}

/// The places that a value may stand in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads(Vec<Read>);

impl Typed for Reads {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let places = match &node.value {
            Value::List(_) => Vec::read(node, reader)?,
            _ => vec![Read::read(node, reader)?],
        };
        Some(Self(places))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        serde_json::json!({"oneOf": [Read::schema(), {"type": "array", "items": Read::schema()}]})
    }
}

words! {
    /// Objects that values are read from.
    pub enum Readable {
        /// The hosted control plane, from the management cluster: `--hosted-control-plane`.
        "HostedControlPlane" => HostedControlPlane,
        /// The Infrastructure, from the guest, whose admin may edit it: `--infrastructure`.
        "Infrastructure" => Infrastructure,
        /// A driver's `ClusterCSIDriver`, from the guest, with what its operator has observed: `--cluster-csi-driver`.
        "ClusterCSIDriver" => ClusterCsiDriver,
    }
}

impl Readable {
    /// The kind of the object.
    pub fn kind(self) -> &'static str {
        match self {
            Self::HostedControlPlane => "HostedControlPlane",
            Self::Infrastructure => "Infrastructure",
            Self::ClusterCsiDriver => "ClusterCSIDriver",
        }
    }
}

words! {
    /// What a value must be.
    pub enum Type {
        /// Any text.
        "string" => String,
        /// A name of a Kubernetes object.
        "name" => Name,
        /// A whole number.
        "int" => Int,
        /// A number of a port.
        "port" => Port,
        /// `true` or `false`.
        "bool" => Bool,
        /// A list.
        "list" => List,
        /// A map.
        "map" => Map,
    }
}

impl Type {
    fn accepts(self, value: &Value) -> bool {
        let whole = |value: &Value| match value {
            Value::Number(Number::Int(int)) => Some(*int),
            _ => None,
        };
        match self {
            Self::String => matches!(value, Value::String(_)),
            Self::Name => matches!(value, Value::String(text) if is_name(text)),
            Self::Int => whole(value).is_some(),
            Self::Port => whole(value).is_some_and(|port| (1..=65535).contains(&port)),
            Self::Bool => matches!(value, Value::Bool(_)),
            Self::List => matches!(value, Value::List(_)),
            Self::Map => matches!(value, Value::Map(_)),
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::String => "text",
            Self::Name => "a name of lower-case letters, digits, `-` and `.`",
            Self::Int => "a whole number",
            Self::Port => "a port, from 1 to 65535",
            Self::Bool => "true or false",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

fn is_name(text: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 253 && text.bytes().all(fine) && edge(text.bytes().next()) && edge(text.bytes().last())
}

impl Parameter {
    /// Whether it can ever have a value: of its type, and one of its choices.
    pub fn can_be(&self, value: &Node) -> bool {
        self.r#type.accepts(&value.value) && (self.choices.is_empty() || self.choices.contains(value))
    }

    /// Whether its values are texts, however they look.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.r#type, Type::String | Type::Name)
    }

    /// What is wrong with the declaration itself.
    pub(super) fn check_declaration(&self, name: &str, mark: Mark, reader: &mut Reader<'_>) {
        for Read { path, .. } in self.read.0.iter().filter(|read| !read.path.value.starts_with('/')) {
            reader.error(path.mark, format!("`{}` is no path", path.value)).help =
                Some("write a JSON pointer such as /spec/platform/type".into());
        }
        // Promise 5: the guest's admin may write anything there.
        let bounded = matches!(self.r#type, Type::Name | Type::Int | Type::Port | Type::Bool)
            || !self.choices.is_empty()
            || self.pattern.is_some();
        let of_guest = self.read.0.iter().any(|read| read.object != Readable::HostedControlPlane);
        if of_guest && !bounded {
            let error = reader.error(mark, format!("`{name}` is read from the guest, and may be anything"));
            error.code = Some(Check::UnvalidatedGuestValue.code());
            error.help = Some("the guest is hostile: give it `pattern` or `enum`".into());
        }
    }

    /// Whether a value is what the parameter says. A secret's is not repeated in the message.
    fn check(&self, name: &str, node: &Node, reader: &mut Reader<'_>) {
        let shown = || match &node.value {
            Value::String(text) if !self.secret => format!("`{text}`"),
            value => value.kind().to_owned(),
        };
        if !self.r#type.accepts(&node.value) {
            reader.error(node.mark, format!("`{name}` cannot be {}: it is {}", shown(), self.r#type.words()));
        } else if !self.choices.is_empty() && !self.choices.contains(node) {
            let choices: Vec<String> = self.choices.iter().map(json::write).collect();
            reader.error(node.mark, format!("`{name}` cannot be {}", shown())).help =
                Some(format!("it is one of {}", choices.join(", ")));
        } else if let (Some(pattern), Some(text)) = (&self.pattern, node.as_str()) {
            match regex_lite::Regex::new(&format!("^(?:{})$", pattern.value)) {
                Ok(regex) if regex.is_match(text) => {}
                Ok(_) => {
                    reader.error(node.mark, format!("`{name}` cannot be {}", shown())).help =
                        Some(format!("it must match {}", pattern.value));
                }
                Err(error) => {
                    reader.error(pattern.mark, format!("this is no regular expression: {error}"));
                }
            }
        }
    }
}

/// The values of all declared parameters.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    values: BTreeMap<String, Lookup>,
    /// The texts of those that are secret.
    secrets: Vec<String>,
    secret_names: BTreeSet<String>,
}

impl Parameters {
    /// Takes values for declared parameters: from each tree in turn, later ones win; else from the objects at hand,
    /// and last the defaults.
    pub fn bind(
        declared: &BTreeMap<String, Marked<Parameter>>,
        given: &[Node],
        objects: &[(Readable, Node)],
        sources: &Sources,
    ) -> Result<Self, Diagnostics> {
        let mut reader = Reader { sources, errors: Diagnostics::default() };
        let mut found = BTreeMap::new();
        for tree in given {
            collect(tree, "", declared, &mut found, &mut reader);
        }
        let mut values = BTreeMap::new();
        let (mut secrets, mut secret_names) = (Vec::new(), BTreeSet::new());
        for (name, Marked { value: parameter, mark }) in declared {
            let place = |read: &Read| {
                let (_, object) = objects.iter().find(|(kind, _)| *kind == read.object)?;
                at(object, &read.path.value)
            };
            let read = || parameter.read.0.iter().find_map(place);
            let node = found.remove(name).or_else(read).or_else(|| parameter.default.clone());
            let value = match node {
                Some(node) if node.value != Value::Null => {
                    parameter.check(name, &node, &mut reader);
                    if parameter.secret {
                        secret_names.insert(name.clone());
                        texts(&node, &mut secrets);
                    }
                    Lookup::Value(node.value)
                }
                _ => {
                    if !parameter.optional {
                        let help = format!("give it one with --set {name}=…, or in a file with --params");
                        reader.error(*mark, format!("the parameter `{name}` has no value")).help = Some(help);
                    }
                    Lookup::Absent
                }
            };
            values.insert(name.clone(), value);
        }
        reader.errors.or(Self { values, secrets, secret_names })
    }

    /// The values that no message may show.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// Every name that has a value or is absent on purpose.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl Scope for Parameters {
    fn get(&self, name: &str) -> Result<Lookup, String> {
        self.values.get(name).cloned().ok_or_else(|| match nearest(name, self.names()) {
            Some(near) => format!("did you mean `${{{near}}}`?"),
            None => "declare it as a parameter".to_owned(),
        })
    }

    fn is_secret(&self, name: &str) -> bool {
        self.secret_names.contains(name)
    }
}

/// Every text in a value, and every number of some length as it is written.
fn texts(node: &Node, found: &mut Vec<String>) {
    match &node.value {
        Value::String(text) if !text.is_empty() => found.push(text.to_string()),
        Value::Number(_) => found.extend(Some(json::write(node)).filter(|digits| digits.len() > 2)),
        Value::List(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Map(map) => map.iter().for_each(|entry| texts(&entry.value, found)),
        _ => {}
    }
}

/// The value at a JSON pointer, if it is there.
fn at(object: &Node, path: &str) -> Option<Node> {
    let segments = path.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    let step = |node: &Node, segment: String| match &node.value {
        Value::Map(map) => map.get(&segment).cloned(),
        Value::List(items) => segment.parse::<usize>().ok().and_then(|index| items.get(index)).cloned(),
        _ => None,
    };
    segments.into_iter().try_fold(object.clone(), |node, segment| step(&node, segment))
}

/// Walks a tree of values down to the names that are declared.
fn collect(
    node: &Node,
    above: &str,
    declared: &BTreeMap<String, Marked<Parameter>>,
    found: &mut BTreeMap<String, Node>,
    reader: &mut Reader<'_>,
) {
    let Some(map) = node.as_map() else {
        reader.error(node.mark, format!("values of parameters are a map, not {}", node.value.kind()));
        return;
    };
    for entry in map {
        let name = if above.is_empty() { entry.key.to_string() } else { format!("{above}.{}", entry.key) };
        let group = format!("{name}.");
        if declared.contains_key(&name) {
            found.insert(name, entry.value.clone());
        } else if declared.keys().any(|other| other.starts_with(&group)) {
            collect(&entry.value, &name, declared, found, reader);
        } else {
            let help = match nearest(&name, declared.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it in a Parameters file, or leave it out".to_owned(),
            };
            reader.error(entry.mark, format!("there is no parameter `{name}`")).help = Some(help);
        }
    }
}
