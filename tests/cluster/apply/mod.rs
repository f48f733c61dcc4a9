//! `transship apply` and `transship delete` on two real clusters.

mod applied_state;
pub(crate) mod connections;
pub(crate) mod crash;
pub(crate) mod credentials;
pub(crate) mod diff_and_dry_run;
pub(crate) mod drift;
pub(crate) mod fixture;
mod in_process;
pub(crate) mod library_go_operators;
pub(crate) mod operator_view;
pub(crate) mod races;
pub(crate) mod rights;
pub(crate) mod scenarios;
pub(crate) mod storage_payload;
pub(crate) mod succession;
mod used_rights;

use std::path::Path;
use std::process::{Command, Output};

use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

/// The result of a command.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The program, in a folder and without a kubeconfig.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_transship"));
    command.current_dir(folder).env_remove("KUBECONFIG").env("HOME", "/nonexistent");
    command
}

pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Run {
    program(folder).args(arguments).output().unwrap().into()
}

/// The repository, which contains the bundled payload.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The role of the driver in its cloud, without which the bundled payload has no cloud credentials.
pub(crate) const ROLE: &str = "aws.storageRoleARN=arn:aws:iam::123456789012:role/ebs";

/// Runs a command on both clusters of a hosted control plane.
pub(crate) fn run_hosted(bed: &TestBed, folder: &Path, command: &str, more: &[&str]) -> Run {
    let (management, guest) = (bed.management.kubeconfig().display(), bed.guest.kubeconfig().display());
    let (management, guest) = (management.to_string(), guest.to_string());
    let mut clusters = vec![
        "--topology",
        "hypershift",
        "--management-kubeconfig",
        &management,
        "--guest-kubeconfig",
        &guest,
    ];
    if has_parameter(folder, "hcp.namespace:") && !more.contains(&"--set") {
        clusters.extend(["--set", "hcp.namespace=clusters-example"]);
    }
    let api_server = format!("hcp.apiServer=https://127.0.0.1:{}", bed.guest.control_plane.port());
    if has_parameter(folder, "aws.storageRoleARN:") {
        clusters.extend(["--set", &api_server, "--set", ROLE]);
    }
    // A command of a group, such as `credentials list`, has a second word.
    let (second, more) = match (command, more) {
        ("credentials", [second, more @ ..]) => (Some(*second), more),
        _ => (None, more),
    };
    let words: Vec<&str> = std::iter::once(command).chain(second).collect();
    run_in(folder, &[&words[..], &clusters, &with_approval(command, more)].concat())
}

/// Returns whether a project declares a parameter of the bundled profiles.
fn has_parameter(folder: &Path, name: &str) -> bool {
    let parameters = std::fs::read_to_string(folder.join("profiles/parameters.yaml"));
    parameters.is_ok_and(|text| text.contains(name))
}

/// Approves everything that `delete` deletes, unless the test chooses otherwise.
fn with_approval<'a>(command: &str, more: &[&'a str]) -> Vec<&'a str> {
    let approves = more.iter().any(|flag| ["--approve-delete", "--dry-run", "--orphan"].contains(flag));
    let approval: &[&str] = if command == "delete" && !approves { &["--approve-delete", "all"] } else { &[] };
    [approval, more].concat()
}

/// Runs a command on one cluster.
pub(crate) fn run_standalone(cluster: &TestCluster, folder: &Path, command: &str, more: &[&str]) -> Run {
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let cluster = ["--topology", "standalone", "--kubeconfig", &kubeconfig];
    run_in(folder, &[&[command][..], &cluster, &with_approval(command, more)].concat())
}
