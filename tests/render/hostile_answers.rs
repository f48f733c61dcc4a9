//! API servers that answer as much as they can. Each command ends with an error, and its memory stays below a limit.

use std::io::Write;

use serde_json::{Value, json};

use crate::fake_server::FakeServer;
use crate::support::{Run, TestProject, config_map, shell_in};

/// The limit of the address space in KiB. Answers may need 512 MiB; the rest is for the allocator and the program.
const ADDRESS_SPACE: usize = 2 << 20;

fn project(server: &FakeServer) -> TestProject {
    let kubeconfig = format!(
        "current-context: it\ncontexts: [{{name: it, context: {{cluster: it}}}}]\n\
         clusters: [{{name: it, cluster: {{server: \"{}\"}}}}]\n",
        server.url()
    );
    TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", &config_map("c", "{}"))
        .page("op", "")
        .file("kubeconfig", &kubeconfig)
}

/// Runs a command with limited memory.
fn run(project: &TestProject, command: &str) -> Run {
    shell_in(
        project.path(),
        &format!("ulimit -v {ADDRESS_SPACE} && exec transship {command} --kubeconfig kubeconfig"),
    )
}

/// Writes small maps, which need a hundred times the memory of their text.
fn write_maps(body: &mut dyn Write, count: usize) -> std::io::Result<()> {
    let some = b"{\"a\":0},".repeat(1000);
    for _ in 0..count / 1000 {
        body.write_all(&some)?;
    }
    body.write_all(b"{}")
}

/// Discovery of ConfigMaps.
fn discovery(path: &str) -> Value {
    let resource = json!({
        "resource": "configmaps", "responseKind": {"kind": "ConfigMap"}, "scope": "Namespaced", "verbs": ["list"],
    });
    let group = json!({"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [resource]}]});
    let items = if path == "/api" { vec![group] } else { Vec::new() };
    json!({"kind": "APIGroupDiscoveryList", "items": items})
}

#[test]
fn wait_for_does_not_read_an_endless_answer() {
    let server = FakeServer::start(|_, body| {
        body.write_all(b"[")?;
        write_maps(body, usize::MAX)
    });
    let run = run(&project(&server), "wait-for Namespace/default");
    let problem = "an answer of the API server is larger than 64 MiB, so transship stops reading it";
    assert_eq!(
        (run.code, run.stderr.replace("(after 1s)", "(after 0s)").as_str()),
        (
            3,
            format!(
                "Namespace/default: {problem} (after 0s)\ngave up on the cluster of kubeconfig: {problem}\n"
            )
            .as_str()
        )
    );
    assert_eq!(server.heads().len(), 1, "the request is not sent again");
}

/// The text is small enough, but not the values in it.
#[test]
fn wait_for_does_not_read_an_answer_that_needs_much_memory() {
    let server = FakeServer::start(|_, body| {
        body.write_all(b"{\"resources\":[")?;
        write_maps(body, 7_000_000)?;
        body.write_all(b"]}")
    });
    let run = run(&project(&server), "wait-for Namespace/default");
    let problem =
        "the answers of the API server need more than 512 MiB of memory, so transship stops reading them";
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.ends_with(&format!("gave up on the cluster of kubeconfig: {problem}\n")),
        "{}",
        run.stderr
    );
}

/// Texts and lists where an object is expected once made transship panic.
#[test]
fn answers_of_another_type_cause_no_panic() {
    for answer in
        ["\"text\"", "[]", "[[{}]]", "7", "null", "true", "{\"items\":7}", "{\"items\":[7,[],\"a\"]}"]
    {
        let server = FakeServer::start(move |path, body| match path.split('?').next().unwrap_or_default() {
            path @ ("/api" | "/apis") => body.write_all(discovery(path).to_string().as_bytes()),
            _ => body.write_all(answer.as_bytes()),
        });
        let project = project(&server);
        for command in ["apply", "apply --dry-run", "diff --live", "delete"] {
            let run = run(&project, &format!("{command} --topology test --retry-timeout 1s --timeout 5s"));
            assert!([0, 1, 2, 3].contains(&run.code), "{command} {answer}: {} {}", run.code, run.stderr);
            assert!(!run.stderr.contains("panicked"), "{command} {answer}: {}", run.stderr);
        }
    }
}

/// Each page is small, and there are as many as anyone wants to read.
#[test]
fn endless_pages_are_not_kept() {
    let server = FakeServer::start(|path, body| {
        let path = path.split('?').next().unwrap_or_default();
        if matches!(path, "/api" | "/apis") {
            return body.write_all(discovery(path).to_string().as_bytes());
        }
        if path != "/api/v1/configmaps" {
            return body.write_all(b"{}");
        }
        body.write_all(b"{\"kind\":\"ConfigMapList\",\"metadata\":{\"continue\":\"more\"},\"items\":[")?;
        write_maps(body, 100_000)?;
        body.write_all(b"]}")
    });
    let project = project(&server);
    let problem =
        "the answers of the API server need more than 512 MiB of memory, so transship stops reading them";
    let event = format!("cluster         failed      {problem}\n");
    for command in ["apply", "apply --dry-run", "diff --live", "delete"] {
        let run = run(&project, &format!("{command} --topology test --retry-timeout 1s"));
        assert_eq!(run.code, 3, "{command}: {}", run.stderr);
        assert!((run.stdout + &run.stderr).contains(&event), "{command}: {}", run.stderr);
    }
}
