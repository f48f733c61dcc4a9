//! The paths between clusters as text and as JSON lines.

use std::fmt::Write;

use serde_json::json;

use crate::check::{ReachEnd, ReachPath};

/// Returns paths as text, one per line.
pub(crate) fn reach_text(paths: &[ReachPath]) -> String {
    let mut out = String::new();
    for ReachPath { from, through, to, allows } in paths {
        let _ = writeln!(
            out,
            "{} {} -> {through} -> {} {}: {allows}",
            from.cluster.name(),
            from.name,
            to.cluster.name(),
            to.name
        );
    }
    out
}

/// Returns paths as JSON, one per line.
pub(crate) fn reach_json(paths: &[ReachPath]) -> String {
    let end = |end: &ReachEnd| json!({"cluster": end.cluster.name(), "name": end.name});
    let mut out = String::new();
    for ReachPath { from, through, to, allows } in paths {
        let line = json!({"from": end(from), "through": through, "to": end(to), "allows": allows});
        let _ = writeln!(out, "{line}");
    }
    out
}
