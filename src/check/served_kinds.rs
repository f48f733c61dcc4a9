//! The kinds and versions that the API server of a cluster serves, and their schemas.

use std::collections::HashMap;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::expand::View;
use crate::language::Check;
use crate::object::{Object, ObjectId, Schema, defined_kind, versions};
use crate::transform::Rendered;
use crate::yaml::{Node, Value};

/// The schemas of the kinds of a cluster. Rendered CRDs come first, because a payload may contain several variants of
/// a CRD of which the profile selects one.
pub(super) struct ServedKinds<'a> {
    view: &'a View<'a>,
    /// The rendered CRDs, by group and kind.
    crds: HashMap<(&'a str, &'a str), &'a Node>,
}

impl<'a> ServedKinds<'a> {
    pub(super) fn new(cluster: &'a Rendered<'a>) -> Self {
        let mut crds = HashMap::new();
        for object in &cluster.objects {
            if let Some(group_and_kind) = defined_kind(&object.root) {
                crds.insert(group_and_kind, &object.root);
            }
        }
        Self { view: &cluster.view, crds }
    }

    /// Returns the schema of an object, if its kind is served in the object's version.
    pub(super) fn schema(&self, object: &Object) -> Option<Schema<'_>> {
        let api_version = api_version(object);
        let Some(crd) = self.crd(&object.id) else { return self.view.schema(&object.id, api_version) };
        let (_, wanted) = api_version.rsplit_once('/')?;
        let (_, version) = served_versions(crd).find(|(name, _)| *name == wanted)?;
        Some(Schema::CustomRoot(version.get("schema")?.get("openAPIV3Schema")?))
    }

    fn crd(&self, id: &ObjectId) -> Option<&'a Node> {
        self.crds.get(&(id.group.as_str(), id.kind.as_str())).copied()
    }

    /// Returns the API versions in which a kind is served, as far as they are known.
    fn known_versions(&self, id: &ObjectId) -> Vec<String> {
        match self.crd(id) {
            Some(crd) => served_versions(crd).map(|(name, _)| format!("{}/{name}", id.group)).collect(),
            None => versions(&id.group, &id.kind).into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Checks that the kind of an object is served in the object's version.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let object = root.object;
    let id = &object.id;
    if context.kinds.schema(object).is_some() {
        return;
    }
    let known = context.kinds.known_versions(id);
    // `scope` reports unknown kinds. Kinds that OpenShift's aggregated API servers serve have no schema here.
    if known.is_empty() || known.iter().any(|version| version == api_version(object)) {
        return;
    }
    let field = root.get("apiVersion").unwrap_or(*root);
    let message = format!("{} is not served in the version {}", id.kind, api_version(object));
    report.add(
        Finding::new(Check::UnknownKind, &field, message)
            .note("the API server rejects the object")
            .help(format!("use {}", known.join(" or "))),
    );
}

fn api_version(object: &Object) -> &str {
    object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default()
}

/// Returns the served versions of a CRD, with their names.
fn served_versions(crd: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let versions = crd.get("spec").and_then(|spec| spec.get("versions")?.as_list()).unwrap_or_default();
    versions
        .iter()
        .filter(|version| version.get("served").is_none_or(|served| served.value != Value::Bool(false)))
        .filter_map(|version| Some((version.get("name")?.as_str()?, version)))
}
