//! The start of a rollout in one cluster: reads the cluster, and if there is anything to write, makes sure that this command may
//! write.

use std::collections::HashSet;
use std::sync::Arc;

use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::writer::Writer;
use crate::apply::decide::decision::{Decision, DecisionInput};
use crate::apply::decide::rollout::{ClusterId, Rollout, Step, StepId};
use crate::apply::run::contacts::Topology;
use crate::apply::run::inventory_update::inventory_ahead;
use crate::apply::run::run_start::{record_user, started_run};
use crate::object::{ConfigHash, ConfigPart, IssuedOrigin, Object, ObjectId, Proof};

/// How often to read a cluster again because another command wrote its inventory meanwhile.
const MAX_ATTEMPTS: usize = 3;

/// A cluster to start with.
pub(crate) struct ClusterStart<'s, 'a> {
    pub(crate) topology: &'s Topology<'s, 'a>,
    pub(crate) rollout: &'s Rollout<'a>,
    pub(crate) id: ClusterId,
    /// The management cluster, if this one is the guest.
    pub(crate) management: Option<Arc<LiveCluster<'a>>>,
}

impl<'a> ClusterStart<'_, 'a> {
    /// Reads the cluster. If there is anything to write, takes the lock and writes the inventory. If another command wrote the
    /// inventory since it was read, reads the cluster again.
    pub(crate) async fn run(self, contact: Option<Contact>) -> Result<LiveCluster<'a>, ClusterError> {
        let mut contact = contact;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let made = match contact.take() {
                Some(contact) => contact,
                None => self.contact().await?,
            };
            let cluster = self.read(made).await?;
            match self.begin(&cluster).await {
                Err(ClusterError::OtherRollout { .. }) if attempt < MAX_ATTEMPTS => {}
                // Objects that the inventory lists already can be applied, and may remove the cause.
                Err(error) if self.may_recover(&cluster, &error) => {
                    cluster.set_held_back(error);
                    return Ok(cluster);
                }
                result => return result.map(|()| cluster),
            }
        }
    }

    /// Returns whether objects that the inventory lists already, or its namespace, may make it possible to write the inventory.
    fn may_recover(&self, cluster: &LiveCluster<'_>, error: &ClusterError) -> bool {
        let is_namespace = |(_, step): (StepId, &Step<'_>)| cluster.is_inventory_namespace(&step.object.id);
        error.is_namespace_missing() && self.rollout.steps_of(self.id).any(is_namespace)
            || error.is_inventory_rejected() && !cluster.inventory.initial().entries.is_empty()
    }

    async fn contact(&self) -> Result<Contact, ClusterError> {
        let contact = self.topology.contact(self.id.0).await?;
        let management = self.management.as_ref().map(|management| &management.identity);
        self.topology.bind_late(&contact, management)?;
        Ok(contact)
    }

    async fn read(&self, contact: Contact) -> Result<LiveCluster<'a>, ClusterError> {
        let target = &self.topology.targets[self.id.0];
        let writer = Writer::new(self.topology.lock.clone());
        let with = (self.topology.options.extent, &self.topology.authorities);
        let mut cluster = LiveCluster::read(contact, target, writer, with).await?;
        cluster.find_existing(&target.plan.objects).await;
        cluster.read_issued(&target.plan.objects).await;
        cluster.inventory.set_run(started_run("apply", &cluster, self.topology.options));
        let ahead = inventory_ahead(&cluster, self.rollout, self.id, self.topology.options.extent);
        cluster.inventory.check_size(&ahead)?;
        cluster.writer.set_ahead(ahead);
        Ok(cluster)
    }

    /// Begins to write, if there is anything to write.
    async fn begin(&self, cluster: &LiveCluster<'a>) -> Result<(), ClusterError> {
        if let Some(unchanged) = self.find_unchanged(cluster) {
            cluster.set_unchanged(unchanged);
            return Ok(());
        }
        record_user(cluster).await;
        self.bind_management().await?;
        cluster.writer.begin(&cluster.inventory).await
    }

    /// Records the guest in the management cluster before the first write to the guest.
    async fn bind_management(&self) -> Result<(), ClusterError> {
        let Some(management) = &self.management else { return Ok(()) };
        if management.inventory.records_guest() {
            return Ok(());
        }
        management.writer.begin(&management.inventory).await?;
        if management.inventory.records_guest() { Ok(()) } else { management.inventory.save_binding().await }
    }

    /// Returns the objects that are as desired if there is nothing to write. Objects that must be read one by one are not
    /// among them; whether they differ turns out later. Returns `None` if there is anything to write.
    fn find_unchanged(&self, cluster: &LiveCluster<'a>) -> Option<HashSet<ObjectId>> {
        let ahead = cluster.writer.ahead()?;
        if cluster.inventory.needs_write(ahead) {
            return None;
        }
        let mut unchanged = HashSet::new();
        for (_, step) in self.rollout.steps_of(self.id) {
            match self.is_unchanged(cluster, step) {
                Some(true) => _ = unchanged.insert(step.object.id.clone()),
                Some(false) => return None,
                None => {}
            }
        }
        Some(unchanged)
    }

    /// Returns whether an object is or mounts a kubeconfig with a token. Only the guest knows whether it accepts the token, and it
    /// is read later.
    fn depends_on_token(&self, object: &Object) -> bool {
        let has_token = |object: &Object| matches!(&object.issued, Some(IssuedOrigin::Kubeconfig(kubeconfig)) if kubeconfig.proof == Proof::Token);
        let mounts = |part: &ConfigPart| {
            let mut steps = self.rollout.steps_of(self.id).map(|(_, step)| step.object);
            let is_part = |other: &Object| {
                let id = &other.id;
                id.kind == part.kind && id.name == part.name && id.namespace == object.id.namespace
            };
            steps.any(|other| is_part(other) && has_token(other))
        };
        has_token(object) || object.config_hash.iter().flat_map(ConfigHash::issued).any(mounts)
    }

    /// Returns whether an object is as desired; `None` if that is not known yet.
    fn is_unchanged(&self, cluster: &LiveCluster<'a>, step: &Step<'a>) -> Option<bool> {
        if self.depends_on_token(step.object) {
            return None;
        }
        let live = cluster.labelled(&step.object.id)?;
        let desired = cluster.desired(step.object);
        let input = DecisionInput { id: &step.object.id, action: step.action, desired: &desired };
        let context = cluster.decision_context(self.topology.options);
        Some(matches!(context.decide(&input, Some(&live)), Ok(Decision::Skip)))
    }
}
