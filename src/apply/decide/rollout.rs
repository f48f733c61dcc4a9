//! The rollout: the steps for all clusters of a topology, with their dependencies. A pure function of the rendered plans.
//!
//! Two things order steps. A run level starts when all earlier levels of the same cluster are settled. And a step starts
//! when its dependencies are met, which may be in the other cluster. Nothing else delays a step.

use std::collections::HashMap;
use std::fmt;

use crate::object::{
    self, CA_BUNDLE, Cluster, GuestIdentity, IssuedOrigin, Object, ObjectId, Proof, SensitiveTexts,
    annotation, is_tombstone,
};
use crate::order::Plan;
use crate::yaml::Node;

/// The objects of one cluster, in order.
#[derive(Clone, Copy, Debug)]
pub struct ClusterPlan<'a> {
    /// The cluster.
    pub cluster: Cluster,
    /// The objects.
    pub plan: &'a Plan,
}

/// A cluster of a rollout: an index into its plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub usize);

/// A step of a rollout: an index into [`Rollout::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub usize);

/// The steps for all clusters of a topology.
#[derive(Debug)]
pub struct Rollout<'a> {
    /// The steps of the first cluster in the order of its plan, then those of the next cluster, and so on.
    pub steps: Vec<Step<'a>>,
}

/// One object and the action for it.
#[derive(Debug)]
pub struct Step<'a> {
    /// The cluster of the object.
    pub cluster: ClusterId,
    /// The object.
    pub object: &'a Object,
    /// The action.
    pub action: Action,
    /// The number of its stage in its cluster.
    pub stage: usize,
    /// The run level, as in the file name.
    pub level: Option<&'a str>,
    /// The steps that must be done first.
    pub dependencies: Vec<Dependency>,
}

impl Step<'_> {
    /// Masks sensitive values of the object in a message about it.
    pub(crate) fn mask(&self, message: &str) -> String {
        SensitiveTexts::of([&self.object.root]).mask(message)
    }
}

/// The action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Applies it.
    Apply,
    /// Creates it if it does not exist.
    Create,
    /// Deletes it.
    Delete,
}

/// A step that must be done before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The step that comes first.
    pub on: StepId,
    /// Why.
    pub reason: DependencyReason,
}

/// Why a step depends on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyReason {
    /// The object refers to another object of its cluster.
    SameCluster(object::DependencyReason),
    /// The guest calls a Service of the management cluster.
    CallsManagementService,
    /// A signer signs its certificate, or it trusts the signer's authority.
    Signer,
    /// The guest issues its token for this ServiceAccount.
    TokenAccount,
}

impl DependencyReason {
    /// Returns whether the other object must be ready; otherwise it must only exist.
    pub fn requires_readiness(self) -> bool {
        self == Self::SameCluster(object::DependencyReason::CustomResourceDefinition)
    }
}

impl fmt::Display for DependencyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameCluster(object::DependencyReason::Namespace) => "its namespace",
            Self::SameCluster(object::DependencyReason::CustomResourceDefinition) => "the CRD of its kind",
            Self::SameCluster(object::DependencyReason::Pod) => "an object that its pods use",
            Self::SameCluster(object::DependencyReason::Role) => "its role",
            Self::SameCluster(object::DependencyReason::WebhookService) => "the Service that it calls",
            Self::CallsManagementService => "the Service that it calls in the management cluster",
            Self::Signer => "its signer",
            Self::TokenAccount => "the ServiceAccount in the guest that its token is for",
        })
    }
}

/// Objects that depend on each other, so none of them can be applied first. The first object is also the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCycle {
    /// The objects; each depends on the next one.
    pub objects: Vec<ObjectId>,
}

impl fmt::Display for DependencyCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects: Vec<String> = self.objects.iter().map(ToString::to_string).collect();
        write!(f, "objects depend on each other: {}", objects.join(", which waits for "))
    }
}

impl<'a> Rollout<'a> {
    /// Orders the objects of all clusters.
    pub fn new(clusters: &[ClusterPlan<'a>]) -> Result<Self, DependencyCycle> {
        let mut rollout = Self { steps: Vec::new() };
        for (index, cluster) in clusters.iter().enumerate() {
            rollout.add_cluster(ClusterId(index), cluster.plan);
        }
        rollout.add_calls_to_management(clusters);
        rollout.add_signers(clusters);
        rollout.add_token_accounts(clusters);
        match rollout.find_cycle() {
            None => Ok(rollout),
            Some(cycle) => {
                let objects = cycle.iter().map(|step| rollout.step(*step).object.id.clone()).collect();
                Err(DependencyCycle { objects })
            }
        }
    }

    /// Returns a step.
    pub fn step(&self, id: StepId) -> &Step<'a> {
        &self.steps[id.0]
    }

    /// Returns all steps with their ids.
    pub fn steps(&self) -> impl Iterator<Item = (StepId, &Step<'a>)> {
        self.steps.iter().enumerate().map(|(index, step)| (StepId(index), step))
    }

    /// Returns the steps of a cluster with their ids.
    pub fn steps_of(&self, cluster: ClusterId) -> impl Iterator<Item = (StepId, &Step<'a>)> {
        self.steps().filter(move |(_, step)| step.cluster == cluster)
    }

    fn add_cluster(&mut self, cluster: ClusterId, plan: &'a Plan) {
        let objects: Vec<&Object> = plan.objects.iter().collect();
        let mut step_of_object = vec![StepId(0); objects.len()];
        for (number, stage) in plan.stages.iter().enumerate() {
            for chunk in &stage.chunks {
                for index in chunk.objects.clone() {
                    step_of_object[index] = StepId(self.steps.len());
                    let object = objects[index];
                    self.steps.push(Step {
                        cluster,
                        object,
                        action: Action::of(object),
                        stage: number,
                        level: chunk.run_level.as_deref(),
                        dependencies: Vec::new(),
                    });
                }
            }
        }
        for edge in object::dependencies(&objects) {
            let reason = DependencyReason::SameCluster(edge.reason);
            let [on, dependent] = [edge.prerequisite, edge.dependent].map(|index| step_of_object[index]);
            // A user with the right to bind a role can create the binding before the role.
            let comes_later = self.step(on).stage > self.step(dependent).stage;
            if edge.reason != object::DependencyReason::Role || !comes_later {
                self.steps[dependent.0].add_dependency(Dependency { on, reason });
            }
        }
    }

    /// Adds the dependencies of the guest on Services of the management cluster: URLs such as
    /// `https://name.namespace.svc:443/…`.
    fn add_calls_to_management(&mut self, clusters: &[ClusterPlan<'_>]) {
        let cluster_of = |step: &Step<'_>| clusters[step.cluster.0].cluster;
        let mut services: HashMap<String, StepId> = HashMap::new();
        for (id, step) in self.steps() {
            let ObjectId { group, kind, namespace, name } = &step.object.id;
            let is_service = kind == "Service" && group.is_empty() && step.action != Action::Delete;
            if cluster_of(step) == Cluster::Management && is_service {
                services.insert(format!("{name}.{namespace}.svc"), id);
            }
        }
        for step in &mut self.steps {
            if cluster_of(step) != Cluster::Guest || step.action == Action::Delete {
                continue;
            }
            for url in called_urls(step.object) {
                if let Some(service) = services.get(host(&url)) {
                    let reason = DependencyReason::CallsManagementService;
                    step.add_dependency(Dependency { on: *service, reason });
                }
            }
        }
    }

    /// Adds the dependencies on signers that transship creates.
    fn add_signers(&mut self, clusters: &[ClusterPlan<'_>]) {
        let mut signers: HashMap<(String, String), StepId> = HashMap::new();
        for (id, step) in self.steps() {
            if step.object.issued == Some(IssuedOrigin::Signer) {
                signers.insert((step.object.id.namespace.clone(), step.object.id.name.clone()), id);
            }
        }
        for step in &mut self.steps {
            let object = step.object;
            let plan = clusters[step.cluster.0].plan;
            let hosted = plan.hosted_control_plane.as_ref().or(plan.namespace.as_ref());
            let trusted = annotation(&object.root, CA_BUNDLE).and_then(Node::as_str).zip(hosted);
            let signed = object.issued.iter().flat_map(IssuedOrigin::signers);
            let needed = signed.map(|name| (name, &object.id.namespace)).chain(trusted);
            let needed: Vec<StepId> = needed
                .filter_map(|(name, namespace)| signers.get(&(namespace.clone(), name.to_owned())).copied())
                .collect();
            for signer in needed {
                step.add_dependency(Dependency { on: signer, reason: DependencyReason::Signer });
            }
        }
    }

    /// Adds the dependencies of kubeconfigs with a token on the ServiceAccounts of the guest.
    fn add_token_accounts(&mut self, clusters: &[ClusterPlan<'_>]) {
        let mut accounts: HashMap<(String, String), StepId> = HashMap::new();
        for (id, step) in self.steps() {
            let is_guest = clusters[step.cluster.0].cluster != Cluster::Management;
            if is_guest && step.object.id.kind == "ServiceAccount" && step.action != Action::Delete {
                accounts.insert((step.object.id.namespace.clone(), step.object.id.name.clone()), id);
            }
        }
        for step in &mut self.steps {
            if let Some(IssuedOrigin::Kubeconfig(kubeconfig)) = &step.object.issued
                && let (Proof::Token, GuestIdentity::ServiceAccount { namespace, name }) =
                    (&kubeconfig.proof, &kubeconfig.identity)
                && let Some(account) = accounts.get(&(namespace.clone(), name.clone()))
            {
                let reason = DependencyReason::TokenAccount;
                step.add_dependency(Dependency { on: *account, reason });
            }
        }
    }

    /// Returns steps that wait for each other: for their dependencies, or for earlier run levels. Simulates the rollout; the
    /// steps that can never start contain the cycle.
    fn find_cycle(&self) -> Option<Vec<StepId>> {
        let mut done = vec![false; self.steps.len()];
        loop {
            let open = self.first_open_stages(&done);
            let can_start = |id: &StepId| {
                let step = self.step(*id);
                let level_started = open.get(&step.cluster).is_some_and(|stage| step.stage <= *stage);
                level_started && !done[id.0] && step.dependencies.iter().all(|other| done[other.on.0])
            };
            let next: Vec<StepId> = (0..self.steps.len()).map(StepId).filter(can_start).collect();
            if next.is_empty() {
                break;
            }
            for id in next {
                done[id.0] = true;
            }
        }
        let first = done.iter().position(|done| !done)?;
        Some(self.follow_cycle(StepId(first), &done))
    }

    /// Returns for each cluster its first stage with a step that is not done.
    fn first_open_stages(&self, done: &[bool]) -> HashMap<ClusterId, usize> {
        let mut open: HashMap<ClusterId, usize> = HashMap::new();
        for (_, step) in self.steps().filter(|(id, _)| !done[id.0]) {
            let stage = open.entry(step.cluster).or_insert(step.stage);
            *stage = step.stage.min(*stage);
        }
        open
    }

    /// Follows the chain of steps that delay each other, from a step that cannot start, until a step repeats.
    fn follow_cycle(&self, first: StepId, done: &[bool]) -> Vec<StepId> {
        let mut path = vec![first];
        loop {
            let step = self.step(path[path.len() - 1]);
            let dependency = step.dependencies.iter().map(|other| other.on).find(|other| !done[other.0]);
            let next = dependency.or_else(|| {
                let mut earlier = self.steps_of(step.cluster).filter(|(_, other)| other.stage < step.stage);
                earlier.find(|(id, _)| !done[id.0]).map(|(id, _)| id)
            });
            let Some(next) = next else { return path };
            let repeated = path.iter().position(|seen| *seen == next);
            path.push(next);
            if let Some(start) = repeated {
                return path.split_off(start);
            }
        }
    }
}

impl Step<'_> {
    fn add_dependency(&mut self, dependency: Dependency) {
        if !self.dependencies.contains(&dependency) {
            self.dependencies.push(dependency);
        }
    }
}

impl Action {
    fn of(object: &Object) -> Self {
        if is_tombstone(&object.root) {
            Self::Delete
        } else if object.is_create_only() {
            Self::Create
        } else {
            Self::Apply
        }
    }
}

/// Returns the URLs that the API server calls because of an object: those of webhooks and of a CRD's conversion.
fn called_urls(object: &Object) -> Vec<String> {
    let webhooks = object.root.get("webhooks").and_then(Node::as_list).unwrap_or_default();
    let conversion = object.root.get("spec").and_then(|spec| spec.get("conversion")?.get("webhook"));
    let url = |webhook: &Node| Some(webhook.get("clientConfig")?.get("url")?.as_str()?.to_owned());
    webhooks.iter().chain(conversion).filter_map(url).collect()
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split([':', '/']).next().unwrap_or_default()
}
