//! The order in which objects are applied: by run level, as the cluster-version-operator does.
//!
//! ```text
//!  0000_10_a_…  0000_10_b_…  0000_20_a_…  Job  0000_20_a_…
//!  └── stage 1: a ∥ b ────┘  └ stage 2 ┘ └ 3 ┘ └ stage 4 ┘
//! ```

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::object::Object;
use crate::payload::RunLevel;
use crate::transform::Rendered;

/// The objects of one profile in the order in which they are written and applied.
#[derive(Debug)]
pub struct Plan {
    /// The name of the profile.
    pub profile: String,
    /// The objects, in an order in which they can be applied one after the other.
    pub objects: Vec<Object>,
    /// The stages. Each stage starts when the stage before it is complete.
    pub stages: Vec<Stage>,
    /// The namespace of the profile, if it has one.
    pub namespace: Option<String>,
    /// The namespace of the hosted control plane, if the topology has one.
    pub hosted_control_plane: Option<String>,
    /// Warnings about the objects.
    pub warnings: Vec<Diagnostic>,
}

impl Plan {
    /// Returns the stage of an object, by its index.
    pub(crate) fn stage_of(&self, object: usize) -> Option<usize> {
        let has = |stage: &Stage| stage.chunks.iter().any(|chunk| chunk.objects.contains(&object));
        self.stages.iter().position(has)
    }

    /// Returns the plan for the objects of one component.
    #[must_use]
    pub fn only(self, component: &str) -> Self {
        self.filtered(|object| object.component == component)
    }

    /// Returns the plan for some of its objects.
    pub(crate) fn filtered(mut self, keep: impl Fn(&Object) -> bool) -> Self {
        self.objects.retain(keep);
        self.stages = stages(&self.objects);
        self
    }
}

/// Chunks that can be applied at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The chunks.
    pub chunks: Vec<Chunk>,
}

/// Objects of one component and run level, which are applied one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The indices of the objects in [`Plan::objects`].
    pub objects: Range<usize>,
    /// The digits of the run level, if the file name has one.
    pub run_level: Option<String>,
}

/// Orders the objects of a profile by run level. Expects them in the order of the payload: by file, then by document.
pub(crate) fn plan(rendered: Rendered<'_>) -> Plan {
    let Rendered { view, objects, namespace, hosted_control_plane, warnings, .. } = rendered;
    let (profile, stages) = (view.profile.name.clone(), stages(&objects));
    Plan { profile, objects, stages, namespace, hosted_control_plane, warnings }
}

/// Groups objects into stages.
///
/// The components of a run level are in the same stage. A Job is a stage of its own, and nothing is moved across it. So is
/// a file without a run level.
fn stages(objects: &[Object]) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    // The run level of the last stage, if more objects can join it.
    let mut open: Option<RunLevel<'_>> = None;
    for (index, object) in objects.iter().enumerate() {
        let run_level = RunLevel::of(&object.ordered_as);
        let level = if is_job(object) { None } else { run_level };
        let chunk =
            Chunk { objects: index..index + 1, run_level: run_level.map(|level| level.number.to_owned()) };
        match (stages.last_mut(), open, level) {
            (Some(stage), Some(open), Some(level)) if open == level => stage.extend_last_chunk(),
            (Some(stage), Some(open), Some(level)) if open.number == level.number => {
                stage.chunks.push(chunk);
            }
            _ => stages.push(Stage { chunks: vec![chunk] }),
        }
        open = level;
    }
    stages
}

impl Stage {
    /// Adds the next object to the last chunk.
    fn extend_last_chunk(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.objects.end += 1;
        }
    }
}

fn is_job(object: &Object) -> bool {
    object.id.group == "batch" && object.id.kind == "Job"
}
