//! `credentials list --live`: reads how issued credentials are in the clusters.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::event::Event;
use crate::apply::run::clusters::{read_clusters, read_issued, report_unusable};
use crate::apply::run::contacts::Topology;
use crate::credentials::certificate::{Certificate, renewal};
use crate::credentials::kubeconfig::{self, FoundProof};
use crate::credentials::serving;
use crate::credentials::signer::Signer;
use crate::credentials::values::Values;
use crate::diagnostic::Diagnostic;
use crate::object::{IssuedOrigin, ObjectId};
use crate::show::CredentialState;

/// An issued credential in a cluster.
pub(crate) type LiveCredential = CredentialState;

/// Returns the state of each issued object. Events report clusters that cannot be read.
pub(crate) async fn live_credentials(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<BTreeMap<ObjectId, LiveCredential>, Diagnostic> {
    let topology = Topology::to_read(&targets, options);
    let clusters = read_clusters(&topology).await?;
    read_issued(&clusters).await;
    report_unusable(&topology, &clusters, &mut |event: Event| on_event(&event));
    let mut states = BTreeMap::new();
    for cluster in clusters.iter().flatten() {
        for object in cluster.rendered_objects() {
            let Some(origin) = &object.issued else { continue };
            let values = cluster.issuer.values(&object.id);
            let state = match cluster.issuer.due(object, origin, &values) {
                Ok(None) => "valid".to_owned(),
                Ok(Some(due)) => format!("due: {due}"),
                Err(reason) => format!("cannot be issued: {reason}"),
            };
            let lifetime = lifetime(origin, &values);
            states.insert(
                object.id.clone(),
                LiveCredential {
                    state,
                    valid_until: lifetime.and_then(|(_, end)| time(end)),
                    renewal: lifetime.and_then(|(begin, end)| time(renewal(begin, end))),
                },
            );
        }
    }
    Ok(states)
}

/// Returns when the values of an object begin and end to be valid. Those of others never end.
fn lifetime(origin: &IssuedOrigin, values: &Values) -> Option<(i64, i64)> {
    let of = |certificate: &Certificate| (certificate.not_before, certificate.not_after);
    match origin {
        IssuedOrigin::Certificate(_) => serving::certificate_of(values).as_ref().map(of),
        IssuedOrigin::Signer => Signer::read(values).ok().map(|signer| of(&signer.certificate)),
        IssuedOrigin::Kubeconfig(_) => match kubeconfig::read(values.text(kubeconfig::KEY)?)?.proof {
            FoundProof::Certificate { certificate, .. } => Some(of(&certificate)),
            FoundProof::Token(claims) => Some((claims.issued_at, claims.expires_at)),
        },
        IssuedOrigin::Credentials(_) | IssuedOrigin::Bundle { .. } => None,
    }
}

fn time(seconds: i64) -> Option<String> {
    Some(Timestamp::from_second(seconds).ok()?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
