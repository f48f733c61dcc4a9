//! The revisions of an object during rendering, with which `explain` finds the line that set a field. Revisions share the
//! parts of their trees that did not change, so recording them is cheap.

use super::mask;
use crate::yaml::{Mark, Node};

/// The revisions of an object, if they are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(Option<Vec<Revision>>);

/// An object after a change.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    /// Why the object changed.
    pub(crate) cause: Cause,
    /// The object after the change.
    pub(crate) root: Node,
}

/// Why an object changed. A mark is the line that asked for the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The manifest was read.
    Manifest,
    /// The images and the version of the release were inserted.
    Release,
    /// An addition of a page or a fragment.
    Addition {
        /// The addition.
        addition: Mark,
        /// The uses of fragments that lead to the addition, the page's first.
        uses: Vec<Mark>,
    },
    /// An intent of the object was handled.
    Intent {
        /// The entry of `intents` that decides how.
        rule: Mark,
        /// The field or annotation with the intent.
        field: Mark,
    },
    /// A declaration became an issued Secret.
    Issued,
    /// A rule of the profile's policy.
    Policy(Mark),
    /// A patch of the page.
    Patch(Mark),
    /// The namespace of the profile.
    Namespace(Mark),
    /// An entry of `moved`: the object lives in the other cluster now, and this is its tombstone.
    Moved(Mark),
    /// A pin of the profile.
    Pin(Mark),
    /// Annotations were removed: those that match `strip`, and those for transship itself.
    Strip,
}

impl History {
    /// Creates a history that records revisions, or one that ignores them.
    pub(crate) fn new(recording: bool) -> Self {
        Self(recording.then(Vec::new))
    }

    /// Records a revision.
    pub(crate) fn record(&mut self, root: &Node, cause: impl FnOnce() -> Cause) {
        if let Some(revisions) = &mut self.0 {
            let mut root = root.clone();
            // `explain` shows the values of all revisions.
            mask::protect_secret(&mut root);
            revisions.push(Revision { cause: cause(), root });
        }
    }

    /// Returns the revisions, the oldest first; none if they are not recorded.
    pub(crate) fn revisions(&self) -> &[Revision] {
        self.0.as_deref().unwrap_or_default()
    }
}
