//! A signer: a certificate authority with its key.

use std::fmt;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256, PublicKeyData, RsaKeySize, SanType,
};
use secrecy::zeroize::Zeroizing;
use time::OffsetDateTime;

use super::certificate::Certificate;
use super::values::Values;
use crate::object::KeyAlgorithm;

/// How long an issued certificate is valid.
const LIFETIME: i64 = 365 * 24 * 3600;
/// How long a signer that transship created is valid.
const SIGNER_LIFETIME: i64 = 10 * LIFETIME;
/// The clocks of servers and clients may be slow.
const CLOCK_SKEW: i64 = 3600;

/// The keys under which a Secret has the certificate and the key of a signer.
const KEYS: [(&str, &str); 2] = [("ca.crt", "ca.key"), ("tls.crt", "tls.key")];

/// The organizational unit in the name of a signer.
const UNIT: &str = "openshift";

/// A signer.
pub(crate) struct Signer {
    /// Its own certificate.
    pub(crate) certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate to sign.
pub(crate) struct Request<'r> {
    /// The user of a client, or the first name of a server.
    pub(crate) common_name: &'r str,
    /// The groups of a client, at most two.
    pub(crate) organizations: &'r [String],
    pub(crate) dns_names: &'r [String],
    pub(crate) algorithm: KeyAlgorithm,
    pub(crate) for_servers: bool,
    pub(crate) for_clients: bool,
}

/// A signed certificate with its key, as PEM.
pub(crate) struct Signed {
    pub(crate) certificate: String,
    pub(crate) key: Zeroizing<String>,
}

/// Why a signer cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignerError {
    /// Its Secret has no certificate or no key.
    Incomplete,
    /// Its certificate or key cannot be read.
    Unreadable,
    /// Its key belongs to another certificate.
    KeyMismatch,
    /// Its certificate may not sign others.
    NotAnAuthority,
    /// Its certificate is not valid now.
    Expired,
    /// Its name cannot be written into a certificate.
    Name,
    /// A key or a signature could not be made.
    Failed,
}

impl fmt::Display for SignerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Incomplete => "it has no values for ca.crt and ca.key",
            Self::Unreadable => "its certificate or key cannot be read",
            Self::KeyMismatch => "its key does not belong to its certificate",
            Self::NotAnAuthority => "its certificate is not that of an authority",
            Self::Expired => "its certificate has expired or is not valid yet",
            Self::Name => "its name has an attribute several times",
            Self::Failed => "signing failed",
        })
    }
}

impl Signer {
    /// Reads the Secret of a signer.
    pub(crate) fn read(values: &Values) -> Result<Self, SignerError> {
        let pair =
            KEYS.iter().find_map(|(certificate, key)| Some((values.get(certificate)?, values.text(key)?)));
        let (certificate, key) = pair.ok_or(SignerError::Incomplete)?;
        // The first certificate is its own; those of the authorities above it may follow.
        let certificate = Certificate::read_all(certificate).ok_or(SignerError::Unreadable)?.swap_remove(0);
        let key = KeyPair::from_pem(key).map_err(|_| SignerError::Unreadable)?;
        if key.subject_public_key_info() != certificate.public_key {
            return Err(SignerError::KeyMismatch);
        }
        if !certificate.is_authority {
            return Err(SignerError::NotAnAuthority);
        }
        let issuer =
            Issuer::from_ca_cert_pem(&certificate.pem(), key).map_err(|_| SignerError::Unreadable)?;
        Ok(Self { certificate, issuer })
    }

    /// Creates a signer, as the values of its Secret.
    pub(crate) fn create(name: &str, now: i64) -> Result<Values, SignerError> {
        let key = new_key(KeyAlgorithm::P256)?;
        let mut params = params(now, now + SIGNER_LIFETIME)?;
        // The time makes the name of each signer different, so that a client with several of them takes the right one.
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationalUnitName, UNIT);
        params.distinguished_name.push(DnType::CommonName, format!("{name}@{now}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(|_| SignerError::Failed)?;
        let key = Zeroizing::new(key.serialize_pem());
        Ok(Values::default().with("ca.crt", certificate.pem()).with("ca.key", key.as_bytes()))
    }

    /// Signs a certificate with a new key. It is valid for a year, but not longer than the signer.
    pub(crate) fn sign(&self, request: &Request<'_>, now: i64) -> Result<Signed, SignerError> {
        if !self.certificate.is_valid_at(now) {
            return Err(SignerError::Expired);
        }
        let key = new_key(request.algorithm)?;
        let mut params = params(now, (now + LIFETIME).min(self.certificate.not_after))?;
        params.distinguished_name = name(request);
        for name in request.dns_names {
            let name = name.as_str().try_into().map_err(|_| SignerError::Failed)?;
            params.subject_alt_names.push(SanType::DnsName(name));
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        if request.for_servers {
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        }
        if request.for_clients {
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        }
        params.use_authority_key_identifier_extension = true;
        params.is_ca = IsCa::ExplicitNoCa;
        let certificate = params.signed_by(&key, &self.issuer).map_err(|_| SignerError::Failed)?;
        // The crate that writes certificates keeps one value of each attribute, so the name of the signer may be another one.
        let read = Certificate::read(certificate.der()).ok_or(SignerError::Failed)?;
        if !read.is_signed_by(&self.certificate) {
            return Err(SignerError::Name);
        }
        Ok(Signed { certificate: certificate.pem(), key: Zeroizing::new(key.serialize_pem()) })
    }
}

fn params(not_before: i64, not_after: i64) -> Result<CertificateParams, SignerError> {
    let date = |seconds| OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| SignerError::Failed);
    let mut params = CertificateParams::default();
    params.not_before = date(not_before - CLOCK_SKEW)?;
    params.not_after = date(not_after)?;
    Ok(params)
}

/// Returns the name of a client or server. A second group is written with the number of the attribute, because the crate keeps
/// one value for each way to name an attribute.
fn name(request: &Request<'_>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    let organization = DnType::CustomDnType(vec![2, 5, 4, 10]);
    for (group, attribute) in request.organizations.iter().zip([DnType::OrganizationName, organization]) {
        name.push(attribute, group.as_str());
    }
    name.push(DnType::CommonName, request.common_name);
    name
}

fn new_key(algorithm: KeyAlgorithm) -> Result<KeyPair, SignerError> {
    let key = match algorithm {
        KeyAlgorithm::P256 => KeyPair::generate(),
        KeyAlgorithm::Rsa2048 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048),
    };
    key.map_err(|_| SignerError::Failed)
}
