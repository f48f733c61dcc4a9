//! What one cluster must not know of the other, and pods in the management cluster must not do.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::finding::Fault;
use super::references::{World, foreign};
use crate::language::Check;
use crate::object::{
    ALL_SERVICE_ACCOUNTS, Cluster, ISSUED, IssuedOrigin, Object, annotation, containers, is_tombstone, pod,
    service_account_of,
};
use crate::yaml::{Node, Number, Value};

/// Service accounts that some binding gives rights in the cluster: namespace and name, which is empty for all of them.
pub(super) type Bound<'a> = HashSet<(&'a str, &'a str)>;

/// Who is bound in a cluster.
pub(super) fn bound(objects: &[Object]) -> Bound<'_> {
    let bindings = objects
        .iter()
        .filter(|object| matches!(object.id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding"))
        .filter(|object| !is_tombstone(&object.root));
    bindings
        .flat_map(|binding| {
            subjects(binding).iter().filter_map(|subject| service_account_of(subject, &binding.id.namespace))
        })
        .collect()
}

fn subjects(binding: &Object) -> &[Node] {
    binding.root.get("subjects").and_then(Node::as_list).unwrap_or_default()
}

/// Every breach of trust in an object.
pub(super) fn check<'n>(
    object: &'n Object,
    cluster: Cluster,
    world: &World<'_>,
    bound: &Bound<'_>,
    faults: &mut Vec<Fault<'n>>,
) {
    if matches!(object.id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding") {
        by_user_name(object, world, faults);
    }
    match cluster {
        Cluster::Management => {
            if let Some(pod) = pod(&object.root, &object.id.kind) {
                privileges(pod, faults);
                token(object, pod, world, bound, faults);
            }
        }
        Cluster::Guest => {
            material(object, faults);
            admin(object, world, faults);
        }
        Cluster::Both => {}
    }
}

/// Subjects that name a service account of the other cluster by its user name, or all of its namespace.
fn by_user_name<'n>(binding: &'n Object, world: &World<'_>, faults: &mut Vec<Fault<'n>>) {
    for subject in subjects(binding) {
        let Some((namespace, _)) = service_account_of(subject, &binding.id.namespace) else { continue };
        let is_account = subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount");
        if let (false, true, Some(name)) = (is_account, world.is_foreign(namespace), subject.get("name")) {
            faults.push(foreign(name, namespace));
        }
    }
}

fn is_true(node: Option<&Node>) -> bool {
    matches!(node, Some(Node { value: Value::Bool(true), .. }))
}

fn privileges<'n>(pod: &'n Node, faults: &mut Vec<Fault<'n>>) {
    const WHY: &str = "it runs beside every other hosted control plane; whoever takes it over has the node";
    let Some(spec) = pod.get("spec") else { return };
    let mut host = |node: &'n Node, what: &str| {
        faults.push(
            Fault::new(Check::HostAccess, node, format!("the pod uses {what} of its node"))
                .why(WHY)
                .help("do without it, or allow it for this object with the reason"),
        );
    };
    for (field, what) in
        [("hostNetwork", "the network"), ("hostPID", "the processes"), ("hostIPC", "the memory")]
    {
        if let Some(node) = spec.get(field).filter(|node| is_true(Some(node))) {
            host(node, what);
        }
    }
    for volume in spec.get("volumes").and_then(Node::as_list).unwrap_or_default() {
        if let Some(node) = volume.get("hostPath") {
            host(node, "files");
        }
    }
    for container in containers(pod) {
        for port in container.get("ports").and_then(Node::as_list).unwrap_or_default() {
            if let Some(node) =
                port.get("hostPort").filter(|port| port.value != Value::Number(Number::Int(0)))
            {
                host(node, "a port");
            }
        }
    }
    for container in containers(pod) {
        let context = container.get("securityContext");
        let privileged =
            context.and_then(|context| context.get("privileged")).filter(|node| is_true(Some(node)));
        let added = context
            .and_then(|context| context.get("capabilities")?.get("add")?.as_list())
            .unwrap_or_default();
        let mighty = |node: &&Node| matches!(node.as_str(), Some("ALL" | "SYS_ADMIN" | "CAP_SYS_ADMIN"));
        if let Some(node) = privileged.or(added.iter().find(mighty)) {
            faults.push(
                Fault::new(Check::Privileged, node, "a privileged container")
                    .why(WHY)
                    .help("do without it, or allow it for this object with the reason"),
            );
        }
    }
}

fn token<'n>(
    object: &'n Object,
    pod: &'n Node,
    world: &World<'_>,
    bound: &Bound<'_>,
    faults: &mut Vec<Fault<'n>>,
) {
    let Some(spec) = pod.get("spec") else { return };
    let text = |field: &str| spec.get(field).and_then(Node::as_str);
    let account = text("serviceAccountName").or(text("serviceAccount")).unwrap_or("default");
    let namespace = object.id.namespace.as_str();
    let off = match spec.get("automountServiceAccountToken") {
        Some(Node { value: Value::Bool(mounts), .. }) => !mounts,
        _ => world.here.is_unmounted(namespace, account),
    };
    let has_right =
        [(namespace, account), (namespace, ""), ALL_SERVICE_ACCOUNTS].iter().any(|one| bound.contains(one));
    if !off && !has_right {
        let message = format!("the pod gets a token of `{account}`, which has no right here");
        faults.push(
            Fault::new(Check::NeedlessToken, spec, message)
                .why("a token that is not there cannot be stolen")
                .help("set `automountServiceAccountToken: false`, or bind the account to a role"),
        );
    }
}

fn material<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    let leak = |node: &'n Node, what: &str| {
        Fault::new(Check::SecretInGuest, node, format!("{what} in the guest"))
            .why("the guest's users can read it")
            .help("keep it in the management cluster; a token minter or a kubeconfig there carries it over")
    };
    if let Some(origin) = &object.issued {
        // A patch or `strip` may have changed the annotation, so only the object itself says what is issued.
        let node = annotation(&object.root, ISSUED).unwrap_or(&object.root);
        match origin {
            IssuedOrigin::Kubeconfig { .. } => faults.push(leak(node, "a kubeconfig")),
            IssuedOrigin::Credentials { .. } => faults.push(leak(node, "credentials")),
            IssuedOrigin::Certificate { .. } => {}
        }
    }
    if object.issued.is_none() && object.id.kind == "Secret" {
        let fields =
            ["data", "stringData"].into_iter().filter_map(|field| object.root.get(field)?.as_map()).flatten();
        let filled =
            fields.filter(|entry| entry.value.as_str().is_some_and(|value| !value.trim().is_empty()));
        for entry in filled {
            if let Some((_, what)) = SECRET_KEYS.iter().find(|(key, _)| entry.key.eq_ignore_ascii_case(key)) {
                faults.push(leak(&entry.value, what));
            }
        }
    }
    let mut texts = Vec::new();
    collect_texts(&object.root, &mut texts);
    for node in texts {
        let text = node.as_str().unwrap_or_default();
        if let Some(what) = secret_in(text).or_else(|| secret_in(&decoded(text)?)) {
            faults.push(leak(node, what));
        }
    }
}

/// Keys under which credentials are kept, whatever their values look like.
const SECRET_KEYS: [(&str, &str); 10] = [
    (".dockerconfigjson", "credentials of a registry"),
    (".dockercfg", "credentials of a registry"),
    ("aws_access_key_id", "credentials of a cloud"),
    ("aws_secret_access_key", "credentials of a cloud"),
    ("azure_client_secret", "credentials of a cloud"),
    ("clouds.yaml", "credentials of a cloud"),
    ("password", "a password"),
    ("service_account.json", "credentials of a cloud"),
    ("ssh-privatekey", "a private key"),
    ("tls.key", "a private key"),
];

/// What base64 holds, in lines or not.
fn decoded(text: &str) -> Option<String> {
    let plain: String = text.split_whitespace().collect();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !plain.bytes().all(is_base64) {
        return None;
    }
    String::from_utf8(BASE64.decode(plain).ok()?).ok()
}

fn collect_texts<'n>(node: &'n Node, texts: &mut Vec<&'n Node>) {
    match &node.value {
        Value::String(text) if text.len() > 16 => texts.push(node),
        Value::List(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Map(map) => map.iter().for_each(|entry| collect_texts(&entry.value, texts)),
        _ => {}
    }
}

fn secret_in(text: &str) -> Option<&'static str> {
    // Most texts are nothing of the kind, and one look tells.
    if !text.contains("PRIVATE KEY-----") && !text.contains('_') && !text.contains("current-context") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    // A word such as `token`, with a value behind it.
    let given = |word: &str| {
        lower.match_indices(word).any(|(at, _)| {
            let rest = lower[at + word.len()..].trim_start_matches(['"', ' ']);
            let value = rest.strip_prefix([':', '=']).map(|rest| rest.trim_start_matches([' ', '"', '\'']));
            value.is_some_and(|value| value.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
        })
    };
    let material = ["client-key-data", "token", "password"].into_iter().any(given);
    if has_key_material(text) {
        Some("a private key")
    } else if ["aws_secret_access_key", "private_key", "azure_client_secret"].into_iter().any(given) {
        Some("credentials of a cloud")
    } else if lower.contains("current-context") && lower.contains("clusters") && material {
        Some("a kubeconfig")
    } else {
        None
    }
}

/// A key with something in it, not just the words that it begins with.
fn has_key_material(text: &str) -> bool {
    const BEGIN: &str = "PRIVATE KEY-----";
    text.match_indices(BEGIN).any(|(at, _)| {
        let body = text[at + BEGIN.len()..]
            .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\\' || letter == 'n');
        body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).count()
            >= 16
    })
}

fn admin<'n>(object: &'n Object, world: &World<'_>, faults: &mut Vec<Fault<'n>>) {
    if object.id.kind != "ClusterRoleBinding" {
        return;
    }
    let role = object.root.get("roleRef").and_then(|role| role.get("name"));
    let Some((node, name)) = role.and_then(|role| Some((role, role.as_str()?))) else { return };
    if name == "cluster-admin" || world.here.is_all_powerful(name) {
        faults.push(
            Fault::new(Check::GuestAdmin, node, format!("`{name}` gives every right in the guest"))
                .why("whoever holds a kubeconfig of this identity, and any pod in the guest that runs as it, owns the guest")
                .help("list the rights that are needed, or allow it for this binding with the reason"),
        );
    }
}
