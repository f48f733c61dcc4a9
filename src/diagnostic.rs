//! What the tool has to say about its input: one type for every message, so that all look alike and all can be
//! collected before anything is printed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use crate::nearest::nearest;
use crate::yaml::{DuplicateKey, Mark, Sources, SyntaxError};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is rendered until this is put right.
    Error,
    /// Worth a look; the result stands.
    Warning,
}

/// A place in a file. Without a line it means the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file, as the user named it.
    pub file: String,
    /// Line and column, from one.
    pub position: Option<(u32, u32)>,
}

/// One message: what, where, why it matters and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The check that found it, if one did.
    pub code: Option<&'static str>,
    /// What is wrong. Never holds a value that may be secret.
    pub message: String,
    /// Where.
    pub location: Option<Location>,
    /// The object concerned.
    pub object: Option<String>,
    /// Why it matters, and other places that belong to it.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

/// Every error of a stage, in the order of the files. Never empty when returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Location {
    /// A file as a whole.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), position: None }
    }

    /// A place in a file whose name is at hand.
    pub fn in_file(mark: Mark, file: &str) -> Self {
        Self { file: file.to_owned(), position: Some((mark.line, mark.column)) }
    }

    /// The place of a node.
    pub fn of(mark: Mark, sources: &Sources) -> Self {
        Self::in_file(mark, sources.name(mark.source))
    }
}

impl Diagnostic {
    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message.into())
    }

    /// A warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message.into())
    }

    /// A text that cannot be read.
    pub fn syntax(error: SyntaxError, file: &str) -> Self {
        let location = Location { file: file.to_owned(), position: Some((error.line, error.column)) };
        let (message, help) = error.into_message_and_help();
        Self { help, ..Self::error(message).at(location) }
    }

    /// A key that is written twice: Kubernetes takes it, and other readers do not.
    pub fn duplicate_key(duplicate: &DuplicateKey, file: &str) -> Self {
        Self::warning(format!("the key `{}` is written twice; the last one counts", duplicate.key))
            .at(Location::in_file(duplicate.kept, file))
            .note(format!(
                "the one at {} is dropped, as kubectl drops it",
                Location::in_file(duplicate.dropped, file)
            ))
            .help("remove one of them")
    }

    fn new(severity: Severity, message: String) -> Self {
        Self { severity, code: None, message, location: None, object: None, notes: Vec::new(), help: None }
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Names the object.
    #[must_use]
    pub fn object(mut self, object: impl fmt::Display) -> Self {
        self.object = Some(object.to_string());
        self
    }

    /// Adds a note: why it matters, or another location that belongs to it.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets what the user can do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Suggests the candidate that a misspelt name is closest to. Without a close one, keeps the help that is set.
    #[must_use]
    pub fn suggest<'n>(self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(name, candidates) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

impl Diagnostics {
    /// The value, unless something was wrong.
    pub fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// All results, or all that is wrong with any.
    pub fn gather<T>(results: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let mut errors = Self::default();
        let mut all = Vec::new();
        for result in results {
            match result {
                Ok(value) => all.push(value),
                Err(found) => errors.0.extend(found.0),
            }
        }
        errors.or(all)
    }

    /// Each error once: what is wrong with a file is found by every profile that reads it.
    #[must_use]
    pub fn once(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.0.retain(|error| seen.insert(error.to_string()));
        self
    }

    /// Keeps a success; collects a failure.
    pub fn collect<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.0.push(diagnostic)).ok()
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
            write!(f, "{}: ", printable(&location.to_string()))?;
        }
        write!(f, "{}", printable(&self.message))?;
        let object = self.object.iter().map(|object| ("object", object));
        let notes = self.notes.iter().map(|note| ("note", note));
        for (word, text) in object.chain(notes).chain(self.help.iter().map(|help| ("help", help))) {
            write!(f, "\n  {word}: {}", printable(text))?;
        }
        Ok(())
    }
}

/// A text without characters that move a terminal's cursor: names come from files that anybody may have written.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escape = |character: char| {
        if character.is_control() { character.escape_default().collect() } else { character.to_string() }
    };
    Cow::Owned(text.chars().map(escape).collect())
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
