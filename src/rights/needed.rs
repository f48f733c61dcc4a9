//! Collects the rights for the objects of one cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::resources::{Resources, defined_resource};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{INVENTORY_NAMESPACE, Profile, Selector};
use crate::object::{
    CA_BUNDLE, Cluster, GuestIdentity, IssuedOrigin, Object, ObjectId, Proof, Right, Rights, RoleRule,
    annotation,
};
use crate::order::Plan;
use crate::yaml::{Node, Sources, Text};

/// An inventory with at most this many objects has no shards: a line has less than 300 bytes, and 900 KiB fit into one part.
const OBJECTS_WITHOUT_SHARDS: usize = 3000;

const RBAC: &str = "rbac.authorization.k8s.io";

/// A command that needs rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `apply`, with and without `--wait` and `--adopt`
    Apply,
    /// `apply --prune`, in addition to `apply`
    Prune,
    /// `delete`
    Delete,
    /// `delete --orphan`
    Orphan,
    /// `diff --live`
    Diff,
    /// `diff --live --drift`
    Drift,
    /// `apply --dry-run`
    DryRun,
}

/// The objects of a cluster, and what is to be done with them.
pub(crate) struct Needs<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) plan: &'a Plan,
    /// The objects of all clusters of the topology.
    pub(crate) topology: &'a [Plan],
    /// The objects that the cluster has now. `--prune` deletes those that are not in the plan, and other commands report
    /// them.
    pub(crate) previous: Option<&'a Plan>,
    pub(crate) purposes: &'a [Purpose],
    /// Objects that `apply` may recreate, as `--recreate` names them.
    pub(crate) recreate: &'a [Selector],
    pub(crate) resources: &'a Resources,
    pub(crate) sources: &'a Sources,
}

/// The rights that are needed in one cluster.
#[derive(Debug, Default)]
pub(crate) struct NeededRights {
    /// Rights in the whole cluster.
    pub(super) cluster: Rights,
    /// Rights in single namespaces.
    pub(super) namespaces: BTreeMap<String, Rights>,
}

/// Returns the rights for the objects of a cluster.
pub(crate) fn needed(needs: &Needs<'_>) -> Result<NeededRights, Diagnostics> {
    let mut collector = Collector {
        needs,
        created: created_namespaces(needs),
        roles: roles(needs.plan),
        rights: NeededRights::default(),
    };
    collector.add_inventory();
    collector.add_signers();
    collector.add_tokens();
    let mut errors = Diagnostics::default();
    for (index, object) in needs.plan.objects.iter().enumerate() {
        if let Err(error) = collector.add_object(index, object) {
            errors.0.push(error);
        }
    }
    let rendered: BTreeSet<&ObjectId> = needs.plan.objects.iter().map(|object| &object.id).collect();
    for object in needs.previous.into_iter().flat_map(|plan| &plan.objects) {
        if object.is_tombstone() || rendered.contains(&object.id) {
            continue;
        }
        // All commands report objects that are no longer rendered.
        collector.add_reads(&object.id);
        if needs.has(Purpose::Prune) {
            collector.add_deletion(object);
        }
    }
    errors.into_result(collector.rights)
}

/// Returns the namespaces that the payload creates. A Role for `apply` cannot be in them, since they may not exist yet.
fn created_namespaces(needs: &Needs<'_>) -> BTreeSet<String> {
    let plans = [Some(needs.plan), needs.previous];
    let objects = plans.into_iter().flatten().flat_map(|plan| &plan.objects);
    let namespaces = objects.filter(|object| object.id.kind == "Namespace" && object.id.group.is_empty());
    namespaces.map(|object| object.id.name.clone()).collect()
}

impl Needs<'_> {
    fn has(&self, purpose: Purpose) -> bool {
        self.purposes.contains(&purpose)
    }

    /// Returns whether `apply` recreates an object if one of its immutable fields changes.
    fn may_recreate(&self, id: &ObjectId) -> bool {
        (id.group.as_str(), id.kind.as_str()) == ("batch", "Job")
            || self.recreate.iter().any(|selector| selector.matches(id))
    }

    /// Returns whether `apply` changes an object after its creation.
    fn is_changed(&self, object: &Object) -> bool {
        let is_pinned = || self.profile.pins.0.iter().any(|(pinned, _)| pinned.value.matches(&object.id));
        !object.is_create_only() || is_pinned()
    }
}

struct Collector<'a> {
    needs: &'a Needs<'a>,
    /// The namespaces that the payload creates.
    created: BTreeSet<String>,
    /// The rendered roles.
    roles: HashMap<(&'a str, &'a str, &'a str), usize>,
    rights: NeededRights,
}

impl Collector<'_> {
    /// Returns the set to which a right in a namespace belongs.
    fn rights_in(&mut self, namespace: &str) -> &mut Rights {
        if namespace.is_empty() || self.created.contains(namespace) {
            return &mut self.rights.cluster;
        }
        self.rights.namespaces.entry(namespace.to_owned()).or_default()
    }

    /// Adds a right on one object.
    fn add_named(&mut self, id: &ObjectId, resource: Text, verb: &'static str) {
        let (group, name) = (id.group.as_str().into(), Some(id.name.as_str().into()));
        self.rights_in(&id.namespace).insert(Right::Resource { group, resource, name, verb: verb.into() });
    }

    /// Adds a right on all objects of a resource.
    fn add_unnamed(&mut self, namespace: &str, (group, resource): (Text, Text), verb: &'static str) {
        self.rights_in(namespace).insert(Right::Resource { group, resource, name: None, verb: verb.into() });
    }

    /// Adds the rights on the inventory and its shards.
    fn add_inventory(&mut self) {
        let inventory = self.inventory("", "ConfigMap");
        let mut parts = vec![inventory.name.clone()];
        if self.needs.plan.objects.len() > OBJECTS_WITHOUT_SHARDS {
            parts.extend(Profile::inventory_shards(&inventory.name));
        }
        for name in parts {
            let part = ObjectId { name, ..inventory.clone() };
            let is_shard = part.name != inventory.name;
            self.add_named(&part, "configmaps".into(), "get");
            if self.writes() {
                self.add_named(&part, "configmaps".into(), "update");
            }
            if self.deletes_inventory() || is_shard && self.writes() {
                self.add_named(&part, "configmaps".into(), "delete");
            }
        }
        if self.needs.has(Purpose::Apply) {
            self.add_unnamed(&inventory.namespace, ("".into(), "configmaps".into()), "create");
        }
        self.add_identity(&inventory);
        self.add_lease();
    }

    /// Adds the rights to find out which cluster it is. A Role in the namespace of a hosted control plane cannot grant the right to
    /// read `kube-system`.
    fn add_identity(&mut self, inventory: &ObjectId) {
        let Needs { profile, plan, .. } = self.needs;
        let is_management = profile.cluster == Cluster::Management;
        let hosted = plan.hosted_control_plane.as_deref();
        for name in [hosted, Some("kube-system").filter(|_| !is_management)].into_iter().flatten() {
            let namespace = if is_management { name.to_owned() } else { String::new() };
            let id = ObjectId {
                group: String::new(),
                kind: "Namespace".to_owned(),
                namespace,
                name: name.to_owned(),
            };
            self.add_named(&id, "namespaces".into(), "get");
        }
        if profile.cluster == Cluster::Guest {
            self.add_unnamed(&inventory.namespace, ("".into(), "configmaps".into()), "list");
        }
    }

    /// Adds the rights on the Lease, which is never in the guest.
    fn add_lease(&mut self) {
        if self.needs.profile.cluster == Cluster::Guest || !self.writes() {
            return;
        }
        let lease = self.inventory("coordination.k8s.io", "Lease");
        for verb in ["get", "update"] {
            self.add_named(&lease, "leases".into(), verb);
        }
        let leases = (lease.group.as_str().into(), "leases".into());
        self.add_unnamed(&lease.namespace, leases, "create");
        if self.deletes_inventory() {
            self.add_named(&lease, "leases".into(), "delete");
        }
    }

    /// Returns an object with the name and namespace of the inventory.
    fn inventory(&self, group: &str, kind: &str) -> ObjectId {
        let Needs { profile, plan, .. } = self.needs;
        ObjectId {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: plan.namespace.clone().unwrap_or_else(|| INVENTORY_NAMESPACE.to_owned()),
            name: profile.inventory_name(plan.hosted_control_plane.as_deref()),
        }
    }

    /// Returns whether one of the commands writes the inventory.
    fn writes(&self) -> bool {
        let writing = [Purpose::Apply, Purpose::Prune, Purpose::Delete, Purpose::Orphan];
        writing.iter().any(|purpose| self.needs.has(*purpose))
    }

    /// Returns whether one of the commands deletes the inventory and the Lease at its end.
    fn deletes_inventory(&self) -> bool {
        self.needs.has(Purpose::Delete) || self.needs.has(Purpose::Orphan)
    }

    /// Returns whether one of the commands reads the values of issued objects.
    fn reads_issued(&self) -> bool {
        let reading = [Purpose::Apply, Purpose::Diff, Purpose::Drift, Purpose::DryRun];
        reading.iter().any(|purpose| self.needs.has(*purpose))
    }

    /// Adds the rights to read the signers that someone else creates. They are never in the guest.
    fn add_signers(&mut self) {
        if self.needs.profile.cluster == Cluster::Guest || !self.reads_issued() {
            return;
        }
        for object in self.needs.topology.iter().flat_map(|plan| &plan.objects) {
            let namespace = match object.issued {
                Some(_) => Some(&object.id.namespace),
                None => self.needs.plan.namespace.as_ref(),
            };
            let trusted = annotation(&object.root, CA_BUNDLE).and_then(Node::as_str);
            let signers = object.issued.iter().flat_map(IssuedOrigin::signers).chain(trusted);
            for (signer, namespace) in signers.zip(std::iter::repeat(namespace)) {
                let Some(namespace) = namespace else { continue };
                let [group, kind] = ["", "Secret"].map(str::to_owned);
                let id = ObjectId { group, kind, namespace: namespace.clone(), name: signer.to_owned() };
                self.add_named(&id, "secrets".into(), "get");
            }
        }
    }

    /// Adds the rights to request the tokens of kubeconfigs in the guest.
    fn add_tokens(&mut self) {
        if self.needs.profile.cluster == Cluster::Management || !self.needs.has(Purpose::Apply) {
            return;
        }
        for object in self.needs.topology.iter().flat_map(|plan| &plan.objects) {
            if let Some(IssuedOrigin::Kubeconfig(kubeconfig)) = &object.issued
                && let (Proof::Token, GuestIdentity::ServiceAccount { namespace, name }) =
                    (&kubeconfig.proof, &kubeconfig.identity)
            {
                let [group, kind] = ["", "ServiceAccount"].map(str::to_owned);
                let id = ObjectId { group, kind, namespace: namespace.clone(), name: name.clone() };
                self.add_named(&id, "serviceaccounts/token".into(), "create");
            }
        }
    }

    fn add_object(&mut self, index: usize, object: &Object) -> Result<(), Diagnostic> {
        let (needs, id) = (self.needs, &object.id);
        self.add_reads(id);
        let is_applied = needs.has(Purpose::Apply);
        if object.is_tombstone() {
            if is_applied {
                self.add_deletion(object);
            }
            return Ok(());
        }
        let resource = needs.resources.of(id);
        if is_applied {
            self.add_creation(object, &resource);
        }
        if is_applied || needs.has(Purpose::Diff) {
            if needs.is_changed(object) {
                self.add_named(id, resource.clone(), "patch");
            }
            self.add_onward(index, object)?;
        }
        if needs.has(Purpose::Prune) || needs.has(Purpose::Delete) {
            self.add_deletion(object);
        }
        if needs.has(Purpose::Orphan) {
            self.add_named(id, resource, "patch");
        }
        Ok(())
    }

    /// Adds the rights to read an object and to list its kind.
    fn add_reads(&mut self, id: &ObjectId) {
        let resource = self.needs.resources.of(id);
        self.add_named(id, resource.clone(), "get");
        let namespace = match self.needs.profile.cluster {
            Cluster::Management => id.namespace.as_str(),
            Cluster::Guest | Cluster::Both => "",
        };
        self.add_unnamed(namespace, (id.group.as_str().into(), resource), "list");
    }

    fn add_creation(&mut self, object: &Object, resource: &Text) {
        let id = &object.id;
        let may_recreate = self.needs.may_recreate(id);
        // The URL of a POST has no name, so RBAC cannot limit `create` to a name. The URL of a server-side apply has
        // one.
        if object.is_create_only() || may_recreate {
            self.add_unnamed(&id.namespace, (id.group.as_str().into(), resource.clone()), "create");
        } else {
            self.add_named(id, resource.clone(), "create");
        }
        if may_recreate {
            self.add_named(id, resource.clone(), "delete");
        }
        if has_initial_status(object) {
            self.add_named(id, format!("{resource}/status").into(), "patch");
        }
    }

    fn add_deletion(&mut self, object: &Object) {
        self.add_named(&object.id, self.needs.resources.of(&object.id), "delete");
        if let Some(resource) = defined_resource(&object.root) {
            self.add_unnamed("", resource, "list");
        }
    }

    /// Adds the rights that a role or binding grants: the API server lets a user grant only rights that the user has.
    fn add_onward(&mut self, index: usize, object: &Object) -> Result<(), Diagnostic> {
        let ObjectId { group, kind, namespace, .. } = &object.id;
        match (group.as_str(), kind.as_str()) {
            (RBAC, "ClusterRole") if is_aggregated(object) => {
                self.add_named(&object.id, "clusterroles".into(), "escalate");
            }
            (RBAC, "Role" | "ClusterRole") => {
                for rule in RoleRule::read_all(&object.root) {
                    if self.rights_in(namespace).add(&rule).is_err() {
                        return Err(too_many_rights(object, self.needs.sources));
                    }
                }
            }
            (RBAC, "RoleBinding" | "ClusterRoleBinding") => {
                let Some((kind, name)) = role_of(&object.root) else { return Ok(()) };
                let resource = if kind == "ClusterRole" { "clusterroles" } else { "roles" };
                if !self.renders_before(index, kind, name) {
                    let role = ObjectId { kind: kind.to_owned(), name: name.to_owned(), ..object.id.clone() };
                    self.add_named(&role, resource.into(), "bind");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the role of a binding is rendered before it, with all its rules. The API server then compares the
    /// rules with the rights of the user.
    fn renders_before(&self, binding: usize, kind: &str, name: &str) -> bool {
        let plan = self.needs.plan;
        let namespace = if kind == "ClusterRole" { "" } else { &plan.objects[binding].id.namespace };
        let role = self.roles.get(&(kind, namespace, name));
        role.is_some_and(|role| plan.stage_of(*role) <= plan.stage_of(binding))
    }
}

/// Returns the index of each rendered role, by kind, namespace and name. Leaves out aggregated ClusterRoles, because a
/// controller sets their rules.
fn roles(plan: &Plan) -> HashMap<(&str, &str, &str), usize> {
    let mut roles = HashMap::new();
    for (index, object) in plan.objects.iter().enumerate() {
        let ObjectId { group, kind, namespace, name } = &object.id;
        let is_role = group == RBAC && matches!(kind.as_str(), "Role" | "ClusterRole");
        if is_role && !object.is_tombstone() && !is_aggregated(object) {
            roles.insert((kind.as_str(), namespace.as_str(), name.as_str()), index);
        }
    }
    roles
}

/// Returns kind and name of the role of a binding.
fn role_of(binding: &Node) -> Option<(&str, &str)> {
    let role = binding.get("roleRef")?;
    Some((role.get("kind")?.as_str()?, role.get("name")?.as_str()?))
}

/// Returns whether a controller sets the rules of a ClusterRole.
fn is_aggregated(role: &Object) -> bool {
    role.root.get("aggregationRule").is_some()
}

/// Returns whether `apply` sets the first status of an object.
fn has_initial_status(object: &Object) -> bool {
    (object.id.group.as_str(), object.id.kind.as_str()) == ("config.openshift.io", "ClusterOperator")
        && object.root.get("status").is_some_and(|status| status.get("relatedObjects").is_some())
}

fn too_many_rights(role: &Object, sources: &Sources) -> Diagnostic {
    let mut error = Diagnostic::error("the rules grant more than 100000 rights")
        .at(Location::of(role.root.mark, sources))
        .note("each verb on each resource and each name is a right")
        .help("use fewer verbs, resources or names, or `*`");
    error.object = Some(role.id.to_string());
    error
}
