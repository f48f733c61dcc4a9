//! The binding of clusters: which management cluster, hosted control plane and guest belong together.
//!
//! A Kubernetes cluster has no ID of its own. The uid of its namespace `kube-system` serves as one: it never changes, and
//! no two clusters have the same. A Role in the namespace of a hosted control plane cannot grant the right to read
//! `kube-system`, so the uid of that namespace identifies the management cluster as well.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::object::Cluster;

/// The longest value that transship reads from the binding of an inventory.
const MAX_LENGTH: usize = 300;

/// The clusters that belong together, as an inventory records them. A uid is `None` if it was not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The uid of the standalone or management cluster.
    pub(crate) cluster: Option<String>,
    /// The hosted control plane; `None` in a standalone cluster.
    pub(crate) hosted_control_plane: Option<HostedControlPlane>,
    /// The uid of the guest.
    pub(crate) guest: Option<String>,
}

/// A hosted control plane: its namespace in the management cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostedControlPlane {
    pub(crate) namespace: String,
    /// The uid of the namespace; `None` if it was not known.
    pub(crate) uid: Option<String>,
}

impl fmt::Display for HostedControlPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.uid {
            Some(uid) => write!(f, "{} (uid {uid})", self.namespace),
            None => f.write_str(&self.namespace),
        }
    }
}

impl Binding {
    /// Reads the binding in the data of an inventory.
    pub(crate) fn from_data(data: &Value) -> Self {
        let text = |key: &str| {
            let text = data[key].as_str().filter(|text| !text.is_empty() && text.len() <= MAX_LENGTH);
            text.map(str::to_owned)
        };
        let hosted_control_plane = text("hostedControlPlane")
            .map(|namespace| HostedControlPlane { namespace, uid: text("hostedControlPlaneUID") });
        Self { cluster: text("clusterUID"), hosted_control_plane, guest: text("guestUID") }
    }

    /// Adds the binding to the data of an inventory.
    pub(crate) fn add_to_data(&self, data: &mut Map<String, Value>) {
        let hosted = self.hosted_control_plane.as_ref();
        for (key, value) in [
            ("clusterUID", self.cluster.as_deref()),
            ("hostedControlPlane", hosted.map(|hosted| hosted.namespace.as_str())),
            ("hostedControlPlaneUID", hosted.and_then(|hosted| hosted.uid.as_deref())),
            ("guestUID", self.guest.as_deref()),
        ] {
            if let Some(value) = value {
                data.insert(key.to_owned(), json!(value));
            }
        }
    }

    /// Returns the binding with everything that is known: what was found, and what was recorded if nothing was found.
    pub(crate) fn or_recorded(self, recorded: &Self) -> Self {
        let recorded = recorded.clone();
        let hosted_control_plane = match (self.hosted_control_plane, recorded.hosted_control_plane) {
            (Some(mut found), Some(known)) if found.namespace == known.namespace => {
                found.uid = found.uid.or(known.uid);
                Some(found)
            }
            (found, known) => found.or(known),
        };
        Self {
            cluster: self.cluster.or(recorded.cluster),
            hosted_control_plane,
            guest: self.guest.or(recorded.guest),
        }
    }

    /// Returns whether a recorded value differs from what is known now. A value that was not known is no difference.
    pub(crate) fn differs_from(&self, known: &Self) -> bool {
        self.difference_to(known).is_some()
    }

    /// Returns a recorded value that differs from what was found.
    fn difference_to(&self, found: &Self) -> Option<Difference> {
        if differ(self.cluster.as_deref(), found.cluster.as_deref()) {
            return Some(Difference::Cluster);
        }
        if let (Some(recorded), Some(found)) = (&self.hosted_control_plane, &found.hosted_control_plane)
            && (recorded.namespace != found.namespace
                || differ(recorded.uid.as_deref(), found.uid.as_deref()))
        {
            return Some(Difference::HostedControlPlane);
        }
        differ(self.guest.as_deref(), found.guest.as_deref()).then_some(Difference::Guest)
    }
}

fn differ(recorded: Option<&str>, found: Option<&str>) -> bool {
    matches!((recorded, found), (Some(recorded), Some(found)) if recorded != found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    Cluster,
    HostedControlPlane,
    Guest,
}

/// The identity of one cluster, as transship finds it at first contact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoundIdentity {
    /// The uid of the namespace `kube-system`; `None` if transship may not read it.
    pub(crate) kube_system: Option<String>,
    /// The uid of the namespace with the name of the hosted control plane's; `None` if there is none, or if transship
    /// may not read it.
    pub(crate) hosted_namespace: Option<String>,
    /// The binding that the inventory of the cluster records.
    pub(crate) recorded: Binding,
    /// The namespace of another hosted control plane that has an inventory in the guest.
    pub(crate) other_hosted_control_plane: Option<String>,
}

/// Why transship refuses to use clusters together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BindingError {
    pub(crate) kind: BindingErrorKind,
    /// The clusters to which the kubeconfigs lead.
    pub(crate) found: String,
    /// The clusters that the inventories record.
    pub(crate) expected: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingErrorKind {
    /// The management cluster and the guest are one cluster.
    SameCluster,
    /// The inventory of a cluster records another cluster or hosted control plane.
    OtherCluster(Cluster),
    /// The guest is not the one that the management cluster records.
    OtherGuest,
    /// The guest belongs to another hosted control plane.
    GuestOfOthers,
}

impl fmt::Display for BindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            BindingErrorKind::SameCluster => {
                f.write_str("the management cluster and the guest are the same cluster")
            }
            BindingErrorKind::OtherCluster(Cluster::Both) => {
                f.write_str("the inventory belongs to another cluster")
            }
            BindingErrorKind::OtherCluster(cluster) => {
                write!(f, "the inventory in the {} belongs to other clusters", long_name(cluster))
            }
            BindingErrorKind::OtherGuest => f.write_str("the hosted control plane belongs to another guest"),
            BindingErrorKind::GuestOfOthers => {
                f.write_str("the guest belongs to another hosted control plane")
            }
        }
    }
}

fn long_name(cluster: Cluster) -> &'static str {
    match cluster {
        Cluster::Management => "management cluster",
        Cluster::Guest => "guest",
        Cluster::Both => "cluster",
    }
}

/// Whether other clusters than the recorded ones are accepted (`--rebind`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rebinding {
    /// Other clusters than the recorded ones are an error.
    #[default]
    Off,
    /// The inventories record the clusters that are there now.
    On,
}

/// The clusters of a topology, as transship found them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundClusters<'f> {
    /// The namespace of the hosted control plane; `None` in a standalone topology.
    pub(crate) hosted_namespace: Option<&'f str>,
    /// The standalone or management cluster.
    pub(crate) cluster: &'f FoundIdentity,
    /// The guest; `None` if the topology has none, or if it does not respond.
    pub(crate) guest: Option<&'f FoundIdentity>,
}

impl FoundClusters<'_> {
    /// Returns the binding of these clusters.
    pub(crate) fn binding(&self) -> Binding {
        let hosted_control_plane = self.hosted_namespace.map(|namespace| HostedControlPlane {
            namespace: namespace.to_owned(),
            uid: self.cluster.hosted_namespace.clone(),
        });
        Binding {
            cluster: self.cluster.kube_system.clone(),
            hosted_control_plane,
            guest: self.guest.and_then(|guest| guest.kube_system.clone()),
        }
    }

    /// Checks the standalone or management cluster: its own inventory must record these clusters.
    pub(crate) fn check_cluster(&self, rebinding: Rebinding) -> Result<(), BindingError> {
        self.check_different_clusters()?;
        if rebinding == Rebinding::On {
            return Ok(());
        }
        let (recorded, found) = (&self.cluster.recorded, self.binding());
        let own = if self.hosted_namespace.is_some() { Cluster::Management } else { Cluster::Both };
        match recorded.difference_to(&found) {
            None => Ok(()),
            Some(Difference::Guest) => {
                Err(error(BindingErrorKind::OtherGuest, recorded, &found, Difference::Guest))
            }
            Some(difference) => Err(error(BindingErrorKind::OtherCluster(own), recorded, &found, difference)),
        }
    }

    /// Checks the guest: its inventory, if it has one, must record these clusters, and no other hosted control plane may
    /// have an inventory in it.
    pub(crate) fn check_guest(&self, rebinding: Rebinding) -> Result<(), BindingError> {
        self.check_different_clusters()?;
        let Some(guest) = self.guest.filter(|_| rebinding == Rebinding::Off) else { return Ok(()) };
        let found = self.binding();
        if let Some(other) = &guest.other_hosted_control_plane {
            return Err(BindingError {
                kind: BindingErrorKind::GuestOfOthers,
                expected: format!("the guest has an inventory of the hosted control plane {other}"),
                found: describe(&found, Difference::HostedControlPlane),
            });
        }
        match guest.recorded.difference_to(&found) {
            None => Ok(()),
            Some(difference @ Difference::Guest) => {
                let kind = BindingErrorKind::OtherCluster(Cluster::Guest);
                Err(error(kind, &guest.recorded, &found, difference))
            }
            Some(difference) => {
                Err(error(BindingErrorKind::GuestOfOthers, &guest.recorded, &found, difference))
            }
        }
    }

    /// Returns whether the management cluster records this guest. Then the guest's own inventory, which its administrator
    /// can edit, decides only about the guest.
    pub(crate) fn is_guest_confirmed(&self) -> bool {
        let found = self.guest.and_then(|guest| guest.kube_system.as_ref());
        found.is_some() && self.cluster.recorded.guest.as_ref() == found
    }

    /// Nothing allows one cluster on both sides: the objects of the guest would get into the management cluster.
    fn check_different_clusters(&self) -> Result<(), BindingError> {
        let Some(guest) = self.guest else { return Ok(()) };
        let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let is_same = same(&self.cluster.kube_system, &guest.kube_system)
            || same(&self.cluster.hosted_namespace, &guest.hosted_namespace);
        if !is_same {
            return Ok(());
        }
        let namespace = self.hosted_namespace.unwrap_or_default();
        let found = match &guest.kube_system {
            Some(uid) if same(&self.cluster.kube_system, &guest.kube_system) => {
                format!("the namespace kube-system has the uid {uid} in both")
            }
            _ => format!("the namespace {namespace} has the same uid in both"),
        };
        let expected = "two different clusters".to_owned();
        Err(BindingError { kind: BindingErrorKind::SameCluster, found, expected })
    }
}

fn error(
    kind: BindingErrorKind,
    recorded: &Binding,
    found: &Binding,
    difference: Difference,
) -> BindingError {
    let expected = describe(recorded, difference);
    BindingError { kind, expected, found: describe(found, difference) }
}

/// Describes the part of a binding that differs.
fn describe(binding: &Binding, difference: Difference) -> String {
    let uid = |uid: &Option<String>| uid.clone().unwrap_or_else(|| "unknown".to_owned());
    match difference {
        Difference::Cluster => format!("the cluster with the uid {}", uid(&binding.cluster)),
        Difference::Guest => format!("the guest with the uid {}", uid(&binding.guest)),
        Difference::HostedControlPlane => match &binding.hosted_control_plane {
            Some(hosted) => format!("the hosted control plane {hosted}"),
            None => "no hosted control plane".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests;
