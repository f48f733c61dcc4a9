//! Where a patch acts: JSON pointers, and three segments that do not count positions.
//!
//! | segment | means |
//! |---|---|
//! | `name`, `3`, `-` | a key, an index, the end of a list, as in RFC 6901 (`~1` is `/`, `~0` is `~`) |
//! | `[name=x]` | the item of a list whose `name` is `x` |
//! | `[--flag]` | the argument of a list that is `--flag` or begins with `--flag=` |
//! | `[*]` | every item of a list, or every value of a map |

use super::{PatchError, Result};
use crate::nearest::nearest;
use crate::yaml::{Mark, Node, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Name(String),
    Match { key: String, value: String },
    Flag(String),
    All,
}

/// One step down a tree that is known to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// A path, and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) segments: Vec<Segment>,
    pub(super) mark: Mark,
}

impl Path {
    pub(super) fn parse(text: &str, mark: Mark) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self { segments: Vec::new(), mark });
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PatchError::new(mark, format!("the path `{text}` does not start with `/`"))
                .help("write it as a JSON pointer, such as /spec/template/spec/containers/[name=x]/image"));
        };
        let segments = rest.split('/').map(|segment| parse_segment(segment, mark)).collect::<Result<_>>()?;
        Ok(Self { segments, mark })
    }

    /// The places that the path means in a tree. Each of them is there.
    pub(super) fn find(&self, root: &Node) -> Result<Vec<Vec<Step>>> {
        let mut places = vec![Vec::new()];
        for segment in &self.segments {
            let mut deeper = Vec::new();
            for place in places {
                let node = at(root, &place).ok_or_else(|| self.missing("something"))?;
                for step in self.steps(node, segment)? {
                    let mut place: Vec<Step> = place.clone();
                    place.push(step);
                    deeper.push(place);
                }
            }
            places = deeper;
        }
        Ok(places)
    }

    /// The path without its last segment, and that segment.
    pub(super) fn split_last(&self) -> Option<(Path, &Segment)> {
        let (last, parent) = self.segments.split_last()?;
        Some((Path { segments: parent.to_vec(), mark: self.mark }, last))
    }

    /// The steps from a node that a segment means. Each leads somewhere.
    pub(super) fn steps(&self, node: &Node, segment: &Segment) -> Result<Vec<Step>> {
        match (segment, &node.value) {
            (Segment::Name(name), Value::Map(map)) if map.get(name).is_some() => {
                Ok(vec![Step::Key(name.clone())])
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
                    Ok(vec![Step::Index(index)])
                } else {
                    Err(self.missing(&format!("item {name}")))
                }
            }
            (Segment::Match { key, value }, Value::List(items)) => self.matching(items, key, value),
            (Segment::Flag(flag), Value::List(items)) => self.flag(items, flag),
            (Segment::All, Value::List(items)) => Ok((0..items.len()).map(Step::Index).collect()),
            (Segment::All, Value::Map(map)) => {
                Ok(map.iter().map(|entry| Step::Key(entry.key.to_string())).collect())
            }
            (_, value) => Err(PatchError::new(self.mark, format!("the path goes on into {}", value.kind()))),
        }
    }

    /// An index as RFC 6901 has it: no sign, no leading zero.
    pub(super) fn index(&self, name: &str, length: usize) -> Result<usize> {
        let well_formed =
            name == "0" || !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit());
        match name.parse::<usize>() {
            Ok(index) if well_formed && index <= length => Ok(index),
            Ok(_) if well_formed => Err(self.missing(&format!("item {name} of a list of {length}"))),
            _ => Err(PatchError::new(self.mark, format!("`{name}` is no index of a list"))
                .help("write a number, `-` to append, or `[name=x]` to mean an item by its name")),
        }
    }

    fn matching(&self, items: &[Node], key: &str, value: &str) -> Result<Vec<Step>> {
        let hits: Vec<usize> = (0..items.len())
            .filter(|index| {
                items[*index].get(key).is_some_and(|found| scalar_text(found).as_deref() == Some(value))
            })
            .collect();
        match hits[..] {
            [index] => Ok(vec![Step::Index(index)]),
            [] => {
                let names: Vec<String> =
                    items.iter().filter_map(|item| item.get(key).and_then(scalar_text)).collect();
                let error = self.missing(&format!("an item with {key}={value}"));
                Err(match nearest(value, names.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `[{key}={near}]`?")),
                    None => error.help(format!("there are {}", names.join(", "))),
                })
            }
            _ => Err(PatchError::new(self.mark, format!("{} items have {key}={value}", hits.len()))
                .help("the path must mean one of them")),
        }
    }

    fn flag(&self, items: &[Node], flag: &str) -> Result<Vec<Step>> {
        let hits: Vec<Step> =
            (0..items.len()).filter(|index| is_flag(&items[*index], flag)).map(Step::Index).collect();
        if hits.is_empty() { Err(self.missing(&format!("the argument {flag}"))) } else { Ok(hits) }
    }

    pub(super) fn missing(&self, what: &str) -> PatchError {
        PatchError::new(self.mark, format!("the object does not have {what} that the path `{self}` means"))
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escape = |text: &str| text.replace('~', "~0").replace('/', "~1");
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

/// Whether an argument is a flag, with or without a value.
pub(super) fn is_flag(argument: &Node, flag: &str) -> bool {
    argument
        .as_str()
        .and_then(|text| text.strip_prefix(flag))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The node at a place.
pub(super) fn at<'n>(root: &'n Node, place: &[Step]) -> Option<&'n Node> {
    place.iter().try_fold(root, |node, step| match (step, &node.value) {
        (Step::Key(key), Value::Map(map)) => map.get(key),
        (Step::Index(index), Value::List(items)) => items.get(*index),
        _ => None,
    })
}

/// The node at a place, to be changed.
pub(super) fn at_mut<'n>(root: &'n mut Node, place: &[Step]) -> Option<&'n mut Node> {
    place.iter().try_fold(root, |node, step| match (step, &mut node.value) {
        (Step::Key(key), Value::Map(map)) => map.get_mut(key),
        (Step::Index(index), Value::List(items)) => items.get_mut(*index),
        _ => None,
    })
}

fn parse_segment(segment: &str, mark: Mark) -> Result<Segment> {
    let bracketed = segment.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        None => Ok(Segment::Name(unescape(segment, mark)?)),
        Some("*") => Ok(Segment::All),
        Some(flag) if flag.starts_with('-') => Ok(Segment::Flag(unescape(flag, mark)?)),
        Some(inner) => match inner.split_once('=') {
            Some((key, value)) => {
                Ok(Segment::Match { key: unescape(key, mark)?, value: unescape(value, mark)? })
            }
            None => Err(PatchError::new(mark, format!("`{segment}` is no segment of a path"))
                .help("write `[key=value]`, `[--flag]` or `[*]`")),
        },
    }
}

fn unescape(text: &str, mark: Mark) -> Result<String> {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, if character == '~' { characters.next() } else { None }) {
            ('~', Some('0')) => out.push('~'),
            ('~', Some('1')) => out.push('/'),
            ('~', _) => {
                return Err(PatchError::new(mark, format!("`~` in `{text}` stands for nothing"))
                    .help("write `~0` for `~` and `~1` for `/`"));
            }
            (other, _) => out.push(other),
        }
    }
    Ok(out)
}

/// A scalar as it would be written in a path.
fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(_) | Value::Bool(_) => Some(crate::yaml::json::write(node)),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
