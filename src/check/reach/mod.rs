//! The paths on which a credential or a value of one cluster of a topology reaches the other cluster.

mod calls;
mod container;
mod rights;

use std::collections::{BTreeMap, BTreeSet};

use super::context::needs;
use super::control_plane_secrets::{content_of, is_administrator};
use super::grants::Grants;
use crate::language::{ParameterOfGuest, Profiles};
use crate::object::{Cluster, GuestIdentity, IssuedOrigin, Object};
use crate::transform::Rendered;

use calls::find_calls;
use container::{Container, MintedToken, tokens_of};
use rights::rights_of;

/// A path from one cluster to the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReachPath {
    /// Where the path starts: who can use it.
    pub(crate) from: ReachEnd,
    /// The Secret, token, URL or parameter that carries the credential or value.
    pub(crate) through: String,
    /// Where the path ends.
    pub(crate) to: ReachEnd,
    /// The rights or requests that the path allows there.
    pub(crate) allows: String,
}

/// One end of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReachEnd {
    /// The cluster.
    pub(crate) cluster: Cluster,
    /// The container, identity, Service or object.
    pub(crate) name: String,
}

/// Returns all paths between the clusters of a topology, sorted. A topology with one cluster has none.
pub(crate) fn reach(clusters: &[Rendered<'_>]) -> Vec<ReachPath> {
    let of = |wanted: Cluster| clusters.iter().find(|cluster| cluster.view.profile.cluster == wanted);
    let (Some(management), Some(guest)) = (of(Cluster::Management), of(Cluster::Guest)) else {
        return Vec::new();
    };
    let mut paths = BTreeSet::new();
    for (here, other) in [(management, guest), (guest, management)] {
        let finder = Finder {
            cluster: here.view.profile.cluster,
            other: other.view.profile.cluster,
            objects: &here.objects,
            grants: Grants::new(&other.objects),
        };
        finder.find_kubeconfigs(&mut paths);
        finder.find_needed_secrets(here, &mut paths);
        finder.find_workloads(&mut paths);
    }
    find_calls(&guest.objects, &management.objects, &mut paths);
    find_parameters(guest.view.context.profiles, &mut paths);
    paths.into_iter().collect()
}

/// Finds the paths that start at the objects of one cluster.
struct Finder<'a> {
    cluster: Cluster,
    other: Cluster,
    objects: &'a [Object],
    /// The rights that the bindings of the other cluster grant.
    grants: Grants<'a>,
}

impl Finder<'_> {
    /// Adds issued kubeconfigs that no pod uses: whoever can read the Secret can use them.
    fn find_kubeconfigs(&self, paths: &mut BTreeSet<ReachPath>) {
        let mut used = BTreeSet::new();
        for object in self.objects {
            for container in Container::of(object) {
                used.extend(container.secrets.iter().map(|secret| (object.id.namespace.as_str(), *secret)));
            }
        }
        for object in self.objects.iter().filter(|object| !object.is_tombstone()) {
            let id = &object.id;
            if let Some(identity) = self.identity(object)
                && !used.contains(&(id.namespace.as_str(), id.name.as_str()))
            {
                paths.insert(ReachPath {
                    from: self.end(format!("readers of Secret/{}/{}", id.namespace, id.name)),
                    through: "kubeconfig".to_owned(),
                    to: self.holder(identity),
                    allows: self.allows(identity),
                });
            }
        }
    }

    /// Adds the Secrets that identities need: operators mount them into pods that are not rendered.
    fn find_needed_secrets(&self, rendered: &Rendered<'_>, paths: &mut BTreeSet<ReachPath>) {
        if self.cluster != Cluster::Management {
            return;
        }
        for (component, need) in needs(rendered).unwrap_or_default() {
            // The needs of a component that is not rendered do not count.
            if !self.objects.iter().any(|object| object.component == component && !object.is_tombstone()) {
                continue;
            }
            for secret in need.value.objects.iter().filter(|object| object.value.kind == "Secret") {
                let Some(name) = &secret.value.name else { continue };
                let Some(content) = content_of(name) else { continue };
                let identity = need.value.identity.value.name.as_deref().unwrap_or_default();
                let from = self.end(format!("pods of ServiceAccount/{identity}"));
                let issued =
                    self.objects.iter().find(|object| object.id.kind == "Secret" && object.id.name == *name);
                let path = match issued.and_then(|object| self.identity(object)) {
                    Some(holder) => ReachPath {
                        from,
                        through: format!("kubeconfig in Secret/{name}"),
                        to: self.holder(holder),
                        allows: self.allows(holder),
                    },
                    None => self.control_plane_secret(&from, name, content),
                };
                paths.insert(path);
            }
        }
    }

    /// Adds the paths that start at containers.
    fn find_workloads(&self, paths: &mut BTreeSet<ReachPath>) {
        let mut kubeconfigs = BTreeMap::new();
        for object in self.objects {
            if let Some(identity) = self.identity(object) {
                kubeconfigs.insert((object.id.namespace.as_str(), object.id.name.as_str()), identity);
            }
        }
        for object in self.objects.iter().filter(|object| !object.is_tombstone()) {
            let containers = Container::of(object);
            for container in &containers {
                let id = &object.id;
                let from = self
                    .end(format!("{}/{}/{}, container {}", id.kind, id.namespace, id.name, container.name));
                for secret in &container.secrets {
                    if let Some(identity) = kubeconfigs.get(&(id.namespace.as_str(), *secret)) {
                        paths.insert(ReachPath {
                            from: from.clone(),
                            through: format!("kubeconfig in Secret/{secret}"),
                            to: self.holder(identity),
                            allows: self.allows(identity),
                        });
                    } else if self.cluster == Cluster::Management
                        && let Some(content) = content_of(secret)
                    {
                        paths.insert(self.control_plane_secret(&from, secret, content));
                    }
                }
                for token in tokens_of(container, &containers) {
                    paths.insert(self.minted_token(&from, &token));
                }
            }
        }
    }

    fn control_plane_secret(&self, from: &ReachEnd, secret: &str, content: &str) -> ReachPath {
        let is_administrator = is_administrator(secret);
        ReachPath {
            from: from.clone(),
            through: format!("external Secret/{secret}"),
            to: ReachEnd {
                cluster: self.other,
                name: if is_administrator { "administrator" } else { "control plane" }.to_owned(),
            },
            allows: if is_administrator { "cluster-admin".to_owned() } else { content.to_owned() },
        }
    }

    fn minted_token(&self, from: &ReachEnd, token: &MintedToken<'_>) -> ReachPath {
        let MintedToken { minter, namespace, account, audience } = token;
        ReachPath {
            from: from.clone(),
            through: format!("token minted by container {minter}"),
            to: self.account(namespace, account),
            allows: match *audience {
                "" => rights_of(&self.grants, namespace, account),
                audience => format!("everything that accepts tokens for the audience `{audience}`"),
            },
        }
    }

    /// Returns the identity in the other cluster, if an object is an issued kubeconfig for it.
    fn identity<'o>(&self, object: &'o Object) -> Option<&'o GuestIdentity> {
        match &object.issued {
            Some(IssuedOrigin::Kubeconfig(kubeconfig)) if self.other == Cluster::Guest => {
                Some(&kubeconfig.identity)
            }
            _ => None,
        }
    }

    /// Returns who the holder of a kubeconfig is in the other cluster.
    fn holder(&self, identity: &GuestIdentity) -> ReachEnd {
        match identity {
            GuestIdentity::ServiceAccount { namespace, name } => self.account(namespace, name),
            GuestIdentity::User { name, .. } => {
                ReachEnd { cluster: self.other, name: format!("User/{name}") }
            }
        }
    }

    /// Returns what the holder of a kubeconfig may do in the other cluster.
    fn allows(&self, identity: &GuestIdentity) -> String {
        match identity {
            GuestIdentity::ServiceAccount { namespace, name } => rights_of(&self.grants, namespace, name),
            GuestIdentity::User { .. } if identity.is_administrator() => "cluster-admin".to_owned(),
            GuestIdentity::User { name, groups } => {
                let names: Vec<&str> = std::iter::once(name).chain(groups).map(String::as_str).collect();
                format!("what the guest grants to {}", names.join(" and "))
            }
        }
    }

    fn end(&self, name: String) -> ReachEnd {
        ReachEnd { cluster: self.cluster, name }
    }

    fn account(&self, namespace: &str, account: &str) -> ReachEnd {
        ReachEnd { cluster: self.other, name: format!("ServiceAccount/{namespace}/{account}") }
    }
}

/// Adds the parameters whose values the guest's administrator decides.
fn find_parameters(profiles: &Profiles, paths: &mut BTreeSet<ReachPath>) {
    for ParameterOfGuest { name, object, path, limits } in profiles.parameters_of_guest() {
        paths.insert(ReachPath {
            from: ReachEnd { cluster: Cluster::Guest, name: format!("{object}, {path}") },
            through: format!("parameter {name}"),
            to: ReachEnd { cluster: Cluster::Management, name: "rendered objects".to_owned() },
            allows: limits,
        });
    }
}
