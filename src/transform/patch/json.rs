//! JSON patch (RFC 6902), with [paths](crate::object::path) that can select list items by name, and five more operations.
//!
//! | operation | effect |
//! |---|---|
//! | `add` `remove` `replace` `move` `copy` `test` | as in RFC 6902; as in kustomize, `replace` may set a key that a map lacks, and `test` finds null there |
//! | `default` | sets a field that does not exist |
//! | `append` | appends a value to a list, and creates the list if it does not exist |
//! | `insert-before` `insert-after` | inserts a value next to an item of a list |
//! | `set-flag` | sets an argument such as `--v=4`: replaces the one with the same flag, or appends it |

use super::limits::Budget;
use super::{PatchError, Result};
use crate::nearest::nearest;
use crate::object::list;
use crate::object::path::{Path, PathStep, Segment, is_flag, node_at, node_at_mut};
use crate::yaml::{Entry, Mark, Node, Value};

/// An operation of a JSON patch.
#[derive(Clone, Debug)]
pub struct Operation {
    action: Action,
    path: Path,
    mark: Mark,
}

#[derive(Clone, Debug)]
enum Action {
    Add(Node),
    Remove,
    Replace(Node),
    Move(Path),
    Copy(Path),
    Test(Node),
    Default(Node),
    Append(Node),
    InsertBefore(Node),
    InsertAfter(Node),
    SetFlag(Node),
}

const NAMES: [&str; 11] = [
    "add",
    "remove",
    "replace",
    "move",
    "copy",
    "test",
    "default",
    "append",
    "insert-before",
    "insert-after",
    "set-flag",
];

/// Reads the operations of a JSON patch.
pub fn operations(patch: &Node) -> Result<Vec<Operation>> {
    let Some(items) = patch.as_list() else {
        return Err(PatchError::new(
            patch.mark,
            format!("a JSON patch is a list of operations, not {}", patch.value.kind()),
        ));
    };
    items.iter().map(operation).collect()
}

/// Applies operations in order. If one of them fails, the target stays unchanged.
pub fn apply(target: &mut Node, operations: &[Operation]) -> Result<()> {
    let mut changed = target.clone();
    let mut budget = Budget::of(target);
    for operation in operations {
        operation.apply(&mut changed, &mut budget)?;
    }
    *target = changed;
    Ok(())
}

fn operation(node: &Node) -> Result<Operation> {
    let name = text(node, "op")?;
    let action = match name {
        "add" => Action::Add(value(node)?),
        "remove" => Action::Remove,
        "replace" => Action::Replace(value(node)?),
        "move" => Action::Move(path(node, "from")?),
        "copy" => Action::Copy(path(node, "from")?),
        "test" => Action::Test(value(node)?),
        "default" => Action::Default(value(node)?),
        "append" => Action::Append(value(node)?),
        "insert-before" => Action::InsertBefore(value(node)?),
        "insert-after" => Action::InsertAfter(value(node)?),
        "set-flag" => Action::SetFlag(value(node)?),
        _ => {
            let error = PatchError::new(node.mark, format!("there is no operation `{name}`"));
            return Err(match nearest(name, NAMES) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("use one of {}", NAMES.join(", "))),
            });
        }
    };
    Ok(Operation { action, path: path(node, "path")?, mark: node.mark })
}

fn text<'n>(operation: &'n Node, field: &str) -> Result<&'n str> {
    let value = operation.get(field).and_then(Node::as_str);
    value.ok_or_else(|| missing_field(operation, field))
}

fn path(operation: &Node, field: &str) -> Result<Path> {
    let mark = operation.get(field).map_or(operation.mark, |node| node.mark);
    Ok(Path::parse(text(operation, field)?, mark)?)
}

fn value(operation: &Node) -> Result<Node> {
    operation.get("value").cloned().ok_or_else(|| missing_field(operation, "value"))
}

fn missing_field(operation: &Node, field: &str) -> PatchError {
    PatchError::new(operation.mark, format!("the operation has no field `{field}`"))
}

/// Where a value is inserted, relative to an item.
#[derive(Clone, Copy)]
enum Insertion {
    Before,
    After,
}

impl Operation {
    fn apply(&self, root: &mut Node, budget: &mut Budget) -> Result<()> {
        match &self.action {
            Action::Add(value) => self.add(root, value, budget),
            Action::Remove => self.remove(root, &self.path).map(drop),
            Action::Replace(value) => self.replace(root, value, budget),
            Action::Test(expected) => self.test(root, expected),
            Action::Move(from) => {
                let into_itself = self.path.segments.starts_with(&from.segments)
                    && self.path.segments.len() > from.segments.len();
                if into_itself {
                    return Err(PatchError::new(self.mark, "a value cannot be moved into itself"));
                }
                let value = self.remove(root, from)?;
                self.add(root, &value, budget)
            }
            Action::Copy(from) => {
                let value = single_value(root, from)?;
                self.add(root, &value, budget)
            }
            Action::Default(value) => match self.path.find(root) {
                Ok(locations) if !locations.is_empty() => Ok(()),
                _ => self.add(root, value, budget),
            },
            Action::Append(value) => self.append(root, value, budget),
            Action::InsertBefore(value) => self.insert(root, value, Insertion::Before, budget),
            Action::InsertAfter(value) => self.insert(root, value, Insertion::After, budget),
            Action::SetFlag(value) => self.for_each(root, |node, depth| {
                budget.insert(value, depth, self.mark)?;
                set_flag(node, value)
            }),
        }
    }

    /// Replaces a value. As in kustomize, the last key of the path may be one that a map does not have.
    fn replace(&self, root: &mut Node, value: &Node, budget: &mut Budget) -> Result<()> {
        if let Some((parent, Segment::Name(_))) = self.path.split_last()
            && let Ok(locations) = parent.find(root)
            && !locations.is_empty()
            && locations.iter().all(|location| is_map(root, location))
        {
            return self.add(root, value, budget);
        }
        self.for_each(root, |node, depth| {
            budget.insert(value, depth, self.mark)?;
            *node = value.clone();
            Ok(())
        })
    }

    /// Compares a value. As in kustomize, a key that a map does not have is null.
    fn test(&self, root: &mut Node, expected: &Node) -> Result<()> {
        if let (Value::Null, Some((parent, Segment::Name(name)))) = (&expected.value, self.path.split_last())
        {
            let is_absent = |location: &Vec<PathStep>| {
                let map = node_at(root, location).and_then(Node::as_map);
                map.is_some_and(|map| map.get(name).is_none())
            };
            let locations = parent.find(root).unwrap_or_default();
            if !locations.is_empty() && locations.iter().all(is_absent) {
                return Ok(());
            }
        }
        self.for_each(root, |node, _| {
            if node == expected {
                return Ok(());
            }
            let message = format!("`test` failed: the value at `{}` is different", self.path);
            Err(PatchError::new(self.mark, message))
        })
    }

    /// Changes every node that the path leads to. There must be at least one. `change` also gets its depth.
    fn for_each(
        &self,
        root: &mut Node,
        mut change: impl FnMut(&mut Node, usize) -> Result<()>,
    ) -> Result<()> {
        for location in self.locations(root, &self.path)? {
            if let Some(node) = node_at_mut(root, &location) {
                change(node, location.len())?;
            }
        }
        Ok(())
    }

    fn locations(&self, root: &Node, path: &Path) -> Result<Vec<Vec<PathStep>>> {
        let locations = path.find(root)?;
        if locations.is_empty() {
            return Err(PatchError::new(
                self.mark,
                format!("the path `{path}` selects nothing in this object"),
            ));
        }
        Ok(locations)
    }

    fn add(&self, root: &mut Node, value: &Node, budget: &mut Budget) -> Result<()> {
        let Some((parent, last)) = self.path.split_last() else {
            budget.insert(value, 0, self.mark)?;
            *root = value.clone();
            return Ok(());
        };
        let Segment::Name(name) = last else {
            return Err(PatchError::new(
                self.mark,
                "`add` needs a key, an index or `-` at the end of its path",
            )
            .help("use `replace`, `insert-before` or `insert-after` for an item that exists"));
        };
        for location in self.locations(root, &parent)? {
            let Some(node) = node_at_mut(root, &location) else { continue };
            budget.insert(value, location.len() + 1, self.mark)?;
            match &mut node.value {
                Value::Map(map) => {
                    map.insert(Entry { key: name.as_str().into(), mark: value.mark, value: value.clone() });
                }
                Value::List(items) if name == "-" => items.push(value.clone()),
                Value::List(items) => {
                    let index = self.path.index(name, items.len())?;
                    items.insert(index, value.clone());
                }
                other => {
                    return Err(PatchError::new(
                        self.mark,
                        format!("nothing can be added to {}", other.kind()),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Removes the nodes that a path leads to, and returns the first one.
    fn remove(&self, root: &mut Node, path: &Path) -> Result<Node> {
        let mut removed = None;
        // Starts with the last one, so that the indices of the others stay valid.
        for location in self.locations(root, path)?.iter().rev() {
            let Some((last, parent)) = location.split_last() else {
                return Err(PatchError::new(self.mark, "a patch cannot remove the object as a whole"));
            };
            removed = match (last, node_at_mut(root, parent).map(|node| &mut node.value)) {
                (PathStep::Key(key), Some(Value::Map(map))) => map.remove(key).map(|entry| entry.value),
                (PathStep::Index(index), Some(Value::List(items))) => Some(items.remove(*index)),
                _ => None,
            };
        }
        removed.ok_or_else(|| path.missing("the field").into())
    }

    fn append(&self, root: &mut Node, value: &Node, budget: &mut Budget) -> Result<()> {
        if self.path.find(root).is_err() {
            self.add(root, &list(Vec::new(), value.mark), budget)?;
        }
        self.for_each(root, |node, depth| match &mut node.value {
            Value::List(items) => {
                budget.insert(value, depth + 1, self.mark)?;
                items.push(value.clone());
                Ok(())
            }
            other => Err(PatchError::new(self.mark, format!("`append` needs a list, not {}", other.kind()))),
        })
    }

    fn insert(&self, root: &mut Node, value: &Node, insertion: Insertion, budget: &mut Budget) -> Result<()> {
        // Starts with the last one, so that the indices of the others stay valid.
        for location in self.locations(root, &self.path)?.iter().rev() {
            let Some((PathStep::Index(index), parent)) = location.split_last() else {
                return Err(self.not_an_item());
            };
            let Some(Value::List(items)) = node_at_mut(root, parent).map(|node| &mut node.value) else {
                return Err(self.not_an_item());
            };
            let index = match insertion {
                Insertion::Before => *index,
                Insertion::After => index + 1,
            };
            budget.insert(value, location.len(), self.mark)?;
            items.insert(index, value.clone());
        }
        Ok(())
    }

    fn not_an_item(&self) -> PatchError {
        PatchError::new(self.mark, "a value can only be inserted next to an item of a list")
    }
}

fn is_map(root: &Node, location: &[PathStep]) -> bool {
    node_at(root, location).is_some_and(|node| node.as_map().is_some())
}

/// Returns the value at a path that leads to exactly one.
fn single_value(root: &Node, path: &Path) -> Result<Node> {
    match path.find(root)?[..] {
        [ref location] => node_at(root, location).cloned().ok_or_else(|| path.missing("the field").into()),
        _ => Err(PatchError::new(
            path.mark,
            format!("`from` must select one value, but `{path}` selects several or none"),
        )),
    }
}

/// Sets an argument in a list. If its flag occurs several times, only the first occurrence remains.
fn set_flag(node: &mut Node, argument: &Node) -> Result<()> {
    let (Value::List(items), Some(text)) = (&mut node.value, argument.as_str()) else {
        return Err(PatchError::new(
            argument.mark,
            "`set-flag` needs a list of arguments and a text such as --v=4",
        ));
    };
    let flag = text.split_once('=').map_or(text, |(flag, _)| flag);
    let first = items.iter().position(|item| is_flag(item, flag));
    let mut index = 0;
    items.retain(|item| {
        let keep = !is_flag(item, flag) || Some(index) == first;
        index += 1;
        keep
    });
    match first {
        Some(first) => items[first] = argument.clone(),
        None => items.push(argument.clone()),
    }
    Ok(())
}
