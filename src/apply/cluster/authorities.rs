//! The signers of a topology, and the authorities that the clients of their certificates trust. All clusters share them: the
//! signers are in the management cluster, and the guest trusts them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::apply::cluster::options::{Options, Rotation};
use crate::apply::cluster::target::TargetCluster;
use crate::apply::wire::api_server::ApiServer;
use crate::credentials::bundle;
use crate::credentials::certificate::Certificate;
use crate::credentials::clock::Clock;
use crate::credentials::signer::Signer;
use crate::object::{CA_BUNDLE, Cluster, IssuedOrigin, ObjectId, annotation};
use crate::order::Plan;
use crate::yaml::Node;

/// The Secret of a signer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SignerId {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl fmt::Display for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret/{} in {}", self.name, self.namespace)
    }
}

/// A signer as it was last read.
#[derive(Clone)]
pub(crate) struct KnownSigner {
    /// The signer, or why it cannot be used.
    pub(crate) signer: Result<Arc<Signer>, String>,
    /// The authorities that clients trust.
    pub(crate) bundle: Vec<Certificate>,
}

/// The trust of existing objects in signers.
#[derive(Default)]
struct Trust {
    /// Those that do not trust the current authority of a signer yet.
    distrusting: BTreeSet<(SignerId, &'static str, ObjectId)>,
    /// Since when all others trust the authority of a signer, in seconds since 1970.
    since: BTreeMap<SignerId, i64>,
}

/// Whether all clients trust the authority of a signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// They do, for long enough.
    Settled,
    /// This object does not.
    Missing(String),
    /// They do, since this many seconds.
    Since(i64),
}

/// The signers of a topology.
pub(crate) struct Authorities {
    pub(crate) clock: Clock,
    /// The credentials that a user wants to renew.
    pub(crate) rotation: Rotation,
    /// The signers that rendered objects name.
    pub(crate) needed: BTreeSet<SignerId>,
    known: Mutex<BTreeMap<SignerId, KnownSigner>>,
    /// The trust of existing objects in signers.
    trust: Mutex<Trust>,
    /// Whether objects of the guest trust signers.
    guest_trusts: bool,
    /// The guest, once it was read.
    guest: OnceLock<Arc<ApiServer>>,
}

impl Authorities {
    pub(crate) fn new(targets: &[TargetCluster<'_>], options: &Options) -> Self {
        let mut needed = BTreeSet::new();
        let mut guest_trusts = false;
        for target in targets {
            for object in &target.plan.objects {
                needed.extend(signers_of(&object.id, object.issued.as_ref()));
                if let Some(signer) = trusted_signer(&object.root, target.plan) {
                    guest_trusts |= target.profile.cluster == Cluster::Guest;
                    needed.insert(signer);
                }
            }
        }
        let (known, trust) = (Mutex::default(), Mutex::default());
        let (clock, rotation) = (Clock::ahead_by(options.ahead), options.rotation.clone());
        Self { clock, rotation, needed, known, trust, guest_trusts, guest: OnceLock::new() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<SignerId, KnownSigner>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trust(&self) -> MutexGuard<'_, Trust> {
        self.trust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a signer as it was read.
    pub(crate) fn set(&self, id: SignerId, signer: KnownSigner) {
        self.known().insert(id, signer);
    }

    /// Returns a signer, or why it cannot be used.
    pub(crate) fn signer(&self, id: &SignerId) -> Result<Arc<Signer>, String> {
        let known = self.known().get(id).map(|known| known.signer.clone());
        match known {
            Some(Ok(signer)) => Ok(signer),
            Some(Err(reason)) => Err(format!("the signer {id} cannot be used: {reason}")),
            None => Err(format!("the signer {id} is not known, because the management cluster was not read")),
        }
    }

    /// Returns the authorities that the clients of a signer trust.
    pub(crate) fn bundle(&self, id: &SignerId) -> Result<Vec<Certificate>, String> {
        let known = self.known().get(id).map(|known| known.bundle.clone());
        match known {
            Some(bundle) if !bundle.is_empty() => Ok(bundle),
            _ => self.signer(id).map(|signer| vec![signer.certificate.clone()]),
        }
    }

    /// Returns these authorities as PEM.
    pub(crate) fn bundle_pem(&self, id: &SignerId) -> Result<String, String> {
        self.bundle(id).map(|authorities| bundle::pem(&authorities))
    }

    /// Records what an existing object trusts, and since when.
    pub(crate) fn check_trust(
        &self,
        id: &SignerId,
        client: (Cluster, &ObjectId),
        trusted: &[Certificate],
        since: i64,
    ) {
        let Ok(signer) = self.signer(id) else { return };
        if trusted.is_empty() {
            return;
        }
        let mut trust = self.trust();
        if trusted.contains(&signer.certificate) {
            let latest = trust.since.entry(id.clone()).or_insert(since);
            *latest = since.max(*latest);
        } else {
            let (cluster, object) = client;
            trust.distrusting.insert((id.clone(), cluster.name(), object.clone()));
        }
    }

    /// Records that an object was written, so that it trusts all signers.
    pub(crate) fn set_trusts(&self, cluster: Cluster, object: &ObjectId) {
        let mut trust = self.trust();
        let all = std::mem::take(&mut trust.distrusting);
        for client in all {
            if client.1 == cluster.name() && client.2 == *object {
                trust.since.insert(client.0, self.clock.now());
            } else {
                trust.distrusting.insert(client);
            }
        }
    }

    /// Returns whether all clients trust the authority of a signer for so many seconds.
    pub(crate) fn trust_state(&self, id: &SignerId, delay: i64) -> TrustState {
        if self.guest_trusts && self.guest.get().is_none() {
            return TrustState::Missing("the guest, which has not responded,".to_owned());
        }
        let trust = self.trust();
        if let Some((_, cluster, object)) = trust.distrusting.iter().find(|(signer, ..)| signer == id) {
            return TrustState::Missing(format!("{object} ({cluster})"));
        }
        match trust.since.get(id).map(|since| self.clock.now() - since) {
            Some(passed) if passed < delay => TrustState::Since(passed.max(0)),
            _ => TrustState::Settled,
        }
    }

    /// Records the guest.
    pub(crate) fn set_guest(&self, server: Arc<ApiServer>) {
        _ = self.guest.set(server);
    }

    /// Returns the guest, once it was read.
    pub(crate) fn guest(&self) -> Option<&Arc<ApiServer>> {
        self.guest.get()
    }
}

/// Returns the signers that an issued object needs.
pub(crate) fn signers_of(id: &ObjectId, origin: Option<&IssuedOrigin>) -> Vec<SignerId> {
    let signers = origin.into_iter().flat_map(IssuedOrigin::signers);
    signers.map(|name| SignerId { namespace: id.namespace.clone(), name: name.to_owned() }).collect()
}

/// Returns the signer whose authorities go into the `caBundle` of an object.
pub(crate) fn trusted_signer(root: &Node, plan: &Plan) -> Option<SignerId> {
    let name = annotation(root, CA_BUNDLE)?.as_str()?.to_owned();
    let namespace = plan.hosted_control_plane.clone().or_else(|| plan.namespace.clone())?;
    Some(SignerId { namespace, name })
}
