//! Patch files of kustomize, compared with `kubectl kustomize`. `tests/data/kustomize-cases.yaml` has the cases.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use transship::yaml::{self, SourceId};

use super::oracle::NO_GO;
use crate::support::{Folder, TestProject, data, repository};

/// Builds kubectl if necessary. Prints a message and returns `None` without Go, which is an error in CI.
fn kubectl() -> Option<PathBuf> {
    let mut build = Command::new(repository().join("tests/tools/build"));
    let output = build.arg("kubectl").stderr(Stdio::inherit()).output().unwrap();
    match output.status.code() {
        Some(0) => Some(Path::new(String::from_utf8(output.stdout).unwrap().trim()).join("kubectl")),
        Some(NO_GO) if std::env::var("CI").as_deref() != Ok("true") => {
            eprintln!("SKIPPED: the comparison with kubectl kustomize, because Go is not installed");
            None
        }
        code => panic!("tests/tools/build ended with {code:?}"),
    }
}

#[test]
fn patch_files_give_the_same_results_as_in_kubectl_kustomize() {
    let cases = data("kustomize-cases.yaml");
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 20, "{}", cases.len());
    let Some(kubectl) = kubectl() else { return };
    for case in cases {
        assert_eq!(with_transship(case), with_kustomize(&kubectl, case), "{}", case["name"]);
    }
}

/// Returns the objects that transship renders for a case.
fn with_transship(case: &Value) -> Vec<Value> {
    let mut entry = json!({"reason": "a test", "path": "patch.yaml"});
    for field in ["target", "creates"] {
        if let Some(value) = case.get(field) {
            entry[field] = value.clone();
        }
    }
    let page = json!({"annotations": {"x": "x"}, "patches": [entry]});
    let page: Vec<String> =
        page.as_object().unwrap().iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    let project = TestProject::standalone()
        .manifest("op/1.yaml", case["base"].as_str().unwrap())
        .file("patches/op/patch.yaml", case["patch"].as_str().unwrap())
        .page("op", &page.concat());
    in_order(project.render("test"))
}

/// Returns the objects that kustomize renders for a case.
fn with_kustomize(kubectl: &Path, case: &Value) -> Vec<Value> {
    let mut entry = json!({"path": "patch.yaml"});
    if let Some(target) = case.get("target") {
        entry["target"] = target.clone();
    }
    let folder = Folder::new();
    folder.write("base.yaml", case["base"].as_str().unwrap());
    folder.write("patch.yaml", case["patch"].as_str().unwrap());
    folder.write("kustomization.yaml", json!({"resources": ["base.yaml"], "patches": [entry]}).to_string());
    let output = Command::new(kubectl).arg("kustomize").arg(folder.path()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {stderr}", case["name"]);
    let mut objects = Vec::new();
    for document in yaml::read(&stdout, SourceId(0)).unwrap() {
        objects.push(serde_json::from_str(&yaml::json::write(&document.root)).unwrap());
    }
    in_order(objects)
}

/// Sorts objects, and removes what Kubernetes reads as absent: transship does not render it.
fn in_order(mut objects: Vec<Value>) -> Vec<Value> {
    for object in &mut objects {
        remove_empty_metadata(object);
    }
    objects.sort_by_key(|object| [object["kind"].to_string(), object["metadata"]["name"].to_string()]);
    objects
}

fn remove_empty_metadata(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata
            .retain(|key, value| !matches!(key.as_str(), "labels" | "annotations") || *value != json!({}));
    }
    fields.values_mut().for_each(remove_empty_metadata);
}
