//! Certificates for Services: when they are issued, and their values.

use super::certificate::Certificate;
use super::due::Due;
use super::signer::{Request, Signer, SignerError};
use super::values::Values;
use crate::object::IssuedCertificate;

/// The keys of a certificate's Secret.
pub(crate) const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
/// The certificate of the signer at the time of the signature.
pub(crate) const AUTHORITY: &str = "ca.crt";

/// Returns why a certificate is issued; `None` if the existing one stays. `signer` is `None` if it is not known: then a
/// certificate stays as long as it is valid.
pub(crate) fn due(
    live: &Values,
    wanted: &IssuedCertificate,
    namespace: &str,
    signer: Option<&Certificate>,
    now: i64,
) -> Option<Due> {
    if !live.has_all(&[AUTHORITY, CERTIFICATE, KEY]) {
        return Some(Due::New);
    }
    let Some(certificate) = certificate_of(live) else { return Some(Due::Invalid) };
    if !has_key(&certificate, live) {
        return Some(Due::Invalid);
    }
    if certificate.dns_names != wanted.names(namespace) {
        return Some(Due::Names);
    }
    if !certificate.for_servers || certificate.for_clients != wanted.client {
        return Some(Due::Usage);
    }
    if certificate.algorithm != Some(wanted.key) {
        return Some(Due::Algorithm);
    }
    let authority = live.get(AUTHORITY).and_then(Certificate::read_all);
    let signer_changed = signer.is_some_and(|signer| {
        authority.as_deref() != Some(std::slice::from_ref(signer)) || !certificate.is_signed_by(signer)
    });
    if signer_changed {
        return Some(Due::Signer);
    }
    (now >= certificate.renewal()).then_some(Due::Renewal)
}

/// Issues a certificate.
pub(crate) fn issue(
    wanted: &IssuedCertificate,
    namespace: &str,
    signer: &Signer,
    now: i64,
) -> Result<Values, SignerError> {
    let names = wanted.names(namespace);
    let request = Request {
        common_name: names.first().map_or("", String::as_str),
        organizations: &[],
        dns_names: &names,
        algorithm: wanted.key,
        for_servers: true,
        for_clients: wanted.client,
    };
    let leaf = signer.sign(&request, now)?;
    Ok(Values::default()
        .with(AUTHORITY, signer.certificate.pem())
        .with(CERTIFICATE, leaf.certificate)
        .with(KEY, leaf.key.as_bytes()))
}

/// Returns the certificate of a Secret.
pub(crate) fn certificate_of(values: &Values) -> Option<Certificate> {
    let mut certificates = Certificate::read_all(values.get(CERTIFICATE)?)?;
    Some(certificates.swap_remove(0))
}

/// Returns whether a Secret has the key of its certificate.
fn has_key(certificate: &Certificate, values: &Values) -> bool {
    let key = values.text(KEY).and_then(|key| rcgen::KeyPair::from_pem(key).ok());
    key.is_some_and(|key| rcgen::PublicKeyData::subject_public_key_info(&key) == certificate.public_key)
}

#[cfg(test)]
mod tests {
    use super::{Due, certificate_of, due, issue};
    use crate::credentials::signer::Signer;
    use crate::credentials::values::Values;
    use crate::object::{IssuedCertificate, KeyAlgorithm};

    const NOW: i64 = 1_800_000_000;
    const DAY: i64 = 24 * 3600;

    fn signer(now: i64) -> Signer {
        Signer::read(&Signer::create("root-ca", now).unwrap()).unwrap()
    }

    fn wanted() -> IssuedCertificate {
        IssuedCertificate {
            signer: "root-ca".to_owned(),
            service: Some("op".to_owned()),
            dns_names: Vec::new(),
            key: KeyAlgorithm::P256,
            client: false,
        }
    }

    #[test]
    fn a_certificate_is_issued_once() {
        let (signer, wanted) = (signer(NOW), wanted());
        let due_of = |live: &Values, now| due(live, &wanted, "ns", Some(&signer.certificate), now);
        assert_eq!(due_of(&Values::default(), NOW), Some(Due::New));
        let values = issue(&wanted, "ns", &signer, NOW).unwrap();
        assert_eq!(due_of(&values, NOW), None);
        assert_eq!(due_of(&values, NOW + 243 * DAY), None);
        assert_eq!(due_of(&values, NOW + 244 * DAY), Some(Due::Renewal));
        let certificate = certificate_of(&values).unwrap();
        assert_eq!(certificate.not_before, NOW - 3600);
        assert_eq!(certificate.not_after, NOW + 365 * DAY);
        assert_eq!(certificate.dns_names, ["op", "op.ns.svc", "op.ns.svc.cluster.local", "localhost"]);
        assert!(certificate.is_signed_by(&signer.certificate) && !certificate.is_authority);
    }

    #[test]
    fn every_difference_is_a_reason() {
        let (signer, other) = (signer(NOW), signer(NOW + 1));
        let values = issue(&wanted(), "ns", &signer, NOW).unwrap();
        let changed = |change: fn(&mut IssuedCertificate)| {
            let mut wanted = wanted();
            change(&mut wanted);
            due(&values, &wanted, "ns", Some(&signer.certificate), NOW)
        };
        assert_eq!(changed(|wanted| wanted.dns_names = vec!["more".to_owned()]), Some(Due::Names));
        assert_eq!(changed(|wanted| wanted.client = true), Some(Due::Usage));
        assert_eq!(changed(|wanted| wanted.key = KeyAlgorithm::Rsa2048), Some(Due::Algorithm));
        let due_of =
            |live: &Values, signer: &Signer| due(live, &wanted(), "ns", Some(&signer.certificate), NOW);
        assert_eq!(due_of(&values, &other), Some(Due::Signer));
        assert_eq!(due(&values, &wanted(), "ns", None, NOW), None);
        let own = issue(&wanted(), "ns", &signer, NOW).unwrap();
        let mixed = values.only(&["ca.crt", "tls.crt"]).with("tls.key", own.get("tls.key").unwrap());
        assert_eq!(due_of(&mixed, &signer), Some(Due::Invalid));
        assert_eq!(due_of(&values.with("tls.crt", "text"), &signer), Some(Due::Invalid));
    }

    #[test]
    fn keys_can_have_both_algorithms() {
        for key in [KeyAlgorithm::P256, KeyAlgorithm::Rsa2048] {
            let wanted = IssuedCertificate { key, client: true, ..wanted() };
            let values = issue(&wanted, "ns", &signer(NOW), NOW).unwrap();
            assert_eq!(certificate_of(&values).unwrap().algorithm, Some(key));
        }
    }
}
