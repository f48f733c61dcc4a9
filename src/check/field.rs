//! A node of an object together with its path.

use crate::object::Object;
use crate::object::path::{escape, item_segment};
use crate::yaml::{Entry, Node, Value};

/// A field of an object, with its path from the root.
///
/// A field borrows its parent and stores only the path from it, so walking an object allocates nothing. Only a finding
/// joins the whole path.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) object: &'a Object,
    pub(super) node: &'a Node,
    parent: Option<&'a Field<'a>>,
    relative_path: RelativePath<'a>,
}

/// The path from a parent to a field.
#[derive(Clone, Copy)]
enum RelativePath<'a> {
    /// Keys below the parent, such as `/spec/template`; empty for the root.
    Path(&'a str),
    /// One key.
    Key(&'a str),
    /// An item of a list: the path of the list below the parent, and the index of the item.
    Item(&'a str, usize),
}

impl<'a> Field<'a> {
    /// Returns the root of an object.
    pub(super) fn root(object: &'a Object) -> Self {
        Self { object, node: &object.root, parent: None, relative_path: RelativePath::Path("") }
    }

    /// Returns a field of a map.
    pub(super) fn get(&'a self, key: &'a str) -> Option<Self> {
        Some(self.child(self.node.get(key)?, RelativePath::Key(key)))
    }

    /// Returns the field at a path such as `/spec/template`.
    pub(super) fn at(&'a self, path: &'a str) -> Option<Self> {
        Some(self.child(descend(self.node, path)?, RelativePath::Path(path)))
    }

    /// Returns the items of the list at a path such as `/spec/volumes`, or of the field itself if the path is empty.
    pub(super) fn items(&'a self, path: &'a str) -> impl Iterator<Item = Self> {
        let items = descend(self.node, path).and_then(Node::as_list).unwrap_or_default();
        items.iter().enumerate().map(move |(index, item)| self.child(item, RelativePath::Item(path, index)))
    }

    /// Returns the value of an entry of this map.
    pub(super) fn entry(&'a self, entry: &'a Entry) -> Self {
        self.child(&entry.value, RelativePath::Key(&entry.key))
    }

    /// Returns the containers and init containers of a pod template.
    pub(super) fn containers(&'a self) -> impl Iterator<Item = Self> {
        self.items("/spec/containers").chain(self.items("/spec/initContainers"))
    }

    /// Calls a function for each field at a path such as `spec/volumes/*/secret`, where `*` means every item.
    pub(super) fn for_each(&self, path: &str, visit: &mut dyn FnMut(&Field<'_>)) {
        let (key, rest) = match path.split_once('/') {
            Some((key, rest)) => (key, Some(rest)),
            None => (path, None),
        };
        let mut visit_child = |child: &Field<'_>| match rest {
            Some(rest) => child.for_each(rest, visit),
            None => visit(child),
        };
        match (key, &self.node.value) {
            ("*", Value::List(_)) => self.items("").for_each(|item| visit_child(&item)),
            ("*", Value::Map(map)) => map.iter().for_each(|entry| visit_child(&self.entry(entry))),
            _ => {
                if let Some(child) = self.get(key) {
                    visit_child(&child);
                }
            }
        }
    }

    /// Returns the text of the field.
    pub(super) fn as_str(&self) -> Option<&'a str> {
        self.node.as_str()
    }

    /// Returns the path as a JSON pointer, with `[name=x]` for items that have a name.
    pub(super) fn path(&self) -> String {
        let mut path = self.parent.map(Field::path).unwrap_or_default();
        match self.relative_path {
            RelativePath::Path(below) => path.push_str(below),
            RelativePath::Key(key) => path.extend(["/", &escape(key)]),
            RelativePath::Item(list, index) => path.extend([list, "/", &item_segment(self.node, index)]),
        }
        path
    }

    fn child(&'a self, node: &'a Node, relative_path: RelativePath<'a>) -> Self {
        Self { object: self.object, node, parent: Some(self), relative_path }
    }
}

/// Returns the node at a path of keys.
fn descend<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    path.split('/').skip(1).try_fold(node, |node, key| node.get(key))
}
