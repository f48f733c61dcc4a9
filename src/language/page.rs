//! A page: the `component.yaml` of a component. It places its objects, uses fragments and lists exceptions.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::fragment::{Addition, Use, check_additions};
use super::header::{ApiVersion, Metadata};
use super::needs::{Need, check_needs};
use super::omission::Omissions;
use super::parameters::Parameter;
use super::selector::read_selector;
use super::typed::{Marked, Reader, Typed, string_enum, typed};
use super::when::When;
use crate::diagnostic::Diagnostics;
use crate::object::{Cluster, ObjectId, Selector};
use crate::yaml::{Node, Sources};

string_enum! {
    /// The kind of a page.
    pub(crate) enum PageKind {
        /// A page.
        "Component" => Component,
    }
}

typed! {
    /// The page of a component: when the component exists, where each object lives, and its exceptions.
    pub(crate) struct Page ("a page") {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// `Component`
        "kind" kind: PageKind,
        /// The name of the component.
        "metadata" metadata: Metadata,
        /// The component whose operator looks after these objects. While a Deployment of that component is in the topology, the
        /// objects are left to the operator. Without an owner, or without its Deployment, transship applies them.
        "owner" owner: Option<Marked<String>>,
        /// Patterns of the component's files, for a page in `profiles/components/`.
        "files" files: Vec<Marked<String>>,
        /// Files of the folder to ignore: patterns of file names, each with a reason.
        "ignore" ignore: BTreeMap<String, Marked<String>>,
        /// The component exists only if these conditions hold.
        "when" when: When,
        /// Annotations that the filters see on every manifest that lacks them. They are not rendered.
        "annotations" annotations: BTreeMap<String, Marked<String>>,
        /// Names for `${…}` in the manifests and additions of the component, computed from parameters.
        "values" values: BTreeMap<String, Marked<Node>>,
        /// Parameters that only this page can use.
        "parameters" parameters: BTreeMap<String, Marked<Parameter>>,
        /// The cluster in which each object lives.
        "place" place: Option<Place>,
        /// Objects that have moved to the other cluster, each with a reason. A tombstone deletes the old object.
        "moved" moved: Omissions,
        /// Image tags that always come from one of the two releases.
        "images" images: Option<ImageReleases>,
        /// Objects that the page leaves out, each with a reason.
        "omit" omit: Omissions,
        /// Fragments that the component uses.
        "uses" uses: Vec<Marked<Use>>,
        /// Additions to the component's workloads and objects.
        "adds" adds: Vec<Marked<Addition>>,
        /// ConfigMaps and Secrets that the processes of the component read again when they change, each with a reason. Their
        /// changes restart no pods.
        "reloads" reloads: Reloads,
        /// The rights that the workloads of the component use. A check compares them with the roles and bindings.
        "needs" needs: Vec<Marked<Need>>,
        /// Patches, applied last and in this order.
        "patches" patches: Vec<Marked<PatchEntry>>,
    }
}

/// ConfigMaps and Secrets that processes read again when they change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reloads(pub(crate) Vec<Marked<Selector>>);

impl Typed for Reloads {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map of objects and reasons");
            return None;
        };
        let mut reloads = Vec::new();
        for entry in map {
            String::read(&entry.value, reader);
            let Some(value) = read_selector(&entry.key, entry.mark, reader) else { continue };
            let is_config = matches!(value.kind.as_str(), "ConfigMap" | "Secret")
                && value.group.as_deref().unwrap_or_default().is_empty();
            if !is_config || value.name.is_none() {
                reader.error(entry.mark, format!("`{}` names no ConfigMap and no Secret", entry.key)).help =
                    Some("write `Secret/name:` or `ConfigMap/name:` with the reason".into());
            }
            reloads.push(Marked { value, mark: entry.mark });
        }
        Some(Self(reloads))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": {"type": "string"}})
    }
}

typed! {
    /// The cluster in which each object lives. A standalone cluster has all of them.
    #[derive(Default)]
    pub(crate) struct Place ("place") {
        /// Objects in the management cluster, which runs hosted control planes.
        "management" management: Vec<Marked<Selector>>,
        /// Objects in the guest cluster. Cluster-scoped objects are in the guest without an entry.
        "guest" guest: Vec<Marked<Selector>>,
        /// Objects in both clusters.
        "both" both: Vec<Marked<Selector>>,
    }
}

typed! {
    /// Image tags that always come from one release: an operator in the management cluster may start pods in the guest.
    #[derive(Default)]
    pub(crate) struct ImageReleases ("images") {
        /// Tags that always come from the guest's release.
        "guest" guest: Vec<Marked<String>>,
        /// Tags that always come from the management cluster's release.
        "management" management: Vec<Marked<String>>,
    }
}

typed! {
    /// A patch with the objects that it changes and the reason for it.
    pub(crate) struct PatchEntry ("a patch") {
        /// The profiles in which it is applied. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// It is applied only if these conditions hold.
        "when" when: When,
        /// Why a patch is needed.
        "reason" reason: String,
        /// The file with the patch: beside the page, in `patches/<component>/`, or in `patches/`.
        "path" path: Option<Marked<String>>,
        /// The patch itself: a map, a list of operations, or one of them as text.
        "patch" patch: Option<Node>,
        /// The objects to patch. The default is the object that the patch itself names.
        "target" target: Option<PatchTarget>,
        /// The patch may match no object or change nothing.
        "optional" optional: bool,
        /// Where a merged list has the items of the patch. The default is `first`.
        "position" position: Option<PatchPosition>,
        /// The containers, volumes and other named items that a strategic merge patch creates, each as `list/name`.
        "creates" creates: Vec<Marked<CreatedItem>>,
    }
}

string_enum! {
    /// Where a merged list has the items of a patch.
    pub(crate) enum PatchPosition {
        /// Before the other items, in the order of the patch, as in kustomize.
        "first" => First,
        /// Existing items keep their order, and new items come after them.
        "last" => Last,
    }
}

/// An item of a list that a patch creates, as `list/name`: `containers/metrics`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreatedItem(pub(crate) String);

impl Typed for CreatedItem {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        match text.split_once('/') {
            Some((list, name)) if !list.is_empty() && !name.is_empty() => Some(Self(text)),
            _ => {
                reader.error(node.mark, format!("`{text}` does not name an item of a list")).help =
                    Some("write the list and the name of the item, such as `containers/metrics`".to_owned());
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[^/]+/.+$"})
    }
}

typed! {
    /// The objects that a patch changes. Each text is a regular expression that must match the whole text.
    pub(crate) struct PatchTarget ("a target") {
        /// The API group.
        "group" group: Option<Marked<String>>,
        /// The API version.
        "version" version: Option<Marked<String>>,
        /// The kind.
        "kind" kind: Option<Marked<String>>,
        /// The name.
        "name" name: Option<Marked<String>>,
        /// The namespace.
        "namespace" namespace: Option<Marked<String>>,
        /// Labels as `key=value`, `key!=value`, `key` or `!key`, separated by commas.
        "labelSelector" label_selector: Option<Marked<String>>,
        /// Annotations, in the same format.
        "annotationSelector" annotation_selector: Option<Marked<String>>,
    }
}

impl Page {
    /// Reads a page.
    pub(crate) fn read_page(node: &Node, sources: &Sources) -> Result<Self, Diagnostics> {
        let mut reader = Reader::new(sources, Diagnostics::default());
        let page = Self::read(node, &mut reader);
        if let Some(page) = &page
            && reader.errors.0.is_empty()
        {
            page.check(&mut reader);
        }
        match page {
            Some(page) if reader.errors.0.is_empty() => Ok(page),
            _ => Err(reader.errors),
        }
    }

    /// Reports errors beyond the types of the fields.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        for (name, parameter) in &self.parameters {
            parameter.value.check_declaration(name, parameter.mark, reader);
        }
        check_additions(&self.adds, reader);
        check_needs(&self.needs, reader);
    }

    /// Returns the name of the component.
    pub(crate) fn name(&self) -> &str {
        &self.metadata.name.0
    }

    /// Returns whether the processes of the component read a ConfigMap or Secret again when it changes.
    pub(crate) fn reloads(&self, kind: &str, namespace: &str, name: &str) -> bool {
        let [group, kind, namespace, name] = ["", kind, namespace, name].map(str::to_owned);
        let id = ObjectId { group, kind, namespace, name };
        self.reloads.0.iter().any(|selector| selector.value.matches(&id))
    }

    /// Returns the component whose operator looks after this one. A component without an owner looks after itself.
    pub(crate) fn owner(&self) -> &str {
        self.owner.as_ref().map_or_else(|| self.name(), |owner| &owner.value)
    }
}

impl Place {
    /// Returns all entries with their clusters.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Marked<Selector>, Cluster)> {
        let management = self.management.iter().map(|entry| (entry, Cluster::Management));
        let guest = self.guest.iter().map(|entry| (entry, Cluster::Guest));
        management.chain(guest).chain(self.both.iter().map(|entry| (entry, Cluster::Both)))
    }

    /// Returns the entries that apply to an object. Entries with its name take precedence over entries with its kind.
    pub(crate) fn of(&self, id: &ObjectId) -> Vec<(&Marked<Selector>, Cluster)> {
        let mut matching: Vec<_> = self.entries().filter(|(entry, _)| entry.value.matches(id)).collect();
        let is_named = matching.iter().any(|(entry, _)| entry.value.name.is_some());
        matching.retain(|(entry, _)| entry.value.name.is_some() == is_named);
        matching
    }
}
