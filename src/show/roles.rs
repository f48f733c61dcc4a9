//! Roles as text: one line per rule, as it can be pasted into a Role.

use std::fmt::Write;

use crate::language::Profile;
use crate::rights::NeededRole;

/// Returns the roles that are needed in the cluster of a profile.
pub(crate) fn roles(profile: &Profile, name: &str, roles: &[NeededRole]) -> String {
    let mut out = String::new();
    for role in roles {
        let namespace = role.namespace.as_ref().map(|namespace| format!(" in {namespace}"));
        let kind = role.kind();
        let _ = writeln!(out, "{}: {kind}/{name}{}", profile.name, namespace.unwrap_or_default());
        for rule in &role.rules {
            let _ = writeln!(out, "  {rule}");
        }
    }
    out
}
