//! `transship rights`

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::{Profile, Selector};
use crate::object::Cluster;
use crate::order::Plan;
use crate::rights::{NeededRole, Needs, Purpose, Resources, Subject, needed};
use crate::{Project, show, yaml};
use clap::{Args, ValueEnum};

use super::{Inputs, Outcome, output, topology};

/// Print the Roles and ClusterRoles that the commands for clusters need for this payload
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship rights --topology hypershift
  transship rights --topology hypershift --cluster management -o yaml --subject ServiceAccount/hypershift/deployer
  transship rights --topology standalone --previous-payload old/payload -o yaml

The default is for apply --wait --prune and delete. The API server lets a user grant only rights that the user has,
so the rights contain the rules of every Role and ClusterRole of the payload.")]
pub(super) struct Rights {
    #[command(flatten)]
    inputs: Inputs,
    /// The topology whose clusters need the rights
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// The cluster; without it, all clusters of the topology
    #[arg(long, value_enum)]
    cluster: Option<ClusterName>,
    /// The commands that need the rights; repeatable
    #[arg(long = "for", value_enum, value_name = "COMMAND", value_delimiter = ',',
        default_values_t = [Command::Apply, Command::Prune, Command::Delete])]
    commands: Vec<Command>,
    /// Payload that the clusters run now: adds the rights to read and prune its objects
    #[arg(long, value_name = "DIR")]
    previous_payload: Option<PathBuf>,
    /// Objects that apply --recreate names; repeatable
    #[arg(long, value_name = "KIND[/NAME]")]
    recreate: Vec<Selector>,
    /// Who gets the rights: also prints the bindings
    #[arg(long, value_name = "KIND/NAME")]
    subject: Option<Subject>,
    /// The output format
    #[arg(short = 'o', value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClusterName {
    Management,
    Guest,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Command {
    /// apply, with and without --wait and --adopt
    Apply,
    /// apply --prune, in addition to apply
    Prune,
    /// delete
    Delete,
    /// delete --orphan
    Orphan,
    /// diff --live
    Diff,
    /// diff --live --drift
    Drift,
    /// apply --dry-run
    DryRun,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for all clusters, one line per rule
    Text,
    /// Objects of one cluster, for kubectl
    Yaml,
}

impl Rights {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = topology::profiles(&project, self.topology.as_deref())?;
        let plans = crate::render(&project.context(), &profiles)?;
        let previous = self.previous_plans(&profiles)?;
        let resources = Resources::new(plans.iter().chain(&previous), &project.profiles.checks);
        for profile in self.wanted(&profiles)? {
            let of_profile = |plans: &'_ [Plan]| plans.iter().position(|plan| plan.profile == profile.name);
            let Some(plan) = of_profile(&plans) else { continue };
            let needs = Needs {
                profile,
                plan: &plans[plan],
                topology: &plans,
                previous: of_profile(&previous).map(|index| &previous[index]),
                purposes: &self.purposes(),
                recreate: &self.recreate,
                resources: &resources,
                sources: &project.sources,
            };
            self.print(profile, &needed(&needs)?.roles())?;
        }
        Ok(Outcome::Done)
    }

    fn purposes(&self) -> Vec<Purpose> {
        let purpose = |command: &Command| match command {
            Command::Apply => Purpose::Apply,
            Command::Prune => Purpose::Prune,
            Command::Delete => Purpose::Delete,
            Command::Orphan => Purpose::Orphan,
            Command::Diff => Purpose::Diff,
            Command::Drift => Purpose::Drift,
            Command::DryRun => Purpose::DryRun,
        };
        self.commands.iter().map(purpose).collect()
    }

    /// Renders the previous payload for the same profiles.
    fn previous_plans(&self, profiles: &[&Profile]) -> Result<Vec<Plan>, Diagnostics> {
        let Some(payload) = &self.previous_payload else { return Ok(Vec::new()) };
        let project: Project = self.inputs.with_payload(payload).load()?;
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        let profiles: Vec<&Profile> =
            project.profiles.iter().filter(|profile| names.contains(&profile.name.as_str())).collect();
        crate::render_unchecked(&project.context(), &profiles)
    }

    /// Returns the profiles whose rights to print.
    fn wanted<'p>(&self, profiles: &[&'p Profile]) -> Result<Vec<&'p Profile>, Diagnostic> {
        let is_wanted = |profile: &&Profile| match self.cluster {
            None => true,
            Some(ClusterName::Management) => profile.cluster == Cluster::Management,
            Some(ClusterName::Guest) => profile.cluster == Cluster::Guest,
        };
        let wanted: Vec<&Profile> = profiles.iter().copied().filter(is_wanted).collect();
        if wanted.is_empty() {
            return Err(Diagnostic::error("the topology has only one cluster").help("remove --cluster"));
        }
        if self.format == Format::Yaml && wanted.len() > 1 {
            return Err(Diagnostic::error("a stream can contain the objects of only one cluster")
                .note("`kubectl apply` would apply the objects of all clusters to one of them")
                .help("choose one with --cluster management or --cluster guest"));
        }
        Ok(wanted)
    }

    fn print(&self, profile: &Profile, roles: &[NeededRole]) -> Result<(), Diagnostics> {
        let name = profile.inventory_name(None);
        if self.format == Format::Text {
            return output::result(&show::roles(profile, &name, roles));
        }
        let objects = roles.iter().flat_map(|role| role.objects(&name, self.subject.as_ref()));
        let documents: Vec<String> = objects.map(|object| yaml::write(&object)).collect();
        output::result(&documents.join("---\n"))
    }
}
