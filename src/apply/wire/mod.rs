//! Requests to one API server: connections, throttling, retries, errors and discovery.

pub(super) mod api_server;
pub(super) mod backoff;
pub(super) mod client;
pub(super) mod credential_plugin;
pub(super) mod credentials;
pub(super) mod discovery;
pub(super) mod error;
pub(super) mod kubeconfig;
pub(super) mod memory;
pub(super) mod proxy;
pub(super) mod request;
pub(super) mod request_retries;
pub(super) mod throttle;
pub(super) mod warnings;
pub(super) mod write_guard;
