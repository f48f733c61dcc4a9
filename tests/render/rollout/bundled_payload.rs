//! The rollout of the payload in this repository.

use transship::apply::{DependencyReason, Rollout};

use super::{describe, standalone, two};
use crate::checks::bundled::bundled;
use crate::support::{plan, repository};

/// A release whose operands transship applies, with the snapshot webhook.
const WITH_WEBHOOK: &str = r"
apiVersion: transship.openshift.io/v1
kind: Parameters
metadata: {name: default}
values: {operands: ours, snapshot: {webhook: true}}
";

/// The storage payload of both topologies can be ordered, and the guest's webhook depends on its Service.
#[test]
fn the_bundled_payload_has_no_cycle() {
    let project = bundled();
    project.write("profiles/sets/default.yaml", WITH_WEBHOOK);
    let standalone_plan = plan(project.path(), "standalone");
    let clusters = standalone(&standalone_plan);
    let rollout = Rollout::new(&clusters).unwrap();
    assert_eq!(rollout.steps.len(), standalone_plan.objects.len());
    let plans = [plan(project.path(), "hypershift-mc"), plan(project.path(), "hypershift-guest")];
    let clusters = two(&plans);
    let rollout = Rollout::new(&clusters).unwrap();
    let mut waiting = Vec::new();
    for step in &rollout.steps {
        for dependency in &step.dependencies {
            if dependency.reason == DependencyReason::CallsManagementService {
                waiting.push(step.object.id.kind.as_str());
            }
        }
    }
    assert_eq!(waiting, ["ValidatingWebhookConfiguration"]);
}

/// Within a cluster, no step depends on itself or on a later stage.
#[test]
fn dependencies_of_the_bundled_payload_point_to_earlier_stages() {
    for profile in ["standalone", "hypershift-mc", "hypershift-guest"] {
        let plan = plan(&repository(), profile);
        let clusters = standalone(&plan);
        let rollout = Rollout::new(&clusters).unwrap();
        for (id, dependent) in rollout.steps() {
            for dependency in &dependent.dependencies {
                let is_earlier = dependency.on != id && rollout.step(dependency.on).stage <= dependent.stage;
                assert!(is_earlier, "{profile}: {}", describe(&rollout, dependent));
            }
        }
    }
}
