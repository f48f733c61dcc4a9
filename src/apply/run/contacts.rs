//! First contact with the clusters of a topology: checks that they belong together, before transship reads or writes anything
//! else.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{sleep, timeout_at};
use tracing::info;

use crate::apply::cluster::authorities::Authorities;
use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::cluster::write_lock::{LockSettings, WriteLock};
use crate::apply::decide::binding::{
    BindingError, BindingErrorKind, FoundClusters, FoundIdentity, Rebinding,
};
use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::write_guard::WriteGuard;
use crate::diagnostic::Diagnostic;
use crate::object::Cluster;

/// The delay before a cluster that does not respond is contacted again.
pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The result of the first contact with each cluster.
pub(crate) type Contacts = Vec<Result<Contact, ClusterError>>;

/// How often to try the first contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Once: the caller tries again.
    Once,
    /// For as long as transship retries a request.
    Retry,
}

/// The clusters of a topology, and the lock for writing to them.
pub(crate) struct Topology<'t, 'a> {
    pub(crate) targets: &'t [TargetCluster<'a>],
    pub(crate) options: &'t Options,
    /// `None` for commands that do not write.
    pub(crate) lock: Option<Arc<WriteLock>>,
    /// The signers of all clusters.
    pub(crate) authorities: Arc<Authorities>,
    guard: WriteGuard,
}

impl<'t, 'a> Topology<'t, 'a> {
    /// The clusters for a command that does not write.
    pub(crate) fn to_read(targets: &'t [TargetCluster<'a>], options: &'t Options) -> Self {
        let authorities = Arc::new(Authorities::new(targets, options));
        Self { targets, options, lock: None, authorities, guard: WriteGuard::closed() }
    }

    /// The clusters for a command that writes. The Lease is in the standalone or management cluster, never in the guest.
    pub(crate) fn to_write(targets: &'t [TargetCluster<'a>], options: &'t Options, command: &str) -> Self {
        let mut topology = Self::to_read(targets, options);
        let target = &targets[topology.primary()];
        let author = if options.author.is_empty() { "an unknown user" } else { &options.author };
        let settings = LockSettings {
            location: InventoryLocation::of(target.profile, target.plan),
            identity: format!("transship {command} by {author} (run {})", options.run_id),
            duration: options.lease_duration,
            timeout: options.lock_timeout,
        };
        let retry_timeout = options.retry_timeout.min(options.lease_duration / 2);
        let server = ApiServer::new(target.client.clone(), retry_timeout, options.deadline());
        topology.lock = Some(Arc::new(WriteLock::new(server, settings, topology.guard.clone())));
        topology
    }

    /// Returns the index of the standalone or management cluster.
    pub(crate) fn primary(&self) -> usize {
        self.targets.iter().position(|target| target.profile.cluster != Cluster::Guest).unwrap_or_default()
    }

    fn guest(&self) -> Option<usize> {
        self.targets.iter().position(|target| target.profile.cluster == Cluster::Guest)
    }

    /// Contacts a cluster.
    pub(crate) async fn contact(&self, index: usize) -> Result<Contact, ClusterError> {
        Contact::make(&self.targets[index], self.options, self.guard.clone()).await
    }

    /// Contacts a cluster. If that fails transiently, tries again for as long as transship retries a request.
    async fn contact_patiently(&self, index: usize) -> Result<Contact, ClusterError> {
        let options = self.options;
        loop {
            match self.contact(index).await {
                Err(error) if error.is_transient() && options.started.elapsed() < options.retry_timeout => {
                    let delay = error.retry_after().unwrap_or(RETRY_DELAY);
                    let cluster = self.targets[index].profile.cluster.name();
                    info!(cluster, %error, ?delay, "contacting the cluster again");
                    sleep(delay).await;
                }
                result => return result,
            }
        }
    }

    /// Contacts all clusters, and checks that they belong together. A cluster that cannot be used does not affect the others.
    pub(crate) async fn contact_all(&self, patience: Patience) -> Result<Contacts, Diagnostic> {
        let contact = async |index: usize| {
            let contact = async {
                match patience {
                    Patience::Once => self.contact(index).await,
                    Patience::Retry => self.contact_patiently(index).await,
                }
            };
            match timeout_at(self.options.deadline(), contact).await {
                Ok(result) => result,
                Err(_) => Err(RequestError::DeadlineExceeded.into()),
            }
        };
        let contacts = join_all((0..self.targets.len()).map(contact)).await;
        self.bind(contacts)
    }

    /// Checks that clusters belong together, and records that in their inventories with the next write.
    fn bind(&self, mut contacts: Contacts) -> Result<Contacts, Diagnostic> {
        let primary = self.primary();
        let guest = self.guest().filter(|guest| *guest != primary);
        let Ok(cluster) = &contacts[primary] else { return Ok(contacts) };
        let guest_contact = guest.and_then(|guest| contacts[guest].as_ref().ok());
        let found = self.found(&cluster.identity, guest_contact.map(|contact| &contact.identity));
        found.check_cluster(self.options.rebinding).map_err(|error| refusal(&error))?;
        let mut refused = None;
        if let Err(error) = found.check_guest(self.options.rebinding) {
            // The guest's administrator can edit its inventory, which must not stop the management cluster.
            if !found.is_guest_confirmed() {
                return Err(refusal(&error));
            }
            refused = Some(error);
        }
        let binding = found.binding().or_recorded(&cluster.identity.recorded);
        cluster.inventory.set_binding(binding.clone());
        if let Some(contact) = guest_contact {
            contact.inventory.set_binding(binding);
        }
        if let (Some(guest), Some(error)) = (guest, refused) {
            contacts[guest] = Err(ClusterError::NotBound(error));
        }
        Ok(contacts)
    }

    /// Checks a cluster that responded later than the other one. `primary` is the standalone or management cluster, unless this
    /// cluster is it.
    pub(crate) fn bind_late(
        &self,
        contact: &Contact,
        primary: Option<&FoundIdentity>,
    ) -> Result<(), ClusterError> {
        let found = match primary {
            Some(primary) => self.found(primary, Some(&contact.identity)),
            None => self.found(&contact.identity, None),
        };
        found.check_cluster(self.options.rebinding).map_err(ClusterError::NotBound)?;
        found.check_guest(self.options.rebinding).map_err(ClusterError::NotBound)?;
        contact.inventory.set_binding(found.binding().or_recorded(&found.cluster.recorded));
        Ok(())
    }

    /// Checks identities with other recorded bindings than those of the first contact.
    pub(crate) fn check_identities(&self, identities: &[FoundIdentity]) -> Result<(), Diagnostic> {
        let guest = self.guest().map(|guest| &identities[guest]);
        let found = self.found(&identities[self.primary()], guest);
        let checked = found.check_cluster(Rebinding::Off).and_then(|()| found.check_guest(Rebinding::Off));
        checked.map_err(|error| refusal(&error))
    }

    fn found<'f>(
        &'f self,
        cluster: &'f FoundIdentity,
        guest: Option<&'f FoundIdentity>,
    ) -> FoundClusters<'f> {
        let hosted_namespace = self.targets[self.primary()].plan.hosted_control_plane.as_deref();
        FoundClusters { hosted_namespace, cluster, guest }
    }
}

/// Refuses clusters that do not belong together.
fn refusal(error: &BindingError) -> Diagnostic {
    let help = match error.kind {
        BindingErrorKind::SameCluster => "pass the kubeconfig of the guest with --guest-kubeconfig",
        _ => {
            "check the kubeconfigs and the parameters; if the clusters were replaced on purpose, run `transship apply --rebind`"
        }
    };
    Diagnostic::error(error.to_string())
        .note(format!("expected: {}", error.expected))
        .note(format!("found: {}", error.found))
        .note("transship has written nothing")
        .help(help)
}
