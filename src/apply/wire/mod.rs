pub(super) mod api_server;
pub(super) mod client;
pub(super) mod discovery;
pub(super) mod error;
pub(super) mod proxy;
pub(super) mod throttle;
