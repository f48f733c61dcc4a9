//! What an apply would do, told before it does: by `apply --dry-run` and by `diff --live`.

use serde_json::{Value, json};

use super::Run;
use super::faults::others::make_settings;
use super::faults::{assert_code, edit, make, objects, told, written};
use super::fixture::{DEPLOYMENT_PATH, JOB_PATH, NAMESPACE, Project, WEBHOOK_PATH, map};
use crate::BedCase;
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::live::fields_that_would_change", fields_that_would_change),
    ("apply::live::one_object", one_object),
    ("apply::live::what_would_be_refused", what_would_be_refused),
    ("apply::live::what_is_held", what_is_held),
    ("apply::live::what_would_be_taken_over", what_would_be_taken_over),
    ("apply::live::what_does_not_go_together", what_does_not_go_together),
    ("apply::live::what_cannot_be_taken_over", what_cannot_be_taken_over),
];

fn diff(side: &Side, project: &Project) -> Run {
    diff_with(side, project, &[])
}

fn diff_with(side: &Side, project: &Project, more: &[&str]) -> Run {
    let mark = side.audit.mark();
    let run = project.run(side, "diff", &[&["--live"], more].concat());
    let written = side.audit.since(mark).into_iter().filter(|one| one.is_ours() && one.verb != "get");
    let real: Vec<_> = written.filter(|one| one.verb != "list" && !one.uri.contains("dryRun=All")).collect();
    assert_eq!(real, Vec::new(), "nothing is written");
    run
}

/// The objects of which a dry run tells something in a word.
fn planned(side: &Side, project: &Project, word: &str) -> Vec<String> {
    let mark = side.audit.mark();
    let run = project.run(side, "apply", &["--dry-run"]);
    assert_eq!(written(side, mark), Vec::<String>::new());
    objects(&Run { stderr: run.stdout, stdout: run.stderr, code: run.code }, word)
}

/// What an apply would change is told field by field, also where it takes two requests, or another object.
fn fields_that_would_change(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let same = diff(side, &project);
    assert_eq!((same.code, same.stdout.as_str()), (0, ""));
    project.change("20_settings", "mode: one", "mode: two");
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  strategy: {type: Recreate}\n");
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = diff(side, &project);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/settings in openshift-op
  /data/mode: \"one\" -> \"two\"
cluster    Deployment.apps/op in openshift-op
  /spec/strategy/rollingUpdate: {\"maxSurge\":\"25%\",\"maxUnavailable\":\"25%\"} is gone
  /spec/strategy/type: \"RollingUpdate\" -> \"Recreate\"
cluster    Job.batch/migrate in openshift-op would be taken away and made again: spec.template cannot be changed on an object that is there
"
    );
    assert_eq!(run.code, 1);
    let changed = [
        "ConfigMap/settings in openshift-op",
        "Deployment.apps/op in openshift-op",
        "Job.batch/migrate in openshift-op",
    ];
    assert_eq!(planned(side, &project, "changed"), changed);
    project.applied(side, &[]);
    assert_eq!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_code(&diff(side, &project), 0);
}

/// Only one object is asked for, and machines read it.
fn one_object(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("20_secret", "Y2FuYXJ5LWluLWEtY2FnZQ==", "b3RoZXI=");
    let run = diff_with(side, &project, &["configmap/settings"]);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/settings in openshift-op\n  /data/mode: \"one\" -> \"two\"\n"
    );
    assert_eq!(run.code, 1);
    let run = diff_with(side, &project, &["-o", "json", "secret/credentials"]);
    let change: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        change,
        json!({
            "cluster": "both", "change": "changed", "message": "",
            "object": {"group": "", "kind": "Secret", "namespace": "openshift-op", "name": "credentials"},
            "fields": [r#"/data/password: "<hidden, before>" -> "<hidden, after>""#],
        })
    );
    assert_code(&diff_with(side, &project, &["serviceaccount/op"]), 0);
    let run = diff_with(side, &project, &["configmap/setings"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("ConfigMap/settings"), "{}", run.stderr);
}

/// What an apply would not take over is not told as a change.
fn what_would_be_refused(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make(side, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let settings = json!({"metadata": {"name": "settings"}, "data": {"mode": "theirs"}});
    make(side, "somebody", &maps, &settings).ok().unwrap();
    let run = diff(side, &project);
    let expected = "ConfigMap/settings in openshift-op would be refused: it was there before us, and others own what we \
                    would set: .data.mode (conflict with \"somebody\" using v1); --adopt takes it over\n";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let labels = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": "applyset-other-v1"}}});
    edit(side, "somebody", &map("settings"), &labels);
    let run = diff(side, &project);
    let expected =
        "ConfigMap/settings in openshift-op would be refused: it belongs to another set, applyset-other-v1";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert_eq!(planned(side, &project, "failed"), ["ConfigMap/settings in openshift-op"]);
}

/// Of an object that is only ever created some fields are held: who changes them meets us again, and nobody else.
fn what_is_held(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.put(
        "30_chosen",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: chosen\n  namespace: openshift-op\n  annotations:\n    \
         release.openshift.io/create-only: \"true\"\ndata:\n  choice: ours\n  other: ours\n",
    );
    project.add_to_profile("standalone", "pins:\n  ConfigMap/chosen:\n    data:\n      choice: ours\n");
    project.applied(side, &[]);
    edit(side, "somebody", &map("chosen"), &json!({"data": {"other": "theirs"}}));
    assert_code(&diff(side, &project), 0);
    edit(side, "somebody", &map("chosen"), &json!({"data": {"choice": "theirs"}}));
    let run = diff(side, &project);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/chosen in openshift-op\n  /data/choice: \"theirs\" -> \"ours\"\n"
    );
    assert_eq!(planned(side, &project, "changed").len(), 1);
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark)[0], map("chosen"));
    let live = side.get(&map("chosen")).unwrap();
    assert_eq!(live["data"], json!({"choice": "ours", "other": "theirs"}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// Somebody has made a `Deployment` that is called as ours is, with much of his own.
fn make_deployment(side: &Side) {
    let container = |name: &str| json!({"name": name, "image": "example.test/theirs:1", "env": [{"name": "A", "value": "1"}]});
    let deployment = json!({
        "metadata": {"name": "op", "annotations": {"theirs": "yes"}},
        "spec": {
            "replicas": 3, "paused": true, "selector": {"matchLabels": {"app": "op"}},
            "template": {
                "metadata": {"labels": {"app": "op", "theirs": "yes"}},
                "spec": {"hostNetwork": true, "containers": [container("theirs"), container("op")]},
            },
        },
    });
    let deployments = DEPLOYMENT_PATH.strip_suffix("/op").unwrap();
    make(side, "kubectl-client-side-apply", deployments, &deployment).ok().unwrap();
}

/// What would become of objects that are taken over: what only their makers had set leaves them, and what the API server
/// fills in comes. It is what then happens.
fn what_would_be_taken_over(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make_settings(side, &json!({"name": "settings", "labels": {"theirs": "yes"}}));
    make_deployment(side);
    let run = diff_with(side, &project, &["--adopt"]);
    assert_code(&run, 1);
    let set = "applyset-FsTcBlwMY3jCzAHrmstu5ZCIVy938r-ZJLQ_czDmgrU-v1";
    let fields_of = |object: &str| -> Vec<&str> {
        let (_, rest) = run.stdout.split_once(&format!("cluster    {object} in openshift-op\n")).unwrap();
        rest.lines().map_while(|line| line.strip_prefix("  ")).collect()
    };
    let expected = [
        r#"/data/extra: "theirs" is gone"#,
        r#"/data/mode: "theirs" -> "one""#,
        r#"/metadata/annotations: {"example.test/of":"test"} is new"#,
        &format!(r#"/metadata/labels/applyset.kubernetes.io~1part-of: "{set}" is new"#),
        r#"/metadata/labels/theirs: "yes" is gone"#,
    ];
    assert_eq!(fields_of("ConfigMap/settings"), expected);
    let expected = [
        r#"/metadata/annotations/example.test~1of: "test" is new"#,
        r#"/metadata/annotations/theirs: "yes" is gone"#,
        &format!(r#"/metadata/labels: {{"applyset.kubernetes.io/part-of":"{set}"}} is new"#),
        "/spec/paused: true is gone",
        "/spec/replicas: 3 -> 1",
        r#"/spec/template/metadata/labels/theirs: "yes" is gone"#,
        "/spec/template/spec/automountServiceAccountToken: false is new",
        r#"/spec/template/spec/containers/[name=theirs]: {"env":[{"name":"A","value":"1"}],"image":"example.test/theirs:1","imagePullPolicy":"IfNotPresent","name":"theirs","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"} is gone"#,
        r#"/spec/template/spec/containers/[name=op]/env: [{"name":"A","value":"1"}] is gone"#,
        r#"/spec/template/spec/containers/[name=op]/image: "example.test/theirs:1" -> "example.test/op:1""#,
        r#"/spec/template/spec/containers/[name=op]/ports: [{"containerPort":8443,"protocol":"TCP"}] is new"#,
        "/spec/template/spec/hostNetwork: true is gone",
        r#"/spec/template/spec/serviceAccount: "op" is new"#,
        r#"/spec/template/spec/serviceAccountName: "op" is new"#,
    ];
    assert_eq!(fields_of("Deployment.apps/op"), expected);

    project.applied(side, &["--adopt"]);
    let (settings, live) = (side.get(&map("settings")).unwrap(), side.get(DEPLOYMENT_PATH).unwrap());
    assert_eq!(settings["data"], json!({"mode": "one"}));
    assert_eq!(settings["metadata"]["labels"], json!({"applyset.kubernetes.io/part-of": set}));
    let (spec, pod) = (&live["spec"], &live["spec"]["template"]["spec"]);
    assert_eq!(live["metadata"]["annotations"].get("theirs"), None);
    assert_eq!((spec.get("paused"), &spec["replicas"]), (None, &json!(1)));
    assert_eq!(spec["template"]["metadata"]["labels"], json!({"app": "op"}));
    assert_eq!(
        pod,
        &json!({
            "automountServiceAccountToken": false, "serviceAccount": "op", "serviceAccountName": "op",
            "containers": [{
                "name": "op", "image": "example.test/op:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "ports": [{"containerPort": 8443, "protocol": "TCP"}],
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
            "securityContext": {}, "terminationGracePeriodSeconds": 30,
        })
    );
    assert_code(&diff_with(side, &project, &["--adopt"]), 0);
}

/// What the makers of an object have set does not go together with what we want, or has something of a third one in it: it
/// leaves all the same, as it was told.
fn what_does_not_go_together(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let kubectl = "kubectl-client-side-apply";
    make_settings(side, &json!({"name": "other"}));
    let webhook = json!({"metadata": {"name": "op"}, "webhooks": [{
        "name": "op.example.test", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
        "clientConfig": {"service": {"name": "theirs", "namespace": NAMESPACE, "path": "/check"}},
        "rules": [{"apiGroups": ["example.test"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["gadgets"]}],
    }]});
    make(side, kubectl, WEBHOOK_PATH.strip_suffix("/op").unwrap(), &webhook).ok().unwrap();
    make_deployment(side);
    let env = json!({"spec": {"template": {"spec": {"containers": [{"name": "theirs", "env": [{"name": "B", "value": "c"}]}]}}}});
    let path = format!("{DEPLOYMENT_PATH}?fieldManager=third");
    side.patch(&path, "application/strategic-merge-patch+json", &env.to_string());
    let run = diff_with(side, &project, &["--adopt"]);
    for expected in [
        r#"/webhooks/[name=op.example.test]/clientConfig/service: {"name":"theirs","namespace":"openshift-op","path":"/check","port":443} is gone"#,
        r#"/webhooks/[name=op.example.test]/clientConfig/url: "https://op-webhook.clusters-example.svc:443/check" is new"#,
        r#"/spec/template/spec/containers/[name=theirs]: {"env":[{"name":"B","value":"c"},{"name":"A","value":"1"}],"#,
    ] {
        assert!(run.stdout.contains(expected), "{expected}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("refused"), "{}", run.stdout);
    project.applied(side, &["--adopt"]);
    let client = side.get(WEBHOOK_PATH).unwrap()["webhooks"][0]["clientConfig"].clone();
    assert_eq!(client, json!({"url": "https://op-webhook.clusters-example.svc:443/check"}));
    let containers = side.get(DEPLOYMENT_PATH).unwrap()["spec"]["template"]["spec"]["containers"].clone();
    let names: Vec<&str> =
        containers.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["op"]);
    assert_code(&diff_with(side, &project, &["--adopt"]), 0);
}

/// An object must be made again for it, or is in the way of what we want: that is told, and what is refused is left as
/// it was, with those to whom it belongs.
fn what_cannot_be_taken_over(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let kubectl = "kubectl-client-side-apply";
    make_settings(side, &json!({"name": "other"}));
    let container =
        json!({"name": "migrate", "image": "example.test/op:1", "env": [{"name": "A", "value": "1"}]});
    let pod = json!({
        "serviceAccountName": "op", "automountServiceAccountToken": false, "restartPolicy": "Never", "containers": [container],
    });
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    make(side, kubectl, JOB_PATH.strip_suffix("/migrate").unwrap(), &job).ok().unwrap();
    let labels = json!({"app": "op", "tier": "x"});
    let pod = json!({"containers": [{"name": "op", "image": "example.test/op:1"}]});
    let spec = json!({
        "minReadySeconds": 7, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod},
    });
    let deployment = json!({"metadata": {"name": "op"}, "spec": spec});
    make(side, kubectl, DEPLOYMENT_PATH.strip_suffix("/op").unwrap(), &deployment).ok().unwrap();
    let before = side.get(DEPLOYMENT_PATH).unwrap();
    let run = diff_with(side, &project, &["--adopt"]);
    let why = "spec.selector cannot be changed on an object that is there; --recreate Deployment/op with --adopt takes it \
               away and makes it again";
    for expected in [
        "Job.batch/migrate in openshift-op would be taken away and made again: spec.template cannot be changed on an object that is there\n",
        &format!("Deployment.apps/op in openshift-op would be refused: {why}\n"),
    ] {
        assert!(run.stdout.contains(expected), "{}", run.stdout);
    }
    let uid = side.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    let run = project.apply(side, &["--adopt"]);
    assert_code(&run, 3);
    assert_eq!(told(&run, "failed", "Deployment.apps/op in openshift-op").unwrap(), why);
    let after = side.get(DEPLOYMENT_PATH).unwrap();
    assert_eq!(after["spec"], before["spec"]);
    let managers = |live: &Value| -> Vec<Value> {
        let entries = live["metadata"]["managedFields"].as_array().unwrap();
        entries
            .iter()
            .map(|entry| entry["manager"].clone())
            .filter(|one| one != "kube-controller-manager")
            .collect()
    };
    assert_eq!(managers(&after), [kubectl]);
    assert_eq!(objects(&run, "recreated"), ["Job.batch/migrate in openshift-op"]);
    let job = side.get(JOB_PATH).unwrap();
    assert_ne!(job["metadata"]["uid"], uid);
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0].get("env"), None);
    project.applied(side, &["--adopt", "--recreate", "Deployment/op"]);
    assert_eq!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["selector"], json!({"matchLabels": {"app": "op"}}));
}
