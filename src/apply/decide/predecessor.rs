//! The manager that an object had before, as the inventory records it.

use std::fmt;

use crate::apply::decide::url_segment::{escape, unescape};

/// The manager that an object had before transship took it over. `delete --orphan` gives the fields back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predecessor {
    /// Its field manager.
    pub(crate) manager: String,
    /// Whether it used server-side apply, and not update requests.
    pub(crate) applies: bool,
}

impl Predecessor {
    /// Returns the operation of its entries in the managed fields.
    pub(crate) fn operation(&self) -> &'static str {
        if self.applies { "Apply" } else { "Update" }
    }

    /// Says that an apply takes an object over.
    pub(crate) fn describe_takeover(&self) -> String {
        format!("is taken over from {}", self.manager)
    }

    /// Reads what [`fmt::Display`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (operation, manager) = text.split_once(':')?;
        let applies = match operation {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        Some(Self { manager: unescape(manager)?, applies })
    }
}

impl fmt::Display for Predecessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.operation(), escape(&self.manager))
    }
}

#[cfg(test)]
mod tests {
    use super::Predecessor;

    #[test]
    fn a_predecessor_is_read_as_it_is_written() {
        for (manager, applies, text) in [
            ("cluster-version-operator", true, "Apply:cluster-version-operator"),
            ("some tool, 1", false, "Update:some%20tool%2C%201"),
        ] {
            let predecessor = Predecessor { manager: manager.to_owned(), applies };
            assert_eq!(predecessor.to_string(), text);
            assert_eq!(Predecessor::parse(text), Some(predecessor));
        }
        for text in ["", "Apply", "Apply:", "Patch:cvo", "Update:a b"] {
            assert_eq!(Predecessor::parse(text), None, "{text}");
        }
    }
}
