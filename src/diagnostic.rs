//! Errors and warnings about the input.
//!
//! All of them have one type, so that they look alike and can be collected before they are printed.

use std::collections::BTreeSet;
use std::fmt;

use crate::nearest::nearest;
use crate::object::SensitiveTexts;
use crate::printable;
use crate::yaml::{DuplicateKey, Mark, Sources, SyntaxError};

/// The message about text that Kubernetes does not read.
pub(crate) const IGNORED_TEXT: &str = "Kubernetes ignores the rest of this document";
/// The help for text that Kubernetes does not read.
pub(crate) const IGNORED_TEXT_HELP: &str =
    "indent all lines of the document alike; write `---` on its own line before another document";

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be rendered.
    Error,
    /// The input can be rendered, but something is probably wrong.
    Warning,
}

/// A location in a file, or a whole file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The path of the file, as the user wrote it.
    pub file: String,
    /// Line and column, starting at one, or nothing for the whole file.
    pub position: Option<(u32, u32)>,
}

/// A message: what is wrong, where, why it matters and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The code of the check that reports it, if one does.
    pub code: Option<&'static str>,
    /// The problem. It never contains a value that may be secret.
    pub message: String,
    /// The location.
    pub location: Option<Location>,
    /// The object.
    pub object: Option<String>,
    /// Why it matters, and other locations that belong to it.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Option<String>,
}

/// Errors that were collected. Never empty when returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Location {
    /// Returns the location of a whole file.
    pub(crate) fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), position: None }
    }

    /// Returns a location in a file, given the name of the file.
    pub(crate) fn in_file(mark: Mark, file: &str) -> Self {
        Self { file: file.to_owned(), position: Some((mark.line, mark.column)) }
    }

    /// Returns a location, with the name of the file from `sources`.
    pub(crate) fn of(mark: Mark, sources: &Sources) -> Self {
        Self::in_file(mark, sources.name(mark.source))
    }
}

/// The maximum number of duplicate keys that are listed for one document.
const MAX_DUPLICATE_KEYS: usize = 20;

impl Diagnostic {
    /// Creates an error.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message.into())
    }

    /// Creates a warning.
    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message.into())
    }

    /// Creates an error about invalid YAML or JSON.
    pub(crate) fn syntax(error: SyntaxError, file: &str) -> Self {
        let location = Location { file: file.to_owned(), position: Some((error.line, error.column)) };
        let (message, help) = error.into_message_and_help();
        Self { help, ..Self::error(message).at(location) }
    }

    /// Creates warnings about duplicate keys, which Kubernetes accepts and other YAML readers do not.
    pub(crate) fn duplicate_keys(duplicates: &[DuplicateKey], file: &str) -> Vec<Self> {
        let mut warnings = Vec::new();
        for duplicate in duplicates.iter().take(MAX_DUPLICATE_KEYS) {
            let warning = Self::warning(format!("duplicate key `{}`: the last value is used", duplicate.key))
                .at(Location::in_file(duplicate.kept, file))
                .note(format!(
                    "transship ignores the value at {}, as kubectl does",
                    Location::in_file(duplicate.dropped, file)
                ))
                .help("remove one of them");
            warnings.push(warning);
        }
        Self::note_unlisted_duplicates(duplicates, &mut warnings);
        warnings
    }

    /// Creates errors about duplicate keys in a file of the language.
    pub(crate) fn refused_duplicate_keys(duplicates: &[DuplicateKey], file: &str) -> Vec<Self> {
        let mut errors = Vec::new();
        for duplicate in duplicates.iter().take(MAX_DUPLICATE_KEYS) {
            let error = Self::error(format!("the key `{}` is duplicated", duplicate.key))
                .at(Location::in_file(duplicate.kept, file))
                .note(format!("the first is at {}", Location::in_file(duplicate.dropped, file)))
                .help("remove one of them");
            errors.push(error);
        }
        Self::note_unlisted_duplicates(duplicates, &mut errors);
        errors
    }

    /// Adds to the last message that more duplicate keys follow.
    fn note_unlisted_duplicates(duplicates: &[DuplicateKey], listed: &mut [Self]) {
        if duplicates.len() > listed.len()
            && let Some(last) = listed.last_mut()
        {
            last.notes.push("this document has more duplicate keys, which are not listed".to_owned());
        }
    }

    /// Creates a warning about text in a manifest that Kubernetes does not read, because the document ends before it.
    pub(crate) fn ignored_text(start: Mark, file: &str) -> Self {
        Self::warning(IGNORED_TEXT)
            .at(Location::in_file(start, file))
            .note("the document ends before it, so kubectl applies only what is above")
            .help(IGNORED_TEXT_HELP)
    }

    /// Creates an error about text in a file of the language that would be ignored, because the document ends before it.
    pub(crate) fn text_after_document(start: Mark, file: &str) -> Self {
        Self::error("the document ends before this text")
            .at(Location::in_file(start, file))
            .note("YAML ends a document at `...`, at the last closing bracket and at a line that is indented less than the first")
            .help(IGNORED_TEXT_HELP)
    }

    fn new(severity: Severity, message: String) -> Self {
        Self { severity, code: None, message, location: None, object: None, notes: Vec::new(), help: None }
    }

    /// Sets the location.
    #[must_use]
    pub(crate) fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Sets the object.
    #[must_use]
    pub(crate) fn object(mut self, object: impl fmt::Display) -> Self {
        self.object = Some(object.to_string());
        self
    }

    /// Adds a note: why it matters, or another location that belongs to it.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets how to fix the problem.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Suggests the candidate that a misspelled name is closest to. Without a close one, keeps the help that is set.
    #[must_use]
    pub(crate) fn suggest<'n>(self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(name, candidates) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

impl Diagnostics {
    /// Returns the value if there are no errors, and the errors otherwise.
    pub(crate) fn into_result<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Adds the errors of others.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Returns the values of all results, or the errors of all results. Unlike `Iterator::collect`, it does not stop at
    /// the first error.
    pub(crate) fn collect<T>(results: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let mut errors = Self::default();
        let mut values = Vec::new();
        for result in results {
            match result {
                Ok(value) => values.push(value),
                Err(found) => errors.append(found),
            }
        }
        errors.into_result(values)
    }

    /// Removes duplicates: each profile that reads a file reports the errors in it.
    #[must_use]
    pub(crate) fn dedup(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.0.retain(|error| seen.insert(error.to_string()));
        self
    }

    /// Masks sensitive values.
    ///
    /// Messages should not contain such a value in the first place. This function catches a name or key that a message
    /// takes from an object.
    #[must_use]
    pub(crate) fn mask(mut self, secrets: &SensitiveTexts) -> Self {
        for diagnostic in &mut self.0 {
            let Diagnostic { message, object, notes, help, .. } = diagnostic;
            for text in std::iter::once(message).chain(object).chain(notes).chain(help) {
                *text = secrets.mask(text);
            }
        }
        self
    }

    /// Returns the value of a result, or records its error and returns `None`.
    pub(crate) fn ok_or_record<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.push(error);
                None
            }
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{}[{code}]: ", self.severity)?,
            None => write!(f, "{}: ", self.severity)?,
        }
        if let Some(location) = &self.location {
            write!(f, "{}: ", printable::line(&location.to_string()))?;
        }
        write!(f, "{}", printable::line(&self.message))?;
        if let Some(object) = &self.object {
            write!(f, "\n  object: {}", printable::line(object))?;
        }
        for note in &self.notes {
            write!(f, "\n  note: {}", printable::line(note))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", printable::line(help))?;
        }
        Ok(())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
