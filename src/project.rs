//! A project: a payload and its profiles, loaded together with values for parameters.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{self, Context};
use crate::language::{DEFAULT_SET, ParameterSet, Parameters, Profile, Profiles, ValueSources, template};
use crate::log;
use crate::payload::Payload;
use crate::yaml::Sources;

/// A payload and its profiles, with a value for every parameter.
pub struct Project {
    /// The payload.
    pub payload: Arc<Payload>,
    /// The profiles, fragments and everything else in the profiles folder.
    pub profiles: Profiles,
    /// The values of all parameters.
    pub(crate) parameters: Parameters,
    /// All files that were read.
    pub(crate) sources: Sources,
}

impl Project {
    /// Loads the folders `payload` and `profiles` of a project, with the default parameter set.
    pub fn load(folder: &Path) -> Result<Self, Diagnostics> {
        let payload = Payload::load(&folder.join("payload"));
        let (payload, profiles) = Self::fit(payload, Profiles::load(&folder.join("profiles")))?;
        let set = profiles.sets.get(DEFAULT_SET).cloned().unwrap_or_default();
        Self::new(payload, profiles, &set, ValueSources::default())
    }

    /// Combines a payload with its profiles. Reports the errors of both.
    pub(crate) fn fit(
        payload: Result<Payload, Diagnostics>,
        profiles: Result<Profiles, Diagnostics>,
    ) -> Result<(Payload, Profiles), Diagnostics> {
        match (payload, profiles) {
            (Ok(mut payload), Ok(profiles)) => {
                payload.add_pages(&profiles)?;
                Ok((payload, profiles))
            }
            (payload, profiles) => {
                let mut errors = payload.err().unwrap_or_default();
                errors.append(profiles.err().unwrap_or_default());
                Err(errors)
            }
        }
    }

    /// Gives the parameters of a payload and its profiles their values, and checks all names.
    pub(crate) fn new(
        mut payload: Payload,
        mut profiles: Profiles,
        set: &ParameterSet,
        given: ValueSources<'_>,
    ) -> Result<Self, Diagnostics> {
        let parameters = profiles.bind(set, given, &payload.page_parameters(), payload.version())?;
        for (tag, pullspec) in parameters.images() {
            payload.supply_image(tag, pullspec);
        }
        let sources = payload.sources.and(&profiles.sources);
        let mut project = Self { payload: Arc::new(payload), profiles, parameters, sources };
        expand::check_names(&project.context())?;
        project.profiles.fill_select(&project.parameters, &project.sources)?;
        log::loaded(&project.payload, &project.profiles);
        Ok(project)
    }

    /// Returns the digest of everything that a render depends on: the payload, the pages, the patches, the images, the
    /// profiles, the fragments, the parameters and the version of transship. The values of secret parameters do not count.
    pub fn render_digest(&self) -> String {
        self.context().render_digest().to_string()
    }

    /// Fails if a parameter that chooses the hosted control plane has only a default value. A command that writes must not
    /// choose it by accident.
    pub(crate) fn require_hosted_control_plane(&self, profiles: &[&Profile]) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for namespace in profiles.iter().filter_map(|profile| profile.namespace.as_ref()) {
            for name in template::names_in(&namespace.value) {
                if self.profiles.declares(&name) && !self.parameters.is_given(&name) {
                    let message =
                        format!("the parameter `{name}` is not set, and it chooses the hosted control plane");
                    errors.0.push(
                        Diagnostic::error(message)
                            .at(Location::of(namespace.mark, &self.sources))
                            .note("its default is for `render` only")
                            .help(format!("pass --set {name}=…, --params or --hosted-control-plane")),
                    );
                }
            }
        }
        errors.into_result(())
    }

    /// Returns the input of a rendering.
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
