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

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Scope;
use crate::yaml::Node;

/// A type: fields by name.
type Type = Vec<(&'static str, Field)>;

#[derive(Debug)]
struct Schema {
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
    Scalar,
    Object(usize),
    Map(Box<Field>),
    List { merges: bool, merge_key: &'static str, keys: Vec<&'static str>, set: bool, item: Box<Field> },
}

/// The part of a schema that describes one value.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'s> {
    /// A field of Kubernetes' own kinds.
    BuiltIn(&'s Field),
    /// A kind of Kubernetes' own, from its root.
    Root(usize),
    /// A part of a CRD's `openAPIV3Schema`.
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

/// Whether Kubernetes itself has a kind, in whatever group.
pub fn is_built_in_kind(kind: &str) -> bool {
    schema().scopes.keys().any(|(_, other)| *other == kind)
}

impl<'s> Shape<'s> {
    /// The shape of a kind of Kubernetes' own.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        // The table lives as long as the program, so its keys can be borrowed from any text.
        schema().kinds.get(&(api_version, kind)).map(|(_, number)| Self::Root(*number))
    }

    /// The shape of a field. Nothing if the schema is known and does not have it.
    pub fn field(self, key: &str) -> Option<Shape<'s>> {
        match self {
            Self::Unknown => Some(Self::Unknown),
            Self::Root(number) => field_of(number, key),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => field_of(*number, key),
            Self::BuiltIn(Field { form: Form::Map(value), .. }) => Some(Shape::BuiltIn(value)),
            Self::BuiltIn(_) => None,
            Self::Custom(schema) => {
                let named = schema.get("properties").and_then(|properties| properties.get(key));
                let shape = named.or_else(|| schema.get("additionalProperties")).map(Shape::Custom);
                // What every object has, a CRD need not declare.
                let common = matches!(key, "apiVersion" | "kind" | "metadata");
                let open = common || schema.get("x-kubernetes-preserve-unknown-fields").is_some();
                shape.or(open.then_some(Shape::Unknown))
            }
        }
    }

    /// The shape of a list's items.
    #[must_use]
    pub fn item(self) -> Shape<'s> {
        match self {
            Self::BuiltIn(Field { form: Form::List { item, .. }, .. }) => Shape::BuiltIn(item),
            Self::Custom(schema) => schema.get("items").map_or(Shape::Unknown, Shape::Custom),
            _ => Shape::Unknown,
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

fn field_of<'s>(number: usize, key: &str) -> Option<Shape<'s>> {
    let fields = schema().types.get(number)?;
    let at = fields.binary_search_by(|(name, _)| (*name).cmp(key)).ok()?;
    Some(Shape::BuiltIn(&fields[at].1))
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| parse(include_str!("kubernetes.schema")))
}

fn parse(text: &'static str) -> Schema {
    let (kinds, types) = text.split_once("\n\n").unwrap_or((text, ""));
    let kind = |line: &'static str| {
        let mut words = line.split(' ');
        let (api_version, kind) = (words.next()?, words.next()?);
        let scope = if words.next()? == "N" { Scope::Namespaced } else { Scope::Cluster };
        Some(((api_version, kind), (scope, words.next()?.parse().ok()?)))
    };
    let field = |word: &'static str| {
        let (name, code) = word.split_once('=')?;
        Some((name.trim_end_matches('!'), parse_field(code)))
    };
    let kinds: HashMap<_, _> = kinds.lines().skip(1).filter_map(kind).collect();
    let group = |api_version: &'static str| api_version.split_once('/').map_or("", |(group, _)| group);
    let scopes = kinds.iter().map(|((api_version, kind), (scope, _))| ((group(api_version), *kind), *scope));
    Schema {
        scopes: scopes.collect(),
        kinds,
        types: types.lines().map(|line| line.split(' ').filter_map(field).collect()).collect(),
    }
}

fn parse_field(code: &'static str) -> Field {
    let replace = code.starts_with('^');
    let code = code.trim_start_matches(['^', '+']);
    let form = match code.as_bytes().first() {
        Some(b'@') => code[1..].parse().map_or(Form::Scalar, Form::Object),
        Some(b'{') => Form::Map(Box::new(parse_field(&code[1..]))),
        Some(b'[') => parse_list(&code[1..]),
        _ => Form::Scalar,
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
    use super::{ListStrategy, Scope, Shape, built_in_scope};

    #[test]
    fn knows_scopes_fields_and_how_lists_merge() {
        assert_eq!(built_in_scope("apps", "Deployment"), Some(Scope::Namespaced));
        assert_eq!(built_in_scope("", "Namespace"), Some(Scope::Cluster));
        assert_eq!(built_in_scope("storage.k8s.io", "CSIDriver"), Some(Scope::Cluster));
        assert_eq!(built_in_scope("example.com", "Deployment"), None);
        let deployment = Shape::built_in("apps/v1", "Deployment").unwrap();
        let pod =
            ["spec", "template", "spec"].iter().fold(deployment, |shape, key| shape.field(key).unwrap());
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
        let budget = Shape::built_in("policy/v1", "PodDisruptionBudget").unwrap();
        assert!(budget.field("spec").unwrap().field("selector").unwrap().replaces_map());
    }
}
