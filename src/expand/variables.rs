//! What `${}` stands for at one place of the line.

use std::collections::BTreeMap;

use super::View;
use super::pod_context::{PodContext, local_volumes, mounts_tmp};
use crate::language::template::{Lookup, Scope};
use crate::object::{Cluster, ObjectId, containers, pod};
use crate::payload::Manifest;
use crate::yaml::{Node, Value};

/// An object with pods, as it was loaded.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its identity.
    pub id: ObjectId,
    /// The object.
    pub root: Node,
}

/// Inputs and values, then what is known about image, release, component and workload, then parameters.
#[derive(Clone)]
pub struct Variables<'a> {
    /// The profile and what it sees.
    pub view: &'a View<'a>,
    /// The component.
    pub component: &'a str,
    /// Inputs and values.
    pub own: BTreeMap<String, Lookup>,
    /// The workload in scope.
    pub workload: Option<Workload>,
    /// The container in scope, where one is.
    pub container: Option<Node>,
    /// The objects around a pod, where they are known.
    pub around: Option<&'a PodContext>,
}

impl<'a> Variables<'a> {
    /// The names of a component's page.
    pub fn of(view: &'a View<'a>, component: &'a str) -> Self {
        Self { view, component, own: BTreeMap::new(), workload: None, container: None, around: None }
    }

    /// A text as a message may show it.
    pub(super) fn shown(&self, text: &str) -> String {
        let secret = self.view.context.parameters.secrets().any(|secret| text.contains(secret));
        if secret { "<hidden>".to_owned() } else { text.to_owned() }
    }

    /// The pullspec of a tag; with `.guest` or `.management` behind it that of one release.
    pub(super) fn image(&self, tag: &str) -> Result<Lookup, String> {
        let (tag, cluster) = match tag.rsplit_once('.') {
            Some((tag, "guest")) => (tag, Cluster::Guest),
            Some((tag, "management")) => (tag, Cluster::Management),
            _ => (tag, self.view.profile.cluster),
        };
        match self.view.payload.images(cluster).and_then(|images| images.tags.get(tag)) {
            Some(pullspec) => Ok(text(pullspec)),
            None => Err(format!("the release has no image `{tag}`")),
        }
    }

    fn known(&self, name: &str) -> Option<Result<Lookup, String>> {
        if let Some(tag) = name.strip_prefix("images.") {
            return Some(self.image(tag));
        }
        if let Some(field) = name.strip_prefix("pod.") {
            return Some(self.of_pod(field));
        }
        if let (Some(field), Some(container)) = (name.strip_prefix("container."), &self.container) {
            return Some(of_container(container, field));
        }
        let payload = &self.view.payload;
        let owner = || payload.page(self.component).map_or(self.component, |page| page.owner());
        let workload = self.workload.as_ref();
        Some(Ok(match (name, workload) {
            ("component.name", _) => text(self.component),
            ("component.owner", _) => text(owner()),
            ("release.version", _) => payload.version().map_or(Lookup::Absent, text),
            ("workload.kind", Some(workload)) => text(&workload.id.kind),
            ("workload.name", Some(workload)) => text(&workload.id.name),
            ("workload.namespace", Some(workload)) => text(&workload.id.namespace),
            ("workload.serviceAccount", Some(workload)) => text(workload.service_account()),
            ("workload.replicas", Some(workload)) => {
                workload.replicas().map_or(Lookup::Absent, Lookup::Value)
            }
            (name, None) if name.starts_with("workload.") => {
                return Some(
                    Err("nobody says which workload is meant: give the input `workload`".to_owned()),
                );
            }
            _ => return None,
        }))
    }
}

impl Variables<'_> {
    /// What is known about the pod of the workload in scope.
    fn of_pod(&self, field: &str) -> Result<Lookup, String> {
        let around = self.around.ok_or("a pod is known only where a profile speaks of every one")?;
        let workload = self.workload.as_ref().ok_or("there is no pod here")?;
        let pod = pod(&workload.root, &workload.id.kind).ok_or("there is no pod here")?;
        let namespace = &workload.id.namespace;
        let or_absent = |found: Option<String>| found.map_or(Lookup::Absent, |found| text(&found));
        match field {
            "usesOwnApi" => {
                Ok(Lookup::Value(Value::Bool(around.is_bound(namespace, workload.service_account()))))
            }
            "mountsTmp" => Ok(Lookup::Value(Value::Bool(containers(pod).into_iter().all(mounts_tmp)))),
            "localVolumes" => Ok(or_absent(local_volumes(pod))),
            "configHash" => Ok(or_absent(around.config_hash(pod, namespace))),
            "labels" => {
                let labels = pod.get("metadata").and_then(|metadata| metadata.get("labels"));
                Ok(labels.map_or(Lookup::Absent, |labels| Lookup::Value(labels.value.clone())))
            }
            _ => {
                Err("of a pod there are usesOwnApi, localVolumes, mountsTmp, configHash and labels"
                    .to_owned())
            }
        }
    }
}

fn of_container(container: &Node, field: &str) -> Result<Lookup, String> {
    match field {
        "name" => Ok(container.get("name").map_or(Lookup::Absent, |name| Lookup::Value(name.value.clone()))),
        "mountsTmp" => Ok(Lookup::Value(Value::Bool(mounts_tmp(container)))),
        _ => Err("of a container there are name and mountsTmp".to_owned()),
    }
}

impl Scope for Variables<'_> {
    fn get(&self, name: &str) -> Result<Lookup, String> {
        match self.own.get(name) {
            Some(value) => Ok(value.clone()),
            None => self.known(name).unwrap_or_else(|| self.view.context.parameters.get(name)),
        }
    }

    fn is_secret(&self, name: &str) -> bool {
        !self.own.contains_key(name) && self.view.context.parameters.is_secret(name)
    }
}

impl Workload {
    pub(super) fn of(manifest: &Manifest) -> Self {
        Self { id: manifest.id.clone(), root: manifest.root.clone() }
    }

    /// The service account that its pods run as.
    pub fn service_account(&self) -> &str {
        let account =
            pod(&self.root, &self.id.kind).and_then(|pod| pod.get("spec")?.get("serviceAccountName"));
        account.and_then(Node::as_str).unwrap_or("default")
    }

    /// How many pods it wants, where it says so.
    fn replicas(&self) -> Option<Value> {
        self.root.get("spec")?.get("replicas").map(|replicas| replicas.value.clone())
    }

    /// Its container, if there is one only.
    pub(super) fn only_container(&self) -> Option<&str> {
        let containers = pod(&self.root, &self.id.kind)?.get("spec")?.get("containers")?.as_list()?;
        match containers {
            [only] => only.get("name")?.as_str(),
            _ => None,
        }
    }
}

fn text(text: &str) -> Lookup {
    Lookup::Value(Value::String(text.into()))
}
