//! What pages and fragments say, written out for one profile: values put in, the manifests of shapes beside a
//! component's own, and what every use of a fragment contributes. Nothing is merged here yet.

mod pod_context;
mod name_check;
mod contributions;
mod manifests;
mod scope;
mod fragment_walk;

use crate::object::{ObjectId, Scopes, Shape};
use crate::payload::Payload;
use crate::language::{Parameters, Profile, Profiles};
use crate::yaml::Sources;

pub use pod_context::{Around, mentions};
pub use name_check::check_names;
pub use contributions::{Contribution, Target, brings, honouring, honours};
pub use manifests::{Expanded, Says, expand};
pub use scope::{Names, Workload};

/// Everything that a rendering is a function of.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The payload.
    pub payload: &'a Payload,
    /// The profiles and the fragments.
    pub profiles: &'a Profiles,
    /// The values of all parameters.
    pub parameters: &'a Parameters,
    /// The names of all files.
    pub sources: &'a Sources,
    /// Whether objects keep what each step made of them.
    pub recording: bool,
}

/// What one profile sees of it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The payload, as this profile sees it.
    pub payload: &'a Payload,
    /// The profile.
    pub profile: &'a Profile,
    /// The other profiles, and the fragments.
    pub profiles: &'a Profiles,
    /// The values of all parameters.
    pub parameters: &'a Parameters,
    /// The names of all files.
    pub sources: &'a Sources,
    /// Whether objects keep what each step made of them.
    pub recording: bool,
}

impl<'a> Context<'a> {
    /// What a profile sees.
    pub fn view(&self, profile: &'a Profile) -> View<'a> {
        View {
            payload: self.payload,
            profile,
            profiles: self.profiles,
            parameters: self.parameters,
            sources: self.sources,
            recording: self.recording,
        }
    }
}

impl View<'_> {
    /// What is known about the scope of kinds: from Kubernetes, from the payload's CRDs, and declared.
    pub fn scopes(&self) -> Scopes {
        let mut scopes = self.payload.scopes();
        for ((group, kind), declared) in &self.profiles.checks.kinds {
            scopes.declare(group, kind, declared.entry.scope);
        }
        scopes
    }

    /// What is known about the fields of an object; nothing if nobody knows its kind.
    pub fn shape(&self, id: &ObjectId, api_version: &str) -> Option<Shape<'_>> {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let declared = || self.profiles.checks.kinds.get(&(id.group.clone(), id.kind.clone()));
        Shape::built_in(api_version, &id.kind)
            .or_else(|| self.payload.custom_shape(id, version))
            .or_else(|| declared().map(|declared| Shape::CustomRoot(&declared.schema)))
    }
}
