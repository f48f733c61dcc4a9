//! Runs a credential plugin (`exec` of a kubeconfig). transship does not use kube's code for this: kube runs a plugin
//! three times, waits for it without a timeout, and blocks the thread while it waits.

use std::fmt;
use std::io::{IsTerminal, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// The largest output of a plugin.
const MAX_OUTPUT: u64 = 1 << 20;
/// How often to check whether a plugin has exited after it closed its output.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Why a plugin provides no credential. The message never contains the output of the plugin, which may be a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PluginError {
    NoCommand,
    NotStarted(String),
    Failed(String),
    InvalidOutput,
    ControlCharacter,
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => f.write_str("the credential plugin of the kubeconfig has no command"),
            Self::NotStarted(error) => write!(f, "cannot start the credential plugin of the kubeconfig: {error}"),
            Self::Failed(status) => write!(f, "the credential plugin of the kubeconfig failed: {status}"),
            Self::InvalidOutput => {
                f.write_str("the credential plugin of the kubeconfig does not print an ExecCredential")
            }
            Self::ControlCharacter => f.write_str(
                "the credential plugin of the kubeconfig prints a token with a line break or another control character",
            ),
        }
    }
}

impl std::error::Error for PluginError {}

/// The credential that a plugin provides: a token, or a certificate with its key.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credential {
    pub(crate) token: Option<String>,
    pub(crate) expiration_timestamp: Option<Time>,
    pub(crate) client_certificate_data: Option<String>,
    pub(crate) client_key_data: Option<String>,
}

#[derive(Deserialize)]
struct ExecCredential {
    status: Credential,
}

/// A plugin that is running. Dropping it kills the process.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if the process has ended, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    async fn wait(&mut self) -> Result<ExitStatus, PluginError> {
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => sleep(POLL_INTERVAL).await,
                Err(error) => return Err(PluginError::Failed(error.to_string())),
            }
        }
    }
}

/// Runs a plugin and returns its credential. Dropping the future kills the plugin.
pub(crate) async fn run(plugin: &ExecConfig) -> Result<Credential, PluginError> {
    let mut child = command(plugin)?.spawn().map_err(|error| PluginError::NotStarted(error.to_string()))?;
    let stdout = child.stdout.take();
    let mut running = Running(child);
    let (sender, output) = oneshot::channel();
    // Ends when the plugin closes its output, at the latest when it is killed.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map(|stdout| stdout.take(MAX_OUTPUT).read_to_end(&mut bytes));
        let _ = sender.send(read.is_some_and(|read| read.is_ok()).then_some(bytes));
    });
    let output = output.await.ok().flatten().unwrap_or_default();
    let status = running.wait().await?;
    if !status.success() {
        return Err(PluginError::Failed(status.to_string()));
    }
    read_credential(&output)
}

/// Reads the output of a plugin.
pub(crate) fn read_credential(output: &[u8]) -> Result<Credential, PluginError> {
    let credential = serde_json::from_slice::<ExecCredential>(output);
    let credential = credential.map_err(|_| PluginError::InvalidOutput)?.status;
    if credential.token.as_ref().is_some_and(|token| token.chars().any(char::is_control)) {
        return Err(PluginError::ControlCharacter);
    }
    Ok(credential)
}

fn command(plugin: &ExecConfig) -> Result<Command, PluginError> {
    let mut command = Command::new(plugin.command.as_ref().ok_or(PluginError::NoCommand)?);
    command.args(plugin.args.iter().flatten());
    for variable in plugin.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    let may_ask = plugin.interactive_mode != Some(ExecInteractiveMode::Never);
    let is_interactive = may_ask && std::io::stdin().is_terminal();
    let info = json!({
        "apiVersion": plugin.api_version, "kind": "ExecCredential",
        "spec": {"interactive": is_interactive, "cluster": plugin.cluster},
    });
    command.env("KUBERNETES_EXEC_INFO", info.to_string());
    for variable in plugin.drop_env.iter().flatten() {
        command.env_remove(variable);
    }
    command.stdout(Stdio::piped());
    command.stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() });
    command.stderr(if may_ask { Stdio::inherit() } else { Stdio::null() });
    Ok(command)
}
