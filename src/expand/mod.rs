//! What pages and fragments say, written out for one profile: values put in, the manifests of shapes beside a
//! component's own, and what every use of a fragment contributes. Nothing is merged here yet.

mod contributions;
mod fragment_walk;
mod manifests;
mod name_check;
mod pod_context;
mod variables;

use std::sync::Arc;

use crate::language::{Parameters, Profile, Profiles};
use crate::object::{ObjectId, Schema, Scopes};
use crate::payload::Payload;
use crate::yaml::Sources;

pub use contributions::{Contribution, ContributionTarget, brings, contributions_for_intent, intent_rules};
pub use manifests::{Expanded, FragmentPlacement, expand};
pub use name_check::check_names;
pub use pod_context::{PodContext, mentions};
pub use variables::{Variables, Workload};

/// Everything that a rendering is a function of.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The payload.
    pub payload: &'a Arc<Payload>,
    /// The profiles and the fragments.
    pub profiles: &'a Profiles,
    /// The values of all parameters.
    pub parameters: &'a Parameters,
    /// The names of all files.
    pub sources: &'a Sources,
    /// Whether objects keep what each step made of them.
    pub recording: bool,
}

/// What one profile sees of the context.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The input of the rendering.
    pub context: Context<'a>,
    /// The profile.
    pub profile: &'a Profile,
    /// The payload as this profile sees it: with values filled in, and with the manifests of fragments.
    pub payload: Arc<Payload>,
}

impl<'a> Context<'a> {
    /// What a profile sees.
    pub fn view(&self, profile: &'a Profile) -> View<'a> {
        View { context: *self, profile, payload: Arc::clone(self.payload) }
    }
}

impl View<'_> {
    /// What is known about the scope of kinds: from Kubernetes, from the payload's CRDs, and declared.
    pub fn scopes(&self) -> Scopes {
        let mut scopes = self.payload.scopes();
        for ((group, kind), declared) in &self.context.profiles.checks.kinds {
            scopes.declare(group, kind, declared.entry.scope);
        }
        scopes
    }

    /// What is known about the fields of an object; nothing if nobody knows its kind.
    pub fn schema(&self, id: &ObjectId, api_version: &str) -> Option<Schema<'_>> {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let declared = || self.context.profiles.checks.kinds.get(&(id.group.clone(), id.kind.clone()));
        Schema::built_in(api_version, &id.kind)
            .or_else(|| self.payload.custom_schema(id, version))
            .or_else(|| declared().map(|declared| Schema::CustomRoot(&declared.schema)))
    }
}
