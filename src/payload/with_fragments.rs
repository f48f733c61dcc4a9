//! Manifests that are not files of the payload: those of shapes, and those into which values were put.

use std::collections::BTreeMap;

use super::{File, Manifest, Payload, RunLevel, Sha256, page};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::ObjectId;
use crate::yaml::{Node, Sources, json};

/// A document of a shape, with its values put in.
#[derive(Clone, Debug)]
pub struct ExpandedManifest {
    /// The file, as messages show it.
    pub file: String,
    /// Its place among the file's documents, from one.
    pub document: usize,
    /// The object.
    pub root: Node,
}

impl Payload {
    /// The manifests of a component with their places in the payload.
    pub fn of_component<'p>(
        &'p self,
        component: &str,
    ) -> impl Iterator<Item = (usize, &'p Manifest)> + use<'p> {
        let places = self.by_component.get(component).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|place| (*place, &self.manifests[*place]))
    }

    /// The payload with some manifests changed, and with those of shapes beside the components' own.
    pub fn with(
        &self,
        mut changed: BTreeMap<usize, Manifest>,
        shapes: BTreeMap<String, Vec<ExpandedManifest>>,
        sources: &Sources,
    ) -> Result<Self, Diagnostics> {
        let mut new = self.clone();
        let mut errors = Diagnostics::default();
        let mut before: BTreeMap<usize, Vec<Manifest>> = BTreeMap::new();
        for (component, files) in shapes {
            let at = self.place_for_shapes(&component);
            let ordered_as = self.manifests.get(at).map(|next| self.file(next).ordered_as.clone());
            for shape in files {
                let added = new.shape(&component, shape, ordered_as.as_deref(), sources);
                before.entry(at).or_default().extend(errors.collect(added));
            }
        }
        let mut manifests = Vec::with_capacity(self.manifests.len());
        for (place, manifest) in std::mem::take(&mut new.manifests).into_iter().enumerate() {
            manifests.extend(before.remove(&place).unwrap_or_default());
            manifests.push(changed.remove(&place).unwrap_or(manifest));
        }
        manifests.extend(before.into_values().flatten());
        new.manifests = manifests;
        new.index();
        errors.or(new)
    }

    /// Shapes come before the first file of a component's last run-level: they hold what its workloads need.
    fn place_for_shapes(&self, component: &str) -> usize {
        let level = |(_, manifest): &(usize, &Manifest)| {
            RunLevel::of(&self.file(manifest).ordered_as).map(|level| level.number)
        };
        let last = self.of_component(component).last().and_then(|last| level(&last));
        let first = self.of_component(component).find(|own| level(own) == last);
        first.map_or(self.manifests.len(), |(place, _)| place)
    }

    fn shape(
        &mut self,
        component: &str,
        shape: ExpandedManifest,
        ordered_as: Option<&str>,
        sources: &Sources,
    ) -> Result<Manifest, Diagnostic> {
        let (id, version) = identity(&shape.root, sources)?;
        self.files.push(File {
            component: component.to_owned(),
            ordered_as: ordered_as.unwrap_or(&shape.file).to_owned(),
            sha256: Sha256::of(json::write(&shape.root).as_bytes()),
            path: shape.file,
        });
        let (file, document, root) = (self.files.len() - 1, shape.document, shape.root);
        let mut manifest = Manifest { root, id, version, file, document, json: None, lent: Vec::new() };
        if let Some(page) = self.pages.get(component) {
            page::lend_annotations(&mut manifest, page);
        }
        Ok(manifest)
    }

    /// Notes which manifests are whose.
    pub(super) fn index(&mut self) {
        self.by_component.clear();
        for (place, manifest) in self.manifests.iter().enumerate() {
            let component = &self.files[manifest.file].component;
            match self.by_component.get_mut(component) {
                Some(places) => places.push(place),
                None => drop(self.by_component.insert(component.clone(), vec![place])),
            }
        }
    }
}

impl Manifest {
    /// The manifest with another object, which may have another identity.
    pub fn become_object(&self, root: Node, sources: &Sources) -> Result<Self, Diagnostic> {
        let (id, version) = identity(&root, sources)?;
        let Self { file, document, json, lent, .. } = self.clone();
        Ok(Self { root, id, version, file, document, json, lent })
    }
}

fn identity(root: &Node, sources: &Sources) -> Result<(ObjectId, String), Diagnostic> {
    ObjectId::of(root).map_err(|error| {
        Diagnostic::error(error.message).at(Location::of(error.mark, sources)).help(error.help)
    })
}
