//! Typed files: a struct says its fields once, and from that come the reader, which reports every mistake with its
//! line, and the JSON Schema, which editors complete and check with.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::yaml::{Map, Mark, Node, Number, Sources, Value};

/// What a reader needs beside the node: the names of files, and a place for mistakes.
pub(super) struct Reader<'e> {
    pub(super) sources: &'e Sources,
    pub(super) errors: Diagnostics,
}

impl Reader<'_> {
    pub(super) fn error(&mut self, mark: Mark, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.errors.0.len();
        self.errors.0.push(Diagnostic::error(message).at(Location::of(mark, self.sources)));
        &mut self.errors.0[at]
    }

    fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.error(node.mark, format!("this must be {expected}, not {}", node.value.kind()));
    }
}

/// A type that can be read from a file. What is wrong is reported to the reader.
pub(super) trait Typed: Sized {
    /// Reads a node.
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// What a field of this type is when it is not written; nothing if it must be.
    fn absent() -> Option<Self> {
        None
    }

    /// The JSON Schema of the type.
    fn schema() -> Json;
}

/// A value and the line it is written on.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub mark: Mark,
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

/// Anything: a part of an object, as it is written.
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
        // Every item is read, so that every mistake is found.
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
            match (T::read(&entry.value, reader), &mut read) {
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

/// The fields of one map while a struct is read from it.
pub(super) struct Fields<'a> {
    map: &'a Map,
    mark: Mark,
    what: &'static str,
    complete: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn of(node: &'a Node, what: &'static str, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.error(node.mark, format!("{what} is a map, not {}", node.value.kind()));
            return None;
        };
        Some(Self { map, mark: node.mark, what, complete: true })
    }

    pub(super) fn take<T: Typed>(&mut self, key: &str, reader: &mut Reader<'_>) -> Option<T> {
        let before = reader.errors.0.len();
        let value = match self.map.get(key) {
            Some(node) => T::read(node, reader),
            None => T::absent().or_else(|| {
                reader.error(self.mark, format!("{} needs the field `{key}`", self.what));
                None
            }),
        };
        // Whoever reads a scalar does not know what it is called.
        for error in &mut reader.errors.0[before..] {
            if let Some(rest) = error.message.strip_prefix("this ") {
                error.message = format!("`{key}` {rest}");
            }
        }
        self.complete &= value.is_some();
        value
    }

    /// Reports every field that the struct does not have. Returns whether all that it has were read.
    pub(super) fn finish(self, known: &[&'static str], reader: &mut Reader<'_>) -> bool {
        for entry in self.map.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let help = match nearest(&entry.key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its fields are {}", known.join(", ")),
            };
            reader.error(entry.mark, format!("{} has no field `{}`", self.what, entry.key)).help = Some(help);
        }
        self.complete
    }
}

/// Declares a struct with its reader and its schema. The documentation of a field is its description in the schema.
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
            $( $(#[doc = $field_doc])* pub $field: $type, )*
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

/// Declares an enum of words with its reader and its schema.
macro_rules! words {
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
            /// Each with its word, in the order in which they are declared.
            pub(crate) const WORDS: &[(&str, Self)] = &[$(($word, Self::$variant)),*];
            /// What each means, in the same order.
            #[allow(dead_code, reason = "not every word is explained to anybody")]
            pub(crate) const ABOUT: &[&str] = &[$(concat!($($variant_doc),*)),*];
        }

        impl $crate::language::typed::Typed for $name {
            fn read(
                node: &$crate::yaml::Node,
                reader: &mut $crate::language::typed::Reader<'_>,
            ) -> Option<Self> {
                $crate::language::typed::word(node, Self::WORDS, reader)
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"enum": [$($word),*]})
            }
        }
    };
}

/// Reads one of a few words.
pub(super) fn word<T: Copy>(node: &Node, words: &[(&str, T)], reader: &mut Reader<'_>) -> Option<T> {
    let text = String::read(node, reader)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    if found.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = match nearest(&text, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is one of {}", names.join(", ")),
        };
        reader.error(node.mark, format!("this cannot be `{text}`")).help = Some(help);
    }
    found
}

pub(super) use {typed, words};
