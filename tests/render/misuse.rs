//! The bundled fragments, intents and policy: the errors for mistakes, the result for a minimal manifest, and that nothing
//! else is changed.

mod csi_fragments;
mod guest_access_fragments;
mod intents;
mod pod_fragments;
mod policy;
mod service_fragments;

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{CONFLICT, TestProject, find, item, names, pod_spec, repository, unindent};

const DEPLOYMENT: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: old}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      serviceAccountName: sa
      containers:
      - {name: other, image: i, args: [--own=1], volumeMounts: [{name: data, mountPath: /data}]}
      - {name: driver, image: i, args: [run]}
      volumes: [{name: data, emptyDir: {}}, {name: socket-dir, emptyDir: {}}, {name: metrics-serving-cert, secret: {secretName: cert}}]
---
";

const SERVICE: &str = r"apiVersion: v1
kind: Service
metadata: {name: hook, namespace: old}
spec: {selector: {app: d}, ports: [{name: https, port: 443}]}
---
";

const WEBHOOKS: &str = r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v}
webhooks:
- {name: a.b.c, clientConfig: {service: {name: hook, namespace: old, port: 443}}}
- {name: d.e.f, clientConfig: {url: 'https://elsewhere'}}
---
";

const MONITORED: &str = r"apiVersion: v1
kind: Service
metadata: {name: d-metrics, namespace: old}
spec: {selector: {app: d}, ports: [{name: own, port: 443}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: d-monitor, namespace: old}
spec: {selector: {matchLabels: {app: d}}, endpoints: [{port: own}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: ServiceMonitor, plural: servicemonitors}}
---
";

const ROLE: &str = r"apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: old}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
";

const TRUSTED: &str = r"apiVersion: v1
kind: ConfigMap
metadata: {name: trusted, namespace: old}
---
";

const MC: &str = "hypershift-mc";
const GUEST: &str = "hypershift-guest";
const STANDALONE: &str = "standalone";

const NAMESPACED_KINDS: [&str; 9] = [
    "ConfigMap",
    "Deployment",
    "PodDisruptionBudget",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
];

/// Creates a project whose namespaced objects are all in the management cluster. The page continues with this at line 6.
fn project_in_management(manifests: &str, page: &str) -> TestProject {
    let mut kinds = NAMESPACED_KINDS.to_vec();
    kinds.retain(|kind| manifests.contains(&format!("\nkind: {kind}\n")));
    let page = unindent(page);
    let page = format!("place: {{management: [{}]}}\n{page}", kinds.join(", "));
    TestProject::with_bundled_profiles(manifests, &page)
}

/// Creates a project in which the page uses one fragment, at line 7.
fn project_with_use(manifests: &str, usage: &str) -> TestProject {
    project_in_management(manifests, &format!("uses:\n- {usage}"))
}

/// Returns the error of rendering a profile. Each position in a bundled file is replaced by the text there, because lines
/// move when the file is edited.
pub(crate) fn error_quoting_profiles(project: &TestProject, profile: &str) -> String {
    let error = project.render_error(profile);
    let mut pieces = error.split("profiles/");
    let mut replaced = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (file, rest) = piece.split_once(".yaml:").unwrap();
        let (line, rest) = rest.split_once(':').unwrap();
        let (column, rest) = rest.split_at(rest.find(|digit: char| !digit.is_ascii_digit()).unwrap());
        let file = format!("profiles/{file}.yaml");
        let text = project.read(&file);
        let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        let text = &line[column.parse::<usize>().unwrap() - 1..];
        let text = text.split(" #").next().unwrap().trim_end();
        write!(replaced, "{file}({text}){rest}").unwrap();
    }
    replaced
}

/// Checks the error of rendering a profile, with [texts instead of positions](error_quoting_profiles) in bundled files.
#[track_caller]
pub(crate) fn assert_error(project: &TestProject, profile: &str, expected: &str) {
    assert_eq!(error_quoting_profiles(project, profile), unindent(expected));
}

/// Checks uses of fragments, each at line 7 of its page and followed by its error. Cases are separated by an empty line.
#[track_caller]
fn assert_misuse(manifests: &str, profile: &str, cases: &str) {
    for case in unindent(cases).trim().split("\n\n") {
        let (usage, message) = case.split_once('\n').unwrap();
        let project = project_with_use(manifests, usage);
        assert_eq!(error_quoting_profiles(&project, profile), format!("{message}\n"), "{usage}");
    }
}

/// Checks the error for two uses, of which the second, at line 8, contradicts the first. The first alone is valid.
#[track_caller]
fn assert_contradiction(manifests: &str, profile: &str, uses: [&str; 2], expected: &str) {
    let [first, second] = uses;
    assert!(!project_with_use(manifests, first).render(profile).is_empty());
    let page = format!("uses:\n- {first}\n- {second}");
    assert_error(&project_in_management(manifests, &page), profile, expected);
}

/// Returns a container or a volume of the Deployment `d`.
fn pod_item<'o>(objects: &'o [Value], list: &str, name: &str) -> &'o Value {
    item(&pod_spec(objects, "d")[list], name)
}

/// One valid use of every fragment.
const USES: [&str; 19] = [
    "guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, env: KUBECONFIG}",
    "token-minter: {workload: Deployment/d, container: driver, volume: token, mountPath: /token, serviceAccount: robot}",
    "minter: {workload: Deployment/d, container: m, volume: data, mountPath: /data, serviceAccount: robot, file: f, audience: a, oneshot: true}",
    "cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud}",
    "wait-for: {workload: Deployment/d, objects: [Secret/ns/a]}",
    "webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 443}",
    "service-twin: {service: Service/d-metrics, port: 443, ip: 10.0.0.7}",
    "serving-cert: {service: Service/d-metrics, secret: new}",
    "hosted-control-plane-reader: {workload: Deployment/d, role: s}",
    "control-plane-image: {workload: Deployment/d, container: driver, env: IMAGE, image: csi-livenessprobe}",
    "env: {workload: Deployment/d, container: driver, name: A, value: b}",
    "metrics-client: {workload: Deployment/d, container: driver}",
    "metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: 8080, exposed: 9203}",
    "csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203}",
    "csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, reads: node}",
    "csi-right: {workload: Deployment/d, short: ebs, binding: main-attacher, role: main-attacher}",
    "csi-liveness: {workload: Deployment/d, health: 10301}",
    "proxy-cabundle: {workload: Deployment/d, container: driver}",
    "trusted-ca: {config: ConfigMap/trusted}",
];

/// Returns the valid use of a fragment.
fn use_of(fragment: &str) -> &'static str {
    for usage in USES {
        if usage.split_once(':').unwrap().0 == fragment {
            return usage;
        }
    }
    panic!("there is no use of {fragment}");
}

#[test]
fn every_fragment_has_a_use_here() {
    let mut files: Vec<String> = std::fs::read_dir(repository().join("profiles/fragments"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut used = USES.map(|usage| format!("{}.yaml", usage.split_once(':').unwrap().0));
    used.sort();
    assert_eq!(used[..], files);
}

/// The other container with its volume and argument, the driver's own argument, another Deployment, a Service, a webhook and
/// a Role are not changed.
#[test]
fn a_fragment_changes_nothing_else() {
    let bystander =
        DEPLOYMENT.replace("name: d, namespace", "name: b, namespace").replace("{app: d}", "{app: b}");
    let role = ROLE.replace("name: r,", "name: s,");
    let manifests = format!("{DEPLOYMENT}{bystander}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}{TRUSTED}{role}");
    let other = json!({
        "args": ["--own=1"],
        "image": "i",
        "imagePullPolicy": "IfNotPresent",
        "name": "other",
        "securityContext": {"readOnlyRootFilesystem": true},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"mountPath": "/data", "name": "data"}, {"mountPath": "/tmp", "name": "tmp-dir"}],
    });
    let bystander_driver = json!({
        "args": ["run"],
        "image": "i",
        "imagePullPolicy": "IfNotPresent",
        "name": "driver",
        "securityContext": {"readOnlyRootFilesystem": true},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"mountPath": "/tmp", "name": "tmp-dir"}],
    });
    for usage in USES {
        let project = project_with_use(&manifests, usage);
        let mc = project.render(MC);
        assert_eq!(*pod_item(&mc, "containers", "other"), other, "{usage}");
        assert_eq!(*pod_item(&mc, "volumes", "data"), json!({"emptyDir": {}, "name": "data"}), "{usage}");
        assert_eq!(pod_item(&mc, "containers", "driver")["args"][0], "run", "{usage}");
        let bystander = pod_spec(&mc, "b");
        assert_eq!(bystander["containers"], json!([other, bystander_driver]), "{usage}");
        assert_eq!(bystander.get("initContainers"), None, "{usage}");
        assert_eq!(
            bystander["volumes"],
            json!([
                {"emptyDir": {}, "name": "data"},
                {"emptyDir": {}, "name": "socket-dir"},
                {"name": "metrics-serving-cert", "secret": {"defaultMode": 416, "secretName": "cert"}},
                {"emptyDir": {}, "name": "tmp-dir"},
            ]),
            "{usage}"
        );
        assert_eq!(
            find(&mc, "Service", "hook")["spec"],
            json!({"ports": [{"name": "https", "port": 443}], "selector": {"app": "d"}}),
            "{usage}"
        );
        assert_eq!(
            *find(&mc, "Role", "r"),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "r", "namespace": "clusters-example"},
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            }),
            "{usage}"
        );
        assert_eq!(
            find(&project.render(GUEST), "ValidatingWebhookConfiguration", "v")["webhooks"][1],
            json!({"clientConfig": {"url": "https://elsewhere"}, "name": "d.e.f"}),
            "{usage}"
        );
        assert_eq!(
            *pod_item(&project.render(STANDALONE), "containers", "other"),
            json!({
                "args": ["--own=1"],
                "image": "i",
                "name": "other",
                "volumeMounts": [{"mountPath": "/data", "name": "data"}],
            }),
            "{usage}"
        );
    }
}

/// The input `workload` of every fragment must be an object of the component with pods.
#[test]
fn a_workload_must_be_one_of_the_component() {
    let manifests = format!("{DEPLOYMENT}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}");
    for usage in USES {
        let Some(index) = usage.find("Deployment/d") else { continue };
        let position = format!("payload/op/component.yaml:7:{}", index + 3);
        for (workload, message) in [
            ("Deployment/e", "the component has no `Deployment/e`\n  help: did you mean `Deployment/d`?"),
            (
                "Service/hook",
                "`Service/hook` has no pods\n  help: name a workload, such as a Deployment or DaemonSet",
            ),
            ("5", "the input `workload` must be a workload as `Kind/name`, not the number 5"),
        ] {
            let project = project_with_use(&manifests, &usage.replace("Deployment/d", workload));
            assert_error(&project, MC, &format!("error: {position}: {message}\n"));
        }
    }
}

/// Inputs that become flags, variables, files and addresses are limited by patterns.
#[test]
fn inputs_must_match_their_patterns() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
        guest-api: {workload: Deployment/d, container: driver, arg: kubeconfig}
        error: payload/op/component.yaml:7:63: the input `arg` must be text that matches `--?[A-Za-z][A-Za-z0-9.-]*`, not `kubeconfig`

        guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig=}
        error: payload/op/component.yaml:7:63: the input `arg` must be text that matches `--?[A-Za-z][A-Za-z0-9.-]*`, not `--kubeconfig=`

        guest-api: {workload: Deployment/d, container: driver, env: A B}
        error: payload/op/component.yaml:7:63: the input `env` must be text that matches `[A-Za-z_][A-Za-z0-9_]*`, not `A B`

        guest-api: {workload: Deployment/d, container: [], arg: --k}
        error: payload/op/component.yaml:7:50: the input `container` is empty, so the fragment would do nothing
          help: remove the use, or give the input a value

        env: {workload: Deployment/d, container: driver, name: '', value: x}
        error: payload/op/component.yaml:7:58: the input `name` must be text that matches `[A-Za-z_][A-Za-z0-9_]*`, not ``

        token-minter: {workload: Deployment/d, container: driver, volume: v, mountPath: /v, serviceAccount: s, file: ../x}
        error: payload/op/component.yaml:7:112: the input `file` must be text that matches `[^/]+`, not `../x`
        ",
    );
    assert_misuse(
        &format!("{DEPLOYMENT}{SERVICE}{WEBHOOKS}"),
        GUEST,
        r"
service-twin: {service: Service/hook, port: 443, ip: nonsense}
error: payload/op/component.yaml:7:56: the input `ip` must be text that matches `[0-9]+([.][0-9]+){3}|[0-9a-f:]*:[0-9a-f:]+`, not `nonsense`

service-twin: {service: Deployment/d, port: 443, ip: 10.0.0.1}
error: payload/op/component.yaml:7:27: the input `service` must be a Service, not `Deployment/d`

webhook-url: {config: Deployment/d, webhook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:25: the input `config` must be a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration or a CustomResourceDefinition, not `Deployment/d`
",
    );
}

/// A flag of the container conflicts with the added flag in each of its forms.
#[test]
fn a_flag_is_recognized_in_all_its_forms() {
    let usage = "guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig}";
    for args in ["--kubeconfig, /mine", "-kubeconfig=/mine", "--kubeconfig=/mine"] {
        let own = DEPLOYMENT.replace("args: [run]", &format!("args: [run, {args}]"));
        let error = error_quoting_profiles(&project_with_use(&own, usage), MC);
        assert!(error.contains(CONFLICT), "{args}: {error}");
    }
}

/// A use for a workload in the guest, or for an omitted one, adds nothing to the management cluster.
#[test]
fn a_fragment_adds_nothing_without_its_workload() {
    let manifests = format!("{DEPLOYMENT}{TRUSTED}");
    for page in [
        r"
        place: {guest: [Deployment], management: [ConfigMap]}
        uses: [{guest-api: {workload: Deployment/d, container: driver, arg: --k}}]
        ",
        r"
        place: {management: [Deployment, ConfigMap]}
        omit: {Deployment/d: not needed}
        uses: [{guest-api: {workload: Deployment/d, container: driver, arg: --k}}]
        ",
    ] {
        let mc = TestProject::with_bundled_profiles(&manifests, page).render(MC);
        assert_eq!(names(&mc), ["ConfigMap/trusted"]);
    }
}
