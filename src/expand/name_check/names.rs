//! Checks one name or condition against inputs, values, built-in names and parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::NameChecker;
use crate::expand::built_in::{BuiltIn, IMAGES, first_segment};
use crate::language::{Condition, FragmentFile, Input, Marked, Page, ValueRules};
use crate::nearest::nearest;
use crate::yaml::{Mark, json};

/// The names that one file defines, beside built-in names and shared parameters.
#[derive(Default)]
pub(super) struct LocalNames<'a> {
    /// Inputs and values.
    names: BTreeSet<&'a str>,
    /// The page, whose own parameters are defined.
    page: Option<&'a Page>,
    inputs: Option<&'a BTreeMap<String, Marked<Input>>>,
}

impl<'a> LocalNames<'a> {
    pub(super) fn of_fragment(body: &'a FragmentFile) -> Self {
        let names = body.inputs.keys().chain(body.values.keys()).map(String::as_str).collect();
        Self { names, page: None, inputs: Some(&body.inputs) }
    }

    pub(super) fn of_page(page: &'a Page) -> Self {
        let names = page.values.keys().map(String::as_str).collect();
        Self { names, page: Some(page), inputs: None }
    }

    pub(super) fn of_page_without_values(page: &'a Page) -> Self {
        Self { names: BTreeSet::new(), page: Some(page), inputs: None }
    }
}

impl NameChecker<'_> {
    /// Reports a name that is not defined. `shown` is the name as the user wrote it, with or without `${}`.
    pub(super) fn check_name(&mut self, name: &str, shown: &str, mark: Mark, local: &LocalNames<'_>) {
        let first = first_segment(name);
        if local.names.contains(first) {
            return;
        }
        if BuiltIn::is_group(first) {
            self.check_built_in(name, shown, mark);
            return;
        }
        let is_page_parameter = local.page.is_some_and(|page| page.parameters.contains_key(name));
        if is_page_parameter || self.context.profiles.declares(name) {
            self.used_parameters.insert(name.to_owned());
            return;
        }
        let mut pages = self.context.payload.pages.values();
        let known = local.names.iter().copied().chain(self.context.parameters.names());
        let help = if let Some(page) = pages.find(|page| page.parameters.contains_key(name)) {
            format!("only the page of `{}` can use this parameter", page.name())
        } else if let Some(near) = nearest(name, known) {
            format!("did you mean `{}`?", shown.replace(name, near))
        } else if local.page.is_some() && shown.starts_with("${") {
            format!(
                "declare it as a parameter or under `values` of the page; write `${shown}` for the text itself"
            )
        } else {
            "declare it as a parameter".to_owned()
        };
        let error = self.error(mark, format!("`{shown}` is not defined"));
        self.errors.0.push(error.help(help));
    }

    fn check_built_in(&mut self, name: &str, shown: &str, mark: Mark) {
        // The images of the release are only known when it is rendered.
        if BuiltIn::named(name).is_some() || first_segment(name) == IMAGES {
            return;
        }
        let help = match nearest(name, BuiltIn::names()) {
            Some(near) => format!("did you mean `{}`?", shown.replace(name, near)),
            None => format!("the built-in names are {}", BuiltIn::names().collect::<Vec<_>>().join(", ")),
        };
        let error = self.error(mark, format!("`{shown}` is not defined"));
        self.errors.0.push(error.help(help));
    }

    /// Reports a condition that can never hold, because the name cannot have the value.
    pub(super) fn check_condition(
        &mut self,
        name: &str,
        condition: &Marked<Condition>,
        local: &LocalNames<'_>,
    ) {
        let Condition::AnyOf(values) = &condition.value else { return };
        let parameter = match local.page.and_then(|page| page.parameters.get(name)) {
            Some(parameter) => Some(parameter),
            None => self.context.profiles.declared().get(name),
        };
        let rules = if let Some(input) = local.inputs.and_then(|inputs| inputs.get(name)) {
            input.value.rules()
        } else if let Some(r#type) = BuiltIn::type_of(name) {
            ValueRules::of_type(r#type)
        } else if let Some(parameter) = parameter {
            parameter.value.rules()
        } else {
            return;
        };
        for value in values.iter().filter(|value| !rules.can_be(value)) {
            let error = self.error(value.mark, format!("`{name}` can never be {}", json::write(value)));
            self.errors.0.push(error.help(format!("`{name}` is {}", rules.expected())));
        }
    }

    /// Reports the name of an input or value that a parameter or a built-in name has already.
    pub(super) fn check_name_is_free(&mut self, name: &str, mark: Mark) {
        let group = format!("{name}.");
        // An input may have the name of its type.
        let owner = if BuiltIn::is_group(name) && !matches!(name, "container" | "volume" | "workload") {
            "a built-in name"
        } else if self.context.parameters.names().any(|other| other == name || other.starts_with(&group)) {
            "a parameter"
        } else {
            return;
        };
        let error = self.error(mark, format!("`{name}` is already {owner}"));
        self.errors.0.push(error.help("use another name"));
    }

    /// Reports a parameter of a page if another page or a Parameters file declares the same name.
    pub(super) fn check_page_parameters(&mut self, page: &Page) {
        for (name, parameter) in &page.parameters {
            let shared = self.context.profiles.declared().get(name);
            let mut pages =
                self.context.payload.pages.values().take_while(|other| other.name() != page.name());
            let first = shared.or_else(|| pages.find_map(|other| other.parameters.get(name)));
            if let Some(first) = first {
                let error = self.error(parameter.mark, format!("the parameter `{name}` is declared twice"));
                let first = self.context.sources.show(first.mark);
                self.errors.0.push(error.note(format!("the first is at {first}")));
            }
        }
    }

    /// Checks a group of parameters that an intent uses as a whole.
    pub(super) fn check_group(&mut self, group: &str, mark: Mark) {
        let prefix = format!("{group}.");
        let names = self.context.parameters.names();
        let members: Vec<String> =
            names.filter(|name| name.starts_with(&prefix)).map(str::to_owned).collect();
        if members.is_empty() {
            let error = self.error(mark, format!("there is no group of parameters `{group}`"));
            self.errors.0.push(error.help(format!("declare `{prefix}…` in a Parameters file")));
        }
        self.used_parameters.extend(members);
    }

    /// Reports declared parameters that nothing uses.
    pub(super) fn report_unused_parameters(&mut self) {
        let of_pages = self.context.payload.pages.values().flat_map(|page| &page.parameters);
        for (name, parameter) in self.context.profiles.declared().iter().chain(of_pages) {
            // Any manifest may have an image with this tag.
            let is_image = first_segment(name) == IMAGES;
            if !is_image && !self.used_parameters.contains(name) {
                let error = self.error(parameter.mark, format!("nothing uses the parameter `{name}`"));
                self.errors.0.push(error.note("setting it has no effect").help("remove it"));
            }
        }
    }
}
