//! The findings of several profiles and parameter sets as one list.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Declaration, Finding};

/// Merges the findings of several runs: a problem that occurs in several profiles becomes one finding that names them
/// all. A declaration is only reported as unused if no run uses it. Sorts the findings by location.
pub(crate) fn merge(runs: Vec<Checked>) -> Vec<Finding> {
    let used: BTreeSet<Declaration> = runs.iter().flat_map(|run| &run.used).cloned().collect();
    let mut merged: BTreeMap<_, Finding> = BTreeMap::new();
    for finding in runs.into_iter().flat_map(|run| run.findings) {
        if finding.check.is_about_declarations() {
            let declaration = Declaration { mark: finding.mark, profile: finding.profiles.first().cloned() };
            if used.contains(&declaration) {
                continue;
            }
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
