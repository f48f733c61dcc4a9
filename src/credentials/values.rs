//! The values of a Secret. They are overwritten in memory when they are dropped, and `Debug` does not show them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretSlice};
use serde_json::{Map, Value, json};

/// The values of a Secret or ConfigMap, by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(BTreeMap<String, SecretSlice<u8>>);

impl Values {
    /// Returns values with one more.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Vec<u8>>) -> Self {
        let value: Vec<u8> = value.into();
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Reads the `data` of a live Secret or ConfigMap.
    pub(crate) fn of_live(live: &Value) -> Self {
        let is_secret = live["kind"] == "Secret";
        let mut values = Self::default();
        for (key, value) in live["data"].as_object().into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            let bytes = if is_secret { STANDARD.decode(text).unwrap_or_default() } else { text.into() };
            values.0.insert(key.clone(), bytes.into());
        }
        values
    }

    /// Returns the value of a key. An empty value is none.
    pub(crate) fn get(&self, key: &str) -> Option<&[u8]> {
        self.0.get(key).map(ExposeSecret::expose_secret).filter(|value| !value.is_empty())
    }

    /// Returns the value of a key as text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        std::str::from_utf8(self.get(key)?).ok()
    }

    /// Returns the values with their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.expose_secret()))
    }

    /// Returns whether all of these keys have a value.
    pub(crate) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.get(key).is_some())
    }

    /// Returns only these keys.
    pub(crate) fn only(&self, keys: &[&str]) -> Self {
        let mut values = self.clone();
        values.0.retain(|key, _| keys.contains(&key.as_str()));
        values
    }

    /// Returns the values as the `data` of a Secret or ConfigMap.
    pub(crate) fn data(&self, kind: &str) -> Value {
        let mut data = Map::new();
        for (key, value) in self.iter() {
            let text = match kind {
                "Secret" => STANDARD.encode(value),
                _ => String::from_utf8_lossy(value).into_owned(),
            };
            data.insert(key.to_owned(), json!(text));
        }
        Value::Object(data)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Values;

    #[test]
    fn values_are_read_and_written_as_kubernetes_stores_them() {
        let secret = json!({"kind": "Secret", "data": {"tls.key": "a2V5", "empty": ""}});
        let values = Values::of_live(&secret);
        assert_eq!(values.text("tls.key"), Some("key"));
        assert!(!values.has_all(&["tls.key", "empty"]));
        assert_eq!(values.data("Secret"), secret["data"]);
        let map = json!({"kind": "ConfigMap", "data": {"ca-bundle.crt": "text"}});
        assert_eq!(Values::of_live(&map).data("ConfigMap"), map["data"]);
    }

    #[test]
    fn debug_shows_no_value() {
        let values = Values::default().with("tls.key", "canary");
        assert!(!format!("{values:?}").contains("canary"));
        assert!(!format!("{values:?}").contains("99, 97, 110"));
    }
}
