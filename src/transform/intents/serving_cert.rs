//! `serving-cert`: a Service that asks for a serving certificate.

use super::{DetectedIntent, IntentHandler, RemoteServices, reference_to};
use crate::language::Intent;
use crate::object::{Object, SERVING_CERT, annotation, remove_annotation};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: None };

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    if object.id.kind != "Service" || !object.id.group.is_empty() {
        return Vec::new();
    }
    let Some(secret) = SERVING_CERT.iter().find_map(|key| annotation(&object.root, key)) else {
        return Vec::new();
    };
    let inputs = vec![("service", reference_to(object)), ("secret", secret.clone())];
    vec![DetectedIntent::new(Intent::ServingCert, secret.mark, inputs)]
}

fn remove(object: &mut Object, _: &DetectedIntent) {
    for key in SERVING_CERT {
        remove_annotation(&mut object.root, key);
    }
}
