//! A small project: a payload of a dozen objects that exercise different parts of `apply`, with a profile for one
//! cluster and profiles for two.

use std::path::{Path, PathBuf};

use super::{Run, run_hosted, run_standalone};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

/// The namespace of the payload, and the namespace of a hosted control plane in the management cluster.
pub(crate) const NAMESPACE: &str = "openshift-op";
pub(crate) const HOSTED: &str = "clusters-example";
/// A value that must not appear anywhere but in a Secret, in plain text and in base64.
pub(crate) const CANARY: &str = "canary-in-a-cage";
pub(crate) const CANARY_BASE64: &str = "Y2FuYXJ5LWluLWEtY2FnZQ==";
/// The number of objects that are rendered for one cluster, without the tombstone.
pub(crate) const OBJECTS: usize = 13;

/// Long enough for requests that work, short enough for those that do not.
const LIMITS: [&str; 4] = ["--retry-timeout", "3s", "--timeout", "20s"];

/// The manifests of the payload: run level and name, and text.
pub(crate) const MANIFESTS: [(&str, &str); 14] = [
    ("10_namespace", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-op\n"),
    ("10_crd", CRD),
    (
        "20_account",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: op\n  namespace: openshift-op\n",
    ),
    (
        "20_settings",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: openshift-op\ndata:\n  mode: one\n",
    ),
    (
        "20_secret",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: credentials\n  namespace: openshift-op\ndata:\n  password: Y2FuYXJ5LWluLWEtY2FnZQ==\n",
    ),
    ("20_service", SERVICE),
    ("30_deployment", DEPLOYMENT),
    ("30_job", JOB),
    (
        "30_chosen",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: chosen\n  namespace: openshift-op\n  annotations:\n    release.openshift.io/create-only: \"true\"\ndata:\n  choice: ours\n",
    ),
    (
        "30_old",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n  namespace: openshift-op\n  annotations:\n    release.openshift.io/delete: \"true\"\n",
    ),
    ("40_class", CLASS),
    ("40_webhook", WEBHOOK),
    ("50_widget", "apiVersion: example.test/v1\nkind: Widget\nmetadata:\n  name: one\nspec:\n  size: 1\n"),
    (
        "50_role",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: op\n  namespace: openshift-op\nrules:\n- apiGroups: [\"\"]\n  resources: [configmaps]\n  verbs: [get]\n",
    ),
];

pub(crate) const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.test
spec:
  group: example.test
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: op-webhook
  namespace: openshift-op
spec:
  selector: {app: op}
  ports:
  - name: https
    port: 443
    targetPort: 8443
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: op
  namespace: openshift-op
spec:
  replicas: 1
  selector:
    matchLabels: {app: op}
  template:
    metadata:
      labels: {app: op}
    spec:
      serviceAccountName: op
      automountServiceAccountToken: false
      containers:
      - name: op
        image: example.test/op:1
        ports:
        - containerPort: 8443
";

const JOB: &str = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  namespace: openshift-op
spec:
  template:
    spec:
      serviceAccountName: op
      automountServiceAccountToken: false
      restartPolicy: Never
      containers:
      - name: migrate
        image: example.test/op:1
";

/// The administrator of the cluster chooses the default class.
const CLASS: &str = "\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: fast
  annotations:
    storageclass.kubernetes.io/is-default-class: \"true\"
    example.test/of: test
provisioner: example.test/fast
";

/// A webhook for a kind without objects. Someone else fills in its CA bundle.
const WEBHOOK: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: op
webhooks:
- name: op.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig:
    url: https://op-webhook.clusters-example.svc:443/check
    caBundle: \"\"
  rules:
  - apiGroups: [example.test]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [gadgets]
";

const COMPONENT: &str = "\
apiVersion: transship.openshift.io/v1
kind: Component
metadata:
  name: op
annotations:
  include.release.openshift.io/any: \"true\"
place:
  management: [Deployment, Service, Job, Secret, ConfigMap, Role]
  both: [ServiceAccount]
";

const PROFILE: &str = "\
select:
  clusterProfile: any
intents:
  webhook: keep
seeds:
- for: StorageClass
  path: /metadata/annotations/storageclass.kubernetes.io~1is-default-class
  reason: the cluster administrator chooses the default class
unmanaged:
- for: ValidatingWebhookConfiguration
  path: /webhooks/[*]/clientConfig/caBundle
  reason: another controller fills it in
";

pub(crate) struct Project(tempfile::TempDir);

impl Project {
    /// Creates the project, for one cluster and for two.
    pub(crate) fn new() -> Self {
        let it = Self(tempfile::tempdir().unwrap());
        for (name, text) in MANIFESTS {
            it.write_manifest(name, text);
        }
        it.write("payload/op/component.yaml", COMPONENT);
        it.profile("standalone", "standalone", "both", "");
        it.profile("mc", "hypershift", "management", &format!("namespace: {HOSTED}\n"));
        it.profile("guest", "hypershift", "guest", "");
        it
    }

    fn profile(&self, name: &str, topology: &str, cluster: &str, more: &str) {
        let first = "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata:\n  name: ";
        let rest = if cluster == "management" { PROFILE.split("seeds:").next().unwrap() } else { PROFILE };
        let text = format!("{first}{name}\ntopology: {topology}\ncluster: {cluster}\n{more}{rest}");
        self.write(&format!("profiles/{name}.yaml"), &text);
    }

    /// Adds text to a profile.
    pub(crate) fn add_to_profile(&self, name: &str, more: &str) {
        let path = format!("profiles/{name}.yaml");
        let text = std::fs::read_to_string(self.path().join(&path)).unwrap();
        self.write(&path, &(text + more));
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn manifest(&self, name: &str) -> PathBuf {
        let (level, rest) = name.split_once('_').unwrap();
        self.path().join(format!("payload/op/0000_{level}_op_{rest}.yaml"))
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Adds or replaces a manifest.
    pub(crate) fn write_manifest(&self, name: &str, text: &str) {
        // A manifest without annotations is never selected.
        let marked = if text.contains("  annotations:\n") {
            text.to_owned()
        } else {
            text.replacen("\nmetadata:\n", "\nmetadata:\n  annotations:\n    example.test/of: test\n", 1)
        };
        std::fs::create_dir_all(self.path().join("payload/op")).unwrap();
        std::fs::write(self.manifest(name), marked).unwrap();
    }

    /// Replaces a text in a manifest.
    pub(crate) fn change(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.manifest(name)).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(self.manifest(name), text.replace(from, to)).unwrap();
    }

    /// Removes a manifest from the payload.
    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.manifest(name)).unwrap();
    }

    /// Adds a manifest again that was removed.
    pub(crate) fn restore(&self, name: &str) {
        let (_, text) = MANIFESTS.iter().find(|one| one.0 == name).unwrap();
        self.write_manifest(name, text);
    }

    /// Removes `place`, so that the project is only for one cluster.
    pub(crate) fn place_everything_here(&self) {
        self.write("payload/op/component.yaml", COMPONENT.split("place:").next().unwrap());
    }

    /// Adds ConfigMaps that nothing depends on.
    pub(crate) fn add_many(&self, count: usize) {
        for number in 0..count {
            self.write_manifest(&many(number), &config_map(&format!("many-{number}"), "one"));
        }
    }

    pub(crate) fn remove_many(&self, count: usize) {
        (0..count).for_each(|number| self.remove(&many(number)));
    }

    /// Runs a command on one cluster.
    pub(crate) fn run(&self, cluster: &TestCluster, command: &str, more: &[&str]) -> Run {
        run_standalone(cluster, self.path(), command, &with_limits(more))
    }

    /// Applies to one cluster.
    pub(crate) fn apply(&self, cluster: &TestCluster, more: &[&str]) -> Run {
        self.run(cluster, "apply", more)
    }

    /// Applies to one cluster and expects exit code 0.
    pub(crate) fn apply_ok(&self, cluster: &TestCluster, more: &[&str]) -> Run {
        let run = self.apply(cluster, more);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        run
    }

    /// Runs a command on both clusters of a hosted control plane.
    pub(crate) fn run_hosted(&self, bed: &TestBed, command: &str, more: &[&str]) -> Run {
        run_hosted(bed, self.path(), command, &with_limits(more))
    }
}

/// Adds the default limits, unless the test sets them.
fn with_limits<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let missing = LIMITS.chunks(2).filter(|limit| !more.contains(&limit[0]));
    // With `-v`, every event has a line of its own.
    let verbose = if more.iter().any(|flag| flag.starts_with("-v")) { None } else { Some("-v") };
    missing.flatten().copied().chain(verbose).chain(more.iter().copied()).collect()
}

fn many(number: usize) -> String {
    format!("20_many_{number}")
}

/// Returns the manifest of a `ConfigMap`.
pub(crate) fn config_map(name: &str, mode: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {NAMESPACE}\ndata:\n  mode: {mode}\n"
    )
}

/// Returns the path of a `ConfigMap` of the payload.
pub(crate) fn map(name: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}")
}

pub(crate) const SECRET: &str = "/api/v1/namespaces/openshift-op/secrets/credentials";
pub(crate) const DEPLOYMENT_PATH: &str = "/apis/apps/v1/namespaces/openshift-op/deployments/op";
pub(crate) const JOB_PATH: &str = "/apis/batch/v1/namespaces/openshift-op/jobs/migrate";
pub(crate) const CLASS_PATH: &str = "/apis/storage.k8s.io/v1/storageclasses/fast";
pub(crate) const WEBHOOK_PATH: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/op";
pub(crate) const WIDGET: &str = "/apis/example.test/v1/widgets/one";
pub(crate) const CRD_PATH: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test";
pub(crate) const INVENTORY: &str =
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-standalone";
