//! A folder with one file per object, such as those in `golden/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use walkdir::WalkDir;

use crate::diagnostic::{Diagnostic, Location};
use crate::file;
use crate::object::{Object, ObjectId, mask};
use crate::order::Plan;
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::payload::RunLevel;
use crate::sha256::Sha256;
use crate::yaml::{self, Node};

/// The file that lists the others in the order in which they are applied. `kubectl apply -f` ignores it.
pub(crate) const INDEX: &str = "index.txt";
const INDEX_HEADER: &str = "# Applied in this order: run-level, file, and the manifest it came from.\n";

/// The number of files that a message names.
const MAX_NAMES: usize = 5;

/// The files of a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Folder {
    /// The files, by their paths below the folder.
    pub(crate) files: BTreeMap<String, File>,
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File {
    /// The content.
    pub(crate) text: String,
    /// The object in it; the index has none.
    pub(crate) object: Option<Node>,
}

impl Folder {
    /// Returns one file for each object of a plan, and the index.
    pub(crate) fn of(plan: &Plan) -> Self {
        let written = parallel::map(MIN_FILES_PER_THREAD, &plan.objects, |object| {
            (path(object), File { text: yaml::write(&object.root), object: Some(object.root.clone()) })
        });
        let mut files: BTreeMap<String, File> = written.into_iter().collect();
        files.insert(INDEX.to_owned(), File { text: index(plan), object: None });
        Self { files }
    }

    /// Replaces a folder with these files. If that fails, the folder stays as it was. Refuses to replace a
    /// folder that transship did not write.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let location = Location::file(folder.display().to_string());
        if folder.exists() && !folder.is_dir() {
            return Err(Diagnostic::error("this is a file, not a folder")
                .at(location)
                .help("choose an empty or a new folder"));
        }
        refuse_foreign_files(folder)?;
        // Replace the target of a symbolic link, not the link.
        let target = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        self.replace(&target).map_err(|error| {
            Diagnostic::error(format!("cannot be written: {error}"))
                .at(location)
                .note("the folder was not changed")
        })
    }

    /// Writes the files into a new folder next to the old one, and then swaps the two.
    fn replace(&self, folder: &Path) -> std::io::Result<()> {
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent)?;
        let temporary = tempfile::Builder::new().prefix(".transship-").tempdir_in(parent)?;
        let (new, old) = (temporary.path().join("new"), temporary.path().join("old"));
        for (path, file) in &self.files {
            let path = new.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            file.write(&path)?;
        }
        if !folder.exists() {
            return std::fs::rename(new, folder);
        }
        std::fs::rename(folder, &old)?;
        std::fs::rename(new, folder).inspect_err(|_| {
            // Put the old folder back. If that fails too, keep it instead of deleting it with the temporary one.
            if std::fs::rename(&old, folder).is_err() {
                let _ = temporary.keep();
            }
        })
    }
}

impl File {
    /// Creates the file. Only its owner may read one with a Secret or a sensitive value.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self.object.as_ref().is_some_and(mask::has_sensitive) {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)?.write_all(self.text.as_bytes())
    }
}

/// Refuses to replace or delete a folder with files that transship did not write: they would be lost. A folder that does not
/// exist has none.
pub(super) fn refuse_foreign_files(folder: &Path) -> Result<(), Diagnostic> {
    let written = written_files(folder);
    let mut foreign = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        let path = path_below(folder, entry.path());
        let is_ours = entry.file_type().is_file() && written.contains(&path);
        if !entry.file_type().is_dir() && entry.depth() > 0 && !is_ours {
            foreign.push(path);
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let omitted = foreign.len().saturating_sub(MAX_NAMES);
    foreign.truncate(MAX_NAMES);
    let more = if omitted == 0 { String::new() } else { format!(", and {omitted} more") };
    Err(Diagnostic::error("the folder contains files that transship did not write")
        .at(Location::file(folder.display().to_string()))
        .note(format!("they would be deleted: {}{more}", foreign.join(", ")))
        .help("move them elsewhere, or choose an empty or a new folder"))
}

/// Returns the files that transship wrote into a folder: the index, and those that it lists.
fn written_files(folder: &Path) -> BTreeSet<String> {
    let Some(index) = read_index(folder) else { return BTreeSet::new() };
    let listed =
        index.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(' ').nth(1));
    listed.chain([INDEX]).map(str::to_owned).collect()
}

/// Returns whether a folder has an index that transship wrote.
pub(super) fn is_written_by_transship(folder: &Path) -> bool {
    read_index(folder).is_some()
}

/// Reads the index that transship wrote into a folder. A link or a pipe is not opened.
fn read_index(folder: &Path) -> Option<String> {
    let path = folder.join(INDEX);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
    let index = is_file.then(|| file::read_text(&path).ok())??;
    index.starts_with(INDEX_HEADER).then_some(index)
}

/// Returns the path of a file below a folder, with `/` as separator on every system.
pub(super) fn path_below(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Returns the path of an object's file, `<component>/<namespace>/<kind>.<group>_<name>.yaml`. It is unique.
fn path(object: &Object) -> String {
    let ObjectId { namespace, name, .. } = &object.id;
    let component = if object.component.is_empty() { "_" } else { &object.component };
    let namespace = if namespace.is_empty() { "_cluster" } else { namespace };
    let file = shorten(format!("{}_{}", escape(&object.id.kind_and_group()), escape(name)));
    format!("{}/{}/{file}.yaml", escape(component), escape(namespace))
}

/// Shortens a name that is too long for file systems, which allow 255 bytes. A digest keeps it unique.
fn shorten(name: String) -> String {
    const MAX_LENGTH: usize = 240;
    const DIGEST_LENGTH: usize = 16;
    if name.len() <= MAX_LENGTH {
        return name;
    }
    let digest = Sha256::of(name.as_bytes()).to_string();
    format!("{}~{}", &name[..MAX_LENGTH - DIGEST_LENGTH - 1], &digest[..DIGEST_LENGTH])
}

/// Escapes characters that not all file systems allow. Names of RBAC objects may contain almost any.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let is_allowed =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte == b'.' && index > 0;
        if is_allowed {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Returns the index: run level, file, and source manifest of each object.
fn index(plan: &Plan) -> String {
    let mut out = String::from(INDEX_HEADER);
    for object in &plan.objects {
        let level = RunLevel::of(object.file.rsplit('/').next().unwrap_or_default());
        let number = level.map_or("-", |level| level.number);
        let _ = writeln!(out, "{number} {} {}#{}", path(object), object.file, object.document);
    }
    out
}
