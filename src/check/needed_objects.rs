//! Objects that a page needs without a reference to them: what an operator reads by name, or what its operands use.

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::{Check, Marked, Need, Selector};
use crate::object::{Object, Scope};

/// Checks that the objects of a need exist in this cluster. `account` is its identity.
pub(super) fn check(account: &Object, need: &Marked<Need>, context: &CheckContext<'_>, report: &mut Report) {
    for object in &need.value.objects {
        let namespace = namespace(&object.value, account, context);
        match find(&object.value, namespace, context) {
            Some(ExistingObject::External(externals)) => report.use_externals(&externals),
            Some(_) => {}
            None => report.add(missing(object, namespace, account)),
        }
    }
}

fn find<'a>(selector: &Selector, namespace: &str, context: &CheckContext<'a>) -> Option<ExistingObject<'a>> {
    let group = selector.group.as_deref().unwrap_or_default();
    let name = selector.name.as_deref().unwrap_or_default();
    context.here.find(&selector.kind, group, namespace, name)
}

/// Returns the namespace of a needed object: its own, or that of the identity.
fn namespace<'s>(selector: &'s Selector, account: &'s Object, context: &CheckContext<'_>) -> &'s str {
    let group = selector.group.as_deref().unwrap_or_default();
    match &selector.namespace {
        Some(namespace) => namespace,
        None if context.scopes.of(group, &selector.kind) == Some(Scope::Cluster) => "",
        None => &account.id.namespace,
    }
}

fn missing(object: &Marked<Selector>, namespace: &str, account: &Object) -> Finding {
    let name = object.value.name.as_deref().unwrap_or_default();
    let kind = &object.value.kind;
    let message = if namespace.is_empty() {
        format!("`{}` needs {kind}/{name}, which does not exist", account.id.name)
    } else {
        format!(
            "`{}` needs {kind}/{name} in the namespace `{namespace}`, which does not exist",
            account.id.name
        )
    };
    Finding::new(Check::MissingObject, &Field::root(account), message)
        .at(object.mark)
        .note("`needs.objects` of the page lists it")
        .help("add it to the payload, or declare it under `externals` and say who creates it")
}
