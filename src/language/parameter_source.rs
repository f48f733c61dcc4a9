//! The fields of objects from which parameters are read, and the files with these objects.

use std::path::{Path as FilePath, PathBuf};

use serde_json::Value as Json;

use super::conversion::Conversion;
use super::profiles_folder::read_document;
use super::template::{Lookup, Names, NotDefined, names_in, substitute_text};
use super::typed::{Marked, Reader, Typed, string_enum, typed};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::object::path::{Path, Segment, escape};
use crate::yaml::{Mark, Node, Sources, Value};

/// The name that a path may contain.
const RELEASE_VERSION: &str = "release.version";

const SAVE: &str = "save the object with `kubectl get -o yaml`";

typed! {
    /// A field of an object from which the value of a parameter is read.
    pub(super) struct ParameterSource ("read") {
        /// The object.
        "object" object: ParameterObject,
        /// The path of the value in the object: a JSON pointer with `[key=value]` for an item of a list. With `[*]` for all
        /// items, the value is a list. It may contain `${release.version}`.
        "path" path: Marked<String>,
        /// A list may lack the item that the path names: the field then has no value.
        "optional" optional: bool,
        /// How the value of the field becomes that of the parameter.
        "as" conversion: Option<Conversion>,
    }
}

/// The fields from which a value is read, in order of preference.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParameterSources(pub(super) Vec<ParameterSource>);

impl Typed for ParameterSources {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let sources = match &node.value {
            Value::List(_) => Vec::read(node, reader)?,
            _ => vec![ParameterSource::read(node, reader)?],
        };
        Some(Self(sources))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        serde_json::json!({"oneOf": [ParameterSource::schema(), {"type": "array", "items": ParameterSource::schema()}]})
    }
}

string_enum! {
    /// An object from which the values of parameters are read. `--cluster-objects` gives several of them.
    pub(crate) enum ParameterObject {
        /// The `HostedControlPlane` in the management cluster, given with `--hosted-control-plane`.
        "HostedControlPlane" => HostedControlPlane,
        /// The `Infrastructure` in the guest, which its administrator can edit, given with `--infrastructure`.
        "Infrastructure" => Infrastructure,
        /// A driver's `ClusterCSIDriver` in the guest, given with `--cluster-csi-driver`.
        "ClusterCSIDriver" => ClusterCsiDriver,
        /// The `FeatureGate` in the guest, given with `--cluster-objects`.
        "FeatureGate" => FeatureGate,
        /// The `ClusterVersion` in the guest, given with `--cluster-objects`.
        "ClusterVersion" => ClusterVersion,
    }
}

impl ParameterObject {
    /// Returns the kind of the object.
    pub(crate) fn kind(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    fn of_kind(kind: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == kind).map(|(_, object)| *object)
    }

    /// Reads a file with one object, which must be of this kind.
    pub(super) fn read_file(self, file: &FilePath, sources: &mut Sources) -> Result<Node, Diagnostics> {
        let node = read_document(file, sources)?;
        let actual = match node.get("kind").and_then(Node::as_str) {
            Some(actual) if actual == self.kind() => return Ok(node),
            Some(actual) => format!("`kind: {actual}`"),
            None => "no kind".to_owned(),
        };
        Err(Diagnostic::error(format!("expected `kind: {}`, found {actual}", self.kind()))
            .at(Location::of(node.mark, sources))
            .help(SAVE)
            .into())
    }
}

/// The objects of the clusters from which parameters are read.
#[derive(Debug, Default)]
pub(super) struct ClusterObjects(Vec<(ParameterObject, Node)>);

impl ClusterObjects {
    /// Reads the files with one object of a known kind, and those with any objects.
    pub(super) fn read(
        single: &[(ParameterObject, PathBuf)],
        files: &[PathBuf],
        sources: &mut Sources,
    ) -> Result<Self, Diagnostics> {
        let (mut objects, mut errors) = (Self::default(), Diagnostics::default());
        for (kind, file) in single {
            match kind.read_file(file, sources) {
                Ok(node) => objects.0.push((*kind, node)),
                Err(found) => errors.append(found),
            }
        }
        for file in files {
            match read_objects(file, sources) {
                Ok(found) => objects.0.extend(found),
                Err(found) => errors.append(found),
            }
        }
        for (index, (kind, node)) in objects.0.iter().enumerate() {
            if let Some((_, first)) = objects.0[..index].iter().find(|(other, _)| other == kind) {
                errors.0.push(
                    Diagnostic::error(format!("two objects are of the kind {}", kind.kind()))
                        .at(Location::of(node.mark, sources))
                        .note(format!("the first is at {}", sources.show(first.mark)))
                        .help("remove one of them: a parameter is read from one object"),
                );
            }
        }
        errors.into_result(objects)
    }

    /// Returns the object of a kind.
    pub(super) fn of_kind(&self, kind: ParameterObject) -> Option<&Node> {
        self.0.iter().find(|(other, _)| *other == kind).map(|(_, node)| node)
    }
}

/// Reads the objects in a file: several documents, or a List as `kubectl get` prints it.
fn read_objects(file: &FilePath, sources: &mut Sources) -> Result<Vec<(ParameterObject, Node)>, Diagnostics> {
    let source = sources.add(file.display().to_string());
    let (mut objects, mut errors) = (Vec::new(), Diagnostics::default());
    for document in file::read_documents(file, source)? {
        errors
            .0
            .extend(Diagnostic::refused_duplicate_keys(&document.duplicates, &file.display().to_string()));
        let root = document.root;
        let is_list = root.get("kind").and_then(Node::as_str) == Some("List");
        match root.get("items").and_then(Node::as_list) {
            Some(items) if is_list => objects.extend_from_slice(items),
            _ => objects.push(root),
        }
    }
    let mut of_known_kinds = Vec::new();
    for object in objects {
        let kind = object.get("kind").and_then(Node::as_str).unwrap_or_default();
        match ParameterObject::of_kind(kind) {
            Some(kind) => of_known_kinds.push((kind, object)),
            None => errors.0.push(unknown_kind(kind, object.mark, sources)),
        }
    }
    errors.into_result(of_known_kinds)
}

fn unknown_kind(kind: &str, mark: Mark, sources: &Sources) -> Diagnostic {
    let known: Vec<&str> = ParameterObject::NAMES.iter().map(|(name, _)| *name).collect();
    let message = match kind {
        "" => "the object has no kind".to_owned(),
        kind => format!("no parameter can be read from `kind: {kind}`"),
    };
    Diagnostic::error(message)
        .at(Location::of(mark, sources))
        .help(format!("the objects can be of the kinds {}", known.join(", ")))
}

/// The one name that a path may contain, with its value.
struct VersionOnly<'v>(Option<&'v str>);

impl Names for VersionOnly<'_> {
    fn get(&self, name: &str) -> Result<Lookup, NotDefined> {
        match (name, self.0) {
            (RELEASE_VERSION, Some(version)) => {
                Ok(Lookup::Value(Node::new(Value::String(escape(version).as_ref().into()), Mark::default())))
            }
            (RELEASE_VERSION, None) => Err(NotDefined::new("add release-metadata to the payload")),
            _ => Err(NotDefined::new("a path can only contain `${release.version}`")),
        }
    }
}

impl ParameterSource {
    /// Reports a path that is not valid.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        let Marked { value: path, mark } = &self.path;
        if !path.starts_with('/') {
            reader.error(*mark, format!("`{path}` is not a JSON pointer")).help =
                Some("start it with `/`, as in /spec/platform/type".into());
            return;
        }
        match self.parse(Some("0"), reader.sources) {
            Ok(_) => {}
            Err(error) => reader.errors.0.push(error),
        }
        if let Some(conversion) = &self.conversion {
            conversion.check(reader);
        }
    }

    fn parse(&self, version: Option<&str>, sources: &Sources) -> Result<Path, Diagnostic> {
        let Marked { value: text, mark } = &self.path;
        let filled = if names_in(text).is_empty() {
            text.clone()
        } else {
            substitute_text(text, *mark, &VersionOnly(version), sources)?
        };
        Path::parse(&filled, *mark).map_err(|error| {
            let diagnostic = Diagnostic::error(error.message).at(Location::of(error.mark, sources));
            match error.help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        })
    }

    /// Returns the value in an object, converted; `None` if the object does not have it.
    pub(super) fn value_in(
        &self,
        object: &Node,
        version: Option<&str>,
        sources: &Sources,
    ) -> Result<Option<Node>, Diagnostic> {
        match (self.field_of(object, version, sources)?, &self.conversion) {
            (Some(found), Some(conversion)) => conversion.apply(found, sources),
            (found, _) => Ok(found),
        }
    }

    /// Returns the field of an object. Fails if a list has no item that the path names: the object may be that of another
    /// cluster or of another version.
    fn field_of(
        &self,
        object: &Node,
        version: Option<&str>,
        sources: &Sources,
    ) -> Result<Option<Node>, Diagnostic> {
        let path = self.parse(version, sources)?;
        let (mut nodes, mut all_of) = (vec![object], None);
        for segment in &path.segments {
            let mut children = Vec::new();
            for node in nodes {
                match (segment, &node.value) {
                    (Segment::Name(key), Value::Map(map)) => children.extend(map.get(key)),
                    (Segment::Name(index), Value::List(items)) => {
                        children.extend(index.parse::<usize>().ok().and_then(|index| items.get(index)));
                    }
                    (Segment::Match { key, value }, Value::List(items)) => {
                        let found = items.iter().find(|item| is_text(item.get(key), value));
                        if found.is_none() && !self.optional {
                            return Err(self.no_item((key, value), node, sources));
                        }
                        children.extend(found);
                    }
                    (Segment::All, Value::List(items)) => {
                        all_of = Some(node.mark);
                        children.extend(items);
                    }
                    _ => {}
                }
            }
            nodes = children;
        }
        Ok(match all_of {
            Some(mark) => Some(Node::new(Value::List(nodes.into_iter().cloned().collect()), mark)),
            None => nodes.first().map(|node| (*node).clone()),
        })
    }

    fn no_item(&self, (key, value): (&str, &str), list: &Node, sources: &Sources) -> Diagnostic {
        let items = list.as_list().unwrap_or_default();
        let known: Vec<&str> = items.iter().filter_map(|item| item.get(key)?.as_str()).collect();
        let kind = self.object.kind();
        let error = Diagnostic::error(format!("the {kind} has no item with {key}={value}"))
            .at(Location::of(list.mark, sources))
            .note(format!("a parameter is read from `{}` of the {kind}", self.path.value));
        if known.is_empty() { error } else { error.note(format!("the items have {}", known.join(", "))) }
    }
}

fn is_text(node: Option<&Node>, text: &str) -> bool {
    node.and_then(Node::as_str) == Some(text)
}
