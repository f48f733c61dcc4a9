//! Objects that somebody else fills: declared, and rendered as Secrets with their keys and their origin but without
//! any material, so that they are the same bytes every time.

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{Cause, Object};
use crate::yaml::{Entry, Map, Node, Sources, Value};

/// Says where the material of an issued Secret will come from. The only annotation of ours that is rendered.
pub(super) const ORIGIN: &str = "transship.openshift.io/issued";

/// Turns declarations into the Secrets they stand for.
pub(super) fn apply(objects: &mut [Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects.iter_mut().filter(|object| object.id.group == "transship.openshift.io") {
        match object.id.kind.as_str() {
            "IssuedKubeconfig" => match kubeconfig(&object.root) {
                Some(origin) => become_secret(object, &["kubeconfig"], &origin),
                None => errors.0.push(
                    wrong(object, "a kubeconfig needs to know whose it is", sources)
                        .help("write `spec: {cluster: guest, as: {namespace: …, serviceAccount: …}}`"),
                ),
            },
            kind => {
                let message = format!("`{kind}` is nothing that is issued");
                errors.0.push(wrong(object, &message, sources).help("there is IssuedKubeconfig"));
            }
        }
    }
    errors.or(())
}

/// Whose kubeconfig it is, in one line.
fn kubeconfig(root: &Node) -> Option<String> {
    let text = |path: &[&str]| path.iter().try_fold(root, |node, key| node.get(key))?.as_str();
    let cluster = text(&["spec", "cluster"])?;
    let (namespace, account) =
        (text(&["spec", "as", "namespace"])?, text(&["spec", "as", "serviceAccount"])?);
    Some(format!("kubeconfig for the {cluster} cluster as system:serviceaccount:{namespace}:{account}"))
}

fn become_secret(object: &mut Object, keys: &[&str], origin: &str) {
    let mark = object.root.mark;
    let text = |text: &str| Node { value: Value::String(text.into()), mark };
    let map = |entries: Vec<(&str, Node)>| {
        let entry = |(key, value): (&str, Node)| Entry { key: key.into(), mark, value };
        Node {
            value: Value::Map(Map::from_entries(entries.into_iter().map(entry).collect(), |_, _| {})),
            mark,
        }
    };
    let data = map(keys.iter().map(|key| (*key, text(""))).collect());
    let metadata = map(vec![
        ("annotations", map(vec![(ORIGIN, text(origin))])),
        ("name", text(&object.id.name)),
        ("namespace", text(&object.id.namespace)),
    ]);
    object.root = map(vec![
        ("apiVersion", text("v1")),
        ("data", data),
        ("kind", text("Secret")),
        ("metadata", metadata),
        ("type", text("Opaque")),
    ]);
    object.history.note(&object.root, || Cause::Issued);
    object.id.group = String::new();
    "Secret".clone_into(&mut object.id.kind);
}

fn wrong(object: &Object, message: &str, sources: &Sources) -> Diagnostic {
    Diagnostic::error(message).at(Location::of(object.root.mark, sources)).object(&object.id)
}
