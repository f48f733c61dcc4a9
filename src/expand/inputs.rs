//! The inputs of one use of a fragment: reads and checks the given values, and finds those that are not given.

use std::collections::BTreeMap;

use super::built_in::first_segment;
use super::variables::Variables;
use crate::diagnostic::{Diagnostic, Location};
use crate::language::template::{self, Lookup, substitute};
use crate::language::{Fragment, Input, Marked, Use, ValueType, Visibility};
use crate::yaml::{Mark, Node, Sources, Value};

/// Returns the values that a use gives to the inputs of a fragment, with `${…}` filled in. Absent values are left out.
pub(super) fn given_inputs(
    entry: &Marked<Use>,
    fragment: &Fragment,
    caller: &Variables<'_>,
) -> Result<BTreeMap<String, Node>, Diagnostic> {
    let sources = caller.view.context.sources;
    let mut given = BTreeMap::new();
    for (name, node) in &entry.value.inputs {
        if !fragment.body.inputs.contains_key(name) {
            return Err(unknown_input(name, node.mark, fragment, sources));
        }
        if let Some(value) = substitute(&node.value, caller, sources)? {
            given.insert(name.clone(), value);
        }
    }
    for (name, node) in &entry.value.inputs {
        if let Some(input) = fragment.body.inputs.get(name) {
            check_not_empty(name, &input.value, &node.value, sources)?;
        }
    }
    Ok(given)
}

/// Refuses an empty list that the user wrote, because the use would do nothing. A list from a `${…}` may be empty.
fn check_not_empty(name: &str, input: &Input, node: &Node, sources: &Sources) -> Result<(), Diagnostic> {
    let is_empty = node.as_list().is_some_and(<[Node]>::is_empty);
    if is_empty && (input.is_required() || !input.takes_list()) {
        let message = format!("the input `{name}` is empty, so the fragment would do nothing");
        return Err(Diagnostic::error(message)
            .at(Location::of(node.mark, sources))
            .help("remove the use, or give the input a value"));
    }
    Ok(())
}

/// Returns one set of values per use: a list for an input that takes no list uses the fragment once for each item.
pub(super) fn split_lists(
    given: BTreeMap<String, Node>,
    inputs: &BTreeMap<String, Marked<Input>>,
) -> Vec<BTreeMap<String, Node>> {
    let mut uses = vec![given.clone()];
    for (name, node) in given {
        let takes_list = inputs.get(&name).is_some_and(|input| input.value.takes_list());
        let Some(items) = node.as_list().filter(|_| !takes_list) else { continue };
        let mut split = Vec::with_capacity(uses.len() * items.len());
        for one in &uses {
            for item in items {
                let mut one = one.clone();
                one.insert(name.clone(), item.clone());
                split.push(one);
            }
        }
        uses = split;
    }
    uses
}

/// Returns the inputs in the order in which they are bound: those that are given, then each default after the inputs
/// that it mentions.
pub(super) fn in_binding_order<'f>(
    inputs: &'f BTreeMap<String, Marked<Input>>,
    given: &BTreeMap<String, Node>,
) -> Vec<(&'f String, &'f Marked<Input>)> {
    let (mut ordered, mut waiting): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|(name, _)| given.contains_key(*name));
    while !waiting.is_empty() {
        let names: Vec<&str> = waiting.iter().map(|(name, _)| name.as_str()).collect();
        let (ready, blocked): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, input)| !mentions_any(&input.value, &names));
        // Defaults that mention each other are bound in any order, and binding fails.
        let is_cycle = ready.is_empty();
        ordered.extend(ready);
        if is_cycle {
            ordered.extend(blocked);
            break;
        }
        waiting = blocked;
    }
    ordered
}

/// Returns whether the default of an input mentions one of the names.
fn mentions_any(input: &Input, names: &[&str]) -> bool {
    let mut mentioned = Vec::new();
    if let Some(default) = &input.default {
        template::names(default, &mut mentioned);
    }
    mentioned.iter().any(|(name, _)| names.contains(&first_segment(name)))
}

/// Checks a value against the declaration of its input.
pub(super) fn check_input(
    name: &str,
    input: &Input,
    value: &Node,
    visibility: Visibility,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    input.rules().validate(value, visibility).map_err(|invalid| {
        Diagnostic::error(format!("the input `{name}` {invalid}")).at(Location::of(invalid.mark, sources))
    })
}

/// Returns the value of an input that is not given: that of the page or fragment that uses the fragment, if the input
/// inherits it; its default; or a value from the workload in scope.
pub(super) fn value_not_given(
    name: &str,
    input: &Input,
    mark: Mark,
    caller: &Variables<'_>,
    bound: &Variables<'_>,
) -> Result<Option<Node>, Diagnostic> {
    let sources = bound.view.context.sources;
    if input.inherit
        && let Some(Lookup::Value(value)) = caller.local.get(name)
    {
        let value = Node { mark, ..value.clone() };
        check_input(name, input, &value, Visibility::Hidden, sources)?;
        return Ok(Some(value));
    }
    if let Some(default) = &input.default {
        let value = substitute(default, bound, sources)?;
        if let Some(value) = &value {
            check_input(name, input, value, Visibility::Hidden, sources)?;
        }
        return Ok(value);
    }
    Ok(value_from_workload(input, bound).map(|text| Node::new(Value::String(text.into()), mark)))
}

fn value_from_workload(input: &Input, bound: &Variables<'_>) -> Option<String> {
    let workload = bound.workload.as_ref()?;
    match input.r#type {
        ValueType::Workload => Some(format!("{}/{}", workload.id.kind, workload.id.name)),
        ValueType::Container => workload.only_container().map(str::to_owned),
        _ => None,
    }
}

/// Returns the error for a required input without a value.
pub(super) fn missing_input(
    name: &str,
    input: &Input,
    mark: Mark,
    bound: &Variables<'_>,
    fragment: &Fragment,
) -> Diagnostic {
    let message = format!("the fragment `{}` needs the input `{name}`", fragment.name());
    let error = Diagnostic::error(message).at(Location::of(mark, bound.view.context.sources));
    match (input.r#type, &bound.workload) {
        (ValueType::Container, Some(workload)) => error.help(format!(
            "{}/{} has more than one container: name one of them",
            workload.id.kind, workload.id.name
        )),
        (ValueType::Container | ValueType::Workload, None) => error
            .note("there is no workload in scope")
            .help("name the workload: set `workload` under `values` of the page, or give it to the fragment"),
        _ => error,
    }
}

/// Returns the error for an input that a fragment does not have.
pub(super) fn unknown_input(input: &str, mark: Mark, fragment: &Fragment, sources: &Sources) -> Diagnostic {
    let known: Vec<&str> = fragment.body.inputs.keys().map(String::as_str).collect();
    let help = if known.is_empty() {
        "it has no inputs".to_owned()
    } else {
        format!("its inputs are {}", known.join(", "))
    };
    Diagnostic::error(format!("the fragment `{}` has no input `{input}`", fragment.name()))
        .at(Location::of(mark, sources))
        .help(help)
        .suggest(input, known)
}
