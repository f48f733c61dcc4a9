//! What is done in which order, in one cluster or two: a graph of steps, made of nothing but what was rendered.
//!
//! Two things order steps. A run-level begins when everything at the levels before it, in the same cluster, is settled.
//! And a step begins when what it needs is there, which may be in the other cluster. Within a level nothing else
//! holds a step back.

use std::collections::HashMap;

use crate::object::{Annotations, Cluster, DependencyReason, Object, ObjectId, dependencies, is_tombstone};
use crate::order;
use crate::yaml::Node;

/// What a manifest of the payload asks for with this is created once and never changed.
const CREATE_ONLY: &str = "release.openshift.io/create-only";

/// The objects of one cluster.
pub struct Half<'a> {
    /// Which cluster.
    pub cluster: Cluster,
    /// The objects in their order.
    pub plan: &'a order::Plan,
}

/// All steps of both clusters.
#[derive(Debug)]
pub struct Rollout<'a> {
    /// The steps: those of one cluster after those of the other, each in the order of its plan.
    pub steps: Vec<Step<'a>>,
}

/// One object, and what becomes of it.
#[derive(Debug)]
pub struct Step<'a> {
    /// The half that it belongs to.
    pub half: usize,
    /// The object.
    pub object: &'a Object,
    /// What is done with it.
    pub action: Action,
    /// When: the number of its stage in its cluster.
    pub stage: usize,
    /// The run-level, as files name it.
    pub level: Option<&'a str>,
    /// The steps that must be done before it, and why.
    pub needs: Vec<(usize, Need)>,
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made as it is rendered.
    Apply,
    /// It is made if it is not there.
    Create,
    /// It is taken away.
    Delete,
}

/// Why one step waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// As objects of one cluster need each other.
    Own(DependencyReason),
    /// The guest calls a Service of the management cluster.
    CalledAcross,
}

impl Need {
    /// Whether the other must be ready, not only there.
    pub fn is_of_readiness(self) -> bool {
        self == Self::Own(DependencyReason::CustomResourceDefinition)
    }

    /// In words: it waits for …
    pub fn words(self) -> &'static str {
        match self {
            Self::Own(DependencyReason::Namespace) => "its namespace",
            Self::Own(DependencyReason::CustomResourceDefinition) => "the definition of its kind",
            Self::Own(DependencyReason::Pod) => "what its pods need",
            Self::Own(DependencyReason::WebhookService) => "the Service that it calls",
            Self::CalledAcross => "the Service that it calls in the management cluster",
        }
    }
}

impl<'a> Rollout<'a> {
    /// Orders the objects of one cluster or two. A circle cannot be ordered: its members come back.
    pub fn of(halves: &[Half<'a>]) -> Result<Self, Vec<String>> {
        let mut steps = Vec::new();
        for (half, Half { plan, .. }) in halves.iter().enumerate() {
            let objects: Vec<&Object> = plan.objects.iter().collect();
            let mut step_of = vec![0; objects.len()];
            for (stage, chunks) in plan.stages.iter().enumerate() {
                for chunk in &chunks.chunks {
                    let level = chunk.run_level.as_deref();
                    for at in chunk.objects.clone() {
                        step_of[at] = steps.len();
                        let (object, needs) = (objects[at], Vec::new());
                        steps.push(Step { half, object, action: action(object), stage, level, needs });
                    }
                }
            }
            for dependency in dependencies(&objects) {
                let need = (step_of[dependency.prerequisite], Need::Own(dependency.reason));
                let needs = &mut steps[step_of[dependency.dependent]].needs;
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
        }
        across(&mut steps, halves);
        let rollout = Self { steps };
        match rollout.circle() {
            None => Ok(rollout),
            Some(circle) => Err(circle.iter().map(|at| rollout.steps[*at].object.id.to_string()).collect()),
        }
    }

    /// Steps that wait for each other: by what they need, and because a level waits for the ones before it.
    fn circle(&self) -> Option<Vec<usize>> {
        let mut done = vec![false; self.steps.len()];
        loop {
            let mut open: HashMap<usize, usize> = HashMap::new();
            for step in self.steps.iter().zip(&done).filter(|(_, done)| !**done).map(|(step, _)| step) {
                let stage = open.entry(step.half).or_insert(step.stage);
                *stage = step.stage.min(*stage);
            }
            let ready = |at: &usize| {
                let step = &self.steps[*at];
                let begun = open.get(&step.half).is_some_and(|stage| step.stage <= *stage);
                begun && !done[*at] && step.needs.iter().all(|(other, _)| done[*other])
            };
            let next: Vec<usize> = (0..self.steps.len()).filter(ready).collect();
            if next.is_empty() {
                break;
            }
            for at in next {
                done[at] = true;
            }
        }
        let first = done.iter().position(|done| !done)?;
        Some(self.walk(first, &done))
    }

    /// From a step that cannot begin along what holds it back, until one comes again.
    fn walk(&self, first: usize, done: &[bool]) -> Vec<usize> {
        let mut path = vec![first];
        loop {
            let step = &self.steps[path[path.len() - 1]];
            let need = step.needs.iter().map(|(other, _)| *other).find(|other| !done[*other]);
            let earlier = || {
                let before = |o: &Step<'_>| o.half == step.half && o.stage < step.stage;
                (0..self.steps.len()).find(|other| !done[*other] && before(&self.steps[*other]))
            };
            let Some(next) = need.or_else(earlier) else { return path };
            if let Some(at) = path.iter().position(|seen| *seen == next) {
                path.push(next);
                return path.split_off(at);
            }
            path.push(next);
        }
    }
}

fn action(object: &Object) -> Action {
    if is_tombstone(&object.root) {
        Action::Delete
    } else if Annotations::of(&object.root).get(CREATE_ONLY) == Some("true") {
        Action::Create
    } else {
        Action::Apply
    }
}

/// What the guest calls by a URL is a Service of the management cluster: `https://name.namespace.svc:443/…`.
fn across(steps: &mut [Step<'_>], halves: &[Half<'_>]) {
    let mut services: HashMap<String, usize> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let ObjectId { group, kind, namespace, name } = &step.object.id;
        let is_service = kind == "Service" && group.is_empty() && step.action != Action::Delete;
        if halves[step.half].cluster == Cluster::Management && is_service {
            services.insert(format!("{name}.{namespace}.svc"), at);
        }
    }
    let alive =
        |step: &&mut Step<'_>| halves[step.half].cluster == Cluster::Guest && step.action != Action::Delete;
    for step in steps.iter_mut().filter(alive) {
        for url in urls(step.object) {
            let need = services.get(host(&url)).map(|service| (*service, Need::CalledAcross));
            if let Some(need) = need.filter(|need| !step.needs.contains(need)) {
                step.needs.push(need);
            }
        }
    }
}

/// The URLs that the API server calls because of an object: of webhooks, and of a definition's conversion.
fn urls(object: &Object) -> Vec<String> {
    let webhooks = object.root.get("webhooks").and_then(Node::as_list).unwrap_or_default();
    let conversion = object.root.get("spec").and_then(|spec| spec.get("conversion")?.get("webhook"));
    let url = |webhook: &Node| Some(webhook.get("clientConfig")?.get("url")?.as_str()?.to_owned());
    webhooks.iter().chain(conversion).filter_map(url).collect()
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split([':', '/']).next().unwrap_or_default()
}
