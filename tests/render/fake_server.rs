//! A server on the loopback interface that responds to requests as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that records the requests.
pub(crate) struct FakeServer {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl FakeServer {
    /// Starts a server. `response` gets the path of a request with its query, and writes the body of the response.
    pub(crate) fn start(
        response: impl Fn(&str, &mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with_status(|_| "200 OK", response)
    }

    /// Starts a server. `status` and `response` get the path of a request with its query. `status` returns the status of the
    /// response, and `response` writes its body.
    pub(crate) fn start_with_status(
        status: impl Fn(&str) -> &'static str + Send + Sync + 'static,
        response: impl Fn(&str, &mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heads) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let (recorded, responses) = (Arc::clone(&heads), Arc::new((status, response)));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, responses, recorded) =
                    (stream.unwrap(), Arc::clone(&responses), Arc::clone(&recorded));
                // A client that has seen enough closes the connection, and writing fails.
                std::thread::spawn(move || _ = serve(stream, &responses.0, &responses.1, &recorded));
            }
        });
        Self { port, heads }
    }

    /// Starts a server that responds to every request with an empty object.
    pub(crate) fn empty() -> Self {
        Self::start(|_, body| body.write_all(b"{}"))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the heads of all requests, in lower case.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// Responses one request and closes the connection, which is the end of the body.
fn serve(
    mut stream: TcpStream,
    status: &dyn Fn(&str) -> &'static str,
    response: &dyn Fn(&str, &mut dyn Write) -> std::io::Result<()>,
    heads: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    // If a part of the request is not read, closing the connection may discard the response.
    std::io::copy(&mut reader.take(length.unwrap_or(0)), &mut std::io::sink())?;
    heads.lock().unwrap().push(head);
    let status = status(&path);
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n")?;
    response(&path, &mut stream)
}
