//! Moves all namespaced objects to the namespace of the profile, and updates the references to them.

use std::collections::{BTreeSet, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::Marked;
use crate::object::{Cause, ISSUED, Object, REFERENCE_RULES, Scope, Scopes, TargetNamespace, text};
use crate::yaml::{Entry, Mark, Node, Sources, Value};

/// The objects that were moved: kind, old namespace and name.
type Moved = HashSet<(String, String, String)>;

/// Flags that name a namespace of the guest, even if the pod runs in the management cluster: leases and minted identities
/// live in the guest.
const GUEST_NAMESPACE_FLAGS: [&str; 2] = ["--leader-election-namespace=", "--service-account-namespace="];

/// Moves all namespaced objects to `namespace`. Returns warnings about text that still contains an old namespace. A kind
/// of unknown scope is an error, because a cluster-scoped object must not get a namespace.
pub(super) fn move_to(
    namespace: &Marked<String>,
    objects: &mut [Object],
    scopes: &Scopes,
    sources: &Sources,
) -> Result<Vec<Diagnostic>, Diagnostics> {
    let moved = set_namespaces(namespace, objects, scopes, sources)?;
    let old_namespaces: BTreeSet<String> = moved.iter().map(|(_, old, _)| old.clone()).collect();
    let mut warnings = Vec::new();
    for object in objects {
        update_references(object, &moved, namespace);
        // Most objects contain no such text, and need no closer look.
        let mentions_namespace = mentions_namespace(&object.root, &old_namespaces);
        if mentions_namespace
            && let Some(changed) =
                object.root.with_texts(&|text| with_new_dns_names(text, &moved, &namespace.value))
        {
            object.root = changed;
        }
        object.history.record(&object.root, || Cause::Namespace(namespace.mark));
        if mentions_namespace {
            find_old_namespaces(&object.root, &old_namespaces, &namespace.value, &mut |mark, old| {
                warnings.push(still_mentioned(old, mark, object, namespace, sources));
            });
        }
    }
    Ok(warnings)
}

/// Sets the namespace of all namespaced objects. Returns where they were before.
fn set_namespaces(
    namespace: &Marked<String>,
    objects: &mut [Object],
    scopes: &Scopes,
    sources: &Sources,
) -> Result<Moved, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut moved = Moved::new();
    for object in objects {
        match scopes.of(&object.id.group, &object.id.kind) {
            Some(Scope::Cluster) => {}
            Some(Scope::Namespaced) => {
                moved.insert((object.id.kind.clone(), object.id.namespace.clone(), object.id.name.clone()));
                object.id.namespace.clone_from(&namespace.value);
                if let Some(metadata) = object.root.get_mut("metadata") {
                    set_namespace(metadata, namespace);
                }
            }
            None => errors.0.push(unknown_scope(object, sources)),
        }
    }
    errors.into_result(moved)
}

/// Returns whether some text contains an old namespace.
fn mentions_namespace(node: &Node, old_namespaces: &BTreeSet<String>) -> bool {
    match &node.value {
        Value::String(text) => old_namespaces.iter().any(|old| text.contains(old.as_str())),
        Value::List(items) => items.iter().any(|item| mentions_namespace(item, old_namespaces)),
        Value::Map(map) => map.iter().any(|entry| mentions_namespace(&entry.value, old_namespaces)),
        _ => false,
    }
}

/// Replaces the namespaces of moved Services in DNS names such as `metrics.old.svc.cluster.local`. Returns `None` if there
/// are none.
fn with_new_dns_names(text: &str, moved: &Moved, namespace: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let label_start =
        |end: usize| end - bytes[..end].iter().rev().take_while(|byte| is_label_byte(**byte)).count();
    let mut out = String::new();
    let mut copied = 0;
    for (namespace_end, _) in text.match_indices(".svc") {
        let is_longer_word = bytes.get(namespace_end + ".svc".len()).is_some_and(|byte| is_label_byte(*byte));
        let namespace_start = label_start(namespace_end);
        let follows_dot = namespace_start > 0 && bytes[namespace_start - 1] == b'.';
        if is_longer_word || !follows_dot {
            continue;
        }
        let name_end = namespace_start - 1;
        let name = &text[label_start(name_end)..name_end];
        let old_namespace = &text[namespace_start..namespace_end];
        if moved.contains(&("Service".to_owned(), old_namespace.to_owned(), name.to_owned())) {
            out += &text[copied..namespace_start];
            out += namespace;
            copied = namespace_end;
        }
    }
    (!out.is_empty()).then(|| out + &text[copied..])
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Finds text that contains an old namespace as a word.
fn find_old_namespaces(
    node: &Node,
    old_namespaces: &BTreeSet<String>,
    new: &str,
    found: &mut dyn FnMut(Mark, &str),
) {
    match &node.value {
        Value::String(text) => {
            if GUEST_NAMESPACE_FLAGS.iter().any(|flag| text.starts_with(flag)) {
                return;
            }
            if let Some(old) = old_namespaces.iter().find(|old| *old != new && is_word_in(old, text)) {
                found(node.mark, old);
            }
        }
        Value::List(items) => {
            for item in items {
                find_old_namespaces(item, old_namespaces, new, found);
            }
        }
        Value::Map(map) => {
            // The origin of an issued Secret names a namespace of the guest.
            for entry in map.iter().filter(|entry| entry.key != ISSUED) {
                find_old_namespaces(&entry.value, old_namespaces, new, found);
            }
        }
        _ => {}
    }
}

fn is_word_in(word: &str, text: &str) -> bool {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if word.is_empty() {
        return false;
    }
    text.match_indices(word).any(|(start, _)| {
        !text[..start].ends_with(in_word) && !text[start + word.len()..].starts_with(in_word)
    })
}

/// Updates the namespaces in references to moved objects.
fn update_references(object: &mut Object, moved: &Moved, namespace: &Marked<String>) {
    let (root, kind) = (&mut object.root, object.id.kind.as_str());
    for rule in REFERENCE_RULES {
        if rule.namespace != TargetNamespace::NextToName || !rule.applies_to_kind(kind) {
            continue;
        }
        let is_moved = |node: &Node| {
            moved.contains(&(rule.kind.to_owned(), string(node, "namespace"), string(node, "name")))
        };
        // An update would copy the tree, which is shared with the manifest, even if nothing changes.
        if rule.find(root, kind).into_iter().any(is_moved) {
            rule.update(root, kind, &mut |node| {
                if is_moved(node) {
                    set_namespace(node, namespace);
                }
            });
        }
    }
    match kind {
        "RoleBinding" | "ClusterRoleBinding" => {
            for subject in list_mut(root, &["subjects"]) {
                update_user_name(subject, moved, namespace);
            }
        }
        "ServiceMonitor" | "PodMonitor" => {
            for name in list_mut(root, &["spec", "namespaceSelector", "matchNames"]) {
                if name.as_str().is_some_and(|name| moved.iter().any(|(_, old, _)| old == name)) {
                    *name = text(namespace.value.as_str(), namespace.mark);
                }
            }
        }
        _ => {}
    }
}

/// Updates a subject that names a ServiceAccount by its user name, `system:serviceaccount:<namespace>:<name>`.
fn update_user_name(subject: &mut Node, moved: &Moved, namespace: &Marked<String>) {
    const PREFIX: &str = "system:serviceaccount:";
    let Some(name) = subject.get_mut("name") else { return };
    let Some((old, account)) = name.as_str().and_then(|text| text.strip_prefix(PREFIX)?.split_once(':'))
    else {
        return;
    };
    if moved.contains(&("ServiceAccount".to_owned(), old.to_owned(), account.to_owned())) {
        *name = text(format!("{PREFIX}{}:{account}", namespace.value), namespace.mark);
    }
}

/// Returns a string field, or an empty string.
fn string(node: &Node, field: &str) -> String {
    node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned()
}

fn list_mut<'n>(root: &'n mut Node, path: &[&str]) -> &'n mut [Node] {
    let node = path.iter().try_fold(root, |node, key| node.get_mut(key));
    match node.map(|node| &mut node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

/// Sets the field `namespace` of metadata or of a reference.
fn set_namespace(node: &mut Node, namespace: &Marked<String>) {
    let mark = namespace.mark;
    if let Value::Map(map) = &mut node.value {
        map.insert(Entry { key: "namespace".into(), mark, value: text(namespace.value.as_str(), mark) });
    }
}

fn unknown_scope(object: &Object, sources: &Sources) -> Diagnostic {
    let kind = object.id.kind_and_group();
    Diagnostic::error(format!("transship does not know whether {kind} is namespaced or cluster-scoped"))
        .at(Location::of(object.root.mark, sources))
        .object(&object.id)
        .help(
            "add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file",
        )
}

fn still_mentioned(
    old: &str,
    mark: Mark,
    object: &Object,
    namespace: &Marked<String>,
    sources: &Sources,
) -> Diagnostic {
    Diagnostic::warning(format!("the namespace `{old}` is still named here"))
        .at(Location::of(mark, sources))
        .object(&object.id)
        .note(format!("its objects are now in `{}`", namespace.value))
        .help("if it is a namespace of the guest, ignore this warning; otherwise change it with an addition or a patch")
}
