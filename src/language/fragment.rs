//! A fragment: a reusable addition with typed inputs. It lists its additions for all profiles side by side.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::bounds::Bounds;
use super::header::{ApiVersion, Metadata};
use super::intents::Intents;
use super::omission::Omissions;
use super::page::Place;
use super::pattern::TextPattern;
use super::typed::{Marked, Reader, Typed, string_enum, typed};
use super::value_rules::ValueRules;
use super::value_type::ValueType;
use super::when::When;
use crate::yaml::{Mark, Node, Value};

string_enum! {
    /// The kind of a fragment's file.
    pub(crate) enum FragmentKind {
        /// A fragment.
        "Fragment" => Fragment,
    }
}

/// A fragment with the manifests in its folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fragment {
    /// The fields of its file.
    pub(crate) body: FragmentFile,
    /// The manifests in its folder, before `${…}` is filled in. Empty for a fragment without a folder.
    pub(crate) manifests: Vec<FragmentManifest>,
    /// The position of the fragment.
    pub(crate) mark: Mark,
}

/// A document in the folder of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FragmentManifest {
    /// The file, as messages show it.
    pub(crate) file: String,
    /// The number of the document in the file, from one.
    pub(crate) document: usize,
    /// The object, before `${…}` is filled in.
    pub(crate) root: Node,
}

typed! {
    /// A reusable addition with typed inputs.
    pub(crate) struct FragmentFile ("a fragment") {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// `Fragment`
        "kind" kind: FragmentKind,
        /// The name with which pages use the fragment.
        "metadata" metadata: Metadata,
        /// The purpose of the fragment, in one sentence.
        "description" description: String,
        /// The inputs that a page gives when it uses the fragment.
        "inputs" inputs: BTreeMap<String, Marked<Input>>,
        /// Names for `${…}` in the manifests and additions of the fragment, computed from inputs and parameters.
        "values" values: BTreeMap<String, Marked<Node>>,
        /// The cluster in which each object of the fragment lives. The page that uses the fragment can override it.
        "place" place: Option<Place>,
        /// Objects that the fragment leaves out, each with a reason.
        "omit" omit: Omissions,
        /// Other fragments that this fragment uses.
        "uses" uses: Vec<Marked<Use>>,
        /// Additions to workloads and objects.
        "adds" adds: Vec<Marked<Addition>>,
    }
}

typed! {
    /// One entry of `adds`: fields and objects to add, in some or all profiles.
    pub(crate) struct Addition ("an `adds` entry") {
        /// The profiles in which it is added. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// It is added only if these conditions hold.
        "when" when: When,
        /// The workloads that it adds to. The default is the workload in scope: the value or input `workload`.
        "for" targets: AdditionTargets,
        /// Why nothing is added in these profiles.
        "nothing" nothing: Option<String>,
        /// Fields to add to the pod template of the workload.
        "pod" pod: Option<Node>,
        /// Fields to add to the workload itself.
        "workload" workload: Option<Node>,
        /// Objects to add. An object that exists already is merged with the entry.
        "objects" objects: Vec<Node>,
        /// Other fragments to use.
        "uses" uses: Vec<Marked<Use>>,
        /// How to handle intents of this component, instead of the profile's rules.
        "intents" intents: Intents,
    }
}

/// The workloads that an addition names with `for`: one, or a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AdditionTargets(pub(crate) Vec<Marked<String>>);

impl Typed for AdditionTargets {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::List(items) if items.is_empty() => {
                reader.error(node.mark, "`for` names no workload").help =
                    Some("remove it, or name workloads such as `DaemonSet/node`".into());
                None
            }
            Value::List(_) => Vec::<Marked<String>>::read(node, reader).map(Self),
            _ => Marked::<String>::read(node, reader).map(|target| Self(vec![target])),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})
    }
}

/// Reports entries of `adds` that add nothing without a reason, or that give a reason and add something.
pub(super) fn check_additions(additions: &[Marked<Addition>], reader: &mut Reader<'_>) {
    for Marked { value: addition, mark } in additions {
        let adds_something = addition.pod.is_some()
            || addition.workload.is_some()
            || !addition.objects.is_empty()
            || !addition.uses.is_empty()
            || !addition.intents.0.is_empty();
        match (&addition.nothing, adds_something) {
            (Some(_), true) => {
                reader.error(*mark, "this `adds` entry adds something and has `nothing`").help =
                    Some("remove `nothing`, or split the entry in two".into());
            }
            (None, false) => {
                reader.error(*mark, "this `adds` entry adds nothing").help =
                    Some("remove it, or give the reason with `nothing: …`".into());
            }
            _ => {}
        }
    }
}

/// The declaration of an input of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    /// The type of the value.
    pub(crate) r#type: ValueType,
    /// The value if none is given. It may mention other inputs.
    pub(crate) default: Option<Node>,
    /// Whether the input may have no value.
    pub(crate) optional: bool,
    /// The allowed values; all if empty.
    pub(crate) choices: Vec<Node>,
    /// The pattern for the text, or for each text of the list.
    pub(crate) pattern: Option<TextPattern>,
    /// The allowed kinds of an object; all if empty.
    pub(crate) kinds: Vec<String>,
    /// Whether an input that is not given takes the value of the same name from the page or fragment that uses it.
    pub(crate) inherit: bool,
}

typed! {
    /// An input with more fields than its type.
    struct InputFields ("an input") {
        /// The type of the value.
        "type" r#type: ValueType,
        /// The value if none is given. It may mention other inputs.
        "default" default: Option<Node>,
        /// The input may have no value.
        "optional" optional: bool,
        /// The allowed values.
        "enum" choices: Vec<Node>,
        /// A regular expression that must match the whole text, or each text of a list.
        "pattern" pattern: Option<TextPattern>,
        /// The allowed kinds of an object.
        "kinds" kinds: Vec<String>,
        /// An input that is not given takes the value of the same name from the page or fragment that uses the fragment.
        "inherit" inherit: bool,
    }
}

impl Input {
    /// Returns the rules for its value.
    pub(crate) fn rules(&self) -> ValueRules<'_> {
        ValueRules {
            r#type: self.r#type,
            choices: &self.choices,
            pattern: self.pattern.as_ref(),
            kinds: &self.kinds,
            bounds: Bounds::default(),
        }
    }

    /// Returns the JSON Schema of the value in a page: one value, a list of values to use the fragment once for each, or
    /// a text with `${…}`.
    pub(super) fn value_schema(&self) -> Json {
        let value = if self.choices.is_empty() {
            self.r#type.value_schema()
        } else {
            json!({"enum": self.choices.iter().map(Json::from).collect::<Vec<_>>()})
        };
        json!({"anyOf": [value, {"type": "array", "items": value}, {"type": "string", "pattern": "\\$\\{"}]})
    }

    /// Returns whether its value is a list.
    pub(crate) fn takes_list(&self) -> bool {
        matches!(self.r#type, ValueType::List | ValueType::Objects)
    }

    /// Returns whether a page must give a value.
    pub(crate) fn is_required(&self) -> bool {
        let is_known_from_workload = matches!(self.r#type, ValueType::Workload | ValueType::Container);
        self.default.is_none() && !self.optional && !self.inherit && !is_known_from_workload
    }
}

impl Typed for Input {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if node.as_str().is_some() {
            let r#type = ValueType::read(node, reader)?;
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
        json!({"oneOf": [ValueType::schema(), InputFields::schema()]})
    }
}

/// One use of a fragment, with the values of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Use {
    /// The name of the fragment.
    pub(crate) fragment: String,
    /// The values of the inputs.
    pub(crate) inputs: BTreeMap<String, Marked<Node>>,
}

impl Typed for Use {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let entries: Vec<_> = node.as_map().into_iter().flatten().collect();
        let [entry] = entries[..] else {
            reader.error(node.mark, "an entry of `uses` must be a map with one fragment").help =
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
    /// Returns the name of the fragment.
    pub(crate) fn name(&self) -> &str {
        &self.body.metadata.name.0
    }
}
