//! One release payload, every topology, the right cluster.
//!
//! ```text
//!  payload/ ─┐
//!  profiles/ ┴─▶ load ─▶ expand ─▶ select ─▶ transform ─▶ check ─▶ order ─┬─▶ emit   YAML, JSON, folder, golden
//!                                                                        ├─▶ show   list, explain, diff
//!                                                                        └─▶ apply  wait-for
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
pub mod profile;
pub mod select;
pub mod show;
pub mod transform;
pub mod yaml;

pub use file::{read_document, read_stream, read_text};

use std::borrow::Cow;
use std::collections::BTreeMap;

use diagnostic::Diagnostics;
use expand::{Context, View};
use order::Plan;
use payload::Payload;
use profile::Profile;
use transform::Finished;

/// Renders a payload for profiles: for each its objects, in the order in which they are applied.
pub fn render(context: &Context<'_>, wanted: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
    let mut topologies: BTreeMap<&str, Vec<&Profile>> = BTreeMap::new();
    for profile in wanted {
        topologies.entry(&profile.topology).or_default().push(profile);
    }
    let rendered = each(topologies.into_values(), |profiles| render_topology(context, &profiles))?;
    let mut plans: BTreeMap<String, Plan> = rendered.into_iter().flatten().collect();
    Ok(wanted.iter().filter_map(|profile| plans.remove(&profile.name)).collect())
}

/// The profiles of a topology are rendered together: what is found in one cluster may need something in the other.
fn render_topology(context: &Context<'_>, wanted: &[&Profile]) -> Result<Vec<(String, Plan)>, Diagnostics> {
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
    let wanted = transform::honour(halves)?
        .into_iter()
        .filter(|honoured| wanted.contains(&honoured.half.view.profile));
    each(wanted, |honoured| {
        let name = honoured.half.view.profile.name.clone();
        let Finished { objects, warnings } = transform::finish(honoured)?;
        check::unique(&objects, context.sources)?;
        Ok((name, Plan { warnings, ..order::plan(objects) }))
    })
}

/// What becomes of every manifest in one profile.
pub struct Decided<'a> {
    /// The payload, with the manifests of shapes that the profile sees.
    pub payload: Cow<'a, Payload>,
    /// For each of its manifests, nothing if it is in, or the reason why not.
    pub out: Vec<Option<select::Reason>>,
}

/// Decides about every manifest, and makes nothing of it.
pub fn decide<'a>(context: &Context<'a>, profile: &'a Profile) -> Result<Decided<'a>, Diagnostics> {
    let expanded = expand::expand(&context.view(profile))?;
    let view = View { payload: &expanded.payload, ..context.view(profile) };
    let selection = select::decide(&view, &expanded)?;
    select::some(&selection, &profile.name)?;
    Ok(Decided { out: selection.out, payload: expanded.payload })
}

/// All results, or all that is wrong with any.
fn each<T, R>(
    items: impl IntoIterator<Item = T>,
    action: impl Fn(T) -> Result<R, Diagnostics>,
) -> Result<Vec<R>, Diagnostics> {
    Diagnostics::gather(items.into_iter().map(action)).map_err(Diagnostics::once)
}
