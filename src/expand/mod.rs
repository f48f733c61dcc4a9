//! Evaluates pages and fragments for one profile: fills in values, adds the manifests of fragments, and collects the
//! contributions of additions. Contributions are merged later, in `transform`.

mod built_in;
mod contributions;
mod fragment_walk;
mod inputs;
mod manifests;
mod name_check;
mod patches;
mod pod_context;
mod reload_targets;
mod variables;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::language::{Parameters, Profile, Profiles};
use crate::object::{ObjectId, Schema, Scopes, SensitiveTexts};
use crate::payload::Payload;
use crate::yaml::Sources;

pub(crate) use contributions::{
    Contribution, ContributionTarget, contributions_for_intent, intent_rules, may_add,
};
pub(crate) use manifests::{Expanded, FragmentPlacement, expand};
pub(crate) use name_check::check_names;
pub(crate) use patches::patches;
pub(crate) use pod_context::{PodContext, policy_uses_bindings, policy_uses_config};
pub(crate) use reload_targets::{may_reload, mentions};
pub(crate) use variables::{ContainerScope, Variables, Workload};

/// The input of a rendering.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The payload.
    pub(crate) payload: &'a Arc<Payload>,
    /// The profiles and the fragments.
    pub(crate) profiles: &'a Profiles,
    /// The values of all parameters.
    pub(crate) parameters: &'a Parameters,
    /// All files that were read.
    pub(crate) sources: &'a Sources,
    /// Whether objects record their history, for `explain`.
    pub(crate) recording: bool,
}

/// The context of one profile.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    /// The input of the rendering.
    pub(crate) context: Context<'a>,
    /// The profile.
    pub(crate) profile: &'a Profile,
    /// The payload with values filled in and with the manifests of fragments.
    pub(crate) payload: Arc<Payload>,
    /// The manifests that the profile leaves out and that have the same kind and name as another manifest.
    pub(crate) left_out: Arc<BTreeSet<ManifestId>>,
    /// The components whose operators are in the topology. What they own is left to them.
    pub(crate) operators: Arc<BTreeSet<String>>,
}

/// The file and the document of a manifest.
pub(crate) type ManifestId = (usize, usize);

impl<'a> Context<'a> {
    /// Returns the context of a profile.
    pub(crate) fn view(&self, profile: &'a Profile) -> View<'a> {
        let payload = Arc::clone(self.payload);
        View { context: *self, profile, payload, left_out: Arc::default(), operators: Arc::default() }
    }

    /// Returns the values of secret parameters.
    pub(crate) fn secrets(&self) -> SensitiveTexts {
        SensitiveTexts::of(self.parameters.sensitive())
    }
}

impl View<'_> {
    /// Returns the scopes of all known kinds: of Kubernetes, of CRDs in the payload, and of `Checks` files.
    pub(crate) fn scopes(&self) -> Scopes {
        let mut scopes = self.payload.scopes();
        for ((group, kind), declared) in &self.context.profiles.checks.kinds {
            scopes.declare(group, kind, declared.entry.scope);
        }
        scopes
    }

    /// Returns the schema of an object, or `None` if its kind is not known.
    pub(crate) fn schema(&self, id: &ObjectId, api_version: &str) -> Option<Schema<'_>> {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        Schema::built_in(api_version, &id.kind)
            .or_else(|| self.payload.custom_schema(id, version))
            .or_else(|| self.declared_schema(id))
    }

    /// Returns the schema of a kind that a `Checks` file declares.
    fn declared_schema(&self, id: &ObjectId) -> Option<Schema<'_>> {
        let kinds = &self.context.profiles.checks.kinds;
        let declared = kinds.get(&(id.group.clone(), id.kind.clone()))?;
        Some(Schema::CustomRoot(&declared.schema))
    }
}
