//! The profiles of a topology.

use crate::Project;
use crate::diagnostic::Diagnostic;
use crate::language::Profile;

/// Returns the profiles of a topology.
pub(super) fn profiles<'p>(
    project: &'p Project,
    topology: Option<&str>,
) -> Result<Vec<&'p Profile>, Diagnostic> {
    let all: Vec<&Profile> = project.profiles.iter().collect();
    let mut names: Vec<&str> = all.iter().map(|profile| profile.topology.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let Some(topology) = topology else {
        return Err(Diagnostic::error("no topology is given")
            .help(format!("use --topology with one of: {}", names.join(", "))));
    };
    let found: Vec<&Profile> = all.into_iter().filter(|profile| profile.topology == topology).collect();
    if found.is_empty() {
        return Err(Diagnostic::error(format!("there is no topology `{topology}`"))
            .help(format!("the topologies are {}", names.join(", "))));
    }
    Ok(found)
}
