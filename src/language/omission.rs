//! Objects that a page, a fragment or a profile leaves out, each with a reason.

use serde_json::{Value as Json, json};

use super::selector::read_selector;
use super::typed::{Marked, Reader, Typed, typed};
use super::when::When;
use crate::object::Selector;
use crate::yaml::{Node, Value};

/// The reason why objects are left out, and the conditions for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Omission {
    /// The reason.
    pub(crate) reason: String,
    /// The profiles to which it applies; all if empty.
    pub(crate) profiles: Vec<Marked<String>>,
    /// The conditions under which it applies.
    pub(crate) when: When,
    /// Whether it may match no object.
    pub(crate) optional: bool,
}

typed! {
    /// An omission with conditions.
    struct OmissionFields ("an omission") {
        /// Why the objects are left out.
        "reason" reason: String,
        /// The profiles in which the objects are left out. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// The objects are left out only if these conditions hold.
        "when" when: When,
        /// The entry may match no object.
        "optional" optional: bool,
    }
}

impl Typed for Omission {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::String(reason) = &node.value {
            return Some(Self {
                reason: reason.to_string(),
                profiles: Vec::new(),
                when: When::new(),
                optional: false,
            });
        }
        let OmissionFields { reason, profiles, when, optional } = OmissionFields::read(node, reader)?;
        Some(Self { reason, profiles, when, optional })
    }

    fn schema() -> Json {
        json!({"oneOf": [{"type": "string", "description": "Why the objects are left out."}, OmissionFields::schema()]})
    }
}

/// Omissions with the objects that each selects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Omissions(pub(crate) Vec<(Marked<Selector>, Omission)>);

impl Omissions {
    /// Returns these omissions on top of those of the parent. An entry replaces the parent's with the same selector.
    pub(super) fn over(self, mut parent: Self) -> Self {
        parent.0.retain(|(inherited, _)| self.0.iter().all(|(own, _)| own.value != inherited.value));
        parent.0.extend(self.0);
        parent
    }
}

impl Typed for Omissions {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map of objects and reasons");
            return None;
        };
        let mut omissions = Vec::new();
        for entry in map {
            let selector = read_selector(&entry.key, entry.mark, reader);
            let omission = Omission::read(&entry.value, reader);
            if let (Some(value), Some(omission)) = (selector, omission) {
                omissions.push((Marked { value, mark: entry.mark }, omission));
            }
        }
        Some(Self(omissions))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": Omission::schema()})
    }
}
