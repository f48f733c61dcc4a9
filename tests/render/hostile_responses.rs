//! API servers that send as much as they can, or with texts that nobody should see. Each command ends, its memory stays
//! below a limit, and its output shows no secret and no characters that control a terminal.

use std::io::Write;

use serde_json::{Value, json};

use crate::fake_server::FakeServer;
use crate::support::{Run, TestProject, config_map, shell_in};

/// The limit of the address space in KiB. Responses may need 512 MiB; the rest is for the allocator and the program.
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
fn wait_for_does_not_read_an_endless_response() {
    let server = FakeServer::start(|_, body| {
        body.write_all(b"[")?;
        write_maps(body, usize::MAX)
    });
    let run = run(&project(&server), "wait-for Namespace/default");
    let problem = "a response of the API server is larger than 64 MiB, so transship stops reading it";
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
fn wait_for_does_not_read_a_response_that_needs_much_memory() {
    let server = FakeServer::start(|_, body| {
        body.write_all(b"{\"resources\":[")?;
        write_maps(body, 7_000_000)?;
        body.write_all(b"]}")
    });
    let run = run(&project(&server), "wait-for Namespace/default");
    let problem =
        "the responses of the API server need more than 512 MiB of memory, so transship stops reading them";
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.ends_with(&format!("gave up on the cluster of kubeconfig: {problem}\n")),
        "{}",
        run.stderr
    );
}

/// Texts and lists where an object is expected once made transship panic.
#[test]
fn responses_of_another_type_cause_no_panic() {
    for response in
        ["\"text\"", "[]", "[[{}]]", "7", "null", "true", "{\"items\":7}", "{\"items\":[7,[],\"a\"]}"]
    {
        let server = FakeServer::start(move |path, body| match path.split('?').next().unwrap_or_default() {
            path @ ("/api" | "/apis") => body.write_all(discovery(path).to_string().as_bytes()),
            _ => body.write_all(response.as_bytes()),
        });
        let project = project(&server);
        for command in ["apply", "apply --dry-run", "diff --live", "delete"] {
            let run = run(&project, &format!("{command} --topology test --retry-timeout 1s --timeout 5s"));
            assert!([0, 1, 2, 3].contains(&run.code), "{command} {response}: {} {}", run.code, run.stderr);
            assert!(!run.stderr.contains("panicked"), "{command} {response}: {}", run.stderr);
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
        "the responses of the API server need more than 512 MiB of memory, so transship stops reading them";
    let event = format!("cluster         failed      {problem}\n");
    for command in ["apply", "apply --dry-run", "diff --live", "delete"] {
        let run = run(&project, &format!("{command} --topology test --retry-timeout 1s"));
        assert_eq!(run.code, 3, "{command}: {}", run.stderr);
        assert!((run.stdout + &run.stderr).contains(&event), "{command}: {}", run.stderr);
    }
}

/// The value of a secret parameter.
const CANARY: &str = "zq7canary-word";
/// Characters that control a terminal, and a text with them.
const HOSTILE_CHARACTERS: [char; 3] = ['\u{1b}', '\u{9b}', '\u{202e}'];
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}";

/// Starts a server with one ConfigMap, whose data has hostile characters. It responds to an apply with the ConfigMap, or
/// refuses it with a message that quotes the value of the parameter.
fn quoting_server(is_refused: bool) -> FakeServer {
    let is_apply = |path: &str| path.contains("/configmaps/c?");
    let is_inventory = |path: &str| path.ends_with("/configmaps/transship-test");
    let config_map = |name: &str, data: Value| {
        let metadata = json!({"name": name, "namespace": "ns", "uid": "1", "resourceVersion": "5"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    };
    FakeServer::start_with_status(
        move |path| {
            if is_inventory(path) {
                "404 Not Found"
            } else if is_apply(path) && is_refused {
                "422 Unprocessable Entity"
            } else {
                "200 OK"
            }
        },
        move |path, body| {
            let response = match path {
                "/api" | "/apis" => discovery(path),
                _ if is_inventory(path) => json!({"kind": "Status", "reason": "NotFound"}),
                _ if path.starts_with("/api/v1/configmaps?") => {
                    let live = config_map("c", json!({"other": HOSTILE, "word": "before"}));
                    json!({"kind": "ConfigMapList", "metadata": {}, "items": [live]})
                }
                _ if is_apply(path) && is_refused => {
                    let message = format!("invalid: {CANARY} {HOSTILE}");
                    json!({"kind": "Status", "reason": "Invalid", "message": message})
                }
                _ if is_apply(path) => config_map("c", json!({"other": "new", "word": CANARY})),
                _ => config_map("transship-test", json!({})),
            };
            body.write_all(response.to_string().as_bytes())
        },
    )
}

/// Runs a command for a ConfigMap with the secret value. Checks that no way to print and to log shows it or hostile
/// characters, and returns what the command prints as text.
fn quoted(is_refused: bool, command: &str) -> Run {
    let server = quoting_server(is_refused);
    let project = project(&server)
        .parameters("parameters: {p.word: {type: string, description: d, secret: true}}\n")
        .page(
            "op",
            "adds: [{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {word: '${p.word}'}}]}]\n",
        );
    let command = format!("{command} --topology test --retry-timeout 1s --set p.word={CANARY}");
    for flags in ["", "-o json", "-vvv", "-vvv --log-format json"] {
        let run = run(&project, &format!("{command} {flags}"));
        for output in [&run.stdout, &run.stderr] {
            assert!(!output.contains(CANARY), "{command} {flags}\n{output}");
            let is_hostile = output.chars().any(|character| HOSTILE_CHARACTERS.contains(&character));
            assert!(!is_hostile, "{command} {flags}\n{}", output.escape_debug());
        }
    }
    run(&project, &command)
}

#[test]
fn a_live_object_cannot_show_a_secret_or_control_the_terminal() {
    let run = quoted(false, "diff --live");
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (
            1,
            "cluster    ConfigMap/c in ns\n  \
             /data/other: \"\\u001b[2J\\u{9b}31m\\u{202e}\" -> \"new\"\n  \
             /data/word: \"<hidden, before>\" -> \"<hidden, after>\"\n"
        ),
        "{}",
        run.stderr
    );
}

#[test]
fn a_refusal_cannot_show_a_secret_or_control_the_terminal() {
    let refusal = "the API server returns 422: invalid: <hidden>  [2J 31m\\u{202e}\n";
    let run = quoted(true, "diff --live");
    assert_eq!(
        (run.code, run.stdout),
        (1, format!("cluster    ConfigMap/c in ns would be rejected: {refusal}")),
        "{}",
        run.stderr
    );
    let run = quoted(true, "apply");
    let (event, rest) = run.stderr.split_at(run.stderr.find("run ").unwrap());
    assert_eq!(
        (run.code, event),
        (3, format!("cluster      50 failed      ConfigMap/c in ns: {refusal}").as_str())
    );
    assert!(rest.lines().count() == 1 && rest.contains(" took "), "{rest}");
}
