//! The last step: issued Secrets, policy, patches, pins, the profile's namespace, and annotations to strip.

use super::assemble::Assembled;
use super::component::Component;
use super::handle_intents::{Detected, WithIntents, refuse_late_intents};
use super::patch_uses::{PatchUse, PatchUses};
use super::{
    empty_metadata, filled_texts, issued, namespace, page_patches, pins, policy, signers, strip_annotations,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{PodContext, View, policy_uses_bindings, policy_uses_config};
use crate::language::template::substitute_text;
use crate::language::{DnsLabel, Marked};
use crate::object::{Cluster, Object, has_pods, mask, pod};
use crate::parallel::{self, MIN_COMPONENTS_PER_THREAD};
use crate::payload::Manifest;
use crate::select::Selection;
use crate::yaml::Sources;

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
    /// The namespace of the hosted control plane, if the topology has one.
    pub(crate) hosted_control_plane: Option<String>,
    /// Warnings about the result.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Rendered<'_> {
    /// Returns the manifests that are left to operators, each with the namespace that its object has in this cluster.
    pub(crate) fn left_to_operators(&self) -> impl Iterator<Item = (&Manifest, &str)> {
        self.selection.left_to_operators.iter().map(|index| {
            let manifest = &self.view.payload.manifests[*index];
            let own = manifest.id.namespace.as_str();
            let namespace = if own.is_empty() { None } else { self.namespace.as_deref() };
            (manifest, namespace.unwrap_or(own))
        })
    }
}

/// Finishes clusters of one topology. `others` are its other clusters: they are finished only if a patch has no effect in
/// the first ones.
pub(crate) fn finish<'a>(
    clusters: Vec<WithIntents<'a>>,
    others: Vec<WithIntents<'a>>,
    sources: &Sources,
) -> Result<Vec<Rendered<'a>>, Diagnostics> {
    let mut uses = PatchUses::default();
    let mut results = Vec::new();
    for cluster in clusters {
        results.push(finish_cluster(cluster, &mut uses));
    }
    if !uses.errors(sources).0.is_empty() {
        for cluster in others {
            // Errors in a cluster that is not wanted do not matter; the patches that they concern are not judged.
            let _unwanted = finish_cluster(cluster, &mut uses);
        }
    }
    let unused = uses.errors(sources);
    match Diagnostics::collect(results) {
        Ok(rendered) => unused.into_result(rendered),
        Err(mut errors) => {
            errors.append(unused);
            Err(errors)
        }
    }
}

/// Applies policy, patches and pins, moves objects to the profile's namespace, and strips annotations.
fn finish_cluster<'a>(cluster: WithIntents<'a>, uses: &mut PatchUses) -> Result<Rendered<'a>, Diagnostics> {
    let WithIntents { assembled: Assembled { expanded, mut components, selection, .. }, detected } = cluster;
    let view = expanded.view;
    let known = Known { detected: &detected, selection: &selection };
    let declared = view.profile.namespace.as_ref();
    let target = declared.map(|declared| target_namespace(declared, &view)).transpose()?;
    issue(&mut components, &view, target.as_ref().map(|target| target.value.as_str()))?;
    let mut objects = policy_and_patches(components, &view, &known, uses)?;
    objects.sort_by_key(|object| object.position);
    pins::apply(&mut objects, &view)?;
    let mut warnings = Vec::new();
    if let Some(target) = &target {
        warnings = namespace::move_to(target, &mut objects, &view.scopes(), view.context.sources)?;
    }
    let namespace = target.map(|target| target.value);
    let hosted_control_plane = hosted_control_plane(&view)?;
    strip_annotations::apply(&mut objects, &view.profile.strip, view.context.sources)?;
    issued::check_marks(&objects, view.context.sources)?;
    issued::annotate(&mut objects);
    empty_metadata::remove(&mut objects, &view);
    // Policy and patches may have added values to Secrets.
    for object in &mut objects {
        mask::protect_secret(&mut object.root);
    }
    Ok(Rendered { view, selection, objects, namespace, hosted_control_plane, warnings })
}

/// Turns declarations into issued objects, and adds the objects of the signers that they use.
fn issue(
    components: &mut Vec<Component>,
    view: &View<'_>,
    namespace: Option<&str>,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for component in components.iter_mut() {
        let created = issued::create_secrets(&mut component.objects, view.context.sources);
        errors.append(created.err().unwrap_or_default());
    }
    errors.into_result(())?;
    components.extend(signers::component(components, view, namespace)?);
    Ok(())
}

/// The results of the earlier steps for a cluster.
struct Known<'a> {
    detected: &'a Detected,
    selection: &'a Selection,
}

/// Applies policy and patches, and returns the objects of all components. Adds what the patches did to `uses`.
///
/// Objects with pods come last: their policy may depend on other objects of the cluster (see [`pod_context`]).
fn policy_and_patches(
    mut components: Vec<Component>,
    view: &View<'_>,
    known: &Known<'_>,
    uses: &mut PatchUses,
) -> Result<Vec<Object>, Diagnostics> {
    let without_context = PodContext::default();
    let without_pods =
        parallel::map(MIN_COMPONENTS_PER_THREAD, &mut components, |component: &mut Component| {
            apply_policy(component, view, &without_context, |object| !has_pods(&object.id.kind))?;
            if may_fill(view, &component.name) {
                filled_texts::convert(&mut component.objects, view);
            }
            Ok(())
        });
    let context = pod_context(&components, view, known.selection);
    let finished = parallel::map(MIN_COMPONENTS_PER_THREAD, components, |component: Component| {
        let mut uses = Vec::new();
        (policy_for_pods_and_patches(component, view, known, &context, &mut uses), uses)
    });
    let (finished, found): (Vec<_>, Vec<_>) = finished.into_iter().unzip();
    for found in found.into_iter().flatten() {
        uses.add(found);
    }
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

/// Applies the policy for pods and the patches to a component, and returns its objects. Adds what the patches did to
/// `uses`.
fn policy_for_pods_and_patches(
    mut component: Component,
    view: &View<'_>,
    known: &Known<'_>,
    context: &PodContext,
    uses: &mut Vec<PatchUse>,
) -> Result<Vec<Object>, Diagnostics> {
    if let Err(errors) = apply_policy(&mut component, view, context, |object| has_pods(&object.id.kind)) {
        uses.extend(page_patches::not_applied(view, &component.name));
        return Err(errors);
    }
    remember_config_hashes(&mut component, view, context);
    page_patches::apply(&mut component.objects, view, &component.name, known.selection, uses)?;
    if may_fill(view, &component.name) {
        filled_texts::convert(&mut component.objects, view);
    }
    refuse_late_intents(&component, view, known.detected)?;
    Ok(component.objects)
}

/// Remembers what the hashes of the pods' configurations cover, so that `apply` can add the values of issued objects.
fn remember_config_hashes(component: &mut Component, view: &View<'_>, context: &PodContext) {
    if !policy_uses_config(view.profile) {
        return;
    }
    let page = view.payload.page(&component.name);
    for object in &mut component.objects {
        let pod = pod(&object.root, &object.id.kind);
        object.config_hash = pod.and_then(|pod| context.config_hash(pod, &object.id.namespace, page));
    }
}

/// Returns whether policy, patches or the additions for intents may fill values into the objects of a component. Looking for
/// them in every object takes time.
fn may_fill(view: &View<'_>, component: &str) -> bool {
    let profile = view.profile;
    view.payload.page(component).is_some() || !profile.policy.is_empty() || !profile.intents.0.is_empty()
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
fn pod_context(components: &[Component], view: &View<'_>, selection: &Selection) -> PodContext {
    let mut context = PodContext::default();
    let uses_bindings = policy_uses_bindings(view.profile);
    let uses_config = policy_uses_config(view.profile);
    for component in components {
        for object in &component.objects {
            let is_binding = matches!(object.id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
            let is_config = matches!(object.id.kind.as_str(), "ConfigMap" | "Secret");
            if !(uses_bindings && is_binding || uses_config && is_config) {
                continue;
            }
            let Some(root) = page_patches::preview(object, view, &component.name, selection) else {
                continue;
            };
            if is_binding {
                context.add_binding(&object.id, &root);
            } else {
                context.add_config(object, root);
            }
        }
    }
    context
}

/// Returns the namespace of the hosted control plane: that of the management cluster's profile in the same topology.
fn hosted_control_plane(view: &View<'_>) -> Result<Option<String>, Diagnostic> {
    let mut profiles = view.context.profiles.in_topology_of(view.profile);
    let management = profiles.find(|profile| profile.cluster == Cluster::Management);
    let Some(declared) = management.and_then(|profile| profile.namespace.as_ref()) else { return Ok(None) };
    Ok(Some(target_namespace(declared, view)?.value))
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
