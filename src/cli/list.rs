//! `transship list`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::language::{Capabilities, Filters, Override};
use transship::payload::Payload;
use transship::select::{self, Reason};
use transship::show;

use super::{Inputs, Outcome, output};

/// Show every manifest of the payload: in or out, where it goes, and why
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship list --profile standalone
  transship list --payload release --cluster-profile self-managed-high-availability --feature-set Default -o json

A filter whose flag is not given is off; `--feature-gate ''` and `--capability ''` switch theirs on with none enabled.")]
pub(super) struct List {
    #[command(flatten)]
    inputs: Inputs,
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
        match &self.profile {
            _ if self.orphans => self.list_orphans(),
            Some(name) => self.list_profile(name),
            None => self.list_payload(),
        }
    }

    /// What the profile makes of every manifest, and what it adds.
    fn list_profile(&self, name: &str) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let (context, profile) = (project.context(), project.profiles.named(Some(name))?[0]);
        let selected = transship::select(&context, profile)?;
        let mut rows = show::selected(&selected, &project.sources);
        for plan in transship::render_unchecked(&context, &[profile])? {
            rows.extend(show::added(&plan, &project.sources));
        }
        self.print(&rows)?;
        // The digests are of the payload as it is, whatever a profile lays beside it.
        self.summarise(&project.payload, &profile.select, &selected.selection.out);
        Ok(Outcome::Done)
    }

    /// What the flags make of every manifest.
    fn list_payload(&self) -> Result<Outcome, Diagnostics> {
        let payload = Payload::load(&self.inputs.payload)?;
        output::warn(&payload.warnings);
        let filters = self.flags.filters(&payload)?;
        select::check(&filters, &payload)?;
        let out = select::by(&filters, &payload);
        self.print(&show::rows(&payload, &out, None))?;
        self.summarise(&payload, &filters, &out);
        Ok(Outcome::Done)
    }

    fn list_orphans(&self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let context = project.context();
        let mut selected = Vec::new();
        for profile in project.profiles.iter() {
            selected.push(transship::select(&context, profile)?);
        }
        self.print(&show::orphans(&project.payload, &selected))
    }

    fn summarise(&self, payload: &Payload, filters: &Filters, out: &[Option<Reason>]) {
        if matches!(self.format, Format::Table) {
            output::note(&show::summary(payload, filters, out));
        }
    }

    fn print(&self, rows: &[show::Row]) -> Result<Outcome, Diagnostics> {
        output::result(&match self.format {
            Format::Table => show::table(rows, output::paint()),
            Format::Json => show::to_json(rows),
        })?;
        Ok(Outcome::Done)
    }
}

impl Flags {
    fn filters(&self, payload: &Payload) -> Result<Filters, Diagnostics> {
        // A flag with an empty value switches its filter on without naming anything.
        let names =
            |flag: &[String]| flag.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>();
        let any_capability = !self.capability.is_empty() || !self.known_capability.is_empty();
        let filters = Filters {
            exclude_identifier: self.exclude_id.clone(),
            feature_set: self.feature_set.clone(),
            feature_gates: (!self.feature_gate.is_empty())
                .then(|| names(&self.feature_gate).into_iter().collect()),
            major_version: self.major_version,
            cluster_profile: self.cluster_profile.clone(),
            capabilities: any_capability
                .then(|| Capabilities::new(names(&self.capability), names(&self.known_capability))),
            overrides: self.overrides.clone(),
        };
        let Some(previous) = &self.previous_payload else { return Ok(filters) };
        let previous = Payload::load(previous)?;
        output::warn(&previous.warnings);
        let filters =
            Filters { capabilities: Some(filters.capabilities.clone().unwrap_or_default()), ..filters };
        let (filters, implied) = select::for_update(&filters, payload, &previous);
        if !implied.is_empty() {
            let names: Vec<&str> = implied.iter().map(String::as_str).collect();
            output::note(&format!("implicitly enabled capabilities: {}", names.join(", ")));
        }
        Ok(filters)
    }
}
