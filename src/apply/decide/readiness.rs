//! Decides whether an object is ready: kstatus' rules for Kubernetes' own kinds, the cluster-version-operator's rules for
//! `ClusterOperator`, and well-known conditions for everything else.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// Whether an object is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It has reached its desired state.
    Ready,
    /// Not yet. The text says what is missing.
    Waiting(String),
    /// It reports a failure. The text says which.
    Failed(String),
}

use Readiness::{Failed, Ready, Waiting};

/// Returns whether a live object is ready. `rendered` has the versions that a `ClusterOperator` must report.
pub(crate) fn readiness(live: &Value, rendered: &Value) -> Readiness {
    if live["metadata"]["deletionTimestamp"].is_string() {
        return Waiting("it is being deleted".to_owned());
    }
    let status = &live["status"];
    let generation = live["metadata"]["generation"].as_i64().unwrap_or_default();
    let (kind, group) = (text(&live["kind"]), group(live));
    let is_observed = match status["observedGeneration"].as_i64() {
        Some(observed) => observed >= generation,
        // The controllers of these kinds always report the generation that they observed.
        None => !matches!((kind, group), ("Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet", "apps")),
    };
    if !is_observed {
        return Waiting(format!("generation {generation} is not observed yet"));
    }
    match (kind, group) {
        ("Deployment", "apps") => deployment(live, rendered),
        ("StatefulSet", "apps") => stateful_set(live),
        ("DaemonSet", "apps") => daemon_set(live),
        ("ReplicaSet", "apps") => {
            require_replicas(count(&live["spec"]["replicas"], 1), "ready", &status["readyReplicas"])
        }
        ("Job", "batch") => job(status),
        ("Pod", "") => pod(status),
        ("PersistentVolumeClaim", "") => require_phase(status, "Bound"),
        ("Namespace", "") => require_phase(status, "Active"),
        ("Service", "") => service(live),
        ("CustomResourceDefinition", _) => crd(status),
        ("APIService", _) => require_condition(status, "Available"),
        ("ClusterOperator", "config.openshift.io") => cluster_operator(status, &rendered["status"]),
        _ => well_known_conditions(status),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn group(live: &Value) -> &str {
    text(&live["apiVersion"]).split_once('/').map_or("", |(group, _)| group)
}

fn count(value: &Value, default: i64) -> i64 {
    value.as_i64().unwrap_or(default).max(0)
}

fn condition<'v>(status: &'v Value, name: &str) -> Option<&'v Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
}

fn condition_is(status: &Value, name: &str, value: &str) -> bool {
    condition(status, name).is_some_and(|condition| condition["status"] == value)
}

/// Describes a condition with its reason and message.
fn describe_condition(status: &Value, name: &str) -> String {
    let Some(condition) = condition(status, name) else { return format!("{name} is not reported yet") };
    let mut description = format!("{name} is {}", text(&condition["status"]));
    for detail in [text(&condition["reason"]), text(&condition["message"])] {
        if !detail.is_empty() {
            description.push_str(if description.contains(": ") { ", " } else { ": " });
            description.push_str(detail);
        }
    }
    description
}

fn require_condition(status: &Value, name: &str) -> Readiness {
    if condition_is(status, name, "True") { Ready } else { Waiting(describe_condition(status, name)) }
}

fn require_phase(status: &Value, wanted: &str) -> Readiness {
    match text(&status["phase"]) {
        phase if phase == wanted => Ready,
        "" => Waiting(format!("its phase is not reported yet, expected {wanted}")),
        phase => Waiting(format!("its phase is {phase}, expected {wanted}")),
    }
}

fn require_replicas(wanted: i64, state: &str, reported: &Value) -> Readiness {
    let found = count(reported, 0);
    if found < wanted { Waiting(format!("{found} of {wanted} replicas are {state}")) } else { Ready }
}

fn deployment(live: &Value, rendered: &Value) -> Readiness {
    let status = &live["status"];
    let progressing = condition(status, "Progressing");
    if progressing.is_some_and(|condition| condition["reason"] == "ProgressDeadlineExceeded") {
        return Failed(describe_condition(status, "Progressing"));
    }
    let wanted = count(&live["spec"]["replicas"], 1);
    let updated = count(&status["updatedReplicas"], 0);
    let old = count(&status["replicas"], 0).saturating_sub(updated);
    let rolled_out = match require_replicas(wanted, "updated", &status["updatedReplicas"]) {
        Ready if old > 0 => Waiting(format!("{old} old replicas are pending termination")),
        Ready if updated > wanted => {
            Waiting(format!("{} surplus replicas are pending termination", updated - wanted))
        }
        readiness => readiness,
    };
    match rolled_out {
        Ready => require_replicas(wanted, "available", &status["availableReplicas"]),
        Waiting(reason) if live["spec"]["paused"] == true => paused(rendered, &reason),
        readiness => readiness,
    }
}

/// The readiness of a Deployment that is paused before its pods are updated. It never makes progress, and kstatus would
/// wait for ever. If the manifest pauses it, it is as desired. If someone else does, only they can resume it.
fn paused(rendered: &Value, reason: &str) -> Readiness {
    if rendered["spec"]["paused"] == true {
        return Ready;
    }
    Failed(format!("someone paused it: {reason}; `kubectl rollout resume` lets it continue"))
}

/// Returns whether an object that this run applied is ready, although it no longer exists.
pub(crate) fn readiness_of_missing(rendered: &Value) -> Readiness {
    let has_ttl = rendered["spec"]["ttlSecondsAfterFinished"].is_number();
    match (text(&rendered["kind"]), group(rendered)) {
        // Its time to live ended before transship saw that it is finished.
        ("Job", "batch") if has_ttl => Ready,
        _ => Waiting("it no longer exists".to_owned()),
    }
}

fn stateful_set(live: &Value) -> Readiness {
    let (spec, status) = (&live["spec"], &live["status"]);
    if spec["updateStrategy"]["type"] == "OnDelete" {
        return Ready;
    }
    let wanted = count(&spec["replicas"], 1);
    let partition = count(&spec["updateStrategy"]["rollingUpdate"]["partition"], 0);
    let updated = &status["updatedReplicas"];
    match require_replicas(wanted, "ready", &status["readyReplicas"]) {
        Ready if partition > 0 => require_replicas(wanted.saturating_sub(partition), "updated", updated),
        Ready if status["currentRevision"] != status["updateRevision"] => {
            require_replicas(wanted, "updated", updated)
        }
        readiness => readiness,
    }
}

/// A `DaemonSet` without matching nodes wants no pods and is ready. With the strategy `OnDelete`, its pods are updated only
/// when someone deletes them, so old pods count as well.
fn daemon_set(live: &Value) -> Readiness {
    let status = &live["status"];
    let wanted = count(&status["desiredNumberScheduled"], 0);
    if live["spec"]["updateStrategy"]["type"] == "OnDelete" {
        return require_replicas(wanted, "available", &status["numberAvailable"]);
    }
    match require_replicas(wanted, "updated", &status["updatedNumberScheduled"]) {
        Ready => require_replicas(wanted, "available", &status["numberAvailable"]),
        waiting => waiting,
    }
}

fn job(status: &Value) -> Readiness {
    if condition_is(status, "Failed", "True") {
        return Failed(describe_condition(status, "Failed"));
    }
    if condition_is(status, "Complete", "True") { Ready } else { Waiting("it is not complete".to_owned()) }
}

fn pod(status: &Value) -> Readiness {
    match text(&status["phase"]) {
        "Succeeded" => Ready,
        "Failed" => Failed(match text(&status["message"]) {
            "" => "the pod failed".to_owned(),
            message => format!("the pod failed: {message}"),
        }),
        _ => require_condition(status, "Ready"),
    }
}

fn service(live: &Value) -> Readiness {
    let ingress = live["status"]["loadBalancer"]["ingress"].as_array();
    if live["spec"]["type"] == "LoadBalancer" && ingress.is_none_or(Vec::is_empty) {
        return Waiting("its load balancer has no address yet".to_owned());
    }
    Ready
}

fn crd(status: &Value) -> Readiness {
    if condition_is(status, "NamesAccepted", "False") {
        return Failed(describe_condition(status, "NamesAccepted"));
    }
    require_condition(status, "Established")
}

/// The cluster-version-operator's rules: available, not degraded, and at the rendered versions.
fn cluster_operator(status: &Value, rendered_status: &Value) -> Readiness {
    if !condition_is(status, "Available", "True") {
        return Waiting(describe_condition(status, "Available"));
    }
    // An operator that does not report Degraded may be degraded.
    if !condition_is(status, "Degraded", "False") {
        return Waiting(describe_condition(status, "Degraded"));
    }
    for wanted in rendered_status["versions"].as_array().into_iter().flatten() {
        let mut reported = status["versions"].as_array().into_iter().flatten();
        let reported = reported.find(|version| version["name"] == wanted["name"]);
        let reported = reported.map_or("none", |version| text(&version["version"]));
        let (name, wanted) = (text(&wanted["name"]), text(&wanted["version"]));
        if reported != wanted {
            return Waiting(format!("the version of {name} is {reported}, expected {wanted}"));
        }
    }
    Ready
}

/// Conditions that many kinds use with the same meaning. An object without any of them is ready.
fn well_known_conditions(status: &Value) -> Readiness {
    if condition_is(status, "Stalled", "True") {
        return Failed(describe_condition(status, "Stalled"));
    }
    if condition_is(status, "Reconciling", "True") {
        return Waiting(describe_condition(status, "Reconciling"));
    }
    for name in ["Ready", "Available"] {
        if condition(status, name).is_some() && !condition_is(status, name, "True") {
            return Waiting(describe_condition(status, name));
        }
    }
    Ready
}
