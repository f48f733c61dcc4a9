//! Everything that talks to a cluster: `apply`, `delete`, `diff --live` and `wait-for`.
//!
//! Each folder uses only the folders above it in this table.
//!
//! | folder | file | purpose |
//! |---|---|---|
//! | `decide` | | decisions without side effects: no network, no clock, no async code |
//! | | `rollout` | the steps for all clusters and their dependencies |
//! | | `decision` | what to do with an object: skip, create, apply or delete |
//! | | `desired` | the desired state of an object, without fields that belong to others |
//! | | `ownership`, `managed_fields`, `orphaned_fields` | who owns which fields; which fields adoption removes |
//! | | `predecessors`, `predecessor` | the managers that transship succeeds |
//! | | `inventory`, `inventory_entries`, `inventory_entry` | the objects that were applied |
//! | | `inventory_location`, `inventory_shards` | the ConfigMaps of an inventory |
//! | | `binding` | whether clusters belong together |
//! | | `lease` | who holds the Lease |
//! | | `run_record`, `release_version` | the history of an inventory; whether a payload is older |
//! | | `issue_state`, `issued_values` | fills in what is known only in a cluster: values, authorities, hashes over them |
//! | | `lost_inventory` | restores entries from live objects |
//! | | `prune`, `delete_approval` | which of them may be pruned; whether `delete` needs approval |
//! | | `guest_inventory` | which entries of a guest's inventory count |
//! | | `readiness` | whether an object is ready |
//! | | `recreation`, `displaced_items`, `co_owners` | what to do if the API server rejects fields |
//! | | `drift` | what others changed in fields that matter |
//! | | `object_error` | why an object could not be applied or deleted |
//! | | `event`, `event_groups`, `progress_line` | the output of a rollout |
//! | | `json_fields`, `digest`, `url_segment` | helpers for JSON, digests and URL paths |
//! | `wire` | | requests to one API server |
//! | | `client`, `proxy` | connections |
//! | | `kubeconfig` | checks what a kubeconfig puts into headers and URLs |
//! | | `credentials`, `credential_plugin` | tokens that change: those of files and of credential plugins |
//! | | `request` | the path of an object and the requests for it |
//! | | `api_server` | sends requests, with limits of size and time |
//! | | `request_retries` | the retry policy of requests |
//! | | `memory` | how much memory the responses of an API server may need |
//! | | `throttle`, `backoff` | the number of requests in flight and the rate of retries; delays between attempts |
//! | | `write_guard` | stops writes of a command that no longer holds its Lease |
//! | | `warnings` | warnings of the API server |
//! | | `discovery` | which resources are served |
//! | | `error` | why a request failed |
//! | `cluster` | | one live cluster |
//! | | `contact` | which cluster it is |
//! | | `live_cluster`, `listing` | its served resources and its labelled objects |
//! | | `write_lock`, `writer` | the Lease; whether this command may write |
//! | | `inventory_store` | reads and writes the inventory |
//! | | `issuer`, `read_issued` | the issued objects: which values are valid, and which are due |
//! | | `authorities` | the signers of a topology, and who trusts them |
//! | | `crd` | when the resources of a CRD are served |
//! | | `options` | how a command treats the clusters |
//! | | `error` | why a cluster cannot be used |
//! | `object` | | one object |
//! | | `object_task` | an object with its path, and the requests for it |
//! | | `apply_object` | applies, creates or deletes an object |
//! | | `issue` | gives issued objects their values |
//! | | `server_side_apply` | applies fields; what to do if the API server rejects them |
//! | | `adopt` | takes over objects; releases fields |
//! | | `delete`, `orphan` | deletes an object and waits until it is gone; leaves an object in its cluster |
//! | `run` | | whole commands |
//! | | `apply`, `credentials`, `delete`, `dry_run`, `diff_live`, `drift_live`, `history`, `move_inventory`, `wait_for` | one file per command |
//! | | `live_change`, `not_rendered` | what the two kinds of `diff --live` find |
//! | | `rollout_run`, `step_states`, `rollout_result` | runs the steps of a rollout |
//! | | `step_retries`, `readiness_poll` | the retry policy of steps; objects that are not ready yet |
//! | | `inventory_update` | the inventory before and after a rollout; pruning |
//! | | `contacts`, `clusters` | contacts, checks and reads the clusters of a topology |
//! | | `cluster_start`, `run_start` | the start of a rollout in one cluster; what the history records |
//! | | `phased_deletion`, `orphan` | deletes objects in order; leaves objects in their cluster |

mod cluster;
mod decide;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod object;
mod run;
mod wire;

pub use crate::object::DependencyReason as SameClusterReason;
pub use cluster::options::{Extent, Options, Rotation};
pub use cluster::target::TargetCluster;
pub use decide::binding::Rebinding;
pub(crate) use decide::desired::as_applied;
pub use decide::event::{Event, EventKind, Stamp, Summary};
pub(crate) use decide::event_groups::EventGroups;
pub use decide::ownership::Adoption;
pub use decide::progress_line::ProgressLine;
pub use decide::prune::Approval;
pub use decide::release_version::Downgrade;
pub use decide::rollout::{
    Action, ClusterId, ClusterPlan, Dependency, DependencyCycle, DependencyReason, Rollout, Step, StepId,
};
pub(crate) use decide::run_record::RunRecord;
pub use run::apply::apply;
pub(crate) use run::credentials::live_credentials;
pub(crate) use run::delete::delete_dry_run;
pub use run::delete::{DeleteOutcome, delete};
pub use run::diff_live::diff_live;
pub use run::drift_live::drift_live;
pub use run::dry_run::dry_run;
pub(crate) use run::history::{ClusterHistory, history};
pub use run::live_change::LiveChange;
pub(crate) use run::move_inventory::{MoveOutcome, MovedFrom, move_inventories};
pub use run::wait_for::{InvalidWaitTarget, WaitProgress, WaitState, WaitTarget, wait_for};
pub use wire::client::{Endpoint, connect};
pub use wire::throttle::RequestLimits;

#[cfg(test)]
mod tests {
    use super::{Options, TargetCluster, apply, delete, diff_live, drift_live, dry_run};

    fn assert_send<T: Send>(_: T) {}

    /// Compiles only if the futures of all commands are `Send`, so that a multi-threaded runtime can spawn them.
    #[expect(dead_code, reason = "it only has to compile")]
    fn futures_are_send(targets: fn() -> Vec<TargetCluster<'static>>, options: &'static Options) {
        assert_send(apply(targets(), options, |_| {}));
        assert_send(delete(targets(), options, |_| {}));
        assert_send(dry_run(targets(), options, |_| {}));
        assert_send(diff_live(targets(), options, |_| {}));
        assert_send(drift_live(targets(), options, |_| {}));
    }
}
