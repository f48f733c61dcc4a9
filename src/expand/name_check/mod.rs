//! Checks every name in profiles, fragments and pages before anything is rendered: names that are not defined, parameters
//! that nothing uses, and names with two meanings.
//!
//! `mod.rs` visits the files, `names.rs` checks one name or condition, `references.rs` checks that fragments, profiles and
//! kinds exist.

mod names;
mod references;

use std::collections::BTreeSet;

use super::Context;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::{malformed, names};
use crate::language::{
    Addition, Checks, Fragment, IntentRule, Intents, Marked, Omissions, Page, Place, PolicyTarget, Profile,
    Use, When,
};
use crate::yaml::{Mark, Node, Value};
use names::LocalNames;

/// Checks every name in the profiles, the fragments and the pages.
pub(crate) fn check_names(context: &Context<'_>) -> Result<(), Diagnostics> {
    let mut checker =
        NameChecker { context, used_parameters: BTreeSet::new(), errors: Diagnostics::default() };
    for profile in context.profiles.iter() {
        checker.check_profile(profile);
    }
    for fragment in context.profiles.fragments.values() {
        checker.check_fragment(fragment);
    }
    for (component, page) in &context.payload.pages {
        checker.check_page(component, page);
    }
    checker.check_checks(&context.profiles.checks);
    checker.report_unused_parameters();
    checker.errors.dedup().into_result(())
}

struct NameChecker<'a> {
    context: &'a Context<'a>,
    used_parameters: BTreeSet<String>,
    errors: Diagnostics,
}

impl<'a> NameChecker<'a> {
    fn check_profile(&mut self, profile: &'a Profile) {
        let local = LocalNames::default();
        for text in [&profile.namespace, &profile.paused_until].into_iter().flatten() {
            self.check_text(&text.value, text.mark, &local);
        }
        for setting in profile.select_nodes() {
            self.check_node(setting, &local);
        }
        for rule in &profile.policy {
            if let PolicyTarget::Kind(kind) = &rule.value.target {
                self.check_kind_exists(kind, rule.mark);
            }
            self.check_when(&rule.value.when, &local);
            for template in rule.value.templates() {
                self.check_node(&template, &local);
            }
        }
        for create in profile.signers.values().filter_map(|signer| signer.value.create.as_ref()) {
            self.check_when(create, &local);
        }
        self.check_omissions(&profile.omit, &local);
        self.check_intents(&profile.intents);
    }

    fn check_fragment(&mut self, fragment: &'a Fragment) {
        let body = &fragment.body;
        let local = LocalNames::of_fragment(body);
        for (name, input) in &body.inputs {
            self.check_name_is_free(name, input.mark);
        }
        for (name, value) in &body.values {
            self.check_name_is_free(name, value.mark);
        }
        for default in body.inputs.values().filter_map(|input| input.value.default.as_ref()) {
            self.check_node(default, &local);
        }
        for value in body.values.values() {
            self.check_node(&value.value, &local);
        }
        let places = body.place.iter().flat_map(Place::entries).map(|(selector, _)| selector);
        for selector in places.chain(body.omit.0.iter().map(|(selector, _)| selector)) {
            for text in [&selector.value.namespace, &selector.value.name].into_iter().flatten() {
                self.check_text(text, selector.mark, &local);
            }
        }
        self.check_omissions(&body.omit, &local);
        self.check_body(&body.adds, &body.uses, &local);
        for manifest in &fragment.manifests {
            self.check_node(&manifest.root, &local);
        }
    }

    fn check_checks(&mut self, checks: &'a Checks) {
        for external in &checks.externals {
            self.check_when(&external.value.when, &LocalNames::default());
            self.check_profiles_exist(&external.value.profiles);
        }
        for allowance in &checks.allow {
            self.check_when(&allowance.value.when, &LocalNames::default());
            self.check_profiles_exist(&allowance.value.profiles);
        }
    }

    fn check_page(&mut self, component: &str, page: &'a Page) {
        // These are evaluated before the values of the page, so they can only use parameters.
        let parameters_only = LocalNames::of_page_without_values(page);
        self.check_owner(component, page);
        self.check_when(&page.when, &parameters_only);
        for (name, value) in &page.values {
            self.check_name_is_free(name, value.mark);
            self.check_node(&value.value, &parameters_only);
        }
        self.check_omissions(&page.omit, &parameters_only);
        self.check_omissions(&page.moved, &parameters_only);
        self.check_page_parameters(page);
        let local = LocalNames::of_page(page);
        self.check_body(&page.adds, &page.uses, &local);
        for patch in &page.patches {
            self.check_when(&patch.value.when, &parameters_only);
            self.check_profiles_exist(&patch.value.profiles);
            // A patch that cannot be read is reported when it is applied.
            for patch in self.context.payload.patches(component, page, patch).unwrap_or_default() {
                self.check_node(&patch, &local);
            }
        }
        for need in &page.needs {
            self.check_profiles_exist(&need.value.profiles);
            self.check_when(&need.value.when, &parameters_only);
        }
        // transship fills in `${…}` only if the page has `values`. Otherwise it may belong to a shell script.
        if !page.values.is_empty() {
            for (_, manifest) in self.context.payload.of_component(component) {
                self.check_node(&manifest.root, &local);
            }
        }
    }

    /// Refuses an owner that is no other component: a misspelled name would give every object two owners.
    fn check_owner(&mut self, component: &str, page: &Page) {
        let Some(owner) = &page.owner else { return };
        let pages = &self.context.payload.pages;
        let others = pages.keys().map(String::as_str).filter(|name| *name != component);
        if owner.value == component {
            let message = format!("`{component}` names itself as its owner");
            self.errors.0.push(
                self.error(owner.mark, message)
                    .note("the objects that an operator looks after are a component of their own")
                    .help("move the operator to another component, or remove `owner`"),
            );
        } else if !pages.contains_key(&owner.value) {
            let message = format!("there is no component `{}`", owner.value);
            let error = self
                .error(owner.mark, message)
                .note("`owner` names the component whose operator looks after these objects");
            let error = error.help("name a component of the payload, or remove `owner`");
            self.errors.0.push(error.suggest(&owner.value, others));
        }
    }

    fn check_body(&mut self, additions: &[Marked<Addition>], uses: &[Marked<Use>], local: &LocalNames<'_>) {
        for Marked { value: addition, .. } in additions {
            self.check_profiles_exist(&addition.profiles);
            self.check_when(&addition.when, local);
            for target in &addition.targets.0 {
                self.check_text(&target.value, target.mark, local);
            }
            for node in addition.pod.iter().chain(&addition.workload).chain(&addition.objects) {
                self.check_node(node, local);
            }
            self.check_intents(&addition.intents);
            self.check_body(&[], &addition.uses, local);
        }
        for entry in uses {
            for input in entry.value.inputs.values() {
                self.check_node(&input.value, local);
            }
            self.check_use(entry);
        }
    }

    fn check_omissions(&mut self, omissions: &Omissions, local: &LocalNames<'_>) {
        for (_, omission) in &omissions.0 {
            self.check_profiles_exist(&omission.profiles);
            self.check_when(&omission.when, local);
        }
    }

    fn check_intents(&mut self, intents: &Intents) {
        for rule in intents.0.values() {
            match &rule.value {
                IntentRule::Parameters(group) => self.check_group(group, rule.mark),
                IntentRule::Fragment(name) => {
                    let help = "write `keep`, the name of a fragment, `${a.group}` or `refuse: why`";
                    self.check_fragment_exists(name, rule.mark, help);
                }
                IntentRule::Keep | IntentRule::Refuse(_) => {}
            }
        }
    }

    fn check_when(&mut self, when: &When, local: &LocalNames<'_>) {
        for (name, condition) in when {
            self.check_name(name, name, condition.mark, local);
            self.check_condition(name, condition, local);
        }
    }

    fn check_node(&mut self, node: &Node, local: &LocalNames<'_>) {
        for mark in malformed(node) {
            let error = self.error(mark, "`${` must contain a name and end with `}`");
            self.errors.0.push(error.help("write `$${` for the text `${`"));
        }
        let mut mentioned = Vec::new();
        names(node, &mut mentioned);
        for (name, mark) in mentioned {
            self.check_name(&name, &format!("${{{name}}}"), mark, local);
        }
    }

    fn check_text(&mut self, text: &str, mark: Mark, local: &LocalNames<'_>) {
        self.check_node(&Node::new(Value::String(text.into()), mark), local);
    }

    fn error(&self, mark: Mark, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.context.sources))
    }
}
