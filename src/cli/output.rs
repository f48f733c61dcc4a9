//! Results on stdout, everything else on stderr.

use std::io::{ErrorKind, IsTerminal, Write};

use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::show::Paint;

/// Writes a result. A reader that has seen enough, such as `head`, is no error.
pub(super) fn result(text: &str) -> Result<(), Diagnostics> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::error(format!("the result cannot be written: {error}")).into())
        }
        _ => Ok(()),
    }
}

/// Prints a message about the run.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub(super) fn warn(warnings: &[Diagnostic]) {
    for warning in warnings {
        note(&warning.to_string());
    }
}

pub(super) fn fail(errors: &Diagnostics) {
    note(&errors.to_string());
    if errors.0.len() > 1 {
        note(&format!("{} errors", errors.0.len()));
    }
}

/// Colour for a terminal, unless the user does not want it.
pub(super) fn paint() -> Paint {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stdout().is_terminal() { Paint::Colour } else { Paint::Plain }
}
