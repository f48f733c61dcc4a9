//! The bundled words, finders and policy once more: what a mistake is answered with, what a minimal manifest becomes where
//! the other modules do not say so, and that nothing else is touched.

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
    let run = run(folder, profile, more);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is said when rendering fails.
fn refused(folder: &Folder, profile: &str) -> String {
    let run = run(folder, profile, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    read_out(&run.stderr)
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
    let message =
        format!("error: {at}: two authors say different things about one field\n  object: {object}\n");
    assert!(said.starts_with(&message) && said.contains("used at payload/op/component.yaml:8:3\n"), "{said}");
}

/// What is said where a word and the manifest, at this place, say different things about one field.
fn disagree(at: &str, object: &str, manifest: &str) -> String {
    format!(
        "error: {at}: two authors say different things about one field\n  object: {object}\n  \
         note: the other is at payload/op/0000_50_op_1.yaml:{manifest}\n  note: used at payload/op/component.yaml:7:3\n  \
         help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant\n"
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

#[test]
fn guest_api_by_a_variable_alone_and_with_somebody_elses_secret() {
    let word = "guest-api: {workload: Deployment/d, container: driver, env: KUBECONFIG, secret: theirs, issue: false}";
    let mc = render(&folder(DEPLOYMENT, &format!("uses:\n- {word}\n")), MC, &[]);
    assert!(mc.iter().all(|object| object["kind"] != "Secret"));
    let driver = named(&mc, "containers", "driver");
    assert_eq!(
        (driver["args"].to_string().as_str(), driver["env"].to_string().as_str()),
        (r#"["run"]"#, r#"[{"name":"KUBECONFIG","value":"/etc/guest-kubeconfig/kubeconfig"}]"#)
    );
    assert_eq!(
        named(&mc, "volumes", "guest-kubeconfig").to_string(),
        r#"{"name":"guest-kubeconfig","secret":{"defaultMode":416,"secretName":"theirs"}}"#
    );
}

#[test]
fn misuse_of_guest_api() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
guest-api: {workload: Deployment/d, container: driver, flag: --k, arg: --k}
error: payload/op/component.yaml:7:58: the fragment `guest-api` has no input `flag`
  help: its inputs are arg, container, env, issue, secret, workload

guest-api: {workload: Deployment/d, arg: --k}
error: payload/op/component.yaml:7:3: the fragment `guest-api` needs the input `container`
  help: Deployment/d has more than one container: say which

guest-api: {container: driver, arg: --k}
error: payload/op/component.yaml:7:3: the fragment `guest-api` needs the input `workload`

guest-api: {workload: Deployment/d, container: driver, arg: 5}
error: payload/op/component.yaml:7:63: the input `arg` cannot be a number

guest-api: {workload: Deployment/d, container: driver, issue: 'false', arg: --k}
error: payload/op/component.yaml:7:65: the input `issue` cannot be text

guest-api: {workload: Deployment/d, container: driver, secret: a/b, arg: --k}
error: payload/op/component.yaml:7:66: the input `secret` cannot be `a/b`

guest-api: {workload: Deployment/d, container: , arg: --k}
error: payload/op/component.yaml:7:48: the input `container` cannot be null

guest-api: {workload: Deployment/d, container: [driver, 5], arg: --k}
error: payload/op/component.yaml:7:59: the input `container` cannot be a number

guest-api: {workload: Deployment/d, container: drivr, arg: --k}
error: fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
error: fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
2 errors
",
    );
}

#[test]
fn guest_api_contradicts_nobody() {
    let word = "guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, env: KUBECONFIG}";
    for (change, at, there) in [
        (
            ["volumes: [", "volumes: [{name: guest-kubeconfig, emptyDir: {}}, "],
            "fragments/guest-api.yaml(name: guest-kubeconfig)",
            "13:17",
        ),
        (
            ["args: [run]", "volumeMounts: [{name: data, mountPath: /etc/guest-kubeconfig}]"],
            "fragments/guest-api.yaml(guest-kubeconfig)",
            "12:56",
        ),
        (
            ["args: [run]", "args: [--kubeconfig=/mine]"],
            "fragments/guest-api.yaml(${arg}=$(${env}))",
            "12:41",
        ),
        (
            ["args: [run]", "env: [{name: KUBECONFIG, value: /mine}]"],
            "fragments/guest-api.yaml(/etc/guest-kubeconfig/kubeconfig)",
            "12:66",
        ),
    ] {
        let manifest = DEPLOYMENT.replace(change[0], change[1]);
        misuse(&manifest, MC, &format!("{word}\n{}", disagree(at, "Deployment.apps/d in old", there)));
    }
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        "guest-api: {workload: Deployment/d, container: other, arg: --k, secret: second}",
        "fragments/guest-api.yaml(${secret})",
        "Deployment.apps/d in old",
    );
    let second =
        DEPLOYMENT.replace("name: d, namespace", "name: e, namespace").replace("Name: sa", "Name: sb");
    contradiction(
        &format!("{DEPLOYMENT}{second}"),
        MC,
        "guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: s}",
        "guest-api: {workload: Deployment/e, container: driver, arg: --k, secret: s}",
        "fragments/guest-api.yaml(${workload.serviceAccount})",
        "IssuedKubeconfig.transship.openshift.io/s in old",
    );
}

#[test]
fn an_issued_secret_is_not_there_already() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: old}\n";
    misuse(
        &format!("{DEPLOYMENT}{SERVICE}{secret}"),
        MC,
        r"
guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: s}
error[same-object]: payload/op/0000_50_op_1.yaml:20:1: two manifests for one object
  object: Secret/s in clusters-example
  note: the other is at fragments/guest-api.yaml(apiVersion: transship.openshift.io/v1)
  note: whichever is applied last would win, and every pass would change the object back and forth
  help: leave one out with CVO's annotations, a capability or a feature set

serving-cert: {service: Service/hook, secret: s}
error[same-object]: fragments/serving-cert.yaml(apiVersion: transship.openshift.io/v1): two manifests for one object
  object: Secret/s in clusters-example
  note: the other is at payload/op/0000_50_op_1.yaml:20:1
  note: whichever is applied last would win, and every pass would change the object back and forth
  help: leave one out with CVO's annotations, a capability or a feature set
",
    );
}

#[test]
fn misuse_of_token_minter() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
token-minter: {workload: Deployment/d, container: driver}
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `mountPath`
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `serviceAccount`
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `volume`
3 errors

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: t, serviceAccount: sa}
error: payload/op/component.yaml:7:83: the input `mountPath` cannot be `t`

token-minter: {workload: Deployment/d, container: driver, volume: a/b, mountPath: /t, serviceAccount: sa}
error: payload/op/component.yaml:7:69: the input `volume` cannot be `a/b`

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceAccount: sa, oneshot: 'true'}
error: payload/op/component.yaml:7:116: the input `oneshot` cannot be text

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceacount: sa}
error: payload/op/component.yaml:7:87: the fragment `token-minter` has no input `serviceacount`
  help: did you mean `serviceAccount`?

token-minter: {workload: Deployment/d, container: drivr, volume: t, mountPath: /t, serviceAccount: sa}
error: fragments/token-minter.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?

token-minter: {workload: Deployment/d, container: driver, volume: metrics-serving-cert, mountPath: /t, serviceAccount: sa}
error: fragments/token-minter.yaml(name: ${volume}): two authors say different things about one field
  object: Deployment.apps/d in old
  note: the other is at payload/op/0000_50_op_1.yaml:13:79
  note: used at payload/op/component.yaml:7:3
  help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant
",
    );
    let word = "token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceAccount: sa}";
    for (more, at) in [
        (", audience: sts}", "fragments/minter.yaml(--token-audience=${audience})"),
        (", file: other}", "fragments/minter.yaml(--token-file=${mountPath}/${file})"),
    ] {
        contradiction(DEPLOYMENT, MC, word, &word.replace('}', more), at, "Deployment.apps/d in old");
    }
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        &word.replace("volume: t", "volume: u"),
        "fragments/token-minter.yaml(${volume})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_minter_by_itself() {
    let minter = WORDS[2];
    let folder = folder(DEPLOYMENT, &format!("uses:\n- {minter}\n"));
    assert_eq!(
        named(&render(&folder, MC, &[]), "initContainers", "m").to_string(),
        r#"{"args":["--service-account-namespace=old","--service-account-name=robot","--token-audience=a","--token-file=/data/f","--oneshot","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"],"command":["/usr/bin/control-plane-operator","token-minter"],"image":"q/token-minter","imagePullPolicy":"IfNotPresent","name":"m","resources":{"requests":{"cpu":"10m","memory":"30Mi"}},"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/etc/guest-kubeconfig","name":"guest-kubeconfig","readOnly":true},{"mountPath":"/tmp","name":"tmp-dir"}]}"#
    );
}

#[test]
fn misuse_of_minter() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
minter: {workload: Deployment/d, container: m}
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `audience`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `file`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `mountPath`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `oneshot`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `serviceAccount`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `volume`
6 errors

minter: {workload: Deployment/d, container: m, volume: data, mountPath: /data, serviceAccount: robot, file: f, audience: a, oneshot: 1}
error: payload/op/component.yaml:7:136: the input `oneshot` cannot be a number

minter: {workload: Deployment/d, container: m, volume: data, mountPath: data, serviceAccount: robot, file: f, audience: a, oneshot: true}
error: payload/op/component.yaml:7:75: the input `mountPath` cannot be `data`

minter: {workload: Deployment/d, container: m, volume: data, mountPath: /data, serviceAccount: robot, file: f, audiance: a, oneshot: true}
error: payload/op/component.yaml:7:114: the fragment `minter` has no input `audiance`
  help: did you mean `audience`?
",
    );
}

#[test]
fn credentials_of_another_cloud_have_another_place_in_every_profile() {
    let word = "cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: gcp, mountPath: /gcp, env: GOOGLE, file: key.json}";
    let folder = folder(DEPLOYMENT, &format!("uses:\n- {word}\n"));
    for profile in [MC, "standalone"] {
        let objects = render(&folder, profile, &[]);
        let driver = named(&objects, "containers", "driver");
        assert_eq!(driver["env"].to_string(), r#"[{"name":"GOOGLE","value":"/gcp/key.json"}]"#);
        assert_eq!(
            driver["volumeMounts"][0].to_string(),
            r#"{"mountPath":"/gcp","name":"gcp","readOnly":true}"#
        );
        assert_eq!(
            named(&objects, "volumes", "gcp").to_string(),
            r#"{"name":"gcp","secret":{"secretName":"cloud"}}"#
        );
    }
}

#[test]
fn misuse_of_cloud_credentials() {
    let word = WORDS[3];
    misuse(
        DEPLOYMENT,
        MC,
        r"
cloud-credentials: {workload: Deployment/d, container: driver}
error: payload/op/component.yaml:7:3: the fragment `cloud-credentials` needs the input `secret`

cloud-credentials: {workload: Deployment/d, container: driver, secretName: cloud}
error: payload/op/component.yaml:7:66: the fragment `cloud-credentials` has no input `secretName`
  help: did you mean `secret`?

cloud-credentials: {workload: Deployment/d, container: driver, secret: 5}
error: payload/op/component.yaml:7:74: the input `secret` cannot be a number

cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, mountPath: etc}
error: payload/op/component.yaml:7:92: the input `mountPath` cannot be `etc`

cloud-credentials: {workload: Deployment/d, container: drivr, secret: cloud}
error: fragments/cloud-credentials.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?

cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: data}
error: fragments/cloud-credentials.yaml(name: ${volume}): two authors say different things about one field
  object: Deployment.apps/d in old
  note: the other is at payload/op/0000_50_op_1.yaml:13:17
  note: used at payload/op/component.yaml:7:3
  help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant
",
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: AWS_SHARED_CREDENTIALS_FILE, value: /mine}]");
    let at = "fragments/cloud-credentials.yaml(${mountPath}/${file})";
    misuse(&own, MC, &format!("{word}\n{}", disagree(at, "Deployment.apps/d in old", "12:83")));
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        &word.replace("cloud}", "other}"),
        "fragments/cloud-credentials.yaml(${secret})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn two_words_may_make_one_workload_wait_for_more() {
    let uses = "uses:\n- wait-for: {workload: Deployment/d, objects: [Secret/ns/a]}\n- wait-for: {workload: Deployment/d, objects: [Secret/ns/a, Secret/ns/b]}\n";
    assert_eq!(
        named(&render(&folder(DEPLOYMENT, uses), MC, &[]), "initContainers", "wait-for-guest")["args"]
            .to_string(),
        r#"["Secret/ns/a","Secret/ns/b","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#
    );
}

#[test]
fn misuse_of_wait_for() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
wait-for: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `wait-for` needs the input `objects`

wait-for: {workload: Deployment/d, object: [Secret/ns/a]}
error: payload/op/component.yaml:7:38: the fragment `wait-for` has no input `object`
  help: did you mean `objects`?

wait-for: {workload: Deployment/d, objects: Secret/ns/a}
error: payload/op/component.yaml:7:47: the input `objects` cannot be text

wait-for: {workload: Deployment/d, objects: []}
error: payload/op/component.yaml:7:47: the input `objects` is empty, so nothing would happen
  help: remove the use, or say what it is for

wait-for: {workload: Deployment/d, objects: [Secret/ns/a, storage/cluster]}
error: payload/op/component.yaml:7:61: the input `objects` cannot be `storage/cluster`
  help: it must match [A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?(/[a-z0-9.-]+){1,2}

wait-for: {workload: Deployment/d, objects: [5]}
error: payload/op/component.yaml:7:48: the input `objects` cannot be a number
  help: it must match [A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?(/[a-z0-9.-]+){1,2}
",
    );
    let own = DEPLOYMENT
        .replace("containers:", "initContainers: [{name: wait-for-guest, image: i}]\n      containers:");
    let at = "fragments/wait-for.yaml(${images.transship})";
    misuse(&own, MC, &format!("{}\n{}", WORDS[4], disagree(at, "Deployment.apps/d in old", "10:54")));
    contradiction(
        DEPLOYMENT,
        MC,
        WORDS[4],
        "guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: mine}",
        "fragments/guest-api.yaml(${secret})",
        "Deployment.apps/d in old",
    );
}

const CONVERSION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: xs.x.y}
spec: {group: x.y, scope: Cluster, names: {kind: X, plural: xs}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: old, path: /convert}}}}}
---
";

#[test]
fn a_conversion_is_called_by_url_in_the_guest() {
    let folder = folder(&format!("{CONVERSION}{SERVICE}"), "");
    assert_eq!(
        find(&render(&folder, GUEST, &["--set", "hcp.caBundle=QUJD"]), "CustomResourceDefinition", "xs.x.y")
            ["spec"]["conversion"]
            .to_string(),
        r#"{"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"QUJD","url":"https://hook.clusters-example.svc:443/convert"},"conversionReviewVersions":["v1"]}}"#
    );
    assert_eq!(
        find(&render(&folder, MC, &[]), "Service", "hook").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"labels":{"hypershift.openshift.io/allow-guest-webhooks":"true"},"name":"hook","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
}

#[test]
fn misuse_of_webhook_url() {
    let word = WORDS[5];
    let manifests = format!("{WEBHOOKS}{SERVICE}");
    misuse(
        &manifests,
        GUEST,
        r"
webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c}
error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `port`
error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `service`
2 errors

webhook-url: {config: ValidatingWebhookConfiguration/v, hook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:59: the fragment `webhook-url` has no input `hook`
  help: its inputs are config, path, port, service, webhook

webhook-url: {config: ValidatingWebhookConfiguration/w, webhook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:25: the component has no `ValidatingWebhookConfiguration/w`
  help: did you mean `ValidatingWebhookConfiguration/v`?

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hok, port: 443}
error: payload/op/component.yaml:7:84: the component has no `Service/hok`
  help: did you mean `Service/hook`?

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 70000}
error: payload/op/component.yaml:7:104: the input `port` cannot be a number

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 443, path: check}
error: payload/op/component.yaml:7:115: the input `path` cannot be `check`

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: d.e.f, service: Service/hook, port: 443}
error: fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path}): two authors say different things about one field
  object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/v
  note: the other is at payload/op/0000_50_op_1.yaml:6:37
  note: used at payload/op/component.yaml:7:3
  help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant
",
    );
    contradiction(
        &manifests,
        GUEST,
        word,
        &word.replace("443", "444"),
        "fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path})",
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io/v",
    );
}

#[test]
fn misuse_of_service_twin() {
    let word = "service-twin: {service: Service/hook, port: 443, ip: 10.0.0.7}";
    misuse(
        SERVICE,
        GUEST,
        r"
service-twin: {service: Service/hook}
error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `ip`
error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `port`
2 errors

service-twin: {service: Service/hook, port: 443, ips: 10.0.0.7}
error: payload/op/component.yaml:7:52: the fragment `service-twin` has no input `ips`
  help: did you mean `ip`?

service-twin: {service: Service/hok, port: 443, ip: 10.0.0.7}
error: payload/op/component.yaml:7:27: the component has no `Service/hok`
  help: did you mean `Service/hook`?

service-twin: {service: Service/hook, port: '443', ip: 10.0.0.7}
error: payload/op/component.yaml:7:47: the input `port` cannot be text

service-twin: {service: Service/hook, port: 0, ip: 10.0.0.7}
error: payload/op/component.yaml:7:47: the input `port` cannot be a number

service-twin: {service: Service/hook, port: 443, ip: 10}
error: payload/op/component.yaml:7:56: the input `ip` cannot be a number
",
    );
    contradiction(
        SERVICE,
        GUEST,
        word,
        &word.replace("443", "444"),
        "fragments/service-twin.yaml(${port})",
        "Service/hook in old",
    );
}

#[test]
fn a_certificate_is_issued_where_no_service_ca_serves() {
    let word = "serving-cert: {service: Service/hook, secret: c}";
    let folder = folder(SERVICE, &format!("uses:\n- {word}\n"));
    let mc = render(&folder, MC, &[]);
    assert_eq!(mc.len(), 2);
    assert_eq!(
        find(&mc, "Secret", "c").to_string(),
        r#"{"apiVersion":"v1","data":{"tls.crt":"","tls.key":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"certificate for hook, hook.clusters-example.svc, hook.clusters-example.svc.cluster.local, localhost signed by root-ca"},"name":"c","namespace":"clusters-example"},"type":"kubernetes.io/tls"}"#
    );
    assert_eq!(render(&folder, "standalone", &[]).len(), 1, "service-ca makes it");
}

#[test]
fn misuse_of_serving_cert() {
    misuse(
        SERVICE,
        MC,
        r"
serving-cert: {service: Service/hook}
error: payload/op/component.yaml:7:3: the fragment `serving-cert` needs the input `secret`

serving-cert: {service: Service/hook, secretName: c}
error: payload/op/component.yaml:7:41: the fragment `serving-cert` has no input `secretName`
  help: did you mean `secret`?

serving-cert: {service: Service/hok, secret: c}
error: payload/op/component.yaml:7:27: the component has no `Service/hok`
  help: did you mean `Service/hook`?

serving-cert: {service: Service/hook, secret: a b}
error: payload/op/component.yaml:7:49: the input `secret` cannot be `a b`

serving-cert: {service: 443, secret: c}
error: payload/op/component.yaml:7:27: the input `service` cannot be a number
",
    );
}

#[test]
fn an_operator_reads_its_hosted_control_plane_by_one_more_rule() {
    let word = "hosted-control-plane-reader: {workload: Deployment/d, role: r}";
    let folder = folder(&format!("{DEPLOYMENT}{ROLE}"), &format!("uses:\n- {word}\n"));
    let rules = |profile: &str| find(&render(&folder, profile, &[]), "Role", "r")["rules"].to_string();
    assert_eq!(
        rules(MC),
        r#"[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},{"apiGroups":["hypershift.openshift.io"],"resources":["hostedcontrolplanes"],"verbs":["get","list","watch"]}]"#
    );
    assert_eq!(rules("standalone"), r#"[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]"#);
}

#[test]
fn misuse_of_hosted_control_plane_reader() {
    misuse(
        &format!("{DEPLOYMENT}{ROLE}"),
        MC,
        r"
hosted-control-plane-reader: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `hosted-control-plane-reader` needs the input `role`

hosted-control-plane-reader: {workload: Deployment/d, roles: r}
error: payload/op/component.yaml:7:57: the fragment `hosted-control-plane-reader` has no input `roles`
  help: did you mean `role`?

hosted-control-plane-reader: {workload: Deployment/d, role: Role/r}
error: payload/op/component.yaml:7:63: the input `role` cannot be `Role/r`

hosted-control-plane-reader: {workload: Deployment/d, role: 5}
error: payload/op/component.yaml:7:63: the input `role` cannot be a number
",
    );
}

#[test]
fn misuse_of_control_plane_image() {
    let word = WORDS[9];
    misuse(
        DEPLOYMENT,
        MC,
        r"
control-plane-image: {workload: Deployment/d, container: driver, env: IMAGE}
error: payload/op/component.yaml:7:3: the fragment `control-plane-image` needs the input `image`

control-plane-image: {workload: Deployment/d, container: driver, name: IMAGE, image: csi-livenessprobe}
error: payload/op/component.yaml:7:68: the fragment `control-plane-image` has no input `name`
  help: its inputs are container, env, image, workload

control-plane-image: {workload: Deployment/d, container: driver, env: IMAGE, image: csi-livenessprob}
error: payload/op/component.yaml:7:87: `csi-livenessprob` is no image
  help: the release has no image `csi-livenessprob`

control-plane-image: {workload: Deployment/d, container: driver, env: 5, image: csi-livenessprobe}
error: payload/op/component.yaml:7:73: the input `env` cannot be a number

control-plane-image: {workload: Deployment/d, container: drivr, env: IMAGE, image: csi-livenessprobe}
error: fragments/control-plane-image.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: IMAGE, value: mine}]");
    let at = "fragments/control-plane-image.yaml(${image.management})";
    misuse(&own, MC, &format!("{word}\n{}", disagree(at, "Deployment.apps/d in old", "12:61")));
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        &word.replace("csi-livenessprobe", "transship"),
        "fragments/control-plane-image.yaml(${image.management})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn misuse_of_env() {
    let word = WORDS[10];
    misuse(
        DEPLOYMENT,
        MC,
        r"
env: {workload: Deployment/d, container: driver, name: A}
error: payload/op/component.yaml:7:3: the fragment `env` needs the input `value`

env: {workload: Deployment/d, container: driver, name: A, values: b}
error: payload/op/component.yaml:7:61: the fragment `env` has no input `values`
  help: did you mean `value`?

env: {workload: Deployment/d, container: driver, name: A, value: 5}
error: payload/op/component.yaml:7:68: the input `value` cannot be a number

env: {workload: Deployment/d, container: driver, name: A, value: on}
error: payload/op/component.yaml:7:68: the input `value` cannot be a boolean

env: {workload: Deployment/d, container: drivr, name: A, value: b}
error: fragments/env.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    let own = DEPLOYMENT
        .replace("args: [run]", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]");
    let at = "fragments/env.yaml(name: ${name})";
    misuse(&own, MC, &format!("{word}\n{}", disagree(at, "Deployment.apps/d in old", "12:40")));
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        &word.replace("value: b", "value: c"),
        "fragments/env.yaml(${value})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_metrics_port_is_served_with_tls() {
    let folder = folder(&format!("{DEPLOYMENT}{MONITORED}"), &format!("uses:\n- {}\n", WORDS[11]));
    let standalone = render(&folder, "standalone", &["--set", "metrics.cipherSuites=A,B"]);
    assert_eq!(
        named(&standalone, "containers", "p").to_string(),
        r#"{"args":["--secure-listen-address=0.0.0.0:9203","--upstream=http://127.0.0.1:8080/","--tls-cert-file=/etc/tls/private/tls.crt","--tls-private-key-file=/etc/tls/private/tls.key","--tls-cipher-suites=A,B","--tls-min-version=VersionTLS12","--logtostderr=true"],"image":"q/kube-rbac-proxy","imagePullPolicy":"IfNotPresent","name":"p","ports":[{"containerPort":9203,"name":"m","protocol":"TCP"}],"resources":{"requests":{"cpu":"10m","memory":"20Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/etc/tls/private","name":"metrics-serving-cert"}]}"#
    );
    assert_eq!(
        find(&standalone, "Service", "d-metrics")["spec"].to_string(),
        r#"{"ports":[{"name":"own","port":443},{"name":"m","port":9203,"protocol":"TCP","targetPort":"m"}],"selector":{"app":"d"}}"#
    );
    assert_eq!(
        find(&standalone, "ServiceMonitor", "d-monitor")["spec"].to_string(),
        r#"{"endpoints":[{"port":"own"},{"bearerTokenFile":"/var/run/secrets/kubernetes.io/serviceaccount/token","interval":"30s","path":"/metrics","port":"m","scheme":"https","tlsConfig":{"caFile":"/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt","serverName":"d-metrics.old.svc"}}],"selector":{"matchLabels":{"app":"d"}}}"#
    );
}

#[test]
fn misuse_of_metrics_proxy() {
    let word = WORDS[11];
    let manifests = format!("{DEPLOYMENT}{MONITORED}");
    misuse(
        &manifests,
        MC,
        r"
metrics-proxy: {workload: Deployment/d, proxy: p, port: m}
error: payload/op/component.yaml:7:3: the fragment `metrics-proxy` needs the input `exposed`
error: payload/op/component.yaml:7:3: the fragment `metrics-proxy` needs the input `local`
2 errors

metrics-proxy: {workload: Deployment/d, proxy: p, port: m, lokal: 8080, exposed: 9203}
error: payload/op/component.yaml:7:62: the fragment `metrics-proxy` has no input `lokal`
  help: did you mean `local`?

metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: '8080', exposed: 9203}
error: payload/op/component.yaml:7:69: the input `local` cannot be text

metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: 8080, exposed: 92030}
error: payload/op/component.yaml:7:84: the input `exposed` cannot be a number

metrics-proxy: {workload: Deployment/d, proxy: p, port: 9203, local: 8080, exposed: 9203}
error: payload/op/component.yaml:7:59: the input `port` cannot be a number

metrics-proxy: {workload: Deployment/d, proxy: driver, port: m, local: 8080, exposed: 9203}
error: fragments/metrics-proxy.yaml(${images.kube-rbac-proxy}): two authors say different things about one field
  object: Deployment.apps/d in old
  note: the other is at payload/op/0000_50_op_1.yaml:12:31
  note: used at payload/op/component.yaml:7:3
  help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant

metrics-proxy: {workload: Deployment/d, proxy: p, port: own, local: 8080, exposed: 9203}
error: fragments/metrics-proxy.yaml(${exposed}): two authors say different things about one field
  object: Service/d-metrics in old
  note: the other is at payload/op/0000_50_op_1.yaml:18:54
  note: used at payload/op/component.yaml:7:3
  help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant
",
    );
    let nowhere = |object: &str| {
        format!(
            "error: fragments/metrics-proxy.yaml(pod:): nobody says in which cluster this new object lives\n  object: {object} in old\n  \
             note: used at payload/op/component.yaml:7:3\n  help: limit its part with `in`, or name it under `place` in the page\n"
        )
    };
    let service = nowhere("Service/d-metrics");
    let monitor = nowhere("ServiceMonitor.monitoring.coreos.com/d-monitor");
    misuse(DEPLOYMENT, MC, &format!("{word}\n{service}{monitor}2 errors\n"));
    contradiction(
        &manifests,
        MC,
        word,
        &word.replace("port: m, local: 8080, exposed: 9203", "port: q, local: 8081, exposed: 9204"),
        "fragments/metrics-proxy.yaml(--secure-listen-address=0.0.0.0:${exposed})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_sidecar_in_one_cluster_has_no_kubeconfig() {
    let folder = folder(&format!("{DEPLOYMENT}{MONITORED}"), &format!("uses:\n- {}\n", WORDS[12]));
    let standalone =
        render(&folder, "standalone", &["--set", "leader.retryPeriod=9s", "--set", "log.level=4"]);
    assert_eq!(
        named(&standalone, "containers", "csi-attacher").to_string(),
        r#"{"args":["--csi-address=/var/lib/csi/sockets/pluginproxy/csi.sock","--http-endpoint=localhost:8203","--leader-election","--leader-election-lease-duration=137s","--leader-election-renew-deadline=107s","--leader-election-retry-period=9s","--leader-election-namespace=old","--v=4"],"image":"q/csi-external-attacher","imagePullPolicy":"IfNotPresent","name":"csi-attacher","resources":{"requests":{"cpu":"10m","memory":"50Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/var/lib/csi/sockets/pluginproxy/","name":"socket-dir"}]}"#
    );
    assert_eq!(
        find(&standalone, "ClusterRoleBinding", "ebs-csi-main-attacher-binding")["roleRef"]["name"],
        "openshift-csi-main-attacher-role"
    );
}

#[test]
fn misuse_of_csi_sidecar() {
    let word = WORDS[12];
    let manifests = format!("{DEPLOYMENT}{MONITORED}");
    misuse(
        &manifests,
        MC,
        r"
csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher}
error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `exposed`
error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `local`
2 errors

csi-sidecar: {workload: Deployment/d, sidecar: attacher, local: 8203, exposed: 9203}
error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `short`

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, lokal: 8203, exposed: 9203}
error: payload/op/component.yaml:7:72: the fragment `csi-sidecar` has no input `lokal`
  help: did you mean `local`?

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: atacher, local: 8203, exposed: 9203}
error: fragments/csi-sidecar.yaml(csi-external-${sidecar}): `csi-external-atacher` is no image
  help: the release has no image `csi-external-atacher`

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, image: csi-attacher}
error: payload/op/component.yaml:7:107: `csi-attacher` is no image
  help: the release has no image `csi-attacher`

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, args: --timeout=60s}
error: payload/op/component.yaml:7:106: the input `args` cannot be text

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, reads: node}
error: payload/op/component.yaml:7:107: the input `reads` cannot be text

csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 0, exposed: 9203}
error: payload/op/component.yaml:7:79: the input `local` cannot be a number
",
    );
    contradiction(
        &manifests,
        MC,
        word,
        &word.replace("8203", "8204"),
        "fragments/csi-sidecar.yaml(${listen}=localhost:${local})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn rights_of_a_driver_are_in_the_cluster_that_its_token_is_for() {
    let right = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"ebs-csi-main-attacher-binding"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"openshift-csi-main-attacher-role"},"subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"old"}]}"#;
    let reader = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"ebs-csi-node-reader-attacher-binding"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"openshift-csi-attacher-node-reader-role"},"subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"old"}]}"#;
    for (word, expected) in [(WORDS[14], right), (WORDS[13], reader)] {
        let folder = folder(DEPLOYMENT, &format!("uses:\n- {word}\n"));
        let binding = |profile: &str| {
            let objects = render(&folder, profile, &[]);
            objects.iter().find(|object| object["kind"] == "ClusterRoleBinding").map(ToString::to_string)
        };
        assert_eq!(binding("standalone").as_deref(), Some(expected));
        assert_eq!(binding(GUEST).as_deref(), Some(expected));
        assert_eq!(binding(MC), None);
    }
}

#[test]
fn misuse_of_csi_rights() {
    misuse(
        DEPLOYMENT,
        GUEST,
        r"
csi-right: {workload: Deployment/d, short: ebs, binding: b}
error: payload/op/component.yaml:7:3: the fragment `csi-right` needs the input `role`

csi-right: {workload: Deployment/d, binding: b, role: r}
error: payload/op/component.yaml:7:3: the fragment `csi-right` needs the input `short`

csi-right: {workload: Deployment/d, short: ebs, binding: b, rol: r}
error: payload/op/component.yaml:7:63: the fragment `csi-right` has no input `rol`
  help: did you mean `role`?

csi-right: {workload: Deployment/d, short: ebs, binding: b, role: a/b}
error: payload/op/component.yaml:7:69: the input `role` cannot be `a/b`

csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher}
error: payload/op/component.yaml:7:3: the fragment `csi-reader` needs the input `reads`

csi-reader: {workload: Deployment/d, sidecar: attacher, reads: node}
error: payload/op/component.yaml:7:3: the fragment `csi-reader` needs the input `short`

csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, read: node}
error: payload/op/component.yaml:7:71: the fragment `csi-reader` has no input `read`
  help: did you mean `reads`?

csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, reads: [node, 5]}
error: payload/op/component.yaml:7:85: the input `reads` cannot be a number
",
    );
    contradiction(
        DEPLOYMENT,
        GUEST,
        WORDS[14],
        &WORDS[14].replace("role: main-attacher", "role: other"),
        "fragments/csi-right.yaml(openshift-csi-${role}-role)",
        "ClusterRoleBinding.rbac.authorization.k8s.io/ebs-csi-main-attacher-binding",
    );
}

#[test]
fn a_liveness_probe_beside_a_driver() {
    let folder = folder(DEPLOYMENT, &format!("uses:\n- {}\n", WORDS[15]));
    assert_eq!(
        named(&render(&folder, "standalone", &[]), "containers", "csi-liveness-probe").to_string(),
        r#"{"args":["--csi-address=/csi/csi.sock","--probe-timeout=3s","--health-port=10301","--v=2"],"image":"q/csi-livenessprobe","imagePullPolicy":"IfNotPresent","name":"csi-liveness-probe","resources":{"requests":{"cpu":"10m","memory":"50Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/csi","name":"socket-dir"}]}"#
    );
}

#[test]
fn misuse_of_csi_liveness() {
    misuse(
        DEPLOYMENT,
        MC,
        r"
csi-liveness: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `csi-liveness` needs the input `health`

csi-liveness: {workload: Deployment/d, heath: 10301}
error: payload/op/component.yaml:7:42: the fragment `csi-liveness` has no input `heath`
  help: did you mean `health`?

csi-liveness: {workload: Deployment/d, health: '10301'}
error: payload/op/component.yaml:7:50: the input `health` cannot be text
",
    );
    contradiction(
        DEPLOYMENT,
        MC,
        WORDS[15],
        &WORDS[15].replace("10301", "10302"),
        "fragments/csi-liveness.yaml(--health-port=${health})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_container_may_trust_another_bundle() {
    let word = "proxy-cabundle: {workload: Deployment/d, container: driver, config: mine}";
    let folder = folder(DEPLOYMENT, &format!("uses:\n- {word}\n"));
    let objects = render(&folder, "standalone", &[]);
    assert_eq!(
        named(&objects, "containers", "driver").to_string(),
        r#"{"args":["run"],"image":"i","name":"driver","volumeMounts":[{"mountPath":"/etc/pki/ca-trust/extracted/pem","name":"trusted-ca-bundle","readOnly":true}]}"#
    );
    assert_eq!(
        named(&objects, "volumes", "trusted-ca-bundle").to_string(),
        r#"{"configMap":{"items":[{"key":"ca-bundle.crt","path":"tls-ca-bundle.pem"}],"name":"mine"},"name":"trusted-ca-bundle"}"#
    );
}

#[test]
fn misuse_of_proxy_cabundle() {
    let word = WORDS[16];
    misuse(
        DEPLOYMENT,
        MC,
        r"
proxy-cabundle: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `proxy-cabundle` needs the input `container`
  help: Deployment/d has more than one container: say which

proxy-cabundle: {workload: Deployment/d, container: driver, configMap: c}
error: payload/op/component.yaml:7:63: the fragment `proxy-cabundle` has no input `configMap`
  help: did you mean `config`?

proxy-cabundle: {workload: Deployment/d, container: driver, config: 5}
error: payload/op/component.yaml:7:71: the input `config` cannot be a number

proxy-cabundle: {workload: Deployment/d, container: drivr}
error: fragments/proxy-cabundle.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    for (change, at, there) in [
        (
            ["volumes: [", "volumes: [{name: trusted-ca-bundle, emptyDir: {}}, "],
            "fragments/proxy-cabundle.yaml(name: trusted-ca-bundle)",
            "13:17",
        ),
        (
            ["args: [run]", "volumeMounts: [{name: data, mountPath: /etc/pki/ca-trust/extracted/pem}]"],
            "fragments/proxy-cabundle.yaml(trusted-ca-bundle)",
            "12:56",
        ),
    ] {
        let manifest = DEPLOYMENT.replace(change[0], change[1]);
        misuse(&manifest, MC, &format!("{word}\n{}", disagree(at, "Deployment.apps/d in old", there)));
    }
    contradiction(
        DEPLOYMENT,
        MC,
        word,
        &word.replace("driver}", "other, config: mine}"),
        "fragments/proxy-cabundle.yaml(${config})",
        "Deployment.apps/d in old",
    );
}

const TOKEN: &str =
    "{name: token, projected: {sources: [{serviceAccountToken: {audience: sts, path: jwt}}]}}";

/// The Deployment with a token that the driver mounts.
fn with_token() -> String {
    DEPLOYMENT
        .replace("args: [run]", "args: [run], volumeMounts: [{name: token, mountPath: /token}]")
        .replace("volumes: [", &format!("volumes: [{TOKEN}, "))
}

#[test]
fn a_projected_token_that_cannot_be_minted() {
    for (manifest, message) in [
        (
            with_token().replace(", volumeMounts: [{name: token, mountPath: /token}]", ""),
            "error: hypershift-mc.yaml(projected-token: token-minter): the fragment `token-minter` needs the input `container`\n  \
             help: Deployment/d has more than one container: say which\n",
        ),
        (
            with_token().replace("sources: [", "sources: [{configMap: {name: c}}, "),
            "error: payload/op/0000_50_op_1.yaml:13:17: a projected-token shares its volume with other sources\n  \
             object: Deployment.apps/d in old\n  note: hypershift-mc.yaml(projected-token: token-minter) would take away all of them\n  \
             help: give the token a volume of its own\n",
        ),
    ] {
        assert_eq!(refused(&folder(&manifest, ""), MC), message);
    }
    let twice = "uses:\n- token-minter: {workload: Deployment/d, container: driver, volume: token, mountPath: /token, serviceAccount: robot}\n";
    assert_eq!(
        refused(&folder(&with_token(), twice), MC),
        disagree("fragments/token-minter.yaml(name: ${volume})", "Deployment.apps/d in old", "13:17"),
        "asked for by the manifest and by the page"
    );
}

#[test]
fn a_projected_token_is_replaced_and_its_neighbours_stay() {
    let mc = render(&folder(&with_token(), ""), MC, &[]);
    assert_eq!(
        named(&mc, "containers", "other")["volumeMounts"].to_string(),
        r#"[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]"#
    );
    assert_eq!(
        pod(&mc)["volumes"].to_string(),
        r#"[{"emptyDir":{"medium":"Memory"},"name":"token"},{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}},{"name":"guest-kubeconfig","secret":{"defaultMode":416,"secretName":"d-kubeconfig"}},{"emptyDir":{},"name":"tmp-dir"}]"#
    );
}

#[test]
fn a_service_that_asks_for_a_certificate() {
    let wish = SERVICE.replace(
        "namespace: old}",
        "namespace: old, annotations: {service.beta.openshift.io/serving-cert-secret-name: c, own: stays}}",
    );
    let silent = SERVICE.replace("hook", "silent");
    let folder = folder(&format!("{wish}{silent}"), "");
    let mc = render(&folder, MC, &[]);
    assert_eq!(
        find(&mc, "Secret", "c").to_string(),
        r#"{"apiVersion":"v1","data":{"tls.crt":"","tls.key":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"certificate for hook, hook.clusters-example.svc, hook.clusters-example.svc.cluster.local, localhost signed by root-ca"},"name":"c","namespace":"clusters-example"},"type":"kubernetes.io/tls"}"#
    );
    assert_eq!(
        find(&mc, "Service", "hook").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"annotations":{"own":"stays"},"name":"hook","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
    assert_eq!(
        find(&mc, "Service", "silent").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"silent","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
    let standalone = render(&folder, "standalone", &[]);
    assert_eq!(
        (
            standalone.len(),
            find(&standalone, "Service", "hook")["metadata"]["annotations"].to_string().as_str()
        ),
        (2, r#"{"own":"stays","service.beta.openshift.io/serving-cert-secret-name":"c"}"#)
    );
}

#[test]
fn a_service_that_asks_for_a_certificate_in_a_wrong_way() {
    for secret in ["''", "a/b"] {
        let wish = format!(
            "namespace: old, annotations: {{service.beta.openshift.io/serving-cert-secret-name: {secret}}}}}"
        );
        assert_eq!(
            refused(&folder(&SERVICE.replace("namespace: old}", &wish), ""), MC),
            "error: payload/op/0000_50_op_1.yaml:3:106: the input `secret` cannot be text\n"
        );
    }
}

#[test]
fn a_webhook_that_cannot_be_called_by_url() {
    for (wrong, message) in [
        ("path: check", "the input `path` cannot be text"),
        ("port: '443'", "the input `port` cannot be text"),
        ("port: 99999", "the input `port` cannot be a number"),
    ] {
        let webhooks = WEBHOOKS.replace("port: 443", wrong);
        assert_eq!(
            refused(&folder(&format!("{webhooks}{SERVICE}"), ""), GUEST),
            format!("error: payload/op/0000_50_op_1.yaml:5:41: {message}\n")
        );
    }
    let api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.y}\nspec: {service: {name: hook, namespace: old}}\n---\n";
    assert_eq!(
        refused(&folder(&format!("{api}{SERVICE}"), ""), GUEST),
        "error: payload/op/0000_50_op_1.yaml:4:17: `webhook-url` cannot honour this: an API is served by a Service of its own cluster only\n  \
         object: APIService.apiregistration.k8s.io/v1.x.y\n  \
         help: write `honours: {webhook: leave}` in a part of its page, and give it a Service there\n"
    );
}

#[test]
fn a_webhook_of_its_own_cluster_stays() {
    let page = "place: {both: [Service]}\n";
    let guest = render(&placed(&format!("{WEBHOOKS}{SERVICE}"), page), GUEST, &[]);
    assert_eq!(
        find(&guest, "ValidatingWebhookConfiguration", "v")["webhooks"].to_string(),
        r#"[{"clientConfig":{"service":{"name":"hook","namespace":"old","port":443}},"name":"a.b.c"},{"clientConfig":{"url":"https://elsewhere"},"name":"d.e.f"}]"#
    );
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: old, META}\ndata:\n  c.yaml: |\n    kind: GenericOperatorConfig\n  text: stays\n";

#[test]
fn a_trusted_bundle_is_left_to_each_cluster() {
    let manifest = CONFIG.replace("META", "labels: {config.openshift.io/inject-trusted-cabundle: 'true'}");
    let both = placed(&manifest, "place: {both: [ConfigMap]}\n");
    for profile in ["standalone", MC, GUEST] {
        let config = render(&both, profile, &[]);
        let config = find(&config, "ConfigMap", "c");
        assert_eq!(
            (config["metadata"]["labels"].to_string().as_str(), config["data"].to_string().as_str()),
            (
                r#"{"config.openshift.io/inject-trusted-cabundle":"true"}"#,
                r#"{"c.yaml":"kind: GenericOperatorConfig\n","text":"stays"}"#
            )
        );
    }
}

#[test]
fn tls_settings_are_those_of_the_cluster() {
    let manifest = CONFIG.replace("META", "annotations: {config.openshift.io/inject-tls: 'true'}");
    let both = placed(&manifest, "place: {both: [ConfigMap]}\n");
    for (profile, group) in [("standalone", "guest"), (GUEST, "guest"), (MC, "hcp")] {
        let version = format!("{group}.tls.minVersion=VersionTLS13");
        let suites = format!("{group}.tls.cipherSuites=[A]");
        let data = |more: &[&str]| find(&render(&both, profile, more), "ConfigMap", "c")["data"].to_string();
        assert_eq!(data(&[]), r#"{"c.yaml":"kind: GenericOperatorConfig\n","text":"stays"}"#);
        assert_eq!(
            data(&["--set", &version, "--set", &suites]),
            r#"{"c.yaml":"kind: GenericOperatorConfig\nservingInfo:\n  cipherSuites:\n  - A\n  minTLSVersion: VersionTLS13\n","text":"stays"}"#
        );
    }
    let run = run(&both, MC, &["--set", "hcp.tls.cipherSuites=A"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (2, "error: --set hcp.tls.cipherSuites:1:1: `hcp.tls.cipherSuites` cannot be `A`: it is a list\n")
    );
}

/// The Deployment with an annotation.
fn annotated(annotation: &str) -> String {
    DEPLOYMENT.replacen(
        "namespace: old}",
        &format!("namespace: old, annotations: {{config.openshift.io/{annotation}}}}}"),
        1,
    )
}

#[test]
fn the_proxy_is_that_of_the_cluster() {
    let both = placed(&annotated("inject-proxy: driver"), "place: {both: [Deployment]}\n");
    for (profile, group) in [("standalone", "guest"), (GUEST, "guest"), (MC, "management")] {
        let set = ["httpProxy=http://a", "httpsProxy=http://b", "noProxy=c"]
            .map(|value| format!("{group}.proxy.{value}"));
        let more: Vec<&str> = set.iter().flat_map(|value| ["--set", value]).collect();
        let env = |more: &[&str], container: &str| {
            named(&render(&both, profile, more), "containers", container)["env"].to_string()
        };
        assert_eq!(env(&[], "driver"), "null");
        assert_eq!(
            env(&more, "driver"),
            r#"[{"name":"HTTP_PROXY","value":"http://a"},{"name":"HTTPS_PROXY","value":"http://b"},{"name":"NO_PROXY","value":"c"}]"#
        );
        assert_eq!(env(&more, "other"), "null", "only the container that is named");
    }
}

#[test]
fn annotations_that_name_no_container() {
    let warning = |annotation: &str, column: usize, kind: &str| {
        format!(
            "warning: payload/op/0000_50_op_1.yaml:3:{column}: the annotation `config.openshift.io/{annotation}` is {kind}, not text\n  \
             object: Deployment.apps/d in old\n  note: so none of this object's annotations count, and it is left out\n  help: put the value in quotes\n\
             error: the profile `hypershift-mc` selects none of the payload's 4 manifests\n  \
             note: 3 of them for this reason: cluster-profile: include.release.openshift.io/hypershift unset\n  help: check the names in `select`\n"
        )
    };
    for (annotation, message) in [
        (
            "inject-proxy: 'driver, drivr'",
            "error: payload/op/0000_50_op_1.yaml:3:85: there is no container `drivr` to give the proxy to\n  \
             object: Deployment.apps/d in old\n  help: the annotation names containers, with commas between them\n"
                .to_owned(),
        ),
        (
            "inject-proxy-cabundle: 'driver, drivr'",
            no_container("fragments/proxy-cabundle.yaml(${container})").replace(
                "payload/op/component.yaml:7:3",
                "hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)",
            ),
        ),
        (
            "inject-proxy-cabundle: driver;other",
            "error: fragments/proxy-cabundle.yaml(${container}): there is no container `driver;other` to add to\n  \
             object: Deployment.apps/d in old\n  note: used at hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)\n  \
             help: there are other, driver; a new one needs an `image`\n"
                .to_owned(),
        ),
        ("inject-proxy: true", warning("inject-proxy", 85, "a boolean")),
        ("inject-proxy-cabundle: 5", warning("inject-proxy-cabundle", 94, "a number")),
    ] {
        assert_eq!(refused(&folder(&annotated(annotation), ""), MC), message, "{annotation}");
    }
}

#[test]
fn two_containers_of_the_guest_trust_one_bundle() {
    let manifest = annotated("inject-proxy-cabundle: 'driver, other'");
    let guest = render(&placed(&manifest, "place: {guest: [Deployment]}\n"), GUEST, &[]);
    let bundle =
        r#"{"mountPath":"/etc/pki/ca-trust/extracted/pem","name":"trusted-ca-bundle","readOnly":true}"#;
    assert_eq!(named(&guest, "containers", "driver")["volumeMounts"].to_string(), format!("[{bundle}]"));
    assert_eq!(
        named(&guest, "containers", "other")["volumeMounts"].to_string(),
        format!(r#"[{{"mountPath":"/data","name":"data"}},{bundle}]"#)
    );
    assert_eq!(pod(&guest)["volumes"].as_array().unwrap().len(), 4, "one volume more");
    assert!(find(&guest, "Deployment", "d")["metadata"].get("annotations").is_none());
}

/// One entry of `every` after the other, with what was there before.
#[test]
fn policy_for_accounts_and_workloads() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\nimagePullSecrets: [{name: mine}]\n---\n";
    let deployment = DEPLOYMENT.replacen(
        "namespace: old}",
        "namespace: old, labels: {own: stays, hypershift.openshift.io/managed-by: me}, annotations: {own: stays}}",
        1,
    );
    let folder = folder(&format!("{account}{deployment}"), "owner: somebody\n");
    let mc = render(&folder, MC, &[]);
    assert_eq!(
        find(&mc, "ServiceAccount", "sa").to_string(),
        r#"{"apiVersion":"v1","imagePullSecrets":[{"name":"mine"},{"name":"pull-secret"}],"kind":"ServiceAccount","metadata":{"name":"sa","namespace":"clusters-example"}}"#
    );
    assert_eq!(
        find(&mc, "Deployment", "d")["metadata"].to_string(),
        r#"{"annotations":{"own":"stays","release.openshift.io/desired-version":"4.22.0"},"labels":{"hypershift.openshift.io/managed-by":"somebody","own":"stays"},"name":"d","namespace":"clusters-example"}"#
    );
    let standalone = render(&folder, "standalone", &[]);
    assert_eq!(
        find(&standalone, "ServiceAccount", "sa")["imagePullSecrets"].to_string(),
        r#"[{"name":"mine"}]"#
    );
    assert_eq!(
        find(&standalone, "Deployment", "d")["metadata"].to_string(),
        r#"{"annotations":{"own":"stays"},"labels":{"hypershift.openshift.io/managed-by":"me","own":"stays"},"name":"d","namespace":"old"}"#
    );
}

#[test]
fn policy_for_rollouts() {
    for (stated, settings, expected) in [
        (
            "",
            "HighlyAvailable",
            r#"[2,2,{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0},"type":"RollingUpdate"}]"#,
        ),
        ("", "SingleReplica", "[1,2,null]"),
        (
            "replicas: 3\n  revisionHistoryLimit: 9\n  strategy: {type: Recreate}\n  ",
            "SingleReplica",
            r#"[3,2,{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}]"#,
        ),
        ("replicas: 1\n  strategy: {type: Recreate}\n  ", "HighlyAvailable", r#"[1,2,{"type":"Recreate"}]"#),
    ] {
        let manifest = DEPLOYMENT.replace("selector: {match", &format!("{stated}selector: {{match"));
        let settings = format!("hcp.availability={settings}");
        let mc = render(&folder(&manifest, ""), MC, &["--set", &settings]);
        let spec = &find(&mc, "Deployment", "d")["spec"];
        let fields = ["replicas", "revisionHistoryLimit", "strategy"].map(|field| spec[field].clone());
        assert_eq!(Value::from(fields.to_vec()).to_string(), expected, "{stated}");
        assert_eq!(spec["selector"].to_string(), r#"{"matchLabels":{"app":"d"}}"#);
    }
}

#[test]
fn policy_for_disruption_budgets() {
    let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: d, namespace: old}\nspec: {minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, selector: {matchLabels: {app: d}}}\n";
    let folder = folder(&format!("{DEPLOYMENT}{budget}"), "");
    let spec =
        |more: &[&str]| find(&render(&folder, MC, more), "PodDisruptionBudget", "d")["spec"].to_string();
    assert_eq!(
        spec(&[]),
        r#"{"maxUnavailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}"#,
        "what is stated stays, but for how many"
    );
    assert_eq!(
        spec(&["--set", "hcp.availability=SingleReplica"]),
        r#"{"minAvailable":1,"selector":{"matchLabels":{"app":"d"}},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}"#
    );
}

#[test]
fn policy_for_where_pods_run() {
    let manifest = DEPLOYMENT
        .replace("metadata: {labels: {app: d}}", "metadata: {labels: {app: d}, annotations: {own: stays, hypershift.openshift.io/restart-date: old}}")
        .replace("serviceAccountName: sa\n", "serviceAccountName: sa\n      hostNetwork: true\n      dnsPolicy: Default\n      priorityClassName: mine\n      nodeSelector: {role: master}\n      tolerations: [{key: mine, operator: Exists}]\n      affinity: {podAntiAffinity: {own: stays}}\n");
    let folder = folder(&manifest, "");
    let mc = render(&folder, MC, &[]);
    let template = &find(&mc, "Deployment", "d")["spec"]["template"];
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"],
        "data,socket-dir,tmp-dir"
    );
    assert_eq!(annotations["own"], "stays");
    assert_eq!(annotations.get("hypershift.openshift.io/restart-date"), None);
    assert_eq!(annotations.as_object().unwrap().len(), 3, "and the hash of what is mounted: {annotations}");
    assert_eq!(
        template["metadata"]["labels"].to_string(),
        r#"{"app":"d","hypershift.openshift.io/control-plane-component":"d","hypershift.openshift.io/hosted-control-plane":"clusters-example"}"#
    );
    let spec = &template["spec"];
    assert_eq!(
        (spec.get("hostNetwork"), spec.get("nodeSelector"), spec.get("securityContext")),
        (None, None, None)
    );
    assert_eq!(
        (spec["priorityClassName"].as_str(), spec["dnsPolicy"].as_str()),
        (Some("hypershift-control-plane"), Some("Default"))
    );
    assert_eq!(
        spec["tolerations"].to_string(),
        r#"[{"effect":"NoSchedule","key":"hypershift.openshift.io/control-plane","operator":"Equal","value":"true"},{"effect":"NoSchedule","key":"hypershift.openshift.io/cluster","operator":"Equal","value":"clusters-example"}]"#
    );
    assert_eq!(
        spec["affinity"].to_string(),
        r#"{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchExpressions":[{"key":"hypershift.openshift.io/control-plane","operator":"In","values":["true"]}]},"weight":50},{"preference":{"matchExpressions":[{"key":"hypershift.openshift.io/cluster","operator":"In","values":["clusters-example"]}]},"weight":100}]},"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"labelSelector":{"matchLabels":{"hypershift.openshift.io/hosted-control-plane":"clusters-example"}},"topologyKey":"kubernetes.io/hostname"},"weight":100}]},"podAntiAffinity":{"own":"stays"}}"#
    );
    let restarted =
        render(&folder, MC, &["--set", "hcp.restartDate=2026", "--set", "hcp.priorityClass=high"]);
    let template = &find(&restarted, "Deployment", "d")["spec"]["template"];
    assert_eq!(template["metadata"]["annotations"]["hypershift.openshift.io/restart-date"], "2026");
    assert_eq!(template["spec"]["priorityClassName"], "high");
    let standalone = render(&folder, "standalone", &[]);
    assert_eq!(pod(&standalone)["nodeSelector"].to_string(), r#"{"role":"master"}"#);
    assert_eq!(pod(&standalone)["hostNetwork"], true);
}

#[test]
fn policy_for_as_what_pods_run() {
    let manifest = DEPLOYMENT.replace(
        "serviceAccountName: sa\n",
        "serviceAccountName: sa\n      securityContext: {runAsUser: 0, fsGroup: 7}\n",
    );
    let folder = folder(&manifest, "");
    let context = |more: &[&str]| pod(&render(&folder, MC, more))["securityContext"].to_string();
    assert_eq!(context(&[]), r#"{"fsGroup":7,"runAsUser":0}"#);
    assert_eq!(context(&["--set", "management.isOpenShift=false"]), r#"{"fsGroup":7,"runAsUser":1001}"#);
}

#[test]
fn policy_for_the_token_of_the_management_cluster() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n---\n";
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: old}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: sa, namespace: old}]\n";
    for (manifests, label, automount) in [
        (format!("{account}{DEPLOYMENT}"), None, Some(false)),
        (format!("{account}{DEPLOYMENT}{binding}"), Some("true"), None),
    ] {
        let mc = render(&folder(&manifests, ""), MC, &[]);
        let template = &find(&mc, "Deployment", "d")["spec"]["template"];
        assert_eq!(
            template["metadata"]["labels"]["hypershift.openshift.io/need-management-kas-access"].as_str(),
            label
        );
        assert_eq!(template["spec"]["automountServiceAccountToken"].as_bool(), automount);
    }
}

#[test]
fn policy_for_containers() {
    let manifest = DEPLOYMENT.replace(
        "args: [run]",
        "imagePullPolicy: Always, terminationMessagePolicy: File, securityContext: {readOnlyRootFilesystem: false, runAsNonRoot: true}, volumeMounts: [{name: data, mountPath: /tmp}]",
    );
    let folder = folder(&manifest, "");
    let mc = render(&folder, MC, &[]);
    assert_eq!(
        named(&mc, "containers", "driver").to_string(),
        r#"{"image":"i","imagePullPolicy":"Always","name":"driver","securityContext":{"readOnlyRootFilesystem":true,"runAsNonRoot":true},"terminationMessagePolicy":"File","volumeMounts":[{"mountPath":"/tmp","name":"data"}]}"#
    );
    assert_eq!(
        named(&mc, "containers", "other")["volumeMounts"].to_string(),
        r#"[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]"#
    );
    assert_eq!(named(&mc, "volumes", "tmp-dir").to_string(), r#"{"emptyDir":{},"name":"tmp-dir"}"#);
    let all = manifest.replace("mountPath: /data}", "mountPath: /tmp}");
    let volumes = pod(&render(&self::folder(&all, ""), MC, &[]))["volumes"].to_string();
    assert!(!volumes.contains("tmp-dir"), "every container has its own: {volumes}");
}

#[test]
fn a_volume_for_tmp_that_is_something_else() {
    let manifest = DEPLOYMENT.replace("volumes: [", "volumes: [{name: tmp-dir, hostPath: {path: /x}}, ");
    assert_eq!(
        refused(&folder(&manifest, ""), MC),
        "error: hypershift-mc.yaml(name: tmp-dir): two authors say different things about one field\n  object: Deployment.apps/d in old\n  \
         note: the other is at payload/op/0000_50_op_1.yaml:13:17\n  \
         help: decide whose it is: make it an input, or use `set` or a patch where an exception is meant\n"
    );
}

#[test]
fn misuse_of_what_policy_is_told() {
    let folder = folder(DEPLOYMENT, "");
    for (setting, message) in [
        (
            "hcp.availability=Highly",
            "error: --set hcp.availability:1:1: `hcp.availability` cannot be `Highly`\n  help: it is one of \"HighlyAvailable\", \"SingleReplica\"\n",
        ),
        (
            "management.isOpenShift='false'",
            "error: --set management.isOpenShift:1:1: `management.isOpenShift` cannot be `false`: it is true or false\n",
        ),
        (
            "hcp.runAsUser=root",
            "error: --set hcp.runAsUser:1:1: `hcp.runAsUser` cannot be `root`: it is a whole number\n",
        ),
        ("hcp.labels=[a]", "error: --set hcp.labels:1:1: `hcp.labels` cannot be a list: it is a map\n"),
        (
            "hcp.tolerations={a: b}",
            "error: --set hcp.tolerations:1:1: `hcp.tolerations` cannot be a map: it is a list\n",
        ),
        (
            "hcp.nodeSelector=a",
            "error: --set hcp.nodeSelector:1:1: `hcp.nodeSelector` cannot be `a`: it is a map\n",
        ),
        (
            "hcp.namespace=A_B",
            "error: --set hcp.namespace:1:1: `hcp.namespace` cannot be `A_B`: it is a name of lower-case letters, digits, `-` and `.`\n",
        ),
        (
            "hcp.priorityClass=",
            "error: --set hcp.priorityClass:1:1: `hcp.priorityClass` cannot be ``: it is a name of lower-case letters, digits, `-` and `.`\n",
        ),
    ] {
        let run = run(&folder, MC, &["--set", setting]);
        assert_eq!((run.code, run.stderr.as_str()), (2, message), "{setting}");
    }
}

/// What holds for every pod of a hosted control plane holds for no other.
#[test]
fn policy_leaves_pods_of_the_guest_alone() {
    let guest = render(&placed(DEPLOYMENT, "place: {guest: [Deployment]}\n"), GUEST, &[]);
    assert_eq!(
        find(&guest, "Deployment", "d").to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"old"},"spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"args":["--own=1"],"image":"i","name":"other","volumeMounts":[{"mountPath":"/data","name":"data"}]},{"args":["run"],"image":"i","name":"driver"}],"serviceAccountName":"sa","volumes":[{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}}]}}}}"#
    );
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
        assert!(said.contains("two authors say different things about one field"), "{args}: {said}");
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
