//! One release payload, every topology, the right cluster.
//!
//! ```text
//!  payload/ ─┐
//!  profiles/ ┴─▶ load ─▶ expand ─▶ select ─▶ transform ─▶ check ─▶ order ─┬─▶ emit   YAML, JSON, folder, golden
//!                                                                        ├─▶ show   list, explain, diff
//!                                                                        └─▶ apply  apply, delete, wait-for
//! ```
//!
//! Data flows one way. Everything left of `apply` is a function of its inputs: no clock, no network, no randomness; so
//! the same input gives the same bytes.

#[cfg(feature = "apply")]
pub mod apply;
pub mod check;
pub mod diagnostic;
pub mod emit;
pub mod expand;
mod file;
mod glob;
mod nearest;
pub mod object;
pub mod order;
mod parallel;
pub mod payload;
pub mod language;
mod project;
pub mod select;
pub mod show;
pub mod transform;

pub use kubernetes_yaml as yaml;

pub use file::{read_document, read_stream, read_text};
pub use project::Project;

use std::borrow::Cow;
use std::collections::BTreeMap;

use check::{Checked, Half};
use diagnostic::{Diagnostics, Severity};
use expand::{Context, View};
use order::Plan;
use payload::Payload;
use language::Profile;
use transform::Finished;

/// Renders a payload for profiles: for each its objects, in the order in which they are applied. What the checks find is
/// an error.
pub fn render(context: &Context<'_>, wanted: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
    let plans = each(by_topology(wanted), |wanted| {
        finish(context, &wanted, Whole::Topology, |finished| {
            let errors = checked(&finished, &wanted)?.into_iter().flat_map(|checked| checked.findings);
            let errors = errors.filter(|finding| finding.check.severity() == Severity::Error);
            Diagnostics(errors.map(|finding| finding.diagnostic(context.sources)).collect())
                .or(plans(finished))
        })
    })?;
    Ok(in_order(plans, wanted))
}

/// Renders without checking, for whoever wants to look at what is wrong.
pub fn render_unchecked(context: &Context<'_>, wanted: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
    let plans = each(by_topology(wanted), |wanted| {
        finish(context, &wanted, Whole::Wanted, |finished| {
            // Two objects of one name cannot even be written into a folder.
            each(&finished, |finished| check::unique(&finished.objects, context.sources))?;
            Ok(plans(finished))
        })
    })?;
    Ok(in_order(plans, wanted))
}

/// What the checks find in profiles.
pub fn lint(context: &Context<'_>, wanted: &[&Profile]) -> Result<Vec<Checked>, Diagnostics> {
    let found = each(by_topology(wanted), |wanted| {
        finish(context, &wanted, Whole::Topology, |finished| checked(&finished, &wanted))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// How much of a topology is rendered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// All of it: what is missing in one cluster may be in the other.
    Topology,
    /// The profiles that are asked for.
    Wanted,
}

fn by_topology<'p>(wanted: &[&'p Profile]) -> impl Iterator<Item = Vec<&'p Profile>> {
    let mut topologies: BTreeMap<&str, Vec<&Profile>> = BTreeMap::new();
    for profile in wanted {
        topologies.entry(&profile.topology).or_default().push(profile);
    }
    topologies.into_values()
}

/// The plans of profiles, by their names.
fn plans(finished: Vec<Finished<'_>>) -> BTreeMap<String, Plan> {
    let plan = |Finished { view, objects, namespace, warnings, .. }: Finished<'_>| {
        (view.profile.name.clone(), Plan { namespace, warnings, ..order::plan(objects) })
    };
    finished.into_iter().map(plan).collect()
}

/// The plans of the profiles that were asked for, as they were asked for.
fn in_order(plans: Vec<BTreeMap<String, Plan>>, wanted: &[&Profile]) -> Vec<Plan> {
    let mut plans: BTreeMap<String, Plan> = plans.into_iter().flatten().collect();
    wanted.iter().filter_map(|profile| plans.remove(&profile.name)).collect()
}

fn checked(finished: &[Finished<'_>], wanted: &[&Profile]) -> Result<Vec<Checked>, Diagnostics> {
    let halves: Vec<Half<'_>> = finished
        .iter()
        .map(|Finished { view, objects, namespace, .. }| Half {
            view: *view,
            objects,
            namespace: namespace.as_deref(),
        })
        .collect();
    let found = check::check(&halves)?.into_iter().zip(&halves);
    let wanted = found.filter(|(_, half)| wanted.contains(&half.view.profile));
    Ok(wanted.map(|(found, _)| found).collect())
}

/// The profiles of a topology are rendered together: what is found in one cluster may need something in the other.
fn finish<R>(
    context: &Context<'_>,
    wanted: &[&Profile],
    whole: Whole,
    then: impl FnOnce(Vec<Finished<'_>>) -> Result<R, Diagnostics>,
) -> Result<R, Diagnostics> {
    let profiles: Vec<&Profile> =
        wanted.first().into_iter().flat_map(|first| context.profiles.beside(first)).collect();
    let expanded = each(&profiles, |profile| expand::expand(&context.view(profile)))?;
    let views = profiles.iter().zip(&expanded);
    let views: Vec<View<'_>> = views
        .map(|(profile, expanded)| View { payload: &expanded.payload, ..context.view(profile) })
        .collect();
    let selected = each(views.iter().zip(&expanded), |(view, expanded)| select::decide(view, expanded))?;
    for (view, selection) in views.iter().zip(&selected) {
        if wanted.contains(&view.profile) {
            select::some(selection, &view.profile.name)?;
        }
    }
    let halves = each(views.iter().zip(&expanded).zip(&selected), |((view, expanded), selection)| {
        transform::add(*view, expanded, selection)
    })?;
    let honoured = transform::honour(halves)?;
    let asked = honoured
        .into_iter()
        .filter(|honoured| whole == Whole::Topology || wanted.contains(&honoured.half.view.profile));
    then(each(asked, transform::finish)?)
}

/// What becomes of every manifest in one profile.
pub struct Decided<'a> {
    /// The payload, with the manifests of shapes that the profile sees.
    pub payload: Cow<'a, Payload>,
    /// For each of its manifests, nothing if it is in, or the reason why not.
    pub out: Vec<Option<select::Reason>>,
    /// For each of them the line that decided, where one did.
    pub by: Vec<Option<yaml::Mark>>,
}

/// Decides about every manifest, and makes nothing of it.
pub fn decide<'a>(context: &Context<'a>, profile: &'a Profile) -> Result<Decided<'a>, Diagnostics> {
    let expanded = expand::expand(&context.view(profile))?;
    let view = View { payload: &expanded.payload, ..context.view(profile) };
    let selection = select::decide(&view, &expanded)?;
    select::some(&selection, &profile.name)?;
    Ok(Decided { out: selection.out, by: selection.by, payload: expanded.payload })
}

/// All results, or all that is wrong with any.
fn each<T, R>(
    items: impl IntoIterator<Item = T>,
    action: impl Fn(T) -> Result<R, Diagnostics>,
) -> Result<Vec<R>, Diagnostics> {
    Diagnostics::gather(items.into_iter().map(action)).map_err(Diagnostics::once)
}
