//! Chooses the proxy for a cluster, by kubectl's rules: the kubeconfig's own; otherwise the environment's, unless the
//! cluster is on this machine or `NO_PROXY` names it.

use http::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use kube::Config;

use crate::apply::wire::kubeconfig::{InvalidField, is_local};

/// Returns the proxy for the cluster of a kubeconfig. Fails if transship cannot use the proxy: it never connects
/// directly if the user configured a proxy.
pub(crate) fn find(config: &Config) -> Result<Option<Intercept>, InvalidField> {
    let cluster = &config.cluster_url;
    let Some(proxy) = &config.proxy_url else { return Ok(None) };
    if !is_from_environment(proxy) {
        let found = Matcher::builder().all(proxy.to_string()).build().intercept(cluster);
        return check("proxy-url", proxy, found).map(Some);
    }
    if is_local(cluster) || !is_proxied(cluster) {
        return Ok(None);
    }
    match Matcher::from_env().intercept(cluster) {
        // The proxy variable is for `https`, but the URL of the cluster has another scheme.
        None if cluster.scheme_str() != Some("https") => Ok(None),
        found => check("HTTPS_PROXY", proxy, found).map(Some),
    }
}

/// Checks that a proxy was found, and that its scheme is known. `field` names where it comes from.
fn check(field: &str, proxy: &Uri, found: Option<Intercept>) -> Result<Intercept, InvalidField> {
    let is_known =
        |found: &Intercept| matches!(found.uri().scheme_str(), Some("http" | "https" | "socks5" | "socks5h"));
    found.filter(is_known).ok_or_else(|| InvalidField::proxy_scheme(field, proxy))
}

/// Returns whether `NO_PROXY` does not name the cluster.
fn is_proxied(cluster: &Uri) -> bool {
    let no_proxy = ["NO_PROXY", "no_proxy"].into_iter().find_map(|name| std::env::var(name).ok());
    let any = Matcher::builder().all("http://proxy.invalid").no(no_proxy.unwrap_or_default());
    any.build().intercept(cluster).is_some()
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
