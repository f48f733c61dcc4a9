//! `transship wait-for`

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::Case;
use crate::control_plane::{ADMIN, ControlPlane, STRANGER};

pub(crate) const CASES: &[Case] = &[
    ("wait_for::it_ends_when_all_objects_exist", it_ends_when_all_objects_exist),
    ("wait_for::missing_objects_are_reported_at_the_deadline", missing_objects_are_reported_at_the_deadline),
    ("wait_for::a_forbidden_read_is_reported", a_forbidden_read_is_reported),
    ("wait_for::the_namespace_must_match_the_scope", the_namespace_must_match_the_scope),
    ("wait_for::it_waits_for_an_api_server_that_starts_later", it_waits_for_an_api_server_that_starts_later),
    ("wait_for::credentials_are_never_printed", credentials_are_never_printed),
];

/// Starts the command with a kubeconfig and a timeout.
fn start(kubeconfig: &std::path::Path, timeout: &str, objects: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_transship"))
        .args(["wait-for", "--timeout", timeout, "--kubeconfig"])
        .arg(kubeconfig)
        .args(objects)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the output without times.
fn said(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let lines = text.lines().map(|line| match line.rsplit_once(" (after ") {
        Some((line, _)) => format!("{line}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn kind(group: &str, kind: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.{group}\n\
         spec:\n  group: {group}\n  scope: Cluster\n  names:\n    kind: {kind}\n    plural: {plural}\n  versions:\n  \
         - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
         x-kubernetes-preserve-unknown-fields: true\n"
    )
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn it_ends_when_all_objects_exist(cluster: &ControlPlane) {
    let objects = [
        "Snapshotter.operator.example.com/cluster",
        "Operator.config.example.com/snapshotter",
        "Namespace/kube-system",
    ];
    let child = start(&cluster.kubeconfig(ADMIN), "60s", &objects);
    std::thread::sleep(Duration::from_millis(1500));
    cluster.request("POST", CRDS, &kind("operator.example.com", "Snapshotter")).unwrap();
    cluster.request("POST", CRDS, &kind("config.example.com", "Operator")).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let object = "apiVersion: operator.example.com/v1\nkind: Snapshotter\nmetadata:\n  name: cluster\n";
    cluster.request("POST", "/apis/operator.example.com/v1/snapshotters", object).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let object = "apiVersion: config.example.com/v1\nkind: Operator\nmetadata:\n  name: snapshotter\n";
    cluster.request("POST", "/apis/config.example.com/v1/operators", object).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "Snapshotter.operator.example.com/cluster: its kind is not served yet\n\
         Operator.config.example.com/snapshotter: its kind is not served yet\n\
         Namespace/kube-system: exists\n\
         Snapshotter.operator.example.com/cluster: does not exist yet\n\
         Operator.config.example.com/snapshotter: does not exist yet\n\
         Snapshotter.operator.example.com/cluster: exists\n\
         Operator.config.example.com/snapshotter: exists\n"
    );
    assert!(output.stdout.is_empty());
}

fn missing_objects_are_reported_at_the_deadline(cluster: &ControlPlane) {
    let objects = ["Namespace/default", "ConfigMap/default/absent", "Absent.example.com/cluster"];
    let started = Instant::now();
    let output = start(&cluster.kubeconfig(ADMIN), "2s", &objects).wait_with_output().unwrap();
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        said(&output),
        "Namespace/default: exists\n\
         ConfigMap/default/absent: does not exist yet\n\
         Absent.example.com/cluster: its kind is not served yet\n\
         ConfigMap/default/absent: gave up after 2s: does not exist yet\n\
         Absent.example.com/cluster: gave up after 2s: its kind is not served yet\n"
    );
}

fn a_forbidden_read_is_reported(cluster: &ControlPlane) {
    let output =
        start(&cluster.kubeconfig(STRANGER), "1s", &["Secret/kube-system/x"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = "the API server rejects the request: secrets \"x\" is forbidden: User \"stranger\" cannot get resource \"secrets\" in API \
                 group \"\" in the namespace \"kube-system\"";
    let expected =
        format!("Secret/kube-system/x: {words}\nSecret/kube-system/x: gave up after 1s: {words}\n");
    assert_eq!(said(&output), expected);
}

fn the_namespace_must_match_the_scope(cluster: &ControlPlane) {
    for (object, expected) in [
        (
            "ConfigMap/x",
            "error: `ConfigMap/x` has no namespace\n  note: the kind ConfigMap is namespaced\n  help: write the namespace before the name\n",
        ),
        (
            "Namespace/a/b",
            "error: `Namespace/a/b` has a namespace\n  note: the kind Namespace is cluster-scoped\n  help: remove the namespace\n",
        ),
    ] {
        let output = start(&cluster.kubeconfig(ADMIN), "60s", &[object]).wait_with_output().unwrap();
        assert_eq!((output.status.code(), said(&output).as_str()), (Some(2), expected));
    }
}

/// Nothing listens on the port yet, as with the API server of a guest that is being created.
fn it_waits_for_an_api_server_that_starts_later(cluster: &ControlPlane) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let text = std::fs::read_to_string(cluster.kubeconfig(ADMIN)).unwrap();
    std::fs::write(&path, text.replace(&format!(":{}", cluster.port()), &format!(":{port}"))).unwrap();
    let child = start(&path, "60s", &["Namespace/default"]);
    std::thread::sleep(Duration::from_secs(2));
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let target = cluster.port();
    std::thread::spawn(move || {
        for connection in listener.incoming().take(8) {
            forward(connection.unwrap(), TcpStream::connect(("127.0.0.1", target)).unwrap());
        }
    });
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "Namespace/default: the API server does not respond: Connection refused (os error 111)\n\
         Namespace/default: exists\n"
    );
}

/// Forwards data in both directions.
pub(crate) fn forward(near: TcpStream, far: TcpStream) {
    let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    let (mut from, mut to) = (far, near);
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
}

/// An invalid kubeconfig, one with a field of the wrong type, one with an unknown token, and one whose credential
/// plugin prints a secret and fails.
fn credentials_are_never_printed(cluster: &ControlPlane) {
    const CANARY: &str = "canary-in-a-kubeconfig";
    let text = std::fs::read_to_string(cluster.kubeconfig(ADMIN)).unwrap();
    let token = format!("    token: {ADMIN}\n");
    let plugin = format!(
        "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      \
         command: sh\n      args: [-c, 'echo {CANARY}; echo {CANARY} >&2; exit 1']\n"
    );
    for (broken, code, expected) in [
        (
            format!("    token: {CANARY}: x\n"),
            2,
            "cannot use the kubeconfig: it is not a valid kubeconfig in YAML",
        ),
        (
            format!("    token: [{CANARY}]\n"),
            2,
            "cannot use the kubeconfig: it is not a valid kubeconfig in YAML",
        ),
        (
            format!("    token: {CANARY}\n"),
            3,
            "gave up on the cluster of FILE: the API server does not accept the credentials of the kubeconfig",
        ),
        (plugin, 2, "the credential plugin of the kubeconfig failed: exit status: 1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, text.replace(&token, &broken)).unwrap();
        // Waiting does not help.
        let output = start(&path, "10m", &["Namespace/default"]).wait_with_output().unwrap();
        let said = said(&output).replace(&path.display().to_string(), "FILE");
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("canary") && output.stdout.is_empty(), "{said}");
    }
}
