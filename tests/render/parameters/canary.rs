//! No output of any command, except the rendered objects themselves, shows the value of a secret parameter or of a Secret:
//! used as a text, in lines, as a part of a text, as a name, a key, an item, or in base64.

use proptest::prelude::*;
use transship::patch::{self, ItemPosition};
use transship::yaml::{Entry, Map, Node, Sensitivity, SourceId, Value, json, read};

use crate::support::{TestProject, object, plan, unindent};

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
const SECRET: &str = "
data: {password: enE3Y2FuYXJ5LXBheWxvYWQ=}
stringData: {other: zq7canary-string}
extra: zq7canary-extra
nested: [{deep: zq7canary-deep}]
";

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
        assert_eq!(codes, [2], "page {number}: {page}");
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

/// Calls a function for every text and key below a node that is not sensitive.
fn for_each_public_text(node: &Node, visit: &mut dyn FnMut(&str)) {
    if node.sensitivity > Sensitivity::Public {
        return;
    }
    match &node.value {
        Value::String(text) => visit(text),
        Value::List(items) => items.iter().for_each(|item| for_each_public_text(item, visit)),
        Value::Map(map) => {
            for entry in map {
                visit(&entry.key);
                for_each_public_text(&entry.value, visit);
            }
        }
        _ => {}
    }
}

#[track_caller]
fn assert_tracked(node: &Node, case: &str) {
    for_each_public_text(node, &mut |text| {
        assert!(!text.contains(CANARY) && !text.contains(CANARY_BASE64), "{case}: {text} is public");
    });
}

/// Patches that copy, move and merge sensitive values.
const PATCHES: &str = r"
patches:
- reason: r
  target: {kind: Deployment}
  patch:
  - {op: copy, from: '/spec/template/spec/containers/[name=c]/env/0/value', path: /metadata/annotations/a}
  - {op: move, from: '/spec/template/metadata/annotations', path: /metadata/labels}
  - {op: copy, from: '/spec/template/spec/containers/[name=c]/args', path: /spec/more}
  - {op: append, path: /spec/more, value: x}
- reason: r
  target: {kind: Deployment}
  patch: {metadata: {labels: {l: m}}, spec: {template: {spec: {containers: [{name: c, args: [y]}]}}}}
- reason: r
  target: {kind: Secret, name: s}
  patch: {stringData: {patched: zq7canary-patched}}
";

#[test]
fn rendered_objects_know_their_sensitive_values() {
    let policy = r"
        policy:
        - {for: pod, add: {metadata: {annotations: {policy: '${p.text}'}}}}
        - for: pod
          default: {spec: {priorityClassName: '${p.text}', nodeSelector: '${p.map}'}}
        - {for: workload, set: {metadata: {annotations: {set: 'a.ns.svc ${p.text}'}}}}
        ";
    let project = project(&format!("{PAGE}{PATCHES}"))
        .profile("mc", &format!("topology: t\ncluster: management\nnamespace: hosted\n{}", unindent(policy)))
        .parameter_set("default", &format!("values:{}", VALUES.replace('\n', "\n  ")));
    let plan = plan(project.path(), "mc");
    let mut texts = 0;
    for object in &plan.objects {
        assert_tracked(&object.root, &object.id.to_string());
        texts += json::write(&object.root).matches(CANARY).count();
    }
    assert!(texts > 30, "the objects contain {texts} secret values");
}

/// Returns documents that a patch can change, with sensitive leaves.
fn documents() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![Just(("x", false)), Just(("zq7canary", true)), Just(("zq7canary-2", true))]
        .prop_map(|(text, is_secret)| {
            let mut node = Node::from(Value::String(text.into()));
            if is_secret {
                node.protect(Sensitivity::Secret);
            }
            node
        });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let entry = (prop_oneof!["[a-c]", Just("name".to_owned())], inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| Value::List(items).into()),
            prop::collection::vec(entry, 0..4).prop_map(map_of),
        ]
    })
}

fn map_of(entries: Vec<(String, Node)>) -> Node {
    let entry = |(key, value): (String, Node)| Entry { key: key.into(), mark: value.mark, value };
    Value::Map(Map::of(entries.into_iter().map(entry).collect())).into()
}

proptest! {
    #[test]
    fn no_patch_loses_the_sensitivity_of_a_value(
        target in documents(),
        patch in documents(),
        from in "(/[a-c0-2]){1,3}",
        to in "(/[a-c0-2-]){1,3}",
    ) {
        let target = map_of(vec![("a".to_owned(), target), ("b".to_owned(), patch.clone())]);
        let patch = map_of(vec![("a".to_owned(), patch.clone()), ("c".to_owned(), patch)]);
        let mut merged = target.clone();
        patch::merge(&mut merged, &patch);
        assert_tracked(&merged, "merge");
        let mut strategic = target.clone();
        if patch::strategic_merge(&mut strategic, &patch, None, ItemPosition::Last).is_ok() {
            assert_tracked(&strategic, "strategic merge");
        }
        for operation in ["copy", "move"] {
            let text = format!("[{{op: {operation}, from: '{from}', path: '{to}'}}]");
            let operations = patch::operations(&read(&text, SourceId(0)).unwrap()[0].root).unwrap();
            let mut changed = target.clone();
            if patch::apply_operations(&mut changed, &operations).is_ok() {
                assert_tracked(&changed, operation);
            }
        }
        if let Some(changed) = target.with_texts(&|text| Some(format!("{text}!"))) {
            assert_tracked(&changed, "new texts");
        }
    }
}
