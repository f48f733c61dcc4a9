//! A Service that asks for a certificate.

use super::{Fact, annotation, named};
use crate::language::Intent;
use crate::object::{Object, SERVING_CERT};
use crate::yaml::Node;

pub(super) fn find(object: &Object) -> Option<Fact> {
    if object.id.kind != "Service" || !object.id.group.is_empty() {
        return None;
    }
    let secret = SERVING_CERT.iter().find_map(|key| annotation::get(&object.root, key))?;
    let inputs = vec![("service", named(object)), ("secret", secret.value.clone())];
    Some(Fact::new(Intent::ServingCert, secret.mark, "", inputs))
}

pub(super) fn take_away(root: &mut Node) {
    for key in SERVING_CERT {
        annotation::remove(root, key);
    }
}
