//! `proxy-cabundle`: containers that ask for the CA bundle that connections through the proxy need. On a standalone cluster
//! the operators of the storage drivers mount it; the cluster-version-operator does not know the annotation.

use super::{DetectedIntent, IntentHandler, RemoteServices, comma_separated, reference_to, text};
use crate::language::Intent;
use crate::object::{Object, annotation, has_pods, remove_annotation};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: None };

const ANNOTATION: &str = "config.openshift.io/inject-proxy-cabundle";

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    let mut all = Vec::new();
    if !has_pods(&object.id.kind) {
        return all;
    }
    let Some(names) = annotation(&object.root, ANNOTATION) else { return all };
    for container in comma_separated(names) {
        let inputs = vec![("workload", reference_to(object)), ("container", text(container))];
        all.push(DetectedIntent::new(Intent::ProxyCaBundle, names.mark, inputs));
    }
    all
}

fn remove(object: &mut Object, _: &DetectedIntent) {
    remove_annotation(&mut object.root, ANNOTATION);
}
