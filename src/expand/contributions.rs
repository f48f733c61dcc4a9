//! What the uses of a component contribute, written out but not yet merged.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use super::fragment_walk::{Visitor, Walk, wrong};
use super::variables::Variables;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::substitute;
use crate::language::{
    Addition, Component, Fragment, Intent, IntentRule, Intents, Marked, Profiles, Selector, Use,
};
use crate::object::ObjectId;
use crate::yaml::{Mark, Node, Sources, Value};

/// Something that is added to the objects of a component.
#[derive(Clone, Debug)]
pub struct Contribution {
    /// What it is added to.
    pub target: ContributionTarget,
    /// What is added, with its values put in.
    pub node: Node,
    /// The part that says so.
    pub part: Mark,
    /// Whether the part is limited to profiles, which then says where a new object lives.
    pub limited: bool,
    /// The workload in scope, if there is one: a new object comes right before it.
    pub workload: Option<ObjectId>,
    /// The object in which a fact was found that this honours: a new object comes right before that one.
    pub meets: Option<ObjectId>,
    /// The uses of fragments that led here, the page's own first.
    pub uses: Vec<Mark>,
}

/// What a contribution is added to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContributionTarget {
    /// The pod template of this workload.
    Pod(ObjectId),
    /// This workload.
    Workload(ObjectId),
    /// The object of its identity, or a new one.
    Object,
}

/// What the page of a component contributes in this profile.
pub(super) fn contributions(view: &View<'_>, component: &str) -> Result<Vec<Contribution>, Diagnostics> {
    let Some(page) = view.payload.page(component) else { return Ok(Vec::new()) };
    let mut walk = walk(view, component);
    let mut names = Variables::of(view, component);
    walk.values(&page.values, &mut names)?;
    walk.body(&page.adds, &page.uses, &names, &[]);
    walk.errors.or(walk.visitor.all)
}

/// What one use of a fragment contributes in this profile, asked for by whoever honours a fact.
pub fn contributions_for_intent(
    view: &View<'_>,
    component: &str,
    objects: &[ObjectId],
    entry: &Marked<Use>,
) -> Result<Vec<Contribution>, Diagnostics> {
    let mut walk = Walk { meant: objects, ..walk(view, component) };
    let mut names = Variables::of(view, component);
    if let Some(page) = view.payload.page(component) {
        walk.values(&page.values, &mut names)?;
    }
    walk.fragment(entry, &names, &[]);
    let mut all = walk.visitor.all;
    for contribution in &mut all {
        contribution.meets = objects.last().cloned();
    }
    walk.errors.or(all)
}

/// How facts of a component are honoured in this profile: as the profile says, unless a part of its page or of a fragment
/// that it uses says otherwise.
pub fn intent_rules(view: &View<'_>, component: &str) -> Result<Intents, Diagnostics> {
    let honours = view.profile.intents.clone();
    let Some(page) = view.payload.page(component) else { return Ok(honours) };
    let overrides = |parts: &[Marked<Addition>]| parts.iter().any(|part| !part.value.intents.0.is_empty());
    let words = view.context.profiles.fragments.values();
    if !overrides(&page.adds) && !words.into_iter().any(|fragment| overrides(&fragment.body.adds)) {
        return Ok(honours);
    }
    let Walk { manifests, .. } = walk(view, component);
    let errors = Diagnostics::default();
    let visitor = Overrides { intents: honours, said: BTreeMap::new(), sources: view.context.sources };
    let mut walk = Walk { manifests, meant: &[], complete: true, visitor, errors };
    let mut names = Variables::of(view, component);
    walk.values(&page.values, &mut names)?;
    walk.body(&page.adds, &page.uses, &names, &[]);
    walk.errors.or(walk.visitor.intents)
}

struct Overrides<'a> {
    intents: Intents,
    said: BTreeMap<Intent, (IntentRule, Mark)>,
    sources: &'a Sources,
}

impl Visitor for Overrides<'_> {
    fn part(&mut self, part: &Marked<Addition>, _: &Variables<'_>, _: &[Mark]) -> Result<(), Diagnostic> {
        for (finder, honour) in &part.value.intents.0 {
            let said = self.said.insert(*finder, (honour.value.clone(), honour.mark));
            if let Some((_, mark)) = said.filter(|(other, _)| *other != honour.value) {
                return Err(Diagnostic::error(format!("two parts honour a {} differently", finder.name()))
                    .at(Location::of(honour.mark, self.sources))
                    .note(format!("the other is at {}", self.sources.show(mark)))
                    .help("limit one of them with `in` or `when`"));
            }
            self.intents.0.insert(*finder, honour.clone());
        }
        Ok(())
    }

    fn fragment(&mut self, _: &Fragment, _: &Variables<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// Whether a part of a page, or of a fragment that it may come to, brings an object that a selector means, in whatever
/// profile.
pub fn brings(page: &Component, profiles: &Profiles, selector: &Selector) -> bool {
    let honoured = profiles.iter().flat_map(|profile| profile.intents.0.values());
    let honoured = honoured.filter_map(|entry| match &entry.value {
        IntentRule::Fragment(name) => Some(name.as_str()),
        _ => None,
    });
    let used = uses_of(&page.adds, &page.uses).chain(honoured);
    let mut waiting: Vec<&str> = used.collect();
    let mut seen = BTreeSet::new();
    let mut found = any_object(&page.adds, selector);
    while let Some(name) = waiting.pop().filter(|_| !found) {
        let Some(fragment) = profiles.fragments.get(name).filter(|_| seen.insert(name)) else { continue };
        found = any_object(&fragment.body.adds, selector);
        waiting.extend(uses_of(&fragment.body.adds, &fragment.body.uses));
    }
    found
}

fn uses_of<'p>(parts: &'p [Marked<Addition>], uses: &'p [Marked<Use>]) -> impl Iterator<Item = &'p str> {
    let uses = uses.iter().chain(parts.iter().flat_map(|part| &part.value.uses));
    uses.map(|entry| entry.value.fragment.as_str())
}

fn any_object(parts: &[Marked<Addition>], selector: &Selector) -> bool {
    parts.iter().flat_map(|part| &part.value.objects).any(|node| {
        let kind = node.get("kind").and_then(Node::as_str);
        let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
        // A name with values in it may be any.
        let named = |wanted: &String| name.is_none_or(|name| name == wanted || name.contains("${"));
        kind == Some(&selector.kind) && selector.name.as_ref().is_none_or(named)
    })
}

fn walk<'w>(view: &'w View<'_>, component: &str) -> Walk<'w, Collector> {
    let manifests = view.payload.of_component(component).map(|(_, manifest)| manifest).collect();
    let (visitor, errors) = (Collector::default(), Diagnostics::default());
    Walk { manifests, meant: &[], complete: true, visitor, errors }
}

#[derive(Default)]
struct Collector {
    all: Vec<Contribution>,
}

impl Visitor for Collector {
    fn part(
        &mut self,
        part: &Marked<Addition>,
        names: &Variables<'_>,
        uses: &[Mark],
    ) -> Result<(), Diagnostic> {
        let sources = names.view.context.sources;
        let workload = names.workload.as_ref().map(|workload| workload.id.clone());
        let mut push = |target: ContributionTarget, node: Node| {
            self.all.push(Contribution {
                target,
                node,
                part: part.mark,
                limited: !part.value.profiles.is_empty(),
                workload: workload.clone(),
                meets: None,
                uses: uses.to_vec(),
            });
        };
        for (node, is_pod) in [(&part.value.pod, true), (&part.value.workload, false)] {
            let Some(node) = node else { continue };
            let id = workload.clone().ok_or_else(|| {
                wrong(names, node.mark, "nobody says which workload this is for")
                    .help("give the input `workload`")
            })?;
            if let Some(node) = substitute(node, names, sources)? {
                push(
                    if is_pod { ContributionTarget::Pod(id) } else { ContributionTarget::Workload(id) },
                    node,
                );
            }
        }
        let objects = Node { value: Value::List(part.value.objects.clone()), mark: part.mark };
        let objects = substitute(&objects, names, sources)?.map(|node| node.value);
        if let Some(Value::List(objects)) = objects {
            for node in objects {
                push(ContributionTarget::Object, node);
            }
        }
        Ok(())
    }

    fn fragment(&mut self, _: &Fragment, _: &Variables<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }
}
