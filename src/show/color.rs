//! Colour, where there is a terminal to show it.

/// Whether output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// For a terminal.
    Colour,
    /// For everything else.
    Plain,
}

impl Paint {
    pub(super) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Self::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}
