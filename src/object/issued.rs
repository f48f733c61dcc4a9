//! Issued Secrets: transship renders them without data, and the issuer fills in the data in the cluster.

use std::fmt;

/// Where the data of an issued Secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IssuedOrigin {
    /// A kubeconfig for a ServiceAccount of a cluster.
    Kubeconfig {
        /// The cluster that the kubeconfig is for.
        cluster: String,
        /// The namespace of the ServiceAccount.
        namespace: String,
        /// The name of the ServiceAccount.
        service_account: String,
    },
    /// A serving certificate, signed by an authority of the hosted control plane.
    Certificate {
        /// The authority.
        signer: String,
        /// The DNS names that the certificate is valid for.
        dns_names: Vec<String>,
    },
    /// Credentials of a cloud provider.
    Credentials {
        /// The cloud.
        cloud: String,
        /// The identity that the cloud knows.
        identity: String,
    },
}

/// Writes the value of the annotation [`ISSUED`](super::ISSUED).
impl fmt::Display for IssuedOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kubeconfig { cluster, namespace, service_account } => write!(
                f,
                "kubeconfig for the {cluster} cluster as system:serviceaccount:{namespace}:{service_account}"
            ),
            Self::Certificate { signer, dns_names } => {
                write!(f, "certificate for {} signed by {signer}", dns_names.join(", "))
            }
            Self::Credentials { cloud, identity } => write!(f, "credentials for {cloud} as {identity}"),
        }
    }
}
