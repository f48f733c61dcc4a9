//! The bundled payload, and the bundled payload without one of its objects.

use walkdir::WalkDir;

use crate::support::{TestProject, repository, run_checked};

#[test]
fn the_bundled_payload_has_no_findings() {
    let run = run_checked(&repository(), &["lint"], "");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
}

/// Copies the bundled payload, profiles and patches.
pub(crate) fn bundled() -> TestProject {
    let project = TestProject::new();
    for folder in ["payload", "profiles", "patches"] {
        for entry in WalkDir::new(repository().join(folder)) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(repository()).unwrap();
                project.write(path.to_str().unwrap(), std::fs::read(entry.path()).unwrap());
            }
        }
    }
    project
}

/// Returns whether other objects of the payload reference the object of a document.
fn is_referenced(document: &str) -> bool {
    let kind = document.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
    let is_referenced_kind =
        ["Secret", "ServiceAccount", "Role", "ClusterRole", "Service", "ConfigMap"].contains(&kind);
    // ClusterRoles that aggregate into roles for users of the cluster, and those that only drivers of other clouds bind: no
    // binding of the payload references them.
    let unbound = ["aggregate-to-", "-configmap-and-secret-reader-role", "-volumeattachment-reader-role"];
    is_referenced_kind && !unbound.iter().any(|text| document.contains(text))
}

/// Removes each referenced object from the bundled payload, one at a time.
#[test]
fn a_removed_object_that_others_reference_is_reported() {
    let mut removed = 0;
    for entry in WalkDir::new(repository().join("payload")) {
        let path = entry.unwrap().into_path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let documents: Vec<&str> = text.split("---\n").collect();
        for (index, document) in documents.iter().enumerate() {
            if !is_referenced(document) {
                continue;
            }
            let project = bundled();
            let file = path.strip_prefix(repository()).unwrap().to_str().unwrap();
            let mut rest = documents.clone();
            rest.remove(index);
            let rest = rest.join("---\n");
            if rest.trim().is_empty() {
                std::fs::remove_file(project.path().join(file)).unwrap();
            } else {
                project.write(file, rest);
            }
            let run = project.lint(&[]);
            let with_webhook = || project.lint(&["--params", "profiles/sets/design-2022.yaml"]);
            let is_found = run.code != 0 || with_webhook().code != 0;
            assert!(is_found, "no finding in {file} without this object:\n{document}");
            removed += 1;
        }
    }
    assert!(removed >= 5, "{removed}");
}
