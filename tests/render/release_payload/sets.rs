//! The parameter sets of `profiles/sets/`: what each changes in the rendered objects, and nothing else.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::operands::render_all;
use crate::storage::named;
use crate::support::{data, repository, shell_in};

/// The fields of objects by object and path; null if there is none. The path of an object as a whole is empty.
type Fields = BTreeMap<(String, String), Value>;

/// Adds the fields below a value. Items of lists have paths that do not depend on their order.
fn add_fields(object: &str, path: &str, value: &Value, fields: &mut Fields) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            // The name of an item is in its path.
            let is_item = path.ends_with(']');
            for (key, value) in map.iter().filter(|(key, _)| !is_item || *key != "name") {
                let key = key.replace('~', "~0").replace('/', "~1");
                add_fields(object, &format!("{path}/{key}"), value, fields);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let segment = match (&item["name"], item) {
                    (Value::String(name), _) => format!("[name={name}]"),
                    (_, Value::String(text)) => format!("[{text}]"),
                    _ => index.to_string(),
                };
                add_fields(object, &format!("{path}/{segment}"), item, fields);
            }
        }
        _ => {
            fields.insert((object.to_owned(), path.to_owned()), value.clone());
        }
    }
}

fn fields_of(objects: &[Value]) -> Fields {
    let mut fields = Fields::new();
    for object in objects {
        let (kind, name) = named(object);
        let id = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{kind}/{namespace}/{name}"),
            None => format!("{kind}/{name}"),
        };
        fields.insert((id.clone(), String::new()), "exists".into());
        add_fields(&id, "", object, &mut fields);
    }
    fields
}

/// Returns the fields that differ, with their new values. An object that is gone is one field, with an empty path.
fn differences(before: &Fields, after: &Fields) -> Fields {
    let gone = |id: &(String, String)| !after.contains_key(&(id.0.clone(), String::new()));
    let changed = after.iter().filter(|(id, value)| before.get(id) != Some(value));
    let removed = before.keys().filter(|id| !after.contains_key(id) && (id.1.is_empty() || !gone(id)));
    changed
        .map(|(id, value)| (id.clone(), value.clone()))
        .chain(removed.map(|id| (id.clone(), Value::Null)))
        .collect()
}

/// Returns the differences that `tests/data/sets.yaml` lists for a set in a profile. The list does not say the values of
/// digests, so these are those of the actual differences.
fn listed(list: &Value, set: &str, profile: &str, actual: &Fields) -> Fields {
    let mut fields = Fields::new();
    for entry in list.as_array().unwrap().iter().filter(|entry| entry["set"] == set && entry["in"] == profile)
    {
        assert!(entry["why"].as_str().is_some_and(|why| !why.is_empty()), "{entry}");
        let below = entry["below"].as_str().unwrap_or_default();
        for object in entry["objects"].as_array().unwrap() {
            let id = |path: &str| (object.as_str().unwrap().to_owned(), format!("{below}{path}"));
            for (path, value) in entry["fields"].as_object().into_iter().flatten() {
                fields.insert(id(path), value.clone());
            }
            for path in entry["digests"].as_array().into_iter().flatten() {
                let id = id(path.as_str().unwrap());
                let value = actual.get(&id).cloned();
                fields.insert(id, value.unwrap_or_default());
            }
        }
    }
    fields
}

/// The sets and their profiles. The other sets only choose a value of `operands`, or a release.
const SETS: [(&str, &[&str]); 6] = [
    ("no-nodes", &["hypershift-mc", "hypershift-guest"]),
    ("not-openshift", &["hypershift-mc"]),
    ("own-signers", &["hypershift-mc"]),
    ("proxy", &["standalone", "hypershift-mc", "hypershift-guest"]),
    ("single-node", &["standalone"]),
    ("single-replica", &["hypershift-mc"]),
];

/// Operators configure their operands themselves, so the comparison has the objects of each value of `operands`.
#[test]
fn each_set_changes_what_the_list_says_and_nothing_else() {
    let list = data("sets.yaml");
    for entry in list.as_array().unwrap() {
        let is_checked = |(set, profiles): &(&str, &[&str])| {
            entry["set"] == *set && profiles.iter().any(|profile| entry["in"] == *profile)
        };
        assert!(SETS.iter().any(is_checked), "{entry}");
    }
    for (set, profiles) in SETS {
        let mut all = 0;
        for profile in profiles {
            let before = fields_of(&render_all(profile, &[]));
            let file = format!("profiles/sets/{set}.yaml");
            let after = fields_of(&render_all(profile, &["--params", &file]));
            let differ = differences(&before, &after);
            let listed = listed(&list, set, profile, &differ);
            assert_eq!(lines(&differ), lines(&listed), "{set} in {profile}");
            all += differ.len();
        }
        assert!(all > 0, "{set}");
    }
}

/// Returns one line for each field, so that a failure shows which lines are missing.
fn lines(fields: &Fields) -> Vec<String> {
    fields.iter().map(|((object, path), value)| format!("{object} {path}: {value}")).collect()
}

/// A set has golden files only for the profiles that it names.
#[test]
fn the_golden_files_of_each_set_differ_from_those_of_the_default() {
    let sets = shell_in(&repository(), "ls golden").stdout;
    assert!(sets.lines().count() > 5, "{sets}");
    for set in sets.lines().filter(|set| *set != "default") {
        let line = format!(
            "for profile in golden/{set}/*/; do diff -rq golden/default/$(basename $profile) $profile; done; true"
        );
        assert!(!shell_in(&repository(), &line).stdout.is_empty(), "golden/{set} is golden/default");
    }
}
