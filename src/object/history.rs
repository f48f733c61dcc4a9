//! What each step of a rendering made of an object. Trees share what they have in common, so keeping them is cheap.

use crate::yaml::{Mark, Node};

/// The steps, where somebody asked for them.
#[derive(Clone, Debug, Default)]
pub struct History(Option<Vec<Step>>);

/// What one step made of an object.
#[derive(Clone, Debug)]
pub struct Step {
    /// Why.
    pub cause: Cause,
    /// The object behind the step.
    pub root: Node,
}

/// Why an object changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was loaded so.
    Manifest,
    /// The images and the version of the release were put in.
    Release,
    /// A part of a page or fragment added to it.
    Addition {
        /// The part.
        part: Mark,
        /// The uses that led there.
        uses: Vec<Mark>,
    },
    /// A fact that was found in it was honoured by taking it away.
    Intent {
        /// The entry of `honours`.
        entry: Mark,
        /// Where the fact was found.
        found: Mark,
    },
    /// A declaration became a Secret.
    Issued,
    /// An entry of `every`.
    Policy(Mark),
    /// A patch.
    Patch(Mark),
    /// The profile's namespace.
    Namespace(Mark),
    /// It lives in the other cluster now; this is its tombstone.
    Left(Mark),
    /// A field that the profile holds.
    Pinned(Mark),
    /// A pattern of `strip`, or an annotation of ours.
    Strip,
}

impl History {
    /// A history that is kept, or none.
    pub fn new(recording: bool) -> Self {
        Self(recording.then(Vec::new))
    }

    /// Notes what a step made of an object.
    pub fn note(&mut self, root: &Node, cause: impl FnOnce() -> Cause) {
        if let Some(steps) = &mut self.0 {
            steps.push(Step { cause: cause(), root: root.clone() });
        }
    }

    /// The steps, in order; none if nobody asked for them.
    pub fn steps(&self) -> &[Step] {
        self.0.as_deref().unwrap_or_default()
    }
}
