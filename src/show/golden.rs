//! Reports of differences between golden files and rendered objects.

use std::fmt::Write;

use super::unified_diff::unified_diff;
use super::{Paint, changes};
use crate::emit::{Difference, DifferenceKind, File, INDEX, REACH};
use crate::object::{SensitiveTexts, mask};
use crate::printable;
use crate::yaml::{self, Node, SourceId};

/// The number of fields that are listed for one object.
const MAX_FIELDS: usize = 20;

const MISSING: &str = "missing: the object is new";
const STALE: &str = "stale: no object is rendered to this file";
const NOT_A_FILE: &str = "a link, a pipe or a device, which is not opened";
const MISSING_REACH: &str = "missing: it lists how the clusters reach each other";
const STALE_REACH: &str = "stale: no topology of the parameter set has two clusters";
const STALE_FOLDER: &str = "stale: no profile and parameter set renders it";

/// Returns the differences of one folder as text: for each file the fields that differ, then a diff.
pub(crate) fn report(
    folder: &str,
    differences: &[Difference],
    secrets: &SensitiveTexts,
    paint: Paint,
) -> String {
    let mut out = String::new();
    for Difference { path, kind } in differences {
        let file = paint.bold(&printable::line(&format!("{folder}/{path}")));
        match kind {
            DifferenceKind::Missing => {
                let _ = writeln!(out, "{file} is {}", missing(path));
            }
            DifferenceKind::Stale => {
                let _ = writeln!(out, "{file} is {}", stale(path));
            }
            DifferenceKind::NotAFile => {
                let _ = writeln!(out, "{file} is {NOT_A_FILE}");
            }
            DifferenceKind::Changed { golden, rendered } => {
                let _ = writeln!(out, "{file} differs");
                let mut comparison = Comparison::new(path, golden, rendered, secrets);
                if let Some((old, new)) = &comparison.texts {
                    comparison.summary.extend(unified_diff(old, new, ("golden", "rendered"), paint));
                }
                for line in comparison.summary {
                    let _ = writeln!(out, "  {line}");
                }
            }
        }
    }
    out
}

/// Returns the differences of one folder as annotations for GitHub Actions, at the first line that differs.
pub(crate) fn github(folder: &str, differences: &[Difference], secrets: &SensitiveTexts) -> String {
    let mut out = String::new();
    for Difference { path, kind } in differences {
        let (line, message) = match kind {
            DifferenceKind::Missing => (1, missing(path).to_owned()),
            DifferenceKind::Stale => (1, stale(path).to_owned()),
            DifferenceKind::NotAFile => (1, NOT_A_FILE.to_owned()),
            DifferenceKind::Changed { golden, rendered } => {
                let summary = Comparison::new(path, golden, rendered, secrets).summary;
                (first_difference(golden, &rendered.text), summary.join("\n"))
            }
        };
        let file = escape_property(&printable::line(&format!("{folder}/{path}")));
        let _ = writeln!(out, "::error file={file},line={line}::{}", escape_data(&message));
    }
    out
}

fn missing(path: &str) -> &'static str {
    if path == REACH { MISSING_REACH } else { MISSING }
}

fn stale(path: &str) -> &'static str {
    if path == REACH { STALE_REACH } else { STALE }
}

/// Returns the report of a folder that no profile and parameter set renders.
pub(crate) fn stale_folder(folder: &str) -> String {
    format!("{folder} is {STALE_FOLDER}\n")
}

/// Returns the report of a folder that no profile and parameter set renders, as an annotation for GitHub Actions.
pub(crate) fn stale_folder_github(folder: &str) -> String {
    format!("::error file={}::{STALE_FOLDER}\n", escape_property(folder))
}

/// Two versions of one file, without sensitive values.
struct Comparison {
    /// The differences, one per line.
    summary: Vec<String>,
    /// Both texts, or nothing if they may contain a sensitive value.
    texts: Option<(String, String)>,
}

impl Comparison {
    fn new(path: &str, golden: &str, rendered: &File, secrets: &SensitiveTexts) -> Self {
        let texts = (golden.to_owned(), rendered.text.clone());
        let content = match path {
            INDEX => Some("the order in which objects are applied"),
            REACH => Some("how the clusters reach each other"),
            _ => None,
        };
        if let Some(content) = content {
            return Self { summary: vec![content.to_owned()], texts: Some(texts) };
        }
        let (Some(mut before), Some(mut after)) = (read_object(golden), rendered.object.clone()) else {
            // A file that is not valid YAML may still contain the values of a Secret.
            return Self { summary: vec!["the golden file is not a YAML object".to_owned()], texts: None };
        };
        mask::protect_like(&mut before, &after);
        secrets.protect(&mut before);
        let is_secret = mask::mask(&mut before, &mut after);
        let mut summary: Vec<String> = changes(&before, &after).iter().map(ToString::to_string).collect();
        if summary.is_empty() {
            summary.push("same values, different formatting".to_owned());
        }
        if summary.len() > MAX_FIELDS {
            let omitted = summary.split_off(MAX_FIELDS).len();
            summary.push(format!("and {omitted} more fields"));
        }
        let texts = if is_secret { (yaml::write(&before), yaml::write(&after)) } else { texts };
        Self { summary, texts: Some(texts) }
    }
}

/// Reads the only object of a file.
fn read_object(text: &str) -> Option<Node> {
    let mut documents = yaml::read(text, SourceId::default()).ok()?;
    if documents.len() != 1 {
        return None;
    }
    let root = documents.remove(0).root;
    root.as_map().is_some().then_some(root)
}

/// Returns the number of the first line that differs.
fn first_difference(golden: &str, rendered: &str) -> usize {
    golden.lines().zip(rendered.lines()).take_while(|(a, b)| a == b).count() + 1
}

/// Escapes the message of an annotation.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of an annotation.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
