//! A profile: one cluster of one topology.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::filters::{FilterFields, Filters};
use super::header::{ApiVersion, DnsLabel, Metadata};
use super::intents::Intents;
use super::omission::Omissions;
use super::replacements::Replacements;
use super::selector::read_selector;
use super::template::{Names, substitute, substitute_text};
use super::typed::{Marked, Reader, Typed, read_variant, string_enum, typed};
use super::when::When;
use crate::diagnostic::{Diagnostic, Location};
use crate::nearest::nearest;
use crate::object::{Cluster, Selector};
use crate::yaml::{Mark, Node, Sources, Value};

string_enum! {
    /// The kind of a profile's file.
    pub(super) enum ProfileKind {
        /// A profile.
        "Profile" => Profile,
    }
}

typed! {
    /// One cluster of one topology. A profile can extend another one.
    pub(super) struct ProfileFile ("a profile") {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// `Profile`
        "kind" kind: ProfileKind,
        /// The name of the profile.
        "metadata" metadata: Metadata,
        /// The profile that this one extends: fields replace the parent's, maps are merged, lists are appended.
        "extends" extends: Option<Marked<String>>,
        /// The profile is only extended by others and not rendered itself.
        "abstract" is_abstract: bool,
        /// The topology of the profile. The profiles of a topology are applied together.
        "topology" topology: Option<String>,
        /// The cluster of the profile: `management`, `guest`, or `both` in a standalone topology.
        "cluster" cluster: Option<Cluster>,
        /// The settings of the cluster-version-operator's filters, which select manifests.
        "select" select: Option<FilterFields>,
        /// Annotations to remove, as patterns such as `include.release.openshift.io/*`.
        "strip" strip: Vec<Marked<String>>,
        /// The namespace into which the profile moves every namespaced object.
        "namespace" namespace: Option<Marked<String>>,
        /// `apply` writes nothing before this time. `true` pauses until you change it.
        "pausedUntil" paused_until: Option<Marked<String>>,
        /// Objects that the profile leaves out, each with a reason.
        "omit" omit: Omissions,
        /// How the profile handles each intent.
        "intents" intents: Intents,
        /// Fields that transship enforces on objects that it otherwise only creates.
        "pins" pins: Pins,
        /// Fields that are set when their object is created and belong to others afterwards.
        "seeds" seeds: Vec<Marked<FieldRule>>,
        /// Fields that transship never sends.
        "unmanaged" unmanaged: Vec<Marked<FieldRule>>,
        /// The managers that transship succeeds: `apply` takes over the objects that they created.
        "adopts" adopts: Option<AdoptedManagers>,
        /// The signers of issued certificates, by the names of their Secrets.
        "signers" signers: BTreeMap<String, Marked<Signer>>,
        /// Rules for every pod, container, workload or object of a kind.
        "policy" policy: Vec<Marked<PolicyRule>>,
    }
}

typed! {
    /// The managers that transship succeeds.
    pub(super) struct AdoptedManagers ("`adopts`") {
        /// Their field managers, as in `metadata.managedFields`, such as `cluster-version-operator`.
        "from" from: Vec<Marked<String>>,
    }
}

typed! {
    /// A signer: a Secret with a certificate authority and its key.
    pub(crate) struct Signer ("a signer") {
        /// The ConfigMap with the authorities that clients of its certificates trust: the current one and, after a change,
        /// for a while the one before.
        "bundle" bundle: Option<Marked<DnsLabel>>,
        /// If these conditions hold, transship creates the Secret. Otherwise someone else does.
        "create" create: Option<When>,
    }
}

/// The longest name of a field manager that the API server accepts.
const MAX_MANAGER: usize = 128;

impl AdoptedManagers {
    /// Reports names that no field manager has, and transship's own.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        for manager in &self.from {
            let name = manager.value.as_str();
            let is_name = |byte: u8| byte.is_ascii_graphic() && !b"/%".contains(&byte);
            if name.is_empty() || name.len() > MAX_MANAGER || !name.bytes().all(is_name) {
                reader.error(manager.mark, format!("`{name}` is not the name of a field manager")).help = Some(
                    "write it as in `kubectl get … --show-managed-fields`, such as cluster-version-operator".into(),
                );
            } else if name == "transship" || name.starts_with("transship-") {
                reader.error(manager.mark, format!("`{name}` is a field manager of transship")).help =
                    Some("name the managers that transship succeeds".into());
            }
        }
    }
}

typed! {
    /// A field that belongs to others.
    pub(crate) struct FieldRule ("an entry of `seeds` or `unmanaged`") {
        /// The objects, as a selector such as `Kind` or `Kind/name`.
        "for" target: Selector,
        /// The field, as a JSON pointer with `[name=x]` or `[*]` for the items of lists.
        "path" path: Marked<String>,
        /// Who manages the field.
        "reason" reason: String,
    }
}

impl FieldRule {
    /// Reports a path that is not a JSON pointer.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        if !self.path.value.starts_with('/') {
            reader.error(self.path.mark, format!("`{}` is not a JSON pointer", self.path.value)).help =
                Some("start it with `/`, as in /webhooks/[*]/clientConfig/caBundle".into());
        }
    }
}

typed! {
    /// A rule for every object, for those of a kind, or for parts of them. It has exactly one of `add`, `default`, `set` and
    /// `replace`.
    pub(crate) struct PolicyRule ("a policy entry") {
        /// `object`, `workload`, `pod`, `container`, `volume`, or a kind.
        "for" target: PolicyTarget,
        /// The rule applies only if these conditions hold.
        "when" when: When,
        /// The rule applies only if a map has a key; `${lookup.value}` is its value.
        "lookup" lookup: Option<MapLookup>,
        /// Fields to add. A field that exists already must have the same value.
        "add" add: Option<Node>,
        /// Values for fields that do not exist.
        "default" default: Option<Node>,
        /// Values that replace those of existing fields. `null` removes a field.
        "set" set: Option<Node>,
        /// Fields to replace as a whole: a map from JSON pointers to values. `null` removes a field.
        "replace" replace: Option<Replacements>,
    }
}

typed! {
    /// A key of a map.
    pub(crate) struct MapLookup ("`lookup`") {
        /// The map, such as `${a.parameter}`.
        "map" map: Node,
        /// The key, such as `${workload.name}`.
        "key" key: Marked<String>,
    }
}

impl MapLookup {
    /// Returns the value of the key. Returns `None` if the map does not have it, or has no value.
    pub(crate) fn value(&self, names: &dyn Names, sources: &Sources) -> Result<Option<Node>, Diagnostic> {
        let Some(map) = substitute(&self.map, names, sources)? else { return Ok(None) };
        if map.as_map().is_none() {
            let message = format!("`map` must be a map, not {}", map.value.kind());
            let error = Diagnostic::error(message).at(Location::of(self.map.mark, sources));
            return Err(error.help("name a parameter of the type `map`"));
        }
        let key = substitute_text(&self.key.value, self.key.mark, names, sources)?;
        Ok(map.get(&key).cloned())
    }
}

impl PolicyRule {
    /// Returns every part of it into which values are filled, except `when`.
    pub(crate) fn templates(&self) -> Vec<Node> {
        let mut templates: Vec<Node> = self.bodies().cloned().collect();
        if let Some(lookup) = &self.lookup {
            let key = Node::new(Value::String(lookup.key.value.as_str().into()), lookup.key.mark);
            templates.extend([lookup.map.clone(), key]);
        }
        templates
    }

    /// Returns its bodies: `add`, `default`, `set` and `replace`, of which a valid rule has one.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Node> {
        let replace = self.replace.as_ref().map(|fields| &fields.0);
        [self.add.as_ref(), self.default.as_ref(), self.set.as_ref(), replace].into_iter().flatten()
    }

    /// Reports a rule that does not have exactly one body.
    pub(super) fn check(&self, mark: Mark, reader: &mut Reader<'_>) {
        match self.bodies().count() {
            0 => {
                reader
                    .error(mark, "the policy entry has none of `add`, `default`, `set` and `replace`")
                    .help = Some("add one of them".into());
            }
            1 => {}
            _ => {
                reader
                    .error(
                        mark,
                        "the policy entry has more than one of `add`, `default`, `set` and `replace`",
                    )
                    .help = Some("split it into one entry for each".into());
            }
        }
    }
}

/// The objects or parts of objects to which a policy rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PolicyTarget {
    /// Every object.
    Object,
    /// The pod template of every workload, and every Pod.
    Pod,
    /// Every container and init container of every pod.
    Container,
    /// Every volume of every pod.
    Volume,
    /// Every object with a pod template.
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
            reader.error(node.mark, format!("`{text}` is not a kind")).help =
                Some("write a kind without a group, such as Deployment".into());
            return None;
        }
        let names = [
            ("object", &Self::Object),
            ("workload", &Self::Workload),
            ("pod", &Self::Pod),
            ("container", &Self::Container),
            ("volume", &Self::Volume),
        ];
        read_variant(node, &names, reader).cloned()
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^(object|workload|pod|container|volume|[A-Z][A-Za-z0-9]*)$"})
    }
}

impl Typed for Cluster {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let clusters = [Self::Management, Self::Guest, Self::Both].map(|cluster| (cluster.name(), cluster));
        read_variant(node, &clusters, reader)
    }

    fn schema() -> Json {
        json!({"enum": ["management", "guest", "both"]})
    }
}

/// Fields that transship enforces, by object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pins(pub(crate) Vec<(Marked<Selector>, Node)>);

impl Typed for Pins {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map of objects");
            return None;
        };
        let mut pins = Vec::new();
        for entry in map {
            let Some(value) = read_selector(&entry.key, entry.mark, reader) else { continue };
            if value.name.is_none() || entry.value.as_map().is_none() {
                reader.error(entry.mark, "a pin must name one object and its fields").help =
                    Some("write `Kind/name:` with the fields below it".into());
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

/// A profile, merged with the profiles that it extends.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name that the command line and other files use.
    pub name: String,
    /// Its own name and those of the profiles that it extends. `in` can name any of them.
    pub(crate) lineage: Vec<String>,
    /// The topology.
    pub topology: String,
    /// The cluster.
    pub cluster: Cluster,
    /// The settings of the cluster-version-operator's filters, with the values of parameters filled in. `Project` does that.
    pub select: Filters,
    /// The same settings as they are written.
    pub(super) filters: FilterFields,
    /// Annotations to remove, as patterns.
    pub(crate) strip: Vec<Marked<String>>,
    /// The namespace into which every namespaced object is moved. It may mention parameters.
    pub(crate) namespace: Option<Marked<String>>,
    /// The time before which `apply` writes nothing, or a boolean. It may mention parameters.
    pub(crate) paused_until: Option<Marked<String>>,
    /// Objects to leave out.
    pub(crate) omit: Omissions,
    /// How each intent is handled.
    pub(crate) intents: Intents,
    /// Fields that transship enforces on objects that it otherwise only creates.
    pub(crate) pins: Pins,
    /// Fields that are set when their object is created and belong to others afterwards.
    pub(crate) seeds: Vec<Marked<FieldRule>>,
    /// Fields that transship never sends.
    pub(crate) unmanaged: Vec<Marked<FieldRule>>,
    /// The field managers that transship succeeds.
    pub(crate) adopts: Vec<String>,
    /// The signers of issued certificates, by the names of their Secrets.
    pub(crate) signers: BTreeMap<String, Marked<Signer>>,
    /// Rules for every pod, container, workload or object of a kind.
    pub(crate) policy: Vec<Marked<PolicyRule>>,
    /// The position of the profile.
    pub(crate) mark: Mark,
}

/// The namespace of the inventory, unless the profile has a namespace.
pub(crate) const INVENTORY_NAMESPACE: &str = "openshift-config-managed";
/// The number of names for shards of an inventory: those of the current inventory, and those of the next one.
pub(crate) const INVENTORY_SHARDS: usize = 16;

impl Profile {
    /// Returns the name of the ConfigMap in which `apply` lists the objects that it applied. In a guest, it contains the
    /// namespace of the hosted control plane.
    pub(crate) fn inventory_name(&self, hosted_control_plane: Option<&str>) -> String {
        match hosted_control_plane {
            Some(namespace) if self.cluster == Cluster::Guest => {
                format!("transship-{}-{namespace}", self.topology)
            }
            _ => format!("transship-{}", self.topology),
        }
    }

    /// Returns the names of the ConfigMaps in which an inventory with very many objects continues.
    pub(crate) fn inventory_shards(inventory: &str) -> Vec<String> {
        (1..=INVENTORY_SHARDS).map(|number| format!("{inventory}-{number}")).collect()
    }

    /// Returns the namespace of the management cluster for this profile's objects.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_ref().map(|namespace| namespace.value.as_str())
    }

    /// Returns the settings of the filters as they are written, to look for names in them.
    pub(crate) fn select_nodes(&self) -> impl Iterator<Item = &Node> {
        self.filters.nodes()
    }

    /// Returns whether an entry with `in` applies to this profile. An empty `in` means all profiles.
    pub(crate) fn is_in(&self, profiles: &[Marked<String>]) -> bool {
        profiles.is_empty() || profiles.iter().any(|name| self.lineage.contains(&name.value))
    }
}

/// Merges a profile with those that it extends.
pub(super) fn resolve(
    file: &Marked<ProfileFile>,
    all: &[Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) -> Option<Profile> {
    let lineage = lineage(file, all, reader)?;
    let mut merged = file.value.clone();
    for ancestor in &lineage[1..] {
        merged = merged.over(ancestor.value.clone());
    }
    for (is_missing, field) in
        [(merged.topology.is_none(), "topology"), (merged.cluster.is_none(), "cluster")]
    {
        if is_missing {
            reader.error(file.mark, format!("a profile needs the field `{field}`"));
        }
    }
    Some(Profile {
        name: merged.metadata.name.0,
        lineage: lineage.iter().map(|file| file.value.name().to_owned()).collect(),
        topology: merged.topology?,
        cluster: merged.cluster?,
        select: Filters::default(),
        filters: merged.select.unwrap_or_default(),
        strip: merged.strip,
        namespace: merged.namespace,
        paused_until: merged.paused_until,
        omit: merged.omit,
        intents: merged.intents,
        pins: merged.pins,
        seeds: merged.seeds,
        unmanaged: merged.unmanaged,
        adopts: managers(merged.adopts).into_iter().map(|manager| manager.value).collect(),
        signers: merged.signers,
        policy: merged.policy,
        mark: file.mark,
    })
}

impl ProfileFile {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name.0
    }

    /// Returns this profile on top of the one that it extends: fields replace the parent's, maps are merged, lists are
    /// appended.
    fn over(self, parent: Self) -> Self {
        Self {
            topology: self.topology.or(parent.topology),
            cluster: self.cluster.or(parent.cluster),
            select: Some(self.select.unwrap_or_default().over(parent.select.unwrap_or_default())),
            strip: [parent.strip, self.strip].concat(),
            namespace: self.namespace.or(parent.namespace),
            paused_until: self.paused_until.or(parent.paused_until),
            omit: self.omit.over(parent.omit),
            intents: self.intents.over(parent.intents),
            pins: Pins([parent.pins.0, self.pins.0].concat()),
            seeds: [parent.seeds, self.seeds].concat(),
            unmanaged: [parent.unmanaged, self.unmanaged].concat(),
            adopts: Some(AdoptedManagers { from: [managers(parent.adopts), managers(self.adopts)].concat() }),
            signers: parent.signers.into_iter().chain(self.signers).collect(),
            policy: [parent.policy, self.policy].concat(),
            ..self
        }
    }
}

/// Returns the managers that a profile succeeds.
fn managers(adopts: Option<AdoptedManagers>) -> Vec<Marked<String>> {
    adopts.map(|adopts| adopts.from).unwrap_or_default()
}

/// Returns the file of a profile and those that it extends, the profile first.
fn lineage<'f>(
    file: &'f Marked<ProfileFile>,
    all: &'f [Marked<ProfileFile>],
    reader: &mut Reader<'_>,
) -> Option<Vec<&'f Marked<ProfileFile>>> {
    let mut lineage = vec![file];
    let mut last = file;
    while let Some(parent) = &last.value.extends {
        let Some(next) = all.iter().find(|other| other.value.name() == parent.value) else {
            let near = nearest(&parent.value, all.iter().map(|other| other.value.name()));
            reader.error(parent.mark, format!("there is no profile `{}` to extend", parent.value)).help =
                near.map(|near| format!("did you mean `{near}`?"));
            return None;
        };
        if lineage.iter().any(|known| known.value.name() == parent.value) {
            reader.error(parent.mark, format!("the profile `{}` extends itself", parent.value));
            return None;
        }
        lineage.push(next);
        last = next;
    }
    Some(lineage)
}

#[cfg(test)]
mod tests {
    use crate::language::Profiles;

    fn profile(name: &str, body: &str) -> String {
        format!("apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {{name: {name}}}\n{body}\n")
    }

    fn load(base: &str, guest: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        write("base.yaml", profile("base", &format!("abstract: true\ntopology: hosted\n{base}")));
        write("guest.yaml", profile("guest", &format!("extends: base\ncluster: guest\n{guest}")));
        let profiles = Profiles::load(folder.path()).map_err(|errors| errors.0[0].message.clone())?;
        Ok(profiles.iter().next().unwrap().adopts.clone())
    }

    #[test]
    fn the_managers_of_the_extended_profile_come_first() {
        let (base, guest) = ("adopts: {from: [cpo]}", "adopts: {from: [cluster-version-operator]}");
        assert_eq!(load(base, guest).unwrap(), ["cpo", "cluster-version-operator"]);
        assert_eq!(load(base, "").unwrap(), ["cpo"]);
        assert_eq!(load("", "").unwrap(), [""; 0]);
    }

    #[test]
    fn a_name_that_no_field_manager_has_is_an_error() {
        let longest = "m".repeat(128);
        assert!(load("", &format!("adopts: {{from: [{longest}]}}")).is_ok());
        for name in ["''", "a b", "a/b", "a%20b", &format!("{longest}m")] {
            let error = load("", &format!("adopts: {{from: [{name}]}}")).unwrap_err();
            assert!(error.ends_with("is not the name of a field manager"), "{error}");
        }
        for name in ["transship", "transship-seed"] {
            let error = load("", &format!("adopts: {{from: [{name}]}}")).unwrap_err();
            assert_eq!(error, format!("`{name}` is a field manager of transship"));
        }
    }
}
