//! Profiles that are paused: `apply` writes nothing, as HyperShift does while `pausedUntil` of a hosted control plane holds.

use k8s_openapi::jiff::Timestamp;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{Marked, Profile, template};
use crate::project::Project;
use crate::yaml::{Node, Value};

/// Whether `pausedUntil` pauses at a certain time.
#[derive(Debug, PartialEq, Eq)]
enum Pause {
    Running,
    Paused,
    PausedUntil(Timestamp),
}

impl Pause {
    /// Reads `pausedUntil` as HyperShift does: a boolean as Go reads it, or a time (RFC 3339). Returns `None` for another text.
    fn at(now: Timestamp, text: &str) -> Option<Self> {
        match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => return Some(Self::Paused),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => return Some(Self::Running),
            _ => {}
        }
        let until: Timestamp = text.parse().ok()?;
        Some(if now < until { Self::PausedUntil(until) } else { Self::Running })
    }
}

/// Fails if one of the profiles is paused.
pub(super) fn refuse_paused(project: &Project, profiles: &[&Profile]) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for profile in profiles {
        let Some(field) = &profile.paused_until else { continue };
        errors.0.extend(problem(project, profile, field));
    }
    errors.dedup().into_result(())
}

fn problem(project: &Project, profile: &Profile, field: &Marked<String>) -> Option<Diagnostic> {
    let written = Node::new(Value::String(field.value.as_str().into()), field.mark);
    let filled = match template::substitute(&written, &project.parameters, &project.sources) {
        Ok(filled) => filled?,
        Err(error) => return Some(error),
    };
    let error = |message: String| Diagnostic::error(message).at(Location::of(field.mark, &project.sources));
    let pause = match &filled.value {
        Value::String(text) => Pause::at(Timestamp::now(), text.as_str()),
        Value::Bool(true) => Some(Pause::Paused),
        Value::Bool(false) => Some(Pause::Running),
        _ => None,
    };
    let state = match pause {
        Some(Pause::Running) => return None,
        Some(Pause::Paused) => "paused".to_owned(),
        Some(Pause::PausedUntil(until)) => format!("paused until {until}"),
        None => {
            let error = error("`pausedUntil` is neither a time nor a boolean".to_owned());
            return Some(error.help("give it a time, as in 2026-03-03T03:28:48Z, or `true` or `false`"));
        }
    };
    let paused = error(format!("the topology `{}` is {state}", profile.topology));
    let paused = paused.note("`apply` writes nothing while the profile is paused");
    Some(match template::names_in(&field.value).first() {
        Some(name) => paused.help(format!("wait, or apply nevertheless with --set {name}=false")),
        None => paused.help("wait, or remove `pausedUntil`"),
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::Pause;

    #[test]
    fn a_pause_ends_at_its_time_or_never() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = time("2026-03-03T03:28:48Z");
        for (text, expected) in [
            ("true", Some(Pause::Paused)),
            ("1", Some(Pause::Paused)),
            ("false", Some(Pause::Running)),
            ("F", Some(Pause::Running)),
            ("2026-03-03T03:28:49Z", Some(Pause::PausedUntil(time("2026-03-03T03:28:49Z")))),
            ("2026-03-03T03:28:48Z", Some(Pause::Running)),
            ("2026-03-03T04:28:48+01:00", Some(Pause::Running)),
            ("2026-03-03T03:28:48-01:00", Some(Pause::PausedUntil(time("2026-03-03T04:28:48Z")))),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(Pause::at(now, text), expected, "{text}");
        }
    }
}
