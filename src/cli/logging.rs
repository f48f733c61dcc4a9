//! Logging: `-v`, `-q` and `--log-format`, on every command.

use std::sync::OnceLock;

use crate::printable;
use clap::{ArgAction, Args, ValueEnum};
use tracing::Level;
use tracing_subscriber::fmt;

/// Flags that control what is written to stderr
#[derive(Args)]
pub(super) struct Logging {
    /// Log more: -v for what was loaded and done, -vv for each decision and request, -vvv for everything
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Logging")]
    verbose: u8,
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Logging")]
    quiet: bool,
    /// Format of the lines on stderr
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, help_heading = "Logging")]
    log_format: LogFormat,
}

/// The format of the lines on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// Lines of text
    Text,
    /// One JSON object per line
    Json,
}

/// How messages that are not log lines are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageStyle {
    pub(super) format: LogFormat,
    pub(super) quiet: bool,
    /// Whether `-v` is given.
    pub(super) verbose: bool,
}

static STYLE: OnceLock<MessageStyle> = OnceLock::new();

/// Returns how messages are written; before the flags are parsed, as text.
pub(super) fn style() -> MessageStyle {
    STYLE.get().copied().unwrap_or(MessageStyle { format: LogFormat::Text, quiet: false, verbose: false })
}

/// Writes log lines to stderr, and escapes characters that are not printable.
struct SafeStderr {
    format: LogFormat,
}

impl std::io::Write for SafeStderr {
    /// Writes one event, which the subscriber passes as a whole.
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let safe = match self.format {
            LogFormat::Text => printable::text(&text),
            LogFormat::Json => printable::json(&text),
        };
        std::io::stderr().lock().write_all(safe.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

impl Logging {
    /// Starts logging to stderr. Nothing is logged before this.
    pub(super) fn start(&self) {
        let (format, quiet, verbose) = (self.log_format, self.quiet, self.verbose > 0);
        let _ = STYLE.set(MessageStyle { format, quiet, verbose });
        let log = fmt().with_writer(move || SafeStderr { format }).with_max_level(self.level());
        match self.log_format {
            LogFormat::Text => log.with_target(false).with_ansi(false).init(),
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }

    fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::ERROR,
            // As JSON, messages for people are log lines of the level info.
            (false, 0) if self.log_format == LogFormat::Json => Level::INFO,
            (false, 0) => Level::WARN,
            (false, 1) => Level::INFO,
            (false, 2) => Level::DEBUG,
            (false, _) => Level::TRACE,
        }
    }
}
