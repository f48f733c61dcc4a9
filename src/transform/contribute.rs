//! What pages and fragments add: every use of a fragment becomes contributions, and every contribution is merged by
//! identity. They only add, so their order decides positions in lists and nothing else.

use std::collections::BTreeMap;

use super::Context;
use super::add;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::object::{Cluster, Object, ObjectId, Scope as KindScope, Scopes, pod, pod_mut};
use crate::payload::Manifest;
use crate::profile::template::{Lookup, Scope, substitute};
use crate::profile::{Component, Fragment, Input, InputType, Marked, Part, Place, Use, unmet};
use crate::yaml::{Entry, Mark, Node, Value};

/// Fragments may use fragments, but not without end.
const DEEPEST: usize = 5;

/// Adds what the pages of all components contribute.
pub(super) fn apply(objects: &mut Vec<Object>, context: &Context<'_>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let scopes = context.payload.scopes();
    for (component, page) in &context.payload.pages {
        // A component of which nothing is here contributes nothing.
        if !objects.iter().any(|object| object.component == *component) {
            continue;
        }
        let mut contributor = Contributor { context, component, page, scopes: &scopes, objects };
        let scope = Bindings { base: context, component, page, names: BTreeMap::new(), workload: None };
        errors.0.extend(contributor.body(&page.parts, &page.uses, &scope, 0).err());
    }
    errors.or(())
}

/// What names stand for inside a page or a fragment.
struct Bindings<'a> {
    base: &'a Context<'a>,
    component: &'a str,
    page: &'a Component,
    names: BTreeMap<String, Lookup>,
    workload: Option<&'a Manifest>,
}

impl Scope for Bindings<'_> {
    fn get(&self, name: &str) -> Result<Lookup, String> {
        let text = |text: &str| Ok(Lookup::Value(Value::String(text.into())));
        if let Some(value) = self.names.get(name) {
            return Ok(value.clone());
        }
        if let Some(tag) = name.strip_prefix("images.") {
            return match self.base.payload.release.as_ref().and_then(|release| release.images.tags.get(tag)) {
                Some(pullspec) => text(pullspec),
                None => Err(format!("the release has no image `{tag}`")),
            };
        }
        match (name, self.workload) {
            ("component.name", _) => text(self.component),
            ("component.owner", _) => text(self.page.owner()),
            ("workload.kind", Some(workload)) => text(&workload.id.kind),
            ("workload.name", Some(workload)) => text(&workload.id.name),
            ("workload.namespace", Some(workload)) => text(&workload.id.namespace),
            ("workload.serviceAccount", Some(workload)) => text(service_account(workload)),
            _ => self.base.parameters.get(name),
        }
    }
}

fn service_account(workload: &Manifest) -> &str {
    let account =
        pod(&workload.root, &workload.id.kind).and_then(|pod| pod.get("spec")?.get("serviceAccountName"));
    account.and_then(Node::as_str).unwrap_or("default")
}

struct Contributor<'a, 'o> {
    context: &'a Context<'a>,
    component: &'a str,
    page: &'a Component,
    scopes: &'a Scopes,
    objects: &'o mut Vec<Object>,
}

impl<'a> Contributor<'a, '_> {
    /// Own parts first, then what is used, in the order in which they are written.
    fn body(
        &mut self,
        parts: &[Marked<Part>],
        uses: &[Marked<Use>],
        scope: &Bindings<'a>,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        for part in parts {
            self.part(part, scope, depth)?;
        }
        uses.iter().try_for_each(|entry| self.fragment(entry, scope, depth))
    }

    fn part(&mut self, part: &Marked<Part>, scope: &Bindings<'a>, depth: usize) -> Result<(), Diagnostic> {
        let body = &part.value;
        let sources = self.context.sources;
        if !self.context.profile.is_in(&body.profiles) || unmet(&body.when, scope, sources)?.is_some() {
            return Ok(());
        }
        for (node, is_pod) in [(&body.pod, true), (&body.workload, false)] {
            let Some(node) = node else { continue };
            let workload = scope.workload.ok_or_else(|| {
                self.error(node.mark, "nobody says which workload this is for")
                    .help("give the input `workload`")
            })?;
            if let Some(node) = substitute(node, scope, sources)? {
                self.add_to_workload(workload, &node, is_pod)?;
            }
        }
        for node in &body.objects {
            if let Some(node) = substitute(node, scope, sources)? {
                self.object(node, part, scope)?;
            }
        }
        body.uses.iter().try_for_each(|entry| self.fragment(entry, scope, depth))
    }

    fn add_to_workload(&mut self, workload: &Manifest, node: &Node, is_pod: bool) -> Result<(), Diagnostic> {
        // A workload that lives elsewhere gets its part there.
        let Some(object) = self.objects.iter_mut().find(|object| object.id == workload.id) else {
            return Ok(());
        };
        let (id, sources) = (object.id.clone(), self.context.sources);
        let result = match (is_pod, &id.kind) {
            (true, kind) => {
                pod_mut(&mut object.root, kind).map_or(Ok(()), |pod| add::add_pod(pod, node, sources))
            }
            (false, _) => add::add(&mut object.root, node, sources),
        };
        result.map_err(|error| error.object(&id))
    }

    /// An object, whole or in part: merged into the one of its identity, or new.
    fn object(
        &mut self,
        mut node: Node,
        part: &Marked<Part>,
        scope: &Bindings<'a>,
    ) -> Result<(), Diagnostic> {
        let sources = self.context.sources;
        let (mut id, _) =
            ObjectId::of(&node).map_err(|error| self.error(error.mark, &error.message).help(error.help))?;
        let same = |other: &ObjectId| {
            other.group == id.group
                && other.kind == id.kind
                && other.name == id.name
                && (id.namespace.is_empty() || other.namespace == id.namespace)
        };
        if let Some(object) = self.objects.iter_mut().find(|object| same(&object.id)) {
            return add::add(&mut object.root, &node, sources).map_err(|error| error.object(&object.id));
        }
        let payload = self.context.payload;
        let elsewhere = payload
            .manifests
            .iter()
            .any(|manifest| payload.file(manifest).component == self.component && same(&manifest.id));
        let namespaced = self.scopes.of(&id.group, &id.kind) != Some(KindScope::Cluster);
        if elsewhere || !self.is_here(&id, part, namespaced)? {
            return Ok(());
        }
        if let (true, true, Some(workload)) = (namespaced, id.namespace.is_empty(), scope.workload) {
            id.namespace.clone_from(&workload.id.namespace);
            set_namespace(&mut node, &id.namespace);
        }
        self.insert(node, id, scope.workload);
        Ok(())
    }

    /// Whether a new object belongs into this profile's cluster: its part says so, the law does, or the page.
    fn is_here(&self, id: &ObjectId, part: &Marked<Part>, namespaced: bool) -> Result<bool, Diagnostic> {
        let cluster = self.context.profile.cluster;
        if cluster == Cluster::Both || !part.value.profiles.is_empty() {
            return Ok(true);
        }
        if !namespaced {
            return Ok(cluster == Cluster::Guest);
        }
        let entries = self.page.place.as_ref().map(|place: &Place| place.of(id)).unwrap_or_default();
        match entries[..] {
            [(_, home)] => Ok(home == Cluster::Both || home == cluster),
            _ => Err(self
                .error(part.mark, "nobody says in which cluster this new object lives")
                .object(id)
                .help("limit its part with `in`, or name it under `place` in the page")),
        }
    }

    /// A new object comes right before the workload it is for, and with its run-level.
    fn insert(&mut self, root: Node, id: ObjectId, workload: Option<&Manifest>) {
        let own = |object: &Object| object.component == self.component;
        let before =
            workload.and_then(|workload| self.objects.iter().position(|object| object.id == workload.id));
        let last = self.objects.iter().rposition(own).map_or(self.objects.len(), |last| last + 1);
        let at = before.unwrap_or(last);
        let file =
            self.objects.get(at.min(self.objects.len().saturating_sub(1))).map(|object| object.file.clone());
        let object = Object {
            root,
            id,
            cluster: self.context.profile.cluster,
            component: self.component.to_owned(),
            file: file.unwrap_or_default(),
            document: 0,
            manifest: None,
        };
        self.objects.insert(at, object);
    }

    /// One use of a fragment; a list given to an input that takes no list uses it once for each item.
    fn fragment(
        &mut self,
        entry: &Marked<Use>,
        scope: &Bindings<'a>,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        let name = &entry.value.fragment;
        let fragments = self.context.fragments;
        let Some(fragment) = fragments.get(name) else {
            let error = self.error(entry.mark, &format!("there is no fragment `{name}`"));
            return Err(match nearest(name, fragments.keys().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("fragments are in profiles/fragments/"),
            });
        };
        if depth == DEEPEST {
            return Err(self.error(entry.mark, &format!("fragments use each other more than {DEEPEST} deep")));
        }
        let mut given = BTreeMap::new();
        for (input, node) in &entry.value.inputs {
            self.input_exists(input, node.mark, &fragment.value)?;
            if let Some(value) = substitute(&node.value, scope, self.context.sources)? {
                given.insert(input.clone(), value);
            }
        }
        for given in one_by_one(given, &fragment.value.inputs) {
            let bound = self.bind(&fragment.value, given, entry.mark, scope)?;
            self.body(&fragment.value.parts, &fragment.value.uses, &bound, depth + 1)?;
        }
        Ok(())
    }

    fn input_exists(&self, input: &str, mark: Mark, fragment: &Fragment) -> Result<(), Diagnostic> {
        if fragment.inputs.contains_key(input) {
            return Ok(());
        }
        let error = self.error(mark, &format!("the fragment `{}` has no input `{input}`", fragment.name()));
        let known: Vec<&str> = fragment.inputs.keys().map(String::as_str).collect();
        Err(match nearest(input, known.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("its inputs are {}", known.join(", "))),
        })
    }

    /// Gives every input of a fragment its value.
    fn bind(
        &self,
        fragment: &Fragment,
        mut given: BTreeMap<String, Node>,
        mark: Mark,
        user: &Bindings<'a>,
    ) -> Result<Bindings<'a>, Diagnostic> {
        let workload = match given.get("workload") {
            Some(node) => Some(self.workload(node)?),
            None => user.workload,
        };
        let names = BTreeMap::new();
        let mut bound =
            Bindings { base: self.context, component: self.component, page: self.page, names, workload };
        // What is given first: a default may mention it.
        for given_first in [true, false] {
            for (name, input) in &fragment.inputs {
                if given.contains_key(name) != given_first || bound.names.contains_key(name) {
                    continue;
                }
                let value = match given.remove(name) {
                    Some(node) => self.checked(name, &input.value, node)?,
                    None => self.missing(name, &input.value, mark, user, &bound, fragment)?,
                };
                bound.names.insert(name.clone(), value);
            }
        }
        Ok(bound)
    }

    fn checked(&self, name: &str, input: &Input, node: Node) -> Result<Lookup, Diagnostic> {
        if input.r#type.accepts(&node.value) {
            return Ok(Lookup::Value(node.value));
        }
        Err(self.error(node.mark, &format!("the input `{name}` cannot be {}", node.value.kind())))
    }

    fn missing(
        &self,
        name: &str,
        input: &Input,
        mark: Mark,
        user: &Bindings<'a>,
        bound: &Bindings<'a>,
        fragment: &Fragment,
    ) -> Result<Lookup, Diagnostic> {
        if input.inherit
            && let Some(value) = user.names.get(name)
        {
            return Ok(value.clone());
        }
        if let Some(default) = &input.default {
            let node = substitute(default, bound, self.context.sources)?;
            return node.map_or(Ok(Lookup::Absent), |node| self.checked(name, input, node));
        }
        let found = match (input.r#type, bound.workload) {
            (InputType::Workload, Some(workload)) => {
                Some(format!("{}/{}", workload.id.kind, workload.id.name))
            }
            (InputType::Container, Some(workload)) => only_container(workload),
            _ => None,
        };
        match found {
            Some(text) => Ok(Lookup::Value(Value::String(text.into()))),
            None if input.optional => Ok(Lookup::Absent),
            None => {
                Err(self.error(mark, &format!("the fragment `{}` needs the input `{name}`", fragment.name())))
            }
        }
    }

    /// The workload that a text such as `Deployment/name` means, among the component's manifests.
    fn workload(&self, node: &Node) -> Result<&'a Manifest, Diagnostic> {
        let text = node.as_str().unwrap_or_default();
        let payload = self.context.payload;
        let own =
            || payload.manifests.iter().filter(|manifest| payload.file(manifest).component == self.component);
        let shown = |manifest: &Manifest| format!("{}/{}", manifest.id.kind, manifest.id.name);
        own().find(|manifest| shown(manifest) == text).ok_or_else(|| {
            let names: Vec<String> = own().map(shown).collect();
            let error = self.error(node.mark, &format!("the component has no `{text}`"));
            match nearest(text, names.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("name a workload of the component as `Kind/name`"),
            }
        })
    }

    fn error(&self, mark: Mark, message: &str) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.context.sources))
    }
}

/// Splits what is given where an input that takes no list got one.
fn one_by_one(
    given: BTreeMap<String, Node>,
    inputs: &BTreeMap<String, Marked<Input>>,
) -> Vec<BTreeMap<String, Node>> {
    let takes_list = |name: &str| inputs.get(name).is_some_and(|input| input.value.r#type == InputType::List);
    let split = given.iter().find(|(name, node)| node.as_list().is_some() && !takes_list(name));
    let Some((name, items)) =
        split.map(|(name, node)| (name.clone(), node.as_list().unwrap_or_default().to_vec()))
    else {
        return vec![given];
    };
    let each = |item: Node| {
        let mut one = given.clone();
        one.insert(name.clone(), item);
        one_by_one(one, inputs)
    };
    items.into_iter().flat_map(each).collect()
}

fn only_container(workload: &Manifest) -> Option<String> {
    let containers = pod(&workload.root, &workload.id.kind)?.get("spec")?.get("containers")?.as_list()?;
    match containers {
        [only] => Some(only.get("name")?.as_str()?.to_owned()),
        _ => None,
    }
}

fn set_namespace(root: &mut Node, namespace: &str) {
    let mark = root.mark;
    if let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) {
        let value = Node { value: Value::String(namespace.into()), mark };
        metadata.insert(Entry { key: "namespace".into(), mark, value });
    }
}
