//! Objects that somebody else fills: declared, and rendered as Secrets with their keys and their origin but without
//! any material, so that they are the same bytes every time.

use super::patch;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{Cause, ISSUED, Object};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

/// What a declaration becomes.
struct Issued {
    /// The type of the Secret.
    r#type: &'static str,
    /// Its keys, which whoever issues it fills.
    keys: Vec<String>,
    /// Where the material will come from, in one line.
    origin: String,
}

/// Turns declarations into the Secrets they stand for.
pub(super) fn apply(objects: &mut [Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects.iter_mut().filter(|object| object.id.group == "transship.openshift.io") {
        let (issued, help) = match object.id.kind.as_str() {
            "IssuedKubeconfig" => (kubeconfig(&object.root), KUBECONFIG),
            "IssuedCertificate" => (certificate(&object.root), CERTIFICATE),
            "IssuedCredentials" => (credentials(&object.root), CREDENTIALS),
            kind => {
                let message = format!("`{kind}` is nothing that is issued");
                let error = wrong(object, &message, sources);
                errors
                    .0
                    .push(error.help("there are IssuedKubeconfig, IssuedCertificate and IssuedCredentials"));
                continue;
            }
        };
        let strange = strange_field(&object.root);
        if let Some((field, mark)) = strange {
            let error = Diagnostic::error(format!("an {} has no field `{field}`", object.id.kind));
            errors.0.push(error.at(Location::of(mark, sources)).object(&object.id).help(help));
        } else if let Some(issued) = issued {
            become_secret(object, &issued);
        } else {
            let message = format!("an {} does not say enough about what is issued", object.id.kind);
            errors.0.push(wrong(object, &message, sources).help(help));
        }
    }
    errors.or(())
}

const KUBECONFIG: &str = "write `spec: {cluster: guest, as: {namespace: …, serviceAccount: …}}`";
const CERTIFICATE: &str = "write `spec: {signer: root-ca, dnsNames: […]}`";
const CREDENTIALS: &str = "write `spec: {cloud: aws, identity: …, keys: [credentials]}`";

/// A field below `spec` that none of the declarations has: it would silently mean nothing.
fn strange_field(root: &Node) -> Option<(String, Mark)> {
    let known = ["cluster", "as", "signer", "dnsNames", "cloud", "identity", "keys"];
    let spec = root.get("spec")?.as_map()?;
    let strange = spec.iter().find(|entry| !known.contains(&entry.key.as_str()))?;
    Some((strange.key.to_string(), strange.mark))
}

fn text<'n>(root: &'n Node, path: &[&str]) -> Option<&'n str> {
    path.iter().try_fold(root, |node, key| node.get(key))?.as_str()
}

fn texts(root: &Node, field: &str) -> Option<Vec<String>> {
    let items = root.get("spec")?.get(field)?.as_list().filter(|items| !items.is_empty())?;
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A kubeconfig for a service account of a cluster.
fn kubeconfig(root: &Node) -> Option<Issued> {
    let cluster = text(root, &["spec", "cluster"])?;
    let (namespace, account) =
        (text(root, &["spec", "as", "namespace"])?, text(root, &["spec", "as", "serviceAccount"])?);
    let origin =
        format!("kubeconfig for the {cluster} cluster as system:serviceaccount:{namespace}:{account}");
    Some(Issued { r#type: "Opaque", keys: vec!["kubeconfig".to_owned()], origin })
}

/// A serving certificate for names, by one of the hosted control plane's authorities.
fn certificate(root: &Node) -> Option<Issued> {
    let signer = text(root, &["spec", "signer"])?;
    let origin = format!("certificate for {} signed by {signer}", texts(root, "dnsNames")?.join(", "));
    let keys = vec!["tls.crt".to_owned(), "tls.key".to_owned()];
    Some(Issued { r#type: "kubernetes.io/tls", keys, origin })
}

/// What a cloud knows a workload by.
fn credentials(root: &Node) -> Option<Issued> {
    let (cloud, identity) = (text(root, &["spec", "cloud"])?, text(root, &["spec", "identity"])?);
    let origin = format!("credentials for {cloud} as {identity}");
    Some(Issued { r#type: "Opaque", keys: texts(root, "keys")?, origin })
}

fn become_secret(object: &mut Object, issued: &Issued) {
    let mark = object.root.mark;
    let text = |text: &str| Node { value: Value::String(text.into()), mark };
    let map = |entries: Vec<(&str, Node)>| {
        let entry = |(key, value): (&str, Node)| Entry { key: key.into(), mark, value };
        Node {
            value: Value::Map(Map::from_entries(entries.into_iter().map(entry).collect(), |_, _| {})),
            mark,
        }
    };
    let data = map(issued.keys.iter().map(|key| (key.as_str(), text(""))).collect());
    // Labels and annotations that the declaration has, the Secret has too.
    let mut metadata = object.root.get("metadata").cloned().unwrap_or_else(|| map(Vec::new()));
    let origin = map(vec![("annotations", map(vec![(ISSUED, text(&issued.origin))]))]);
    patch::merge(&mut metadata, &origin);
    object.root = map(vec![
        ("apiVersion", text("v1")),
        ("data", data),
        ("kind", text("Secret")),
        ("metadata", metadata),
        ("type", text(issued.r#type)),
    ]);
    object.history.note(&object.root, || Cause::Issued);
    object.id.group = String::new();
    "Secret".clone_into(&mut object.id.kind);
}

fn wrong(object: &Object, message: &str, sources: &Sources) -> Diagnostic {
    Diagnostic::error(message).at(Location::of(object.root.mark, sources)).object(&object.id)
}
