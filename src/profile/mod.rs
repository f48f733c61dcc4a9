//! What the user chose: the files in `profiles/`.

mod fields;
mod filters;

use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::nearest::nearest;
use crate::object::Cluster;
use crate::yaml::{self, Mark, Node, Sources};
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
            let Some(node) = errors.collect(document(&path, &mut sources)) else { continue };
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
        if path.extension().is_some_and(|extension| extension == "yaml") && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn document(path: &Path, sources: &mut Sources) -> Result<Node, Diagnostic> {
    let name = path.display().to_string();
    let source = sources.add(&name);
    let text = file::read_text(path)?;
    let mut documents = yaml::read(&text, source).map_err(|error| Diagnostic::syntax(error, &name))?;
    if documents.len() != 1 {
        let message = format!("the file has {} documents, it must have one", documents.len());
        return Err(Diagnostic::error(message)
            .at(Location::file(name))
            .help("write one file for each profile"));
    }
    let document = documents.remove(0);
    if let Some(duplicate) = document.duplicates.first() {
        let message = format!("the key `{}` is written twice", duplicate.key);
        return Err(Diagnostic::error(message)
            .at(Location::of(duplicate.kept, sources))
            .note(format!("the first is at {}", sources.show(duplicate.dropped)))
            .help("remove one of them"));
    }
    Ok(document.root)
}

fn profile(node: &Node, sources: &Sources, errors: &mut Diagnostics) -> Option<Profile> {
    let before = errors.0.len();
    let mut fields = Fields::of(node, "a profile", sources, errors)?;
    fields.choice("apiVersion", &[(API_VERSION, ())]);
    fields.choice("kind", &[("Profile", ())]);
    let name = fields.map("metadata", "metadata").and_then(|mut metadata| {
        let name = metadata.required_text("name");
        metadata.finish();
        name
    });
    let clusters =
        [Cluster::Management, Cluster::Guest, Cluster::Both].map(|cluster| (cluster.name(), cluster));
    let topology = fields.required_text("topology");
    let cluster = fields.choice("cluster", &clusters);
    let select = fields.map("select", "select").map(filters::read).unwrap_or_default();
    let namespace = fields.text("namespace");
    fields.finish();
    if name.is_none() && errors.0.len() == before {
        errors
            .0
            .push(Diagnostic::error("a profile needs `metadata.name`").at(Location::of(node.mark, sources)));
    }
    Some(Profile { name: name?, topology: topology?, cluster: cluster?, select, namespace })
}
