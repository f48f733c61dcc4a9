//! Every namespaced object to one namespace, and the references that name them along with it.

use std::collections::{BTreeSet, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::Marked;
use crate::object::{Cause, ISSUED, Object, RULES, Scope, Scopes, Where};
use crate::yaml::{Entry, Mark, Node, Sources, Value};

/// Objects that were moved: kind, the namespace they came from, and name.
type Moved = HashSet<(String, String, String)>;

/// Flags whose namespace is the guest's, wherever the pod runs: leases and minted identities live there.
const OF_THE_GUEST: [&str; 2] = ["--leader-election-namespace=", "--service-account-namespace="];

/// Moves all namespaced objects to `namespace`, and warns of texts that still mention where they were. A kind whose scope
/// nobody knows is an error: guessing would put a namespace on something that has none.
pub(super) fn move_to(
    namespace: &Marked<String>,
    objects: &mut [Object],
    scopes: &Scopes,
    sources: &Sources,
) -> Result<Vec<Diagnostic>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut moved = Moved::new();
    for object in &mut *objects {
        match scopes.of(&object.id.group, &object.id.kind) {
            Some(Scope::Cluster) => {}
            Some(Scope::Namespaced) => {
                moved.insert((object.id.kind.clone(), object.id.namespace.clone(), object.id.name.clone()));
                set_namespace(object, namespace);
            }
            None => errors.0.push(unknown_scope(object, sources)),
        }
    }
    errors.or(())?;
    let left: BTreeSet<String> = moved.iter().map(|(_, left, _)| left.clone()).collect();
    let mut warnings = Vec::new();
    for object in objects {
        follow(object, &moved, namespace);
        // Most objects mention no other place at all, and need no closer look.
        if !mentions_a_place(&object.root, &left) {
            object.history.note(&object.root, || Cause::Namespace(namespace.mark));
            continue;
        }
        if let Some(changed) = object.root.with_texts(&|text| with_dns_names(text, &moved, &namespace.value))
        {
            object.root = changed;
        }
        object.history.note(&object.root, || Cause::Namespace(namespace.mark));
        leftovers(&object.root, &left, &namespace.value, &mut |mark, old| {
            warnings.push(
                Diagnostic::warning(format!("the namespace `{old}` is still mentioned here"))
                    .at(Location::of(mark, sources))
                    .object(&object.id)
                    .note(format!("its objects are now in `{}`", namespace.value))
                    .help("if it is the guest's, nothing is wrong; else say it with a name that is known"),
            );
        });
    }
    Ok(warnings)
}

/// Whether some text holds a Service's DNS name, or a namespace that objects left.
fn mentions_a_place(node: &Node, left: &BTreeSet<String>) -> bool {
    match &node.value {
        Value::String(text) => {
            let dotted = text.len() > ".svc".len() && text.as_bytes().contains(&b'.');
            let long_enough = |old: &&String| text.len() >= old.len();
            dotted && text.contains(".svc")
                || left.iter().filter(long_enough).any(|old| text.contains(old.as_str()))
        }
        Value::List(items) => items.iter().any(|item| mentions_a_place(item, left)),
        Value::Map(map) => map.iter().any(|entry| mentions_a_place(&entry.value, left)),
        _ => false,
    }
}

/// The text with the namespaces of Services that moved, in names such as `metrics.old.svc.cluster.local`.
fn with_dns_names(text: &str, moved: &Moved, namespace: &str) -> Option<String> {
    let in_label = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let label_before =
        |end: usize| end - text.as_bytes()[..end].iter().rev().take_while(|byte| in_label(byte)).count();
    let mut out = String::new();
    let mut copied = 0;
    for (end, _) in text.match_indices(".svc") {
        let behind = text.as_bytes().get(end + ".svc".len());
        let start = label_before(end);
        let separated = start > 0 && text.as_bytes()[start - 1] == b'.';
        if behind.is_some_and(in_label) || !separated || start < copied {
            continue;
        }
        let name = label_before(start - 1);
        let service = ("Service".to_owned(), text[start..end].to_owned(), text[name..start - 1].to_owned());
        if moved.contains(&service) {
            out += &text[copied..start];
            out += namespace;
            copied = end;
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}

/// Texts in which a namespace that objects left stands as a word.
fn leftovers(node: &Node, left: &BTreeSet<String>, new: &str, found: &mut dyn FnMut(Mark, &str)) {
    match &node.value {
        Value::String(text) if !OF_THE_GUEST.iter().any(|flag| text.starts_with(flag)) => {
            let hit = left.iter().find(|old| *old != new && is_word_in(old, text));
            if let Some(old) = hit {
                found(node.mark, old);
            }
        }
        Value::List(items) => items.iter().for_each(|item| leftovers(item, left, new, found)),
        Value::Map(map) => {
            let ours = |entry: &&Entry| entry.key != ISSUED;
            map.iter().filter(ours).for_each(|entry| leftovers(&entry.value, left, new, found));
        }
        _ => {}
    }
}

fn is_word_in(word: &str, text: &str) -> bool {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !word.is_empty()
        && text
            .match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(in_word) && !text[at + word.len()..].starts_with(in_word))
}

fn set_namespace(object: &mut Object, namespace: &Marked<String>) {
    object.id.namespace.clone_from(&namespace.value);
    if let Some(metadata) = object.root.get_mut("metadata") {
        set_to(metadata, namespace);
    }
}

/// Rewrites the namespaces that stand beside names, where what they name has moved.
fn follow(object: &mut Object, moved: &Moved, namespace: &Marked<String>) {
    let (root, kind) = (&mut object.root, object.id.kind.as_str());
    let text =
        |node: &Node, field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
    for rule in RULES.iter().filter(|rule| rule.namespace == Where::Beside && rule.is_about(kind)) {
        let is_moved = |node: &Node| {
            moved.contains(&(rule.kind.to_owned(), text(node, "namespace"), text(node, "name")))
        };
        if rule.places(root, kind).into_iter().any(is_moved) {
            rule.change(root, kind, &mut |place| {
                if is_moved(place) {
                    set_to(place, namespace);
                }
            });
        }
    }
    match kind {
        "RoleBinding" | "ClusterRoleBinding" => {
            for subject in list_mut(root.get_mut("subjects")) {
                follow_user(subject, moved, namespace);
            }
        }
        "ServiceMonitor" | "PodMonitor" => {
            let left = |name: &str| moved.iter().any(|(_, old, _)| old == name);
            for name in list_mut(down(root, &["spec", "namespaceSelector", "matchNames"])) {
                if name.as_str().is_some_and(left) {
                    *name =
                        Node { value: Value::String(namespace.value.as_str().into()), mark: namespace.mark };
                }
            }
        }
        _ => {}
    }
}

/// A service account by its user name, `system:serviceaccount:<namespace>:<name>`.
fn follow_user(subject: &mut Node, moved: &Moved, namespace: &Marked<String>) {
    const USER: &str = "system:serviceaccount:";
    let Some(name) = subject.get_mut("name") else { return };
    let Some((old, account)) = name.as_str().and_then(|text| text.strip_prefix(USER)?.split_once(':')) else {
        return;
    };
    if moved.contains(&("ServiceAccount".to_owned(), old.to_owned(), account.to_owned())) {
        let user = format!("{USER}{}:{account}", namespace.value);
        *name = Node { value: Value::String(user.into()), mark: namespace.mark };
    }
}

fn down<'n>(node: &'n mut Node, keys: &[&str]) -> Option<&'n mut Node> {
    keys.iter().try_fold(node, |node, key| node.get_mut(key))
}

fn list_mut(node: Option<&mut Node>) -> &mut [Node] {
    match node.map(|node| &mut node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

/// Sets the namespace of a reference or of metadata; the profile's line wrote it.
fn set_to(node: &mut Node, namespace: &Marked<String>) {
    let mark = namespace.mark;
    let value = Node { value: Value::String(namespace.value.as_str().into()), mark };
    if let Value::Map(map) = &mut node.value {
        map.insert(Entry { key: "namespace".into(), mark, value });
    }
}

fn unknown_scope(object: &Object, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("nobody knows whether {} lives in a namespace", object.id.kind_and_group()))
        .at(Location::of(object.root.mark, sources))
        .object(&object.id)
        .help(
            "put its CustomResourceDefinition into the payload, or declare it under `kinds` in a Checks file",
        )
}
