//! Work that is done once per parameter set: linting, and rendering golden files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::check::{self, Finding, ReachPath};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::emit::{self, Difference, Folder, ReachFile};
use crate::language::{ParameterSet, Profile, Profiles};
use crate::object::{Cluster, SensitiveTexts, mask};
use crate::order::Plan;
use crate::yaml::Sources;
use crate::{Project, lint_each, reach, render, show};

/// The profiles to process with each parameter set.
#[derive(Clone, Copy)]
pub(crate) struct EachParameterSet<'a> {
    /// The profiles with their parameter sets.
    pub(crate) profiles: &'a Profiles,
    /// The only profile to process; `None` for all.
    pub(crate) profile: Option<&'a str>,
}

/// The golden files of one profile with the values of one parameter set.
pub(crate) struct GoldenFolder {
    /// The folder.
    pub(crate) path: PathBuf,
    /// The files that it should contain.
    pub(crate) expected: Folder,
    /// The values of secret parameters, which a file on disk may contain.
    pub(crate) secrets: SensitiveTexts,
}

/// The golden file with the paths between the clusters, for one parameter set.
pub(crate) struct GoldenReach {
    /// The file.
    pub(crate) file: ReachFile,
    /// The values of secret parameters, which a file on disk may contain.
    pub(crate) secrets: SensitiveTexts,
}

impl EachParameterSet<'_> {
    /// Checks the profiles. `load` returns the project with the values of a parameter set.
    pub(crate) fn lint(
        &self,
        load: impl Fn(&ParameterSet) -> Result<Project, Diagnostics>,
    ) -> Result<Vec<Finding>, Diagnostics> {
        let runs = self.run(load, |_, project, profiles| lint_each(&project.context(), profiles));
        let (mut checked, mut selections) = (Vec::new(), Vec::new());
        for run in runs.map_err(Diagnostics::dedup)? {
            checked.extend(run.checked);
            selections.extend(run.selections);
        }
        if self.profile.is_none() {
            checked.push(check::judge(&selections, &self.profiles.checks));
        }
        let mut findings = check::merge(checked);
        if self.profile.is_some() {
            // A finding without profiles says that no profile needs a declaration. A profile that was not checked may.
            findings.retain(|finding| !finding.profiles.is_empty());
        }
        Ok(findings)
    }

    /// Renders the golden files of the profiles, in `<root>/<parameter set>/<profile>`.
    pub(crate) fn golden_folders(
        &self,
        root: &Path,
        load: impl Fn(&ParameterSet) -> Result<Project, Diagnostics>,
    ) -> Result<Vec<GoldenFolder>, Diagnostics> {
        let folders = self.run(load, |set, project, profiles| {
            let plans = render(&project.context(), profiles)?;
            let mut folders = Vec::new();
            let secrets = project.context().secrets();
            for (profile, plan) in profiles.iter().zip(&plans) {
                refuse_secrets(plan, &project.sources)?;
                folders.push(GoldenFolder {
                    path: root.join(set).join(&profile.name),
                    expected: Folder::of(plan),
                    secrets: secrets.clone(),
                });
            }
            Ok(folders)
        });
        // An error that does not depend on the parameter set occurs once for each set.
        let folders = folders.map_err(Diagnostics::dedup)?;
        Ok(folders.into_iter().flatten().collect())
    }

    /// Returns the paths between the clusters, with all parameter sets together.
    pub(crate) fn reach(
        &self,
        load: impl Fn(&ParameterSet) -> Result<Project, Diagnostics>,
    ) -> Result<Vec<ReachPath>, Diagnostics> {
        let paths = self.run(load, |_, project, profiles| reach(&project.context(), profiles));
        let paths: BTreeSet<ReachPath> = paths.map_err(Diagnostics::dedup)?.into_iter().flatten().collect();
        Ok(paths.into_iter().collect())
    }

    /// Returns the golden file `<root>/<parameter set>/reach.txt` of each parameter set, also of those that no longer
    /// exist. Returns none if only one profile is processed, because the file is about all of them.
    pub(crate) fn golden_reach(
        &self,
        root: &Path,
        load: impl Fn(&ParameterSet) -> Result<Project, Diagnostics>,
    ) -> Result<Vec<GoldenReach>, Diagnostics> {
        if self.profile.is_some() {
            return Ok(Vec::new());
        }
        let mut files = self.run(load, |set, project, profiles| {
            let mut paths = None;
            if profiles.iter().any(|profile| profile.cluster != Cluster::Both) {
                paths = Some(show::reach_text(&reach(&project.context(), profiles)?));
            }
            Ok(GoldenReach {
                file: ReachFile::new(root.join(set), paths.as_deref()),
                secrets: project.context().secrets(),
            })
        })?;
        for set in emit::sets_with_reach(root) {
            if !self.profiles.sets.contains_key(&set) {
                let file = ReachFile::new(root.join(set), None);
                files.push(GoldenReach { file, secrets: SensitiveTexts::default() });
            }
        }
        Ok(files)
    }

    /// Returns the folders below `<root>` that transship wrote for a parameter set or a profile that no longer
    /// exists. Returns none if only one profile is processed.
    pub(crate) fn stale_golden_folders(&self, root: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
        if self.profile.is_some() {
            return Ok(Vec::new());
        }
        let is_current = |set: &str, profile: &str| {
            let Some(set) = self.profiles.sets.get(set) else { return false };
            self.profiles.iter().any(|known| known.name == profile && set.applies_to(known))
        };
        Ok(emit::stale_folders(root, is_current)?)
    }

    /// Runs a function with each parameter set and the profiles that it is for. Collects the errors of all sets.
    fn run<T>(
        &self,
        load: impl Fn(&ParameterSet) -> Result<Project, Diagnostics>,
        function: impl Fn(&str, &Project, &[&Profile]) -> Result<T, Diagnostics>,
    ) -> Result<Vec<T>, Diagnostics> {
        Diagnostics::collect(self.profiles.sets.iter().map(|(name, set)| {
            let project = load(set)?;
            let mut profiles = project.profiles.named(self.profile)?;
            profiles.retain(|profile| set.applies_to(profile));
            function(name, &project, &profiles)
        }))
    }
}

impl GoldenFolder {
    /// Compares the files with those on disk.
    pub(crate) fn compare(&self) -> Result<Vec<Difference>, Diagnostics> {
        Ok(emit::compare(&self.expected, &self.path)?)
    }
}

/// Refuses objects with values of secret parameters, because golden files are part of the repository. Accepts the
/// values of parameter sets and defaults, because the repository contains them already.
fn refuse_secrets(plan: &Plan, sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in &plan.objects {
        for (path, mark) in mask::secret_fields(&object.root) {
            errors.0.push(
                Diagnostic::error("the golden file would contain the value of a secret parameter")
                    .at(Location::of(mark, sources))
                    .object(format!("{}, at {path}", object.id))
                    .note("golden files are part of the repository")
                    .help("give the parameter a placeholder in profiles/sets/, and no value on the command line"),
            );
        }
    }
    errors.into_result(())
}
