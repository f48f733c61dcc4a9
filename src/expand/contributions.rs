//! Collects the contributions of pages and fragments to objects. They are merged later, in `transform`.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use super::fragment_walk::{FragmentWalk, Pass, Visitor, error_at};
use super::variables::Variables;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::template::substitute;
use crate::language::{
    Addition, Fragment, Intent, IntentRule, Intents, Marked, Page, Profiles, Selector, Use,
};
use crate::object::ObjectId;
use crate::yaml::{Mark, Node, Sources, Value};

/// The contribution of an addition to one object.
#[derive(Clone, Debug)]
pub(crate) struct Contribution {
    /// The object or pod template that it is added to.
    pub(crate) target: ContributionTarget,
    /// The fields, with values filled in.
    pub(crate) node: Node,
    /// The position of the addition.
    pub(crate) addition: Mark,
    /// Whether the addition has `in`. A new object then lives in the clusters of these profiles, whatever `place` says.
    pub(crate) is_limited_to_profiles: bool,
    /// The workload in scope of the addition. A new object is applied directly before it.
    pub(crate) workload: Option<ObjectId>,
    /// The object with the intent, if a fragment that replaces an intent contributes this. A new object is applied
    /// directly before it.
    pub(crate) intent_object: Option<ObjectId>,
    /// The uses of fragments that led to the addition, the page's own first.
    pub(crate) uses: Vec<Mark>,
}

/// The object or pod template that a contribution is added to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContributionTarget {
    /// The pod template of this workload.
    Pod(ObjectId),
    /// This workload.
    Workload(ObjectId),
    /// The object with the same identity, or a new one.
    Object,
}

/// Returns the contributions of a component's page in this profile.
pub(super) fn contributions(view: &View<'_>, component: &str) -> Result<Vec<Contribution>, Diagnostics> {
    let Some(page) = view.payload.page(component) else { return Ok(Vec::new()) };
    let mut walk = additions_walk(view, component, Collector::default());
    let mut variables = Variables::of(view, component);
    walk.bind_values(&page.values, &mut variables)?;
    walk.visit_body(&page.adds, &page.uses, &variables, &[]);
    walk.errors.into_result(walk.visitor.contributions)
}

/// Returns the contributions of a fragment that replaces an intent. `objects` are the objects that its inputs name; the
/// last of them has the intent.
pub(crate) fn contributions_for_intent(
    view: &View<'_>,
    component: &str,
    objects: &[ObjectId],
    entry: &Marked<Use>,
) -> Result<Vec<Contribution>, Diagnostics> {
    let mut walk =
        FragmentWalk { preferred: objects, ..additions_walk(view, component, Collector::default()) };
    let mut variables = Variables::of(view, component);
    if let Some(page) = view.payload.page(component) {
        walk.bind_values(&page.values, &mut variables)?;
    }
    walk.visit_use(entry, &variables, &[]);
    let mut contributions = walk.visitor.contributions;
    for contribution in &mut contributions {
        contribution.intent_object = objects.last().cloned();
    }
    walk.errors.into_result(contributions)
}

/// Returns how the intents of a component are handled in this profile: by the rules of the profile, unless an addition of
/// its page or of a fragment overrides them.
pub(crate) fn intent_rules(view: &View<'_>, component: &str) -> Result<Intents, Diagnostics> {
    let rules = view.profile.intents.clone();
    let Some(page) = view.payload.page(component) else { return Ok(rules) };
    let fragments = view.context.profiles.fragments.values();
    let mut additions = page.adds.iter().chain(fragments.flat_map(|fragment| &fragment.body.adds));
    // Nearly no page overrides an intent, and the walk is expensive.
    if additions.all(|addition| addition.value.intents.0.is_empty()) {
        return Ok(rules);
    }
    let visitor = IntentOverrides { rules, overridden: BTreeMap::new(), sources: view.context.sources };
    let mut walk = additions_walk(view, component, visitor);
    let mut variables = Variables::of(view, component);
    walk.bind_values(&page.values, &mut variables)?;
    walk.visit_body(&page.adds, &page.uses, &variables, &[]);
    walk.errors.into_result(walk.visitor.rules)
}

fn additions_walk<'w, V>(view: &'w View<'_>, component: &str, visitor: V) -> FragmentWalk<'w, V> {
    FragmentWalk::new(view, component, Pass::Additions, visitor)
}

/// Collects the intents that additions override.
struct IntentOverrides<'a> {
    rules: Intents,
    /// The overrides so far, to find those that disagree.
    overridden: BTreeMap<Intent, Marked<IntentRule>>,
    sources: &'a Sources,
}

impl Visitor for IntentOverrides<'_> {
    fn addition(
        &mut self,
        addition: &Marked<Addition>,
        _: &Variables<'_>,
        _: &[Mark],
    ) -> Result<(), Diagnostic> {
        for (intent, rule) in &addition.value.intents.0 {
            let previous = self.overridden.insert(*intent, rule.clone());
            if let Some(previous) = previous.filter(|previous| previous.value != rule.value) {
                let message = format!("two additions handle the intent `{}` differently", intent.name());
                return Err(Diagnostic::error(message)
                    .at(Location::of(rule.mark, self.sources))
                    .note(format!("the other is at {}", self.sources.show(previous.mark)))
                    .help("limit one of them with `in` or `when`"));
            }
            self.rules.0.insert(*intent, rule.clone());
        }
        Ok(())
    }

    fn fragment(&mut self, _: &Fragment, _: &Variables<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// Collects contributions.
#[derive(Default)]
struct Collector {
    contributions: Vec<Contribution>,
}

impl Visitor for Collector {
    fn addition(
        &mut self,
        addition: &Marked<Addition>,
        variables: &Variables<'_>,
        uses: &[Mark],
    ) -> Result<(), Diagnostic> {
        let sources = variables.view.context.sources;
        let mut added = Vec::new();
        if let Some(pod) = &addition.value.pod {
            let workload = workload_of(variables, pod.mark)?;
            if let Some(pod) = substitute(pod, variables, sources)? {
                added.push((ContributionTarget::Pod(workload), pod));
            }
        }
        if let Some(fields) = &addition.value.workload {
            let workload = workload_of(variables, fields.mark)?;
            if let Some(fields) = substitute(fields, variables, sources)? {
                added.push((ContributionTarget::Workload(workload), fields));
            }
        }
        // Substituted as one list, so that an item which becomes a list of objects is spliced.
        let objects = Node::new(Value::List(addition.value.objects.clone()), addition.mark);
        if let Some(Value::List(objects)) = substitute(&objects, variables, sources)?.map(|node| node.value) {
            added.extend(objects.into_iter().map(|object| (ContributionTarget::Object, object)));
        }
        for (target, node) in added {
            self.contributions.push(Contribution {
                target,
                node,
                addition: addition.mark,
                is_limited_to_profiles: !addition.value.profiles.is_empty(),
                workload: variables.workload.as_ref().map(|workload| workload.id.clone()),
                intent_object: None,
                uses: uses.to_vec(),
            });
        }
        Ok(())
    }

    fn fragment(&mut self, _: &Fragment, _: &Variables<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

fn workload_of(variables: &Variables<'_>, mark: Mark) -> Result<ObjectId, Diagnostic> {
    match &variables.workload {
        Some(workload) => Ok(workload.id.clone()),
        None => Err(error_at(variables, mark, "this addition has no workload")
            .help("name it with `for`, give the input `workload`, or set it under `values`")),
    }
}

/// Returns whether a page, or a fragment that it may use, adds an object that a selector selects in any profile.
pub(crate) fn may_add(page: &Page, profiles: &Profiles, selector: &Selector) -> bool {
    any_addition(page, profiles, &|addition| adds_object(addition, selector))
}

/// Returns whether an addition of a page, or of a fragment that it may use in any profile, is of some kind.
pub(super) fn any_addition(page: &Page, profiles: &Profiles, is_wanted: &dyn Fn(&Addition) -> bool) -> bool {
    let any = |additions: &[Marked<Addition>]| additions.iter().any(|addition| is_wanted(&addition.value));
    let mut waiting = uses_of(&page.adds, &page.uses);
    for rule in profiles.iter().flat_map(|profile| profile.intents.0.values()) {
        if let IntentRule::Fragment(name) = &rule.value {
            waiting.push(name);
        }
    }
    if any(&page.adds) {
        return true;
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        let Some(fragment) = profiles.fragments.get(name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        if any(&fragment.body.adds) {
            return true;
        }
        waiting.extend(uses_of(&fragment.body.adds, &fragment.body.uses));
    }
    false
}

/// Returns the names of the fragments that additions and uses mention.
fn uses_of<'p>(additions: &'p [Marked<Addition>], uses: &'p [Marked<Use>]) -> Vec<&'p str> {
    let nested = additions.iter().flat_map(|addition| &addition.value.uses);
    uses.iter().chain(nested).map(|entry| entry.value.fragment.as_str()).collect()
}

fn adds_object(addition: &Addition, selector: &Selector) -> bool {
    addition.objects.iter().any(|node| {
        let kind = node.get("kind").and_then(Node::as_str);
        // Declarations of issued objects become Secrets.
        let kind = kind.map(|kind| if kind.starts_with("Issued") { "Secret" } else { kind });
        let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
        // A name with `${…}` can become any name.
        let has_name = |wanted: &String| name.is_none_or(|name| name == wanted || name.contains("${"));
        kind == Some(&selector.kind) && selector.name.as_ref().is_none_or(has_name)
    })
}
