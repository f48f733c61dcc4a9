//! Values of parameters: from parameter sets in `profiles/sets/`, and from files, objects and flags of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::parameter_source::{ClusterObjects, ParameterObject};
use super::parameters::{GivenValues, Parameter, Parameters, ParametersFile};
use super::profile::Profile;
use super::profiles::Profiles;
use super::profiles_folder::read_document;
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file;
use crate::nearest::nearest;
use crate::yaml::{Entry, Map, Mark, Node, SourceId, Value};

/// The set that always exists. Without a file, all of its values are defaults.
pub(crate) const DEFAULT_SET: &str = "default";

/// A set of values, and the profiles that are rendered with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterSet {
    /// The profiles that are rendered with it; all if empty.
    profiles: Vec<Marked<String>>,
    /// The values, as a tree of dotted names.
    values: Option<Node>,
}

impl ParameterSet {
    /// Returns whether a profile is rendered with these values.
    pub(crate) fn applies_to(&self, profile: &Profile) -> bool {
        profile.is_in(&self.profiles)
    }

    /// Reads all sets, given each document with the name of its file.
    pub(super) fn read_all(
        documents: &[(String, Node)],
        profiles: &[Profile],
        reader: &mut Reader<'_>,
    ) -> BTreeMap<String, Self> {
        let mut sets = BTreeMap::from([(DEFAULT_SET.to_owned(), Self::default())]);
        for (stem, node) in documents {
            let Some(file) = ParametersFile::read(node, reader) else { continue };
            if file.metadata.name.0 != *stem {
                let message =
                    format!("the parameter set `{}` is in the file {stem}.yaml", file.metadata.name.0);
                reader.error(node.mark, message).help = Some(format!("name it `{stem}`, or rename the file"));
            }
            if !file.parameters.is_empty() {
                reader.error(node.mark, "a parameter set cannot declare parameters").help =
                    Some("move `parameters` to a file beside the profiles".into());
            }
            for name in &file.profiles {
                let known = profiles.iter().any(|profile| profile.lineage.contains(&name.value));
                if !known {
                    unknown_profile(name, profiles, reader);
                }
            }
            if stem == DEFAULT_SET && !file.profiles.is_empty() {
                reader.error(node.mark, "the default parameter set is for all profiles").help =
                    Some("remove `in`, or rename the set".into());
            }
            sets.insert(stem.clone(), Self { profiles: file.profiles, values: file.values });
        }
        sets
    }
}

/// Reports a name in `in` that is not a profile.
pub(super) fn unknown_profile(name: &Marked<String>, profiles: &[Profile], reader: &mut Reader<'_>) {
    let known: Vec<&str> = profiles.iter().flat_map(|profile| &profile.lineage).map(String::as_str).collect();
    let near = nearest(&name.value, known.iter().copied());
    reader.error(name.mark, format!("there is no profile `{}`", name.value)).help =
        near.map(|near| format!("did you mean `{near}`?"));
}

/// Where the user gives values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueSources<'g> {
    /// Files with values; later ones win.
    pub(crate) files: &'g [PathBuf],
    /// Settings such as `a.b=value`, which take precedence over files.
    pub(crate) settings: &'g [String],
    /// Files with one object each from which parameters are read.
    pub(crate) objects: &'g [(ParameterObject, PathBuf)],
    /// Files with any number of such objects.
    pub(crate) cluster_objects: &'g [PathBuf],
}

impl Profiles {
    /// Gives parameters their values, including those that pages declare. Settings take precedence over files, later
    /// files over earlier ones, and files over the set. `version` is that of the release.
    pub(crate) fn bind(
        &mut self,
        set: &ParameterSet,
        given: ValueSources<'_>,
        private: &BTreeMap<String, Marked<Parameter>>,
        version: Option<&str>,
    ) -> Result<Parameters, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut trees = Vec::new();
        for path in given.files {
            match read_document(path, &mut self.sources) {
                Ok(node) => trees.push(values_in(node)),
                Err(found) => errors.append(found),
            }
        }
        let mut declared = self.declared.clone();
        declared.extend(private.clone());
        for setting in given.settings {
            trees.extend(errors.ok_or_record(self.read_setting(setting, &declared)));
        }
        let objects = match ClusterObjects::read(given.objects, given.cluster_objects, &mut self.sources) {
            Ok(objects) => objects,
            Err(found) => {
                errors.append(found);
                ClusterObjects::default()
            }
        };
        errors.into_result(())?;
        let given = GivenValues { set: set.values.as_ref(), trees, objects, version };
        Parameters::bind(&declared, &given, &self.sources)
    }

    /// Reads `a.b=value` into a tree. The value is read as YAML, unless the parameter is declared as text.
    fn read_setting(
        &mut self,
        setting: &str,
        declared: &BTreeMap<String, Marked<Parameter>>,
    ) -> Result<Node, Diagnostic> {
        let source = self.sources.add(format!("--set {}", setting.split('=').next().unwrap_or_default()));
        let Some((name, text)) = setting.split_once('=') else {
            return Err(Diagnostic::error("`--set` needs a name and a value")
                .help("write it as in --set hcp.namespace=clusters-a"));
        };
        let mark = Mark { source, line: 1, column: 1 };
        let is_text = declared.get(name).is_some_and(|parameter| parameter.value.is_text());
        let mut node =
            if is_text { Node::new(Value::String(text.into()), mark) } else { read_value(text, source)? };
        for segment in name.rsplit('.') {
            let entry = Entry { key: segment.into(), mark, value: node };
            node = Node::new(Value::Map(Map::of(vec![entry])), mark);
        }
        Ok(node)
    }
}

/// Returns the values in a file, which is either a tree of values or a parameter set.
fn values_in(node: Node) -> Node {
    let is_set = node.get("kind").and_then(Node::as_str) == Some("Parameters");
    match node.get("values") {
        Some(values) if is_set => values.clone(),
        None if is_set => Node::new(Value::Map(Map::default()), node.mark),
        _ => node,
    }
}

/// Reads the value of a setting as YAML.
fn read_value(text: &str, source: SourceId) -> Result<Node, Diagnostic> {
    let documents = file::parse_documents(text, source, "--set")?;
    let mark = Mark { source, line: 1, column: 1 };
    Ok(documents.into_iter().next().map_or(Node::new(Value::Null, mark), |document| document.root))
}
