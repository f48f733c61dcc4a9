//! What happens while a cluster is worked on: a line for all that is news, and on a terminal one more that says where it is.

use std::io::{IsTerminal, Write};

use transship::apply::{Event, What};

use super::output;
use super::target::Format;

pub(super) struct Progress {
    format: Format,
    terminal: bool,
    total: usize,
    done: usize,
}

impl Progress {
    pub(super) fn new(format: Format, total: usize) -> Self {
        Self { format, terminal: std::io::stderr().is_terminal(), total, done: 0 }
    }

    pub(super) fn tell(&mut self, event: &Event) {
        if self.format == Format::Json {
            let _ = output::result(&(event.json() + "\n"));
            return;
        }
        let counted = event.object.is_some() && !matches!(event.what, What::Waiting | What::Ready);
        self.done += usize::from(counted);
        self.clear();
        if event.is_news() {
            output::note(&event.line());
        }
        if self.terminal && self.done < self.total {
            let level =
                if event.level.is_empty() { String::new() } else { format!(", at level {}", event.level) };
            let _ = write!(std::io::stderr(), "{} of {}{level}", self.done, self.total);
        }
    }

    /// Takes the last line away, so that what comes next stands in its place.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
