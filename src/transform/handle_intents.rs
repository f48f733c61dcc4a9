//! Handles what manifests already ask for, as each profile says: a fact is left, refused, done from parameters, or taken
//! away for a fragment to put something else in its place, in every cluster that the fragment speaks of.

use std::collections::BTreeSet;

use super::intents::{self, Elsewhere, Fact};
use super::{Assembled, Component, contribute};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{self, View};
use crate::language::{Intent, IntentRule, Intents, Marked, Profile, Use};
use crate::object::{Cause, Object, ObjectId, Position};
use crate::yaml::{Mark, Node, Sources};

/// A profile whose intents are handled.
pub struct WithIntents<'a> {
    pub(super) assembled: Assembled<'a>,
    pub(super) found: Seen,
}

impl<'a> WithIntents<'a> {
    /// Returns the profile.
    pub fn profile(&self) -> &'a Profile {
        self.assembled.expanded.view.profile
    }
}

/// What was seen when facts could still be honoured.
pub(super) struct Seen {
    /// Services that live in the topology's other cluster.
    elsewhere: Elsewhere,
    /// The facts: the object, by its place, and the finder.
    facts: BTreeSet<(Position, Intent)>,
}

/// A fact of one object, and the fragment that honours it.
struct Wish {
    component: String,
    /// The object in which the fact was found, and others that it names.
    objects: Vec<ObjectId>,
    entry: Marked<Use>,
}

/// Handles the intents of all clusters of a topology, as each profile says.
pub fn handle_intents(clusters: Vec<Assembled<'_>>) -> Result<Vec<WithIntents<'_>>, Diagnostics> {
    let mut handled = Vec::new();
    for (elsewhere, assembled) in services_elsewhere(&clusters).into_iter().zip(clusters) {
        handled.push(WithIntents { assembled, found: Seen { elsewhere, facts: BTreeSet::new() } });
    }
    let mut wishes = Vec::new();
    for WithIntents { assembled: Assembled { expanded, components, .. }, found } in &mut handled {
        for component in components {
            wishes.push(honour_component(component, &expanded.view, found));
        }
    }
    let wishes: Vec<Wish> = Diagnostics::gather(wishes)?.into_iter().flatten().collect();
    Diagnostics::gather(handled.iter_mut().map(|cluster| grant(&mut cluster.assembled, &wishes)))?;
    Ok(handled)
}

/// For each cluster, the Services that live in another one of the topology and not in itself.
fn services_elsewhere(clusters: &[Assembled<'_>]) -> Vec<Elsewhere> {
    let services = |cluster: &Assembled<'_>| -> Elsewhere {
        let objects = cluster.components.iter().flat_map(|component| &component.objects);
        let services = objects.filter(|object| object.id.kind == "Service" && object.id.group.is_empty());
        services.map(|object| (object.id.namespace.clone(), object.id.name.clone())).collect()
    };
    let all: Vec<Elsewhere> = clusters.iter().map(services).collect();
    let everywhere: BTreeSet<_> = all.iter().flatten().cloned().collect();
    all.iter().map(|own| everywhere.difference(own).cloned().collect()).collect()
}

/// Does what can be done in the object itself, and says which fragments are wished for.
fn honour_component(
    component: &mut Component,
    view: &View<'_>,
    seen: &mut Seen,
) -> Result<Vec<Wish>, Diagnostics> {
    let honours = expand::intent_rules(view, &component.name)?;
    let mut errors = Diagnostics::default();
    let mut wishes = Vec::new();
    for object in &mut component.objects {
        for fact in intents::find(object, &seen.elsewhere) {
            seen.facts.insert((object.position, fact.finder));
            match honour_fact(object, &fact, &honours, view) {
                Ok(entry) => wishes.extend(entry.map(|entry| Wish {
                    component: component.name.clone(),
                    objects: fact.objects.clone(),
                    entry,
                })),
                Err(error) => errors.0.push(error),
            }
        }
    }
    errors.or(wishes)
}

fn honour_fact(
    object: &mut Object,
    fact: &Fact,
    honours: &Intents,
    view: &View<'_>,
) -> Result<Option<Marked<Use>>, Diagnostic> {
    let Some(Marked { value: honour, mark }) = honours.0.get(&fact.finder) else {
        return Err(undecided(&object.id, fact, view));
    };
    match honour {
        IntentRule::Keep => Ok(None),
        IntentRule::Refuse(reason) => Err(refused(&object.id, fact, reason, *mark, view.context.sources)),
        IntentRule::Parameters(group) => {
            let inject = match fact.finder {
                Intent::Proxy => intents::inject_proxy,
                Intent::Tls => intents::inject_tls,
                _ => return Err(no_parameters(fact, *mark, view.context.sources)),
            };
            inject(object, group, view.context.parameters, *mark, view.context.sources)?;
            object.history.note(&object.root, || Cause::Intent { entry: *mark, found: fact.mark });
            Ok(None)
        }
        IntentRule::Fragment(name) if fact.fixed.is_some() => Err(Diagnostic::error(format!(
            "`{name}` cannot honour this: {}",
            fact.fixed.unwrap_or_default()
        ))
        .at(Location::of(fact.mark, view.context.sources))
        .object(&object.id)
        .help(
            "write `intents: {webhook: keep}` in an `adds` entry of its page, and give it a Service there",
        )),
        IntentRule::Fragment(_) if fact.entangled => {
            Err(Diagnostic::error(format!("a {} shares its volume with other sources", fact.finder.name()))
                .at(Location::of(fact.mark, view.context.sources))
                .object(&object.id)
                .note(format!("{} would take away all of them", view.context.sources.show(*mark)))
                .help("give the token a volume of its own"))
        }
        IntentRule::Fragment(name) => {
            intents::take_away(&mut object.root, &object.id.kind, fact);
            object.history.note(&object.root, || Cause::Intent { entry: *mark, found: fact.mark });
            // A fragment is told what it asks for; the rest it need not know.
            let wanted = view.context.profiles.fragments.get(name).map(|fragment| &fragment.body.inputs);
            let inputs = fact
                .inputs
                .iter()
                .filter(|(input, _)| wanted.is_some_and(|wanted| wanted.contains_key(**input)))
                .map(|(input, value)| {
                    let node = Node { value: value.clone(), mark: fact.mark };
                    ((*input).to_owned(), Marked { value: node, mark: fact.mark })
                });
            Ok(Some(Marked { value: Use { fragment: name.clone(), inputs: inputs.collect() }, mark: *mark }))
        }
    }
}

/// Adds what all fragments contribute in this cluster, to whichever components have the objects: at once, so that the
/// order of the facts cannot matter.
fn grant(cluster: &mut Assembled<'_>, wishes: &[Wish]) -> Result<(), Diagnostics> {
    let Assembled { expanded, components, scopes } = cluster;
    let view = &expanded.view;
    let contributions = Diagnostics::gather(wishes.iter().map(|wish| {
        let all = expand::contributions_for_intent(view, &wish.component, &wish.objects, &wish.entry)?;
        Ok(all.into_iter().map(|one| (wish.component.as_str(), one)).collect::<Vec<_>>())
    }))?;
    let by_owner = contribute::by_owner(contributions.into_iter().flatten(), view);
    let granted = components.iter_mut().filter_map(|component| {
        let own = by_owner.get(&component.name)?;
        Some(contribute::apply(&mut component.objects, own, &component.name, expanded, scopes))
    });
    Diagnostics::gather(granted).map(drop)
}

/// Facts that are there when everything has been said and were not when they could be honoured: a patch or an entry of
/// `every` has brought them.
pub(super) fn check(
    objects: &[Object],
    view: &View<'_>,
    component: &str,
    seen: &Seen,
) -> Result<(), Diagnostics> {
    let honours = expand::intent_rules(view, component)?;
    let mut errors = Diagnostics::default();
    for object in objects {
        for fact in intents::find(object, &seen.elsewhere) {
            match honours.0.get(&fact.finder).map(|honour| (&honour.value, honour.mark)) {
                Some((IntentRule::Keep, _)) => {}
                Some((IntentRule::Parameters(_), _))
                    if seen.facts.contains(&(object.position, fact.finder)) => {}
                // The fragment asks for it itself, since it knows when somebody else will see to it.
                Some((IntentRule::Fragment(name), _)) if is_of(fact.mark, name, view) => {}
                Some((IntentRule::Parameters(name) | IntentRule::Fragment(name), mark)) => errors.0.push(
                    Diagnostic::error(format!(
                        "a {} that was not there when it could be honoured",
                        fact.finder.name()
                    ))
                    .at(Location::of(fact.mark, view.context.sources))
                    .object(&object.id)
                    .note(format!("{} honours it by `{name}`", view.context.sources.show(mark)))
                    .help("ask for it in the manifest or in a part, not in a patch or in `policy`"),
                ),
                Some((IntentRule::Refuse(reason), mark)) => {
                    errors.0.push(refused(&object.id, &fact, reason, mark, view.context.sources));
                }
                None => errors.0.push(undecided(&object.id, &fact, view)),
            }
        }
    }
    errors.or(())
}

fn is_of(mark: Mark, fragment: &str, view: &View<'_>) -> bool {
    view.context.profiles.fragments.get(fragment).is_some_and(|fragment| fragment.mark.source == mark.source)
}

fn undecided(id: &ObjectId, fact: &Fact, view: &View<'_>) -> Diagnostic {
    let finder = fact.finder.name();
    Diagnostic::error(format!("the profile `{}` does not say how it honours a {finder}", view.profile.name))
        .at(Location::of(fact.mark, view.context.sources))
        .object(id)
        .help(format!("write `{finder}: keep`, a fragment, or `refuse: why` under its `intents`"))
}

fn refused(id: &ObjectId, fact: &Fact, reason: &str, mark: Mark, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("a {} cannot be here: {reason}", fact.finder.name()))
        .at(Location::of(fact.mark, sources))
        .object(id)
        .note(format!("{} refuses it", sources.show(mark)))
        .help("change the manifest, or honour it in another way for this component")
}

fn no_parameters(fact: &Fact, mark: Mark, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("a {} cannot be done from parameters", fact.finder.name()))
        .at(Location::of(mark, sources))
        .help("write `leave`, a fragment, or `refuse: why`")
}
