//! The manifests of a payload: whether a profile includes them, where they go, and why.

use std::fmt::Write;

use serde::Serialize;

use super::Paint;
use crate::language::Filters;
use crate::object::Cluster;
use crate::order::Plan;
use crate::payload::{self, Manifest, Payload};
use crate::printable;
use crate::select::{self, Exclusion, Selected, Selection};
use crate::yaml::{Node, Sources};

/// A manifest or an added object in the list.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
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
    /// The line that includes, excludes or adds it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

#[derive(Debug, Serialize)]
struct RowReason {
    code: &'static str,
    message: String,
}

/// Returns a row for each manifest of the payload, with the profile's decision about it.
pub(crate) fn selected(selected: &Selected<'_>, sources: &Sources) -> Vec<Row> {
    let Selection { exclusions, decided_by, .. } = &selected.selection;
    let mut rows = rows(selected.payload(), exclusions, Some(selected.profile().cluster));
    for (row, mark) in rows.iter_mut().zip(decided_by) {
        row.by = mark.map(|mark| sources.show(mark));
    }
    rows
}

/// Returns a row for each manifest, in the order of the payload. `exclusions` has the reason for each manifest that is
/// not included.
pub(crate) fn rows(
    payload: &Payload,
    exclusions: &[Option<Exclusion>],
    cluster: Option<Cluster>,
) -> Vec<Row> {
    let mut rows = Vec::with_capacity(exclusions.len());
    for (manifest, reason) in payload.manifests.iter().zip(exclusions) {
        rows.push(row(payload, manifest, reason.as_ref(), cluster));
    }
    rows
}

/// Returns a row for each object that a page or a fragment adds.
pub(crate) fn added(plan: &Plan, sources: &Sources) -> Vec<Row> {
    let mut rows = Vec::new();
    for object in plan.objects.iter().filter(|object| object.manifest.is_none()) {
        let id = object.id.clone();
        let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        rows.push(Row {
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
        });
    }
    rows
}

/// Returns the manifests that no profile includes, and those that a standalone cluster includes but no profile of a
/// topology with a management and a guest cluster. Each has the reason of the first profile concerned.
pub(crate) fn orphans(payload: &Payload, all: &[Selected<'_>]) -> Vec<Row> {
    let hosted: Vec<&Selected<'_>> = all.iter().filter(|selected| is_hosted(selected, all)).collect();
    let mut rows = Vec::new();
    // The manifests of fragments come after those of the payload: they cannot be orphans.
    for (index, manifest) in payload.manifests.iter().enumerate() {
        let exclusion_in = |selected: &Selected<'_>| selected.selection.exclusions[index].clone();
        let including = all.iter().find(|selected| exclusion_in(selected).is_none());
        let reason = match including {
            None => all.first().and_then(exclusion_in),
            Some(_) if hosted.iter().all(|selected| exclusion_in(selected).is_some()) => {
                hosted.first().and_then(|selected| exclusion_in(selected))
            }
            Some(_) => None,
        };
        if reason.is_some() {
            rows.push(Row {
                included: including.is_some(),
                cluster: including.map(|selected| selected.profile().cluster.name()),
                ..row(payload, manifest, reason.as_ref(), None)
            });
        }
    }
    rows
}

/// Returns whether the topology of a profile has a management cluster and a guest cluster.
fn is_hosted(selected: &Selected<'_>, all: &[Selected<'_>]) -> bool {
    [Cluster::Management, Cluster::Guest].into_iter().all(|cluster| {
        all.iter().any(|other| {
            other.profile().topology == selected.profile().topology && other.profile().cluster == cluster
        })
    })
}

fn row(payload: &Payload, manifest: &Manifest, reason: Option<&Exclusion>, cluster: Option<Cluster>) -> Row {
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
        reason: reason
            .map(|reason| RowReason { code: reason.filter.name(), message: reason.message.clone() }),
        cluster: cluster.filter(|_| reason.is_none()).map(Cluster::name),
        by: None,
    }
}

/// Returns the rows as a JSON array, with one row per line.
pub(crate) fn to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().filter_map(|row| serde_json::to_string(row).ok()).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

/// Returns the rows as a table.
pub(crate) fn table(rows: &[Row], paint: Paint) -> String {
    let mut lines = vec![["INCLUDED", "CLUSTER", "OBJECT", "NAMESPACE", "FILE", "REASON"].map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for (index, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let line = line.trim_end();
        let line = match (index, cells[0].as_str()) {
            (0, _) => paint.bold(line),
            (_, "no") => paint.dim(line),
            _ => line.to_owned(),
        };
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Returns the cells of a row. Groups and folders are only in the JSON, to keep the table narrow.
fn cells(row: &Row) -> [String; 6] {
    let file_name = row.file.rsplit('/').next().unwrap_or_default();
    let reason = match &row.reason {
        Some(reason) => format!("{}: {}", reason.code, reason.message),
        None => String::new(),
    };
    let object = format!("{}/{}", row.kind, row.name);
    [
        if row.included { "yes" } else { "no" },
        row.cluster.unwrap_or("-"),
        &object,
        if row.namespace.is_empty() { "-" } else { &row.namespace },
        if file_name.is_empty() { "-" } else { file_name },
        &reason,
    ]
    .map(|cell| printable::line(cell).into_owned())
}

/// Returns the number of manifests, and the digests that identify the payload: one of all files, and the one that the
/// cluster-version-operator reports in a live cluster.
pub(crate) fn summary(payload: &Payload, filters: &Filters, exclusions: &[Option<Exclusion>]) -> String {
    let included = exclusions.iter().filter(|reason| reason.is_none()).count();
    let excluded_at_load = select::exclusions(&select::filters_at_load(filters), payload);
    let manifests = payload.manifests.iter().zip(&excluded_at_load);
    let loaded: Vec<&Manifest> =
        manifests.filter(|(_, reason)| reason.is_none()).map(|(manifest, _)| manifest).collect();
    let templates = loaded.iter().filter(|manifest| payload.file(manifest).is_go_template).count();
    let hash = match templates {
        0 => payload::cvo_hash(loaded),
        count => {
            format!("is not known: the cluster-version-operator fills in {count} of the manifests first")
        }
    };
    format!(
        "{} manifests, {included} included, {} excluded\npayload sha256:{}\nClusterVersion status.versionHash {hash}",
        exclusions.len(),
        exclusions.len() - included,
        payload.sha256(),
    )
}
