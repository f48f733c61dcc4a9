//! What we have put into a cluster, kept in that cluster: written before the first object is, shortened last.
//!
//! It is a `ConfigMap` that `kubectl` knows as the parent of an `ApplySet`, and every object of it carries the set's label.
//! The guest's can be edited by the guest's admin: it is read as hostile input, and never leads out of its cluster.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::apply::wire::discovery::escaped;
use crate::language::Profile;
use crate::object::ObjectId;
use crate::order::Plan;

/// The label of every object that belongs to a set.
pub(in crate::apply) const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// Where inventories are kept where no hosted control plane has a namespace for its own.
const NAMESPACE: &str = "openshift-config-managed";

/// How an object is marked that was there before us.
const FOUND: &str = "found";

/// An API server takes no more than this in one object, and some of it is not ours.
const LARGEST: usize = 900 * 1024;

/// Where an inventory is: a `ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Home {
    /// Where the inventory of a profile is: in the namespace of the hosted control plane, if it is about one.
    pub fn of(profile: &Profile, plan: &Plan) -> Self {
        let namespace = plan.namespace.clone().unwrap_or_else(|| NAMESPACE.to_owned());
        Self { namespace, name: format!("transship-{}", profile.topology) }
    }

    /// The name of the set, which the label of its objects has as its value.
    pub fn set(&self) -> String {
        let parent = format!("{}.{}.ConfigMap.", self.name, self.namespace);
        format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(Sha256::digest(parent)))
    }

    pub(in crate::apply) fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }

    pub(in crate::apply) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }
}

/// What is in a cluster because of us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Whether everything was there once. Until then nothing waits for anything else to be ready.
    pub installed: bool,
    /// A digest of all that was rendered when it was written: another rollout is seen from its beginning.
    pub revision: String,
    /// The objects, in the order in which they were applied.
    pub entries: Vec<Entry>,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object.
    pub id: ObjectId,
    /// The version by which it was applied.
    pub version: String,
    /// Its uid, once it was seen.
    pub uid: String,
    /// A digest of what we want it to be.
    pub desired: String,
    /// A digest of what our fields of it were when it was applied.
    pub live: String,
    /// Whether it was there before us, and nobody asked us to take it over: then it stays when we leave.
    pub found: bool,
}

impl Entry {
    /// An object that will be there.
    pub(in crate::apply) fn ahead(id: &ObjectId, version: &str) -> Self {
        let none = String::new;
        let (id, version) = (id.clone(), version.to_owned());
        Self { id, version, uid: none(), desired: none(), live: none(), found: false }
    }
}

impl Inventory {
    /// The entry of an object.
    pub fn find(&self, id: &ObjectId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == *id)
    }

    /// As the `ConfigMap` holds it: a line for each object.
    pub(in crate::apply) fn write(&self) -> String {
        let mut out = String::new();
        let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        for Entry { id, version, uid, desired, live, found } in &self.entries {
            let api = if id.group.is_empty() { version.clone() } else { format!("{}/{version}", id.group) };
            let (namespace, uid, desired, live) =
                (or_dash(&id.namespace), or_dash(uid), or_dash(desired), or_dash(live));
            let (name, found) = (escaped(&id.name), if *found { FOUND } else { "-" });
            let _ = writeln!(out, "{api} {} {namespace} {name} {uid} {desired} {live} {found}", id.kind);
        }
        out
    }

    /// Reads the lines of a `ConfigMap`; the number of one that cannot be.
    pub(in crate::apply) fn read(text: &str, installed: bool) -> Result<Self, usize> {
        let entries = text.lines().enumerate().map(|(at, line)| entry(line).ok_or(at + 1));
        Ok(Self { installed, revision: String::new(), entries: entries.collect::<Result<_, _>>()? })
    }

    /// The `ConfigMap`, with the version that it must still have; an error says how large it would be.
    pub(in crate::apply) fn object(&self, home: &Home, version: Option<&str>) -> Result<Value, usize> {
        let text = self.write();
        if text.len() > LARGEST {
            return Err(text.len());
        }
        let kinds: BTreeSet<String> = self.entries.iter().map(|entry| entry.id.kind_and_group()).collect();
        let namespaces: BTreeSet<&str> =
            self.entries.iter().map(|entry| entry.id.namespace.as_str()).collect();
        let others: Vec<&str> =
            namespaces.into_iter().filter(|name| !name.is_empty() && *name != home.namespace).collect();
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": home.name, "namespace": home.namespace,
                "labels": {"applyset.kubernetes.io/id": home.set()},
                "annotations": {
                    "applyset.kubernetes.io/tooling": "transship/v1",
                    "applyset.kubernetes.io/contains-group-kinds": kinds.into_iter().collect::<Vec<_>>().join(","),
                    "applyset.kubernetes.io/additional-namespaces": others.join(","),
                },
            },
            "data": {"installed": self.installed.to_string(), "revision": self.revision, "objects": text},
        });
        if let Some(version) = version {
            object["metadata"]["resourceVersion"] = json!(version);
        }
        Ok(object)
    }
}

fn entry(line: &str) -> Option<Entry> {
    let parts: Vec<&str> = line.split(' ').collect();
    let [api, kind, namespace, name, uid, desired, seen, found] = parts[..] else { return None };
    if ![FOUND, "-"].contains(&found) {
        return None;
    }
    // Each goes into a path of a request.
    let safe = |text: &str| {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        !text.is_empty() && text != ".." && text != "." && text.bytes().all(fine)
    };
    let (group, version) = api.split_once('/').unwrap_or(("", api));
    let name = unescaped(name)?;
    let all = [version, kind, namespace, uid, desired, seen];
    if !all.into_iter().all(safe) || !(group.is_empty() || safe(group)) {
        return None;
    }
    let none = |text: &str| if text == "-" { String::new() } else { text.to_owned() };
    Some(Entry {
        id: ObjectId { group: group.to_owned(), kind: kind.to_owned(), namespace: none(namespace), name },
        version: version.to_owned(),
        uid: none(uid),
        desired: none(desired),
        live: none(seen),
        found: found == FOUND,
    })
}

/// A name as we write it, with what stands for bytes that a path cannot have. Whatever it is, it leads nowhere else.
fn unescaped(written: &str) -> Option<String> {
    let name = percent_decode_str(written).decode_utf8().ok()?.into_owned();
    let leads_away = name.is_empty() || name == "." || name == ".." || name.contains(['/', '%']);
    (!leads_away && escaped(&name) == written).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Home, Inventory};

    const LINES: &str = "\
apps/v1 Deployment ns d 1-2 aa bb -
v1 Namespace - ns 3-4 - - found
rbac.authorization.k8s.io/v1 ClusterRole - system:x - cc - -
rbac.authorization.k8s.io/v1 ClusterRole - a@b%20%C3%BC - cc - -
";

    #[test]
    fn what_is_written_is_read() {
        let inventory = Inventory::read(LINES, true).unwrap();
        assert_eq!(inventory.entries.len(), 4);
        assert_eq!(inventory.entries[3].id.name, "a@b ü");
        assert_eq!(inventory.entries[1].id.namespace, "");
        assert_eq!(
            inventory.entries.iter().map(|entry| entry.found).collect::<Vec<_>>(),
            [false, true, false, false]
        );
        assert_eq!(inventory.entries[2].id.name, "system:x");
        assert_eq!(inventory.write(), LINES);
    }

    #[test]
    fn what_leads_elsewhere_is_not_read() {
        for line in [
            "v1 Secret ns ../x - - - -",
            "v1 Secret ns .. - - - -",
            "v1 Secret ns a?b - - - -",
            "v1 Secret ns a/b - - - -",
            "v1 Secret ns a - - -",
            "v1 Secret ns a - - - - -",
            "v1 Secret ns a - - - x",
            "v1 Secret ns  - - - -",
            "../v1 Secret ns a - - - -",
            "v1 Secret ns a%2f - - - -",
            "v1 Secret ns %2E%2e - - - -",
            "v1 Secret ns a%2 - - - -",
            "v1 Secret ns a%252f - - - -",
        ] {
            assert_eq!(Inventory::read(&format!("{LINES}{line}\n"), true), Err(5), "{line}");
        }
    }

    #[test]
    fn the_set_is_named_as_kubectl_names_it() {
        let home = Home { namespace: "openshift-config-managed".into(), name: "transship-standalone".into() };
        let set = home.set();
        assert!(set.starts_with("applyset-") && set.ends_with("-v1") && set.len() == 55, "{set}");
    }
}
