//! What the user chose: the files in `profiles/`.

mod fields;
mod filters;

use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::nearest::nearest;
use crate::object::Cluster;
use crate::yaml::{self, DuplicateKey, Mark, Node, Sources};
use fields::Fields;

pub use filters::{Capabilities, Filters, Override};

const API_VERSION: &str = "transship.openshift.io/v1";

/// One cluster of one topology: what is selected, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name, by which the command line and other files know it.
    pub name: String,
    /// The topology it belongs to: profiles of one topology are rolled out together.
    pub topology: String,
    /// The cluster it describes.
    pub cluster: Cluster,
    /// What the cluster-version-operator's filters are asked.
    pub select: Filters,
    /// The namespace that every namespaced object lands in, where the profile moves them.
    pub namespace: Option<String>,
}

/// All profiles of a folder, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    profiles: Vec<Profile>,
}

impl Profiles {
    /// Loads every file of a folder.
    pub fn load(folder: &Path) -> Result<Self, Diagnostics> {
        let mut sources = Sources::default();
        let mut errors = Diagnostics::default();
        let mut profiles: Vec<(Profile, Mark)> = Vec::new();
        for path in files(folder)? {
            let node = match document(&path, &mut sources) {
                Ok(node) => node,
                Err(found) => {
                    errors.0.extend(found.0);
                    continue;
                }
            };
            let Some(profile) = profile(&node, &sources, &mut errors) else { continue };
            if let Some((_, first)) = profiles.iter().find(|(other, _)| other.name == profile.name) {
                errors.0.push(
                    Diagnostic::error(format!("a second profile `{}`", profile.name))
                        .at(Location::of(node.mark, &sources))
                        .note(format!("the first is at {}", sources.show(*first))),
                );
            }
            profiles.push((profile, node.mark));
        }
        let mut profiles: Vec<Profile> = profiles.into_iter().map(|(profile, _)| profile).collect();
        profiles.sort_by(|a, b| a.name.cmp(&b.name));
        if profiles.is_empty() && errors.0.is_empty() {
            errors.0.push(
                Diagnostic::error("no profile in this folder")
                    .at(Location::file(folder.display().to_string()))
                    .help("a profile is a file such as standalone.yaml, with `kind: Profile`"),
            );
        }
        errors.or(Self { profiles })
    }

    /// Every profile, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// The profile of a name, or every profile without one.
    pub fn named(&self, name: Option<&str>) -> Result<Vec<&Profile>, Diagnostic> {
        let Some(name) = name else { return Ok(self.profiles.iter().collect()) };
        let names = || self.profiles.iter().map(|profile| profile.name.as_str());
        match self.profiles.iter().find(|profile| profile.name == name) {
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

fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, Diagnostic> {
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
    let name = path.display().to_string();
    let source = sources.add(&name);
    let text = file::read_text(path)?;
    let mut documents = yaml::read(&text, source).map_err(|error| Diagnostic::syntax(error, &name))?;
    if documents.len() != 1 {
        let message = format!("the file has {} documents, it must have one", documents.len());
        let error =
            Diagnostic::error(message).at(Location::file(name)).help("write one file for each profile");
        return Err(error.into());
    }
    let document = documents.remove(0);
    let twice = |duplicate: &DuplicateKey| {
        Diagnostic::error(format!("the key `{}` is written twice", duplicate.key))
            .at(Location::of(duplicate.kept, sources))
            .note(format!("the first is at {}", sources.show(duplicate.dropped)))
            .help("remove one of them")
    };
    Diagnostics(document.duplicates.iter().map(twice).collect()).or(document.root)
}

fn profile(node: &Node, sources: &Sources, errors: &mut Diagnostics) -> Option<Profile> {
    let mut fields = Fields::of(node, "a profile", sources, errors)?;
    fields.choice("apiVersion", &[(API_VERSION, ())]);
    fields.choice("kind", &[("Profile", ())]);
    fields.required("metadata");
    let name = fields.map("metadata", "metadata").and_then(|mut metadata| {
        let name = metadata.required("name").then(|| metadata.label("name")).flatten();
        metadata.finish();
        name
    });
    let clusters =
        [Cluster::Management, Cluster::Guest, Cluster::Both].map(|cluster| (cluster.name(), cluster));
    let topology = fields.required_text("topology");
    let cluster = fields.choice("cluster", &clusters);
    let select = fields.map("select", "select").map(filters::read).unwrap_or_default();
    let namespace = fields.label("namespace");
    fields.finish();
    Some(Profile { name: name?, topology: topology?, cluster: cluster?, select, namespace })
}
