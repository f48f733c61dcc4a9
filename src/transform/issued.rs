//! Turns declarations of issued objects into Secrets. Such a Secret has keys and an origin, but no data. The issuer
//! adds the data in the cluster, so rendering always produces the same bytes.

use super::patch;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::DnsLabel;
use crate::object::{Cause, Cluster, ISSUED, IssuedOrigin, Object, map, text};
use crate::yaml::{Map, Node, Sources, Value};

const GROUP: &str = "transship.openshift.io";

/// A kind of declaration: how it is read, and an example.
struct Declaration {
    read: fn(&Node) -> Option<IssuedSecret>,
    help: &'static str,
}

/// The Secret that a declaration becomes.
struct IssuedSecret {
    /// The type of the Secret.
    r#type: &'static str,
    /// The keys of its data.
    keys: Vec<String>,
    origin: IssuedOrigin,
}

fn declaration(kind: &str) -> Option<Declaration> {
    match kind {
        "IssuedKubeconfig" => Some(Declaration {
            read: kubeconfig,
            help: "write `spec: {cluster: guest, as: {namespace: …, serviceAccount: …}}`",
        }),
        "IssuedCertificate" => {
            Some(Declaration { read: certificate, help: "write `spec: {signer: root-ca, dnsNames: […]}`" })
        }
        "IssuedCredentials" => Some(Declaration {
            read: credentials,
            help: "write `spec: {cloud: aws, identity: …, keys: [credentials]}`",
        }),
        _ => None,
    }
}

/// The fields of all declarations.
const FIELDS: [&str; 7] = ["cluster", "as", "signer", "dnsNames", "cloud", "identity", "keys"];

/// Replaces the declarations among objects by Secrets.
pub(super) fn create_secrets(objects: &mut [Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects.iter_mut().filter(|object| object.id.group == GROUP) {
        if let Err(error) = create_secret(object, sources) {
            errors.0.push(error);
        }
    }
    errors.into_result(())
}

fn create_secret(object: &mut Object, sources: &Sources) -> Result<(), Diagnostic> {
    let kind = &object.id.kind;
    let error = |message: String, node: &Node| {
        Diagnostic::error(message).at(Location::of(node.mark, sources)).object(&object.id)
    };
    let Some(Declaration { read, help }) = declaration(kind) else {
        return Err(error(format!("`{kind}` is not a kind of transship"), &object.root)
            .help("use IssuedKubeconfig, IssuedCertificate or IssuedCredentials"));
    };
    let spec = object.root.get("spec").and_then(Node::as_map);
    for entry in spec.into_iter().flatten() {
        if !FIELDS.contains(&entry.key.as_str()) {
            return Err(Diagnostic::error(format!("an {kind} has no field `{}`", entry.key))
                .at(Location::of(entry.mark, sources))
                .object(&object.id)
                .help(help));
        }
    }
    let Some(secret) = read(&object.root) else {
        return Err(error(format!("a field of the {kind} is missing or invalid"), &object.root).help(help));
    };
    if let IssuedOrigin::Kubeconfig { cluster, namespace, service_account } = &secret.origin {
        check_identity(object, cluster, namespace, service_account)
            .map_err(|error| error.at(Location::of(object.root.mark, sources)).object(&object.id))?;
    }
    become_secret(object, secret);
    Ok(())
}

/// A kubeconfig for a ServiceAccount of a cluster.
fn kubeconfig(root: &Node) -> Option<IssuedSecret> {
    let spec = root.get("spec")?;
    let identity = spec.get("as")?;
    let origin = IssuedOrigin::Kubeconfig {
        cluster: string(spec, "cluster")?,
        namespace: string(identity, "namespace")?,
        service_account: string(identity, "serviceAccount")?,
    };
    Some(IssuedSecret { r#type: "Opaque", keys: vec!["kubeconfig".to_owned()], origin })
}

/// Refuses a kubeconfig for an identity that cannot exist, or for the ServiceAccount `default`.
fn check_identity(
    object: &Object,
    cluster: &str,
    namespace: &str,
    service_account: &str,
) -> Result<(), Diagnostic> {
    let kind = &object.id.kind;
    if ![Cluster::Guest.name(), Cluster::Management.name()].contains(&cluster) {
        return Err(Diagnostic::error(format!("the {kind} is for the unknown cluster `{cluster}`"))
            .help("write `cluster: guest` or `cluster: management`"));
    }
    if namespace.is_empty() {
        return Err(Diagnostic::error(format!("the identity of the {kind} has no namespace"))
            .note("the kubeconfig would be for system:serviceaccount::…, which is not a ServiceAccount")
            .help("set `as.namespace`; `${workload.namespace}` is empty if the manifest of the workload has no namespace"));
    }
    if !DnsLabel::is_valid(namespace) {
        return Err(Diagnostic::error(format!(
            "the identity of the {kind} is in `{namespace}`, which is not a valid name for a namespace"
        ))
        .note("it looks like a placeholder that nothing replaced")
        .help("write the name of a namespace, or a parameter such as `${workload.namespace}`"));
    }
    if service_account == "default" {
        return Err(Diagnostic::error(format!("the {kind} is for the ServiceAccount `default`"))
            .note("every pod of the namespace that names no ServiceAccount runs as `default`, and would share the rights")
            .help("set `serviceAccountName` in the workload, or name a ServiceAccount of its own in `as.serviceAccount`"));
    }
    if !service_account.split('.').all(DnsLabel::is_valid) {
        return Err(Diagnostic::error(format!(
            "the {kind} is for `{service_account}`, which is not a valid name for a ServiceAccount"
        ))
        .help("use lower-case letters, digits, `-` and `.`"));
    }
    Ok(())
}

/// A serving certificate, signed by an authority of the hosted control plane.
fn certificate(root: &Node) -> Option<IssuedSecret> {
    let spec = root.get("spec")?;
    let origin =
        IssuedOrigin::Certificate { signer: string(spec, "signer")?, dns_names: strings(spec, "dnsNames")? };
    let keys = vec!["tls.crt".to_owned(), "tls.key".to_owned()];
    Some(IssuedSecret { r#type: "kubernetes.io/tls", keys, origin })
}

/// Credentials of a cloud provider.
fn credentials(root: &Node) -> Option<IssuedSecret> {
    let spec = root.get("spec")?;
    let origin =
        IssuedOrigin::Credentials { cloud: string(spec, "cloud")?, identity: string(spec, "identity")? };
    Some(IssuedSecret { r#type: "Opaque", keys: strings(spec, "keys")?, origin })
}

fn string(node: &Node, field: &str) -> Option<String> {
    node.get(field)?.as_str().map(str::to_owned)
}

/// Returns a list of strings that is not empty.
fn strings(node: &Node, field: &str) -> Option<Vec<String>> {
    let items = node.get(field)?.as_list()?;
    if items.is_empty() {
        return None;
    }
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn become_secret(object: &mut Object, secret: IssuedSecret) {
    let mark = object.root.mark;
    let data = map(secret.keys.iter().map(|key| (key.as_str(), text("", mark))), mark);
    // The Secret keeps the labels and annotations of the declaration.
    let empty = Node::new(Value::Map(Map::default()), mark);
    let mut metadata = object.root.get("metadata").cloned().unwrap_or(empty);
    let annotations = map([(ISSUED, text(secret.origin.to_string(), mark))], mark);
    patch::merge(&mut metadata, &map([("annotations", annotations)], mark));
    object.root = map(
        [
            ("apiVersion", text("v1", mark)),
            ("data", data),
            ("kind", text("Secret", mark)),
            ("metadata", metadata),
            ("type", text(secret.r#type, mark)),
        ],
        mark,
    );
    object.history.record(&object.root, || Cause::Issued);
    object.issued = Some(secret.origin);
    object.id.group = String::new();
    "Secret".clone_into(&mut object.id.kind);
}
