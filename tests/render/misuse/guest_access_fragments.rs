//! The bundled fragments that give a pod access to the guest or to a cloud: the errors for each misuse.

use serde_json::json;

use super::{
    DEPLOYMENT, MC, ROLE, SERVICE, STANDALONE, assert_contradiction, assert_error, assert_misuse, pod_item,
    project_with_use, use_of,
};
use crate::support::find;

#[test]
fn guest_api_with_a_variable_and_an_existing_secret() {
    let usage = "guest-api: {workload: Deployment/d, container: driver, env: KUBECONFIG, secret: theirs, issue: false}";
    let mc = project_with_use(DEPLOYMENT, usage).render(MC);
    assert!(mc.iter().all(|object| object["kind"] != "Secret"));
    let driver = pod_item(&mc, "containers", "driver");
    assert_eq!(driver["args"], json!(["run"]));
    assert_eq!(driver["env"], json!([{"name": "KUBECONFIG", "value": "/etc/guest-kubeconfig/kubeconfig"}]));
    assert_eq!(
        *pod_item(&mc, "volumes", "guest-kubeconfig"),
        json!({"name": "guest-kubeconfig", "secret": {"defaultMode": 416, "secretName": "theirs"}})
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
          note: there is no workload in scope
          help: name the workload: set `workload` under `values` of the page, or give it to the fragment

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
        error: profiles/fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?
        error: profiles/fragments/guest-api.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?
        2 errors
        ",
    );
}

#[test]
fn guest_api_conflicts_with_a_manifest_or_another_use_that_sets_its_fields() {
    let usage = "guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, env: KUBECONFIG}";
    for (old, new, expected) in [
        (
            "volumes: [",
            "volumes: [{name: guest-kubeconfig, emptyDir: {}}, ",
            r#"
            error: profiles/fragments/guest-api.yaml(name: guest-kubeconfig): `/spec/template/spec/volumes/[name=guest-kubeconfig]` cannot be set to `{"name":"guest-kubeconfig","secret":{"secretName":"d-kubeconfig"}}`, because it is `{"emptyDir":{},"name":"guest-kubeconfig"}`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:13:17
              note: used at payload/op/component.yaml:7:3
              help: give both the same value, or remove this one and change the field with `patches` in the page
            "#,
        ),
        (
            "args: [run]",
            "volumeMounts: [{name: data, mountPath: /etc/guest-kubeconfig}]",
            r"
            error: profiles/fragments/guest-api.yaml(guest-kubeconfig): `/spec/template/spec/containers/[name=driver]/volumeMounts/[mountPath=~1etc~1guest-kubeconfig]/name` cannot be set to `guest-kubeconfig`, because it is `data`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:12:56
              note: used at payload/op/component.yaml:7:3
              help: give both the same value, or remove this one and change the field with `patches` in the page
            ",
        ),
        (
            "args: [run]",
            "args: [--kubeconfig=/mine]",
            r"
            error: profiles/fragments/guest-api.yaml(${arg}=$(${env})): `/spec/template/spec/containers/[name=driver]/args/[--kubeconfig]` cannot be set to `--kubeconfig=$(KUBECONFIG)`, because it is `--kubeconfig=/mine`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:12:41
              note: used at payload/op/component.yaml:7:3
              help: give both the same value, or remove this one and change the field with `patches` in the page
            ",
        ),
        (
            "args: [run]",
            "env: [{name: KUBECONFIG, value: /mine}]",
            r"
            error: profiles/fragments/guest-api.yaml(/etc/guest-kubeconfig/kubeconfig): `/spec/template/spec/containers/[name=driver]/env/[name=KUBECONFIG]/value` cannot be set to `/etc/guest-kubeconfig/kubeconfig`, because it is `/mine`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:12:66
              note: used at payload/op/component.yaml:7:3
              help: give both the same value, or remove this one and change the field with `patches` in the page
            ",
        ),
    ] {
        assert_error(&project_with_use(&DEPLOYMENT.replace(old, new), usage), MC, expected);
    }
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, "guest-api: {workload: Deployment/d, container: other, arg: --k, secret: second}"],
        r"
        error: profiles/fragments/guest-api.yaml(${secret}): `/spec/template/spec/volumes/[name=guest-kubeconfig]/secret/secretName` cannot be set to `second`, because it is `d-kubeconfig`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/guest-api.yaml(${secret})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
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
        r"
        error: profiles/fragments/guest-api.yaml(${workload.serviceAccount}): `/spec/as/serviceAccount` cannot be set to `sb`, because it is `sa`
          object: IssuedKubeconfig.transship.openshift.io/s in old
          note: the other value is at profiles/fragments/guest-api.yaml(${workload.serviceAccount})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn an_issued_secret_that_a_manifest_also_has_is_a_duplicate() {
    let secret = r"apiVersion: v1
kind: Secret
metadata: {name: s, namespace: old}
";
    assert_misuse(
        &format!("{DEPLOYMENT}{SERVICE}{secret}"),
        MC,
        r"
        guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: s}
        error[duplicate-object]: payload/op/0000_50_op_1.yaml:20:1: two manifests describe the same object
          object: Secret/s in clusters-example
          note: the other manifest is at profiles/fragments/guest-api.yaml(apiVersion: transship.openshift.io/v1)
          note: each apply would overwrite one with the other
          help: exclude one of them with a release annotation, a capability or a feature set

        serving-cert: {service: Service/hook, secret: s}
        error[duplicate-object]: profiles/fragments/serving-cert.yaml(apiVersion: transship.openshift.io/v1): two manifests describe the same object
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
        r#"
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
        error: profiles/fragments/token-minter.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?

        token-minter: {workload: Deployment/d, container: driver, volume: metrics-serving-cert, mountPath: /t, serviceAccount: sa}
        error: profiles/fragments/token-minter.yaml(name: ${volume}): `/spec/template/spec/volumes/[name=metrics-serving-cert]` cannot be set to `{"emptyDir":{"medium":"Memory"},"name":"metrics-serving-cert"}`, because it is `{"name":"metrics-serving-cert","secret":{"secretName":"cert"}}`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:13:79
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        "#,
    );
    let usage = "token-minter: {workload: Deployment/d, container: driver, volume: t, mountPath: /t, serviceAccount: sa}";
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace('}', ", audience: sts}")],
        r"
        error: profiles/fragments/minter.yaml(--token-audience=${audience}): `/spec/template/spec/initContainers/[name=token-minter-t]/args/[--token-audience]` cannot be set to `--token-audience=sts`, because it is `--token-audience=openshift`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/minter.yaml(--token-audience=${audience})
          note: used at profiles/fragments/token-minter.yaml(minter:)
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace('}', ", file: other}")],
        r"
        error: profiles/fragments/minter.yaml(--token-file=${mountPath}/${file}): `/spec/template/spec/initContainers/[name=token-minter-t]/args/[--token-file]` cannot be set to `--token-file=/t/other`, because it is `--token-file=/t/token`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/minter.yaml(--token-file=${mountPath}/${file})
          note: used at profiles/fragments/token-minter.yaml(minter:)
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("volume: t", "volume: u")],
        r"
        error: profiles/fragments/token-minter.yaml(${volume}): `/spec/template/spec/containers/[name=driver]/volumeMounts/[mountPath=~1t]/name` cannot be set to `u`, because it is `t`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/token-minter.yaml(${volume})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn a_minter_writes_a_token_into_a_volume_of_the_manifest() {
    let project = project_with_use(DEPLOYMENT, use_of("minter"));
    assert_eq!(
        *pod_item(&project.render(MC), "initContainers", "m"),
        json!({
            "args": [
                "--service-account-namespace=old",
                "--service-account-name=robot",
                "--token-audience=a",
                "--token-file=/data/f",
                "--oneshot",
                "--kubeconfig=/etc/guest-kubeconfig/kubeconfig",
            ],
            "command": ["/usr/bin/control-plane-operator", "token-minter"],
            "image": "q/hypershift",
            "imagePullPolicy": "IfNotPresent",
            "name": "m",
            "resources": {"requests": {"cpu": "10m", "memory": "30Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true,
            },
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [
                {"mountPath": "/data", "name": "data"},
                {"mountPath": "/etc/guest-kubeconfig", "name": "guest-kubeconfig", "readOnly": true},
                {"mountPath": "/tmp", "name": "tmp-dir"},
            ],
        })
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
fn the_inputs_of_cloud_credentials_choose_the_path_and_the_variable_in_every_profile() {
    let usage = "cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: gcp, mountPath: /gcp, env: GOOGLE, file: key.json}";
    let project = project_with_use(DEPLOYMENT, usage);
    for profile in [MC, STANDALONE] {
        let objects = project.render(profile);
        let driver = pod_item(&objects, "containers", "driver");
        assert_eq!(driver["env"], json!([{"name": "GOOGLE", "value": "/gcp/key.json"}]));
        assert_eq!(driver["volumeMounts"][0], json!({"mountPath": "/gcp", "name": "gcp", "readOnly": true}));
        assert_eq!(pod_item(&objects, "volumes", "gcp")["secret"]["secretName"], "cloud");
    }
}

#[test]
fn misuse_of_cloud_credentials() {
    let usage = use_of("cloud-credentials");
    assert_misuse(
        DEPLOYMENT,
        MC,
        r#"
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
        error: profiles/fragments/cloud-credentials.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?

        cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud, volume: data}
        error: profiles/fragments/cloud-credentials.yaml(name: ${volume}): `/spec/template/spec/volumes/[name=data]` cannot be set to `{"name":"data","secret":{"secretName":"cloud"}}`, because it is `{"emptyDir":{},"name":"data"}`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:13:17
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        "#,
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: AWS_SHARED_CREDENTIALS_FILE, value: /mine}]");
    assert_error(
        &project_with_use(&own, usage),
        MC,
        r"
        error: profiles/fragments/cloud-credentials.yaml(${mountPath}/${file}): `/spec/template/spec/containers/[name=driver]/env/[name=AWS_SHARED_CREDENTIALS_FILE]/value` cannot be set to `/etc/cloud-credentials/credentials`, because it is `/mine`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:12:83
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("cloud}", "other}")],
        r"
        error: profiles/fragments/cloud-credentials.yaml(${secret}): `/spec/template/spec/volumes/[name=cloud-credentials]/secret/secretName` cannot be set to `other`, because it is `cloud`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/cloud-credentials.yaml(${secret})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn hosted_control_plane_reader_adds_a_rule_to_the_role() {
    let usage = "hosted-control-plane-reader: {workload: Deployment/d, role: r}";
    let project = project_with_use(&format!("{DEPLOYMENT}{ROLE}"), usage);
    let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    let hosted_control_planes = json!({
        "apiGroups": ["hypershift.openshift.io"],
        "resources": ["hostedcontrolplanes"],
        "verbs": ["get", "list", "watch"],
    });
    assert_eq!(find(&project.render(MC), "Role", "r")["rules"], json!([pods, hosted_control_planes]));
    assert_eq!(find(&project.render(STANDALONE), "Role", "r")["rules"], json!([pods]));
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
