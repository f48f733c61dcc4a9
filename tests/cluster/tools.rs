//! Where the binaries of a control plane are: in `KUBEBUILDER_ASSETS`, else in the cache, built there if need be.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a build says when there is no Go.
const NO_GO: i32 = 3;

/// What one API server needs.
pub(crate) const SERVERS: &[&str] = &["etcd", "kube-apiserver"];
/// What a cluster needs in which something happens.
pub(crate) const CLUSTER: &[&str] = &["etcd", "kube-apiserver", "kube-controller-manager"];

/// The folder with the binaries. `None`: there are none and none can be built, which is told. The assets of kubebuilder
/// are taken only if they have all that is needed: usually they have no controllers.
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
