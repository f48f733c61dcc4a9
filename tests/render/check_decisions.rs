//! What the checks report, next to similar objects that they accept.

use serde_json::Value;

use crate::support::{TestProject, object, run_checked};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns, annotations: {x: x}}\n";

fn manifests_of(manifests: &[String]) -> TestProject {
    TestProject::new().manifest("op/1.yaml", NAMESPACE).manifest("op/2.yaml", &manifests.join("---\n"))
}

/// Creates a project with the standalone profile `one`, the namespace `ns` and these manifests.
fn standalone(manifests: &[String]) -> TestProject {
    manifests_of(manifests).profile("one", "topology: one\ncluster: both\n")
}

/// Creates a project with the profiles `mc` and `guest`, the namespace `ns` in the guest, and these manifests.
fn hosted(place: &str, manifests: &[String]) -> TestProject {
    manifests_of(manifests)
        .page("op", &format!("place: {place}\n"))
        .profile("mc", "topology: two\ncluster: management\nnamespace: hosted\n")
        .profile("guest", "topology: two\ncluster: guest\n")
}

/// Returns path and message of the findings of one check.
fn findings(project: &TestProject, profile: &str, check: &str) -> Vec<String> {
    findings_with(project, &["--profile", profile], check)
}

fn findings_with(project: &TestProject, arguments: &[&str], check: &str) -> Vec<String> {
    let run = run_checked(project.path(), &[&["lint", "-o", "json"][..], arguments].concat(), "");
    let mut found = Vec::new();
    for line in run.stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        if finding["code"] == check {
            let text = |field: &str| finding[field].as_str().unwrap().to_owned();
            found.push(format!("{}: {}", text("path"), text("message")));
        }
    }
    assert!(run.code != 2, "{}", run.stderr);
    found
}

fn config_map(name: &str, key: &str, value: &str) -> String {
    let data = serde_json::json!({ key: value });
    object("v1", "ConfigMap", "ns", name, &format!("data: {data}\n"))
}

fn binding(namespace: &str, role: &str, subject: &str) -> String {
    let role = format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, {role}}}\n");
    object(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        namespace,
        "b",
        &format!("{role}subjects: [{{kind: ServiceAccount, {subject}}}]\n"),
    )
}

/// Returns a Deployment whose pod template has the label `app: a` and this spec.
fn deployment(spec: &str) -> String {
    let template = format!("{{metadata: {{labels: {{app: a}}}}, spec: {spec}}}");
    let body = format!("spec: {{selector: {{matchLabels: {{app: a}}}}, template: {template}}}\n");
    object("apps/v1", "Deployment", "ns", "d", &body)
}

#[test]
fn the_default_service_account_exists_in_every_namespace_that_exists() {
    let bound = |namespace: &str| {
        let subject = format!("name: default, namespace: {namespace}");
        findings(
            &standalone(&[binding("ns", "kind: ClusterRole, name: view", &subject)]),
            "one",
            "missing-object",
        )
    };
    assert_eq!(bound("ns"), [""; 0]);
    assert_eq!(bound("kube-system"), [""; 0]);
    assert_eq!(
        bound("nowhere"),
        ["/subjects/[name=default]/name: there is no ServiceAccount `default` in the namespace `nowhere`"]
    );
    let moved = standalone(&[deployment("{serviceAccountName: default, containers: [{name: c, image: i}]}")])
        .profile("one", "topology: one\ncluster: both\nnamespace: hosted\n");
    assert_eq!(findings(&moved, "one", "missing-object"), [""; 0], "the namespace of the profile exists");
}

#[test]
fn roles_of_the_api_server_exist_only_in_kube_system() {
    let missing = |namespace: &str, role: &str| {
        let role = format!("kind: Role, name: {role}");
        let binding = binding(namespace, &role, "name: default, namespace: ns");
        findings(&standalone(&[binding]), "one", "missing-object")
    };
    assert_eq!(missing("kube-system", "extension-apiserver-authentication-reader"), [""; 0]);
    assert_eq!(missing("kube-system", "system:controller:token-cleaner"), [""; 0]);
    assert_eq!(
        missing("kube-system", "other"),
        ["/roleRef/name: there is no Role `other` in the namespace `kube-system`"]
    );
    assert_eq!(
        missing("ns", "extension-apiserver-authentication-reader"),
        ["/roleRef/name: there is no Role `extension-apiserver-authentication-reader` in the namespace `ns`"]
    );
}

#[test]
fn a_declared_kind_needs_a_manifest_of_its_own_group() {
    let service = object("v1", "Service", "ns", "s", "spec: {ports: [{port: 1}]}\n");
    let project = standalone(&[service]).checks(
        r"
        kinds:
          Service.serving.knative.dev: {servedBy: knative, scope: Namespaced}
        ",
    );
    assert_eq!(
        findings_with(&project, &[], "unused-external"),
        [": no manifest has the declared kind Service.serving.knative.dev"]
    );
}

#[test]
fn references_of_declared_kinds_can_be_values_of_a_map() {
    let custom = object("x.y/v1", "X", "ns", "x", "spec: {targets: {first: present, second: absent}}\n");
    let project = standalone(&[custom, config_map("present", "k", "v")]).checks(
        r"
        kinds:
          X.x.y: {servedBy: someone, scope: Namespaced, references: [{path: spec/targets/*, kind: ConfigMap}]}
        ",
    );
    assert_eq!(
        findings(&project, "one", "missing-object"),
        ["/spec/targets/second: there is no ConfigMap `absent` in the namespace `ns`"]
    );
}

#[test]
fn an_object_that_no_cluster_has_is_missing_and_not_in_the_other_cluster() {
    let pod = deployment("{containers: [{name: c, image: i, envFrom: [{configMapRef: {name: absent}}]}]}");
    let project = hosted("{guest: [Deployment]}", &[pod]);
    assert_eq!(
        findings(&project, "guest", "missing-object"),
        [
            "/spec/template/spec/containers/[name=c]/envFrom/0/configMapRef/name: there is no ConfigMap `absent` in the namespace `ns`"
        ]
    );
    assert_eq!(findings(&project, "guest", "wrong-cluster"), [""; 0]);
}

#[test]
fn a_service_that_a_page_adds_to_the_other_cluster_is_not_resolved_here() {
    let url = config_map("c", "url", "https://added.hosted.svc");
    let project = hosted("{guest: [ConfigMap]}", &[url]).page(
        "op",
        r"
        place: {guest: [ConfigMap]}
        adds:
        - {in: [mc], objects: [{apiVersion: v1, kind: Service, metadata: {name: added, namespace: ns}, spec: {ports: [{port: 1}]}}]}
        ",
    );
    assert_eq!(
        findings(&project, "guest", "wrong-cluster"),
        ["/data/url: the Service `added` is in the other cluster"]
    );
}

#[test]
fn a_subject_in_a_namespace_of_both_clusters_is_accepted_if_an_external_names_it() {
    let manifests = [
        binding("ns", "kind: ClusterRole, name: view", "name: sa, namespace: hosted"),
        config_map("c", "k", "v"),
    ];
    let project = hosted("{management: [ConfigMap], guest: [RoleBinding]}", &manifests);
    assert_eq!(
        findings(&project, "guest", "wrong-cluster-subject"),
        [
            "/subjects/[name=sa]/name: the subject is in the namespace `hosted`, which belongs to the other cluster"
        ]
    );
    let declared = |namespace: &str| {
        format!("externals: [{{objects: ['Namespace/{namespace}', ServiceAccount/hosted/sa], reason: x}}]\n")
    };
    let project = project.checks(&declared("hosted"));
    assert_eq!(findings(&project, "guest", "wrong-cluster-subject"), [""; 0]);
    let project = project.checks(&declared("h*"));
    assert_eq!(findings(&project, "guest", "wrong-cluster-subject").len(), 1, "a pattern is not enough");
}

#[test]
fn the_role_of_a_binding_is_not_a_subject() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, annotations: {x: x}}\nrules: []\n";
    let manifests =
        [binding("ns", "kind: ClusterRole, name: view", "name: default, namespace: hosted"), role.to_owned()];
    let project = hosted("{management: [RoleBinding]}", &manifests);
    assert_eq!(
        findings(&project, "mc", "wrong-cluster-subject"),
        [""; 0],
        "only the guest has other cluster-scoped objects"
    );
}

#[test]
fn items_of_a_list_are_duplicates_if_their_keys_are_the_same() {
    let duplicates = |container: &str| {
        let pod = deployment(&format!("{{containers: [{{name: c, image: i, {container}}}]}}"));
        findings(&standalone(&[pod]), "one", "duplicate-item")
    };
    let path = "/spec/template/spec/containers/[name=c]";
    assert_eq!(duplicates("args: [--v, '1', --w, '1']"), [""; 0], "any list may repeat a value");
    assert_eq!(duplicates("ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]"), [""; 0]);
    assert_eq!(
        duplicates("ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53}]"),
        [format!("{path}/ports/1: another item of the list has containerPort 53, protocol \"TCP\"")]
    );
    assert_eq!(duplicates("env: [{value: a}, {value: b}]"), [""; 0], "the names are missing, not the same");
}

#[test]
fn a_set_has_no_duplicates() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ns, annotations: {x: x}, finalizers: [a/a, b/b, a/a]}\n";
    assert_eq!(
        findings(&standalone(&[manifest.to_owned()]), "one", "duplicate-item"),
        ["/metadata/finalizers/2: another item of the list has \"a/a\""]
    );
}

/// Returns the findings about credentials in a guest with this ConfigMap.
fn secrets_in_config_map(key: &str, value: &str) -> Vec<String> {
    findings(&hosted("{guest: [ConfigMap]}", &[config_map("c", key, value)]), "guest", "secret-in-guest")
}

#[test]
fn the_keys_of_a_config_map_are_not_those_of_a_secret() {
    assert_eq!(secrets_in_config_map("password", "a setting"), [""; 0]);
    let secret = object("v1", "Secret", "ns", "s", "stringData: {password: a setting}\n");
    let project = hosted("{guest: [Secret]}", &[secret]);
    assert_eq!(
        findings(&project, "guest", "secret-in-guest"),
        ["/stringData/password: the guest receives a password"]
    );
}

#[test]
fn texts_that_are_too_short_are_no_credentials() {
    assert_eq!(secrets_in_config_map("text", "private_key: abc"), [""; 0]);
    assert_eq!(
        secrets_in_config_map("text", "private_key: abcd"),
        ["/data/text: the guest receives cloud credentials"]
    );
}

#[test]
fn a_text_about_clusters_and_tokens_is_no_kubeconfig_without_a_context() {
    let users = "users: [{user: {token: abc}}]\n";
    assert_eq!(secrets_in_config_map("text", &format!("my_clusters: []\n{users}")), [""; 0]);
    assert_eq!(
        secrets_in_config_map("text", &format!("current-context: a\nclusters: []\n{users}")),
        ["/data/text: the guest receives a kubeconfig"]
    );
}

#[test]
fn private_keys_are_found_in_lists_and_with_any_line_breaks() {
    for line_break in ["\n", "\\n", ""] {
        let key = format!("-----BEGIN PRIVATE KEY-----{line_break}MIIEvQIBADABBgkqhkiG9w0B{line_break}");
        let arguments = serde_json::json!([key]);
        let pod = deployment(&format!("{{containers: [{{name: c, image: i, args: {arguments}}}]}}"));
        assert_eq!(
            findings(&hosted("{guest: [Deployment]}", &[pod]), "guest", "secret-in-guest"),
            ["/spec/template/spec/containers/[name=c]/args/0: the guest receives a private key"],
            "{line_break:?}"
        );
    }
}

#[test]
fn an_empty_selector_of_a_network_policy_selects_all_pods() {
    let selected_by = |selector: &str| {
        let spec = format!("spec: {{podSelector: {selector}}}\n");
        let policy = object("networking.k8s.io/v1", "NetworkPolicy", "ns", "np", &spec);
        findings(&standalone(&[policy]), "one", "selects-nothing")
    };
    assert_eq!(selected_by("{}"), [""; 0]);
    assert_eq!(
        selected_by("{matchLabels: {app: a}}"),
        ["/spec/podSelector: the selector matches nothing"],
        "there are no pods"
    );
}

#[test]
fn only_selectors_of_pods_are_checked() {
    let pod = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}";
    let spec = format!("spec: {{selector: {{matchLabels: {{app: other}}}}, template: {pod}}}\n");
    let job = object("batch/v1", "Job", "ns", "j", &spec);
    assert_eq!(findings(&standalone(&[job]), "one", "selects-nothing"), [""; 0], "it is generated");
    let service = |api_version: &str| {
        let service = object(api_version, "Service", "ns", "s", "spec: {selector: {app: other}}\n");
        let project = standalone(&[service])
            .checks("kinds: {Service.serving.knative.dev: {servedBy: knative, scope: Namespaced}}\n");
        findings(&project, "one", "selects-nothing").len()
    };
    assert_eq!((service("v1"), service("serving.knative.dev/v1")), (1, 0));
}

#[test]
fn a_service_monitor_selects_services_of_other_namespaces_only_if_it_says_so() {
    let monitor = |namespaces: &str| {
        let spec = format!(
            "spec: {{selector: {{matchLabels: {{app: a}}}}, namespaceSelector: {namespaces}, endpoints: []}}\n"
        );
        let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: other, annotations: {x: x}, labels: {app: a}}\nspec: {ports: [{port: 1}]}\n";
        let manifests =
            [object("monitoring.coreos.com/v1", "ServiceMonitor", "ns", "m", &spec), service.to_owned()];
        let project = standalone(&manifests).checks(
            "kinds: {ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus, scope: Namespaced}}\n",
        );
        findings(&project, "one", "selects-nothing").len()
    };
    assert_eq!(monitor("{any: true}"), 0);
    assert_eq!(monitor("{any: false}"), 1);
    assert_eq!(monitor("{matchNames: [other]}"), 0);
    assert_eq!(monitor("{}"), 1);
}

#[test]
fn kinds_of_aggregated_api_servers_may_have_any_version() {
    let versions = |api_version: &str, kind: &str| {
        let manifest = object(api_version, kind, "ns", "r", "spec: {}\n");
        findings(&standalone(&[manifest]), "one", "unknown-kind")
    };
    assert_eq!(versions("route.openshift.io/v1", "Route"), [""; 0]);
    assert_eq!(versions("x.y/v1", "X"), [": the kind X.x.y is unknown"]);
    assert_eq!(
        versions("apps/v1beta1", "Deployment"),
        ["/apiVersion: Deployment is not served in the version apps/v1beta1"]
    );
}

#[test]
fn arguments_that_name_a_service_of_the_other_cluster_are_found() {
    let pod = deployment("{containers: [{name: c, image: i, args: ['--to=https://s.ns.svc:443']}]}");
    let service = object("v1", "Service", "ns", "s", "spec: {ports: [{port: 443}]}\n");
    let project = hosted("{management: [Service], guest: [Deployment]}", &[pod, service]);
    assert_eq!(
        findings(&project, "guest", "wrong-cluster"),
        ["/spec/template/spec/containers/[name=c]/args/0: the Service `s` is in the other cluster"]
    );
}

#[test]
fn match_expressions_select_pods_by_their_labels() {
    for (expression, selects) in [
        ("{key: app, operator: In, values: [a, b]}", true),
        ("{key: app, operator: In, values: [b]}", false),
        ("{key: app, operator: NotIn, values: [b]}", true),
        ("{key: app, operator: NotIn, values: [a, b]}", false),
        ("{key: other, operator: NotIn, values: [a]}", true),
        ("{key: app, operator: Exists}", true),
        ("{key: other, operator: Exists}", false),
        ("{key: other, operator: DoesNotExist}", true),
        ("{key: app, operator: DoesNotExist}", false),
        ("{key: pod-template-hash, operator: Exists}", true),
    ] {
        let expected: &[&str] = if selects { &[] } else { &["/spec/selector: the selector matches nothing"] };
        for labels in ["", "matchLabels: {app: a}, "] {
            let selector = format!("{{{labels}matchExpressions: [{expression}]}}");
            let spec = format!("spec: {{minAvailable: 1, selector: {selector}}}\n");
            let budget = object("policy/v1", "PodDisruptionBudget", "ns", "p", &spec);
            let project = standalone(&[deployment("{containers: [{name: c, image: i}]}"), budget]);
            assert_eq!(findings(&project, "one", "selects-nothing"), expected, "{selector}");
        }
    }
}

#[test]
fn a_host_port_of_zero_is_no_host_port() {
    let with_port = |port: u16| {
        let ports = format!("ports: [{{containerPort: 1, hostPort: {port}}}]");
        let pod = deployment(&format!("{{containers: [{{name: c, image: i, {ports}}}]}}"));
        findings(&hosted("{management: [Deployment]}", &[pod]), "mc", "host-access")
    };
    assert_eq!(with_port(0), [""; 0]);
    assert_eq!(
        with_port(8080),
        ["/spec/template/spec/containers/[name=c]/ports/0/hostPort: the pod opens a port of its node"]
    );
}

#[test]
fn the_conversion_webhook_of_a_crd_needs_a_target() {
    let crd = |client: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: xs.x.y, annotations: {{x: x}}}}\nspec: {{group: x.y, scope: Namespaced, names: {{kind: X, plural: xs}}, conversion: {{strategy: Webhook, webhook: {{clientConfig: {client}}}}}}}\n"
        )
    };
    let one_of = |client: &str| findings(&standalone(&[crd(client)]), "one", "one-of");
    assert_eq!(one_of("{url: 'https://x'}"), [""; 0]);
    assert_eq!(
        one_of("{caBundle: ''}"),
        ["/spec/conversion/webhook/clientConfig: a webhook client config must have a target"]
    );
}

#[test]
fn a_token_is_needed_only_if_a_binding_grants_rights() {
    let subject = "name: sa, namespace: hosted";
    let bound = binding("ns", "kind: ClusterRole, name: view", subject);
    let deleted = bound.replace("{x: x}", "{release.openshift.io/delete: 'true'}");
    let other_kind =
        object("x.y/v1", "Sharing", "ns", "b", &format!("subjects: [{{kind: ServiceAccount, {subject}}}]\n"));
    for (kind, manifest, unneeded) in
        [("RoleBinding", bound, 0), ("RoleBinding", deleted, 1), ("Sharing", other_kind, 1)]
    {
        let pod = deployment("{serviceAccountName: sa, containers: [{name: c, image: i}]}");
        let project = hosted(&format!("{{management: [Deployment, {kind}]}}"), &[pod, manifest])
            .checks("kinds: {Sharing.x.y: {servedBy: someone, scope: Namespaced}}\n");
        assert_eq!(findings(&project, "mc", "unneeded-token").len(), unneeded, "{kind}");
    }
}

#[test]
fn files_without_a_run_level_are_applied_in_their_order() {
    let first = config_map("c", "k", "v");
    let in_order = |namespace: &str, config: &str| {
        let project = TestProject::new()
            .manifest(&format!("op/{namespace}.yaml"), NAMESPACE)
            .manifest(&format!("op/{config}.yaml"), &first)
            .profile("one", "topology: one\ncluster: both\n");
        findings(&project, "one", "wrong-order")
    };
    assert_eq!(in_order("1", "2"), [""; 0]);
    assert_eq!(in_order("2", "1"), [": the object is applied before its namespace, Namespace/ns"]);
}
