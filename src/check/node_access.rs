//! Pods in the management cluster that can reach their node: its network, processes, files, ports and kernel.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::security_context::{self, describe};
use crate::language::Check;
use crate::object::{Cluster, REQUIRED_SCC};
use crate::yaml::{Number, Value};

const SHARED_NODE: &str = "other hosted control planes run on the same node, and an attacker who controls this pod controls the node";
const REMOVE_OR_ALLOW: &str = "remove it, or allow it for this object with a reason";

/// The capabilities that the baseline of the Pod Security Standards allows. All others give access to the node.
const HARMLESS_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The SELinux types that the baseline of the Pod Security Standards allows.
const CONFINED_TYPES: [&str; 5] =
    ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

/// The SecurityContextConstraints of OpenShift that give access to the node.
pub(super) const PRIVILEGED_SCCS: [&str; 7] = [
    "privileged",
    "hostaccess",
    "hostmount-anyuid",
    "hostmount-anyuid-v2",
    "hostnetwork",
    "hostnetwork-v2",
    "node-exporter",
];

/// The sysctls that Kubernetes calls safe: they affect only their own pod.
const SAFE_SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
];

/// Fields of the downward API that identify the node.
const NODE_FIELDS: [&str; 3] = ["spec.nodeName", "status.hostIP", "status.hostIPs"];

/// Checks that a pod in the management cluster has no access to its node.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    check_host_access(pod, report);
    check_node_fields(pod, report);
    check_privileges(pod, report);
}

/// Returns whether a pod needs a namespace whose Pod Security level is `privileged`.
pub(super) fn needs_privileged_namespace(pod: &Field<'_>) -> bool {
    let mut report = Report::default();
    check_host_access(pod, &mut report);
    check_privileges(pod, &mut report);
    !report.findings.is_empty()
}

/// Checks that a pod does not use the network, processes, memory, files, ports or kernel parameters of its node.
fn check_host_access(pod: &Field<'_>, report: &mut Report) {
    for (path, message) in [
        ("/spec/hostNetwork", "the pod uses the network of its node"),
        ("/spec/hostPID", "the pod sees the processes of its node"),
        ("/spec/hostIPC", "the pod shares memory with processes of its node"),
    ] {
        if let Some(field) = pod.at(path)
            && field.node.value == Value::Bool(true)
        {
            report.add(host_access(&field, message));
        }
    }
    for volume in pod.items("/spec/volumes") {
        if let Some(path) = volume.get("hostPath") {
            report.add(host_access(&path, "the pod mounts files of its node"));
        }
    }
    for sysctl in pod.items("/spec/securityContext/sysctls") {
        if let Some(name) = sysctl.get("name")
            && let Some(text) = name.as_str()
            && !SAFE_SYSCTLS.contains(&text)
        {
            report.add(host_access(&name, &format!("the pod sets the kernel parameter `{text}`")));
        }
    }
    for container in pod.containers() {
        check_container_access(&container, report);
    }
}

/// Checks the ports and the mounts of a container.
fn check_container_access(container: &Field<'_>, report: &mut Report) {
    for port in container.items("/ports") {
        if let Some(host_port) = port.get("hostPort")
            && host_port.node.value != Value::Number(Number::Int(0))
        {
            report.add(host_access(&host_port, "the pod opens a port of its node"));
        }
    }
    for mount in container.items("/volumeMounts") {
        if let Some(propagation) = mount.get("mountPropagation")
            && propagation.as_str() == Some("Bidirectional")
        {
            let message = format!("mounts of {} appear on its node", describe(container));
            report.add(host_access(&propagation, &message));
        }
    }
}

/// Checks that no container asks the downward API for the name or the address of its node.
fn check_node_fields(pod: &Field<'_>, report: &mut Report) {
    for container in pod.containers() {
        for variable in container.items("/env") {
            let Some(path) = variable.at("/valueFrom/fieldRef/fieldPath") else { continue };
            let Some(text) = path.as_str().filter(|text| NODE_FIELDS.contains(text)) else { continue };
            let message = format!("{} reads `{text}`, which identifies its node", describe(&container));
            report.add(
                Finding::new(Check::HostAccess, &path, message)
                    .note("an attacker who controls this pod can find the kubelet and other services of the node, which other hosted control planes share")
                    .help("remove the variable: a pod of a control plane does not depend on its node"),
            );
        }
    }
}

fn host_access(field: &Field<'_>, message: &str) -> Finding {
    Finding::new(Check::HostAccess, field, message).note(SHARED_NODE).help(REMOVE_OR_ALLOW)
}

/// Checks that no container is privileged, or has a setting that makes it so.
fn check_privileges(pod: &Field<'_>, report: &mut Report) {
    if let Some(annotations) = pod.at("/metadata/annotations")
        && let Some(scc) = annotations.get(REQUIRED_SCC)
        && let Some(name) = scc.as_str()
        && PRIVILEGED_SCCS.contains(&name)
    {
        let message = format!("the pod requires the SecurityContextConstraints `{name}`");
        report.add(privileged(&scc, message).help("require `restricted-v2`"));
    }
    security_context::for_each(pod, &mut |owner, context| {
        for (path, message) in [
            ("/privileged", "is privileged"),
            ("/windowsOptions/hostProcess", "runs as a process of its node"),
        ] {
            if let Some(field) = context.at(path)
                && field.node.value == Value::Bool(true)
            {
                report.add(privileged(&field, format!("{owner} {message}")));
            }
        }
        if let Some(field) = context.at("/seLinuxOptions/type")
            && let Some(name) = field.as_str()
            && !CONFINED_TYPES.contains(&name)
        {
            report.add(privileged(&field, format!("{owner} has the SELinux type `{name}`")));
        }
        if let Some(field) = context.get("procMount")
            && field.as_str() == Some("Unmasked")
        {
            report.add(privileged(
                &field,
                format!("{owner} sees all of /proc, including what belongs to its node"),
            ));
        }
        for capability in context.items("/capabilities/add") {
            let Some(name) = capability.as_str() else { continue };
            let upper_case = name.to_ascii_uppercase();
            if !HARMLESS_CAPABILITIES.contains(&upper_case.trim_start_matches("CAP_")) {
                report.add(privileged(&capability, format!("{owner} has the capability `{name}`")));
            }
        }
    });
}

fn privileged(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::Privileged, field, message).note(SHARED_NODE).help(REMOVE_OR_ALLOW)
}
