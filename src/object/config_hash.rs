//! The hash of a pod's configuration: of the ConfigMaps and Secrets that it mounts or reads variables from. It is an
//! annotation of the pod, so the pod restarts when its configuration changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::sha256::{Hasher, Sha256};

/// The hash of a pod's configuration, and what it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigHash {
    /// The ConfigMaps and Secrets.
    pub(crate) parts: Vec<ConfigPart>,
}

/// A ConfigMap or Secret that a pod uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigPart {
    /// `ConfigMap` or `Secret`.
    pub(crate) kind: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// The keys that the pod uses; `None` for all.
    pub(crate) keys: Option<BTreeSet<String>>,
    /// Its content.
    pub(crate) content: ConfigContent,
}

/// The content of a ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigContent {
    /// It is not rendered.
    External,
    /// It is rendered with values that have this digest.
    Rendered(Sha256),
    /// It is issued: its values are known only in the cluster.
    Issued,
}

impl ConfigHash {
    /// Returns the hash of what is known without a cluster.
    pub(crate) fn rendered(&self) -> String {
        self.with_values(|_| None)
    }

    /// Returns the hash. `issued` returns the values of issued objects; without a value, an issued object counts as empty.
    pub(crate) fn with_values(&self, issued: impl Fn(&ConfigPart) -> Option<Sha256>) -> String {
        let mut hasher = Hasher::default();
        for part in &self.parts {
            hasher.add_all(&[part.kind, &part.name]);
            let content = match &part.content {
                ConfigContent::External => "external".to_owned(),
                ConfigContent::Rendered(digest) => digest.to_string(),
                ConfigContent::Issued => {
                    issued(part).map_or_else(|| "issued".to_owned(), |digest| digest.to_string())
                }
            };
            hasher.add(&content);
        }
        hasher.finish().to_string()[..16].to_owned()
    }

    /// Returns the issued objects.
    pub(crate) fn issued(&self) -> impl Iterator<Item = &ConfigPart> {
        self.parts.iter().filter(|part| part.content == ConfigContent::Issued)
    }
}

impl ConfigPart {
    /// Returns the digest of the values that the pod uses. Keys count, so swapping two values changes the digest.
    pub(crate) fn digest<'v>(&self, values: impl IntoIterator<Item = (&'v str, &'v [u8])>) -> Sha256 {
        let used = |key: &str| self.keys.as_ref().is_none_or(|keys| keys.contains(key));
        let values: BTreeMap<&str, &[u8]> = values.into_iter().filter(|(key, _)| used(key)).collect();
        let mut hasher = Hasher::default();
        for (key, value) in values {
            hasher.add_all(&[key, &Sha256::of(value).to_string()]);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigContent, ConfigHash, ConfigPart};

    fn part(keys: Option<&[&str]>) -> ConfigPart {
        let keys = keys.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
        ConfigPart { kind: "Secret", name: "cert".to_owned(), keys, content: ConfigContent::Issued }
    }

    #[test]
    fn only_the_values_of_used_keys_count() {
        let values = |key: &'static [u8]| [("tls.crt", b"one".as_slice()), ("tls.key", key)];
        let (all, one) = (part(None), part(Some(&["tls.crt"])));
        assert_ne!(all.digest(values(b"a")), all.digest(values(b"b")));
        assert_eq!(one.digest(values(b"a")), one.digest(values(b"b")));
    }

    #[test]
    fn a_swap_of_two_values_counts() {
        let [a, b] = [b"a".as_slice(), b"b".as_slice()];
        assert_ne!(part(None).digest([("x", a), ("y", b)]), part(None).digest([("x", b), ("y", a)]));
    }

    #[test]
    fn the_hash_of_a_cluster_differs_from_the_rendered_one() {
        let hash = ConfigHash { parts: vec![part(None)] };
        let live = hash.with_values(|part| Some(part.digest([("tls.crt", b"one".as_slice())])));
        assert_eq!(hash.rendered().len(), 16);
        assert_ne!(hash.rendered(), live);
    }
}
