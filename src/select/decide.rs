//! What a profile takes in: the cluster-version-operator's filters, what pages and profiles leave out, and where the
//! rest lives.

use super::{Code, Reason, by, check, some};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::glob;
use crate::nearest::nearest;
use crate::object::{Cluster, Scope, Scopes};
use crate::payload::{Manifest, Payload};
use crate::profile::template::Scope as Names;
use crate::profile::{Component, Omissions, Place, Profile, Selector, unmet};
use crate::yaml::{Mark, Sources};

/// For each manifest, nothing if the profile takes it in, or the reason why not.
pub fn decide(
    payload: &Payload,
    profile: &Profile,
    parameters: &dyn Names,
    sources: &Sources,
) -> Result<Vec<Option<Reason>>, Diagnostics> {
    check(&profile.select, payload)?;
    let mut errors = Diagnostics::default();
    let mut out = by(&profile.select, payload);
    let decider = Decider { payload, profile, parameters, sources, scopes: payload.scopes() };
    for (manifest, reason) in payload.manifests.iter().zip(&mut out) {
        if reason.is_none() {
            match decider.omitted(manifest).and_then(|omitted| Ok(omitted.or(decider.elsewhere(manifest)?))) {
                Ok(found) => *reason = found,
                Err(error) => errors.0.push(error),
            }
        }
    }
    decider.report_idle(&mut errors);
    errors.or(())?;
    some(&out, &format!("the profile `{}`", profile.name))?;
    Ok(out)
}

struct Decider<'a> {
    payload: &'a Payload,
    profile: &'a Profile,
    parameters: &'a dyn Names,
    sources: &'a Sources,
    scopes: Scopes,
}

impl Decider<'_> {
    fn page(&self, manifest: &Manifest) -> Option<&Component> {
        self.payload.page(&self.payload.file(manifest).component)
    }

    fn omitted(&self, manifest: &Manifest) -> Result<Option<Reason>, Diagnostic> {
        if let Some(page) = self.page(manifest) {
            let file = self.payload.file(manifest).name();
            if let Some((_, reason)) = page.ignore.iter().find(|(pattern, _)| glob::matches(pattern, file)) {
                return Ok(omitted(&reason.value));
            }
            if let Some(why) = unmet(&page.when, self.parameters, self.sources)? {
                return Ok(omitted(&format!("the component does not exist: {why}")));
            }
            if let Some(reason) = self.by_list(&page.omit, manifest)? {
                return Ok(Some(reason));
            }
        }
        self.by_list(&self.profile.omit, manifest)
    }

    fn by_list(&self, omissions: &Omissions, manifest: &Manifest) -> Result<Option<Reason>, Diagnostic> {
        for (selector, omission) in &omissions.0 {
            let concerned = selector.value.matches(&manifest.id) && self.profile.is_in(&omission.profiles);
            if concerned && unmet(&omission.when, self.parameters, self.sources)?.is_none() {
                return Ok(omitted(&omission.reason));
            }
        }
        Ok(None)
    }

    /// Why an object is not in this profile's cluster. In a standalone cluster everything is.
    fn elsewhere(&self, manifest: &Manifest) -> Result<Option<Reason>, Diagnostic> {
        if self.profile.cluster == Cluster::Both {
            return Ok(None);
        }
        let home = self.home(manifest)?;
        let here = home == Cluster::Both || home == self.profile.cluster;
        Ok(if here { None } else { omitted(&format!("it lives in the {} cluster", home.name())) })
    }

    /// Where an object lives: cluster-scoped ones in the guest by law, others where their page says.
    fn home(&self, manifest: &Manifest) -> Result<Cluster, Diagnostic> {
        let no_place = Place::default();
        let place = self.page(manifest).and_then(|page| page.place.as_ref()).unwrap_or(&no_place);
        let entries = place.of(&manifest.id);
        let cluster_scoped = self.scopes.of(&manifest.id.group, &manifest.id.kind) == Some(Scope::Cluster);
        match entries[..] {
            [] if cluster_scoped => Ok(Cluster::Guest),
            [(entry, cluster)] if cluster_scoped && cluster != Cluster::Guest => Err(self
                .error(
                    entry.mark,
                    "a cluster-scoped object cannot be in a hosted control plane's namespace",
                    manifest,
                )
                .help("cluster-scoped objects are in the guest, and need no entry")),
            [(_, cluster)] => Ok(cluster),
            [] => Err(self
                .error(manifest.root.mark, "nobody says in which cluster this object lives", manifest)
                .help(format!(
                    "name `{}/{}` or its kind under `place` in {}",
                    manifest.id.kind,
                    manifest.id.name,
                    self.payload.page_file(&self.payload.file(manifest).component)
                ))),
            [(first, _), (second, _), ..] => Err(self
                .error(second.mark, "two entries of `place` decide about one object", manifest)
                .note(format!("the other is at {}", self.sources.show(first.mark)))
                .help("name it under `both` if it is in both clusters")),
        }
    }

    fn error(&self, mark: Mark, message: &str, manifest: &Manifest) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(mark, self.sources)).object(&manifest.id)
    }

    /// Entries that mean no manifest at all are mistakes, in whatever profile.
    fn report_idle(&self, errors: &mut Diagnostics) {
        for (component, page) in &self.payload.pages {
            let own: Vec<&Manifest> = self
                .payload
                .manifests
                .iter()
                .filter(|manifest| self.payload.file(manifest).component == *component)
                .collect();
            let place = page.place.iter().flat_map(Place::entries).map(|(entry, _)| entry);
            for entry in place.chain(page.omit.0.iter().map(|(selector, _)| selector)) {
                self.report_if_idle(&entry.value, entry.mark, &own, errors);
            }
            for (pattern, reason) in &page.ignore {
                if !own.iter().any(|manifest| glob::matches(pattern, self.payload.file(manifest).name())) {
                    let error = Diagnostic::error(format!("no file of the component matches `{pattern}`"));
                    errors.0.push(error.at(Location::of(reason.mark, self.sources)).help("remove the entry"));
                }
            }
        }
        let all: Vec<&Manifest> = self.payload.manifests.iter().collect();
        for (selector, _) in &self.profile.omit.0 {
            self.report_if_idle(&selector.value, selector.mark, &all, errors);
        }
    }

    fn report_if_idle(
        &self,
        selector: &Selector,
        mark: Mark,
        manifests: &[&Manifest],
        errors: &mut Diagnostics,
    ) {
        if manifests.iter().any(|manifest| selector.matches(&manifest.id)) {
            return;
        }
        let names: Vec<String> = manifests
            .iter()
            .flat_map(|manifest| {
                [manifest.id.kind.clone(), format!("{}/{}", manifest.id.kind, manifest.id.name)]
            })
            .collect();
        let error = Diagnostic::error(format!("there is no manifest for `{selector}`"))
            .at(Location::of(mark, self.sources));
        errors.0.push(match nearest(&selector.to_string(), names.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("remove the entry"),
        });
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is what a decision looks like")]
fn omitted(reason: &str) -> Option<Reason> {
    Some(Reason { code: Code::Omitted, message: reason.to_owned() })
}
