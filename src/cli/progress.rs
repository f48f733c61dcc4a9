//! What happens while a cluster is worked on: a line for all that is news, and on a terminal one more that says where it is.

use std::io::{IsTerminal, Write};

use transship::apply::{Board, Event, What};
use transship::object::Cluster;

use super::output;
use super::target::Format;

/// Where nobody knows how wide a terminal is.
const WIDTH: usize = 80;

pub(super) struct Progress {
    format: Format,
    terminal: bool,
    board: Board,
}

impl Progress {
    pub(super) fn new(format: Format, totals: impl IntoIterator<Item = (Cluster, usize)>) -> Self {
        Self { format, terminal: std::io::stderr().is_terminal(), board: Board::new(totals) }
    }

    pub(super) fn tell(&mut self, event: &Event) {
        if self.format == Format::Json {
            let _ = output::result(&(event.json() + "\n"));
            return;
        }
        self.board.see(event);
        self.clear();
        // What is waited for stands in the last line of a terminal, for as long as it is.
        if event.is_news() && !(self.terminal && event.what == What::Waiting) {
            output::note(&event.line());
        }
        if self.terminal {
            let width = terminal_size::terminal_size_of(std::io::stderr());
            let width = width.map_or(WIDTH, |(width, _)| usize::from(width.0));
            let _ = write!(std::io::stderr(), "{}", self.board.line(width.saturating_sub(1)));
        }
    }

    /// Takes the last line away, so that what comes next stands in its place.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
