//! A kubeconfig in, a client out; and what a failed request says, without anything secret.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use kube::client::AuthError;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::diagnostic::{Diagnostic, Location};

/// How long an answer may take. A server that says nothing for so long is as good as gone.
const ANSWER: Duration = Duration::from_secs(10);

/// Connects as kubectl would: by this file, else by `KUBECONFIG` or `~/.kube/config`, else by the pod's own token.
/// Nothing is sent yet.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Diagnostic> {
    let mut config = match kubeconfig {
        Some(path) => from_file(path).await?,
        None => Config::infer().await.map_err(|error| nowhere(&error))?,
    };
    config.connect_timeout = Some(ANSWER);
    config.read_timeout = Some(ANSWER);
    config.reset_reader_on_write = true;
    Client::try_from(config).map_err(|error| {
        let error = Diagnostic::error(format!("no client can be made: {}", reason(&error)));
        match kubeconfig {
            Some(path) => error.at(Location::file(path.display().to_string())),
            None => error,
        }
    })
}

async fn from_file(path: &Path) -> Result<Config, Diagnostic> {
    let unusable = |error: &KubeconfigError| {
        Diagnostic::error(format!("the kubeconfig cannot be used: {}", words(error)))
            .at(Location::file(path.display().to_string()))
            .help("check that `kubectl --kubeconfig` takes it")
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| unusable(&error))?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| unusable(&error))
}

fn nowhere(error: &kube::config::InferConfigError) -> Diagnostic {
    let message = match error.source().and_then(|source| source.downcast_ref::<KubeconfigError>()) {
        Some(error) => words(error),
        None => "there is none".to_owned(),
    };
    Diagnostic::error(format!("no cluster to talk to: {message}"))
        .note("this is no pod with a token of its own either")
        .help("give --kubeconfig, or set KUBECONFIG")
}

/// A file that cannot be parsed is quoted in the error of the reader, tokens and all.
fn words(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(_) => "it is not the YAML of a kubeconfig".to_owned(),
        KubeconfigError::ReadConfig(error, _) => format!("it cannot be read: {error}"),
        other => other.to_string(),
    }
}

/// Why a request failed, in one line: the innermost cause, which is the one that a person can do something about.
pub(super) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut last = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        // What a credential plugin printed may be the credential.
        if error.is::<AuthError>() {
            return "the credentials of the kubeconfig cannot be used".to_owned();
        }
        last = error.to_string();
        cause = error.source();
    }
    last
}
