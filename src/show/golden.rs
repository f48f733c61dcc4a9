//! How a golden check is reported.

use std::fmt::Write;

use similar::TextDiff;

use super::{Paint, changes, mask};
use crate::emit::Difference;
use crate::yaml::{self, Node, SourceId};

/// More fields than this are counted, not listed.
const FIELDS_SHOWN: usize = 20;

/// The differences of one folder for a person: the fields that differ first, then the lines.
pub fn report(folder: &str, differences: &[Difference], paint: Paint) -> String {
    let mut out = String::new();
    for difference in differences {
        let file = format!("{folder}/{}", difference.path());
        match difference {
            Difference::Missing { .. } => {
                let _ = writeln!(out, "{} is missing: it is rendered now", paint.bold(&file));
            }
            Difference::Stale { .. } => {
                let _ = writeln!(out, "{} is stale: nothing is rendered to it any more", paint.bold(&file));
            }
            Difference::Changed { golden, rendered, .. } => {
                let _ = writeln!(out, "{} differs", paint.bold(&file));
                changed(golden, rendered, paint, &mut out);
            }
        }
    }
    out
}

/// The differences as annotations of GitHub's, one a line, at the first line that differs.
pub fn github(folder: &str, differences: &[Difference]) -> String {
    let mut out = String::new();
    for difference in differences {
        let (line, message) = match difference {
            Difference::Missing { .. } => (1, "missing: it is rendered now".to_owned()),
            Difference::Stale { .. } => (1, "stale: nothing is rendered to it any more".to_owned()),
            Difference::Changed { golden, rendered, .. } => {
                (first_difference(golden, rendered), fields(golden, rendered).join("\n"))
            }
        };
        let file = format!("{folder}/{}", difference.path());
        let _ = writeln!(out, "::error file={},line={line}::{}", property(&file), data(&message));
    }
    out
}

fn changed(golden: &str, rendered: &str, paint: Paint, out: &mut String) {
    let fields = fields(golden, rendered);
    for field in fields.iter().take(FIELDS_SHOWN) {
        let _ = writeln!(out, "  {field}");
    }
    if fields.len() > FIELDS_SHOWN {
        let _ = writeln!(out, "  and {} more", fields.len() - FIELDS_SHOWN);
    }
    let (golden, rendered) = (masked_text(golden), masked_text(rendered));
    for line in TextDiff::from_lines(&golden, &rendered)
        .unified_diff()
        .header("golden", "rendered")
        .to_string()
        .lines()
    {
        let line = match line.as_bytes().first() {
            Some(b'-') => paint.red(line),
            Some(b'+') => paint.green(line),
            _ => paint.dim(line),
        };
        let _ = writeln!(out, "  {line}");
    }
}

/// The fields that differ, or why there are none to show.
fn fields(golden: &str, rendered: &str) -> Vec<String> {
    match (object(golden), object(rendered)) {
        (Some(golden), Some(rendered)) => {
            let changes: Vec<_> = changes(&golden, &rendered).iter().map(ToString::to_string).collect();
            if changes.is_empty() { vec!["the same values, written another way".to_owned()] } else { changes }
        }
        (None, Some(_)) => vec!["the golden file cannot be read as one object".to_owned()],
        _ => vec!["the order in which objects are applied".to_owned()],
    }
}

/// A file's one object with its secrets masked.
fn object(text: &str) -> Option<Node> {
    let mut documents = yaml::read(text, SourceId::default()).ok()?;
    let mut root = (documents.len() == 1).then(|| documents.remove(0).root)?;
    root.as_map()?;
    mask::secret(&mut root);
    Some(root)
}

/// The text as it may be shown: a Secret's is written anew, masked; a text that merely mentions one is not shown.
fn masked_text(text: &str) -> String {
    if !text.contains("Secret") {
        return text.to_owned();
    }
    match object(text) {
        Some(root) if root.get("kind").and_then(Node::as_str) != Some("Secret") => text.to_owned(),
        Some(root) => yaml::write(&root),
        None => "(not shown: it cannot be read, and may hold a Secret)\n".to_owned(),
    }
}

fn first_difference(golden: &str, rendered: &str) -> usize {
    golden.lines().zip(rendered.lines()).take_while(|(a, b)| a == b).count() + 1
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
