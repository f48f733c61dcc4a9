//! Chooses the proxy for a cluster, by kubectl's rules: the kubeconfig's own; otherwise the environment's, unless the
//! cluster is on this machine or `NO_PROXY` names it.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use kube::Config;

/// Returns the proxy for the cluster of a kubeconfig.
pub(crate) fn find(config: &Config) -> Option<Intercept> {
    let (cluster, proxy) = (&config.cluster_url, config.proxy_url.as_ref()?);
    if !is_from_environment(proxy) {
        return Matcher::builder().all(proxy.to_string()).build().intercept(cluster);
    }
    if is_local(cluster) { None } else { Matcher::from_env().intercept(cluster) }
}

/// Returns whether kube took the proxy from the environment. kube does not say so itself.
fn is_from_environment(proxy: &Uri) -> bool {
    for name in ["HTTPS_PROXY", "https_proxy"] {
        if std::env::var(name).ok().and_then(|value| value.parse::<Uri>().ok()).as_ref() == Some(proxy) {
            return true;
        }
    }
    false
}

fn is_local(cluster: &Uri) -> bool {
    let host = cluster.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Connects through an HTTP proxy with CONNECT.
pub(crate) fn tunnel<C>(proxy: &Intercept, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector);
    match proxy.basic_auth() {
        Some(credentials) => tunnel.with_auth(credentials.clone()),
        None => tunnel,
    }
}

/// Connects through a SOCKS proxy, which resolves host names itself.
pub(crate) fn socks<C>(proxy: &Intercept, connector: C) -> SocksV5<C> {
    let socks = SocksV5::new(proxy.uri().clone(), connector);
    match proxy.raw_auth() {
        Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
        None => socks,
    }
}
