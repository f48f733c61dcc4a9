//! What a profile does to the manifests it takes in.

mod add;
mod contribute;
mod every;
mod exceptions;
mod images;
mod issued;
mod namespace;
pub mod patch;
mod scope;
mod strip;
mod target;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::Object;
use crate::parallel;
use crate::payload::{Manifest, Payload};
use crate::profile::template::substitute;
use crate::profile::{Fragment, Label, Marked, Parameters, Profile};
use crate::select::Reason;
use crate::yaml::{Node, Sources, Value};

/// Everything that a rendering is a function of.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The payload.
    pub payload: &'a Payload,
    /// The profile to render for.
    pub profile: &'a Profile,
    /// The values of all parameters.
    pub parameters: &'a Parameters,
    /// The words that pages use.
    pub fragments: &'a BTreeMap<String, Marked<Fragment>>,
    /// The names of all files.
    pub sources: &'a Sources,
}

/// Makes objects of the manifests that are in: images from the release, what pages and fragments add, what holds for
/// every pod, the pages' patches, the profile's namespace, and last the annotations that nobody needs any more.
pub fn all(context: &Context<'_>, out: &[Option<Reason>]) -> Result<Vec<Object>, Diagnostics> {
    let Context { payload, profile, parameters, sources, .. } = *context;
    let mut objects = made(context, out)?;
    contribute::apply(&mut objects, context)?;
    issued::apply(&mut objects, sources)?;
    every(&mut objects, context)?;
    exceptions::apply(&mut objects, context)?;
    if let Some(namespace) = &profile.namespace {
        namespace::move_to(&target_namespace(namespace, parameters, sources)?, &mut objects, payload)?;
    }
    strip::apply(&mut objects, &profile.strip);
    Ok(objects)
}

/// What the profile says about every pod, container, workload or kind.
fn every(objects: &mut [Object], context: &Context<'_>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects {
        let scope = scope::ObjectScope::of(object, context.payload, context.parameters);
        if let Err(found) = every::apply(object, &context.profile.every, &scope, context.sources) {
            errors.0.extend(found.0);
        }
    }
    errors.or(())
}

/// The manifests that are in, as objects with the release's images.
fn made(context: &Context<'_>, out: &[Option<Reason>]) -> Result<Vec<Object>, Diagnostics> {
    let catalogues = images::Catalogues::of(context.payload)?;
    let manifests = context.payload.manifests.iter().enumerate().zip(out);
    let included: Vec<(usize, &Manifest)> =
        manifests.filter(|(_, out)| out.is_none()).map(|(manifest, _)| manifest).collect();
    Ok(parallel::map(&included, |(index, manifest)| {
        object(*index, manifest, context.payload, context.profile, &catalogues)
    }))
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
        manifest: Some(index),
    }
}

/// The profile's namespace with its parameters put in.
fn target_namespace(
    namespace: &Marked<String>,
    parameters: &Parameters,
    sources: &Sources,
) -> Result<Marked<String>, Diagnostic> {
    let node = Node { value: Value::String(namespace.value.as_str().into()), mark: namespace.mark };
    let text = substitute(&node, parameters, sources)?.and_then(|node| node.as_str().map(str::to_owned));
    let text = text.filter(|text| Label::is(text)).map(|value| Marked { value, mark: namespace.mark });
    text.ok_or_else(|| {
        Diagnostic::error(format!("`{}` is no name of a namespace", namespace.value))
            .at(Location::of(namespace.mark, sources))
            .help("it is at most 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`")
    })
}
