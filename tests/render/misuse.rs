//! The bundled fragments, intents and policy: the errors for mistakes, the result for a minimal manifest, and that nothing
//! else is changed.

mod csi_fragments;
mod fragments;
mod intents;
mod policy;

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{CONFLICT, Run, TestProject, repository};

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

const MC: &str = "hypershift-mc";
const GUEST: &str = "hypershift-guest";

/// A payload of these manifests, with all namespaced ones in the management cluster, and a page that continues with this.
fn project(manifests: &str, page: &str) -> TestProject {
    let kinds = [
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
    let present = kinds.iter().filter(|kind| manifests.contains(&format!("\nkind: {kind}\n")));
    let place = present.copied().collect::<Vec<_>>().join(", ");
    project_with_page(manifests, &format!("place: {{management: [{place}]}}\n{page}"))
}

/// A payload of these manifests, with a page that continues with this.
fn project_with_page(manifests: &str, page: &str) -> TestProject {
    let annotations = "annotations: {include.release.openshift.io/hypershift: 'true', include.release.openshift.io/self-managed-high-availability: 'true'}\n";
    let tags = ["token-minter", "transship", "kube-rbac-proxy", "csi-external-attacher", "csi-livenessprobe"];
    let images = tags.map(|tag| (tag, format!("q/{tag}")));
    TestProject::new()
        .manifest("op/0000_50_op_1.yaml", manifests)
        .page("op", &format!("{annotations}{page}"))
        // The bundled profiles pin fields of these objects, and an unused parameter would be an error.
        .page(
            "csi",
            "values: {a: '${platform.type}', b: '${aws.region}', c: '${infrastructure.name}', d: '${operands}'}\n",
        )
        .manifest(
            "csi/9.yaml",
            r"
            apiVersion: operator.openshift.io/v1
            kind: CSISnapshotController
            metadata: {name: cluster, annotations: {x: x}}
            ---
            apiVersion: operator.openshift.io/v1
            kind: Storage
            metadata: {name: cluster, annotations: {x: x}}
            ---
            apiVersion: operator.openshift.io/v1
            kind: ClusterCSIDriver
            metadata: {name: ebs.csi.aws.com, annotations: {x: x}}
            ",
        )
        .release(&images.each_ref().map(|(tag, pullspec)| (*tag, pullspec.as_str())))
}

/// Renders a profile with the bundled profiles.
fn run(project: &TestProject, profile: &str, arguments: &[&str]) -> Run {
    let profiles = repository().join("profiles").display().to_string();
    let render = ["render", "--profile", profile, "-o", "json", "--profiles", &profiles];
    project.run(&[&render[..], arguments].concat())
}

fn render(project: &TestProject, profile: &str, arguments: &[&str]) -> Vec<Value> {
    run(project, profile, arguments).json()
}

/// Returns the error of rendering a profile with the bundled profiles.
fn render_error(project: &TestProject, profile: &str) -> String {
    with_text_instead_of_lines(&run(project, profile, &[]).refusal())
}

/// Replaces each position in a bundled file by the text at that position, because lines move when the file is edited.
fn with_text_instead_of_lines(stderr: &str) -> String {
    let profiles = repository().join("profiles");
    let prefix = format!("{}/", profiles.display());
    let mut pieces = stderr.split(&prefix);
    let mut replaced = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (file, rest) = piece.split_once(".yaml:").unwrap();
        let (line, rest) = rest.split_once(':').unwrap();
        let (column, rest) = rest.split_at(rest.find(|digit: char| !digit.is_ascii_digit()).unwrap());
        let text = std::fs::read_to_string(profiles.join(format!("{file}.yaml"))).unwrap();
        let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        let text = &line[column.parse::<usize>().unwrap() - 1..];
        let text = text.split(" #").next().unwrap().trim_end();
        write!(replaced, "{file}.yaml({text}){rest}").unwrap();
    }
    replaced
}

/// Checks uses of fragments, each at line 7 of its page and followed by its error. Cases are separated by an empty line.
fn assert_misuse(manifests: &str, profile: &str, cases: &str) {
    for case in cases.trim().split("\n\n") {
        let (usage, message) = case.split_once('\n').unwrap();
        let shown = render_error(&project(manifests, &format!("uses:\n- {usage}\n")), profile);
        assert_eq!(shown, format!("{message}\n"), "{usage}");
    }
}

/// Checks two uses, of which the second, at line 8, contradicts the first. The first alone is valid.
fn assert_contradiction(manifests: &str, profile: &str, uses: [&str; 2], at: &str, object: &str) {
    let [first, second] = uses;
    assert!(!render(&project(manifests, &format!("uses:\n- {first}\n")), profile, &[]).is_empty());
    let shown = render_error(&project(manifests, &format!("uses:\n- {first}\n- {second}\n")), profile);
    let message = format!("error: {at}: {CONFLICT}\n  object: {object}\n");
    assert!(
        shown.starts_with(&message) && shown.contains("used at payload/op/component.yaml:8:3\n"),
        "{shown}"
    );
}

/// Returns the error for a fragment that sets a field to another value than the manifest at this position.
fn conflict_with_manifest(at: &str, object: &str, manifest: &str) -> String {
    format!(
        "error: {at}: {CONFLICT}\n  object: {object}\n  \
         note: the other value is at payload/op/0000_50_op_1.yaml:{manifest}\n  note: used at payload/op/component.yaml:7:3\n  \
         help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch\n"
    )
}

fn no_container(at: &str) -> String {
    format!(
        "error: {at}: there is no container `drivr` to add to\n  object: Deployment.apps/d in old\n  \
         note: used at payload/op/component.yaml:7:3\n  help: did you mean `driver`?\n"
    )
}

fn find<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    objects
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
        .unwrap_or_else(|| panic!("{kind}/{name}"))
}

fn pod(objects: &[Value]) -> &Value {
    &find(objects, "Deployment", "d")["spec"]["template"]["spec"]
}

/// A container or volume of the Deployment `d`.
fn named<'o>(objects: &'o [Value], list: &str, name: &str) -> &'o Value {
    let items = pod(objects)[list].as_array().unwrap_or_else(|| panic!("no {list}"));
    items.iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// One valid use of every fragment.
const USES: [&str; 18] = [
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
    "metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: 8080, exposed: 9203}",
    "csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203}",
    "csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, reads: node}",
    "csi-right: {workload: Deployment/d, short: ebs, binding: main-attacher, role: main-attacher}",
    "csi-liveness: {workload: Deployment/d, health: 10301}",
    "proxy-cabundle: {workload: Deployment/d, container: driver}",
    "trusted-ca: {config: ConfigMap/trusted}",
];

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
    let trusted = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trusted, namespace: old}\n---\n";
    let manifests = format!("{DEPLOYMENT}{bystander}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}{trusted}{role}");
    for usage in USES {
        let project = project(&manifests, &format!("uses:\n- {usage}\n"));
        let mc = render(&project, MC, &[]);
        let other = r#"{"args":["--own=1"],"image":"i","imagePullPolicy":"IfNotPresent","name":"other","securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]}"#;
        assert_eq!(named(&mc, "containers", "other").to_string(), other, "{usage}");
        assert_eq!(named(&mc, "volumes", "data").to_string(), r#"{"emptyDir":{},"name":"data"}"#, "{usage}");
        assert_eq!(named(&mc, "containers", "driver")["args"][0], "run", "{usage}");
        let spec = &find(&mc, "Deployment", "b")["spec"]["template"]["spec"];
        assert_eq!(spec["containers"][0].to_string(), other, "{usage}");
        assert_eq!(
            spec["containers"][1].to_string(),
            r#"{"args":["run"],"image":"i","imagePullPolicy":"IfNotPresent","name":"driver","securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/tmp","name":"tmp-dir"}]}"#,
            "{usage}"
        );
        assert!(spec.get("initContainers").is_none(), "{usage}");
        assert_eq!(
            spec["volumes"].to_string(),
            r#"[{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}},{"emptyDir":{},"name":"tmp-dir"}]"#,
            "{usage}"
        );
        assert_eq!(
            find(&mc, "Service", "hook")["spec"].to_string(),
            r#"{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}"#,
            "{usage}"
        );
        assert_eq!(
            find(&mc, "Role", "r").to_string(),
            r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r","namespace":"clusters-example"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}"#,
            "{usage}"
        );
        assert_eq!(
            find(&render(&project, GUEST, &[]), "ValidatingWebhookConfiguration", "v")["webhooks"][1]
                .to_string(),
            r#"{"clientConfig":{"url":"https://elsewhere"},"name":"d.e.f"}"#,
            "{usage}"
        );
        assert_eq!(
            named(&render(&project, "standalone", &[]), "containers", "other").to_string(),
            r#"{"args":["--own=1"],"image":"i","name":"other","volumeMounts":[{"mountPath":"/data","name":"data"}]}"#,
            "{usage}"
        );
    }
}

/// The input `workload` of every fragment must be an object of the component with pods.
#[test]
fn a_workload_must_be_one_of_the_component() {
    let manifests = format!("{DEPLOYMENT}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}");
    for usage in USES.iter().filter(|usage| usage.contains("Deployment/d")) {
        let at = format!("error: payload/op/component.yaml:7:{}:", usage.find("Deployment/d").unwrap() + 3);
        for (workload, message) in [
            ("Deployment/e", "the component has no `Deployment/e`\n  help: did you mean `Deployment/d`?"),
            (
                "Service/hook",
                "`Service/hook` has no pods\n  help: name a workload, such as a Deployment or DaemonSet",
            ),
            ("5", "the input `workload` must be a workload as `Kind/name`, not the number 5"),
        ] {
            let usage = usage.replace("Deployment/d", workload);
            assert_misuse(&manifests, MC, &format!("{usage}\n{at} {message}"));
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
    for args in ["--kubeconfig, /mine", "-kubeconfig=/mine", "--kubeconfig=/mine"] {
        let own = DEPLOYMENT.replace("args: [run]", &format!("args: [run, {args}]"));
        let usage = "uses:\n- guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig}\n";
        let shown = render_error(&project(&own, usage), MC);
        assert!(shown.contains(CONFLICT), "{args}: {shown}");
    }
}

/// A use for a workload in the guest, or for an omitted one, adds nothing to the management cluster.
#[test]
fn a_fragment_adds_nothing_without_its_workload() {
    let usage = "uses: [{guest-api: {workload: Deployment/d, container: driver, arg: --k}}]\n";
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: old}\n---\n";
    let manifests = format!("{DEPLOYMENT}{other}");
    for page in [
        "place: {guest: [Deployment], management: [ConfigMap]}\n",
        "place: {management: [Deployment, ConfigMap]}\nomit: {Deployment/d: not needed}\n",
    ] {
        let kinds: Vec<String> = render(&project_with_page(&manifests, &format!("{page}{usage}")), MC, &[])
            .iter()
            .map(|object| object["kind"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["ConfigMap"]);
    }
}
