//! The error that reading returns.

use std::fmt;

use crate::read::cursor::Position;

/// Why a text cannot be read, and where.
///
/// The message never quotes the text itself, because the text may be a Secret.
///
/// ```
/// use kubernetes_yaml::{SourceId, read};
///
/// let error = read("image: quay.io/x: latest\n", SourceId::default()).unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 17: unexpected `: ` inside a value");
/// assert_eq!(error.message(), "unexpected `: ` inside a value");
/// assert!(error.help().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, counted from one.
    pub line: u32,
    /// The column in characters, counted from one.
    pub column: u32,
    // Boxed, because the reader returns many small results and rarely an error.
    text: Box<ErrorText>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorText {
    message: String,
    help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        let text = Box::new(ErrorText { message: message.into(), help: None });
        Self { line: position.line + 1, column: position.column + 1, text }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.text.help = Some(help.into());
        self
    }

    /// Returns what is wrong, without the line and column.
    pub fn message(&self) -> &str {
        &self.text.message
    }

    /// Returns what to do about it, if there is advice.
    pub fn help(&self) -> Option<&str> {
        self.text.help.as_deref()
    }

    /// Returns the message and the help without copying them.
    pub fn into_message_and_help(self) -> (String, Option<String>) {
        (self.text.message, self.text.help)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.text.message)
    }
}

impl std::error::Error for SyntaxError {}
