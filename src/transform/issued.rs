//! Turns declarations of issued objects into Secrets. Such a Secret has keys and an origin, but no values: `apply` fills
//! them in, in the cluster. So rendering always produces the same bytes.

use super::{issued_credentials, patch};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{read_certificate, read_kubeconfig};
use crate::object::{CA_BUNDLE, Cause, ISSUED, IssuedOrigin, Object, annotation, label, map, text};
use crate::yaml::{Entry, Map, Node, Sources, Value};

const GROUP: &str = "transship.openshift.io";

/// Replaces the declarations among objects by Secrets.
pub(super) fn create_secrets(objects: &mut [Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects.iter_mut().filter(|object| object.id.group == GROUP) {
        match origin_of(object, sources) {
            Ok(origin) => become_issued(object, origin),
            Err(more) => errors.0.extend(more.0.into_iter().map(|error| error.object(&object.id))),
        }
    }
    errors.into_result(())
}

/// Reads a declaration.
fn origin_of(object: &Object, sources: &Sources) -> Result<IssuedOrigin, Diagnostics> {
    let kind = object.id.kind.as_str();
    let error = |message: String, help: String| {
        let location = Location::of(object.root.mark, sources);
        Diagnostics(vec![Diagnostic::error(message).at(location).help(help)])
    };
    let known = ["IssuedKubeconfig", "IssuedCertificate", "IssuedCredentials"];
    if !known.contains(&kind) {
        let help = "use IssuedKubeconfig, IssuedCertificate or IssuedCredentials".to_owned();
        return Err(error(format!("`{kind}` is not a kind of transship"), help));
    }
    let Some(spec) = object.root.get("spec") else {
        return Err(error(format!("the {kind} has no `spec`"), "say in it what to issue".to_owned()));
    };
    match kind {
        "IssuedKubeconfig" => Ok(IssuedOrigin::Kubeconfig(read_kubeconfig(spec, sources)?)),
        "IssuedCertificate" => Ok(IssuedOrigin::Certificate(read_certificate(spec, sources)?)),
        _ => Ok(IssuedOrigin::Credentials(issued_credentials::read(object, sources)?)),
    }
}

/// Turns an object into the Secret or ConfigMap that is issued. It keeps its labels and annotations.
pub(super) fn become_issued(object: &mut Object, origin: IssuedOrigin) {
    let mark = object.root.mark;
    let data = map(origin.keys().iter().map(|key| (*key, text("", mark))), mark);
    let mut metadata =
        object.root.get("metadata").cloned().unwrap_or(Node::new(Value::Map(Map::default()), mark));
    let labels = map([(ISSUED, text(origin.word(), mark))], mark);
    patch::merge(&mut metadata, &map([("labels", labels)], mark));
    let kind = origin.kind();
    let mut fields = vec![
        ("apiVersion", text("v1", mark)),
        ("data", data),
        ("kind", text(kind, mark)),
        ("metadata", metadata),
    ];
    if kind == "Secret" {
        let is_certificate = matches!(origin, IssuedOrigin::Certificate(_));
        fields.push(("type", text(if is_certificate { "kubernetes.io/tls" } else { "Opaque" }, mark)));
    }
    object.root = map(fields, mark);
    object.history.record(&object.root, || Cause::Issued);
    object.issued = Some(origin);
    object.id.group = String::new();
    kind.clone_into(&mut object.id.kind);
}

/// Writes the label and the annotation of each issued object, whatever patches did to them. The annotation says what is
/// issued, as JSON. It names the final namespace.
pub(super) fn annotate(objects: &mut [Object]) {
    for object in objects {
        let Some(origin) = &object.issued else { continue };
        let json = serde_json::json!({origin.word(): origin.to_json(&object.id.namespace)}).to_string();
        set_metadata(&mut object.root, "annotations", &json);
        set_metadata(&mut object.root, "labels", origin.word());
        object.history.record(&object.root, || Cause::Issued);
    }
}

/// Sets the entry [`ISSUED`] of `metadata.annotations` or `metadata.labels`.
fn set_metadata(root: &mut Node, field: &str, value: &str) {
    let mark = root.mark;
    let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) else { return };
    let is_map = metadata.get(field).is_some_and(|entries| entries.as_map().is_some());
    if !is_map {
        let empty = Node::new(Value::Map(Map::default()), mark);
        metadata.insert(Entry { key: field.into(), mark, value: empty });
    }
    if let Some(Value::Map(entries)) = metadata.get_mut(field).map(|node| &mut node.value) {
        entries.insert(Entry { key: ISSUED.into(), mark, value: text(value, mark) });
    }
}

/// Refuses a label or annotation of transship that names something else than what it is for, and values of issued objects.
pub(super) fn check_marks(objects: &[Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects {
        let mark_of = |node: &Node| Location::of(node.mark, sources);
        if let Some(claimed) = label(&object.root, ISSUED)
            && claimed.as_str() != object.issued.as_ref().map(IssuedOrigin::word)
        {
            let error = Diagnostic::error(format!("the label `{ISSUED}` marks issued objects"));
            errors.0.push(error.at(mark_of(claimed)).object(&object.id).help("remove the label"));
        }
        if let Some(origin) = &object.issued
            && let Some(added) = added_value(&object.root, origin)
        {
            let error = Diagnostic::error("the object is issued, so nothing else can set its values")
                .note("`apply` would replace them, or they would replace those of `apply`")
                .help("remove them from the policy or the patch");
            errors.0.push(error.at(mark_of(added)).object(&object.id));
        }
        if let Some(signer) = annotation(&object.root, CA_BUNDLE)
            && (signer.as_str().is_none_or(str::is_empty) || !can_have_ca_bundle(&object.id.kind))
        {
            let error = Diagnostic::error(format!("the annotation `{CA_BUNDLE}` cannot be used here"))
                .note("it names the signer whose authorities an object with `caBundle` trusts")
                .help("use it on webhook configurations, CustomResourceDefinitions with a conversion webhook, and APIServices");
            errors.0.push(error.at(mark_of(signer)).object(&object.id));
        }
    }
    errors.into_result(())
}

/// Returns a value that policy or a patch added to an issued object.
fn added_value<'n>(root: &'n Node, origin: &IssuedOrigin) -> Option<&'n Node> {
    let added = ["stringData", "binaryData"].into_iter().find_map(|field| root.get(field));
    let keys = origin.keys();
    let mut data = root.get("data").and_then(Node::as_map).into_iter().flatten();
    let changed = data.find(|entry| !keys.contains(&entry.key.as_str()) || entry.value.as_str() != Some(""));
    added.or(changed.map(|entry| &entry.value))
}

fn can_have_ca_bundle(kind: &str) -> bool {
    matches!(
        kind,
        "ValidatingWebhookConfiguration"
            | "MutatingWebhookConfiguration"
            | "CustomResourceDefinition"
            | "APIService"
    )
}
