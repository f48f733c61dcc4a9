//! Containers that ask for the bundle of certificates which connections through the proxy need. The operators of the
//! drivers give it to them; the cluster-version-operator does not know the annotation.

use super::{Fact, annotation, named, text};
use crate::language::Intent;
use crate::object::{Object, has_pods};

pub(super) const ANNOTATION: &str = "config.openshift.io/inject-proxy-cabundle";

pub(super) fn find(object: &Object) -> Vec<Fact> {
    let wish = annotation::get(&object.root, ANNOTATION).filter(|_| has_pods(&object.id.kind));
    let fact = |mark, container: &str| {
        let inputs = vec![("workload", named(object)), ("container", text(container))];
        Fact::new(Intent::ProxyCaBundle, mark, container, inputs)
    };
    let facts = |wish| annotation::names(wish).map(|container| fact(wish.mark, container)).collect();
    wish.map(facts).unwrap_or_default()
}
