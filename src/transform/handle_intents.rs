//! Handles the intents of all clusters of a topology, as the `intents` of each profile say.
//!
//! A rule keeps an intent, refuses it, fulfils it from parameters, or replaces it with a fragment. A fragment may add to
//! several clusters: a token minter, for example, runs in the management cluster and needs a ServiceAccount in the guest.
//! Therefore all clusters are handled together: first every intent that is replaced is removed from its object, then each
//! cluster gets the contributions of all fragments.

use std::collections::{BTreeMap, BTreeSet};

use super::assemble::Assembled;
use super::component::{Component, ComponentContext};
use super::contribute;
use super::intents::{self, DetectedIntent, ParameterGroup, RemoteServices};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{self, View};
use crate::language::{Intent, IntentRule, Intents, Marked, Profile, Use};
use crate::object::{Cause, Object, ObjectId, PayloadPosition};
use crate::yaml::{Mark, Node, Sources};

/// The objects of a profile after its intents were handled.
pub(crate) struct WithIntents<'a> {
    pub(super) assembled: Assembled<'a>,
    pub(super) detected: Detected,
}

impl<'a> WithIntents<'a> {
    /// Returns the profile.
    pub(crate) fn profile(&self) -> &'a Profile {
        self.assembled.expanded.view.profile
    }
}

/// The intents that were found in a cluster, for [`refuse_late_intents`].
pub(super) struct Detected {
    remote_services: RemoteServices,
    intents: BTreeSet<(PayloadPosition, Intent)>,
}

/// A use of a fragment that replaces an intent.
struct IntentReplacement {
    component: String,
    /// The objects that the inputs of the fragment name.
    objects: Vec<ObjectId>,
    fragment: Marked<Use>,
}

/// Handles the intents of all clusters of a topology.
pub(crate) fn handle_intents(clusters: Vec<Assembled<'_>>) -> Result<Vec<WithIntents<'_>>, Diagnostics> {
    let mut handled = Vec::new();
    for (remote_services, assembled) in remote_services(&clusters).into_iter().zip(clusters) {
        let detected = Detected { remote_services, intents: BTreeSet::new() };
        handled.push(WithIntents { assembled, detected });
    }
    let mut replacements = Vec::new();
    for WithIntents { assembled, detected } in &mut handled {
        for component in &mut assembled.components {
            replacements.push(handle_component(component, &assembled.expanded.view, detected));
        }
    }
    let replacements: Vec<IntentReplacement> =
        Diagnostics::collect(replacements)?.into_iter().flatten().collect();
    let added = handled.iter_mut().map(|cluster| add_replacements(&mut cluster.assembled, &replacements));
    Diagnostics::collect(added)?;
    Ok(handled)
}

/// Returns for each cluster the Services that only other clusters of the topology have.
fn remote_services(clusters: &[Assembled<'_>]) -> Vec<RemoteServices> {
    let own: Vec<RemoteServices> = clusters.iter().map(services).collect();
    let all: RemoteServices = own.iter().flatten().cloned().collect();
    own.iter().map(|own| all.difference(own).cloned().collect()).collect()
}

fn services(cluster: &Assembled<'_>) -> RemoteServices {
    let mut services = RemoteServices::new();
    for object in cluster.components.iter().flat_map(|component| &component.objects) {
        let id = &object.id;
        if id.kind == "Service" && id.group.is_empty() {
            services.insert((id.namespace.clone(), id.name.clone()));
        }
    }
    services
}

/// Handles the intents in the objects of a component. Returns the uses of fragments that transship still has to add.
fn handle_component(
    component: &mut Component,
    view: &View<'_>,
    detected: &mut Detected,
) -> Result<Vec<IntentReplacement>, Diagnostics> {
    let rules = expand::intent_rules(view, &component.name)?;
    let mut errors = Diagnostics::default();
    let mut replacements = Vec::new();
    for object in &mut component.objects {
        for intent in intents::detect(object, &detected.remote_services) {
            detected.intents.insert((object.position, intent.intent));
            match handle_intent(object, &intent, &rules, view) {
                Ok(None) => {}
                Ok(Some(fragment)) => replacements.push(IntentReplacement {
                    component: component.name.clone(),
                    objects: intent.objects,
                    fragment,
                }),
                Err(error) => errors.0.push(error),
            }
        }
    }
    errors.into_result(replacements)
}

/// Handles an intent in its object. Returns the use of a fragment, if one replaces the intent.
fn handle_intent(
    object: &mut Object,
    detected: &DetectedIntent,
    rules: &Intents,
    view: &View<'_>,
) -> Result<Option<Marked<Use>>, Diagnostic> {
    let Some(rule) = rules.0.get(&detected.intent) else {
        return Err(no_rule(detected, view).object(&object.id));
    };
    let handler = intents::handler(detected.intent);
    let cause = || Cause::Intent { rule: rule.mark, field: detected.mark };
    match &rule.value {
        IntentRule::Keep => Ok(None),
        IntentRule::Refuse(reason) => {
            Err(refused(detected, reason, rule.mark, view.context.sources).object(&object.id))
        }
        IntentRule::Parameters(name) => {
            let Some(fulfil) = handler.fulfil else {
                return Err(not_from_parameters(detected, rule.mark, view.context.sources));
            };
            let (scope, sources) = (view.context.parameters, view.context.sources);
            fulfil(object, &ParameterGroup { name, scope, mark: rule.mark, sources })?;
            object.history.record(&object.root, cause);
            Ok(None)
        }
        IntentRule::Fragment(name) => {
            if let Some(obstacle) = detected.obstacle {
                let intent = detected.intent.name();
                return Err(Diagnostic::error(format!(
                    "the fragment `{name}` cannot replace this `{intent}`: {}",
                    obstacle.reason
                ))
                .at(Location::of(detected.mark, view.context.sources))
                .object(&object.id)
                .note(format!("the rule is at {}", view.context.sources.show(rule.mark)))
                .help(obstacle.help));
            }
            (handler.remove)(object, detected);
            object.history.record(&object.root, cause);
            Ok(Some(Marked { value: fragment_use(name, detected, view), mark: rule.mark }))
        }
    }
}

/// Returns the use of a fragment for an intent. The fragment gets only the inputs that it declares.
fn fragment_use(name: &str, detected: &DetectedIntent, view: &View<'_>) -> Use {
    let mut fragment = Use { fragment: name.to_owned(), inputs: BTreeMap::new() };
    let Some(declared) = view.context.profiles.fragments.get(name) else { return fragment };
    for (input, value) in &detected.inputs {
        if declared.body.inputs.contains_key(*input) {
            let node = Node { mark: detected.mark, ..value.clone() };
            fragment.inputs.insert((*input).to_owned(), Marked { value: node, mark: detected.mark });
        }
    }
    fragment
}

/// Expands the fragments that replace intents, and adds what they contribute to this cluster.
///
/// All contributions are added at once, so that the order of the intents does not matter.
fn add_replacements(
    cluster: &mut Assembled<'_>,
    replacements: &[IntentReplacement],
) -> Result<(), Diagnostics> {
    let Assembled { expanded, components, scopes, .. } = cluster;
    let mut errors = Diagnostics::default();
    let mut contributions = Vec::new();
    for IntentReplacement { component, objects, fragment } in replacements {
        match expand::contributions_for_intent(&expanded.view, component, objects, fragment) {
            Ok(all) => contributions.extend(all.into_iter().map(|one| (component.as_str(), one))),
            Err(more) => errors.append(more),
        }
    }
    errors.into_result(())?;
    let by_owner = contribute::by_owner(contributions, &expanded.view);
    let mut errors = Diagnostics::default();
    for component in components {
        if let Some(contributions) = by_owner.get(&component.name) {
            let context = ComponentContext { name: &component.name, expanded, scopes };
            let result = contribute::apply(&mut component.objects, contributions, &context);
            errors.append(result.err().unwrap_or_default());
        }
    }
    errors.into_result(())
}

/// Refuses intents that policy or patches added after the intents were handled: nothing would fulfil them.
pub(super) fn refuse_late_intents(
    component: &Component,
    view: &View<'_>,
    detected: &Detected,
) -> Result<(), Diagnostics> {
    let rules = expand::intent_rules(view, &component.name)?;
    let mut errors = Diagnostics::default();
    for object in &component.objects {
        for intent in intents::detect(object, &detected.remote_services) {
            let rule = rules.0.get(&intent.intent);
            // Parameters fulfil an intent without removing it.
            let from_parameters = rule.is_some_and(|rule| matches!(rule.value, IntentRule::Parameters(_)));
            if from_parameters && detected.intents.contains(&(object.position, intent.intent)) {
                continue;
            }
            if let Some(error) = late_intent(&intent, rule, view) {
                errors.0.push(error.object(&object.id));
            }
        }
    }
    errors.into_result(())
}

/// Returns the error for an intent that is still in an object, unless it may stay there.
fn late_intent(
    detected: &DetectedIntent,
    rule: Option<&Marked<IntentRule>>,
    view: &View<'_>,
) -> Option<Diagnostic> {
    let Some(rule) = rule else { return Some(no_rule(detected, view)) };
    let name = match &rule.value {
        IntentRule::Keep => return None,
        IntentRule::Refuse(reason) => {
            return Some(refused(detected, reason, rule.mark, view.context.sources));
        }
        // The intent comes from the fragment itself: something in this cluster fulfils it.
        IntentRule::Fragment(name) if is_from_fragment(detected.mark, name, view) => return None,
        IntentRule::Parameters(name) | IntentRule::Fragment(name) => name,
    };
    let intent = detected.intent.name();
    let sources = view.context.sources;
    Some(
        Diagnostic::error(format!("the intent `{intent}` is added too late to be handled"))
            .at(Location::of(detected.mark, sources))
            .note(format!(
                "{} handles it with `{name}`, before policy and patches are applied",
                sources.show(rule.mark)
            ))
            .help("add it in the manifest or in an `adds` entry, not in a patch or in `policy`"),
    )
}

fn is_from_fragment(mark: Mark, fragment: &str, view: &View<'_>) -> bool {
    view.context.profiles.fragments.get(fragment).is_some_and(|fragment| fragment.mark.source == mark.source)
}

fn no_rule(detected: &DetectedIntent, view: &View<'_>) -> Diagnostic {
    let intent = detected.intent.name();
    Diagnostic::error(format!("the profile `{}` has no rule for the intent `{intent}`", view.profile.name))
        .at(Location::of(detected.mark, view.context.sources))
        .help(format!("write `{intent}: keep`, a fragment, or `refuse: <reason>` under its `intents`"))
}

fn refused(detected: &DetectedIntent, reason: &str, rule: Mark, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("the intent `{}` is refused: {reason}", detected.intent.name()))
        .at(Location::of(detected.mark, sources))
        .note(format!("the rule is at {}", sources.show(rule)))
        .help("remove it from the manifest, or write another rule in an `adds` entry of the component's page")
}

fn not_from_parameters(detected: &DetectedIntent, rule: Mark, sources: &Sources) -> Diagnostic {
    let intent = detected.intent.name();
    Diagnostic::error(format!("the intent `{intent}` cannot be fulfilled from parameters"))
        .at(Location::of(rule, sources))
        .help("write `keep`, a fragment, or `refuse: <reason>`")
}
