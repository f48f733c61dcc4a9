//! Kubeconfigs that cannot be used, or not safely.

use std::time::{Duration, Instant};

use crate::fake_server::FakeServer;
use crate::support::{Run, TestProject, config_map};

/// Returns a project with a kubeconfig that has these fields of a cluster and of a user.
fn project(cluster: &str, user: &str) -> TestProject {
    let kubeconfig = format!(
        "current-context: it\ncontexts: [{{name: it, context: {{cluster: it, user: admin}}}}]\n\
         clusters: [{{name: it, cluster: {{{cluster}}}}}]\nusers: [{{name: admin, user: {{{user}}}}}]\n"
    );
    TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", &config_map("c", "{}"))
        .page("op", "")
        .file("kubeconfig", &kubeconfig)
}

fn cluster_of(server: &FakeServer) -> String {
    format!("server: \"{}\"", server.url())
}

fn wait_for(project: &TestProject) -> Run {
    project.run(&["wait-for", "--timeout", "1s", "--kubeconfig", "kubeconfig", "Namespace/default"])
}

/// No command panics, sends a request or shows the token.
#[test]
fn a_token_with_a_control_character_is_refused() {
    let server = FakeServer::empty();
    for token in ["canary\\n", "canary\\r", "can\\x01ary"] {
        let project = project(&cluster_of(&server), &format!("token: \"{token}\""));
        let on_cluster = ["--topology", "test", "--kubeconfig", "kubeconfig"];
        for command in [&["apply"][..], &["apply", "--dry-run"], &["diff", "--live"], &["delete"]] {
            assert_eq!(
                project.run(&[command, &on_cluster].concat()).refusal(),
                "error: kubeconfig: cannot use the kubeconfig: the field `token` of the user `admin` contains a line break or another control character\n  \
                 note: transship sends it in a header of each request\n  \
                 help: remove line breaks and other control characters; a YAML block scalar (`|`) ends with a line break\n"
            );
        }
        let message = wait_for(&project).refusal();
        assert!(message.contains("the field `token` of the user `admin`"), "{message}");
    }
    assert_eq!(server.heads(), Vec::<String>::new());
}

#[test]
fn a_token_file_may_end_with_a_line_break() {
    let server = FakeServer::empty();
    let project = project(&cluster_of(&server), "tokenFile: token").file("token", "abc\n");
    wait_for(&project);
    let heads = server.heads();
    assert!(
        !heads.is_empty() && heads.iter().all(|head| head.contains("\r\nauthorization: bearer abc\r\n")),
        "{heads:?}"
    );
    for (content, expected) in [
        ("canary\ncanary", "contains a line break or another control character"),
        ("\n", "names an empty file"),
    ] {
        project.write("token", content);
        let message = wait_for(&project).refusal();
        assert!(
            message.contains(&format!("the field `tokenFile` of the user `admin` {expected}\n")),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
    }
}

#[test]
fn a_credential_plugin_provides_the_token() {
    let server = FakeServer::empty();
    let plugin = |token: &str| {
        format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: echo, \
             args: ['{{\"status\":{{\"token\":\"{token}\"}}}}']}}"
        )
    };
    wait_for(&project(&cluster_of(&server), &plugin("abc")));
    let heads = server.heads();
    assert!(
        !heads.is_empty() && heads.iter().all(|head| head.contains("\r\nauthorization: bearer abc\r\n")),
        "{heads:?}"
    );
    let message = wait_for(&project(&cluster_of(&server), &plugin("canary\\n"))).refusal();
    assert!(message.contains("prints a token with a line break or another control character"), "{message}");
    assert!(!message.contains("canary"), "{message}");
    assert_eq!(server.heads().len(), heads.len());
}

/// A plugin that never ends is killed after `--timeout`.
#[test]
fn a_credential_plugin_that_hangs_is_killed() {
    let server = FakeServer::empty();
    let plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, \
                  args: [-c, 'echo $$ > pid; exec sleep 300']}";
    let project = project(&cluster_of(&server), plugin);
    let started = Instant::now();
    assert_eq!(
        wait_for(&project).refusal(),
        "error: kubeconfig: the credential plugin of the kubeconfig did not end before the timeout\n  \
         note: transship has killed it\n  help: run the command of `exec` in the kubeconfig to see what it prints\n"
    );
    assert!(started.elapsed() < Duration::from_secs(60));
    let process = format!("/proc/{}", project.read("pid").trim());
    assert!(!std::path::Path::new(&process).exists(), "{process}");
    assert_eq!(server.heads(), Vec::<String>::new());
}

/// transship never connects directly if the proxy cannot be used.
#[test]
fn an_unknown_scheme_of_a_proxy_is_refused() {
    let server = FakeServer::empty();
    for (proxy, problem) in [
        ("sock5://u:canary@127.0.0.1:1", "has the unknown scheme `sock5`"),
        ("ftp://127.0.0.1:1", "has the unknown scheme `ftp`"),
    ] {
        let cluster = format!("{}, proxy-url: \"{proxy}\"", cluster_of(&server));
        assert_eq!(
            wait_for(&project(&cluster, "token: t")).refusal(),
            format!(
                "error: kubeconfig: cannot use the kubeconfig: the field `proxy-url` {problem}\n  \
                 note: transship does not connect directly if a proxy is configured\n  help: use http, https, socks5 or socks5h\n"
            )
        );
    }
    assert_eq!(server.heads(), Vec::<String>::new());
}

#[test]
fn the_server_must_be_a_url() {
    for server in ["example.test:6443", "example.test", "ftp://example.test"] {
        let message = wait_for(&project(&format!("server: \"{server}\""), "token: t")).refusal();
        let expected = "the field `server` is not a URL with http or https and a host\n";
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn connections_that_others_can_read_are_reported() {
    let http = wait_for(&project("server: \"http://192.0.2.1:1\"", "token: t"));
    let warning = "warning: kubeconfig: the kubeconfig uses http: the connection to the API server is not encrypted\n  \
                   note: everyone on the way can read and change credentials and objects\n  help: use https\n";
    assert!(http.stderr.starts_with(warning), "{}", http.stderr);
    let insecure =
        wait_for(&project("server: \"https://127.0.0.1:1\", insecure-skip-tls-verify: true", "token: t"));
    let warning = "warning: kubeconfig: the kubeconfig does not verify the API server (`insecure-skip-tls-verify`)\n  \
                   note: everyone on the way can read and change credentials and objects\n  \
                   help: set `certificate-authority` or `certificate-authority-data` instead\n";
    assert!(insecure.stderr.starts_with(warning), "{}", insecure.stderr);
    let local = wait_for(&project(&cluster_of(&FakeServer::empty()), "token: t"));
    assert!(!local.stderr.contains("warning"), "{}", local.stderr);
}
