//! Declared credentials are issued: certificates, kubeconfigs, authorities and cloud credentials work, are renewed in time, and
//! stay otherwise.

mod openssl;
mod project;
mod rotation;
mod secrets;
mod tenants;
mod use_of_credentials;
mod webhook;

use std::time::Duration;

use serde_json::{Value, json};
use transship::Cluster;
use transship::apply::Rotation;

use self::project::{HOSTED, Project, Settings};
use self::secrets::{authorities, bundle, certificate, issued};
use super::in_process::{self, Verb};
use super::scenarios::{assert_code, message_of, objects_with};
use super::{Run, repository, run_hosted};
use crate::TestBedCase;
use crate::audit::{self, Entry};
use crate::fault_rules::{Fault, Reply, RequestMatcher, SeenRequest};
use crate::requests::block_on;
use crate::test_bed::TestBed;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::credentials::all_of_the_payload_are_issued", all_of_the_payload_are_issued),
    ("apply::credentials::a_second_apply_issues_nothing", a_second_apply_issues_nothing),
    (
        "apply::credentials::what_cannot_be_issued_waits_with_its_reason",
        what_cannot_be_issued_waits_with_its_reason,
    ),
    ("apply::credentials::only_what_is_due_is_renewed", only_what_is_due_is_renewed),
    ("apply::credentials::an_own_signer_is_created_and_kept", an_own_signer_is_created_and_kept),
    ("apply::credentials::a_token_is_issued_by_the_guest", a_token_is_issued_by_the_guest),
    ("apply::credentials::what_cannot_be_read_is_not_replaced", what_cannot_be_read_is_not_replaced),
    ("apply::credentials::they_are_listed_and_rotated", they_are_listed_and_rotated),
    ("apply::credentials::rights_of_kubeconfigs", use_of_credentials::rights_of_kubeconfigs),
    ("apply::credentials::a_server_is_trusted_and_called_as_a_webhook", webhook::is_called),
    ("apply::credentials::a_new_signer_breaks_no_connection", rotation::breaks_no_connection),
    ("apply::credentials::a_rotation_can_be_cut_off_everywhere", rotation::can_be_cut_off_everywhere),
    (
        "apply::credentials::an_old_authority_leaves_after_a_day",
        rotation::an_old_authority_leaves_after_a_day,
    ),
    ("apply::credentials::two_hosted_clusters_share_nothing", tenants::share_nothing),
    ("apply::credentials::no_output_contains_a_key", secrets::no_output_contains_a_key),
];

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Applies a project as a command does.
fn apply(bed: &TestBed, project: &Project, more: &[&str]) -> Run {
    run_hosted(
        bed,
        project.path(),
        "apply",
        &[&["-v", "--timeout", "60s", "--retry-timeout", "5s"], more].concat(),
    )
}

/// Applies a project as if it was later.
fn apply_later(bed: &TestBed, project: &Project, later: Duration) {
    let mut project = in_process::Project::load(project.path(), "hypershift");
    project.ahead = later;
    run(bed, &project);
}

fn run(bed: &TestBed, project: &in_process::Project) {
    let clusters = [(Cluster::Management, &bed.management), (Cluster::Guest, &bed.guest)];
    let summary = block_on(project.run(Verb::Apply, &clusters)).unwrap();
    assert!(!summary.has_problems(), "{}", summary.lines());
}

/// Every issued Secret of the bundled payload has all its values, and openssl accepts every chain.
fn all_of_the_payload_are_issued(bed: &TestBed) {
    for operands in ["operator", "ours"] {
        let set = format!("operands={operands}");
        let with = ["--wait", "--timeout", "60s", "--set", "hcp.namespace=clusters-example", "--set", &set];
        assert_code(&run_hosted(bed, repository(), "apply", &with), 0);
        let issued = issued(bed);
        let expected = if operands == "operator" { 8 } else { 6 };
        assert_eq!(issued.len(), expected, "{operands}");
        for object in &issued {
            let data = object["data"].as_object().unwrap();
            assert!(
                !data.is_empty() && data.values().all(|value| value != ""),
                "{}",
                object["metadata"]["name"]
            );
        }
        let trusted = bundle(bed, "serving-ca-bundle");
        for secret in issued.iter().filter(|one| one["metadata"]["labels"][secrets::LABEL] == "certificate") {
            openssl::verify(&trusted, &secrets::text(secret, "tls.crt"));
        }
        for secret in issued.iter().filter(|one| one["metadata"]["labels"][secrets::LABEL] == "kubeconfig") {
            let kubeconfig = secrets::text(secret, "kubeconfig");
            let [authority, client] = ["certificate-authority-data", "client-certificate-data"];
            assert_eq!(secrets::field(&kubeconfig, authority), trusted);
            let clients = secrets::signer(bed, "cluster-signer-ca");
            openssl::verify(&clients, &secrets::field(&kubeconfig, client));
        }
        let cloud = issued.iter().find(|one| one["metadata"]["name"] == "ebs-cloud-credentials").unwrap();
        assert_eq!(
            secrets::text(cloud, "credentials"),
            "[default]\nrole_arn = arn:aws:iam::123456789012:role/ebs\n\
             web_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n\
             sts_regional_endpoints = regional\nregion = us-east-1\n"
        );
        bed.reset();
    }
}

/// A second apply writes nothing, and `diff --live` finds nothing. The pods have the hash over the issued values.
fn a_second_apply_issues_nothing(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    assert_code(&apply(bed, &project, &[]), 0);
    let before = secrets::state(bed);
    let rendered = super::run_in(project.path(), &["render", "--profile", "mc", "-o", "json"]).stdout;
    let hash = secrets::config_hash(bed);
    assert!(!rendered.contains(&hash), "the values are known only in the cluster");
    let marks = [bed.management.audit.mark(), bed.guest.audit.mark()];
    let run = apply(bed, &project, &[]);
    assert_code(&run, 0);
    assert_eq!(
        run.stdout,
        "management: 0 created, 0 changed, 7 unchanged, 0 pruned, 0 failed\n\
         guest: 0 created, 0 changed, 5 unchanged, 0 pruned, 0 failed\n"
    );
    for (cluster, mark) in [&bed.management, &bed.guest].into_iter().zip(marks) {
        let entries: Vec<Entry> = cluster.audit.since(mark).into_iter().filter(Entry::is_ours).collect();
        assert_eq!(audit::writes(&entries), Vec::<&Entry>::new());
    }
    let diff = run_hosted(bed, project.path(), "diff", &["--live"]);
    assert_code(&diff, 0);
    assert_eq!((secrets::state(bed), secrets::config_hash(bed)), (before, hash));
    // Nothing that only transship reads is in a cluster.
    for object in issued(bed) {
        assert_eq!(object["metadata"]["annotations"], Value::Null);
    }
    let webhook = bed.guest.get(secrets::WEBHOOK).unwrap();
    assert_eq!(webhook["metadata"]["annotations"], Value::Null);
    assert_eq!(authorities(&webhook), bundle(bed, "trusted"));
}

/// Without a signer nothing is created that is empty, and what needs it waits. A waiting apply goes on when it is there.
fn what_cannot_be_issued_waits_with_its_reason(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    let root = bed.management.get(&secrets::path("root-ca")).unwrap();
    bed.management.delete(&secrets::path("root-ca"));
    let run = apply(bed, &project, &[]);
    assert_code(&run, 3);
    let why = "its values cannot be issued: the signer Secret/root-ca in clusters-example cannot be used: it does not exist";
    for name in ["op-cert", "op-metrics-cert", "op-kubeconfig"] {
        let object = format!("Secret/{name} in clusters-example");
        assert_eq!(message_of(&run, "failed", &object).unwrap(), why);
        assert!(bed.management.get(&secrets::path(name)).is_none());
    }
    assert_eq!(objects_with(&run, "blocked"), ["Deployment.apps/op in clusters-example"]);
    std::thread::scope(|scope| {
        let mark = bed.management.audit.mark();
        let waiting = scope.spawn(|| apply(bed, &project, &["--wait"]));
        super::scenarios::wait_until("a read of the signer", || {
            let entries = bed.management.audit.since(mark);
            entries.iter().filter(|entry| entry.is_ours() && entry.uri.ends_with("/root-ca")).count() > 1
        });
        let metadata = json!({"name": "root-ca", "namespace": HOSTED});
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": root["data"]});
        bed.management.apply_yaml(&secret.to_string());
        assert_code(&waiting.join().unwrap(), 0);
    });
    // The signer may go again: valid certificates stay, and an apply does not fail.
    let before = secrets::state(bed);
    bed.management.delete(&secrets::path("root-ca"));
    assert_code(&apply(bed, &project, &[]), 0);
    assert_eq!(secrets::state(bed), before);
}

/// Two thirds of a year are 243 days. Only what is issued for a year is due, and only once.
fn only_what_is_due_is_renewed(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    assert_code(&apply(bed, &project, &[]), 0);
    let before = secrets::state(bed);
    apply_later(bed, &project, DAY * 242);
    assert_eq!(secrets::state(bed), before);
    let hash = secrets::config_hash(bed);
    // Only this one is due early.
    let renewed = ["op-cert"];
    let mut named = in_process::Project::load(project.path(), "hypershift");
    named.rotation = Rotation::Named(renewed.map(str::to_owned).to_vec());
    run(bed, &named);
    let after = secrets::state(bed);
    let changed: Vec<&String> =
        after.iter().filter(|(name, data)| before[*name] != **data).map(|one| one.0).collect();
    assert_eq!(changed, renewed);
    let early = secrets::config_hash(bed);
    assert_ne!(early, hash, "the pod mounts it");
    apply_later(bed, &project, DAY * 244);
    let later = secrets::state(bed);
    let changed: Vec<&String> =
        later.iter().filter(|(name, data)| after[*name] != **data).map(|one| one.0).collect();
    assert_eq!(changed, ["op-cert", "op-kubeconfig", "op-metrics-cert"]);
    apply_later(bed, &project, DAY * 245);
    assert_eq!(secrets::state(bed), later);
    assert_eq!(certificate(bed, "op-cert").issuer, "CN=root-ca,OU=openshift");
}

/// A profile allows it: transship creates the signer once, and never again.
fn an_own_signer_is_created_and_kept(bed: &TestBed) {
    bed.management.delete(&secrets::path("root-ca"));
    let project = Project::new(&Settings { own: true, ..Settings::default() });
    assert_code(&apply(bed, &project, &[]), 0);
    let before = secrets::state(bed);
    assert!(before.contains_key("root-ca"));
    openssl::verify(&bundle(bed, "trusted"), &secrets::text(&secrets::secret(bed, "op-cert"), "tls.crt"));
    apply_later(bed, &project, DAY * 300);
    let signer = |state: &std::collections::BTreeMap<String, Value>| state["root-ca"].clone();
    assert_eq!(signer(&secrets::state(bed)), signer(&before));
    // After two thirds of ten years, or on request, everything moves to a new one.
    let mut rotated = in_process::Project::load(project.path(), "hypershift");
    rotated.rotation = Rotation::Signers;
    run(bed, &rotated);
    let after = secrets::state(bed);
    assert_ne!(signer(&after), signer(&before));
    openssl::verify(&bundle(bed, "trusted"), &secrets::text(&secrets::secret(bed, "op-cert"), "tls.crt"));
    assert_eq!(bundle(bed, "trusted").matches("BEGIN CERTIFICATE").count(), 2);
    assert_eq!(authorities(&bed.guest.get(secrets::WEBHOOK).unwrap()), bundle(bed, "trusted"));
    rotated.rotation = Rotation::None;
    run(bed, &rotated);
    assert_eq!(secrets::state(bed), after);
}

/// The guest issues the token after it has the ServiceAccount, in the same run.
fn a_token_is_issued_by_the_guest(bed: &TestBed) {
    let server = format!("https://127.0.0.1:{}", bed.guest.control_plane.port());
    let project = Project::new(&Settings { token: true, server, ..Settings::default() });
    assert_code(&apply(bed, &project, &[]), 0);
    let kubeconfig = secrets::text(&secrets::secret(bed, "op-kubeconfig"), "kubeconfig");
    let review = use_of_credentials::who_am_i(&kubeconfig);
    assert_eq!(review["username"], "system:serviceaccount:openshift-op:op");
    let before = secrets::state(bed);
    assert_code(&apply(bed, &project, &[]), 0);
    assert_eq!(secrets::state(bed), before);
    // A ServiceAccount that was deleted and created again does not accept its old token.
    bed.guest.delete("/api/v1/namespaces/openshift-op/serviceaccounts/op");
    assert_code(&apply(bed, &project, &[]), 0);
    let kubeconfig = secrets::text(&secrets::secret(bed, "op-kubeconfig"), "kubeconfig");
    assert_eq!(
        use_of_credentials::who_am_i(&kubeconfig)["username"],
        "system:serviceaccount:openshift-op:op"
    );
}

/// `credentials list --live` says how each credential is, and `credentials rotate` renews exactly what it is asked for.
fn they_are_listed_and_rotated(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    let list = || {
        let run = run_hosted(bed, project.path(), "credentials", &["list", "--live", "-o", "json"]);
        assert_code(&run, 0);
        let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| (line["name"].as_str().unwrap().to_owned(), line))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = list();
    assert_eq!(before.keys().collect::<Vec<_>>(), ["op-cert", "op-kubeconfig", "op-metrics-cert"]);
    assert_eq!(before["op-cert"]["state"], "due: it is new");
    assert_code(&apply(bed, &project, &[]), 0);
    let applied = list();
    let expected = json!({
        "kind": "kubeconfig", "name": "op-kubeconfig", "namespace": HOSTED, "state": "valid",
        "identity": "system:serviceaccount:openshift-op:op", "acceptedBy": "guest", "issuedBy": "cluster-signer-ca",
        "usedBy": ["Deployment/op"], "validUntil": applied["op-kubeconfig"]["validUntil"],
        "renewal": applied["op-kubeconfig"]["renewal"],
    });
    assert_eq!(applied["op-kubeconfig"], expected);
    assert!(expected["renewal"].as_str() < expected["validUntil"].as_str());
    let (old, hash) = (secrets::state(bed), secrets::config_hash(bed));
    // No pod mounts this one, so none restarts.
    assert_code(&run_hosted(bed, project.path(), "credentials", &["rotate", "op-metrics-cert"]), 0);
    let new = secrets::state(bed);
    let changed: Vec<&String> =
        new.iter().filter(|(name, data)| old[*name] != **data).map(|one| one.0).collect();
    assert_eq!(changed, ["op-metrics-cert"]);
    assert_eq!(secrets::config_hash(bed), hash);
    assert_code(&run_hosted(bed, project.path(), "credentials", &["rotate", "--all"]), 0);
    let newer = secrets::state(bed);
    for name in ["op-cert", "op-kubeconfig", "op-metrics-cert"] {
        assert_ne!(newer[name], new[name], "{name}");
    }
    assert_eq!(newer["trusted"], new["trusted"]);
    assert_ne!(secrets::config_hash(bed), hash);
    let refused = run_hosted(bed, project.path(), "credentials", &["rotate", "op-crt"]);
    assert_code(&refused, 2);
    assert!(refused.stderr.contains("did you mean `op-cert`?"), "{}", refused.stderr);
    let refused = run_hosted(bed, project.path(), "credentials", &["rotate", "--ca"]);
    assert_code(&refused, 2);
    assert!(refused.stderr.contains("transship creates no signer of this topology"), "{}", refused.stderr);
}

/// A read that fails does not count as a missing object: the signer, its certificates and the pods stay as they are.
fn what_cannot_be_read_is_not_replaced(bed: &TestBed) {
    bed.management.delete(&secrets::path("root-ca"));
    let project = Project::new(&Settings { own: true, ..Settings::default() });
    assert_code(&apply(bed, &project, &[]), 0);
    let (before, hash) = (secrets::state(bed), secrets::config_hash(bed));
    for kind in ["/secrets", "/configmaps/trusted"] {
        let is_read = move |request: &SeenRequest| request.method == "GET" && request.path.contains(kind);
        let forbidden = Fault::Respond(Reply::status(403, "Forbidden"));
        bed.management.proxy.fault(RequestMatcher::matching(is_read), usize::MAX, forbidden);
        let run = apply(bed, &project, &[]);
        bed.management.proxy.clear_faults();
        if kind == "/secrets" {
            assert_code(&run, 3);
            let why = message_of(&run, "failed", "Secret/root-ca in clusters-example").unwrap();
            assert!(why.starts_with("its values cannot be issued: Secret/root-ca cannot be read: "), "{why}");
        }
        assert_eq!((secrets::state(bed), secrets::config_hash(bed)), (before.clone(), hash.clone()));
    }
    assert_code(&apply(bed, &project, &[]), 0);
    assert_eq!((secrets::state(bed), secrets::config_hash(bed)), (before, hash));
}
