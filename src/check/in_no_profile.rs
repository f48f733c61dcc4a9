//! Manifests and components that no profile of the project includes. One profile cannot decide that, so [`decisions`]
//! collects the decisions of each profile with each parameter set, and [`judge`] compares them at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::allowances::{allow_annotations, unused};
use super::finding::Finding;
use super::{Checked, Declaration, include_annotations};
use crate::language::{Check, Checks};
use crate::object::ObjectId;
use crate::select::ExclusionFilter;
use crate::transform::Rendered;
use crate::yaml::Mark;

/// The decisions of one profile about all manifests.
pub(crate) struct ProfileSelection {
    profile: String,
    manifests: Vec<Decided>,
}

/// The decision about one manifest.
struct Decided {
    /// The position of the manifest, which identifies it.
    mark: Mark,
    id: ObjectId,
    component: String,
    /// Why it is excluded. `None` if it is included.
    exclusion: Option<Reason>,
    /// The annotations that allow findings about its selection.
    allowances: Vec<(Check, Mark)>,
    misspelled: Vec<Finding>,
}

/// Why a profile excludes a manifest.
struct Reason {
    text: String,
    /// Whether someone excludes the manifest on purpose: with `omit`, `ignore`, `when`, an override or an annotation.
    is_given: bool,
}

/// A manifest with the decisions of all profiles.
struct Manifest<'s> {
    decided: &'s Decided,
    is_included: bool,
    is_explained: bool,
    /// The profiles that exclude it, with their reasons.
    reasons: BTreeSet<(&'s str, &'s str)>,
}

/// Returns whether a check is about the selection of manifests, which no single profile can judge.
pub(super) fn is_about_selection(check: Check) -> bool {
    matches!(check, Check::InNoProfile | Check::MisspelledAnnotation)
}

/// Returns the decisions of a profile.
pub(crate) fn decisions(rendered: &Rendered<'_>) -> ProfileSelection {
    let view = &rendered.view;
    let known = include_annotations::known_profiles(view.context.profiles);
    let mut manifests = Vec::new();
    for (index, manifest) in view.payload.manifests.iter().enumerate() {
        let exclusion = rendered.selection.exclusions[index].as_ref().map(|exclusion| Reason {
            text: exclusion.to_string(),
            is_given: match exclusion.filter {
                ExclusionFilter::Omitted => !rendered.selection.in_other_cluster.contains(&index),
                // The manifest does not say that it is for a cluster of this project.
                ExclusionFilter::NoAnnotations
                | ExclusionFilter::SetAndGate
                | ExclusionFilter::ClusterProfile => false,
                // The manifest says for which clusters it is, such as those with another feature set.
                ExclusionFilter::Excluded
                | ExclusionFilter::FeatureSet
                | ExclusionFilter::FeatureGate
                | ExclusionFilter::MajorVersion
                | ExclusionFilter::Capability
                | ExclusionFilter::Override => true,
            },
        });
        let mut allowances = Vec::new();
        for (code, annotation) in allow_annotations(manifest) {
            let check = Check::all().find(|check| check.code() == code);
            let has_reason = annotation.value.as_str().is_some_and(|reason| !reason.trim().is_empty());
            if let Some(check) = check.filter(|check| is_about_selection(*check) && has_reason) {
                allowances.push((check, annotation.mark));
            }
        }
        manifests.push(Decided {
            mark: manifest.root.mark,
            id: manifest.id.clone(),
            component: view.payload.file(manifest).component.clone(),
            exclusion,
            allowances,
            misspelled: include_annotations::check(manifest, &known),
        });
    }
    ProfileSelection { profile: view.profile.name.clone(), manifests }
}

/// Reports the manifests and components that none of the profiles includes, and misspelled annotations.
pub(crate) fn judge(selections: &[ProfileSelection], checks: &Checks) -> Checked {
    let mut manifests: BTreeMap<Mark, Manifest<'_>> = BTreeMap::new();
    for selection in selections {
        for decided in &selection.manifests {
            let manifest = manifests.entry(decided.mark).or_insert_with(|| Manifest {
                decided,
                is_included: false,
                is_explained: false,
                reasons: BTreeSet::new(),
            });
            match &decided.exclusion {
                None => manifest.is_included = true,
                Some(reason) => {
                    manifest.is_explained |= reason.is_given;
                    manifest.reasons.insert((&selection.profile, &reason.text));
                }
            }
        }
    }
    let mut judge = Judge { checks, used: BTreeSet::new() };
    let mut findings = Vec::new();
    for manifest in manifests.values() {
        let misspelled = &manifest.decided.misspelled;
        findings
            .extend(misspelled.iter().filter(|finding| !judge.allows(finding, manifest.decided)).cloned());
    }
    findings.extend(judge.in_no_profile(&manifests));
    findings.extend(judge.unused_allowances(&manifests));
    Checked { profile: String::new(), findings, used: judge.used }
}

struct Judge<'c> {
    checks: &'c Checks,
    /// The allowances that accept a finding.
    used: BTreeSet<Declaration>,
}

impl Judge<'_> {
    /// Reports manifests that no profile includes: as one finding if that is the whole component.
    fn in_no_profile(&mut self, manifests: &BTreeMap<Mark, Manifest<'_>>) -> Vec<Finding> {
        let mut by_component: BTreeMap<&str, (usize, Vec<&Manifest<'_>>)> = BTreeMap::new();
        for manifest in manifests.values() {
            let (all, reported) = by_component.entry(&manifest.decided.component).or_default();
            *all += 1;
            if !manifest.is_included && !manifest.is_explained {
                let finding = of_manifest(manifest);
                if !self.allows(&finding, manifest.decided) {
                    reported.push(manifest);
                }
            }
        }
        let mut findings = Vec::new();
        for (component, (all, reported)) in by_component {
            if reported.len() == all && all > 1 && !component.is_empty() {
                findings.push(of_component(component, &reported));
            } else {
                findings.extend(reported.into_iter().map(of_manifest));
            }
        }
        findings
    }

    /// Returns whether an allowance accepts a finding, and records those that do.
    fn allows(&mut self, finding: &Finding, manifest: &Decided) -> bool {
        let entries = self.checks.allow.iter().filter(|entry| {
            entry.value.check == finding.check
                && entry.value.targets.iter().any(|selector| selector.value.matches(&manifest.id))
        });
        let annotations = manifest.allowances.iter().filter(|(check, _)| *check == finding.check);
        let marks: Vec<Mark> =
            entries.map(|entry| entry.mark).chain(annotations.map(|(_, mark)| *mark)).collect();
        let is_allowed = !marks.is_empty();
        self.used.extend(marks.into_iter().map(|mark| Declaration { mark, profile: None }));
        is_allowed
    }

    fn unused_allowances(&self, manifests: &BTreeMap<Mark, Manifest<'_>>) -> Vec<Finding> {
        let entries = self.checks.allow.iter().map(|entry| (entry.value.check, entry.mark));
        let annotations = manifests.values().flat_map(|manifest| manifest.decided.allowances.iter().copied());
        let mut findings = Vec::new();
        for (check, mark) in entries.filter(|(check, _)| is_about_selection(*check)).chain(annotations) {
            let declaration = Declaration { mark, profile: None };
            if !self.used.contains(&declaration) {
                findings.push(unused(check.code(), &declaration, "remove it"));
            }
        }
        findings
    }
}

fn of_manifest(manifest: &Manifest<'_>) -> Finding {
    let Manifest { decided, reasons, .. } = manifest;
    let finding = Finding::in_file(Check::InNoProfile, decided.mark, "no profile includes this manifest");
    let mut finding = Finding { object: Some(decided.id.clone()), ..finding };
    for (profile, reason) in reasons {
        finding = finding.note(format!("the profile `{profile}` excludes it: {reason}"));
    }
    finding.help("correct its annotations, or leave it out with `ignore` or `omit` and a reason")
}

fn of_component(component: &str, manifests: &[&Manifest<'_>]) -> Finding {
    let message = format!(
        "no profile includes any of the {} manifests of the component `{component}`",
        manifests.len()
    );
    let first = manifests.iter().map(|manifest| manifest.decided.mark).min().unwrap_or_default();
    let mut finding = Finding::in_file(Check::InNoProfile, first, message);
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for reason in manifests.iter().flat_map(|manifest| &manifest.reasons) {
        *counts.entry(*reason).or_default() += 1;
    }
    for ((profile, reason), count) in counts {
        finding = finding.note(format!("the profile `{profile}` excludes {count} of them: {reason}"));
    }
    finding.help("add `annotations` to its page, or leave its files out with `ignore` and a reason")
}
