//! A small hosted control plane with one issued object of each kind, and a webhook in the guest.

use std::path::Path;

/// The namespace of the hosted control plane, unless the test chooses another one.
pub(super) const HOSTED: &str = "clusters-example";

pub(super) struct Project {
    folder: tempfile::TempDir,
}

const PAGE: &str = "\
apiVersion: transship.openshift.io/v1
kind: Component
metadata: {name: op}
annotations: {include.release.openshift.io/any: \"true\"}
place:
  management: [Deployment, Service]
  guest: [Role, RoleBinding]
  both: [ServiceAccount]
values: {webhook: '${url}'}
adds:
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {name: op-kubeconfig, namespace: openshift-op}
    spec:
      server: ${server}
      authority: root-ca
      as: {namespace: openshift-op, serviceAccount: op}
- in: [mc]
  when: {token: false}
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {name: op-kubeconfig, namespace: openshift-op}
    spec: {signer: cluster-signer-ca}
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedCertificate
    metadata: {name: op-cert, namespace: openshift-op}
    spec: {signer: root-ca, service: op}
  - apiVersion: transship.openshift.io/v1
    kind: IssuedCertificate
    metadata: {name: op-metrics-cert, namespace: openshift-op}
    spec: {signer: root-ca, service: op-metrics, key: RSA2048}
";

/// The parameters of the project.
pub(super) struct Settings {
    pub(super) namespace: &'static str,
    /// The URL of the guest.
    pub(super) server: String,
    /// Whether the kubeconfig has a token.
    pub(super) token: bool,
    /// Whether transship creates the signer of the certificates.
    pub(super) own: bool,
    /// The URL of the webhook.
    pub(super) webhook: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespace: HOSTED,
            server: "https://kube-apiserver:6443".to_owned(),
            token: false,
            own: false,
            webhook: "https://op.clusters-example.svc:9443/check".to_owned(),
        }
    }
}

impl Settings {
    fn parameters(&self) -> String {
        let Self { server, token, own, webhook, .. } = self;
        format!(
            "apiVersion: transship.openshift.io/v1\nkind: Parameters\nmetadata: {{name: parameters}}\nparameters:\n\
             \x20 server: {{type: string, description: The URL of the guest., default: '{server}'}}\n\
             \x20 token: {{type: bool, description: Whether the kubeconfig has a token., default: {token}}}\n\
             \x20 own: {{type: bool, description: Whether transship creates the signer., default: {own}}}\n\
             \x20 url: {{type: string, description: The URL of the webhook., default: '{webhook}'}}\n"
        )
    }
}

const MANAGEMENT: &str = "\
apiVersion: transship.openshift.io/v1
kind: Profile
metadata: {name: mc}
topology: hypershift
cluster: management
namespace: NAMESPACE
select: {clusterProfile: any}
intents: {webhook: keep}
signers:
  root-ca: {bundle: trusted, create: {own: true}}
policy:
- for: pod
  set:
    metadata: {annotations: {config-hash: '${pod.configHash}'}}
";

const GUEST: &str = "\
apiVersion: transship.openshift.io/v1
kind: Profile
metadata: {name: guest}
topology: hypershift
cluster: guest
select: {clusterProfile: any}
intents: {webhook: keep}
";

const CHECKS: &str = "\
apiVersion: transship.openshift.io/v1
kind: Checks
metadata: {name: checks}
externals:
- objects: [SIGNERS]
  in: [mc]
  reason: they are signers of the test
";

const MANIFESTS: [(&str, &str); 5] = [
    ("10_op_1", "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-op, annotations: {a: b}}\n"),
    (
        "20_op_1",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: openshift-op, annotations: {a: b}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: op, namespace: openshift-op, annotations: {a: b}}\n\
         rules:\n- {apiGroups: [''], resources: [configmaps], verbs: [get]}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: op, namespace: openshift-op, annotations: {a: b}}\n\
         roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: op}\n\
         subjects: [{kind: ServiceAccount, name: op, namespace: openshift-op}]\n",
    ),
    (
        "30_op_1",
        "apiVersion: v1\nkind: Service\nmetadata: {name: op, namespace: openshift-op, annotations: {a: b}}\n\
         spec: {selector: {app: op}, ports: [{name: https, port: 443, targetPort: 8443}]}\n",
    ),
    (
        "40_op_1",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: openshift-op, annotations: {a: b}}\n\
         spec:\n  selector: {matchLabels: {app: op}}\n  template:\n    metadata: {labels: {app: op}}\n    spec:\n\
         \x20     serviceAccountName: op\n      automountServiceAccountToken: false\n      containers:\n      - name: op\n\
         \x20       image: example.test/op:1\n        volumeMounts:\n        - {name: cert, mountPath: /cert}\n        - {name: guest, mountPath: /guest}\n\
         \x20     volumes:\n      - {name: cert, secret: {secretName: op-cert}}\n      - {name: guest, secret: {secretName: op-kubeconfig}}\n",
    ),
    (
        "70_op_1",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
         metadata: {name: op, annotations: {transship.openshift.io/ca-bundle: root-ca}}\n\
         webhooks:\n- name: op.example.test\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Ignore\n\
         \x20 clientConfig: {url: '${webhook}'}\n  rules:\n  - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}\n",
    ),
];

impl Project {
    pub(super) fn new(settings: &Settings) -> Self {
        let it = Self { folder: tempfile::tempdir().unwrap() };
        it.write("profiles/parameters.yaml", &settings.parameters());
        it.write("profiles/mc.yaml", &MANAGEMENT.replace("NAMESPACE", settings.namespace));
        it.write("profiles/guest.yaml", GUEST);
        // An external that nothing uses would be a finding.
        let signers = match (settings.own, settings.token) {
            (true, true) => "Secret/unused",
            (true, false) => "Secret/cluster-signer-ca",
            (false, true) => "Secret/root-ca",
            (false, false) => "Secret/root-ca, Secret/cluster-signer-ca",
        };
        it.write("profiles/checks.yaml", &CHECKS.replace("SIGNERS", signers));
        it.write("payload/op/component.yaml", PAGE);
        for (name, text) in MANIFESTS {
            it.write(&format!("payload/op/0000_{name}.yaml"), text);
        }
        it
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
