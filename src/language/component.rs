//! A component's page: the File / Who / Where table that design documents draw by hand, made executable.

use std::collections::BTreeMap;

use super::Selector;
use super::common::{Header, Metadata, Omissions};
use super::fragment::{Addition, Use, check_additions};
use super::parameters::Parameter;
use super::typed::{Marked, Reader, Typed, typed, words};
use super::when::When;
use crate::diagnostic::Diagnostics;
use crate::object::{Cluster, ObjectId};
use crate::yaml::{Node, Sources};

words! {
    /// The kind of a page.
    pub enum ComponentKind {
        /// A component's page.
        "Component" => Component,
    }
}

typed! {
    /// What a component's manifests are about: when they exist, where each object lives, its exceptions.
    pub struct Component ("a component's page") {
        /// The version of the language.
        "apiVersion" api_version: Header,
        /// `Component`
        "kind" kind: ComponentKind,
        /// The name of the component.
        "metadata" metadata: Metadata,
        /// Who reports for it; without it, the component itself.
        "owner" owner: Option<String>,
        /// Patterns of the files it is about, for a page that does not lie beside them.
        "files" files: Vec<Marked<String>>,
        /// Manifests of the folder that do not count: patterns of file names, each with a reason.
        "ignore" ignore: BTreeMap<String, Marked<String>>,
        /// The component exists only then.
        "when" when: When,
        /// Annotations by which manifests that lack them are selected: said once, not in every file.
        "annotations" annotations: BTreeMap<String, Marked<String>>,
        /// Names for `${}` in its manifests, and for inputs that inherit: constants, or made of parameters.
        "values" values: BTreeMap<String, Marked<Node>>,
        /// Parameters that only this page uses.
        "parameters" parameters: BTreeMap<String, Marked<Parameter>>,
        /// On which side of the line each object lives.
        "place" place: Option<Place>,
        /// Objects that have moved, each with a reason: where they were, a tombstone takes them away.
        "moved" moved: Omissions,
        /// Images that come from one of the two releases, whatever cluster they are written in.
        "images" images: Option<ImageHomes>,
        /// Objects that are left out, each with a reason.
        "omit" omit: Omissions,
        /// Fragments that the component is made of.
        "uses" uses: Vec<Marked<Use>>,
        /// What it adds beside its manifests, and where.
        "adds" adds: Vec<Marked<Addition>>,
        /// Exceptions, applied last, in this order.
        "patches" patches: Vec<Marked<PatchEntry>>,
    }
}

typed! {
    /// On which side of the line each object lives. In a standalone cluster the sides are one.
    #[derive(Default)]
    pub struct Place ("place") {
        /// In the cluster that runs hosted control planes.
        "management" management: Vec<Marked<Selector>>,
        /// In the cluster that users see. Cluster-scoped objects are there without being named.
        "guest" guest: Vec<Marked<Selector>>,
        /// In both.
        "both" both: Vec<Marked<Selector>>,
    }
}

typed! {
    /// Tags whose images come from one release: an operator in the management cluster may start pods in the guest.
    #[derive(Default)]
    pub struct ImageHomes ("images") {
        /// Tags of the guest's release.
        "guest" guest: Vec<Marked<String>>,
        /// Tags of the control plane's release.
        "management" management: Vec<Marked<String>>,
    }
}

typed! {
    /// An exception: one patch for the objects it means, with the reason for it.
    pub struct PatchEntry ("a patch") {
        /// The profiles it concerns; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// It is applied only then.
        "when" when: When,
        /// Why this cannot be said in another way.
        "reason" reason: String,
        /// A file with the patch, beside the page or in `patches/<component>/`.
        "path" path: Option<Marked<String>>,
        /// The patch itself: a map, a list of operations, or either as text.
        "patch" patch: Option<Node>,
        /// The objects it means; without it, the one that the patch itself names.
        "target" target: Option<PatchTarget>,
        /// It may match nothing, or change nothing.
        "optional" optional: bool,
        /// Where new items of a list go.
        "position" position: Option<ItemPosition>,
    }
}

words! {
    /// Where new items of a list go.
    pub enum ItemPosition {
        /// Behind those that are there.
        "last" => Last,
        /// Before those that are there.
        "first" => First,
    }
}

typed! {
    /// The objects that a patch means. Texts are regular expressions that must match as a whole.
    pub struct PatchTarget ("a target") {
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
        /// Labels as `key=value`, `key!=value`, `key` or `!key`, with commas between.
        "labelSelector" label_selector: Option<Marked<String>>,
        /// Annotations, in the same way.
        "annotationSelector" annotation_selector: Option<Marked<String>>,
    }
}

impl Component {
    /// Reads a page.
    pub fn read_page(node: &Node, sources: &Sources) -> Result<Self, Diagnostics> {
        let mut reader = Reader { sources, errors: Diagnostics::default() };
        let page = Self::read(node, &mut reader);
        if let Some(page) = page.as_ref().filter(|_| reader.errors.0.is_empty()) {
            page.check(&mut reader);
        }
        match page {
            Some(page) if reader.errors.0.is_empty() => Ok(page),
            _ => Err(reader.errors),
        }
    }

    /// What is wrong with it beyond the types of its fields.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        for (name, parameter) in &self.parameters {
            parameter.value.check_declaration(name, parameter.mark, reader);
        }
        check_additions(&self.adds, reader);
    }

    /// The name of the component.
    pub fn name(&self) -> &str {
        &self.metadata.name.0
    }

    /// Who reports for it.
    pub fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or_else(|| self.name())
    }
}

impl Place {
    /// Every entry with the clusters it means.
    pub fn entries(&self) -> impl Iterator<Item = (&Marked<Selector>, Cluster)> {
        let management = self.management.iter().map(|entry| (entry, Cluster::Management));
        let guest = self.guest.iter().map(|entry| (entry, Cluster::Guest));
        management.chain(guest).chain(self.both.iter().map(|entry| (entry, Cluster::Both)))
    }

    /// The entries that decide about an object: those that name it beat those that name its kind.
    pub fn of(&self, id: &ObjectId) -> Vec<(&Marked<Selector>, Cluster)> {
        let hits: Vec<_> = self.entries().filter(|(entry, _)| entry.value.matches(id)).collect();
        let named = hits.iter().any(|(entry, _)| entry.value.name.is_some());
        hits.into_iter().filter(|(entry, _)| entry.value.name.is_some() == named).collect()
    }
}
