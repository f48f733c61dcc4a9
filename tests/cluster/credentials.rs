//! The identities in a test cluster: certificates, tokens and kubeconfigs, new for every run.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    PKCS_RSA_SHA256, RsaKeySize,
};
use serde_json::{Value, json};

/// The token of the administrator, in a file that the API server reads. Its kubeconfig has the same name.
pub(crate) const ADMIN: &str = "token-of-the-admin";
/// A user who may only use discovery.
pub(crate) const STRANGER: &str = "token-of-a-stranger";
/// The controller manager. It is not the administrator, so the audit log can ignore it.
pub(crate) const CONTROLLERS: &str = "token-of-the-controllers";
/// The stand-in for kubelets and operators. The audit log ignores it, too.
pub(crate) const STAND_IN: &str = "token-of-the-stand-in";

/// The signers of a cluster, with the names and keys that HyperShift gives those of a hosted control plane.
pub(crate) struct Signers {
    /// Signs the certificate of the API server.
    root: CertifiedIssuer<'static, KeyPair>,
    /// Signs client certificates that the API server accepts.
    clients: CertifiedIssuer<'static, KeyPair>,
}

impl Signers {
    pub(crate) fn generate() -> Self {
        Self { root: signer("root-ca"), clients: signer("cluster-signer-ca") }
    }

    /// Returns the Secrets with which HyperShift gives them to the hosted control plane in a namespace.
    pub(crate) fn secrets(&self, namespace: &str) -> Vec<Value> {
        let secret = |name: &str, signer: &CertifiedIssuer<'_, KeyPair>| {
            json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": name, "namespace": namespace},
                "data": {
                    "ca.crt": BASE64.encode(signer.pem()),
                    "ca.key": BASE64.encode(signer.key().serialize_pem()),
                },
            })
        };
        vec![
            secret("root-ca", &self.root),
            secret("cluster-signer-ca", &self.clients),
            secret("system-admin-signer", &self.clients),
        ]
    }
}

fn signer(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationalUnitName, "openshift");
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    CertifiedIssuer::self_signed(params, key).unwrap()
}

/// Writes certificates, tokens and kubeconfigs.
pub(crate) fn write(folder: &Path, port: u16, signers: &Signers) {
    let tokens = format!(
        "{ADMIN},admin,1,system:masters\n{STRANGER},stranger,2\n\
         {CONTROLLERS},controllers,3,system:masters\n{STAND_IN},stand-in,4,system:masters\n"
    );
    std::fs::write(folder.join("tokens.csv"), tokens).unwrap();
    let authority = write_certificates(folder, signers);
    // Written once, because concurrent cases read them.
    for token in [ADMIN, STRANGER, CONTROLLERS, STAND_IN] {
        let text = kubeconfig(&format!("https://127.0.0.1:{port}"), Some(&authority), token);
        std::fs::write(folder.join(token), text).unwrap();
    }
}

/// Returns a kubeconfig; without a certificate authority for a server without TLS.
pub(crate) fn kubeconfig(server: &str, authority: Option<&str>, token: &str) -> String {
    let authority = authority
        .map(|authority| format!("\n    certificate-authority-data: {}", BASE64.encode(authority)))
        .unwrap_or_default();
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: it\ncontexts:\n- name: it\n  context:\n    cluster: it\n    user: it\n\
         clusters:\n- name: it\n  cluster:\n    server: {server}{authority}\n\
         users:\n- name: it\n  user:\n    token: {token}\n"
    )
}

/// Writes the certificate and key of the server and the authorities, and returns that of the server.
fn write_certificates(folder: &Path, signers: &Signers) -> String {
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &signers.root).unwrap();
    std::fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
    std::fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    std::fs::write(folder.join("server.pub"), key.public_key_pem()).unwrap();
    std::fs::write(folder.join("authority.crt"), signers.root.pem()).unwrap();
    std::fs::write(folder.join("clients.crt"), signers.clients.pem()).unwrap();
    signers.root.pem()
}
