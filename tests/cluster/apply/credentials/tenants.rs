//! Two hosted control planes in one management cluster, each with a guest of its own.

use std::collections::BTreeSet;

use serde_json::json;

use super::project::{Project, Settings};
use super::secrets::issued_in;
use crate::apply::run_in;
use crate::apply::scenarios::assert_code;
use crate::control_plane::{ADMIN, ControlPlane};
use crate::credentials::Signers;
use crate::test_bed::TestBed;

/// No key is in both namespaces, and the output for one says nothing about the other.
pub(super) fn share_nothing(bed: &TestBed) {
    let second = ControlPlane::start(bed.management.control_plane.tools());
    second
        .request(
            "POST",
            "/api/v1/namespaces",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-config-managed}\n",
        )
        .unwrap();
    let guests = [bed.guest.direct(), second.kubeconfig(ADMIN)];
    let namespaces = ["clusters-first", "clusters-second"];
    let mut outputs = Vec::new();
    for (namespace, guest) in namespaces.into_iter().zip(&guests) {
        let home = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        bed.management.apply_yaml(&home.to_string());
        for secret in Signers::generate().secrets(namespace) {
            bed.management.apply_yaml(&secret.to_string());
        }
        let project = Project::new(&Settings { namespace, ..Settings::default() });
        let (management, guest) =
            (bed.management.direct().display().to_string(), guest.display().to_string());
        let clusters =
            ["--management-kubeconfig", &management, "--guest-kubeconfig", &guest, "--timeout", "60s"];
        let run =
            run_in(project.path(), &[&["apply", "-vvv", "--topology", "hypershift"], &clusters[..]].concat());
        assert_code(&run, 0);
        outputs.push(run.stdout + &run.stderr);
    }
    let values = namespaces.map(|namespace| {
        let mut values = BTreeSet::new();
        for object in issued_in(bed, namespace) {
            for (key, value) in object["data"].as_object().unwrap() {
                values.insert(format!("{key} {value}"));
            }
        }
        values
    });
    assert!(values[0].len() > 5);
    assert_eq!(values[0].intersection(&values[1]).collect::<Vec<_>>(), Vec::<&String>::new());
    for (output, other) in outputs.iter().zip(["clusters-second", "clusters-first"]) {
        assert!(!output.contains(other), "{output}");
    }
}
