//! Finds the binaries of a control plane: in `KUBEBUILDER_ASSETS`, or in the cache, where they are built if necessary.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The exit code of the build without Go.
const NO_GO: i32 = 3;

/// The binaries for one API server.
pub(crate) const SERVERS: &[&str] = &["etcd", "kube-apiserver"];
/// The binaries for a cluster with controllers.
pub(crate) const CLUSTER: &[&str] = &["etcd", "kube-apiserver", "kube-controller-manager"];

/// The operators that are built with library-go.
pub(crate) const OPERATORS: &[&str] = &["operator"];

/// Returns whether to test with the oldest Kubernetes that transship supports.
pub(crate) fn is_skewed() -> bool {
    std::env::var("TRANSSHIP_SKEW").is_ok_and(|value| value == "1")
}

/// Returns the folder with the binaries. Prints a message and returns `None` if there are none and none can be built.
/// `KUBEBUILDER_ASSETS` is used only if it has all binaries; usually it has no controllers. The oldest Kubernetes is always
/// built, because nobody knows which release is in that folder.
pub(crate) fn find(needed: &[&str]) -> Option<PathBuf> {
    let assets =
        std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let has_all = |folder: &PathBuf| needed.iter().all(|tool| folder.join(tool).exists());
    if let Some(folder) = assets.filter(|folder| !is_skewed() && has_all(folder)) {
        return Some(folder);
    }
    let mut build = Command::new(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tools/build"));
    build.args(is_skewed().then_some("--skew")).args(needed);
    let output = build.stderr(Stdio::inherit()).output().unwrap();
    match output.status.code() {
        Some(0) => Some(String::from_utf8(output.stdout).unwrap().trim().into()),
        Some(NO_GO) if std::env::var("CI").as_deref() != Ok("true") => {
            eprintln!("SKIPPED: the tests that need {needed:?}, for want of Go and of KUBEBUILDER_ASSETS");
            None
        }
        code => panic!("tests/tools/build ended with {code:?}"),
    }
}
