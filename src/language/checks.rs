//! What the checks are told: kinds that no CRD describes, objects that live outside, and findings that are meant so.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::Selector;
use super::common::{Header, Metadata};
use super::typed::{Marked, Reader, Typed, typed, words};
use super::when::When;
use crate::diagnostic::Severity;
use crate::glob;
use crate::object::{Needs, Of, Rule, Scope, Where};
use crate::yaml::{self, Mark, Node, Value};

words! {
    /// What is checked, by the code that findings carry.
    pub enum Check {
        /// A field that the kind does not have. The API server rejects or drops it.
        "unknown-field" => UnknownField,
        /// A value of the wrong type.
        "wrong-type" => WrongType,
        /// A required field that is not set.
        "missing-field" => MissingField,
        /// A label or annotation that is not text.
        "label-not-text" => LabelNotText,
        /// Two items of a list with the same keys. Server-side apply rejects the object.
        "duplicate-item" => DuplicateItem,
        /// Fields that exclude each other, or none of several alternatives: volume sources, probe handlers, values of a variable.
        "one-of" => OneOf,
        /// Two manifests for the same object.
        "duplicate-object" => DuplicateObject,
        /// A namespaced object without a namespace.
        "missing-namespace" => MissingNamespace,
        /// A cluster-scoped object with a namespace.
        "unexpected-namespace" => UnexpectedNamespace,
        /// A namespace that no manifest creates and no external declares.
        "unknown-namespace" => UnknownNamespace,
        /// A cluster-scoped object in the management cluster, which other hosted control planes share.
        "cluster-scoped" => ClusterScoped,
        /// A kind or version that no CRD describes and no entry under `kinds` declares.
        "unknown-kind" => UnknownKind,
        /// An object that is applied before its namespace, its CRD, what its pods need or the Service that it calls.
        "wrong-order" => WrongOrder,
        /// A reference to an object that does not exist.
        "missing-object" => MissingObject,
        /// An optional reference to an object that does not exist.
        "missing-optional-object" => MissingOptionalObject,
        /// A reference to a key that a Secret or ConfigMap does not have.
        "missing-key" => MissingKey,
        /// A reference to a port that a Service or container does not have.
        "missing-port" => MissingPort,
        /// A label selector that matches nothing.
        "selects-nothing" => SelectsNothing,
        /// A reference to an object in the other cluster of the topology.
        "wrong-cluster" => WrongCluster,
        /// Credentials, key material or a kubeconfig in the guest, whose users can read them.
        "secret-in-guest" => SecretInGuest,
        /// Permissions for a subject in a namespace of the other cluster.
        "wrong-cluster-subject" => WrongClusterSubject,
        /// A privileged container in the management cluster.
        "privileged" => Privileged,
        /// A pod in the management cluster that uses the network, processes, files or ports of its node.
        "host-access" => HostAccess,
        /// A pod in the management cluster that mounts a token without permissions.
        "unneeded-token" => UnneededToken,
        /// A binding that grants all permissions in the guest.
        "guest-admin" => GuestAdmin,
        /// A parameter that is read from the guest without a `pattern` or `enum`.
        "unvalidated-guest-value" => UnvalidatedGuestValue,
        /// An external or a declared kind that nothing uses.
        "unused-external" => UnusedExternal,
        /// An allowance that matches no finding.
        "unused-allowance" => UnusedAllowance,
    }
}

impl Check {
    /// Its code.
    pub fn code(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// What it finds.
    pub fn about(self) -> &'static str {
        Self::ABOUT[self as usize].trim()
    }

    /// Whether it is about what the project declares, not about what is rendered.
    pub fn is_about_declarations(self) -> bool {
        matches!(self, Self::UnusedExternal | Self::UnusedAllowance)
    }

    /// PolicyRule check.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.iter().map(|(_, check)| *check)
    }

    /// How bad a finding is.
    pub fn severity(self) -> Severity {
        if self.is_about_declarations() || self == Self::MissingOptionalObject {
            Severity::Warning
        } else {
            Severity::Error
        }
    }
}

words! {
    /// The kind of a file for the checks.
    pub(super) enum ChecksKind {
        /// What the checks are told.
        "Checks" => Checks,
    }
}

typed! {
    /// What the checks are told.
    pub(super) struct ChecksFile ("a file for the checks") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Checks`
        "kind" kind: ChecksKind,
        /// The name of the file.
        "metadata" metadata: Metadata,
        /// Kinds whose CRDs are not in the payload, as `Kind.group`.
        "kinds" kinds: BTreeMap<String, Marked<KindEntry>>,
        /// Objects that somebody else brings.
        "externals" externals: Vec<Marked<External>>,
        /// Findings that are meant so.
        "allow" allow: Vec<Marked<Allowance>>,
    }
}

typed! {
    /// A kind whose CRD is not in the payload.
    pub struct KindEntry ("a kind") {
        /// Who brings it.
        "servedBy" served_by: String,
        /// Whether its objects live in a namespace.
        "scope" scope: Scope,
        /// The keys of its lists that are maps, by their paths.
        "lists" lists: BTreeMap<String, Marked<Vec<String>>>,
        /// Where its objects name others.
        "references" references: Vec<Marked<ReferenceEntry>>,
        /// Where its objects name others that somebody makes because of them.
        "creates" creates: Vec<Marked<ReferenceEntry>>,
    }
}

typed! {
    /// A place in which an object names another.
    pub struct ReferenceEntry ("a reference") {
        /// The place: keys with `/` between them, `*` for every item of a list.
        "path" path: String,
        /// What it names, as `Kind` or `Kind.group`.
        "kind" kind: String,
        /// The field below the place that holds the name; without it, the place is the name.
        "name" name: Option<String>,
        /// Where the other object is; without it, in the same namespace.
        "namespace" namespace: Option<NamespaceWord>,
    }
}

words! {
    /// Where a named object is.
    pub enum NamespaceWord {
        /// In the namespace of the object that names it.
        "own" => Own,
        /// In the one that stands beside the name, as `namespace`.
        "beside" => Beside,
        /// In none.
        "none" => None,
    }
}

typed! {
    /// Objects that somebody else brings.
    pub struct External ("an external") {
        /// The objects: `Kind/name`, `Kind/namespace/name`, either with a group behind the kind; `*` stands for anything.
        "objects" objects: Vec<Marked<Pattern>>,
        /// The profiles in whose clusters they are; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// They are there only then.
        "when" when: When,
        /// Who brings them.
        "reason" reason: String,
    }
}

typed! {
    /// A finding that is meant so.
    pub struct Allowance ("an allowance") {
        /// The check, by its code.
        "check" check: Check,
        /// The objects concerned, by their names in the payload.
        "for" targets: Vec<Marked<Selector>>,
        /// The profiles concerned; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// Why it is meant so.
        "reason" reason: String,
    }
}

/// `Kind[.group]/[namespace/]name`, with `*` for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    kind: String,
    group: Option<String>,
    namespace: Option<String>,
    name: String,
}

impl Pattern {
    /// Whether an object is meant. Without a group, a namespace, any.
    pub fn matches(&self, kind: &str, group: &str, namespace: &str, name: &str) -> bool {
        self.kind == kind
            && self.group.as_ref().is_none_or(|own| own == group)
            && self.namespace.as_ref().is_none_or(|own| glob::matches(own, namespace))
            && glob::matches(&self.name, name)
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Typed for Pattern {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace.to_owned()), name),
            _ => ("", None, ""),
        };
        let (kind, group) =
            kind.split_once('.').map_or((kind, None), |(kind, group)| (kind, Some(group.to_owned())));
        if !kind.starts_with(|first: char| first.is_ascii_uppercase()) || name.is_empty() {
            reader.error(node.mark, format!("`{text}` names no object")).help = Some(
                "write `Kind/name` or `Kind/namespace/name`, such as Secret/pull-secret or Namespace/openshift-*".into(),
            );
            return None;
        }
        let (kind, name) = (kind.to_owned(), name.to_owned());
        Some(Self { text, kind, group, namespace, name })
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?(/[^/]+){1,2}$"})
    }
}

impl Typed for Scope {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        super::typed::word(node, &[("Namespaced", Self::Namespaced), ("Cluster", Self::Cluster)], reader)
    }

    fn schema() -> Json {
        json!({"enum": ["Namespaced", "Cluster"]})
    }
}

/// All that the checks are told, from all files.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// The kinds, by group and kind.
    pub kinds: BTreeMap<(String, String), DeclaredKind>,
    /// Objects that somebody else brings.
    pub externals: Vec<Marked<External>>,
    /// Findings that are meant so.
    pub allow: Vec<Marked<Allowance>>,
}

/// A declared kind.
#[derive(Clone, Debug)]
pub struct DeclaredKind {
    /// What is said of it.
    pub entry: KindEntry,
    /// What is known of its fields, in the form of a CRD's schema.
    pub schema: Node,
    /// Where it is declared.
    pub mark: Mark,
}

impl Checks {
    /// Takes over what one file says.
    pub(super) fn learn(&mut self, node: &Node, reader: &mut Reader<'_>) {
        let Some(file) = ChecksFile::read(node, reader) else { return };
        for (name, Marked { value: entry, mark }) in file.kinds {
            let Some((kind, group)) = name.split_once('.') else {
                reader.error(mark, format!("`{name}` names no kind with its group")).help =
                    Some("write `Kind.group`, such as ClusterOperator.config.openshift.io".into());
                continue;
            };
            let schema = schema_of(&entry.lists, mark);
            let known =
                self.kinds.insert((group.to_owned(), kind.to_owned()), DeclaredKind { entry, schema, mark });
            if known.is_some() {
                reader.error(mark, format!("the kind `{name}` is declared twice"));
            }
        }
        for (reason, mark) in file
            .externals
            .iter()
            .map(|external| (&external.value.reason, external.mark))
            .chain(file.allow.iter().map(|allowance| (&allowance.value.reason, allowance.mark)))
        {
            if reason.trim().is_empty() {
                reader.error(mark, "the reason is empty").help =
                    Some("say why: whoever comes next must be able to tell whether it still holds".into());
            }
        }
        for external in file.externals.iter().filter(|external| external.value.objects.is_empty()) {
            reader.error(external.mark, "an external without objects");
        }
        for allowance in file.allow.iter().filter(|allowance| allowance.value.targets.is_empty()) {
            reader.error(allowance.mark, "an allowance without objects").help =
                Some("name them under `of`, as Kind or Kind/name".into());
        }
        self.externals.extend(file.externals);
        self.allow.extend(file.allow);
    }

    /// Where objects of declared kinds name others.
    pub fn rules(&self) -> Vec<Rule<'_>> {
        self.rules_of(|entry| &entry.references)
    }

    /// Where objects of declared kinds name what somebody makes because of them.
    pub fn makers(&self) -> Vec<Rule<'_>> {
        self.rules_of(|entry| &entry.creates)
    }

    fn rules_of(&self, entries: impl Fn(&KindEntry) -> &Vec<Marked<ReferenceEntry>>) -> Vec<Rule<'_>> {
        let mut rules = Vec::new();
        for ((group, of), declared) in &self.kinds {
            for Marked { value: entry, .. } in entries(&declared.entry) {
                rules.push(entry.rule(group, of));
            }
        }
        rules
    }
}

impl ReferenceEntry {
    fn rule<'r>(&'r self, group_of: &'r str, of: &'r str) -> Rule<'r> {
        let (kind, group) = self.kind.split_once('.').unwrap_or((&self.kind, ""));
        Rule {
            of: Of::Kind(of),
            of_group: Some(group_of),
            path: self.path.trim_start_matches('/'),
            kind,
            group,
            by: self.name.as_deref(),
            namespace: match self.namespace {
                Some(NamespaceWord::Beside) => Where::Beside,
                Some(NamespaceWord::None) => Where::Cluster,
                Some(NamespaceWord::Own) | None => Where::Own,
            },
            needs: Needs::Itself,
            only: None,
        }
    }
}

/// What the lists of a kind are, as its CRD would say it. Everything else may be there as well.
fn schema_of(lists: &BTreeMap<String, Marked<Vec<String>>>, mark: Mark) -> Node {
    const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
    let mut root = json!({OPEN: true});
    for (path, keys) in lists {
        let mut node = &mut root;
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            node = if segment == "*" { &mut node["items"] } else { &mut node["properties"][segment] };
            node[OPEN] = true.into();
        }
        node["type"] = "array".into();
        node["x-kubernetes-list-map-keys"] = keys.value.clone().into();
    }
    let documents = yaml::read(&root.to_string(), mark.source).unwrap_or_default();
    documents.into_iter().next().map_or(Node { value: Value::Null, mark }, |document| document.root)
}
