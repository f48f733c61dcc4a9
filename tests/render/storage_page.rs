//! `docs/storage.md`: where each object of the storage payload lives, and which line decides it. `make docs` rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::support::{repository, run_in};

const PROFILES: [&str; 3] = ["standalone", "hypershift-mc", "hypershift-guest"];

const INTRODUCTION: &str = "\
# The storage payload

This page lists every object of the bundled payload with the default parameters: AWS, highly available. `make docs`
generates it from `transship list`, and a test compares it.

The columns *standalone*, *management* and *guest* say whether the cluster gets the object. *By* is the line that places the
object in HyperShift or omits it, with the reason of an omission. Without a line, the object is cluster-scoped and lives in
the guest. An object without a file is created by the fragment or the page in *by*.
";

/// The section for objects that no component of the payload has.
const FRAGMENTS: &str = "fragments";

/// The clusters that get an object, and the line that decides it.
#[derive(Default)]
struct Placement {
    included: [bool; 3],
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

fn list(profile: &str) -> Vec<Value> {
    let run = run_in(&repository(), &["list", "--profile", profile, "-o", "json"], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the placement of every object, by component.
fn placements() -> BTreeMap<String, BTreeMap<Key, Placement>> {
    let mut placements: BTreeMap<String, BTreeMap<Key, Placement>> = BTreeMap::new();
    for (index, profile) in PROFILES.iter().enumerate() {
        for row in list(profile) {
            let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
            let (file, by) = (text("file"), text("by"));
            let component = component(if file.is_empty() { &by } else { &file });
            let name = file.rsplit('/').next().unwrap_or_default().to_owned();
            let object = format!("{}/{}", text("kind"), text("name"));
            let key = (file.is_empty(), name, row["document"].as_u64().unwrap(), object);
            let placement = placements.entry(component).or_default().entry(key).or_default();
            placement.included[index] = row["included"] == true;
            if *profile != "standalone" {
                placement.by = by;
                let reason = row["reason"]["message"].as_str();
                placement.reason = reason.map(str::to_owned).unwrap_or_default();
            }
        }
    }
    placements
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
        let header = "| file | object | standalone | management | guest | by |\n|---|---|---|---|---|---|";
        let _ = write!(out, "\n## {component}\n\n{header}\n");
        for ((_, file, _, object), placement) in placements {
            let [standalone, management, guest] =
                placement.included.map(|included| if included { "yes" } else { "" });
            let by = placement.decided_by();
            let _ = writeln!(out, "| {file} | {object} | {standalone} | {management} | {guest} | {by} |");
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
