//! Prints events: one line each, and on a terminal a last line with the progress.

use std::io::IsTerminal;

use crate::apply::{Event, EventKind, ProgressLine};
use crate::object::Cluster;

use super::clusters::Format;
use super::output;

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

pub(super) struct Progress {
    format: Format,
    terminal: bool,
    line: ProgressLine,
}

impl Progress {
    pub(super) fn new(format: Format, totals: impl IntoIterator<Item = (Cluster, usize)>) -> Self {
        Self { format, terminal: std::io::stderr().is_terminal(), line: ProgressLine::new(totals) }
    }

    pub(super) fn report(&mut self, event: &Event) {
        if self.format == Format::Json {
            let _ = output::json(&(event.json() + "\n"));
            return;
        }
        self.line.update(event);
        self.clear();
        // On a terminal, the last line shows what transship waits for.
        if event.is_news() && !(self.terminal && event.kind == EventKind::Waiting) {
            output::note(&event.line());
        }
        if self.terminal {
            let width = terminal_size::terminal_size_of(std::io::stderr());
            let width = width.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
            output::status(&self.line.line(width.saturating_sub(1)));
        }
    }

    /// Clears the last line of a terminal.
    pub(super) fn clear(&self) {
        if self.terminal {
            output::status("");
        }
    }
}
