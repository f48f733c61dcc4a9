//! Values of Secrets are never printed, whether commands succeed or fail.

use serde_json::json;

use super::super::Run;
use super::super::fixture::{CANARY, CANARY_BASE64, INVENTORY, Project, SECRET};
use super::{assert_code, create, message_of, patch_as, wait_until};
use crate::TestBedCase;
use crate::audit::Mark;
use crate::fault_rules::{Fault, Reply, RequestMatcher};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::secret_values::no_command_prints_a_secret", no_command_prints_a_secret),
    ("apply::secret_values::a_rejected_secret_is_not_quoted", a_rejected_secret_is_not_quoted),
    ("apply::secret_values::failed_requests_do_not_quote_a_secret", failed_requests_do_not_quote_a_secret),
    (
        "apply::secret_values::a_webhook_error_does_not_quote_a_secret",
        a_webhook_error_does_not_quote_a_secret,
    ),
];

/// Another value, in plain text and in base64.
const SECOND: &str = "canary-two-escapes";
const SECOND_BASE64: &str = "Y2FuYXJ5LXR3by1lc2NhcGVz";

fn assert_quiet(what: &str, text: &str) {
    for canary in [CANARY, CANARY_BASE64, SECOND, SECOND_BASE64] {
        assert!(!text.contains(canary), "{what}: {text}");
    }
}

/// Checks that the output contains no value.
fn quiet(what: &str, run: Run) -> Run {
    assert_quiet(what, &run.stdout);
    assert_quiet(what, &run.stderr);
    run
}

/// Checks that the paths of requests and the inventory contain no value.
fn assert_nothing_is_left(cluster: &TestCluster, mark: Mark) {
    for entry in cluster.audit.since(mark) {
        assert_quiet("audit log", &entry.uri);
    }
    assert_quiet("inventory", &cluster.get(INVENTORY).unwrap_or_default().to_string());
}

/// Runs every command in every format, with everything that is logged.
fn all_commands(cluster: &TestCluster, project: &Project) {
    for format in ["text", "json"] {
        let flags = ["-o", format, "-vvv", "--log-format", format];
        quiet("dry run", project.apply(cluster, &[&["--dry-run"], &flags[..]].concat()));
        quiet("diff", project.run(cluster, "diff", &[&["--live"], &flags[..]].concat()));
        let run = quiet("apply", project.apply(cluster, &[&["--wait"], &flags[..]].concat()));
        assert!(run.stderr.contains("/secrets"), "requests are logged: {}", run.stderr);
    }
}

/// A Secret is created, changed, compared, changed by someone else, and deleted.
fn no_command_prints_a_secret(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let mark = cluster.audit.mark();
    all_commands(cluster, &project);
    project.change("20_secret", CANARY_BASE64, SECOND_BASE64);
    let run = quiet("diff", project.run(cluster, "diff", &["--live"]));
    assert_code(&run, 1);
    assert!(run.stdout.contains("Secret/credentials in openshift-op"), "{}", run.stdout);
    all_commands(cluster, &project);
    assert_eq!(cluster.get(SECRET).unwrap()["data"]["password"], SECOND_BASE64);
    patch_as(cluster, "admin", SECRET, &json!({"data": {"password": CANARY_BASE64}}));
    all_commands(cluster, &project);
    assert_nothing_is_left(cluster, mark);
    quiet("delete", project.run(cluster, "delete", &["-o", "json"]));
    assert_nothing_is_left(cluster, mark);
}

/// The API server rejects a Secret for several reasons. Only the names of the fields are reported.
fn a_rejected_secret_is_not_quoted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let secret = "Secret/credentials in openshift-op";
    let mark = cluster.audit.mark();
    let refused = |what: &str| {
        let run = quiet(what, project.apply(cluster, &[]));
        assert_code(&run, 3);
        quiet(what, project.run(cluster, "diff", &["--live"]));
        message_of(&run, "failed", secret).unwrap_or_else(|| panic!("{what}: {}", run.stderr))
    };
    project.change("20_secret", "\ndata:\n", "\ntype: kubernetes.io/dockerconfigjson\ndata:\n");
    let why = refused("a value of another type");
    assert!(why.starts_with("the API server returns 422 Invalid"), "{why}");
    project.restore("20_secret");
    project.change("20_secret", "  password:", "  .dockerconfigjson:");
    project.change("20_secret", "\ndata:\n", "\ntype: kubernetes.io/dockerconfigjson\ndata:\n");
    refused("a value that does not fit");
    project.restore("20_secret");
    project.change("20_secret", "\ndata:\n", "\nimmutable: true\ndata:\n");
    quiet("immutable", project.apply_ok(cluster, &[]));
    project.change("20_secret", CANARY_BASE64, SECOND_BASE64);
    let why = refused("immutable");
    assert!(why.contains("data"), "{why}");
    assert_nothing_is_left(cluster, mark);
}

fn of_secret() -> RequestMatcher {
    RequestMatcher::matching(|seen| seen.path.starts_with(SECRET))
}

/// Responses with a message that quotes the Secret.
fn quoting(what: &str) -> Fault {
    let body = json!({"kind": "Status", "message": format!("{what} {CANARY_BASE64} {CANARY}")});
    Fault::Respond(Reply { code: 500, headers: vec![], body: body.to_string() })
}

/// A webhook fails and quotes the Secret, and the API server quotes the webhook.
fn a_webhook_error_does_not_quote_a_secret(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let webhook = "failed calling webhook \"w\": failed to call webhook: an error on the server (";
    cluster.proxy.fault(of_secret(), usize::MAX, quoting(webhook));
    let run = quiet("a webhook", project.apply(cluster, &["--retry-timeout", "1s", "-vvv"]));
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "Secret/credentials in openshift-op").unwrap(),
        "an admission webhook does not respond: `w`"
    );
}

/// A policy quotes the Secret in its message, and requests for it fail in other ways.
fn failed_requests_do_not_quote_a_secret(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let mark = cluster.audit.mark();
    cluster.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: quotes\nspec:\n  failurePolicy: Fail\n  \
         matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      apiVersions: [v1]\n      operations: [CREATE, UPDATE, DELETE]\n      \
         resources: [secrets]\n  validations:\n  - expression: \"false\"\n    messageExpression: \"'it is ' + string(object.data.password)\"\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: quotes\nspec:\n  \
         policyName: quotes\n  validationActions: [Deny]\n",
    );
    let probe = json!({"metadata": {"name": "probe"}, "data": {"password": CANARY_BASE64}});
    wait_until("a refusal", || {
        let response = create(cluster, "test&dryRun=All", "/api/v1/namespaces/default/secrets", &probe);
        response.code == 422 && response.text.contains(CANARY_BASE64)
    });
    assert_code(&quiet("a policy", project.apply(cluster, &[])), 3);
    cluster.delete("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/quotes");
    for fault in [quoting("it is"), Fault::Cut, Fault::CutAfter, Fault::CutBody] {
        cluster.proxy.fault(of_secret(), usize::MAX, fault);
        assert_code(&quiet("no response", project.apply(cluster, &["--retry-timeout", "1s", "-vvv"])), 3);
        cluster.proxy.clear_faults();
    }
    project.apply_ok(cluster, &[]);
    assert_nothing_is_left(cluster, mark);
}
