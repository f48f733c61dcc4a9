//! What the tests share: a folder to fill, and the command to run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use transship::Project;
use transship::diagnostic::Diagnostics;
use transship::language::Profiles;
use transship::order::Plan;
use transship::payload::Payload;

/// The repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder that goes away with the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with a payload of these files and a profile that takes in what is annotated for it.
    pub(crate) fn with_payload(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        std::fs::create_dir_all(folder.path().join("payload")).unwrap();
        for (path, text) in files {
            folder.write(&format!("payload/{path}"), text);
        }
        folder.write("profiles/test.yaml", profile("test", ""));
        folder.write("profiles/checks.yaml", CHECKS);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn payload(&self) -> Result<Payload, Diagnostics> {
        Payload::load(&self.path().join("payload"))
    }

    pub(crate) fn profiles(&self) -> Result<Profiles, Diagnostics> {
        Profiles::load(&self.path().join("profiles"))
    }

    /// Renders the only profile there is.
    pub(crate) fn render(&self) -> Result<Plan, Diagnostics> {
        let project = Project::load(self.path())?;
        let only = project.profiles.named(None)?[0];
        Ok(transship::render_unchecked(&project.context(), &[only])?.remove(0))
    }

    /// A diagnostic as it is printed, with this folder's own path left out.
    pub(crate) fn shown(&self, diagnostics: &Diagnostics) -> String {
        self.without_path(&diagnostics.to_string())
    }

    pub(crate) fn without_path(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path().display()), "")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        run_in(self.path(), arguments, "")
    }
}

/// Namespaces are somebody else's.
pub(crate) const CHECKS: &str = "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata: {name: checks}\nexternals: [{objects: [Namespace/*], reason: a test}]\n";

/// A profile that selects by the annotation `include.release.openshift.io/test`.
pub(crate) fn profile(name: &str, more: &str) -> String {
    format!(
        "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata:\n  name: {name}\ntopology: {name}\n\
         cluster: both\nselect:\n  clusterProfile: test\n{more}"
    )
}

/// A ConfigMap that the test profile takes in.
pub(crate) fn config_map(name: &str, data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: ns\n  annotations:\n    \
         include.release.openshift.io/test: \"true\"\ndata: {data}\n"
    )
}

/// What a run of the command left behind.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The lines of JSON that it printed, which must have worked.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Why nothing was printed, as bad input is answered.
    pub(crate) fn refusal(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        self.stderr
    }
}

/// Runs the command in a folder, with a text on standard input. The manifests of tests say what the test is about and no
/// more, so they are not checked; those of the repository are, and what is checked has tests of its own.
pub(crate) fn run_in(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let unchecked = arguments.first() == Some(&"render") && folder != repository();
    run_checked(folder, &[arguments, if unchecked { &["--no-check"] } else { &[] }].concat(), input)
}

/// Runs the command in a folder, exactly as it is given.
pub(crate) fn run_checked(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transship"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe; that is its right.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    Run::of(&child.wait_with_output().unwrap())
}

/// Runs a line in a shell that finds our command.
pub(crate) fn shell_in(folder: &Path, line: &str) -> Run {
    let binary = Path::new(env!("CARGO_BIN_EXE_transship")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", path).env("NO_COLOR", "1").current_dir(folder);
    Run::of(&command.output().unwrap())
}
