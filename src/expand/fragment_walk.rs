//! Visits every addition and every fragment that a page uses, directly or through other fragments, with its inputs bound.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::View;
use super::built_in::lookup_image;
use super::inputs::{
    check_input, given_inputs, in_binding_order, missing_input, split_lists, value_not_given,
};
use super::variables::{Variables, Workload};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::{Lookup, filled_as_text, substitute, substitute_text};
use crate::language::{Addition, Fragment, Input, Marked, Selector, Use, ValueType, Visibility, unmet};
use crate::object::{ObjectId, has_pods, mask, text};
use crate::payload::Manifest;
use crate::yaml::{Mark, Node, Value};

/// How deep fragments may use other fragments. The limit ends cycles.
const MAX_DEPTH: usize = 5;

/// Receives the additions and fragments of a walk, in the order in which they are written.
pub(super) trait Visitor {
    /// Receives an addition that applies in this profile, and the uses of fragments that led to it.
    fn addition(
        &mut self,
        addition: &Marked<Addition>,
        variables: &Variables<'_>,
        uses: &[Mark],
    ) -> Result<(), Diagnostic>;

    /// Receives a fragment with its inputs bound.
    fn fragment(&mut self, fragment: &Fragment, variables: &Variables<'_>) -> Result<(), Diagnostic>;
}

/// The purpose of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Collects the manifests of fragments. A workload may be missing, because a fragment may still add it.
    Manifests,
    /// Collects additions. All manifests exist, so a missing workload is an error.
    Additions,
}

/// Where to search for an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchIn {
    /// Only in the component.
    Component,
    /// In the component, and if it has no such object, in the whole payload.
    Payload,
}

/// A walk through the fragments that a component uses.
pub(super) struct FragmentWalk<'w, V> {
    /// The manifests of the component, in which workloads and objects are looked up.
    pub(super) manifests: Vec<&'w Manifest>,
    /// If several objects have the same kind and name, one of these is taken, or the workload in scope.
    pub(super) preferred: &'w [ObjectId],
    pub(super) pass: Pass,
    pub(super) visitor: V,
    pub(super) errors: Diagnostics,
    /// The object that was looked up last and does not exist.
    pub(super) missing: RefCell<Option<Selector>>,
    /// Whether an object does not exist. In the pass for manifests, a fragment may still bring it.
    pub(super) is_incomplete: bool,
    /// The uses of fragments that failed because an object does not exist.
    pub(super) failed: Vec<FailedUse>,
}

/// A use of a fragment that failed because an object does not exist.
pub(super) struct FailedUse {
    /// The fragment.
    pub(super) fragment: String,
    /// The use.
    pub(super) mark: Mark,
    /// The object that does not exist.
    pub(super) missing: Selector,
    /// The index of its error.
    pub(super) error: usize,
}

impl<'w, V> FragmentWalk<'w, V> {
    /// Creates a walk through the fragments that a component uses.
    pub(super) fn new(view: &'w View<'_>, component: &str, pass: Pass, visitor: V) -> Self {
        Self {
            manifests: view.payload.of_component(component).map(|(_, manifest)| manifest).collect(),
            preferred: &[],
            pass,
            visitor,
            errors: Diagnostics::default(),
            missing: RefCell::new(None),
            is_incomplete: false,
            failed: Vec::new(),
        }
    }
}

impl<V: Visitor> FragmentWalk<'_, V> {
    /// Visits additions, then uses. `outer_uses` are the uses of fragments that lead here, the page's first.
    pub(super) fn visit_body(
        &mut self,
        additions: &[Marked<Addition>],
        uses: &[Marked<Use>],
        variables: &Variables<'_>,
        outer_uses: &[Mark],
    ) {
        for addition in additions {
            if let Err(error) = self.visit_addition(addition, variables, outer_uses) {
                self.errors.0.push(error);
            }
        }
        for entry in uses {
            self.visit_use(entry, variables, outer_uses);
        }
    }

    fn visit_addition(
        &mut self,
        addition: &Marked<Addition>,
        variables: &Variables<'_>,
        outer_uses: &[Mark],
    ) -> Result<(), Diagnostic> {
        let view = variables.view;
        if !view.profile.is_in(&addition.value.profiles)
            || unmet(&addition.value.when, variables, view.context.sources)?.is_some()
        {
            return Ok(());
        }
        if addition.value.targets.0.is_empty() {
            return self.visit_addition_in_scope(addition, variables, outer_uses);
        }
        // Only additions and uses need the workload.
        if self.pass == Pass::Manifests && addition.value.uses.is_empty() {
            return Ok(());
        }
        for target in &addition.value.targets.0 {
            let variables = self.with_workload(target, variables)?;
            self.visit_addition_in_scope(addition, &variables, outer_uses)?;
        }
        Ok(())
    }

    fn visit_addition_in_scope(
        &mut self,
        addition: &Marked<Addition>,
        variables: &Variables<'_>,
        outer_uses: &[Mark],
    ) -> Result<(), Diagnostic> {
        self.visitor.addition(addition, variables, outer_uses)?;
        for entry in &addition.value.uses {
            self.visit_use(entry, variables, outer_uses);
        }
        Ok(())
    }

    /// Returns variables with another workload in scope: one that `for` of an addition names.
    fn with_workload<'v>(
        &self,
        target: &Marked<String>,
        variables: &Variables<'v>,
    ) -> Result<Variables<'v>, Diagnostic> {
        let name = substitute_text(&target.value, target.mark, variables, variables.view.context.sources)?;
        let node = text(name.as_str(), target.mark);
        // If several objects have this name, the workload that was in scope before must not take precedence.
        let mut scope = Variables { workload: None, ..variables.clone() };
        let workload = self.find_workload(&node, &scope)?;
        if scope.local.contains_key("workload") {
            define_object_fields("workload", &workload, &mut scope);
            scope.local.insert("workload".to_owned(), Lookup::Value(node));
        }
        scope.workload = Some(workload);
        Ok(scope)
    }

    /// Visits one use of a fragment, and collects its errors.
    pub(super) fn visit_use(&mut self, entry: &Marked<Use>, caller: &Variables<'_>, outer_uses: &[Mark]) {
        self.missing.replace(None);
        let result = self.try_visit_use(entry, caller, outer_uses);
        let missing = self.missing.take();
        self.is_incomplete |= missing.is_some();
        if let Err(error) = result {
            if let Some(missing) = missing {
                let (fragment, error) = (entry.value.fragment.clone(), self.errors.0.len());
                self.failed.push(FailedUse { fragment, mark: entry.mark, missing, error });
            }
            self.errors.0.push(error);
        }
    }

    fn try_visit_use(
        &mut self,
        entry: &Marked<Use>,
        caller: &Variables<'_>,
        outer_uses: &[Mark],
    ) -> Result<(), Diagnostic> {
        let fragments = &caller.view.context.profiles.fragments;
        let name = &entry.value.fragment;
        let Some(fragment) = fragments.get(name) else {
            return Err(error_at(caller, entry.mark, &format!("there is no fragment `{name}`"))
                .help("fragments are in profiles/fragments/")
                .suggest(name, fragments.keys().map(String::as_str)));
        };
        if outer_uses.len() == MAX_DEPTH {
            let message = format!("fragments use each other more than {MAX_DEPTH} levels deep");
            return Err(error_at(caller, entry.mark, &message));
        }
        if self.pass == Pass::Manifests && !affects_manifests(fragment, fragments, MAX_DEPTH) {
            return Ok(());
        }
        let given = given_inputs(entry, fragment, caller)?;
        let outer_uses = [outer_uses, &[entry.mark]].concat();
        for given in split_lists(given, &fragment.body.inputs) {
            let bound = self.bind_inputs(fragment, given, entry.mark, caller)?;
            self.visitor.fragment(fragment, &bound)?;
            self.visit_body(&fragment.body.adds, &fragment.body.uses, &bound, &outer_uses);
        }
        Ok(())
    }

    /// Gives every input of a fragment its value, then every value of the fragment.
    fn bind_inputs<'a>(
        &self,
        fragment: &Fragment,
        mut given: BTreeMap<String, Node>,
        mark: Mark,
        caller: &Variables<'a>,
    ) -> Result<Variables<'a>, Diagnostic> {
        let mut bound =
            Variables { workload: caller.workload.clone(), ..Variables::of(caller.view, caller.component) };
        if let Some(node) = given.get("workload") {
            bound.workload = Some(self.find_workload(node, caller)?);
        }
        for (name, Marked { value: input, .. }) in in_binding_order(&fragment.body.inputs, &given) {
            let value = match given.remove(name) {
                Some(mut value) => {
                    if input.r#type.is_text() {
                        filled_as_text(&mut value);
                    }
                    check_input(name, input, &value, Visibility::Hidden, caller.view.context.sources)?;
                    Some(value)
                }
                None => value_not_given(name, input, mark, caller, &bound)?,
            };
            match value {
                Some(value) => self.define_input(name, input, value, &mut bound)?,
                None if input.optional || input.default.is_some() => {
                    bound.local.insert(name.clone(), Lookup::Absent);
                }
                None => return Err(missing_input(name, input, mark, &bound, fragment)),
            }
        }
        self.bind_values(&fragment.body.values, &mut bound)?;
        Ok(bound)
    }

    /// Binds the values of a page or fragment. The value `workload` sets the workload.
    pub(super) fn bind_values(
        &self,
        values: &BTreeMap<String, Marked<Node>>,
        variables: &mut Variables<'_>,
    ) -> Result<(), Diagnostic> {
        let mut bound = Vec::new();
        for (name, node) in values {
            bound.push((name, substitute(&node.value, variables, variables.view.context.sources)?));
        }
        // Values are defined after all are computed, so that they cannot mention each other and order cannot matter.
        for (name, node) in bound {
            if let (Some(node), "workload") = (&node, name.as_str()) {
                variables.workload = match self.find_workload(node, variables) {
                    Ok(workload) => Some(workload),
                    Err(_) if self.pass == Pass::Manifests => None,
                    Err(error) => return Err(error),
                };
            }
            let value = node.map_or(Lookup::Absent, Lookup::Value);
            variables.local.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Defines the name of an input, and the names below it for images and objects, such as `x.namespace`.
    fn define_input(
        &self,
        name: &str,
        input: &Input,
        node: Node,
        variables: &mut Variables<'_>,
    ) -> Result<(), Diagnostic> {
        match (input.r#type, node.as_str()) {
            (ValueType::Image, Some(tag)) => return define_image(name, tag, &node, variables),
            (ValueType::Object, Some(_)) => {
                let object = self.find_object(&node, variables, SearchIn::Payload)?;
                define_object_fields(name, &object, variables);
            }
            (ValueType::Workload, Some(_)) => {
                let object = self.find_object(&node, variables, SearchIn::Component)?;
                define_object_fields(name, &object, variables);
            }
            _ => {}
        }
        variables.local.insert(name.to_owned(), Lookup::Value(node));
        Ok(())
    }

    /// Finds the workload with a name such as `Deployment/web` in the component.
    fn find_workload(&self, node: &Node, variables: &Variables<'_>) -> Result<Workload, Diagnostic> {
        let found = self.find_object(node, variables, SearchIn::Component)?;
        if has_pods(&found.id.kind) {
            return Ok(found);
        }
        Err(error_at(variables, node.mark, &format!("`{}` has no pods", mask::text(node)))
            .help("name a workload, such as a Deployment or DaemonSet"))
    }

    /// Finds the manifest that a selector such as `Kind/name` or `Kind.group/namespace/name` names.
    fn find_object(
        &self,
        node: &Node,
        variables: &Variables<'_>,
        search_in: SearchIn,
    ) -> Result<Workload, Diagnostic> {
        let text = node.as_str().unwrap_or_default();
        let selector = Selector::parse_with_name(text);
        let is_selected =
            |manifest: &&Manifest| selector.as_ref().is_ok_and(|selector| selector.matches(&manifest.id));
        let mut found: Vec<&Manifest> = self.manifests.iter().copied().filter(is_selected).collect();
        if found.is_empty() && search_in == SearchIn::Payload {
            found = variables.view.payload.manifests.iter().filter(is_selected).collect();
        }
        let found = without_left_out(found, variables.view);
        let workload = variables.workload.as_ref().map(|workload| &workload.id);
        for manifest in &found {
            if self.preferred.contains(&manifest.id) || workload == Some(&manifest.id) {
                return Ok(Workload::of(manifest));
            }
        }
        match found[..] {
            [only] => Ok(Workload::of(only)),
            [_, _, ..] => Err(ambiguous(node, &found, variables)),
            [] => {
                self.missing.replace(selector.ok());
                let shown = mask::text(node);
                let known: Vec<String> = self
                    .manifests
                    .iter()
                    .map(|manifest| format!("{}/{}", manifest.id.kind, manifest.id.name))
                    .collect();
                Err(error_at(variables, node.mark, &format!("the component has no `{shown}`"))
                    .help("name an object of the component as `Kind/name`")
                    .suggest(text, known.iter().map(String::as_str)))
            }
        }
    }
}

/// Removes manifests that the profile leaves out, such as the variant for another cluster profile. If the profile
/// leaves out all of them, keeps the first one, so that the name still resolves; additions to its object have no
/// effect.
fn without_left_out<'m>(mut found: Vec<&'m Manifest>, view: &View<'_>) -> Vec<&'m Manifest> {
    if found.len() < 2 {
        return found;
    }
    let first = found[0];
    found.retain(|manifest| !view.left_out.contains(&manifest.key()));
    if found.is_empty() { vec![first] } else { found }
}

fn ambiguous(node: &Node, found: &[&Manifest], variables: &Variables<'_>) -> Diagnostic {
    let message = format!("several objects are `{}`", mask::text(node));
    let mut error = error_at(variables, node.mark, &message);
    for manifest in found {
        let place = variables.view.context.sources.show(manifest.root.mark);
        error = error.note(format!("{} is at {place}", manifest.id));
    }
    let are_the_same = found.windows(2).all(|pair| pair[0].id == pair[1].id);
    error.help(if are_the_same {
        "leave out all of them but one, with annotations, `ignore` or `omit`"
    } else {
        "write `Kind/namespace/name`"
    })
}

fn define_image(name: &str, tag: &str, node: &Node, variables: &mut Variables<'_>) -> Result<(), Diagnostic> {
    for suffix in ["", ".guest", ".management"] {
        let pullspec = lookup_image(&format!("{tag}{suffix}"), variables).map_err(|error| {
            error_at(variables, node.mark, &format!("`{}` is not an image", mask::text(node)))
                .help(error.help)
        })?;
        variables.local.insert(format!("{name}{suffix}"), pullspec);
    }
    Ok(())
}

fn define_object_fields(name: &str, object: &Workload, variables: &mut Variables<'_>) {
    let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let fields = [
        ("name", object.id.name.as_str()),
        ("namespace", &object.id.namespace),
        ("kind", &object.id.kind),
        ("apiVersion", api_version),
        ("serviceAccount", object.service_account()),
    ];
    for (field, text) in fields {
        variables.local.insert(format!("{name}.{field}"), Lookup::Value(Value::String(text.into()).into()));
    }
}

/// Returns whether a fragment, or one that it uses, has manifests, `place` or `omit`.
fn affects_manifests(fragment: &Fragment, all: &BTreeMap<String, Fragment>, depth: usize) -> bool {
    let body = &fragment.body;
    if !fragment.manifests.is_empty() || body.place.is_some() || !body.omit.0.is_empty() {
        return true;
    }
    let uses = body.uses.iter().chain(body.adds.iter().flat_map(|addition| &addition.value.uses));
    let mut fragments = uses.filter_map(|entry| all.get(&entry.value.fragment));
    depth > 0 && fragments.any(|fragment| affects_manifests(fragment, all, depth - 1))
}

pub(super) fn error_at(variables: &Variables<'_>, mark: Mark, message: &str) -> Diagnostic {
    Diagnostic::error(message).at(Location::of(mark, variables.view.context.sources))
}
