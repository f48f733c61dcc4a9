//! Annotations that are meant to include a manifest in a cluster profile, but that the cluster-version-operator does not
//! recognize.

use super::finding::Finding;
use crate::language::{Check, Profiles};
use crate::object::metadata;
use crate::payload::Manifest;
use crate::yaml::{Entry, Node, Value};

const PREFIX: &str = "include.release.openshift.io";

/// The cluster profiles of OpenShift.
const CLUSTER_PROFILES: [&str; 5] = [
    "hypershift",
    "ibm-cloud-managed",
    "self-managed-high-availability",
    "single-node-developer",
    "single-node-production-edge",
];

/// The largest number of edits between a misspelled word and the known word. Short words allow fewer.
const MAX_DISTANCE: usize = 2;

const EXCLUDES: &str = "the cluster-version-operator does not recognize it, and excludes the manifest";

/// Returns the names that may follow `include.release.openshift.io/`: the cluster profiles of OpenShift and of this project,
/// and the project's own profiles.
pub(super) fn known_profiles(profiles: &Profiles) -> Vec<&str> {
    let mut known = CLUSTER_PROFILES.to_vec();
    for profile in profiles.iter() {
        known.extend(profile.select.cluster_profile.as_deref());
        known.push(&profile.name);
    }
    known
}

/// Returns a finding for each misspelled annotation `include.release.openshift.io/<profile>: "true"` of a manifest.
pub(super) fn check(manifest: &Manifest, known: &[&str]) -> Vec<Finding> {
    let annotations = metadata(&manifest.root, "annotations").and_then(Node::as_map);
    let findings = annotations.into_iter().flatten().filter_map(|entry| misspelled(entry, known));
    findings.map(|finding| Finding { object: Some(manifest.id.clone()), ..finding }).collect()
}

fn misspelled(entry: &Entry, known: &[&str]) -> Option<Finding> {
    let (prefix, name) = entry.key.split_once('/')?;
    if prefix == PREFIX {
        return misspelled_profile(entry, name, known).or_else(|| wrong_value(entry, name, known));
    }
    let name = match prefix {
        "release.openshift.io" => name.strip_prefix("include")?.trim_start_matches(['.', '-', '_', '/']),
        _ if is_near_prefix(prefix) => name,
        _ => return None,
    };
    let profile = nearest(name, known).unwrap_or(if name.is_empty() { "<cluster profile>" } else { name });
    let message = format!("the annotation `{}` is misspelled", entry.key);
    Some(finding(entry, message, EXCLUDES).help(format!("did you mean `{PREFIX}/{profile}`?")))
}

fn misspelled_profile(entry: &Entry, name: &str, known: &[&str]) -> Option<Finding> {
    if known.contains(&name) {
        return None;
    }
    let near = nearest(name, known)?;
    let message = format!("the annotation `{}` names no known cluster profile", entry.key);
    Some(finding(entry, message, EXCLUDES).help(format!("did you mean `{PREFIX}/{near}`?")))
}

fn wrong_value(entry: &Entry, name: &str, known: &[&str]) -> Option<Finding> {
    let key = &entry.key;
    match &entry.value.value {
        // `false` is how some manifests say that they do not belong to a cluster profile.
        Value::String(text) if text == "true" || text == "false" || !known.contains(&name) => None,
        Value::String(_) | Value::Null => {
            let message = format!("the annotation `{key}` must be `\"true\"`");
            Some(finding(entry, message, EXCLUDES).help("write `\"true\"`"))
        }
        other => {
            let message = format!("the annotation `{key}` must be text, not {}", other.kind());
            let note = "the cluster-version-operator then ignores all annotations, and excludes the manifest";
            Some(finding(entry, message, note).help("put the value in quotes: `\"true\"`"))
        }
    }
}

/// Returns whether a prefix of an annotation is a misspelled `include.release.openshift.io`.
fn is_near_prefix(prefix: &str) -> bool {
    if prefix == "exclude.release.openshift.io" {
        return false;
    }
    let first = prefix.split('.').next().unwrap_or_default();
    is_near(prefix, PREFIX)
        || (prefix.ends_with(".openshift.io") && is_near(first, "include") && first != "exclude")
}

fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    known.iter().copied().find(|known| *known == name || is_near(name, known))
}

fn is_near(word: &str, known: &str) -> bool {
    let limit = MAX_DISTANCE.min(known.len() / 4);
    word.len() <= known.len() + limit && strsim::damerau_levenshtein(word, known) <= limit
}

fn finding(entry: &Entry, message: String, note: &str) -> Finding {
    Finding::in_file(Check::MisspelledAnnotation, entry.mark, message).note(note)
}
