//! The last step: issued Secrets, policy, patches, pins, the profile's namespace, and annotations to strip.

use super::assemble::Assembled;
use super::component::Component;
use super::handle_intents::{Detected, WithIntents, refuse_late_intents};
use super::{empty_metadata, filled_texts, issued, namespace, page_patches, pins, policy, strip_annotations};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{PodContext, View, policy_uses_bindings, policy_uses_config};
use crate::language::template::substitute_text;
use crate::language::{DnsLabel, Marked};
use crate::object::{Object, has_pods, mask};
use crate::parallel::{self, MIN_COMPONENTS_PER_THREAD};
use crate::select::Selection;

/// The final objects of a profile.
pub(crate) struct Rendered<'a> {
    /// The profile and its input.
    pub(crate) view: View<'a>,
    /// The decision about each manifest.
    pub(crate) selection: Selection,
    /// The objects, in the order of the payload.
    pub(crate) objects: Vec<Object>,
    /// The namespace of the profile, if it has one.
    pub(crate) namespace: Option<String>,
    /// Warnings about the result.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Applies policy, patches and pins, moves objects to the profile's namespace, and strips annotations.
pub(crate) fn finish(cluster: WithIntents<'_>) -> Result<Rendered<'_>, Diagnostics> {
    let WithIntents { assembled: Assembled { expanded, components, selection, .. }, detected } = cluster;
    let view = expanded.view;
    let mut objects = policy_and_patches(components, &view, &detected)?;
    objects.sort_by_key(|object| object.position);
    pins::apply(&mut objects, &view)?;
    let mut warnings = Vec::new();
    let mut namespace = None;
    if let Some(declared) = &view.profile.namespace {
        let target = target_namespace(declared, &view)?;
        warnings = namespace::move_to(&target, &mut objects, &view.scopes(), view.context.sources)?;
        namespace = Some(target.value);
    }
    strip_annotations::apply(&mut objects, &view.profile.strip);
    empty_metadata::remove(&mut objects, &view);
    // Policy and patches may have added values to Secrets.
    objects.iter_mut().for_each(|object| mask::protect_secret(&mut object.root));
    Ok(Rendered { view, selection, objects, namespace, warnings })
}

/// Applies policy and patches, and returns the objects of all components.
///
/// Objects with pods come last: their policy may depend on other objects of the cluster (see [`pod_context`]).
fn policy_and_patches(
    mut components: Vec<Component>,
    view: &View<'_>,
    detected: &Detected,
) -> Result<Vec<Object>, Diagnostics> {
    let without_context = PodContext::default();
    let without_pods =
        parallel::map(MIN_COMPONENTS_PER_THREAD, &mut components, |component: &mut Component| {
            issued::create_secrets(&mut component.objects, view.context.sources)?;
            apply_policy(component, view, &without_context, |object| !has_pods(&object.id.kind))?;
            filled_texts::convert(&mut component.objects, view);
            Ok(())
        });
    let context = pod_context(&components, view);
    let finished = parallel::map(MIN_COMPONENTS_PER_THREAD, components, |mut component: Component| {
        apply_policy(&mut component, view, &context, |object| has_pods(&object.id.kind))?;
        page_patches::apply(&mut component.objects, view, &component.name)?;
        filled_texts::convert(&mut component.objects, view);
        refuse_late_intents(&component, view, detected)?;
        Ok(component.objects)
    });
    // Both passes run to the end, so that the user sees all errors at once.
    let mut errors = Diagnostics::default();
    if let Err(more) = Diagnostics::collect(without_pods) {
        errors.append(more);
    }
    match Diagnostics::collect(finished) {
        Ok(objects) => errors.into_result(objects.into_iter().flatten().collect()),
        Err(more) => {
            errors.append(more);
            Err(errors)
        }
    }
}

/// Applies the policy of the profile to those objects of a component that a filter selects.
fn apply_policy(
    component: &mut Component,
    view: &View<'_>,
    context: &PodContext,
    filter: impl Fn(&Object) -> bool,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in &mut component.objects {
        if filter(object) && !object.is_tombstone() {
            let result = policy::apply(object, view, &component.name, context);
            errors.append(result.err().unwrap_or_default());
        }
    }
    errors.into_result(())
}

/// Collects the objects that the policy for pods can depend on: bindings (`pod.usesOwnApi`) and configuration
/// (`pod.configHash`), if the profile uses these names.
///
/// These objects must be in their final state. But the next pass applies their patches, together with the policy for
/// pods. So this function applies the patches to copies.
fn pod_context(components: &[Component], view: &View<'_>) -> PodContext {
    let mut context = PodContext::default();
    let uses_bindings = policy_uses_bindings(view.profile);
    let uses_config = policy_uses_config(view.profile);
    for component in components {
        for object in &component.objects {
            match object.id.kind.as_str() {
                "RoleBinding" | "ClusterRoleBinding" if uses_bindings => {
                    context.add_binding(&object.id, &page_patches::preview(object, view, &component.name));
                }
                "ConfigMap" | "Secret" if uses_config => {
                    context.add_config(&object.id, page_patches::preview(object, view, &component.name));
                }
                _ => {}
            }
        }
    }
    context
}

/// Returns the profile's namespace with its parameters filled in.
fn target_namespace(namespace: &Marked<String>, view: &View<'_>) -> Result<Marked<String>, Diagnostic> {
    let name =
        substitute_text(&namespace.value, namespace.mark, view.context.parameters, view.context.sources)?;
    if DnsLabel::is_valid(&name) {
        return Ok(Marked { value: name, mark: namespace.mark });
    }
    Err(Diagnostic::error(format!("`{}` is not a valid name for a namespace", namespace.value))
        .at(Location::of(namespace.mark, view.context.sources))
        .help("use at most 63 lower-case letters, digits and `-`; start and end with a letter or digit"))
}
