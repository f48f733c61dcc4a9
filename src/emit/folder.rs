//! A folder with one file an object, as `golden/` has it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Location};
use crate::object::{Object, ObjectId};
use crate::order::Plan;
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::payload::{RunLevel, Sha256};
use crate::yaml;

/// The file that lists the others in the order in which they are applied. `kubectl` passes it over.
pub const INDEX: &str = "index.txt";
const INDEX_HEADER: &str = "# Applied in this order: run-level, file, and the manifest it came from.\n";

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
            parallel::map(MIN_FILES_PER_THREAD, &plan.objects, |object| {
                (path(object), yaml::write(&object.root))
            })
            .into_iter()
            .collect();
        files.insert(INDEX.to_owned(), index(plan));
        Self { files }
    }

    /// Writes the folder as a whole or not at all: into a new folder beside it, which then takes its place.
    pub fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let at = || Location::file(folder.display().to_string());
        if folder.exists() && !folder.is_dir() {
            return Err(Diagnostic::error("this is a file, not a folder")
                .at(at())
                .help("name an empty or a new folder"));
        }
        if !may_be_replaced(folder) {
            return Err(Diagnostic::error("the folder holds files that are not ours")
                .at(at())
                .note(format!("it has no {INDEX} of transship's; all in it would be lost"))
                .help("name an empty or a new folder"));
        }
        // A link stays a link: what it leads to is replaced.
        let target = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        self.replace(&target).map_err(|error| {
            Diagnostic::error(format!("cannot be written: {error}"))
                .at(at())
                .note("what was there before is untouched")
        })
    }

    fn replace(&self, folder: &Path) -> std::io::Result<()> {
        let parent =
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent)?;
        let beside = tempfile::Builder::new().prefix(".transship-").tempdir_in(parent)?;
        let (new, old) = (beside.path().join("new"), beside.path().join("old"));
        for (path, text) in &self.files {
            let path = new.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        if !folder.exists() {
            return std::fs::rename(new, folder);
        }
        std::fs::rename(folder, &old)?;
        std::fs::rename(new, folder).inspect_err(|_| {
            // Put the old one back; if even that fails, leave it where it is instead of deleting it.
            if std::fs::rename(&old, folder).is_err() {
                let _ = beside.keep();
            }
        })
    }
}

/// Whether a folder may be replaced: it is not there, is empty, or was written by us.
fn may_be_replaced(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(mut entries) => entries.next().is_none() || is_written_by_us(folder),
    }
}

/// Whether a folder has an index as we write it.
pub(super) fn is_written_by_us(folder: &Path) -> bool {
    std::fs::read_to_string(folder.join(INDEX)).is_ok_and(|index| index.starts_with(INDEX_HEADER))
}

/// `<component>/<namespace>/<kind>.<group>_<name>.yaml`: owners find their files, and no two objects share one.
fn path(object: &Object) -> String {
    let ObjectId { namespace, name, .. } = &object.id;
    let component = if object.component.is_empty() { "_" } else { &object.component };
    let namespace = if namespace.is_empty() { "_cluster" } else { namespace };
    let file = shortened(format!("{}_{}", escape(&object.id.kind_and_group()), escape(name)));
    format!("{}/{}/{file}.yaml", escape(component), escape(namespace))
}

/// File systems take names of up to 255 bytes; what is cut off is told apart by a digest.
fn shortened(name: String) -> String {
    const LONGEST: usize = 240;
    if name.len() <= LONGEST {
        return name;
    }
    let digest = Sha256::of(name.as_bytes()).to_string();
    format!("{}~{}", &name[..LONGEST - 17], &digest[..16])
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
    let mut out = String::from(INDEX_HEADER);
    for object in &plan.objects {
        let level = RunLevel::of(object.file.rsplit('/').next().unwrap_or_default());
        let number = level.map_or("-", |level| level.number);
        let _ = writeln!(out, "{number} {} {}#{}", path(object), object.file, object.document);
    }
    out
}
