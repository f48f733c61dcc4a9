//! DNS names of Services in the values of objects.

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::yaml::Value;

/// Fields that are not checked. The API server itself resolves the URL in a `clientConfig`, and the API server of a
/// hosted cluster runs in the management cluster. A schema contains only descriptions.
const SKIPPED_FIELDS: [&str; 2] = ["clientConfig", "openAPIV3Schema"];

/// Checks that no text names a Service that only the other cluster has, such as `metrics.some-namespace.svc`.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if !context.others.is_empty() {
        check_field(root, context, report);
    }
}

fn check_field(field: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    match &field.node.value {
        Value::String(text) if text.contains(".svc") => check_text(field, text, context, report),
        Value::List(_) => field.items("").for_each(|item| check_field(&item, context, report)),
        Value::Map(map) => {
            for entry in map {
                if !SKIPPED_FIELDS.contains(&entry.key.as_str()) {
                    check_field(&field.entry(entry), context, report);
                }
            }
        }
        _ => {}
    }
}

fn check_text(field: &Field<'_>, text: &str, context: &CheckContext<'_>, report: &mut Report) {
    let is_in_host = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    for host in text.split(|letter| !is_in_host(letter)) {
        let Some((namespace, name)) = service_of(host) else { continue };
        let found = context.here.find("Service", "", namespace, name);
        if let Some(ExistingObject::External(externals)) = &found {
            report.use_externals(externals);
        }
        if found.is_none() && context.is_service_of_other_cluster(namespace, name) {
            report.add(service_of_other_cluster(field, name));
        }
    }
}

/// Returns the namespace and the name of the Service in a host name. Pods of a headless Service have one more label in
/// front.
pub(super) fn service_of(host: &str) -> Option<(&str, &str)> {
    let (before, after) = host.split_once(".svc")?;
    if !after.is_empty() && !after.starts_with('.') {
        return None;
    }
    let mut labels = before.rsplit('.');
    Some((labels.next()?, labels.next()?))
}

fn service_of_other_cluster(field: &Field<'_>, name: &str) -> Finding {
    // A message never repeats a value of a Secret.
    let message = if field.object.id.kind == "Secret" {
        "the value names a Service of the other cluster".to_owned()
    } else {
        format!("the Service `{name}` is in the other cluster")
    };
    Finding::new(Check::WrongCluster, field, message)
        .note("DNS of this cluster does not resolve the name")
        .help("add a Service with this name to this cluster that forwards to the other one, or use an external URL")
}
