//! What `${}` stands for while an object is made: parameters, and what is known about the object.

use crate::object::{Object, pod};
use crate::payload::Payload;
use crate::profile::Parameters;
use crate::profile::template::{Lookup, Scope};
use crate::yaml::{Node, Value};

/// Names for one object.
pub(super) struct ObjectScope<'a> {
    parameters: &'a Parameters,
    known: Vec<(&'static str, Lookup)>,
}

impl<'a> ObjectScope<'a> {
    pub(super) fn of(object: &Object, payload: &Payload, parameters: &'a Parameters) -> Self {
        let text = |text: &str| Lookup::Value(Value::String(text.into()));
        let owner = payload.page(&object.component).map_or(object.component.as_str(), |page| page.owner());
        let version = payload.release.as_ref().and_then(|release| release.version.as_deref());
        let account = pod(&object.root, &object.id.kind)
            .and_then(|pod| pod.get("spec")?.get("serviceAccountName").and_then(Node::as_str));
        let known = vec![
            ("component.name", text(&object.component)),
            ("component.owner", text(owner)),
            ("release.version", version.map_or(Lookup::Absent, text)),
            ("workload.kind", text(&object.id.kind)),
            ("workload.name", text(&object.id.name)),
            ("workload.namespace", text(&object.id.namespace)),
            ("workload.serviceAccount", text(account.unwrap_or("default"))),
        ];
        Self { parameters, known }
    }
}

impl Scope for ObjectScope<'_> {
    fn get(&self, name: &str) -> Result<Lookup, String> {
        match self.known.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(value.clone()),
            None => self.parameters.get(name),
        }
    }
}
