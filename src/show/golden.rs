//! How a golden check is reported.

use std::fmt::Write;

use super::diff::lines;
use super::{Paint, changes, mask_secrets};
use crate::emit::{Difference, INDEX};
use crate::yaml::{self, Node, SourceId};

/// More fields than this are counted, not listed.
const FIELDS_SHOWN: usize = 20;

/// The differences of one folder for a person: the fields that differ first, then the lines.
pub fn report(folder: &str, differences: &[Difference], paint: Paint) -> String {
    let mut out = String::new();
    for difference in differences {
        let file = paint.bold(&format!("{folder}/{}", difference.path()));
        match difference {
            Difference::Missing { .. } => {
                let _ = writeln!(out, "{file} is missing: it is rendered now");
            }
            Difference::Stale { .. } => {
                let _ = writeln!(out, "{file} is stale: nothing is rendered to it any more");
            }
            Difference::Hidden { .. } => {
                let _ = writeln!(out, "{file} differs; it holds a secret parameter, so how is not shown");
            }
            Difference::Changed { path, golden, rendered } => {
                let _ = writeln!(out, "{file} differs");
                let comparison = Comparison::of(path, golden, rendered);
                let texts = comparison.texts.as_ref();
                let lines = texts.map(|(old, new)| lines(old, new, ("golden", "rendered"), paint));
                for line in comparison.fields.iter().chain(lines.iter().flatten()) {
                    let _ = writeln!(out, "  {line}");
                }
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
            Difference::Hidden { .. } => (1, "differs; it holds a secret parameter".to_owned()),
            Difference::Changed { path, golden, rendered } => {
                (first_difference(golden, rendered), Comparison::of(path, golden, rendered).fields.join("\n"))
            }
        };
        let file = format!("{folder}/{}", difference.path());
        let _ = writeln!(out, "::error file={},line={line}::{}", property(&file), data(&message));
    }
    out
}

/// Two versions of one file, as they may be shown.
struct Comparison {
    /// What differs, in words.
    fields: Vec<String>,
    /// The texts, where they may be shown at all.
    texts: Option<(String, String)>,
}

impl Comparison {
    fn of(path: &str, golden: &str, rendered: &str) -> Self {
        let texts = || Some((golden.to_owned(), rendered.to_owned()));
        if path == INDEX {
            return Self {
                fields: vec!["the order in which objects are applied".to_owned()],
                texts: texts(),
            };
        }
        // A file that cannot be read may be a Secret's.
        let (Some(mut before), Some(mut after)) = (object(golden), object(rendered)) else {
            return Self {
                fields: vec!["the golden file cannot be read as one object".to_owned()],
                texts: None,
            };
        };
        let secret = mask_secrets::is_secret(&before) || mask_secrets::is_secret(&after);
        if secret {
            mask_secrets::secrets(&mut before, &mut after);
        }
        let mut fields: Vec<String> = changes(&before, &after).iter().map(ToString::to_string).collect();
        if fields.is_empty() {
            fields.push("the same values, written another way".to_owned());
        }
        if fields.len() > FIELDS_SHOWN {
            let more = fields.split_off(FIELDS_SHOWN).len();
            fields.push(format!("and {more} more"));
        }
        Self {
            fields,
            texts: if secret { Some((yaml::write(&before), yaml::write(&after))) } else { texts() },
        }
    }
}

/// A file's one object.
fn object(text: &str) -> Option<Node> {
    let mut documents = yaml::read(text, SourceId::default()).ok()?;
    let root = (documents.len() == 1).then(|| documents.remove(0).root)?;
    root.as_map().is_some().then_some(root)
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
