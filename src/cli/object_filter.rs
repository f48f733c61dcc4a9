//! `--component` and `--object`: which of the rendered objects `apply` applies.

use crate::diagnostic::Diagnostic;
use crate::language::Selector;
use crate::object::Object;
use crate::order::Plan;
use clap::Args;

/// Flags that select some of the rendered objects
#[derive(Args)]
pub(super) struct ObjectFilter {
    /// Apply only the objects of this component; repeatable. Never prunes
    #[arg(long, value_name = "NAME", conflicts_with = "prune", help_heading = "Partial apply")]
    component: Vec<String>,
    /// Apply only these objects; repeatable. With --component, only those that both select. Never prunes
    #[arg(long, value_name = "KIND[/NAME]", conflicts_with = "prune", help_heading = "Partial apply")]
    object: Vec<Selector>,
}

impl ObjectFilter {
    /// Returns whether the flags select only some objects.
    pub(super) fn is_partial(&self) -> bool {
        !self.component.is_empty() || !self.object.is_empty()
    }

    /// Returns the plans with only the selected objects. An error names a flag that selects nothing.
    pub(super) fn apply(&self, plans: Vec<Plan>) -> Result<Vec<Plan>, Diagnostic> {
        if !self.is_partial() {
            return Ok(plans);
        }
        self.check(&plans)?;
        let plans: Vec<Plan> =
            plans.into_iter().map(|plan| plan.filtered(|object| self.selects(object))).collect();
        if plans.iter().all(|plan| plan.objects.is_empty()) {
            return Err(Diagnostic::error("no object is selected by both --component and --object")
                .note("with both flags, `apply` applies only the objects that both select")
                .help("remove one of the flags"));
        }
        Ok(plans)
    }

    fn selects(&self, object: &Object) -> bool {
        let of_component = self.component.is_empty() || self.component.contains(&object.component);
        of_component && (self.object.is_empty() || self.object.iter().any(|one| one.matches(&object.id)))
    }

    /// Refuses a flag that selects nothing: it is probably misspelled.
    fn check(&self, plans: &[Plan]) -> Result<(), Diagnostic> {
        let objects = || plans.iter().flat_map(|plan| &plan.objects);
        for component in &self.component {
            if !objects().any(|object| object.component == *component) {
                let names = objects().map(|object| object.component.as_str());
                return Err(Diagnostic::error(format!(
                    "no object is rendered for the component `{component}`"
                ))
                .help("run `transship list` to see all objects")
                .suggest(component, names));
            }
        }
        for selector in &self.object {
            if !objects().any(|object| selector.matches(&object.id)) {
                let names: Vec<String> = objects().map(|object| same_form(selector, object)).collect();
                return Err(Diagnostic::error(format!("no rendered object is `{selector}`"))
                    .help("run `transship list` to see all objects")
                    .suggest(&selector.to_string(), names.iter().map(String::as_str)));
            }
        }
        Ok(())
    }
}

/// Returns the selector of an object with the parts that another selector has.
fn same_form(selector: &Selector, object: &Object) -> String {
    let id = &object.id;
    let form = Selector {
        kind: id.kind.clone(),
        group: selector.group.as_ref().map(|_| id.group.clone()),
        namespace: selector.namespace.as_ref().map(|_| id.namespace.clone()),
        name: selector.name.as_ref().map(|_| id.name.clone()),
    };
    form.to_string()
}
