//! Every check, with manifests in which it finds nothing and a change that it finds.

use transship::yaml::{self, Node, SourceId};

use crate::support::{Folder, Run, repository, run_checked};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

const CHECKS: &str = "kinds:\n  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}\n\
    externals: [{objects: [Secret/op/pull-secret], in: [one], reason: the installer makes it}]\n";

const PLACE: &str = "place: {management: [Deployment, ConfigMap, Service], guest: [ConfigMap/in-guest, Service/console, Secret], both: [ServiceAccount]}\n";

fn data(name: &str) -> String {
    std::fs::read_to_string(repository().join("tests/data/checks").join(name)).unwrap()
}

/// One cluster that is `one`, or the two clusters that are `two`.
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

struct Case {
    check: String,
    of: String,
    write: String,
    r#as: String,
    says: String,
}

fn cases() -> Vec<Case> {
    let documents = yaml::read(&data("cases.yaml"), SourceId(0)).unwrap();
    let text =
        |node: &Node, field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
    let case = |node: &Node| Case {
        check: text(node, "check"),
        of: text(node, "of"),
        write: text(node, "write"),
        r#as: text(node, "as"),
        says: text(node, "says"),
    };
    documents[0].root.as_list().unwrap().iter().map(case).collect()
}

#[test]
fn nothing_is_found_in_manifests_that_are_right() {
    for base in ["one", "two"] {
        let run = lint(&folder(base, &data(&format!("{base}.yaml"))), &[]);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (0, "", "nothing is wrong\n"),
            "{base}"
        );
    }
}

/// What is valid, and easily taken for wrong.
#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let folder = folder("one", &data("valid.yaml"));
    let checks = "kinds:\n  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    let run = lint(&folder, &[]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", "nothing is wrong\n"));
}

/// A payload may hold several variants of one CRD, of which a profile selects one.
#[test]
fn the_crd_that_counts_is_the_one_that_is_selected() {
    let crd = |set: &str, fields: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.b.c, annotations: {{include.release.openshift.io/any: 'true', release.openshift.io/feature-set: {set}}}}}\n\
             spec: {{group: b.c, scope: Cluster, names: {{kind: A, plural: as}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {fields}}}}}}}}}}}]}}\n"
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
    assert!(lint(&folder, &[]).stdout.contains("there is no field `new` here"));
}

/// What two clusters may say of each other: texts that only look like secrets or Services, and tokens that are needed.
#[test]
fn clusters_may_say_what_harms_nobody() {
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

/// A pattern for namespaces does not make the other cluster's this one's.
#[test]
fn a_pattern_of_externals_hides_no_foreign_subject() {
    let wrong = data("two.yaml")
        .replace("name: system:serviceaccounts:op", "name: system:serviceaccounts:clusters-a");
    let folder = folder("two", &wrong);
    let checks = "externals: [{objects: [Namespace/*], reason: r}]\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    assert!(lint(&folder, &["--profile", "guest"]).stdout.contains("error[foreign-subject]"));
}

/// Nothing of a Secret's values is in a message, not even a name.
#[test]
fn a_service_that_a_secret_names_is_not_repeated() {
    let wrong = data("two.yaml").replace("note: nothing to see", "url: https://u:p@op.op.svc/canary");
    let said = lint(&folder("two", &wrong), &[]).stdout;
    assert!(
        said.contains("error[other-cluster]") && !said.contains("op.svc") && !said.contains("canary"),
        "{said}"
    );
}

/// A kind without a CRD: what is declared of its lists holds for the checks and for patches.
#[test]
fn lists_of_a_declared_kind_are_maps() {
    let thing = |items: &str| {
        format!("apiVersion: x.y/v1\nkind: Thing\nmetadata: {{name: t}}\nspec: {{items: {items}}}\n")
    };
    let folder = folder("one", &thing("[{name: a, v: 1}, {name: b, v: 1}, {name: a, v: 2}]"));
    let kinds = "kinds: {Thing.x.y: {servedBy: somebody, scope: Cluster, lists: {/spec/items: [name]}}}\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", kinds));
    let said = lint(&folder, &[]).stdout;
    assert!(
        said.contains("payload/op/0000_50_op_01.yaml:4:50: a second item with name \"a\"\n")
            && said.contains("note: the first is at payload/op/0000_50_op_01.yaml:4:16\n"),
        "{said}"
    );
    folder.write("payload/op/0000_50_op_01.yaml", thing("[{name: a, v: 1}, {name: b, v: 1}]"));
    let page = "annotations: {include.release.openshift.io/any: 'true'}\npatches: [{reason: r, target: {kind: Thing}, patch: {spec: {items: [{name: b, v: 3}]}}}]\n";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let run = run_checked(folder.path(), &["render", "--profile", "one", "-o", "json"], "");
    assert!(
        run.stdout.contains(r#""items":[{"name":"a","v":1},{"name":"b","v":3}]"#),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

/// Of an object with very many faults, the first hundred are listed and the rest is counted.
#[test]
fn what_is_not_listed_is_counted() {
    let many: Vec<String> =
        (0..150).map(|at| format!("        - name: E{at}\n          value: {at}\n")).collect();
    let wrong = data("one.yaml").replace("        - name: MODE\n          value: fast\n", &many.concat());
    let said = lint(&folder("one", &wrong), &[]).stdout;
    assert_eq!(said.matches("error[wrong-type]").count(), 100);
    assert_eq!(said.matches("note: 50 more of this object are not listed\n").count(), 1);
}

/// Declarations that mean nothing are told, not dropped.
#[test]
fn declarations_that_do_nothing() {
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
            "profiles/checks.yaml:4:9: no object is of the declared kind A.b",
        ),
        ("kinds: {A: {servedBy: x, scope: Cluster}}\n", 2, "the kind `A` has no group"),
        ("allow: [{check: privilegd, for: [Deployment], reason: r}]\n", 2, "did you mean `privileged`?"),
    ] {
        let folder = folder("two", &data("two.yaml"));
        folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
        let run = lint(&folder, &[]);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == code && said.contains(expected), "{checks}: {said}");
    }
}

#[test]
fn every_fault_is_found_and_said() {
    for Case { check, of, write, r#as, says } in cases() {
        let right = data(&format!("{of}.yaml"));
        assert_eq!(right.matches(&write).count(), 1, "{check}: {write:?} is there once");
        let run = lint(&folder(&of, &right.replace(&write, &r#as)), &[]);
        assert_eq!(run.stdout, says, "{check}: {as}");
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

/// What an object needs is at its level or at an earlier one: the namespace, the kind, what pods need, what is called.
#[test]
fn what_is_needed_comes_first() {
    let folder = folder("one", &data("one.yaml"));
    folder.write("payload/op/0000_60_op_01.yaml", EARLY);
    folder.write("payload/op/0000_61_op_02.yaml", LATE);
    let files = "note: this is in op/0000_60_op_01.yaml, the other in op/0000_61_op_02.yaml";
    let says = |line: usize, object: &str, message: &str, why: &str| {
        format!(
            "error[too-early]: payload/op/0000_60_op_01.yaml:{line}:1: {message}\n  object: {object}\n  {files}\n  \
             note: {why}\n  note: found in one\n  help: give one of the files another run-level, the number behind `0000_`\n"
        )
    };
    let expected = [
        says(
            1,
            "ServiceAccount/early in late",
            "it comes before its namespace, Namespace/late",
            "the API server refuses an object whose namespace is not there",
        ),
        says(
            5,
            "Late.example.test/early",
            "it comes before the definition of its kind, CustomResourceDefinition.apiextensions.k8s.io/lates.example.test",
            "the API server does not know the kind until then",
        ),
        says(
            9,
            "Job.batch/early in op",
            "it comes before what its pods need, ServiceAccount/late in op",
            "its level would never be ready, and the next never begin",
        ),
        says(
            19,
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io/early",
            "it comes before the Service that it calls, Service/late in op",
            "every request that it is asked about would fail until then",
        ),
    ];
    assert_eq!(lint(&folder, &[]).stdout, expected.concat());
    // Within a level the order follows the needs, whatever the files are called.
    let same = crate::checks::folder("one", &data("one.yaml"));
    same.write("payload/op/0000_60_op_01.yaml", EARLY);
    same.write("payload/op/0000_60_op_02.yaml", LATE);
    assert_eq!(lint(&same, &[]).stdout, "");
}

/// Two variants of one object, both of which are selected.
#[test]
fn one_object_in_two_files() {
    let folder = folder("two", &data("two.yaml"));
    folder.write("payload/op/0000_50_op_02.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: op\n");
    assert_eq!(
        lint(&folder, &[]).stdout,
        "error[same-object]: payload/op/0000_50_op_02.yaml:1:1: two manifests for one object\n  object: Namespace/op\n  \
         note: the other is at payload/op/0000_50_op_01.yaml:7:1\n  \
         note: whichever is applied last would win, and every pass would change the object back and forth\n  note: found in guest\n  \
         help: leave one out with CVO's annotations, a capability or a feature set\n"
    );
}

/// `place` refuses it; a patch can still make it so.
#[test]
fn a_cluster_scoped_object_in_the_management_half() {
    let folder = folder("two", &data("two.yaml"));
    let patch = "patches: [{reason: r, in: [mc], target: {kind: ConfigMap, name: config}, patch: [{op: replace, path: /kind, value: Node}, {op: remove, path: /data}, {op: remove, path: /metadata/namespace}]}]\n";
    let annotations = "annotations: {include.release.openshift.io/any: 'true'}\n";
    folder
        .write("payload/op/component.yaml", file("Component", "op", &format!("{annotations}{PLACE}{patch}")));
    let stdout = lint(&folder, &[]).stdout;
    assert!(
        stdout.starts_with(
            "error[cluster-scoped]: payload/op/0000_50_op_01.yaml:12:1: objects of the kind Node belong to the whole management cluster\n  \
             object: Node/config\n  note: a hosted cluster's objects stay in its namespace; another one would overwrite it\n  note: found in mc\n  \
             help: give it to the guest, or leave it out here\n"
        ),
        "{stdout}"
    );
}

/// It is told when the parameter is declared: what is read from the guest must be bounded, whatever becomes of it.
#[test]
fn a_value_of_the_guest_that_nothing_bounds() {
    let folder = folder("two", &data("two.yaml"));
    let read = "parameters:\n  region: {type: string, description: d, optional: true, read: {object: Infrastructure, path: /status/region}}\n";
    folder.write("profiles/parameters.yaml", file("Parameters", "parameters", read));
    let run = lint(&folder, &[]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "error[guest-value]: profiles/parameters.yaml:5:3: the parameter `region` is read from the guest and accepts any value\n  note: the guest's administrator decides what the value is\n  help: limit it with `pattern` or `enum`\n"
        )
    );
}

/// What is wrong in one of a topology's clusters is told with the profile; what is allowed is not told.
#[test]
fn a_finding_may_be_allowed_with_a_reason() {
    let wrong = data("two.yaml").replace("privileged: false", "privileged: true");
    let allowed = |of: &str, profile: &str, reason: &str| {
        let folder = folder("two", &wrong);
        let allow =
            format!("allow: [{{check: privileged, for: [{of}], in: [{profile}], reason: {reason}}}]\n");
        folder.write("profiles/checks.yaml", file("Checks", "checks", &allow));
        lint(&folder, &[])
    };
    assert_eq!(allowed("Deployment/op", "mc", "it mounts disks").code, 0);
    let idle = allowed("Deployment/other", "mc", "it mounts disks");
    assert!(idle.stdout.contains("error[privileged]") && idle.stdout.contains("warning[unused-allowance]: profiles/checks.yaml:4:9: `privileged` is allowed here and does not occur"));
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
fn a_finding_may_be_allowed_on_the_manifest() {
    let on_manifest = |annotation: &str| {
        let wrong = data("two.yaml").replace("privileged: false", "privileged: true").replace(
            "kind: Deployment\nmetadata:\n",
            &format!("kind: Deployment\nmetadata:\n  annotations:\n    include.release.openshift.io/any: 'true'\n    transship.openshift.io/{annotation}\n"),
        );
        folder("two", &wrong)
    };
    let reasoned = on_manifest("allow-privileged: it mounts disks");
    assert_eq!(lint(&reasoned, &[]).code, 0);
    let rendered = run_checked(reasoned.path(), &["render", "--profile", "mc"], "");
    assert!(rendered.code == 0 && !rendered.stdout.contains("allow-privileged"), "no cluster sees it");
    let groundless = lint(&on_manifest("allow-privileged: ''"), &[]).stdout;
    assert!(
        groundless.contains("error[privileged]")
            && groundless.contains("`privileged` is allowed without a reason, so it is not"),
        "{groundless}"
    );
    let unknown = lint(&on_manifest("allow-privilege: x"), &[]).stdout;
    assert!(unknown.contains("there is no check `privilege`"), "{unknown}");
}

/// Nothing is written while something is wrong, unless somebody wants to see it.
#[test]
fn what_is_wrong_is_not_rendered() {
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
    assert_eq!(run(&["explain", "deployment/op", "--profile", "one"]).code, 0, "to explain is to look");
}

/// Data for machines: one line a finding, and SARIF with every rule.
#[test]
fn findings_are_data() {
    let folder = folder("one", &data("one.yaml").replace("        emptyDir: {}", "        emptydir: {}"));
    assert_eq!(
        lint(&folder, &["-o", "json"]).stdout,
        concat!(
            r#"{"code":"unknown-field","column":9,"file":"payload/op/0000_50_op_01.yaml","help":"did you mean `emptyDir`?","line":121,"#,
            r#""message":"there is no field `emptydir` here","object":{"group":"apps","kind":"Deployment","name":"op","namespace":"op"},"#,
            r#""path":"/spec/template/spec/volumes/[name=scratch]/emptydir","profiles":["one"],"severity":"error","#,
            r#""why":["server-side apply refuses the object, with an answer that looks like a failure of the server"]}"#,
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
    let checks: Vec<&str> = transship::language::Check::all().map(transship::language::Check::code).collect();
    assert_eq!(rules, checks);
    let result = &run["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("unknown-field"), Some("error")));
    assert_eq!(
        result["locations"][0]["physicalLocation"].to_string(),
        r#"{"artifactLocation":{"uri":"payload/op/0000_50_op_01.yaml"},"region":{"startColumn":9,"startLine":121}}"#
    );
}

/// A key that a finding is about is named; what is secret in it never is.
#[test]
fn no_finding_holds_a_secret() {
    for case in cases().iter().filter(|case| case.check == "secret-in-guest") {
        assert!(
            case.r#as.contains("canary")
                || case.r#as.contains("Y2FuYXJ5")
                || case.r#as.contains("GNhbmFyeQo")
        );
        assert!(!case.says.contains("canary"), "{}", case.says);
    }
}

/// An external that one parameter set needs is not idle.
#[test]
fn what_one_parameter_set_needs_is_needed() {
    let folder = folder("one", &data("one.yaml"));
    let parameter = "parameters:\n  proxy: {type: bool, description: d, default: false}\n";
    folder.write("profiles/parameters.yaml", file("Parameters", "parameters", parameter));
    let page = "annotations: {include.release.openshift.io/any: 'true'}\nadds: [{when: {proxy: true}, objects: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: p, namespace: op}, imagePullSecrets: [{name: proxy}]}]}]\n";
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let checks = format!("{CHECKS}- {{objects: [Secret/proxy], when: {{proxy: true}}, reason: r}}\n");
    folder.write(
        "profiles/checks.yaml",
        file(
            "Checks",
            "checks",
            &checks.replace("externals: [{", "externals:\n- {").replace("makes it}]", "makes it}"),
        ),
    );
    folder
        .write("profiles/sets/with-proxy.yaml", file("Parameters", "with-proxy", "values: {proxy: true}\n"));
    let run = lint(&folder, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let without = checks
        .replace("externals: [{", "externals:\n- {")
        .replace("makes it}]", "makes it}")
        .replace("Secret/proxy", "Secret/prox");
    folder.write("profiles/checks.yaml", file("Checks", "checks", &without));
    let run = lint(&folder, &[]);
    assert!(
        run.stdout.contains("there is no Secret `proxy`")
            && run.stdout.contains("nothing names `Secret/prox`"),
        "{}",
        run.stdout
    );
}

/// The bundled payload and profiles, in a folder of their own.
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
fn nothing_is_wrong_with_the_bundled_payload() {
    let run = run_checked(&repository(), &["lint"], "");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
}

/// Whatever is taken away, something misses it.
#[test]
fn every_object_that_others_need_is_missed() {
    const NEEDED: [&str; 6] = ["Secret", "ServiceAccount", "Role", "ClusterRole", "Service", "ConfigMap"];
    let mut removed = 0;
    for entry in walkdir::WalkDir::new(repository().join("payload")) {
        let path = entry.unwrap().into_path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let documents: Vec<&str> = text.split("---\n").collect();
        for (at, document) in documents.iter().enumerate() {
            let kind = document.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
            // Rights for users of the cluster: nobody in the payload is bound to them.
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
            assert!(run.code == 1 || run.code == 2, "{name}: nobody misses the {kind}:\n{document}");
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
    let codes: Vec<String> =
        transship::language::Check::all().map(|check| format!("`{}`", check.code())).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), codes);
    let here =
        std::fs::read_to_string(repository().join("tests/render/checks.rs")).unwrap() + &data("cases.yaml");
    for row in rows {
        let message = row[2].trim_start_matches("``").trim_end_matches("``").trim().trim_matches('"');
        assert!(here.contains(message), "no test has seen this message of {}: {message}", row[0]);
    }
}
