//! The language: what each construct does, and the errors for its misuse.

use serde_json::{Value, json};

use crate::support::{TestProject, names};

fn object(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: ns\n  annotations: {{p: x}}\n{body}"
    )
}

const DEPLOYMENT: &str = r"spec:
  template:
    metadata: {labels: {app: a}}
    spec:
      hostNetwork: true
      tolerations: [{key: old}]
      initContainers: [{name: i}]
      containers: [{name: c, args: [run]}]
";

/// A Deployment, a Service and a ConfigMap of one component. Its page and the profile `test` have these bodies.
fn project_with(page: &str, profile: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "a", DEPLOYMENT))
        .manifest("op/2.yaml", &object("v1", "Service", "s", ""))
        .manifest("op/3.yaml", &object("v1", "ConfigMap", "cm", "data: {}\n"))
        .page("op", page)
        .profile("test", &format!("topology: t\n{profile}"))
}

// --- parameters and `${}`

const MANY: &str = r"  a.text: {type: string, description: d, default: hello}
  a.whole: {type: int, description: d, default: 5}
  a.flag: {type: bool, description: d, default: true}
  a.list: {type: list, description: d, default: [x, {k: v}]}
  a.none: {type: string, description: d, optional: true}
  ns: {type: name, description: d, default: target}
";

/// Declares these parameters, and uses each in a profile, because an unused parameter is an error.
fn declare_many(project: TestProject) -> TestProject {
    let uses = "cluster: both\npolicy:\n- for: Lease\n  set: ['${a.text}', '${a.whole}', '${a.flag}', '${a.list}', '${a.none}', '${ns}']\n";
    project.parameters(&format!("parameters:\n{MANY}")).profile("user", &format!("topology: user\n{uses}"))
}

#[test]
fn values_keep_their_type_and_lists_are_spliced() {
    let project = project_with(
        "place: {}\n",
        "cluster: both\npolicy:\n- for: ConfigMap\n  set:\n    data:\n      text: ${a.text}\n      whole: ${a.whole}\n      \
         flag: ${a.flag}\n      list: [first, '${a.list}', last]\n      gone: ${a.none}\n      mixed: \"<${a.text}-${a.whole}-${a.flag}>\"\n      \
         escaped: $${a.text} $(X) $Y\n      name: ${component.name}/${workload.kind}/${workload.name}\n",
    );
    let project = declare_many(project).page("op", "");
    let data = &project.render("test")[2]["data"];
    assert_eq!(
        data.to_string(),
        r#"{"escaped":"${a.text} $(X) $Y","flag":true,"list":["first","x",{"k":"v"},"last"],"mixed":"<hello-5-true>","name":"op/ConfigMap/cm","text":"hello","whole":5}"#
    );
}

#[test]
fn values_come_from_files_and_settings_and_the_last_wins() {
    let project = project_with(
        "",
        "cluster: both\npolicy:\n- for: ConfigMap\n  set: {data: {v: '${a.text}', w: '${a.whole}'}}\n",
    );
    let project = declare_many(project);
    project.write("one.yaml", "a: {text: one, whole: 1}\n");
    project.write("two.yaml", "a.text: two\n");
    let data = |more: &[&str]| project.render_with("test", more)[2]["data"].to_string();
    assert_eq!(data(&[]), r#"{"v":"hello","w":5}"#);
    assert_eq!(data(&["--params", "one.yaml"]), r#"{"v":"one","w":1}"#);
    assert_eq!(data(&["--params", "one.yaml", "--params", "two.yaml"]), r#"{"v":"two","w":1}"#);
    assert_eq!(
        data(&["--params", "one.yaml", "--set", "a.text=yes", "--set", "a.whole=7"]),
        r#"{"v":"yes","w":7}"#
    );
}

#[test]
fn a_value_must_match_its_declaration() {
    let declared = "  region: {type: string, description: d, pattern: '[a-z]+-[0-9]', default: eu-1}\n  \
                    kind: {type: string, description: d, enum: [AWS, Azure], default: AWS}\n  \
                    port: {type: port, description: d, default: 443}\n  \
                    token: {type: string, description: d, secret: true, enum: [a], default: a}\n  \
                    needed: {type: name, description: d}\n";
    let project = project_with("", "cluster: both\n").parameters(&format!("parameters:\n{declared}"));
    project
        .write("p.yaml", "region: EU\nkind: GCP\nport: 70000\ntoken: CANARY\nneded: x\nneeded: Not_A_Name\n");
    let shown = project.render_error_with("test", &["--params", "p.yaml"]);
    for message in [
        "error: p.yaml:1:9: the parameter `region` must be text that matches `[a-z]+-[0-9]`, not `EU`",
        "error: p.yaml:2:7: the parameter `kind` must be one of \"AWS\", \"Azure\", not `GCP`",
        "error: p.yaml:3:7: the parameter `port` must be a port number from 1 to 65535, not the number 70000",
        "error: p.yaml:4:8: the parameter `token` must be one of \"a\"",
        "error: p.yaml:5:1: there is no parameter `neded`\n  help: did you mean `needed`?",
        "error: p.yaml:6:9: the parameter `needed` must be a name of lower-case letters, digits, `-` and `.`, not `Not_A_Name`",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
    assert!(!shown.contains("CANARY"), "{shown}");
    let shown = project.render_error("test");
    assert_eq!(
        shown,
        "error: profiles/parameters.yaml:9:3: the parameter `needed` has no value\n  \
         help: set it with --set needed=…, or in a file with --params\n"
    );
}

#[test]
fn names_that_are_not_defined_are_errors() {
    for (text, message) in [
        ("${a.tex}", "profiles/test.yaml:9:19: `${a.tex}` is not defined\n  help: did you mean `${a.text}`?"),
        ("x ${a.list}", "profiles/test.yaml:9:19: `${a.list}` is a list and cannot be part of a text"),
        ("x ${a.none}", "profiles/test.yaml:9:19: `${a.none}` has no value and is part of a text"),
        ("${a b}", "profiles/test.yaml:9:19: `${` must contain a name and end with `}`\n  help: write `$${`"),
        ("${a.text", "profiles/test.yaml:9:19: `${` must contain a name and end with `}`"),
    ] {
        let project = project_with(
            "",
            &format!("cluster: both\npolicy:\n- {{for: ConfigMap,\n  set: {{data: {{\n  v: '{text}'}}}}}}\n")
                .replace("  v: ", "             key: "),
        );
        let project = declare_many(project);
        let shown = project.render_error("test");
        assert!(shown.contains(message), "{text}: {shown}");
    }
}

/// Text that would change the structure around it, were it put in before parsing.
#[test]
fn a_value_never_changes_the_structure_around_it() {
    let project = project_with(
        "",
        "cluster: both\npolicy:\n- {for: ConfigMap, set: {data: {v: '${a.text}', w: 'x${a.text}z'}}}\n",
    );
    let project = declare_many(project);
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
        project.write("p.json", json!({"a": {"text": text}}).to_string());
        let rendered = project.render_with("test", &["--params", "p.json"]);
        assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
        assert_eq!(rendered[2]["data"], json!({"v": text, "w": format!("x{text}z")}));
    }
}

// --- pages

const PLACE: &str = r"place:
  management: [Deployment, Service]
  both: [ConfigMap]
";

#[test]
fn an_object_lives_in_the_cluster_that_its_page_names() {
    let project = project_with(PLACE, "cluster: management\n").manifest(
        "op/4.yaml",
        &object("rbac.authorization.k8s.io/v1", "ClusterRole", "r", "").replace("  namespace: ns\n", ""),
    );
    assert_eq!(names(&project.render("test")), ["Deployment/a", "Service/s", "ConfigMap/cm"]);
    let project = project.profile("test", "topology: t\ncluster: guest\n");
    assert_eq!(names(&project.render("test")), ["ConfigMap/cm", "ClusterRole/r"]);
    let project = project.profile("test", "topology: t\ncluster: both\n");
    assert_eq!(project.render("test").len(), 4);
}

#[test]
fn an_entry_with_a_name_takes_precedence_over_one_with_a_kind() {
    let body = "place:\n  management: [Deployment, Service, ConfigMap]\n  guest: [Service/s]\n";
    assert_eq!(names(&project_with(body, "cluster: guest\n").render("test")), ["Service/s"]);
}

#[test]
fn every_object_needs_one_place_and_every_entry_an_object() {
    let shown =
        project_with("place: {management: [Deployment]}\n", "cluster: management\n").render_error("test");
    assert!(
        shown.contains(
            "error: payload/op/2.yaml:1:1: the page does not say which cluster `Service/s` belongs to\n  object: Service/s in ns\n  \
             help: add it or its kind under `place` in op/component.yaml"
        ),
        "{shown}"
    );
    let shown = project_with(
        "place: {management: [Deployment, Service, Deploymnt/a], guest: [Service], both: [ConfigMap]}\n",
        "cluster: management\n",
    )
    .render_error("test");
    for message in [
        "payload/op/component.yaml:4:43: no manifest matches `Deploymnt/a`\n  help: did you mean `Deployment/a`?",
        "payload/op/component.yaml:4:65: two entries of `place` match one object\n  object: Service/s in ns\n  \
         note: the other is at payload/op/component.yaml:4:34",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_cluster_scoped_object_cannot_live_in_the_management_cluster() {
    let project = project_with(
        "place: {management: [Deployment, Service, ConfigMap, ClusterRole]}\n",
        "cluster: management\n",
    )
    .manifest("op/4.yaml", &object("rbac.authorization.k8s.io/v1", "ClusterRole", "r", ""));
    let shown = project.render_error("test");
    assert!(
        shown.contains("component.yaml:4:54: a cluster-scoped object cannot live in the management cluster"),
        "{shown}"
    );
}

#[test]
fn the_list_shows_the_reasons_of_omissions() {
    let body = "omit:\n  Service: nobody calls it\n  ConfigMap/cm: {reason: only elsewhere, in: [other]}\nignore: {'1.yaml': made by hand}\n";
    let project = project_with(body, "cluster: both\n").profile("other", "topology: t\ncluster: both\n");
    assert_eq!(names(&project.render("test")), ["ConfigMap/cm"]);
    let rows: Vec<Value> =
        serde_json::from_str(&project.run(&["list", "--profile", "test", "-o", "json"]).stdout).unwrap();
    let reasons: Vec<_> = rows.iter().map(|row| row["reason"].clone()).collect();
    assert_eq!(reasons[0], json!({"code": "omitted", "message": "made by hand"}));
    assert_eq!(reasons[1], json!({"code": "omitted", "message": "nobody calls it"}));
    assert!(reasons[2].is_null());
}

#[test]
fn an_omission_that_matches_nothing_is_an_error() {
    let shown =
        project_with("omit: {Servic: x}\nignore: {'*.yml': x}\n", "cluster: both\nomit: {Route: why}\n")
            .render_error("test");
    for message in [
        "op/component.yaml:4:8: no manifest matches `Servic`\n  help: did you mean `Service`?",
        "op/component.yaml:5:10: no file of the component matches `*.yml`",
        "profiles/test.yaml:6:8: no manifest matches `Route`",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_component_exists_when_its_conditions_hold() {
    let project =
        project_with("when: {a.text: [hello, other], a.none: absent, a.whole: present}\n", "cluster: both\n");
    let project = declare_many(project).manifest("b/1.yaml", &object("v1", "ConfigMap", "b", ""));
    assert_eq!(project.render("test").len(), 4);
    assert_eq!(names(&project.render_with("test", &["--set", "a.text=no"])), ["ConfigMap/b"]);
    let list = project.run(&["list", "--profile", "test", "--set", "a.text=no"]);
    assert!(list.stdout.contains("omitted: the component does not exist: a.text is no"), "{}", list.stdout);
    let project = project.page("op", "when: {a.txt: x}\n");
    let shown = project.render_error("test");
    assert!(shown.contains("component.yaml:4:8: `a.txt` is not defined\n"), "{shown}");
}

#[test]
fn annotations_of_the_page_apply_to_manifests_that_lack_them() {
    let project = project_with(
        "annotations: {include.release.openshift.io/x: 'true'}\n",
        "cluster: both\nselect: {clusterProfile: x}\n",
    )
    .manifest("op/4.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: bare}\n")
    .manifest(
        "op/5.yaml",
        &object("v1", "Secret", "not", "").replace("{p: x}", "{include.release.openshift.io/x: 'false'}"),
    );
    let rendered = project.render("test");
    assert_eq!(names(&rendered), ["Deployment/a", "Service/s", "ConfigMap/cm", "Secret/bare"]);
    assert_eq!(rendered[0]["metadata"]["annotations"], json!({"p": "x"}), "they are no part of the object");
    assert!(rendered[3]["metadata"]["annotations"].is_null());
}

#[test]
fn mistakes_in_a_page_are_all_reported() {
    let shown = project_with(
        "onwer: x\nplace: {managment: [a], guest: [deployment]}\npatches: [{reason: r, position: middle}]\n",
        "cluster: both\n",
    )
    .render_error("test");
    for message in [
        "component.yaml:4:1: a page has no field `onwer`\n  help: did you mean `owner`?",
        "component.yaml:5:9: place has no field `managment`\n  help: did you mean `management`?",
        "component.yaml:5:33: `deployment` is not a selector: a kind starts with an upper-case letter and has only letters and digits\n  help: write `Kind`, `Kind/name` or `Kind.group/namespace/name`",
        "component.yaml:6:33: `position` cannot be `middle`\n  help: use one of last, first",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

// --- profiles

#[test]
fn a_profile_merges_with_the_one_that_it_extends() {
    let project = project_with("", "extends: base\ncluster: both\nstrip: ['q/*']\nomit: {Service: mine}\n")
        .profile(
            "base",
            r"
            topology: t
            abstract: true
            cluster: guest
            strip: [p]
            omit: {Service: theirs, ConfigMap: theirs}
            ",
        )
        .manifest(
            "op/1.yaml",
            &object("apps/v1", "Deployment", "a", DEPLOYMENT).replace("{p: x}", "{p: x, q/r: s, keep: it}"),
        );
    let rendered = project.render("test");
    assert_eq!(names(&rendered), ["Deployment/a"]);
    assert_eq!(rendered[0]["metadata"]["annotations"], json!({"keep": "it"}));
    let list = project.run(&["list", "--profile", "test"]).stdout;
    assert!(list.contains("omitted: mine") && list.contains("omitted: theirs"), "{list}");
    assert_eq!(project.run(&["render", "--profile", "base"]).code, 2, "an abstract profile is not rendered");
}

#[test]
fn a_profile_cannot_extend_itself_or_an_unknown_profile() {
    let shown = project_with("", "extends: bsae\ncluster: both\n").render_error("test");
    assert!(
        shown.starts_with("error: profiles/test.yaml:5:10: there is no profile `bsae` to extend"),
        "{shown}"
    );
    let shown = project_with("", "extends: test\ncluster: both\n").render_error("test");
    assert!(
        shown.starts_with("error: profiles/test.yaml:5:10: the profile `test` extends itself"),
        "{shown}"
    );
}

#[test]
fn a_policy_applies_to_pods_containers_workloads_and_kinds() {
    let body = "cluster: both\npolicy:\n\
        - for: pod\n  set:\n    metadata: {labels: {hcp: x}}\n    spec: {hostNetwork: null, tolerations: [{key: new}], nodeSelector: '${a.none}'}\n\
        - {for: pod, default: {metadata: {labels: {app: other, more: m}}}}\n\
        - {for: container, default: {terminationMessagePolicy: FallbackToLogsOnError}}\n\
        - {for: workload, set: {metadata: {labels: {managed-by: '${component.owner}'}}}}\n\
        - {for: ConfigMap, add: {data: {k: v}}}\n";
    let project = project_with("owner: me\n", body);
    let project = declare_many(project);
    let rendered = project.render("test");
    assert_eq!(
        rendered[0]["spec"]["template"].to_string(),
        r#"{"metadata":{"labels":{"app":"a","hcp":"x","more":"m"}},"spec":{"containers":[{"args":["run"],"name":"c","terminationMessagePolicy":"FallbackToLogsOnError"}],"initContainers":[{"name":"i","terminationMessagePolicy":"FallbackToLogsOnError"}],"tolerations":[{"key":"new"}]}}"#
    );
    assert_eq!(rendered[0]["metadata"]["labels"], json!({"managed-by": "me"}));
    assert!(rendered[1]["metadata"]["labels"].is_null(), "a Service is no workload");
    assert_eq!(rendered[2]["data"], json!({"k": "v"}));
}

#[test]
fn the_order_of_policy_entries_does_not_matter() {
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
            project_with("", &format!("cluster: both\npolicy:\n{every}")).render("test")
        })
        .collect();
    assert!(rendered.iter().all(|other| *other == rendered[0]));
    assert_eq!(rendered[0][0]["spec"]["template"]["spec"]["priorityClassName"], "p");
}

#[test]
fn policy_entries_that_disagree_are_an_error_that_names_both() {
    let body = "cluster: both\npolicy:\n- {for: pod, set: {spec: {priorityClassName: p}}}\n- {for: pod, set: {spec: {priorityClassName: q}}}\n";
    let shown = project_with("", body).render_error("test");
    assert_eq!(
        shown,
        "error: profiles/test.yaml:8:46: two policy rules set `/spec/template/spec/priorityClassName` differently\n  \
         object: Deployment.apps/a in ns\n  note: the other rule is at profiles/test.yaml:7:46\n  \
         help: limit one of them with `when`, or remove one\n"
    );
    let shown = project_with("", "cluster: both\npolicy:\n- {for: pod, add: {spec: {hostNetwork: false}}}\n")
        .render_error("test");
    assert!(
        shown.starts_with("error: profiles/test.yaml:7:40: this field already has a different value\n  object: Deployment.apps/a in ns\n  note: the other value is at payload/op/1.yaml:11:20"),
        "{shown}"
    );
}

#[test]
fn the_namespace_can_be_a_parameter() {
    let project = project_with("", "cluster: both\nnamespace: ${ns}\n");
    let project = declare_many(project);
    assert!(project.render("test").iter().all(|document| document["metadata"]["namespace"] == "target"));
}

// --- patches

#[test]
fn patches_of_a_page_work_as_in_kustomize() {
    let body = "patches:\n\
        - reason: by name in the patch\n  patch: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: i}, {name: d}]}}}}\n\
        - reason: operations as text\n  target: {kind: Deployment}\n  patch: |-\n    - op: set-flag\n      path: /spec/template/spec/containers/[name=c]/args\n      value: --v=4\n\
        - reason: from a file, in this profile\n  in: [test]\n  path: remove.yaml\n  target: {group: apps, name: 'a|b', annotationSelector: p=x}\n\
        - reason: not here\n  in: [user]\n  path: remove.yaml\n\
        - reason: not now\n  when: {a.text: other}\n  path: remove.yaml\n\
        - reason: before the others\n  position: first\n  target: {labelSelector: '!nothing', kind: Deployment}\n  patch: {spec: {template: {spec: {containers: [{name: z}]}}}}\n";
    let project = project_with(body, "cluster: both\n");
    let project = declare_many(project);
    project.write("patches/op/remove.yaml", "spec:\n  template:\n    spec:\n      initContainers: [{name: i, $patch: delete}]\n      hostNetwork: null\n");
    assert_eq!(
        project.render("test")[0]["spec"]["template"]["spec"].to_string(),
        r#"{"containers":[{"name":"z"},{"args":["run","--v=4"],"image":"i","name":"c"},{"name":"d"}],"initContainers":[],"tolerations":[{"key":"old"}]}"#
    );
}

#[test]
fn targets_select_objects_by_their_original_names() {
    let body = "patches:\n- {reason: renames, target: {kind: Service}, patch: [{op: replace, path: /metadata/name, value: new}]}\n\
                - {reason: still meant, target: {kind: Service, name: s}, patch: {spec: {type: ClusterIP}}}\n";
    let rendered = project_with(body, "cluster: both\n").render("test");
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
        (
            "{reason: r, patch: {a: b}}",
            "component.yaml:5:22: the patch does not say which object it is for\n",
        ),
        ("{reason: r, target: {kind: X}}", "component.yaml:5:3: the patch has neither `path` nor `patch`"),
        (
            "{reason: r, target: {kind: X}, path: none.yaml}",
            "component.yaml:5:40: there is no patch file `none.yaml`\n  help: create it beside the page, or in patches/op/",
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
        let shown = project_with(&format!("patches:\n- {entry}\n"), "cluster: both\n").render_error("test");
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
    let optional = "patches:\n- {reason: r, optional: true, target: {kind: X}, patch: {a: b}}\n";
    assert_eq!(project_with(optional, "cluster: both\n").render("test").len(), 3);
}

#[test]
fn the_schema_describes_every_field() {
    let project = TestProject::new();
    let schema: Value = serde_json::from_str(&project.run(&["schema"]).stdout).unwrap();
    let kinds: Vec<_> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["properties"]["kind"]["const"].clone())
        .collect();
    assert_eq!(kinds, ["Checks", "Component", "Fragment", "Parameters", "Profile"]);
    let page = &schema["oneOf"][1];
    assert_eq!(page["additionalProperties"], false);
    assert_eq!(page["required"], json!(["apiVersion", "kind", "metadata"]));
    assert_eq!(
        page["properties"]["owner"]["description"],
        "The `ClusterOperator` that reports for the component. The default is the name of the component."
    );
    assert_eq!(
        page["properties"]["patches"]["items"]["properties"]["position"]["enum"],
        json!(["last", "first"])
    );
}

#[test]
fn an_empty_list_in_a_strategic_patch_is_refused() {
    let body = "patches:\n- reason: meant something else\n  target: {kind: Deployment}\n  patch:\n    spec:\n      template:\n        spec:\n          containers:\n";
    let shown = project_with(body, "cluster: both\n").render_error("test");
    assert!(
        shown.contains(
            "payload/op/component.yaml:11:11: `containers:` without a value removes the whole list"
        ),
        "{shown}"
    );
    let body = "patches:\n- reason: no taints there\n  target: {kind: Deployment}\n  patch: {spec: {template: {spec: {tolerations: null}}}}\n";
    let rendered = project_with(body, "cluster: both\n").render("test");
    assert!(rendered[0]["spec"]["template"]["spec"].get("tolerations").is_none(), "a list without a key");
}

/// The annotation of the cluster-version-operator can also name one of our profiles.
#[test]
fn an_include_annotation_places_an_object() {
    let project = TestProject::new();
    let object = |name: &str, include: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, annotations: {{{include}}}}}\n"
        )
    };
    let include = |name: &str| format!("include.release.openshift.io/{name}: 'true'");
    let project = project
        .manifest("op/1.yaml", &object("m", &include("mc")))
        .manifest("op/2.yaml", &object("g", &include("guest")))
        .manifest("op/3.yaml", &object("b", &format!("{}, {}", include("mc"), include("guest"))))
        .manifest("op/4.yaml", &object("none", &include("other")));
    let profile =
        |cluster: &str| format!("topology: t\ncluster: {cluster}\nselect: {{clusterProfile: hosted}}\n");
    let project = project.profile("mc", &profile("management")).profile("guest", &profile("guest"));
    let rendered =
        |profile: &str| names(&project.run(&["render", "--profile", profile, "-o", "json"]).json());
    assert_eq!(rendered("mc"), ["ConfigMap/m", "ConfigMap/b"]);
    assert_eq!(rendered("guest"), ["ConfigMap/g", "ConfigMap/b"]);
    let list = project.run(&["list", "--profile", "mc"]).stdout;
    assert!(
        list.contains("omitted: it lives in the guest cluster") && list.contains("cluster-profile: "),
        "{list}"
    );
    let project = project.page("op", "place: {guest: [ConfigMap/m]}\n");
    let run = project.run(&["render", "--profile", "mc"]);
    assert!(
        run.stderr.contains(
            "component.yaml:4:17: the annotations of the manifest already say where the object lives"
        ),
        "{}",
        run.stderr
    );
}

#[test]
fn the_schema_of_uses_lists_the_fragments_and_their_inputs() {
    let project = project_with("", "cluster: both\n");
    let inputs = r"
        inputs: {workload: workload, port: port, kind: {type: string, enum: [a, b], optional: true}}
        adds: [{nothing: x}]
        ";
    let project = project.fragment("word", inputs);
    let schema: Value = serde_json::from_str(&project.run(&["schema"]).stdout).unwrap();
    assert_eq!(schema["oneOf"][1]["properties"]["uses"]["items"], json!({"$ref": "#/$defs/use"}));
    let word = &schema["$defs"]["use"]["oneOf"][0]["properties"]["word"];
    assert_eq!(word["description"], "a test");
    assert_eq!(word["required"], json!(["port"]));
    assert_eq!(word["properties"]["port"]["anyOf"][0]["maximum"], 65535);
    assert_eq!(word["properties"]["kind"]["anyOf"][0], json!({"enum": ["a", "b"]}));
}

#[test]
fn the_list_shows_what_a_profile_adds() {
    let body =
        "adds: [{objects: [{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: new, namespace: ns}}]}]\n";
    let run = project_with(body, "cluster: both\n").run(&["list", "--profile", "test", "-o", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        rows[3].to_string(),
        r#"{"by":"payload/op/component.yaml:4:19","cluster":"both","document":0,"file":"","group":"apps","included":true,"kind":"DaemonSet","name":"new","namespace":"ns","reason":null,"version":"v1"}"#
    );
}

/// Mistakes that would silently do nothing, or something else than intended.
#[test]
fn mistakes_without_effect_are_errors() {
    let both = "cluster: both\n";
    for (page_body, profile_body, message) in [
        (
            "metadata: {name: op}\nowner: a\nowner: b\n",
            both,
            "component.yaml:6:1: the key `owner` is duplicated",
        ),
        ("files: ['*']\n", both, "component.yaml:4:9: a page in the payload cannot have `files`"),
        ("adds: [{}]\n", both, "component.yaml:4:8: this `adds` entry adds nothing"),
        (
            "adds: [{nothing: x, workload: {}}]\n",
            both,
            "component.yaml:4:8: this `adds` entry adds something and has `nothing`",
        ),
        (
            "parameters: {p.x: {type: string, description: d, default: a, read: {object: Infrastructure, path: nopath}}}\nwhen: {p.x: a}\n",
            both,
            "`nopath` is not a JSON pointer",
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
            "the input `name` must be a name of lower-case letters, digits, `-` and `.`, not `Not A Name`",
        ),
        (
            "",
            "cluster: both\npolicy: [{for: Deployment}]\n",
            "test.yaml:6:10: the policy entry has none of `add`, `default` and `set`",
        ),
        (
            "",
            "cluster: both\npolicy: [{for: Deploymnt, set: {}}]\n",
            "there is no kind `Deploymnt`\n  help: did you mean `Deployment`?",
        ),
        ("", "cluster: both\npolicy: [{for: Deployment.apps, set: {}}]\n", "`Deployment.apps` is not a kind"),
        (
            "when: {platform: Azur}\n",
            both,
            "component.yaml:4:18: `platform` can never be \"Azur\"\n  help: `platform` is one of \"AWS\", \"Azure\"",
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
        let project = project_with(page_body.trim_start_matches("metadata: {name: op}\n"), profile_body);
        let fragment = "inputs: {workload: workload, name: {type: name, default: x}}\nadds: [{workload: {metadata: {labels: {x: '${name}'}}}}]\n";
        let project = project
            .fragment("w", fragment)
            .parameters(
                r"
                parameters:
                  platform: {type: string, description: d, enum: [AWS, Azure], default: AWS}
                ",
            )
            .profile("user", "topology: u\ncluster: both\nnamespace: '${platform}'\n");
        let shown = project.render_error("test");
        let message = message.replace("component.yaml:6:1", "component.yaml:5:1");
        assert!(shown.contains(&message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn the_name_of_a_page_must_be_its_folder() {
    let project = project_with("", "cluster: both\n");
    let page = "apiVersion: transship.openshift.io/v1\nkind: Component\nmetadata: {name: other}\n";
    let project = project.manifest("op/component.yaml", page);
    assert!(project.render_error("test").contains("the page of `other` is in the folder `op`"));
}

#[test]
fn a_patch_file_beside_its_page_is_not_a_manifest() {
    let project = project_with("patches: [{reason: x, path: more.yaml}]\n", "cluster: both\n").manifest(
        "op/more.yaml",
        r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: a}
        spec: {replicas: 3}
        ",
    );
    let rendered = project.render("test");
    assert_eq!((names(&rendered).len(), rendered[0]["spec"]["replicas"].as_i64()), (3, Some(3)));
}

#[test]
fn a_patch_that_gives_two_objects_the_same_name_is_an_error() {
    let project = project_with(
        "patches: [{reason: x, target: {kind: ConfigMap, name: cm}, patch: [{op: replace, path: /metadata/name, value: other}]}]\n",
        "cluster: both\n",
    )
        .manifest("op/4.yaml", &object("v1", "ConfigMap", "other", ""));
    assert!(project.render_error("test").contains("ConfigMap/other in ns"));
}

#[test]
fn a_field_with_an_absent_value_is_left_out_in_policies() {
    let every = "cluster: both\npolicy:\n- {for: Service, add: {metadata: {labels: {x: '${a.none}', kept: k}}}}\n- {for: ConfigMap, default: {metadata: {labels: {x: '${a.none}', kept: k}}}}\n";
    let project = project_with("", every);
    let project = declare_many(project);
    let rendered = project.render("test");
    assert_eq!(rendered[1]["metadata"]["labels"].to_string(), r#"{"kept":"k"}"#);
    assert_eq!(rendered[2]["metadata"]["labels"].to_string(), r#"{"kept":"k"}"#);
}

#[test]
fn a_secret_parameter_is_explained_without_its_value() {
    let project =
        project_with("", "cluster: both\npolicy: [{for: ConfigMap, set: {data: {v: 'x-${token}-y'}}}]\n")
            .parameters(
                r"
                parameters:
                  token: {type: string, description: d, secret: true}
                ",
            );
    let arguments =
        ["explain", "configmap/cm", "--profile", "test", "--path", "/data/v", "--set", "token=s3cret"];
    let run = project.run(&arguments);
    assert!(
        run.stdout.contains("/data/v: <hidden>\n") && !run.stdout.contains("s3cret"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}
