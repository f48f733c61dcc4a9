//! The version of an object that was read: the precondition of the next write.
//!
//! A command that lost its Lease may have one request in flight. If another command wrote the object meanwhile, the API server
//! rejects the request, because its resource version is old.

use serde_json::Value;

use crate::apply::decide::ownership::apply_set_of;

/// An object at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectVersion {
    uid: String,
    /// Empty if any version will do.
    resource_version: String,
    apply_set: Option<String>,
}

impl ObjectVersion {
    /// Returns the version of a live object; `None` if the value is not a live object.
    pub(crate) fn of(live: &Value) -> Option<Self> {
        let metadata = &live["metadata"];
        let uid = metadata["uid"].as_str()?.to_owned();
        let resource_version = metadata["resourceVersion"].as_str()?.to_owned();
        Some(Self { uid, resource_version, apply_set: apply_set_of(live).map(str::to_owned) })
    }

    /// Returns any version of the same object.
    pub(crate) fn of_any_version(self) -> Self {
        Self { resource_version: String::new(), ..self }
    }

    /// Returns whether both are the same object, and belong to the same `ApplySet`.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        (&self.uid, &self.apply_set) == (&other.uid, &other.apply_set)
    }

    /// Returns fields with this version as a precondition: the API server applies them only to this version of the object.
    pub(crate) fn precondition(&self, fields: &Value) -> Value {
        let mut fields = fields.clone();
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), Value::from(self.uid.as_str()));
            if !self.resource_version.is_empty() {
                metadata.insert("resourceVersion".to_owned(), Value::from(self.resource_version.as_str()));
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ObjectVersion;
    use crate::apply::decide::inventory::PART_OF;

    fn live(uid: &str, version: &str, set: &str) -> Value {
        json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": version, "labels": {PART_OF: set}}})
    }

    #[test]
    fn a_write_has_the_version_that_was_read_as_its_precondition() {
        let fields = json!({"metadata": {"name": "a"}, "data": {}});
        let version = ObjectVersion::of(&live("u", "7", "set")).unwrap();
        assert_eq!(
            version.precondition(&fields),
            json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "data": {}})
        );
        assert_eq!(
            version.of_any_version().precondition(&fields),
            json!({"metadata": {"name": "a", "uid": "u"}, "data": {}})
        );
    }

    #[test]
    fn a_recreated_object_and_one_of_another_apply_set_are_others() {
        let version = |uid, number, set| ObjectVersion::of(&live(uid, number, set)).unwrap();
        let read = version("u", "7", "set");
        assert!(version("u", "8", "set").is_same_object(&read));
        assert!(!version("v", "7", "set").is_same_object(&read));
        assert!(!version("u", "8", "other").is_same_object(&read));
        assert_eq!(ObjectVersion::of(&json!({"kind": "Status", "metadata": {}})), None);
    }
}
