//! `transship list`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::object::Cluster;
use transship::payload::{self, Payload};
use transship::profile::{Capabilities, Filters, Override, Profiles};
use transship::select::{self, Reason};
use transship::show;

use super::{Outcome, output};

/// Show every manifest of the payload: in or out, where it goes, and why
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship list --profile standalone
  transship list --payload release --cluster-profile self-managed-high-availability --feature-set Default -o json

A filter whose flag is not given is off.")]
pub(super) struct List {
    /// The folder of the payload
    #[arg(long, value_name = "DIR", default_value = "payload")]
    payload: PathBuf,
    /// The folder of the profiles
    #[arg(long, value_name = "DIR", default_value = "profiles")]
    profiles: PathBuf,
    /// Select as this profile does
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only what is in no profile, or in standalone and without a home in HyperShift
    #[arg(long, conflicts_with_all = ["profile", "filters"])]
    orphans: bool,
    /// The format of the list
    #[arg(short = 'o', value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    flags: Flags,
}

/// The cluster-version-operator's filters, for payloads without profiles.
#[derive(Args)]
#[group(id = "filters", multiple = true, conflicts_with = "profile")]
struct Flags {
    /// Take in what is annotated include.release.openshift.io/NAME
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    cluster_profile: Option<String>,
    /// The cluster's feature set, Default for the default one
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    feature_set: Option<String>,
    /// A feature gate that is on; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    feature_gate: Vec<String>,
    /// A capability that is on; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    capability: Vec<String>,
    /// A capability that exists but is off; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    known_capability: Vec<String>,
    /// The cluster's major version
    #[arg(long, value_name = "N", help_heading = "Filters")]
    major_version: Option<u64>,
    /// Leave out what is annotated exclude.release.openshift.io/ID
    #[arg(long, value_name = "ID", help_heading = "Filters")]
    exclude_id: Option<String>,
    /// An object that is not managed; repeatable
    #[arg(long = "override", value_name = "GROUP/KIND/NAMESPACE/NAME", help_heading = "Filters")]
    overrides: Vec<Override>,
    /// The payload that the cluster runs now: what it would lose to a new capability switches that on
    #[arg(long, value_name = "DIR", help_heading = "Filters")]
    previous_payload: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A table for people
    Table,
    /// An array of rows
    Json,
}

impl List {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let payload = Payload::load(&self.payload)?;
        output::warn(&payload.warnings);
        let (out, cluster) = self.select(&payload)?;
        let mut rows = show::rows(&payload, &out, cluster);
        if self.orphans {
            rows = show::orphans(&payload, &Profiles::load(&self.profiles)?);
        }
        output::result(&match self.format {
            Format::Table => show::table(&rows, output::paint()),
            Format::Json => show::to_json(&rows),
        })?;
        if matches!(self.format, Format::Table) && !self.orphans {
            summary(&payload, &out);
        }
        Ok(Outcome::Done)
    }

    fn select(&self, payload: &Payload) -> Result<(Vec<Option<Reason>>, Option<Cluster>), Diagnostics> {
        let Some(name) = &self.profile else {
            return Ok((select::by(&self.flags.filters(payload)?, payload), None));
        };
        let profiles = Profiles::load(&self.profiles)?;
        let profile = profiles.named(Some(name))?[0];
        Ok((select::by(&profile.select, payload), Some(profile.cluster)))
    }
}

impl Flags {
    fn filters(&self, payload: &Payload) -> Result<Filters, Diagnostics> {
        let any_capability = !self.capability.is_empty()
            || !self.known_capability.is_empty()
            || self.previous_payload.is_some();
        let mut filters = Filters {
            exclude_identifier: self.exclude_id.clone(),
            feature_set: self.feature_set.clone(),
            feature_gates: (!self.feature_gate.is_empty())
                .then(|| self.feature_gate.iter().cloned().collect()),
            major_version: self.major_version,
            cluster_profile: self.cluster_profile.clone(),
            capabilities: any_capability
                .then(|| Capabilities::new(self.capability.clone(), self.known_capability.clone())),
            overrides: self.overrides.clone(),
        };
        if let Some(previous) = &self.previous_payload {
            let implied = select::implicitly_enabled(payload, &Payload::load(previous)?, &filters);
            if !implied.is_empty() {
                let names: Vec<&str> = implied.iter().map(String::as_str).collect();
                output::note(&format!("implicitly enabled capabilities: {}", names.join(", ")));
            }
            let enabled = self.capability.iter().cloned().chain(implied);
            filters.capabilities = Some(Capabilities::new(enabled, self.known_capability.clone()));
        }
        Ok(filters)
    }
}

fn summary(payload: &Payload, out: &[Option<Reason>]) {
    let included =
        || payload.manifests.iter().zip(out).filter(|(_, out)| out.is_none()).map(|(manifest, _)| manifest);
    output::note(&format!(
        "{} manifests, {} in, {} out\npayload sha256:{}\nClusterVersion status.versionHash {}",
        payload.manifests.len(),
        included().count(),
        payload.manifests.len() - included().count(),
        payload.sha256(),
        payload::cvo_hash(included()),
    ));
}
