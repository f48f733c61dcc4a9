//! The credentials of a topology: who holds them, for which identity, and who issues them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::aligned::aligned;
use crate::check::ReachPath;
use crate::object::{Cluster, IssuedOrigin, Object, ObjectId, Proof, REFERENCE_RULES, pod};
use crate::order::Plan;

/// A credential of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    /// The Secret, if it is issued.
    pub(crate) secret: Option<ObjectId>,
    /// `certificate`, `kubeconfig`, `credentials`, `signer`, `token` or `external`.
    kind: &'static str,
    /// The name of the Secret, or of the container that requests a token.
    name: String,
    /// Whom it proves to be: a user, DNS names or a cloud role.
    identity: String,
    /// Where it is accepted.
    place: String,
    /// Who issues it.
    issuer: String,
    /// The workloads that use it.
    holders: Vec<String>,
}

/// How a credential is in the cluster. The times are as Kubernetes writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CredentialState {
    pub(crate) state: String,
    pub(crate) valid_until: Option<String>,
    pub(crate) renewal: Option<String>,
}

/// Returns the credentials of a topology: those that are issued, and those that workloads get from others.
pub(crate) fn credentials(plans: &[(Cluster, &Plan)], paths: &[ReachPath]) -> Vec<Credential> {
    let mut all = Vec::new();
    for (_, plan) in plans {
        for object in &plan.objects {
            let Some(origin) = &object.issued else { continue };
            if matches!(origin, IssuedOrigin::Bundle { .. }) {
                continue;
            }
            all.push(issued(object, origin, plan));
        }
    }
    for path in paths {
        if path.through.starts_with("token minted") || path.through.starts_with("external Secret/") {
            add_other(path, &mut all);
        }
    }
    all.sort_by(|a, b| (a.kind, &a.name, &a.identity).cmp(&(b.kind, &b.name, &b.identity)));
    all
}

fn issued(object: &Object, origin: &IssuedOrigin, plan: &Plan) -> Credential {
    let (identity, place, issuer) = match origin {
        IssuedOrigin::Kubeconfig(kubeconfig) => {
            let issuer = match &kubeconfig.proof {
                Proof::Certificate { signer } => signer.clone(),
                Proof::Token => "the guest".to_owned(),
            };
            (kubeconfig.identity.user(), "guest".to_owned(), issuer)
        }
        IssuedOrigin::Certificate(certificate) => {
            let names = certificate.names(&object.id.namespace);
            let first = names.first().cloned().unwrap_or_default();
            (first, "clients of the server".to_owned(), certificate.signer.clone())
        }
        IssuedOrigin::Credentials(credentials) => {
            let identity = credentials.identity().unwrap_or_default().to_owned();
            (identity, credentials.cloud().name().to_owned(), "the cloud".to_owned())
        }
        IssuedOrigin::Signer | IssuedOrigin::Bundle { .. } => {
            (object.id.name.clone(), "clients of its certificates".to_owned(), "itself".to_owned())
        }
    };
    Credential {
        secret: Some(object.id.clone()),
        kind: origin.word(),
        name: object.id.name.clone(),
        identity,
        place,
        issuer,
        holders: holders(object, plan),
    }
}

/// Returns the workloads whose pods use a Secret.
fn holders(secret: &Object, plan: &Plan) -> Vec<String> {
    let mut holders = Vec::new();
    for object in &plan.objects {
        let Some(pod) = pod(&object.root, &object.id.kind) else { continue };
        let mut found = Vec::new();
        for rule in REFERENCE_RULES.iter().filter(|rule| rule.applies_to_kind("Pod") && rule.kind == "Secret")
        {
            rule.references(pod, "Pod", &object.id.namespace, &mut found);
        }
        let uses = found.iter().any(|one| one.name == secret.id.name && one.namespace == secret.id.namespace);
        if uses {
            holders.push(object.id.kind_and_name());
        }
    }
    holders
}

/// Adds a token or a Secret of someone else, or one more holder of it.
fn add_other(path: &ReachPath, all: &mut Vec<Credential>) {
    let holder = path.from.name.clone();
    let (kind, issuer) = match path.through.strip_prefix("external ") {
        Some(_) => ("external", "someone else"),
        None => ("token", "the guest"),
    };
    let name = path.through.rsplit(['/', ' ']).next().unwrap_or_default().to_owned();
    let known =
        all.iter_mut().find(|one| one.kind == kind && one.name == name && one.identity == path.to.name);
    match known {
        Some(known) if known.holders.contains(&holder) => {}
        Some(known) => known.holders.push(holder),
        None => all.push(Credential {
            secret: None,
            kind,
            name,
            identity: path.to.name.clone(),
            place: path.to.cluster.name().to_owned(),
            issuer: issuer.to_owned(),
            holders: vec![holder],
        }),
    }
}

/// Returns credentials as a table, with their states in the cluster if these are given.
pub(crate) fn credentials_table(
    credentials: &[Credential],
    states: Option<&BTreeMap<ObjectId, CredentialState>>,
) -> String {
    let mut header = vec!["KIND", "NAME", "IDENTITY", "ACCEPTED BY", "ISSUED BY", "USED BY"];
    if states.is_some() {
        header.extend(["STATE", "VALID UNTIL", "RENEWAL"]);
    }
    let mut rows: Vec<Vec<String>> = vec![header.into_iter().map(str::to_owned).collect()];
    for one in credentials {
        let mut row = vec![
            one.kind.to_owned(),
            one.name.clone(),
            or_dash(&one.identity),
            one.place.clone(),
            one.issuer.clone(),
            or_dash(&one.holders.join(", ")),
        ];
        if let Some(states) = states {
            let state = state_of(one, states);
            row.push(or_dash(&state.state));
            row.push(or_dash(&state.valid_until.unwrap_or_default()));
            row.push(or_dash(&state.renewal.unwrap_or_default()));
        }
        rows.push(row);
    }
    aligned(&rows)
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

fn state_of(credential: &Credential, states: &BTreeMap<ObjectId, CredentialState>) -> CredentialState {
    credential.secret.as_ref().and_then(|id| states.get(id)).cloned().unwrap_or_default()
}

/// Returns credentials as JSON, one per line.
pub(crate) fn credentials_json(
    credentials: &[Credential],
    states: Option<&BTreeMap<ObjectId, CredentialState>>,
) -> String {
    let mut out = String::new();
    for one in credentials {
        let mut line = json!({
            "kind": one.kind, "name": one.name, "identity": one.identity, "acceptedBy": one.place,
            "issuedBy": one.issuer, "usedBy": one.holders,
        });
        if let Some(id) = &one.secret {
            line["namespace"] = json!(id.namespace);
        }
        if let Some(states) = states {
            let CredentialState { state, valid_until, renewal } = state_of(one, states);
            line["state"] = json!(state);
            line["validUntil"] = valid_until.map_or(Json::Null, Json::from);
            line["renewal"] = renewal.map_or(Json::Null, Json::from);
        }
        let _ = writeln!(out, "{line}");
    }
    out
}
