//! Readiness of objects: kstatus' rules, the cluster-version-operator's, and well-known conditions.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Readiness, readiness, readiness_of_missing};
use crate::yaml::{self, SourceId};

/// Reads the cases of `tests/data/readiness.yaml`.
fn cases() -> Vec<Value> {
    let path = format!("{}/tests/data/readiness.yaml", env!("CARGO_MANIFEST_DIR"));
    let documents = yaml::read(&std::fs::read_to_string(path).unwrap(), SourceId(0)).unwrap();
    serde_json::from_str(&yaml::json::write(&documents[0].root)).unwrap()
}

/// Formats a readiness as in the table.
fn format_readiness(readiness: &Readiness) -> String {
    match readiness {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Waiting(why) => format!("waiting: {why}"),
        Readiness::Failed(why) => format!("failed: {why}"),
    }
}

#[test]
fn every_case_of_the_table_holds() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let (found, wanted) = (format_readiness(&readiness(&case["live"], &case["manifest"])), &case["is"]);
        if found != *wanted {
            wrong.push(format!("{}:\n  {found}\n  instead of {wanted}", case["case"]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cases.len(), 112);
}

#[test]
fn only_a_job_with_a_time_to_live_may_be_gone() {
    let job = |spec: Value| json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec});
    let missing = "waiting: it no longer exists";
    for (rendered, expected) in [
        (job(json!({"ttlSecondsAfterFinished": 0})), "ready"),
        (job(json!({})), missing),
        (
            json!({"apiVersion": "example.test/v1", "kind": "Job", "spec": {"ttlSecondsAfterFinished": 0}}),
            missing,
        ),
        (json!({"apiVersion": "v1", "kind": "ConfigMap"}), missing),
    ] {
        assert_eq!(format_readiness(&readiness_of_missing(&rendered)), expected, "{rendered}");
    }
}

/// A misspelled key would make a case useless.
#[test]
fn every_case_has_the_right_keys() {
    let mut names = std::collections::BTreeSet::new();
    for case in cases() {
        let keys: Vec<&str> = case.as_object().unwrap().keys().map(String::as_str).collect();
        let known = matches!(keys[..], ["case", "is", "live"] | ["case", "is", "live", "manifest"]);
        assert!(known, "{case}");
        assert!(names.insert(case["case"].to_string()), "repeated: {}", case["case"]);
    }
}

/// Readiness depends only on the live object, except for the versions of a `ClusterOperator`.
#[test]
fn only_cluster_operators_depend_on_the_manifest() {
    let other = json!({"kind": "Job", "spec": {"replicas": 7}, "status": {"versions": [{"name": "operator", "version": "x"}]}});
    for case in cases().iter().filter(|case| case["live"]["kind"] != "ClusterOperator") {
        assert_eq!(readiness(&case["live"], &other), readiness(&case["live"], &Value::Null), "{case}");
    }
}

/// Words that `readiness` looks for, so that random values come close to real objects.
const WORDS: &str = "\
apiVersion kind metadata spec status generation observedGeneration deletionTimestamp replicas updatedReplicas \
availableReplicas readyReplicas conditions type reason message updateStrategy rollingUpdate partition currentRevision \
updateRevision versions name version phase loadBalancer ingress desiredNumberScheduled updatedNumberScheduled \
numberAvailable Ready Available Degraded Stalled Reconciling Progressing ProgressDeadlineExceeded Established \
NamesAccepted Complete Failed True False OnDelete LoadBalancer Bound Active Succeeded";

/// The kinds that have their own rules, and some that have none.
const KINDS: [&str; 14] = [
    "apps/v1 Deployment",
    "apps/v1 StatefulSet",
    "apps/v1 DaemonSet",
    "apps/v1 ReplicaSet",
    "batch/v1 Job",
    "v1 Pod",
    "v1 PersistentVolumeClaim",
    "v1 Namespace",
    "v1 Service",
    "apiextensions.k8s.io/v1 CustomResourceDefinition",
    "apiregistration.k8s.io/v1 APIService",
    "config.openshift.io/v1 ClusterOperator",
    "example.com/v1 Widget",
    "a/b/c ",
];

fn word() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(WORDS.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned);
    prop_oneof![9 => known, 1 => any::<String>()]
}

/// Any value. Counts are as large as an API server accepts.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-2..5).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A map with some of the keys.
fn some_of(keys: &'static str, value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let key = proptest::sample::select(keys.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned);
    proptest::collection::vec((key, value), 0..8)
        .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>()))
        .boxed()
}

/// A nearly valid object of a kind that has its own rules.
fn object() -> impl Strategy<Value = Value> {
    let condition = some_of("type status reason message", word().prop_map(Value::from).boxed());
    let conditions = proptest::collection::vec(condition, 0..4).prop_map(Value::from);
    let counts = "observedGeneration replicas updatedReplicas availableReplicas readyReplicas \
                  desiredNumberScheduled updatedNumberScheduled numberAvailable";
    let status = (some_of(counts, any::<i32>().prop_map(Value::from).boxed()), conditions);
    let status = status.prop_map(|(mut status, conditions)| {
        status["conditions"] = conditions;
        status
    });
    let spec = some_of("replicas updateStrategy type", value().boxed());
    (proptest::sample::select(KINDS.to_vec()), value(), spec, prop_oneof![status, value()]).prop_map(
        |(kind, metadata, spec, status)| {
            let (api, kind) = kind.split_once(' ').unwrap();
            json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec, "status": status})
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_values_do_not_panic(live in value(), wanted in value()) {
        let _ = readiness(&live, &wanted);
    }

    #[test]
    fn random_objects_do_not_panic(live in object(), wanted in object()) {
        let _ = readiness(&live, &wanted);
    }

    #[test]
    fn an_object_that_is_being_deleted_is_not_ready(mut live in object()) {
        live["metadata"] = json!({"deletionTimestamp": "2025-01-01T00:00:00Z"});
        prop_assert_eq!(format_readiness(&readiness(&live, &Value::Null)), "waiting: it is being deleted");
    }
}

#[test]
fn a_deployment_waits_for_surplus_replicas_to_terminate() {
    let with_replicas = |replicas: u64| {
        let live = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"generation": 1},
            "spec": {"replicas": 1},
            "status": {
                "observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas,
                "readyReplicas": replicas, "availableReplicas": replicas,
            },
        });
        readiness(&live, &json!({}))
    };
    assert_eq!(with_replicas(1), Readiness::Ready);
    assert_eq!(with_replicas(3), Readiness::Waiting("2 surplus replicas are pending termination".to_owned()));
}
