//! A component of a profile, and what is needed to add to its objects.

use crate::expand::{Expanded, View};
use crate::object::{Object, Scopes};
use crate::yaml::Sources;

/// The objects of one component in one cluster.
pub(crate) struct Component {
    /// The name of the component.
    pub(crate) name: String,
    /// Its objects.
    pub(crate) objects: Vec<Object>,
}

/// The component whose objects get contributions.
#[derive(Clone, Copy)]
pub(super) struct ComponentContext<'a> {
    pub(super) name: &'a str,
    pub(super) expanded: &'a Expanded<'a>,
    pub(super) scopes: &'a Scopes,
}

impl<'a> ComponentContext<'a> {
    pub(super) fn view(&self) -> &'a View<'a> {
        &self.expanded.view
    }

    pub(super) fn sources(&self) -> &'a Sources {
        self.view().context.sources
    }
}
