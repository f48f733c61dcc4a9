//! Applies the policy of a profile to an object: first all `add` rules, then `default`, then `set`, then `replace`.

use super::additive_merge::{merge_addition, merge_object_addition, merge_pod_addition};
use super::patch;
use super::replaced_fields::{replace, substitute_fields};
use super::set_fields::SetFields;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expand::{ContainerScope, PodContext, Variables, View, Workload};
use crate::language::template::substitute;
use crate::language::{Marked, PolicyRule, PolicyTarget, unmet};
use crate::object::{
    Cause, Object, containers, containers_mut, has_pods, is_workload, pod, pod_mut, pod_path, volumes,
};
use crate::yaml::{Entry, Map, Node, Sources, Value};

/// The kinds of rules, in the order in which they are applied.
#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Add,
    Default,
    Set,
    Replace,
}

/// A rule with its body for one layer.
#[derive(Clone, Copy)]
struct LayerRule<'r> {
    rule: &'r Marked<PolicyRule>,
    body: &'r Node,
    layer: Layer,
}

impl<'r> LayerRule<'r> {
    /// Returns the rule for a layer, if it has a body for it and applies to the object.
    fn of(rule: &'r Marked<PolicyRule>, layer: Layer, object: &Object) -> Option<Self> {
        let body = match layer {
            Layer::Add => rule.value.add.as_ref(),
            Layer::Default => rule.value.default.as_ref(),
            Layer::Set => rule.value.set.as_ref(),
            Layer::Replace => rule.value.replace.as_ref().map(|fields| &fields.0),
        };
        let body = body?;
        applies_to(&rule.value.target, object).then_some(Self { rule, body, layer })
    }
}

fn applies_to(target: &PolicyTarget, object: &Object) -> bool {
    match target {
        PolicyTarget::Object => true,
        PolicyTarget::Kind(kind) => *kind == object.id.kind,
        PolicyTarget::Workload => is_workload(&object.id.kind),
        PolicyTarget::Pod | PolicyTarget::Container | PolicyTarget::Volume => has_pods(&object.id.kind),
    }
}

/// Applies the policy of the profile to an object.
pub(super) fn apply(
    object: &mut Object,
    view: &View<'_>,
    component: &str,
    context: &PodContext,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut set_fields = SetFields::default();
    for layer in [Layer::Add, Layer::Default, Layer::Set, Layer::Replace] {
        // The rules of a layer see the result of the layers before it, but not that of each other.
        let workload = Workload { id: object.id.clone(), root: object.root.clone() };
        let variables = Variables {
            workload: Some(workload),
            pod_context: Some(context),
            ..Variables::of(view, component)
        };
        for rule in &view.profile.policy {
            let Some(layer_rule) = LayerRule::of(rule, layer, object) else { continue };
            match apply_rule(object, layer_rule, &variables, &mut set_fields) {
                Ok(true) => object.history.record(&object.root, || Cause::Policy(rule.mark)),
                Ok(false) => {}
                Err(error) => errors.0.push(error.object(&object.id)),
            }
        }
    }
    errors.into_result(())
}

/// Applies a rule to an object or to parts of it. Returns whether its conditions were met.
fn apply_rule(
    object: &mut Object,
    rule: LayerRule<'_>,
    variables: &Variables<'_>,
    set_fields: &mut SetFields,
) -> Result<bool, Diagnostic> {
    match rule.rule.value.target {
        PolicyTarget::Container => apply_to_containers(object, rule, variables, set_fields),
        PolicyTarget::Volume => apply_to_volumes(object, rule, variables, set_fields),
        PolicyTarget::Object | PolicyTarget::Kind(_) | PolicyTarget::Workload | PolicyTarget::Pod => {
            apply_to_object_or_pod(object, rule, variables, set_fields)
        }
    }
}

fn apply_to_object_or_pod(
    object: &mut Object,
    rule: LayerRule<'_>,
    variables: &Variables<'_>,
    set_fields: &mut SetFields,
) -> Result<bool, Diagnostic> {
    let sources = variables.view.context.sources;
    let kind = object.id.kind.clone();
    let is_for_pod = rule.rule.value.target == PolicyTarget::Pod;
    if is_for_pod && pod(&object.root, &kind).is_none() {
        return Ok(false);
    }
    let Some(body) = body_of(rule, variables)? else { return Ok(false) };
    match (rule.layer, is_for_pod) {
        (Layer::Add, true) => merge_pod_addition(object, &body, sources)?,
        (Layer::Add, false) => merge_object_addition(object, &body, sources)?,
        (layer, false) => change_fields(&mut object.root, "", (layer, &body), set_fields, sources)?,
        (layer, true) => {
            if let Some(pod) = pod_mut(&mut object.root, &kind) {
                change_fields(pod, &pod_path(&kind), (layer, &body), set_fields, sources)?;
            }
        }
    }
    Ok(true)
}

fn apply_to_containers(
    object: &mut Object,
    rule: LayerRule<'_>,
    variables: &Variables<'_>,
    set_fields: &mut SetFields,
) -> Result<bool, Diagnostic> {
    let kind = object.id.kind.clone();
    // The containers as they were before this layer.
    let before = variables.workload.as_ref().and_then(|workload| pod(&workload.root, &kind));
    let before = before.map(containers).unwrap_or_default();
    let Some(pod) = pod_mut(&mut object.root, &kind) else { return Ok(false) };
    let own = pod.get("spec").and_then(|spec| spec.get("containers")).and_then(Node::as_list);
    let first_init_container = own.map_or(0, <[Node]>::len);
    let mut any = false;
    for (index, container) in containers_mut(pod).into_iter().enumerate() {
        let node = before.get(index).copied().unwrap_or(container).clone();
        let is_init = index >= first_init_container;
        let variables = Variables { container: Some(ContainerScope { node, is_init }), ..variables.clone() };
        let (list, position) =
            if is_init { ("initContainers", index - first_init_container) } else { ("containers", index) };
        let path = format!("{}/spec/{list}/{position}", pod_path(&kind));
        any |= apply_to_part(container, &path, rule, &variables, set_fields)?;
    }
    Ok(any)
}

fn apply_to_volumes(
    object: &mut Object,
    rule: LayerRule<'_>,
    variables: &Variables<'_>,
    set_fields: &mut SetFields,
) -> Result<bool, Diagnostic> {
    let kind = object.id.kind.clone();
    // The volumes as they were before this layer. A rule can change them, but not add or remove one.
    let before = variables.workload.as_ref().and_then(|workload| pod(&workload.root, &kind));
    let before = before.map(volumes).unwrap_or_default();
    let volumes = pod_mut(&mut object.root, &kind)
        .and_then(|pod| pod.get_mut("spec")?.get_mut("volumes"))
        .map(|volumes| &mut volumes.value);
    let Some(Value::List(volumes)) = volumes else { return Ok(false) };
    let mut any = false;
    for (index, volume) in volumes.iter_mut().enumerate() {
        let seen = before.get(index).unwrap_or(volume).clone();
        let variables = Variables { volume: Some(seen), ..variables.clone() };
        let path = format!("{}/spec/volumes/{index}", pod_path(&kind));
        any |= apply_to_part(volume, &path, rule, &variables, set_fields)?;
    }
    Ok(any)
}

/// Applies a rule to a part of an object. Returns whether its conditions were met.
fn apply_to_part(
    target: &mut Node,
    path: &str,
    rule: LayerRule<'_>,
    variables: &Variables<'_>,
    set_fields: &mut SetFields,
) -> Result<bool, Diagnostic> {
    let sources = variables.view.context.sources;
    let Some(body) = body_of(rule, variables)? else { return Ok(false) };
    match rule.layer {
        Layer::Add => merge_addition(target, &body, path, sources)?,
        layer => change_fields(target, path, (layer, &body), set_fields, sources)?,
    }
    Ok(true)
}

/// Returns the body of a rule with its variables filled in. Returns `None` if its conditions are not met, or if the map of
/// its `lookup` does not have the key.
fn body_of(rule: LayerRule<'_>, variables: &Variables<'_>) -> Result<Option<Node>, Diagnostic> {
    let sources = variables.view.context.sources;
    let with_found;
    let variables = match &rule.rule.value.lookup {
        Some(lookup) => {
            let Some(found) = lookup.value(variables, sources)? else { return Ok(None) };
            with_found = Variables { found: Some(found), ..variables.clone() };
            &with_found
        }
        None => variables,
    };
    if unmet(&rule.rule.value.when, variables, sources)?.is_some() {
        return Ok(None);
    }
    match rule.layer {
        Layer::Set => substitute_keeping_null(rule.body, variables, sources),
        Layer::Replace => substitute_fields(rule.body, variables, sources).map(Some),
        Layer::Add | Layer::Default => substitute(rule.body, variables, sources),
    }
}

/// Changes a node as the body of a `default`, `set` or `replace` rule says.
fn change_fields(
    target: &mut Node,
    path: &str,
    (layer, body): (Layer, &Node),
    set_fields: &mut SetFields,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    match layer {
        Layer::Default => {
            set_defaults(target, body);
            return Ok(());
        }
        Layer::Replace => return replace(target, path, body, set_fields, sources),
        Layer::Add | Layer::Set => {}
    }
    set_fields.record_leaves(body, path, sources)?;
    if let Some(body) = without_unneeded_nulls(body, Some(target)) {
        patch::merge(target, &body);
    }
    Ok(())
}

/// Fills in the variables of a `set` body. An absent value becomes null, which removes the field.
fn substitute_keeping_null(
    body: &Node,
    variables: &Variables<'_>,
    sources: &Sources,
) -> Result<Option<Node>, Diagnostic> {
    let Value::Map(map) = &body.value else { return substitute(body, variables, sources) };
    let mut entries = Vec::new();
    for entry in map {
        let value = substitute_keeping_null(&entry.value, variables, sources)?;
        let null = Node::new(Value::Null, entry.value.mark);
        entries.push(Entry { value: value.unwrap_or(null), ..entry.clone() });
    }
    Ok(Some(body.with_value(Value::Map(Map::of(entries)))))
}

/// Removes the nulls of a `set` body for fields that do not exist. A merge would create empty maps around them.
fn without_unneeded_nulls(body: &Node, target: Option<&Node>) -> Option<Node> {
    let Value::Map(map) = &body.value else {
        let removes_nothing = body.value == Value::Null && target.is_none();
        return (!removes_nothing).then(|| body.clone());
    };
    let mut entries = Vec::new();
    for entry in map {
        let current = target.and_then(|target| target.get(&entry.key));
        if let Some(value) = without_unneeded_nulls(&entry.value, current) {
            entries.push(Entry { value, ..entry.clone() });
        }
    }
    if entries.is_empty() && !map.is_empty() {
        return None;
    }
    Some(body.with_value(Value::Map(Map::of(entries))))
}

/// Sets the fields that do not exist or are null. Maps are filled in recursively; a list counts as one value.
fn set_defaults(target: &mut Node, body: &Node) {
    let (Value::Map(map), Value::Map(defaults)) = (&mut target.value, &body.value) else { return };
    target.sensitivity = target.sensitivity.max(body.sensitivity);
    for entry in defaults.iter().filter(|entry| entry.value.value != Value::Null) {
        match map.get_mut(&entry.key) {
            Some(current) if current.value == Value::Null => *current = entry.value.clone(),
            Some(current) => set_defaults(current, &entry.value),
            None => map.insert(entry.clone()),
        }
    }
}
