//! One object with its cluster and path, and the requests for it.

use std::sync::{Mutex, PoisonError};

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::Value;
use tokio::time::Instant;

use crate::apply::cluster::error::error_about;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::event::EventKind;
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::OnConflict;
use crate::apply::decide::predecessors::Predecessors;
use crate::apply::object::delete;
use crate::apply::object::object_version::ObjectVersion;
use crate::apply::wire::api_server::Response;
use crate::apply::wire::error::{ApiError, RequestError};
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::{ApiRequest, ObjectPath};
use crate::object::{Object, SensitiveTexts};

/// How often to try a write that conflicts with the writes of others.
pub(crate) const MAX_ATTEMPTS: usize = 5;

/// Stands for warnings that may quote sensitive values.
const HIDDEN_WARNING: &str = "the API server warns about it; the warning may contain sensitive values";

/// An object that is being applied.
pub(crate) struct ObjectTask<'a> {
    pub(crate) cluster: &'a LiveCluster<'a>,
    pub(crate) object: &'a Object,
    pub(crate) path: ObjectPath,
    pub(crate) options: &'a Options,
    /// The memory of the objects that the requests return.
    memory: HeldMemory,
    /// The warnings of the API server about the object.
    warnings: Mutex<Vec<String>>,
    /// The object as it was last read or written; `None` if it did not exist then.
    version: Mutex<Option<ObjectVersion>>,
}

/// An object after it was written.
pub(crate) struct Written {
    pub(crate) kind: EventKind,
    pub(crate) live: Value,
}

/// Whether a request changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    DryRun,
}

impl<'a> ObjectTask<'a> {
    pub(crate) fn new(
        cluster: &'a LiveCluster<'a>,
        object: &'a Object,
        path: ObjectPath,
        options: &'a Options,
    ) -> Self {
        let (memory, warnings, version) = (HeldMemory::default(), Mutex::default(), Mutex::default());
        Self { cluster, object, path, options, memory, warnings, version }
    }

    /// Returns the managers whose fields transship takes over.
    pub(crate) fn predecessors(&self) -> Predecessors<'_> {
        self.cluster.predecessors(self.options)
    }

    /// Remembers the version of the object, for the next write.
    pub(crate) fn remember_version(&self, live: Option<&Value>) {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = live.and_then(ObjectVersion::of);
    }

    fn version(&self) -> Option<ObjectVersion> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts the memory of the objects until the end of the command.
    pub(crate) fn keep_memory(self) {
        self.memory.keep();
    }

    /// Sends a request. The memory of the response counts as long as this task exists.
    pub(crate) async fn send(&self, request: ApiRequest, mode: Mode) -> Result<Response, RequestError> {
        let mut response = match mode {
            Mode::Write => self.cluster.write(&self.object.id, request).await?,
            Mode::DryRun => self.cluster.server.send(request).await?,
        };
        if mode == Mode::Write {
            self.remember_version(Some(&response.value));
        }
        self.memory.add(response.memory.take());
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in response.warnings.drain(..) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        drop(warnings);
        Ok(response)
    }

    /// Returns the warnings of the API server about the object. A warning may quote the object, so it is left out if
    /// sensitive values cannot be masked in it.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_secret = self.object.id.kind == "Secret" && self.object.id.group.is_empty();
        if !warnings.is_empty() && (is_secret || SensitiveTexts::of([&self.object.root]).has_short()) {
            return vec![HIDDEN_WARNING.to_owned()];
        }
        warnings
    }

    /// Converts the error of a request.
    pub(crate) fn error(&self, error: &RequestError) -> ObjectError {
        match error {
            RequestError::Api(error) => self.api_error(error),
            _ => error_about(error, self.object),
        }
    }

    /// Converts an error that the API server reports.
    pub(crate) fn api_error(&self, error: &ApiError) -> ObjectError {
        let namespace = self.object.id.namespace.clone();
        if error.is_namespace_missing() {
            return ObjectError::NamespaceMissing { namespace, hint: self.options.wait_hint() };
        }
        if error.is_namespace_terminating() {
            return ObjectError::NamespaceTerminating { namespace };
        }
        error_about(&RequestError::Api(Box::new(error.clone())), self.object)
    }

    /// Reads the object; `None` if it does not exist.
    pub(crate) async fn read(&self) -> Result<Option<Value>, ObjectError> {
        self.read_latest().await.map_err(|error| self.error(&error))
    }

    async fn read_latest(&self) -> Result<Option<Value>, RequestError> {
        let live = self.cluster.get(&self.path, &self.memory).await?;
        self.remember_version(live.as_ref());
        Ok(live)
    }

    /// Asks the API server what a server-side apply patch would do.
    pub(crate) async fn dry_run_patch(
        &self,
        fields: &Value,
        on_conflict: OnConflict,
    ) -> Result<Response, RequestError> {
        let mut params = PatchParams::apply(MANAGER).validation_strict();
        params.force = on_conflict == OnConflict::Force;
        params.dry_run = true;
        self.send(self.path.patch(&params, &Patch::Apply(fields))?, Mode::DryRun).await
    }

    /// Sends a server-side apply patch with the resource version that was last read. Fails if someone wrote the object since.
    pub(crate) async fn patch(
        &self,
        fields: &Value,
        manager: &str,
        on_conflict: OnConflict,
    ) -> Result<Response, RequestError> {
        let version = self.version();
        self.patch_version(fields, manager, on_conflict, version.as_ref()).await
    }

    /// Sends a server-side apply patch. If someone wrote the object since it was read, reads it and tries again, as long as it was
    /// not another command, and the object is the same and belongs to the same `ApplySet`. The last attempt has only the uid as a precondition, so a client
    /// that writes the object all the time cannot prevent it.
    pub(crate) async fn patch_latest(
        &self,
        fields: &Value,
        manager: &str,
        on_conflict: OnConflict,
    ) -> Result<Response, RequestError> {
        for _ in 1..MAX_ATTEMPTS {
            let before = self.version();
            match self.patch_version(fields, manager, on_conflict, before.as_ref()).await {
                Err(error) if error.is_overtaken() => {
                    self.cluster.check_no_other_command().await?;
                    self.read_latest().await?;
                    let is_same =
                        |now: ObjectVersion| before.is_some_and(|before| now.is_same_object(&before));
                    if !self.version().is_some_and(is_same) {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
        let any_version = self.version().map(ObjectVersion::of_any_version);
        self.patch_version(fields, manager, on_conflict, any_version.as_ref()).await
    }

    async fn patch_version(
        &self,
        fields: &Value,
        manager: &str,
        on_conflict: OnConflict,
        version: Option<&ObjectVersion>,
    ) -> Result<Response, RequestError> {
        let mut params = PatchParams::apply(manager).validation_strict();
        params.force = on_conflict == OnConflict::Force;
        let request = match version {
            Some(version) => self.path.patch(&params, &Patch::Apply(&version.precondition(fields)))?,
            None => self.path.patch(&params, &Patch::Apply(fields))?,
        };
        self.send(request, Mode::Write).await
    }

    /// Sends a JSON merge patch.
    pub(crate) async fn merge_patch(&self, patch: &Value, mode: Mode) -> Result<Response, RequestError> {
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            dry_run: mode == Mode::DryRun,
            ..PatchParams::default()
        };
        self.send(self.path.patch(&params, &Patch::Merge(patch))?, mode).await
    }

    /// Sends a request to create the object.
    pub(crate) async fn post(
        &self,
        object: &Value,
        manager: &str,
        mode: Mode,
    ) -> Result<Response, RequestError> {
        let params = PostParams { field_manager: Some(manager.to_owned()), dry_run: mode == Mode::DryRun };
        self.send(self.path.create_strict(&params, object)?, mode).await
    }

    /// Deletes the object, even if someone else created it, and waits until it is gone.
    pub(crate) async fn delete(&self, live: &Value) -> Result<(), ObjectError> {
        delete::delete_and_wait(&self.deletion(), &live["metadata"]["uid"]).await?;
        self.remember_version(None);
        Ok(())
    }

    /// Waits until an object that is being deleted is gone.
    pub(crate) async fn wait_until_gone(&self, live: &Value) -> Result<(), ObjectError> {
        delete::wait_until_gone(&self.deletion(), &live["metadata"]["uid"]).await?;
        self.remember_version(None);
        Ok(())
    }

    fn deletion(&self) -> delete::Deletion<'_> {
        let Self { cluster, object, path, .. } = self;
        let memory = HeldMemory::default();
        delete::Deletion { cluster, id: &object.id, path, deadline: self.deadline(), memory }
    }

    /// Returns how long to wait for a deletion: with `--wait` until the deadline, otherwise for as long as transship
    /// retries a request.
    pub(crate) fn deadline(&self) -> Instant {
        let deadline = self.options.deadline();
        if self.options.wait { deadline } else { deadline.min(Instant::now() + self.options.retry_timeout) }
    }

    /// Returns whether the inventory marks the object as found: it existed before and was not adopted.
    pub(crate) fn existed_before(&self) -> bool {
        self.cluster.inventory.initial().find(&self.object.id).is_some_and(|entry| entry.found)
    }
}
