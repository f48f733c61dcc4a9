//! The folder of profiles: profiles, parameters, what the checks are told, fragments, parameter sets, and pages for payloads that hold none.

use std::collections::BTreeMap;
use std::path::Path;

use super::checks::Checks;
use super::component::Component;
use super::fragment::{Fragment, FragmentFile, FragmentManifest, check_additions};
use super::parameter_sets::ParameterSet;
use super::parameters::{Parameter, ParametersFile};
use super::profile::{Profile, ProfileFile, lineage, resolve};
use super::read_folder::Found;
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::yaml::{Node, Sources};

/// All that a folder of profiles holds.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    all: Vec<Profile>,
    pub(super) declared: BTreeMap<String, Marked<Parameter>>,
    /// What the checks are told.
    pub checks: Checks,
    /// The fragments, by name.
    pub fragments: BTreeMap<String, Fragment>,
    /// Pages of components whose manifests cannot hold one.
    pub pages: Vec<Marked<Component>>,
    /// The parameter sets, by name. There is always one called `default`.
    pub sets: BTreeMap<String, ParameterSet>,
    /// The names of the files.
    pub sources: Sources,
}

/// Sources of profiles are numbered from here, so that they are never taken for those of a payload.
const FIRST_SOURCE: u32 = 1 << 24;

impl Profiles {
    /// Loads every file of a folder.
    pub fn load(folder: &Path) -> Result<Self, Diagnostics> {
        let mut sources = Sources::from(FIRST_SOURCE);
        let mut errors = Diagnostics::default();
        let found = Found::below(folder, &mut sources, &mut errors)?;
        let mut reader = Reader { sources: &sources, errors };
        let (mut files, mut declared, mut checks) = (Vec::new(), BTreeMap::new(), Checks::default());
        for node in &found.profiles {
            match node.get("kind").and_then(Node::as_str) {
                Some("Parameters") => declare(node, &mut declared, &mut reader),
                Some("Checks") => checks.learn(node, &mut reader),
                _ => files.extend(Marked::<ProfileFile>::read(node, &mut reader)),
            }
        }
        let fragments = define(found.fragments, &mut reader);
        let pages: Vec<Marked<Component>> =
            found.pages.iter().filter_map(|node| Marked::<Component>::read(node, &mut reader)).collect();
        for page in &pages {
            page.value.check(&mut reader);
        }
        report_twins(&files, &mut reader);
        for entry in files.iter().flat_map(|file| &file.value.policy) {
            entry.value.check(entry.mark, &mut reader);
        }
        for left in files.iter().flat_map(|file| file.value.seeds.iter().chain(&file.value.unmanaged)) {
            left.value.check(&mut reader);
        }
        all_profiles_are_covered(&fragments, &files, &mut reader);
        let concrete = files.iter().filter(|file| !file.value.is_abstract);
        let mut profiles: Vec<Profile> =
            concrete.filter_map(|file| resolve(file, &files, &mut reader)).collect();
        profiles.sort_by(|a, b| a.name.cmp(&b.name));
        let sets = ParameterSet::all(&found.sets, &profiles, &mut reader);
        if profiles.is_empty() && reader.errors.0.is_empty() {
            let error = Diagnostic::error("no profile in this folder")
                .at(Location::file(folder.display().to_string()));
            reader
                .errors
                .0
                .push(error.help("a profile is a file such as standalone.yaml, with `kind: Profile`"));
        }
        let errors = reader.errors;
        errors.or(Self { all: profiles, declared, checks, fragments, pages, sets, sources })
    }

    /// PolicyRule profile, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all.iter()
    }

    /// The parameters that are declared for all.
    pub fn declared(&self) -> &BTreeMap<String, Marked<Parameter>> {
        &self.declared
    }

    /// Whether a parameter is declared for all.
    pub fn declares(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    /// The profiles that are rolled out together with one, itself among them.
    pub fn beside<'p>(&'p self, profile: &'p Profile) -> impl Iterator<Item = &'p Profile> {
        self.all.iter().filter(|other| other.topology == profile.topology)
    }

    /// The profile of a name, or every profile without one.
    pub fn named(&self, name: Option<&str>) -> Result<Vec<&Profile>, Diagnostic> {
        let Some(name) = name else { return Ok(self.all.iter().collect()) };
        let names = || self.all.iter().map(|profile| profile.name.as_str());
        match self.all.iter().find(|profile| profile.name == name) {
            Some(profile) => Ok(vec![profile]),
            None => Err(Diagnostic::error(format!("there is no profile `{name}`")).help(
                match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
                },
            )),
        }
    }
}

fn declare(node: &Node, declared: &mut BTreeMap<String, Marked<Parameter>>, reader: &mut Reader<'_>) {
    let Some(file) = ParametersFile::read(node, reader) else { return };
    if file.values.is_some() || !file.profiles.is_empty() {
        reader.error(node.mark, "values are given in a parameter set").help =
            Some("move `in` and `values` to a file under sets/".into());
    }
    for (name, parameter) in file.parameters {
        parameter.value.check_declaration(&name, parameter.mark, reader);
        if let Some(first) = declared.get(&name) {
            let first = reader.sources.show(first.mark);
            let error = reader.error(parameter.mark, format!("a second parameter `{name}`"));
            error.notes.push(format!("the first is at {first}"));
        }
        declared.insert(name, parameter);
    }
}

fn define(found: Vec<(Node, Vec<FragmentManifest>)>, reader: &mut Reader<'_>) -> BTreeMap<String, Fragment> {
    let mut fragments: BTreeMap<String, Fragment> = BTreeMap::new();
    for (node, manifests) in found {
        let before = reader.errors.0.len();
        let Some(Marked { value: body, mark }) = Marked::<FragmentFile>::read(&node, reader) else {
            continue;
        };
        if reader.errors.0.len() == before {
            check_additions(&body.adds, reader);
        }
        let fragment = Fragment { body, manifests, mark };
        let name = fragment.name().to_owned();
        if let Some(first) = fragments.get(&name) {
            let first = reader.sources.show(first.mark);
            let error = reader.error(mark, format!("a second fragment `{name}`"));
            error.notes.push(format!("the first is at {first}"));
        }
        fragments.insert(name, fragment);
    }
    fragments
}

/// A word that speaks of some profiles must speak of all, if only to say that nothing is needed: that is the check
/// which a forgotten twin needs.
fn all_profiles_are_covered(
    fragments: &BTreeMap<String, Fragment>,
    files: &[Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) {
    let name = |file: &Marked<ProfileFile>| file.value.metadata.name.0.clone();
    let concrete = files.iter().filter(|file| !file.value.is_abstract);
    let lineages: Vec<Vec<String>> = concrete
        .map(|file| lineage(file, files, reader).unwrap_or_default().into_iter().map(name).collect())
        .collect();
    // Of a profile whose parent is not there, that is said already.
    let lineages: Vec<Vec<String>> = lineages.into_iter().filter(|lineage| !lineage.is_empty()).collect();
    for fragment in fragments.values() {
        let parts = &fragment.body.adds;
        if parts.is_empty() || parts.iter().any(|part| part.value.profiles.is_empty()) {
            continue;
        }
        let named = parts.iter().flat_map(|part| &part.value.profiles).map(|profile| &profile.value);
        let covered = |lineage: &&Vec<String>| named.clone().any(|name| lineage.contains(name));
        let uncovered: Vec<&str> =
            lineages.iter().filter(|lineage| !covered(lineage)).map(|lineage| lineage[0].as_str()).collect();
        if !uncovered.is_empty() {
            let message =
                format!("the fragment `{}` says nothing about {}", fragment.name(), uncovered.join(", "));
            reader.error(fragment.mark, message).help =
                Some("add a part for it; `nothing: why` says that nothing is needed".into());
        }
    }
}

fn report_twins(files: &[Marked<ProfileFile>], reader: &mut Reader<'_>) {
    for (index, file) in files.iter().enumerate() {
        let name = &file.value.metadata.name;
        if let Some(first) = files[..index].iter().find(|other| other.value.metadata.name == *name) {
            let first = reader.sources.show(first.mark);
            let error = reader.error(file.mark, format!("a second profile `{}`", name.0));
            error.notes.push(format!("the first is at {first}"));
        }
    }
}
