//! The objects that an entry of `reloads` can stand for. Objects and volumes of additions depend on the profile, so an entry counts if
//! any addition may create or mention its object.

use super::contributions::{any_addition, may_add};
use crate::language::{Addition, Page, Profiles, Selector};
use crate::yaml::{Node, Value};

/// Returns whether a page, or a fragment that it may use, creates or mentions the object of an entry of `reloads`, or
/// whether a profile declares it for a signer.
pub(crate) fn may_reload(page: &Page, profiles: &Profiles, entry: &Selector) -> bool {
    let name = entry.name.as_deref().unwrap_or_default();
    let bundles =
        profiles.iter().flat_map(|profile| profile.signers.values()).flat_map(|signer| &signer.value.bundle);
    let mut bundles = bundles.map(|bundle| bundle.value.0.as_str());
    let by_patch = page.patches.iter().any(|patch| {
        // A patch in a file can mention anything.
        patch.value.path.is_some() || patch.value.patch.as_ref().is_some_and(|patch| mentions(patch, entry))
    });
    let by_addition = |addition: &Addition| {
        let fields = [&addition.pod, &addition.workload].into_iter().flatten();
        fields.chain(&addition.objects).any(|node| mentions(node, entry))
    };
    may_add(page, profiles, entry)
        || (entry.kind == "ConfigMap" && bundles.any(|bundle| bundle == name))
        || by_patch
        || any_addition(page, profiles, &by_addition)
}

/// Returns whether a node mounts a ConfigMap or Secret or reads environment variables from it.
pub(crate) fn mentions(node: &Node, entry: &Selector) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|field| {
            let is_named = names_of(&field.key, &entry.kind).iter().any(|key| {
                field.value.get(key).and_then(Node::as_str).is_some_and(|name| may_be(name, entry))
            });
            is_named || mentions(&field.value, entry)
        }),
        Value::List(items) => items.iter().any(|item| mentions(item, entry)),
        _ => false,
    }
}

/// Returns the keys with the name of an object of this kind, in the field of a pod.
fn names_of(field: &str, kind: &str) -> &'static [&'static str] {
    match (field, kind) {
        ("secret", "Secret") => &["secretName", "name"],
        ("secretRef" | "secretKeyRef", "Secret")
        | ("configMap" | "configMapRef" | "configMapKeyRef", "ConfigMap") => &["name"],
        _ => &[],
    }
}

/// Returns whether a text can be the name of an entry; one with `${…}` can become any name.
fn may_be(text: &str, entry: &Selector) -> bool {
    text.contains("${") || entry.name.as_deref() == Some(text)
}
