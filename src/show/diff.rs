//! Differences between two renderings, object by object.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::unified_diff::unified_diff;
use super::{Change, Paint, changes};
use crate::object::{Object, mask};
use crate::yaml::{self, Node};

/// The objects of one profile.
#[derive(Clone, Copy)]
pub(crate) struct ProfileObjects<'a> {
    /// The name of the profile.
    pub(crate) profile: &'a str,
    /// The objects.
    pub(crate) objects: &'a [&'a Object],
}

/// Returns the objects that only one profile has, and a diff of each object that differs. Returns an empty text if
/// there is no difference.
///
/// Objects are matched by component, kind and name, because a profile may move an object to another namespace.
pub(crate) fn diff(left: ProfileObjects<'_>, right: ProfileObjects<'_>, paint: Paint) -> String {
    let mut matched: BTreeMap<DiffKey<'_>, Matched<'_>> = BTreeMap::new();
    for object in left.objects {
        matched.entry(DiffKey::of(object)).or_default().left.push(object);
    }
    for object in right.objects {
        matched.entry(DiffKey::of(object)).or_default().right.push(object);
    }
    let mut out = String::new();
    // Objects of the left profile come first.
    let (in_left, only_in_right): (Vec<_>, Vec<_>) =
        matched.into_values().partition(|matched| !matched.left.is_empty());
    for Matched { left: old, right: new } in in_left.into_iter().chain(only_in_right) {
        for index in 0..old.len().max(new.len()) {
            match (old.get(index), new.get(index)) {
                (Some(old), Some(new)) => {
                    diff_object(old, new, (left.profile, right.profile), paint, &mut out);
                }
                (Some(object), None) => only_in(object, left.profile, paint, &mut out),
                (None, Some(object)) => only_in(object, right.profile, paint, &mut out),
                (None, None) => {}
            }
        }
    }
    out
}

/// The part of an object's identity that is the same in all profiles.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DiffKey<'a> {
    component: &'a str,
    group: &'a str,
    kind: &'a str,
    name: &'a str,
}

impl<'a> DiffKey<'a> {
    fn of(object: &'a Object) -> Self {
        let id = &object.id;
        Self { component: &object.component, group: &id.group, kind: &id.kind, name: &id.name }
    }
}

/// The objects with one key: several, if they are in several namespaces.
#[derive(Default)]
struct Matched<'a> {
    left: Vec<&'a Object>,
    right: Vec<&'a Object>,
}

fn only_in(object: &Object, profile: &str, paint: Paint, out: &mut String) {
    let _ = writeln!(out, "{} is only in {profile}", paint.bold(&object.id.to_string()));
}

fn diff_object(old: &Object, new: &Object, profiles: (&str, &str), paint: Paint, out: &mut String) {
    if old.root == new.root {
        return;
    }
    let (mut before, mut after) = (old.root.clone(), new.root.clone());
    mask::mask(&mut before, &mut after);
    let name = format!("{}/{}", old.id.kind_and_group(), old.id.name);
    let _ = writeln!(out, "{} differs", paint.bold(&name));
    for line in unified_diff(&yaml::write(&before), &yaml::write(&after), profiles, paint) {
        let _ = writeln!(out, "  {line}");
    }
}

/// Returns the fields in which two versions of an object differ. Hides sensitive values.
pub(crate) fn fields(before: &Node, after: &Node) -> Vec<Change> {
    let (mut before, mut after) = (before.clone(), after.clone());
    mask::mask(&mut before, &mut after);
    changes(&before, &after)
}
