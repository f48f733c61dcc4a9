//! Color for terminals.

/// Whether output is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// With ANSI escape sequences, for a terminal.
    Color,
    /// Without.
    Plain,
}

impl Paint {
    pub(super) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Self::Color => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}
