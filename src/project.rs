//! Everything there is to work with, loaded and put together.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::expand::{self, Context};
use crate::language::{DEFAULT_SET, ParameterSet, Parameters, Profiles, ValueSources};
use crate::log;
use crate::payload::Payload;
use crate::yaml::Sources;

/// A payload and its profiles, with a value for every parameter.
pub struct Project {
    /// The payload.
    pub payload: Arc<Payload>,
    /// The profiles, with everything beside them.
    pub profiles: Profiles,
    /// The values of parameters.
    pub parameters: Parameters,
    /// All files that were read.
    pub sources: Sources,
}

impl Project {
    /// The folder of a project, with the values of its default set.
    pub fn load(folder: &Path) -> Result<Self, Diagnostics> {
        let payload = Payload::load(&folder.join("payload"));
        let (payload, profiles) = Self::fit(payload, Profiles::load(&folder.join("profiles")))?;
        let set = profiles.sets.get(DEFAULT_SET).cloned().unwrap_or_default();
        Self::new(payload, profiles, &set, ValueSources::default())
    }

    /// A payload and the profiles for it; what is wrong with either is told at once.
    pub fn fit(
        payload: Result<Payload, Diagnostics>,
        profiles: Result<Profiles, Diagnostics>,
    ) -> Result<(Payload, Profiles), Diagnostics> {
        match (payload, profiles) {
            (Ok(mut payload), Ok(profiles)) => {
                payload.adopt(&profiles)?;
                Ok((payload, profiles))
            }
            (payload, profiles) => {
                let errors = payload.err().into_iter().chain(profiles.err()).flat_map(|errors| errors.0);
                Err(Diagnostics(errors.collect()))
            }
        }
    }

    /// A payload and its profiles, with values from a set and from whoever asks.
    pub fn new(
        payload: Payload,
        mut profiles: Profiles,
        set: &ParameterSet,
        given: ValueSources<'_>,
    ) -> Result<Self, Diagnostics> {
        let parameters = profiles.bind(set, given, &payload.private_parameters())?;
        let sources = payload.sources.and(&profiles.sources);
        let project = Self { payload: Arc::new(payload), profiles, parameters, sources };
        expand::check_names(&project.context())?;
        log::loaded(&project);
        Ok(project)
    }

    /// What rendering needs to know.
    pub fn context(&self) -> Context<'_> {
        Context {
            payload: &self.payload,
            profiles: &self.profiles,
            parameters: &self.parameters,
            sources: &self.sources,
            recording: false,
        }
    }
}
