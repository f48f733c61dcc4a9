//! `trusted-ca`: a ConfigMap that asks for the CA bundle that the cluster trusts.

use super::{DetectedIntent, IntentHandler, RemoteServices, reference_to};
use crate::language::Intent;
use crate::object::{Object, label, remove_label};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: None };

const LABEL: &str = "config.openshift.io/inject-trusted-cabundle";

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    if object.id.kind != "ConfigMap" {
        return Vec::new();
    }
    match label(&object.root, LABEL) {
        Some(node) if node.as_str() == Some("true") => {
            vec![DetectedIntent::new(Intent::TrustedCa, node.mark, vec![("config", reference_to(object))])]
        }
        _ => Vec::new(),
    }
}

fn remove(object: &mut Object, _: &DetectedIntent) {
    remove_label(&mut object.root, LABEL);
}
