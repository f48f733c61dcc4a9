//! How a command treats the clusters.

use std::time::Duration;

use tokio::time::Instant;

use crate::apply::decide::binding::Rebinding;
use crate::apply::decide::inventory_shards::PART_SIZE;
use crate::apply::decide::object_error::WaitHint;
use crate::apply::decide::ownership::Adoption;
use crate::apply::decide::prune::Approval;
use crate::apply::decide::release_version::Downgrade;
use crate::apply::wire::throttle::RequestLimits;
use crate::language::Selector;
use crate::object::{IssuedOrigin, ObjectId};

/// How a command treats the clusters.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to wait until every object is ready.
    pub wait: bool,
    /// The time limit for the whole command.
    pub timeout: Duration,
    /// How long to retry a request that fails transiently.
    pub retry_timeout: Duration,
    /// Whether to take over objects that others created.
    pub adoption: Adoption,
    /// Objects to recreate if a field is immutable. Jobs are always recreated.
    pub recreate: Vec<Selector>,
    /// Whether to delete objects that are no longer rendered.
    pub prune: bool,
    /// Whether `delete` leaves the objects in the clusters.
    pub orphan: bool,
    /// Which deletions the user approved.
    pub approval: Approval,
    /// Whether the clusters may be others than those that the inventories record.
    pub rebinding: Rebinding,
    /// Whether the payload may be older than the one that the clusters run.
    pub downgrade: Downgrade,
    /// How long to wait for another command that writes.
    pub lock_timeout: Duration,
    /// How long the Lease of this command is valid after a renewal. Other commands wait that long after this one died.
    pub lease_duration: Duration,
    /// The largest size in bytes of the list of objects in one `ConfigMap` of an inventory.
    pub part_size: usize,
    /// The ID of this run, which the Lease and the history name.
    pub run_id: String,
    /// The user and machine that run the command, which the Lease names.
    pub author: String,
    /// Whether all rendered objects are given.
    pub extent: Extent,
    /// The load on each API server.
    pub limits: RequestLimits,
    /// When the command started.
    pub started: Instant,
    /// How far ahead of this machine's clock the command acts, to renew early what will be due.
    pub ahead: Duration,
    /// Which credentials to renew although they are valid.
    pub rotation: Rotation,
    /// How long clients need to read the authorities that they trust: a kubelet updates a volume after up to a minute and a
    /// half. Only then a new signer signs the certificates of servers.
    pub trust_delay: Duration,
}

/// The credentials to renew although they are valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// None.
    #[default]
    None,
    /// Those of these names.
    Named(Vec<String>),
    /// All, except signers.
    All,
    /// The signers that transship created. Everything that they signed follows.
    Signers,
}

impl Rotation {
    /// Returns whether to renew an issued object.
    pub(crate) fn includes(&self, id: &ObjectId, origin: &IssuedOrigin) -> bool {
        // The content of the others does not change.
        let is_renewable = matches!(origin, IssuedOrigin::Kubeconfig(_) | IssuedOrigin::Certificate(_));
        match self {
            Self::None => false,
            Self::Named(names) => is_renewable && names.contains(&id.name),
            Self::All => is_renewable,
            Self::Signers => *origin == IssuedOrigin::Signer,
        }
    }
}

/// Which of the rendered objects a command is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    #[default]
    Whole,
    /// Only some of them. The inventory keeps the entries of all others, nothing is pruned, and the rollout does not count as
    /// an installation.
    Partial,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wait: false,
            timeout: Duration::from_secs(600),
            retry_timeout: Duration::from_secs(30),
            adoption: Adoption::default(),
            recreate: Vec::new(),
            prune: false,
            orphan: false,
            approval: Approval::default(),
            rebinding: Rebinding::default(),
            downgrade: Downgrade::default(),
            lock_timeout: Duration::from_secs(30),
            lease_duration: Duration::from_secs(15),
            part_size: PART_SIZE,
            run_id: format!("{:08x}", fastrand::u32(..)),
            author: String::new(),
            extent: Extent::default(),
            limits: RequestLimits::default(),
            started: Instant::now(),
            ahead: Duration::ZERO,
            rotation: Rotation::default(),
            trust_delay: Duration::from_secs(90),
        }
    }
}

impl Options {
    pub(crate) fn deadline(&self) -> Instant {
        self.started + self.timeout
    }

    /// Returns whether an object may be deleted and created again.
    pub(crate) fn may_recreate(&self, id: &ObjectId) -> bool {
        let is_job = id.group == "batch" && id.kind == "Job";
        is_job || self.recreate.iter().any(|selector| selector.matches(id))
    }

    /// Returns whether messages should mention `--wait`.
    pub(crate) fn wait_hint(&self) -> WaitHint {
        if self.wait { WaitHint::Omit } else { WaitHint::Mention }
    }
}
