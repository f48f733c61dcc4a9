//! The write lock of a topology: a Lease next to the inventory of its standalone or management cluster. Only the command that
//! holds it writes.
//!
//! As in client-go, a Lease ends for others when they have not seen it change for its duration, measured with their own
//! monotonic clock. So clocks that differ do no harm. For its holder it ends earlier: its duration counts from the moment
//! in which the holder sent the last renewal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};
use tracing::info;

use crate::apply::cluster::clock;
use crate::apply::cluster::error::LockError;
use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::decide::lease::{HeldLease, LeaseHolder, released};
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::request::ObjectPath;
use crate::apply::wire::write_guard::WriteGuard;

/// How often a command that waits for a Lease reads it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// A Lease is renewed this many times before it would end.
const RENEWALS_PER_DURATION: u32 = 3;

/// Which Lease to hold, and how.
pub(crate) struct LockSettings {
    pub(crate) location: InventoryLocation,
    /// The name of this command in the Lease.
    pub(crate) identity: String,
    /// How long the Lease is valid after a renewal.
    pub(crate) duration: Duration,
    /// How long to wait for another holder.
    pub(crate) timeout: Duration,
}

/// The write lock of a topology.
pub(crate) struct WriteLock {
    lease: Arc<LeaseClient>,
    timeout: Duration,
    guard: WriteGuard,
    state: tokio::sync::Mutex<LockState>,
    /// How often the lock was acquired.
    epoch: AtomicU64,
}

enum LockState {
    /// This command does not hold the lock.
    Free,
    /// This command holds the lock, and renews it in the background.
    Held(#[expect(dead_code, reason = "it stops the renewal when it is dropped")] Renewal),
    /// This command may not use Leases. The resource version of the inventory protects against others.
    Unavailable,
}

/// Stops the renewal of a Lease when it is dropped.
struct Renewal(AbortHandle);

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl WriteLock {
    /// Creates a lock that is not held. `server` must be of its own, so that renewals never wait for other requests.
    pub(crate) fn new(server: ApiServer, settings: LockSettings, guard: WriteGuard) -> Self {
        let LockSettings { location, identity, duration, timeout } = settings;
        let leases = ServedResource { resource: ApiResource::erase::<Lease>(&()), scope: Scope::Namespaced };
        let path = leases.object(&location.namespace, &location.name);
        let lease = LeaseClient { server, path, location, identity, duration, last: Mutex::default() };
        let (state, epoch) = (tokio::sync::Mutex::new(LockState::Free), AtomicU64::new(0));
        Self { lease: Arc::new(lease), timeout, guard, state, epoch }
    }

    /// Acquires the lock, unless this command holds it. Returns how often it was acquired. Between two acquisitions, others may
    /// have written.
    pub(crate) async fn hold(&self) -> Result<u64, LockError> {
        let mut state = self.state.lock().await;
        match *state {
            LockState::Unavailable => return Ok(self.epoch()),
            LockState::Held(_) if self.guard.allows() => return Ok(self.epoch()),
            LockState::Held(_) => return Err(LockError::Lost),
            LockState::Free => {}
        }
        match self.lease.acquire(self.timeout).await {
            Ok(end) => {
                self.guard.allow_until(end);
                *state = LockState::Held(Renewal(self.start_renewal()));
            }
            Err(LockError::Request(error)) if error.code() == Some(403) => {
                info!(%error, "cannot use a Lease; the inventory alone protects against other commands");
                self.guard.allow();
                *state = LockState::Unavailable;
            }
            Err(error @ LockError::NamespaceMissing { .. }) => {
                // Nobody can hold the Lease. The namespace must be created without it.
                self.guard.allow();
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        Ok(self.epoch.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Returns whether this command may not use Leases.
    pub(crate) async fn is_unavailable(&self) -> bool {
        matches!(*self.state.lock().await, LockState::Unavailable)
    }

    /// Gives the lock to others.
    pub(crate) async fn release(&self) {
        let mut state = self.state.lock().await;
        if matches!(*state, LockState::Held(_)) {
            *state = LockState::Free;
            self.guard.close();
            self.lease.release().await;
        }
    }

    /// Deletes the Lease, because nothing is left to protect.
    pub(crate) async fn delete(&self) {
        let mut state = self.state.lock().await;
        if matches!(*state, LockState::Held(_)) {
            *state = LockState::Free;
            self.guard.close();
            self.lease.delete().await;
        }
    }

    fn start_renewal(&self) -> AbortHandle {
        let (lease, guard) = (Arc::clone(&self.lease), self.guard.clone());
        tokio::spawn(async move { lease.renew_until_lost(&guard).await }).abort_handle()
    }
}

/// One Lease, and the requests for it.
struct LeaseClient {
    server: ApiServer,
    path: ObjectPath,
    location: InventoryLocation,
    identity: String,
    duration: Duration,
    /// The Lease as this command last wrote it.
    last: Mutex<Value>,
}

/// A Lease of another holder, and since when it has not changed.
struct Observed {
    version: Value,
    since: Instant,
}

impl LeaseClient {
    fn last(&self) -> MutexGuard<'_, Value> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires the Lease: at once if it is free, or when its holder releases it or has not renewed it for its duration.
    /// Returns when it ends.
    async fn acquire(&self, timeout: Duration) -> Result<Instant, LockError> {
        let started = Instant::now();
        let mut observed: Option<Observed> = None;
        loop {
            let lease = self.server.get(self.path.get()?).await?.map(|response| response.value);
            let holder = lease.as_ref().and_then(LeaseHolder::of);
            let waits_for = match holder.filter(|holder| holder.identity != self.identity) {
                None => None,
                Some(holder) => {
                    let version = &lease.as_ref().unwrap_or(&Value::Null)["metadata"]["resourceVersion"];
                    let since = unchanged_since(&mut observed, version);
                    (since.elapsed() < holder.duration).then_some(holder)
                }
            };
            let Some(holder) = waits_for else {
                match self.write(lease.as_ref(), &clock::now_micros()).await {
                    Ok(end) => return Ok(end),
                    // Another command was faster.
                    Err(error) if error.is_conflict() => continue,
                    Err(error) => return Err(self.acquire_error(error)),
                }
            };
            if started.elapsed() >= timeout {
                return Err(LockError::Held { holder, waited: timeout });
            }
            info!(%holder, "waiting for the Lease");
            sleep(POLL_INTERVAL.min(timeout.saturating_sub(started.elapsed()))).await;
        }
    }

    fn acquire_error(&self, error: RequestError) -> LockError {
        match &error {
            RequestError::Api(api) if api.is_namespace_missing() => {
                LockError::NamespaceMissing { namespace: self.location.namespace.clone() }
            }
            _ => LockError::Request(error),
        }
    }

    /// Writes this command into the Lease. Returns when the Lease ends.
    async fn write(&self, previous: Option<&Value>, acquired: &str) -> Result<Instant, RequestError> {
        let (sent, renewed) = (Instant::now(), clock::now_micros());
        let (identity, duration) = (self.identity.as_str(), self.duration);
        let held = HeldLease { identity, acquired, renewed: &renewed, duration };
        let lease = held.object(&self.location, previous);
        let params = PostParams { dry_run: false, field_manager: Some(MANAGER.to_owned()) };
        let request = match previous {
            Some(_) => self.path.replace(&params, &lease)?,
            None => self.path.create(&params, &lease)?,
        };
        *self.last() = self.server.send(request).await?.value;
        Ok(sent + self.duration)
    }

    /// Renews the Lease again and again. Ends when another command holds it.
    async fn renew_until_lost(&self, guard: &WriteGuard) {
        let interval = self.duration / RENEWALS_PER_DURATION;
        loop {
            sleep(interval).await;
            match self.renew().await {
                Ok(Some(end)) => guard.allow_until(end),
                Ok(None) => {
                    info!(lease = %self.location, "another command has taken the Lease over");
                    return guard.close();
                }
                // The guard ends by itself if no attempt succeeds in time.
                Err(error) => info!(lease = %self.location, %error, "cannot renew the Lease yet"),
            }
        }
    }

    /// Renews the Lease. Returns `None` if another command holds it.
    async fn renew(&self) -> Result<Option<Instant>, RequestError> {
        let last = self.last().clone();
        let acquired = last["spec"]["acquireTime"].as_str().unwrap_or_default().to_owned();
        match self.write(Some(&last), &acquired).await {
            Ok(end) => return Ok(Some(end)),
            Err(error) if !error.is_conflict() && !error.is_not_found() => return Err(error),
            Err(_) => {}
        }
        // Someone wrote the Lease: perhaps only its labels, or an earlier attempt arrived and its response was lost.
        let Some(now) = self.server.get(self.path.get()?).await? else { return Ok(None) };
        if LeaseHolder::of(&now.value).is_none_or(|holder| holder.identity != self.identity) {
            return Ok(None);
        }
        self.write(Some(&now.value), &acquired).await.map(Some)
    }

    async fn release(&self) {
        let last = self.last().clone();
        let params = PostParams { dry_run: false, field_manager: Some(MANAGER.to_owned()) };
        let Ok(request) = self.path.replace(&params, &released(&self.location, &last)) else { return };
        // If this fails, the Lease ends by itself.
        if let Err(error) = self.server.send(request).await {
            info!(lease = %self.location, %error, "cannot release the Lease");
        }
    }

    async fn delete(&self) {
        let version = self.last()["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        let unchanged = Preconditions { resource_version: version, uid: None };
        let Ok(request) = self.path.delete(&DeleteParams::default().preconditions(unchanged)) else { return };
        if let Err(error) = self.server.send(request).await {
            info!(lease = %self.location, %error, "cannot delete the Lease");
        }
    }
}

/// Returns since when a Lease has not changed, as far as this command has seen.
fn unchanged_since(observed: &mut Option<Observed>, version: &Value) -> Instant {
    match observed {
        Some(observed) if observed.version == *version => observed.since,
        _ => observed.insert(Observed { version: version.clone(), since: Instant::now() }).since,
    }
}
