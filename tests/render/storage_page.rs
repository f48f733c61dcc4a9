//! `docs/storage.md`: where every object of the storage payload is, and which line put it there. `make docs` rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::support::{repository, run_in};

const PROFILES: [&str; 3] = ["standalone", "hypershift-mc", "hypershift-guest"];

const INTRODUCTION: &str = "\
# The storage payload

Every object of the bundled payload with the default parameters: AWS, highly available. Generated from the render by
`make docs`, and compared with it by the tests.

*Standalone*, *management* and *guest* say whether the object is in that cluster. *By* is the line that decided where it lives
in HyperShift, or that left it out; without one it is its kind: objects without a namespace live in the guest. An object without
a file is brought by the word or the page in *By*.
";

/// Where an object is, and who says so.
#[derive(Default)]
struct Home {
    included: [bool; 3],
    by: String,
    why: String,
}

/// File, place in it, kind and name: as the payload is ordered, new objects last.
type Key = (bool, String, u64, String);

fn listed(profile: &str) -> Vec<Value> {
    let run = run_in(&repository(), &["list", "--profile", profile, "-o", "json"], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn homes() -> BTreeMap<String, BTreeMap<Key, Home>> {
    let mut homes: BTreeMap<String, BTreeMap<Key, Home>> = BTreeMap::new();
    for (at, profile) in PROFILES.iter().enumerate() {
        for row in listed(profile) {
            let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
            let (file, by) = (text("file"), text("by"));
            let from = if file.is_empty() { &by } else { &file };
            // What a word brings has no folder of the payload.
            let component = match from.trim_start_matches("payload/").split_once('/') {
                Some(("profiles", _)) | None => "words".to_owned(),
                Some((component, _)) => component.to_owned(),
            };
            let name = file.rsplit('/').next().unwrap_or_default().to_owned();
            let object = format!("{}/{}", text("kind"), text("name"));
            let key = (file.is_empty(), name, row["document"].as_u64().unwrap(), object);
            let home = homes.entry(component).or_default().entry(key).or_default();
            home.included[at] = row["included"] == true;
            if *profile != "standalone" {
                home.by = by;
                home.why = match row["reason"]["message"].as_str() {
                    Some(why) if !why.starts_with("it lives in") => why.to_owned(),
                    _ => home.why.clone(),
                };
            }
        }
    }
    homes
}

fn page() -> String {
    let mut out = INTRODUCTION.to_owned();
    for (component, homes) in homes() {
        let _ = write!(
            out,
            "\n## {component}\n\n| file | object | standalone | management | guest | by |\n|---|---|---|---|---|---|\n"
        );
        for ((_, file, _, object), home) in homes {
            let [standalone, management, guest] = home.included.map(|here| if here { "yes" } else { "" });
            // A line is enough to find it; the column would only make the table wider.
            let by = home.by.rsplit_once(':').map_or("", |(line, _)| line);
            let by = if home.why.is_empty() { by.to_owned() } else { format!("{by}: {}", home.why) };
            let _ = writeln!(out, "| {file} | {object} | {standalone} | {management} | {guest} | {by} |");
        }
    }
    out
}

#[test]
fn the_page_says_what_is_rendered() {
    let written = std::fs::read_to_string(repository().join("docs/storage.md")).unwrap();
    assert!(
        written == page(),
        "docs/storage.md is out of date: `make docs` rewrites it, then read the difference"
    );
}

#[test]
#[ignore = "it writes: `make docs` runs it"]
fn rewrite() {
    std::fs::write(repository().join("docs/storage.md"), page()).unwrap();
}
