//! Whether an object has become what it says: kstatus' rules for Kubernetes' own kinds, the cluster-version-operator's for
//! `ClusterOperator`, and conditions for the rest.

use serde_json::Value;

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is what it says.
    Ready,
    /// Not yet: what is waited for, with what is seen.
    Waiting(String),
    /// It will not be without help.
    Failed(String),
}

use Readiness::{Failed, Ready, Waiting};

/// Whether a live object is ready. `wanted` is the manifest, which says which versions an operator must report.
pub fn readiness(live: &Value, wanted: &Value) -> Readiness {
    if live["metadata"]["deletionTimestamp"].is_string() {
        return Waiting("it is being deleted".to_owned());
    }
    let status = &live["status"];
    let generation = live["metadata"]["generation"].as_i64().unwrap_or_default();
    let observed = status["observedGeneration"].as_i64();
    let (kind, group) = (text(&live["kind"]), group(live));
    let fenced = matches!((kind, group), ("Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet", "apps"));
    if observed.map_or(fenced, |observed| observed < generation) {
        return Waiting(format!("generation {generation} has not been looked at yet"));
    }
    match (kind, group) {
        ("Deployment", "apps") => deployment(live),
        ("StatefulSet", "apps") => stateful_set(live),
        ("DaemonSet", "apps") => daemon_set(status),
        ("ReplicaSet", "apps") => {
            all(count(&live["spec"]["replicas"], 1), &[("ready", &status["readyReplicas"])])
        }
        ("Job", "batch") => job(status),
        ("Pod", "") => pod(status),
        ("PersistentVolumeClaim", "") => phase(status, "Bound"),
        ("Namespace", "") => phase(status, "Active"),
        ("Service", "") => service(live),
        ("CustomResourceDefinition", _) => definition(status),
        ("APIService", _) => needs(status, "Available"),
        ("ClusterOperator", "config.openshift.io") => operator(status, &wanted["status"]),
        _ => conditions(status),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn group(live: &Value) -> &str {
    text(&live["apiVersion"]).split_once('/').map_or("", |(group, _)| group)
}

fn count(value: &Value, otherwise: i64) -> i64 {
    value.as_i64().unwrap_or(otherwise).max(0)
}

fn condition<'v>(status: &'v Value, name: &str) -> Option<&'v Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
}

fn is(status: &Value, name: &str, wanted: &str) -> bool {
    condition(status, name).is_some_and(|condition| condition["status"] == wanted)
}

/// A condition in words, with what it says.
fn told(status: &Value, name: &str) -> String {
    match condition(status, name) {
        None => format!("{name} is not reported yet"),
        Some(condition) => {
            let (value, reason, message) =
                (text(&condition["status"]), text(&condition["reason"]), text(&condition["message"]));
            let mut words = format!("{name} is {value}");
            for part in [reason, message].iter().filter(|part| !part.is_empty()) {
                words.push_str(if words.contains(": ") { ", " } else { ": " });
                words.push_str(part);
            }
            words
        }
    }
}

/// So many of the pods that are wanted must be there, in each of these ways.
fn all(wanted: i64, counted: &[(&str, &Value)]) -> Readiness {
    for (what, value) in counted {
        let found = count(value, 0);
        if found < wanted {
            return Waiting(format!("{found} of {wanted} replicas are {what}"));
        }
    }
    Ready
}

fn deployment(live: &Value) -> Readiness {
    let status = &live["status"];
    if condition(status, "Progressing").is_some_and(|one| one["reason"] == "ProgressDeadlineExceeded") {
        return Failed(told(status, "Progressing"));
    }
    let wanted = count(&live["spec"]["replicas"], 1);
    let updated = count(&status["updatedReplicas"], 0);
    let old = count(&status["replicas"], 0).saturating_sub(updated);
    match all(wanted, &[("updated", &status["updatedReplicas"])]) {
        Ready if old > 0 => Waiting(format!("{old} old replicas are still there")),
        Ready if updated > wanted => {
            Waiting(format!("{} replicas too many are still there", updated - wanted))
        }
        Ready => all(wanted, &[("available", &status["availableReplicas"])]),
        waiting => waiting,
    }
}

fn stateful_set(live: &Value) -> Readiness {
    let (spec, status) = (&live["spec"], &live["status"]);
    if spec["updateStrategy"]["type"] == "OnDelete" {
        return Ready;
    }
    let wanted = count(&spec["replicas"], 1);
    let partition = count(&spec["updateStrategy"]["rollingUpdate"]["partition"], 0);
    match all(wanted, &[("ready", &status["readyReplicas"])]) {
        Ready if partition > 0 => {
            all(wanted.saturating_sub(partition), &[("updated", &status["updatedReplicas"])])
        }
        Ready if status["currentRevision"] != status["updateRevision"] => {
            all(wanted, &[("updated", &status["updatedReplicas"])])
        }
        readiness => readiness,
    }
}

/// Without nodes it wants no pod, and has all that it wants.
fn daemon_set(status: &Value) -> Readiness {
    let wanted = count(&status["desiredNumberScheduled"], 0);
    all(wanted, &[("updated", &status["updatedNumberScheduled"]), ("available", &status["numberAvailable"])])
}

fn job(status: &Value) -> Readiness {
    if is(status, "Failed", "True") {
        return Failed(told(status, "Failed"));
    }
    if is(status, "Complete", "True") { Ready } else { Waiting("it has not completed".to_owned()) }
}

fn pod(status: &Value) -> Readiness {
    match text(&status["phase"]) {
        "Succeeded" => Ready,
        "Failed" => Failed(match text(&status["message"]) {
            "" => "its pod failed".to_owned(),
            message => format!("its pod failed: {message}"),
        }),
        _ => needs(status, "Ready"),
    }
}

fn phase(status: &Value, wanted: &str) -> Readiness {
    match text(&status["phase"]) {
        phase if phase == wanted => Ready,
        "" => Waiting(format!("its phase is not reported yet, and must be {wanted}")),
        phase => Waiting(format!("its phase is {phase}, and must be {wanted}")),
    }
}

fn service(live: &Value) -> Readiness {
    let has_address = live["status"]["loadBalancer"]["ingress"].as_array().is_some_and(|all| !all.is_empty());
    if live["spec"]["type"] == "LoadBalancer" && !has_address {
        return Waiting("its load balancer has no address yet".to_owned());
    }
    Ready
}

fn definition(status: &Value) -> Readiness {
    if is(status, "NamesAccepted", "False") {
        return Failed(told(status, "NamesAccepted"));
    }
    needs(status, "Established")
}

fn needs(status: &Value, name: &str) -> Readiness {
    if is(status, name, "True") { Ready } else { Waiting(told(status, name)) }
}

/// As the cluster-version-operator waits: available, not degraded, and at the versions that the manifest names.
fn operator(status: &Value, wanted: &Value) -> Readiness {
    if !is(status, "Available", "True") {
        return Waiting(told(status, "Available"));
    }
    // One that does not say so may be.
    if !is(status, "Degraded", "False") {
        return Waiting(told(status, "Degraded"));
    }
    for version in wanted["versions"].as_array().into_iter().flatten() {
        let reported = status["versions"].as_array().into_iter().flatten();
        let found = reported.into_iter().find(|one| one["name"] == version["name"]);
        let found = found.map_or("none", |one| text(&one["version"]));
        if found != text(&version["version"]) {
            let (name, wanted) = (text(&version["name"]), text(&version["version"]));
            return Waiting(format!("the version of {name} is {found}, and must be {wanted}"));
        }
    }
    Ready
}

/// Conditions that everybody understands in the same way. An object without any has nothing to say.
fn conditions(status: &Value) -> Readiness {
    if is(status, "Stalled", "True") {
        return Failed(told(status, "Stalled"));
    }
    if is(status, "Reconciling", "True") {
        return Waiting(told(status, "Reconciling"));
    }
    for name in ["Ready", "Available"] {
        if condition(status, name).is_some() && !is(status, name, "True") {
            return Waiting(told(status, name));
        }
    }
    Ready
}
