//! The proxy that leads to a cluster, by kubectl's rules: the kubeconfig's own, or that of the environment unless the cluster
//! is on this machine or `NO_PROXY` names it.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use kube::Config;

pub(in crate::apply) fn of(config: &Config) -> Option<Intercept> {
    let (cluster, proxy) = (&config.cluster_url, config.proxy_url.as_ref()?);
    if !is_of_environment(proxy) {
        return Matcher::builder().all(proxy.to_string()).build().intercept(cluster);
    }
    if is_here(cluster) { None } else { Matcher::from_env().intercept(cluster) }
}

/// kube asks the environment as well, and does not say so.
fn is_of_environment(proxy: &Uri) -> bool {
    let is_it = |name: &&str| {
        std::env::var(name).is_ok_and(|value| value.parse::<Uri>().is_ok_and(|value| value == *proxy))
    };
    ["HTTPS_PROXY", "https_proxy"].iter().any(is_it)
}

fn is_here(cluster: &Uri) -> bool {
    let host = cluster.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Through a proxy that is asked to connect.
pub(in crate::apply) fn tunnel<C>(proxy: &Intercept, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector);
    match proxy.basic_auth() {
        Some(who) => tunnel.with_auth(who.clone()),
        None => tunnel,
    }
}

/// Through a proxy that speaks SOCKS, which looks names up itself.
pub(in crate::apply) fn socks<C>(proxy: &Intercept, connector: C) -> SocksV5<C> {
    let socks = SocksV5::new(proxy.uri().clone(), connector);
    match proxy.raw_auth() {
        Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
        None => socks,
    }
}
