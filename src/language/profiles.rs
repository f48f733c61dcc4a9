//! Everything in the profiles folder: profiles, parameters, declarations for the checks, fragments, parameter sets, and
//! pages for payloads without any.

use std::collections::BTreeMap;
use std::path::Path;

use super::checks::Checks;
use super::fragment::{Fragment, FragmentFile, FragmentManifest, check_additions};
use super::page::Page;
use super::parameter_set::ParameterSet;
use super::parameters::{Parameter, ParameterOfGuest, Parameters, ParametersFile};
use super::profile::{Profile, ProfileFile, resolve};
use super::profiles_folder::FolderDocuments;
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::sha256::Sha256;
use crate::yaml::{Mark, Node, Sources};

/// Everything in the profiles folder.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    all: Vec<Profile>,
    pub(super) declared: BTreeMap<String, Marked<Parameter>>,
    /// The declarations for the checks.
    pub(crate) checks: Checks,
    /// The fragments, by name.
    pub(crate) fragments: BTreeMap<String, Fragment>,
    /// Pages of components that cannot have one in the payload.
    pub(crate) pages: Vec<Marked<Page>>,
    /// The parameter sets, by name. `default` always exists.
    pub(crate) sets: BTreeMap<String, ParameterSet>,
    /// The files that were read.
    pub(crate) sources: Sources,
    /// The digest of the files, without parameter sets.
    pub(crate) sha256: Sha256,
}

/// The number of the first source. Sources of the payload have lower numbers, so that the two never collide.
const FIRST_SOURCE: u32 = 1 << 24;

impl Profiles {
    /// Loads every file of a folder.
    pub fn load(folder: &Path) -> Result<Self, Diagnostics> {
        let mut sources = Sources::from(FIRST_SOURCE);
        let mut errors = Diagnostics::default();
        let documents = FolderDocuments::read(folder, &mut sources, &mut errors)?;
        let sha256 = documents.sha256();
        let mut reader = Reader::new(&sources, errors);
        let (mut files, mut declared, mut checks) = (Vec::new(), BTreeMap::new(), Checks::default());
        for node in &documents.profiles {
            match node.get("kind").and_then(Node::as_str) {
                Some("Parameters") => declare_parameters(node, &mut declared, &mut reader),
                Some("Checks") => checks.add_file(node, &mut reader),
                _ => files.extend(Marked::<ProfileFile>::read(node, &mut reader)),
            }
        }
        let fragments = read_fragments(documents.fragments, &mut reader);
        let pages = read_pages(&documents.pages, &mut reader);
        check_profiles(&files, &mut reader);
        let mut profiles = Vec::new();
        for file in files.iter().filter(|file| !file.value.is_abstract) {
            profiles.extend(resolve(file, &files, &mut reader));
        }
        profiles.sort_by(|a, b| a.name.cmp(&b.name));
        check_fragments_cover_profiles(&fragments, &profiles, &mut reader);
        let sets = ParameterSet::read_all(&documents.sets, &profiles, &mut reader);
        let mut errors = reader.errors;
        if profiles.is_empty() && errors.0.is_empty() {
            errors.0.push(no_profile(folder));
        }
        // Profiles that extend each other report the same line more than once.
        errors.dedup().into_result(Self {
            all: profiles,
            declared,
            checks,
            fragments,
            pages,
            sets,
            sources,
            sha256,
        })
    }

    /// Returns all profiles, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all.iter()
    }

    /// Fills the values of parameters into `select` of all profiles.
    pub(crate) fn fill_select(
        &mut self,
        parameters: &Parameters,
        sources: &Sources,
    ) -> Result<(), Diagnostics> {
        let mut reader = Reader::new(sources, Diagnostics::default());
        for profile in &mut self.all {
            profile.select = profile.filters.fill(parameters, &mut reader);
        }
        // Profiles that extend each other report the same line more than once.
        reader.errors.dedup().into_result(())
    }

    /// Returns the parameters that all files can use.
    pub(crate) fn declared(&self) -> &BTreeMap<String, Marked<Parameter>> {
        &self.declared
    }

    /// Returns whether the profiles folder declares a parameter, so that every file can use it.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    /// Returns the profiles of the same topology, including the profile itself.
    pub fn in_topology_of<'p>(&'p self, profile: &'p Profile) -> impl Iterator<Item = &'p Profile> {
        self.all.iter().filter(|other| other.topology == profile.topology)
    }

    /// Returns the parameters whose values are read from objects of the guest, once per object.
    pub(crate) fn parameters_of_guest(&self) -> Vec<ParameterOfGuest<'_>> {
        let mut of_guest = Vec::new();
        for (name, parameter) in &self.declared {
            for (object, path) in parameter.value.sources_in_guest() {
                of_guest.push(ParameterOfGuest { name, object, path, limits: parameter.value.limits() });
            }
        }
        of_guest
    }

    /// Returns the profile with a name, or all profiles if there is none.
    pub fn named(&self, name: Option<&str>) -> Result<Vec<&Profile>, Diagnostic> {
        let Some(name) = name else { return Ok(self.all.iter().collect()) };
        if let Some(profile) = self.all.iter().find(|profile| profile.name == name) {
            return Ok(vec![profile]);
        }
        let extends = |profile: &&Profile| profile.lineage.iter().any(|ancestor| ancestor == name);
        let extending: Vec<&str> =
            self.all.iter().filter(extends).map(|profile| profile.name.as_str()).collect();
        if !extending.is_empty() {
            return Err(Diagnostic::error(format!(
                "the profile `{name}` is abstract: only other profiles use it"
            ))
            .help(format!("use one that extends it: {}", extending.join(", "))));
        }
        let names: Vec<&str> = self.all.iter().map(|profile| profile.name.as_str()).collect();
        Err(Diagnostic::error(format!("there is no profile `{name}`"))
            .help(format!("use one of {}", names.join(", ")))
            .suggest(name, names))
    }
}

fn no_profile(folder: &Path) -> Diagnostic {
    Diagnostic::error("the folder has no profile")
        .at(Location::file(folder.display().to_string()))
        .help("add a file such as standalone.yaml with `kind: Profile`")
}

fn declare_parameters(
    node: &Node,
    declared: &mut BTreeMap<String, Marked<Parameter>>,
    reader: &mut Reader<'_>,
) {
    let Some(file) = ParametersFile::read(node, reader) else { return };
    if file.values.is_some() || !file.profiles.is_empty() {
        reader.error(node.mark, "only a parameter set can have `in` and `values`").help =
            Some("move them to a file under sets/".into());
    }
    for (name, parameter) in file.parameters {
        parameter.value.check_declaration(&name, parameter.mark, reader);
        if let Some(first) = declared.get(&name) {
            report_duplicate(&format!("parameter `{name}`"), first.mark, parameter.mark, reader);
        }
        declared.insert(name, parameter);
    }
}

fn read_fragments(
    documents: Vec<(Node, Vec<FragmentManifest>)>,
    reader: &mut Reader<'_>,
) -> BTreeMap<String, Fragment> {
    let mut fragments: BTreeMap<String, Fragment> = BTreeMap::new();
    for (node, manifests) in documents {
        let errors_before = reader.errors.0.len();
        let Some(Marked { value: body, mark }) = Marked::<FragmentFile>::read(&node, reader) else {
            continue;
        };
        if reader.errors.0.len() == errors_before {
            check_additions(&body.adds, reader);
        }
        let fragment = Fragment { body, manifests, mark };
        let name = fragment.name().to_owned();
        if let Some(first) = fragments.get(&name) {
            report_duplicate(&format!("fragment `{name}`"), first.mark, mark, reader);
        }
        fragments.insert(name, fragment);
    }
    fragments
}

fn read_pages(documents: &[Node], reader: &mut Reader<'_>) -> Vec<Marked<Page>> {
    let mut pages = Vec::new();
    for node in documents {
        pages.extend(Marked::<Page>::read(node, reader));
    }
    for page in &pages {
        page.value.check(reader);
    }
    pages
}

/// Reports errors in profiles beyond the types of their fields.
fn check_profiles(files: &[Marked<ProfileFile>], reader: &mut Reader<'_>) {
    for (index, file) in files.iter().enumerate() {
        let name = file.value.name();
        if let Some(first) = files[..index].iter().find(|other| other.value.name() == name) {
            report_duplicate(&format!("profile `{name}`"), first.mark, file.mark, reader);
        }
    }
    for rule in files.iter().flat_map(|file| &file.value.policy) {
        rule.value.check(rule.mark, reader);
    }
    for rule in files.iter().flat_map(|file| file.value.seeds.iter().chain(&file.value.unmanaged)) {
        rule.value.check(reader);
    }
    for adopts in files.iter().filter_map(|file| file.value.adopts.as_ref()) {
        adopts.check(reader);
    }
}

/// Reports fragments that have additions for some profiles and none for others, because the author of a new profile
/// would overlook them.
fn check_fragments_cover_profiles(
    fragments: &BTreeMap<String, Fragment>,
    profiles: &[Profile],
    reader: &mut Reader<'_>,
) {
    for fragment in fragments.values() {
        let additions = &fragment.body.adds;
        if additions.is_empty() || additions.iter().any(|addition| addition.value.profiles.is_empty()) {
            continue;
        }
        let named: Vec<Marked<String>> =
            additions.iter().flat_map(|addition| addition.value.profiles.clone()).collect();
        let uncovered: Vec<&str> = profiles
            .iter()
            .filter(|profile| !profile.is_in(&named))
            .map(|profile| profile.name.as_str())
            .collect();
        if !uncovered.is_empty() {
            let message = format!(
                "the fragment `{}` has no addition for the profile {}",
                fragment.name(),
                uncovered.join(", ")
            );
            reader.error(fragment.mark, message).help = Some(
                "add an entry to `adds`, or let the profile extend one that has an entry; if nothing is needed, give the reason \
                 with `nothing: …`"
                    .into(),
            );
        }
    }
}

fn report_duplicate(what: &str, first: Mark, second: Mark, reader: &mut Reader<'_>) {
    let first = reader.sources.show(first);
    let error = reader.error(second, format!("the {what} is declared twice"));
    error.notes.push(format!("the first is at {first}"));
}
