//! Kubernetes objects: identity, scope, metadata, pod templates, references, schemas and paths to fields.

mod build;
mod cloud_credentials;
mod config_hash;
mod dependencies;
mod history;
mod id;
mod issued;
pub(crate) mod mask;
mod metadata;
pub(crate) mod path;
mod pod;
mod reference;
mod rights;
mod role_rule;
mod schema;
mod schema_table;
mod scope;
mod selector;
mod sensitive_texts;
mod subject;

use crate::yaml::Node;

pub(crate) use build::{list, map, text};
pub(crate) use cloud_credentials::{Cloud, CloudCredentials};
pub(crate) use config_hash::{ConfigContent, ConfigHash, ConfigPart};
pub use dependencies::DependencyReason;
pub(crate) use dependencies::dependencies;
pub(crate) use history::{Cause, History, Revision};
pub use id::{NotAnObject, ObjectId};
pub(crate) use issued::{
    BUNDLE_KEY, GuestIdentity, IssuedCertificate, IssuedKubeconfig, IssuedOrigin, KeyAlgorithm, Proof,
};
pub(crate) use metadata::{
    Annotations, annotation, is_tombstone, label, label_text, metadata, metadata_text, remove_annotation,
    remove_label,
};
pub(crate) use pod::{
    containers, containers_mut, has_pods, is_workload, pod, pod_mut, pod_path, take_pod_template, volumes,
};
pub(crate) use reference::{
    REFERENCE_RULES, Reference, ReferenceRule, ReferenceSource, RequiredPart, TargetNamespace,
};
pub(crate) use rights::{Right, Rights, TooManyRights};
pub(crate) use role_rule::RoleRule;
pub(crate) use schema::{ListStrategy, Schema};
pub(crate) use schema_table::{Expected, is_built_in_kind, versions};
pub(crate) use scope::{Scope, Scopes, defined_kind};
pub(crate) use selector::SelectorPattern;
pub use selector::{Selector, SelectorError};
pub(crate) use sensitive_texts::SensitiveTexts;
pub(crate) use subject::{ALL_SERVICE_ACCOUNTS, service_account_of};

/// The annotation that marks a tombstone, for the cluster-version-operator and for transship.
pub(crate) const DELETE: &str = "release.openshift.io/delete";

/// The annotation of an object that is created once and then belongs to others.
const CREATE_ONLY: &str = "release.openshift.io/create-only";

/// The annotation that says, as JSON, where the values of an issued object come from. It does not reach a cluster.
///
/// The label with this name does. Its value is the kind of issued object, such as `certificate`.
pub(crate) const ISSUED: &str = "transship.openshift.io/issued";

/// The annotation that names the signer whose authorities an object trusts: `apply` fills in its fields `caBundle`. It does
/// not reach a cluster.
pub(crate) const CA_BUNDLE: &str = "transship.openshift.io/ca-bundle";

/// The annotation of a manifest whose object is never pruned: `transship.openshift.io/prune: keep`. It does not reach a
/// cluster; the inventory records it.
pub(crate) const PRUNE: &str = "transship.openshift.io/prune";

/// The annotation with which a pod requires SecurityContextConstraints.
pub(crate) const REQUIRED_SCC: &str = "openshift.io/required-scc";

/// The annotations with which a Service asks for a serving certificate.
pub(crate) const SERVING_CERT: [&str; 2] = [
    "service.beta.openshift.io/serving-cert-secret-name",
    "service.alpha.openshift.io/serving-cert-secret-name",
];

/// Why a secret cannot be part of a name.
pub(crate) const NAMES_ARE_PUBLIC: &str =
    "names are not secret: they are part of URLs, and logs, events and the inventory show them";

/// Returns whether an object is a Secret of any API group.
pub(crate) fn is_secret(root: &Node) -> bool {
    root.get("kind").and_then(Node::as_str) == Some("Secret")
}

/// A rendered object, with its component and its position in the payload.
#[derive(Clone, Debug)]
pub struct Object {
    /// The object itself.
    pub root: Node,
    /// The identity, as it is in [`Object::root`].
    pub id: ObjectId,
    /// The cluster that the object lives in.
    pub cluster: Cluster,
    /// The component that the object belongs to.
    pub component: String,
    /// The payload file of the object, relative to the payload's folder. For an object that an addition creates, the
    /// file of the manifest next to it.
    pub file: String,
    /// The file name from which the run level is read.
    pub(crate) ordered_as: String,
    /// The position in the order of the payload.
    pub(crate) position: PayloadPosition,
    /// The number of the document in the file, starting at one. Zero for an object that an addition creates.
    pub(crate) document: usize,
    /// The index of the payload's manifest that became this object. `None` if an addition created it.
    pub(crate) manifest: Option<usize>,
    /// The number of init containers that additions have put before those of the manifest.
    pub(crate) added_init_containers: usize,
    /// Whether the annotation [`PRUNE`] keeps the object when it is no longer rendered.
    pub(crate) kept: bool,
    /// Where the values come from, if this is an issued object.
    pub(crate) issued: Option<IssuedOrigin>,
    /// The parts of the hash of the pod's configuration, if the object has one.
    pub(crate) config_hash: Option<ConfigHash>,
    /// The revisions of the object during rendering, if they are recorded.
    pub(crate) history: History,
}

impl Object {
    /// Returns whether the object is to be deleted.
    pub fn is_tombstone(&self) -> bool {
        is_tombstone(&self.root)
    }

    /// Returns whether the object stays when it is no longer rendered.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Returns whether the object is created once and then belongs to others.
    pub(crate) fn is_create_only(&self) -> bool {
        Annotations::of(&self.root).get(CREATE_ONLY) == Some("true")
    }
}

/// A position in the order of the payload, relative to a manifest.
///
/// The order of the fields is the sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PayloadPosition {
    /// The index of the manifest.
    pub(crate) manifest: usize,
    /// Whether the object comes before the manifest, is the manifest, or comes after it.
    pub(crate) relative_position: RelativePosition,
    /// The order among objects with the same manifest and relative position.
    pub(crate) sequence: usize,
}

/// The position of an object relative to a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RelativePosition {
    /// Directly before the manifest.
    BeforeManifest,
    /// The object is the manifest.
    Manifest,
    /// After the manifest.
    AfterManifest,
}

/// The cluster that an object lives in.
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
    /// Returns the name that files and output use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Management => "management",
            Self::Guest => "guest",
            Self::Both => "both",
        }
    }
}
