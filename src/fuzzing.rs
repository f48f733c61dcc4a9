//! The functions that the targets in `fuzz/` run: each takes any input, and panics if transship treats it wrongly.
//!
//! Only cargo-fuzz builds this module (`cfg(fuzzing)`), and the tests of the library, which run the corpora. It is no part of
//! the public names.
#![allow(clippy::missing_panics_doc, reason = "a target fails by panicking")]

use std::cell::RefCell;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file;
use crate::language::Page;
use crate::patch::{self, ItemPosition};
use crate::project::Project;
use crate::yaml::{self, Node, Sources, Value};

#[cfg(feature = "apply")]
pub use crate::apply::fuzzing::{inventory, kubeconfig, response};

/// Reads a page, and renders and checks a small payload with it. Every error has a location.
pub fn page(text: &str) {
    if let Err(errors) = render_page(text) {
        assert_located(&errors);
    }
}

/// Reads a page, and renders and checks the payload with it.
fn render_page(text: &str) -> Result<(), Diagnostics> {
    read_page(text)?;
    render_with_page(text)
}

fn read_page(text: &str) -> Result<Page, Diagnostics> {
    let mut sources = Sources::default();
    let source = sources.add("component.yaml".to_owned());
    let mut documents = file::parse_documents(text, source, "component.yaml")?;
    if documents.len() != 1 {
        return Err(Diagnostic::error("not one document").at(crate::Location::file("component.yaml")).into());
    }
    let document = documents.remove(0);
    Diagnostics(Diagnostic::refused_duplicate_keys(&document.duplicates, "component.yaml")).into_result(())?;
    Page::read_page(&document.root, &sources)
}

thread_local! {
    /// A folder with a payload and profiles, which all inputs share.
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns, annotations: {include.release.openshift.io/self-managed-high-availability: 'true'}}
spec: {selector: {matchLabels: {a: d}}, template: {metadata: {labels: {a: d}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m, namespace: ns, annotations: {include.release.openshift.io/self-managed-high-availability: 'true'}}
data: {a: b}
";
const PROFILE: &str = "\
apiVersion: transship.openshift.io/v1
kind: Profile
metadata: {name: one}
topology: one
cluster: both
";
const PARAMETERS: &str = "\
apiVersion: transship.openshift.io/v1
kind: Parameters
metadata: {name: parameters}
parameters: {p.x: {type: string, description: d, default: a}}
";
const FRAGMENT: &str = "\
apiVersion: transship.openshift.io/v1
kind: Fragment
metadata: {name: label}
description: Adds a label.
inputs: {value: string, workload: workload}
adds: [{workload: {metadata: {labels: {l: '${value}'}}}}]
";

/// Renders and checks a payload with a page.
fn render_with_page(text: &str) -> Result<(), Diagnostics> {
    let unwritable = |error: std::io::Error| Diagnostic::error(format!("cannot write the project: {error}"));
    FOLDER.with_borrow_mut(|folder| {
        let folder = match folder {
            Some(folder) => folder,
            None => folder.insert(new_project().map_err(unwritable)?),
        };
        std::fs::write(folder.path().join("payload/op/component.yaml"), text).map_err(unwritable)?;
        render(folder.path())
    })
}

fn new_project() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir_all(folder.path().join("payload/op"))?;
    std::fs::create_dir_all(folder.path().join("profiles/fragments"))?;
    for (path, content) in [
        ("payload/op/1.yaml", MANIFEST),
        ("profiles/one.yaml", PROFILE),
        ("profiles/parameters.yaml", PARAMETERS),
        ("profiles/fragments/label.yaml", FRAGMENT),
    ] {
        std::fs::write(folder.path().join(path), content)?;
    }
    Ok(folder)
}

fn render(folder: &Path) -> Result<(), Diagnostics> {
    let project = Project::load(folder)?;
    let profiles = project.profiles.named(None)?;
    for plan in crate::render_unchecked(&project.context(), &profiles)? {
        plan.objects.iter().for_each(|object| survives_writing(&object.root));
    }
    for checked in crate::lint(&project.context(), &profiles)? {
        assert!(checked.findings.iter().all(|finding| !finding.message.is_empty()));
    }
    Ok(())
}

fn assert_located(errors: &Diagnostics) {
    assert!(!errors.0.is_empty(), "an error without a message");
    for error in &errors.0 {
        assert!(error.location.is_some(), "an error without a location: {error}");
        let lines =
            1 + error.notes.len() + usize::from(error.object.is_some()) + usize::from(error.help.is_some());
        assert_eq!(error.to_string().lines().count(), lines, "a message with several lines: {error}");
    }
}

/// Applies a strategic merge patch: the second document to the first.
pub fn strategic_patch(text: &str) {
    with_patch(text, |object, patch| {
        for position in [ItemPosition::First, ItemPosition::Last] {
            let mut patched = object.clone();
            if patch::strategic_merge(&mut patched, patch, None, position).is_ok() {
                survives_writing(&patched);
            }
        }
    });
}

/// Applies a JSON merge patch.
pub fn merge_patch(text: &str) {
    with_patch(text, |object, patch| {
        let mut patched = object.clone();
        patch::merge(&mut patched, patch);
        survives_writing(&patched);
    });
}

/// Applies a JSON patch. A patch that fails changes nothing.
pub fn json_patch(text: &str) {
    with_patch(text, |object, patch| {
        let Ok(operations) = patch::operations(patch) else { return };
        let mut patched = object.clone();
        match patch::apply_operations(&mut patched, &operations) {
            Ok(()) => survives_writing(&patched),
            Err(_) => assert_eq!(&patched, object),
        }
    });
}

/// Calls a function with the two documents of a text, if the first is a map.
fn with_patch(text: &str, apply: impl FnOnce(&Node, &Node)) {
    let Ok(documents) = yaml::read(text, yaml::SourceId::default()) else { return };
    if let [object, patch] = documents.as_slice()
        && object.root.as_map().is_some()
    {
        apply(&object.root, &patch.root);
    }
}

/// Checks that an object that is written as YAML is read as the same value.
fn survives_writing(object: &Node) {
    // A scalar is no object, and may look like JSON or a separator line when it is written.
    if !matches!(object.value, Value::Map(_) | Value::List(_)) {
        return;
    }
    let written = yaml::write(object);
    match yaml::read(&written, yaml::SourceId::default()) {
        Ok(documents) => assert!(documents.len() == 1 && documents[0].root == *object, "{written}"),
        Err(error) => assert!(written.is_empty(), "{error}\n{written}"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    /// Runs a target with the files of its corpus.
    fn run(target: &str, run: impl Fn(&[u8])) {
        let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            run(&std::fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 3, "{target} has {count} files");
    }

    fn run_text(target: &str, of_text: impl Fn(&str)) {
        run(target, |bytes| of_text(&String::from_utf8_lossy(bytes)));
    }

    #[test]
    fn the_corpora_of_the_fuzz_targets_pass() {
        run_text("page", super::page);
        // Otherwise the target would never get beyond the reader.
        let rendered = Cell::new(0);
        run_text("page", |page| rendered.set(rendered.get() + usize::from(super::render_page(page).is_ok())));
        assert!(rendered.get() >= 5, "{} pages are rendered", rendered.get());
        run_text("strategic_patch", super::strategic_patch);
        run_text("merge_patch", super::merge_patch);
        run_text("json_patch", super::json_patch);
    }

    #[cfg(feature = "apply")]
    #[test]
    fn the_corpora_of_the_fuzz_targets_for_clusters_pass() {
        run_text("kubeconfig", super::kubeconfig);
        run_text("inventory", super::inventory);
        run("response", super::response);
    }
}
