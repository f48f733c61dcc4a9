//! `transship credentials policy`

use crate::cli::{Inputs, Outcome, output};
use crate::cloud_role::{self, CredentialsRequest, Trust};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::Profile;
use crate::object::{Cloud, CloudCredentials, Cluster, IssuedOrigin, Object};
use crate::order::Plan;
use crate::{Project, render_unchecked};
use clap::Args;

/// Print what the cloud roles of a hosted cluster may do, and who may use them, as JSON
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship credentials policy
  transship credentials policy aws-ebs-csi-driver-operator | jq .policyDocument
  transship credentials policy --trust --hosted-control-plane hcp.yaml | jq .assumeRolePolicyDocument
  transship credentials policy --trust --issuer-url https://issuer.example/guest --account-id 123456789012

The permissions are those of the CredentialsRequest that a standalone cluster uses. Without a name, the command prints
one document for each CredentialsRequest whose Secret is issued for a hosted control plane.")]
pub(super) struct RolePolicy {
    /// Names of `CredentialsRequests`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    inputs: Inputs,
    /// Profile that renders the `CredentialsRequests`; by default the one with all objects in one cluster
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Also print which `ServiceAccounts` of the guest may use the role
    #[arg(long)]
    trust: bool,
    /// URL of the issuer of the guest's tokens; by default that of the `HostedControlPlane`
    #[arg(long, value_name = "URL", requires = "trust", value_parser = issuer_url)]
    issuer_url: Option<String>,
    /// AWS account of the role; by default that of the role of the `HostedControlPlane`
    #[arg(long, value_name = "ID", requires = "trust", value_parser = account_id)]
    account_id: Option<String>,
}

fn issuer_url(text: &str) -> Result<String, String> {
    let mut credentials = CloudCredentials::new(Cloud::Aws);
    match Cloud::Aws.field("issuerURL").map(|field| credentials.set(field, text)) {
        Some(Err(invalid)) => Err(format!("it {invalid}")),
        _ => Ok(text.to_owned()),
    }
}

fn account_id(text: &str) -> Result<String, String> {
    if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    Err("it must have 12 digits".to_owned())
}

impl RolePolicy {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profile = self.profile(&project)?;
        let all: Vec<&Profile> = project.profiles.iter().collect();
        let plans = render_unchecked(&project.context(), &all)?;
        let mut printed = String::new();
        let mut errors = Diagnostics::default();
        for object in self.requests(profile, &plans)? {
            match self.documents(object, &plans, &project) {
                Ok(documents) => printed += &documents,
                Err(found) => errors.append(found),
            }
        }
        output::json(&errors.into_result(printed)?)?;
        Ok(Outcome::Done)
    }

    /// Returns the profile that renders the requests.
    fn profile<'p>(&self, project: &'p Project) -> Result<&'p Profile, Diagnostics> {
        let profiles: Vec<&Profile> = match &self.profile {
            Some(name) => project.profiles.named(Some(name))?,
            None => project.profiles.iter().filter(|profile| profile.cluster == Cluster::Both).collect(),
        };
        if let [profile] = profiles[..] {
            return Ok(profile);
        }
        let message = match profiles.len() {
            0 => "no profile has all objects in one cluster",
            _ => "several profiles have all objects in one cluster",
        };
        Err(Diagnostic::error(message)
            .note("the permissions of a cloud role are those of a standalone cluster")
            .help("choose a profile with --profile")
            .into())
    }

    /// Returns the objects with the permissions to print.
    fn requests<'p>(&self, profile: &Profile, plans: &'p [Plan]) -> Result<Vec<&'p Object>, Diagnostics> {
        let objects = plans.iter().filter(|plan| plan.profile == profile.name).flat_map(|plan| &plan.objects);
        let requests: Vec<&Object> = objects.filter(|object| CredentialsRequest::is_one(object)).collect();
        if self.names.is_empty() {
            return issued_requests(profile, &requests, plans);
        }
        let mut wanted = Vec::new();
        let mut errors = Diagnostics::default();
        for name in &self.names {
            let before = wanted.len();
            wanted.extend(requests.iter().filter(|object| object.id.name == *name));
            if wanted.len() == before {
                let known: Vec<&str> = requests.iter().map(|object| object.id.name.as_str()).collect();
                let message = format!("the profile `{}` has no CredentialsRequest `{name}`", profile.name);
                let help = if known.is_empty() {
                    "choose another profile with --profile".to_owned()
                } else {
                    format!("use one of {}", known.join(", "))
                };
                errors.0.push(Diagnostic::error(message).help(help).suggest(name, known));
            }
        }
        errors.into_result(wanted)
    }

    /// Returns the documents of the role for one object, as JSON.
    fn documents(&self, object: &Object, plans: &[Plan], project: &Project) -> Result<String, Diagnostics> {
        let request = CredentialsRequest::read(object, &project.sources)?;
        let cloud = request.permissions.cloud();
        let credentials = issued(plans)
            .find(|(secret, credentials)| *secret == request.secret && credentials.cloud() == cloud)
            .map(|(_, credentials)| credentials);
        let trust = Trust {
            credentials,
            issuer_url: self.issuer_url.as_deref(),
            account_id: self.account_id.as_deref(),
        };
        let documents = cloud_role::documents(&request, self.trust.then_some(&trust))?;
        let json = serde_json::to_string_pretty(&documents);
        let json = json.map_err(|error| Diagnostic::error(format!("cannot write JSON: {error}")))?;
        Ok(json + "\n")
    }
}

/// Returns the names of the Secrets with cloud credentials that are issued, and what they are for.
fn issued(plans: &[Plan]) -> impl Iterator<Item = (&str, &CloudCredentials)> {
    let objects = plans.iter().flat_map(|plan| &plan.objects);
    objects.filter_map(|object| match &object.issued {
        Some(IssuedOrigin::Credentials(credentials)) => Some((object.id.name.as_str(), credentials)),
        _ => None,
    })
}

/// Returns the requests whose Secret is issued.
fn issued_requests<'p>(
    profile: &Profile,
    requests: &[&'p Object],
    plans: &[Plan],
) -> Result<Vec<&'p Object>, Diagnostics> {
    let mut wanted = Vec::new();
    for object in requests {
        let secret = CredentialsRequest::secret_of(object);
        if issued(plans).any(|(issued, _)| Some(issued) == secret) {
            wanted.push(*object);
        }
    }
    if wanted.is_empty() {
        return Err(Diagnostic::error(format!(
            "no Secret of a CredentialsRequest of the profile `{}` is issued",
            profile.name
        ))
        .note("the pages declare no IssuedCredentials with the name of such a Secret")
        .help("name the CredentialsRequests")
        .into());
    }
    Ok(wanted)
}
