//! A server with an issued certificate in the management cluster is trusted, and the guest's API server calls it as a webhook.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::apply;
use super::project::{Project, Settings};
use super::secrets::{bundle, secret, text};
use crate::apply::scenarios::assert_code;
use crate::requests::block_on;
use crate::test_bed::TestBed;

const HOST: &str = "op.clusters-example.svc";
const REASON: &str = "the test does not like it";

pub(super) fn is_called(bed: &TestBed) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let project =
        Project::new(&Settings { webhook: format!("https://{HOST}:{port}/check"), ..Settings::default() });
    assert_code(&apply(bed, &project, &[]), 0);
    let certificate = secret(bed, "op-cert");
    serve(listener, &text(&certificate, "tls.crt"), &text(&certificate, "tls.key"));
    assert_trusted(port, &bundle(bed, "trusted"));

    // The name of the Service resolves only for this API server of the guest.
    let Some(guest) = bed.guest.control_plane.another_api_server(&[HOST]) else {
        return eprintln!("SKIPPED: a webhook is called, for want of mount namespaces");
    };
    let create = |name: &str| {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        guest.request("POST", "/api/v1/namespaces/default/configmaps", &body.to_string())
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match create("bad") {
            Err(error) if error.to_string().contains(REASON) => break,
            result => assert!(Instant::now() < deadline, "it was not called: {result:?}"),
        }
        let _ = guest.request("DELETE", "/api/v1/namespaces/default/configmaps/bad", "");
        std::thread::sleep(Duration::from_millis(200));
    }
    create("good").unwrap();
}

/// Connects as a client that trusts only the authorities of the bundle.
fn assert_trusted(port: u16, authorities: &str) {
    for (host, expected) in [(HOST, true), ("localhost", true), ("other.clusters-example.svc", false)] {
        let text = connect(port, host, authorities);
        assert_eq!(text.contains("Verify return code: 0 (ok)"), expected, "{host}: {text}");
    }
}

/// Connects to a server with the program `openssl`, and returns what it says.
fn connect(port: u16, host: &str, authorities: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authorities");
    std::fs::write(&file, authorities).unwrap();
    let address = format!("127.0.0.1:{port}");
    let output = Command::new("openssl")
        .args(["s_client", "-connect", &address, "-verify_hostname", host, "-verify_return_error", "-CAfile"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Lets a client with these authorities connect once to a server with this certificate. Panics if the handshake fails.
pub(super) fn shake_hands(authorities: &str, certificate: &str, key: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = acceptor(certificate, key);
    listener.set_nonblocking(true).unwrap();
    let server = std::thread::spawn(move || {
        block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            acceptor.accept(stream).await.is_ok()
        })
    });
    let text = connect(port, HOST, authorities);
    assert!(text.contains("Verify return code: 0 (ok)"), "{text}");
    assert!(server.join().unwrap(), "the server refused the client");
}

fn acceptor(certificate: &str, key: &str) -> TlsAcceptor {
    let certificates = CertificateDer::pem_slice_iter(certificate.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key).unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Starts a server that refuses every object called `bad`.
fn serve(listener: TcpListener, certificate: &str, key: &str) {
    let acceptor = acceptor(certificate, key);
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service_fn(review))
                        .await;
                });
            }
        });
    });
}

async fn review(request: http::Request<Incoming>) -> Result<http::Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_bad = review["request"]["name"] == "bad";
    let response = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": !is_bad, "status": {"message": REASON}},
    });
    let body = Full::from(response.to_string());
    Ok(http::Response::builder().header("content-type", "application/json").body(body).unwrap())
}
