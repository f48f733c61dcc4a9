//! A `Parameters` file: declares parameters with their types. Under `sets/` it gives them values.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::Bounds;
use super::guest_values;
use super::header::{ApiVersion, Metadata};
use super::parameter_source::{ClusterObjects, ParameterObject, ParameterSource, ParameterSources};
use super::pattern::{Keys, TextPattern};
use super::template::{Lookup, Names, NotDefined};
use super::typed::{Marked, Reader, string_enum, typed};
use super::value_rules::{ValueRules, Visibility};
use super::value_type::{ParameterType, ValueType};
use crate::diagnostic::Diagnostics;
use crate::nearest::nearest;
use crate::yaml::{Mark, Node, Sensitivity, Sources, Value};

string_enum! {
    /// The kind of a file that declares parameters.
    pub(super) enum ParametersKind {
        /// A `Parameters` file.
        "Parameters" => Parameters,
    }
}

typed! {
    /// A file that declares parameters. Under `sets/` it gives them values.
    pub(super) struct ParametersFile ("a Parameters file") {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// `Parameters`
        "kind" kind: ParametersKind,
        /// The name of the file.
        "metadata" metadata: Metadata,
        /// The declared parameters, by their dotted names.
        "parameters" parameters: BTreeMap<String, Marked<Parameter>>,
        /// In a parameter set: the profiles that are rendered with it. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// In a parameter set: the values.
        "values" values: Option<Node>,
    }
}

typed! {
    /// The declaration of a parameter.
    pub(crate) struct Parameter ("a parameter") {
        /// The type of the value.
        "type" r#type: ParameterType,
        /// The purpose of the parameter, in one sentence.
        "description" description: String,
        /// The allowed values.
        "enum" choices: Vec<Node>,
        /// A regular expression that must match the whole text, each text of a list, or each value of a map.
        "pattern" pattern: Option<Marked<TextPattern>>,
        /// The allowed keys of a map: a regular expression that must match each key, or a list of keys.
        "keys" keys: Option<Marked<Keys>>,
        /// The maximum number of items of a list or map. The default for a value of the guest is 64.
        "maxItems" max_items: Option<Marked<u64>>,
        /// The maximum number of characters of each text. The default for a value of the guest is 1024.
        "maxLength" max_length: Option<Marked<u64>>,
        /// The value if none is given. A parameter without a default is required, unless it is optional.
        "default" default: Option<Node>,
        /// The parameter may have no value. A field that consists of it alone is then left out.
        "optional" optional: bool,
        /// No message shows the value.
        "secret" secret: bool,
        /// Where to read the value in an object of the cluster: one location, or several of which the first that exists
        /// is used.
        "read" read: ParameterSources,
    }
}

impl Parameter {
    /// Returns the rules for its value.
    pub(crate) fn rules(&self) -> ValueRules<'_> {
        let is_from_guest = self.sources_in_guest().next().is_some();
        let limit = |given: &Option<Marked<u64>>, for_guest: u64| match given {
            Some(given) => Some(given.value),
            None => is_from_guest.then_some(for_guest),
        };
        ValueRules {
            r#type: self.r#type.0,
            choices: &self.choices,
            pattern: self.pattern.as_ref().map(|pattern| &pattern.value),
            kinds: &[],
            bounds: Bounds {
                keys: self.keys.as_ref().map(|keys| &keys.value),
                max_items: limit(&self.max_items, guest_values::MAX_ITEMS),
                max_length: limit(&self.max_length, guest_values::MAX_LENGTH),
                only_printable: is_from_guest,
            },
        }
    }

    /// Returns the objects of the guest that its value is read from, each with the path of the value.
    pub(super) fn sources_in_guest(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let in_guest = self.read.0.iter().filter(|read| read.object != ParameterObject::HostedControlPlane);
        in_guest.map(|read| (read.object.kind(), read.path.value.as_str()))
    }

    /// Describes the values that the declaration allows.
    pub(super) fn limits(&self) -> String {
        let mut limits = self.r#type.0.description().to_owned();
        if !self.choices.is_empty() {
            return format!("{limits}, one of {} values", self.choices.len());
        }
        match (&self.pattern, self.r#type.0) {
            (Some(Marked { value: pattern, .. }), ValueType::List | ValueType::Map) => {
                limits = format!("{limits} of texts that match `{pattern}`");
            }
            (Some(Marked { value: pattern, .. }), _) => limits = format!("{limits} that matches `{pattern}`"),
            (None, _) => {}
        }
        if let Some(keys) = &self.keys {
            limits = format!("{limits} with {}", keys.value);
        }
        limits
    }

    /// Returns whether its values are texts, even if they look like numbers.
    pub(super) fn is_text(&self) -> bool {
        self.r#type.0.is_text()
    }

    /// Reports errors in the declaration itself.
    pub(super) fn check_declaration(&self, name: &str, mark: Mark, reader: &mut Reader<'_>) {
        for source in &self.read.0 {
            source.check(reader);
        }
        self.check_limits(reader);
        guest_values::check(name, self, mark, reader);
    }

    /// Reports limits that mean nothing for the type.
    fn check_limits(&self, reader: &mut Reader<'_>) {
        let r#type = self.r#type.0;
        let is_collection = matches!(r#type, ValueType::List | ValueType::Map);
        let limits = [
            ("pattern", self.pattern.as_ref().map(|limit| limit.mark), r#type.has_texts(), "text"),
            ("keys", self.keys.as_ref().map(|limit| limit.mark), r#type == ValueType::Map, "a map"),
            ("maxItems", self.max_items.as_ref().map(|limit| limit.mark), is_collection, "a list or a map"),
            ("maxLength", self.max_length.as_ref().map(|limit| limit.mark), r#type.has_texts(), "text"),
        ];
        for (field, mark, applies, to) in limits {
            if let (Some(mark), false) = (mark, applies) {
                let message = format!("`{field}` limits {to}, but the value is {}", r#type.description());
                reader.error(mark, message).help = Some(format!("remove `{field}`"));
            }
        }
    }

    /// Reports a value that the declaration does not allow. The message does not show the value of a secret.
    fn check_value(&self, name: &str, found: &FoundValue<'_>, reader: &mut Reader<'_>) {
        let visibility = if self.secret { Visibility::Hidden } else { Visibility::Shown };
        if let Err(invalid) = self.rules().validate(&found.value, visibility) {
            let error = reader.error(invalid.mark, format!("the parameter `{name}` {invalid}"));
            if let Some(ParameterSource { object, path, .. }) = found.source {
                error.notes.push(format!("it is read from `{}` of the {}", path.value, object.kind()));
            }
        }
    }

    /// Reads the value from the first of its sources that exists.
    fn read_from(
        &self,
        name: &str,
        given: &GivenValues<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<FoundValue<'_>> {
        self.read.0.iter().find_map(|read| {
            let object = given.objects.of_kind(read.object)?;
            let found = read.value_in(object, given.version, reader.sources);
            let found = found.map_err(|error| match error.help {
                Some(_) => error,
                None => error.help(format!(
                    "pass the object of the right cluster and version, or set the parameter with --set {name}=…"
                )),
            });
            let value = reader.errors.ok_or_record(found).flatten()?;
            Some(FoundValue { value, sensitivity: Sensitivity::Secret, source: Some(read) })
        })
    }
}

/// A value of a parameter, and where it comes from.
struct FoundValue<'p> {
    value: Node,
    /// How sensitive the value is if the parameter is secret.
    sensitivity: Sensitivity,
    /// The field of an object that it is read from.
    source: Option<&'p ParameterSource>,
}

/// The values that are given to parameters.
pub(super) struct GivenValues<'g> {
    /// The values of the parameter set.
    pub(super) set: Option<&'g Node>,
    /// The values of files and settings, as trees of dotted names; later ones win.
    pub(super) trees: Vec<Node>,
    /// The objects from which parameters are read.
    pub(super) objects: ClusterObjects,
    /// The version of the release, which a path of `read` may contain.
    pub(super) version: Option<&'g str>,
}

/// A parameter whose value the guest's administrator decides.
pub(crate) struct ParameterOfGuest<'a> {
    /// The name of the parameter.
    pub(crate) name: &'a str,
    /// The kind of the object of the guest from which the value is read.
    pub(crate) object: &'static str,
    /// The path of the value in the object.
    pub(crate) path: &'a str,
    /// The values that the declaration allows.
    pub(crate) limits: String,
}

/// The values of all declared parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    values: BTreeMap<String, Lookup>,
    /// The parameters whose value the user gave, in a flag, a file or an object.
    given: BTreeSet<String>,
}

impl Parameters {
    /// Gives every declared parameter its value. The last of the given trees wins, then the parameter set, then the
    /// objects, then the default.
    pub(super) fn bind(
        declared: &BTreeMap<String, Marked<Parameter>>,
        given: &GivenValues<'_>,
        sources: &Sources,
    ) -> Result<Self, Diagnostics> {
        let mut reader = Reader::new(sources, Diagnostics::default());
        let (mut given_values, mut set_values) = (BTreeMap::new(), BTreeMap::new());
        if let Some(tree) = given.set {
            collect_values(tree, "", declared, &mut set_values, &mut reader);
        }
        for tree in &given.trees {
            collect_values(tree, "", declared, &mut given_values, &mut reader);
        }
        let (mut parameters, given_all) = (Self::default(), given);
        for (name, parameter) in declared {
            let given = |value: Option<Node>, sensitivity| {
                value.map(|value| FoundValue { value, sensitivity, source: None })
            };
            // Parameter sets and defaults are in the repository, so golden files may contain their values.
            let from_user = given_values.remove(name);
            // A value of the user makes errors in the object irrelevant.
            let from_object = match from_user {
                Some(_) => None,
                None => parameter.value.read_from(name, given_all, &mut reader),
            };
            if from_user.is_some() || from_object.is_some() {
                parameters.given.insert(name.clone());
            }
            let mut found = given(from_user, Sensitivity::Secret)
                .or_else(|| given(set_values.remove(name), Sensitivity::Masked))
                .or(from_object)
                .or_else(|| given(parameter.value.default.clone(), Sensitivity::Masked));
            if let (Some(found), true) = (&mut found, parameter.value.secret) {
                found.value.protect(found.sensitivity);
            }
            parameters.bind_parameter(name, parameter, found, &mut reader);
        }
        reader.errors.into_result(parameters)
    }

    fn bind_parameter(
        &mut self,
        name: &str,
        parameter: &Marked<Parameter>,
        found: Option<FoundValue<'_>>,
        reader: &mut Reader<'_>,
    ) {
        let Some(found) = found.filter(|found| found.value.value != Value::Null) else {
            if !parameter.value.optional {
                reader.error(parameter.mark, format!("the parameter `{name}` has no value")).help =
                    Some(format!("set it with --set {name}=…, or in a file with --params"));
            }
            self.values.insert(name.to_owned(), Lookup::Absent);
            return;
        };
        parameter.value.check_value(name, &found, reader);
        self.values.insert(name.to_owned(), Lookup::Value(found.value));
    }

    /// Returns the values that messages must not show.
    pub(crate) fn sensitive(&self) -> impl Iterator<Item = &Node> {
        self.values.values().filter_map(|value| match value {
            Lookup::Value(node) if node.sensitivity > Sensitivity::Public => Some(node),
            _ => None,
        })
    }

    /// Returns whether the user gave a parameter this text, which is not empty.
    pub(crate) fn has_given_value(&self, text: &str) -> bool {
        let is_text = |value: &Lookup| matches!(value, Lookup::Value(node) if node.as_str() == Some(text));
        !text.is_empty() && self.values.iter().any(|(name, value)| self.is_given(name) && is_text(value))
    }

    /// Returns the images that the parameters `images.<tag>` give, with their tags. A release may not have them.
    pub(crate) fn images(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().filter_map(|(name, value)| match value {
            Lookup::Value(node) => Some((name.strip_prefix("images.")?, node.as_str()?)),
            Lookup::Absent => None,
        })
    }

    /// Returns all parameters with their values, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Lookup)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns whether the user gave the value of a parameter, in a flag, a file or an object.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// Returns the names of all parameters, with or without a value.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl Names for Parameters {
    fn get(&self, name: &str) -> Result<Lookup, NotDefined> {
        if let Some(value) = self.values.get(name) {
            return Ok(value.clone());
        }
        Err(NotDefined::new(match nearest(name, self.names()) {
            Some(near) => format!("did you mean `${{{near}}}`?"),
            None => "declare it as a parameter".to_owned(),
        }))
    }
}

/// Collects the values in a tree under the dotted names of declared parameters.
fn collect_values(
    node: &Node,
    prefix: &str,
    declared: &BTreeMap<String, Marked<Parameter>>,
    values: &mut BTreeMap<String, Node>,
    reader: &mut Reader<'_>,
) {
    let Some(map) = node.as_map() else {
        reader.error(node.mark, format!("the values of parameters must be a map, not {}", node.value.kind()));
        return;
    };
    for entry in map {
        let name = if prefix.is_empty() { entry.key.to_string() } else { format!("{prefix}.{}", entry.key) };
        let group = format!("{name}.");
        if declared.contains_key(&name) {
            values.insert(name, entry.value.clone());
        } else if declared.keys().any(|other| other.starts_with(&group)) {
            collect_values(&entry.value, &name, declared, values, reader);
        } else {
            let help = match nearest(&name, declared.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it in a Parameters file, or remove it".to_owned(),
            };
            reader.error(entry.mark, format!("there is no parameter `{name}`")).help = Some(help);
        }
    }
}
