//! Tokens that change during a command: those of a token file and of a credential plugin.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};
use k8s_openapi::jiff::Timestamp;
use kube::config::{AuthInfo, ExecConfig};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tower::BoxError;

use crate::apply::wire::credential_plugin::{self, Credential, PluginError};
use crate::apply::wire::kubeconfig::{InvalidField, read_token};

/// How often a token file is read again.
const FILE_INTERVAL: Duration = Duration::from_secs(60);
/// How long before a token expires transship runs the plugin again.
const EARLY: Duration = Duration::from_secs(60);

/// Why there are no credentials.
pub(crate) enum CredentialError {
    Field(InvalidField),
    Plugin(PluginError),
}

/// A token that changes.
pub(crate) struct ChangingToken {
    source: Source,
    current: Mutex<Token>,
}

enum Source {
    File(PathBuf),
    Plugin(Box<ExecConfig>),
}

struct Token {
    header: HeaderValue,
    refresh_at: Option<Instant>,
}

/// Reads the token file or runs the credential plugin of a user. Sets the certificate of the user, and returns the
/// token, which can change.
pub(crate) async fn resolve(user: &mut AuthInfo) -> Result<Option<Arc<ChangingToken>>, CredentialError> {
    let has_token = user.auth_provider.is_some() || user.token.is_some() || user.username.is_some();
    let (file, plugin) = (user.token_file.take(), user.exec.take());
    let token = match (file.filter(|file| !file.is_empty()), plugin) {
        _ if has_token => return Ok(None),
        (Some(file), _) => {
            let path = PathBuf::from(file);
            let token = read_file(&path).map_err(CredentialError::Field)?;
            ChangingToken { source: Source::File(path), current: Mutex::new(token) }
        }
        (None, Some(plugin)) => {
            let mut credential = credential_plugin::run(&plugin).await.map_err(CredentialError::Plugin)?;
            take_certificate(user, &mut credential);
            let Some(token) = Token::of_plugin(&credential) else { return Ok(None) };
            ChangingToken { source: Source::Plugin(Box::new(plugin)), current: Mutex::new(token) }
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(token)))
}

/// Gives a user the certificate of a plugin.
fn take_certificate(user: &mut AuthInfo, credential: &mut Credential) {
    let (certificate, key) = (credential.client_certificate_data.take(), credential.client_key_data.take());
    if let (Some(certificate), Some(key)) = (certificate, key) {
        user.client_certificate_data = Some(STANDARD.encode(certificate));
        user.client_key_data = Some(STANDARD.encode(key).into());
        (user.client_certificate, user.client_key) = (None, None);
    }
}

fn read_file(path: &Path) -> Result<Token, InvalidField> {
    let content = std::fs::read_to_string(path);
    let content = content.map_err(|error| InvalidField::unreadable("tokenFile", &error))?;
    let header = bearer(read_token(&content)?).ok_or_else(|| InvalidField::control_character("tokenFile"))?;
    Ok(Token { header, refresh_at: Some(Instant::now() + FILE_INTERVAL) })
}

impl Token {
    fn of_plugin(credential: &Credential) -> Option<Self> {
        let header = bearer(credential.token.as_deref()?)?;
        let refresh_at = credential.expiration_timestamp.as_ref().map(|end| {
            let valid = Duration::try_from(end.0.duration_since(Timestamp::now())).unwrap_or_default();
            Instant::now() + valid.saturating_sub(EARLY)
        });
        Some(Self { header, refresh_at })
    }

    fn is_old(&self) -> bool {
        self.refresh_at.is_some_and(|at| Instant::now() >= at)
    }
}

fn bearer(token: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl ChangingToken {
    /// Adds the token to a request. Reads it again if it is old.
    pub(crate) async fn authorize<B>(
        self: Arc<Self>,
        mut request: Request<B>,
    ) -> Result<Request<B>, BoxError> {
        let mut current = self.current.lock().await;
        if current.is_old() {
            self.refresh(&mut current).await?;
        }
        request.headers_mut().insert(AUTHORIZATION, current.header.clone());
        Ok(request)
    }

    async fn refresh(&self, current: &mut Token) -> Result<(), PluginError> {
        match &self.source {
            Source::File(path) => match read_file(path) {
                Ok(token) => *current = token,
                // As client-go does, uses the last token if the file is gone or is being written.
                Err(_) => current.refresh_at = Some(Instant::now() + FILE_INTERVAL),
            },
            Source::Plugin(plugin) => {
                let credential = credential_plugin::run(plugin).await?;
                *current = Token::of_plugin(&credential).ok_or(PluginError::InvalidOutput)?;
            }
        }
        Ok(())
    }
}
