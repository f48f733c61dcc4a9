//! Refuses additions to containers that do not exist. A misspelled name would otherwise add a container without an image.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Location};
use crate::expand::{Contribution, ContributionTarget};
use crate::object::{Object, PayloadPosition, containers, pod};
use crate::yaml::{Node, Sources};

/// The containers of a component before additions: the position of the workload and the name of the container.
pub(super) struct ContainerNames(BTreeSet<(PayloadPosition, String)>);

impl ContainerNames {
    /// Collects the names of all containers.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut names = BTreeSet::new();
        for object in objects {
            for container in containers_of(object) {
                names.insert((object.position, name_of(container).to_owned()));
            }
        }
        Self(names)
    }

    /// Returns an error for each container that a contribution adds to, if neither a manifest nor another addition
    /// defines the container.
    pub(super) fn unknown_in(
        &self,
        contribution: &Contribution,
        objects: &[Object],
        sources: &Sources,
    ) -> Vec<Diagnostic> {
        let ContributionTarget::Pod(workload) = &contribution.target else { return Vec::new() };
        let Some(object) = objects.iter().find(|object| object.id == *workload) else { return Vec::new() };
        let all = containers_of(object);
        let is_defined = |name: &str| {
            self.0.contains(&(object.position, name.to_owned()))
                || all.iter().any(|other| name_of(other) == name && other.get("image").is_some())
        };
        let defined: Vec<&str> =
            all.iter().map(|other| name_of(other)).filter(|name| is_defined(name)).collect();
        let mut errors = Vec::new();
        for container in containers(&contribution.node) {
            let name = name_of(container);
            if is_defined(name) {
                continue;
            }
            errors.push(
                Diagnostic::error(format!("there is no container `{name}` to add to"))
                    .at(Location::of(container.get("name").unwrap_or(container).mark, sources))
                    .object(workload)
                    .help(format!(
                        "the containers are {}; a new container needs an `image`",
                        defined.join(", ")
                    ))
                    .suggest(name, defined.iter().copied()),
            );
        }
        errors
    }
}

fn containers_of(object: &Object) -> Vec<&Node> {
    pod(&object.root, &object.id.kind).map(containers).unwrap_or_default()
}

fn name_of(container: &Node) -> &str {
    container.get("name").and_then(Node::as_str).unwrap_or_default()
}
