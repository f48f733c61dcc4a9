//! The built-in names, which `${…}` knows without a declaration. To add one, add a variant and an entry in `ALL`.

use super::pod_context::{local_volumes, mounts_tmp};
use super::variables::{ContainerScope, Variables, Workload};
use crate::language::ValueType;
use crate::language::template::{Lookup, NotDefined};
use crate::object::{Cluster, containers, pod};
use crate::yaml::{Node, Value};

/// The first segment of `images.<tag>`. There is one such name for each image of the release.
pub(super) const IMAGES: &str = "images";

/// A built-in name, except `images.<tag>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltIn {
    ComponentName,
    ComponentOwner,
    ContainerInit,
    ContainerMountsTmp,
    ContainerName,
    LookupValue,
    PodConfigHash,
    PodLabels,
    PodLocalVolumes,
    PodMountsTmp,
    PodUsesOwnApi,
    ReleaseVersion,
    VolumeName,
    VolumeSource,
    WorkloadKind,
    WorkloadName,
    WorkloadNamespace,
    WorkloadReplicas,
    WorkloadServiceAccount,
}

impl BuiltIn {
    /// All built-in names with the types of their values, in the order in which messages list them.
    const ALL: [(&'static str, Self, ValueType); 19] = [
        ("component.name", Self::ComponentName, ValueType::String),
        ("component.owner", Self::ComponentOwner, ValueType::String),
        ("container.init", Self::ContainerInit, ValueType::Bool),
        ("container.mountsTmp", Self::ContainerMountsTmp, ValueType::Bool),
        ("container.name", Self::ContainerName, ValueType::String),
        ("lookup.value", Self::LookupValue, ValueType::String),
        ("pod.configHash", Self::PodConfigHash, ValueType::String),
        ("pod.labels", Self::PodLabels, ValueType::Map),
        ("pod.localVolumes", Self::PodLocalVolumes, ValueType::String),
        ("pod.mountsTmp", Self::PodMountsTmp, ValueType::Bool),
        ("pod.usesOwnApi", Self::PodUsesOwnApi, ValueType::Bool),
        ("release.version", Self::ReleaseVersion, ValueType::String),
        ("volume.name", Self::VolumeName, ValueType::String),
        ("volume.source", Self::VolumeSource, ValueType::String),
        ("workload.kind", Self::WorkloadKind, ValueType::String),
        ("workload.name", Self::WorkloadName, ValueType::String),
        ("workload.namespace", Self::WorkloadNamespace, ValueType::String),
        ("workload.replicas", Self::WorkloadReplicas, ValueType::Int),
        ("workload.serviceAccount", Self::WorkloadServiceAccount, ValueType::String),
    ];

    /// Returns all names.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|(name, ..)| *name)
    }

    /// Returns the built-in with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(other, ..)| *other == name).map(|(_, built_in, _)| *built_in)
    }

    /// Returns the type of the value with a name.
    pub(super) fn type_of(name: &str) -> Option<ValueType> {
        Self::ALL.iter().find(|(other, ..)| *other == name).map(|(.., value_type)| *value_type)
    }

    /// Returns whether names with this first segment are built in, such as `workload` in `workload.name`.
    pub(super) fn is_group(segment: &str) -> bool {
        segment == IMAGES || Self::names().any(|name| first_segment(name) == segment)
    }

    /// Looks up the value.
    pub(super) fn lookup(self, variables: &Variables<'_>) -> Result<Lookup, NotDefined> {
        let payload = &variables.view.payload;
        let component = variables.component;
        Ok(match self {
            Self::ComponentName => text(component),
            Self::ComponentOwner => text(payload.page(component).map_or(component, |page| page.owner())),
            Self::ContainerInit => boolean(container(variables)?.is_init),
            Self::ContainerMountsTmp => boolean(mounts_tmp(&container(variables)?.node)),
            Self::ContainerName => value(container(variables)?.node.get("name")),
            Self::LookupValue => {
                let only_in_policy = || NotDefined::new("it is defined only in a policy rule with `lookup`");
                value(Some(variables.found.as_ref().ok_or_else(only_in_policy)?))
            }
            Self::PodConfigHash => {
                let (workload, pod) = workload_and_pod(variables)?;
                let (context, namespace) = (pod_context(variables)?, &workload.id.namespace);
                let hash = context.config_hash(pod, namespace, payload.page(component));
                value(hash.map(|hash| context.config_hash_text(&hash, namespace)).as_ref())
            }
            Self::PodLabels => {
                let (_, pod) = workload_and_pod(variables)?;
                value(pod.get("metadata").and_then(|metadata| metadata.get("labels")))
            }
            Self::PodLocalVolumes => optional_text(local_volumes(workload_and_pod(variables)?.1)),
            Self::PodMountsTmp => {
                let (_, pod) = workload_and_pod(variables)?;
                boolean(containers(pod).into_iter().all(mounts_tmp))
            }
            Self::PodUsesOwnApi => {
                let (workload, _) = workload_and_pod(variables)?;
                let account = workload.service_account();
                boolean(pod_context(variables)?.is_bound(&workload.id.namespace, account))
            }
            Self::ReleaseVersion => payload.version().map_or(Lookup::Absent, text),
            Self::VolumeName => value(volume(variables)?.get("name")),
            Self::VolumeSource => volume_source(volume(variables)?).map_or(Lookup::Absent, text),
            Self::WorkloadKind => text(&workload(variables)?.id.kind),
            Self::WorkloadName => text(&workload(variables)?.id.name),
            Self::WorkloadNamespace => text(&workload(variables)?.id.namespace),
            Self::WorkloadReplicas => {
                value(workload(variables)?.root.get("spec").and_then(|spec| spec.get("replicas")))
            }
            Self::WorkloadServiceAccount => text(workload(variables)?.service_account()),
        })
    }
}

/// Returns the tag in `images.<tag>`.
pub(super) fn image_tag(name: &str) -> Option<&str> {
    name.strip_prefix(IMAGES)?.strip_prefix('.')
}

/// Returns the pullspec of an image tag. `<tag>.guest` and `<tag>.management` are those of one release.
pub(super) fn lookup_image(tag: &str, variables: &Variables<'_>) -> Result<Lookup, NotDefined> {
    let (tag, cluster) = match tag.rsplit_once('.') {
        Some((tag, "guest")) => (tag, Cluster::Guest),
        Some((tag, "management")) => (tag, Cluster::Management),
        _ => (tag, variables.view.profile.cluster),
    };
    match variables.view.payload.images(cluster).and_then(|images| images.tags.get(tag)) {
        Some(pullspec) => Ok(text(pullspec)),
        None => Err(NotDefined::new(no_image(tag, variables))),
    }
}

/// Says that nothing gives an image, and what can.
fn no_image(tag: &str, variables: &Variables<'_>) -> String {
    let parameter = format!("{IMAGES}.{tag}");
    if variables.view.context.profiles.declares(&parameter) {
        format!("the release has no image `{tag}`; pass --set {parameter}=PULLSPEC")
    } else {
        format!("the release has no image `{tag}`")
    }
}

/// Returns the first segment of a dotted name.
pub(super) fn first_segment(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

fn container<'v>(variables: &'v Variables<'_>) -> Result<&'v ContainerScope, NotDefined> {
    let only_in_policy = || NotDefined::new("it is defined only in a policy rule with `for: container`");
    variables.container.as_ref().ok_or_else(only_in_policy)
}

fn volume<'v>(variables: &'v Variables<'_>) -> Result<&'v Node, NotDefined> {
    let only_in_policy = || NotDefined::new("it is defined only in a policy rule with `for: volume`");
    variables.volume.as_ref().ok_or_else(only_in_policy)
}

/// Returns the source of a volume, such as `secret` or `configMap`: its field beside the name.
fn volume_source(volume: &Node) -> Option<&str> {
    let mut fields = volume.as_map()?.iter();
    let source = fields.find(|entry| entry.key != "name" && entry.value.value != Value::Null)?;
    Some(source.key.as_str())
}

fn workload<'v>(variables: &'v Variables<'_>) -> Result<&'v Workload, NotDefined> {
    let no_workload = || NotDefined::new("there is no workload here: give the input `workload`");
    variables.workload.as_ref().ok_or_else(no_workload)
}

fn pod_context<'v>(variables: &'v Variables<'_>) -> Result<&'v super::PodContext, NotDefined> {
    variables.pod_context.ok_or_else(|| NotDefined::new("it is defined only in `policy`"))
}

/// Returns the workload and its pod template. Only policies know them, because they run after all other changes.
fn workload_and_pod<'v>(variables: &'v Variables<'_>) -> Result<(&'v Workload, &'v Node), NotDefined> {
    pod_context(variables)?;
    let workload = workload(variables)?;
    match pod(&workload.root, &workload.id.kind) {
        Some(pod) => Ok((workload, pod)),
        None => Err(NotDefined::new(format!("a {} has no pods", workload.id.kind))),
    }
}

fn value(node: Option<&Node>) -> Lookup {
    node.map_or(Lookup::Absent, |node| Lookup::Value(node.clone()))
}

fn text(text: &str) -> Lookup {
    Lookup::Value(Value::String(text.into()).into())
}

fn optional_text(found: Option<String>) -> Lookup {
    found.map_or(Lookup::Absent, |found| text(&found))
}

fn boolean(value: bool) -> Lookup {
    Lookup::Value(Value::Bool(value).into())
}
