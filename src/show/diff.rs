//! Two renders side by side, object by object.

use std::collections::BTreeMap;
use std::fmt::Write;

use similar::TextDiff;

use super::{Paint, changes, mask_secrets};
use crate::object::Object;
use crate::yaml::{self, Node};

/// The objects of one side, and what it is called.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The profile.
    pub name: &'a str,
    /// Its objects.
    pub objects: &'a [&'a Object],
}

/// What only one side has, and the lines in which the rest differs; nothing if nothing does. An object is the same in
/// both by its component, kind and name: a profile may have moved it to another namespace.
pub fn diff(left: Side<'_>, right: Side<'_>, paint: Paint) -> String {
    let (of_left, of_right) = (by_name(left.objects), by_name(right.objects));
    let mut out = String::new();
    let names = of_left.keys().chain(of_right.keys().filter(|name| !of_left.contains_key(*name)));
    for name in names {
        let (old, new) = (objects(&of_left, name), objects(&of_right, name));
        for at in 0..old.len().max(new.len()) {
            match (old.get(at), new.get(at)) {
                (Some(old), Some(new)) => out.push_str(&pair(old, new, left, right, paint)),
                (Some(only), None) => one(only, left, paint, &mut out),
                (None, Some(only)) => one(only, right, paint, &mut out),
                (None, None) => {}
            }
        }
    }
    out
}

/// Component, group, kind and name, with all that have them: two may, in two namespaces.
type ByName<'a> = BTreeMap<[&'a str; 4], Vec<&'a Object>>;

fn by_name<'a>(objects: &[&'a Object]) -> ByName<'a> {
    let mut found = ByName::new();
    for object in objects {
        let id = &object.id;
        found.entry([&object.component, &id.group, &id.kind, &id.name]).or_default().push(object);
    }
    found
}

fn objects<'a, 'm>(all: &'m ByName<'a>, name: &[&'a str; 4]) -> &'m [&'a Object] {
    all.get(name).map(Vec::as_slice).unwrap_or_default()
}

fn one(object: &Object, side: Side<'_>, paint: Paint, out: &mut String) {
    let _ = writeln!(out, "{} is in {} only", paint.bold(&object.id.to_string()), side.name);
}

fn pair(old: &Object, new: &Object, left: Side<'_>, right: Side<'_>, paint: Paint) -> String {
    let (mut before, mut after) = (old.root.clone(), new.root.clone());
    if before == after {
        return String::new();
    }
    if mask_secrets::is_secret(&before) || mask_secrets::is_secret(&after) {
        mask_secrets::secrets(&mut before, &mut after);
    }
    let mut out =
        format!("{} differs\n", paint.bold(&format!("{}/{}", old.id.kind_and_group(), old.id.name)));
    for line in lines(&yaml::write(&before), &yaml::write(&after), (left.name, right.name), paint) {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// What differs between an object as it is and as it would be, field by field; of a Secret only that it does.
pub fn fields(before: &Node, after: &Node) -> Vec<String> {
    let (mut before, mut after) = (before.clone(), after.clone());
    if mask_secrets::is_secret(&before) || mask_secrets::is_secret(&after) {
        mask_secrets::secrets(&mut before, &mut after);
    }
    changes(&before, &after).iter().map(ToString::to_string).collect()
}

/// The lines of two texts that differ, with a few around them.
pub(super) fn lines(before: &str, after: &str, names: (&str, &str), paint: Paint) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after).unified_diff().header(names.0, names.1).to_string();
    let coloured = |line: &str| match line.as_bytes().first() {
        Some(b'-') => paint.red(line),
        Some(b'+') => paint.green(line),
        _ => paint.dim(line),
    };
    diff.lines().map(coloured).collect()
}
