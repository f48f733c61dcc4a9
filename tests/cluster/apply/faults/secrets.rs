//! What is in a Secret is never told: not when all goes well, and not when anything fails.

use serde_json::json;

use super::super::Run;
use super::super::fixture::{CANARY, CANARY_BASE64, INVENTORY, Project, SECRET};
use super::{assert_code, edit, make, told, until};
use crate::BedCase;
use crate::audit::Mark;
use crate::bed::Bed;
use crate::faults::{Fault, Reply, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::secrets::all_goes_well", all_goes_well),
    ("apply::faults::secrets::a_secret_is_refused", a_secret_is_refused),
    ("apply::faults::secrets::requests_fail", requests_fail),
    ("apply::faults::secrets::a_webhook_that_quotes", a_webhook_that_quotes),
];

/// Another value, as it is and as it is stored.
const SECOND: &str = "canary-two-escapes";
const SECOND_BASE64: &str = "Y2FuYXJ5LXR3by1lc2NhcGVz";

fn assert_quiet(what: &str, text: &str) {
    for canary in [CANARY, CANARY_BASE64, SECOND, SECOND_BASE64] {
        assert!(!text.contains(canary), "{what}: {text}");
    }
}

/// What was told says nothing.
fn quiet(what: &str, run: Run) -> Run {
    assert_quiet(what, &run.stdout);
    assert_quiet(what, &run.stderr);
    run
}

/// Neither the requests' paths nor the inventory say anything.
fn assert_nothing_is_left(side: &Side, mark: Mark) {
    for entry in side.audit.since(mark) {
        assert_quiet("audit log", &entry.uri);
    }
    assert_quiet("inventory", &side.get(INVENTORY).unwrap_or_default().to_string());
}

/// Every command, in every format.
fn all_commands(side: &Side, project: &Project) {
    for format in ["text", "json"] {
        quiet("dry run", project.apply(side, &["--dry-run", "-o", format]));
        quiet("diff", project.run(side, "diff", &["--live", "-o", format]));
        quiet("apply", project.apply(side, &["--wait", "-o", format]));
    }
}

/// A Secret is made, changed, compared, found changed by somebody else, and deleted.
fn all_goes_well(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let mark = side.audit.mark();
    all_commands(side, &project);
    project.change("20_secret", CANARY_BASE64, SECOND_BASE64);
    let run = quiet("diff", project.run(side, "diff", &["--live"]));
    assert_code(&run, 1);
    assert!(run.stdout.contains("Secret/credentials in openshift-op"), "{}", run.stdout);
    all_commands(side, &project);
    assert_eq!(side.get(SECRET).unwrap()["data"]["password"], SECOND_BASE64);
    edit(side, "admin", SECRET, &json!({"data": {"password": CANARY_BASE64}}));
    all_commands(side, &project);
    assert_nothing_is_left(side, mark);
    quiet("delete", project.run(side, "delete", &["-o", "json"]));
    assert_nothing_is_left(side, mark);
}

/// The API server refuses a Secret for several reasons: which fields it does not like is all that is told.
fn a_secret_is_refused(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let secret = "Secret/credentials in openshift-op";
    let mark = side.audit.mark();
    let refused = |what: &str| {
        let run = quiet(what, project.apply(side, &[]));
        assert_code(&run, 3);
        quiet(what, project.run(side, "diff", &["--live"]));
        told(&run, "failed", secret).unwrap_or_else(|| panic!("{what}: {}", run.stderr))
    };
    project.change("20_secret", "\ndata:\n", "\ntype: kubernetes.io/dockerconfigjson\ndata:\n");
    let why = refused("a value of another type");
    assert!(why.starts_with("the API server answers 422 Invalid"), "{why}");
    project.bring_back("20_secret");
    project.change("20_secret", "  password:", "  .dockerconfigjson:");
    project.change("20_secret", "\ndata:\n", "\ntype: kubernetes.io/dockerconfigjson\ndata:\n");
    refused("a value that does not fit");
    project.bring_back("20_secret");
    project.change("20_secret", "\ndata:\n", "\nimmutable: true\ndata:\n");
    quiet("immutable", project.applied(side, &[]));
    project.change("20_secret", CANARY_BASE64, SECOND_BASE64);
    let why = refused("immutable");
    assert!(why.contains("data"), "{why}");
    assert_nothing_is_left(side, mark);
}

fn of_secret() -> Which {
    Which::matching(|seen| seen.path.starts_with(SECRET))
}

/// An answer that says what is in the Secret.
fn quoting(what: &str) -> Fault {
    let body = json!({"kind": "Status", "message": format!("{what} {CANARY_BASE64} {CANARY}")});
    Fault::Answer(Reply { code: 500, headers: vec![], body: body.to_string() })
}

/// A webhook that must agree fails, and says what it was given: so does the API server, which quotes it.
fn a_webhook_that_quotes(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let webhook = "failed calling webhook \"w\": failed to call webhook: an error on the server (";
    side.proxy.fault(of_secret(), usize::MAX, quoting(webhook));
    let run = quiet("a webhook", project.apply(side, &["--request-timeout", "1s"]));
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "failed", "Secret/credentials in openshift-op").unwrap(),
        "a webhook that must agree does not answer: `w`"
    );
}

/// A policy quotes the Secret in its refusal, and requests about it fail in other ways.
fn requests_fail(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let mark = side.audit.mark();
    side.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: quotes\nspec:\n  failurePolicy: Fail\n  \
         matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      apiVersions: [v1]\n      operations: [CREATE, UPDATE, DELETE]\n      \
         resources: [secrets]\n  validations:\n  - expression: \"false\"\n    messageExpression: \"'it is ' + string(object.data.password)\"\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: quotes\nspec:\n  \
         policyName: quotes\n  validationActions: [Deny]\n",
    );
    let probe = json!({"metadata": {"name": "probe"}, "data": {"password": CANARY_BASE64}});
    until("a refusal", || {
        let answer = make(side, "test&dryRun=All", "/api/v1/namespaces/default/secrets", &probe);
        answer.code == 422 && answer.text.contains(CANARY_BASE64)
    });
    assert_code(&quiet("a policy", project.apply(side, &[])), 3);
    side.delete("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/quotes");
    for fault in [quoting("it is"), Fault::Cut, Fault::CutAfter, Fault::CutBody] {
        side.proxy.fault(of_secret(), usize::MAX, fault);
        assert_code(&quiet("no answer", project.apply(side, &["--request-timeout", "1s"])), 3);
        side.proxy.clear_faults();
    }
    project.applied(side, &[]);
    assert_nothing_is_left(side, mark);
}
