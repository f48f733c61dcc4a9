//! Corners of the language in which one thing could be taken for another.

use crate::support::{Folder, Run};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

fn object(api_version: &str, kind: &str, namespace: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, annotations: {{x: x}}}}\n{body}"
    )
}

const POD: &str = "spec: {template: {spec: {serviceAccountName: sa, containers: [{name: c, args: [run, --config, same.yaml]}], volumes: [{name: v, emptyDir: {}}]}}}\n";

/// A Deployment in the management cluster, with what a page and a profile say.
fn folder(page: &str, mc: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", object("apps/v1", "Deployment", "ns", "d", POD));
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("place: {{management: [Deployment]}}\n{page}")),
    );
    folder
        .write("profiles/mc.yaml", file("Profile", "mc", &format!("topology: t\ncluster: management\n{mc}")));
    folder.write("profiles/guest.yaml", file("Profile", "guest", "topology: t\ncluster: guest\n"));
    folder
}

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

fn refused(folder: &Folder, profile: &str) -> String {
    folder.run(&["render", "--profile", profile]).refusal()
}

#[test]
fn a_parent_that_is_not_there_is_the_only_error() {
    let folder = folder("", "extends: hypershft\n");
    folder.write(
        "profiles/fragments/w.yaml",
        file("Fragment", "w", "description: w\nadds: [{in: [guest], nothing: x}]\n"),
    );
    let shown = refused(&folder, "guest");
    assert!(shown.contains("profiles/mc.yaml:6:10: there is no profile `hypershft` to extend"), "{shown}");
}

#[test]
fn nothing_cluster_scoped_gets_into_the_management_cluster() {
    let message = "a cluster-scoped object cannot be in a hosted control plane's namespace";
    let annotated = folder("", "select: {clusterProfile: hosted}\n");
    annotated.write("payload/op/2.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, annotations: {include.release.openshift.io/mc: 'true'}}\n");
    assert!(refused(&annotated, "mc").contains(message));
    let part = "adds: [{in: [mc], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}}]}]\n";
    let shown = refused(&folder(part, ""), "mc");
    assert!(shown.contains(&format!("component.yaml:5:8: {message}")), "{shown}");
}

#[test]
fn a_secret_parameter_is_in_no_message() {
    let folder = folder(
        "when: {p.word: other}\n",
        "policy: [{for: Deployment, set: {metadata: {labels: {w: '${p.word}', n: 'pin ${p.pin}'}}}}]\n",
    );
    folder.write("profiles/p.yaml", file("Parameters", "p", "parameters: {p.word: {type: string, description: d, secret: true}, p.pin: {type: int, description: d, secret: true}}\n"));
    folder.write("payload/b/1.yaml", object("v1", "Secret", "ns", "s", "data: {}\n"));
    folder.write(
        "payload/b/component.yaml",
        file("Component", "b", "place: {management: [Secret]}\nuses: [{w: {kind: '${p.word}'}}]\n"),
    );
    folder.write(
        "profiles/fragments/w.yaml",
        file(
            "Fragment",
            "w",
            "description: w\ninputs: {kind: {type: string, enum: [a]}}\nadds: [{nothing: x}]\n",
        ),
    );
    let given = ["--set", "p.word=hunter2", "--set", "p.pin=424242"];
    let run = |arguments: &[&str]| folder.run(&[arguments, &given[..]].concat());
    let quiet = |run: &Run| {
        !format!("{}{}", run.stdout, run.stderr).contains("hunter2") && !run.stdout.contains("424242")
    };
    let refused = run(&["render", "--profile", "mc"]);
    assert!(
        refused.code == 2 && quiet(&refused) && refused.stderr.contains("the input `kind` cannot be text"),
        "{}",
        refused.stderr
    );
    folder.write("payload/b/component.yaml", file("Component", "b", "place: {management: [Secret]}\n"));
    let list = run(&["list", "--profile", "mc"]);
    assert!(
        list.code == 0
            && quiet(&list)
            && list.stdout.contains("the component does not exist: p.word is another"),
        "{}{}",
        list.stdout,
        list.stderr
    );
    folder.write("payload/op/component.yaml", file("Component", "op", "place: {management: [Deployment]}\n"));
    assert!(quiet(&run(&["explain", "deployment/d", "--profile", "mc"])));
    let checks = "externals: [{objects: [Namespace/ns, ServiceAccount/sa], reason: r}]\nallow: [{check: missing-field, for: [Deployment/d], reason: r}, {check: unneeded-token, for: [Deployment/d], reason: r}, {check: missing-namespace, for: [Secret], reason: r}]\n";
    folder.write("profiles/checks.yaml", file("Checks", "checks", checks));
    let update = run(&["golden", "update"]);
    assert_eq!(update.code, 0, "{}", update.stderr);
    let text = folder.read("golden/default/mc/op/ns/Deployment.apps_d.yaml").replace("hunter2", "hunter1");
    folder.write("golden/default/mc/op/ns/Deployment.apps_d.yaml", text);
    let check = run(&["golden", "check"]);
    assert!(check.code == 1 && !check.stdout.contains("hunter"), "{}", check.stdout);
    assert!(
        check.stdout.contains("differs (not shown, because it contains a secret parameter)"),
        "{}",
        check.stdout
    );
}

#[test]
fn two_objects_of_one_name_are_told_apart_by_their_namespaces() {
    let token = POD.replace("emptyDir: {}", "projected: {sources: [{serviceAccountToken: {path: kube}}, {serviceAccountToken: {audience: a, path: t}}]}");
    let folder = folder("", "intents: {projected-token: w}\n");
    folder.write(
        "payload/op/2.yaml",
        object(
            "apps/v1",
            "Deployment",
            "zz",
            "d",
            &token.replace("{serviceAccountToken: {path: kube}}, ", ""),
        ),
    );
    let word = "description: w\ninputs: {workload: workload, volume: name}\nadds:\n- {in: [guest], nothing: x}\n- {in: [mc], pod: {spec: {volumes: [{name: '${volume}', emptyDir: {medium: Memory}}]}}}\n";
    folder.write("profiles/fragments/w.yaml", file("Fragment", "w", word));
    let volumes =
        |index: usize| render(&folder, "mc")[index]["spec"]["template"]["spec"]["volumes"].to_string();
    assert_eq!(
        (volumes(0).as_str(), volumes(1).as_str()),
        (r#"[{"emptyDir":{},"name":"v"}]"#, r#"[{"emptyDir":{"medium":"Memory"},"name":"v"}]"#)
    );
    // A page cannot say which one it means.
    folder.write(
        "payload/op/component.yaml",
        file(
            "Component",
            "op",
            "place: {management: [Deployment]}\nuses: [{w: {workload: Deployment/d, volume: v}}]\n",
        ),
    );
    let shown = refused(&folder, "mc");
    assert!(shown.contains("component.yaml:5:23: `Deployment/d` is the name of several objects"), "{shown}");
    // A token behind one that is for the cluster itself is still found.
    folder.write("payload/op/2.yaml", object("apps/v1", "Deployment", "zz", "e", &token));
    folder.write("payload/op/component.yaml", file("Component", "op", "place: {management: [Deployment]}\n"));
    assert!(refused(&folder, "mc").contains("a projected-token shares its volume with other sources"));
}

const HOOKS: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}\n\
    webhooks: [{name: a.x.y, clientConfig: {service: {name: far, namespace: ns}}}, {name: b.x.y, clientConfig: {service: {name: near, namespace: ns}}}]\n";

#[test]
fn a_webhook_may_be_another_components_and_one_of_two() {
    let folder = folder("", "");
    folder.write(
        "profiles/guest.yaml",
        file("Profile", "guest", "topology: t\ncluster: guest\nintents: {webhook: w}\n"),
    );
    folder.write("payload/hook/1.yaml", HOOKS);
    folder.write("payload/op/2.yaml", object("v1", "Service", "ns", "far", ""));
    folder.write("payload/op/3.yaml", object("v1", "Service", "ns", "near", ""));
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", "place: {management: [Deployment, Service/far], guest: [Service/near]}\n"),
    );
    let word = "description: w\ninputs: {service: object}\nadds:\n- {in: [guest], nothing: x}\n- {in: [mc], objects: [{apiVersion: v1, kind: Service, metadata: {name: '${service.name}', namespace: '${service.namespace}', labels: {hook: 'true'}}}]}\n";
    folder.write("profiles/fragments/w.yaml", file("Fragment", "w", word));
    let mc = render(&folder, "mc");
    assert_eq!((mc.len(), mc[1]["metadata"]["labels"]["hook"].as_str()), (2, Some("true")));
    let guest = render(&folder, "guest");
    let config = guest.iter().find(|object| object["metadata"]["name"] == "v").unwrap();
    assert_eq!(config["webhooks"][1]["clientConfig"]["service"]["name"], "near");
    assert_eq!(
        config["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"], "true",
        "the near one still needs it"
    );
    folder.write("payload/hook/1.yaml", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.y, annotations: {x: x}}\nspec: {service: {name: far, namespace: ns}}\n");
    assert!(
        refused(&folder, "guest")
            .contains("`w` cannot honour this: an API is served by a Service of its own cluster only")
    );
}

/// Lists of parts and uses in both orders: the same objects, list positions aside.
#[test]
fn order_decides_positions_and_nothing_else() {
    let both = |first: &str, second: &str, values: &str| {
        let spec = |one: &str, two: &str| {
            let folder = folder(&format!("values: {{{values}}}\nadds: [{one}, {two}]\n"), "");
            let run = folder.run(&["render", "--profile", "mc", "-o", "json"]);
            (run.code, run.stdout)
        };
        assert_eq!(spec(first, second), spec(second, first));
    };
    both(
        "{pod: {spec: {initContainers: [{name: i1}]}}}",
        "{pod: {spec: {containers: [{name: i1, image: q}]}}}",
        "workload: Deployment/d",
    );
    let config = |namespace: &str| {
        format!(
            "{{in: [mc], objects: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{namespace}}}, data: {{k: v}}}}]}}"
        )
    };
    both(&config(", namespace: ns"), &config(""), "workload: Deployment/d");
}

#[test]
fn what_two_say_differently_is_a_conflict() {
    for (parts, message) in [
        (
            "[{pod: {spec: {volumes: [{name: v, secret: {secretName: s}}]}}}]",
            "two authors say different things about one field",
        ),
        (
            "[{pod: {spec: {containers: [{name: c, env: [{name: E, value: x}]}]}}}, {pod: {spec: {containers: [{name: c, env: [{name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}]",
            "two authors say different things about one field",
        ),
        (
            "[{pod: {spec: {containers: [{name: c, args: [--config, else.yaml]}]}}}]",
            "two authors say different things about one field",
        ),
        ("[{pod: {spec: {containers: {name: c}}}}]", "`containers` is a list, not a map"),
        (
            "[{intents: {proxy: keep}}, {intents: {proxy: {refuse: x}}}]",
            "two parts honour a proxy differently",
        ),
    ] {
        let shown =
            refused(&folder(&format!("values: {{workload: Deployment/d}}\nadds: {parts}\n"), ""), "mc");
        assert!(shown.contains(message), "{parts}: {shown}");
    }
}

#[test]
fn a_flag_and_the_value_behind_it_go_together() {
    let parts = "values: {workload: Deployment/d}\nadds: [{pod: {spec: {containers: [{name: c, args: [--other, same.yaml, --config, same.yaml, run]}]}}}]\n";
    let args =
        render(&folder(parts, ""), "mc")[0]["spec"]["template"]["spec"]["containers"][0]["args"].clone();
    assert_eq!(args.to_string(), r#"["run","--config","same.yaml","--other","same.yaml"]"#);
}

#[test]
fn subjects_of_one_name_are_several() {
    let binding = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: p, namespace: a}]\n";
    let part = "adds: [{in: [mc], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: ns}, subjects: [{kind: ServiceAccount, name: p, namespace: b}]}]}]\n";
    let folder = folder("", "");
    folder.write(
        "payload/op/2.yaml",
        object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b", binding),
    );
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", &format!("place: {{management: [Deployment, RoleBinding]}}\n{part}")),
    );
    assert_eq!(render(&folder, "mc")[1]["subjects"].as_array().unwrap().len(), 2);
}

#[test]
fn entries_of_every_do_not_see_each_other() {
    let rendered = |first: &str, second: &str| {
        render(&folder("", &format!("policy:\n- {first}\n- {second}\n")), "mc")[0]["spec"]["template"]["spec"]
            ["containers"]
            .to_string()
    };
    let tmp = "{for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: v, mountPath: /tmp}]}}";
    let env = "{for: container, when: {container.mountsTmp: false}, add: {env: [{name: E, value: x}]}}";
    assert_eq!(rendered(tmp, env), rendered(env, tmp));
    let shown = refused(
        &folder(
            "",
            "policy:\n- {for: pod, set: {spec: {nodeSelector: {}}}}\n- {for: pod, set: {spec: {nodeSelector: null}}}\n",
        ),
        "mc",
    );
    assert!(
        shown.contains("two `policy` entries set `/spec/template/spec/nodeSelector` differently"),
        "{shown}"
    );
    let keys = "policy: [{for: pod, set: {metadata: {annotations: {example.com: a, example.com/b: c}}}}]\n";
    assert_eq!(render(&folder("", keys), "mc").len(), 1, "a slash in a key is no path");
}

#[test]
fn a_patch_means_the_object_that_it_names() {
    let folder = folder("", "");
    folder.write("payload/op/2.yaml", object("v1", "ConfigMap", "ns", "c", "data: {}\n"));
    folder.write("payload/op/3.yaml", object("v1", "ConfigMap", "zz", "c", "data: {}\n"));
    let page = |patch: &str| {
        file(
            "Component",
            "op",
            &format!(
                "place: {{management: [Deployment, ConfigMap]}}\npatches: [{{reason: x, in: [mc], patch: {patch}}}]\n"
            ),
        )
    };
    folder.write(
        "payload/op/component.yaml",
        page("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: zz}, data: {k: v}}"),
    );
    let rendered = render(&folder, "mc");
    assert_eq!(
        (rendered[1]["data"].to_string().as_str(), rendered[2]["data"].to_string().as_str()),
        ("{}", r#"{"k":"v"}"#)
    );
    folder.write(
        "payload/op/component.yaml",
        page("{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2}}"),
    );
    assert!(refused(&folder, "mc").contains("the patch matches no object of `op`"));
}

#[test]
fn a_custom_kind_merges_by_the_version_it_is_written_in() {
    let folder = folder("", "");
    let list = |more: &str| {
        format!(
            "schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{l: {{type: array{more}, items: {{type: object, properties: {{name: {{type: string}}}}}}}}}}}}}}}}}}"
        )
    };
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: xs.x.y, annotations: {{x: x}}}}\nspec: {{group: x.y, scope: Namespaced, names: {{kind: X, plural: xs}}, versions: [{{name: v1alpha1, {}}}, {{name: v1, {}}}]}}\n",
        list(""),
        list(", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]")
    );
    folder.write("payload/op/2.yaml", crd);
    folder.write("payload/op/3.yaml", object("x.y/v1", "X", "ns", "one", "spec: {l: [{name: a}]}\n"));
    folder.write("payload/op/component.yaml", file("Component", "op", "place: {management: [Deployment, X]}\npatches: [{reason: x, in: [mc], target: {kind: X}, patch: {metadata: {labels: {a: b}}, spec: {l: [{name: b}]}}}]\n"));
    assert_eq!(render(&folder, "mc")[1]["spec"]["l"].to_string(), r#"[{"name":"a"},{"name":"b"}]"#);
}

#[test]
fn an_account_is_bound_by_its_user_name_and_by_its_group() {
    for subject in [
        "{kind: User, name: 'system:serviceaccount:ns:sa'}",
        "{kind: Group, name: 'system:serviceaccounts:ns'}",
        "{kind: ServiceAccount, name: sa}",
    ] {
        let folder = folder(
            "",
            "policy: [{for: pod, when: {pod.usesOwnApi: false}, set: {spec: {automountServiceAccountToken: false}}}]\n",
        );
        folder.write(
            "payload/op/2.yaml",
            object(
                "rbac.authorization.k8s.io/v1",
                "RoleBinding",
                "ns",
                "b",
                &format!("subjects: [{subject}]\n"),
            ),
        );
        folder.write(
            "payload/op/component.yaml",
            file("Component", "op", "place: {management: [Deployment, RoleBinding]}\n"),
        );
        assert!(
            render(&folder, "mc")[0]["spec"]["template"]["spec"]
                .get("automountServiceAccountToken")
                .is_none(),
            "{subject}"
        );
    }
}

#[test]
fn a_fact_that_comes_too_late_for_parameters_is_an_error() {
    let patch = "patches: [{reason: x, in: [mc], target: {kind: Deployment}, patch: {metadata: {annotations: {config.openshift.io/inject-proxy: c}}}}]\n";
    let folder = folder(patch, "intents: {proxy: '${p}'}\n");
    let optional = |name: &str| format!("p.{name}: {{type: string, description: d, optional: true}}");
    folder.write(
        "profiles/p.yaml",
        file(
            "Parameters",
            "p",
            &format!(
                "parameters: {{{}, {}, {}}}\n",
                optional("httpProxy"),
                optional("httpsProxy"),
                optional("noProxy")
            ),
        ),
    );
    assert!(refused(&folder, "mc").contains("a proxy that was not there when it could be honoured"));
}

#[test]
fn every_document_of_a_configuration_is_kept() {
    let folder = folder("", "intents: {tls: '${t}'}\n");
    let config =
        "data:\n  c.yaml: |\n    kind: GenericOperatorConfig\n    servingInfo:\n    ---\n    kind: Other\n";
    folder.write("payload/op/2.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ns, annotations: {config.openshift.io/inject-tls: 'true'}}\n".to_owned() + config);
    folder.write(
        "payload/op/component.yaml",
        file("Component", "op", "place: {management: [Deployment, ConfigMap]}\n"),
    );
    folder.write("profiles/p.yaml", file("Parameters", "p", "parameters: {t.minVersion: {type: string, description: d, default: V}, t.cipherSuites: {type: list, description: d, optional: true}}\n"));
    assert_eq!(
        render(&folder, "mc")[1]["data"]["c.yaml"],
        "kind: GenericOperatorConfig\nservingInfo:\n  minTLSVersion: V\n---\nkind: Other\n"
    );
}

#[test]
fn a_component_whose_manifests_are_all_omitted_still_has_its_parts() {
    let page = "omit: {Deployment: {reason: not there, in: [guest]}}\nadds: [{in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}}]}]\n";
    assert_eq!(render(&folder(page, ""), "guest")[0]["metadata"]["name"], "c");
}

/// An entry of `containers` about an init container may stand before it, also in what honours a fact.
#[test]
fn what_honours_a_fact_is_merged_as_a_whole() {
    let folder = folder("", "intents: {projected-token: w}\n");
    let token =
        POD.replace("emptyDir: {}", "projected: {sources: [{serviceAccountToken: {audience: a, path: t}}]}");
    folder.write("payload/op/1.yaml", object("apps/v1", "Deployment", "ns", "d", &token));
    let word = "description: w\ninputs: {workload: workload}\nadds:\n- {in: [guest], nothing: x}\n- {in: [mc], pod: {spec: {containers: [{name: minter, image: q}]}}}\n- {in: [mc], pod: {spec: {initContainers: [{name: minter}]}}}\n";
    folder.write("profiles/fragments/w.yaml", file("Fragment", "w", word));
    let spec = render(&folder, "mc")[0]["spec"]["template"]["spec"].clone();
    assert_eq!(spec["initContainers"].to_string(), r#"[{"image":"q","name":"minter"}]"#);
    assert_eq!(spec["containers"].as_array().unwrap().len(), 1);
}
