//! The rights that requests in the audit log need, beside those that a page declares under `needs`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::run_in;
use super::scenarios::assert_code;
use crate::audit::Entry;

/// A right on a resource, as an API server asks for it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Right {
    namespace: String,
    group: String,
    /// With the subresource.
    resource: String,
    verb: String,
    name: String,
}

impl Right {
    /// Returns the right that a request needs.
    pub(super) fn of(entry: &Entry) -> Self {
        let path = entry.uri.split('?').next().unwrap();
        let mut steps: Vec<&str> = path.split('/').skip(1).collect();
        let group = if steps[0] == "apis" { steps.remove(1) } else { "" };
        let (namespace, rest) = match &steps[2..] {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let resource = match rest {
            [resource, _, subresource] => format!("{resource}/{subresource}"),
            [resource, ..] => (*resource).to_owned(),
            [] => panic!("{path} is no resource"),
        };
        let name = rest.get(1).copied().unwrap_or_default().to_owned();
        Self { namespace: namespace.into(), group: group.into(), resource, verb: entry.verb.clone(), name }
    }

    /// Returns whether a rule of a Role grants it.
    fn is_granted_by(&self, rule: &Value) -> bool {
        let has = |field: &str, wanted: &str| rule[field].as_array().unwrap().iter().any(|it| it == wanted);
        let is_named = rule.get("resourceNames").is_none() || has("resourceNames", &self.name);
        is_named
            && has("apiGroups", &self.group)
            && has("resources", &self.resource)
            && has("verbs", &self.verb)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, group, resource, verb, name } = self;
        write!(f, "{verb} {group}/{resource} {namespace}/{name}")
    }
}

/// Returns the needs of a page.
pub(super) fn needs(folder: &Path, page: &str) -> Vec<Value> {
    let run = run_in(folder, &["fmt", page, "-o", "json"]);
    assert_code(&run, 0);
    let page: Value = serde_json::from_str(&run.stdout).unwrap();
    page["needs"].as_array().unwrap().clone()
}

/// Returns the rights that requests in a cluster needed and that no need declares. `own` is the namespace of a need in the
/// management cluster that names none.
pub(super) fn undeclared(needs: &[Value], cluster: &str, own: &str, entries: &[Entry]) -> BTreeSet<Right> {
    let declares = |need: &Value, right: &Right| {
        let is_here = match (need["namespace"].as_str(), cluster) {
            (Some(namespace), "guest") => right.namespace == namespace,
            (None, "guest") => true,
            _ => right.namespace == own,
        };
        let mut rules = need["rules"].as_array().into_iter().flatten();
        need["cluster"] == cluster && is_here && rules.any(|rule| right.is_granted_by(rule))
    };
    let rights = entries.iter().map(Right::of);
    rights.filter(|right| !needs.iter().any(|need| declares(need, right))).collect()
}
