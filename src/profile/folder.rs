//! The folder of profiles and parameters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fragment::Fragment;
use super::parameters::{Parameter, Parameters, ParametersFile};
use super::profile::{Profile, ProfileFile, lineage, resolve};
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::nearest::nearest;
use crate::yaml::{self, DuplicateKey, Mark, Node, SourceId, Sources};

/// All profiles of a folder, sorted by name, and the parameters they may use.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    all: Vec<Profile>,
    declared: BTreeMap<String, Marked<Parameter>>,
    /// The fragments, by name.
    pub fragments: BTreeMap<String, Marked<Fragment>>,
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
        let mut documents = Vec::new();
        for path in files(folder)?.into_iter().chain(fragment_files(folder)?) {
            match document(&path, &mut sources) {
                Ok(node) => documents.push(node),
                Err(found) => errors.0.extend(found.0),
            }
        }
        let mut reader = Reader { sources: &sources, errors };
        let (mut files, mut declared, mut fragments) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for node in &documents {
            match node.get("kind").and_then(Node::as_str) {
                Some("Parameters") => declare(node, &mut declared, &mut reader),
                Some("Fragment") => define(node, &mut fragments, &mut reader),
                _ => files.extend(Marked::<ProfileFile>::read(node, &mut reader)),
            }
        }
        report_twins(&files, &mut reader);
        all_profiles_are_covered(&fragments, &files, &mut reader);
        let concrete = files.iter().filter(|file| !file.value.is_abstract);
        let mut profiles: Vec<Profile> =
            concrete.filter_map(|file| resolve(file, &files, &mut reader)).collect();
        profiles.sort_by(|a, b| a.name.cmp(&b.name));
        if profiles.is_empty() && reader.errors.0.is_empty() {
            let error = Diagnostic::error("no profile in this folder")
                .at(Location::file(folder.display().to_string()));
            reader
                .errors
                .0
                .push(error.help("a profile is a file such as standalone.yaml, with `kind: Profile`"));
        }
        let errors = reader.errors;
        errors.or(Self { all: profiles, declared, fragments, sources })
    }

    /// Every profile, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all.iter()
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

    /// Gives the declared parameters their values: from files in turn, then from `name=value` settings.
    pub fn bind(&mut self, files: &[PathBuf], settings: &[String]) -> Result<Parameters, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut given = Vec::new();
        for path in files {
            match document(path, &mut self.sources) {
                Ok(node) => given.push(node),
                Err(found) => errors.0.extend(found.0),
            }
        }
        for setting in settings {
            given.extend(errors.collect(self.setting(setting)));
        }
        errors.or(())?;
        Parameters::bind(&self.declared, &given, &self.sources)
    }

    /// `a.b=value` as a tree. The value is read as YAML reads a scalar, unless text is declared.
    fn setting(&mut self, setting: &str) -> Result<Node, Diagnostic> {
        let source = self.sources.add(format!("--set {}", setting.split('=').next().unwrap_or_default()));
        let wrong = |help: &str| Diagnostic::error("`--set` needs a name and a value").help(help);
        let (name, text) =
            setting.split_once('=').ok_or_else(|| wrong("write --set hcp.namespace=clusters-a"))?;
        let mark = Mark { source, line: 1, column: 1 };
        let text_wanted = self.declared.get(name).is_some_and(|parameter| parameter.value.is_text());
        let mut node = if text_wanted {
            Node { value: yaml::Value::String(text.into()), mark }
        } else {
            scalar(text, source)?
        };
        for segment in name.rsplit('.') {
            let entry = yaml::Entry { key: segment.into(), mark, value: node };
            node = Node { value: yaml::Value::Map(yaml::Map::from_entries(vec![entry], |_, _| {})), mark };
        }
        Ok(node)
    }
}

fn scalar(text: &str, source: SourceId) -> Result<Node, Diagnostic> {
    let documents = yaml::read(text, source).map_err(|error| Diagnostic::syntax(error, "--set"))?;
    let mark = Mark { source, line: 1, column: 1 };
    Ok(documents.into_iter().next().map_or(Node { value: yaml::Value::Null, mark }, |document| document.root))
}

fn declare(node: &Node, declared: &mut BTreeMap<String, Marked<Parameter>>, reader: &mut Reader<'_>) {
    let Some(file) = ParametersFile::read(node, reader) else { return };
    for (name, parameter) in file.parameters {
        if let Some(first) = declared.get(&name) {
            let first = reader.sources.show(first.mark);
            let error = reader.error(parameter.mark, format!("a second parameter `{name}`"));
            error.notes.push(format!("the first is at {first}"));
        }
        declared.insert(name, parameter);
    }
}

fn define(node: &Node, fragments: &mut BTreeMap<String, Marked<Fragment>>, reader: &mut Reader<'_>) {
    let Some(fragment) = Marked::<Fragment>::read(node, reader) else { return };
    if let Some(first) = fragments.get(fragment.value.name()) {
        let first = reader.sources.show(first.mark);
        let error = reader.error(fragment.mark, format!("a second fragment `{}`", fragment.value.name()));
        error.notes.push(format!("the first is at {first}"));
    }
    fragments.insert(fragment.value.name().to_owned(), fragment);
}

/// A word that speaks of some profiles must speak of all, if only to say that nothing is needed: that is the check
/// which a forgotten twin needs.
fn all_profiles_are_covered(
    fragments: &BTreeMap<String, Marked<Fragment>>,
    files: &[Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) {
    let name = |file: &Marked<ProfileFile>| file.value.metadata.name.0.clone();
    let concrete = files.iter().filter(|file| !file.value.is_abstract);
    let lineages: Vec<Vec<String>> = concrete
        .map(|file| lineage(file, files, reader).unwrap_or_default().into_iter().map(name).collect())
        .collect();
    for fragment in fragments.values() {
        let parts = &fragment.value.parts;
        if parts.is_empty() || parts.iter().any(|part| part.value.profiles.is_empty()) {
            continue;
        }
        let named = parts.iter().flat_map(|part| &part.value.profiles).map(|profile| &profile.value);
        let covered = |lineage: &&Vec<String>| named.clone().any(|name| lineage.contains(name));
        let uncovered: Vec<&str> =
            lineages.iter().filter(|lineage| !covered(lineage)).map(|lineage| lineage[0].as_str()).collect();
        if !uncovered.is_empty() {
            let message = format!(
                "the fragment `{}` says nothing about {}",
                fragment.value.name(),
                uncovered.join(", ")
            );
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

/// Fragments lie in a folder of their own, which need not be there.
fn fragment_files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let fragments = folder.join("fragments");
    if fragments.is_dir() { files(&fragments) } else { Ok(Vec::new()) }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("the profiles cannot be opened: {error}"))
            .at(Location::file(folder.display().to_string()))
            .help("name the folder that holds them with --profiles")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn document(path: &Path, sources: &mut Sources) -> Result<Node, Diagnostics> {
    let source = sources.add(path.display().to_string());
    let document = file::read_document(path, source)?;
    let twice = |duplicate: &DuplicateKey| {
        Diagnostic::error(format!("the key `{}` is written twice", duplicate.key))
            .at(Location::of(duplicate.kept, sources))
            .note(format!("the first is at {}", sources.show(duplicate.dropped)))
            .help("remove one of them")
    };
    Diagnostics(document.duplicates.iter().map(twice).collect()).or(document.root)
}
