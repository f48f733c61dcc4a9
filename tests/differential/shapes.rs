//! Shapes of Kubernetes' own kinds, from which objects and patches are generated: enough fields to meet every way in which
//! strategic merge treats maps and lists.

/// The shape of a value.
pub(crate) enum Shape {
    Text,
    Number,
    Boolean,
    /// A map with any keys, such as labels.
    Labels,
    Object(&'static [(&'static str, Shape)]),
    /// A list that is merged by a key: the key and the fields of an item.
    Keyed(&'static str, &'static [(&'static str, Shape)]),
    /// A list of texts without duplicates, such as finalizers.
    Set,
    /// A list that a patch replaces.
    List(&'static Shape),
}

use Shape::{Boolean, Keyed, Labels, List, Number, Object, Set, Text};

/// API version, kind, and the fields of the object except its metadata.
type Kind = (&'static str, &'static str, &'static [(&'static str, Shape)]);

/// The kinds of generated objects.
pub(crate) const KINDS: [Kind; 12] = [
    ("v1", "Pod", &[("spec", Object(POD_SPEC))]),
    ("apps/v1", "Deployment", &[("spec", Object(DEPLOYMENT_SPEC))]),
    ("apps/v1", "DaemonSet", &[("spec", Object(DEPLOYMENT_SPEC))]),
    ("v1", "Service", &[("spec", Object(SERVICE_SPEC))]),
    (
        "v1",
        "ServiceAccount",
        &[
            ("automountServiceAccountToken", Boolean),
            ("secrets", Keyed("name", &[("name", Text), ("namespace", Text)])),
            ("imagePullSecrets", List(&Object(&[("name", Text)]))),
        ],
    ),
    ("v1", "ConfigMap", &[("data", Labels), ("immutable", Boolean)]),
    (
        "policy/v1",
        "PodDisruptionBudget",
        &[("spec", Object(&[("minAvailable", Number), ("selector", SELECTOR)]))],
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        &[
            ("rules", List(&Object(&[("verbs", List(&Text)), ("resources", List(&Text))]))),
            ("aggregationRule", Object(&[("clusterRoleSelectors", List(&SELECTOR))])),
        ],
    ),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        &[(
            "webhooks",
            Keyed(
                "name",
                &[
                    ("name", Text),
                    ("failurePolicy", Text),
                    ("rules", List(&Object(&[("operations", List(&Text))]))),
                    ("matchConditions", Keyed("name", &[("name", Text), ("expression", Text)])),
                    ("clientConfig", Object(&[("service", Object(&[("name", Text), ("port", Number)]))])),
                ],
            ),
        )],
    ),
    ("v1", "Node", &[("spec", Object(&[("taints", List(&Object(&[("key", Text), ("effect", Text)])))]))]),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        &[(
            "spec",
            Object(&[
                ("podSelector", SELECTOR),
                ("policyTypes", List(&Text)),
                ("ingress", List(&Object(&[("from", List(&Object(&[("podSelector", SELECTOR)])))]))),
            ]),
        )],
    ),
    (
        "batch/v1",
        "CronJob",
        &[(
            "spec",
            Object(&[
                ("schedule", Text),
                (
                    "jobTemplate",
                    Object(&[("spec", Object(&[("template", POD_TEMPLATE), ("parallelism", Number)]))]),
                ),
            ]),
        )],
    ),
];

pub(crate) const METADATA: &[(&str, Shape)] = &[
    ("labels", Labels),
    ("annotations", Labels),
    ("finalizers", Set),
    ("ownerReferences", Keyed("uid", &[("uid", Text), ("name", Text), ("controller", Boolean)])),
];

const SELECTOR: Shape = Object(&[
    ("matchLabels", Labels),
    ("matchExpressions", List(&Object(&[("key", Text), ("operator", Text), ("values", List(&Text))]))),
]);

const DEPLOYMENT_SPEC: &[(&str, Shape)] = &[
    ("replicas", Number),
    ("selector", SELECTOR),
    (
        "strategy",
        Object(&[
            ("type", Text),
            ("rollingUpdate", Object(&[("maxSurge", Number), ("maxUnavailable", Text)])),
        ]),
    ),
    ("template", POD_TEMPLATE),
];

const POD_TEMPLATE: Shape = Object(&[
    ("metadata", Object(&[("labels", Labels), ("annotations", Labels)])),
    ("spec", Object(POD_SPEC)),
]);

const POD_SPEC: &[(&str, Shape)] = &[
    ("hostNetwork", Boolean),
    ("nodeName", Text),
    ("nodeSelector", Labels),
    ("containers", Keyed("name", CONTAINER)),
    ("initContainers", Keyed("name", CONTAINER)),
    (
        "volumes",
        Keyed(
            "name",
            &[
                ("name", Text),
                ("emptyDir", Object(&[("medium", Text)])),
                (
                    "configMap",
                    Object(&[("name", Text), ("items", List(&Object(&[("key", Text), ("path", Text)])))]),
                ),
                (
                    "projected",
                    Object(&[("sources", List(&Object(&[("secret", Object(&[("name", Text)]))])))]),
                ),
            ],
        ),
    ),
    ("tolerations", List(&Object(&[("key", Text), ("operator", Text)]))),
    ("imagePullSecrets", Keyed("name", &[("name", Text)])),
    ("hostAliases", Keyed("ip", &[("ip", Text), ("hostnames", List(&Text))])),
    (
        "topologySpreadConstraints",
        Keyed("topologyKey", &[("topologyKey", Text), ("maxSkew", Number), ("labelSelector", SELECTOR)]),
    ),
    (
        "securityContext",
        Object(&[
            ("runAsUser", Number),
            ("supplementalGroups", List(&Number)),
            ("sysctls", List(&Object(&[("name", Text), ("value", Text)]))),
        ]),
    ),
    (
        "affinity",
        Object(&[(
            "podAffinity",
            Object(&[(
                "requiredDuringSchedulingIgnoredDuringExecution",
                List(&Object(&[("topologyKey", Text)])),
            )]),
        )]),
    ),
];

const CONTAINER: &[(&str, Shape)] = &[
    ("name", Text),
    ("image", Text),
    ("args", List(&Text)),
    ("command", List(&Text)),
    (
        "env",
        Keyed(
            "name",
            &[
                ("name", Text),
                ("value", Text),
                ("valueFrom", Object(&[("secretKeyRef", Object(&[("name", Text), ("key", Text)]))])),
            ],
        ),
    ),
    ("envFrom", List(&Object(&[("prefix", Text), ("secretRef", Object(&[("name", Text)]))]))),
    ("ports", Keyed("containerPort", &[("containerPort", Number), ("name", Text), ("protocol", Text)])),
    ("volumeMounts", Keyed("mountPath", &[("mountPath", Text), ("name", Text), ("readOnly", Boolean)])),
    ("volumeDevices", Keyed("devicePath", &[("devicePath", Text), ("name", Text)])),
    (
        "resources",
        Object(&[("limits", Labels), ("requests", Labels), ("claims", List(&Object(&[("name", Text)])))]),
    ),
    (
        "livenessProbe",
        Object(&[
            (
                "httpGet",
                Object(&[
                    ("path", Text),
                    ("port", Number),
                    ("httpHeaders", List(&Object(&[("name", Text), ("value", Text)]))),
                ]),
            ),
            ("periodSeconds", Number),
        ]),
    ),
    (
        "securityContext",
        Object(&[
            ("privileged", Boolean),
            ("capabilities", Object(&[("drop", List(&Text)), ("add", List(&Text))])),
        ]),
    ),
];

const SERVICE_SPEC: &[(&str, Shape)] = &[
    ("type", Text),
    ("selector", Labels),
    ("clusterIPs", List(&Text)),
    ("externalIPs", List(&Text)),
    ("ports", Keyed("port", &[("port", Number), ("name", Text), ("targetPort", Text)])),
];
