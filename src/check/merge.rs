//! The findings of several profiles and parameter sets as one list.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Declaration, Finding};

/// Removes findings about unused declarations that are wrong or premature: a finding whose declaration another run
/// uses, and, if `are_all` is false, all of them, because a run that is missing here may use the declaration.
pub(crate) fn without_undecided(runs: &mut [Checked], are_all: bool) {
    let used: BTreeSet<Declaration> = runs.iter().flat_map(|run| &run.used).cloned().collect();
    for run in runs {
        run.findings.retain(|finding| {
            !finding.check.is_about_declarations() || are_all && !used.contains(&declaration(finding))
        });
    }
}

/// Returns the declaration that a finding is about.
fn declaration(finding: &Finding) -> Declaration {
    Declaration { mark: finding.mark, profile: finding.profiles.first().cloned() }
}

/// Merges the findings of several runs: a problem that occurs in several profiles becomes one finding that names them
/// all. A declaration is only reported as unused if no run uses it. Sorts the findings by location.
pub(crate) fn merge(runs: Vec<Checked>) -> Vec<Finding> {
    let used: BTreeSet<Declaration> = runs.iter().flat_map(|run| &run.used).cloned().collect();
    let mut merged: BTreeMap<_, Finding> = BTreeMap::new();
    for finding in runs.into_iter().flat_map(|run| run.findings) {
        if finding.check.is_about_declarations() && used.contains(&declaration(&finding)) {
            continue;
        }
        let key = (
            finding.mark,
            finding.check,
            finding.path.clone(),
            finding.message.clone(),
            finding.notes.clone(),
        );
        match merged.get_mut(&key) {
            Some(known) => known.profiles.extend(finding.profiles),
            None => {
                merged.insert(key, finding);
            }
        }
    }
    let mut findings: Vec<Finding> = merged.into_values().collect();
    for finding in &mut findings {
        finding.profiles.sort();
        finding.profiles.dedup();
    }
    findings
}
