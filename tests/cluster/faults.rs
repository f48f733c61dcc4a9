//! What can go wrong on the way to an API server, and when it does.

use std::time::Duration;

/// A request that came by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Counted from 1, since the last reset.
    pub(crate) number: usize,
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
}

/// Which requests something happens to.
pub(crate) enum Which {
    Number(usize),
    Matching(Box<dyn Fn(&Seen) -> bool + Send + Sync>),
    All,
}

impl Which {
    pub(crate) fn matching(test: impl Fn(&Seen) -> bool + Send + Sync + 'static) -> Self {
        Self::Matching(Box::new(test))
    }

    fn fits(&self, seen: &Seen) -> bool {
        match self {
            Self::Number(number) => *number == seen.number,
            Self::Matching(test) => test(seen),
            Self::All => true,
        }
    }
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is passed on late.
    Delay(Duration),
    /// The connection is closed without an answer, and nothing was passed on.
    Cut,
    /// The connection is closed without an answer, and everything was passed on.
    CutAfter,
    /// The head of the answer is passed back, and half of its body (of a watch: its first events).
    CutBody,
    /// Somebody else answers; nothing was passed on.
    Answer(Reply),
    /// Somebody else answers, although everything was passed on.
    AnswerAfter(Reply),
}

/// What somebody else answers.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    /// As an API server would put it.
    pub(crate) fn status(code: u16, reason: &str) -> Self {
        let body = serde_json::json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "message": format!("the fault proxy says {reason}"), "reason": reason, "code": code,
        });
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { code, headers, body: body.to_string() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

struct Rule {
    which: Which,
    left: usize,
    what: Fault,
}

/// Rules in the order in which they were made: the first that fits, and is not used up, decides.
#[derive(Default)]
pub(crate) struct Faults(Vec<Rule>);

impl Faults {
    pub(crate) fn add(&mut self, which: Which, times: usize, what: Fault) {
        self.0.push(Rule { which, left: times, what });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What happens to this one; it is counted as having happened.
    pub(crate) fn strike(&mut self, seen: &Seen) -> Option<Fault> {
        let rule = self.0.iter_mut().find(|rule| rule.left > 0 && rule.which.fits(seen))?;
        if rule.left != usize::MAX {
            rule.left -= 1;
        }
        Some(rule.what.clone())
    }
}
