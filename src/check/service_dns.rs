//! DNS names of Services in the values of objects.

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;

/// Checks that a text does not name a Service that only the other cluster has, such as `metrics.some-namespace.svc`.
pub(super) fn check_text(field: &Field<'_>, text: &str, context: &CheckContext<'_>, report: &mut Report) {
    if !text.contains(".svc") {
        return;
    }
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
