//! The authorities that the clients of a signer trust: its own, and for a while the ones before. So clients trust a new
//! authority before the first server uses it, and the old one until the last server has stopped.

use super::certificate::Certificate;

/// How long clients trust an authority after its last certificate was replaced: until every process that reads the old
/// certificate from its volume has read the new one.
const OVERLAP: i64 = 24 * 3600;

/// The input for the authorities of a signer.
pub(crate) struct BundleInput<'b> {
    /// The certificate of the signer.
    pub(crate) current: &'b Certificate,
    /// The authorities that clients trusted so far.
    pub(crate) trusted: Vec<Certificate>,
    /// The certificates that the signer, or one before it, signed.
    pub(crate) signed: Vec<Certificate>,
    pub(crate) now: i64,
}

/// Returns the authorities that clients trust, the current one first.
pub(crate) fn bundle(input: BundleInput<'_>) -> Vec<Certificate> {
    let BundleInput { current, trusted, signed, now } = input;
    let by_current = signed.iter().filter(|certificate| certificate.is_signed_by(current));
    let replaced = by_current.map(|certificate| certificate.not_before).max();
    let is_recent = now < replaced.unwrap_or(current.not_before).max(current.not_before) + OVERLAP;
    let mut before = Vec::new();
    for authority in trusted {
        let is_used = || signed.iter().any(|certificate| certificate.is_signed_by(&authority));
        let is_older = authority.is_authority && authority != *current && now < authority.not_after;
        if is_older && !before.contains(&authority) && (is_recent || is_used()) {
            before.push(authority);
        }
    }
    before.sort_by_key(|authority| (std::cmp::Reverse(authority.not_before), authority.pem()));
    std::iter::once(current.clone()).chain(before).collect()
}

/// Returns authorities as a PEM file.
pub(crate) fn pem(authorities: &[Certificate]) -> String {
    authorities.iter().map(Certificate::pem).collect()
}

#[cfg(test)]
mod tests {
    use super::{BundleInput, bundle, pem};
    use crate::credentials::certificate::Certificate;
    use crate::credentials::serving;
    use crate::credentials::signer::Signer;
    use crate::object::{IssuedCertificate, KeyAlgorithm};

    const NOW: i64 = 1_800_000_000;
    const DAY: i64 = 24 * 3600;

    fn signer(now: i64) -> Signer {
        Signer::read(&Signer::create("root-ca", now).unwrap()).unwrap()
    }

    fn leaf(signer: &Signer, now: i64) -> Certificate {
        let wanted = IssuedCertificate {
            signer: "root-ca".to_owned(),
            service: Some("op".to_owned()),
            dns_names: Vec::new(),
            key: KeyAlgorithm::P256,
            client: false,
        };
        serving::certificate_of(&serving::issue(&wanted, "ns", signer, now).unwrap()).unwrap()
    }

    #[test]
    fn the_authority_before_stays_while_it_is_used_and_for_a_day_more() {
        let (old, new) = (signer(NOW - 100 * DAY), signer(NOW));
        let authorities = |signed: &[Certificate], now: i64| {
            let trusted = vec![old.certificate.clone(), new.certificate.clone(), old.certificate.clone()];
            bundle(BundleInput { current: &new.certificate, trusted, signed: signed.to_vec(), now })
        };
        let both = [new.certificate.clone(), old.certificate.clone()];
        let (old_leaf, new_leaf) = (leaf(&old, NOW - 10 * DAY), leaf(&new, NOW + 5 * DAY));
        assert_eq!(authorities(&[], NOW), both);
        assert_eq!(authorities(std::slice::from_ref(&old_leaf), NOW + 9 * DAY), both);
        assert_eq!(authorities(&[old_leaf, new_leaf.clone()], NOW + 9 * DAY), both);
        assert_eq!(authorities(std::slice::from_ref(&new_leaf), NOW + 5 * DAY), both);
        assert_eq!(authorities(&[new_leaf], NOW + 6 * DAY), both[..1]);
    }

    #[test]
    fn only_authorities_that_are_valid_stay() {
        let (old, new) = (signer(NOW - 4000 * DAY), signer(NOW));
        let trusted = vec![old.certificate, leaf(&new, NOW)];
        let input = BundleInput { current: &new.certificate, trusted, signed: Vec::new(), now: NOW };
        let authorities = bundle(input);
        assert_eq!(authorities, std::slice::from_ref(&new.certificate));
        assert_eq!(Certificate::read_all(pem(&authorities).as_bytes()).unwrap(), authorities);
    }
}
