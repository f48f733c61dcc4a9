//! Values from outside: parameter sets, files, objects of a cluster and single settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::parameters::{Parameter, Parameters, ParametersFile, Readable};
use super::profile::Profile;
use super::profiles::Profiles;
use super::read_folder::document;
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::yaml::{self, Entry, Map, Mark, Node, SourceId, Value};

/// The set that is always there, if only with nothing but defaults.
pub const DEFAULT_SET: &str = "default";

/// Values that belong together, and the profiles that are rendered with them.
#[derive(Clone, Debug, Default)]
pub struct ParameterSet {
    /// The profiles it concerns, all if empty.
    profiles: Vec<Marked<String>>,
    /// The values, as a tree.
    values: Option<Node>,
}

impl ParameterSet {
    /// Whether a profile is rendered with these values.
    pub fn concerns(&self, profile: &Profile) -> bool {
        profile.is_in(&self.profiles)
    }

    pub(super) fn all(
        found: &[(String, Node)],
        profiles: &[Profile],
        reader: &mut Reader<'_>,
    ) -> BTreeMap<String, Self> {
        let mut sets = BTreeMap::from([(DEFAULT_SET.to_owned(), Self::default())]);
        for (stem, node) in found {
            let Some(file) = ParametersFile::read(node, reader) else { continue };
            if file.metadata.name.0 != *stem {
                let message = format!("the set `{}` is in a file of another name", file.metadata.name.0);
                reader.error(node.mark, message).help = Some(format!("call it `{stem}`"));
            }
            if !file.parameters.is_empty() {
                reader.error(node.mark, "a parameter set declares nothing").help =
                    Some("move `parameters` to a file of its own beside the profiles".into());
            }
            for name in &file.profiles {
                let known = profiles.iter().any(|profile| profile.lineage.contains(&name.value));
                if !known {
                    unknown_profile(name, profiles, reader);
                }
            }
            if stem == DEFAULT_SET && !file.profiles.is_empty() {
                reader.error(node.mark, "the default set is for all profiles").help =
                    Some("remove `in`, or give the set another name".into());
            }
            sets.insert(stem.clone(), Self { profiles: file.profiles, values: file.values });
        }
        sets
    }
}

/// Reports a name in `in` that no profile has.
pub(super) fn unknown_profile(name: &Marked<String>, profiles: &[Profile], reader: &mut Reader<'_>) {
    let known: Vec<&str> = profiles.iter().flat_map(|profile| &profile.lineage).map(String::as_str).collect();
    let near = nearest(&name.value, known.iter().copied());
    reader.error(name.mark, format!("there is no profile `{}`", name.value)).help =
        near.map(|near| format!("did you mean `{near}`?"));
}

/// What the user gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueSources<'g> {
    /// Files with values; later ones win.
    pub files: &'g [PathBuf],
    /// Settings such as `a.b=value`, stronger than files.
    pub settings: &'g [String],
    /// Objects from which parameters are read.
    pub objects: &'g [(Readable, PathBuf)],
}

impl Profiles {
    /// Gives the declared parameters, and those that pages declare for themselves, their values: from the set, then
    /// from files in turn, then from settings.
    pub fn bind(
        &mut self,
        set: &ParameterSet,
        given: ValueSources<'_>,
        private: &BTreeMap<String, Marked<Parameter>>,
    ) -> Result<Parameters, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut trees: Vec<Node> = set.values.iter().cloned().collect();
        for path in given.files {
            match document(path, &mut self.sources) {
                Ok(node) => trees.push(values_of(node)),
                Err(found) => errors.0.extend(found.0),
            }
        }
        let declared: BTreeMap<String, Marked<Parameter>> = self
            .declared
            .iter()
            .chain(private)
            .map(|(name, parameter)| (name.clone(), parameter.clone()))
            .collect();
        for setting in given.settings {
            trees.extend(errors.collect(self.setting(setting, &declared)));
        }
        let mut objects = Vec::new();
        for (kind, path) in given.objects {
            match self.object(*kind, path) {
                Ok(node) => objects.push((*kind, node)),
                Err(found) => errors.0.extend(found.0),
            }
        }
        errors.or(())?;
        Parameters::bind(&declared, &trees, &objects, &self.sources)
    }

    fn object(&mut self, kind: Readable, path: &Path) -> Result<Node, Diagnostics> {
        let node = document(path, &mut self.sources)?;
        let found = node.get("kind").and_then(Node::as_str).unwrap_or("nothing");
        if found == kind.kind() {
            return Ok(node);
        }
        Err(Diagnostic::error(format!("this is {found}, not a {}", kind.kind()))
            .at(Location::of(node.mark, &self.sources))
            .help("give the object as `kubectl get -o yaml` prints it")
            .into())
    }

    /// `a.b=value` as a tree. The value is read as YAML reads a scalar, unless text is declared.
    fn setting(
        &mut self,
        setting: &str,
        declared: &BTreeMap<String, Marked<Parameter>>,
    ) -> Result<Node, Diagnostic> {
        let source = self.sources.add(format!("--set {}", setting.split('=').next().unwrap_or_default()));
        let wrong = |help: &str| Diagnostic::error("`--set` needs a name and a value").help(help);
        let (name, text) =
            setting.split_once('=').ok_or_else(|| wrong("write --set hcp.namespace=clusters-a"))?;
        let mark = Mark { source, line: 1, column: 1 };
        let text_wanted = declared.get(name).is_some_and(|parameter| parameter.value.is_text());
        let mut node = if text_wanted {
            Node { value: Value::String(text.into()), mark }
        } else {
            scalar(text, source)?
        };
        for segment in name.rsplit('.') {
            let entry = Entry { key: segment.into(), mark, value: node };
            node = Node { value: Value::Map(Map::from_entries(vec![entry], |_, _| {})), mark };
        }
        Ok(node)
    }
}

/// A file with values is a tree of them, or a parameter set.
fn values_of(node: Node) -> Node {
    let is_set = node.get("kind").and_then(Node::as_str) == Some("Parameters");
    match node.get("values") {
        Some(values) if is_set => values.clone(),
        None if is_set => Node { value: Value::Map(Map::default()), mark: node.mark },
        _ => node,
    }
}

fn scalar(text: &str, source: SourceId) -> Result<Node, Diagnostic> {
    let documents = yaml::read(text, source).map_err(|error| Diagnostic::syntax(error, "--set"))?;
    let mark = Mark { source, line: 1, column: 1 };
    Ok(documents.into_iter().next().map_or(Node { value: Value::Null, mark }, |document| document.root))
}
