//! Fragments: reusable additions with inputs.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{TestProject, names, object, unindent};

/// Creates a Deployment in the management cluster and a Role in the guest, with a page that continues with this at line 5.
fn project_with_page(page: &str) -> TestProject {
    let deployment = r"
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: a, namespace: ns, annotations: {x: x}}
        spec:
          template:
            spec:
              serviceAccountName: sa
              initContainers: [{name: i}]
              containers: [{name: c, args: [run, --v=2]}]
        ";
    let page = unindent(page);
    TestProject::new()
        .manifest("op/1.yaml", &object("rbac.authorization.k8s.io/v1", "Role", "ns", "r", "rules: []"))
        .manifest("op/2.yaml", deployment)
        .page("op", &format!("place: {{management: [Deployment], guest: [Role]}}\n{page}"))
        .mc_and_guest("", "")
}

const SIDECAR: &str = r"
    inputs:
      workload: workload
      container: container
      name: {type: name, default: 'side-${workload.name}'}
      arg: {type: string, optional: true}
    adds:
    - {in: [guest], nothing: it runs elsewhere}
    - in: [mc]
      pod:
        spec:
          initContainers: [{name: first, image: x}]
          containers:
          - {name: '${container}', volumeMounts: [{name: v, mountPath: /v}]}
          - {name: '${name}', image: '${workload.serviceAccount}'}
    - {in: [mc], when: {arg: present}, pod: {spec: {containers: [{name: '${container}', args: ['${arg}=1']}]}}}
    ";

fn pod_spec(objects: &[Value]) -> &Value {
    crate::support::pod_spec(objects, "a")
}

#[test]
fn a_fragment_adds_to_its_workload_and_to_nothing_else() {
    let project = project_with_page("uses: [{sidecar: {workload: Deployment/a, arg: --w}}]")
        .fragment("sidecar", SIDECAR);
    assert_eq!(
        *pod_spec(&project.render("mc")),
        json!({
            "serviceAccountName": "sa",
            "initContainers": [{"name": "first", "image": "x"}, {"name": "i"}],
            "containers": [
                {"name": "c", "args": ["run", "--v=2", "--w=1"], "volumeMounts": [{"mountPath": "/v", "name": "v"}]},
                {"name": "side-a", "image": "sa"},
            ],
        })
    );
    assert_eq!(names(&project.render("guest")), ["Role/r"]);
}

#[test]
fn a_list_for_a_scalar_input_uses_the_fragment_once_for_each_item() {
    let project =
        project_with_page("uses: [{sidecar: {workload: Deployment/a, name: [one, two], arg: [--a, --b]}}]")
            .fragment("sidecar", SIDECAR);
    assert_eq!(
        pod_spec(&project.render("mc"))["containers"],
        json!([
            {
                "name": "c",
                "args": ["run", "--v=2", "--a=1", "--b=1"],
                "volumeMounts": [{"mountPath": "/v", "name": "v"}],
            },
            {"name": "one", "image": "sa"},
            {"name": "two", "image": "sa"},
        ])
    );
}

#[test]
fn objects_are_merged_by_identity_or_created_right_before_the_workload() {
    let project = project_with_page("uses: [{rights: {workload: Deployment/a}}]").fragment(
        "rights",
        r"
        inputs: {workload: workload}
        adds:
        - {in: [guest], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{verbs: [get]}]}]}
        - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {k: '${component.name}'}}]}
        - objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cr}}]
        ",
    );
    let mc = project.render("mc");
    assert_eq!(names(&mc), ["ConfigMap/new", "Deployment/a"]);
    assert_eq!(
        mc[0],
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "new", "namespace": "ns"},
            "data": {"k": "op"},
        })
    );
    let guest = project.render("guest");
    assert_eq!(names(&guest), ["Role/r", "ClusterRole/cr"]);
    assert_eq!(guest[0]["rules"], json!([{"verbs": ["get"]}]));
    assert_eq!(guest[1]["metadata"], json!({"name": "cr"}));
}

#[test]
fn a_fragment_that_uses_another_passes_its_workload_on() {
    let project =
        project_with_page("uses: [{outer: {workload: Deployment/a}}]").fragment("sidecar", SIDECAR).fragment(
            "outer",
            r"
            inputs: {workload: workload}
            uses: [{sidecar: {name: inner}}]
            adds: [{pod: {spec: {containers: [{name: i, tty: true}]}}}]
            ",
        );
    let mc = project.render("mc");
    assert_eq!(pod_spec(&mc)["containers"][1]["name"], "inner");
    assert_eq!(
        pod_spec(&mc)["initContainers"][1],
        json!({"name": "i", "tty": true}),
        "an entry named like an init container adds to that one"
    );
}

#[test]
fn a_page_can_have_additions_of_its_own() {
    let project = project_with_page(
        "adds: [{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: ns}}]}]",
    );
    assert_eq!(names(&project.render("mc")), ["Deployment/a", "ConfigMap/own"]);
}

#[test]
fn an_issued_kubeconfig_is_a_secret_without_a_value() {
    let project = project_with_page("uses: [{key: {workload: Deployment/a}}]").fragment(
        "key",
        r"
        inputs: {workload: workload}
        adds:
        - {in: [guest], nothing: x}
        - in: [mc]
          objects:
          - apiVersion: transship.openshift.io/v1
            kind: IssuedKubeconfig
            metadata: {name: k}
            spec:
              server: https://api:6443
              authority: root-ca
              as: {namespace: '${workload.namespace}', serviceAccount: '${workload.serviceAccount}'}
        ",
    );
    let issued = r#"{"kubeconfig":{"authority":"root-ca","server":"https://api:6443","token":true,"user":"system:serviceaccount:ns:sa"}}"#;
    assert_eq!(
        project.render("mc")[0],
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "metadata": {
                "name": "k",
                "namespace": "ns",
                "annotations": {"transship.openshift.io/issued": issued},
                "labels": {"transship.openshift.io/issued": "kubeconfig"},
            },
            "data": {"kubeconfig": ""},
        })
    );
}

#[test]
fn an_issued_kubeconfig_needs_all_its_fields() {
    let project = project_with_page("uses: [{key: {workload: Deployment/a}}]").fragment(
        "key",
        r"
        inputs: {workload: workload}
        adds:
        - {in: [guest], nothing: x}
        - in: [mc]
          objects:
          - apiVersion: transship.openshift.io/v1
            kind: IssuedKubeconfig
            metadata: {name: k}
            spec: {cluster: guest}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: profiles/fragments/key.yaml:13:11: the `spec` of an IssuedKubeconfig needs the field `server`
          object: IssuedKubeconfig.transship.openshift.io/k in ns
        error: profiles/fragments/key.yaml:13:11: the `spec` of an IssuedKubeconfig needs the field `authority`
          object: IssuedKubeconfig.transship.openshift.io/k in ns
        error: profiles/fragments/key.yaml:13:11: the `spec` of an IssuedKubeconfig needs the field `as`
          object: IssuedKubeconfig.transship.openshift.io/k in ns
        error: profiles/fragments/key.yaml:13:12: the `spec` of an IssuedKubeconfig has no field `cluster`
          object: IssuedKubeconfig.transship.openshift.io/k in ns
          help: its fields are server, authority, signer, as
        4 errors
        ",
    );
}

#[test]
fn misuse_of_a_fragment_is_reported_with_line_and_suggestion() {
    for (usage, expected) in [
        (
            "{sidcar: {}}",
            r"
            error: payload/op/component.yaml:5:8: there is no fragment `sidcar`
              help: did you mean `sidecar`?
            ",
        ),
        (
            "{sidecar: {workload: Deployment/a, nam: x}}",
            r"
            error: payload/op/component.yaml:5:43: the fragment `sidecar` has no input `nam`
              help: did you mean `name`?
            ",
        ),
        (
            "{sidecar: {workload: Deployment/a, name: 5}}",
            r"
            error: payload/op/component.yaml:5:49: the input `name` must be a name of lower-case letters, digits, `-` and `.`, not the number 5
            ",
        ),
        (
            "{sidecar: {workload: Deployment/b}}",
            r"
            error: payload/op/component.yaml:5:29: the component has no `Deployment/b`
              help: did you mean `Deployment/a`?
            ",
        ),
        (
            "{sidecar: }",
            r"
            error: payload/op/component.yaml:5:8: the fragment `sidecar` needs the input `container`
              note: there is no workload in scope
              help: name the workload: set `workload` under `values` of the page, or give it to the fragment
            ",
        ),
        (
            "{sidecar: {}, other: {}}",
            r"
            error: payload/op/component.yaml:5:8: an entry of `uses` must be a map with one fragment
              help: write `- fragment: {input: value}`
            ",
        ),
        (
            "{loop: {}}",
            r"
            error: profiles/fragments/loop.yaml:5:8: fragments use each other more than 5 levels deep
            ",
        ),
    ] {
        let project = project_with_page(&format!("uses: [{usage}]"))
            .fragment("sidecar", SIDECAR)
            .fragment("loop", "uses: [{loop: {}}]");
        project.assert_render_error("mc", expected);
    }
}

#[test]
fn a_fragment_must_have_an_addition_for_every_profile() {
    let project = project_with_page("").fragment("half", "adds: [{in: [mc], nothing: here}]");
    project.assert_render_error(
        "mc",
        r"
        error: profiles/fragments/half.yaml:1:1: the fragment `half` has no addition for the profile guest
          help: add an entry to `adds`, or let the profile extend one that has an entry; if nothing is needed, give the reason with `nothing: …`
        ",
    );
}

#[test]
fn fragments_that_disagree_are_an_error_that_names_both_lines() {
    let project = project_with_page(
        r"
        uses:
        - one: {workload: Deployment/a}
        - two: {workload: Deployment/a}
        ",
    )
    .fragment(
        "one",
        r"
        inputs: {workload: workload}
        adds: [{pod: {spec: {containers: [{name: c, image: x}]}}}]
        ",
    )
    .fragment(
        "two",
        r"
        inputs: {workload: workload}
        adds: [{pod: {spec: {containers: [{name: c, image: z}]}}}]
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: profiles/fragments/two.yaml:6:52: `/spec/template/spec/containers/[name=c]/image` cannot be set to `z`, because it is `x`
          object: Deployment.apps/a in ns
          note: the other value is at profiles/fragments/one.yaml:6:52
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn a_fragment_that_disagrees_with_the_manifest_is_an_error_that_names_both_lines() {
    let project = project_with_page("uses: [{one: {workload: Deployment/a}}]").fragment(
        "one",
        r"
        inputs: {workload: workload}
        adds: [{pod: {spec: {containers: [{name: c, args: [--v=4]}]}}}]
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: profiles/fragments/one.yaml:6:52: `/spec/template/spec/containers/[name=c]/args/[--v]` cannot be set to `--v=4`, because it is `--v=2`
          object: Deployment.apps/a in ns
          note: the other value is at payload/op/2.yaml:9:42
          note: used at payload/op/component.yaml:5:8
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

/// Sorts every list: the positions of items may depend on the order of additions, the items may not.
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

const USES: [&str; 4] = [
    "{sidecar: {workload: Deployment/a, name: one, arg: --a}}",
    "{sidecar: {workload: Deployment/a, name: two}}",
    "{mount: {workload: Deployment/a, path: /x}}",
    "{mount: {workload: Deployment/a, path: /z}}",
];

const SIDECAR_ADDITIONS: [&str; 4] = [
    "{in: [guest], nothing: it runs elsewhere}",
    "{in: [mc], pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: /v}]}]}}}",
    "{in: [mc], pod: {spec: {initContainers: [{name: first, image: x}], containers: [{name: '${name}', image: '${workload.serviceAccount}'}]}}}",
    "{in: [mc], when: {arg: present}, pod: {spec: {containers: [{name: '${container}', args: ['${arg}=1']}]}}}",
];

/// Renders the uses, and the additions of one of the fragments, in this order.
fn render_in_order(order: &[usize]) -> Value {
    let uses: Vec<&str> = order.iter().map(|index| USES[*index]).collect();
    let additions: Vec<&str> = order.iter().map(|index| SIDECAR_ADDITIONS[*index]).collect();
    let sidecar = format!(
        r"
        inputs: {{workload: workload, container: container, name: name, arg: {{type: string, optional: true}}}}
        adds: [{}]
        ",
        additions.join(", ")
    );
    let project = project_with_page(&format!("uses: [{}]", uses.join(", ")))
        .fragment("sidecar", &sidecar)
        .fragment(
            "mount",
            r"
            inputs: {workload: workload, container: container, path: path}
            adds: [{pod: {spec: {containers: [{name: '${container}', volumeMounts: [{name: v, mountPath: '${path}'}]}]}}}]
            ",
        );
    sorted(&project.render("mc").into())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_uses_and_additions_changes_positions_only(order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle()) {
        prop_assert_eq!(render_in_order(&order), render_in_order(&[0, 1, 2, 3]));
    }
}
