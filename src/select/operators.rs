//! Which operators are in a topology. What an operator owns is left to it.

use std::collections::{BTreeMap, BTreeSet};

use super::left_out::LeaveOut;
use crate::diagnostic::Diagnostics;
use crate::expand::Context;
use crate::language::Profile;

/// The kind of workload that runs an operator.
const OPERATOR_KIND: &str = "Deployment";

/// Returns the owners of components that have a Deployment in the topology of a profile. An operator that is itself left to
/// another operator counts as well: that one installs it.
pub(crate) fn operators(context: &Context<'_>, profile: &Profile) -> Result<BTreeSet<String>, Diagnostics> {
    let pages = context.payload.pages.values();
    let owners: BTreeSet<&str> =
        pages.filter_map(|page| page.owner.as_ref()).map(|owner| owner.value.as_str()).collect();
    let mut errors = Diagnostics::default();
    let mut operators = BTreeSet::new();
    for profile in context.profiles.in_topology_of(profile) {
        // This view knows no operators, so it leaves nothing to them.
        let view = context.view(profile);
        let leave_out = LeaveOut { view: &view, fragment_placements: &BTreeMap::new() };
        for owner in &owners {
            for (_, manifest) in context.payload.of_component(owner) {
                let is_operator = manifest.id.kind == OPERATOR_KIND;
                if is_operator
                    && errors.ok_or_record(leave_out.reason(manifest)).is_some_and(|it| it.is_none())
                {
                    operators.insert((*owner).to_owned());
                }
            }
        }
    }
    errors.into_result(operators)
}
