//! Renders one OpenShift release payload for every cluster of a topology, and applies it.
//!
//! ```text
//!  payload/ ─┐
//!  profiles/ ┴─▶ load ─▶ expand ─▶ select ─▶ transform ─▶ check ─▶ order ─┬─▶ emit   YAML, JSON, folder, golden
//!                                                                        ├─▶ show   list, explain, diff
//!                                                                        └─▶ apply  apply, delete, diff --live, wait-for
//! ```
//!
//! Data flows in one direction. Everything left of `apply` is a pure function of its input: it does not use the clock,
//! the network or random numbers, so the same input always produces the same bytes.
//!
//! # Example
//!
//! This renders the bundled payload for a standalone cluster:
//!
//! ```
//! use std::path::Path;
//!
//! let project = transship::Project::load(Path::new("."))?;
//! let profiles = project.profiles.named(Some("standalone"))?;
//! let plans = transship::render(&project.context(), &profiles)?;
//!
//! let plan = &plans[0];
//! assert_eq!(plan.profile, "standalone");
//! assert_eq!(plan.objects[0].id.kind, "CustomResourceDefinition");
//! # Ok::<(), transship::Diagnostics>(())
//! ```

// Without a feature, the code that only its commands use is dead.
#![cfg_attr(not(all(feature = "apply", feature = "cli")), allow(dead_code, unused_imports, unreachable_pub))]

#[cfg(feature = "apply")]
pub mod apply;
mod check;
#[cfg(feature = "cli")]
pub mod cli;
mod cloud_role;
#[cfg(feature = "apply")]
mod credentials;
pub mod cvo;
mod diagnostic;
mod emit;
mod expand;
mod file;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod glob;
mod language;
mod log;
mod nearest;
mod object;
mod order;
mod parallel;
mod parameter_sets;
mod payload;
mod printable;
mod project;
mod render_digest;
mod rights;
mod select;
mod sha256;
mod show;
mod transform;

pub use kubernetes_yaml as yaml;

pub use check::{Checked, Finding};
pub use diagnostic::{Diagnostic, Diagnostics, Location, Severity};
pub use expand::Context;
pub use language::{Check, Profile, Profiles};
pub use object::{Cluster, NotAnObject, Object, ObjectId, Selector, SelectorError};
pub use order::{Chunk, Plan, Stage};
pub use payload::{Manifest, Payload};
pub use project::Project;
pub use transform::patch;

use std::collections::BTreeMap;
use std::sync::Arc;

use check::{ProfileSelection, ReachPath};
use expand::Expanded;
use select::Selected;
use transform::Rendered;

/// Renders profiles: for each, its objects in the order in which they are applied.
///
/// Checks the result first. A finding with the severity error makes the rendering fail.
pub fn render(context: &Context<'_>, profiles: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
    let plans = each(context, by_topology(profiles), |wanted| {
        let rendered = render_topology(context, &wanted, Extent::Topology)?;
        refuse_errors(&check_wanted(&rendered, &wanted)?, context)?;
        Ok(plan(rendered, &wanted))
    })?;
    Ok(in_requested_order(plans, profiles))
}

/// Renders profiles without the checks, to look at objects that fail them.
pub fn render_unchecked(context: &Context<'_>, profiles: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
    let plans = each(context, by_topology(profiles), |wanted| {
        let rendered = render_topology(context, &wanted, Extent::Wanted)?;
        // Two objects with the same identity cannot be written into one folder.
        each(context, &rendered, |rendered| check::check_unique(&rendered.objects, context.sources))?;
        Ok(plan(rendered, &wanted))
    })?;
    Ok(in_requested_order(plans, profiles))
}

/// Checks profiles, and returns the findings of each.
///
/// Reports unused declarations, and manifests that no profile includes, only if `profiles` are all profiles of the
/// project and the project has at most one parameter set. Otherwise another profile or parameter set may use them.
///
/// ```
/// use std::path::Path;
///
/// let project = transship::Project::load(Path::new("."))?;
/// let profiles = project.profiles.named(None)?;
/// for checked in transship::lint(&project.context(), &profiles)? {
///     for finding in &checked.findings {
///         assert_eq!(finding.check.severity(), transship::Severity::Warning, "{}", finding.message);
///     }
/// }
/// # Ok::<(), transship::Diagnostics>(())
/// ```
pub fn lint(context: &Context<'_>, profiles: &[&Profile]) -> Result<Vec<Checked>, Diagnostics> {
    let Linted { mut checked, selections } = lint_each(context, profiles)?;
    let are_all = context.profiles.iter().all(|profile| profiles.contains(&profile));
    let is_everything = are_all && context.profiles.sets.len() <= 1;
    check::without_undecided(&mut checked, is_everything);
    if is_everything && let Some(first) = checked.first_mut() {
        first.findings.extend(check::judge(&selections, &context.profiles.checks).findings);
    }
    Ok(checked)
}

/// The findings of profiles, and their decisions about all manifests.
pub(crate) struct Linted {
    pub(crate) checked: Vec<Checked>,
    pub(crate) selections: Vec<ProfileSelection>,
}

/// Checks profiles with one parameter set, without comparing them.
pub(crate) fn lint_each(context: &Context<'_>, profiles: &[&Profile]) -> Result<Linted, Diagnostics> {
    let topologies = each(context, by_topology(profiles), |wanted| {
        let rendered = render_topology(context, &wanted, Extent::Topology)?;
        let is_wanted = |rendered: &&Rendered<'_>| wanted.contains(&rendered.view.profile);
        let selections: Vec<_> = rendered.iter().filter(is_wanted).map(check::decisions).collect();
        Ok((check_wanted(&rendered, &wanted)?, selections))
    })?;
    let (checked, selections): (Vec<_>, Vec<_>) = topologies.into_iter().unzip();
    Ok(Linted {
        checked: checked.into_iter().flatten().collect(),
        selections: selections.into_iter().flatten().collect(),
    })
}

/// Returns the paths on which one cluster reaches another, for each topology of these profiles.
pub(crate) fn reach(context: &Context<'_>, profiles: &[&Profile]) -> Result<Vec<ReachPath>, Diagnostics> {
    let paths = each(context, by_topology(profiles), |wanted| {
        Ok(check::reach(&render_topology(context, &wanted, Extent::Topology)?))
    })?;
    Ok(paths.into_iter().flatten().collect())
}

/// Decides for each manifest of the payload whether a profile includes it. Renders nothing.
pub(crate) fn select<'a>(context: &Context<'a>, profile: &'a Profile) -> Result<Selected<'a>, Diagnostics> {
    let select = |profile| {
        let selected = select::select(expand(context, profile)?)?;
        selected.require_any()?;
        Ok(selected)
    };
    select(profile).map_err(|errors: Diagnostics| errors.mask(&context.secrets()))
}

/// Expands the pages and fragments of a profile, except those of components that are left to their operators. If several manifests have the same name, the name refers to the one
/// that the profile does not leave out.
fn expand<'a>(context: &Context<'a>, profile: &'a Profile) -> Result<Expanded<'a>, Diagnostics> {
    let mut view = context.view(profile);
    view.operators = Arc::new(select::operators(context, profile)?);
    view.left_out = Arc::new(select::variants_left_out(&view)?);
    expand::expand(view)
}

/// Which profiles of a topology to render completely.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of them, because the checks look for references across clusters.
    Topology,
    /// Only the requested ones.
    Wanted,
}

/// Renders the profiles of one topology together: an intent in one cluster may add objects to the other.
fn render_topology<'a>(
    context: &Context<'a>,
    wanted: &[&'a Profile],
    extent: Extent,
) -> Result<Vec<Rendered<'a>>, Diagnostics> {
    let is_wanted = |profile: &Profile| wanted.contains(&profile);
    let profiles = wanted.first().into_iter().flat_map(|first| context.profiles.in_topology_of(first));
    let expanded = each(context, profiles, |profile| expand(context, profile))?;
    let selected = each(context, expanded, select::select)?;
    selected.iter().for_each(log::selected);
    for selected in selected.iter().filter(|selected| is_wanted(selected.profile())) {
        selected.require_any()?;
    }
    let assembled = each(context, selected, transform::assemble)?;
    let (with_intents, others) = transform::handle_intents(assembled)?
        .into_iter()
        .partition(|cluster| extent == Extent::Topology || is_wanted(cluster.profile()));
    let rendered = transform::finish(with_intents, others, context.sources);
    let mut rendered = rendered.map_err(|errors| errors.mask(&context.secrets()).dedup())?;
    for rendered in &mut rendered {
        let warnings = Diagnostics(std::mem::take(&mut rendered.warnings));
        rendered.warnings = warnings.mask(&context.secrets()).0;
    }
    rendered.iter().for_each(log::rendered);
    Ok(rendered)
}

/// Runs the checks on all clusters of a topology, and returns the findings of the requested profiles.
fn check_wanted(rendered: &[Rendered<'_>], wanted: &[&Profile]) -> Result<Vec<Checked>, Diagnostics> {
    let mut checked = check::check(rendered)?;
    checked.iter().for_each(log::checked);
    checked.retain(|checked| wanted.iter().any(|profile| profile.name == checked.profile));
    Ok(checked)
}

/// Fails if any finding is an error.
fn refuse_errors(checked: &[Checked], context: &Context<'_>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for finding in checked.iter().flat_map(|checked| &checked.findings) {
        if finding.check.severity() == Severity::Error {
            errors.0.push(finding.diagnostic(context.sources));
        }
    }
    errors.into_result(())
}

/// Orders the objects of the requested profiles.
fn plan(rendered: Vec<Rendered<'_>>, wanted: &[&Profile]) -> Vec<Plan> {
    let plans = rendered.into_iter().map(order::plan);
    plans.filter(|plan| wanted.iter().any(|profile| profile.name == plan.profile)).collect()
}

/// Groups profiles by topology.
fn by_topology<'p>(profiles: &[&'p Profile]) -> impl Iterator<Item = Vec<&'p Profile>> {
    let mut topologies: BTreeMap<&str, Vec<&Profile>> = BTreeMap::new();
    for profile in profiles {
        topologies.entry(&profile.topology).or_default().push(profile);
    }
    topologies.into_values()
}

/// Puts plans into the order in which their profiles were requested.
fn in_requested_order(plans: Vec<Vec<Plan>>, profiles: &[&Profile]) -> Vec<Plan> {
    let mut plans: Vec<Plan> = plans.into_iter().flatten().collect();
    plans.sort_by_key(|plan| profiles.iter().position(|profile| profile.name == plan.profile));
    plans
}

/// Calls a function for each item, and collects the errors of all of them. No error shows a secret parameter.
fn each<T, R>(
    context: &Context<'_>,
    items: impl IntoIterator<Item = T>,
    function: impl Fn(T) -> Result<R, Diagnostics>,
) -> Result<Vec<R>, Diagnostics> {
    let results = Diagnostics::collect(items.into_iter().map(function));
    results.map_err(|errors| errors.mask(&context.secrets()).dedup())
}
