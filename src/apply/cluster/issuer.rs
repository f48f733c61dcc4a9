//! The issued objects of one cluster: which of them have valid values, which get new ones, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::apply::cluster::authorities::{Authorities, SignerId};
use crate::apply::decide::desired::Desired;
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::issued_values::{fill_authorities, fill_config_hash, fill_values};
use crate::credentials::due::Due;
use crate::credentials::kubeconfig::Wanted;
use crate::credentials::signer::Signer;
use crate::credentials::values::Values;
use crate::credentials::{kubeconfig, serving};
use crate::object::{
    BUNDLE_KEY, ConfigPart, IssuedCertificate, IssuedKubeconfig, IssuedOrigin, Object, ObjectId, Proof,
};
use crate::sha256::Sha256;

/// Kind, namespace and name of a Secret or ConfigMap.
type IssuedId = (String, String, String);

/// The issued objects of one cluster.
pub(crate) struct Issuer {
    pub(crate) authorities: Arc<Authorities>,
    objects: Mutex<BTreeMap<IssuedId, Known>>,
    /// The objects that this run gave new values.
    issued: Mutex<BTreeSet<ObjectId>>,
}

/// An issued object as it was last read or issued.
#[derive(Clone, Default)]
struct Known {
    values: Values,
    /// The type of the live Secret, which cannot be changed.
    live_type: Option<String>,
    /// Why it could not be read. Nobody knows whether it has valid values, so it gets no new ones.
    unread: Option<String>,
}

impl Issuer {
    pub(crate) fn new(authorities: Arc<Authorities>) -> Self {
        Self { authorities, objects: Mutex::default(), issued: Mutex::default() }
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<IssuedId, Known>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn issued(&self) -> MutexGuard<'_, BTreeSet<ObjectId>> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the values and the type of a live object.
    pub(crate) fn set_live(&self, id: &ObjectId, values: Values, live_type: Option<String>) {
        self.objects().insert(issued_id(id), Known { values, live_type, unread: None });
    }

    /// Records that an object could not be read.
    pub(crate) fn set_unread(&self, id: &ObjectId, reason: String) {
        self.objects().insert(issued_id(id), Known { unread: Some(reason), ..Known::default() });
    }

    fn check_read(&self, id: &IssuedId) -> Result<(), String> {
        match self.objects().get(id).and_then(|known| known.unread.clone()) {
            Some(reason) => Err(format!("{}/{} cannot be read: {reason}", id.0, id.2)),
            None => Ok(()),
        }
    }

    /// Records new values of an object.
    pub(crate) fn set_issued(&self, id: &ObjectId, values: Values) {
        self.objects().entry(issued_id(id)).or_default().values = values;
        self.issued().insert(id.clone());
    }

    /// Returns the values of an object; empty if it has none.
    pub(crate) fn values(&self, id: &ObjectId) -> Values {
        self.objects().get(&issued_id(id)).map(|known| known.values.clone()).unwrap_or_default()
    }

    /// Fills in what is known only in the cluster.
    pub(crate) fn fill(&self, object: &Object, trusted: Option<&SignerId>, desired: &mut Desired) {
        if let Some(origin) = &object.issued {
            self.fill_issued(object, origin, desired);
        } else if let Some(signer) = trusted {
            match self.authorities.bundle_pem(signer) {
                Ok(pem) => fill_authorities(desired, &pem),
                Err(reason) => desired.issue = IssueState::Impossible(reason),
            }
        } else if let Some(hash) = &object.config_hash {
            // A hash without values that exist would restart the pods.
            for part in hash.issued() {
                let id = (part.kind.to_owned(), object.id.namespace.clone(), part.name.clone());
                if let Err(reason) = self.check_read(&id) {
                    desired.issue = IssueState::Impossible(reason);
                }
            }
            let live = hash.with_values(|part| self.digest(part, &object.id.namespace));
            fill_config_hash(desired, &hash.rendered(), &live);
        }
    }

    fn fill_issued(&self, object: &Object, origin: &IssuedOrigin, desired: &mut Desired) {
        let known = self.objects().get(&issued_id(&object.id)).cloned().unwrap_or_default();
        desired.issue = match self.due(object, origin, &known.values) {
            Ok(Some(due)) => IssueState::Due(due),
            Ok(None) => IssueState::Issued,
            Err(reason) => IssueState::Impossible(reason),
        };
        fill_values(desired, &known.values.only(&origin.keys()), known.live_type.as_deref());
    }

    /// Returns the digest of the values that a pod uses; `None` if they are not known.
    fn digest(&self, part: &ConfigPart, namespace: &str) -> Option<Sha256> {
        let id = (part.kind.to_owned(), namespace.to_owned(), part.name.clone());
        let objects = self.objects();
        let known = objects.get(&id)?;
        let mut values = known.values.iter().peekable();
        values.peek()?;
        Some(part.digest(values))
    }

    /// Returns why an object gets new values; `None` if it has valid ones. Fails if it has none and cannot get any.
    pub(crate) fn due(
        &self,
        object: &Object,
        origin: &IssuedOrigin,
        values: &Values,
    ) -> Result<Option<Due>, String> {
        self.check_read(&issued_id(&object.id))?;
        let due = match origin {
            IssuedOrigin::Signer => Ok(self.due_signer(values)),
            IssuedOrigin::Bundle { signer } => self.due_bundle(&signer_id(object, signer), values),
            IssuedOrigin::Certificate(wanted) => self.due_certificate(object, wanted, values),
            IssuedOrigin::Kubeconfig(wanted) => self.due_kubeconfig(object, wanted, values),
            IssuedOrigin::Credentials(credentials) => {
                let files = credentials.files().map_err(|missing| missing.to_string())?;
                let is_same = files.iter().all(|(key, file)| values.text(key) == Some(file));
                Ok((!is_same).then_some(if values.has_all(&origin.keys()) { Due::Content } else { Due::New }))
            }
        }?;
        let is_requested = self.authorities.rotation.includes(&object.id, origin);
        let is_settled = due.is_some() || self.issued().contains(&object.id);
        Ok(if is_requested && !is_settled { Some(Due::Requested) } else { due })
    }

    /// A signer that cannot be read stays: someone must decide what happens to everything that it signed.
    fn due_signer(&self, values: &Values) -> Option<Due> {
        let now = self.authorities.clock.now();
        match Signer::read(values) {
            Ok(signer) => (now >= signer.certificate.renewal()).then_some(Due::Renewal),
            Err(_) => Some(Due::New).filter(|_| !values.has_all(&["ca.crt"])),
        }
    }

    fn due_bundle(&self, signer: &SignerId, values: &Values) -> Result<Option<Due>, String> {
        match self.authorities.bundle_pem(signer) {
            Ok(pem) if values.text(BUNDLE_KEY) == Some(&pem) => Ok(None),
            Ok(_) => Ok(Some(if values.get(BUNDLE_KEY).is_none() { Due::New } else { Due::Authorities })),
            Err(_) if values.get(BUNDLE_KEY).is_some() => Ok(None),
            Err(reason) => Err(reason),
        }
    }

    fn due_certificate(
        &self,
        object: &Object,
        wanted: &IssuedCertificate,
        values: &Values,
    ) -> Result<Option<Due>, String> {
        let signer = self.authorities.signer(&signer_id(object, &wanted.signer));
        let certificate = signer.as_ref().ok().map(|signer| &signer.certificate);
        let now = self.authorities.clock.now();
        let due = serving::due(values, wanted, &object.id.namespace, certificate, now);
        without_signer(due, signer.err())
    }

    fn due_kubeconfig(
        &self,
        object: &Object,
        wanted: &IssuedKubeconfig,
        values: &Values,
    ) -> Result<Option<Due>, String> {
        let authorities = self.authorities.bundle_pem(&signer_id(object, &wanted.authority));
        let signer = match &wanted.proof {
            Proof::Certificate { signer } => Some(self.authorities.signer(&signer_id(object, signer))),
            Proof::Token => None,
        };
        let certificate = signer.as_ref().and_then(|signer| signer.as_ref().ok());
        let due = kubeconfig::due(
            values,
            &Wanted {
                kubeconfig: wanted,
                authorities: authorities.as_deref().ok(),
                signer: certificate.map(|signer| &signer.certificate),
                now: self.authorities.clock.now(),
            },
        );
        without_signer(due, authorities.err().or_else(|| signer.and_then(Result::err)))
    }
}

/// Returns why an object gets new values. Fails if that needs a signer that cannot be used.
fn without_signer(due: Option<Due>, problem: Option<String>) -> Result<Option<Due>, String> {
    match (due, problem) {
        (Some(_), Some(problem)) => Err(problem),
        (due, _) => Ok(due),
    }
}

/// Returns the signer of an issued object: a Secret in its namespace.
pub(crate) fn signer_id(object: &Object, name: &str) -> SignerId {
    SignerId { namespace: object.id.namespace.clone(), name: name.to_owned() }
}

fn issued_id(id: &ObjectId) -> IssuedId {
    (id.kind.clone(), id.namespace.clone(), id.name.clone())
}
