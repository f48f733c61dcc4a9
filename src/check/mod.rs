//! Checks the objects of a topology before they are printed or applied.
//!
//! | module | checks |
//! |---|---|
//! | `duplicates` | that no two manifests describe the same object |
//! | `two_owners` | that transship applies no object that is left to an operator |
//! | `namespaces` | that each namespace exists |
//! | `run_levels` | that an object is applied after what it needs |
//! | `scope` | that the kind is known, and that the object has a namespace exactly if its kind is namespaced |
//! | `served_kinds` | that the kind is served in the version of the object |
//! | `fields` | that fields are known, of the right type, complete and without duplicates |
//! | `one_of` | that fields which exclude each other are not set together |
//! | `pods` | that the containers, volumes and mounts of a pod fit together |
//! | `images` | that the release contains the images |
//! | `placeholders` | that no text contains a placeholder |
//! | `references` | that the objects, keys and ports that an object references exist in the same cluster |
//! | `service_dns` | that no text names a Service of the other cluster |
//! | `selectors` | that label selectors match something, and that named ports exist |
//! | `rbac` | that bindings are valid, and who gets rights |
//! | `excessive_rights` | that no role or binding grants more than a workload needs |
//! | `broad_subjects` | that no binding is for everyone |
//! | `needs` | that ServiceAccounts hold the rights that pages declare, and those that they grant |
//! | `needed_objects` | that the objects exist that pages declare |
//! | `pod_tokens` | that pods in the management cluster have no unneeded token, and that no token lives forever |
//! | `control_plane_secrets` | that pods do not read the keys and kubeconfigs of the hosted control plane itself |
//! | `literal_secrets` | that no container has a password in its variables, arguments or probes |
//! | `node_access` | that pods in the management cluster have no access to their node |
//! | `node_scheduling` | that pods in the management cluster stay on the nodes of their hosted control plane |
//! | `pod_hardening` | that pods in the management cluster are confined and do not run as root |
//! | `exposure` | that nothing is reachable from outside of the management cluster |
//! | `redirects` | that no Service or host name leads to a fixed address or to another tenant |
//! | `network_policies` | that NetworkPolicies restrict the connections to pods in the management cluster |
//! | `webhooks` | that no admission webhook can block all requests |
//! | `insecure_settings` | that TLS, authentication and authorization are not turned off |
//! | `pod_security` | that a namespace accepts privileged pods only if it has some |
//! | `object_metadata` | that objects have no finalizers, owners and fields of the API server, and no name that transship uses itself |
//! | `issued_objects` | that the signers of issued objects exist, and that kubeconfigs are for ServiceAccounts that exist |
//! | `guest_secrets` | that the guest receives no credentials |
//! | `ignored_text` | that no text follows the document of a manifest |
//! | `in_no_profile` | that each manifest is in a profile, together with `include_annotations` |
//! | `declarations` | that externals and declared kinds are used |
//! | `allowances` | removes the findings that the project accepts |
//!
//! `context` holds what a check may look at, with the indexes `cluster_index`, `label_index`, `grants` and `served_kinds`.
//! `security_context` visits the security contexts of a pod, `texts` visits the strings of an object, `credentials`
//! finds credentials in a string, `held_rights` finds the rights of a ServiceAccount, `field` is a node with its path,
//! `finding` is a result, and `merge` merges the findings of several runs. `reach` is not a check: it lists how the
//! clusters of a topology reach each other.
//!
//! To add a check: add its code in `language/check_code.rs`, write a function that adds findings to a `Report`, call it in
//! `check_object` or `check_cluster`, and add a case to `tests/data/checks/cases.yaml`.

mod allowances;
mod broad_subjects;
mod cluster_index;
mod context;
mod control_plane_secrets;
mod credentials;
mod declarations;
mod duplicates;
mod excessive_rights;
mod exposure;
mod field;
mod fields;
mod finding;
mod grants;
mod guest_secrets;
mod held_rights;
mod ignored_text;
mod images;
mod in_no_profile;
mod include_annotations;
mod insecure_settings;
mod issued_objects;
mod label_index;
mod literal_secrets;
mod merge;
mod namespaces;
mod needed_objects;
mod needs;
mod network_policies;
mod node_access;
mod node_scheduling;
mod object_metadata;
mod one_of;
mod placeholders;
mod pod_hardening;
mod pod_security;
mod pod_tokens;
mod pods;
mod rbac;
mod reach;
mod redirects;
mod references;
mod run_levels;
mod scope;
mod security_context;
mod selectors;
mod served_kinds;
mod service_dns;
mod texts;
mod two_owners;
mod webhooks;

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
pub(crate) use in_no_profile::{ProfileSelection, decisions, judge};
pub(crate) use merge::{merge, without_undecided};
pub(crate) use reach::{ReachEnd, ReachPath, reach};

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
    let secrets = clusters.first().map(|cluster| cluster.view.context.secrets()).unwrap_or_default();
    let mut results = Vec::new();
    for (position, (cluster, index)) in clusters.iter().zip(&indexes).enumerate() {
        let (before, after) = (&indexes[..position], &indexes[position + 1..]);
        let others = before.iter().chain(after).collect();
        let mut checked = check_cluster(&CheckContext::new(cluster, index, others)?);
        allowances::apply(cluster, &mut checked);
        checked.findings.iter_mut().for_each(|finding| finding.mask(&secrets));
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
    two_owners::check(context, &mut report);
    namespaces::check(context, &mut report);
    namespaces::check_profile(context, &mut report);
    run_levels::check(objects, &mut report);
    issued_objects::use_externals(context, &mut report);
    needs::check(context, &mut report);
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
        images::check(pod, context, &mut report);
    }
    references::check(root, pod, context, &mut report);
    texts::check(root, context, &mut report);
    selectors::check(root, context, &mut report);
    rbac::check_users_of_other_cluster(root, context, &mut report);
    rbac::check_guest_admin(root, context, &mut report);
    if let Some(pod) = pod {
        selectors::check_workload(root, pod, &mut report);
        selectors::check_probe_ports(pod, &mut report);
        pod_tokens::check(pod, context, &mut report);
    }
    check_security(root, pod, context, &mut report);
    guest_secrets::check(root, context, &mut report);
    limit(&mut report.findings);
    report
}

/// Runs the checks of one object that keep clusters and tenants apart.
fn check_security(
    root: &Field<'_>,
    pod: Option<&Field<'_>>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    if let Some(pod) = pod {
        node_access::check(pod, context, report);
        node_scheduling::check(pod, context, report);
        pod_hardening::check(pod, context, report);
        redirects::check_host_aliases(pod, context, report);
        network_policies::check_pod(pod, context, report);
        insecure_settings::check_flags(pod, report);
        control_plane_secrets::check(pod, context, report);
        literal_secrets::check(pod, context, report);
    }
    pod_tokens::check_secret(root, context, report);
    excessive_rights::check(root, context, report);
    broad_subjects::check(root, context, report);
    exposure::check(root, context, report);
    redirects::check(root, context, report);
    network_policies::check(root, context, report);
    webhooks::check(root, report);
    insecure_settings::check(root, report);
    pod_security::check(root, context, report);
    object_metadata::check(root, context, report);
    issued_objects::check(root, context, report);
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
