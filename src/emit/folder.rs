//! A folder with one file an object, as `golden/` has it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Location};
use crate::object::{Object, ObjectId};
use crate::order::Plan;
use crate::parallel;
use crate::payload::RunLevel;
use crate::yaml;

/// The file that lists the others in the order in which they are applied. `kubectl` passes it over.
pub const INDEX: &str = "index.txt";

/// Files by their path below the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// What each file holds.
    pub files: BTreeMap<String, String>,
}

impl Folder {
    /// The files of a plan: every object, and the index.
    pub fn of(plan: &Plan) -> Self {
        let mut files: BTreeMap<String, String> =
            parallel::map(&plan.objects, |object| (path(object), yaml::write(&object.root)))
                .into_iter()
                .collect();
        files.insert(INDEX.to_owned(), index(plan));
        Self { files }
    }

    /// Writes the folder as a whole or not at all: into a new folder beside it, which then takes its place.
    pub fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        if !is_ours(folder) {
            return Err(Diagnostic::error("the folder holds files that are not ours")
                .at(Location::file(folder.display().to_string()))
                .note(format!(
                    "it has no {INDEX}, so it was not written by transship; all in it would be lost"
                ))
                .help("name an empty or a new folder"));
        }
        self.replace(folder).map_err(|error| {
            Diagnostic::error(format!("cannot be written: {error}"))
                .at(Location::file(folder.display().to_string()))
                .note("what was there before is untouched")
        })
    }

    fn replace(&self, folder: &Path) -> std::io::Result<()> {
        let parent =
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent)?;
        let new = tempfile::Builder::new().prefix(".transship-new-").tempdir_in(parent)?;
        let content = new.path().join("content");
        for (path, text) in &self.files {
            let path = content.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        let old = tempfile::Builder::new().prefix(".transship-old-").tempdir_in(parent)?;
        if folder.exists() {
            std::fs::rename(folder, old.path().join("content"))?;
        }
        std::fs::rename(content, folder)
    }
}

/// Whether a folder may be replaced: it is not there, is empty, or was written by us.
fn is_ours(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(mut entries) => entries.next().is_none() || folder.join(INDEX).is_file(),
    }
}

/// `<component>/<namespace>/<kind>.<group>_<name>.yaml`: owners find their files, and no two objects share one.
fn path(object: &Object) -> String {
    let ObjectId { namespace, name, .. } = &object.id;
    let component = if object.component.is_empty() { "_" } else { &object.component };
    let namespace = if namespace.is_empty() { "_cluster" } else { namespace };
    let kind = object.id.kind_and_group().to_lowercase();
    format!("{}/{}/{}_{}.yaml", escape(component), escape(namespace), escape(&kind), escape(name))
}

/// Names of RBAC objects may hold nearly anything; file systems are less patient.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, byte) in name.bytes().enumerate() {
        let fine = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte == b'.' && at > 0;
        if fine {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn index(plan: &Plan) -> String {
    let mut out = String::from("# Applied in this order: run-level, file, and the manifest it came from.\n");
    for object in &plan.objects {
        let level = RunLevel::of(object.file.rsplit('/').next().unwrap_or_default());
        let number = level.map_or("-", |level| level.number);
        let _ = writeln!(out, "{number} {} {}#{}", path(object), object.file, object.document);
    }
    out
}
