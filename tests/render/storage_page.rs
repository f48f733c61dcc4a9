//! `docs/storage.md`: where each object of the storage payload lives, and which line decides it. `make docs` rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::support::{repository, run_in};

const PROFILES: [&str; 3] = ["standalone", "hypershift-mc", "hypershift-guest"];

const INTRODUCTION: &str = "\
# The storage payload

This page lists every object of the bundled payload on AWS, highly available, with the snapshot webhook of releases up to
4.17. `make docs` generates it from `transship list`, and a test compares it.

The columns *standalone*, *management* and *guest* say whether the cluster has the object. *Applied by* names who applies it
with the default parameters: transship, or the operator in the component that is named. `operands: ours` makes transship apply what operators
own, and leaves the operators out. The operator of the snapshot controller does not create the objects for its metrics; see
[the differences](upstream.md). *By* is the line that places the object in HyperShift or omits it, with the reason of an
omission. Without a line, the object is cluster-scoped and lives in the guest. An object without a file is created by the
fragment or the page in *by*.
";

/// The parameters with which the payload has, one after the other, all objects.
const RENDERINGS: [&str; 3] = ["operands=operator", "operands=driver-operators", "operands=ours"];

/// The start and the end of the reason why an operand is not rendered. The component of its operator is between them.
const OWNED: [&str; 2] = ["the operator of ", " looks after it"];

/// The section for objects that no component of the payload has.
const FRAGMENTS: &str = "fragments";

/// The clusters that have an object, who applies it, and the line that decides it.
#[derive(Default)]
struct Placement {
    included: [bool; 3],
    applied_by: String,
    by: String,
    /// Why the last profile leaves the object out.
    reason: String,
}

impl Placement {
    /// Returns the line that decides, if there is one, and the reason if neither cluster of HyperShift gets the object.
    fn decided_by(&self) -> String {
        // The line is enough to find the entry; the column would only make the table wider.
        let line = self.by.rsplit_once(':').map_or("", |(line, _)| line);
        let [_, management, guest] = self.included;
        match line {
            _ if management || guest => line.to_owned(),
            // The filters of the cluster-version-operator decide.
            "" => self.reason.clone(),
            line => format!("{line}: {}", self.reason),
        }
    }
}

/// Sorts rows as the payload is ordered, with objects of fragments and pages last: file name, document, object.
type Key = (bool, String, u64, String);

fn list(profile: &str, parameters: &[&str]) -> Vec<Value> {
    let arguments = [&["list", "--profile", profile, "-o", "json"][..], parameters].concat();
    let run = run_in(&repository(), &arguments, "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// The placement of every object, by component.
type Placements = BTreeMap<String, BTreeMap<Key, Placement>>;

fn placements() -> Placements {
    let mut placements = Placements::new();
    for (index, profile) in PROFILES.iter().enumerate() {
        for rendering in RENDERINGS {
            let parameters = ["--params", "profiles/sets/design-2022.yaml", "--set", rendering];
            for row in list(profile, &parameters) {
                let placement = placement_of(&mut placements, &row);
                let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
                let is_included = row["included"] == true;
                let is_known = placement.included[index];
                placement.included[index] |= is_included;
                if *profile != "standalone" && (is_included || !is_known) {
                    placement.by = text("by");
                    let reason = row["reason"]["message"].as_str().unwrap_or_default();
                    reason.clone_into(&mut placement.reason);
                }
            }
        }
        for row in list(profile, &[]) {
            let reason = row["reason"]["message"].as_str().unwrap_or_default();
            let applied_by = match reason.strip_prefix(OWNED[0]).and_then(|rest| rest.strip_suffix(OWNED[1]))
            {
                Some(operator) => operator,
                None if row["included"] == true => "transship",
                None => continue,
            };
            applied_by.clone_into(&mut placement_of(&mut placements, &row).applied_by);
        }
    }
    placements
}

/// Returns the placement of the object of a row.
fn placement_of<'p>(placements: &'p mut Placements, row: &Value) -> &'p mut Placement {
    let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let (file, by) = (text("file"), text("by"));
    let component = component(if file.is_empty() { &by } else { &file });
    let name = file.rsplit('/').next().unwrap_or_default().to_owned();
    let object = format!("{}/{}", text("kind"), text("name"));
    let key = (file.is_empty(), name, row["document"].as_u64().unwrap(), object);
    placements.entry(component).or_default().entry(key).or_default()
}

/// Returns the component of a file of the payload.
fn component(path: &str) -> String {
    match path.trim_start_matches("payload/").split_once('/') {
        Some(("profiles", _)) | None => FRAGMENTS.to_owned(),
        Some((component, _)) => component.to_owned(),
    }
}

fn page() -> String {
    let mut out = INTRODUCTION.to_owned();
    for (component, placements) in placements() {
        let columns = ["file", "object", "standalone", "management", "guest", "applied by", "by"];
        let header = format!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
        let _ = write!(out, "\n## {component}\n\n{header}\n");
        for ((_, file, _, object), placement) in placements {
            let [standalone, management, guest] =
                placement.included.map(|included| if included { "yes" } else { "" });
            let (applied_by, by) = (&placement.applied_by, placement.decided_by());
            let clusters = format!("{standalone} | {management} | {guest}");
            let _ = writeln!(out, "| {file} | {object} | {clusters} | {applied_by} | {by} |");
        }
    }
    out
}

#[test]
fn the_page_lists_every_object() {
    let written = std::fs::read_to_string(repository().join("docs/storage.md")).unwrap();
    assert!(written == page(), "docs/storage.md is out of date: run `make docs` and read the difference");
}

#[test]
#[ignore = "it writes: `make docs` runs it"]
fn rewrite() {
    std::fs::write(repository().join("docs/storage.md"), page()).unwrap();
}
