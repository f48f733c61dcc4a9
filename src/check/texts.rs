//! Walks over all texts of an object once, for the checks that look into texts.

use super::context::CheckContext;
use super::field::Field;
use super::finding::Report;
use super::{placeholders, service_dns};
use crate::yaml::Value;

/// The key of a CRD's schema. Its texts are descriptions, which no program uses, so they are not checked.
pub(super) const SCHEMA: &str = "openAPIV3Schema";

/// The key of a webhook's target, in which DNS names are not checked. The API server resolves them, and the API server
/// of the guest runs in the management cluster.
const CLIENT_CONFIG: &str = "clientConfig";

/// Checks the texts of an object.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    check_field(root, context, !context.others.is_empty(), report);
}

fn check_field(field: &Field<'_>, context: &CheckContext<'_>, with_dns: bool, report: &mut Report) {
    match &field.node.value {
        Value::String(text) => {
            placeholders::check_text(field, text, report);
            if with_dns {
                service_dns::check_text(field, text, context, report);
            }
        }
        Value::List(_) => field.items("").for_each(|item| check_field(&item, context, with_dns, report)),
        Value::Map(map) => {
            for entry in map.iter().filter(|entry| entry.key != SCHEMA) {
                let with_dns = with_dns && entry.key != CLIENT_CONFIG;
                check_field(&field.entry(entry), context, with_dns, report);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
