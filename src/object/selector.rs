//! The grammar with which files and flags name objects: `Kind`, `Kind/name` and `Kind/namespace/name`, each with an optional
//! group after the kind, as in `Deployment.apps/web`.

use std::fmt;
use std::str::FromStr;

use super::ObjectId;
use crate::glob;

/// Names one object, or all objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selector {
    /// The kind.
    pub(crate) kind: String,
    /// The API group; without it, any group.
    pub(crate) group: Option<String>,
    /// The namespace; without it, any namespace.
    pub(crate) namespace: Option<String>,
    /// The name; without it, all objects of the kind.
    pub(crate) name: Option<String>,
}

/// A text that is not a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorError {
    /// The kind does not start with an upper-case letter, or has other characters than letters and digits.
    Kind,
    /// The group, the namespace or the name is empty.
    Empty,
    /// There are more than two `/`.
    TooManySegments,
    /// The name is missing where a kind alone is not enough.
    NoName,
}

impl SelectorError {
    /// Returns how to write a selector, for the help of a message.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::NoName => "write `Kind/name` or `Kind.group/namespace/name`, such as Secret/pull-secret",
            _ => {
                "write `Kind`, `Kind/name` or `Kind.group/namespace/name`, such as Deployment/csi-snapshot-controller"
            }
        }
    }

    /// Returns the problem, for the message itself.
    pub(crate) fn problem(self) -> &'static str {
        match self {
            Self::Kind => "a kind starts with an upper-case letter and has only letters and digits",
            Self::Empty => "the group, the namespace or the name is empty",
            Self::TooManySegments => "it has more than two `/`",
            Self::NoName => "it has no name",
        }
    }
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem(), self.help())
    }
}

impl std::error::Error for SelectorError {}

impl Selector {
    /// Returns whether an object is selected.
    pub(crate) fn matches(&self, id: &ObjectId) -> bool {
        self.kind == id.kind
            && self.group.as_ref().is_none_or(|group| *group == id.group)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == id.namespace)
            && self.name.as_ref().is_none_or(|name| *name == id.name)
    }

    /// Reads a selector that must have a name.
    pub(crate) fn parse_with_name(text: &str) -> Result<Self, SelectorError> {
        let selector: Self = text.parse()?;
        if selector.name.is_none() {
            return Err(SelectorError::NoName);
        }
        Ok(selector)
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut segments = text.split('/');
        let kind_and_group = segments.next().unwrap_or_default();
        let (namespace, name) = match (segments.next(), segments.next()) {
            (name, None) => (None, name),
            (namespace, name) => (namespace, name),
        };
        if segments.next().is_some() {
            return Err(SelectorError::TooManySegments);
        }
        let (kind, group) = match kind_and_group.split_once('.') {
            Some((kind, group)) => (kind, Some(group)),
            None => (kind_and_group, None),
        };
        let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_kind {
            return Err(SelectorError::Kind);
        }
        if [group, namespace, name].contains(&Some("")) {
            return Err(SelectorError::Empty);
        }
        Ok(Self {
            kind: kind.to_owned(),
            group: group.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(group) = &self.group {
            write!(f, ".{group}")?;
        }
        for segment in [&self.namespace, &self.name].into_iter().flatten() {
            write!(f, "/{segment}")?;
        }
        Ok(())
    }
}

/// A selector with a name, in which `*` in the namespace and in the name matches any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectorPattern(Selector);

impl SelectorPattern {
    /// Returns whether an object is selected, given the parts of its identity.
    pub(crate) fn matches(&self, kind: &str, group: &str, namespace: &str, name: &str) -> bool {
        self.matches_some(kind, group, namespace)
            && self.0.name.as_ref().is_none_or(|pattern| glob::matches(pattern, name))
    }

    /// Returns whether some object of a kind in a namespace can be selected, whatever its name is.
    pub(crate) fn matches_some(&self, kind: &str, group: &str, namespace: &str) -> bool {
        self.0.kind == kind
            && self.0.group.as_ref().is_none_or(|own| own == group)
            && self.0.namespace.as_ref().is_none_or(|pattern| glob::matches(pattern, namespace))
    }
}

impl FromStr for SelectorPattern {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Selector::parse_with_name(text).map(Self)
    }
}

impl fmt::Display for SelectorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{ObjectId, Selector, SelectorError, SelectorPattern};

    fn parts(text: &str) -> (String, Option<String>, Option<String>, Option<String>) {
        let Selector { kind, group, namespace, name } = text.parse().unwrap();
        (kind, group, namespace, name)
    }

    #[test]
    fn reads_kind_group_namespace_and_name() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("Secret"), ("Secret".to_owned(), None, None, None));
        assert_eq!(parts("Secret/a"), ("Secret".to_owned(), None, None, some("a")));
        assert_eq!(parts("Deployment.apps"), ("Deployment".to_owned(), some("apps"), None, None));
        assert_eq!(
            parts("Deployment.apps/ns/web.v1"),
            ("Deployment".to_owned(), some("apps"), some("ns"), some("web.v1"))
        );
    }

    #[test]
    fn is_displayed_as_it_is_written() {
        for text in ["Secret", "Secret/a", "Secret/ns/a", "Deployment.apps", "Deployment.apps/ns/web"] {
            assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, error) in [
            ("", SelectorError::Kind),
            ("secret/a", SelectorError::Kind),
            ("Se cret", SelectorError::Kind),
            ("Secret/", SelectorError::Empty),
            ("Secret//a", SelectorError::Empty),
            ("Secret./a", SelectorError::Empty),
            ("Secret/a/b/c", SelectorError::TooManySegments),
        ] {
            assert_eq!(text.parse::<Selector>(), Err(error), "{text}");
        }
        assert_eq!("Secret".parse::<SelectorPattern>(), Err(SelectorError::NoName));
    }

    #[test]
    fn what_is_left_out_matches_anything() {
        let id = ObjectId {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "ns".to_owned(),
            name: "web".to_owned(),
        };
        for text in ["Deployment", "Deployment.apps", "Deployment/web", "Deployment.apps/ns/web"] {
            assert!(text.parse::<Selector>().unwrap().matches(&id), "{text}");
        }
        for text in ["Service", "Deployment.batch", "Deployment/we*", "Deployment/other/web"] {
            assert!(!text.parse::<Selector>().unwrap().matches(&id), "{text}");
        }
        let pattern: SelectorPattern = "Deployment/n*/w*".parse().unwrap();
        assert!(pattern.matches("Deployment", "apps", "ns", "web"));
        assert!(!pattern.matches("Deployment", "apps", "other", "web"));
    }
}
