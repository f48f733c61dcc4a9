//! Finds the binaries of a control plane: in `KUBEBUILDER_ASSETS`, or in the cache, where they are built if necessary.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The exit code of the build without Go.
const NO_GO: i32 = 3;

/// The binaries for one API server.
pub(crate) const SERVERS: &[&str] = &["etcd", "kube-apiserver"];
/// The binaries for a cluster with controllers.
pub(crate) const CLUSTER: &[&str] = &["etcd", "kube-apiserver", "kube-controller-manager"];

/// Returns the folder with the binaries. Prints a message and returns `None` if there are none and none can be built.
/// `KUBEBUILDER_ASSETS` is used only if it has all binaries; usually it has no controllers.
pub(crate) fn find(needed: &[&str]) -> Option<PathBuf> {
    let assets =
        std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if let Some(folder) = assets.filter(|folder| needed.iter().all(|tool| folder.join(tool).exists())) {
        return Some(folder);
    }
    let build = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tools/build");
    let output = Command::new(build).args(needed).stderr(Stdio::inherit()).output().unwrap();
    match output.status.code() {
        Some(0) => Some(String::from_utf8(output.stdout).unwrap().trim().into()),
        Some(NO_GO) if std::env::var("CI").as_deref() != Ok("true") => {
            eprintln!("SKIPPED: all cluster tests, for want of Go and of KUBEBUILDER_ASSETS");
            None
        }
        code => panic!("tests/tools/build ended with {code:?}"),
    }
}
