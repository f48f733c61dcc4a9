//! Policy entries that affect the same field, and the built-in names that they use.

use crate::support::{TestProject, object};

#[test]
fn policy_entries_do_not_see_the_changes_of_others() {
    let rendered = |first: &str, second: &str| {
        TestProject::with_deployment("", &format!("policy:\n- {first}\n- {second}\n")).render("mc")[0]["spec"]
            ["template"]["spec"]["containers"]
            .to_string()
    };
    let tmp = "{for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: v, mountPath: /tmp}]}}";
    let env = "{for: container, when: {container.mountsTmp: false}, add: {env: [{name: E, value: x}]}}";
    assert_eq!(rendered(tmp, env), rendered(env, tmp));
    let shown = TestProject::with_deployment(
            "",
            "policy:\n- {for: pod, set: {spec: {nodeSelector: {}}}}\n- {for: pod, set: {spec: {nodeSelector: null}}}\n",
        ).render_error("mc");
    assert!(shown.contains("two policy rules set `/spec/template/spec/nodeSelector` differently"), "{shown}");
    let keys = "policy: [{for: pod, set: {metadata: {annotations: {example.com: a, example.com/b: c}}}}]\n";
    assert_eq!(TestProject::with_deployment("", keys).render("mc").len(), 1, "a slash in a key is no path");
}

#[test]
fn a_service_account_is_bound_by_its_user_name_and_by_its_group() {
    for subject in [
        "{kind: User, name: 'system:serviceaccount:ns:sa'}",
        "{kind: Group, name: 'system:serviceaccounts:ns'}",
        "{kind: ServiceAccount, name: sa}",
    ] {
        let project = TestProject::with_deployment(
            "",
            "policy: [{for: pod, when: {pod.usesOwnApi: false}, set: {spec: {automountServiceAccountToken: false}}}]\n",
        )
            .manifest("op/2.yaml", &object(
                "rbac.authorization.k8s.io/v1",
                "RoleBinding",
                "ns",
                "b",
                &format!("subjects: [{subject}]\n"),
            ))
            .page("op", "place: {management: [Deployment, RoleBinding]}\n");
        assert!(
            project.render("mc")[0]["spec"]["template"]["spec"].get("automountServiceAccountToken").is_none(),
            "{subject}"
        );
    }
}
