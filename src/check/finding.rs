//! The result of a check.

use super::cluster_index::ExternalId;
use super::field::Field;
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::language::Check;
use crate::nearest::nearest;
use crate::object::{ObjectId, SensitiveTexts, mask};
use crate::yaml::json::HIDDEN;
use crate::yaml::{Mark, Sources};

/// A problem that a check reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// The profiles in which the problem occurs.
    pub profiles: Vec<String>,
    /// The object, if the finding is about one.
    pub object: Option<ObjectId>,
    /// The path of the field: a JSON pointer, with `[name=x]` for items that have a name.
    pub path: String,
    /// The line that set the field, in a manifest, a page, a fragment or a profile.
    pub(crate) mark: Mark,
    /// The problem.
    pub message: String,
    /// Why it matters, and other locations that belong to it.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: String,
    /// Whether the field is sensitive.
    pub(super) is_sensitive: bool,
    /// The manifest of the object: an index into the payload's manifests.
    pub(super) manifest: Option<usize>,
}

/// The findings of the checks that ran, and the externals that these checks relied on.
#[derive(Default)]
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    pub(super) used_externals: Vec<ExternalId>,
}

impl Report {
    /// Adds a finding.
    pub(super) fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Records that a check relied on these externals.
    pub(super) fn use_externals(&mut self, externals: &[ExternalId]) {
        self.used_externals.extend_from_slice(externals);
    }
}

impl Finding {
    /// Creates a finding about a field of an object.
    pub(super) fn new(check: Check, field: &Field<'_>, message: impl Into<String>) -> Self {
        Self {
            object: Some(field.object.id.clone()),
            path: field.path(),
            is_sensitive: mask::is_sensitive(field.node),
            manifest: field.object.manifest,
            ..Self::in_file(check, field.node.mark, message)
        }
    }

    /// Creates a finding about a line of a file that belongs to no object.
    pub(super) fn in_file(check: Check, mark: Mark, message: impl Into<String>) -> Self {
        Self {
            check,
            profiles: Vec::new(),
            object: None,
            path: String::new(),
            mark,
            message: message.into(),
            notes: Vec::new(),
            help: String::new(),
            is_sensitive: false,
            manifest: None,
        }
    }

    /// Sets the line, if it differs from the line of the field's value.
    pub(super) fn at(mut self, mark: Mark) -> Self {
        self.mark = mark;
        self
    }

    /// Adds a note: why the problem matters, or another location that belongs to it.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a note, if there is one.
    pub(super) fn optional_note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    /// Sets how to fix the problem.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Suggests the candidate that a misspelled name is closest to. If no candidate is close, keeps the help.
    pub(super) fn suggest<'n>(self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(name, candidates) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Masks sensitive values. If the field itself is sensitive, whatever the message quotes may be its value.
    pub(super) fn mask(&mut self, secrets: &SensitiveTexts) {
        let texts = [&mut self.message, &mut self.help].into_iter().chain(&mut self.notes);
        for text in texts {
            *text = secrets.mask(text);
            if self.is_sensitive {
                *text = without_quotes(text);
            }
        }
        self.path = secrets.mask(&self.path);
    }

    /// Returns the finding as a message.
    pub(crate) fn diagnostic(&self, sources: &Sources) -> Diagnostic {
        let mut diagnostic = match self.check.severity() {
            Severity::Error => Diagnostic::error(&self.message),
            Severity::Warning => Diagnostic::warning(&self.message),
        };
        diagnostic.code = Some(self.check.code());
        diagnostic.object = self.object.as_ref().map(|id| match self.path.as_str() {
            "" => id.to_string(),
            path => format!("{id}, at {path}"),
        });
        diagnostic.notes.clone_from(&self.notes);
        if !self.profiles.is_empty() {
            diagnostic.notes.push(format!("found in {}", self.profiles.join(", ")));
        }
        diagnostic.help(self.help.as_str()).at(Location::of(self.mark, sources))
    }
}

/// Replaces the text in each pair of backticks.
fn without_quotes(text: &str) -> String {
    let mut pieces = text.split('`');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    while let Some(_quoted) = pieces.next() {
        out.extend(["`", HIDDEN, "`"]);
        out += pieces.next().unwrap_or_default();
    }
    out
}
