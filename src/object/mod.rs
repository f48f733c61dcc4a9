//! What one manifest is: its identity, its scope, and the metadata everybody asks for.

mod edges;
mod history;
mod pod;
mod reference;
mod schema;
mod scope;
mod selector;
mod subject;

use std::fmt;

use crate::yaml::{Mark, Node, Value};

pub use edges::{Because, Edge, edges};
pub use history::{Cause, History, Step};
pub use pod::{containers, containers_mut, has_pods, is_workload, pod, pod_mut, pod_path};
pub use reference::{Needs, Of, RULES, Reference, Rule, Where};
pub use schema::{Expected, ListStrategy, Schema, is_built_in_kind, versions};
pub use scope::{Scope, Scopes};
pub use selector::{Selector, SelectorError, SelectorPattern};
pub use subject::{EVERYBODY, account};

/// Tells the cluster-version-operator, and us, to take an object away.
pub const DELETE: &str = "release.openshift.io/delete";

/// Names where the material of an issued Secret will come from. The only annotation of ours that is rendered.
pub const ISSUED: &str = "transship.openshift.io/issued";

/// What a Service asks for a certificate with.
pub const SERVING_CERT: [&str; 2] = [
    "service.beta.openshift.io/serving-cert-secret-name",
    "service.alpha.openshift.io/serving-cert-secret-name",
];

/// Whether an object is there only to be taken away.
pub fn is_tombstone(root: &Node) -> bool {
    let annotations = root.get("metadata").and_then(|metadata| metadata.get("annotations"));
    annotations.and_then(|annotations| annotations.get(DELETE)).and_then(Node::as_str) == Some("true")
}

/// Group, kind, namespace and name. The version is no part of an identity: two versions are one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace, empty where there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// An object on its way out: what it is, where it goes, and where it came from.
#[derive(Clone, Debug)]
pub struct Object {
    /// The object itself.
    pub root: Node,
    /// Its identity, as it is in [`Object::root`].
    pub id: ObjectId,
    /// The cluster it goes to.
    pub cluster: Cluster,
    /// The component that owns it.
    pub component: String,
    /// The payload file it came from, below the payload's folder; for what a fragment brought, the one it comes with.
    pub file: String,
    /// The name that its run-level is read from.
    pub ordered_as: String,
    /// Where it comes in the order of the payload.
    pub position: Position,
    /// Its place among that file's documents, from one.
    pub document: usize,
    /// The manifest it came from: an index into the payload's. Nothing if a fragment brought it.
    pub manifest: Option<usize>,
    /// What each step made of it, where somebody asked for that.
    pub history: History,
}

impl Object {
    /// Returns whether the object is to be deleted.
    pub fn is_tombstone(&self) -> bool {
        is_tombstone(&self.root)
    }
}

/// Where an object comes in the order of the payload: with a manifest, or right before or behind one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The manifest.
    pub manifest: usize,
    /// Before it, itself, or behind it.
    pub side: Side,
    /// In which order, among those on one side.
    pub number: usize,
}

/// On which side of a manifest an object comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Right before it.
    Before,
    /// It is the manifest.
    Itself,
    /// Right behind it.
    Behind,
}

/// Where an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cluster {
    /// The cluster that runs hosted control planes.
    Management,
    /// The cluster that users see.
    Guest,
    /// A standalone cluster, which is both at once.
    Both,
}

impl Cluster {
    /// The word for it in files and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Management => "management",
            Self::Guest => "guest",
            Self::Both => "both",
        }
    }
}

/// Why a document is not an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnObject {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub mark: Mark,
    /// What to do.
    pub help: &'static str,
}

impl ObjectId {
    /// Reads the identity and the version of an object.
    pub fn of(root: &Node) -> Result<(Self, String), NotAnObject> {
        let fail = |message: &str, help| NotAnObject { message: message.to_owned(), mark: root.mark, help };
        if root.as_map().is_none() {
            let message = format!("this document is {}, not an object", root.value.kind());
            return Err(fail(&message, "a manifest starts with `apiVersion:` and `kind:`"));
        }
        let kind = text(root, "kind")?;
        if kind.is_empty() {
            return Err(fail(
                "this object has no `kind`",
                "add `kind:`, or give the file another ending than .yaml",
            ));
        }
        if kind.ends_with("List") && root.get("items").and_then(Node::as_list).is_some() {
            return Err(fail(
                "this is a list of objects",
                "write each object as a document of its own, after a `---` line",
            ));
        }
        let api_version = text(root, "apiVersion")?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        if version.is_empty() || version.contains('/') {
            let help = "write `apiVersion: v1`, or `group/version` such as `apps/v1`";
            return Err(fail("this object has no proper `apiVersion`", help));
        }
        let metadata =
            |field| root.get("metadata").map_or(Ok(String::new()), |metadata| text(metadata, field));
        let (name, namespace) = (metadata("name")?, metadata("namespace")?);
        if name.is_empty() {
            return Err(fail(
                "this object has no `metadata.name`",
                "every object of a payload needs a name of its own",
            ));
        }
        Ok((Self { group: group.to_owned(), kind, namespace, name }, version.to_owned()))
    }

    /// `Deployment.apps`: the kind with its group, as `kubectl` takes it.
    pub fn kind_and_group(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

/// A field that must be text where it is there: `namespace: n` would silently be none.
fn text(node: &Node, field: &str) -> Result<String, NotAnObject> {
    match node.get(field).map(|value| (value, &value.value)) {
        None | Some((_, Value::Null)) => Ok(String::new()),
        Some((_, Value::String(text))) => Ok(text.to_string()),
        Some((node, value)) => Err(NotAnObject {
            message: format!("`{field}` is {}, not text", value.kind()),
            mark: node.mark,
            help: "put the value in quotes",
        }),
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind_and_group(), self.name)?;
        if !self.namespace.is_empty() {
            write!(f, " in {}", self.namespace)?;
        }
        Ok(())
    }
}

/// The annotations of an object as the cluster-version-operator sees them: all of them, or none if any is not text.
pub struct Annotations<'a>(Option<&'a Node>);

impl<'a> Annotations<'a> {
    /// The annotations of an object.
    pub fn of(root: &'a Node) -> Self {
        let node = root.get("metadata").and_then(|metadata| metadata.get("annotations"));
        let all_text = |node: &&Node| {
            node.as_map().is_some_and(|map| map.iter().all(|entry| entry.value.as_str().is_some()))
        };
        Self(node.filter(all_text))
    }

    /// Whether there are any at all; an empty map counts.
    pub fn exist(&self) -> bool {
        self.0.is_some()
    }

    /// The value of one.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0?.get(key)?.as_str()
    }
}
