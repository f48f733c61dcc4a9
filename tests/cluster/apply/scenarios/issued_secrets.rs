//! Secrets whose values an issuer gives: a Secret without values would be worse than none.

use serde_json::{Value, json};

use super::super::{repository, run_hosted};
use super::{assert_code, create, message_of, objects_with, wait_until};
use crate::TestBedCase;
use crate::test_bed::TestBed;

pub(crate) const CASES: &[TestBedCase] = &[(
    "apply::issued_secrets::what_needs_a_secret_waits_until_it_is_issued",
    what_needs_a_secret_waits_until_it_is_issued,
)];

const SECRETS: &str = "/api/v1/namespaces/clusters-example/secrets";
const NAME: &str = "csi-snapshot-controller-operator-kubeconfig";
const SECRET: &str = "Secret/csi-snapshot-controller-operator-kubeconfig in clusters-example";
const OPERATOR: &str = "Deployment.apps/csi-snapshot-controller-operator in clusters-example";

/// transship does not create the Secret, and applies everything that does not need it. When the issuer creates the Secret, a
/// waiting apply goes on. The values stay those of the issuer.
fn what_needs_a_secret_waits_until_it_is_issued(bed: &TestBed) {
    let secret = format!("{SECRETS}/{NAME}");
    bed.management.delete(&secret);
    let why = "the issuer has not set kubeconfig; transship creates no Secret with empty values, so create the Secret with these \
               keys";
    let run = run_hosted(bed, repository(), "apply", &["-v", "--timeout", "60s"]);
    assert_code(&run, 3);
    assert_eq!(message_of(&run, "failed", SECRET).unwrap(), why);
    assert_eq!(objects_with(&run, "failed"), [SECRET]);
    assert!(objects_with(&run, "blocked").contains(&OPERATOR.to_owned()), "{}", run.stderr);
    assert!(objects_with(&run, "created").iter().any(|it| it.contains("/cluster-storage-operator in ")));
    assert!(bed.management.get(&secret).is_none());
    let empty = json!({"metadata": {"name": NAME}, "type": "Opaque", "data": {"kubeconfig": ""}});
    create(&bed.management, "issuer", SECRETS, &empty).ok().unwrap();
    let run = run_hosted(bed, repository(), "apply", &["-v", "--timeout", "60s"]);
    assert_eq!(message_of(&run, "failed", SECRET).unwrap(), why, "an empty value is none");
    // It does not exist when the next apply starts.
    bed.management.delete(&secret);
    std::thread::scope(|scope| {
        let marked = bed.management.audit.mark();
        let waiting = scope.spawn(|| run_hosted(bed, repository(), "apply", &["--wait", "--timeout", "60s"]));
        wait_until("a read of the Secret", || {
            bed.management.audit.since(marked).iter().any(|entry| entry.is_ours() && entry.uri.contains(NAME))
        });
        let issued =
            json!({"metadata": {"name": NAME}, "type": "Opaque", "data": {"kubeconfig": "aXNzdWVk"}});
        create(&bed.management, "issuer", SECRETS, &issued).ok().unwrap();
        assert_code(&waiting.join().unwrap(), 0);
    });
    let live = bed.management.get(&secret).unwrap();
    assert_eq!(live["data"], json!({"kubeconfig": "aXNzdWVk"}));
    assert_ne!(
        bed.management
            .get("/apis/apps/v1/namespaces/clusters-example/deployments/csi-snapshot-controller-operator"),
        None::<Value>
    );
}
