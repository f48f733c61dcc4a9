//! The schema of objects: which fields a kind has, their types, and how their lists merge.
//!
//! The schemas of Kubernetes' own kinds are in [`schema_table`](super::schema_table). Those of custom resources are in the
//! CustomResourceDefinitions of the payload.

use std::borrow::Cow;

use super::schema_table::{
    Expected, Field, Form, ListForm, field_of_type, fields_of_type, required_of_type, type_of_kind,
};
use crate::yaml::{Node, Value};

/// The schema of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schema<'s> {
    /// An object of a built-in kind: the number of its type.
    Root(usize),
    /// A field of a built-in kind.
    BuiltIn(&'s Field),
    /// A custom resource: the `openAPIV3Schema` of its CustomResourceDefinition.
    CustomRoot(&'s Node),
    /// A field of a custom resource.
    Custom(&'s Node),
    /// Nothing is known about the value.
    Unknown,
}

/// How a strategic merge treats a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListStrategy<'s> {
    /// The list of the patch replaces the list.
    Replace,
    /// The result has the items of both lists, each once.
    Union,
    /// Items with the same value of this key are merged.
    MergeBy(&'s str),
}

impl<'s> Schema<'s> {
    /// Returns the schema of a built-in kind.
    pub(crate) fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        type_of_kind(api_version, kind).map(Self::Root)
    }

    /// Returns the schema of a field, or `None` if the kind does not have it.
    pub(crate) fn field(self, key: &str) -> Option<Schema<'s>> {
        match self {
            Self::Unknown => Some(Self::Unknown),
            Self::Root(number) => field_of_type(number, key).map(Schema::BuiltIn),
            Self::BuiltIn(field) => match &field.form {
                Form::Scalar(Expected::Anything) => Some(Self::Unknown),
                Form::Scalar(_) | Form::List(_) => None,
                Form::Object(number) => field_of_type(*number, key).map(Schema::BuiltIn),
                Form::Map(value) => Some(Schema::BuiltIn(value)),
            },
            // A CustomResourceDefinition need not declare the fields that every object has.
            Self::CustomRoot(_) if is_common_field(key) => Self::built_in("v1", "ConfigMap")?.field(key),
            Self::CustomRoot(schema) | Self::Custom(schema) => custom_field(schema, key),
        }
    }

    /// Returns the type that the value must have.
    pub(crate) fn expected(self) -> Expected {
        match self {
            Self::Unknown => Expected::Anything,
            Self::Root(_) | Self::CustomRoot(_) => Expected::Map,
            Self::BuiltIn(field) => match &field.form {
                Form::Scalar(expected) => *expected,
                Form::Object(_) | Form::Map(_) => Expected::Map,
                Form::List(_) => Expected::List,
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

    /// Returns the fields that a map must have.
    pub(crate) fn required(self) -> Cow<'s, [&'s str]> {
        match self {
            Self::Root(number) => Cow::Borrowed(required_of_type(number)),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => {
                Cow::Borrowed(required_of_type(*number))
            }
            Self::CustomRoot(schema) | Self::Custom(schema) => Cow::Owned(custom_required(schema)),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Returns the names of all known fields of a map.
    pub(crate) fn fields(self) -> Vec<&'s str> {
        match self {
            Self::Root(number) => fields_of_type(number),
            Self::BuiltIn(Field { form: Form::Object(number), .. }) => fields_of_type(*number),
            Self::CustomRoot(schema) | Self::Custom(schema) => {
                let fields = schema.get("properties").and_then(Node::as_map);
                fields.into_iter().flatten().map(|entry| entry.key.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the schema of a list's items.
    #[must_use]
    pub(crate) fn item(self) -> Schema<'s> {
        match self {
            Self::BuiltIn(Field { form: Form::List(list), .. }) => Schema::BuiltIn(&list.item),
            Self::Custom(schema) | Self::CustomRoot(schema) => {
                schema.get("items").map_or(Schema::Unknown, Schema::Custom)
            }
            _ => Schema::Unknown,
        }
    }

    /// Returns whether a strategic merge replaces this map instead of merging it.
    pub(crate) fn replaces_map(self) -> bool {
        matches!(self, Self::BuiltIn(Field { replace: true, .. }))
    }

    /// Returns how a strategic merge treats this list.
    ///
    /// Kubernetes has no strategic merge for custom resources. Here, their lists of type `map` merge by the first key.
    pub(crate) fn list_strategy(self) -> ListStrategy<'s> {
        match self {
            Self::BuiltIn(Field { form: Form::List(ListForm { merges: true, merge_key, .. }), .. }) => {
                if merge_key.is_empty() {
                    ListStrategy::Union
                } else {
                    ListStrategy::MergeBy(merge_key)
                }
            }
            Self::Custom(_) => match self.list_keys().first() {
                Some(key) => ListStrategy::MergeBy(key),
                None if self.is_set() => ListStrategy::Union,
                None => ListStrategy::Replace,
            },
            _ => ListStrategy::Replace,
        }
    }

    /// Returns the keys that identify the items of this list, if it is a list of type `map`.
    pub(crate) fn list_keys(self) -> Vec<&'s str> {
        match self {
            Self::BuiltIn(Field { form: Form::List(ListForm { keys, merge_key, .. }), .. }) => {
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

    /// Returns whether this is a list of type `set`.
    pub(crate) fn is_set(self) -> bool {
        match self {
            Self::BuiltIn(Field { form: Form::List(list), .. }) => list.is_set,
            Self::Custom(schema) => {
                schema.get("x-kubernetes-list-type").and_then(Node::as_str) == Some("set")
            }
            _ => false,
        }
    }
}

/// Returns whether every object has a field.
fn is_common_field(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

fn custom_field<'s>(schema: &'s Node, key: &str) -> Option<Schema<'s>> {
    let declared = schema.get("properties").and_then(|properties| properties.get(key));
    if let Some(field) = declared.or_else(|| schema.get("additionalProperties")) {
        return Some(Schema::Custom(field));
    }
    let allows_unknown = is_true(schema, "x-kubernetes-preserve-unknown-fields")
        || is_true(schema, "x-kubernetes-embedded-resource") && is_common_field(key)
        // A schema without a type says nothing about the fields of the value.
        || schema.get("type").is_none();
    allows_unknown.then_some(Schema::Unknown)
}

/// Returns the required fields that a manifest must set itself: those without a default that must not be null.
fn custom_required(schema: &Node) -> Vec<&str> {
    let mut required = Vec::new();
    for name in schema.get("required").and_then(Node::as_list).unwrap_or_default() {
        let Some(name) = name.as_str() else { continue };
        let field = schema.get("properties").and_then(|fields| fields.get(name));
        let may_be_absent =
            field.is_some_and(|field| field.get("default").is_some() || field.get("nullable").is_some());
        if !may_be_absent {
            required.push(name);
        }
    }
    required
}

fn is_true(schema: &Node, field: &str) -> bool {
    matches!(schema.get(field), Some(Node { value: Value::Bool(true), .. }))
}

#[cfg(test)]
mod tests {
    use super::{Expected, ListStrategy, Schema};
    use crate::object::Scope;
    use crate::object::schema_table::built_in_scope;

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
        assert_eq!(metadata.field("finalizers").unwrap().list_strategy(), ListStrategy::Union);
        assert!(metadata.field("labels").unwrap().field("anything").is_some());
        let budget = Schema::built_in("policy/v1", "PodDisruptionBudget").unwrap();
        assert_eq!(pod.field("hostNetwork").unwrap().expected(), Expected::Boolean);
        assert_eq!(*container.field("ports").unwrap().item().required(), ["containerPort"]);
        assert_eq!(*deployment.field("spec").unwrap().required(), ["selector", "template"]);
        assert!(budget.field("spec").unwrap().field("selector").unwrap().replaces_map());
    }
}
