//! `transship list`

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::{Capabilities, Filters, Override};
use crate::object::Cluster;
use crate::payload::Payload;
use crate::select::{self, Exclusion};
use crate::show;
use clap::{Args, ValueEnum};

use super::{Inputs, Outcome, output};

/// List every manifest of the payload with its cluster, or with the reason why it is left out
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship list --profile standalone
  transship list --cvo-omit
  transship list --payload release --cluster-profile self-managed-high-availability --feature-set Default -o json

A filter is off unless its flag is given. `--feature-gate ''` and `--capability ''` turn the filter on with nothing enabled.")]
pub(super) struct List {
    #[command(flatten)]
    inputs: Inputs,
    /// Profile that selects the manifests
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// List only manifests that no profile includes, or that only standalone profiles include
    #[arg(long, conflicts_with_all = ["profile", "filters"])]
    orphans: bool,
    /// Print the commands that remove from a release what transship applies, as the pod of a hosted cluster's
    /// cluster-version-operator runs them
    #[arg(long, conflicts_with_all = ["orphans", "filters"])]
    cvo_omit: bool,
    /// Format of the list
    #[arg(short = 'o', value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    flags: Flags,
}

/// The filters of the cluster-version-operator, for payloads without profiles.
#[derive(Args)]
#[group(id = "filters", multiple = true, conflicts_with = "profile")]
struct Flags {
    /// Include manifests with the annotation include.release.openshift.io/NAME
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    cluster_profile: Option<String>,
    /// Feature set of the cluster; `Default` is the default one
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    feature_set: Option<String>,
    /// Feature gate that is enabled; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    feature_gate: Vec<String>,
    /// Capability that is enabled; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    capability: Vec<String>,
    /// Capability that is known but not enabled; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    known_capability: Vec<String>,
    /// Major version of the cluster
    #[arg(long, value_name = "N", help_heading = "Filters")]
    major_version: Option<u64>,
    /// Exclude manifests with the annotation exclude.release.openshift.io/ID
    #[arg(long, value_name = "ID", help_heading = "Filters")]
    exclude_id: Option<String>,
    /// Object that the cluster-version-operator does not manage, as in `overrides` of the ClusterVersion; repeatable
    #[arg(long = "override", value_name = "GROUP/KIND/NAMESPACE/NAME", help_heading = "Filters")]
    overrides: Vec<Override>,
    /// Payload that the cluster runs now; if one of its manifests needs another capability in the new payload, that
    /// capability is enabled
    #[arg(long, value_name = "DIR", help_heading = "Filters")]
    previous_payload: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Table
    Table,
    /// JSON array
    Json,
}

impl List {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        match &self.profile {
            _ if self.orphans => self.list_orphans(),
            name if self.cvo_omit => self.list_cvo_omit(name.as_deref()),
            Some(name) => self.list_profile(name),
            None => self.list_payload(),
        }
    }

    /// Lists the manifests with the decision of a profile, and the objects that the profile adds.
    fn list_profile(&self, name: &str) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let (context, profile) = (project.context(), project.profiles.named(Some(name))?[0]);
        let selected = crate::select(&context, profile)?;
        let mut rows = show::selected(&selected, &project.sources);
        for plan in crate::render_unchecked(&context, &[profile])? {
            rows.extend(show::added(&plan, &project.sources));
        }
        self.print(&rows)?;
        // The digests are those of the payload itself, without the manifests of fragments.
        self.print_summary(&project.payload, &profile.select, &selected.selection.exclusions);
        if matches!(self.format, Format::Table) {
            output::note(&format!("render sha256:{}", context.render_digest()));
        }
        Ok(Outcome::Done)
    }

    /// Lists the manifests with the decision of the filters in the flags.
    fn list_payload(&self) -> Result<Outcome, Diagnostics> {
        let payload = Payload::load(&self.inputs.payload)?;
        output::warn(&payload.warnings);
        let filters = self.flags.filters(&payload)?;
        select::check(&filters, &payload)?;
        let exclusions = select::exclusions(&filters, &payload);
        self.print(&show::rows(&payload, &exclusions, None))?;
        self.print_summary(&payload, &filters, &exclusions);
        Ok(Outcome::Done)
    }

    fn list_orphans(&self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let context = project.context();
        let mut selected = Vec::new();
        for profile in project.profiles.iter() {
            selected.push(crate::select(&context, profile)?);
        }
        self.print(&show::orphans(&project.payload, &selected))
    }

    /// Prints the files that the cluster-version-operator of a hosted cluster must leave out. `profile` is one of its topology.
    fn list_cvo_omit(&self, profile: Option<&str>) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let context = project.context();
        let named = project.profiles.named(profile)?;
        let Some(guest) = named
            .iter()
            .flat_map(|profile| project.profiles.in_topology_of(profile))
            .find(|profile| profile.cluster == Cluster::Guest)
        else {
            let message = "`--cvo-omit` needs a topology with a guest cluster";
            return Err(Diagnostic::error(message).help("name one of its profiles with --profile").into());
        };
        let mut selected = Vec::new();
        for profile in project.profiles.in_topology_of(guest) {
            selected.push(crate::select(&context, profile)?);
        }
        let omit = show::CvoOmit::of(&project.payload, &selected);
        match self.format {
            Format::Table => output::result(&omit.commands())?,
            Format::Json => output::json(&format!("{}\n", serde_json::json!(omit.names())))?,
        }
        omit.notes().iter().for_each(|note| output::note(note));
        Ok(Outcome::Done)
    }

    fn print_summary(&self, payload: &Payload, filters: &Filters, exclusions: &[Option<Exclusion>]) {
        if matches!(self.format, Format::Table) {
            output::note(&show::summary(payload, filters, exclusions));
        }
    }

    fn print(&self, rows: &[show::Row]) -> Result<Outcome, Diagnostics> {
        match self.format {
            Format::Table => output::result(&show::table(rows, output::paint())),
            Format::Json => output::json(&show::to_json(rows)),
        }?;
        Ok(Outcome::Done)
    }
}

impl Flags {
    fn filters(&self, payload: &Payload) -> Result<Filters, Diagnostics> {
        let has_capability_flag = !self.capability.is_empty() || !self.known_capability.is_empty();
        let mut filters = Filters {
            exclude_identifier: self.exclude_id.clone(),
            feature_set: self.feature_set.clone(),
            feature_gates: None,
            major_version: self.major_version,
            cluster_profile: self.cluster_profile.clone(),
            capabilities: None,
            overrides: self.overrides.clone(),
        };
        if !self.feature_gate.is_empty() {
            filters.feature_gates = Some(names(&self.feature_gate).into_iter().collect());
        }
        if has_capability_flag || self.previous_payload.is_some() {
            filters.capabilities =
                Some(Capabilities::new(names(&self.capability), names(&self.known_capability)));
        }
        let Some(previous) = &self.previous_payload else { return Ok(filters) };
        let previous = Payload::load(previous)?;
        output::warn(&previous.warnings);
        let (filters, implied) = select::for_update(&filters, payload, &previous);
        if !implied.is_empty() {
            let names: Vec<&str> = implied.iter().map(String::as_str).collect();
            output::note(&format!("implicitly enabled capabilities: {}", names.join(", ")));
        }
        Ok(filters)
    }
}

/// Returns the values of a flag. An empty value turns the filter on with nothing enabled.
fn names(flag: &[String]) -> Vec<String> {
    flag.iter().filter(|name| !name.is_empty()).cloned().collect()
}
