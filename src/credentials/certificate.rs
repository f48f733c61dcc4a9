//! Reads certificates.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::{
    OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_PKCS1_RSAENCRYPTION, OID_X509_ORGANIZATION_NAME,
};
use x509_parser::parse_x509_certificate;
use x509_parser::pem::Pem;
use x509_parser::prelude::X509Certificate;
use x509_parser::public_key::PublicKey;

use crate::object::KeyAlgorithm;

/// A certificate, with the fields that transship compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate {
    der: Vec<u8>,
    /// The subject and the issuer, as they are encoded.
    subject: Vec<u8>,
    issuer: Vec<u8>,
    /// The public key, as it is encoded.
    pub(crate) public_key: Vec<u8>,
    /// When it begins to be valid, in seconds since 1970.
    pub(crate) not_before: i64,
    /// When it ends to be valid.
    pub(crate) not_after: i64,
    /// Whether it may sign certificates.
    pub(crate) is_authority: bool,
    /// The names of its servers, in order.
    pub(crate) dns_names: Vec<String>,
    pub(crate) for_servers: bool,
    pub(crate) for_clients: bool,
    /// The algorithm of its key; `None` for others than those that transship uses.
    pub(crate) algorithm: Option<KeyAlgorithm>,
    /// The user and the groups of a client.
    pub(crate) common_name: String,
    pub(crate) organizations: Vec<String>,
}

impl Certificate {
    /// Reads all certificates of a PEM file. Returns `None` if one of them is not valid, or if there are none.
    pub(crate) fn read_all(pem: &[u8]) -> Option<Vec<Self>> {
        let mut certificates = Vec::new();
        for block in Pem::iter_from_buffer(pem) {
            let block = block.ok()?;
            if block.label == "CERTIFICATE" {
                certificates.push(Self::read(&block.contents)?);
            }
        }
        (!certificates.is_empty()).then_some(certificates)
    }

    /// Reads a certificate.
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let (rest, x509) = parse_x509_certificate(der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let usages = x509.extended_key_usage().ok()?.map(|extension| extension.value.clone());
        Some(Self {
            der: der.to_vec(),
            subject: x509.subject().as_raw().to_vec(),
            issuer: x509.issuer().as_raw().to_vec(),
            public_key: x509.public_key().raw.to_vec(),
            not_before: x509.validity().not_before.timestamp(),
            not_after: x509.validity().not_after.timestamp(),
            is_authority: x509.is_ca(),
            dns_names: dns_names(&x509)?,
            for_servers: usages.as_ref().is_some_and(|usages| usages.server_auth),
            for_clients: usages.as_ref().is_some_and(|usages| usages.client_auth),
            algorithm: algorithm(&x509),
            common_name: x509
                .subject()
                .iter_common_name()
                .find_map(|name| name.as_str().ok())
                .unwrap_or_default()
                .to_owned(),
            organizations: organizations(&x509),
        })
    }

    /// Returns whether an authority signed this certificate.
    pub(crate) fn is_signed_by(&self, authority: &Self) -> bool {
        let parsed = (parse_x509_certificate(&self.der), parse_x509_certificate(&authority.der));
        let (Ok((_, own)), Ok((_, authority_x509))) = parsed else { return false };
        self.issuer == authority.subject && own.verify_signature(Some(authority_x509.public_key())).is_ok()
    }

    /// Returns whether the certificate is valid at a time.
    pub(crate) fn is_valid_at(&self, now: i64) -> bool {
        now >= self.not_before && now < self.not_after
    }

    /// Returns when it is renewed: after two thirds of its lifetime.
    pub(crate) fn renewal(&self) -> i64 {
        renewal(self.not_before, self.not_after)
    }

    /// Returns the certificate as PEM.
    pub(crate) fn pem(&self) -> String {
        let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
        let text = STANDARD.encode(&self.der);
        for line in text.as_bytes().chunks(64) {
            pem += &String::from_utf8_lossy(line);
            pem.push('\n');
        }
        pem + "-----END CERTIFICATE-----\n"
    }
}

/// Returns the time after two thirds of a lifetime.
pub(crate) fn renewal(begin: i64, end: i64) -> i64 {
    begin + end.saturating_sub(begin) / 3 * 2
}

fn dns_names(x509: &X509Certificate<'_>) -> Option<Vec<String>> {
    let mut names = Vec::new();
    if let Some(extension) = x509.subject_alternative_name().ok()? {
        for name in &extension.value.general_names {
            if let GeneralName::DNSName(name) = name {
                names.push((*name).to_owned());
            }
        }
    }
    Some(names)
}

fn organizations(x509: &X509Certificate<'_>) -> Vec<String> {
    let names = x509.subject().iter_by_oid(&OID_X509_ORGANIZATION_NAME);
    names.filter_map(|name| name.as_str().ok()).map(str::to_owned).collect()
}

fn algorithm(x509: &X509Certificate<'_>) -> Option<KeyAlgorithm> {
    let key = x509.public_key();
    let is_p256 = || {
        let parameters = key.algorithm.parameters.as_ref()?;
        Some(parameters.as_oid().ok()? == OID_EC_P256)
    };
    if key.algorithm.algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY && is_p256() == Some(true) {
        return Some(KeyAlgorithm::P256);
    }
    match (key.algorithm.algorithm == OID_PKCS1_RSAENCRYPTION, key.parsed()) {
        (true, Ok(PublicKey::RSA(rsa))) if rsa.key_size() == 2048 => Some(KeyAlgorithm::Rsa2048),
        _ => None,
    }
}
