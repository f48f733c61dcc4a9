//! A configuration that asks for the cluster's TLS settings, as the cluster-version-operator gives them.

use super::{Fact, annotation, named, of_group};
use crate::diagnostic::Diagnostic;
use crate::language::Intent;
use crate::language::template::Scope;
use crate::object::Object;
use crate::yaml::{self, Entry, Map, Mark, Node, Sources, Value};

pub(super) const ANNOTATION: &str = "config.openshift.io/inject-tls";

/// The fields of `servingInfo`, and the parameters of the group that they are from.
const FIELDS: [(&str, &str); 2] = [("minTLSVersion", "minVersion"), ("cipherSuites", "cipherSuites")];

/// Files of other kinds are left alone.
const KINDS: [&str; 2] = ["GenericOperatorConfig", "GenericControllerConfig"];

pub(super) fn find(object: &Object) -> Option<Fact> {
    if object.id.kind != "ConfigMap" {
        return None;
    }
    let wish = annotation::get(&object.root, ANNOTATION)?;
    (wish.as_str() == Some("true"))
        .then(|| Fact::new(Intent::Tls, wish.mark, "", vec![("config", named(object))]))
}

/// Writes the TLS settings of a group of parameters into every operator's configuration in the ConfigMap. An absent
/// parameter leaves the field as it is.
pub(in crate::transform) fn inject(
    object: &mut Object,
    group: &str,
    scope: &dyn Scope,
    at: Mark,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    let fields = of_group(group, FIELDS, scope, at, sources)?;
    if fields.is_empty() || annotation::get(&object.root, ANNOTATION).is_none() {
        return Ok(());
    }
    let Some(Value::Map(data)) = object.root.get_mut("data").map(|data| &mut data.value) else {
        return Ok(());
    };
    for (_, file) in data.entries_mut() {
        let written = file.as_str().and_then(|text| configured(text, &fields, at));
        if let Some(text) = written {
            *file = Node { value: Value::String(text.into()), mark: at };
        }
    }
    Ok(())
}

/// The file with the fields set in every configuration in it; nothing if there is none.
fn configured(text: &str, fields: &[(&str, Value)], mark: Mark) -> Option<String> {
    let mut documents = yaml::read(text, mark.source).ok()?;
    let changed =
        documents.iter_mut().filter_map(|document| configure(&mut document.root, fields, mark)).count();
    let texts: Vec<String> = documents.iter().map(|document| yaml::write(&document.root)).collect();
    (changed > 0).then(|| texts.join("---\n"))
}

fn configure(root: &mut Node, fields: &[(&str, Value)], mark: Mark) -> Option<()> {
    let kind = root.get("kind").and_then(Node::as_str)?;
    if !KINDS.contains(&kind) {
        return None;
    }
    let Value::Map(config) = &mut root.value else { return None };
    if config.get("servingInfo").is_none_or(|serving| serving.value == Value::Null) {
        let value = Node { value: Value::Map(Map::default()), mark };
        config.insert(Entry { key: "servingInfo".into(), mark, value });
    }
    let Value::Map(serving) = &mut config.get_mut("servingInfo")?.value else { return None };
    for (field, value) in fields {
        serving.insert(Entry { key: (*field).into(), mark, value: Node { value: value.clone(), mark } });
    }
    Some(())
}
