//! The names that `${…}` knows at one place, with their values.

use std::collections::BTreeMap;

use super::View;
use super::built_in::{BuiltIn, image_tag, lookup_image};
use super::pod_context::PodContext;
use crate::language::template::{Lookup, Names, NotDefined};
use crate::object::{ObjectId, pod};
use crate::payload::Manifest;
use crate::yaml::Node;

/// A manifest with its identity. It has pods, unless an input names another object.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// Its identity.
    pub(crate) id: ObjectId,
    /// The object.
    pub(crate) root: Node,
}

/// The container that a policy rule applies to.
#[derive(Clone, Debug)]
pub(crate) struct ContainerScope {
    /// The container.
    pub(crate) node: Node,
    /// Whether it is an init container.
    pub(crate) is_init: bool,
}

/// The names that `${…}` knows at one place: first inputs and values of the page or fragment, then built-in names, then
/// parameters.
#[derive(Clone)]
pub(crate) struct Variables<'a> {
    /// The profile and its payload.
    pub(crate) view: &'a View<'a>,
    /// The component.
    pub(crate) component: &'a str,
    /// The inputs and values of the page or fragment.
    pub(crate) local: BTreeMap<String, Lookup>,
    /// The workload that additions apply to.
    pub(crate) workload: Option<Workload>,
    /// The container, in a policy for containers.
    pub(crate) container: Option<ContainerScope>,
    /// The volume, in a policy for volumes.
    pub(crate) volume: Option<Node>,
    /// What a policy rule found with `lookup`.
    pub(crate) found: Option<Node>,
    /// The objects that pods depend on, in a policy.
    pub(crate) pod_context: Option<&'a PodContext>,
}

impl<'a> Variables<'a> {
    /// Returns the variables of a component, without inputs and values.
    pub(crate) fn of(view: &'a View<'a>, component: &'a str) -> Self {
        Self {
            view,
            component,
            local: BTreeMap::new(),
            workload: None,
            container: None,
            volume: None,
            found: None,
            pod_context: None,
        }
    }
}

impl Names for Variables<'_> {
    fn get(&self, name: &str) -> Result<Lookup, NotDefined> {
        if let Some(value) = self.local.get(name) {
            return Ok(value.clone());
        }
        if let Some(tag) = image_tag(name) {
            return lookup_image(tag, self);
        }
        match BuiltIn::named(name) {
            Some(built_in) => built_in.lookup(self),
            None => self.view.context.parameters.get(name),
        }
    }
}

impl Workload {
    pub(super) fn of(manifest: &Manifest) -> Self {
        Self { id: manifest.id.clone(), root: manifest.root.clone() }
    }

    /// Returns the `ServiceAccount` of its pods.
    pub(crate) fn service_account(&self) -> &str {
        let account =
            pod(&self.root, &self.id.kind).and_then(|pod| pod.get("spec")?.get("serviceAccountName"));
        account.and_then(Node::as_str).unwrap_or("default")
    }

    /// Returns the name of its container, if it has only one.
    pub(super) fn only_container(&self) -> Option<&str> {
        let containers = pod(&self.root, &self.id.kind)?.get("spec")?.get("containers")?.as_list()?;
        match containers {
            [only] => only.get("name")?.as_str(),
            _ => None,
        }
    }
}
