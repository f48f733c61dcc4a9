//! `tls`: a ConfigMap whose configuration files ask for the TLS settings of the cluster, as the cluster-version-operator
//! sets them.

use super::{DetectedIntent, IntentHandler, ParameterGroup, RemoteServices, reference_to};
use crate::diagnostic::Diagnostic;
use crate::language::Intent;
use crate::object::{Object, annotation, remove_annotation, text};
use crate::yaml::{self, Entry, Map, Mark, Node, Value};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: Some(fulfil) };

const ANNOTATION: &str = "config.openshift.io/inject-tls";

/// The fields of `servingInfo`, and the parameters of the group with their values.
const FIELDS: [(&str, &str); 2] = [("minTLSVersion", "minVersion"), ("cipherSuites", "cipherSuites")];

/// The kinds of configuration files that have `servingInfo`.
const KINDS: [&str; 2] = ["GenericOperatorConfig", "GenericControllerConfig"];

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    if object.id.kind != "ConfigMap" {
        return Vec::new();
    }
    match annotation(&object.root, ANNOTATION) {
        Some(node) if node.as_str() == Some("true") => {
            vec![DetectedIntent::new(Intent::Tls, node.mark, vec![("config", reference_to(object))])]
        }
        _ => Vec::new(),
    }
}

fn remove(object: &mut Object, _: &DetectedIntent) {
    remove_annotation(&mut object.root, ANNOTATION);
}

/// Writes the TLS settings into the configuration files of the ConfigMap. An absent parameter leaves its field unchanged.
fn fulfil(object: &mut Object, group: &ParameterGroup<'_>) -> Result<(), Diagnostic> {
    let fields = group.values(FIELDS)?;
    if fields.is_empty() || annotation(&object.root, ANNOTATION).is_none() {
        return Ok(());
    }
    let Some(Value::Map(data)) = object.root.get_mut("data").map(|data| &mut data.value) else {
        return Ok(());
    };
    for file in data.values_mut() {
        let configured = file.as_str().and_then(|content| set_in_file(content, &fields, group.mark));
        if let Some(content) = configured {
            let sensitivity =
                fields.iter().map(|(_, value)| value.sensitivity).fold(file.sensitivity, Ord::max);
            *file = Node { sensitivity, ..text(content, group.mark) };
        }
    }
    Ok(())
}

/// Sets the fields in every configuration of a file. Returns `None` if the file has none.
fn set_in_file(content: &str, fields: &[(&str, Node)], mark: Mark) -> Option<String> {
    let mut documents = yaml::read(content, mark.source).ok()?;
    let mut changed = false;
    for document in &mut documents {
        changed |= set_in_document(&mut document.root, fields, mark).is_some();
    }
    if !changed {
        return None;
    }
    let texts: Vec<String> = documents.iter().map(|document| yaml::write(&document.root)).collect();
    Some(texts.join("---\n"))
}

/// Sets the fields in a document. Returns `None` if it is not a configuration.
fn set_in_document(root: &mut Node, fields: &[(&str, Node)], mark: Mark) -> Option<()> {
    let kind = root.get("kind").and_then(Node::as_str)?;
    if !KINDS.contains(&kind) {
        return None;
    }
    let Value::Map(config) = &mut root.value else { return None };
    if config.get("servingInfo").is_none_or(|info| info.value == Value::Null) {
        let empty = Node::new(Value::Map(Map::default()), mark);
        config.insert(Entry { key: "servingInfo".into(), mark, value: empty });
    }
    let Value::Map(serving_info) = &mut config.get_mut("servingInfo")?.value else { return None };
    for (field, value) in fields {
        let value = Node { mark, ..value.clone() };
        serving_info.insert(Entry { key: (*field).into(), mark, value });
    }
    Some(())
}
