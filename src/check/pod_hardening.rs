//! Pods in the management cluster with less isolation than a container normally has.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::security_context;
use crate::language::Check;
use crate::object::{Cluster, REQUIRED_SCC};
use crate::yaml::{Number, Value};

/// Annotations that set the seccomp or AppArmor profile of a pod or of one container. The latter end in its name.
const PROFILE_ANNOTATIONS: [(&str, &str); 3] = [
    ("seccomp.security.alpha.kubernetes.io/pod", "seccomp"),
    ("container.seccomp.security.alpha.kubernetes.io/", "seccomp"),
    ("container.apparmor.security.beta.kubernetes.io/", "AppArmor"),
];

/// Checks that a pod in the management cluster keeps seccomp and AppArmor, separate processes and an unprivileged user.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    check_confinement(pod, report);
    check_user(pod, report);
}

fn check_confinement(pod: &Field<'_>, report: &mut Report) {
    if let Some(field) = pod.at("/spec/shareProcessNamespace")
        && field.node.value == Value::Bool(true)
    {
        report.add(
            Finding::new(Check::Unconfined, &field, "the containers of the pod share their processes")
                .note("each container can read the memory, the environment and the files of the others, such as the kubeconfig of a sidecar")
                .help("remove `shareProcessNamespace`"),
        );
    }
    if let Some(annotations) = pod.at("/metadata/annotations") {
        for entry in annotations.node.as_map().into_iter().flatten() {
            let profile = PROFILE_ANNOTATIONS.iter().find(|(key, _)| entry.key.starts_with(key));
            if let Some((_, module)) = profile
                && entry.value.as_str() == Some("unconfined")
            {
                report.add(unconfined(&annotations.entry(entry), "the pod", module));
            }
        }
    }
    security_context::for_each(pod, &mut |owner, context| {
        for (path, module) in [("/seccompProfile/type", "seccomp"), ("/appArmorProfile/type", "AppArmor")] {
            if let Some(field) = context.at(path)
                && field.as_str() == Some("Unconfined")
            {
                report.add(unconfined(&field, owner, module));
            }
        }
    });
}

fn unconfined(field: &Field<'_>, owner: &str, module: &str) -> Finding {
    Finding::new(Check::Unconfined, field, format!("{owner} runs without {module}"))
        .note("without it, more bugs of the kernel let an attacker leave the container, and other hosted control planes run on the same node")
        .help("use the profile `RuntimeDefault`")
}

fn check_user(pod: &Field<'_>, report: &mut Report) {
    if let Some(annotations) = pod.at("/metadata/annotations")
        && let Some(scc) = annotations.get(REQUIRED_SCC)
        && scc.as_str() == Some("anyuid")
    {
        let message = "the pod requires the SecurityContextConstraints `anyuid`".to_owned();
        report.add(runs_as_root(&scc, message).help("require `restricted-v2`"));
    }
    security_context::for_each(pod, &mut |owner, context| {
        for (key, value, message, help) in [
            ("runAsUser", Value::Number(Number::Int(0)), "runs as root", "remove `runAsUser`"),
            ("runAsNonRoot", Value::Bool(false), "may run as root", "set `runAsNonRoot: true`"),
            (
                "allowPrivilegeEscalation",
                Value::Bool(true),
                "may gain privileges, for example with a setuid program",
                "set `allowPrivilegeEscalation: false`",
            ),
        ] {
            if let Some(field) = context.get(key)
                && field.node.value == value
            {
                report.add(runs_as_root(&field, format!("{owner} {message}")).help(help));
            }
        }
    });
}

fn runs_as_root(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::RunsAsRoot, field, message)
        .note("an attacker who leaves such a container is root on the node, and other hosted control planes run there")
}
