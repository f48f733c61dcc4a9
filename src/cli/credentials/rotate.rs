//! `transship credentials rotate`

use std::collections::BTreeSet;

use crate::apply::{self, Extent, Options, Rotation};
use crate::cli::clusters::{Clusters, block_on};
use crate::cli::paused::refuse_paused;
use crate::cli::{Inputs, Outcome};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::object::{CA_BUNDLE, GuestIdentity, IssuedOrigin, Object, ObjectId, Proof, annotation};
use crate::order::Plan;
use clap::Args;

/// Renew credentials although they are still valid, and restart the workloads that use them
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship credentials rotate --topology hypershift … ebs-csi-kubeconfig
  transship credentials rotate --topology hypershift … --all
  transship credentials rotate --topology hypershift … --ca --wait

Only issued objects, what trusts their signers and what uses them are applied.")]
pub(in crate::cli) struct Rotate {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// The Secrets to renew
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "ca"], conflicts_with_all = ["all", "ca"])]
    names: Vec<String>,
    /// Renew all certificates and kubeconfigs
    #[arg(long, conflicts_with = "ca")]
    all: bool,
    /// Renew the signers that transship created. All their certificates follow, once their clients trust the new signer
    #[arg(long)]
    ca: bool,
    /// Wait until every object is ready, and until clients trust a new signer
    #[arg(long)]
    wait: bool,
}

impl Rotate {
    pub(in crate::cli) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        refuse_paused(&project, &profiles)?;
        let plans = crate::render(&project.context(), &profiles)?;
        self.check(&plans)?;
        let accounts = token_accounts(&plans);
        let is_wanted = |object: &Object| uses_issued_values(object) || accounts.contains(&object.id);
        let plans: Vec<Plan> = plans.into_iter().map(|plan| plan.filtered(is_wanted)).collect();
        let options = Options {
            wait: self.wait,
            extent: Extent::Partial,
            rotation: self.rotation(),
            ..self.clusters.options()
        };
        block_on(async {
            let targets = self.clusters.targets("credentials rotate", &project, &profiles, &plans).await?;
            let mut progress = self.clusters.progress(&profiles, &plans);
            let summary = apply::apply(targets, &options, |event| progress.report(event)).await;
            progress.clear();
            self.clusters.finish(&summary?)
        })
    }

    fn rotation(&self) -> Rotation {
        match (self.ca, self.all) {
            (true, _) => Rotation::Signers,
            (false, true) => Rotation::All,
            (false, false) => Rotation::Named(self.names.clone()),
        }
    }

    /// Refuses names of Secrets that are not issued, and `--ca` without a signer that transship created.
    fn check(&self, plans: &[Plan]) -> Result<(), Diagnostic> {
        let objects = || plans.iter().flat_map(|plan| &plan.objects);
        if self.ca && !objects().any(|object| object.issued == Some(IssuedOrigin::Signer)) {
            return Err(Diagnostic::error("transship creates no signer of this topology")
                .note("someone else, such as HyperShift, creates the Secrets of its signers")
                .help(
                    "replace the signer there; the next `transship apply` renews everything that it signed",
                ));
        }
        let renewable =
            || objects().filter(|object| is_renewable(object)).map(|object| object.id.name.as_str());
        for name in &self.names {
            if !renewable().any(|other| other == name) {
                return Err(Diagnostic::error(format!(
                    "`{name}` is not a certificate or kubeconfig that transship issues"
                ))
                .help("run `transship credentials list` to see all credentials")
                .suggest(name, renewable()));
            }
        }
        Ok(())
    }
}

fn is_renewable(object: &Object) -> bool {
    matches!(object.issued, Some(IssuedOrigin::Certificate(_) | IssuedOrigin::Kubeconfig(_)))
}

/// Returns the ServiceAccounts for which the guest issues tokens: they must exist first.
fn token_accounts(plans: &[Plan]) -> BTreeSet<ObjectId> {
    let mut accounts = BTreeSet::new();
    for object in plans.iter().flat_map(|plan| &plan.objects) {
        if let Some(IssuedOrigin::Kubeconfig(kubeconfig)) = &object.issued
            && let (Proof::Token, GuestIdentity::ServiceAccount { namespace, name }) =
                (&kubeconfig.proof, &kubeconfig.identity)
        {
            let [group, kind] = ["", "ServiceAccount"].map(str::to_owned);
            accounts.insert(ObjectId { group, kind, namespace: namespace.clone(), name: name.clone() });
        }
    }
    accounts
}

/// Returns whether an object is issued, trusts a signer, or has pods that use issued values.
fn uses_issued_values(object: &Object) -> bool {
    let mounts = || object.config_hash.iter().any(|hash| hash.issued().next().is_some());
    object.issued.is_some() || annotation(&object.root, CA_BUNDLE).is_some() || mounts()
}
