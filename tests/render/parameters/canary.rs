//! No output of any command, except the rendered objects themselves, shows the value of a secret parameter or of a Secret:
//! used as a text, in lines, as a part of a text, as a name, a key, an item, or in base64.

use crate::support::{TestProject, object};

/// A part of every secret value.
const CANARY: &str = "zq7canary";
/// The start of the base64 of every secret value.
const CANARY_BASE64: &str = "enE3Y2FuYXJ5";

/// Values of the secret parameters, which the flag `--params` gives.
const VALUES: &str = r#"
p:
  text: zq7canary-text
  lines: "zq7canary \"first\"\n\tzq7canary second\n"
  list: [zq7canary-item, zq7canary-other]
  map: {zq7canary-key: zq7canary-value}
  base64: enE3Y2FuYXJ5LWJhc2U2NA==
"#;

/// The names of the secret parameters, with their types.
const PARAMETERS: [(&str, &str); 5] =
    [("text", "string"), ("lines", "string"), ("list", "list"), ("map", "map"), ("base64", "string")];

/// A page that uses every parameter in every way that is allowed, in one of two profiles.
const PAGE: &str = r"
place: {management: [Deployment, ConfigMap, Secret]}
values: {workload: Deployment/d}
adds:
- in: [mc]
  pod:
    metadata: {annotations: '${p.map}'}
    spec:
      volumes:
      - {name: '${p.text}', emptyDir: {}}
      - {name: a, secret: {secretName: 's-${p.text}'}}
      containers:
      - name: c
        image: '${p.text}/image:1'
        args: ['${p.list}', '--url=https://user:${p.text}@host']
        env:
        - {name: TEXT, value: '${p.text}'}
        - {name: '${p.text}', value: x}
        - {name: LINES, value: '${p.lines}'}
        - {name: KEY, valueFrom: {secretKeyRef: {name: s, key: '${p.text}'}}}
        volumeMounts:
        - {name: b, mountPath: '/${p.text}'}
- in: [mc]
  objects:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: new, namespace: ns, labels: '${p.map}'}
    data: {text: '${p.text}', lines: '${p.lines}', base64: '${p.base64}', part: 'a ${p.text} b'}
    unknown: '${p.text}'
  - apiVersion: v1
    kind: Secret
    metadata: {name: added, namespace: ns}
    data: {x: '${p.base64}'}
    stringData: {x: '${p.lines}'}
";

/// A Secret of the payload, with values where `kubectl apply` copies them and where they do not belong.
const SECRET: &str = r#"
data: {password: enE3Y2FuYXJ5LXBheWxvYWQ=}
stringData: {other: zq7canary-string}
extra: zq7canary-extra
nested: [{deep: zq7canary-deep}]
"#;

fn project(page: &str) -> TestProject {
    let declared: Vec<String> = PARAMETERS
        .iter()
        .map(|(name, kind)| format!("  p.{name}: {{type: {kind}, description: d, secret: true}}\n"))
        .collect();
    let annotations = r#"annotations: {x: x, copy: 'zq7canary-copy', kubectl.kubernetes.io/last-applied-configuration: '{"data":"zq7canary-applied"}'}"#;
    let secret = object("v1", "Secret", "ns", "s", SECRET).replace("annotations: {x: x}", annotations);
    let deployment = "spec: {template: {spec: {serviceAccountName: sa, containers: [{name: c}]}}}\n";
    TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", deployment))
        .manifest("op/2.yaml", &secret)
        .page("op", page)
        .profile("mc", "topology: t\ncluster: management\nnamespace: hosted\n")
        .profile("other", "topology: u\ncluster: management\nnamespace: hosted\n")
        .parameters(&format!("parameters:\n{}", declared.concat()))
        .file("values.yaml", VALUES)
}

/// Runs a command with every way to write its messages, and checks that none shows a secret.
#[track_caller]
fn assert_silent(project: &TestProject, arguments: &[&str]) -> Vec<i32> {
    let mut codes = Vec::new();
    for logging in [&["-vvv"][..], &["-vvv", "--log-format", "json"]] {
        let run = project.run_checked(&[arguments, logging].concat());
        for output in [&run.stdout, &run.stderr] {
            assert!(!output.contains(CANARY) && !output.contains(CANARY_BASE64), "{arguments:?}\n{output}");
        }
        codes.push(run.code);
    }
    codes.dedup();
    codes
}

#[test]
fn no_command_shows_a_secret_value() {
    let project = project(PAGE);
    let objects = project.render_with("mc", &["--params", "values.yaml"]);
    let rendered = serde_json::to_string(&objects).unwrap();
    assert!(rendered.matches(CANARY).count() > 20, "the objects contain the values: {rendered}");

    let params = ["--params", "values.yaml"];
    for (code, arguments) in [
        (0, &["list", "--profile", "mc"][..]),
        (0, &["list", "--profile", "mc", "-o", "json"]),
        (0, &["list", "--orphans"]),
        (1, &["lint"]),
        (1, &["lint", "-o", "json"]),
        (1, &["lint", "-o", "sarif"]),
        (2, &["render", "--profile", "mc"]),
        (0, &["render", "--profile", "mc", "--no-check", "--output", "out"]),
        (0, &["explain", "deployment/d", "--profile", "mc"]),
        (0, &["explain", "secret/s", "--profile", "mc"]),
        (0, &["explain", "secret/added", "--profile", "mc"]),
        (0, &["explain", "configmap/new", "--profile", "mc"]),
        (2, &["explain", "configmap/new", "--profile", "mc", "--path", "/dat"]),
        (1, &["diff", "--profile", "mc", "--profile", "other"]),
        (1, &["diff", "--profile", "other", "--profile", "mc"]),
        (2, &["golden", "update"]),
        (2, &["golden", "check"]),
        (2, &["golden", "check", "-o", "github"]),
        (2, &["apply", "--topology", "t"]),
        (2, &["apply", "--topology", "t", "--dry-run"]),
        (2, &["diff", "--live", "--topology", "t"]),
        (2, &["delete", "--topology", "t", "--management-kubeconfig", "none"]),
    ] {
        assert_eq!(assert_silent(&project, &[arguments, &params].concat()), [code], "{arguments:?}");
    }
}

#[test]
fn no_error_of_a_page_shows_a_secret_value() {
    for (number, page) in [
        // Two additions that do not fit together.
        "values: {workload: Deployment/d}\nadds: [{pod: {spec: {nodeName: '${p.text}'}}}, {pod: {spec: {nodeName: a}}}]",
        "values: {workload: Deployment/d}\nadds: [{workload: {spec: {a: '${p.map}'}}}, {workload: {spec: {a: {zq: 1}}}}]\npatches: [{reason: r, target: {kind: Deployment}, patch: [{op: remove, path: /spec/a/zq8}]}]",
        // Paths that lead nowhere: the names of items and keys are candidates for a suggestion.
        "patches: [{reason: r, target: {kind: Secret}, patch: [{op: remove, path: '/nested/[deep=zq7canary-dee]'}]}]",
        "values: {workload: Deployment/d}\nadds: [{pod: {spec: {volumes: [{name: '${p.text}', emptyDir: {}}]}}}]\npatches: [{reason: r, target: {kind: Deployment}, patch: [{op: remove, path: '/spec/template/spec/volumes/[name=zq7]'}]}]",
        "patches: [{reason: r, target: {kind: Secret}, patch: [{op: test, path: /extra, value: x}]}]",
        "patches: [{reason: r, target: {kind: Secret}, patch: [{op: remove, path: /extra/x}]}]",
        "patches: [{reason: r, target: {kind: Secret}, patch: {stringData: [a]}}]",
        // Values that are not allowed where they are used.
        "uses: [{f: {kind: '${p.text}'}}]",
        "uses: [{f: {object: '${p.text}'}}]",
        "uses: [{f: {image: '${p.text}'}}]",
        "uses: [{f: {number: '${p.text}'}}]",
        "values: {workload: '${p.text}'}",
        "when: {p.text: x}",
        "omit: [{objects: ['ConfigMap/${p.text}'], reason: r}]",
        "adds: [{objects: ['${p.map}']}]",
        "adds: [{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '${p.text}', namespace: ns}}]}]",
        "adds: [{objects: [{apiVersion: '${p.text}', kind: ConfigMap, metadata: {name: a, namespace: ns}}]}]",
        "values: {workload: Deployment/d}\nadds: [{pod: {spec: {nodeName: 'a ${p.list}'}}}]",
        "values: {workload: Deployment/d}\nadds: [{pod: {spec: {containers: '${p.text}'}}}]",
    ]
    .into_iter()
    .enumerate()
    {
        let project = project(&format!("place: {{management: [Deployment, Secret]}}\n{page}\n")).fragment(
            "f",
            r"
            inputs:
              kind: {type: string, enum: [a], optional: true}
              object: {type: object, optional: true}
              image: {type: image, optional: true}
              number: {type: int, optional: true}
            adds: [{nothing: x}]
            ",
        );
        let render = ["render", "--profile", "mc", "--no-check", "--params", "values.yaml"];
        let codes = assert_silent(&project, &[&render[..], &["--output", "out"]].concat());
        let expected = if page.starts_with("when") { 0 } else { 2 };
        assert_eq!(codes, [expected], "page {number}: {page}");
        for command in [&["lint"][..], &["list", "--profile", "mc"], &["explain", "deployment/d", "--profile", "mc"]] {
            assert_silent(&project, &[command, &["--params", "values.yaml"]].concat());
        }
    }
}

#[test]
fn no_error_of_a_value_shows_it() {
    for (name, value) in [
        ("p.text", "[zq7canary]"),
        ("p.list", "zq7canary"),
        ("p.list", "{zq7canary: zq7canary"),
        ("p.map", "'zq7canary"),
        ("p.map", "[zq7canary]"),
        ("p.map", "&zq7canary"),
        ("p.map", "*zq7canary"),
        ("p.map", "!zq7canary x"),
        ("p.map", "{a: \"\\zq7canary\"}"),
    ] {
        let project = project(PAGE);
        let setting = format!("{name}={value}");
        for command in [&["render", "--profile", "mc", "--no-check", "--output", "out"][..], &["lint"]] {
            assert_silent(&project, &[command, &["--params", "values.yaml", "--set", &setting]].concat());
        }
    }
}
