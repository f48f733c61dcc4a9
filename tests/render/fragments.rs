//! Fragments: words with inputs, which only add.

use proptest::prelude::*;

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn fragment(name: &str, body: &str) -> String {
    format!("{HEADER}kind: Fragment\nmetadata: {{name: {name}}}\ndescription: a test\n{body}")
}

fn profile(name: &str, cluster: &str) -> String {
    format!("{HEADER}kind: Profile\nmetadata: {{name: {name}}}\ntopology: t\ncluster: {cluster}\n")
}

fn object(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns, annotations: {{p: x}}}}\n{body}"
    )
}

const POD: &str = "spec:\n  template:\n    spec:\n      serviceAccountName: sa\n      initContainers: [{name: i}]\n      containers: [{name: c, args: [run, --v=2]}]\n";

/// A Deployment in the management cluster and a Role in the guest, with a page that uses something.
fn folder(uses: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", object("rbac.authorization.k8s.io/v1", "Role", "r", "rules: []\n"));
    folder.write("payload/op/2.yaml", object("apps/v1", "Deployment", "a", POD));
    let page = format!(
        "{HEADER}kind: Component\nmetadata: {{name: op}}\nplace: {{management: [Deployment], guest: [Role]}}\n{uses}"
    );
    folder.write("payload/op/component.yaml", page);
    folder.write("profiles/mc.yaml", profile("mc", "management"));
    folder.write("profiles/guest.yaml", profile("guest", "guest"));
    folder
}

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

fn refused(folder: &Folder) -> String {
    folder.run(&["render", "--profile", "mc"]).refusal()
}

const SIDECAR: &str = "inputs: {workload: workload, container: container, name: {type: name, default: 'side-${workload.name}'}, arg: {type: string, optional: true}}\n\
    adds:\n\
    - {in: [guest], nothing: it runs elsewhere}\n\
    - in: [mc]\n  pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: /v}]}, {name: '${name}', image: '${workload.serviceAccount}'}], initContainers: [{name: first, image: x}]}}\n\
    - {in: [mc], when: {arg: present}, pod: {spec: {containers: [{name: '${container}', args: ['${arg}=1']}]}}}\n";

#[test]
fn a_word_adds_to_its_workload_and_to_nothing_else() {
    let folder = folder("uses:\n- sidecar: {workload: Deployment/a, arg: --w}\n");
    folder.write("profiles/fragments/sidecar.yaml", fragment("sidecar", SIDECAR));
    let mc = render(&folder, "mc");
    assert_eq!(
        mc[0]["spec"]["template"]["spec"].to_string(),
        r#"{"containers":[{"args":["run","--v=2","--w=1"],"name":"c","volumeMounts":[{"mountPath":"/v","name":"v"}]},{"image":"sa","name":"side-a"}],"initContainers":[{"image":"x","name":"first"},{"name":"i"}],"serviceAccountName":"sa"}"#
    );
    let guest = render(&folder, "guest");
    assert_eq!((guest.len(), guest[0]["kind"].as_str()), (1, Some("Role")));
}

#[test]
fn a_list_given_to_an_input_uses_the_fragment_once_for_each() {
    let folder = folder("uses:\n- sidecar: {workload: Deployment/a, name: [one, two], arg: [--a, --b]}\n");
    folder.write("profiles/fragments/sidecar.yaml", fragment("sidecar", SIDECAR));
    let containers = render(&folder, "mc")[0]["spec"]["template"]["spec"]["containers"].clone();
    let names: Vec<_> =
        containers.as_array().unwrap().iter().map(|container| container["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["c", "one", "two"]);
    assert_eq!(containers[0]["args"], serde_json::json!(["run", "--v=2", "--a=1", "--b=1"]));
}

#[test]
fn objects_are_merged_by_identity_or_new_right_before_the_workload() {
    let folder = folder("uses:\n- rights: {workload: Deployment/a}\n");
    let body = "inputs: {workload: workload}\nadds:\n\
        - {in: [guest], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{verbs: [get]}]}]}\n\
        - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {k: '${component.name}'}}]}\n\
        - objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cr}}]\n";
    folder.write("profiles/fragments/rights.yaml", fragment("rights", body));
    let mc = render(&folder, "mc");
    assert_eq!(
        mc[0].to_string(),
        r#"{"apiVersion":"v1","data":{"k":"op"},"kind":"ConfigMap","metadata":{"name":"new","namespace":"ns"}}"#
    );
    assert_eq!((mc.len(), mc[1]["kind"].as_str()), (2, Some("Deployment")));
    let guest = render(&folder, "guest");
    assert_eq!(guest[0]["rules"], serde_json::json!([{"verbs": ["get"]}]));
    assert_eq!((guest.len(), guest[1]["metadata"].to_string().as_str()), (2, r#"{"name":"cr"}"#));
}

#[test]
fn fragments_use_fragments_and_pass_their_workload_on() {
    let folder = folder("uses:\n- outer: {workload: Deployment/a}\n");
    folder.write("profiles/fragments/sidecar.yaml", fragment("sidecar", SIDECAR));
    let outer = "inputs: {workload: workload}\nuses: [{sidecar: {name: inner}}]\nadds: [{pod: {spec: {containers: [{name: i, tty: true}]}}}]\n";
    folder.write("profiles/fragments/outer.yaml", fragment("outer", outer));
    let spec = render(&folder, "mc")[0]["spec"]["template"]["spec"].clone();
    assert_eq!(spec["containers"][1]["name"], "inner");
    assert_eq!(
        spec["initContainers"][1],
        serde_json::json!({"name": "i", "tty": true}),
        "an entry named like an init container adds to that one"
    );
}

#[test]
fn a_page_may_have_parts_of_its_own() {
    let folder = folder(
        "adds:\n- {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: ns}}]}\n",
    );
    let names: Vec<_> =
        render(&folder, "mc").iter().map(|object| object["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["a", "own"]);
}

#[test]
fn an_issued_kubeconfig_is_a_secret_without_material() {
    let body = |spec: &str| {
        format!(
            "inputs: {{workload: workload}}\nadds: [{{in: [guest], nothing: x}}, {{in: [mc], objects: [{{apiVersion: transship.openshift.io/v1, kind: IssuedKubeconfig, metadata: {{name: k}}, spec: {spec}}}]}}]\n"
        )
    };
    let folder = folder("uses:\n- key: {workload: Deployment/a}\n");
    folder.write("profiles/fragments/key.yaml", fragment("key", &body("{cluster: guest, as: {namespace: '${workload.namespace}', serviceAccount: '${workload.serviceAccount}'}}")));
    assert_eq!(
        render(&folder, "mc")[0].to_string(),
        r#"{"apiVersion":"v1","data":{"kubeconfig":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"kubeconfig for the guest cluster as system:serviceaccount:ns:sa"},"name":"k","namespace":"ns"},"type":"Opaque"}"#
    );
    folder.write("profiles/fragments/key.yaml", fragment("key", &body("{cluster: guest}")));
    assert!(refused(&folder).contains("a field of the IssuedKubeconfig is missing or invalid"));
}

#[test]
fn misuse_is_answered_with_the_line_and_what_was_meant() {
    for (uses, message) in [
        (
            "- sidcar: {}",
            "payload/op/component.yaml:6:3: there is no fragment `sidcar`\n  help: did you mean `sidecar`?",
        ),
        (
            "- sidecar: {workload: Deployment/a, nam: x}",
            "payload/op/component.yaml:6:37: the fragment `sidecar` has no input `nam`\n  help: did you mean `name`?",
        ),
        (
            "- sidecar: {workload: Deployment/a, name: 5}",
            "payload/op/component.yaml:6:43: the input `name` cannot be a number",
        ),
        (
            "- sidecar: {workload: Deployment/b}",
            "payload/op/component.yaml:6:23: the component has no `Deployment/b`\n  help: did you mean `Deployment/a`?",
        ),
        ("- sidecar:", "payload/op/component.yaml:6:3: the fragment `sidecar` needs the input `container`"),
        (
            "- {sidecar: {}, other: {}}",
            "payload/op/component.yaml:6:3: a use is one fragment with its inputs",
        ),
        ("- loop: {}", "profiles/fragments/loop.yaml:5:8: fragments use each other more than 5 deep"),
    ] {
        let folder = folder(&format!("uses:\n{uses}\n"));
        folder.write("profiles/fragments/sidecar.yaml", fragment("sidecar", SIDECAR));
        folder.write("profiles/fragments/loop.yaml", fragment("loop", "uses: [{loop: {}}]\n"));
        let shown = refused(&folder);
        assert!(shown.contains(message), "{uses}\n{shown}");
    }
}

#[test]
fn a_word_must_speak_of_every_profile() {
    let folder = folder("");
    folder.write("profiles/fragments/half.yaml", fragment("half", "adds: [{in: [mc], nothing: here}]\n"));
    assert_eq!(
        refused(&folder),
        "error: profiles/fragments/half.yaml:1:1: the fragment `half` says nothing about guest\n  \
         help: add a part for it; `nothing: why` says that nothing is needed\n"
    );
}

#[test]
fn two_that_disagree_are_an_error_that_names_both_lines() {
    let folder = folder("uses:\n- one: {workload: Deployment/a}\n- two: {workload: Deployment/a}\n");
    let body = |value: &str| {
        format!(
            "inputs: {{workload: workload}}\nadds:\n- pod: {{spec: {{containers: [{{name: c, image: {value}}}]}}}}\n"
        )
    };
    folder.write("profiles/fragments/one.yaml", fragment("one", &body("x")));
    folder.write("profiles/fragments/two.yaml", fragment("two", &body("z")));
    let shown = refused(&folder);
    assert!(shown.starts_with("error: profiles/fragments/two.yaml:7:46: this field already has a different value\n  object: Deployment.apps/a in ns\n  note: the other value is at profiles/fragments/one.yaml:7:46"), "{shown}");
    let flag =
        "inputs: {workload: workload}\nadds:\n- pod: {spec: {containers: [{name: c, args: [--v=4]}]}}\n";
    folder.write("profiles/fragments/one.yaml", fragment("one", flag));
    let shown = refused(&folder);
    assert!(
        shown.contains("profiles/fragments/one.yaml:7:46: this field already has a different value")
            && shown.contains("the other value is at payload/op/2.yaml:9:"),
        "{shown}"
    );
}

/// A rendering in which every list is sorted: positions may depend on order, values may not.
fn sorted(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            items.into()
        }
        serde_json::Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        scalar => scalar.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_uses_and_parts_changes_positions_only(order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle()) {
        let uses = [
            "- sidecar: {workload: Deployment/a, name: one, arg: --a}\n",
            "- sidecar: {workload: Deployment/a, name: two}\n",
            "- mount: {workload: Deployment/a, path: /x}\n",
            "- mount: {workload: Deployment/a, path: /z}\n",
        ];
        let rendered = |order: &[usize]| {
            let uses: String = order.iter().map(|index| uses[*index]).collect();
            let folder = folder(&format!("uses:\n{uses}"));
            let mut parts: Vec<&str> = SIDECAR.split("\n- ").collect();
            let head = parts.remove(0);
            let parts: Vec<&str> = order.iter().filter_map(|index| parts.get(*index)).map(|part| part.trim_end()).collect();
            folder.write("profiles/fragments/sidecar.yaml", fragment("sidecar", &format!("{head}\n- {}\n", parts.join("\n- "))));
            let mount = "inputs: {workload: workload, container: container, path: path}\nadds: [{pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: '${path}'}]}]}}}]\n";
            folder.write("profiles/fragments/mount.yaml", fragment("mount", mount));
            sorted(&render(&folder, "mc").into())
        };
        prop_assert_eq!(rendered(&order), rendered(&[0, 1, 2, 3]));
    }
}
