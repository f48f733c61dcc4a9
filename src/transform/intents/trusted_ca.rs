//! A ConfigMap that asks for the bundle of certificates that the cluster trusts.

use super::{Fact, annotation, named};
use crate::language::Intent;
use crate::object::Object;
use crate::yaml::Node;

const LABEL: &str = "config.openshift.io/inject-trusted-cabundle";

pub(super) fn find(object: &Object) -> Option<Fact> {
    if object.id.kind != "ConfigMap" {
        return None;
    }
    let label = object.root.get("metadata")?.get("labels")?.get(LABEL)?;
    (label.as_str() == Some("true"))
        .then(|| Fact::new(Intent::TrustedCa, label.mark, "", vec![("config", named(object))]))
}

pub(super) fn take_away(root: &mut Node) {
    annotation::remove_label(root, LABEL);
}
