//! Refuses list items that a strategic merge patch creates and does not declare. A misspelled name would otherwise create a
//! container without an image, or a volume without a source.

use std::collections::BTreeSet;

use super::patch::NewItem;
use crate::language::{CreatedItem, Marked};
use crate::nearest::nearest;

/// The merge key of the lists whose items have a name that others can misspell. Other keys, such as `containerPort` and
/// `mountPath`, are values of the item.
const NAME: &str = "name";

/// Lists that are merged by `name` and to which a patch may add. Programs read any number of environment variables, and a
/// reference to a Secret is nothing but a name.
const OPEN_LISTS: [&str; 3] = ["env", "imagePullSecrets", "secrets"];

/// Returns the items that an entry of `patches` must declare under `creates` and does not.
pub(super) fn undeclared<'i>(created: &'i [NewItem], declared: &[Marked<CreatedItem>]) -> Vec<&'i NewItem> {
    let declared: BTreeSet<&str> = declared.iter().map(|item| item.value.0.as_str()).collect();
    let needs_declaration = |item: &&NewItem| {
        item.merge_key == NAME
            && !OPEN_LISTS.contains(&item.list.as_str())
            && !declared.contains(declaration(item).as_str())
    };
    created.iter().filter(needs_declaration).collect()
}

/// Returns an item as `creates` declares it.
pub(super) fn declaration(item: &NewItem) -> String {
    format!("{}/{}", item.list, item.key)
}

/// Returns how to correct or declare an item that is not declared.
pub(super) fn help(item: &NewItem) -> String {
    let declare = format!("if the item is new, declare it with `creates: [{}]`", declaration(item));
    match nearest(&item.key, item.existing.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? {declare}"),
        None => format!("correct its name; {declare}"),
    }
}
