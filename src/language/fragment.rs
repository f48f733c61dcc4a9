//! A fragment: a word with typed inputs and its meaning in every topology side by side. It only adds.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::common::{Header, Metadata, Omissions};
use super::component::Place;
use super::intents::Intents;
use super::typed::{Marked, Reader, Typed, typed, words};
use super::when::When;
use crate::yaml::{Mark, Node, Number, Value, json};

words! {
    /// The kind of a fragment's file.
    pub enum FragmentKind {
        /// A fragment.
        "Fragment" => Fragment,
    }
}

/// A reusable piece: what a word means in each topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// What its file says.
    pub body: FragmentFile,
    /// The manifests in its folder, where it is a shape: documents in which its inputs and values are not yet put in.
    pub manifests: Vec<FragmentManifest>,
    /// Where it is written.
    pub mark: Mark,
}

/// A document of a shape's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentManifest {
    /// The file, as messages show it.
    pub file: String,
    /// Its place among the file's documents, from one.
    pub document: usize,
    /// The object, with `${}` where values go.
    pub root: Node,
}

typed! {
    /// A fragment's file.
    pub struct FragmentFile ("a fragment") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Fragment`
        "kind" kind: FragmentKind,
        /// The name of the fragment, by which pages use it.
        "metadata" metadata: Metadata,
        /// What the word says, in one sentence.
        "description" description: String,
        /// What its user must or may say.
        "inputs" inputs: BTreeMap<String, Marked<Input>>,
        /// Names for `${}` in its manifests and parts: constants, parameters, or made of inputs.
        "values" values: BTreeMap<String, Marked<Node>>,
        /// On which side of the line its objects live; the page that uses it may say otherwise.
        "place" place: Option<Place>,
        /// Objects of its that are left out, each with a reason.
        "omit" omit: Omissions,
        /// Other fragments that it is made of.
        "uses" uses: Vec<Marked<Use>>,
        /// What it adds, and where.
        "adds" adds: Vec<Marked<Addition>>,
    }
}

typed! {
    /// Something that is added.
    pub struct Addition ("a part") {
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
        /// How facts that are found in this component are honoured, where not as the profile says.
        "intents" intents: Intents,
    }
}

/// A part says something, or that nothing is needed, and not both.
pub(super) fn check_additions(parts: &[Marked<Addition>], reader: &mut Reader<'_>) {
    for Marked { value: part, mark } in parts {
        let body = part.pod.is_some()
            || part.workload.is_some()
            || !part.objects.is_empty()
            || !part.uses.is_empty()
            || !part.intents.0.is_empty();
        match (&part.nothing, body) {
            (Some(_), true) => {
                reader.error(*mark, "a part that says both something and `nothing`").help =
                    Some("remove `nothing`, or make two parts of it".into());
            }
            (None, false) => {
                reader.error(*mark, "a part that says nothing").help =
                    Some("where nothing is needed, say why: `nothing: …`".into());
            }
            _ => {}
        }
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
    /// The values it may have; any if empty.
    pub choices: Vec<Node>,
    /// What its text, or each text of its list, must match as a whole.
    pub pattern: Option<Pattern>,
    /// The kinds that an object may be of; any if empty.
    pub kinds: Vec<String>,
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
        /// The values it may have.
        "enum" choices: Vec<Node>,
        /// A regular expression that its text, or each text of its list, must match as a whole.
        "pattern" pattern: Option<Pattern>,
        /// The kinds that an object may be of.
        "kinds" kinds: Vec<String>,
        /// Taken from the user's scope where it is not given.
        "inherit" inherit: bool,
    }
}

/// A regular expression for a whole text.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is written.
    pub text: String,
    regex: regex_lite::Regex,
}

impl Pattern {
    /// Whether a text is what the pattern says.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Typed for Pattern {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        match regex_lite::Regex::new(&format!("^(?:{text})$")) {
            Ok(regex) => Some(Self { text, regex }),
            Err(error) => {
                reader.error(node.mark, format!("this is no regular expression: {error}"));
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": "string", "format": "regex"})
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
        /// A tag of the release: `${x}` is its pullspec, `${x.guest}` and `${x.management}` those of one release.
        "image" => Image,
        /// An object of the component as `Kind/name`: `${x.name}`, `${x.namespace}`, `${x.kind}`, `${x.apiVersion}`.
        "object" => Object,
        /// A list of objects, each as `Kind/name` or `Kind.group/name`.
        "objects" => Objects,
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
            (
                Self::String | Self::Workload | Self::Container | Self::Image | Self::Object,
                Value::String(_),
            )
            | (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Number(Number::Int(_)))
            | (Self::List, Value::List(_))
            | (Self::Map, Value::Map(_)) => true,
            (Self::Objects, Value::List(items)) => items.iter().all(|item| item.as_str().is_some()),
            (Self::Name, Value::String(text)) => {
                !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || letter == '/')
            }
            (Self::Path, Value::String(text)) => text.starts_with('/'),
            (Self::Port, Value::Number(Number::Int(port))) => (1..=65535).contains(port),
            _ => false,
        }
    }
}

impl Input {
    /// The JSON Schema of what a user may write for it: a value, a list of them to use the fragment once for each, or a
    /// text that mentions names.
    pub(super) fn value_schema(&self) -> Json {
        let mut one = match self.r#type {
            InputType::Port => json!({"type": "integer", "minimum": 1, "maximum": 65535}),
            InputType::Int => json!({"type": "integer"}),
            InputType::Bool => json!({"type": "boolean"}),
            InputType::List => json!({"type": "array"}),
            InputType::Objects => json!({"type": "array", "items": {"type": "string"}}),
            InputType::Map => json!({"type": "object"}),
            InputType::Path => json!({"type": "string", "pattern": "^/"}),
            InputType::Workload | InputType::Object => {
                json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?/.+$"})
            }
            InputType::String | InputType::Name | InputType::Image | InputType::Container => {
                json!({"type": "string"})
            }
        };
        if !self.choices.is_empty() {
            let choices =
                self.choices.iter().filter_map(|choice| serde_json::from_str(&json::write(choice)).ok());
            one = json!({"enum": choices.collect::<Vec<Json>>()});
        }
        json!({"anyOf": [one, {"type": "array", "items": one}, {"type": "string", "pattern": "\\$\\{"}]})
    }

    /// Whether its value is a list.
    pub fn takes_list(&self) -> bool {
        matches!(self.r#type, InputType::List | InputType::Objects)
    }

    /// Whether a user must say something for it.
    pub fn is_required(&self) -> bool {
        let known = matches!(self.r#type, InputType::Workload | InputType::Container);
        self.default.is_none() && !self.optional && !self.inherit && !known
    }
}

impl Typed for Input {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if node.as_str().is_some() {
            let r#type = InputType::read(node, reader)?;
            return Some(Self {
                r#type,
                default: None,
                optional: false,
                choices: Vec::new(),
                pattern: None,
                kinds: Vec::new(),
                inherit: false,
            });
        }
        let InputFields { r#type, default, optional, choices, pattern, kinds, inherit } =
            InputFields::read(node, reader)?;
        Some(Self { r#type, default, optional, choices, pattern, kinds, inherit })
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
        json!({"$ref": "#/$defs/use"})
    }
}

impl Fragment {
    /// The name of the fragment.
    pub fn name(&self) -> &str {
        &self.body.metadata.name.0
    }
}
