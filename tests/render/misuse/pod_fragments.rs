//! The bundled fragments that change the containers of a pod: the errors for each misuse.

use serde_json::json;

use super::{
    DEPLOYMENT, MC, STANDALONE, assert_contradiction, assert_error, assert_misuse, pod_item,
    project_in_management, project_with_use, use_of,
};

#[test]
fn two_uses_can_make_one_workload_wait_for_more() {
    let project = project_in_management(
        DEPLOYMENT,
        r"
        uses:
        - wait-for: {workload: Deployment/d, objects: [Secret/ns/a]}
        - wait-for: {workload: Deployment/d, objects: [Secret/ns/a, Secret/ns/b]}
        ",
    );
    assert_eq!(
        pod_item(&project.render(MC), "initContainers", "wait-for-guest")["args"],
        json!(["Secret/ns/a", "Secret/ns/b", "--kubeconfig=/etc/guest-kubeconfig/kubeconfig"])
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
    assert_error(
        &project_with_use(&own, use_of("wait-for")),
        MC,
        r"
        error: profiles/fragments/wait-for.yaml(${images.transship}): `/spec/template/spec/initContainers/[name=wait-for-guest]/image` cannot be set to `q/transship`, because it is `i`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:10:54
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [
            use_of("wait-for"),
            "guest-api: {workload: Deployment/d, container: driver, arg: --k, secret: mine}",
        ],
        r"
        error: profiles/fragments/guest-api.yaml(${secret}): `/spec/template/spec/volumes/[name=guest-kubeconfig]/secret/secretName` cannot be set to `mine`, because it is `d-kubeconfig`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/guest-api.yaml(${secret})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn misuse_of_control_plane_image() {
    let usage = use_of("control-plane-image");
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
        error: profiles/fragments/control-plane-image.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?
        ",
    );
    let own = DEPLOYMENT.replace("args: [run]", "env: [{name: IMAGE, value: mine}]");
    assert_error(
        &project_with_use(&own, usage),
        MC,
        r"
        error: profiles/fragments/control-plane-image.yaml(${image.management}): `/spec/template/spec/containers/[name=driver]/env/[name=IMAGE]/value` cannot be set to `q/csi-livenessprobe`, because it is `mine`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:12:61
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("csi-livenessprobe", "transship")],
        r"
        error: profiles/fragments/control-plane-image.yaml(${image.management}): `/spec/template/spec/containers/[name=driver]/env/[name=IMAGE]/value` cannot be set to `q/transship`, because it is `q/csi-livenessprobe`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/control-plane-image.yaml(${image.management})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn misuse_of_env() {
    let usage = use_of("env");
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
        error: profiles/fragments/env.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?
        ",
    );
    let own = DEPLOYMENT
        .replace("args: [run]", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]");
    assert_error(
        &project_with_use(&own, usage),
        MC,
        r#"
        error: profiles/fragments/env.yaml(name: ${name}): `/spec/template/spec/containers/[name=driver]/env/[name=A]` cannot be set to `{"name":"A","value":"b"}`, because it is `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:12:40
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        "#,
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("value: b", "value: c")],
        r"
        error: profiles/fragments/env.yaml(${value}): `/spec/template/spec/containers/[name=driver]/env/[name=A]/value` cannot be set to `c`, because it is `b`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/env.yaml(${value})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn proxy_cabundle_can_mount_another_config_map() {
    let usage = "proxy-cabundle: {workload: Deployment/d, container: driver, config: mine}";
    let project = project_with_use(DEPLOYMENT, usage);
    let objects = project.render(STANDALONE);
    assert_eq!(
        *pod_item(&objects, "containers", "driver"),
        json!({
            "args": ["run"],
            "image": "i",
            "name": "driver",
            "volumeMounts": [
                {
                    "mountPath": "/etc/pki/ca-trust/extracted/pem",
                    "name": "trusted-ca-bundle",
                    "readOnly": true,
                },
            ],
        })
    );
    assert_eq!(
        *pod_item(&objects, "volumes", "trusted-ca-bundle"),
        json!({
            "configMap": {"items": [{"key": "ca-bundle.crt", "path": "tls-ca-bundle.pem"}], "name": "mine"},
            "name": "trusted-ca-bundle",
        })
    );
}

#[test]
fn misuse_of_proxy_cabundle() {
    let usage = use_of("proxy-cabundle");
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
        proxy-cabundle: {workload: Deployment/d}
        error: payload/op/component.yaml:7:3: the fragment `proxy-cabundle` needs the input `container`
          help: Deployment/d has more than one container: name one of them

        proxy-cabundle: {workload: Deployment/d, container: driver, configMap: c}
        error: payload/op/component.yaml:7:63: the fragment `proxy-cabundle` has no input `configMap`
          help: did you mean `config`?

        proxy-cabundle: {workload: Deployment/d, container: driver, config: 5}
        error: payload/op/component.yaml:7:71: the input `config` must be a name of lower-case letters, digits, `-` and `.`, not the number 5

        proxy-cabundle: {workload: Deployment/d, container: drivr}
        error: profiles/fragments/proxy-cabundle.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at payload/op/component.yaml:7:3
          help: did you mean `driver`?
        ",
    );
    for (old, new, expected) in [
        (
            "volumes: [",
            "volumes: [{name: trusted-ca-bundle, emptyDir: {}}, ",
            r#"
            error: profiles/fragments/proxy-cabundle.yaml(name: trusted-ca-bundle): `/spec/template/spec/volumes/[name=trusted-ca-bundle]` cannot be set to `{"configMap":{"items":[{"key":"ca-bundle.crt","path":"tls-ca-bundle.pem"}],"name":"op-trusted-ca-bun…`, because it is `{"emptyDir":{},"name":"trusted-ca-bundle"}`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:13:17
              note: used at payload/op/component.yaml:7:3
              help: give both the same value, or remove this one and change the field with `patches` in the page
            "#,
        ),
        (
            "args: [run]",
            "volumeMounts: [{name: data, mountPath: /etc/pki/ca-trust/extracted/pem}]",
            r"
            error: profiles/fragments/proxy-cabundle.yaml(trusted-ca-bundle): `/spec/template/spec/containers/[name=driver]/volumeMounts/[mountPath=~1etc~1pki~1ca-trust~1extracted~1pem]/name` cannot be set to `trusted-ca-bundle`, because it is `data`
              object: Deployment.apps/d in old
              note: the other value is at payload/op/0000_50_op_1.yaml:12:56
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
        [usage, &usage.replace("driver}", "other, config: mine}")],
        r"
        error: profiles/fragments/proxy-cabundle.yaml(${config}): `/spec/template/spec/volumes/[name=trusted-ca-bundle]/configMap/name` cannot be set to `mine`, because it is `op-trusted-ca-bundle`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/proxy-cabundle.yaml(${config})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}
