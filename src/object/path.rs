//! Paths to fields: JSON pointers (RFC 6901), with three more segments that do not depend on the order of a list.
//!
//! | segment | meaning |
//! |---|---|
//! | `name`, `3`, `-` | a key, an index, the end of a list, as in RFC 6901 (`~1` is `/`, `~0` is `~`) |
//! | `[name=x]` | the item of a list whose `name` is `x` |
//! | `[--flag]` | the arguments of a list that are `--flag` or start with `--flag=` |
//! | `[*]` | every item of a list, or every value of a map |
//!
//! Everything that prints a path uses [`escape`] and [`item_segment`], so that `explain`, `lint` and `diff` name a field
//! in the same way.

use std::borrow::Cow;
use std::fmt;

use super::mask::is_sensitive;
use crate::nearest::nearest;
use crate::yaml::{Mark, Node, Value, json};

/// The fields that identify an item of a list, in order of preference. A mount is identified by its path, because one
/// volume may be mounted several times.
pub(crate) const ITEM_KEYS: [&str; 2] = ["mountPath", "name"];

/// Escapes a key or value for use in a path.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['~', '/']) {
        Cow::Owned(text.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Reverses [`escape`]. Returns `None` if a `~` is followed by anything but `0` or `1`.
pub(crate) fn unescape(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

/// Returns the path of a field below another path.
pub(crate) fn field(parent: &str, key: &str) -> String {
    format!("{parent}/{}", escape(key))
}

/// Returns the segment that identifies an item of a list independently of its index, such as `[name=x]`. An item whose
/// name is sensitive has none.
pub(crate) fn named_segment(item: &Node) -> Option<String> {
    ITEM_KEYS.iter().find_map(|key| {
        let value = item.get(key).filter(|value| !is_sensitive(value))?.as_str()?;
        Some(format!("[{key}={}]", escape(value)))
    })
}

/// Returns the segment for an item of a list: [`named_segment`], or the index.
pub(crate) fn item_segment(item: &Node, index: usize) -> String {
    named_segment(item).unwrap_or_else(|| index.to_string())
}

/// Returns the segments of all items of a list, if they identify each item. Two lists can then be compared item by item,
/// whatever their order is.
pub(crate) fn item_segments(items: &[Node]) -> Option<Vec<String>> {
    let segments: Vec<String> = items.iter().map(named_segment).collect::<Option<_>>()?;
    let mut sorted: Vec<&String> = segments.iter().collect();
    sorted.sort_unstable();
    let all_differ = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    (!segments.is_empty() && all_differ).then_some(segments)
}

/// The reason why a path cannot be read, or does not lead anywhere in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathError {
    /// The error message.
    pub(crate) message: String,
    /// The position at which the path is written.
    pub(crate) mark: Mark,
    /// How to fix it.
    pub(crate) help: Option<String>,
}

impl PathError {
    fn new(mark: Mark, message: impl Into<String>) -> Self {
        Self { message: message.into(), mark, help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

type Result<T> = std::result::Result<T, PathError>;

/// A parsed path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The segments, from the root down.
    pub(crate) segments: Vec<Segment>,
    /// The position at which the path is written.
    pub(crate) mark: Mark,
}

/// A segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A key of a map, an index of a list, or `-`.
    Name(String),
    /// The item of a list whose `key` has this value.
    Match {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// The arguments of a list that are this flag.
    Flag(String),
    /// All items of a list or values of a map.
    All,
}

/// A step from a node to one of its children. The child exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// To the value of a key.
    Key(String),
    /// To an item of a list.
    Index(usize),
}

/// Returns the locations that a path leads to; none if it leads nowhere.
pub(crate) fn locations(root: &Node, path: &str) -> Vec<Vec<PathStep>> {
    Path::parse(path, root.mark).and_then(|path| path.find(root)).unwrap_or_default()
}

/// Returns the nodes that a path leads to. An error says why it leads nowhere.
pub(crate) fn resolve<'n>(root: &'n Node, path: &str) -> Result<Vec<&'n Node>> {
    let locations = Path::parse(path, root.mark)?.find(root)?;
    Ok(locations.iter().filter_map(|location| node_at(root, location)).collect())
}

/// Returns the node at a location.
pub(crate) fn node_at<'n>(root: &'n Node, location: &[PathStep]) -> Option<&'n Node> {
    location.iter().try_fold(root, |node, step| match (step, &node.value) {
        (PathStep::Key(key), Value::Map(map)) => map.get(key),
        (PathStep::Index(index), Value::List(items)) => items.get(*index),
        _ => None,
    })
}

/// Returns the node at a location for changes.
pub(crate) fn node_at_mut<'n>(root: &'n mut Node, location: &[PathStep]) -> Option<&'n mut Node> {
    location.iter().try_fold(root, |node, step| match (step, &mut node.value) {
        (PathStep::Key(key), Value::Map(map)) => map.get_mut(key),
        (PathStep::Index(index), Value::List(items)) => items.get_mut(*index),
        _ => None,
    })
}

/// Returns whether a command-line argument is a flag, with or without a value.
pub(crate) fn is_flag(argument: &Node, flag: &str) -> bool {
    argument
        .as_str()
        .and_then(|text| text.strip_prefix(flag))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

impl Path {
    /// Parses a path.
    pub(crate) fn parse(text: &str, mark: Mark) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self { segments: Vec::new(), mark });
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PathError::new(mark, format!("the path `{text}` does not start with `/`"))
                .help("write it as a JSON pointer, such as /spec/template/spec/containers/[name=x]/image"));
        };
        let segments = rest.split('/').map(|segment| Segment::parse(segment, mark)).collect::<Result<_>>()?;
        Ok(Self { segments, mark })
    }

    /// Returns the locations that the path leads to. `[*]` in an empty list leads to none; other segments that lead
    /// nowhere are errors.
    pub(crate) fn find(&self, root: &Node) -> Result<Vec<Vec<PathStep>>> {
        let mut locations = vec![Vec::new()];
        for segment in &self.segments {
            let mut deeper = Vec::new();
            for location in locations {
                let node = node_at(root, &location).ok_or_else(|| self.missing("the field"))?;
                for step in self.steps(node, segment)? {
                    let mut location: Vec<PathStep> = location.clone();
                    location.push(step);
                    deeper.push(location);
                }
            }
            locations = deeper;
        }
        Ok(locations)
    }

    /// Splits off the last segment.
    pub(crate) fn split_last(&self) -> Option<(Path, &Segment)> {
        let (last, parent) = self.segments.split_last()?;
        Some((Path { segments: parent.to_vec(), mark: self.mark }, last))
    }

    /// Parses an index as in RFC 6901: no sign, no leading zero, at most the length of the list.
    pub(crate) fn index(&self, name: &str, length: usize) -> Result<usize> {
        let well_formed =
            name == "0" || !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit());
        match name.parse::<usize>() {
            Ok(index) if well_formed && index <= length => Ok(index),
            Ok(_) if well_formed => Err(self.missing(&format!("item {name} of a list of {length}"))),
            _ => Err(PathError::new(self.mark, format!("`{name}` is not an index of a list"))
                .help("write a number, `-` to append, or `[name=x]` to select an item by its name")),
        }
    }

    /// Returns the error for something that the path names and the object does not have.
    pub(crate) fn missing(&self, what: &str) -> PathError {
        PathError::new(self.mark, format!("the object does not have {what}, which the path `{self}` names"))
    }

    /// Returns the steps from a node that a segment selects.
    fn steps(&self, node: &Node, segment: &Segment) -> Result<Vec<PathStep>> {
        match (segment, &node.value) {
            (Segment::Name(name), Value::Map(map)) if map.get(name).is_some() => {
                Ok(vec![PathStep::Key(name.clone())])
            }
            (Segment::Name(name), Value::Map(map)) => {
                let error = self.missing(&format!("the key `{name}`"));
                let keys = map.iter().map(|entry| entry.key.as_str());
                Err(match nearest(name, keys) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                })
            }
            (Segment::Name(name), Value::List(items)) => {
                let index = self.index(name, items.len())?;
                if index < items.len() {
                    Ok(vec![PathStep::Index(index)])
                } else {
                    Err(self.missing(&format!("item {name}")))
                }
            }
            (Segment::Match { key, value }, Value::List(items)) => self.matching_item(items, key, value),
            (Segment::Flag(flag), Value::List(items)) => self.matching_flags(items, flag),
            (Segment::All, Value::List(items)) => Ok((0..items.len()).map(PathStep::Index).collect()),
            (Segment::All, Value::Map(map)) => {
                Ok(map.iter().map(|entry| PathStep::Key(entry.key.to_string())).collect())
            }
            (_, value) => {
                Err(PathError::new(self.mark, format!("the path `{self}` continues into {}", value.kind())))
            }
        }
    }

    fn matching_item(&self, items: &[Node], key: &str, value: &str) -> Result<Vec<PathStep>> {
        let nodes: Vec<Option<&Node>> = items.iter().map(|item| item.get(key)).collect();
        let is_match = |node: Option<&Node>| node.and_then(scalar_text).as_deref() == Some(value);
        let matches: Vec<usize> = (0..items.len()).filter(|index| is_match(nodes[*index])).collect();
        match matches[..] {
            [index] => Ok(vec![PathStep::Index(index)]),
            [] => {
                let public = nodes.iter().flatten().filter(|node| !is_sensitive(node));
                let texts: Vec<String> = public.filter_map(|node| scalar_text(node)).collect();
                let known: Vec<&str> = texts.iter().map(String::as_str).collect();
                let error = self.missing(&format!("an item with {key}={value}"));
                Err(match nearest(value, known.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `[{key}={near}]`?")),
                    None if known.is_empty() => error,
                    None => error.help(format!("the list has {}", known.join(", "))),
                })
            }
            _ => Err(PathError::new(self.mark, format!("{} items have {key}={value}", matches.len()))
                .help("select one of them, by its index or by another key")),
        }
    }

    fn matching_flags(&self, items: &[Node], flag: &str) -> Result<Vec<PathStep>> {
        let matches: Vec<PathStep> =
            (0..items.len()).filter(|index| is_flag(&items[*index], flag)).map(PathStep::Index).collect();
        if matches.is_empty() { Err(self.missing(&format!("the argument {flag}"))) } else { Ok(matches) }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Name(name) => write!(f, "/{}", escape(name))?,
                Segment::Match { key, value } => write!(f, "/[{}={}]", escape(key), escape(value))?,
                Segment::Flag(flag) => write!(f, "/[{}]", escape(flag))?,
                Segment::All => write!(f, "/[*]")?,
            }
        }
        Ok(())
    }
}

impl Segment {
    fn parse(segment: &str, mark: Mark) -> Result<Self> {
        let unescaped = |text: &str| {
            unescape(text).ok_or_else(|| {
                PathError::new(mark, format!("`~` in `{text}` is not followed by `0` or `1`"))
                    .help("write `~0` for `~` and `~1` for `/`")
            })
        };
        let Some(inner) = segment.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            return Ok(Self::Name(unescaped(segment)?));
        };
        if inner == "*" {
            return Ok(Self::All);
        }
        if inner.starts_with('-') {
            return Ok(Self::Flag(unescaped(inner)?));
        }
        match inner.split_once('=') {
            Some((key, value)) => Ok(Self::Match { key: unescaped(key)?, value: unescaped(value)? }),
            None => Err(PathError::new(mark, format!("`{segment}` is not a segment of a path"))
                .help("write `[key=value]`, `[--flag]` or `[*]`")),
        }
    }
}

/// Returns a scalar as it is written in a path.
pub(crate) fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(_) | Value::Bool(_) => Some(json::write(node)),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, item_segment, item_segments, unescape};
    use crate::yaml::{Node, SourceId, read};

    fn node(text: &str) -> Node {
        read(text, SourceId(0)).unwrap().remove(0).root
    }

    #[test]
    fn escaping_is_reversible_and_invalid_escapes_are_refused() {
        for (text, escaped) in [("a", "a"), ("a/b", "a~1b"), ("~1", "~01"), ("", "")] {
            assert_eq!(escape(text), escaped);
            assert_eq!(unescape(escaped).as_deref(), Some(text));
        }
        assert_eq!(unescape("~2"), None);
        assert_eq!(unescape("a~"), None);
    }

    #[test]
    fn items_are_named_by_mount_path_then_name_then_index() {
        for (item, segment) in [
            ("{name: data, mountPath: /var/x}", "[mountPath=~1var~1x]"),
            ("{name: http, containerPort: 80}", "[name=http]"),
            ("{name: 5}", "7"),
            ("text", "7"),
        ] {
            assert_eq!(item_segment(&node(item), 7), segment);
        }
    }

    #[test]
    fn a_list_is_compared_by_segments_only_if_they_identify_every_item() {
        let segments = |text: &str| item_segments(node(text).as_list().unwrap());
        assert_eq!(
            segments("[{name: t, mountPath: /a}, {name: t, mountPath: /b}]"),
            Some(vec!["[mountPath=~1a]".to_owned(), "[mountPath=~1b]".to_owned()])
        );
        assert_eq!(segments("[{name: a}, {name: a}]"), None);
        assert_eq!(segments("[{name: a}, 1]"), None);
        assert_eq!(segments("[]"), None);
    }
}
