//! Admission webhooks.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::yaml::{Node, Value};

/// Checks that no webhook can block all requests to the API server.
pub(super) fn check(root: &Field<'_>, report: &mut Report) {
    let kind = root.object.id.kind.as_str();
    if !matches!(kind, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") {
        return;
    }
    for webhook in root.items("/webhooks") {
        // `Fail` is the default.
        let fails = webhook.node.get("failurePolicy").and_then(Node::as_str).unwrap_or("Fail") == "Fail";
        if !fails || is_limited(webhook.node) {
            continue;
        }
        for rule in webhook.items("/rules") {
            if has_any(rule.node, "apiGroups", &["*"]) && has_any(rule.node, "resources", &["*", "*/*"]) {
                report.add(
                    Finding::new(Check::BlockingWebhook, &rule, "the webhook can block requests for all resources")
                        .note("while it does not respond, the API server rejects the requests that would repair it, such as those for its own pods and leases")
                        .help("name the resources, exclude namespaces with `namespaceSelector`, or set `failurePolicy: Ignore`"),
                );
            }
        }
    }
}

/// Returns whether a webhook applies only to some namespaces, objects or requests.
fn is_limited(webhook: &Node) -> bool {
    ["namespaceSelector", "objectSelector", "matchConditions"].iter().any(|field| {
        match webhook.get(field).map(|node| &node.value) {
            Some(Value::Map(map)) => !map.is_empty(),
            Some(Value::List(items)) => !items.is_empty(),
            _ => false,
        }
    })
}

fn has_any(rule: &Node, field: &str, wanted: &[&str]) -> bool {
    let items = rule.get(field).and_then(Node::as_list).unwrap_or_default();
    items.iter().filter_map(Node::as_str).any(|item| wanted.contains(&item))
}
