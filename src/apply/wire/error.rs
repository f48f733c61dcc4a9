//! Why a request failed: what the API server said, or that it said nothing.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::apply::cluster::live_cluster::Side;
use crate::object::ObjectId;

/// A request that failed.
#[derive(Clone, Debug)]
pub(in crate::apply) enum Failure {
    /// The API server refused it.
    Refused(Refusal),
    /// There was no answer, in one line.
    NoAnswer(String),
    /// There was one, and it cannot be used.
    Unreadable(String),
    /// There is no place for the inventory, in one line.
    NoHome(String),
}

/// What the API server says when it refuses.
#[derive(Clone, Debug, Default)]
pub(in crate::apply) struct Refusal {
    pub(in crate::apply) code: u16,
    pub(in crate::apply) reason: String,
    pub(in crate::apply) message: String,
    /// What it is about, as a path names it: `namespaces`, `configmaps`.
    pub(in crate::apply) about: String,
    pub(in crate::apply) causes: Vec<Cause>,
    /// When to come back, if it says so.
    pub(in crate::apply) retry_after: Option<Duration>,
}

/// How an API server says that a field of an object that is there cannot be changed.
const IMMUTABLE: [&str; 2] = ["field is immutable", "may not be changed in an update"];

/// One thing that it found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::apply) struct Cause {
    pub(in crate::apply) reason: String,
    pub(in crate::apply) message: String,
    pub(in crate::apply) field: String,
}

impl Refusal {
    /// Reads the body of an answer: a Status, or whatever somebody in between has written.
    pub(in crate::apply) fn read(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let status: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let causes = status["details"]["causes"].as_array().into_iter().flatten().map(|cause| Cause {
            reason: text(&cause["reason"]),
            message: text(&cause["message"]),
            field: text(&cause["field"]),
        });
        let message = match status["message"].as_str() {
            Some(message) => message.to_owned(),
            None => String::from_utf8_lossy(&body[..body.len().min(200)]).trim().to_owned(),
        };
        let (reason, about) = (text(&status["reason"]), text(&status["details"]["kind"]));
        Self { code, reason, message, about, causes: causes.collect(), retry_after }
    }

    /// Whether another try may help: the server is busy, is starting or leans on somebody who is.
    pub(in crate::apply) fn is_passing(&self) -> bool {
        match self.code {
            408 | 429 | 502 | 503 | 504 => true,
            // Server-side apply answers 500 to a field that the kind does not have, and will do so for ever.
            500 => {
                !self.message.starts_with("failed to create typed patch object")
                    && self.version_that_is_gone().is_none()
            }
            _ => false,
        }
    }

    /// Whether there is no namespace to put it into.
    pub(in crate::apply) fn is_without_namespace(&self) -> bool {
        self.code == 404 && self.about == "namespaces"
    }

    /// The webhook that does not answer.
    pub(in crate::apply) fn webhook(&self) -> Option<&str> {
        let (_, name) = self.message.split_once("failed calling webhook \"")?;
        Some(name.split_once('"')?.0)
    }

    /// Whether another manager owns what we would set.
    pub(in crate::apply) fn is_conflict_of_managers(&self) -> bool {
        self.code == 409 && self.causes.iter().any(|cause| cause.reason == "FieldManagerConflict")
    }

    /// A version that is not served any more, in which fields of somebody are recorded.
    pub(in crate::apply) fn version_that_is_gone(&self) -> Option<&str> {
        let (_, version) = self.message.split_once("request to convert CR to an invalid group/version: ")?;
        version.split_whitespace().next()
    }

    /// The fields that cannot be changed on an object that is there.
    pub(in crate::apply) fn immutable_fields(&self) -> Vec<&str> {
        let immutable = |cause: &&Cause| IMMUTABLE.iter().any(|words| cause.message.contains(words));
        if self.code == 422 {
            self.causes.iter().filter(immutable).map(|cause| cause.field.as_str()).collect()
        } else {
            Vec::new()
        }
    }
}

impl Failure {
    /// There was no answer before everything was given up.
    pub(in crate::apply) fn late() -> Self {
        Self::NoAnswer("none before the time was over".to_owned())
    }

    pub(in crate::apply) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.code),
            Self::NoAnswer(_) | Self::Unreadable(_) | Self::NoHome(_) => None,
        }
    }

    /// When to come back, if the server says so.
    pub(in crate::apply) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.retry_after,
            Self::NoAnswer(_) | Self::Unreadable(_) | Self::NoHome(_) => None,
        }
    }

    /// Whether there was no answer at all.
    pub(in crate::apply) fn is_silence(&self) -> bool {
        matches!(self, Self::NoAnswer(_))
    }

    pub(in crate::apply) fn is_passing(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.is_passing(),
            Self::NoAnswer(_) => true,
            Self::Unreadable(_) | Self::NoHome(_) => false,
        }
    }

    /// In words for people. What is said about a Secret may quote it, so only the fields are told then.
    pub(in crate::apply) fn words(&self, secret: bool) -> String {
        if let Self::Refused(refusal) = self
            && let Some(webhook) = refusal.webhook()
        {
            let more = if secret { format!("`{webhook}`") } else { refusal.message.clone() };
            return format!("a webhook that must agree does not answer: {more}");
        }
        match self {
            Self::NoAnswer(why) => format!("no answer: {why}"),
            Self::Unreadable(why) | Self::NoHome(why) => why.clone(),
            Self::Refused(refusal) if secret => {
                let fields = refusal.causes.iter().map(|cause| cause.field.as_str());
                let fields: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
                let about = if fields.is_empty() {
                    String::new()
                } else {
                    format!(" because of {}", fields.join(", "))
                };
                format!("the API server answers {} {}{about}", refusal.code, refusal.reason)
            }
            Self::Refused(refusal) => match refusal.code {
                403 => format!("it is forbidden: {}", refusal.message),
                code if refusal.message.is_empty() => format!("the API server answers {code}"),
                code => format!("the API server answers {code}: {}", refusal.message),
            },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(false))
    }
}

/// Why something could not be done.
pub(in crate::apply) struct Problem {
    pub(in crate::apply) message: String,
    pub(in crate::apply) verdict: Verdict,
}

/// What follows from a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::apply) enum Verdict {
    /// It will be the same the next time.
    Failed,
    /// It may be otherwise the next time: somebody else is to bring something, or to come back.
    Passing,
    /// The cluster as a whole does not answer.
    Lost,
}

impl Problem {
    pub(in crate::apply) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), verdict: Verdict::Failed }
    }

    /// Something that others can put right.
    pub(in crate::apply) fn passing(message: impl Into<String>) -> Self {
        Self { message: message.into(), verdict: Verdict::Passing }
    }

    /// A failed request about an object.
    pub(in crate::apply) fn of(failure: &Failure, id: &ObjectId) -> Self {
        let verdict = match failure {
            _ if failure.is_silence() => Verdict::Lost,
            _ if failure.is_passing() => Verdict::Passing,
            _ => Verdict::Failed,
        };
        Self { message: failure.words(id.kind == "Secret"), verdict }
    }

    /// One request that nobody answers is not all of them.
    pub(in crate::apply) async fn unless_others_are_answered(mut self, side: &Side<'_>) -> Self {
        if self.verdict == Verdict::Lost && !side.is_silent().await {
            self.verdict = Verdict::Passing;
        }
        self
    }
}
