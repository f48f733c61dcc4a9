//! What a profile does to the manifests it takes in.

mod add;
mod every;
mod exceptions;
mod images;
mod namespace;
pub mod patch;
mod scope;
mod strip;
mod target;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::Object;
use crate::parallel;
use crate::payload::{Manifest, Payload};
use crate::profile::template::substitute;
use crate::profile::{Label, Marked, Parameters, Profile};
use crate::select::Reason;
use crate::yaml::{Node, Sources, Value};

/// Makes objects of the manifests that are in: images from the release, what holds for every pod, the pages' patches,
/// the profile's namespace, and last the annotations that nobody needs any more.
pub fn all(
    payload: &Payload,
    profile: &Profile,
    parameters: &Parameters,
    sources: &Sources,
    out: &[Option<Reason>],
) -> Result<Vec<Object>, Diagnostics> {
    let catalogues = images::Catalogues::of(payload)?;
    let included: Vec<(usize, &Manifest)> = payload
        .manifests
        .iter()
        .enumerate()
        .zip(out)
        .filter(|(_, out)| out.is_none())
        .map(|(manifest, _)| manifest)
        .collect();
    let made = parallel::map(&included, |(index, manifest)| {
        let mut object = object(*index, manifest, payload, profile, &catalogues);
        let scope = scope::ObjectScope::of(&object, payload, parameters);
        every::apply(&mut object, &profile.every, &scope, sources)?;
        Ok(object)
    });
    let mut objects = together(made)?;
    exceptions::apply(&mut objects, payload, profile, parameters, sources)?;
    if let Some(namespace) = &profile.namespace {
        namespace::move_to(&target_namespace(namespace, parameters, sources)?, &mut objects, payload)?;
    }
    strip::apply(&mut objects, &profile.strip);
    Ok(objects)
}

fn object(
    index: usize,
    manifest: &Manifest,
    payload: &Payload,
    profile: &Profile,
    catalogues: &images::Catalogues,
) -> Object {
    let file = payload.file(manifest);
    let mut root = manifest.object();
    catalogues.fill_in(&mut root, &file.path);
    Object {
        root,
        id: manifest.id.clone(),
        cluster: profile.cluster,
        component: file.component.clone(),
        file: file.path.clone(),
        document: manifest.document,
        manifest: index,
    }
}

/// All of them, or all errors.
fn together(results: Vec<Result<Object, Diagnostics>>) -> Result<Vec<Object>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut objects = Vec::with_capacity(results.len());
    for result in results {
        match result {
            Ok(object) => objects.push(object),
            Err(found) => errors.0.extend(found.0),
        }
    }
    errors.or(objects)
}

/// The profile's namespace with its parameters put in.
fn target_namespace(
    namespace: &Marked<String>,
    parameters: &Parameters,
    sources: &Sources,
) -> Result<String, Diagnostic> {
    let node = Node { value: Value::String(namespace.value.as_str().into()), mark: namespace.mark };
    let text = substitute(&node, parameters, sources)?.and_then(|node| node.as_str().map(str::to_owned));
    text.filter(|text| Label::is(text)).ok_or_else(|| {
        Diagnostic::error(format!("`{}` is no name of a namespace", namespace.value))
            .at(Location::of(namespace.mark, sources))
            .help("it is at most 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`")
    })
}
