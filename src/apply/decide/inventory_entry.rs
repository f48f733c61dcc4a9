//! One line of an inventory: an object that was applied.

use std::fmt;

use crate::apply::decide::digest;
use crate::apply::decide::predecessor::Predecessor;
use crate::apply::decide::url_segment::{escape, unescape};
use crate::object::ObjectId;

/// Marks an object that existed before transship applied it and was not adopted.
const FOUND: &str = "found";

/// The number of characters of a uid.
const UID_SIZE: usize = 36;
/// Marks an object that is not pruned when it is no longer rendered.
const KEEP: &str = "keep";

/// Precedes the manager from which transship took an object over.
const SUCCEEDS: &str = "succeeds=";

/// Marks an empty column.
const EMPTY: &str = "-";

/// An entry of the inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InventoryEntry {
    /// The object.
    pub(crate) id: ObjectId,
    /// The API version in which it was applied.
    pub(crate) version: String,
    /// Its uid; empty until it was applied.
    pub(crate) uid: String,
    /// A digest of its desired state.
    pub(crate) desired_digest: String,
    /// A digest of the values in transship's fields when it was applied.
    pub(crate) live_digest: String,
    /// Whether it existed before and was not adopted. transship never deletes it.
    pub(crate) found: bool,
    /// Whether its last manifest says that it stays when it is no longer rendered.
    pub(crate) keep: bool,
    /// The manager that transship succeeded, if the object was taken over from one.
    pub(crate) predecessor: Option<Predecessor>,
}

impl InventoryEntry {
    /// Creates the entry of an object that will be applied.
    pub(crate) fn planned(id: &ObjectId, version: &str) -> Self {
        Self {
            id: id.clone(),
            version: version.to_owned(),
            uid: String::new(),
            desired_digest: String::new(),
            live_digest: String::new(),
            found: false,
            keep: false,
            predecessor: None,
        }
    }

    /// Returns the entry with the manager from which transship took the object over. The first one stays.
    pub(crate) fn taken_over_from(mut self, predecessor: Predecessor) -> Self {
        self.predecessor.get_or_insert(predecessor);
        self
    }

    /// Returns whether the object was applied at least once.
    pub(crate) fn was_applied(&self) -> bool {
        !self.uid.is_empty()
    }

    /// Returns the largest size of its line: with a uid and both digests.
    pub(crate) fn largest_size(&self) -> usize {
        let missing = |text: &str, size: usize| if text.is_empty() { size - EMPTY.len() } else { 0 };
        self.to_string().len()
            + missing(&self.uid, UID_SIZE)
            + missing(&self.desired_digest, digest::SIZE)
            + missing(&self.live_digest, digest::SIZE)
    }

    /// Reads a line of the inventory. Returns `None` if it does not name an object.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.split(' ').collect();
        let [api_version, kind, namespace, name, uid, desired_digest, live_digest, marks] = columns[..]
        else {
            return None;
        };
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_safe =
            [version, kind, namespace, uid, desired_digest, live_digest].into_iter().all(is_safe_in_path)
                && (group.is_empty() || is_safe_in_path(group));
        let Marks { found, keep, predecessor } = Marks::parse(marks)?;
        if !is_safe {
            return None;
        }
        Some(Self {
            id: ObjectId {
                group: group.to_owned(),
                kind: kind.to_owned(),
                namespace: from_column(namespace),
                name: unescape(name)?,
            },
            version: version.to_owned(),
            uid: from_column(uid),
            desired_digest: from_column(desired_digest),
            live_digest: from_column(live_digest),
            found,
            keep,
            predecessor,
        })
    }
}

impl fmt::Display for InventoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, version, uid, desired_digest, live_digest, .. } = self;
        if !id.group.is_empty() {
            write!(f, "{}/", id.group)?;
        }
        let [namespace, uid, desired, live] =
            [&id.namespace, uid, desired_digest, live_digest].map(|text| to_column(text));
        let marks = Marks { found: self.found, keep: self.keep, predecessor: self.predecessor.clone() };
        let name = escape(&id.name);
        write!(f, "{version} {} {namespace} {name} {uid} {desired} {live} {marks}", id.kind)
    }
}

/// The last column: `-`, or marks with commas between them.
#[derive(Default)]
struct Marks {
    found: bool,
    keep: bool,
    predecessor: Option<Predecessor>,
}

impl Marks {
    fn parse(column: &str) -> Option<Self> {
        let mut marks = Self::default();
        for mark in column.split(',').filter(|_| column != EMPTY) {
            match mark {
                FOUND => marks.found = true,
                KEEP => marks.keep = true,
                _ => marks.predecessor = Some(Predecessor::parse(mark.strip_prefix(SUCCEEDS)?)?),
            }
        }
        Some(marks)
    }
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut marks = Vec::new();
        if self.found {
            marks.push(FOUND.to_owned());
        }
        if self.keep {
            marks.push(KEEP.to_owned());
        }
        if let Some(predecessor) = &self.predecessor {
            marks.push(format!("{SUCCEEDS}{predecessor}"));
        }
        f.write_str(if marks.is_empty() { EMPTY.to_owned() } else { marks.join(",") }.as_str())
    }
}

fn to_column(text: &str) -> &str {
    if text.is_empty() { EMPTY } else { text }
}

fn from_column(column: &str) -> String {
    if column == EMPTY { String::new() } else { column.to_owned() }
}

/// Returns whether a column can be part of a URL path without leading to another path.
fn is_safe_in_path(column: &str) -> bool {
    let is_safe_byte = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    !column.is_empty() && column != ".." && column != "." && column.bytes().all(is_safe_byte)
}
