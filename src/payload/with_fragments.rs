//! A payload with the manifests of fragments, and with values filled into its own.

use std::collections::BTreeMap;

use super::{File, Manifest, Payload, RunLevel, page};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{ObjectId, mask};
use crate::yaml::{Node, Sources, json};

/// A manifest of a fragment, with values filled in.
#[derive(Clone, Debug)]
pub(crate) struct ExpandedManifest {
    /// The file, as messages show it.
    pub(crate) file: String,
    /// The number of the document in the file, from one.
    pub(crate) document: usize,
    /// The object.
    pub(crate) root: Node,
}

impl Payload {
    /// Returns the payload with some manifests changed, and with the manifests of fragments that each component uses.
    pub(crate) fn with_manifests(
        &self,
        mut changed: BTreeMap<usize, Manifest>,
        from_fragments: BTreeMap<String, Vec<ExpandedManifest>>,
        sources: &Sources,
    ) -> Result<Self, Diagnostics> {
        let mut new = self.clone();
        let mut errors = Diagnostics::default();
        let mut inserted: BTreeMap<usize, Vec<Manifest>> = BTreeMap::new();
        for (component, manifests) in from_fragments {
            let index = self.index_for_fragments(&component);
            let ordered_as = self.manifests.get(index).map(|next| self.file(next).ordered_as.clone());
            for manifest in manifests {
                let added = new.add_fragment_manifest(&component, manifest, ordered_as.as_deref(), sources);
                inserted.entry(index).or_default().extend(errors.ok_or_record(added));
            }
        }
        let mut manifests = Vec::with_capacity(self.manifests.len());
        for (index, manifest) in std::mem::take(&mut new.manifests).into_iter().enumerate() {
            manifests.extend(inserted.remove(&index).unwrap_or_default());
            manifests.push(changed.remove(&index).unwrap_or(manifest));
        }
        manifests.extend(inserted.into_values().flatten());
        new.manifests = manifests;
        new.index_components();
        errors.into_result(new)
    }

    /// Returns the index of the manifest before which those of fragments are inserted: the first one of the component's
    /// last run level, because its workloads need the objects of fragments.
    fn index_for_fragments(&self, component: &str) -> usize {
        let level =
            |manifest: &Manifest| RunLevel::of(&self.file(manifest).ordered_as).map(|level| level.number);
        let last_level = self.of_component(component).last().and_then(|(_, manifest)| level(manifest));
        let first = self.of_component(component).find(|(_, manifest)| level(manifest) == last_level);
        first.map_or(self.manifests.len(), |(index, _)| index)
    }

    /// Adds the file of a fragment's manifest, and returns the manifest.
    fn add_fragment_manifest(
        &mut self,
        component: &str,
        manifest: ExpandedManifest,
        ordered_as: Option<&str>,
        sources: &Sources,
    ) -> Result<Manifest, Diagnostic> {
        let (id, version) = identity(&manifest.root, sources)?;
        self.files.push(File {
            component: component.to_owned(),
            ordered_as: ordered_as.unwrap_or(&manifest.file).to_owned(),
            text: json::write(&manifest.root).into(),
            path: manifest.file,
            is_go_template: false,
        });
        let mut root = manifest.root;
        mask::protect_secret(&mut root);
        let mut manifest = Manifest {
            root,
            id,
            version,
            file: self.files.len() - 1,
            document: manifest.document,
            json: None,
            ignored_text: None,
            page_annotations: Vec::new(),
        };
        if let Some(page) = self.pages.get(component) {
            page::add_page_annotations(&mut manifest, page);
        }
        Ok(manifest)
    }
}

impl Manifest {
    /// Returns the file and the document of the manifest. They stay the same when those of fragments are added.
    pub(crate) fn key(&self) -> (usize, usize) {
        (self.file, self.document)
    }

    /// Returns the manifest with another object, which may have another identity.
    pub(crate) fn with_root(&self, root: Node, sources: &Sources) -> Result<Self, Diagnostic> {
        let (id, version) = identity(&root, sources)?;
        Ok(Self {
            root,
            id,
            version,
            file: self.file,
            ignored_text: self.ignored_text,
            document: self.document,
            json: self.json.clone(),
            page_annotations: self.page_annotations.clone(),
        })
    }
}

fn identity(root: &Node, sources: &Sources) -> Result<(ObjectId, String), Diagnostic> {
    ObjectId::of(root).map_err(|error| {
        Diagnostic::error(error.message).at(Location::of(error.mark, sources)).help(error.help)
    })
}
