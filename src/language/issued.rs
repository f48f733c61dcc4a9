//! The declarations of issued objects: `IssuedKubeconfig` and `IssuedCertificate`. An addition declares them as objects, so
//! they are read after values are filled in.

use serde_json::{Value as Json, json};

use super::header::DnsLabel;
use super::typed::{Marked, Reader, Typed, read_variant, typed};
use crate::diagnostic::Diagnostics;
use crate::object::{GuestIdentity, IssuedCertificate, IssuedKubeconfig, KeyAlgorithm, Proof};
use crate::yaml::{Mark, Node, Sources};

typed! {
    /// A kubeconfig for the guest.
    pub(crate) struct KubeconfigSpec ("the `spec` of an IssuedKubeconfig") {
        /// The URL of the guest's API server, as pods in the management cluster reach it.
        "server" server: Marked<String>,
        /// The Secret of the signer that signed the certificate of the API server.
        "authority" authority: SecretName,
        /// The Secret of the signer for client certificates. Without it, the kubeconfig has a token of the ServiceAccount.
        "signer" signer: Option<SecretName>,
        /// Who the holder is in the guest.
        "as" identity: Marked<IdentitySpec>,
    }
}

typed! {
    /// An identity in the guest: a ServiceAccount, or a user with groups.
    pub(crate) struct IdentitySpec ("`as`") {
        /// The namespace of the ServiceAccount.
        "namespace" namespace: Option<Marked<String>>,
        /// The name of the ServiceAccount.
        "serviceAccount" service_account: Option<Marked<String>>,
        /// The name of the user.
        "user" user: Option<Marked<String>>,
        /// The groups of the user, at most two.
        "groups" groups: Vec<Marked<String>>,
    }
}

typed! {
    /// A certificate with its key.
    pub(crate) struct CertificateSpec ("the `spec` of an IssuedCertificate") {
        /// The Secret of the signer.
        "signer" signer: SecretName,
        /// The Service that the certificate is for. Its names are `SERVICE`, `SERVICE.NAMESPACE.svc`,
        /// `SERVICE.NAMESPACE.svc.cluster.local` and `localhost`.
        "service" service: Option<Marked<DnsLabel>>,
        /// More DNS names.
        "dnsNames" dns_names: Vec<Marked<String>>,
        /// The algorithm of the key: `P256` (the default) or `RSA2048`.
        "key" key: Option<KeyAlgorithm>,
        /// Whether the certificate is also for clients.
        "client" client: bool,
    }
}

/// The most groups of a user: the crate that writes certificates keeps one value for each way to spell the attribute.
const MAX_GROUPS: usize = 2;

/// The name of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretName(pub(crate) String);

impl Typed for SecretName {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        if !is_subdomain(&text) {
            reader.field_error(node.mark, &format!("cannot be `{text}`")).help =
                Some("write the name of a Secret".into());
            return None;
        }
        Some(Self(text))
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$"})
    }
}

impl Typed for KeyAlgorithm {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read_variant(node, &Self::NAMES, reader)
    }

    fn schema() -> Json {
        json!({"enum": Self::NAMES.map(|(name, _)| name)})
    }
}

/// Returns whether a text is a name that Kubernetes accepts for Secrets and ServiceAccounts (RFC 1123 subdomain).
fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(DnsLabel::is_valid)
}

/// Reads the `spec` of an `IssuedKubeconfig`.
pub(crate) fn read_kubeconfig(spec: &Node, sources: &Sources) -> Result<IssuedKubeconfig, Diagnostics> {
    read(spec, sources, KubeconfigSpec::origin)
}

/// Reads the `spec` of an `IssuedCertificate`.
pub(crate) fn read_certificate(spec: &Node, sources: &Sources) -> Result<IssuedCertificate, Diagnostics> {
    read(spec, sources, CertificateSpec::origin)
}

fn read<S: Typed, T>(
    spec: &Node,
    sources: &Sources,
    origin: fn(S, Mark, &mut Reader<'_>) -> Option<T>,
) -> Result<T, Diagnostics> {
    let mut reader = Reader::new(sources, Diagnostics::default());
    let read = S::read(spec, &mut reader).and_then(|read| origin(read, spec.mark, &mut reader));
    match read {
        Some(origin) if reader.errors.0.is_empty() => Ok(origin),
        _ => Err(reader.errors),
    }
}

impl KubeconfigSpec {
    fn origin(self, _: Mark, reader: &mut Reader<'_>) -> Option<IssuedKubeconfig> {
        let server = self.server.value;
        if !server.starts_with("https://")
            || server.chars().any(|char| char.is_whitespace() || char.is_control())
        {
            reader.error(self.server.mark, format!("`{server}` is not the URL of an API server")).help =
                Some("write it as https://NAME:PORT".into());
        }
        let proof = match self.signer {
            Some(signer) => Proof::Certificate { signer: signer.0 },
            None => Proof::Token,
        };
        let mark = self.identity.mark;
        let identity = self.identity.value.identity(mark, reader)?;
        if matches!((&identity, &proof), (GuestIdentity::User { .. }, Proof::Token)) {
            reader.error(mark, "only a ServiceAccount can have a token").help =
                Some("add `signer`, or write `as: {namespace: …, serviceAccount: …}`".into());
        }
        Some(IssuedKubeconfig { server, authority: self.authority.0, identity, proof })
    }
}

impl IdentitySpec {
    fn identity(self, mark: Mark, reader: &mut Reader<'_>) -> Option<GuestIdentity> {
        match (self.namespace, self.service_account, self.user) {
            (namespace, Some(account), None) if self.groups.is_empty() => {
                let namespace = check_namespace(namespace, mark, reader)?;
                check_account(&account, reader);
                Some(GuestIdentity::ServiceAccount { namespace, name: account.value })
            }
            (None, None, Some(user)) => {
                let mut groups = Vec::new();
                for name in std::iter::once(&user).chain(&self.groups) {
                    if name.value.is_empty() || name.value.chars().any(char::is_control) {
                        reader.error(
                            name.mark,
                            "the name of a user or group must not be empty or have control characters",
                        );
                    }
                }
                if self.groups.len() > MAX_GROUPS {
                    reader.error(mark, format!("a user can have at most {MAX_GROUPS} groups"));
                }
                groups.extend(self.groups.into_iter().map(|group| group.value));
                Some(GuestIdentity::User { name: user.value, groups })
            }
            _ => {
                reader.error(mark, "`as` must name either a ServiceAccount or a user").help = Some(
                    "write `as: {namespace: …, serviceAccount: …}` or `as: {user: …, groups: […]}`".into(),
                );
                None
            }
        }
    }
}

/// Returns the namespace of a ServiceAccount. Reports one that cannot exist.
fn check_namespace(namespace: Option<Marked<String>>, mark: Mark, reader: &mut Reader<'_>) -> Option<String> {
    let namespace = namespace.unwrap_or(Marked { value: String::new(), mark });
    if namespace.value.is_empty() {
        let error = reader.error(namespace.mark, "the ServiceAccount in `as` has no namespace");
        error.notes.push(
            "the kubeconfig would be for system:serviceaccount::…, which is not a ServiceAccount".into(),
        );
        error.help = Some(
            "set `as.namespace`; `${workload.namespace}` is empty if the manifest of the workload has no namespace".into(),
        );
        return None;
    }
    if !DnsLabel::is_valid(&namespace.value) {
        let message =
            format!("`as.namespace` is `{}`, which is not a valid name for a namespace", namespace.value);
        let error = reader.error(namespace.mark, message);
        error.notes.push("it looks like a placeholder that nothing replaced".into());
        error.help =
            Some("write the name of a namespace, or a parameter such as `${workload.namespace}`".into());
        return None;
    }
    Some(namespace.value)
}

/// Reports a ServiceAccount that cannot exist, or that all pods share.
fn check_account(account: &Marked<String>, reader: &mut Reader<'_>) {
    if account.value == "default" {
        let error = reader.error(account.mark, "the kubeconfig is for the ServiceAccount `default`");
        error.notes.push(
            "every pod of the namespace that names no ServiceAccount runs as `default`, and would share the rights".into(),
        );
        error.help = Some(
            "set `serviceAccountName` in the workload, or name a ServiceAccount of its own in `as.serviceAccount`".into(),
        );
    } else if !is_subdomain(&account.value) {
        let message = format!("`{}` is not a valid name for a ServiceAccount", account.value);
        reader.error(account.mark, message).help = Some("use lower-case letters, digits, `-` and `.`".into());
    }
}

impl CertificateSpec {
    fn origin(self, mark: Mark, reader: &mut Reader<'_>) -> Option<IssuedCertificate> {
        for name in &self.dns_names {
            let labels = name.value.strip_prefix("*.").unwrap_or(&name.value);
            if !is_subdomain(labels) {
                reader.error(name.mark, format!("`{}` is not a DNS name", name.value));
            }
        }
        if self.service.is_none() && self.dns_names.is_empty() {
            reader.error(mark, "the certificate has no name").help =
                Some("set `service` or `dnsNames`".into());
            return None;
        }
        Some(IssuedCertificate {
            signer: self.signer.0,
            service: self.service.map(|service| service.value.0),
            dns_names: self.dns_names.into_iter().map(|name| name.value).collect(),
            key: self.key.unwrap_or_default(),
            client: self.client,
        })
    }
}
