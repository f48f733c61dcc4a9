//! Findings that the project accepts, with a reason: in a Checks file or as an annotation of the manifest.

use std::collections::BTreeSet;

use super::in_no_profile::is_about_selection;
use super::{Checked, Declaration, Finding};
use crate::language::{Allowance, Check, unmet};
use crate::payload::Manifest;
use crate::transform::Rendered;
use crate::yaml::{Entry, Node};

/// The annotation of a manifest that allows a finding: `transship.openshift.io/allow-<check>: <reason>`.
const ANNOTATION_PREFIX: &str = "transship.openshift.io/allow-";

/// An allowance that applies to this cluster: it accepts findings of one check.
struct ActiveAllowance<'a> {
    check: &'a str,
    declaration: Declaration,
    scope: AllowanceScope<'a>,
}

/// The objects whose findings an allowance accepts.
#[derive(Clone, Copy)]
enum AllowanceScope<'a> {
    /// Those that an entry of a Checks file selects.
    Entry(&'a Allowance),
    /// The object of one manifest: an index into the payload's manifests.
    Manifest(usize),
}

/// Removes the findings that allowances accept, and reports each allowance that accepts none in this cluster.
pub(super) fn apply(cluster: &Rendered<'_>, checked: &mut Checked) {
    let mut allowances = allowances_in_files(cluster);
    allowances.extend(allowances_on_manifests(cluster, checked));
    let mut used = BTreeSet::new();
    checked.findings.retain(|finding| {
        let mut is_allowed = false;
        for allowance in &allowances {
            if allows(allowance, finding, cluster) {
                used.insert(allowance.declaration.clone());
                is_allowed = true;
            }
        }
        !is_allowed
    });
    for allowance in &allowances {
        if !used.contains(&allowance.declaration) {
            let help = match allowance.scope {
                AllowanceScope::Entry(entry) if !entry.profiles.is_empty() => {
                    "remove it, or limit it to some profiles with `in`"
                }
                AllowanceScope::Entry(_) => "remove it",
                AllowanceScope::Manifest(_) => "remove the annotation",
            };
            checked.findings.push(unused(allowance.check, &allowance.declaration, help));
        }
    }
    checked.used.extend(used);
}

/// Returns the entries under `allow` that apply to the profile of a cluster.
fn allowances_in_files<'a>(cluster: &'a Rendered<'_>) -> Vec<ActiveAllowance<'a>> {
    let (profile, context) = (cluster.view.profile, &cluster.view.context);
    let mut allowances = Vec::new();
    for entry in &context.profiles.checks.allow {
        // A name that is not defined was reported before anything was rendered.
        let holds =
            unmet(&entry.value.when, context.parameters, context.sources).is_ok_and(|no| no.is_none());
        if holds && profile.is_in(&entry.value.profiles) && !is_about_selection(entry.value.check) {
            // Without `in`, an allowance is for all profiles together: one that uses it is enough.
            let profile = (!entry.value.profiles.is_empty()).then(|| profile.name.clone());
            allowances.push(ActiveAllowance {
                check: entry.value.check.code(),
                declaration: Declaration { mark: entry.mark, profile },
                scope: AllowanceScope::Entry(&entry.value),
            });
        }
    }
    allowances
}

/// Returns the allowances on the manifests of a cluster, and reports those without a reason.
fn allowances_on_manifests<'a>(cluster: &'a Rendered<'_>, checked: &mut Checked) -> Vec<ActiveAllowance<'a>> {
    let mut allowances = Vec::new();
    for manifest in cluster.objects.iter().filter_map(|object| object.manifest) {
        for (check, annotation) in allow_annotations(&cluster.view.payload.manifests[manifest]) {
            let reason = annotation.value.as_str().unwrap_or_default();
            if Check::all().any(|known| known.code() == check && is_about_selection(known))
                && !reason.trim().is_empty()
            {
                continue;
            }
            if reason.trim().is_empty() {
                checked.findings.push(without_reason(check, annotation));
                continue;
            }
            allowances.push(ActiveAllowance {
                check,
                declaration: Declaration { mark: annotation.mark, profile: None },
                scope: AllowanceScope::Manifest(manifest),
            });
        }
    }
    allowances
}

/// Returns the annotations of a manifest that allow a finding, with the code of the check.
pub(super) fn allow_annotations(manifest: &Manifest) -> impl Iterator<Item = (&str, &Entry)> {
    let annotations = manifest.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let entries = annotations.and_then(Node::as_map).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.strip_prefix(ANNOTATION_PREFIX)?, entry)))
}

fn allows(allowance: &ActiveAllowance<'_>, finding: &Finding, cluster: &Rendered<'_>) -> bool {
    if allowance.check != finding.check.code() {
        return false;
    }
    match allowance.scope {
        AllowanceScope::Manifest(manifest) => finding.manifest == Some(manifest),
        AllowanceScope::Entry(entry) => {
            let Some(object) = &finding.object else { return false };
            // Entries name objects as the payload does, before a profile moves them to another namespace.
            let id = match finding.manifest {
                Some(manifest) => &cluster.view.payload.manifests[manifest].id,
                None => object,
            };
            entry.targets.iter().any(|selector| selector.value.matches(id))
        }
    }
}

/// Returns the finding for an allowance that accepts no finding.
pub(super) fn unused(check: &str, declaration: &Declaration, help: &str) -> Finding {
    let Declaration { mark, profile } = declaration;
    let mut finding = if Check::all().any(|known| known.code() == check) {
        let message = format!("the allowance for `{check}` matches no finding");
        Finding::in_file(Check::UnusedAllowance, *mark, message)
            .note("it would hide future findings")
            .help(help)
    } else {
        Finding::in_file(Check::UnusedAllowance, *mark, format!("there is no check `{check}`"))
            .note("the annotation allows nothing")
            .help("the documentation lists all checks")
            .suggest(check, Check::all().map(Check::code))
    };
    finding.profiles.extend(profile.clone());
    finding
}

fn without_reason(check: &str, annotation: &Entry) -> Finding {
    let message = format!("the allowance for `{check}` has no reason and is ignored");
    Finding::in_file(Check::UnusedAllowance, annotation.mark, message)
        .note("without a reason, a reader cannot tell whether it is still needed")
        .help("set the annotation to the reason")
}
