//! The identities in a test cluster: certificates, tokens and kubeconfigs, new for every run.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The token of the administrator, in a file that the API server reads. Its kubeconfig has the same name.
pub(crate) const ADMIN: &str = "token-of-the-admin";
/// A user who may only use discovery.
pub(crate) const STRANGER: &str = "token-of-a-stranger";
/// The controller manager. It is not the administrator, so the audit log can ignore it.
pub(crate) const CONTROLLERS: &str = "token-of-the-controllers";
/// The stand-in for kubelets and operators. The audit log ignores it, too.
pub(crate) const STAND_IN: &str = "token-of-the-stand-in";

/// Writes certificates, tokens and kubeconfigs.
pub(crate) fn write(folder: &Path, port: u16) {
    let tokens = format!(
        "{ADMIN},admin,1,system:masters\n{STRANGER},stranger,2\n\
         {CONTROLLERS},controllers,3,system:masters\n{STAND_IN},stand-in,4,system:masters\n"
    );
    std::fs::write(folder.join("tokens.csv"), tokens).unwrap();
    let authority = write_certificates(folder);
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

/// Writes the certificate and key of the server and the certificate authority, and returns the latter.
fn write_certificates(folder: &Path) -> String {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    std::fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
    std::fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    std::fs::write(folder.join("server.pub"), key.public_key_pem()).unwrap();
    std::fs::write(folder.join("authority.crt"), authority.pem()).unwrap();
    authority.pem()
}
