//! Checks that the fragments, profiles and kinds that files name exist.

use std::collections::BTreeSet;

use super::NameChecker;
use crate::expand::inputs::{check_input, unknown_input};
use crate::language::template::names;
use crate::language::{Fragment, Marked, Use, Visibility};
use crate::object::is_built_in_kind;
use crate::yaml::{Mark, Node};

impl NameChecker<'_> {
    pub(super) fn check_fragment_exists(&mut self, name: &str, mark: Mark, help: &str) {
        let fragments = &self.context.profiles.fragments;
        if !fragments.contains_key(name) {
            let error = self.error(mark, format!("there is no fragment `{name}`"));
            let known = fragments.keys().map(String::as_str);
            self.errors.0.push(error.help(help).suggest(name, known));
        }
    }

    pub(super) fn check_use(&mut self, entry: &Marked<Use>) {
        self.check_fragment_exists(&entry.value.fragment, entry.mark, "fragments are in profiles/fragments/");
        if let Some(fragment) = self.context.profiles.fragments.get(&entry.value.fragment) {
            self.check_inputs(entry, fragment);
        }
    }

    /// Checks the inputs of a use, as far as possible before values are filled in.
    fn check_inputs(&mut self, entry: &Marked<Use>, fragment: &Fragment) {
        let sources = self.context.sources;
        let mut has_unknown = false;
        for (name, given) in &entry.value.inputs {
            let Some(input) = fragment.body.inputs.get(name) else {
                self.errors.0.push(unknown_input(name, given.mark, fragment, sources));
                has_unknown = true;
                continue;
            };
            let mut mentioned = Vec::new();
            names(&given.value, &mut mentioned);
            if !mentioned.is_empty() {
                continue;
            }
            // A list for an input that takes no list uses the fragment once for each item.
            let values = match given.value.as_list() {
                Some(items) if !input.value.takes_list() => items,
                _ => std::slice::from_ref(&given.value),
            };
            for value in values {
                self.errors.ok_or_record(check_input(name, &input.value, value, Visibility::Shown, sources));
            }
        }
        // A misspelled input is also missing; one error is enough.
        if has_unknown {
            return;
        }
        for (name, input) in &fragment.body.inputs {
            if input.value.is_required() && !entry.value.inputs.contains_key(name) {
                let message = format!("the fragment `{}` needs the input `{name}`", fragment.name());
                self.errors.0.push(self.error(entry.mark, message));
            }
        }
    }

    /// Reports a kind that no object can have, because a policy for it would do nothing.
    pub(super) fn check_kind_exists(&mut self, kind: &str, mark: Mark) {
        if is_built_in_kind(kind) {
            return;
        }
        let known = self.known_kinds();
        if !known.contains(kind) {
            let error = self.error(mark, format!("there is no kind `{kind}`"));
            let help = "Kubernetes does not have it, and no manifest or addition uses it";
            self.errors.0.push(error.help(help).suggest(kind, known));
        }
    }

    /// Returns the kinds of all manifests and of all objects that pages and fragments add.
    fn known_kinds(&self) -> BTreeSet<&str> {
        let mut kinds: BTreeSet<&str> = BTreeSet::new();
        kinds.extend(self.context.payload.manifests.iter().map(|manifest| manifest.id.kind.as_str()));
        let mut additions = Vec::new();
        for fragment in self.context.profiles.fragments.values() {
            kinds.extend(fragment.manifests.iter().filter_map(|manifest| kind_of(&manifest.root)));
            additions.extend(&fragment.body.adds);
        }
        additions.extend(self.context.payload.pages.values().flat_map(|page| &page.adds));
        for addition in additions {
            kinds.extend(addition.value.objects.iter().filter_map(kind_of));
        }
        kinds
    }

    /// Reports names in `in` that are not profiles, because such an entry would never apply.
    pub(super) fn check_profiles_exist(&mut self, profiles: &[Marked<String>]) {
        let known: Vec<&str> =
            self.context.profiles.iter().flat_map(|profile| &profile.lineage).map(String::as_str).collect();
        for name in profiles {
            if !known.contains(&name.value.as_str()) {
                let error = self.error(name.mark, format!("there is no profile `{}`", name.value));
                let help = "`in` names profiles, or profiles that they extend";
                self.errors.0.push(error.help(help).suggest(&name.value, known.iter().copied()));
            }
        }
    }
}

fn kind_of(node: &Node) -> Option<&str> {
    node.get("kind")?.as_str()
}
