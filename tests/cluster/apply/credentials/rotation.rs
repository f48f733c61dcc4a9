//! A signer is replaced: certificates follow, and nobody distrusts anybody at any moment.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use transship::Cluster;

use super::project::{HOSTED, Project, Settings};
use super::secrets::{self, bundle, certificate, path, secret, state};
use super::webhook::shake_hands;
use super::{DAY, apply, in_process, openssl, run};
use crate::apply::scenarios::{assert_code, wait_until};
use crate::base_state::BaseState;
use crate::credentials::Signers;
use crate::fault_proxy::When;
use crate::requests::block_on;
use crate::test_bed::TestBed;

/// Replaces the signer of serving certificates, as its owner does.
fn replace_signer(bed: &TestBed) {
    let new = Signers::generate().secrets(HOSTED).remove(0);
    bed.management.apply_yaml(&new.to_string());
}

/// Returns a project whose clients need this long to read what they trust.
fn patient(project: &Project, trust_delay: Duration) -> in_process::Project {
    let mut project = in_process::Project::load(project.path(), "hypershift");
    project.wait = true;
    project.trust_delay = trust_delay;
    project
}

/// Checks that the certificates are those of the current signer, that all clients trust it, and that the pods have the hash
/// over these values.
fn assert_rotated(bed: &TestBed) {
    let current = secrets::signer(bed, "root-ca");
    let trusted = bundle(bed, "trusted");
    assert!(trusted.starts_with(&current), "the current authority comes first");
    assert_eq!(secrets::authorities(&bed.guest.get(secrets::WEBHOOK).unwrap()), trusted);
    for name in ["op-cert", "op-metrics-cert"] {
        openssl::verify(&current, &secrets::text(&secret(bed, name), "tls.crt"));
        assert_eq!(secrets::text(&secret(bed, name), "ca.crt"), current);
    }
    let kubeconfig = secrets::text(&secret(bed, "op-kubeconfig"), "kubeconfig");
    assert_eq!(secrets::field(&kubeconfig, "certificate-authority-data"), trusted);
}

/// A client reads what it trusts and connects, all the time. The server has the certificate of the Secret.
pub(super) fn breaks_no_connection(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    assert_code(&apply(bed, &project, &[]), 0);
    let before = certificate(bed, "op-cert").issuer;
    let (stop, handshakes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let without_wait = patient(&project, Duration::from_secs(2));
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut issuers = std::collections::BTreeSet::new();
            let deadline = Instant::now() + Duration::from_secs(120);
            while !stop.load(Ordering::Relaxed) && Instant::now() < deadline {
                let trusted = secrets::authorities(&bed.guest.get(secrets::WEBHOOK).unwrap());
                let served = secret(bed, "op-cert");
                let [served, key] = ["tls.crt", "tls.key"].map(|key| secrets::text(&served, key));
                shake_hands(&trusted, &served, &key);
                issuers.insert(served);
                handshakes.fetch_add(1, Ordering::Relaxed);
            }
            issuers.len()
        });
        replace_signer(bed);
        // Without --wait, clients only learn to trust the new signer.
        let run_without_wait = apply(bed, &project, &[]);
        assert_code(&run_without_wait, 0);
        assert!(
            run_without_wait.stderr.contains("so the certificate of the old signer stays"),
            "{}",
            run_without_wait.stderr
        );
        assert_eq!(bundle(bed, "trusted").matches("BEGIN CERTIFICATE").count(), 2);
        openssl::verify(&bundle(bed, "trusted"), &secrets::text(&secret(bed, "op-cert"), "tls.crt"));
        run(bed, &without_wait);
        // One more connection begins and ends after the rotation.
        let seen = handshakes.load(Ordering::Relaxed);
        wait_until("two more connections", || handshakes.load(Ordering::Relaxed) >= seen + 2);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(client.join().unwrap(), 2, "the client saw both certificates");
    });
    assert!(handshakes.load(Ordering::Relaxed) > 5);
    assert_eq!(certificate(bed, "op-cert").issuer, before, "both signers have the same name");
    assert_rotated(bed);
    let after = state(bed);
    run(bed, &without_wait);
    assert_eq!(state(bed), after);
}

/// The run is interrupted before each of its requests. Each time, the next run ends in the same state, and at no moment is there a
/// certificate that clients do not trust.
pub(super) fn can_be_cut_off_everywhere(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    assert_code(&apply(bed, &project, &[]), 0);
    replace_signer(bed);
    let clusters = [(Cluster::Management, &bed.management), (Cluster::Guest, &bed.guest)];
    let begin = clusters.map(|(_, cluster)| BaseState::remember(&cluster.control_plane));
    let back = || {
        for ((_, cluster), state) in clusters.iter().zip(&begin) {
            cluster.proxy.reset();
            state.restore(&cluster.control_plane);
        }
    };
    let rotated = patient(&project, Duration::ZERO);
    back();
    run(bed, &rotated);
    assert_rotated(bed);
    let requests = clusters.map(|(_, cluster)| cluster.proxy.seen().len());
    for ((_, cluster), requests) in clusters.iter().zip(requests) {
        for number in 1..=requests {
            back();
            let stop = cluster.proxy.stop_at(number, When::Before);
            block_on(async {
                tokio::select! {
                    _ = rotated.run(in_process::Verb::Apply, &clusters) => {}
                    _ = stop.reached() => {}
                }
            });
            for (_, cluster) in &clusters {
                cluster.proxy.reset();
            }
            let trusted = secrets::authorities(&bed.guest.get(secrets::WEBHOOK).unwrap());
            openssl::verify(&trusted, &secrets::text(&secret(bed, "op-cert"), "tls.crt"));
            run(bed, &rotated);
            assert_rotated(bed);
        }
    }
    let after = state(bed);
    run(bed, &rotated);
    assert_eq!(state(bed), after);
}

/// A day after the last certificate was replaced, clients stop to trust the old authority.
pub(super) fn an_old_authority_leaves_after_a_day(bed: &TestBed) {
    let project = Project::new(&Settings::default());
    assert_code(&apply(bed, &project, &[]), 0);
    replace_signer(bed);
    let mut later = patient(&project, Duration::ZERO);
    run(bed, &later);
    let authorities = || bundle(bed, "trusted").matches("BEGIN CERTIFICATE").count();
    assert_eq!(authorities(), 2);
    later.ahead = DAY / 2;
    run(bed, &later);
    assert_eq!(authorities(), 2);
    later.ahead = DAY * 2;
    run(bed, &later);
    assert_eq!(authorities(), 1);
    assert_rotated(bed);
    // The guest's administrator adds an authority of their own: it goes away, and reaches nobody else.
    let foreign =
        json!([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": Value::Null}]);
    bed.guest.patch(secrets::WEBHOOK, "application/json-patch+json", &foreign.to_string());
    run(bed, &later);
    assert_rotated(bed);
    assert!(bed.management.get(&path("root-ca")).is_some());
}
