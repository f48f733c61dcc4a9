//! Declares the files that users write: a struct lists its fields once, and the macros derive the reader, which reports
//! every mistake with its line, and the JSON Schema, with which editors complete and check.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::yaml::{Map, Mark, Node, Number, Sources, Value};

/// Collects the errors while values are read.
pub(super) struct Reader<'e> {
    pub(super) sources: &'e Sources,
    pub(super) errors: Diagnostics,
    /// The name of the field that is being read, for messages.
    field: Option<String>,
}

impl<'e> Reader<'e> {
    pub(super) fn new(sources: &'e Sources, errors: Diagnostics) -> Self {
        Self { sources, errors, field: None }
    }

    /// Reports an error.
    pub(super) fn error(&mut self, mark: Mark, message: impl Into<String>) -> &mut Diagnostic {
        let index = self.errors.0.len();
        self.errors.0.push(Diagnostic::error(message).at(Location::of(mark, self.sources)));
        &mut self.errors.0[index]
    }

    /// Reports an error about the field that is being read. The problem follows its name: "`replicas` must be …".
    pub(super) fn field_error(&mut self, mark: Mark, problem: &str) -> &mut Diagnostic {
        let message = match &self.field {
            Some(field) => format!("`{field}` {problem}"),
            None => format!("the value {problem}"),
        };
        self.error(mark, message)
    }

    /// Reports that the field that is being read has the wrong type.
    pub(super) fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.field_error(node.mark, &format!("must be {expected}, not {}", node.value.kind()));
    }

    /// Reads the value of a field, so that errors name the field.
    pub(super) fn read_field<T: Typed>(&mut self, field: &str, node: &Node) -> Option<T> {
        let outer = self.field.replace(field.to_owned());
        let value = T::read(node, self);
        self.field = outer;
        value
    }
}

/// A type that can be read from a file. Errors are reported to the reader.
pub(super) trait Typed: Sized {
    /// Reads a value.
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the value of a field that is not in the file, or `None` if the field is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Returns the JSON Schema of the type.
    fn schema() -> Json;
}

/// A value with its position in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marked<T> {
    /// The value.
    pub(crate) value: T,
    /// The position.
    pub(crate) mark: Mark,
}

impl Typed for String {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            reader.wrong_type(node, "text");
        }
        text
    }

    fn schema() -> Json {
        json!({"type": "string"})
    }
}

impl Typed for bool {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Bool(bool) = node.value {
            return Some(bool);
        }
        reader.wrong_type(node, "true or false");
        None
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn schema() -> Json {
        json!({"type": "boolean"})
    }
}

impl Typed for u64 {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let whole = match node.value {
            Value::Number(Number::Int(int)) => u64::try_from(int).ok(),
            Value::Number(Number::Uint(uint)) => Some(uint),
            _ => None,
        };
        if whole.is_none() {
            reader.wrong_type(node, "a whole number, zero or more");
        }
        whole
    }

    fn schema() -> Json {
        json!({"type": "integer", "minimum": 0})
    }
}

/// Any YAML, such as a part of an object.
impl Typed for Node {
    fn read(node: &Node, _: &mut Reader<'_>) -> Option<Self> {
        Some(node.clone())
    }

    fn schema() -> Json {
        json!({})
    }
}

impl<T: Typed> Typed for Option<T> {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, reader).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn schema() -> Json {
        T::schema()
    }
}

impl<T: Typed> Typed for Marked<T> {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, reader).map(|value| Self { value, mark: node.mark })
    }

    fn schema() -> Json {
        T::schema()
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(items) = node.as_list() else {
            reader.wrong_type(node, "a list");
            return None;
        };
        // Reads all items before it fails, so that every error is reported.
        let read: Vec<Option<T>> = items.iter().map(|item| T::read(item, reader)).collect();
        read.into_iter().collect()
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }

    fn schema() -> Json {
        json!({"type": "array", "items": T::schema()})
    }
}

impl<T: Typed> Typed for BTreeMap<String, Marked<T>> {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map");
            return None;
        };
        let mut read = Some(Self::new());
        for entry in map {
            match (reader.read_field(&entry.key, &entry.value), &mut read) {
                (Some(value), Some(read)) => {
                    read.insert(entry.key.to_string(), Marked { value, mark: entry.mark });
                }
                _ => read = None,
            }
        }
        read
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": T::schema()})
    }
}

/// The fields of a map from which a struct is read.
pub(super) struct Fields<'a> {
    map: &'a Map,
    mark: Mark,
    /// The struct in messages, such as "a profile".
    what: &'static str,
    complete: bool,
}

impl<'a> Fields<'a> {
    /// Reports an error unless the node is a map.
    pub(super) fn of(node: &'a Node, what: &'static str, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.error(node.mark, format!("{what} must be a map, not {}", node.value.kind()));
            return None;
        };
        Some(Self { map, mark: node.mark, what, complete: true })
    }

    /// Reads one field. Reports an error if it is required and missing.
    pub(super) fn take<T: Typed>(&mut self, key: &str, reader: &mut Reader<'_>) -> Option<T> {
        let value = match self.map.get(key) {
            Some(node) => reader.read_field(key, node),
            None => T::absent().or_else(|| {
                reader.error(self.mark, format!("{} needs the field `{key}`", self.what));
                None
            }),
        };
        self.complete &= value.is_some();
        value
    }

    /// Reports every field that the struct does not have. Returns whether all fields were read without error.
    pub(super) fn finish(self, known: &[&'static str], reader: &mut Reader<'_>) -> bool {
        for entry in self.map.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let error = reader.error(entry.mark, format!("{} has no field `{}`", self.what, entry.key));
            error.help = Some(suggest(&entry.key, known, "its fields are"));
        }
        self.complete
    }
}

/// Declares a struct with its reader and its schema. The documentation of a field becomes its description in the schema.
macro_rules! typed {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $visibility:vis struct $name:ident ($what:literal) {
            $( $(#[doc = $field_doc:literal])* $key:literal $field:ident : $type:ty ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq $(, $($derive),*)?)]
        $visibility struct $name {
            $( $(#[doc = $field_doc])* pub(crate) $field: $type, )*
        }

        impl $crate::language::typed::Typed for $name {
            fn read(
                node: &$crate::yaml::Node,
                reader: &mut $crate::language::typed::Reader<'_>,
            ) -> Option<Self> {
                let mut fields = $crate::language::typed::Fields::of(node, $what, reader)?;
                $( let $field = fields.take::<$type>($key, reader); )*
                let complete = fields.finish(&[$($key),*], reader);
                if complete { Some(Self { $( $field: $field? ),* }) } else { None }
            }

            fn schema() -> serde_json::Value {
                let mut properties = serde_json::Map::new();
                let mut required: Vec<&str> = Vec::new();
                $(
                    let mut schema = <$type as $crate::language::typed::Typed>::schema();
                    let description = [$($field_doc),*].concat();
                    if let Some(schema) = schema.as_object_mut() {
                        schema.insert("description".to_owned(), description.trim().into());
                    }
                    properties.insert($key.to_owned(), schema);
                    if <$type as $crate::language::typed::Typed>::absent().is_none() {
                        required.push($key);
                    }
                )*
                let mut schema = serde_json::json!({
                    "title": $what, "type": "object", "additionalProperties": false, "properties": properties,
                });
                if !required.is_empty() {
                    schema["required"] = required.into();
                }
                schema
            }
        }
    };
}

/// Declares an enum whose variants are written as strings, with its reader and its schema.
macro_rules! string_enum {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis enum $name:ident { $( $(#[doc = $variant_doc:literal])* $word:literal => $variant:ident ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $visibility enum $name {
            $( $(#[doc = $variant_doc])* $variant ),*
        }

        impl $name {
            /// Each variant with the string that it is written as, in the order of declaration.
            pub(crate) const NAMES: &[(&str, Self)] = &[$(($word, Self::$variant)),*];
            /// The documentation of each variant, in the same order.
            #[allow(dead_code, reason = "not every enum is documented in output")]
            pub(crate) const DESCRIPTIONS: &[&str] = &[$(concat!($($variant_doc),*)),*];
        }

        impl $crate::language::typed::Typed for $name {
            fn read(
                node: &$crate::yaml::Node,
                reader: &mut $crate::language::typed::Reader<'_>,
            ) -> Option<Self> {
                $crate::language::typed::read_variant(node, Self::NAMES, reader)
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"enum": [$($word),*]})
            }
        }
    };
}

/// Reads one of the strings that an enum is written as.
pub(super) fn read_variant<T: Copy>(node: &Node, names: &[(&str, T)], reader: &mut Reader<'_>) -> Option<T> {
    let text = String::read(node, reader)?;
    if let Some((_, variant)) = names.iter().find(|(name, _)| *name == text) {
        return Some(*variant);
    }
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    reader.field_error(node.mark, &format!("cannot be `{text}`")).help =
        Some(suggest(&text, &names, "use one of"));
    None
}

/// Returns a help that suggests the closest of the known names, or lists all of them.
fn suggest(name: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{otherwise} {}", known.join(", ")),
    }
}

pub(super) use {string_enum, typed};
