//! The checks: valid manifests without findings, and for each check a change that it finds.

use transship::yaml::{self, Node, SourceId};

use crate::support::{Folder, Run, repository, run_checked};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

const CHECKS: &str = "\
kinds:
  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}
externals: [{objects: [Secret/op/pull-secret], in: [one], reason: the installer makes it}]
";

const PLACE: &str = "\
place:
  management: [Deployment, ConfigMap, Service, NetworkPolicy]
  guest: [ConfigMap/in-guest, Service/console, Secret]
  both: [ServiceAccount]
";

fn data(name: &str) -> String {
    std::fs::read_to_string(repository().join("tests/data/checks").join(name)).unwrap()
}

/// A project with the standalone profile `one`, or with the profiles `mc` and `guest` of the topology `two`.
fn folder(base: &str, manifests: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/0000_50_op_01.yaml", manifests);
    let page = if base == "two" { PLACE } else { "" };
    let annotations = "annotations: {include.release.openshift.io/any: 'true'}\n";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{annotations}{page}")));
    if base == "one" {
        folder.write("profiles/checks.yaml", file("Checks", "checks", CHECKS));
        let honours = "intents: {serving-cert: keep, webhook: keep}\n";
        folder.write(
            "profiles/one.yaml",
            file("Profile", "one", &format!("topology: one\ncluster: both\n{honours}")),
        );
    } else {
        let mc = "topology: two\ncluster: management\nnamespace: clusters-a\n";
        folder.write("profiles/mc.yaml", file("Profile", "mc", mc));
        folder.write("profiles/guest.yaml", file("Profile", "guest", "topology: two\ncluster: guest\n"));
    }
    folder
}

fn lint(folder: &Folder, more: &[&str]) -> Run {
    run_checked(folder.path(), &[&["lint"][..], more].concat(), "")
}

/// A change to valid manifests, and the output of `lint`.
struct Case {
    check: String,
    manifests: String,
    replace: String,
    with: String,
    expect: String,
}

fn cases() -> Vec<Case> {
    let documents = yaml::read(&data("cases.yaml"), SourceId(0)).unwrap();
    let text =
        |node: &Node, field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
    let case = |node: &Node| Case {
        check: text(node, "check"),
        manifests: text(node, "manifests"),
        replace: text(node, "replace"),
        with: text(node, "with"),
        expect: text(node, "expect"),
    };
    documents[0].root.as_list().unwrap().iter().map(case).collect()
}

#[test]
fn valid_manifests_have_no_findings() {
    for base in ["one", "two"] {
        let run = lint(&folder(base, &data(&format!("{base}.yaml"))), &[]);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", "no findings\n"), "{base}");
    }
}

/// Valid manifests that a simpler check would report.
#[test]
fn unusual_valid_manifests_have_no_findings() {
    let folder = folder("one", &data("valid.yaml"));
    let checks = "kinds:\n  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    let run = lint(&folder, &[]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", "no findings\n"));
}

/// A payload may contain several variants of a CRD, of which a profile selects one.
#[test]
fn fields_are_checked_against_the_selected_variant_of_a_crd() {
    let crd = |set: &str, fields: &str| {
        format!(
            "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: as.b.c
  annotations:
    include.release.openshift.io/any: 'true'
    release.openshift.io/feature-set: {set}
spec:
  group: b.c
  scope: Cluster
  names: {{kind: A, plural: as}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {{spec: {{type: object, properties: {fields}}}}}
"
        )
    };
    let folder = folder("one", "apiVersion: b.c/v1\nkind: A\nmetadata: {name: a}\nspec: {new: x}\n");
    folder.write("payload/op/0000_10_op_a.yaml", crd("Default", "{old: {type: string}}"));
    folder.write(
        "payload/op/0000_10_op_b.yaml",
        crd("TechPreviewNoUpgrade", "{old: {type: string}, new: {type: string}}"),
    );
    folder.write("profiles/checks.yaml", file("Checks", "checks", ""));
    let select = |set: &str| format!("topology: one\ncluster: both\nselect: {{featureSet: {set}}}\n");
    folder.write("profiles/one.yaml", file("Profile", "one", &select("TechPreviewNoUpgrade")));
    let run = lint(&folder, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    folder.write("profiles/one.yaml", file("Profile", "one", &select("Default")));
    assert!(lint(&folder, &[]).stdout.contains("unknown field `new`"));
}

/// Texts that only look like credentials or Services of the other cluster, and a ServiceAccount without a token.
#[test]
fn harmless_texts_and_tokens_have_no_findings() {
    for (write, r#as) in [
        ("  url: https://console.op.svc\n", "  url: https://op.openshift-monitoring.svc\n"),
        ("  url: https://console.op.svc\n", "  script: grep -q 'BEGIN RSA PRIVATE KEY-----' file\n"),
        (
            "  url: https://console.op.svc\n",
            "  kubeconfig: |\n    current-context: a\n    clusters: []\n    users: [{name: a, user: {tokenFile: /token}}]\n",
        ),
        (
            "  namespace: op\n---\napiVersion: v1\nkind: Namespace",
            "  namespace: op\nautomountServiceAccountToken: false\n---\napiVersion: v1\nkind: Namespace",
        ),
    ] {
        let mut manifests = data("two.yaml");
        assert!(manifests.contains(write), "{write}");
        manifests = manifests.replacen(write, r#as, 1);
        if r#as.contains("automount") {
            manifests = manifests.replace("      automountServiceAccountToken: false\n", "");
        }
        let run = lint(&folder("two", &manifests), &[]);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{as}");
    }
}

#[test]
fn issued_kubeconfigs_and_credentials_are_not_allowed_in_the_guest() {
    for (kind, spec, content) in [
        ("IssuedKubeconfig", "{cluster: guest, as: {namespace: op, serviceAccount: op}}", "a kubeconfig"),
        ("IssuedCredentials", "{cloud: aws, identity: op, keys: [credentials]}", "credentials"),
    ] {
        let folder = folder("two", &data("two.yaml"));
        let page = format!(
            "\
annotations: {{include.release.openshift.io/any: 'true'}}
{PLACE}\
adds:
- in: [guest]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: {kind}
    metadata: {{name: issued, namespace: op}}
    spec: {spec}
"
        );
        folder.write("payload/op/component.yaml", file("Component", "op", &page));
        let run = lint(&folder, &["--profile", "guest"]);
        let expected = format!(
            "\
error[secret-in-guest]: payload/op/component.yaml:12:5: the guest receives {content}
  object: Secret/issued in op, at /metadata/annotations/transship.openshift.io~1issued
  note: users of the guest can read it
  note: found in guest
  help: keep it in the management cluster: workloads there reach the guest with a kubeconfig or a minted token
"
        );
        assert_eq!(run.stdout, expected, "{kind}: {}", run.stderr);
    }
}

/// An external such as `Namespace/*` does not make a namespace of the other cluster one of this cluster.
#[test]
fn a_pattern_of_externals_does_not_hide_a_subject_of_the_other_cluster() {
    let wrong = data("two.yaml")
        .replace("name: system:serviceaccounts:op", "name: system:serviceaccounts:clusters-a");
    let folder = folder("two", &wrong);
    let checks = "externals: [{objects: [Namespace/*], reason: r}]\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    assert!(lint(&folder, &["--profile", "guest"]).stdout.contains("error[wrong-cluster-subject]"));
}

#[test]
fn a_message_about_a_service_does_not_repeat_the_value_of_a_secret() {
    let wrong = data("two.yaml").replace("note: nothing to see", "url: https://u:p@op.op.svc/canary");
    let output = lint(&folder("two", &wrong), &[]).stdout;
    assert!(
        output.contains("error[wrong-cluster]") && !output.contains("op.svc") && !output.contains("canary"),
        "{output}"
    );
}

/// The list keys of a kind without a CRD are used by the checks and by patches.
#[test]
fn list_keys_of_a_declared_kind_are_used() {
    let thing = |items: &str| {
        format!("apiVersion: x.y/v1\nkind: Thing\nmetadata: {{name: t}}\nspec: {{items: {items}}}\n")
    };
    let folder = folder("one", &thing("[{name: a, v: 1}, {name: b, v: 1}, {name: a, v: 2}]"));
    let kinds = "kinds: {Thing.x.y: {servedBy: somebody, scope: Cluster, lists: {/spec/items: [name]}}}\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", kinds));
    let output = lint(&folder, &[]).stdout;
    assert!(
        output.contains("payload/op/0000_50_op_01.yaml:4:50: another item of the list has name \"a\"\n")
            && output.contains("note: the first one is at payload/op/0000_50_op_01.yaml:4:16\n"),
        "{output}"
    );
    folder.write("payload/op/0000_50_op_01.yaml", thing("[{name: a, v: 1}, {name: b, v: 1}]"));
    let page = "\
annotations: {include.release.openshift.io/any: 'true'}
patches:
- reason: r
  target: {kind: Thing}
  patch: {spec: {items: [{name: b, v: 3}]}}
";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let run = run_checked(folder.path(), &["render", "--profile", "one", "-o", "json"], "");
    assert!(
        run.stdout.contains(r#""items":[{"name":"a","v":1},{"name":"b","v":3}]"#),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn more_than_a_hundred_findings_of_an_object_are_counted() {
    let many: Vec<String> =
        (0..150).map(|number| format!("        - name: E{number}\n          value: {number}\n")).collect();
    let wrong = data("one.yaml").replace("        - name: MODE\n          value: fast\n", &many.concat());
    let output = lint(&folder("one", &wrong), &[]).stdout;
    assert_eq!(output.matches("error[wrong-type]").count(), 100);
    assert_eq!(output.matches("note: 50 more findings for this object are not listed\n").count(), 1);
}

#[test]
fn declarations_without_effect_are_reported() {
    for (checks, code, expected) in [
        (
            "externals: [{objects: [], reason: r}]\n",
            2,
            "profiles/checks.yaml:4:13: the external names no objects",
        ),
        (
            "allow: [{check: privileged, reason: r}]\n",
            2,
            "profiles/checks.yaml:4:9: the allowance names no objects",
        ),
        (
            "kinds: {A.b: {servedBy: x, scope: Cluster}}\n",
            1,
            "profiles/checks.yaml:4:9: no manifest has the declared kind A.b",
        ),
        ("kinds: {A: {servedBy: x, scope: Cluster}}\n", 2, "the kind `A` has no group"),
        ("allow: [{check: privilegd, for: [Deployment], reason: r}]\n", 2, "did you mean `privileged`?"),
    ] {
        let folder = folder("two", &data("two.yaml"));
        folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
        let run = lint(&folder, &[]);
        let output = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == code && output.contains(expected), "{checks}: {output}");
    }
}

#[test]
fn each_case_has_the_expected_output() {
    for Case { check, manifests, replace, with, expect } in cases() {
        let valid = data(&format!("{manifests}.yaml"));
        assert_eq!(valid.matches(&replace).count(), 1, "{check}: {replace:?} occurs once");
        let run = lint(&folder(&manifests, &valid.replace(&replace, &with)), &[]);
        assert_eq!(run.stdout, expect, "{check}: {with}");
        assert_eq!(run.code, 1);
    }
}

const EARLY: &str = "\
apiVersion: v1
kind: ServiceAccount
metadata: {name: early, namespace: late}
---
apiVersion: example.test/v1
kind: Late
metadata: {name: early}
---
apiVersion: batch/v1
kind: Job
metadata: {name: early, namespace: op}
spec:
  template:
    spec:
      serviceAccountName: late
      restartPolicy: Never
      containers: [{name: main, image: example.test/image}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: early}
webhooks:
- name: early.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: late, namespace: op}}
";

const LATE: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: late}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lates.example.test}
spec:
  group: example.test
  names: {kind: Late, plural: lates}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: late, namespace: op}
---
apiVersion: v1
kind: Service
metadata: {name: late, namespace: op}
spec: {ports: [{port: 443}]}
";

#[test]
fn an_object_at_an_earlier_run_level_than_what_it_needs_is_reported() {
    let folder = folder("one", &data("one.yaml"));
    folder.write("payload/op/0000_60_op_01.yaml", EARLY);
    folder.write("payload/op/0000_61_op_02.yaml", LATE);
    let files = "note: it is in op/0000_60_op_01.yaml, the other object is in op/0000_61_op_02.yaml";
    let says = |line: usize, object: &str, message: &str, why: &str| {
        format!(
            "error[wrong-order]: payload/op/0000_60_op_01.yaml:{line}:1: {message}\n  object: {object}\n  {files}\n  \
             note: {why}\n  note: found in one\n  help: change the run level of one of the files, the number after `0000_`\n"
        )
    };
    let expected = [
        says(
            1,
            "ServiceAccount/early in late",
            "the object is applied before its namespace, Namespace/late",
            "the API server rejects objects in a namespace that does not exist",
        ),
        says(
            5,
            "Late.example.test/early",
            "the object is applied before the CRD of its kind, CustomResourceDefinition.apiextensions.k8s.io/lates.example.test",
            "the API server does not serve the kind until the CRD exists",
        ),
        says(
            9,
            "Job.batch/early in op",
            "the object is applied before an object that its pods need, ServiceAccount/late in op",
            "its run level never becomes ready, and later run levels never start",
        ),
        says(
            19,
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io/early",
            "the object is applied before the Service that it calls, Service/late in op",
            "requests that match the webhook fail until the Service exists",
        ),
    ];
    assert_eq!(lint(&folder, &[]).stdout, expected.concat());
    // Within one run level, objects are ordered by what they need.
    let same = crate::checks::folder("one", &data("one.yaml"));
    same.write("payload/op/0000_60_op_01.yaml", EARLY);
    same.write("payload/op/0000_60_op_02.yaml", LATE);
    assert_eq!(lint(&same, &[]).stdout, "");
}

#[test]
fn two_selected_manifests_of_one_object_are_reported() {
    let folder = folder("two", &data("two.yaml"));
    folder.write("payload/op/0000_50_op_02.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: op\n");
    assert_eq!(
        lint(&folder, &[]).stdout,
        "error[duplicate-object]: payload/op/0000_50_op_02.yaml:1:1: two manifests describe the same object\n  object: Namespace/op\n  \
         note: the other manifest is at payload/op/0000_50_op_01.yaml:7:1\n  \
         note: each apply would overwrite one with the other\n  note: found in guest\n  \
         help: exclude one of them with a release annotation, a capability or a feature set\n"
    );
}

/// `place` rejects such an object, but a patch can still change a kind.
#[test]
fn a_cluster_scoped_object_in_the_management_cluster_is_reported() {
    let folder = folder("two", &data("two.yaml"));
    let patch = "\
patches:
- reason: r
  in: [mc]
  target: {kind: ConfigMap, name: config}
  patch:
  - {op: replace, path: /kind, value: Node}
  - {op: remove, path: /data}
  - {op: remove, path: /metadata/namespace}
";
    let annotations = "annotations: {include.release.openshift.io/any: 'true'}\n";
    folder
        .write("payload/op/component.yaml", file("Component", "op", &format!("{annotations}{PLACE}{patch}")));
    let stdout = lint(&folder, &[]).stdout;
    assert!(
        stdout.starts_with(
            "\
error[cluster-scoped]: payload/op/0000_50_op_01.yaml:12:1: Node is cluster-scoped and not allowed in the management cluster
  object: Node/config
  note: hosted control planes share the management cluster: another one could overwrite the object
  note: found in mc
  help: place it in the guest, or omit it in this profile
"
        ),
        "{stdout}"
    );
}

#[test]
fn a_parameter_from_the_guest_needs_a_pattern_or_enum() {
    let folder = folder("two", &data("two.yaml"));
    let read = "\
parameters:
  region:
    type: string
    description: d
    optional: true
    read: {object: Infrastructure, path: /status/region}
";
    folder.write("profiles/parameters.yaml", file("Parameters", "parameters", read));
    let run = lint(&folder, &[]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "error[unvalidated-guest-value]: profiles/parameters.yaml:5:3: the parameter `region` is read from the guest and accepts any value\n  note: the guest's administrator decides what the value is\n  help: limit it with `pattern` or `enum`\n"
        )
    );
}

#[test]
fn a_checks_file_can_allow_a_finding_with_a_reason() {
    let wrong = data("two.yaml").replace("privileged: false", "privileged: true");
    let allowed = |of: &str, profile: &str, reason: &str| {
        let folder = folder("two", &wrong);
        let allow =
            format!("allow: [{{check: privileged, for: [{of}], in: [{profile}], reason: {reason}}}]\n");
        folder.write("profiles/checks.yaml", file("Checks", "checks", &allow));
        lint(&folder, &[])
    };
    assert_eq!(allowed("Deployment/op", "mc", "it mounts disks").code, 0);
    let unused = allowed("Deployment/other", "mc", "it mounts disks");
    assert!(unused.stdout.contains("error[privileged]"), "{}", unused.stdout);
    assert!(
        unused.stdout.contains(
            "warning[unused-allowance]: profiles/checks.yaml:4:9: the allowance for `privileged` matches no finding"
        ),
        "{}",
        unused.stdout
    );
    assert!(allowed("Deployment/op", "guest", "it mounts disks").stdout.contains("error[privileged]"));
    let empty = allowed("Deployment/op", "mc", "''");
    assert!(
        empty.code == 2 && empty.stderr.contains("profiles/checks.yaml:4:9: the reason is empty"),
        "{}",
        empty.stderr
    );
    let unknown = allowed("Deployment/op", "mx", "it mounts disks");
    assert!(unknown.code == 2 && unknown.stderr.contains("there is no profile `mx`"), "{}", unknown.stderr);
}

#[test]
fn an_annotation_of_a_manifest_can_allow_a_finding_with_a_reason() {
    let on_manifest = |annotation: &str| {
        let wrong = data("two.yaml").replace("privileged: false", "privileged: true").replace(
            "kind: Deployment\nmetadata:\n",
            &format!(
                "\
kind: Deployment
metadata:
  annotations:
    include.release.openshift.io/any: 'true'
    transship.openshift.io/{annotation}
"
            ),
        );
        folder("two", &wrong)
    };
    let reasoned = on_manifest("allow-privileged: it mounts disks");
    assert_eq!(lint(&reasoned, &[]).code, 0);
    let rendered = run_checked(reasoned.path(), &["render", "--profile", "mc"], "");
    assert!(rendered.code == 0 && !rendered.stdout.contains("allow-privileged"), "it is not rendered");
    let without_reason = lint(&on_manifest("allow-privileged: ''"), &[]).stdout;
    assert!(
        without_reason.contains("error[privileged]")
            && without_reason.contains("the allowance for `privileged` has no reason and is ignored"),
        "{without_reason}"
    );
    let unknown = lint(&on_manifest("allow-privilege: x"), &[]).stdout;
    assert!(
        unknown.contains("there is no check `privilege`\n")
            && unknown.contains("help: did you mean `privileged`?"),
        "{unknown}"
    );
}

#[test]
fn render_and_golden_update_fail_if_there_are_errors() {
    let folder = folder("one", &data("one.yaml").replace("        emptyDir: {}", "        emptydir: {}"));
    let run = |arguments: &[&str]| run_checked(folder.path(), arguments, "");
    for arguments in
        [&["render", "--profile", "one"][..], &["render", "--output", "out"], &["golden", "update"]]
    {
        let run = run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(
            run.stderr.starts_with("error[unknown-field]: payload/op/0000_50_op_01.yaml:121:9: "),
            "{}",
            run.stderr
        );
    }
    assert!(!folder.path().join("out").exists() && !folder.path().join("golden").exists());
    let shown = run(&["render", "--profile", "one", "--no-check"]);
    assert!(shown.code == 0 && shown.stdout.contains("emptydir: {}"));
    assert_eq!(run(&["explain", "deployment/op", "--profile", "one"]).code, 0, "`explain` does not check");
}

#[test]
fn findings_can_be_printed_as_json_and_sarif() {
    let folder = folder("one", &data("one.yaml").replace("        emptyDir: {}", "        emptydir: {}"));
    assert_eq!(
        lint(&folder, &["-o", "json"]).stdout,
        concat!(
            r#"{"code":"unknown-field","column":9,"file":"payload/op/0000_50_op_01.yaml","help":"did you mean `emptyDir`?","line":121,"#,
            r#""message":"unknown field `emptydir`","#,
            r#""notes":["server-side apply rejects the object, with an error that looks like a server failure"],"#,
            r#""object":{"group":"apps","kind":"Deployment","name":"op","namespace":"op"},"#,
            r#""path":"/spec/template/spec/volumes/[name=scratch]/emptydir","profiles":["one"],"severity":"error"}"#,
            "\n"
        )
    );
    let sarif: serde_json::Value = serde_json::from_str(&lint(&folder, &["-o", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    let checks: Vec<&str> = transship::Check::all().map(transship::Check::code).collect();
    assert_eq!(rules, checks);
    let result = &run["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("unknown-field"), Some("error")));
    assert_eq!(
        result["locations"][0]["physicalLocation"].to_string(),
        r#"{"artifactLocation":{"uri":"payload/op/0000_50_op_01.yaml"},"region":{"startColumn":9,"startLine":121}}"#
    );
}

#[test]
fn findings_about_secrets_do_not_contain_their_values() {
    for case in cases().iter().filter(|case| case.check == "secret-in-guest") {
        assert!(
            case.with.contains("canary")
                || case.with.contains("Y2FuYXJ5")
                || case.with.contains("GNhbmFyeQo")
        );
        assert!(!case.expect.contains("canary"), "{}", case.expect);
    }
}

#[test]
fn an_external_that_one_parameter_set_needs_is_used() {
    let folder = folder("one", &data("one.yaml"));
    let parameter = "parameters:\n  proxy: {type: bool, description: d, default: false}\n";
    folder.write("profiles/parameters.yaml", file("Parameters", "parameters", parameter));
    let page = "\
annotations: {include.release.openshift.io/any: 'true'}
adds:
- when: {proxy: true}
  objects:
  - apiVersion: v1
    kind: ServiceAccount
    metadata: {name: p, namespace: op}
    imagePullSecrets: [{name: proxy}]
";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let checks = "\
kinds:
  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}
externals:
- {objects: [Secret/op/pull-secret], in: [one], reason: the installer makes it}
- {objects: [Secret/proxy], when: {proxy: true}, reason: r}
";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    folder
        .write("profiles/sets/with-proxy.yaml", file("Parameters", "with-proxy", "values: {proxy: true}\n"));
    let run = lint(&folder, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let without = checks.replace("Secret/proxy", "Secret/prox");
    folder.write("profiles/checks.yaml", file("Checks", "checks", &without));
    let run = lint(&folder, &[]);
    assert!(
        run.stdout.contains("there is no Secret `proxy`")
            && run.stdout.contains("no object references the external `Secret/prox`"),
        "{}",
        run.stdout
    );
}

/// Copies the bundled payload and profiles.
fn bundled() -> Folder {
    let folder = Folder::new();
    for entry in
        ["payload", "profiles"].iter().flat_map(|name| walkdir::WalkDir::new(repository().join(name)))
    {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(repository()).unwrap().display().to_string();
            folder.write(&path, std::fs::read(entry.path()).unwrap());
        }
    }
    folder
}

#[test]
fn the_bundled_payload_has_no_findings() {
    let run = run_checked(&repository(), &["lint"], "");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
}

/// Removes each referenced object from the bundled payload, one at a time.
#[test]
fn a_removed_object_that_others_reference_is_reported() {
    const NEEDED: [&str; 6] = ["Secret", "ServiceAccount", "Role", "ClusterRole", "Service", "ConfigMap"];
    let mut removed = 0;
    for entry in walkdir::WalkDir::new(repository().join("payload")) {
        let path = entry.unwrap().into_path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let documents: Vec<&str> = text.split("---\n").collect();
        for (at, document) in documents.iter().enumerate() {
            let kind = document.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
            // ClusterRoles that aggregate into roles for users of the cluster: no binding of the payload references them.
            if !NEEDED.contains(&kind) || document.contains("aggregate-to-") {
                continue;
            }
            let folder = bundled();
            let rest: Vec<&str> = documents
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, text)| *text)
                .collect();
            let name = path.strip_prefix(repository()).unwrap().display().to_string();
            folder.write(&name, rest.join("---\n"));
            if rest.iter().all(|text| text.trim().is_empty()) {
                std::fs::remove_file(folder.path().join(&name)).unwrap();
            }
            let run = lint(&folder, &[]);
            assert!(run.code == 1 || run.code == 2, "{name}: no finding without the {kind}:\n{document}");
            removed += 1;
        }
    }
    assert!(removed >= 5, "{removed}");
}

/// The page has a row for every check, with a message that a case above has seen.
#[test]
fn the_page_lists_every_check() {
    let page = std::fs::read_to_string(repository().join("docs/checks.md")).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| check |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let codes: Vec<String> = transship::Check::all().map(|check| format!("`{}`", check.code())).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), codes);
    let here =
        std::fs::read_to_string(repository().join("tests/render/checks.rs")).unwrap() + &data("cases.yaml");
    for row in rows {
        let message = row[2].trim_start_matches("``").trim_end_matches("``").trim().trim_matches('"');
        assert!(here.contains(message), "no test expects this message of {}: {message}", row[0]);
    }
}
