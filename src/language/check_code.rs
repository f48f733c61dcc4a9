//! The codes of all checks, with their descriptions and severities.

use super::typed::string_enum;
use crate::diagnostic::Severity;

string_enum! {
    /// A check, by the code of its findings.
    pub enum Check {
        /// A field that the kind does not have. The API server rejects or drops it.
        "unknown-field" => UnknownField,
        /// A value of the wrong type.
        "wrong-type" => WrongType,
        /// A required field that is not set.
        "missing-field" => MissingField,
        /// A label or annotation that is not text.
        "label-not-text" => LabelNotText,
        /// Two items of a list with the same keys. Server-side apply rejects the object.
        "duplicate-item" => DuplicateItem,
        /// Fields that exclude each other, or none of several alternatives: volume sources, probe handlers, values of a variable.
        "one-of" => OneOf,
        /// Text in a manifest that Kubernetes ignores, because the document ends before it.
        "ignored-text" => IgnoredText,
        /// A manifest, or a whole component, that no profile of the project includes.
        "in-no-profile" => InNoProfile,
        /// An annotation that should include a manifest in a cluster profile, but that the cluster-version-operator does not recognize.
        "misspelled-annotation" => MisspelledAnnotation,
        /// An object that transship would apply although it is left to an operator, which would apply it too.
        "two-owners" => TwoOwners,
        /// Two manifests for the same object.
        "duplicate-object" => DuplicateObject,
        /// A namespaced object without a namespace, or a profile for the management cluster without one.
        "missing-namespace" => MissingNamespace,
        /// A cluster-scoped object with a namespace.
        "unexpected-namespace" => UnexpectedNamespace,
        /// A namespace that no manifest creates and no external declares.
        "unknown-namespace" => UnknownNamespace,
        /// A cluster-scoped object in the management cluster, which other hosted control planes share.
        "cluster-scoped" => ClusterScoped,
        /// A kind or version that no CRD describes and no entry under `kinds` declares.
        "unknown-kind" => UnknownKind,
        /// An object that is applied before its namespace, its CRD, what its pods need or the Service that it calls.
        "wrong-order" => WrongOrder,
        /// A reference to an object that does not exist.
        "missing-object" => MissingObject,
        /// An optional reference to an object that does not exist.
        "missing-optional-object" => MissingOptionalObject,
        /// A reference to a key that a Secret or ConfigMap does not have.
        "missing-key" => MissingKey,
        /// A reference to a port that a Service or container does not have.
        "missing-port" => MissingPort,
        /// A label selector that matches nothing.
        "selects-nothing" => SelectsNothing,
        /// A reference to an object in the other cluster of the topology.
        "wrong-cluster" => WrongCluster,
        /// An image that is not in the release and that no external declares.
        "unpinned-image" => UnpinnedImage,
        /// The placeholder `0.0.1-snapshot` instead of a version.
        "placeholder-version" => PlaceholderVersion,
        /// `${name}` in a rendered object, which no value replaced.
        "unfilled-placeholder" => UnfilledPlaceholder,
        /// Credentials, key material or a kubeconfig in the guest, whose users can read them.
        "secret-in-guest" => SecretInGuest,
        /// Rights for a subject in a namespace of the other cluster.
        "wrong-cluster-subject" => WrongClusterSubject,
        /// A privileged container in the management cluster, or one with a capability, SELinux type, view of `/proc` or SecurityContextConstraints that make it so.
        "privileged" => Privileged,
        /// A pod in the management cluster that uses the network, processes, files, ports, kernel parameters or address of its node.
        "host-access" => HostAccess,
        /// A pod in the management cluster that ignores which nodes are reserved for others: bound to a node, tolerating every taint, or with the priority of the node's own pods.
        "node-scheduling" => NodeScheduling,
        /// A pod in the management cluster without seccomp, without AppArmor, or whose containers share their processes.
        "unconfined" => Unconfined,
        /// A container in the management cluster that runs as root, or may gain privileges.
        "runs-as-root" => RunsAsRoot,
        /// A pod in the management cluster that mounts a token without rights.
        "unneeded-token" => UnneededToken,
        /// A Service, Ingress or Route that makes a part of the management cluster reachable from outside, or a Service with external addresses in any cluster.
        "exposed" => Exposed,
        /// A Service or host name that leads to a fixed address, to the metadata service of the cloud, or to another namespace of the management cluster.
        "redirected-traffic" => RedirectedTraffic,
        /// A pod in the management cluster that no NetworkPolicy selects, or a NetworkPolicy that allows all traffic.
        "open-network" => OpenNetwork,
        /// An admission webhook that can block the requests for all resources.
        "blocking-webhook" => BlockingWebhook,
        /// A flag or field that turns off TLS, authentication or authorization, or a webhook that cannot be verified.
        "insecure-setting" => InsecureSetting,
        /// A namespace that accepts privileged pods, although none of its pods needs that.
        "privileged-namespace" => PrivilegedNamespace,
        /// A finalizer in a manifest. The object cannot be deleted until a controller removes it.
        "finalizer" => Finalizer,
        /// A field of the metadata that the API server sets, such as `uid`, or `generateName`. Server-side apply rejects or drops it.
        "server-field" => ServerField,
        /// An owner reference in a manifest. Its uid is that of an object in one cluster; in any other, the garbage collector deletes the object.
        "owner-reference" => OwnerReference,
        /// A ConfigMap with the name of the inventory, which `apply` writes.
        "reserved-name" => ReservedName,
        /// A binding that grants all rights in the guest, or an issued kubeconfig of an administrator.
        "guest-admin" => GuestAdmin,
        /// A rule or binding with which an identity can get the rights of others: `escalate`, `bind` or `impersonate`, tokens of any ServiceAccount, commands in any pod, or privileged SecurityContextConstraints.
        "escalation" => Escalation,
        /// A rule or binding that allows everything, or reading all Secrets: in a namespace of the management cluster, or in the whole guest.
        "broad-rights" => BroadRights,
        /// A binding for everyone: for requests without credentials in any cluster, or for all users or all ServiceAccounts of the management cluster or of the guest. In the guest, all users may read objects other than Secrets.
        "broad-subject" => BroadSubject,
        /// A Secret in the management cluster or the guest into which Kubernetes writes a ServiceAccount token that never expires.
        "long-lived-token" => LongLivedToken,
        /// A pod in the management cluster that reads a key or kubeconfig of the hosted control plane itself: of its administrator, its etcd, its certificate authorities.
        "control-plane-secret" => ControlPlaneSecret,
        /// A password or token in the variables, arguments or probes of a container.
        "literal-secret" => LiteralSecret,
        /// A ServiceAccount that lacks a right that its page declares, or a right that it grants to others.
        "missing-right" => MissingRight,
        /// A ServiceAccount that can create roles or bindings, although its page names none under `grants`.
        "undeclared-grants" => UndeclaredGrants,
        /// A parameter that is read from the guest and does not limit its values or keys, or has a pattern that accepts line breaks, `{` or almost any text.
        "unvalidated-guest-value" => UnvalidatedGuestValue,
        /// An external or a declared kind that nothing uses.
        "unused-external" => UnusedExternal,
        /// An allowance that matches no finding.
        "unused-allowance" => UnusedAllowance,
    }
}

impl Check {
    /// Returns the code, such as `unknown-field`.
    pub fn code(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Returns the description.
    pub fn description(self) -> &'static str {
        Self::DESCRIPTIONS[self as usize].trim()
    }

    /// Returns whether the check is about declarations in `Checks` files, not about rendered objects.
    pub(crate) fn is_about_declarations(self) -> bool {
        matches!(self, Self::UnusedExternal | Self::UnusedAllowance)
    }

    /// Returns all checks, in the order of declaration.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(_, check)| *check)
    }

    /// Returns the severity of its findings. A warning is about a setting that only makes an attack easier, or that may
    /// be right.
    pub fn severity(self) -> Severity {
        match self {
            Self::MissingOptionalObject
            | Self::IgnoredText
            | Self::InNoProfile
            | Self::MisspelledAnnotation
            | Self::UnfilledPlaceholder
            | Self::Unconfined
            | Self::RunsAsRoot
            | Self::OpenNetwork
            | Self::PrivilegedNamespace
            | Self::Finalizer
            | Self::UndeclaredGrants
            | Self::UnusedExternal
            | Self::UnusedAllowance => Severity::Warning,
            _ => Severity::Error,
        }
    }
}
