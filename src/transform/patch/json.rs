//! RFC 6902, strictly, with paths that can name items; and the few operations that people miss in it.
//!
//! | operation | does |
//! |---|---|
//! | `add` `remove` `replace` `move` `copy` `test` | as RFC 6902 has it |
//! | `default` | sets a field that is not there |
//! | `append` | puts a value at the end of a list, which it makes where there is none |
//! | `insert-before` `insert-after` | puts a value beside an item of a list |
//! | `set-flag` | sets an argument such as `--v=4`, in place of one with the same flag or at the end |

use super::path::{Path, Segment, Step, at, at_mut, is_flag};
use super::{PatchError, Result};
use crate::nearest::nearest;
use crate::yaml::{Entry, Mark, Node, Value};

/// One operation of a patch.
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

/// Reads the operations of a patch, which is a list.
pub fn operations(patch: &Node) -> Result<Vec<Operation>> {
    let Some(items) = patch.as_list() else {
        return Err(PatchError::new(
            patch.mark,
            format!("a JSON patch is a list of operations, not {}", patch.value.kind()),
        ));
    };
    items.iter().map(operation).collect()
}

/// Applies operations one after the other; if one fails, the target is left as it was.
pub fn apply(target: &mut Node, operations: &[Operation]) -> Result<()> {
    let mut changed = target.clone();
    for operation in operations {
        operation.apply(&mut changed)?;
    }
    *target = changed;
    Ok(())
}

fn operation(node: &Node) -> Result<Operation> {
    let text = |field: &str| {
        let value = node.get(field).and_then(Node::as_str);
        value.ok_or_else(|| PatchError::new(node.mark, format!("an operation without `{field}`")))
    };
    let path = |field: &str| Path::parse(text(field)?, node.get(field).map_or(node.mark, |node| node.mark));
    let value = || {
        node.get("value").cloned().ok_or_else(|| PatchError::new(node.mark, "an operation without `value`"))
    };
    let name = text("op")?;
    let action = match name {
        "add" => Action::Add(value()?),
        "remove" => Action::Remove,
        "replace" => Action::Replace(value()?),
        "move" => Action::Move(path("from")?),
        "copy" => Action::Copy(path("from")?),
        "test" => Action::Test(value()?),
        "default" => Action::Default(value()?),
        "append" => Action::Append(value()?),
        "insert-before" => Action::InsertBefore(value()?),
        "insert-after" => Action::InsertAfter(value()?),
        "set-flag" => Action::SetFlag(value()?),
        _ => {
            let error = PatchError::new(node.mark, format!("there is no operation `{name}`"));
            return Err(match nearest(name, NAMES) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("there are {}", NAMES.join(", "))),
            });
        }
    };
    Ok(Operation { action, path: path("path")?, mark: node.mark })
}

impl Operation {
    fn apply(&self, root: &mut Node) -> Result<()> {
        match &self.action {
            Action::Add(value) => self.add(root, value),
            Action::Remove => self.remove(root).map(drop),
            Action::Replace(value) => self.each(root, |node| {
                *node = value.clone();
                Ok(())
            }),
            Action::Test(expected) => self.each(root, |node| {
                let fails = || {
                    PatchError::new(
                        self.mark,
                        format!("the value at `{}` is not the one tested for", self.path),
                    )
                };
                if node == expected { Ok(()) } else { Err(fails()) }
            }),
            Action::Move(from) => {
                if self.path.segments.starts_with(&from.segments)
                    && self.path.segments.len() > from.segments.len()
                {
                    return Err(PatchError::new(self.mark, "a value cannot be moved into itself"));
                }
                let value = Operation { path: from.clone(), ..self.clone() }.remove(root)?;
                self.add(root, &value)
            }
            Action::Copy(from) => {
                let value = single(root, from)?;
                self.add(root, &value)
            }
            Action::Default(value) => match self.path.find(root) {
                Ok(places) if !places.is_empty() => Ok(()),
                _ => self.add(root, value),
            },
            Action::Append(value) => self.append(root, value),
            Action::InsertBefore(value) => self.insert_beside(root, value, 0),
            Action::InsertAfter(value) => self.insert_beside(root, value, 1),
            Action::SetFlag(value) => self.each(root, |node| set_flag(node, value)),
        }
    }

    /// Does something to every node that the path means; there must be one.
    fn each(&self, root: &mut Node, change: impl Fn(&mut Node) -> Result<()>) -> Result<()> {
        let places = self.places(root, &self.path)?;
        for place in places {
            if let Some(node) = at_mut(root, &place) {
                change(node)?;
            }
        }
        Ok(())
    }

    fn places(&self, root: &Node, path: &Path) -> Result<Vec<Vec<Step>>> {
        let places = path.find(root)?;
        if places.is_empty() {
            return Err(PatchError::new(
                self.mark,
                format!("the path `{path}` means nothing in this object"),
            ));
        }
        Ok(places)
    }

    fn add(&self, root: &mut Node, value: &Node) -> Result<()> {
        let Some((parent, last)) = self.path.split_last() else {
            *root = value.clone();
            return Ok(());
        };
        let Segment::Name(name) = last else {
            return Err(PatchError::new(
                self.mark,
                "`add` needs a key, an index or `-` at the end of its path",
            )
            .help("use `replace`, `insert-before` or `insert-after` for an item that is there"));
        };
        for place in self.places(root, &parent)? {
            let Some(node) = at_mut(root, &place) else { continue };
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

    /// Removes what the path means, the last first so that positions stay what they were; gives the first.
    fn remove(&self, root: &mut Node) -> Result<Node> {
        let mut removed = None;
        for place in self.places(root, &self.path)?.iter().rev() {
            let Some((last, parent)) = place.split_last() else {
                return Err(PatchError::new(self.mark, "the object as a whole cannot be removed by a patch"));
            };
            removed = match (last, at_mut(root, parent).map(|node| &mut node.value)) {
                (Step::Key(key), Some(Value::Map(map))) => map.remove(key).map(|entry| entry.value),
                (Step::Index(index), Some(Value::List(items))) => Some(items.remove(*index)),
                _ => None,
            };
        }
        removed.ok_or_else(|| self.path.missing("something"))
    }

    fn append(&self, root: &mut Node, value: &Node) -> Result<()> {
        if self.path.find(root).is_err() {
            let empty = Node { value: Value::List(Vec::new()), mark: value.mark };
            self.add(root, &empty)?;
        }
        self.each(root, |node| match &mut node.value {
            Value::List(items) => {
                items.push(value.clone());
                Ok(())
            }
            other => Err(PatchError::new(self.mark, format!("`append` needs a list, not {}", other.kind()))),
        })
    }

    fn insert_beside(&self, root: &mut Node, value: &Node, offset: usize) -> Result<()> {
        for place in self.places(root, &self.path)?.iter().rev() {
            let list = place.split_last().and_then(|(last, parent)| match last {
                Step::Index(index) => Some((*index, at_mut(root, parent)?)),
                Step::Key(_) => None,
            });
            match list {
                Some((index, Node { value: Value::List(items), .. })) => {
                    items.insert(index + offset, value.clone());
                }
                _ => {
                    return Err(PatchError::new(
                        self.mark,
                        "a value can only be inserted beside an item of a list",
                    ));
                }
            }
        }
        Ok(())
    }
}

fn single(root: &Node, path: &Path) -> Result<Node> {
    match path.find(root)?[..] {
        [ref place] => at(root, place).cloned().ok_or_else(|| path.missing("something")),
        _ => Err(PatchError::new(path.mark, format!("`from` must mean one value, and `{path}` does not"))),
    }
}

fn set_flag(node: &mut Node, flag: &Node) -> Result<()> {
    let (Value::List(items), Some(text)) = (&mut node.value, flag.as_str()) else {
        return Err(PatchError::new(
            flag.mark,
            "`set-flag` needs a list of arguments and a text such as --v=4",
        ));
    };
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let mut set = false;
    items.retain_mut(|item| {
        if !is_flag(item, name) {
            return true;
        }
        // A flag given twice would win by its last place; only one is left.
        let first = !std::mem::replace(&mut set, true);
        if first {
            *item = flag.clone();
        }
        first
    });
    if !set {
        items.push(flag.clone());
    }
    Ok(())
}
