//! The issued objects in the management cluster, and a search for their keys in all output.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::openssl;
use super::project::{HOSTED, Project, Settings};
use crate::apply::{program, run_hosted};
use crate::test_bed::TestBed;

pub(super) const LABEL: &str = "transship.openshift.io/issued";
pub(super) const WEBHOOK: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/op";

/// Returns the path of a Secret of the hosted control plane.
pub(super) fn path(name: &str) -> String {
    format!("/api/v1/namespaces/{HOSTED}/secrets/{name}")
}

pub(super) fn secret(bed: &TestBed, name: &str) -> Value {
    bed.management.get(&path(name)).unwrap_or_else(|| panic!("there is no Secret {name}"))
}

/// Returns all issued objects.
pub(super) fn issued(bed: &TestBed) -> Vec<Value> {
    issued_in(bed, HOSTED)
}

/// Returns all issued objects of a namespace.
pub(super) fn issued_in(bed: &TestBed, namespace: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for plural in ["secrets", "configmaps"] {
        let selector = "labelSelector=transship.openshift.io%2Fissued";
        all.extend(bed.management.list(&format!("/api/v1/namespaces/{namespace}/{plural}?{selector}")));
    }
    all
}

/// Returns the data of all issued objects by their names.
pub(super) fn state(bed: &TestBed) -> BTreeMap<String, Value> {
    let named =
        |object: Value| (object["metadata"]["name"].as_str().unwrap().to_owned(), object["data"].clone());
    issued(bed).into_iter().map(named).collect()
}

/// Returns the text of a key of a Secret.
pub(super) fn text(secret: &Value, key: &str) -> String {
    let data = secret["data"][key].as_str().unwrap_or_else(|| panic!("{key} has no value"));
    String::from_utf8(STANDARD.decode(data).unwrap()).unwrap()
}

/// Returns the decoded value of a field of a kubeconfig.
pub(super) fn field(kubeconfig: &str, field: &str) -> String {
    let line = kubeconfig.lines().find(|line| line.trim().starts_with(field)).unwrap();
    String::from_utf8(STANDARD.decode(line.split_once(": ").unwrap().1.trim()).unwrap()).unwrap()
}

/// Returns the authorities of a signer.
pub(super) fn signer(bed: &TestBed, name: &str) -> String {
    text(&secret(bed, name), "ca.crt")
}

/// Returns the authorities in a ConfigMap.
pub(super) fn bundle(bed: &TestBed, name: &str) -> String {
    let map = bed.management.get(&format!("/api/v1/namespaces/{HOSTED}/configmaps/{name}")).unwrap();
    map["data"]["ca-bundle.crt"].as_str().unwrap().to_owned()
}

/// Returns the authorities of the webhook.
pub(super) fn authorities(webhook: &Value) -> String {
    let data = webhook["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap();
    String::from_utf8(STANDARD.decode(data).unwrap()).unwrap()
}

pub(super) fn certificate(bed: &TestBed, name: &str) -> openssl::Certificate {
    openssl::read(&text(&secret(bed, name), "tls.crt"))
}

/// Returns the hash of the configuration of the pods.
pub(super) fn config_hash(bed: &TestBed) -> String {
    let path = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    let deployment = bed.management.get(&path).unwrap();
    deployment["spec"]["template"]["metadata"]["annotations"]["config-hash"].as_str().unwrap().to_owned()
}

/// Returns parts of all keys and tokens in issued objects, as they are and as an API server shows them.
fn needles(bed: &TestBed) -> Vec<String> {
    let mut needles = Vec::new();
    for object in issued(bed) {
        for (key, value) in object["data"].as_object().unwrap() {
            let public = ["ca.crt", "tls.crt", "ca-bundle.crt"].contains(&key.as_str());
            let value = value.as_str().unwrap();
            if public {
                continue;
            }
            needles.push(value[value.len() / 2..value.len() / 2 + 40].to_owned());
            let text = String::from_utf8(STANDARD.decode(value).unwrap()).unwrap();
            for line in text.lines() {
                let is_key = line.len() == 64 && !line.contains(' ');
                if is_key {
                    needles.push(line.to_owned());
                }
                if let Some((_, data)) = line.split_once("client-key-data: ") {
                    needles.push(data[60..100].to_owned());
                }
                if let Some((_, token)) = line.split_once("token: ") {
                    needles.push(token[token.len() - 40..].to_owned());
                }
            }
        }
    }
    needles
}

/// Runs every command that sees a key, with all logs, and looks for the keys in everything that it prints.
pub(super) fn no_output_contains_a_key(bed: &TestBed) {
    bed.management.delete(&path("root-ca"));
    let server = format!("https://127.0.0.1:{}", bed.guest.control_plane.port());
    let mut outputs = Vec::new();
    let mut found = Vec::new();
    for token in [false, true] {
        let project =
            Project::new(&Settings { own: true, token, server: server.clone(), ..Settings::default() });
        let mut record = |run: crate::apply::Run| outputs.push(run.stdout + &run.stderr);
        let with = ["--timeout", "60s", "--retry-timeout", "5s"];
        for (command, more) in [
            ("apply", &["-vvv"][..]),
            ("apply", &["-vvv", "-o", "json"]),
            ("apply", &["-vvv", "--dry-run"]),
            ("diff", &["-vvv", "--live"]),
            ("diff", &["-vvv", "--live", "--drift", "-o", "json"]),
            ("credentials list", &["-vvv", "--live"]),
            ("credentials list", &["--live", "-o", "json"]),
            ("credentials rotate", &["-vvv", "--all"]),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let more = [&words[1..], more, &with].concat();
            let run = run_hosted(bed, project.path(), words[0], &more);
            assert_eq!(run.code, 0, "{command}: {}", run.stderr);
            record(run);
            found.extend(needles(bed));
        }
        // Someone else changed a key: the difference is shown, but not the key.
        let foreign = r#"{"data": {"tls.key": "c29tZSBvdGhlciBrZXk="}}"#;
        bed.management.patch(&path("op-cert"), "application/merge-patch+json", foreign);
        record(run_hosted(bed, project.path(), "diff", &["--live"]));
        record(run_hosted(bed, project.path(), "apply", &["-vvv"]));
        found.extend(needles(bed));
        record(run_hosted(bed, project.path(), "history", &["-vvv"]));
        for arguments in [
            &["render", "--profile", "mc"][..],
            &["lint"],
            &["lint", "--report", "reach"],
            &["list", "--profile", "mc"],
            &["explain", "secret/op-cert", "--profile", "mc"],
            &["rights", "--topology", "hypershift"],
        ] {
            record(program(project.path()).args(arguments).arg("-vvv").output().unwrap().into());
        }
        record(run_hosted(bed, project.path(), "delete", &["-vvv"]));
    }
    assert!(found.len() > 20, "{}", found.len());
    for needle in &found {
        for output in &outputs {
            assert!(!output.contains(needle.as_str()), "a key is in:\n{output}");
        }
    }
}
