//! Output: results on stdout, everything else on stderr.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::printable;
use crate::show::Paint;

use super::logging::{self, LogFormat};

/// Prints a result for people to stdout.
pub(super) fn result(text: &str) -> Result<(), Diagnostics> {
    match paint() {
        Paint::Color => write(&printable::colored(text)),
        Paint::Plain => write(&printable::text(text)),
    }
}

/// Prints JSON to stdout.
pub(super) fn json(text: &str) -> Result<(), Diagnostics> {
    write(&printable::json(text))
}

/// Prints YAML to stdout. It must come from `yaml::write`, which escapes characters that are not printable.
pub(super) fn yaml(text: &str) -> Result<(), Diagnostics> {
    write(text)
}

/// Writes to stdout. A reader that stops early, such as `head`, is not an error.
fn write(text: &str) -> Result<(), Diagnostics> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::error(format!("cannot write to stdout: {error}")).into())
        }
        _ => Ok(()),
    }
}

/// Prints a message about the run, unless `--quiet` is given.
pub(super) fn note(text: &str) {
    let style = logging::style();
    match style.format {
        LogFormat::Json => tracing::info!("{text}"),
        LogFormat::Text if style.quiet => {}
        LogFormat::Text => print_to_stderr(text),
    }
}

/// Prints warnings, unless `--quiet` is given.
pub(super) fn warn(warnings: &[Diagnostic]) {
    let style = logging::style();
    for warning in warnings {
        match style.format {
            LogFormat::Json => tracing::warn!("{warning}"),
            LogFormat::Text if style.quiet => {}
            LogFormat::Text => print_to_stderr(&warning.to_string()),
        }
    }
}

/// Prints errors, and how many there are.
pub(super) fn fail(errors: &Diagnostics) {
    if logging::style().format == LogFormat::Json {
        for error in &errors.0 {
            tracing::error!("{error}");
        }
        return;
    }
    print_to_stderr(&errors.to_string());
    if errors.0.len() > 1 {
        print_to_stderr(&format!("{} errors", errors.0.len()));
    }
}

fn print_to_stderr(text: &str) {
    // If stderr is closed, there is no other place to report it.
    let _ = writeln!(std::io::stderr().lock(), "{}", printable::text(text));
}

/// Replaces the last line of a terminal by one that the next message replaces again.
#[cfg(feature = "apply")]
pub(super) fn status(line: &str) {
    let _ = write!(std::io::stderr().lock(), "\r\x1b[2K{}", printable::line(line));
}

/// Returns whether to use color: on a terminal, unless `NO_COLOR` is set.
pub(super) fn paint() -> Paint {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stdout().is_terminal() { Paint::Color } else { Paint::Plain }
}
