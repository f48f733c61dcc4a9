//! Findings that are meant so: with a reason, in a file for the checks or on the manifest itself.

use std::collections::BTreeSet;

use super::{Checked, Finding};
use crate::language::{Allowance, Check, Marked};
use crate::payload::Manifest;
use crate::transform::Rendered;
use crate::yaml::{Entry, Mark, Node};

/// On a manifest: `transship.openshift.io/allow-<check>: why`.
const ANNOTATION: &str = "transship.openshift.io/allow-";

/// Takes the findings away that are allowed, notes what allowed them, and adds one for every allowance that allowed
/// nothing here.
pub(super) fn apply(mut checked: Checked, cluster: &Rendered<'_>) -> Checked {
    let profile = cluster.view.profile;
    let declared: Vec<&Marked<Allowance>> = cluster
        .view
        .context
        .profiles
        .checks
        .allow
        .iter()
        .filter(|entry| profile.is_in(&entry.value.profiles))
        .collect();
    let manifest = |finding: &Finding| finding.manifest.map(|at| &cluster.view.payload.manifests[at]);
    let (mut used, mut kept) = (BTreeSet::new(), Vec::new());
    for finding in checked.findings {
        let manifest = manifest(&finding);
        let entries = declared.iter().filter(|entry| allows(&entry.value, &finding, manifest));
        let by_file = entries.map(|entry| (entry.mark, Some(profile.name.clone())));
        let on_manifest = manifest.into_iter().flat_map(annotations);
        let on_manifest =
            on_manifest.filter(|(check, entry)| *check == finding.check.code() && is_reasoned(entry));
        let lines: Vec<(Mark, Option<String>)> =
            by_file.chain(on_manifest.map(|(_, entry)| (entry.mark, None))).collect();
        if lines.is_empty() {
            kept.push(finding);
        }
        used.extend(lines);
    }
    let entries =
        declared.iter().map(|entry| (entry.value.check.code(), entry.mark, Some(profile.name.clone())));
    let manifests = cluster.objects.iter().filter_map(|object| object.manifest);
    let written = manifests.flat_map(|at| annotations(&cluster.view.payload.manifests[at]));
    let (written, groundless): (Vec<_>, Vec<_>) = written.partition(|(_, entry)| is_reasoned(entry));
    kept.extend(groundless.iter().map(|(check, entry)| Finding {
        message: format!("`{check}` is allowed without a reason, so it is not"),
        help: "say why".to_owned(),
        ..unused(check, entry.mark, None)
    }));
    let written = written.into_iter().map(|(check, entry)| (check, entry.mark, None));
    let idle = entries.chain(written).filter(|(_, mark, profile)| !used.contains(&(*mark, profile.clone())));
    kept.extend(idle.map(|(check, mark, profile)| unused(check, mark, profile)));
    checked.used.extend(used);
    Checked { findings: kept, ..checked }
}

fn allows(allowance: &Allowance, finding: &Finding, manifest: Option<&Manifest>) -> bool {
    let Some(object) = &finding.object else { return false };
    let id = manifest.map_or(object, |manifest| &manifest.id);
    allowance.check == finding.check && allowance.targets.iter().any(|selector| selector.value.matches(id))
}

fn annotations(manifest: &Manifest) -> impl Iterator<Item = (&str, &Entry)> {
    let annotations = manifest.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let entries = annotations.and_then(Node::as_map).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.strip_prefix(ANNOTATION)?, entry)))
}

fn is_reasoned(entry: &Entry) -> bool {
    entry.value.as_str().is_some_and(|reason| !reason.trim().is_empty())
}

fn unused(check: &str, mark: Mark, profile: Option<String>) -> Finding {
    let known = Check::all().any(|known| known.code() == check);
    let (message, help) = if known {
        (format!("`{check}` is allowed here and does not occur"), "remove it, or limit it with `in`")
    } else {
        (format!("there is no check `{check}`"), "the README lists them")
    };
    Finding {
        check: Check::UnusedAllowance,
        profiles: profile.into_iter().collect(),
        object: None,
        path: String::new(),
        mark,
        message,
        why: vec!["the next fault of that kind would pass unseen".to_owned()],
        help: help.to_owned(),
        manifest: None,
    }
}
