//! The Secrets and tokens that a container can read.

use std::collections::BTreeSet;

use crate::check::control_plane_secrets::SECRET_REFERENCES;
use crate::object::{Object, containers, pod};
use crate::yaml::Node;

/// A container with the Secrets and volumes that it can read.
pub(super) struct Container<'o> {
    pub(super) name: &'o str,
    node: &'o Node,
    /// The names of the Secrets.
    pub(super) secrets: BTreeSet<&'o str>,
}

impl<'o> Container<'o> {
    /// Returns the containers of an object, if it has pods.
    pub(super) fn of(object: &'o Object) -> Vec<Self> {
        let Some(pod) = pod(&object.root, &object.id.kind) else { return Vec::new() };
        containers(pod).into_iter().map(|container| Self::new(container, pod)).collect()
    }

    fn new(node: &'o Node, pod: &'o Node) -> Self {
        let mut container = Self { name: text(node, "name"), node, secrets: BTreeSet::new() };
        for (path, name_field) in SECRET_REFERENCES {
            let mut add = |reference: &'o Node| {
                container.secrets.extend(reference.get(name_field).and_then(Node::as_str));
            };
            match path.strip_prefix("spec/volumes/*/") {
                Some(path) => mounted_volumes(node, pod).for_each(|volume| visit(volume, path, &mut add)),
                None => visit(node, path.trim_start_matches("spec/*/*/"), &mut add),
            }
        }
        container
    }
}

/// A token that a container of a pod requests from the other cluster for one of its ServiceAccounts.
pub(super) struct MintedToken<'o> {
    /// The container that requests it.
    pub(super) minter: &'o str,
    pub(super) namespace: &'o str,
    pub(super) account: &'o str,
    /// Who accepts the token. Empty for the API server.
    pub(super) audience: &'o str,
}

/// Returns the tokens that other containers of the pod request and write into a volume that a container mounts.
pub(super) fn tokens_of<'o>(container: &Container<'o>, all: &[Container<'o>]) -> Vec<MintedToken<'o>> {
    let mut tokens = Vec::new();
    for minter in all.iter().filter(|minter| minter.name != container.name) {
        let flag = |name: &str| flag_of(minter.node, name);
        let (Some(namespace), Some(account), Some(file)) =
            (flag("--service-account-namespace"), flag("--service-account-name"), flag("--token-file"))
        else {
            continue;
        };
        let volume = mounts(minter.node).filter(|mount| is_below(file, text(mount, "mountPath")));
        let volume =
            volume.max_by_key(|mount| text(mount, "mountPath").len()).map(|mount| text(mount, "name"));
        if volume.is_some_and(|volume| mounts(container.node).any(|mount| text(mount, "name") == volume)) {
            let audience = flag("--token-audience").unwrap_or_default();
            tokens.push(MintedToken { minter: minter.name, namespace, account, audience });
        }
    }
    tokens
}

/// Returns the value of a flag of a container, as `--flag=value` or as two arguments.
fn flag_of<'o>(container: &'o Node, flag: &str) -> Option<&'o str> {
    for list in ["command", "args"] {
        let items = container.get(list).and_then(Node::as_list).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let Some(rest) = item.as_str().and_then(|item| item.strip_prefix(flag)) else { continue };
            match rest.strip_prefix('=') {
                Some(value) => return Some(value),
                None if rest.is_empty() => return items.get(index + 1).and_then(Node::as_str),
                None => {}
            }
        }
    }
    None
}

fn is_below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

fn mounts(container: &Node) -> impl Iterator<Item = &Node> {
    container.get("volumeMounts").and_then(Node::as_list).unwrap_or_default().iter()
}

/// Returns the volumes of a pod that a container mounts.
fn mounted_volumes<'o>(container: &'o Node, pod: &'o Node) -> impl Iterator<Item = &'o Node> {
    let volumes = pod.get("spec").and_then(|spec| spec.get("volumes")).and_then(Node::as_list);
    volumes.unwrap_or_default().iter().filter(move |volume| {
        mounts(container).any(|mount| mount.get("name").is_some() && mount.get("name") == volume.get("name"))
    })
}

/// Calls a function for each node at a path such as `env/*/valueFrom`, where `*` means every item.
pub(super) fn visit<'o>(node: &'o Node, path: &str, found: &mut dyn FnMut(&'o Node)) {
    let (key, rest) = match path.split_once('/') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    let children: Vec<&Node> = match key {
        "*" => node.as_list().unwrap_or_default().iter().collect(),
        key => node.get(key).into_iter().collect(),
    };
    for child in children {
        match rest {
            Some(rest) => visit(child, rest, found),
            None => found(child),
        }
    }
}

/// Returns a text field, or an empty text.
pub(super) fn text<'o>(node: &'o Node, field: &str) -> &'o str {
    node.get(field).and_then(Node::as_str).unwrap_or_default()
}
