//! Checks the objects of a topology before they are printed or applied.
//!
//! | module | checks |
//! |---|---|
//! | `duplicates` | that no two manifests describe the same object |
//! | `namespaces` | that each namespace exists |
//! | `run_levels` | that an object is applied after what it needs |
//! | `scope` | that the kind is known, and that the object has a namespace exactly if its kind is namespaced |
//! | `served_kinds` | that the kind is served in the version of the object |
//! | `fields` | that fields are known, of the right type, complete and without duplicates |
//! | `one_of` | that fields which exclude each other are not set together |
//! | `pods` | that the containers, volumes and mounts of a pod fit together |
//! | `references` | that the objects, keys and ports that an object references exist in the same cluster |
//! | `service_dns` | that no text names a Service of the other cluster |
//! | `selectors` | that label selectors match something, and that named ports exist |
//! | `rbac` | that bindings are valid, and who gets permissions |
//! | `management_pods` | that pods in the management cluster have no access to the node and no unneeded token |
//! | `guest_secrets` | that the guest receives no credentials |
//! | `ignored_text` | that no text follows the document of a manifest |
//! | `declarations` | that externals and declared kinds are used |
//! | `allowances` | removes the findings that the project accepts |
//!
//! `context` holds what a check may look at, with the indexes `cluster_index`, `label_index` and `served_kinds`.
//! `field` is a node with its path, `finding` is a result, and `merge` joins the results of several runs.
//!
//! To add a check: add its code in `language/checks.rs`, write a function that adds findings to a `Report`, call it in
//! `check_object` or `check_cluster`, and add a case to `tests/data/checks/cases.yaml`.

mod allowances;
mod cluster_index;
mod context;
mod declarations;
mod duplicates;
mod field;
mod fields;
mod finding;
mod guest_secrets;
mod ignored_text;
mod label_index;
mod management_pods;
mod merge;
mod namespaces;
mod one_of;
mod pods;
mod rbac;
mod references;
mod run_levels;
mod scope;
mod selectors;
mod served_kinds;
mod service_dns;

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostics;
use crate::object::{Object, has_pods, pod_path};
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::transform::Rendered;
use crate::yaml::{Mark, Sources};

use cluster_index::ClusterIndex;
use context::CheckContext;
use field::Field;
pub use finding::Finding;
use finding::Report;
pub(crate) use merge::merge;

/// The maximum number of findings that are reported for one object.
const MAX_FINDINGS_PER_OBJECT: usize = 100;

/// The findings of one profile.
#[derive(Debug, Default)]
pub struct Checked {
    /// The name of the profile.
    pub profile: String,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The declarations in Checks files and on manifests that a check used.
    pub(crate) used: BTreeSet<Declaration>,
}

/// A line that declares an external, a kind or an allowance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Declaration {
    /// The line.
    pub(crate) mark: Mark,
    /// The profile in which a check used it. `None` if the declaration does not depend on the profile.
    pub(crate) profile: Option<String>,
}

/// Checks all clusters of a topology.
pub(crate) fn check(clusters: &[Rendered<'_>]) -> Result<Vec<Checked>, Diagnostics> {
    let indexes = Diagnostics::collect(clusters.iter().map(|cluster| Ok(ClusterIndex::new(cluster)?)))?;
    let mut results = Vec::new();
    for (position, (cluster, index)) in clusters.iter().zip(&indexes).enumerate() {
        let (before, after) = (&indexes[..position], &indexes[position + 1..]);
        let others = before.iter().chain(after).collect();
        let mut checked = check_cluster(&CheckContext::new(cluster, index, others));
        allowances::apply(cluster, &mut checked);
        results.push(checked);
    }
    Ok(results)
}

/// Fails if two manifests describe the same object.
pub(crate) fn check_unique(objects: &[Object], sources: &Sources) -> Result<(), Diagnostics> {
    let mut report = Report::default();
    duplicates::check(objects, sources, &mut report);
    let errors = report.findings.iter().map(|finding| finding.diagnostic(sources));
    Diagnostics(errors.collect()).into_result(())
}

/// Runs all checks of one cluster.
fn check_cluster(context: &CheckContext<'_>) -> Checked {
    let objects = &context.rendered.objects;
    let mut report = Report::default();
    duplicates::check(objects, context.sources(), &mut report);
    namespaces::check(context, &mut report);
    run_levels::check(objects, &mut report);
    for of_object in parallel::map(MIN_FILES_PER_THREAD, objects, |object| check_object(object, context)) {
        report.findings.extend(of_object.findings);
        report.used_externals.extend(of_object.used_externals);
    }
    let profile = &context.rendered.view.profile.name;
    for finding in &mut report.findings {
        finding.profiles.push(profile.clone());
    }
    let mut checked = Checked { profile: profile.clone(), findings: report.findings, used: BTreeSet::new() };
    let used_externals = report.used_externals.into_iter().collect();
    declarations::check_externals(context, &used_externals, &mut checked);
    declarations::check_kinds(context, &mut checked);
    checked
}

/// Runs all checks of one object.
fn check_object(object: &Object, context: &CheckContext<'_>) -> Report {
    let mut report = Report::default();
    let root = &Field::root(object);
    ignored_text::check(root, context, &mut report);
    scope::check(root, context, &mut report);
    // An object that is only deleted needs no valid fields.
    if object.is_tombstone() {
        return report;
    }
    let pod_path = pod_path(&object.id.kind);
    let pod = if has_pods(&object.id.kind) { root.at(&pod_path) } else { None };
    let pod = pod.as_ref();

    served_kinds::check(root, context, &mut report);
    fields::check(root, context, &mut report);
    one_of::check_disruption_budget(root, &mut report);
    one_of::check_webhook_clients(root, &mut report);
    rbac::check_binding(root, &mut report);
    if let Some(pod) = pod {
        one_of::check_volumes(pod, &mut report);
        one_of::check_containers(pod, &mut report);
        pods::check_container_names(pod, &mut report);
        pods::check_volume_mounts(root, pod, &mut report);
    }
    references::check(root, pod, context, &mut report);
    service_dns::check(root, context, &mut report);
    selectors::check(root, context, &mut report);
    rbac::check_users_of_other_cluster(root, context, &mut report);
    rbac::check_guest_admin(root, context, &mut report);
    if let Some(pod) = pod {
        selectors::check_workload(root, pod, &mut report);
        selectors::check_probe_ports(pod, &mut report);
        management_pods::check_host_access(pod, context, &mut report);
        management_pods::check_privileges(pod, context, &mut report);
        management_pods::check_token(pod, context, &mut report);
    }
    guest_secrets::check(root, context, &mut report);
    limit(&mut report.findings);
    report
}

/// Limits the findings of one object, and says how many are left out.
fn limit(findings: &mut Vec<Finding>) {
    let omitted = findings.len().saturating_sub(MAX_FINDINGS_PER_OBJECT);
    findings.truncate(MAX_FINDINGS_PER_OBJECT);
    if omitted > 0
        && let Some(last) = findings.last_mut()
    {
        last.notes.push(format!("{omitted} more findings for this object are not listed"));
    }
}
