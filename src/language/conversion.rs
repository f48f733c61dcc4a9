//! `as` of `read`: turns the value of a field into that of a parameter.

use super::pattern::TextPattern;
use super::template::{Lookup, Names, NotDefined, names_in, substitute_text};
use super::typed::{Marked, Reader, typed};
use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

typed! {
    /// How the value of a field becomes that of the parameter. The steps have the order of these fields.
    pub(crate) struct Conversion ("`as`") {
        /// Keeps the entries of a map whose keys begin with this text, and removes the text from the keys.
        "prefix" prefix: Option<String>,
        /// Texts such as `a=1,b=2` in a map become maps.
        "pairs" pairs: bool,
        /// The text for each item of a list, such as `${key}=${value}`. Its names are the fields of the item.
        "item" item: Option<Marked<String>>,
        /// Removes each text of a list that this regular expression matches as a whole.
        "except" except: Option<TextPattern>,
        /// The value for each text, or for each text of a list. Texts that are not listed are removed.
        "values" values: Option<Marked<Node>>,
        /// Joins the texts of a list, with this text between them.
        "join" join: Option<String>,
    }
}

impl Conversion {
    /// Reports `values` that is not a map, and an `item` that is the same text for every item.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        if let Some(item) = self.item.as_ref().filter(|item| names_in(&item.value).is_empty()) {
            reader.error(item.mark, format!("`{}` names no field of the item", item.value)).help =
                Some("write fields of the item as in `${key}=${value}`".into());
        }
        if let Some(values) = self.values.as_ref().filter(|values| values.value.as_map().is_none()) {
            let message = format!("`values` must be a map, not {}", values.value.value.kind());
            reader.error(values.mark, message).help = Some("write `text: value` for each text".into());
        }
    }

    /// Converts a value. Returns `None` if nothing of it is left. A step ignores values of other kinds; the type check of the
    /// parameter reports them.
    pub(super) fn apply(&self, node: Node, sources: &Sources) -> Result<Option<Node>, Diagnostic> {
        let value = match &node.value {
            Value::Map(map) => Value::Map(self.convert_map(map, sources)?),
            Value::List(items) => self.convert_list(items, sources)?,
            Value::String(text) => match self.value_for(text) {
                Some(found) => found.value.clone(),
                None if self.values.is_some() => return Ok(None),
                None => return Ok(Some(node)),
            },
            _ => return Ok(Some(node)),
        };
        let is_empty = match &value {
            Value::Map(map) => map.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        Ok((!is_empty).then(|| node.with_value(value)))
    }

    fn convert_map(&self, map: &Map, sources: &Sources) -> Result<Map, Diagnostic> {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let mut entries = Vec::new();
        for entry in map {
            let Some(key) = entry.key.strip_prefix(prefix).filter(|key| !key.is_empty()) else { continue };
            let value = match entry.value.as_str() {
                Some(text) if self.pairs => {
                    entry.value.with_value(Value::Map(pairs(text, entry.value.mark, sources)?))
                }
                _ => entry.value.clone(),
            };
            entries.push(Entry { key: key.into(), value, ..entry.clone() });
        }
        Ok(Map::of(entries))
    }

    fn convert_list(&self, items: &[Node], sources: &Sources) -> Result<Value, Diagnostic> {
        let mut converted = Vec::new();
        for item in items {
            let item = match &self.item {
                Some(Marked { value: template, mark }) => {
                    let text = substitute_text(template, *mark, &FieldsOf(item), sources)?;
                    item.with_value(Value::String(text.into()))
                }
                None => item.clone(),
            };
            let Some(text) = item.as_str() else {
                converted.push(item);
                continue;
            };
            if self.except.as_ref().is_some_and(|except| except.matches(text)) {
                continue;
            }
            match self.value_for(text) {
                Some(found) => converted.push(item.with_value(found.value.clone())),
                None if self.values.is_some() => {}
                None => converted.push(item),
            }
        }
        let texts: Option<Vec<&str>> = converted.iter().map(Node::as_str).collect();
        Ok(match (&self.join, texts) {
            (Some(between), Some(texts)) => Value::String(texts.join(between).into()),
            _ => Value::List(converted),
        })
    }

    fn value_for(&self, text: &str) -> Option<&Node> {
        self.values.as_ref()?.value.get(text)
    }
}

/// Reads a text such as `a=1,b=2`. The messages do not show it, because it may be secret.
fn pairs(text: &str, mark: Mark, sources: &Sources) -> Result<Map, Diagnostic> {
    let invalid = |message: String| {
        Diagnostic::error(message)
            .at(Location::of(mark, sources))
            .help("write names and values as in `cpu=100m,memory=1Gi`")
    };
    let mut entries: Vec<Entry> = Vec::new();
    for (index, pair) in text.split(',').enumerate() {
        let (key, value) = pair.split_once('=').unwrap_or_default();
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() || value.is_empty() {
            return Err(invalid(format!("pair {} of the text has no name or no value", index + 1)));
        }
        if entries.iter().any(|entry| &*entry.key == key) {
            return Err(invalid(format!("pair {} of the text has the name of an earlier one", index + 1)));
        }
        let value = Node::new(Value::String(value.into()), mark);
        entries.push(Entry { key: key.into(), mark, value });
    }
    Ok(Map::of(entries))
}

/// The fields of an item of a list.
struct FieldsOf<'n>(&'n Node);

impl Names for FieldsOf<'_> {
    fn get(&self, name: &str) -> Result<Lookup, NotDefined> {
        let found = self.0.get(name).cloned().map(Lookup::Value);
        found.ok_or_else(|| NotDefined::new("the item of the list does not have this field"))
    }
}
