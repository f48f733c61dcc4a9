//! A Service that asks for a certificate.

use super::{Fact, annotation, named};
use crate::object::Object;
use crate::profile::Finder;
use crate::yaml::Node;

const ANNOTATIONS: [&str; 2] = [
    "service.beta.openshift.io/serving-cert-secret-name",
    "service.alpha.openshift.io/serving-cert-secret-name",
];

pub(super) fn find(object: &Object) -> Option<Fact> {
    if object.id.kind != "Service" || !object.id.group.is_empty() {
        return None;
    }
    let secret = ANNOTATIONS.iter().find_map(|key| annotation::get(&object.root, key))?;
    let inputs = vec![("service", named(object)), ("secret", secret.value.clone())];
    Some(Fact::new(Finder::ServingCert, secret.mark, "", inputs))
}

pub(super) fn take_away(root: &mut Node) {
    for key in ANNOTATIONS {
        annotation::remove(root, key);
    }
}
