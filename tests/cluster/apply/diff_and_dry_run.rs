//! `apply --dry-run` and `diff --live` report what an apply would do.

use serde_json::{Value, json};

use super::Run;
use super::fixture::{DEPLOYMENT_PATH, JOB_PATH, NAMESPACE, Project, WEBHOOK_PATH, map};
use super::scenarios::other_writers::make_settings;
use super::scenarios::{as_apply, assert_code, create, message_of, objects_with, patch_as, written_paths};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::diff_and_dry_run::diff_lists_changed_fields", diff_lists_changed_fields),
    ("apply::diff_and_dry_run::diff_can_show_one_object", diff_can_show_one_object),
    ("apply::diff_and_dry_run::diff_reports_rejected_changes", diff_reports_rejected_changes),
    ("apply::diff_and_dry_run::pinned_fields_are_enforced", pinned_fields_are_enforced),
    ("apply::diff_and_dry_run::diff_shows_an_adoption", diff_shows_an_adoption),
    (
        "apply::diff_and_dry_run::diff_shows_an_adoption_of_conflicting_fields",
        diff_shows_an_adoption_of_conflicting_fields,
    ),
    ("apply::diff_and_dry_run::diff_reports_what_cannot_be_adopted", diff_reports_what_cannot_be_adopted),
];

fn diff(cluster: &TestCluster, project: &Project) -> Run {
    diff_with(cluster, project, &[])
}

fn diff_with(cluster: &TestCluster, project: &Project, more: &[&str]) -> Run {
    let mark = cluster.audit.mark();
    let run = project.run(cluster, "diff", &[&["--live"], more].concat());
    let written = cluster.audit.since(mark).into_iter().filter(|one| one.is_ours() && one.verb != "get");
    let real: Vec<_> = written.filter(|one| one.verb != "list" && !one.uri.contains("dryRun=All")).collect();
    assert_eq!(real, Vec::new(), "nothing is written");
    run
}

/// Returns the objects with an event of a dry run.
fn planned(cluster: &TestCluster, project: &Project, word: &str) -> Vec<String> {
    let mark = cluster.audit.mark();
    let run = project.run(cluster, "apply", &["--dry-run"]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    objects_with(&as_apply(run), word)
}

/// Changes are listed field by field, also if an apply needs two requests or recreates an object.
fn diff_lists_changed_fields(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let same = diff(cluster, &project);
    assert_eq!((same.code, same.stdout.as_str()), (0, ""));
    project.change("20_settings", "mode: one", "mode: two");
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  strategy: {type: Recreate}\n");
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = diff(cluster, &project);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/settings in openshift-op
  /data/mode: \"one\" -> \"two\"
cluster    Deployment.apps/op in openshift-op
  /spec/strategy/rollingUpdate: {\"maxSurge\":\"25%\",\"maxUnavailable\":\"25%\"} (removed)
  /spec/strategy/type: \"RollingUpdate\" -> \"Recreate\"
cluster    Job.batch/migrate in openshift-op would be recreated: spec.template is immutable
"
    );
    assert_eq!(run.code, 1);
    let changed = [
        "ConfigMap/settings in openshift-op",
        "Deployment.apps/op in openshift-op",
        "Job.batch/migrate in openshift-op",
    ];
    assert_eq!(planned(cluster, &project, "changed"), changed);
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_code(&diff(cluster, &project), 0);
}

/// One object can be selected, and the output can be JSON.
fn diff_can_show_one_object(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    project.change("20_secret", "Y2FuYXJ5LWluLWEtY2FnZQ==", "b3RoZXI=");
    let run = diff_with(cluster, &project, &["configmap/settings"]);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/settings in openshift-op\n  /data/mode: \"one\" -> \"two\"\n"
    );
    assert_eq!(run.code, 1);
    let run = diff_with(cluster, &project, &["-o", "json", "secret/credentials"]);
    let change: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        change,
        json!({
            "cluster": "both", "change": "changed", "message": "",
            "object": {"group": "", "kind": "Secret", "namespace": "openshift-op", "name": "credentials"},
            "fields": [{
                "path": "/data/password", "change": "changed",
                "before": "<hidden, before>", "after": "<hidden, after>",
            }],
        })
    );
    assert_code(&diff_with(cluster, &project, &["serviceaccount/op"]), 0);
    let run = diff_with(cluster, &project, &["configmap/setings"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("ConfigMap/settings"), "{}", run.stderr);
}

/// A rejected change is not listed as a change.
fn diff_reports_rejected_changes(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    create(cluster, "test", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let settings = json!({"metadata": {"name": "settings"}, "data": {"mode": "theirs"}});
    create(cluster, "somebody", &maps, &settings).ok().unwrap();
    let run = diff(cluster, &project);
    let expected = "ConfigMap/settings in openshift-op would be rejected: it existed before, and other field managers own \
                    fields that transship would set: .data.mode (conflict with \"somebody\" using v1); --adopt takes it over\n";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let labels = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": "applyset-other-v1"}}});
    patch_as(cluster, "somebody", &map("settings"), &labels);
    let run = diff(cluster, &project);
    let expected = "ConfigMap/settings in openshift-op would be rejected: it belongs to another ApplySet, applyset-other-v1";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert_eq!(planned(cluster, &project, "failed"), ["ConfigMap/settings in openshift-op"]);
}

/// Pinned fields of an object that is only created are enforced. Other fields are not.
fn pinned_fields_are_enforced(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.write_manifest(
        "30_chosen",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: chosen\n  namespace: openshift-op\n  annotations:\n    \
         release.openshift.io/create-only: \"true\"\ndata:\n  choice: ours\n  other: ours\n",
    );
    project.add_to_profile("standalone", "pins:\n  ConfigMap/chosen:\n    data:\n      choice: ours\n");
    project.apply_ok(cluster, &[]);
    patch_as(cluster, "somebody", &map("chosen"), &json!({"data": {"other": "theirs"}}));
    assert_code(&diff(cluster, &project), 0);
    patch_as(cluster, "somebody", &map("chosen"), &json!({"data": {"choice": "theirs"}}));
    let run = diff(cluster, &project);
    assert_eq!(
        run.stdout,
        "cluster    ConfigMap/chosen in openshift-op\n  /data/choice: \"theirs\" -> \"ours\"\n"
    );
    assert_eq!(planned(cluster, &project, "changed").len(), 1);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark)[1], map("chosen"));
    let live = cluster.get(&map("chosen")).unwrap();
    assert_eq!(live["data"], json!({"choice": "ours", "other": "theirs"}));
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// Creates a `Deployment` with the name of ours and many other fields.
fn make_deployment(cluster: &TestCluster) {
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
    create(cluster, "kubectl-client-side-apply", deployments, &deployment).ok().unwrap();
}

/// Shows an adoption: orphaned fields are removed, and the API server adds defaults. The apply does the same.
fn diff_shows_an_adoption(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_settings(cluster, &json!({"name": "settings", "labels": {"theirs": "yes"}}));
    make_deployment(cluster);
    let run = diff_with(cluster, &project, &["--adopt"]);
    assert_code(&run, 1);
    let set = "applyset-FsTcBlwMY3jCzAHrmstu5ZCIVy938r-ZJLQ_czDmgrU-v1";
    let fields_of = |object: &str| -> Vec<&str> {
        let (_, rest) = run.stdout.split_once(&format!("cluster    {object} in openshift-op\n")).unwrap();
        rest.lines().map_while(|line| line.strip_prefix("  ")).collect()
    };
    let expected = [
        r#"/data/extra: "theirs" (removed)"#,
        r#"/data/mode: "theirs" -> "one""#,
        r#"/metadata/annotations: {"example.test/of":"test"} (added)"#,
        &format!(r#"/metadata/labels/applyset.kubernetes.io~1part-of: "{set}" (added)"#),
        r#"/metadata/labels/theirs: "yes" (removed)"#,
    ];
    assert_eq!(fields_of("ConfigMap/settings"), expected);
    let expected = [
        r#"/metadata/annotations/example.test~1of: "test" (added)"#,
        r#"/metadata/annotations/theirs: "yes" (removed)"#,
        &format!(r#"/metadata/labels: {{"applyset.kubernetes.io/part-of":"{set}"}} (added)"#),
        "/spec/paused: true (removed)",
        "/spec/replicas: 3 -> 1",
        r#"/spec/template/metadata/labels/theirs: "yes" (removed)"#,
        "/spec/template/spec/automountServiceAccountToken: false (added)",
        r#"/spec/template/spec/containers/[name=theirs]: {"env":[{"name":"A","value":"1"}],"image":"example.test/theirs:1","imagePullPolicy":"IfNotPresent","name":"theirs","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"} (removed)"#,
        r#"/spec/template/spec/containers/[name=op]/env: [{"name":"A","value":"1"}] (removed)"#,
        r#"/spec/template/spec/containers/[name=op]/image: "example.test/theirs:1" -> "example.test/op:1""#,
        r#"/spec/template/spec/containers/[name=op]/ports: [{"containerPort":8443,"protocol":"TCP"}] (added)"#,
        "/spec/template/spec/hostNetwork: true (removed)",
        r#"/spec/template/spec/serviceAccount: "op" (added)"#,
        r#"/spec/template/spec/serviceAccountName: "op" (added)"#,
    ];
    assert_eq!(fields_of("Deployment.apps/op"), expected);

    project.apply_ok(cluster, &["--adopt"]);
    let (settings, live) = (cluster.get(&map("settings")).unwrap(), cluster.get(DEPLOYMENT_PATH).unwrap());
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
    assert_code(&diff_with(cluster, &project, &["--adopt"]), 0);
}

/// The fields of the previous manager conflict with ours, or contain fields of a third manager. They are removed all
/// the same.
fn diff_shows_an_adoption_of_conflicting_fields(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let kubectl = "kubectl-client-side-apply";
    make_settings(cluster, &json!({"name": "other"}));
    let webhook = json!({"metadata": {"name": "op"}, "webhooks": [{
        "name": "op.example.test", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
        "clientConfig": {"service": {"name": "theirs", "namespace": NAMESPACE, "path": "/check"}},
        "rules": [{"apiGroups": ["example.test"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["gadgets"]}],
    }]});
    create(cluster, kubectl, WEBHOOK_PATH.strip_suffix("/op").unwrap(), &webhook).ok().unwrap();
    make_deployment(cluster);
    let env = json!({"spec": {"template": {"spec": {"containers": [{"name": "theirs", "env": [{"name": "B", "value": "c"}]}]}}}});
    let path = format!("{DEPLOYMENT_PATH}?fieldManager=third");
    cluster.patch(&path, "application/strategic-merge-patch+json", &env.to_string());
    let run = diff_with(cluster, &project, &["--adopt"]);
    for expected in [
        r#"/webhooks/[name=op.example.test]/clientConfig/service: {"name":"theirs","namespace":"openshift-op","path":"/check","port":443} (removed)"#,
        r#"/webhooks/[name=op.example.test]/clientConfig/url: "https://op-webhook.clusters-example.svc:443/check" (added)"#,
        r#"/spec/template/spec/containers/[name=theirs]: {"env":[{"name":"B","value":"c"},{"name":"A","value":"1"}],"#,
    ] {
        assert!(run.stdout.contains(expected), "{expected}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("rejected"), "{}", run.stdout);
    project.apply_ok(cluster, &["--adopt"]);
    let client = cluster.get(WEBHOOK_PATH).unwrap()["webhooks"][0]["clientConfig"].clone();
    assert_eq!(client, json!({"url": "https://op-webhook.clusters-example.svc:443/check"}));
    let containers = cluster.get(DEPLOYMENT_PATH).unwrap()["spec"]["template"]["spec"]["containers"].clone();
    let names: Vec<&str> =
        containers.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["op"]);
    assert_code(&diff_with(cluster, &project, &["--adopt"]), 0);
}

/// An object must be recreated or cannot be adopted. That is reported, and a rejected object stays unchanged, with its
/// managers.
fn diff_reports_what_cannot_be_adopted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let kubectl = "kubectl-client-side-apply";
    make_settings(cluster, &json!({"name": "other"}));
    let container =
        json!({"name": "migrate", "image": "example.test/op:1", "env": [{"name": "A", "value": "1"}]});
    let pod = json!({
        "serviceAccountName": "op", "automountServiceAccountToken": false, "restartPolicy": "Never", "containers": [container],
    });
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    create(cluster, kubectl, JOB_PATH.strip_suffix("/migrate").unwrap(), &job).ok().unwrap();
    let labels = json!({"app": "op", "tier": "x"});
    let pod = json!({"containers": [{"name": "op", "image": "example.test/op:1"}]});
    let spec = json!({
        "minReadySeconds": 7, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod},
    });
    let deployment = json!({"metadata": {"name": "op"}, "spec": spec});
    create(cluster, kubectl, DEPLOYMENT_PATH.strip_suffix("/op").unwrap(), &deployment).ok().unwrap();
    let before = cluster.get(DEPLOYMENT_PATH).unwrap();
    let run = diff_with(cluster, &project, &["--adopt"]);
    let why = "spec.selector is immutable; --recreate Deployment/op with --adopt deletes the object and creates it \
               again";
    for expected in [
        "Job.batch/migrate in openshift-op would be recreated: spec.template is immutable\n",
        &format!("Deployment.apps/op in openshift-op would be rejected: {why}\n"),
    ] {
        assert!(run.stdout.contains(expected), "{}", run.stdout);
    }
    let uid = cluster.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    let run = project.apply(cluster, &["--adopt"]);
    assert_code(&run, 3);
    assert_eq!(message_of(&run, "failed", "Deployment.apps/op in openshift-op").unwrap(), why);
    let after = cluster.get(DEPLOYMENT_PATH).unwrap();
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
    assert_eq!(objects_with(&run, "recreated"), ["Job.batch/migrate in openshift-op"]);
    let job = cluster.get(JOB_PATH).unwrap();
    assert_ne!(job["metadata"]["uid"], uid);
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0].get("env"), None);
    project.apply_ok(cluster, &["--adopt", "--recreate", "Deployment/op"]);
    assert_eq!(
        cluster.get(DEPLOYMENT_PATH).unwrap()["spec"]["selector"],
        json!({"matchLabels": {"app": "op"}})
    );
}
