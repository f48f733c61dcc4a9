//! The names of resources, which RBAC uses instead of kinds.

use std::collections::HashMap;

use crate::language::Checks;
use crate::object::{ObjectId, defined_kind};
use crate::order::Plan;
use crate::yaml::{Node, Text};

/// The resource of each kind.
pub(crate) struct Resources(HashMap<(String, String), Text>);

impl Resources {
    /// Reads the resources of CRDs and of declared kinds.
    pub(crate) fn new<'p>(plans: impl IntoIterator<Item = &'p Plan>, checks: &Checks) -> Self {
        let mut resources = HashMap::new();
        for ((group, kind), declared) in &checks.kinds {
            if let Some(plural) = &declared.entry.plural {
                resources.insert((group.clone(), kind.clone()), plural.into());
            }
        }
        for object in plans.into_iter().flat_map(|plan| &plan.objects) {
            if let (Some((group, kind)), Some(plural)) = (defined_kind(&object.root), plural(&object.root)) {
                resources.insert((group.to_owned(), kind.to_owned()), plural.into());
            }
        }
        Self(resources)
    }

    /// Returns the resource of an object's kind.
    pub(super) fn of(&self, id: &ObjectId) -> Text {
        let known = self.0.get(&(id.group.clone(), id.kind.clone()));
        known.cloned().unwrap_or_else(|| regular_plural(&id.kind))
    }
}

/// Returns the group and the resource that a CRD defines.
pub(super) fn defined_resource(crd: &Node) -> Option<(Text, Text)> {
    let (group, _) = defined_kind(crd)?;
    Some((group.into(), plural(crd)?.into()))
}

fn plural(crd: &Node) -> Option<&str> {
    crd.get("spec")?.get("names")?.get("plural")?.as_str()
}

/// Returns the resource of a kind by the rule that all kinds of Kubernetes and nearly all kinds of OpenShift follow.
fn regular_plural(kind: &str) -> Text {
    let singular = kind.to_ascii_lowercase();
    let plural = match singular.as_str() {
        "endpoints" | "securitycontextconstraints" => singular,
        _ => match singular.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if singular.ends_with('s') => format!("{singular}es"),
            None => format!("{singular}s"),
        },
    };
    plural.into()
}
