//! Kubeconfigs for the guest: when they are issued, and their values.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use secrecy::zeroize::Zeroizing;
use serde_json::{Value, json};

use super::certificate::{Certificate, renewal};
use super::due::Due;
use super::signer::{Request, Signer, SignerError};
use super::values::Values;
use crate::object::{GuestIdentity, IssuedKubeconfig, KeyAlgorithm};
use crate::yaml::{self, Node, SourceId};

/// The key of a kubeconfig's Secret.
pub(crate) const KEY: &str = "kubeconfig";
/// The name of the cluster, the context and the user.
const NAME: &str = "guest";

/// The proof of an identity in a kubeconfig.
pub(crate) enum Credential {
    /// A client certificate with its key, as PEM.
    Certificate { certificate: String, key: Zeroizing<String> },
    /// A token.
    Token(Zeroizing<String>),
}

/// The content of an existing kubeconfig.
pub(crate) struct Found {
    server: String,
    namespace: String,
    /// The authorities, as PEM.
    authorities: String,
    pub(crate) proof: FoundProof,
}

/// With what an existing kubeconfig proves its identity.
pub(crate) enum FoundProof {
    Certificate {
        certificate: Certificate,
        /// Whether the key belongs to it.
        has_key: bool,
    },
    Token(TokenClaims),
}

/// The claims of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenClaims {
    pub(crate) user: String,
    /// The uid of the ServiceAccount; empty if the token does not name it.
    pub(crate) account_uid: String,
    pub(crate) issued_at: i64,
    pub(crate) expires_at: i64,
}

/// The kubeconfig that is wanted.
pub(crate) struct Wanted<'w> {
    pub(crate) kubeconfig: &'w IssuedKubeconfig,
    /// The authorities of the API server, as PEM; `None` if they are not known.
    pub(crate) authorities: Option<&'w str>,
    /// The certificate of the signer; `None` if it is not known or not needed.
    pub(crate) signer: Option<&'w Certificate>,
    pub(crate) now: i64,
}

/// Returns why a kubeconfig is issued; `None` if the existing one stays.
pub(crate) fn due(live: &Values, wanted: &Wanted<'_>) -> Option<Due> {
    let Some(text) = live.text(KEY) else { return Some(Due::New) };
    let Some(found) = read(text) else { return Some(Due::Invalid) };
    let Wanted { kubeconfig, authorities, signer, now } = *wanted;
    if found.server != kubeconfig.server {
        return Some(Due::Server);
    }
    if found.namespace != kubeconfig.identity.namespace() {
        return Some(Due::Identity);
    }
    if authorities.is_some_and(|authorities| found.authorities != authorities) {
        return Some(Due::Authorities);
    }
    let is_token = matches!(kubeconfig.proof, crate::object::Proof::Token);
    match &found.proof {
        FoundProof::Certificate { certificate, has_key } if !is_token => {
            due_certificate(certificate, *has_key, &kubeconfig.identity, signer, now)
        }
        FoundProof::Token(claims) if is_token => due_token(claims, &kubeconfig.identity, now),
        _ => Some(Due::Identity),
    }
}

fn due_certificate(
    certificate: &Certificate,
    has_key: bool,
    identity: &GuestIdentity,
    signer: Option<&Certificate>,
    now: i64,
) -> Option<Due> {
    if !has_key {
        return Some(Due::Invalid);
    }
    let same_groups = sorted(&certificate.organizations) == sorted(&identity.groups());
    if certificate.common_name != identity.user() || !same_groups {
        return Some(Due::Identity);
    }
    if !certificate.for_clients || certificate.for_servers {
        return Some(Due::Usage);
    }
    if signer.is_some_and(|signer| !certificate.is_signed_by(signer)) {
        return Some(Due::Signer);
    }
    (now >= certificate.renewal()).then_some(Due::Renewal)
}

fn due_token(claims: &TokenClaims, identity: &GuestIdentity, now: i64) -> Option<Due> {
    if claims.user != identity.user() {
        return Some(Due::Identity);
    }
    (now >= renewal(claims.issued_at, claims.expires_at)).then_some(Due::Renewal)
}

fn sorted(groups: &[String]) -> Vec<&String> {
    let mut groups: Vec<&String> = groups.iter().collect();
    groups.sort();
    groups
}

/// Signs a client certificate for an identity.
pub(crate) fn sign(identity: &GuestIdentity, signer: &Signer, now: i64) -> Result<Credential, SignerError> {
    let request = Request {
        common_name: &identity.user(),
        organizations: &identity.groups(),
        dns_names: &[],
        algorithm: KeyAlgorithm::P256,
        for_servers: false,
        for_clients: true,
    };
    let leaf = signer.sign(&request, now)?;
    Ok(Credential::Certificate { certificate: leaf.certificate, key: leaf.key })
}

/// Writes a kubeconfig, with everything in one file.
pub(crate) fn write(kubeconfig: &IssuedKubeconfig, authorities: &str, credential: &Credential) -> Values {
    let user = match credential {
        Credential::Certificate { certificate, key } => json!({
            "client-certificate-data": STANDARD.encode(certificate),
            "client-key-data": STANDARD.encode(key.as_bytes()),
        }),
        Credential::Token(token) => json!({"token": token.as_str()}),
    };
    let cluster =
        json!({"server": kubeconfig.server, "certificate-authority-data": STANDARD.encode(authorities)});
    let context = json!({"cluster": NAME, "namespace": kubeconfig.identity.namespace(), "user": NAME});
    let file = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "contexts": [{"name": NAME, "context": context}],
        "current-context": NAME,
        "users": [{"name": NAME, "user": user}],
    });
    let text = Zeroizing::new(yaml::write(&Node::from(&file)));
    Values::default().with(KEY, text.as_bytes())
}

/// Reads a kubeconfig that transship wrote. Returns `None` for any other text.
pub(crate) fn read(text: &str) -> Option<Found> {
    let document = yaml::read(text, SourceId(0)).ok()?.into_iter().next()?;
    let file = Value::from(&document.root);
    let (cluster, context) = (&file["clusters"][0]["cluster"], &file["contexts"][0]["context"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let decoded = |value: &Value| String::from_utf8(STANDARD.decode(value.as_str()?).ok()?).ok();
    let user = &file["users"][0]["user"];
    let proof = if let Some(token) = user["token"].as_str() {
        FoundProof::Token(claims(token)?)
    } else {
        let certificate = Certificate::read_all(decoded(&user["client-certificate-data"])?.as_bytes())?;
        let certificate = certificate.into_iter().next()?;
        let key = Zeroizing::new(decoded(&user["client-key-data"])?);
        let key = rcgen::KeyPair::from_pem(&key).ok();
        let key = key.map(|key| rcgen::PublicKeyData::subject_public_key_info(&key));
        FoundProof::Certificate { has_key: key.as_ref() == Some(&certificate.public_key), certificate }
    };
    Some(Found {
        server: text(&cluster["server"])?,
        namespace: text(&context["namespace"])?,
        authorities: decoded(&cluster["certificate-authority-data"])?,
        proof,
    })
}

impl Found {
    /// Returns the authorities of the API server.
    pub(crate) fn authorities(&self) -> Vec<Certificate> {
        Certificate::read_all(self.authorities.as_bytes()).unwrap_or_default()
    }
}

/// The longest token. Those of Kubernetes have about 1,000 bytes, and the guest's administrator decides what the guest returns.
const MAX_TOKEN: usize = 16 << 10;

/// Returns what a token says about itself. Nobody checks its signature: only its issuer can. Returns `None` for a text that is not
/// a token.
pub(crate) fn claims(token: &str) -> Option<TokenClaims> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if token.len() > MAX_TOKEN || !token.bytes().all(is_token_byte) {
        return None;
    }
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some(TokenClaims {
        user: claims["sub"].as_str()?.to_owned(),
        account_uid: claims["kubernetes.io"]["serviceaccount"]["uid"].as_str().unwrap_or_default().to_owned(),
        issued_at: claims["iat"].as_i64()?,
        expires_at: claims["exp"].as_i64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Credential, Due, Wanted, claims, due, read, sign, write};
    use crate::credentials::bundle::pem;
    use crate::credentials::signer::Signer;
    use crate::credentials::values::Values;
    use crate::object::{GuestIdentity, IssuedKubeconfig, Proof};

    const NOW: i64 = 1_800_000_000;
    const DAY: i64 = 24 * 3600;

    fn signer(now: i64) -> Signer {
        Signer::read(&Signer::create("cluster-signer-ca", now).unwrap()).unwrap()
    }

    fn kubeconfig(proof: Proof) -> IssuedKubeconfig {
        let [namespace, name] = ["openshift-op", "op"].map(str::to_owned);
        IssuedKubeconfig {
            server: "https://kube-apiserver:6443".to_owned(),
            authority: "root-ca".to_owned(),
            identity: GuestIdentity::ServiceAccount { namespace, name },
            proof,
        }
    }

    fn certificate() -> IssuedKubeconfig {
        kubeconfig(Proof::Certificate { signer: "cluster-signer-ca".to_owned() })
    }

    #[test]
    fn a_kubeconfig_is_issued_once() {
        let (signer, kubeconfig) = (signer(NOW), certificate());
        let authorities = pem(std::slice::from_ref(&signer.certificate));
        let credential = sign(&kubeconfig.identity, &signer, NOW).unwrap();
        let values = write(&kubeconfig, &authorities, &credential);
        let due_with = |values: &Values, change: &dyn Fn(&mut Wanted<'_>)| {
            let signer = Some(&signer.certificate);
            let mut wanted =
                Wanted { kubeconfig: &kubeconfig, authorities: Some(&authorities), signer, now: NOW };
            change(&mut wanted);
            due(values, &wanted)
        };
        assert_eq!(due_with(&Values::default(), &|_| {}), Some(Due::New));
        assert_eq!(due_with(&values, &|_| {}), None);
        assert_eq!(due_with(&values, &|wanted| wanted.now += 243 * DAY), None);
        assert_eq!(due_with(&values, &|wanted| wanted.now += 244 * DAY), Some(Due::Renewal));
        assert_eq!(due_with(&values, &|wanted| wanted.authorities = Some("other")), Some(Due::Authorities));
        assert_eq!(due_with(&Values::default().with("kubeconfig", "a: b"), &|_| {}), Some(Due::Invalid));
        let other = super::tests::signer(NOW + 1);
        let wanted = Wanted {
            kubeconfig: &kubeconfig,
            authorities: Some(&authorities),
            signer: Some(&other.certificate),
            now: NOW,
        };
        assert_eq!(due(&values, &wanted), Some(Due::Signer));
    }

    #[test]
    fn a_certificate_has_the_user_and_the_groups_of_the_service_account() {
        let (signer, kubeconfig) = (signer(NOW), certificate());
        let credential = sign(&kubeconfig.identity, &signer, NOW).unwrap();
        let values = write(&kubeconfig, &pem(&[signer.certificate]), &credential);
        let super::FoundProof::Certificate { certificate, .. } =
            read(values.text("kubeconfig").unwrap()).unwrap().proof
        else {
            panic!("it has a token")
        };
        assert_eq!(certificate.common_name, "system:serviceaccount:openshift-op:op");
        let groups = ["system:serviceaccounts", "system:serviceaccounts:openshift-op"];
        assert_eq!(certificate.organizations, groups);
        assert!(certificate.for_clients && !certificate.for_servers);
    }

    #[test]
    fn another_server_or_identity_is_a_reason() {
        let (signer, kubeconfig) = (signer(NOW), certificate());
        let credential = sign(&kubeconfig.identity, &signer, NOW).unwrap();
        let values = write(&kubeconfig, "", &credential);
        let due_of = |kubeconfig: &IssuedKubeconfig| {
            due(&values, &Wanted { kubeconfig, authorities: None, signer: None, now: NOW })
        };
        assert_eq!(due_of(&kubeconfig), None);
        let other = IssuedKubeconfig { server: "https://other:6443".to_owned(), ..kubeconfig.clone() };
        assert_eq!(due_of(&other), Some(Due::Server));
        let [namespace, name] = ["openshift-op", "other"].map(str::to_owned);
        let identity = GuestIdentity::ServiceAccount { namespace, name };
        assert_eq!(due_of(&IssuedKubeconfig { identity, ..kubeconfig.clone() }), Some(Due::Identity));
        assert_eq!(due_of(&super::tests::kubeconfig(Proof::Token)), Some(Due::Identity));
    }

    #[test]
    fn a_token_is_renewed_after_two_thirds_of_its_lifetime() {
        // {"iat":1800000000,"exp":1800003000,"sub":"system:serviceaccount:openshift-op:op"}
        let token = "e30.eyJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMzAwMCwic3ViIjoic3lzdGVtOnNlcnZpY2VhY2NvdW50Om9wZW5zaGlmdC1vcDpvcCJ9.c2ln";
        assert_eq!(claims(token).unwrap().expires_at, NOW + 3000);
        assert_eq!(claims(&format!("{token}\n")), None);
        assert_eq!(claims(&format!("{token}{}", "A".repeat(16 << 10))), None);
        let kubeconfig = kubeconfig(Proof::Token);
        let values = write(&kubeconfig, "", &Credential::Token(token.to_owned().into()));
        let due_at =
            |now| due(&values, &Wanted { kubeconfig: &kubeconfig, authorities: None, signer: None, now });
        assert_eq!(due_at(NOW + 1999), None);
        assert_eq!(due_at(NOW + 2000), Some(Due::Renewal));
    }
}
