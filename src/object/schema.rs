//! What is known about kinds: scope, the type of every field, and how its lists merge.
//!
//! Kubernetes' own kinds come from `kubernetes.schema`, which `make schema` writes from the OpenAPI documents of the
//! pinned release. Its first part has a line for each kind: API version, kind, scope (`N`amespaced or `C`luster) and
//! the number of its type. The second part has a line for each type, in the order of their numbers: `field=code`, with
//! `!` behind a field that is required. Codes:
//!
//! | code | type |
//! |---|---|
//! | `s` `i` `n` `b` | text, integer, number, boolean |
//! | `q` `u` | integer or text, quantity |
//! | `x` | anything |
//! | `@7` | the type with that number |
//! | `{s` | a map of texts |
//! | `[m:name;k:name|@7` | a list; `m:` merges in a strategic merge, by that key if there is one, `k:` are the keys of a list that is a map, `t` is a set |
//! | `^` `+` | before a map: strategic merge replaces it, or retains keys |
//!
//! Custom kinds come from the `CustomResourceDefinitions` at hand.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::Scope;
use crate::yaml::{Node, Value};

/// A type: its fields, sorted by name, and those that must be there.
#[derive(Debug, Default)]
struct Type {
    fields: Vec<(&'static str, Field)>,
    required: Vec<&'static str>,
}

#[derive(Debug)]
struct SchemaTable {
    kinds: HashMap<(&'static str, &'static str), (Scope, usize)>,
    /// By group and kind: the version makes no difference.
    scopes: HashMap<(&'static str, &'static str), Scope>,
    types: Vec<Type>,
}

/// What is known about one field of a built-in kind.
#[derive(Debug)]
pub struct Field {
    replace: bool,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Scalar(Expected),
    Object(usize),
    Map(Box<Field>),
    List { merges: bool, merge_key: &'static str, keys: Vec<&'static str>, set: bool, item: Box<Field> },
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A whole number or text, such as a port or its name.
    IntegerOrText,
    /// A number or text, such as `100m`.
    Quantity,
    /// A map.
    Map,
    /// A list.
    List,
    /// Whatever it is.
    Anything,
}

/// The part of a schema that describes one value.
#[derive(Clone, Copy, Debug)]
pub enum Schema<'s> {
    /// A field of Kubernetes' own kinds.
    BuiltIn(&'s Field),
    /// A kind of Kubernetes' own, from its root.
    Root(usize),
    /// A CRD's `openAPIV3Schema`.
    CustomRoot(&'s Node),
    /// A part of it.
    Custom(&'s Node),
    /// Nobody knows.
    Unknown,
}

/// How a strategic merge treats a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStrategy<'s> {
    /// The patch's list takes its place.
    Replace,
    /// Scalars are united.
    Unite,
    /// Items with the same value of the key are merged.
    MergeBy(&'s str),
}

/// The scope of a kind of Kubernetes' own, in whatever version.
pub(super) fn built_in_scope(group: &str, kind: &str) -> Option<Scope> {
    schema().scopes.get(&(group, kind)).copied()
}

/// The versions in which Kubernetes itself serves a kind, as `group/version`.
pub fn versions(group: &str, kind: &str) -> Vec<&'static str> {
    let of_group = |version: &str| version.split_once('/').map_or("", |(own, _)| own) == group;
    let kinds = schema().kinds.keys().filter(|(version, own)| *own == kind && of_group(version));
    let mut versions: Vec<&str> = kinds.map(|(version, _)| *version).collect();
    versions.sort_unstable();
    versions
}

/// Whether Kubernetes itself has a kind, in whatever group.
pub fn is_built_in_kind(kind: &str) -> bool {
    schema().scopes.keys().any(|(_, other)| *other == kind)
}

impl<'s> Schema<'s> {
    /// The shape of a kind of Kubernetes' own.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        // The table lives as long as the program, so its keys can be borrowed from any text.
        schema().kinds.get(&(api_version, kind)).map(|(_, number)| Self::Root(*number))
    }

    /// The shape of a field. Nothing if the schema is known and does not have it.
    pub fn field(self, key: &str) -> Option<Schema<'s>> {
        match self {
            Self::Unknown | Self::BuiltIn(Field { form: Form::Scalar(Expected::Anything), .. }) => {
                Some(Self::Unknown)
            }
            Self::Root(number) => field_of(number, key),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => field_of(*number, key),
            Self::BuiltIn(Field { form: Form::Map(value), .. }) => Some(Schema::BuiltIn(value)),
            Self::BuiltIn(_) => None,
            // What every object has, a CRD need not declare.
            Self::CustomRoot(_) if matches!(key, "apiVersion" | "kind" | "metadata") => {
                Self::built_in("v1", "ConfigMap")?.field(key)
            }
            Self::CustomRoot(schema) => Self::Custom(schema).field(key),
            Self::Custom(schema) => {
                let named = schema.get("properties").and_then(|properties| properties.get(key));
                let field = named.or_else(|| schema.get("additionalProperties")).map(Schema::Custom);
                let says =
                    |field: &str| matches!(schema.get(field), Some(Node { value: Value::Bool(true), .. }));
                let embedded = says("x-kubernetes-embedded-resource")
                    && matches!(key, "apiVersion" | "kind" | "metadata");
                // Without a type, nothing is said about what is in it.
                let open =
                    embedded || says("x-kubernetes-preserve-unknown-fields") || schema.get("type").is_none();
                field.or(open.then_some(Schema::Unknown))
            }
        }
    }

    /// What the value itself must be.
    pub fn expected(self) -> Expected {
        match self {
            Self::Unknown => Expected::Anything,
            Self::Root(_) | Self::CustomRoot(_) => Expected::Map,
            Self::BuiltIn(field) => match &field.form {
                Form::Scalar(expected) => *expected,
                Form::Object(_) | Form::Map(_) => Expected::Map,
                Form::List { .. } => Expected::List,
            },
            Self::Custom(schema) => {
                if schema.get("x-kubernetes-int-or-string").is_some() {
                    return Expected::IntegerOrText;
                }
                match schema.get("type").and_then(Node::as_str) {
                    Some("string") => Expected::Text,
                    Some("integer") => Expected::Integer,
                    Some("number") => Expected::Number,
                    Some("boolean") => Expected::Boolean,
                    Some("object") => Expected::Map,
                    Some("array") => Expected::List,
                    _ => Expected::Anything,
                }
            }
        }
    }

    /// The fields that a map must have.
    pub fn required(self) -> Cow<'s, [&'s str]> {
        let of_type = |number: usize| {
            let known = schema().types.get(number);
            Cow::Borrowed(known.map(|known| known.required.as_slice()).unwrap_or_default())
        };
        match self {
            Self::Root(number) => of_type(number),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => of_type(*number),
            Self::CustomRoot(schema) | Self::Custom(schema) => {
                let names = schema.get("required").and_then(Node::as_list).unwrap_or_default();
                // What has a default is there before anybody looks, and null may be a value.
                let given = |name: &&str| {
                    let field = schema.get("properties").and_then(|fields| fields.get(name));
                    field.is_some_and(|field| {
                        field.get("default").is_some() || field.get("nullable").is_some()
                    })
                };
                Cow::Owned(names.iter().filter_map(Node::as_str).filter(|name| !given(name)).collect())
            }
            _ => Cow::Borrowed(&[]),
        }
    }

    /// The fields that a map may have, as far as they are known.
    pub fn fields(self) -> Vec<&'s str> {
        match self {
            Self::Root(number) => names_of(number),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => names_of(*number),
            Self::CustomRoot(schema) | Self::Custom(schema) => {
                let fields = schema.get("properties").and_then(Node::as_map);
                fields.into_iter().flatten().map(|entry| entry.key.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The shape of a list's items.
    #[must_use]
    pub fn item(self) -> Schema<'s> {
        match self {
            Self::BuiltIn(Field { form: Form::List { item, .. }, .. }) => Schema::BuiltIn(item),
            Self::Custom(schema) | Self::CustomRoot(schema) => {
                schema.get("items").map_or(Schema::Unknown, Schema::Custom)
            }
            _ => Schema::Unknown,
        }
    }

    /// Whether a strategic merge puts the patch's map in the place of this one.
    pub fn replaces_map(self) -> bool {
        matches!(self, Self::BuiltIn(Field { replace: true, .. }))
    }

    /// How a strategic merge treats this list. For custom kinds, which have no strategic merge in Kubernetes, a list
    /// that is declared a map merges by its key.
    pub fn list_strategy(self) -> ListStrategy<'s> {
        match self {
            Self::BuiltIn(Field { form: Form::List { merges: true, merge_key: "", .. }, .. }) => {
                ListStrategy::Unite
            }
            Self::BuiltIn(Field { form: Form::List { merges: true, merge_key, .. }, .. }) => {
                ListStrategy::MergeBy(merge_key)
            }
            Self::Custom(_) => match (self.list_keys().first(), self.is_set()) {
                (Some(key), _) => ListStrategy::MergeBy(key),
                (None, true) => ListStrategy::Unite,
                (None, false) => ListStrategy::Replace,
            },
            _ => ListStrategy::Replace,
        }
    }

    /// The keys that tell the items of this list apart, where it is declared a map.
    pub fn list_keys(self) -> Vec<&'s str> {
        match self {
            Self::BuiltIn(Field { form: Form::List { keys, merge_key, .. }, .. }) => {
                if keys.is_empty() && !merge_key.is_empty() { vec![merge_key] } else { keys.clone() }
            }
            Self::Custom(schema) => {
                let keys =
                    schema.get("x-kubernetes-list-map-keys").and_then(Node::as_list).unwrap_or_default();
                keys.iter().filter_map(Node::as_str).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the list is declared a set.
    pub fn is_set(self) -> bool {
        match self {
            Self::BuiltIn(Field { form: Form::List { set, .. }, .. }) => *set,
            Self::Custom(schema) => {
                schema.get("x-kubernetes-list-type").and_then(Node::as_str) == Some("set")
            }
            _ => false,
        }
    }
}

fn field_of<'s>(number: usize, key: &str) -> Option<Schema<'s>> {
    let fields = &schema().types.get(number)?.fields;
    let at = fields.binary_search_by(|(name, _)| (*name).cmp(key)).ok()?;
    Some(Schema::BuiltIn(&fields[at].1))
}

fn names_of(number: usize) -> Vec<&'static str> {
    schema().types.get(number).into_iter().flat_map(|known| &known.fields).map(|(name, _)| *name).collect()
}

fn schema() -> &'static SchemaTable {
    static SCHEMA: OnceLock<SchemaTable> = OnceLock::new();
    SCHEMA.get_or_init(|| parse(include_str!("kubernetes.schema")))
}

fn parse(text: &'static str) -> SchemaTable {
    let (kinds, types) = text.split_once("\n\n").unwrap_or((text, ""));
    let kind = |line: &'static str| {
        let mut words = line.split(' ');
        let (api_version, kind) = (words.next()?, words.next()?);
        let scope = if words.next()? == "N" { Scope::Namespaced } else { Scope::Cluster };
        Some(((api_version, kind), (scope, words.next()?.parse().ok()?)))
    };
    let kinds: HashMap<_, _> = kinds.lines().skip(1).filter_map(kind).collect();
    let group = |api_version: &'static str| api_version.split_once('/').map_or("", |(group, _)| group);
    let scopes = kinds.iter().map(|((api_version, kind), (scope, _))| ((group(api_version), *kind), *scope));
    SchemaTable { scopes: scopes.collect(), kinds, types: types.lines().map(parse_type).collect() }
}

fn parse_type(line: &'static str) -> Type {
    let mut parsed = Type::default();
    for (name, code) in line.split(' ').filter_map(|word| word.split_once('=')) {
        let bare = name.trim_end_matches('!');
        if bare != name {
            parsed.required.push(bare);
        }
        parsed.fields.push((bare, parse_field(code)));
    }
    parsed
}

fn parse_field(code: &'static str) -> Field {
    let replace = code.starts_with('^');
    let code = code.trim_start_matches(['^', '+']);
    let form = match code.as_bytes().first() {
        Some(b'@') => code[1..].parse().map_or(Form::Scalar(Expected::Anything), Form::Object),
        Some(b'{') => Form::Map(Box::new(parse_field(&code[1..]))),
        Some(b'[') => parse_list(&code[1..]),
        other => Form::Scalar(match other {
            Some(b's') => Expected::Text,
            Some(b'i') => Expected::Integer,
            Some(b'n') => Expected::Number,
            Some(b'b') => Expected::Boolean,
            Some(b'q') => Expected::IntegerOrText,
            Some(b'u') => Expected::Quantity,
            _ => Expected::Anything,
        }),
    };
    Field { replace, form }
}

fn parse_list(code: &'static str) -> Form {
    let (attributes, item) = code.split_once('|').unwrap_or(("", code));
    let (mut merges, mut merge_key, mut keys, mut set) = (false, "", Vec::new(), false);
    for attribute in attributes.split(';') {
        match attribute.split_once(':') {
            Some(("m", key)) => (merges, merge_key) = (true, key),
            Some(("k", names)) => keys = names.split(',').collect(),
            _ => set |= attribute == "t",
        }
    }
    Form::List { merges, merge_key, keys, set, item: Box::new(parse_field(item)) }
}

#[cfg(test)]
mod tests {
    use super::{Expected, ListStrategy, Schema, Scope, built_in_scope};

    #[test]
    fn knows_scopes_fields_and_how_lists_merge() {
        assert_eq!(built_in_scope("apps", "Deployment"), Some(Scope::Namespaced));
        assert_eq!(built_in_scope("", "Namespace"), Some(Scope::Cluster));
        assert_eq!(built_in_scope("storage.k8s.io", "CSIDriver"), Some(Scope::Cluster));
        assert_eq!(built_in_scope("example.com", "Deployment"), None);
        let deployment = Schema::built_in("apps/v1", "Deployment").unwrap();
        let pod =
            ["spec", "template", "spec"].iter().fold(deployment, |schema, key| schema.field(key).unwrap());
        let containers = pod.field("containers").unwrap();
        assert_eq!(containers.list_strategy(), ListStrategy::MergeBy("name"));
        assert!(pod.field("emptydir").is_none());
        let container = containers.item();
        assert_eq!(container.field("args").unwrap().list_strategy(), ListStrategy::Replace);
        assert_eq!(container.field("ports").unwrap().list_keys(), ["containerPort", "protocol"]);
        assert_eq!(container.field("ports").unwrap().list_strategy(), ListStrategy::MergeBy("containerPort"));
        let metadata = deployment.field("metadata").unwrap();
        assert_eq!(metadata.field("finalizers").unwrap().list_strategy(), ListStrategy::Unite);
        assert!(metadata.field("labels").unwrap().field("anything").is_some());
        let budget = Schema::built_in("policy/v1", "PodDisruptionBudget").unwrap();
        assert_eq!(pod.field("hostNetwork").unwrap().expected(), Expected::Boolean);
        assert_eq!(*container.field("ports").unwrap().item().required(), ["containerPort"]);
        assert_eq!(*deployment.field("spec").unwrap().required(), ["selector", "template"]);
        assert!(budget.field("spec").unwrap().field("selector").unwrap().replaces_map());
    }
}
