//! A `Checks` file: declares kinds without a CRD in the payload, external objects, and accepted findings.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::check_code::Check;
use super::header::{ApiVersion, Metadata};
use super::typed::{Marked, Reader, Typed, read_variant, string_enum, typed};
use super::when::When;
use crate::object::{
    ReferenceRule, ReferenceSource, RequiredPart, Scope, Selector, SelectorPattern, TargetNamespace,
};
use crate::yaml::{Mark, Node};

string_enum! {
    /// The kind of a file for the checks.
    pub(super) enum ChecksKind {
        /// A `Checks` file.
        "Checks" => Checks,
    }
}

typed! {
    /// Declarations for the checks: kinds, external objects and accepted findings.
    pub(super) struct ChecksFile ("a Checks file") {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// `Checks`
        "kind" kind: ChecksKind,
        /// The name of the file.
        "metadata" metadata: Metadata,
        /// Kinds whose CRD is not in the payload, as `Kind.group`.
        "kinds" kinds: BTreeMap<String, Marked<KindEntry>>,
        /// Objects that someone else creates.
        "externals" externals: Vec<Marked<External>>,
        /// Findings that are accepted, each with a reason.
        "allow" allow: Vec<Marked<Allowance>>,
    }
}

typed! {
    /// A kind whose CRD is not in the payload.
    pub(crate) struct KindEntry ("a kind") {
        /// Who installs the CRD.
        "servedBy" served_by: String,
        /// Whether objects of the kind are namespaced: `Namespaced` or `Cluster`.
        "scope" scope: Scope,
        /// The name of the resource, such as `securitycontextconstraints`. The default is the English plural of the kind in lower case.
        "plural" plural: Option<String>,
        /// The keys that identify the items of its lists, by the path of the list.
        "lists" lists: BTreeMap<String, Marked<Vec<String>>>,
        /// Fields that refer to other objects.
        "references" references: Vec<Marked<ReferenceEntry>>,
        /// Fields that name objects which a controller creates.
        "creates" creates: Vec<Marked<ReferenceEntry>>,
    }
}

typed! {
    /// A field that refers to another object.
    pub(crate) struct ReferenceEntry ("a reference") {
        /// The path of the field: keys separated by `/`, with `*` for every item of a list.
        "path" path: String,
        /// The kind of the other object, as `Kind` or `Kind.group`.
        "kind" kind: String,
        /// The field below the path that has the name. The default is the path itself.
        "name" name: Option<String>,
        /// The namespace of the other object. The default is `own`.
        "namespace" namespace: Option<ReferenceNamespace>,
    }
}

string_enum! {
    /// The namespace of the object that a field refers to.
    pub(crate) enum ReferenceNamespace {
        /// The namespace of the object that has the field.
        "own" => Own,
        /// The `namespace` field beside the name.
        "beside" => Beside,
        /// None: the other object is cluster-scoped.
        "none" => None,
    }
}

typed! {
    /// Objects that someone else creates, or images that are not in the release.
    pub(crate) struct External ("an external") {
        /// The objects, as `Kind/name` or `Kind.group/namespace/name`. `*` matches any text.
        "objects" objects: Vec<Marked<SelectorPattern>>,
        /// Images that are not in the release, such as `registry.example.com/*`. `*` matches any text.
        "images" images: Vec<Marked<String>>,
        /// The profiles in whose clusters they exist. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// They exist only if these conditions hold.
        "when" when: When,
        /// Who creates them.
        "reason" reason: String,
    }
}

typed! {
    /// A finding that is accepted.
    pub(crate) struct Allowance ("an allowance") {
        /// The code of the check.
        "check" check: Check,
        /// The objects of the finding, by their names in the payload.
        "for" targets: Vec<Marked<Selector>>,
        /// The profiles in which the finding is accepted. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// It is accepted only if these conditions hold.
        "when" when: When,
        /// Why the finding is accepted.
        "reason" reason: String,
    }
}

impl Typed for Scope {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read_variant(node, &[("Namespaced", Self::Namespaced), ("Cluster", Self::Cluster)], reader)
    }

    fn schema() -> Json {
        json!({"enum": ["Namespaced", "Cluster"]})
    }
}

/// The declarations of all `Checks` files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    /// Declared kinds, by group and kind.
    pub(crate) kinds: BTreeMap<(String, String), DeclaredKind>,
    /// Objects that someone else creates.
    pub(crate) externals: Vec<Marked<External>>,
    /// Findings that are accepted.
    pub(crate) allow: Vec<Marked<Allowance>>,
}

/// A declared kind.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredKind {
    /// The fields of the declaration.
    pub(crate) entry: KindEntry,
    /// The known fields, as a schema of a CRD.
    pub(crate) schema: Node,
    /// The position of the declaration.
    pub(crate) mark: Mark,
}

impl Checks {
    /// Adds the declarations of a file.
    pub(super) fn add_file(&mut self, node: &Node, reader: &mut Reader<'_>) {
        let Some(file) = ChecksFile::read(node, reader) else { return };
        for (name, Marked { value: entry, mark }) in file.kinds {
            let Some((kind, group)) = name.split_once('.') else {
                reader.error(mark, format!("the kind `{name}` has no group")).help =
                    Some("write `Kind.group`, such as ClusterOperator.config.openshift.io".into());
                continue;
            };
            let schema = schema_of(&entry.lists, mark);
            let declared = DeclaredKind { entry, schema, mark };
            if self.kinds.insert((group.to_owned(), kind.to_owned()), declared).is_some() {
                reader.error(mark, format!("the kind `{name}` is declared twice"));
            }
        }
        for external in &file.externals {
            check_reason(&external.value.reason, external.mark, reader);
            if external.value.objects.is_empty() && external.value.images.is_empty() {
                reader.error(external.mark, "the external names no objects and no images").help =
                    Some("name objects under `objects`, as Kind/name or Kind/namespace/name, or images under `images`".into());
            }
        }
        for allowance in &file.allow {
            check_reason(&allowance.value.reason, allowance.mark, reader);
            if allowance.value.targets.is_empty() {
                reader.error(allowance.mark, "the allowance names no objects").help =
                    Some("name them under `for`, as Kind or Kind/name".into());
            }
        }
        self.externals.extend(file.externals);
        self.allow.extend(file.allow);
    }

    /// Returns the fields of declared kinds that refer to other objects.
    pub(crate) fn reference_rules(&self) -> Vec<ReferenceRule<'_>> {
        self.rules_of(|entry| &entry.references)
    }

    /// Returns the fields of declared kinds that name objects which a controller creates.
    pub(crate) fn creation_rules(&self) -> Vec<ReferenceRule<'_>> {
        self.rules_of(|entry| &entry.creates)
    }

    fn rules_of(
        &self,
        entries: impl Fn(&KindEntry) -> &Vec<Marked<ReferenceEntry>>,
    ) -> Vec<ReferenceRule<'_>> {
        let mut rules = Vec::new();
        for ((group, kind), declared) in &self.kinds {
            for reference in entries(&declared.entry) {
                rules.push(reference.value.rule(group, kind));
            }
        }
        rules
    }
}

fn check_reason(reason: &str, mark: Mark, reader: &mut Reader<'_>) {
    if reason.trim().is_empty() {
        reader.error(mark, "the reason is empty").help =
            Some("say why, so that others can tell whether the entry is still needed".into());
    }
}

impl ReferenceEntry {
    /// Returns the reference as a rule for objects of a kind.
    fn rule<'r>(&'r self, of_group: &'r str, of_kind: &'r str) -> ReferenceRule<'r> {
        let (kind, group) = self.kind.split_once('.').unwrap_or((&self.kind, ""));
        ReferenceRule {
            source: ReferenceSource::Kind(of_kind),
            source_group: Some(of_group),
            path: self.path.trim_start_matches('/'),
            kind,
            group,
            name_field: self.name.as_deref(),
            namespace: match self.namespace {
                Some(ReferenceNamespace::Beside) => TargetNamespace::NextToName,
                Some(ReferenceNamespace::None) => TargetNamespace::ClusterScoped,
                Some(ReferenceNamespace::Own) | None => TargetNamespace::SameAsSource,
            },
            requires: RequiredPart::Object,
            condition: None,
        }
    }
}

/// Returns the schema that the CRD of a kind would have for these lists. All other fields are allowed.
fn schema_of(lists: &BTreeMap<String, Marked<Vec<String>>>, mark: Mark) -> Node {
    const PRESERVE_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";
    let mut root = json!({PRESERVE_UNKNOWN: true});
    for (path, keys) in lists {
        let mut node = &mut root;
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            node = if segment == "*" { &mut node["items"] } else { &mut node["properties"][segment] };
            node[PRESERVE_UNKNOWN] = true.into();
        }
        node["type"] = "array".into();
        node["x-kubernetes-list-map-keys"] = keys.value.clone().into();
    }
    Node { mark, ..Node::from(&root) }
}
