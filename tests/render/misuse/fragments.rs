//! The bundled fragments, one after the other: the errors for each misuse.

use super::{
    DEPLOYMENT, GUEST, MC, ROLE, SERVICE, USES, WEBHOOKS, assert_contradiction, assert_misuse,
    conflict_with_manifest, find, named, project, render,
};

#[test]
fn guest_api_with_a_variable_and_an_existing_secret() {
    let usage = "guest-api: {workload: Deployment/d, container: driver, env: KUBECONFIG, secret: theirs, issue: false}";
    let mc = render(&project(DEPLOYMENT, &format!("uses:\n- {usage}\n")), MC, &[]);
    assert!(mc.iter().all(|object| object["kind"] != "Secret"));
    let driver = named(&mc, "containers", "driver");
    assert_eq!(
        (driver["args"].to_string().as_str(), driver["env"].to_string().as_str()),
        (r#"["run"]"#, r#"[{"name":"KUBECONFIG","value":"/etc/guest-kubeconfig/kubeconfig"}]"#)
    );
    assert_eq!(
        named(&mc, "volumes", "guest-kubeconfig").to_string(),
        r#"{"name":"guest-kubeconfig","secret":{"defaultMode":416,"secretName":"theirs"}}"#
    );
}

#[test]
fn misuse_of_guest_api() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
guest-api: {workload: Deployment/d, container: driver, flag: --k, arg: --k}
error: payload/op/component.yaml:7:58: the fragment `guest-api` has no input `flag`
  help: its inputs are arg, container, env, issue, secret, workload

guest-api: {workload: Deployment/d, arg: --k}
error: payload/op/component.yaml:7:3: the fragment `guest-api` needs the input `container`
  help: Deployment/d has more than one container: name one of them

guest-api: {container: driver, arg: --k}
error: payload/op/component.yaml:7:3: the fragment `guest-api` needs the input `workload`

guest-api: {workload: Deployment/d, container: driver, arg: 5}
error: payload/op/component.yaml:7:63: the input `arg` must be text, not the number 5

guest-api: {workload: Deployment/d, container: driver, issue: 'false', arg: --k}
error: payload/op/component.yaml:7:65: the input `issue` must be true or false, not the text `false`

guest-api: {workload: Deployment/d, container: driver, secret: a/b, arg: --k}
error: payload/op/component.yaml:7:66: the input `secret` must be a name of lower-case letters, digits, `-` and `.`, not `a/b`

guest-api: {workload: Deployment/d, container: , arg: --k}
error: payload/op/component.yaml:7:48: the input `container` must be the name of a container, not null

guest-api: {workload: Deployment/d, container: [driver, 5], arg: --k}
error: payload/op/component.yaml:7:59: the input `container` must be the name of a container, not the number 5

guest-api: {workload: Deployment/d, container: drivr, arg: --k}
error: fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
error: fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
2 errors
",
    );
}

#[test]
fn guest_api_contradicts_nobody() {
    let usage = "guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, env: KUBECONFIG}";
    for (change, at, there) in [
        (
            ["volumes: [", "volumes: [{name: guest-kubeconfig, emptyDir: {}}, "],
            "fragments/guest-api.yaml(name: guest-kubeconfig)",
            "13:17",
        ),
        (
            ["args: [run]", "volumeMounts: [{name: data, mountPath: /etc/guest-kubeconfig}]"],
            "fragments/guest-api.yaml(guest-kubeconfig)",
            "12:56",
        ),
        (
            ["args: [run]", "args: [--kubeconfig=/mine]"],
            "fragments/guest-api.yaml(${arg}=$(${env}))",
            "12:41",
        ),
        (
            ["args: [run]", "env: [{name: KUBECONFIG, value: /mine}]"],
            "fragments/guest-api.yaml(/etc/guest-kubeconfig/kubeconfig)",
            "12:66",
        ),
    ] {
        let manifest = DEPLOYMENT.replace(change[0], change[1]);
        assert_misuse(
            &manifest,
            MC,
            &format!("{usage}\n{}", conflict_with_manifest(at, "Deployment.apps/d in old", there)),
        );
    }
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, "guest-api: {workload: Deployment/d, container: other, arg: --k, secret: second}"],
        "fragments/guest-api.yaml(${secret})",
        "Deployment.apps/d in old",
    );
    let second =
        DEPLOYMENT.replace("name: d, namespace", "name: e, namespace").replace("Name: sa", "Name: sb");
    assert_contradiction(
        &format!("{DEPLOYMENT}{second}"),
        MC,
        [
            "guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: s}",
            "guest-api: {workload: Deployment/e, container: driver, arg: --k, secret: s}",
        ],
        "fragments/guest-api.yaml(${workload.serviceAccount})",
        "IssuedKubeconfig.transship.openshift.io/s in old",
    );
}

#[test]
fn an_issued_secret_is_not_there_already() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: old}\n";
    assert_misuse(
        &format!("{DEPLOYMENT}{SERVICE}{secret}"),
        MC,
        r"
guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: s}
error[duplicate-object]: payload/op/0000_50_op_1.yaml:20:1: two manifests describe the same object
  object: Secret/s in clusters-example
  note: the other manifest is at fragments/guest-api.yaml(apiVersion: transship.openshift.io/v1)
  note: each apply would overwrite one with the other
  help: exclude one of them with a release annotation, a capability or a feature set

serving-cert: {service: Service/hook, secret: s}
error[duplicate-object]: fragments/serving-cert.yaml(apiVersion: transship.openshift.io/v1): two manifests describe the same object
  object: Secret/s in clusters-example
  note: the other manifest is at payload/op/0000_50_op_1.yaml:20:1
  note: each apply would overwrite one with the other
  help: exclude one of them with a release annotation, a capability or a feature set
",
    );
}

#[test]
fn misuse_of_token_minter() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
token-minter: {workload: Deployment/d, container: driver}
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `mountPath`
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `serviceAccount`
error: payload/op/component.yaml:7:3: the fragment `token-minter` needs the input `volume`
3 errors

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: t, serviceAccount: sa}
error: payload/op/component.yaml:7:83: the input `mountPath` must be an absolute path, not `t`

token-minter: {workload: Deployment/d, container: driver, volume: a/b, mountPath: /t, serviceAccount: sa}
error: payload/op/component.yaml:7:69: the input `volume` must be a name of lower-case letters, digits, `-` and `.`, not `a/b`

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceAccount: sa, oneshot: 'true'}
error: payload/op/component.yaml:7:116: the input `oneshot` must be true or false, not the text `true`

token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceacount: sa}
error: payload/op/component.yaml:7:87: the fragment `token-minter` has no input `serviceacount`
  help: did you mean `serviceAccount`?

token-minter: {workload: Deployment/d, container: drivr, volume: t, mountPath: /t, serviceAccount: sa}
error: fragments/token-minter.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?

token-minter: {workload: Deployment/d, container: driver, volume: metrics-serving-cert, mountPath: /t, serviceAccount: sa}
error: fragments/token-minter.yaml(name: ${volume}): this field already has a different value
  object: Deployment.apps/d in old
  note: the other value is at payload/op/0000_50_op_1.yaml:13:79
  note: used at payload/op/component.yaml:7:3
  help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch
",
    );
    let usage = "token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceAccount: sa}";
    for (more, at) in [
        (", audience: sts}", "fragments/minter.yaml(--token-audience=${audience})"),
        (", file: other}", "fragments/minter.yaml(--token-file=${mountPath}/${file})"),
    ] {
        assert_contradiction(
            DEPLOYMENT,
            MC,
            [usage, &usage.replace('}', more)],
            at,
            "Deployment.apps/d in old",
        );
    }
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("volume: t", "volume: u")],
        "fragments/token-minter.yaml(${volume})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_minter_by_itself() {
    let minter = USES[2];
    let project = project(DEPLOYMENT, &format!("uses:\n- {minter}\n"));
    assert_eq!(
        named(&render(&project, MC, &[]), "initContainers", "m").to_string(),
        r#"{"args":["--service-account-namespace=old","--service-account-name=robot","--token-audience=a","--token-file=/data/f","--oneshot","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"],"command":["/usr/bin/control-plane-operator","token-minter"],"image":"q/token-minter","imagePullPolicy":"IfNotPresent","name":"m","resources":{"requests":{"cpu":"10m","memory":"30Mi"}},"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/etc/guest-kubeconfig","name":"guest-kubeconfig","readOnly":true},{"mountPath":"/tmp","name":"tmp-dir"}]}"#
    );
}

#[test]
fn misuse_of_minter() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
minter: {workload: Deployment/d, container: m}
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `audience`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `file`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `mountPath`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `oneshot`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `serviceAccount`
error: payload/op/component.yaml:7:3: the fragment `minter` needs the input `volume`
6 errors

minter: {workload: Deployment/d, container: m, volume: data, mountPath: /data, serviceAccount: robot, file: f, audience: a, oneshot: 1}
error: payload/op/component.yaml:7:136: the input `oneshot` must be true or false, not the number 1

minter: {workload: Deployment/d, container: m, volume: data, mountPath: data, serviceAccount: robot, file: f, audience: a, oneshot: true}
error: payload/op/component.yaml:7:75: the input `mountPath` must be an absolute path, not `data`

minter: {workload: Deployment/d, container: m, volume: data, mountPath: /data, serviceAccount: robot, file: f, audiance: a, oneshot: true}
error: payload/op/component.yaml:7:114: the fragment `minter` has no input `audiance`
  help: did you mean `audience`?
",
    );
}

#[test]
fn credentials_of_another_cloud_have_another_place_in_every_profile() {
    let usage = "cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: gcp, mountPath: /gcp, env: GOOGLE, file: key.json}";
    let project = project(DEPLOYMENT, &format!("uses:\n- {usage}\n"));
    for profile in [MC, "standalone"] {
        let objects = render(&project, profile, &[]);
        let driver = named(&objects, "containers", "driver");
        assert_eq!(driver["env"].to_string(), r#"[{"name":"GOOGLE","value":"/gcp/key.json"}]"#);
        assert_eq!(
            driver["volumeMounts"][0].to_string(),
            r#"{"mountPath":"/gcp","name":"gcp","readOnly":true}"#
        );
        assert_eq!(
            named(&objects, "volumes", "gcp").to_string(),
            r#"{"name":"gcp","secret":{"secretName":"cloud"}}"#
        );
    }
}

#[test]
fn misuse_of_cloud_credentials() {
    let usage = USES[3];
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
cloud-credentials: {workload: Deployment/d, container: driver}
error: payload/op/component.yaml:7:3: the fragment `cloud-credentials` needs the input `secret`

cloud-credentials: {workload: Deployment/d, container: driver, secretName: cloud}
error: payload/op/component.yaml:7:66: the fragment `cloud-credentials` has no input `secretName`
  help: did you mean `secret`?

cloud-credentials: {workload: Deployment/d, container: driver, secret: 5}
error: payload/op/component.yaml:7:74: the input `secret` must be a name of lower-case letters, digits, `-` and `.`, not the number 5

cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, mountPath: etc}
error: payload/op/component.yaml:7:92: the input `mountPath` must be an absolute path, not `etc`

cloud-credentials: {workload: Deployment/d, container: drivr, secret: cloud}
error: fragments/cloud-credentials.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?

cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: data}
error: fragments/cloud-credentials.yaml(name: ${volume}): this field already has a different value
  object: Deployment.apps/d in old
  note: the other value is at payload/op/0000_50_op_1.yaml:13:17
  note: used at payload/op/component.yaml:7:3
  help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch
",
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: AWS_SHARED_CREDENTIALS_FILE, value: /mine}]");
    let at = "fragments/cloud-credentials.yaml(${mountPath}/${file})";
    assert_misuse(
        &own,
        MC,
        &format!("{usage}\n{}", conflict_with_manifest(at, "Deployment.apps/d in old", "12:83")),
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("cloud}", "other}")],
        "fragments/cloud-credentials.yaml(${secret})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn two_uses_can_make_one_workload_wait_for_more() {
    let uses = "uses:\n- wait-for: {workload: Deployment/d, objects: [Secret/ns/a]}\n- wait-for: {workload: Deployment/d, objects: [Secret/ns/a, Secret/ns/b]}\n";
    assert_eq!(
        named(&render(&project(DEPLOYMENT, uses), MC, &[]), "initContainers", "wait-for-guest")["args"]
            .to_string(),
        r#"["Secret/ns/a","Secret/ns/b","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#
    );
}

#[test]
fn misuse_of_wait_for() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
wait-for: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `wait-for` needs the input `objects`

wait-for: {workload: Deployment/d, object: [Secret/ns/a]}
error: payload/op/component.yaml:7:38: the fragment `wait-for` has no input `object`
  help: did you mean `objects`?

wait-for: {workload: Deployment/d, objects: Secret/ns/a}
error: payload/op/component.yaml:7:47: the input `objects` must be a list, not the text `Secret/ns/a`

wait-for: {workload: Deployment/d, objects: []}
error: payload/op/component.yaml:7:47: the input `objects` is empty, so the fragment would do nothing
  help: remove the use, or give the input a value

wait-for: {workload: Deployment/d, objects: [Secret/ns/a, storage/cluster]}
error: payload/op/component.yaml:7:61: the input `objects` must be text that matches `[A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?(/[a-z0-9.-]+){1,2}`, not `storage/cluster`

wait-for: {workload: Deployment/d, objects: [5]}
error: payload/op/component.yaml:7:48: the input `objects` must be text that matches `[A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?(/[a-z0-9.-]+){1,2}`, not the number 5
",
    );
    let own = DEPLOYMENT
        .replace("containers:", "initContainers: [{name: wait-for-guest, image: i}]\n      containers:");
    let at = "fragments/wait-for.yaml(${images.transship})";
    assert_misuse(
        &own,
        MC,
        &format!("{}\n{}", USES[4], conflict_with_manifest(at, "Deployment.apps/d in old", "10:54")),
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [USES[4], "guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: mine}"],
        "fragments/guest-api.yaml(${secret})",
        "Deployment.apps/d in old",
    );
}

const CONVERSION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: xs.x.y}
spec: {group: x.y, scope: Cluster, names: {kind: X, plural: xs}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: old, path: /convert}}}}}
---
";

#[test]
fn a_conversion_is_called_by_url_in_the_guest() {
    let project = project(&format!("{CONVERSION}{SERVICE}"), "");
    assert_eq!(
        find(&render(&project, GUEST, &["--set", "hcp.caBundle=QUJD"]), "CustomResourceDefinition", "xs.x.y")
            ["spec"]["conversion"]
            .to_string(),
        r#"{"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"QUJD","url":"https://hook.clusters-example.svc:443/convert"},"conversionReviewVersions":["v1"]}}"#
    );
    assert_eq!(
        find(&render(&project, MC, &[]), "Service", "hook").to_string(),
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"labels":{"hypershift.openshift.io/allow-guest-webhooks":"true"},"name":"hook","namespace":"clusters-example"},"spec":{"ports":[{"name":"https","port":443}],"selector":{"app":"d"}}}"#
    );
}

#[test]
fn misuse_of_webhook_url() {
    let usage = USES[5];
    let manifests = format!("{WEBHOOKS}{SERVICE}");
    assert_misuse(
        &manifests,
        GUEST,
        r"
webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c}
error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `port`
error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `service`
2 errors

webhook-url: {config: ValidatingWebhookConfiguration/v, hook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:59: the fragment `webhook-url` has no input `hook`
  help: its inputs are config, path, port, service, webhook

webhook-url: {config: ValidatingWebhookConfiguration/w, webhook: a.b.c, service: Service/hook, port: 443}
error: payload/op/component.yaml:7:25: the component has no `ValidatingWebhookConfiguration/w`
  help: did you mean `ValidatingWebhookConfiguration/v`?

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hok, port: 443}
error: payload/op/component.yaml:7:84: the component has no `Service/hok`
  help: did you mean `Service/hook`?

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 70000}
error: payload/op/component.yaml:7:104: the input `port` must be a port number from 1 to 65535, not the number 70000

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 443, path: check}
error: payload/op/component.yaml:7:115: the input `path` must be an absolute path, not `check`

webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: d.e.f, service: Service/hook, port: 443}
error: fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path}): this field already has a different value
  object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/v
  note: the other value is at payload/op/0000_50_op_1.yaml:6:37
  note: used at payload/op/component.yaml:7:3
  help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch
",
    );
    assert_contradiction(
        &manifests,
        GUEST,
        [usage, &usage.replace("443", "444")],
        "fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path})",
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io/v",
    );
}

#[test]
fn misuse_of_service_twin() {
    let usage = "service-twin: {service: Service/hook, port: 443, ip: 10.0.0.7}";
    assert_misuse(
        SERVICE,
        GUEST,
        r"
service-twin: {service: Service/hook}
error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `ip`
error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `port`
2 errors

service-twin: {service: Service/hook, port: 443, ips: 10.0.0.7}
error: payload/op/component.yaml:7:52: the fragment `service-twin` has no input `ips`
  help: did you mean `ip`?

service-twin: {service: Service/hok, port: 443, ip: 10.0.0.7}
error: payload/op/component.yaml:7:27: the component has no `Service/hok`
  help: did you mean `Service/hook`?

service-twin: {service: Service/hook, port: '443', ip: 10.0.0.7}
error: payload/op/component.yaml:7:47: the input `port` must be a port number from 1 to 65535, not the text `443`

service-twin: {service: Service/hook, port: 0, ip: 10.0.0.7}
error: payload/op/component.yaml:7:47: the input `port` must be a port number from 1 to 65535, not the number 0

service-twin: {service: Service/hook, port: 443, ip: 10}
error: payload/op/component.yaml:7:56: the input `ip` must be text, not the number 10
",
    );
    assert_contradiction(
        SERVICE,
        GUEST,
        [usage, &usage.replace("443", "444")],
        "fragments/service-twin.yaml(${port})",
        "Service/hook in old",
    );
}

#[test]
fn a_certificate_is_issued_where_no_service_ca_serves() {
    let usage = "serving-cert: {service: Service/hook, secret: c}";
    let project = project(SERVICE, &format!("uses:\n- {usage}\n"));
    let mc = render(&project, MC, &[]);
    assert_eq!(mc.len(), 2);
    assert_eq!(
        find(&mc, "Secret", "c").to_string(),
        r#"{"apiVersion":"v1","data":{"tls.crt":"","tls.key":""},"kind":"Secret","metadata":{"annotations":{"transship.openshift.io/issued":"certificate for hook, hook.clusters-example.svc, hook.clusters-example.svc.cluster.local, localhost signed by root-ca"},"name":"c","namespace":"clusters-example"},"type":"kubernetes.io/tls"}"#
    );
    assert_eq!(render(&project, "standalone", &[]).len(), 1, "service-ca makes it");
}

#[test]
fn misuse_of_serving_cert() {
    assert_misuse(
        SERVICE,
        MC,
        r"
serving-cert: {service: Service/hook}
error: payload/op/component.yaml:7:3: the fragment `serving-cert` needs the input `secret`

serving-cert: {service: Service/hook, secretName: c}
error: payload/op/component.yaml:7:41: the fragment `serving-cert` has no input `secretName`
  help: did you mean `secret`?

serving-cert: {service: Service/hok, secret: c}
error: payload/op/component.yaml:7:27: the component has no `Service/hok`
  help: did you mean `Service/hook`?

serving-cert: {service: Service/hook, secret: a b}
error: payload/op/component.yaml:7:49: the input `secret` must be a name of lower-case letters, digits, `-` and `.`, not `a b`

serving-cert: {service: 443, secret: c}
error: payload/op/component.yaml:7:27: the input `service` must be an object as `Kind/name`, not the number 443
",
    );
}

#[test]
fn an_operator_reads_its_hosted_control_plane_by_one_more_rule() {
    let usage = "hosted-control-plane-reader: {workload: Deployment/d, role: r}";
    let project = project(&format!("{DEPLOYMENT}{ROLE}"), &format!("uses:\n- {usage}\n"));
    let rules = |profile: &str| find(&render(&project, profile, &[]), "Role", "r")["rules"].to_string();
    assert_eq!(
        rules(MC),
        r#"[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},{"apiGroups":["hypershift.openshift.io"],"resources":["hostedcontrolplanes"],"verbs":["get","list","watch"]}]"#
    );
    assert_eq!(rules("standalone"), r#"[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]"#);
}

#[test]
fn misuse_of_hosted_control_plane_reader() {
    assert_misuse(
        &format!("{DEPLOYMENT}{ROLE}"),
        MC,
        r"
hosted-control-plane-reader: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `hosted-control-plane-reader` needs the input `role`

hosted-control-plane-reader: {workload: Deployment/d, roles: r}
error: payload/op/component.yaml:7:57: the fragment `hosted-control-plane-reader` has no input `roles`
  help: did you mean `role`?

hosted-control-plane-reader: {workload: Deployment/d, role: Role/r}
error: payload/op/component.yaml:7:63: the input `role` must be a name of lower-case letters, digits, `-` and `.`, not `Role/r`

hosted-control-plane-reader: {workload: Deployment/d, role: 5}
error: payload/op/component.yaml:7:63: the input `role` must be a name of lower-case letters, digits, `-` and `.`, not the number 5
",
    );
}

#[test]
fn misuse_of_control_plane_image() {
    let usage = USES[9];
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
control-plane-image: {workload: Deployment/d, container: driver, env: IMAGE}
error: payload/op/component.yaml:7:3: the fragment `control-plane-image` needs the input `image`

control-plane-image: {workload: Deployment/d, container: driver, name: IMAGE, image: csi-livenessprobe}
error: payload/op/component.yaml:7:68: the fragment `control-plane-image` has no input `name`
  help: its inputs are container, env, image, workload

control-plane-image: {workload: Deployment/d, container: driver, env: IMAGE, image: csi-livenessprob}
error: payload/op/component.yaml:7:87: `csi-livenessprob` is not an image
  help: the release has no image `csi-livenessprob`

control-plane-image: {workload: Deployment/d, container: driver, env: 5, image: csi-livenessprobe}
error: payload/op/component.yaml:7:73: the input `env` must be text, not the number 5

control-plane-image: {workload: Deployment/d, container: drivr, env: IMAGE, image: csi-livenessprobe}
error: fragments/control-plane-image.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: IMAGE, value: mine}]");
    let at = "fragments/control-plane-image.yaml(${image.management})";
    assert_misuse(
        &own,
        MC,
        &format!("{usage}\n{}", conflict_with_manifest(at, "Deployment.apps/d in old", "12:61")),
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("csi-livenessprobe", "transship")],
        "fragments/control-plane-image.yaml(${image.management})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn misuse_of_env() {
    let usage = USES[10];
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
env: {workload: Deployment/d, container: driver, name: A}
error: payload/op/component.yaml:7:3: the fragment `env` needs the input `value`

env: {workload: Deployment/d, container: driver, name: A, values: b}
error: payload/op/component.yaml:7:61: the fragment `env` has no input `values`
  help: did you mean `value`?

env: {workload: Deployment/d, container: driver, name: A, value: 5}
error: payload/op/component.yaml:7:68: the input `value` must be text, not the number 5

env: {workload: Deployment/d, container: driver, name: A, value: on}
error: payload/op/component.yaml:7:68: the input `value` must be text, not true

env: {workload: Deployment/d, container: drivr, name: A, value: b}
error: fragments/env.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    let own = DEPLOYMENT
        .replace("args: [run]", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]");
    let at = "fragments/env.yaml(name: ${name})";
    assert_misuse(
        &own,
        MC,
        &format!("{usage}\n{}", conflict_with_manifest(at, "Deployment.apps/d in old", "12:40")),
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("value: b", "value: c")],
        "fragments/env.yaml(${value})",
        "Deployment.apps/d in old",
    );
}
