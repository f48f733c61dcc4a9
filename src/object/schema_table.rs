//! The table of Kubernetes' own kinds: their scopes and the type of every field.
//!
//! The table comes from `kubernetes.schema`, which `make schema` writes from the OpenAPI documents of the pinned release.
//! Its first part has a line for each kind: API version, kind, scope (`N`amespaced or `C`luster) and the number of its
//! type. The second part has a line for each type, in the order of the numbers: `field=code`, with `!` after the name of a
//! required field. Codes:
//!
//! | code | type |
//! |---|---|
//! | `s` `i` `n` `b` | string, integer, number, boolean |
//! | `q` `u` | integer or string, quantity |
//! | `x` | anything |
//! | `@7` | the type with that number |
//! | `{s` | a map of strings |
//! | `[m:name;k:name|@7` | a list; `m:` merges in a strategic merge, by that key if there is one, `k:` are the keys of a list that is a map, `t` is a set |
//! | `^` `+` | before a map: a strategic merge replaces it, or supports `$retainKeys` |

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Scope;

/// The table of all built-in kinds.
#[derive(Debug)]
struct SchemaTable {
    /// Scope and type number by API version and kind.
    kinds: HashMap<(&'static str, &'static str), (Scope, usize)>,
    /// Scopes by group and kind. All versions of a kind have the same scope.
    scopes: HashMap<(&'static str, &'static str), Scope>,
    types: Vec<Type>,
}

/// A type: its fields, sorted by name, and the names of the required ones.
#[derive(Debug, Default)]
struct Type {
    fields: Vec<(&'static str, Field)>,
    required: Vec<&'static str>,
}

/// The schema of one field of a built-in kind.
#[derive(Debug)]
pub(crate) struct Field {
    /// Whether a strategic merge replaces the map instead of merging it.
    pub(super) replace: bool,
    pub(super) form: Form,
}

/// The structure of a field.
#[derive(Debug)]
pub(super) enum Form {
    Scalar(Expected),
    /// A map with known fields: the number of its type.
    Object(usize),
    /// A map with any keys.
    Map(Box<Field>),
    List(ListForm),
}

/// A list, and how its items merge.
#[derive(Debug)]
pub(super) struct ListForm {
    pub(super) merges: bool,
    pub(super) merge_key: &'static str,
    pub(super) keys: Vec<&'static str>,
    pub(super) is_set: bool,
    pub(super) item: Box<Field>,
}

/// The type that a value must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A whole number or a string, such as a port or its name.
    IntegerOrText,
    /// A number or a string, such as `100m`.
    Quantity,
    /// A map.
    Map,
    /// A list.
    List,
    /// Any value.
    Anything,
}

/// Returns the scope of a built-in kind, in any version.
pub(super) fn built_in_scope(group: &str, kind: &str) -> Option<Scope> {
    table().scopes.get(&(group, kind)).copied()
}

/// Returns the versions in which Kubernetes itself serves a kind, as `group/version`.
pub(crate) fn versions(group: &str, kind: &str) -> Vec<&'static str> {
    let mut versions = Vec::new();
    for (api_version, other_kind) in table().kinds.keys() {
        if *other_kind == kind && group_of(api_version) == group {
            versions.push(*api_version);
        }
    }
    versions.sort_unstable();
    versions
}

/// Returns whether Kubernetes itself has a kind, in any group.
pub(crate) fn is_built_in_kind(kind: &str) -> bool {
    table().scopes.keys().any(|(_, other)| *other == kind)
}

/// Returns the type number of a built-in kind.
pub(super) fn type_of_kind(api_version: &str, kind: &str) -> Option<usize> {
    table().kinds.get(&(api_version, kind)).map(|(_, number)| *number)
}

/// Returns a field of a type.
pub(super) fn field_of_type(number: usize, name: &str) -> Option<&'static Field> {
    let fields = &table().types.get(number)?.fields;
    let index = fields.binary_search_by(|(other, _)| (*other).cmp(name)).ok()?;
    Some(&fields[index].1)
}

/// Returns the names of all fields of a type.
pub(super) fn fields_of_type(number: usize) -> Vec<&'static str> {
    let Some(known) = table().types.get(number) else { return Vec::new() };
    known.fields.iter().map(|(name, _)| *name).collect()
}

/// Returns the names of the required fields of a type.
pub(super) fn required_of_type(number: usize) -> &'static [&'static str] {
    table().types.get(number).map(|known| known.required.as_slice()).unwrap_or_default()
}

fn group_of(api_version: &'static str) -> &'static str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn table() -> &'static SchemaTable {
    static TABLE: OnceLock<SchemaTable> = OnceLock::new();
    TABLE.get_or_init(|| parse(include_str!("kubernetes.schema")))
}

fn parse(text: &'static str) -> SchemaTable {
    let (kinds, types) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut table = SchemaTable { kinds: HashMap::new(), scopes: HashMap::new(), types: Vec::new() };
    // The first line names the Kubernetes release.
    for (api_version, kind, scope, number) in kinds.lines().skip(1).filter_map(parse_kind) {
        table.kinds.insert((api_version, kind), (scope, number));
        table.scopes.insert((group_of(api_version), kind), scope);
    }
    table.types = types.lines().map(parse_type).collect();
    table
}

fn parse_kind(line: &'static str) -> Option<(&'static str, &'static str, Scope, usize)> {
    let mut words = line.split(' ');
    let (api_version, kind) = (words.next()?, words.next()?);
    let scope = if words.next()? == "N" { Scope::Namespaced } else { Scope::Cluster };
    Some((api_version, kind, scope, words.next()?.parse().ok()?))
}

fn parse_type(line: &'static str) -> Type {
    let mut parsed = Type::default();
    for (name, code) in line.split(' ').filter_map(|word| word.split_once('=')) {
        let bare = name.trim_end_matches('!');
        if bare != name {
            parsed.required.push(bare);
        }
        parsed.fields.push((bare, parse_field(code)));
    }
    parsed
}

fn parse_field(code: &'static str) -> Field {
    let replace = code.starts_with('^');
    let code = code.trim_start_matches(['^', '+']);
    let form = match code.as_bytes().first() {
        Some(b'@') => code[1..].parse().map_or(Form::Scalar(Expected::Anything), Form::Object),
        Some(b'{') => Form::Map(Box::new(parse_field(&code[1..]))),
        Some(b'[') => parse_list(&code[1..]),
        other => Form::Scalar(match other {
            Some(b's') => Expected::Text,
            Some(b'i') => Expected::Integer,
            Some(b'n') => Expected::Number,
            Some(b'b') => Expected::Boolean,
            Some(b'q') => Expected::IntegerOrText,
            Some(b'u') => Expected::Quantity,
            _ => Expected::Anything,
        }),
    };
    Field { replace, form }
}

fn parse_list(code: &'static str) -> Form {
    let (attributes, item) = code.split_once('|').unwrap_or(("", code));
    let mut list = ListForm {
        merges: false,
        merge_key: "",
        keys: Vec::new(),
        is_set: false,
        item: Box::new(parse_field(item)),
    };
    for attribute in attributes.split(';') {
        match attribute.split_once(':') {
            Some(("m", key)) => (list.merges, list.merge_key) = (true, key),
            Some(("k", names)) => list.keys = names.split(',').collect(),
            _ => list.is_set |= attribute == "t",
        }
    }
    Form::List(list)
}
