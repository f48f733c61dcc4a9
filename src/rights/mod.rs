//! The rights that the commands for clusters need, as Roles and ClusterRoles: a pure function of the rendered objects.
//!
//! They follow from the requests of `apply/`:
//!
//! | request | rights |
//! |---|---|
//! | the objects of a kind with a label: in the namespace of a hosted control plane, otherwise in the whole cluster | `list` |
//! | one object | `get`, by name |
//! | a signer that someone else creates | `get`, by name |
//! | the token of a kubeconfig | `create` of `serviceaccounts/token`, by name |
//! | server-side apply, which also creates the object | `create` and `patch`, by name |
//! | `POST` of an object: one that is only created, the inventory, a dry run before an object is recreated | `create` |
//! | the first status of a `ClusterOperator` | `patch` of `clusteroperators/status`, by name |
//! | pruning, tombstones, recreating, `delete` | `delete`, by name |
//! | before a CRD is deleted, one of its objects | `list` |
//! | a Role or ClusterRole | every right that it grants |
//! | a binding to a role that is not rendered before it | `bind`, by name |
//! | a ClusterRole with an `aggregationRule` | `escalate`, by name |
//!
//! The default role `system:discovery` allows discovery.

mod needed;
mod resources;
mod roles;

pub(crate) use needed::{Needs, Purpose, needed};
pub(crate) use resources::Resources;
pub(crate) use roles::{NeededRole, Subject};
