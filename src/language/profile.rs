//! A profile: one cluster of one topology.

use serde_json::{Value as Json, json};

use super::Selector;
use super::common::{Header, Metadata, Omissions};
use super::filters::{FilterFields, Filters};
use super::intents::Intents;
use super::typed::{Marked, Reader, Typed, typed, word, words};
use super::when::When;
use crate::object::Cluster;
use crate::yaml::{Mark, Node};

words! {
    /// The kind of a profile's file.
    pub(super) enum ProfileKind {
        /// A profile.
        "Profile" => Profile,
    }
}

typed! {
    /// A profile as its file says it, before its parent is asked.
    pub(super) struct ProfileFile ("a profile") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Profile`
        "kind" kind: ProfileKind,
        /// The name of the profile.
        "metadata" metadata: Metadata,
        /// The profile whose fields this one takes over: maps merge, lists append.
        "extends" extends: Option<Marked<String>>,
        /// It exists to be extended, and is not rendered itself.
        "abstract" is_abstract: bool,
        /// The topology it belongs to: profiles of one topology are rolled out together.
        "topology" topology: Option<String>,
        /// The cluster it describes.
        "cluster" cluster: Option<Cluster>,
        /// What the cluster-version-operator's filters are asked.
        "select" select: Option<FilterFields>,
        /// Annotations that are removed, as patterns such as `include.release.openshift.io/*`.
        "strip" strip: Vec<Marked<String>>,
        /// The namespace that every namespaced object lands in, where the profile moves them.
        "namespace" namespace: Option<Marked<String>>,
        /// Objects that are left out, each with a reason.
        "omit" omit: Omissions,
        /// How it honours what manifests already ask for.
        "intents" intents: Intents,
        /// Fields that are held in the live object, whoever edits them.
        "pins" pins: Pins,
        /// Fields that are given a value when their object is created, and are others' from then on.
        "seeds" seeds: Vec<Marked<FieldRule>>,
        /// Fields that are others' from the start.
        "unmanaged" unmanaged: Vec<Marked<FieldRule>>,
        /// What holds for every pod, container, workload or kind.
        "policy" policy: Vec<Marked<PolicyRule>>,
    }
}

typed! {
    /// A field that is left to others when objects are applied.
    pub struct FieldRule ("a field that is left to others") {
        /// The objects: a kind, or `Kind/name`.
        "for" target: Selector,
        /// The field: a JSON pointer, with `[name=x]` or `[*]` for items of lists.
        "path" path: Marked<String>,
        /// Who looks after it.
        "reason" reason: String,
    }
}

impl FieldRule {
    /// The path is one.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        if !self.path.value.starts_with('/') {
            reader.error(self.path.mark, format!("`{}` is no path", self.path.value)).help =
                Some("write a JSON pointer such as /webhooks/[*]/clientConfig/caBundle".into());
        }
    }
}

typed! {
    /// What holds for every object or part of one kind. Exactly one of `add`, `default` and `set` says what.
    pub struct PolicyRule ("a policy entry") {
        /// `pod`, `container`, `workload`, or a kind.
        "for" target: PolicyTarget,
        /// It holds only then.
        "when" when: When,
        /// Is added; what is there already must be the same.
        "add" add: Option<Node>,
        /// Fills in what is not there.
        "default" default: Option<Node>,
        /// Takes the place of what is there; null removes.
        "set" set: Option<Node>,
    }
}

impl PolicyRule {
    /// Exactly one of its three bodies says what.
    pub(super) fn check(&self, mark: Mark, reader: &mut Reader<'_>) {
        let bodies = [&self.add, &self.default, &self.set].into_iter().flatten().count();
        if bodies != 1 {
            reader.error(mark, format!("a policy entry says one thing, this one says {bodies}")).help =
                Some("give it exactly one of `add`, `default` and `set`".into());
        }
    }
}

/// What an entry of `every` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyTarget {
    /// The pod template of every workload, and every Pod.
    Pod,
    /// Every container and init container of every pod.
    Container,
    /// Every object that has a pod template.
    Workload,
    /// Every object of a kind.
    Kind(String),
}

impl Typed for PolicyTarget {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        if text.starts_with(|first: char| first.is_ascii_uppercase()) {
            if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Some(Self::Kind(text));
            }
            reader.error(node.mark, format!("`{text}` is no kind")).help =
                Some("write the kind without a group, such as Deployment".into());
            return None;
        }
        let words = [("pod", 0), ("container", 1), ("workload", 2)];
        Some([Self::Pod, Self::Container, Self::Workload][word(node, &words, reader)?].clone())
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^(pod|container|workload|[A-Z][A-Za-z0-9]*)$"})
    }
}

impl Typed for Cluster {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let clusters = [Self::Management, Self::Guest, Self::Both].map(|cluster| (cluster.name(), cluster));
        word(node, &clusters, reader)
    }

    fn schema() -> Json {
        json!({"enum": ["management", "guest", "both"]})
    }
}

/// Fields that are held, by the object they belong to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins(pub Vec<(Marked<Selector>, Node)>);

impl Typed for Pins {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.error(node.mark, format!("this must be a map of objects, not {}", node.value.kind()));
            return None;
        };
        let mut pins = Vec::new();
        for entry in map {
            let Some(value) = Selector::parse(&entry.key, entry.mark, reader) else { continue };
            if value.name.is_none() || entry.value.as_map().is_none() {
                reader.error(entry.mark, "a pin holds fields of one object").help =
                    Some("write `Kind/name:` and the fields below it".into());
            }
            pins.push((Marked { value, mark: entry.mark }, entry.value.clone()));
        }
        Some(Self(pins))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": {"type": "object"}})
    }
}

/// A profile with all that its ancestors say.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name, by which the command line and other files know it.
    pub name: String,
    /// Its own name and those of its ancestors: `in` may name any of them.
    pub lineage: Vec<String>,
    /// The topology it belongs to.
    pub topology: String,
    /// The cluster it describes.
    pub cluster: Cluster,
    /// What the cluster-version-operator's filters are asked.
    pub select: Filters,
    /// Annotations that are removed.
    pub strip: Vec<Marked<String>>,
    /// The namespace that every namespaced object lands in; may mention parameters.
    pub namespace: Option<Marked<String>>,
    /// Objects that are left out.
    pub omit: Omissions,
    /// How it honours what manifests already ask for.
    pub intents: Intents,
    /// Fields that are held in the live object, whoever edits them.
    pub pins: Pins,
    /// Fields that are given a value when their object is created, and are others' from then on.
    pub seeds: Vec<Marked<FieldRule>>,
    /// Fields that are others' from the start.
    pub unmanaged: Vec<Marked<FieldRule>>,
    /// What holds for every pod, container, workload or kind.
    pub policy: Vec<Marked<PolicyRule>>,
    /// Where the profile is written.
    pub mark: Mark,
}

impl Profile {
    /// Whether an entry that is limited to profiles concerns this one.
    pub fn is_in(&self, profiles: &[Marked<String>]) -> bool {
        profiles.is_empty() || profiles.iter().any(|name| self.lineage.contains(&name.value))
    }
}

/// Puts a profile together from its file and those it extends.
pub(super) fn resolve(
    file: &Marked<ProfileFile>,
    all: &[Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) -> Option<Profile> {
    let chain = lineage(file, all, reader)?;
    let mut select = FilterFields::default();
    let (mut topology, mut cluster, mut namespace) = (None, None, None);
    let (mut strip, mut omit, mut policy) = (Vec::new(), Omissions::default(), Vec::new());
    let (mut intents, mut pins) = (Intents::default(), Pins::default());
    let (mut seeds, mut unmanaged) = (Vec::new(), Vec::new());
    // From the oldest ancestor to the profile itself.
    for ProfileFile {
        topology: new_topology,
        cluster: new_cluster,
        namespace: new_namespace,
        select: new_select,
        strip: more,
        omit: omissions,
        policy: entries,
        intents: more_intents,
        pins: more_pins,
        seeds: more_seeds,
        unmanaged: more_unmanaged,
        ..
    } in chain.iter().rev().map(|file| file.value.clone())
    {
        topology = new_topology.or(topology);
        cluster = new_cluster.or(cluster);
        namespace = new_namespace.or(namespace);
        select = new_select.unwrap_or_default().over(&select);
        strip.extend(more);
        for (selector, omission) in omissions.0 {
            omit.0.retain(|(other, _): &(Marked<super::Selector>, _)| other.value != selector.value);
            omit.0.push((selector, omission));
        }
        policy.extend(entries);
        intents.0.extend(more_intents.0);
        pins.0.extend(more_pins.0);
        seeds.extend(more_seeds);
        unmanaged.extend(more_unmanaged);
    }
    for (missing, field) in [(topology.is_none(), "topology"), (cluster.is_none(), "cluster")] {
        if missing {
            reader.error(file.mark, format!("a profile needs the field `{field}`"));
        }
    }
    Some(Profile {
        name: file.value.metadata.name.0.clone(),
        lineage: chain.iter().map(|file| file.value.metadata.name.0.clone()).collect(),
        topology: topology?,
        cluster: cluster?,
        select: select.filters(),
        strip,
        namespace,
        omit,
        intents,
        pins,
        seeds,
        unmanaged,
        policy,
        mark: file.mark,
    })
}

/// A profile's file and those it extends, the profile first.
pub(super) fn lineage<'f>(
    file: &'f Marked<ProfileFile>,
    all: &'f [Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) -> Option<Vec<&'f Marked<ProfileFile>>> {
    let name = |file: &Marked<ProfileFile>| file.value.metadata.name.0.clone();
    let mut chain = vec![file];
    let mut last = file;
    while let Some(parent) = &last.value.extends {
        let Some(next) = all.iter().find(|other| name(other) == parent.value) else {
            let names: Vec<String> = all.iter().map(name).collect();
            let near = crate::nearest::nearest(&parent.value, names.iter().map(String::as_str));
            reader.error(parent.mark, format!("there is no profile `{}` to extend", parent.value)).help =
                near.map(|near| format!("did you mean `{near}`?"));
            return None;
        };
        if chain.iter().any(|known| name(known) == parent.value) {
            reader.error(parent.mark, format!("`{}` extends itself", parent.value));
            return None;
        }
        chain.push(next);
        last = next;
    }
    Some(chain)
}
