//! What must hold for the objects of a topology before anything is done with them.
//!
//! | module | what |
//! |---|---|
//! | `fields`, `alternatives`, `pods` | one object beside its kind |
//! | `set` | the objects of a cluster together |
//! | `sequence` | what is needed comes first |
//! | `references`, `selectors` | names, labels and ports lead somewhere, in the same cluster (`inventory`) |
//! | `trust` | what one cluster must not know of the other |
//! | `allowances` | findings that are meant so |

mod allowances;
mod cluster_index;
mod fields;
mod finding;
mod kinds;
mod label_index;
mod one_of;
mod pod_fields;
mod references;
mod run_levels;
mod selectors;
mod trust_boundary;
mod uniqueness;

use std::collections::{BTreeSet, HashSet};

use crate::diagnostic::Diagnostics;
use crate::language::Check;
use crate::object::{Object, ObjectId, is_tombstone};
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::transform::Rendered;
use crate::yaml::{Mark, Sources};

use cluster_index::Inventory;
use finding::Fault;
pub use finding::Finding;
use kinds::Kinds;
use label_index::Selectable;
use references::World;

/// So many faults of one object are told at once.
const MOST_OF_AN_OBJECT: usize = 100;

/// Checks that no two objects are the same one.
pub fn unique(objects: &[Object], sources: &Sources) -> Result<(), Diagnostics> {
    let twins = uniqueness::twins(objects, sources);
    let errors = twins.into_iter().map(|(object, fault)| fault.of(object, None, sources).diagnostic(sources));
    Diagnostics(errors.collect()).or(())
}

/// What was found in one profile.
#[derive(Debug, Default)]
pub struct Checked {
    /// The name of the profile.
    pub profile: String,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The lines of externals and allowances that were needed: with the profile, where the line speaks of profiles.
    pub used: BTreeSet<(Mark, Option<String>)>,
}

/// Checks the profiles of a topology.
pub fn check(clusters: &[Rendered<'_>]) -> Result<Vec<Checked>, Diagnostics> {
    let inventories = Diagnostics::gather(clusters.iter().map(|cluster| Ok(Inventory::of(cluster)?)))?;
    let found = clusters.iter().enumerate().map(|(at, cluster)| {
        let others = inventories.iter().enumerate().filter(|(other, _)| *other != at);
        let rules = cluster.view.context.profiles.checks.rules();
        let services: HashSet<(&str, &str)> = cluster
            .view
            .payload
            .manifests
            .iter()
            .filter(|manifest| manifest.id.kind == "Service")
            .map(|manifest| (manifest.id.namespace.as_str(), manifest.id.name.as_str()))
            .collect();
        let world = World {
            payload_services: &services,
            here: &inventories[at],
            elsewhere: others.map(|(_, inventory)| inventory).collect(),
            rules: &rules,
        };
        allowances::apply(check_cluster(cluster, &world), cluster)
    });
    Ok(found.collect())
}

fn check_cluster(cluster: &Rendered<'_>, world: &World<'_>) -> Checked {
    let profile = cluster.view.profile;
    let (scopes, selectable, bound) =
        (cluster.view.scopes(), Selectable::of(&cluster.objects), trust_boundary::bound(&cluster.objects));
    let kinds = Kinds::of(cluster);
    let alone = |object: &Object| {
        let mut faults = Vec::new();
        uniqueness::scope(object, &scopes, profile.cluster, &mut faults);
        if !is_tombstone(&object.root) {
            match kinds.schema(object) {
                Some(schema) => fields::check(&object.root, schema, &mut faults),
                None => faults.extend(kinds.not_served(object, &scopes)),
            }
            one_of::check(object, &mut faults);
            pod_fields::check(object, &mut faults);
            references::check(object, world, &mut faults);
            selectors::check(object, &selectable, &mut faults);
            trust_boundary::check(object, profile.cluster, world, &bound, &mut faults);
        }
        // Whoever has more than these to put right begins with them, and knows that there are more.
        let more = faults.len().saturating_sub(MOST_OF_AN_OBJECT);
        faults.truncate(MOST_OF_AN_OBJECT);
        if let Some(last) = faults.last_mut().filter(|_| more > 0) {
            last.why.push(format!("{more} more of this object are not listed"));
        }
        faults
            .into_iter()
            .map(|fault| fault.of(object, Some(&profile.name), cluster.view.context.sources))
            .collect::<Vec<_>>()
    };
    let together = uniqueness::twins(&cluster.objects, cluster.view.context.sources)
        .into_iter()
        .chain(uniqueness::namespaces(cluster, world.here, cluster.namespace.as_deref()))
        .chain(run_levels::check(&cluster.objects));
    let mut found: Vec<Finding> = together
        .map(|(object, fault): (&Object, Fault<'_>)| {
            fault.of(object, Some(&profile.name), cluster.view.context.sources)
        })
        .collect();
    found.extend(parallel::map(MIN_FILES_PER_THREAD, &cluster.objects, alone).into_iter().flatten());
    let mut used = BTreeSet::new();
    for (pattern, mark, reason, is_used) in world.here.externals() {
        if is_used {
            used.insert((mark, Some(profile.name.clone())));
        } else {
            found.push(idle(format!("nothing names `{pattern}`"), mark, reason, Some(&profile.name)));
        }
    }
    for ((group, kind), declared) in &cluster.view.context.profiles.checks.kinds {
        let is_one = |id: &ObjectId| id.group == *group && id.kind == *kind;
        if cluster.view.payload.manifests.iter().any(|manifest| is_one(&manifest.id)) {
            used.insert((declared.mark, None));
        } else {
            let words = format!("no object is of the declared kind {kind}.{group}");
            found.push(idle(words, declared.mark, &declared.entry.served_by, None));
        }
    }
    Checked { profile: profile.name.clone(), findings: found, used }
}

/// A declaration that nothing needs.
fn idle(message: String, mark: Mark, reason: &str, profile: Option<&str>) -> Finding {
    Finding {
        check: Check::UnusedExternal,
        profiles: profile.into_iter().map(str::to_owned).collect(),
        object: None,
        path: String::new(),
        mark,
        message,
        why: vec![format!("it is declared because: {reason}")],
        help: "remove it, or limit it with `in`".to_owned(),
        manifest: None,
    }
}
