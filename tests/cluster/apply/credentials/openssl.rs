//! Checks certificates with the program `openssl`, which shares no code with transship.

use std::process::Command;

/// Checks that a certificate in PEM is signed by one of these authorities, and is valid now.
pub(super) fn verify(authorities: &str, certificate: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (authorities, certificate) = (file("authorities", authorities), file("certificate", certificate));
    let mut command = Command::new("openssl");
    command.args(["verify", "-x509_strict", "-CAfile"]).arg(authorities).arg(&certificate);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// A certificate, as `openssl x509` reads it.
pub(super) struct Certificate {
    pub(super) issuer: String,
}

/// Reads the first certificate of a PEM file.
pub(super) fn read(pem: &str) -> Certificate {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate");
    std::fs::write(&path, pem).unwrap();
    let output = Command::new("openssl")
        .args(["x509", "-noout", "-issuer", "-nameopt", "RFC2253", "-in"])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Certificate { issuer: text.trim().trim_start_matches("issuer=").to_owned() }
}
