//! The bundled words, finders and policy once more: what a mistake is answered with, what a minimal manifest becomes where
//! the other modules do not say so, and that nothing else is touched.

mod csi_words;
mod finders;
mod policy;
mod words;

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Folder, Run, repository, run_in};

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

/// A payload of these manifests, all that have a namespace in the management cluster, and a page that goes on with this.
fn folder(manifests: &str, page: &str) -> Folder {
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
    let there = kinds.iter().filter(|kind| manifests.contains(&format!("\nkind: {kind}\n")));
    let place = there.copied().collect::<Vec<_>>().join(", ");
    placed(manifests, &format!("place: {{management: [{place}]}}\n{page}"))
}

/// A payload of these manifests and a page that says this.
fn placed(manifests: &str, page: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/0000_50_op_1.yaml", manifests);
    folder.write(
        "payload/op/component.yaml",
        format!(
            "apiVersion: transship.openshift.io/v1\nkind: Component\nmetadata: {{name: op}}\nannotations: {{include.release.openshift.io/hypershift: 'true', include.release.openshift.io/self-managed-high-availability: 'true'}}\n{page}"
        ),
    );
    // The bundled profiles hold some of their fields, and the bundled pages use these parameters.
    folder.write(
        "payload/csi/component.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Component\nmetadata: {name: csi}\nvalues: {a: '${platform.type}', b: '${aws.region}', c: '${infrastructure.name}', d: '${operands}'}\n",
    );
    folder.write("payload/csi/9.yaml", "apiVersion: operator.openshift.io/v1\nkind: CSISnapshotController\nmetadata: {name: cluster, annotations: {x: x}}\n---\napiVersion: operator.openshift.io/v1\nkind: Storage\nmetadata: {name: cluster, annotations: {x: x}}\n---\napiVersion: operator.openshift.io/v1\nkind: ClusterCSIDriver\nmetadata: {name: ebs.csi.aws.com, annotations: {x: x}}\n");
    let tags = ["token-minter", "transship", "kube-rbac-proxy", "csi-external-attacher", "csi-livenessprobe"]
        .map(|tag| format!(r#"{{"name":"{tag}","from":{{"kind":"DockerImage","name":"q/{tag}"}}}}"#))
        .join(",");
    folder.write(
        "payload/image-references",
        format!(
            r#"{{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{{"name":"4.22.0"}},"spec":{{"tags":[{tags}]}}}}"#
        ),
    );
    folder.write("payload/release-metadata", r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#);
    folder
}

fn run(folder: &Folder, profile: &str, more: &[&str]) -> Run {
    let profiles = repository().join("profiles").display().to_string();
    let arguments =
        [&["render", "--profile", profile, "-o", "json", "--profiles", &profiles][..], more].concat();
    run_in(folder.path(), &arguments, "")
}

fn render(folder: &Folder, profile: &str, more: &[&str]) -> Vec<Value> {
    run(folder, profile, more).json()
}

/// What is said when rendering fails.
fn refused(folder: &Folder, profile: &str) -> String {
    read_out(&run(folder, profile, &[]).refusal())
}

/// A place in a bundled file with what is written there instead of its line, which moves whenever the file is edited.
fn read_out(stderr: &str) -> String {
    let profiles = repository().join("profiles");
    let prefix = format!("{}/", profiles.display());
    let mut parts = stderr.split(&prefix);
    let mut said = parts.next().unwrap().to_owned();
    for part in parts {
        let (file, rest) = part.split_once(".yaml:").unwrap();
        let (line, rest) = rest.split_once(':').unwrap();
        let (column, rest) = rest.split_at(rest.find(|digit: char| !digit.is_ascii_digit()).unwrap());
        let text = std::fs::read_to_string(profiles.join(format!("{file}.yaml"))).unwrap();
        let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        let written = &line[column.parse::<usize>().unwrap() - 1..];
        let written = written.split(" #").next().unwrap().trim_end();
        write!(said, "{file}.yaml({written}){rest}").unwrap();
    }
    said
}

/// Uses of words, each at line 7 of its page, with what is said about it behind it, and an empty line between them.
fn misuse(manifests: &str, profile: &str, cases: &str) {
    for case in cases.trim().split("\n\n") {
        let (word, message) = case.split_once('\n').unwrap();
        let said = refused(&folder(manifests, &format!("uses:\n- {word}\n")), profile);
        assert_eq!(said, format!("{message}\n"), "{word}");
    }
}

/// Two uses, of which the second, at line 8, contradicts the first, which alone is right.
fn contradiction(manifests: &str, profile: &str, first: &str, second: &str, at: &str, object: &str) {
    assert!(!render(&folder(manifests, &format!("uses:\n- {first}\n")), profile, &[]).is_empty());
    let said = refused(&folder(manifests, &format!("uses:\n- {first}\n- {second}\n")), profile);
    let message = format!("error: {at}: this field already has a different value\n  object: {object}\n");
    assert!(said.starts_with(&message) && said.contains("used at payload/op/component.yaml:8:3\n"), "{said}");
}

/// What is said where a word and the manifest, at this place, say different things about one field.
fn disagree(at: &str, object: &str, manifest: &str) -> String {
    format!(
        "error: {at}: this field already has a different value\n  object: {object}\n  \
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

/// One good use of every word.
const WORDS: [&str; 18] = [
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
fn every_word_has_a_use_here() {
    let mut files: Vec<String> = std::fs::read_dir(repository().join("profiles/fragments"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut words = WORDS.map(|word| format!("{}.yaml", word.split_once(':').unwrap().0));
    words.sort();
    assert_eq!(words[..], files);
}

/// The other container, its volume, its argument, the driver's own argument, another Deployment, a Service, a webhook and a
/// Role that no word is about.
#[test]
fn no_word_touches_what_it_does_not_concern() {
    let bystander =
        DEPLOYMENT.replace("name: d, namespace", "name: b, namespace").replace("{app: d}", "{app: b}");
    let role = ROLE.replace("name: r,", "name: s,");
    let trusted = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trusted, namespace: old}\n---\n";
    let manifests = format!("{DEPLOYMENT}{bystander}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}{trusted}{role}");
    for word in WORDS {
        let folder = folder(&manifests, &format!("uses:\n- {word}\n"));
        let mc = render(&folder, MC, &[]);
        let other = r#"{"args":["--own=1"],"image":"i","imagePullPolicy":"IfNotPresent","name":"other","securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]}"#;
        assert_eq!(named(&mc, "containers", "other").to_string(), other, "{word}");
        assert_eq!(named(&mc, "volumes", "data").to_string(), r#"{"emptyDir":{},"name":"data"}"#, "{word}");
        assert_eq!(named(&mc, "containers", "driver")["args"][0], "run", "{word}");
        let spec = &find(&mc, "Deployment", "b")["spec"]["template"]["spec"];
        assert_eq!(spec["containers"][0].to_string(), other, "{word}");
        assert_eq!(
            spec["containers"][1].to_string(),
            r#"{"args":["run"],"image":"i","imagePullPolicy":"IfNotPresent","name":"driver","securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/tmp","name":"tmp-dir"}]}"#,
            "{word}"
        );
        assert!(spec.get("initContainers").is_none(), "{word}");
        assert_eq!(
            spec["volumes"].to_string(),
            r#"[{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}},{"emptyDir":{},"name":"tmp-dir"}]"#,
            "{word}"
        );
        assert_eq!(
            find(&mc, "Service", "hook")["spec"].to_string(),
            r#"{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}"#,
            "{word}"
        );
        assert_eq!(
            find(&mc, "Role", "r").to_string(),
            r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r","namespace":"clusters-example"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}"#,
            "{word}"
        );
        assert_eq!(
            find(&render(&folder, GUEST, &[]), "ValidatingWebhookConfiguration", "v")["webhooks"][1]
                .to_string(),
            r#"{"clientConfig":{"url":"https://elsewhere"},"name":"d.e.f"}"#,
            "{word}"
        );
        assert_eq!(
            named(&render(&folder, "standalone", &[]), "containers", "other").to_string(),
            r#"{"args":["--own=1"],"image":"i","name":"other","volumeMounts":[{"mountPath":"/data","name":"data"}]}"#,
            "{word}"
        );
    }
}

/// Whatever the word, a workload is one of the component's, and has pods.
#[test]
fn every_word_wants_a_workload_of_its_component() {
    let manifests = format!("{DEPLOYMENT}{SERVICE}{WEBHOOKS}{MONITORED}{ROLE}");
    for word in WORDS.iter().filter(|word| word.contains("Deployment/d")) {
        let at = format!("error: payload/op/component.yaml:7:{}:", word.find("Deployment/d").unwrap() + 3);
        for (workload, message) in [
            ("Deployment/e", "the component has no `Deployment/e`\n  help: did you mean `Deployment/d`?"),
            ("Service/hook", "`Service/hook` has no pods\n  help: name a Deployment, DaemonSet or the like"),
            ("5", "the input `workload` cannot be a number"),
        ] {
            let word = word.replace("Deployment/d", workload);
            misuse(&manifests, MC, &format!("{word}\n{at} {message}"));
        }
    }
}

/// Texts that become flags, variables, files and addresses are what such things can be.
#[test]
fn inputs_are_bounded() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
guest-api: {workload: Deployment/d, container: driver, arg: kubeconfig}
error: payload/op/component.yaml:7:63: the input `arg` cannot be `kubeconfig`
  help: it must match --?[A-Za-z][A-Za-z0-9.-]*

guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig=}
error: payload/op/component.yaml:7:63: the input `arg` cannot be `--kubeconfig=`
  help: it must match --?[A-Za-z][A-Za-z0-9.-]*

guest-api: {workload: Deployment/d, container: driver, env: A B}
error: payload/op/component.yaml:7:63: the input `env` cannot be `A B`
  help: it must match [A-Za-z_][A-Za-z0-9_]*

guest-api: {workload: Deployment/d, container: [], arg: --k}
error: payload/op/component.yaml:7:50: the input `container` is empty, so nothing would happen
  help: remove the use, or say what it is for

env: {workload: Deployment/d, container: driver, name: '', value: x}
error: payload/op/component.yaml:7:58: the input `name` cannot be ``
  help: it must match [A-Za-z_][A-Za-z0-9_]*

token-minter: {workload: Deployment/d, container: driver, volume: v, mountPath: /v, serviceAccount: s, file: ../x}
error: payload/op/component.yaml:7:112: the input `file` cannot be `../x`
  help: it must match [^/]+
",
    );
    misuse(
        &format!("{DEPLOYMENT}{SERVICE}{WEBHOOKS}"),
        GUEST,
        r"
service-twin: {service: Service/hook, port: 443, ip: nonsense}
error: payload/op/component.yaml:7:56: the input `ip` cannot be `nonsense`
  help: it must match [0-9]+([.][0-9]+){3}|[0-9a-f:]*:[0-9a-f:]+

service-twin: {service: Deployment/d, port: 443, ip: 10.0.0.1}
error: payload/op/component.yaml:7:27: the input `service` cannot be `Deployment/d`
  help: it is a Service

webhook-url: {config: Deployment/d, webhook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:25: the input `config` cannot be `Deployment/d`
  help: it is a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration or a CustomResourceDefinition
",
    );
}

/// One flag in another form is the same flag.
#[test]
fn a_flag_is_known_in_all_its_forms() {
    for args in ["--kubeconfig, /mine", "-kubeconfig=/mine", "--kubeconfig=/mine"] {
        let own = DEPLOYMENT.replace("args: [run]", &format!("args: [run, {args}]"));
        let word = "uses:\n- guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig}\n";
        let said = refused(&folder(&own, word), MC);
        assert!(said.contains("this field already has a different value"), "{args}: {said}");
    }
}

/// A word for a workload that is in the guest, or nowhere, brings nothing into the management cluster.
#[test]
fn a_word_follows_its_workload() {
    let word = "uses: [{guest-api: {workload: Deployment/d, container: driver, arg: --k}}]\n";
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: old}\n---\n";
    let manifests = format!("{DEPLOYMENT}{other}");
    for page in [
        "place: {guest: [Deployment], management: [ConfigMap]}\n",
        "place: {management: [Deployment, ConfigMap]}\nomit: {Deployment/d: not needed}\n",
    ] {
        let kinds: Vec<String> = render(&placed(&manifests, &format!("{page}{word}")), MC, &[])
            .iter()
            .map(|object| object["kind"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["ConfigMap"]);
    }
}
