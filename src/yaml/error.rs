//! What is wrong with a text, and where.

use super::cursor::Place;

/// Why a text cannot be read. The line and column count from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from one.
    pub line: u32,
    /// The column in characters, from one.
    pub column: u32,
    /// What is wrong. Never quotes the text itself: it may be a Secret's.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SyntaxError {
    /// Boxed, since it travels through functions that hand on many small results and rarely an error.
    pub(super) fn new(at: Place, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { line: at.line + 1, column: at.column + 1, message: message.into(), help: None })
    }

    pub(super) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}
