//! Intents in manifests: the errors if they cannot be handled, and what stays unchanged.

use super::{
    DEPLOYMENT, GUEST, MC, SERVICE, WEBHOOKS, conflict_with_manifest, find, named, no_container, pod,
    project, project_with_page, render, render_error, run,
};

const TOKEN: &str =
    "{name: token, projected: {sources: [{serviceAccountToken: {audience: sts, path: jwt}}]}}";

/// The Deployment with a token that the driver mounts.
fn with_token() -> String {
    DEPLOYMENT
        .replace("args: [run]", "args: [run], volumeMounts: [{name: token, mountPath: /token}]")
        .replace("volumes: [", &format!("volumes: [{TOKEN}, "))
}

#[test]
fn a_projected_token_that_cannot_be_minted() {
    for (manifest, message) in [
        (
            with_token().replace(", volumeMounts: [{name: token, mountPath: /token}]", ""),
            "error: hypershift-mc.yaml(projected-token: token-minter): the fragment `token-minter` needs the input `container`\n  \
             help: Deployment/d has more than one container: name one of them\n",
        ),
        (
            with_token().replace("sources: [", "sources: [{configMap: {name: c}}, "),
            "error: payload/op/0000_50_op_1.yaml:13:17: the fragment `token-minter` cannot replace this `projected-token`: its volume has other sources, which would be removed with it\n  \
             object: Deployment.apps/d in old\n  note: the rule is at hypershift-mc.yaml(projected-token: token-minter)\n  \
             help: give the token a volume of its own\n",
        ),
    ] {
        assert_eq!(render_error(&project(&manifest, ""), MC), message);
    }
    let twice = "uses:\n- token-minter: {workload: Deployment/d, container: driver, volume: token, mountPath: /token, serviceAccount: robot}\n";
    assert_eq!(
        render_error(&project(&with_token(), twice), MC),
        conflict_with_manifest(
            "fragments/token-minter.yaml(name: ${volume})",
            "Deployment.apps/d in old",
            "13:17"
        ),
        "asked for by the manifest and by the page"
    );
}

#[test]
fn a_projected_token_is_replaced_and_its_neighbours_stay() {
    let mc = render(&project(&with_token(), ""), MC, &[]);
    assert_eq!(
        named(&mc, "containers", "other")["volumeMounts"].to_string(),
        r#"[{"mountPath":"/data","name":"data"},{"mountPath":"/tmp","name":"tmp-dir"}]"#
    );
    assert_eq!(
        pod(&mc)["volumes"].to_string(),
        r#"[{"emptyDir":{"medium":"Memory"},"name":"token"},{"emptyDir":{},"name":"data"},{"emptyDir":{},"name":"socket-dir"},{"name":"metrics-serving-cert","secret":{"secretName":"cert"}},{"name":"guest-kubeconfig","secret":{"defaultMode":416,"secretName":"d-kubeconfig"}},{"emptyDir":{},"name":"tmp-dir"}]"#
    );
}

#[test]
fn a_service_that_asks_for_a_certificate() {
    let request = SERVICE.replace(
        "namespace: old}",
        "namespace: old, annotations: {service.beta.openshift.io/serving-cert-secret-name: c, own: stays}}",
    );
    let silent = SERVICE.replace("hook", "silent");
    let project = project(&format!("{request}{silent}"), "");
    let mc = render(&project, MC, &[]);
    assert_eq!(
        find(&mc, "Secret", "c").to_string(),
        r#"{"apiVersion":"v1","data":{"tls.crt":"","tls.key":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"certificate for hook, hook.clusters-example.svc, hook.clusters-example.svc.cluster.local, localhost signed by root-ca"},"name":"c","namespace":"clusters-example"},"type":"kubernetes.io/tls"}"#
    );
    assert_eq!(
        find(&mc, "Service", "hook").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"annotations":{"own":"stays"},"name":"hook","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
    assert_eq!(
        find(&mc, "Service", "silent").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"silent","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
    let standalone = render(&project, "standalone", &[]);
    assert_eq!(
        (
            standalone.len(),
            find(&standalone, "Service", "hook")["metadata"]["annotations"].to_string().as_str()
        ),
        (2, r#"{"own":"stays","service.beta.openshift.io/serving-cert-secret-name":"c"}"#)
    );
}

#[test]
fn a_service_that_asks_for_a_certificate_in_a_wrong_way() {
    for secret in ["''", "a/b"] {
        let request = format!(
            "namespace: old, annotations: {{service.beta.openshift.io/serving-cert-secret-name: {secret}}}}}"
        );
        assert_eq!(
            render_error(&project(&SERVICE.replace("namespace: old}", &request), ""), MC),
            "error: payload/op/0000_50_op_1.yaml:3:106: the input `secret` must be a name of lower-case letters, digits, `-` and `.`\n"
        );
    }
}

#[test]
fn a_webhook_that_cannot_be_called_by_url() {
    for (wrong, message) in [
        ("path: check", "the input `path` must be an absolute path"),
        ("port: '443'", "the input `port` must be a port number from 1 to 65535, not text"),
        ("port: 99999", "the input `port` must be a port number from 1 to 65535, not a number"),
    ] {
        let webhooks = WEBHOOKS.replace("port: 443", wrong);
        assert_eq!(
            render_error(&project(&format!("{webhooks}{SERVICE}"), ""), GUEST),
            format!("error: payload/op/0000_50_op_1.yaml:5:41: {message}\n")
        );
    }
    let api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.y}\nspec: {service: {name: hook, namespace: old}}\n---\n";
    assert_eq!(
        render_error(&project(&format!("{api}{SERVICE}"), ""), GUEST),
        "error: payload/op/0000_50_op_1.yaml:4:17: the fragment `webhook-url` cannot replace this `webhook`: an aggregated API needs a Service in its own cluster\n  \
         object: APIService.apiregistration.k8s.io/v1.x.y\n  note: the rule is at hypershift-guest.yaml(webhook: webhook-url)\n  \
         help: write `intents: {webhook: keep}` in an `adds` entry of its page, and add a Service there\n"
    );
}

#[test]
fn a_webhook_of_its_own_cluster_stays() {
    let page = "place: {both: [Service]}\n";
    let guest = render(&project_with_page(&format!("{WEBHOOKS}{SERVICE}"), page), GUEST, &[]);
    assert_eq!(
        find(&guest, "ValidatingWebhookConfiguration", "v")["webhooks"].to_string(),
        r#"[{"clientConfig":{"service":{"name":"hook","namespace":"old","port":443}},"name":"a.b.c"},{"clientConfig":{"url":"https://elsewhere"},"name":"d.e.f"}]"#
    );
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: old, META}\ndata:\n  c.yaml: |\n    kind: GenericOperatorConfig\n  text: stays\n";

#[test]
fn a_trusted_bundle_is_left_to_each_cluster() {
    let manifest = CONFIG.replace("META", "labels: {config.openshift.io/inject-trusted-cabundle: 'true'}");
    let both = project_with_page(&manifest, "place: {both: [ConfigMap]}\n");
    for profile in ["standalone", MC, GUEST] {
        let config = render(&both, profile, &[]);
        let config = find(&config, "ConfigMap", "c");
        assert_eq!(
            (config["metadata"]["labels"].to_string().as_str(), config["data"].to_string().as_str()),
            (
                r#"{"config.openshift.io/inject-trusted-cabundle":"true"}"#,
                r#"{"c.yaml":"kind: GenericOperatorConfig\n","text":"stays"}"#
            )
        );
    }
}

#[test]
fn tls_settings_are_those_of_the_cluster() {
    let manifest = CONFIG.replace("META", "annotations: {config.openshift.io/inject-tls: 'true'}");
    let both = project_with_page(&manifest, "place: {both: [ConfigMap]}\n");
    for (profile, group) in [("standalone", "guest"), (GUEST, "guest"), (MC, "hcp")] {
        let version = format!("{group}.tls.minVersion=VersionTLS13");
        let suites = format!("{group}.tls.cipherSuites=[A]");
        let data = |more: &[&str]| find(&render(&both, profile, more), "ConfigMap", "c")["data"].to_string();
        assert_eq!(data(&[]), r#"{"c.yaml":"kind: GenericOperatorConfig\n","text":"stays"}"#);
        assert_eq!(
            data(&["--set", &version, "--set", &suites]),
            r#"{"c.yaml":"kind: GenericOperatorConfig\nservingInfo:\n  cipherSuites:\n  - A\n  minTLSVersion: VersionTLS13\n","text":"stays"}"#
        );
    }
    let run = run(&both, MC, &["--set", "hcp.tls.cipherSuites=A"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "error: --set hcp.tls.cipherSuites:1:1: the parameter `hcp.tls.cipherSuites` must be a list, not the text `A`\n"
        )
    );
}

/// The Deployment with an annotation.
fn annotated(annotation: &str) -> String {
    DEPLOYMENT.replacen(
        "namespace: old}",
        &format!("namespace: old, annotations: {{config.openshift.io/{annotation}}}}}"),
        1,
    )
}

#[test]
fn the_proxy_is_that_of_the_cluster() {
    let both = project_with_page(&annotated("inject-proxy: driver"), "place: {both: [Deployment]}\n");
    for (profile, group) in [("standalone", "guest"), (GUEST, "guest"), (MC, "management")] {
        let set = ["httpProxy=http://a", "httpsProxy=http://b", "noProxy=c"]
            .map(|value| format!("{group}.proxy.{value}"));
        let more: Vec<&str> = set.iter().flat_map(|value| ["--set", value]).collect();
        let env = |more: &[&str], container: &str| {
            named(&render(&both, profile, more), "containers", container)["env"].to_string()
        };
        assert_eq!(env(&[], "driver"), "null");
        assert_eq!(
            env(&more, "driver"),
            r#"[{"name":"HTTP_PROXY","value":"http://a"},{"name":"HTTPS_PROXY","value":"http://b"},{"name":"NO_PROXY","value":"c"}]"#
        );
        assert_eq!(env(&more, "other"), "null", "only the container that is named");
    }
}

#[test]
fn annotations_that_name_no_container() {
    let warning = |annotation: &str, column: usize, kind: &str| {
        format!(
            "warning: payload/op/0000_50_op_1.yaml:3:{column}: the annotation `config.openshift.io/{annotation}` is {kind}, not text\n  \
             object: Deployment.apps/d in old\n  note: the cluster-version-operator ignores all annotations of the object and excludes it\n  help: put the value in quotes\n\
             error: the profile `hypershift-mc` selects none of the payload's 4 manifests\n  \
             note: 3 of them for this reason: cluster-profile: include.release.openshift.io/hypershift unset\n  help: check the names in `select`\n"
        )
    };
    for (annotation, message) in [
        (
            "inject-proxy: 'driver, drivr'",
            "error: payload/op/0000_50_op_1.yaml:3:85: there is no container `drivr` for the proxy variables\n  \
             object: Deployment.apps/d in old\n  help: list the names of containers in the annotation, separated by commas\n"
                .to_owned(),
        ),
        (
            "inject-proxy-cabundle: 'driver, drivr'",
            no_container("fragments/proxy-cabundle.yaml(${container})").replace(
                "payload/op/component.yaml:7:3",
                "hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)",
            ),
        ),
        (
            "inject-proxy-cabundle: driver;other",
            "error: fragments/proxy-cabundle.yaml(${container}): there is no container `driver;other` to add to\n  \
             object: Deployment.apps/d in old\n  note: used at hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)\n  \
             help: the containers are other, driver; a new container needs an `image`\n"
                .to_owned(),
        ),
        ("inject-proxy: true", warning("inject-proxy", 85, "a boolean")),
        ("inject-proxy-cabundle: 5", warning("inject-proxy-cabundle", 94, "a number")),
    ] {
        assert_eq!(render_error(&project(&annotated(annotation), ""), MC), message, "{annotation}");
    }
}

#[test]
fn two_containers_of_the_guest_trust_one_bundle() {
    let manifest = annotated("inject-proxy-cabundle: 'driver, other'");
    let guest = render(&project_with_page(&manifest, "place: {guest: [Deployment]}\n"), GUEST, &[]);
    let bundle =
        r#"{"mountPath":"/etc/pki/ca-trust/extracted/pem","name":"trusted-ca-bundle","readOnly":true}"#;
    assert_eq!(named(&guest, "containers", "driver")["volumeMounts"].to_string(), format!("[{bundle}]"));
    assert_eq!(
        named(&guest, "containers", "other")["volumeMounts"].to_string(),
        format!(r#"[{{"mountPath":"/data","name":"data"}},{bundle}]"#)
    );
    assert_eq!(pod(&guest)["volumes"].as_array().unwrap().len(), 4, "one volume more");
    assert!(find(&guest, "Deployment", "d")["metadata"].get("annotations").is_none());
}
