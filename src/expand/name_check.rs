//! Variables are checked before anything runs, over all profiles: what nobody declares, what nobody uses, and names that
//! would mean two things.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::fragment_walk::{checked, unknown_input};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::{malformed, names};
use crate::language::{
    Addition, Checks, Component, Condition, Fragment, Input, IntentRule, Intents, Marked, Omissions,
    Parameter, Place, PolicyTarget, Profile, Use, When,
};
use crate::nearest::nearest;
use crate::object::is_built_in_kind;
use crate::yaml::{Mark, Node, Value, json};

/// First segments of names that the language itself knows.
const BUILT_IN: [&str; 6] = ["component", "container", "images", "pod", "release", "workload"];

/// What can be asked of them; of images, every tag of the release.
const KNOWN: [&str; 15] = [
    "component.name",
    "component.owner",
    "container.mountsTmp",
    "container.name",
    "pod.configHash",
    "pod.labels",
    "pod.localVolumes",
    "pod.mountsTmp",
    "pod.usesOwnApi",
    "release.version",
    "workload.kind",
    "workload.name",
    "workload.namespace",
    "workload.replicas",
    "workload.serviceAccount",
];

/// Checks every name in the profiles, the fragments and the pages.
pub fn check_names(context: &Context<'_>) -> Result<(), Diagnostics> {
    let mut checker = Checker { context, used: BTreeSet::new(), errors: Diagnostics::default() };
    for profile in context.profiles.iter() {
        checker.profile(profile);
    }
    for fragment in context.profiles.fragments.values() {
        checker.fragment(fragment);
    }
    for (component, page) in &context.payload.pages {
        checker.page(component, page);
    }
    checker.checks(&context.profiles.checks);
    checker.report_unused();
    checker.errors.dedup().or(())
}

struct Checker<'a> {
    context: &'a Context<'a>,
    used: BTreeSet<String>,
    errors: Diagnostics,
}

/// The names that are known in one file beside parameters and the language's own.
#[derive(Default)]
struct Own<'a> {
    names: BTreeSet<&'a str>,
    page: Option<&'a Component>,
    inputs: Option<&'a BTreeMap<String, Marked<Input>>>,
}

impl<'a> Checker<'a> {
    fn profile(&mut self, profile: &'a Profile) {
        let own = Own::default();
        if let Some(namespace) = &profile.namespace {
            self.text(&namespace.value, namespace.mark, &own);
        }
        for entry in &profile.policy {
            if let PolicyTarget::Kind(kind) = &entry.value.target {
                self.kind_exists(kind, entry.mark);
            }
            self.when(&entry.value.when, &own);
            for body in [&entry.value.add, &entry.value.default, &entry.value.set].into_iter().flatten() {
                self.node(body, &own);
            }
        }
        self.omissions(&profile.omit, &own);
        self.intents(&profile.intents);
    }

    fn fragment(&mut self, fragment: &'a Fragment) {
        let body = &fragment.body;
        let names = body.inputs.keys().chain(body.values.keys()).map(String::as_str).collect();
        let own = Own { names, page: None, inputs: Some(&body.inputs) };
        let marks = body.inputs.iter().map(|(name, input)| (name, input.mark));
        for (name, mark) in marks.chain(body.values.iter().map(|(name, value)| (name, value.mark))) {
            self.clash(name, mark);
        }
        for input in body.inputs.values().filter_map(|input| input.value.default.as_ref()) {
            self.node(input, &own);
        }
        body.values.values().for_each(|value| self.node(&value.value, &own));
        let places = body.place.iter().flat_map(Place::entries).map(|(entry, _)| entry);
        for selector in places.chain(body.omit.0.iter().map(|(selector, _)| selector)) {
            self.text(selector.value.name.as_deref().unwrap_or_default(), selector.mark, &own);
        }
        self.omissions(&body.omit, &own);
        self.body(&body.adds, &body.uses, &own);
        fragment.manifests.iter().for_each(|manifest| self.node(&manifest.root, &own));
    }

    fn checks(&mut self, checks: &'a Checks) {
        for external in &checks.externals {
            self.when(&external.value.when, &Own::default());
            self.profiles(&external.value.profiles);
        }
        for allowance in &checks.allow {
            self.profiles(&allowance.value.profiles);
        }
    }

    fn page(&mut self, component: &str, page: &'a Component) {
        // Values are made of parameters, and whether the component exists is decided before there are any.
        let outside = Own { names: BTreeSet::new(), page: Some(page), inputs: None };
        self.when(&page.when, &outside);
        for (name, value) in &page.values {
            self.clash(name, value.mark);
            self.node(&value.value, &outside);
        }
        self.omissions(&page.omit, &outside);
        self.omissions(&page.moved, &outside);
        self.private(page);
        let own =
            Own { names: page.values.keys().map(String::as_str).collect(), page: Some(page), inputs: None };
        self.body(&page.adds, &page.uses, &own);
        for patch in &page.patches {
            self.when(&patch.value.when, &outside);
            self.profiles(&patch.value.profiles);
        }
        if !page.values.is_empty() {
            for (_, manifest) in self.context.payload.of_component(component) {
                self.node(&manifest.root, &own);
            }
        }
    }

    fn body(&mut self, parts: &[Marked<Addition>], uses: &[Marked<Use>], own: &Own<'_>) {
        for Marked { value: part, .. } in parts {
            self.profiles(&part.profiles);
            self.when(&part.when, own);
            let nodes = [&part.pod, &part.workload].into_iter().flatten().chain(&part.objects);
            nodes.for_each(|node| self.node(node, own));
            self.intents(&part.intents);
            self.body(&[], &part.uses, own);
        }
        for entry in uses {
            entry.value.inputs.values().for_each(|input| self.node(&input.value, own));
            self.fragment_exists(&entry.value.fragment, entry.mark, "fragments are in profiles/fragments/");
            if let Some(fragment) = self.context.profiles.fragments.get(&entry.value.fragment) {
                self.inputs(entry, fragment);
            }
        }
    }

    fn omissions(&mut self, omissions: &Omissions, own: &Own<'_>) {
        for (_, omission) in &omissions.0 {
            self.profiles(&omission.profiles);
            self.when(&omission.when, own);
        }
    }

    fn intents(&mut self, honours: &Intents) {
        for entry in honours.0.values() {
            match &entry.value {
                IntentRule::Parameters(group) => self.group(group, entry.mark),
                IntentRule::Fragment(name) => {
                    let help = "write `leave`, a fragment, `${a.group}` or `refuse: why`";
                    self.fragment_exists(name, entry.mark, help);
                }
                _ => {}
            }
        }
    }

    fn fragment_exists(&mut self, name: &str, mark: Mark, help: &str) {
        let fragments = &self.context.profiles.fragments;
        if fragments.contains_key(name) {
            return;
        }
        let error = self.wrong(mark, format!("there is no fragment `{name}`"));
        self.errors.0.push(match nearest(name, fragments.keys().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(help),
        });
    }

    /// What a user says fits what the fragment asks for, as far as can be seen before values are put in.
    fn inputs(&mut self, entry: &Marked<Use>, fragment: &Fragment) {
        for (name, given) in &entry.value.inputs {
            let Some(input) = fragment.body.inputs.get(name) else {
                self.errors.0.push(unknown_input(name, given.mark, fragment, self.context.sources));
                continue;
            };
            let mut mentioned = Vec::new();
            names(&given.value, &mut mentioned);
            if !mentioned.is_empty() {
                continue;
            }
            // An input that takes no list is given one for as many uses.
            let values = match given.value.as_list() {
                Some(items) if !input.value.takes_list() => items.to_vec(),
                _ => vec![given.value.clone()],
            };
            for value in values {
                self.errors.collect(checked(name, &input.value, value, true, self.context.sources));
            }
        }
        // A name that is misspelt is missing as well; once is enough.
        let misspelt = entry.value.inputs.keys().any(|name| !fragment.body.inputs.contains_key(name));
        for (name, input) in fragment.body.inputs.iter().filter(|_| !misspelt) {
            if input.value.is_required() && !entry.value.inputs.contains_key(name) {
                let message = format!("the fragment `{}` needs the input `{name}`", fragment.name());
                self.errors.0.push(self.wrong(entry.mark, message));
            }
        }
    }

    /// A parameter of one page has a name of its own.
    fn private(&mut self, page: &'a Component) {
        for (name, parameter) in &page.parameters {
            let shared = self.context.profiles.declared().get(name);
            let mut pages =
                self.context.payload.pages.values().take_while(|other| other.name() != page.name());
            let first = shared.or(pages.find_map(|other| other.parameters.get(name)));
            if let Some(first) = first {
                let error = self.wrong(parameter.mark, format!("a second parameter `{name}`"));
                let first = self.context.sources.show(first.mark);
                self.errors.0.push(error.note(format!("the first is at {first}")));
            }
        }
    }

    /// A kind that nobody has would silently mean nothing.
    fn kind_exists(&mut self, kind: &str, mark: Mark) {
        let manifests = self.context.payload.manifests.iter().map(|manifest| manifest.id.kind.clone());
        let fragments = self.context.profiles.fragments.values();
        let shapes =
            fragments.clone().flat_map(|fragment| &fragment.manifests).map(|manifest| &manifest.root);
        let pages = self.context.payload.pages.values().flat_map(|page| &page.adds);
        let parts = fragments.flat_map(|fragment| &fragment.body.adds).chain(pages);
        let nodes = shapes.chain(parts.flat_map(|part| &part.value.objects));
        let kinds = nodes.filter_map(|node| Some(node.get("kind")?.as_str()?.to_owned()));
        let known: BTreeSet<String> = manifests.chain(kinds).collect();
        if known.contains(kind) || is_built_in_kind(kind) {
            return;
        }
        let error = self.wrong(mark, format!("there is no kind `{kind}`"));
        self.errors.0.push(match nearest(kind, known.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("neither Kubernetes nor the payload has it"),
        });
    }

    /// A group of parameters that is handed over as a whole.
    fn group(&mut self, group: &str, mark: Mark) {
        let prefix = format!("{group}.");
        let members: Vec<String> = self
            .context
            .parameters
            .names()
            .filter(|name| name.starts_with(&prefix))
            .map(str::to_owned)
            .collect();
        if members.is_empty() {
            let error = self.wrong(mark, format!("there is no group of parameters `{group}`"));
            self.errors.0.push(error.help(format!("declare `{prefix}…` in a Parameters file")));
        }
        self.used.extend(members);
    }

    fn when(&mut self, when: &When, own: &Own<'_>) {
        for (name, condition) in when {
            self.name(name, name, condition.mark, own);
            self.condition(name, condition, own);
        }
    }

    /// A value that a parameter can never have makes a condition that never holds.
    fn condition(&mut self, name: &str, condition: &Marked<Condition>, own: &Own<'_>) {
        let Condition::AnyOf(values) = &condition.value else { return };
        let fits = |value: &Node| match name {
            "pod.usesOwnApi" | "pod.mountsTmp" | "container.mountsTmp" => {
                matches!(value.value, Value::Bool(_))
            }
            "workload.replicas" => matches!(value.value, Value::Number(_)),
            name => own.inputs.and_then(|inputs| inputs.get(name)).is_none_or(
                |Marked { value: input, .. }| {
                    input.r#type.accepts(&value.value)
                        && (input.choices.is_empty() || input.choices.contains(value))
                },
            ),
        };
        for value in values.iter().filter(|value| !fits(value)) {
            let error = self.wrong(value.mark, format!("`{name}` is never {}", json::write(value)));
            self.errors.0.push(error.help("compare it with a value of its type, or with one of its choices"));
        }
        let private = own.page.and_then(|page| page.parameters.get(name));
        let declared = private.or(self.context.profiles.declared().get(name));
        let Some(Marked { value: parameter, .. }) = declared else { return };
        for value in values.iter().filter(|value| !parameter.can_be(value)) {
            let error = self.wrong(value.mark, format!("`{name}` is never {}", json::write(value)));
            let choices: Vec<String> = parameter.choices.iter().map(json::write).collect();
            self.errors.0.push(if choices.is_empty() {
                error.help(format!("it is {}", parameter.r#type.words()))
            } else {
                error.help(format!("it is one of {}", choices.join(", ")))
            });
        }
    }

    fn node(&mut self, node: &Node, own: &Own<'_>) {
        let mut found = Vec::new();
        names(node, &mut found);
        for mark in malformed(node) {
            let error = self.wrong(mark, "`${` must hold a name and end with `}`".to_owned());
            self.errors.0.push(error.help("write `$${` where the text `${` is meant"));
        }
        for (name, mark) in found {
            self.name(&name, &format!("${{{name}}}"), mark, own);
        }
    }

    fn text(&mut self, text: &str, mark: Mark, own: &Own<'_>) {
        self.node(&Node { value: Value::String(text.into()), mark }, own);
    }

    fn name(&mut self, name: &str, shown: &str, mark: Mark, own: &Own<'_>) {
        let first = name.split('.').next().unwrap_or_default();
        let private = own.page.is_some_and(|page| page.parameters.contains_key(name));
        if own.names.contains(first) {
            return;
        }
        if BUILT_IN.contains(&first) {
            if first != "images" && !KNOWN.contains(&name) {
                let error = self.wrong(mark, format!("`{shown}` stands for nothing"));
                let near = nearest(name, KNOWN).map(|near| shown.replace(name, near));
                self.errors.0.push(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("there are {}", KNOWN.join(", "))),
                });
            }
            return;
        }
        if private || self.context.profiles.declares(name) {
            self.used.insert(name.to_owned());
            return;
        }
        let error = self.wrong(mark, format!("`{shown}` stands for nothing"));
        let mut pages = self.context.payload.pages.values();
        let known = own.names.iter().copied().chain(self.context.parameters.names());
        let owner = pages.find(|page| page.parameters.contains_key(name));
        self.errors.0.push(match (owner, nearest(name, known)) {
            (Some(page), _) => {
                error.help(format!("it is a parameter of the page of `{}` alone", page.name()))
            }
            (None, Some(near)) => error.help(format!("did you mean `{}`?", shown.replace(name, near))),
            (None, None) => error.help("declare it as a parameter"),
        });
    }

    /// A name may mean one thing only.
    fn clash(&mut self, name: &str, mark: Mark) {
        let group = format!("{name}.");
        let parameter =
            self.context.parameters.names().any(|other| other == name || other.starts_with(&group));
        // An input may be called what its type is called.
        let built_in = BUILT_IN.contains(&name) && !matches!(name, "container" | "workload");
        if parameter || built_in {
            let whose = if built_in { "the language" } else { "a parameter" };
            let error = self.wrong(mark, format!("`{name}` is already a name of {whose}"));
            self.errors.0.push(error.help("call it something else"));
        }
    }

    /// `in` that names no profile would silently limit its entry to nothing.
    fn profiles(&mut self, profiles: &[Marked<String>]) {
        let known = || self.context.profiles.iter().flat_map(|profile| &profile.lineage).map(String::as_str);
        let unknown: Vec<Diagnostic> = profiles
            .iter()
            .filter(|name| !known().any(|other| other == name.value))
            .map(|name| {
                let error = self.wrong(name.mark, format!("there is no profile `{}`", name.value));
                match nearest(&name.value, known()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help("`in` names profiles, or those that they extend"),
                }
            })
            .collect();
        self.errors.0.extend(unknown);
    }

    fn report_unused(&mut self) {
        let declared = self.context.profiles.declared();
        let private = self.context.payload.pages.values().flat_map(|page| &page.parameters);
        let unused: Vec<(&String, &Marked<Parameter>)> =
            declared.iter().chain(private).filter(|(name, _)| !self.used.contains(*name)).collect();
        for (name, parameter) in unused {
            let error = self.wrong(parameter.mark, format!("nobody uses the parameter `{name}`"));
            self.errors.0.push(error.help("remove it; whoever sets it would wonder why nothing happens"));
        }
    }

    fn wrong(&self, mark: Mark, message: String) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.context.sources))
    }
}
