//! The objects that a profile declares for its signers: the Secret of a signer that transship creates, and the ConfigMap
//! with the authorities that clients trust. Only signers that an issued object uses have them.

use std::collections::BTreeSet;

use super::component::Component;
use super::issued::become_issued;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::expand::{Variables, View};
use crate::language::{Marked, Signer, unmet};
use crate::object::{
    CA_BUNDLE, History, IssuedOrigin, Object, ObjectId, PayloadPosition, RelativePosition, annotation, map,
    text,
};
use crate::payload::SIGNERS as COMPONENT;
use crate::yaml::{Mark, Node};

/// Returns the component with the objects of the signers that `components` use; `None` if there are none.
pub(super) fn component(
    components: &[Component],
    view: &View<'_>,
    namespace: Option<&str>,
) -> Result<Option<Component>, Diagnostics> {
    let used = used_signers(components);
    let mut builder = Builder { view, namespace, objects: Vec::new() };
    let mut errors = Diagnostics::default();
    for (name, signer) in &view.profile.signers {
        if used.contains(name.as_str())
            && let Err(error) = builder.add(name, signer)
        {
            errors.0.push(error);
        }
    }
    let objects = builder.objects;
    if !objects.is_empty() && view.payload.knows_component(COMPONENT) {
        let error = Diagnostic::error(format!("the payload has a component `{COMPONENT}`"));
        errors.0.push(
            error
                .note("the objects of the profile's signers are in a component of that name")
                .help("rename the component of the payload"),
        );
    }
    errors.into_result((!objects.is_empty()).then(|| Component { name: COMPONENT.to_owned(), objects }))
}

fn used_signers(components: &[Component]) -> BTreeSet<&str> {
    let mut used = BTreeSet::new();
    for object in components.iter().flat_map(|component| &component.objects) {
        used.extend(object.issued.iter().flat_map(IssuedOrigin::signers));
        used.extend(annotation(&object.root, CA_BUNDLE).and_then(Node::as_str));
    }
    used
}

struct Builder<'b, 'a> {
    view: &'b View<'a>,
    namespace: Option<&'b str>,
    objects: Vec<Object>,
}

impl Builder<'_, '_> {
    fn add(&mut self, name: &str, signer: &Marked<Signer>) -> Result<(), Diagnostic> {
        let sources = self.view.context.sources;
        let Some(namespace) = self.namespace else {
            return Err(Diagnostic::error(format!("the profile has no namespace for the signer `{name}`"))
                .at(Location::of(signer.mark, sources))
                .help("set `namespace` in the profile"));
        };
        let variables = Variables::of(self.view, COMPONENT);
        if let Some(create) = &signer.value.create
            && unmet(create, &variables, sources)?.is_none()
        {
            self.push(name, namespace, signer.mark, IssuedOrigin::Signer);
        }
        if let Some(bundle) = &signer.value.bundle {
            self.push(
                &bundle.value.0,
                namespace,
                bundle.mark,
                IssuedOrigin::Bundle { signer: name.to_owned() },
            );
        }
        Ok(())
    }

    /// Adds an object before the first manifest: everything that is issued needs it.
    fn push(&mut self, name: &str, namespace: &str, mark: Mark, origin: IssuedOrigin) {
        let payload = &self.view.payload;
        let first = payload.file(&payload.manifests[0]);
        let metadata = map([("name", text(name, mark)), ("namespace", text(namespace, mark))], mark);
        let mut object = Object {
            root: map([("metadata", metadata)], mark),
            id: ObjectId {
                group: String::new(),
                kind: String::new(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            cluster: self.view.profile.cluster,
            component: COMPONENT.to_owned(),
            file: first.path.clone(),
            ordered_as: first.ordered_as.clone(),
            position: PayloadPosition {
                manifest: 0,
                relative_position: RelativePosition::BeforeManifest,
                sequence: self.objects.len(),
            },
            document: 0,
            manifest: None,
            added_init_containers: 0,
            kept: false,
            issued: None,
            config_hash: None,
            history: History::new(self.view.context.recording),
        };
        become_issued(&mut object, origin);
        self.objects.push(object);
    }
}
