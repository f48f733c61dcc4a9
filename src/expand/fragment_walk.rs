//! From one use of a fragment to the next: inputs are bound, parts and fragments visited.

use std::collections::BTreeMap;

use super::variables::{Variables, Workload};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::{self, Lookup, substitute};
use crate::language::{Addition, Fragment, Input, InputType, Marked, Use, unmet};
use crate::nearest::nearest;
use crate::object::{ObjectId, has_pods};
use crate::payload::Manifest;
use crate::yaml::{Mark, Node, Sources, Value, json};

/// Fragments may use fragments, but not without end.
const DEEPEST: usize = 5;

/// Looks at every part and every fragment that a page comes to, in the order in which they are written.
pub(super) trait Visitor {
    /// A part that holds in this profile.
    fn part(
        &mut self,
        part: &Marked<Addition>,
        names: &Variables<'_>,
        uses: &[Mark],
    ) -> Result<(), Diagnostic>;

    /// A fragment with its inputs bound.
    fn fragment(&mut self, fragment: &Fragment, names: &Variables<'_>) -> Result<(), Diagnostic>;
}

/// A walk through what a component uses.
pub(super) struct Walk<'w, V> {
    /// The component's manifests, in which workloads and objects are looked up.
    pub(super) manifests: Vec<&'w Manifest>,
    /// Objects that are meant where a name alone does not tell.
    pub(super) meant: &'w [ObjectId],
    /// Whether a workload that is not there is an error: while shapes are written out, it may still come.
    pub(super) complete: bool,
    pub(super) visitor: V,
    pub(super) errors: Diagnostics,
}

impl<V: Visitor> Walk<'_, V> {
    /// Own parts first, then what is used, in the order in which they are written.
    pub(super) fn body(
        &mut self,
        parts: &[Marked<Addition>],
        uses: &[Marked<Use>],
        names: &Variables<'_>,
        above: &[Mark],
    ) {
        for part in parts {
            if let Err(error) = self.part(part, names, above) {
                self.errors.0.push(error);
            }
        }
        for entry in uses {
            self.fragment(entry, names, above);
        }
    }

    fn part(
        &mut self,
        part: &Marked<Addition>,
        names: &Variables<'_>,
        above: &[Mark],
    ) -> Result<(), Diagnostic> {
        let view = names.view;
        if !view.profile.is_in(&part.value.profiles)
            || unmet(&part.value.when, names, view.context.sources)?.is_some()
        {
            return Ok(());
        }
        self.visitor.part(part, names, above)?;
        for entry in &part.value.uses {
            self.fragment(entry, names, above);
        }
        Ok(())
    }

    /// One use of a fragment; a list given to an input that takes no list uses it once for each item.
    pub(super) fn fragment(&mut self, entry: &Marked<Use>, names: &Variables<'_>, above: &[Mark]) {
        if let Err(error) = self.try_fragment(entry, names, above) {
            self.errors.0.push(error);
        }
    }

    fn try_fragment(
        &mut self,
        entry: &Marked<Use>,
        names: &Variables<'_>,
        above: &[Mark],
    ) -> Result<(), Diagnostic> {
        let view = names.view;
        let name = &entry.value.fragment;
        let fragments = &view.context.profiles.fragments;
        let Some(fragment) = fragments.get(name) else {
            let error = wrong(names, entry.mark, &format!("there is no fragment `{name}`"));
            return Err(match nearest(name, fragments.keys().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("fragments are in profiles/fragments/"),
            });
        };
        if above.len() == DEEPEST {
            let message = format!("fragments use each other more than {DEEPEST} deep");
            return Err(wrong(names, entry.mark, &message));
        }
        // While shapes are written out, words need not be understood: the workload they speak of may still come.
        if !self.complete && !brings_manifests(fragment, fragments, DEEPEST) {
            return Ok(());
        }
        let mut given = BTreeMap::new();
        for (input, node) in &entry.value.inputs {
            if !fragment.body.inputs.contains_key(input) {
                return Err(unknown_input(input, node.mark, fragment, view.context.sources));
            }
            if let Some(value) = substitute(&node.value, names, view.context.sources)? {
                given.insert(input.clone(), value);
            }
        }
        let nothing = |(name, node): (&String, &Node)| {
            let input = &fragment.body.inputs.get(name)?.value;
            let idle = node.as_list().is_some_and(<[Node]>::is_empty)
                && (input.is_required() || !input.takes_list());
            idle.then(|| {
                wrong(names, node.mark, &format!("the input `{name}` is empty, so nothing would happen"))
            })
        };
        // A list that came by way of a name may be empty; what somebody writes means something.
        let mut written = entry.value.inputs.iter().map(|(name, node)| (name, &node.value));
        if let Some(error) = written.find_map(nothing) {
            return Err(error.help("remove the use, or say what it is for"));
        }
        let above: Vec<Mark> = above.iter().copied().chain([entry.mark]).collect();
        for given in one_by_one(&given, &fragment.body.inputs) {
            let bound = self.bind(fragment, given, entry.mark, names)?;
            self.visitor.fragment(fragment, &bound)?;
            self.body(&fragment.body.adds, &fragment.body.uses, &bound, &above);
        }
        Ok(())
    }

    /// Gives every input of a fragment its value, then its own values theirs.
    fn bind<'a>(
        &self,
        fragment: &Fragment,
        mut given: BTreeMap<String, Node>,
        mark: Mark,
        user: &Variables<'a>,
    ) -> Result<Variables<'a>, Diagnostic> {
        let mut bound =
            Variables { workload: user.workload.clone(), ..Variables::of(user.view, user.component) };
        if let Some(node) = given.get("workload") {
            bound.workload = Some(self.workload(node, user)?);
        }
        for (name, input) in in_order(&fragment.body.inputs, &given) {
            let value = match given.remove(name) {
                Some(node) => Some(checked(name, &input.value, node, false, bound.view.context.sources)?),
                None => missing(name, &input.value, mark, user, &bound, fragment)?,
            };
            self.put(name, &input.value, value, &mut bound)?;
        }
        self.values(&fragment.body.values, &mut bound)?;
        Ok(bound)
    }

    /// Binds the values of a page or fragment; one of them may be its workload.
    pub(super) fn values(
        &self,
        values: &BTreeMap<String, Marked<Node>>,
        names: &mut Variables<'_>,
    ) -> Result<(), Diagnostic> {
        let mut bound = Vec::new();
        for (name, node) in values {
            bound.push((name, substitute(&node.value, names, names.view.context.sources)?));
        }
        // Only now: values do not see each other, so their order cannot matter.
        for (name, node) in bound {
            if let (Some(node), "workload") = (&node, name.as_str()) {
                names.workload = match self.workload(node, names) {
                    Err(error) if self.complete => return Err(error),
                    found => found.ok(),
                };
            }
            let value = node.map_or(Lookup::Absent, |node| Lookup::Value(node.value));
            names.own.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Makes an input known under its name, and what can be said of it under names behind a dot.
    fn put(
        &self,
        name: &str,
        input: &Input,
        value: Option<Node>,
        names: &mut Variables<'_>,
    ) -> Result<(), Diagnostic> {
        let Some(node) = value else {
            names.own.insert(name.to_owned(), Lookup::Absent);
            return Ok(());
        };
        match (input.r#type, node.as_str().map(str::to_owned)) {
            (InputType::Image, Some(tag)) => {
                for suffix in ["", ".guest", ".management"] {
                    let pullspec = names
                        .image(&format!("{tag}{suffix}"))
                        .map_err(|why| wrong(names, node.mark, &format!("`{tag}` is no image")).help(why))?;
                    names.own.insert(format!("{name}{suffix}"), pullspec);
                }
            }
            (InputType::Object | InputType::Workload, Some(text)) => {
                let is_object = input.r#type == InputType::Object;
                let object = self.object(&text, node.mark, names, is_object)?;
                let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
                let fields = [
                    ("name", object.id.name.as_str()),
                    ("namespace", &object.id.namespace),
                    ("kind", &object.id.kind),
                    ("apiVersion", api_version),
                    ("serviceAccount", object.service_account()),
                ];
                for (field, text) in fields {
                    let value = Lookup::Value(Value::String(text.into()));
                    names.own.insert(format!("{name}.{field}"), value);
                }
                names.own.insert(name.to_owned(), Lookup::Value(node.value));
            }
            _ => {
                names.own.insert(name.to_owned(), Lookup::Value(node.value));
            }
        }
        Ok(())
    }

    /// The workload that a text such as `Deployment/name` means, among the component's manifests.
    fn workload(&self, node: &Node, names: &Variables<'_>) -> Result<Workload, Diagnostic> {
        let text = node.as_str().unwrap_or_default();
        let found = self.object(text, node.mark, names, false)?;
        if has_pods(&found.id.kind) {
            return Ok(found);
        }
        Err(wrong(names, node.mark, &format!("`{text}` has no pods"))
            .help("name a Deployment, DaemonSet or the like"))
    }

    /// The manifest that `Kind/name` or `Kind.group/name` means: the component's, or where it may be any, another's.
    fn object(
        &self,
        text: &str,
        mark: Mark,
        names: &Variables<'_>,
        any: bool,
    ) -> Result<Workload, Diagnostic> {
        let shown = |manifest: &Manifest| format!("{}/{}", manifest.id.kind, manifest.id.name);
        let (kind, name) = text.split_once('/').unwrap_or((text, ""));
        let (kind, group) = kind.split_once('.').map_or((kind, None), |(kind, group)| (kind, Some(group)));
        let meant = |manifest: &&Manifest| {
            let id = &manifest.id;
            id.name == name && id.kind == kind && group.is_none_or(|group| group == id.group)
        };
        let own: Vec<&Manifest> = self.manifests.iter().copied().filter(meant).collect();
        let others = || names.view.payload.manifests.iter().filter(|_| any).filter(meant).collect();
        let found: Vec<&Manifest> = if own.is_empty() { others() } else { own };
        let exactly = found.iter().find(|manifest| self.meant.contains(&manifest.id));
        if let (None, [_, second, ..]) = (exactly, &found[..]) {
            return Err(wrong(
                names,
                mark,
                &format!("`{}` is the name of several objects", names.shown(text)),
            )
            .object(&second.id)
            .help("fragments name objects without a namespace: give them names of their own"));
        }
        exactly.or(found.first()).map(|manifest| Workload::of(manifest)).ok_or_else(|| {
            let known: Vec<String> = self.manifests.iter().map(|manifest| shown(manifest)).collect();
            let error = wrong(names, mark, &format!("the component has no `{}`", names.shown(text)));
            match nearest(text, known.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("name an object of the component as `Kind/name`"),
            }
        })
    }
}

/// Inputs in an order in which a default comes behind what it mentions: what is given, then defaults one by one.
fn in_order<'f>(
    inputs: &'f BTreeMap<String, Marked<Input>>,
    given: &BTreeMap<String, Node>,
) -> Vec<(&'f String, &'f Marked<Input>)> {
    let (mut ordered, mut waiting): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|(name, _)| given.contains_key(*name));
    while !waiting.is_empty() {
        let names: Vec<&String> = waiting.iter().map(|(name, _)| *name).collect();
        let ready = |(_, input): &(&String, &Marked<Input>)| {
            let mut mentioned = Vec::new();
            input.value.default.iter().for_each(|default| template::names(default, &mut mentioned));
            let first = |name: &String| name.split('.').next().unwrap_or_default().to_owned();
            !mentioned.iter().any(|(name, _)| names.contains(&&first(name)))
        };
        let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(ready);
        // Defaults that mention each other are bound as they come, and fail there.
        let stuck = now.is_empty();
        ordered.extend(now);
        waiting = if stuck {
            ordered.extend(later);
            Vec::new()
        } else {
            later
        };
    }
    ordered
}

/// A value that is what the input says.
///
/// A value that came by way of names is not repeated in a message: it may be a secret.
pub(super) fn checked(
    name: &str,
    input: &Input,
    node: Node,
    literal: bool,
    sources: &Sources,
) -> Result<Node, Diagnostic> {
    let wrong = |message: String| Diagnostic::error(message).at(Location::of(node.mark, sources));
    if !input.r#type.accepts(&node.value) {
        return Err(match &node.value {
            Value::String(text) if literal && matches!(input.r#type, InputType::Name | InputType::Path) => {
                wrong(format!("the input `{name}` cannot be `{text}`"))
            }
            other => wrong(format!("the input `{name}` cannot be {}", other.kind())),
        });
    }
    if !input.choices.is_empty() && !input.choices.contains(&node) {
        let choices: Vec<String> = input.choices.iter().map(json::write).collect();
        let shown = if literal { json::write(&node) } else { node.value.kind().to_owned() };
        return Err(wrong(format!("the input `{name}` cannot be {shown}"))
            .help(format!("it is one of {}", choices.join(", "))));
    }
    let shown = |node: &Node| match node.as_str() {
        Some(text) if literal => format!("`{text}`"),
        _ => node.value.kind().to_owned(),
    };
    if let Some(pattern) = &input.pattern {
        let is_wrong = |item: &&Node| !item.as_str().is_some_and(|text| pattern.matches(text));
        let texts = node.as_list().unwrap_or(std::slice::from_ref(&node));
        if let Some(item) = texts.iter().find(is_wrong) {
            return Err(Diagnostic::error(format!("the input `{name}` cannot be {}", shown(item)))
                .at(Location::of(item.mark, sources))
                .help(format!("it must match {}", pattern.text)));
        }
    }
    let kind = node.as_str().and_then(|text| text.split(['.', '/']).next()).unwrap_or_default();
    if !input.kinds.is_empty() && !input.kinds.iter().any(|known| known == kind) {
        return Err(wrong(format!("the input `{name}` cannot be {}", shown(&node)))
            .help(format!("it is a {}", input.kinds.join(" or a "))));
    }
    Ok(node)
}

/// The value of an input that is not given: inherited, its default, or known from the workload.
fn missing(
    name: &str,
    input: &Input,
    mark: Mark,
    user: &Variables<'_>,
    bound: &Variables<'_>,
    fragment: &Fragment,
) -> Result<Option<Node>, Diagnostic> {
    if input.inherit
        && let Some(Lookup::Value(value)) = user.own.get(name)
    {
        return checked(name, input, Node { value: value.clone(), mark }, false, bound.view.context.sources)
            .map(Some);
    }
    if let Some(default) = &input.default {
        let node = substitute(default, bound, bound.view.context.sources)?;
        return node.map(|node| checked(name, input, node, false, bound.view.context.sources)).transpose();
    }
    let text = |text: &str| Some(Node { value: Value::String(text.into()), mark });
    let known = match (input.r#type, &bound.workload) {
        (InputType::Workload, Some(workload)) => text(&format!("{}/{}", workload.id.kind, workload.id.name)),
        (InputType::Container, Some(workload)) => workload.only_container().and_then(text),
        _ => None,
    };
    match known {
        Some(node) => Ok(Some(node)),
        None if input.optional => Ok(None),
        None => {
            let message = format!("the fragment `{}` needs the input `{name}`", fragment.name());
            let error = wrong(bound, mark, &message);
            Err(match (input.r#type, &bound.workload) {
                (InputType::Container, Some(workload)) => error.help(format!(
                    "{}/{} has more than one container: say which",
                    workload.id.kind, workload.id.name
                )),
                _ => error,
            })
        }
    }
}

/// Whether a fragment, or one that it uses, is a shape.
fn brings_manifests(fragment: &Fragment, all: &BTreeMap<String, Fragment>, depth: usize) -> bool {
    let body = &fragment.body;
    if !fragment.manifests.is_empty() || body.place.is_some() || !body.omit.0.is_empty() {
        return true;
    }
    let uses = body.uses.iter().chain(body.adds.iter().flat_map(|part| &part.value.uses));
    let mut inner = uses.filter_map(|entry| all.get(&entry.value.fragment));
    depth > 0 && inner.any(|inner| brings_manifests(inner, all, depth - 1))
}

/// What to say about an input that a fragment does not have.
pub(super) fn unknown_input(input: &str, mark: Mark, fragment: &Fragment, sources: &Sources) -> Diagnostic {
    let message = format!("the fragment `{}` has no input `{input}`", fragment.name());
    let error = Diagnostic::error(message).at(Location::of(mark, sources));
    let known: Vec<&str> = fragment.body.inputs.keys().map(String::as_str).collect();
    match nearest(input, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => error.help("it has none"),
        None => error.help(format!("its inputs are {}", known.join(", "))),
    }
}

/// Splits what is given where an input that takes no list got one.
fn one_by_one(
    given: &BTreeMap<String, Node>,
    inputs: &BTreeMap<String, Marked<Input>>,
) -> Vec<BTreeMap<String, Node>> {
    let takes_list = |name: &str| inputs.get(name).is_some_and(|input| input.value.takes_list());
    let mut all = vec![given.clone()];
    for (name, node) in given {
        let Some(items) = node.as_list().filter(|_| !takes_list(name)) else { continue };
        all = all
            .into_iter()
            .flat_map(|one| {
                items.iter().map(move |item| {
                    let mut one = one.clone();
                    one.insert(name.clone(), item.clone());
                    one
                })
            })
            .collect();
    }
    all
}

pub(super) fn wrong(names: &Variables<'_>, mark: Mark, message: &str) -> Diagnostic {
    Diagnostic::error(message).at(Location::of(mark, names.view.context.sources))
}
