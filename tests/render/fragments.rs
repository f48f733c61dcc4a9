//! Fragments: reusable additions with inputs.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{CONFLICT, TestProject, object};

const POD: &str = r"spec:
  template:
    spec:
      serviceAccountName: sa
      initContainers: [{name: i}]
      containers: [{name: c, args: [run, --v=2]}]
";

/// A Deployment in the management cluster and a Role in the guest, with a page that continues with this.
fn role_and_deployment(page: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", &object("rbac.authorization.k8s.io/v1", "Role", "ns", "r", "rules: []\n"))
        .manifest("op/2.yaml", &object("apps/v1", "Deployment", "ns", "a", POD))
        .page("op", &format!("place: {{management: [Deployment], guest: [Role]}}\n{page}"))
        .profile("mc", "topology: t\ncluster: management\n")
        .profile("guest", "topology: t\ncluster: guest\n")
}

const SIDECAR: &str = r"inputs: {workload: workload, container: container, name: {type: name, default: 'side-${workload.name}'}, arg: {type: string, optional: true}}
adds:
- {in: [guest], nothing: it runs elsewhere}
- in: [mc]
  pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: /v}]}, {name: '${name}', image: '${workload.serviceAccount}'}], initContainers: [{name: first, image: x}]}}
- {in: [mc], when: {arg: present}, pod: {spec: {containers: [{name: '${container}', args: ['${arg}=1']}]}}}
";

#[test]
fn a_fragment_adds_to_its_workload_and_to_nothing_else() {
    let project = role_and_deployment("uses:\n- sidecar: {workload: Deployment/a, arg: --w}\n")
        .fragment("sidecar", SIDECAR);
    let mc = project.render("mc");
    assert_eq!(
        mc[0]["spec"]["template"]["spec"].to_string(),
        r#"{"containers":[{"args":["run","--v=2","--w=1"],"name":"c","volumeMounts":[{"mountPath":"/v","name":"v"}]},{"image":"sa","name":"side-a"}],"initContainers":[{"image":"x","name":"first"},{"name":"i"}],"serviceAccountName":"sa"}"#
    );
    let guest = project.render("guest");
    assert_eq!((guest.len(), guest[0]["kind"].as_str()), (1, Some("Role")));
}

#[test]
fn a_list_for_a_scalar_input_uses_the_fragment_once_for_each_item() {
    let project = role_and_deployment(
        "uses:\n- sidecar: {workload: Deployment/a, name: [one, two], arg: [--a, --b]}\n",
    )
    .fragment("sidecar", SIDECAR);
    let containers = project.render("mc")[0]["spec"]["template"]["spec"]["containers"].clone();
    let names: Vec<_> =
        containers.as_array().unwrap().iter().map(|container| container["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["c", "one", "two"]);
    assert_eq!(containers[0]["args"], json!(["run", "--v=2", "--a=1", "--b=1"]));
}

#[test]
fn objects_are_merged_by_identity_or_created_right_before_the_workload() {
    let project = role_and_deployment("uses:\n- rights: {workload: Deployment/a}\n");
    let body = r"
        inputs: {workload: workload}
        adds:
        - {in: [guest], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{verbs: [get]}]}]}
        - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {k: '${component.name}'}}]}
        - objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cr}}]
        ";
    let project = project.fragment("rights", body);
    let mc = project.render("mc");
    assert_eq!(
        mc[0].to_string(),
        r#"{"apiVersion":"v1","data":{"k":"op"},"kind":"ConfigMap","metadata":{"name":"new","namespace":"ns"}}"#
    );
    assert_eq!((mc.len(), mc[1]["kind"].as_str()), (2, Some("Deployment")));
    let guest = project.render("guest");
    assert_eq!(guest[0]["rules"], json!([{"verbs": ["get"]}]));
    assert_eq!((guest.len(), guest[1]["metadata"].to_string().as_str()), (2, r#"{"name":"cr"}"#));
}

#[test]
fn a_fragment_that_uses_another_passes_its_workload_on() {
    let project =
        role_and_deployment("uses:\n- outer: {workload: Deployment/a}\n").fragment("sidecar", SIDECAR);
    let outer = "inputs: {workload: workload}\nuses: [{sidecar: {name: inner}}]\nadds: [{pod: {spec: {containers: [{name: i, tty: true}]}}}]\n";
    let project = project.fragment("outer", outer);
    let spec = project.render("mc")[0]["spec"]["template"]["spec"].clone();
    assert_eq!(spec["containers"][1]["name"], "inner");
    assert_eq!(
        spec["initContainers"][1],
        json!({"name": "i", "tty": true}),
        "an entry named like an init container adds to that one"
    );
}

#[test]
fn a_page_can_have_additions_of_its_own() {
    let project = role_and_deployment(
        "adds:\n- {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: ns}}]}\n",
    );
    let names: Vec<_> =
        project.render("mc").iter().map(|object| object["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["a", "own"]);
}

#[test]
fn an_issued_kubeconfig_is_a_secret_without_material() {
    let body = |spec: &str| {
        format!(
            "inputs: {{workload: workload}}\nadds: [{{in: [guest], nothing: x}}, {{in: [mc], objects: [{{apiVersion: transship.openshift.io/v1, kind: IssuedKubeconfig, metadata: {{name: k}}, spec: {spec}}}]}}]\n"
        )
    };
    let project = role_and_deployment("uses:\n- key: {workload: Deployment/a}\n")
        .fragment("key", &body("{cluster: guest, as: {namespace: '${workload.namespace}', serviceAccount: '${workload.serviceAccount}'}}"));
    assert_eq!(
        project.render("mc")[0].to_string(),
        r#"{"apiVersion":"v1","data":{"kubeconfig":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"kubeconfig for the guest cluster as system:serviceaccount:ns:sa"},"name":"k","namespace":"ns"},"type":"Opaque"}"#
    );
    let project = project.fragment("key", &body("{cluster: guest}"));
    assert!(project.render_error("mc").contains("a field of the IssuedKubeconfig is missing or invalid"));
}

#[test]
fn misuse_of_a_fragment_is_reported_with_line_and_suggestion() {
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
            "payload/op/component.yaml:6:43: the input `name` must be a name of lower-case letters, digits, `-` and `.`, not the number 5",
        ),
        (
            "- sidecar: {workload: Deployment/b}",
            "payload/op/component.yaml:6:23: the component has no `Deployment/b`\n  help: did you mean `Deployment/a`?",
        ),
        ("- sidecar:", "payload/op/component.yaml:6:3: the fragment `sidecar` needs the input `container`"),
        (
            "- {sidecar: {}, other: {}}",
            "payload/op/component.yaml:6:3: an entry of `uses` must be a map with one fragment",
        ),
        ("- loop: {}", "profiles/fragments/loop.yaml:5:8: fragments use each other more than 5 levels deep"),
    ] {
        let project = role_and_deployment(&format!("uses:\n{uses}\n"))
            .fragment("sidecar", SIDECAR)
            .fragment("loop", "uses: [{loop: {}}]\n");
        let shown = project.render_error("mc");
        assert!(shown.contains(message), "{uses}\n{shown}");
    }
}

#[test]
fn a_fragment_must_have_an_addition_for_every_profile() {
    let project = role_and_deployment("").fragment("half", "adds: [{in: [mc], nothing: here}]\n");
    assert_eq!(
        project.render_error("mc"),
        "error: profiles/fragments/half.yaml:1:1: the fragment `half` has no addition for the profile guest\n  \
         help: add an entry to `adds`; if nothing is needed, give the reason with `nothing: …`\n"
    );
}

#[test]
fn fragments_that_disagree_are_an_error_that_names_both_lines() {
    let project =
        role_and_deployment("uses:\n- one: {workload: Deployment/a}\n- two: {workload: Deployment/a}\n");
    let body = |value: &str| {
        format!(
            "inputs: {{workload: workload}}\nadds:\n- pod: {{spec: {{containers: [{{name: c, image: {value}}}]}}}}\n"
        )
    };
    let project = project.fragment("one", &body("x")).fragment("two", &body("z"));
    let shown = project.render_error("mc");
    assert!(shown.starts_with(&format!("error: profiles/fragments/two.yaml:7:46: {CONFLICT}\n  object: Deployment.apps/a in ns\n  note: the other value is at profiles/fragments/one.yaml:7:46")), "{shown}");
    let flag = r"
        inputs: {workload: workload}
        adds:
        - pod: {spec: {containers: [{name: c, args: [--v=4]}]}}
        ";
    let project = project.fragment("one", flag);
    let shown = project.render_error("mc");
    assert!(
        shown.contains(&format!("profiles/fragments/one.yaml:7:46: {CONFLICT}"))
            && shown.contains("the other value is at payload/op/2.yaml:9:"),
        "{shown}"
    );
}

/// A rendering in which every list is sorted: positions may depend on order, values may not.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            items.into()
        }
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect(),
        scalar => scalar.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_uses_and_additions_changes_positions_only(order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle()) {
        let uses = [
            "- sidecar: {workload: Deployment/a, name: one, arg: --a}\n",
            "- sidecar: {workload: Deployment/a, name: two}\n",
            "- mount: {workload: Deployment/a, path: /x}\n",
            "- mount: {workload: Deployment/a, path: /z}\n",
        ];
        let rendered = |order: &[usize]| {
            let uses: String = order.iter().map(|index| uses[*index]).collect();
            let project = role_and_deployment(&format!("uses:\n{uses}"));
            let mut additions: Vec<&str> = SIDECAR.split("\n- ").collect();
            let head = additions.remove(0);
            let additions: Vec<&str> = order.iter().filter_map(|index| additions.get(*index)).map(|addition| addition.trim_end()).collect();
            let project = project.fragment("sidecar", &format!("{head}\n- {}\n", additions.join("\n- ")));
            let mount = "inputs: {workload: workload, container: container, path: path}\nadds: [{pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: '${path}'}]}]}}}]\n";
            let project = project.fragment("mount", mount);
            sorted(&project.render("mc").into())
        };
        prop_assert_eq!(rendered(&order), rendered(&[0, 1, 2, 3]));
    }
}
