//! Every manifest of a payload: in or out, where it goes, and why.

use std::fmt::Write;

use serde::Serialize;

use super::Paint;
use crate::diagnostic::printable;
use crate::language::{Filters, Profile};
use crate::object::Cluster;
use crate::order::Plan;
use crate::payload::{self, Manifest, Payload};
use crate::select::{self, Reason, Selected, Selection};
use crate::yaml::{Node, Sources};

/// One manifest.
#[derive(Debug, Serialize)]
pub struct Row {
    file: String,
    document: usize,
    group: String,
    version: String,
    kind: String,
    namespace: String,
    name: String,
    included: bool,
    reason: Option<RowReason>,
    cluster: Option<&'static str>,
    /// The line that put it in or out, or that brought it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

#[derive(Debug, Serialize)]
struct RowReason {
    code: &'static str,
    message: String,
}

/// Returns a row for each manifest of the payload, with the profile's decision about it.
pub fn selected(selected: &Selected<'_>, sources: &Sources) -> Vec<Row> {
    let Selection { out, by, .. } = &selected.selection;
    let mut rows = rows(selected.payload(), out, Some(selected.profile().cluster));
    for (row, by) in rows.iter_mut().zip(by) {
        row.by = by.map(|mark| sources.show(mark));
    }
    rows
}

/// A row for each manifest, in the order of the payload.
pub fn rows(payload: &Payload, out: &[Option<Reason>], cluster: Option<Cluster>) -> Vec<Row> {
    payload
        .manifests
        .iter()
        .zip(out)
        .map(|(manifest, reason)| row(payload, manifest, reason.as_ref(), cluster))
        .collect()
}

/// A row for each object that no manifest is behind: pages and fragments brought it.
pub fn added(plan: &Plan, sources: &Sources) -> Vec<Row> {
    let new = plan.objects.iter().filter(|object| object.manifest.is_none());
    new.map(|object| {
        let id = object.id.clone();
        let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        Row {
            file: String::new(),
            document: 0,
            group: id.group,
            version: api_version.rsplit('/').next().unwrap_or_default().to_owned(),
            kind: id.kind,
            namespace: id.namespace,
            name: id.name,
            included: true,
            reason: None,
            cluster: Some(object.cluster.name()),
            by: Some(sources.show(object.root.mark)),
        }
    })
    .collect()
}

/// The manifests that no profile takes in, and those that a standalone cluster has and HyperShift has no home for,
/// each with the reason that the first profile concerned gives.
pub fn orphans(payload: &Payload, decisions: &[(&Profile, Vec<Option<Reason>>)]) -> Vec<Row> {
    let all = decisions;
    let hosted: Vec<_> = all.iter().filter(|(profile, _)| profile.topology == "hypershift").collect();
    let mut rows = Vec::new();
    for (index, manifest) in payload.manifests.iter().enumerate() {
        let home = all.iter().find(|(_, out)| out[index].is_none());
        let hosted_out = hosted.iter().all(|(_, out)| out[index].is_some());
        let reason = match home {
            None => all.first().and_then(|(_, out)| out[index].as_ref()),
            Some(_) if hosted_out => hosted.first().and_then(|(_, out)| out[index].as_ref()),
            Some(_) => None,
        };
        if reason.is_some() {
            let cluster = home.map(|(profile, _)| profile.cluster);
            rows.push(Row {
                included: home.is_some(),
                cluster: cluster.map(Cluster::name),
                ..row(payload, manifest, reason, None)
            });
        }
    }
    rows
}

fn row(payload: &Payload, manifest: &Manifest, reason: Option<&Reason>, cluster: Option<Cluster>) -> Row {
    let id = manifest.id.clone();
    Row {
        file: payload.file(manifest).path.clone(),
        document: manifest.document,
        group: id.group,
        version: manifest.version.clone(),
        kind: id.kind,
        namespace: id.namespace,
        name: id.name,
        included: reason.is_none(),
        reason: reason.map(|reason| RowReason { code: reason.code.name(), message: reason.message.clone() }),
        cluster: cluster.filter(|_| reason.is_none()).map(Cluster::name),
        by: None,
    }
}

/// The rows as JSON, one a line in an array.
pub fn to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().filter_map(|row| serde_json::to_string(row).ok()).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

/// The rows as a table for people.
pub fn table(rows: &[Row], paint: Paint) -> String {
    let header = ["", "CLUSTER", "OBJECT", "NAMESPACE", "FILE", "WHY NOT"].map(str::to_owned);
    let printed = |row: &Row| cells(row).map(|cell| printable(&cell).into_owned());
    let cells: Vec<[String; 6]> = std::iter::once(header).chain(rows.iter().map(printed)).collect();
    let widths: Vec<usize> = (0..6)
        .map(|column| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    let mut out = String::new();
    for (index, row) in cells.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let line = line.trim_end();
        let line = match (index, row[0].as_str()) {
            (0, _) => paint.bold(line),
            (_, "out") => paint.dim(line),
            _ => line.to_owned(),
        };
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Short words for the eye: groups and folders are in the JSON.
fn cells(row: &Row) -> [String; 6] {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    [
        if row.included { "in" } else { "out" }.to_owned(),
        row.cluster.unwrap_or("-").to_owned(),
        format!("{}/{}", row.kind, row.name),
        or_dash(&row.namespace),
        or_dash(row.file.rsplit('/').next().unwrap_or_default()),
        row.reason.as_ref().map(|reason| format!("{}: {}", reason.code, reason.message)).unwrap_or_default(),
    ]
}

/// What the list amounts to: how many are in, and which payload this is, for a person and for a live cluster.
pub fn summary(payload: &Payload, filters: &Filters, out: &[Option<Reason>]) -> String {
    let count = out.iter().filter(|reason| reason.is_none()).count();
    let loaded = select::by(&select::at_load(filters), payload);
    let loaded =
        payload.manifests.iter().zip(&loaded).filter(|(_, out)| out.is_none()).map(|(manifest, _)| manifest);
    format!(
        "{} manifests, {count} in, {} out\npayload sha256:{}\nClusterVersion status.versionHash {}",
        out.len(),
        out.len() - count,
        payload.sha256(),
        payload::cvo_hash(loaded),
    )
}
