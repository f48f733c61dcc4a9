//! Prints events: one line each, one line for many with the same cause, and on a terminal a last line with the progress.

use std::io::IsTerminal;

use crate::apply::{Event, EventGroups, EventKind, ProgressLine};
use crate::object::Cluster;

use super::clusters::Format;
use super::command_run::CommandRun;
use super::{logging, output};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

pub(super) struct Progress {
    format: Format,
    run: CommandRun,
    terminal: bool,
    line: ProgressLine,
    groups: EventGroups,
}

impl Progress {
    pub(super) fn new(
        format: Format,
        run: &CommandRun,
        totals: impl IntoIterator<Item = (Cluster, usize)>,
    ) -> Self {
        Self {
            format,
            run: run.clone(),
            terminal: std::io::stderr().is_terminal(),
            line: ProgressLine::new(totals),
            groups: EventGroups::default(),
        }
    }

    pub(super) fn report(&mut self, event: &Event) {
        if self.format == Format::Json {
            let _ = output::json(&(event.json(&self.run.stamp(false)) + "\n"));
            return;
        }
        self.line.update(event);
        self.clear_line();
        for event in self.grouped(event) {
            self.print(&event);
        }
        if self.terminal {
            let width = terminal_size::terminal_size_of(std::io::stderr());
            let width = width.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
            output::status(&self.line.line(width.saturating_sub(1)));
        }
    }

    /// Prints what is not printed yet, and clears the last line of a terminal.
    pub(super) fn clear(&mut self) {
        self.clear_line();
        for event in self.groups.finish() {
            self.print(&event);
        }
    }

    /// Returns the events to print now.
    fn grouped(&mut self, event: &Event) -> Vec<Event> {
        if logging::style().verbose { vec![event.clone()] } else { self.groups.add(event) }
    }

    fn print(&self, event: &Event) {
        // On a terminal, the last line shows what transship waits for.
        if !event.is_news() || self.terminal && event.kind == EventKind::Waiting {
            return;
        }
        let mut line = event.line();
        if event.kind == EventKind::Ready && event.object.is_some() {
            line = format!("{line}: after {} s", self.run.elapsed().as_secs());
        }
        output::note(&line);
    }

    fn clear_line(&self) {
        if self.terminal {
            output::status("");
        }
    }
}
