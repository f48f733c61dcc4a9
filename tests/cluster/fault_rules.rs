//! Faults of the fault proxy, and the requests that they affect.

use std::time::Duration;

/// A request that reached the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenRequest {
    /// Counted from 1 since the last reset.
    pub(crate) number: usize,
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
}

/// Selects requests.
pub(crate) enum RequestMatcher {
    Number(usize),
    Matching(Box<dyn Fn(&SeenRequest) -> bool + Send + Sync>),
    All,
}

impl RequestMatcher {
    pub(crate) fn matching(test: impl Fn(&SeenRequest) -> bool + Send + Sync + 'static) -> Self {
        Self::Matching(Box::new(test))
    }

    fn fits(&self, seen: &SeenRequest) -> bool {
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
    /// It is forwarded late.
    Delay(Duration),
    /// The connection is closed without a response, and nothing is forwarded.
    Cut,
    /// The request is forwarded, and the connection is closed without a response.
    CutAfter,
    /// The head of the response and half of its body are sent (for a watch: its first events).
    CutBody,
    /// The proxy responds; nothing is forwarded.
    Respond(Reply),
    /// The request is forwarded, and the proxy responds.
    RespondAfter(Reply),
}

/// A response of the proxy.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    /// Creates a `Status`, as an API server sends it.
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
    which: RequestMatcher,
    left: usize,
    what: Fault,
}

/// The rules in order. The first one that matches and is not used up decides.
#[derive(Default)]
pub(crate) struct Faults(Vec<Rule>);

impl Faults {
    pub(crate) fn add(&mut self, which: RequestMatcher, times: usize, what: Fault) {
        self.0.push(Rule { which, left: times, what });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the fault for a request, and counts it.
    pub(crate) fn strike(&mut self, seen: &SeenRequest) -> Option<Fault> {
        let rule = self.0.iter_mut().find(|rule| rule.left > 0 && rule.which.fits(seen))?;
        if rule.left != usize::MAX {
            rule.left -= 1;
        }
        Some(rule.what.clone())
    }
}
