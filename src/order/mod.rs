//! In which order objects are applied: the cluster-version-operator's run-levels.
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
    /// The objects: applied one after the other in this order, everything is there in time.
    pub objects: Vec<Object>,
    /// What may go on at once. Each stage waits for all of the one before it.
    pub stages: Vec<Stage>,
    /// The namespace that the profile puts its objects into, where it does.
    pub namespace: Option<String>,
    /// What is worth a look though nothing is wrong.
    pub warnings: Vec<Diagnostic>,
}

impl Plan {
    /// The plan for the objects of one component.
    #[must_use]
    pub fn only(self, component: &str) -> Self {
        let mut objects = self.objects;
        objects.retain(|object| object.component == component);
        Self { stages: stages(&objects), objects, ..self }
    }
}

/// Chunks that may be applied at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The chunks.
    pub chunks: Vec<Chunk>,
}

/// Objects of one component and run-level, applied one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Which of the plan's objects.
    pub objects: Range<usize>,
    /// The digits of the run-level, where the file's name has one.
    pub run_level: Option<String>,
}

/// Orders the objects of a profile by run level. They arrive in the order of the payload: by file, then by document.
pub fn plan(rendered: Rendered<'_>) -> Plan {
    let Rendered { view, objects, namespace, warnings } = rendered;
    Plan { profile: view.profile.name.clone(), stages: stages(&objects), objects, namespace, warnings }
}

/// The order of an update: one run-level after the other, the components of a level at once. A Job is a barrier:
/// nothing moves across it. A file without a run-level is applied alone, and splits its level.
fn stages(objects: &[Object]) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    let mut last: Option<(RunLevel<'_>, bool)> = None;
    for (index, object) in objects.iter().enumerate() {
        let job = is_job(object);
        let level = RunLevel::of(&object.ordered_as);
        let joins = match (last, level) {
            (Some((last, was_job)), Some(level)) if !job && !was_job => last.number == level.number,
            _ => false,
        };
        let same_component =
            joins && last.map(|(last, _)| last.component) == level.map(|level| level.component);
        let chunk =
            Chunk { objects: index..index + 1, run_level: level.map(|level| level.number.to_owned()) };
        match stages.last_mut() {
            Some(stage) if same_component => extend(stage),
            Some(stage) if joins => stage.chunks.push(chunk),
            _ => stages.push(Stage { chunks: vec![chunk] }),
        }
        last = level.map(|level| (level, job));
    }
    stages
}

fn extend(stage: &mut Stage) {
    if let Some(chunk) = stage.chunks.last_mut() {
        chunk.objects.end += 1;
    }
}

fn is_job(object: &Object) -> bool {
    object.id.group == "batch" && object.id.kind == "Job"
}
