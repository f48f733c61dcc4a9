//! The language: each construct with what it does, and with what its misuse is answered.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn parameters(body: &str) -> String {
    format!("{HEADER}kind: Parameters\nmetadata: {{name: all}}\nparameters:\n{body}")
}

fn profile(name: &str, body: &str) -> String {
    format!("{HEADER}kind: Profile\nmetadata: {{name: {name}}}\ntopology: t\n{body}")
}

fn page(body: &str) -> String {
    format!("{HEADER}kind: Component\nmetadata: {{name: op}}\n{body}")
}

fn object(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: ns\n  annotations: {{p: x}}\n{body}"
    )
}

const DEPLOYMENT: &str = "spec:\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      hostNetwork: true\n      \
                          tolerations: [{key: old}]\n      initContainers: [{name: i}]\n      containers: [{name: c, args: [run]}]\n";

/// A Deployment, a Service and a ConfigMap of one component, with its page.
fn folder(page_body: &str, profile_body: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", object("apps/v1", "Deployment", "a", DEPLOYMENT));
    folder.write("payload/op/2.yaml", object("v1", "Service", "s", ""));
    folder.write("payload/op/3.yaml", object("v1", "ConfigMap", "cm", "data: {}\n"));
    folder.write("payload/op/component.yaml", page(page_body));
    folder.write("profiles/test.yaml", profile("test", profile_body));
    folder
}

fn render(folder: &Folder, more: &[&str]) -> Vec<serde_json::Value> {
    folder.run(&[&["render", "--profile", "test", "-o", "json"][..], more].concat()).json()
}

fn refused(folder: &Folder, more: &[&str]) -> String {
    folder.run(&[&["render", "--profile", "test"][..], more].concat()).refusal()
}

fn names(documents: &[serde_json::Value]) -> Vec<String> {
    documents
        .iter()
        .map(|document| {
            format!(
                "{}/{}",
                document["kind"].as_str().unwrap(),
                document["metadata"]["name"].as_str().unwrap()
            )
        })
        .collect()
}

// --- parameters and `${}`

const MANY: &str = "  a.text: {type: string, description: d, default: hello}\n  \
                    a.whole: {type: int, description: d, default: 5}\n  \
                    a.flag: {type: bool, description: d, default: true}\n  \
                    a.list: {type: list, description: d, default: [x, {k: v}]}\n  \
                    a.none: {type: string, description: d, optional: true}\n  \
                    ns: {type: name, description: d, default: target}\n";

/// Declares those, and uses every one somewhere: what nobody uses is an error.
fn declare_many(folder: &Folder) {
    folder.write("profiles/parameters.yaml", parameters(MANY));
    let uses = "cluster: both\npolicy:\n- for: Lease\n  set: ['${a.text}', '${a.whole}', '${a.flag}', '${a.list}', '${a.none}', '${ns}']\n";
    let profile = format!("{HEADER}kind: Profile\nmetadata: {{name: user}}\ntopology: user\n{uses}");
    folder.write("profiles/user.yaml", profile);
}

#[test]
fn values_keep_their_type_and_lists_are_spliced() {
    let folder = folder(
        "place: {}\n",
        "cluster: both\npolicy:\n- for: ConfigMap\n  set:\n    data:\n      text: ${a.text}\n      whole: ${a.whole}\n      \
         flag: ${a.flag}\n      list: [first, '${a.list}', last]\n      gone: ${a.none}\n      mixed: \"<${a.text}-${a.whole}-${a.flag}>\"\n      \
         escaped: $${a.text} $(X) $Y\n      name: ${component.name}/${workload.kind}/${workload.name}\n",
    );
    declare_many(&folder);
    folder.write("payload/op/component.yaml", page(""));
    let data = &render(&folder, &[])[2]["data"];
    assert_eq!(
        data.to_string(),
        r#"{"escaped":"${a.text} $(X) $Y","flag":true,"list":["first","x",{"k":"v"},"last"],"mixed":"<hello-5-true>","name":"op/ConfigMap/cm","text":"hello","whole":5}"#
    );
}

#[test]
fn values_come_from_files_and_settings_and_the_last_wins() {
    let folder = folder(
        "",
        "cluster: both\npolicy:\n- for: ConfigMap\n  set: {data: {v: '${a.text}', w: '${a.whole}'}}\n",
    );
    declare_many(&folder);
    folder.write("one.yaml", "a: {text: one, whole: 1}\n");
    folder.write("two.yaml", "a.text: two\n");
    let data = |more: &[&str]| render(&folder, more)[2]["data"].to_string();
    assert_eq!(data(&[]), r#"{"v":"hello","w":5}"#);
    assert_eq!(data(&["--params", "one.yaml"]), r#"{"v":"one","w":1}"#);
    assert_eq!(data(&["--params", "one.yaml", "--params", "two.yaml"]), r#"{"v":"two","w":1}"#);
    assert_eq!(
        data(&["--params", "one.yaml", "--set", "a.text=yes", "--set", "a.whole=7"]),
        r#"{"v":"yes","w":7}"#
    );
}

#[test]
fn a_value_that_is_not_what_was_declared() {
    let declared = "  region: {type: string, description: d, pattern: '[a-z]+-[0-9]', default: eu-1}\n  \
                    kind: {type: string, description: d, enum: [AWS, Azure], default: AWS}\n  \
                    port: {type: port, description: d, default: 443}\n  \
                    token: {type: string, description: d, secret: true, enum: [a], default: a}\n  \
                    needed: {type: name, description: d}\n";
    let folder = folder("", "cluster: both\n");
    folder.write("profiles/parameters.yaml", parameters(declared));
    folder
        .write("p.yaml", "region: EU\nkind: GCP\nport: 70000\ntoken: CANARY\nneded: x\nneeded: Not_A_Name\n");
    let shown = refused(&folder, &["--params", "p.yaml"]);
    for message in [
        "error: p.yaml:1:9: `region` cannot be `EU`\n  help: it must match [a-z]+-[0-9]",
        "error: p.yaml:2:7: `kind` cannot be `GCP`\n  help: it is one of \"AWS\", \"Azure\"",
        "error: p.yaml:3:7: `port` cannot be a number: it is a port, from 1 to 65535",
        "error: p.yaml:4:8: `token` cannot be text",
        "error: p.yaml:5:1: there is no parameter `neded`\n  help: did you mean `needed`?",
        "error: p.yaml:6:9: `needed` cannot be `Not_A_Name`: it is a name of lower-case letters",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
    assert!(!shown.contains("CANARY"), "{shown}");
    let shown = refused(&folder, &[]);
    assert_eq!(
        shown,
        "error: profiles/parameters.yaml:9:3: the parameter `needed` has no value\n  \
         help: give it one with --set needed=…, or in a file with --params\n"
    );
}

#[test]
fn names_that_stand_for_nothing() {
    for (text, message) in [
        (
            "${a.tex}",
            "profiles/test.yaml:9:19: `${a.tex}` stands for nothing\n  help: did you mean `${a.text}`?",
        ),
        ("x ${a.list}", "profiles/test.yaml:9:19: `${a.list}` is a list, and cannot be part of a text"),
        ("x ${a.none}", "profiles/test.yaml:9:19: `${a.none}` is absent, and the text around it is not"),
        ("${a b}", "profiles/test.yaml:9:19: `${` must hold a name and end with `}`\n  help: write `$${`"),
        ("${a.text", "profiles/test.yaml:9:19: `${` must hold a name and end with `}`"),
    ] {
        let folder = folder(
            "",
            &format!("cluster: both\npolicy:\n- {{for: ConfigMap,\n  set: {{data: {{\n  v: '{text}'}}}}}}\n")
                .replace("  v: ", "             key: "),
        );
        declare_many(&folder);
        let shown = refused(&folder, &[]);
        assert!(shown.contains(message), "{text}: {shown}");
    }
}

/// Text that would change the structure around it, were it put in before parsing.
#[test]
fn a_value_never_changes_the_structure_around_it() {
    let folder = folder(
        "",
        "cluster: both\npolicy:\n- {for: ConfigMap, set: {data: {v: '${a.text}', w: 'x${a.text}z'}}}\n",
    );
    declare_many(&folder);
    for text in [
        "a: b",
        "- x",
        "\"",
        "'",
        "line\nkey: value",
        "---\nkind: X",
        "${a.text}",
        "{{ x }}",
        "{\"a\": 1}",
        "yes",
        "#",
    ] {
        folder.write("p.json", serde_json::json!({"a": {"text": text}}).to_string());
        let rendered = render(&folder, &["--params", "p.json"]);
        assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
        assert_eq!(rendered[2]["data"], serde_json::json!({"v": text, "w": format!("x{text}z")}));
    }
}

// --- pages

const PLACE: &str = "place:\n  management: [Deployment, Service]\n  both: [ConfigMap]\n";

#[test]
fn every_object_is_where_its_page_says() {
    let folder = folder(PLACE, "cluster: management\n");
    folder.write(
        "payload/op/4.yaml",
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "r", "").replace("  namespace: ns\n", ""),
    );
    assert_eq!(names(&render(&folder, &[])), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
    folder.write("profiles/test.yaml", profile("test", "cluster: guest\n"));
    assert_eq!(names(&render(&folder, &[])), ["ConfigMap/cm", "ClusterRole/r"]);
    folder.write("profiles/test.yaml", profile("test", "cluster: both\n"));
    assert_eq!(render(&folder, &[]).len(), 4);
}

#[test]
fn a_name_beats_a_kind() {
    let body = "place:\n  management: [Deployment, Service, ConfigMap]\n  guest: [Service/s]\n";
    assert_eq!(names(&render(&folder(body, "cluster: guest\n"), &[])), ["Service/s"]);
}

#[test]
fn placement_is_exhaustive_both_ways() {
    let shown = refused(&folder("place: {management: [Deployment]}\n", "cluster: management\n"), &[]);
    assert!(
        shown.contains(
            "error: payload/op/2.yaml:1:1: nobody says in which cluster this object lives\n  object: Service/s in ns\n  \
             help: name `Service/s` or its kind under `place` in op/component.yaml"
        ),
        "{shown}"
    );
    let shown = refused(
        &folder(
            "place: {management: [Deployment, Service, Deploymnt/a], guest: [Service], both: [ConfigMap]}\n",
            "cluster: management\n",
        ),
        &[],
    );
    for message in [
        "payload/op/component.yaml:4:43: there is no manifest for `Deploymnt/a`\n  help: did you mean `Deployment/a`?",
        "payload/op/component.yaml:4:65: two entries of `place` decide about one object\n  object: Service/s in ns\n  \
         note: the other is at payload/op/component.yaml:4:34",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_cluster_scoped_object_is_never_in_a_namespace() {
    let folder = folder(
        "place: {management: [Deployment, Service, ConfigMap, ClusterRole]}\n",
        "cluster: management\n",
    );
    folder.write("payload/op/4.yaml", object("rbac.authorization.k8s.io/v1", "ClusterRole", "r", ""));
    let shown = refused(&folder, &[]);
    assert!(
        shown.contains(
            "component.yaml:4:54: a cluster-scoped object cannot be in a hosted control plane's namespace"
        ),
        "{shown}"
    );
}

#[test]
fn omissions_carry_their_reason_to_the_list() {
    let body = "omit:\n  Service: nobody calls it\n  ConfigMap/cm: {reason: only elsewhere, in: [other]}\nignore: {'1.yaml': made by hand}\n";
    let folder = folder(body, "cluster: both\n");
    folder.write("profiles/other.yaml", profile("other", "cluster: both\n"));
    assert_eq!(names(&render(&folder, &[])), ["ConfigMap/cm"]);
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&folder.run(&["list", "--profile", "test", "-o", "json"]).stdout).unwrap();
    let reasons: Vec<_> = rows.iter().map(|row| row["reason"].clone()).collect();
    assert_eq!(reasons[0], serde_json::json!({"code": "omitted", "message": "made by hand"}));
    assert_eq!(reasons[1], serde_json::json!({"code": "omitted", "message": "nobody calls it"}));
    assert!(reasons[2].is_null());
}

#[test]
fn an_omission_of_nothing_is_an_error() {
    let shown = refused(
        &folder("omit: {Servic: x}\nignore: {'*.yml': x}\n", "cluster: both\nomit: {Route: why}\n"),
        &[],
    );
    for message in [
        "op/component.yaml:4:8: there is no manifest for `Servic`\n  help: did you mean `Service`?",
        "op/component.yaml:5:10: no file of the component matches `*.yml`",
        "profiles/test.yaml:6:8: there is no manifest for `Route`",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_component_exists_when_its_conditions_hold() {
    let folder =
        folder("when: {a.text: [hello, other], a.none: absent, a.whole: present}\n", "cluster: both\n");
    declare_many(&folder);
    folder.write("payload/b/1.yaml", object("v1", "ConfigMap", "b", ""));
    assert_eq!(render(&folder, &[]).len(), 4);
    assert_eq!(names(&render(&folder, &["--set", "a.text=no"])), ["ConfigMap/b"]);
    let list = folder.run(&["list", "--profile", "test", "--set", "a.text=no"]);
    assert!(list.stdout.contains("omitted: the component does not exist: a.text is no"), "{}", list.stdout);
    folder.write("payload/op/component.yaml", page("when: {a.txt: x}\n"));
    let shown = refused(&folder, &[]);
    assert!(shown.contains("component.yaml:4:8: `a.txt` stands for nothing\n"), "{shown}");
}

#[test]
fn annotations_of_the_page_select_manifests_that_lack_them() {
    let folder = folder(
        "annotations: {include.release.openshift.io/x: 'true'}\n",
        "cluster: both\nselect: {clusterProfile: x}\n",
    );
    folder.write("payload/op/4.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: bare}\n");
    folder.write(
        "payload/op/5.yaml",
        object("v1", "Secret", "not", "").replace("{p: x}", "{include.release.openshift.io/x: 'false'}"),
    );
    let rendered = render(&folder, &[]);
    assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm", "Secret/bare"]);
    assert_eq!(
        rendered[0]["metadata"]["annotations"],
        serde_json::json!({"p": "x"}),
        "they are no part of the object"
    );
    assert!(rendered[3]["metadata"]["annotations"].is_null());
}

#[test]
fn mistakes_in_a_page_are_all_reported() {
    let shown = refused(
        &folder(
            "onwer: x\nplace: {managment: [a], guest: [deployment]}\npatches: [{reason: r, position: middle}]\n",
            "cluster: both\n",
        ),
        &[],
    );
    for message in [
        "component.yaml:4:1: a component's page has no field `onwer`\n  help: did you mean `owner`?",
        "component.yaml:5:9: place has no field `managment`\n  help: did you mean `management`?",
        "component.yaml:5:33: `deployment` names no object\n  help: write `Kind`, `Kind/name` or `Kind.group/name`",
        "component.yaml:6:33: `position` cannot be `middle`\n  help: it is one of last, first",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

// --- profiles

#[test]
fn a_profile_takes_over_what_it_extends() {
    let folder = folder("", "extends: base\ncluster: both\nstrip: ['q/*']\nomit: {Service: mine}\n");
    folder.write(
        "profiles/base.yaml",
        profile(
            "base",
            "abstract: true\ncluster: guest\nstrip: [p]\nomit: {Service: theirs, ConfigMap: theirs}\n",
        ),
    );
    folder.write(
        "payload/op/1.yaml",
        object("apps/v1", "Deployment", "a", DEPLOYMENT).replace("{p: x}", "{p: x, q/r: s, keep: it}"),
    );
    let rendered = render(&folder, &[]);
    assert_eq!(names(&rendered), ["Deployment/a"]);
    assert_eq!(rendered[0]["metadata"]["annotations"], serde_json::json!({"keep": "it"}));
    let list = folder.run(&["list", "--profile", "test"]).stdout;
    assert!(list.contains("omitted: mine") && list.contains("omitted: theirs"), "{list}");
    assert_eq!(folder.run(&["render", "--profile", "base"]).code, 2, "an abstract profile is not rendered");
}

#[test]
fn a_profile_that_extends_nothing_or_itself() {
    let shown = refused(&folder("", "extends: bsae\ncluster: both\n"), &[]);
    assert!(
        shown.starts_with("error: profiles/test.yaml:5:10: there is no profile `bsae` to extend"),
        "{shown}"
    );
    let shown = refused(&folder("", "extends: test\ncluster: both\n"), &[]);
    assert!(shown.starts_with("error: profiles/test.yaml:5:10: `test` extends itself"), "{shown}");
}

#[test]
fn what_holds_for_every_pod_container_workload_and_kind() {
    let body = "cluster: both\npolicy:\n\
        - for: pod\n  set:\n    metadata: {labels: {hcp: x}}\n    spec: {hostNetwork: null, tolerations: [{key: new}], nodeSelector: '${a.none}'}\n\
        - {for: pod, default: {metadata: {labels: {app: other, more: m}}}}\n\
        - {for: container, default: {terminationMessagePolicy: FallbackToLogsOnError}}\n\
        - {for: workload, set: {metadata: {labels: {managed-by: '${component.owner}'}}}}\n\
        - {for: ConfigMap, add: {data: {k: v}}}\n";
    let folder = folder("owner: me\n", body);
    declare_many(&folder);
    let rendered = render(&folder, &[]);
    assert_eq!(
        rendered[0]["spec"]["template"].to_string(),
        r#"{"metadata":{"labels":{"app":"a","hcp":"x","more":"m"}},"spec":{"containers":[{"args":["run"],"name":"c","terminationMessagePolicy":"FallbackToLogsOnError"}],"initContainers":[{"name":"i","terminationMessagePolicy":"FallbackToLogsOnError"}],"tolerations":[{"key":"new"}]}}"#
    );
    assert_eq!(rendered[0]["metadata"]["labels"], serde_json::json!({"managed-by": "me"}));
    assert!(rendered[1]["metadata"]["labels"].is_null(), "a Service is no workload");
    assert_eq!(rendered[2]["data"], serde_json::json!({"k": "v"}));
}

#[test]
fn the_order_of_entries_does_not_matter() {
    let entries = [
        "- {for: pod, set: {spec: {priorityClassName: p}}}\n",
        "- {for: pod, default: {spec: {priorityClassName: q, dnsPolicy: Default}}}\n",
        "- {for: container, set: {tty: true}}\n",
        "- {for: workload, set: {metadata: {labels: {a: b}}}}\n",
    ];
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]];
    let rendered: Vec<_> = orders
        .iter()
        .map(|order| {
            let every: String = order.iter().map(|index| entries[*index]).collect();
            render(&folder("", &format!("cluster: both\npolicy:\n{every}")), &[])
        })
        .collect();
    assert!(rendered.iter().all(|other| *other == rendered[0]));
    assert_eq!(rendered[0][0]["spec"]["template"]["spec"]["priorityClassName"], "p");
}

#[test]
fn entries_that_disagree_are_an_error_that_names_both() {
    let body = "cluster: both\npolicy:\n- {for: pod, set: {spec: {priorityClassName: p}}}\n- {for: pod, set: {spec: {priorityClassName: q}}}\n";
    let shown = refused(&folder("", body), &[]);
    assert_eq!(
        shown,
        "error: profiles/test.yaml:8:46: two policy rules set `/spec/template/spec/priorityClassName` differently\n  \
         object: Deployment.apps/a in ns\n  note: the other rule is at profiles/test.yaml:7:46\n  \
         help: limit one of them with `when`, or remove one\n"
    );
    let shown = refused(
        &folder("", "cluster: both\npolicy:\n- {for: pod, add: {spec: {hostNetwork: false}}}\n"),
        &[],
    );
    assert!(
        shown.starts_with("error: profiles/test.yaml:7:40: this field already has a different value\n  object: Deployment.apps/a in ns\n  note: the other value is at payload/op/1.yaml:11:20"),
        "{shown}"
    );
}

#[test]
fn the_namespace_may_be_a_parameter() {
    let folder = folder("", "cluster: both\nnamespace: ${ns}\n");
    declare_many(&folder);
    assert!(render(&folder, &[]).iter().all(|document| document["metadata"]["namespace"] == "target"));
}

// --- patches

#[test]
fn patches_of_a_page_in_kustomizes_manner() {
    let body = "patches:\n\
        - reason: by name in the patch\n  patch: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: i}, {name: d}]}}}}\n\
        - reason: operations as text\n  target: {kind: Deployment}\n  patch: |-\n    - op: set-flag\n      path: /spec/template/spec/containers/[name=c]/args\n      value: --v=4\n\
        - reason: from a file, in this profile\n  in: [test]\n  path: remove.yaml\n  target: {group: apps, name: 'a|b', annotationSelector: p=x}\n\
        - reason: not here\n  in: [user]\n  path: remove.yaml\n\
        - reason: not now\n  when: {a.text: other}\n  path: remove.yaml\n\
        - reason: before the others\n  position: first\n  target: {labelSelector: '!nothing', kind: Deployment}\n  patch: {spec: {template: {spec: {containers: [{name: z}]}}}}\n";
    let folder = folder(body, "cluster: both\n");
    declare_many(&folder);
    folder.write("patches/op/remove.yaml", "spec:\n  template:\n    spec:\n      initContainers: [{name: i, $patch: delete}]\n      hostNetwork: null\n");
    assert_eq!(
        render(&folder, &[])[0]["spec"]["template"]["spec"].to_string(),
        r#"{"containers":[{"name":"z"},{"args":["run","--v=4"],"image":"i","name":"c"},{"name":"d"}],"initContainers":[],"tolerations":[{"key":"old"}]}"#
    );
}

#[test]
fn targets_mean_objects_as_they_were_loaded() {
    let body = "patches:\n- {reason: renames, target: {kind: Service}, patch: [{op: replace, path: /metadata/name, value: new}]}\n\
                - {reason: still meant, target: {kind: Service, name: s}, patch: {spec: {type: ClusterIP}}}\n";
    let rendered = render(&folder(body, "cluster: both\n"), &[]);
    assert_eq!(
        (&rendered[1]["metadata"]["name"], &rendered[1]["spec"]["type"]),
        (&"new".into(), &"ClusterIP".into())
    );
}

#[test]
fn a_patch_that_does_nothing_is_an_error() {
    for (entry, message) in [
        (
            "{reason: r, target: {kind: Deployment, name: aa}, patch: {a: b}}",
            "component.yaml:5:3: the patch matches no object of `op`\n  help: did you mean `Deployment/a`?",
        ),
        (
            "{reason: r, target: {kind: Deployment}, patch: {kind: Deployment}}",
            "component.yaml:5:3: the patch changes nothing\n  note: the object already has these values",
        ),
        (
            "{reason: r, patch: {a: b}}",
            "component.yaml:5:22: the patch does not say which object it is for\n",
        ),
        ("{reason: r, target: {kind: X}}", "component.yaml:5:3: a patch without a body"),
        (
            "{reason: r, target: {kind: X}, path: none.yaml}",
            "component.yaml:5:40: there is no patch file `none.yaml`\n  help: it must be beside the page, or in patches/op/",
        ),
        ("{target: {kind: X}, patch: {}}", "component.yaml:5:3: a patch needs the field `reason`"),
        (
            "{reason: r, target: {kind: '('}, patch: {a: b}}",
            "component.yaml:5:30: this is not a regular expression",
        ),
        (
            "{reason: because, target: {kind: Deployment}, patch: [{op: remove, path: /spec/replicas}]}",
            "the object does not have the key `replicas`, which the path `/spec/replicas` names\n  object: Deployment.apps/a in ns\n  note: applied by payload/op/component.yaml:5:3, because because",
        ),
    ] {
        let shown = refused(&folder(&format!("patches:\n- {entry}\n"), "cluster: both\n"), &[]);
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
    let optional = "patches:\n- {reason: r, optional: true, target: {kind: X}, patch: {a: b}}\n";
    assert_eq!(render(&folder(optional, "cluster: both\n"), &[]).len(), 3);
}

#[test]
fn the_schema_describes_every_field() {
    let folder = Folder::new();
    let schema: serde_json::Value = serde_json::from_str(&folder.run(&["schema"]).stdout).unwrap();
    let kinds: Vec<_> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["properties"]["kind"]["const"].clone())
        .collect();
    assert_eq!(kinds, ["Checks", "Component", "Fragment", "Parameters", "Profile"]);
    let page = &schema["oneOf"][1];
    assert_eq!(page["additionalProperties"], false);
    assert_eq!(page["required"], serde_json::json!(["apiVersion", "kind", "metadata"]));
    assert_eq!(
        page["properties"]["owner"]["description"],
        "Who reports for it; without it, the component itself."
    );
    assert_eq!(
        page["properties"]["patches"]["items"]["properties"]["position"]["enum"],
        serde_json::json!(["last", "first"])
    );
}

#[test]
fn an_empty_list_in_a_strategic_patch_is_refused() {
    let body = "patches:\n- reason: meant something else\n  target: {kind: Deployment}\n  patch:\n    spec:\n      template:\n        spec:\n          containers:\n";
    let shown = refused(&folder(body, "cluster: both\n"), &[]);
    assert!(
        shown.contains(
            "payload/op/component.yaml:11:11: `containers:` without a value removes the whole list"
        ),
        "{shown}"
    );
    let body = "patches:\n- reason: no taints there\n  target: {kind: Deployment}\n  patch: {spec: {template: {spec: {tolerations: null}}}}\n";
    let rendered = render(&folder(body, "cluster: both\n"), &[]);
    assert!(rendered[0]["spec"]["template"]["spec"].get("tolerations").is_none(), "a list without a key");
}

/// A manifest may say by the cluster-version-operator's own annotation in which cluster it lives.
#[test]
fn an_include_annotation_places_an_object() {
    let folder = Folder::new();
    let object = |name: &str, include: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, annotations: {{{include}}}}}\n"
        )
    };
    let include = |name: &str| format!("include.release.openshift.io/{name}: 'true'");
    folder.write("payload/op/1.yaml", object("m", &include("mc")));
    folder.write("payload/op/2.yaml", object("g", &include("guest")));
    folder.write("payload/op/3.yaml", object("b", &format!("{}, {}", include("mc"), include("guest"))));
    folder.write("payload/op/4.yaml", object("none", &include("other")));
    for (name, cluster) in [("mc", "management"), ("guest", "guest")] {
        let body = format!("cluster: {cluster}\nselect: {{clusterProfile: hosted}}\n");
        folder.write(&format!("profiles/{name}.yaml"), profile(name, &body));
    }
    let rendered = |profile: &str| names(&folder.run(&["render", "--profile", profile, "-o", "json"]).json());
    assert_eq!(rendered("mc"), ["ConfigMap/m", "ConfigMap/b"]);
    assert_eq!(rendered("guest"), ["ConfigMap/g", "ConfigMap/b"]);
    let list = folder.run(&["list", "--profile", "mc"]).stdout;
    assert!(
        list.contains("omitted: it lives in the guest cluster") && list.contains("cluster-profile: "),
        "{list}"
    );
    folder.write("payload/op/component.yaml", page("place: {guest: [ConfigMap/m]}\n"));
    let run = folder.run(&["render", "--profile", "mc"]);
    assert!(
        run.stderr.contains(
            "component.yaml:4:17: an annotation of the manifest already says where this object lives"
        ),
        "{}",
        run.stderr
    );
}

#[test]
fn the_schema_of_uses_is_what_the_fragments_say() {
    let folder = folder("", "cluster: both\n");
    let inputs = "inputs: {workload: workload, port: port, kind: {type: string, enum: [a, b], optional: true}}\nadds: [{nothing: x}]\n";
    let fragment =
        format!("{HEADER}kind: Fragment\nmetadata: {{name: word}}\ndescription: what it says\n{inputs}");
    folder.write("profiles/fragments/word.yaml", fragment);
    let schema: serde_json::Value = serde_json::from_str(&folder.run(&["schema"]).stdout).unwrap();
    assert_eq!(schema["oneOf"][1]["properties"]["uses"]["items"], serde_json::json!({"$ref": "#/$defs/use"}));
    let word = &schema["$defs"]["use"]["oneOf"][0]["properties"]["word"];
    assert_eq!(word["description"], "what it says");
    assert_eq!(word["required"], serde_json::json!(["port"]));
    assert_eq!(word["properties"]["port"]["anyOf"][0]["maximum"], 65535);
    assert_eq!(word["properties"]["kind"]["anyOf"][0], serde_json::json!({"enum": ["a", "b"]}));
}

#[test]
fn the_list_shows_what_a_profile_adds() {
    let body =
        "adds: [{objects: [{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: new, namespace: ns}}]}]\n";
    let run = folder(body, "cluster: both\n").run(&["list", "--profile", "test", "-o", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        rows[3].to_string(),
        r#"{"by":"payload/op/component.yaml:4:19","cluster":"both","document":0,"file":"","group":"apps","included":true,"kind":"DaemonSet","name":"new","namespace":"ns","reason":null,"version":"v1"}"#
    );
}

/// What would silently do nothing, or something else than it says.
#[test]
fn misuse_that_looks_harmless() {
    let both = "cluster: both\n";
    for (page_body, profile_body, message) in [
        (
            "metadata: {name: op}\nowner: a\nowner: b\n",
            both,
            "component.yaml:6:1: the key `owner` is written twice",
        ),
        ("files: ['*']\n", both, "component.yaml:4:9: a page in the payload is about its folder"),
        ("adds: [{}]\n", both, "component.yaml:4:8: a part that says nothing"),
        (
            "adds: [{nothing: x, workload: {}}]\n",
            both,
            "component.yaml:4:8: a part that says both something and `nothing`",
        ),
        (
            "parameters: {p.x: {type: string, description: d, default: a, read: {object: Infrastructure, path: nopath}}}\nwhen: {p.x: a}\n",
            both,
            "`nopath` is no path",
        ),
        (
            "patches: [{reason: x, target: {kind: Deployment}, patch: ''}]\n",
            both,
            "component.yaml:4:11: the patch is empty",
        ),
        (
            "patches: [{reason: x, position: first, target: {kind: Deployment}, patch: [{op: remove, path: /spec}]}]\n",
            both,
            "`position` has no effect on a JSON patch",
        ),
        (
            "adds: [{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}]\n",
            both,
            "the new object has no namespace",
        ),
        ("uses: [{w: {workload: Service/s}}]\n", both, "component.yaml:4:23: `Service/s` has no pods"),
        (
            "uses: [{w: {workload: Deployment/a, name: Not A Name}}]\n",
            both,
            "the input `name` cannot be `Not A Name`",
        ),
        (
            "",
            "cluster: both\npolicy: [{for: Deployment}]\n",
            "test.yaml:6:10: a policy entry says one thing, this one says 0",
        ),
        (
            "",
            "cluster: both\npolicy: [{for: Deploymnt, set: {}}]\n",
            "there is no kind `Deploymnt`\n  help: did you mean `Deployment`?",
        ),
        ("", "cluster: both\npolicy: [{for: Deployment.apps, set: {}}]\n", "`Deployment.apps` is no kind"),
        (
            "when: {platform: Azur}\n",
            both,
            "component.yaml:4:18: `platform` is never \"Azur\"\n  help: it is one of \"AWS\", \"Azure\"",
        ),
        (
            "",
            "cluster: both\npolicy:\n- {for: pod, set: {spec: {priorityClassName: a}}}\n- {for: workload, set: {spec: {template: {spec: {priorityClassName: b}}}}}\n",
            "two policy rules set `/spec/template/spec/priorityClassName` differently",
        ),
        (
            "",
            "cluster: both\npolicy:\n- {for: Service, set: {metadata: {labels: null}}}\n- {for: Service, set: {metadata: {labels: {a: b}}}}\n",
            "two policy rules set `/metadata/labels/a` differently",
        ),
    ] {
        let folder = folder(page_body.trim_start_matches("metadata: {name: op}\n"), profile_body);
        let fragment = "description: w\ninputs: {workload: workload, name: {type: name, default: x}}\nadds: [{workload: {metadata: {labels: {x: '${name}'}}}}]\n";
        folder.write(
            "profiles/fragments/w.yaml",
            format!("{HEADER}kind: Fragment\nmetadata: {{name: w}}\n{fragment}"),
        );
        folder.write(
            "profiles/p.yaml",
            parameters("  platform: {type: string, description: d, enum: [AWS, Azure], default: AWS}\n"),
        );
        folder.write("profiles/user.yaml", format!("{HEADER}kind: Profile\nmetadata: {{name: user}}\ntopology: u\ncluster: both\nnamespace: '${{platform}}'\n"));
        let shown = refused(&folder, &[]);
        let message = message.replace("component.yaml:6:1", "component.yaml:5:1");
        assert!(shown.contains(&message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_page_is_named_after_its_folder() {
    let folder = folder("", "cluster: both\n");
    folder
        .write("payload/op/component.yaml", format!("{HEADER}kind: Component\nmetadata: {{name: other}}\n"));
    assert!(refused(&folder, &[]).contains("the page of `other` lies in the folder `op`"));
}

#[test]
fn a_patch_beside_its_page_is_no_manifest() {
    let folder = folder("patches: [{reason: x, path: more.yaml}]\n", "cluster: both\n");
    folder.write(
        "payload/op/more.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}\n",
    );
    let rendered = render(&folder, &[]);
    assert_eq!((names(&rendered).len(), rendered[0]["spec"]["replicas"].as_i64()), (3, Some(3)));
}

#[test]
fn a_patch_that_renames_an_object_onto_another_is_seen() {
    let folder = folder(
        "patches: [{reason: x, target: {kind: ConfigMap, name: cm}, patch: [{op: replace, path: /metadata/name, value: other}]}]\n",
        "cluster: both\n",
    );
    folder.write("payload/op/4.yaml", object("v1", "ConfigMap", "other", ""));
    assert!(refused(&folder, &[]).contains("ConfigMap/other in ns"));
}

#[test]
fn an_absent_value_leaves_its_field_out_in_every_layer() {
    let every = "cluster: both\npolicy:\n- {for: Service, add: {metadata: {labels: {x: '${a.none}', kept: k}}}}\n- {for: ConfigMap, default: {metadata: {labels: {x: '${a.none}', kept: k}}}}\n";
    let folder = folder("", every);
    declare_many(&folder);
    let rendered = render(&folder, &[]);
    assert_eq!(rendered[1]["metadata"]["labels"].to_string(), r#"{"kept":"k"}"#);
    assert_eq!(rendered[2]["metadata"]["labels"].to_string(), r#"{"kept":"k"}"#);
}

#[test]
fn a_secret_parameter_is_explained_without_its_value() {
    let folder = folder("", "cluster: both\npolicy: [{for: ConfigMap, set: {data: {v: 'x-${token}-y'}}}]\n");
    folder.write("profiles/p.yaml", parameters("  token: {type: string, description: d, secret: true}\n"));
    let arguments =
        ["explain", "configmap/cm", "--profile", "test", "--path", "/data/v", "--set", "token=s3cret"];
    let run = folder.run(&arguments);
    assert!(
        run.stdout.contains("/data/v: <hidden>\n") && !run.stdout.contains("s3cret"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}
