//! Gives issued objects their values, directly before they are written.

use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::json;
use tokio::time::{Instant, sleep};
use tracing::info;

use crate::apply::cluster::authorities::TrustState;
use crate::apply::cluster::issuer::signer_id;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::request::post_path;
use crate::credentials::due::Due;
use crate::credentials::kubeconfig::{self, Credential, FoundProof, sign, write};
use crate::credentials::serving;
use crate::credentials::signer::Signer;
use crate::credentials::values::Values;
use crate::object::{BUNDLE_KEY, GuestIdentity, IssuedKubeconfig, IssuedOrigin, Object, Proof};

/// How long a token is valid, unless the guest allows less.
const TOKEN_LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);
/// How often to look whether all clients trust a new authority.
const TRUST_INTERVAL: Duration = Duration::from_millis(100);

/// The result for the values of an issued object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Issue {
    /// Its values are valid.
    Kept,
    /// It has new values for this reason.
    Issued(Due),
    /// It should have new values, but not yet. The text says why.
    Postponed(String),
}

/// Gives an issued object new values, if they are due. Does nothing for other objects.
pub(crate) async fn issue(
    cluster: &LiveCluster<'_>,
    object: &Object,
    options: &Options,
) -> Result<Issue, ObjectError> {
    let Some(origin) = &object.issued else { return Ok(Issue::Kept) };
    let issuer = &cluster.issuer;
    let mut due = issuer.due(object, origin, &issuer.values(&object.id));
    if due.is_err() {
        cluster.read_issued_again(object, cluster.rendered_objects()).await;
        due = issuer.due(object, origin, &issuer.values(&object.id));
    }
    let mut due = due.map_err(|reason| ObjectError::NotIssued { reason })?;
    if due.is_none() && is_for_other_account(cluster, object, origin).await {
        due = Some(Due::Identity);
    }
    let Some(due) = due else { return Ok(Issue::Kept) };
    if due == Due::Signer
        && let Some(reason) = wait_for_trust(cluster, object, origin, options).await
    {
        return Ok(Issue::Postponed(reason));
    }
    let values =
        new_values(cluster, object, origin).await.map_err(|reason| ObjectError::NotIssued { reason })?;
    info!(object = %object.id, reason = %due, "issuing values");
    issuer.set_issued(&object.id, values);
    if *origin == IssuedOrigin::Signer {
        cluster.read_signers(cluster.rendered_objects()).await;
        cluster.find_trust(cluster.rendered_objects());
    }
    Ok(Issue::Issued(due))
}

/// Waits with `--wait` until all clients trust the new authority of a certificate. If they do not yet, returns why, and the
/// certificate of the old authority stays.
async fn wait_for_trust(
    cluster: &LiveCluster<'_>,
    object: &Object,
    origin: &IssuedOrigin,
    options: &Options,
) -> Option<String> {
    let IssuedOrigin::Certificate(wanted) = origin else { return None };
    let authorities = &cluster.issuer.authorities;
    let certificate = serving::certificate_of(&cluster.issuer.values(&object.id))?;
    if !certificate.is_valid_at(authorities.clock.now()) {
        return None;
    }
    let signer = signer_id(object, &wanted.signer);
    let delay = i64::try_from(options.trust_delay.as_secs()).unwrap_or(i64::MAX);
    let deadline = options.deadline().min(Instant::now() + options.retry_timeout + options.trust_delay);
    loop {
        let state = authorities.trust_state(&signer, delay);
        if state == TrustState::Settled {
            return None;
        }
        if !options.wait || Instant::now() >= deadline {
            return Some(postponed(&state, delay));
        }
        sleep(TRUST_INTERVAL).await;
    }
}

fn postponed(state: &TrustState, delay: i64) -> String {
    let why = match state {
        TrustState::Missing(client) => format!("{client} does not trust the new signer yet"),
        TrustState::Since(seconds) => {
            format!(
                "its clients were told {seconds} s ago to trust the new signer, and need up to {delay} s to read that"
            )
        }
        TrustState::Settled => String::new(),
    };
    format!("{why}, so the certificate of the old signer stays; --wait waits, or apply again later")
}

async fn new_values(
    cluster: &LiveCluster<'_>,
    object: &Object,
    origin: &IssuedOrigin,
) -> Result<Values, String> {
    let authorities = &cluster.issuer.authorities;
    let now = authorities.clock.now();
    match origin {
        IssuedOrigin::Signer => Signer::create(&object.id.name, now).map_err(|error| error.to_string()),
        IssuedOrigin::Bundle { signer } => {
            let pem = authorities.bundle_pem(&signer_id(object, signer))?;
            Ok(Values::default().with(BUNDLE_KEY, pem))
        }
        IssuedOrigin::Certificate(wanted) => {
            let id = signer_id(object, &wanted.signer);
            let issued = serving::issue(wanted, &object.id.namespace, &*authorities.signer(&id)?, now);
            issued.map_err(|error| format!("the signer {id} cannot be used: {error}"))
        }
        IssuedOrigin::Kubeconfig(wanted) => {
            let pem = authorities.bundle_pem(&signer_id(object, &wanted.authority))?;
            let credential = credential(cluster, object, wanted).await?;
            Ok(write(wanted, &pem, &credential))
        }
        IssuedOrigin::Credentials(credentials) => {
            let files = credentials.files().map_err(|missing| missing.to_string())?;
            Ok(files.into_iter().fold(Values::default(), |values, (key, file)| values.with(key, file)))
        }
    }
}

async fn credential(
    cluster: &LiveCluster<'_>,
    object: &Object,
    wanted: &IssuedKubeconfig,
) -> Result<Credential, String> {
    let authorities = &cluster.issuer.authorities;
    match (&wanted.proof, &wanted.identity) {
        (Proof::Certificate { signer }, identity) => {
            let id = signer_id(object, signer);
            let signed = sign(identity, &*authorities.signer(&id)?, authorities.clock.now());
            signed.map_err(|error| format!("the signer {id} cannot be used: {error}"))
        }
        (Proof::Token, GuestIdentity::ServiceAccount { namespace, name }) => {
            request_token(cluster, namespace, name).await
        }
        (Proof::Token, GuestIdentity::User { name, .. }) => {
            Err(format!("the user {name} cannot have a token"))
        }
    }
}

/// Returns whether a kubeconfig has the token of a ServiceAccount that was deleted since. The guest does not accept it, even if
/// there is a new ServiceAccount with its name.
async fn is_for_other_account(cluster: &LiveCluster<'_>, object: &Object, origin: &IssuedOrigin) -> bool {
    let IssuedOrigin::Kubeconfig(IssuedKubeconfig {
        proof: Proof::Token,
        identity: GuestIdentity::ServiceAccount { namespace, name },
        ..
    }) = origin
    else {
        return false;
    };
    let Some(guest) = cluster.issuer.authorities.guest() else { return false };
    let values = cluster.issuer.values(&object.id);
    let found = values.text(kubeconfig::KEY).and_then(kubeconfig::read);
    let Some(FoundProof::Token(claims)) = found.map(|found| found.proof) else { return false };
    let account = service_accounts().object(namespace, name);
    let Ok(request) = account.get_metadata() else { return false };
    match guest.get(request).await {
        Ok(Some(live)) => live.value["metadata"]["uid"].as_str().is_some_and(|uid| uid != claims.account_uid),
        _ => false,
    }
}

fn service_accounts() -> ServedResource {
    ServedResource { resource: ApiResource::erase::<ServiceAccount>(&()), scope: Scope::Namespaced }
}

/// Asks the guest for a token of a ServiceAccount.
async fn request_token(cluster: &LiveCluster<'_>, namespace: &str, name: &str) -> Result<Credential, String> {
    let Some(guest) = cluster.issuer.authorities.guest() else {
        return Err("the guest, which issues the token, has not responded yet".to_owned());
    };
    let account = service_accounts().object(namespace, name);
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"audiences": [], "expirationSeconds": TOKEN_LIFETIME.as_secs()},
    });
    let path = account.subresource("token").map_err(|error| error.to_string())?;
    let response = post_path(&path, &request).map(|request| guest.send_unguarded(request));
    let response = match response {
        Ok(response) => response.await,
        Err(error) => Err(error),
    };
    let response = match response {
        Ok(response) => response.value,
        Err(error) if error.is_not_found() => {
            return Err(format!("the guest has no ServiceAccount/{name} in {namespace} yet"));
        }
        Err(error) => return Err(format!("the guest issues no token: {}", error.message_without_values())),
    };
    let token = response["status"]["token"].as_str().unwrap_or_default();
    let user = format!("system:serviceaccount:{namespace}:{name}");
    match kubeconfig::claims(token) {
        Some(claims) if claims.user == user => Ok(Credential::Token(token.to_owned().into())),
        _ => Err(format!("the guest responds with something else than a token of {user}")),
    }
}
