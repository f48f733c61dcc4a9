//! Reads the live values of issued objects, and the signers that they need.

use std::sync::Arc;

use futures_util::future::join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::Value;

use crate::apply::cluster::authorities::{KnownSigner, SignerId};
use crate::apply::cluster::issuer::signer_id;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::issued_values::authorities_of;
use crate::apply::decide::managed_fields;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::ObjectPath;
use crate::credentials::bundle::{BundleInput, bundle};
use crate::credentials::certificate::Certificate;
use crate::credentials::signer::Signer;
use crate::credentials::values::Values;
use crate::credentials::{kubeconfig, serving};
use crate::object::{BUNDLE_KEY, Cluster, ConfigHash, ISSUED, IssuedOrigin, Object, ObjectId};

impl LiveCluster<'_> {
    /// Reads the values of issued objects, and the signers. The guest has no signers.
    pub(crate) async fn read_issued(&self, objects: &[Object]) {
        let ids = objects.iter().filter(|object| object.issued.is_some()).map(|object| object.id.clone());
        let ids = ids.chain(objects.iter().flat_map(mounted_issued));
        let mut unique: Vec<ObjectId> = ids.collect();
        unique.sort();
        unique.dedup();
        join_all(unique.iter().map(|id| self.read_values(id))).await;
        if self.cluster == Cluster::Guest {
            self.issuer.authorities.set_guest(Arc::clone(&self.server));
        } else {
            self.read_signers(objects).await;
        }
        self.find_trust(objects);
    }

    /// Reads the values of an object, as it was at the start if it had the label.
    async fn read_values(&self, id: &ObjectId) {
        match self.labelled(id) {
            Some(live) => self.set_live(id, &live),
            None => self.read_values_now(id).await,
        }
    }

    async fn read_values_now(&self, id: &ObjectId) {
        match self.get(&path(id), &HeldMemory::default()).await {
            Ok(live) => self.set_live(id, &live.unwrap_or_default()),
            Err(error) => self.issuer.set_unread(id, error.message_without_values()),
        }
    }

    fn set_live(&self, id: &ObjectId, live: &Value) {
        let live_type = live["type"].as_str().map(str::to_owned);
        self.issuer.set_live(id, Values::of_live(live), live_type);
    }

    /// Reads the values of an issued object and the signers again, because someone may have created what was missing.
    pub(crate) async fn read_issued_again(&self, object: &Object, objects: &[Object]) {
        self.read_values_now(&object.id).await;
        if self.cluster != Cluster::Guest {
            self.read_signers(objects).await;
        }
    }

    /// Reads the signers that the objects of all clusters need.
    pub(crate) async fn read_signers(&self, objects: &[Object]) {
        for id in &self.issuer.authorities.needed {
            let known = match self.trusted_before(id).await {
                Ok(trusted) => self.known_signer(id, trusted, objects).await,
                // Without it, the authorities before the current one would get lost.
                Err(reason) => KnownSigner { signer: Err(reason), bundle: Vec::new() },
            };
            self.issuer.authorities.set(id.clone(), known);
        }
    }

    async fn known_signer(
        &self,
        id: &SignerId,
        trusted: Vec<Certificate>,
        objects: &[Object],
    ) -> KnownSigner {
        let signer = self.read_signer(id).await;
        let bundle = match &signer {
            Ok(signer) => self.bundle(id, signer, trusted, objects),
            // Clients trust what they trusted before.
            Err(_) => trusted,
        };
        KnownSigner { signer, bundle }
    }

    async fn read_signer(&self, id: &SignerId) -> Result<Arc<Signer>, String> {
        let secret = object_id("Secret", &id.namespace, &id.name);
        // A signer that this run created.
        let issued = self.issuer.values(&secret);
        let values = if issued.has_all(&["ca.crt"]) {
            issued
        } else {
            match self.get(&path(&secret), &HeldMemory::default()).await {
                Ok(Some(live)) => Values::of_live(&live),
                Ok(None) => return Err("it does not exist".to_owned()),
                Err(error) => return Err(error.message_without_values()),
            }
        };
        Signer::read(&values).map(Arc::new).map_err(|error| error.to_string())
    }

    /// Returns the authorities that the clients of a signer trust.
    fn bundle(
        &self,
        id: &SignerId,
        signer: &Signer,
        mut trusted: Vec<Certificate>,
        objects: &[Object],
    ) -> Vec<Certificate> {
        let mut leaves = Vec::new();
        for live in self.labelled_with(ISSUED) {
            let values = Values::of_live(&live);
            leaves.extend(serving::certificate_of(&values));
        }
        for object in objects {
            let values = self.issuer.values(&object.id);
            match &object.issued {
                Some(IssuedOrigin::Certificate(wanted)) if wanted.signer == id.name => {
                    let authority = values.get(serving::AUTHORITY).and_then(Certificate::read_all);
                    trusted.extend(authority.unwrap_or_default());
                    leaves.extend(serving::certificate_of(&values));
                }
                Some(IssuedOrigin::Kubeconfig(wanted)) if wanted.authority == id.name => {
                    let found = values.text(kubeconfig::KEY).and_then(kubeconfig::read);
                    trusted.extend(found.map(|found| found.authorities()).unwrap_or_default());
                }
                _ => {}
            }
        }
        let now = self.issuer.authorities.clock.now();
        bundle(BundleInput { current: &signer.certificate, trusted, signed: leaves, now })
    }

    /// Returns the authorities that the ConfigMap of a signer has.
    async fn trusted_before(&self, id: &SignerId) -> Result<Vec<Certificate>, String> {
        let Some(name) = self.bundle_of(&id.name) else { return Ok(Vec::new()) };
        let config_map = object_id("ConfigMap", &id.namespace, name);
        let live = match self.labelled(&config_map) {
            Some(live) => Some(live),
            None => self.get(&path(&config_map), &HeldMemory::default()).await.map_err(|error| {
                format!("its bundle, ConfigMap/{name}, cannot be read: {}", error.message_without_values())
            })?,
        };
        let values = Values::of_live(&live.unwrap_or_default());
        Ok(values.get(BUNDLE_KEY).and_then(Certificate::read_all).unwrap_or_default())
    }

    /// Finds out which existing objects trust the authorities of their signers.
    pub(crate) fn find_trust(&self, objects: &[Object]) {
        for object in objects {
            let live = self.labelled(&object.id).unwrap_or_default();
            let (signer, trusted) = if let Some(IssuedOrigin::Bundle { signer }) = &object.issued {
                let values = self.issuer.values(&object.id);
                let trusted = values.get(BUNDLE_KEY).and_then(Certificate::read_all).unwrap_or_default();
                (signer_id(object, signer), trusted)
            } else if let Some(signer) = self.trusted_signer(object) {
                (signer, authorities_of(&live))
            } else {
                continue;
            };
            let authorities = &self.issuer.authorities;
            let since = managed_fields::applied_at(&live).unwrap_or_else(|| authorities.clock.now());
            authorities.check_trust(&signer, (self.cluster, &object.id), &trusted, since);
        }
    }
}

/// Returns the issued objects that the pods of an object mount.
fn mounted_issued(object: &Object) -> Vec<ObjectId> {
    let hash = object.config_hash.iter();
    let parts = hash.flat_map(ConfigHash::issued);
    parts.map(|part| object_id(part.kind, &object.id.namespace, &part.name)).collect()
}

pub(crate) fn object_id(kind: &str, namespace: &str, name: &str) -> ObjectId {
    let [group, kind, namespace, name] = ["", kind, namespace, name].map(str::to_owned);
    ObjectId { group, kind, namespace, name }
}

/// Returns the path of a Secret or ConfigMap.
fn path(id: &ObjectId) -> ObjectPath {
    let resource = if id.kind == "Secret" {
        ApiResource::erase::<Secret>(&())
    } else {
        ApiResource::erase::<ConfigMap>(&())
    };
    ServedResource { resource, scope: Scope::Namespaced }.object(&id.namespace, &id.name)
}
