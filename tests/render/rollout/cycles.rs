//! Dependencies that contradict the run levels.

use transship::apply::Rollout;
use transship::{Chunk, Plan, Stage};

use super::{POD, cluster_scoped, config_map, cycle, plan_of, standalone, widget_crd};
use crate::support::object;

/// Returns a stage with one object.
fn stage(index: usize, level: &str) -> Stage {
    Stage { chunks: vec![Chunk { objects: index..index + 1, run_level: Some(level.to_owned()) }] }
}

#[test]
fn a_crd_at_a_later_level_is_a_cycle() {
    let one_level = plan_of(&[
        ("0000_10_a_1.yaml", object("example.com/v1", "Widget", "ns", "w", "")),
        ("0000_10_a_2.yaml", widget_crd()),
    ]);
    assert!(Rollout::new(&standalone(&one_level)).is_ok());
    let two_levels = Plan { stages: vec![stage(0, "10"), stage(1, "20")], ..one_level };
    assert_eq!(
        cycle(&standalone(&two_levels)),
        [
            "Widget.example.com/w in ns",
            "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
            "Widget.example.com/w in ns",
        ]
    );
}

#[test]
fn a_cycle_contains_only_its_members() {
    let plan = plan_of(&[
        ("0000_05_a_1.yaml", cluster_scoped("v1", "Namespace", "ns", "")),
        ("0000_10_a_1.yaml", config_map("beside")),
        ("0000_20_a_1.yaml", object("apps/v1", "Deployment", "ns", "d", POD)),
        ("0000_30_a_1.yaml", config_map("between")),
        ("0000_40_a_1.yaml", object("v1", "ServiceAccount", "ns", "sa", "")),
        ("0000_50_a_1.yaml", config_map("behind")),
    ]);
    assert_eq!(
        cycle(&standalone(&plan)),
        ["Deployment.apps/d in ns", "ServiceAccount/sa in ns", "Deployment.apps/d in ns"]
    );
}

#[test]
fn a_job_before_a_mounted_object_is_a_cycle() {
    let plan = plan_of(&[
        ("0000_10_a_1.yaml", object("batch/v1", "Job", "ns", "j", POD)),
        ("0000_10_a_2.yaml", config_map("mounted")),
    ]);
    assert_eq!(
        cycle(&standalone(&plan)),
        ["Job.batch/j in ns", "ConfigMap/mounted in ns", "Job.batch/j in ns"]
    );
}
