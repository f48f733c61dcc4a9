//! The number of deletions that the user approves.

use std::str::FromStr;

use crate::apply::Approval;
use crate::diagnostic::Diagnostic;
use crate::language::Profile;
use crate::object::Cluster;

/// A number, numbers for clusters, or `all`
#[derive(Clone, Copy, Default)]
pub(super) struct Approved(pub(super) Approval);

impl FromStr for Approved {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = "write a number, management=NUMBER,guest=NUMBER or all";
        if text == "all" {
            return Ok(Self(Approval::All));
        }
        if let Ok(count) = text.parse() {
            return Ok(Self(Approval::Count(count)));
        }
        let (mut management, mut guest) = (None, None);
        for part in text.split(',') {
            let (cluster, count) = part.split_once('=').ok_or(invalid)?;
            let count = count.parse().map_err(|_| invalid)?;
            let previous = match cluster {
                "management" => management.replace(count),
                "guest" => guest.replace(count),
                _ => return Err(invalid),
            };
            if previous.is_some() {
                return Err("a cluster has two numbers");
            }
        }
        Ok(Self(Approval::Clusters { management, guest }))
    }
}

impl Approved {
    /// Refuses numbers for clusters that the topology does not have.
    pub(super) fn check(self, flag: &str, profiles: &[&Profile]) -> Result<(), Diagnostic> {
        let Self(Approval::Clusters { management, guest }) = self else { return Ok(()) };
        for (cluster, count) in [(Cluster::Management, management), (Cluster::Guest, guest)] {
            if count.is_some() && profiles.iter().all(|profile| profile.cluster != cluster) {
                let name = cluster.name();
                return Err(Diagnostic::error(format!("{flag} names no cluster of this topology: {name}"))
                    .help("write only the number"));
            }
        }
        Ok(())
    }
}
