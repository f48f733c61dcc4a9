//! Issued objects: transship renders them without values, and `apply` fills in the values in the cluster.

use serde_json::{Value as Json, json};

use super::CloudCredentials;

/// Where the values of an issued object come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IssuedOrigin {
    /// A kubeconfig for the guest.
    Kubeconfig(IssuedKubeconfig),
    /// A certificate and its key.
    Certificate(IssuedCertificate),
    /// Credentials of a cloud provider.
    Credentials(CloudCredentials),
    /// A certificate authority with its key, with which certificates are signed.
    Signer,
    /// The authorities that the clients of a signer's certificates trust.
    Bundle {
        /// The Secret of the signer.
        signer: String,
    },
}

/// A kubeconfig for the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedKubeconfig {
    /// The URL of the guest's API server, as pods in the management cluster reach it.
    pub(crate) server: String,
    /// The Secret of the signer that signed the certificate of the API server.
    pub(crate) authority: String,
    /// Who the holder is in the guest.
    pub(crate) identity: GuestIdentity,
    /// How the holder proves that.
    pub(crate) proof: Proof,
}

/// An identity in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GuestIdentity {
    /// A ServiceAccount.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A user with groups.
    User {
        /// The name of the user.
        name: String,
        /// The groups.
        groups: Vec<String>,
    },
}

/// The proof of an identity in a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// A client certificate.
    Certificate {
        /// The Secret of the signer, which the guest trusts for client certificates.
        signer: String,
    },
    /// A token of the ServiceAccount, which the guest issues for a `TokenRequest`.
    Token,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedCertificate {
    /// The Secret of the signer.
    pub(crate) signer: String,
    /// The Service that it is for; its names come first.
    pub(crate) service: Option<String>,
    /// More DNS names.
    pub(crate) dns_names: Vec<String>,
    /// The algorithm of the key.
    pub(crate) key: KeyAlgorithm,
    /// Whether it is also for clients. Every certificate is for servers.
    pub(crate) client: bool,
}

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeyAlgorithm {
    /// ECDSA with the curve P-256.
    #[default]
    P256,
    /// RSA with 2048 bits.
    Rsa2048,
}

impl KeyAlgorithm {
    /// All algorithms with the names that files use.
    pub(crate) const NAMES: [(&'static str, Self); 2] = [("P256", Self::P256), ("RSA2048", Self::Rsa2048)];

    /// Returns the name that files use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P256 => "P256",
            Self::Rsa2048 => "RSA2048",
        }
    }
}

impl IssuedCertificate {
    /// Returns the DNS names of the certificate: those of the Service in a namespace, and the additional ones.
    pub(crate) fn names(&self, namespace: &str) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(service) = &self.service {
            names.push(service.clone());
            names.push(format!("{service}.{namespace}.svc"));
            names.push(format!("{service}.{namespace}.svc.cluster.local"));
            names.push("localhost".to_owned());
        }
        for name in &self.dns_names {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

impl GuestIdentity {
    /// Returns the user name, as the guest's API server knows it.
    pub(crate) fn user(&self) -> String {
        match self {
            Self::ServiceAccount { namespace, name } => format!("system:serviceaccount:{namespace}:{name}"),
            Self::User { name, .. } => name.clone(),
        }
    }

    /// Returns the groups.
    pub(crate) fn groups(&self) -> Vec<String> {
        match self {
            Self::ServiceAccount { namespace, .. } => {
                vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
            }
            Self::User { groups, .. } => groups.clone(),
        }
    }

    /// Returns the namespace that the kubeconfig selects.
    pub(crate) fn namespace(&self) -> &str {
        match self {
            Self::ServiceAccount { namespace, .. } => namespace,
            Self::User { .. } => "default",
        }
    }

    /// Returns whether the holder may do everything in the guest.
    pub(crate) fn is_administrator(&self) -> bool {
        matches!(self, Self::User { groups, .. } if groups.iter().any(|group| group == "system:masters"))
    }
}

impl IssuedOrigin {
    /// Returns the word for what is issued, which is also the value of the label [`ISSUED`](super::ISSUED).
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Kubeconfig(_) => "kubeconfig",
            Self::Certificate(_) => "certificate",
            Self::Credentials(_) => "credentials",
            Self::Signer => "signer",
            Self::Bundle { .. } => "bundle",
        }
    }

    /// Returns the kind of the object that is issued.
    pub(crate) fn kind(&self) -> &'static str {
        if matches!(self, Self::Bundle { .. }) { "ConfigMap" } else { "Secret" }
    }

    /// Returns the keys of the object.
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::Kubeconfig(_) => vec!["kubeconfig"],
            Self::Certificate(_) => vec!["ca.crt", "tls.crt", "tls.key"],
            Self::Credentials(credentials) => credentials.keys(),
            Self::Signer => vec!["ca.crt", "ca.key"],
            Self::Bundle { .. } => vec![BUNDLE_KEY],
        }
    }

    /// Returns the Secrets of the signers that it needs.
    pub(crate) fn signers(&self) -> Vec<&str> {
        match self {
            Self::Kubeconfig(IssuedKubeconfig {
                authority, proof: Proof::Certificate { signer }, ..
            }) => {
                vec![authority, signer]
            }
            Self::Kubeconfig(IssuedKubeconfig { authority, .. }) => vec![authority],
            Self::Certificate(IssuedCertificate { signer, .. }) | Self::Bundle { signer } => vec![signer],
            Self::Credentials(_) | Self::Signer => Vec::new(),
        }
    }

    /// Returns what is issued as JSON, for an object in a namespace.
    pub(crate) fn to_json(&self, namespace: &str) -> Json {
        match self {
            Self::Kubeconfig(kubeconfig) => kubeconfig.to_json(),
            Self::Certificate(certificate) => certificate.to_json(namespace),
            Self::Credentials(credentials) => credentials.to_json(),
            Self::Signer => json!({}),
            Self::Bundle { signer } => json!({"signer": signer}),
        }
    }
}

impl IssuedKubeconfig {
    fn to_json(&self) -> Json {
        let mut json =
            json!({"server": self.server, "authority": self.authority, "user": self.identity.user()});
        match &self.proof {
            Proof::Certificate { signer } => json["signer"] = json!(signer),
            Proof::Token => json["token"] = json!(true),
        }
        json
    }
}

impl IssuedCertificate {
    fn to_json(&self, namespace: &str) -> Json {
        let mut json = json!({"signer": self.signer, "dnsNames": self.names(namespace)});
        if self.key != KeyAlgorithm::default() {
            json["key"] = json!(self.key.name());
        }
        if self.client {
            json["client"] = json!(true);
        }
        json
    }
}

/// The key of the authorities in the ConfigMap of a bundle.
pub(crate) const BUNDLE_KEY: &str = "ca-bundle.crt";

#[cfg(test)]
mod tests {
    use super::{IssuedCertificate, KeyAlgorithm};

    #[test]
    fn a_service_has_four_names_and_more_names_follow() {
        let dns_names = ["localhost", "op.example"].map(str::to_owned).to_vec();
        let certificate = IssuedCertificate {
            signer: "root-ca".to_owned(),
            service: Some("op-metrics".to_owned()),
            dns_names,
            key: KeyAlgorithm::P256,
            client: false,
        };
        let expected = [
            "op-metrics",
            "op-metrics.clusters-a.svc",
            "op-metrics.clusters-a.svc.cluster.local",
            "localhost",
            "op.example",
        ];
        assert_eq!(certificate.names("clusters-a"), expected);
    }
}
