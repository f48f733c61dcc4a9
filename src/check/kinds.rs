//! What is known about the kinds of a cluster's objects: from its own CRDs first, since a payload may hold several
//! variants of one.

use std::collections::HashMap;

use super::finding::Fault;
use crate::expand::View;
use crate::language::Check;
use crate::object::{Object, Schema, Scopes, versions};
use crate::transform::Rendered;
use crate::yaml::{Node, Value};

pub(super) struct Kinds<'a> {
    view: &'a View<'a>,
    /// The CRDs that are rendered, by group and kind.
    crds: HashMap<(&'a str, &'a str), &'a Node>,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(cluster: &'a Rendered<'a>) -> Self {
        let crds = cluster.objects.iter().filter(|object| object.id.kind == "CustomResourceDefinition");
        let key = |root: &'a Node| {
            let spec = root.get("spec")?;
            Some((spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
        };
        Self {
            view: &cluster.view,
            crds: crds.filter_map(|crd| Some((key(&crd.root)?, &crd.root))).collect(),
        }
    }

    /// What is known about the fields of an object.
    pub(super) fn schema(&self, object: &Object) -> Option<Schema<'_>> {
        let api_version = api_version(object);
        match self.crds.get(&(object.id.group.as_str(), object.id.kind.as_str())) {
            Some(crd) => {
                let version = served(crd).find(|(name, _)| api_version.ends_with(&format!("/{name}")));
                version
                    .and_then(|(_, version)| version.get("schema")?.get("openAPIV3Schema"))
                    .map(Schema::CustomRoot)
            }
            None => self.view.schema(&object.id, api_version),
        }
    }

    /// A kind that is known, but not in this version.
    pub(super) fn not_served<'n>(&self, object: &'n Object, scopes: &Scopes) -> Option<Fault<'n>> {
        let id = &object.id;
        scopes.of(&id.group, &id.kind)?;
        let known: Vec<String> = match self.crds.get(&(id.group.as_str(), id.kind.as_str())) {
            Some(crd) => served(crd).map(|(name, _)| format!("{}/{name}", id.group)).collect(),
            None => versions(&id.group, &id.kind).into_iter().map(str::to_owned).collect(),
        };
        // Kinds that OpenShift's own API servers serve have no schema here.
        if known.is_empty() || known.iter().any(|version| version == api_version(object)) {
            return None;
        }
        let node = object.root.get("apiVersion").unwrap_or(&object.root);
        let message = format!("nobody serves {} as {}", id.kind, api_version(object));
        let fault =
            Fault::new(Check::UnknownKind, node, message).why("the API server does not know the object");
        Some(fault.help(format!("write {}", known.join(" or "))))
    }
}

fn api_version(object: &Object) -> &str {
    object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default()
}

/// The versions of a CRD that are served, by name.
fn served(crd: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let versions = crd.get("spec").and_then(|spec| spec.get("versions")?.as_list()).unwrap_or_default();
    let is_served =
        |version: &&Node| !matches!(version.get("served"), Some(Node { value: Value::Bool(false), .. }));
    versions.iter().filter(is_served).filter_map(|version| Some((version.get("name")?.as_str()?, version)))
}
