//! What is wrong with a text, and where.

use crate::cursor::Place;

/// Why a text cannot be read. The line and column count from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from one.
    pub line: u32,
    /// The column in characters, from one.
    pub column: u32,
    /// What is said about it. Boxed, since the reader hands on many small results and rarely an error.
    pub words: Box<Words>,
}

/// The words of a [`SyntaxError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What is wrong. Never quotes the text itself: it may be a Secret's.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(at: Place, message: impl Into<String>) -> Self {
        let words = Box::new(Words { message: message.into(), help: None });
        Self { line: at.line + 1, column: at.column + 1, words }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.words.help = Some(help.into());
        self
    }
}
