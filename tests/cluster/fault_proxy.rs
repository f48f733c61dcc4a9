//! A proxy in front of an API server that counts requests and injects faults. It listens with plain HTTP on a free
//! loopback port, uses TLS to the API server, and forwards the client's token.

use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::fault_rules::{Fault, Faults, RequestMatcher, SeenRequest};
use crate::upstream::{Broken, ResponseBody, Upstream};

/// Before or after a request is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    /// Whether to refuse connections, and whom to notify.
    orders: mpsc::UnboundedSender<(bool, std::sync::mpsc::Sender<()>)>,
}

/// The state that the proxy's thread and the cases share.
struct Shared {
    state: Mutex<State>,
    upstream: Upstream,
}

#[derive(Default)]
struct State {
    seen: Vec<SeenRequest>,
    faults: Faults,
    stop: Option<StopAt>,
    /// The request arrived: nothing is forwarded any more.
    stopped: bool,
    in_flight: usize,
    most_in_flight: usize,
}

struct StopAt {
    number: usize,
    when: When,
    reached: Option<oneshot::Sender<SeenRequest>>,
}

/// Signals that a chosen request was reached.
pub(crate) struct Stop(oneshot::Receiver<SeenRequest>);

impl Stop {
    /// Waits for the request. Returns `None` after a timeout.
    pub(crate) fn wait(self, at_most: Duration) -> Option<SeenRequest> {
        crate::requests::block_on(async {
            tokio::time::timeout(at_most, self.reached()).await.ok().flatten()
        })
    }

    /// Waits for the request without a timeout. Returns `None` if the proxy was reset.
    pub(crate) async fn reached(self) -> Option<SeenRequest> {
        self.0.await.ok()
    }
}

impl Proxy {
    /// Starts a proxy for the API server of a kubeconfig.
    pub(crate) fn start(kubeconfig: &Path) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), upstream: Upstream::new(kubeconfig) });
        let socket = bound(0);
        let port = socket.local_addr().unwrap().port();
        let (orders, inbox) = mpsc::unbounded_channel();
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || crate::requests::block_on(serve(for_thread, socket, port, inbox)));
        Self { port, shared, orders }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Injects a fault into matching requests, a number of times (`usize::MAX`: always).
    pub(crate) fn fault(&self, which: RequestMatcher, times: usize, what: Fault) {
        self.shared.state().faults.add(which, times, what);
    }

    /// Removes all faults and keeps counting.
    pub(crate) fn clear_faults(&self) {
        self.shared.state().faults.clear();
    }

    /// Returns every request since the last reset, in order of arrival.
    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.shared.state().seen.clone()
    }

    /// Returns how many requests were in flight at the same time since the last reset.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.shared.state().most_in_flight
    }

    /// Holds a request and all later ones until the next reset, when it arrives or was forwarded. For cases that
    /// interrupt the client at this point.
    pub(crate) fn stop_at(&self, number: usize, when: When) -> Stop {
        let (reached, receiver) = oneshot::channel();
        self.shared.state().stop = Some(StopAt { number, when, reached: Some(reached) });
        Stop(receiver)
    }

    /// Refuses all connections and closes open ones, or accepts connections again.
    pub(crate) fn refuse(&self, refuse: bool) {
        let (done, wait) = std::sync::mpsc::channel();
        self.orders.send((refuse, done)).unwrap();
        wait.recv().unwrap();
    }

    /// Removes faults, connections and the stop. The next request is number 1.
    pub(crate) fn reset(&self) {
        self.refuse(true);
        *self.shared.state() = State::default();
        self.refuse(false);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Counts a request and returns its fault.
    fn meet(&self, request: &Request<Incoming>) -> (SeenRequest, Option<Fault>) {
        let mut state = self.state();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let seen = SeenRequest { number: state.seen.len() + 1, method: request.method().to_string(), path };
        state.seen.push(seen.clone());
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        let fault = state.faults.strike(&seen);
        (seen, fault)
    }

    /// Never returns if requests are held here.
    async fn may_pass(&self, seen: &SeenRequest, at: When) {
        if self.state().stops(seen, at) {
            pending::<()>().await;
        }
    }
}

impl State {
    fn stops(&mut self, seen: &SeenRequest, at: When) -> bool {
        if let Some(stop) = &mut self.stop
            && (stop.number, stop.when) == (seen.number, at)
            && let Some(reached) = stop.reached.take()
        {
            self.stopped = true;
            let _ = reached.send(seen.clone());
            return true;
        }
        // Requests that are in flight still arrive.
        self.stopped && at == When::Before
    }
}

/// A socket that is bound but does not listen refuses connections, and keeps the port.
fn bound(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    // The next socket is bound while this one exists, so that no other connection on this machine takes the port.
    socket.set_reuseport(true).unwrap();
    socket.bind(([127, 0, 0, 1], port).into()).unwrap();
    socket
}

/// Listens and refuses in turn, as ordered, until the proxy is dropped.
async fn serve(
    shared: Arc<Shared>,
    mut socket: TcpSocket,
    port: u16,
    mut orders: mpsc::UnboundedReceiver<(bool, std::sync::mpsc::Sender<()>)>,
) {
    let mut waiting: Option<std::sync::mpsc::Sender<()>> = None;
    loop {
        let listener = socket.listen(1024).unwrap();
        tell(waiting.take());
        let mut connections = JoinSet::new();
        let done = loop {
            tokio::select! {
                connection = listener.accept() => {
                    if let Ok((stream, _)) = connection {
                        connections.spawn(serve_connection(Arc::clone(&shared), stream));
                    }
                }
                Some(_) = connections.join_next() => {}
                order = orders.recv() => match order {
                    Some((true, done)) => break done,
                    Some((false, done)) => tell(Some(done)),
                    None => return,
                }
            }
        };
        connections.shutdown().await;
        socket = bound(port);
        drop::<TcpListener>(listener);
        tell(Some(done));
        while waiting.is_none() {
            match orders.recv().await {
                Some((true, done)) => tell(Some(done)),
                Some((false, done)) => waiting = Some(done),
                None => return,
            }
        }
    }
}

/// Confirms that an order was carried out.
fn tell(who: Option<std::sync::mpsc::Sender<()>>) {
    if let Some(who) = who {
        let _ = who.send(());
    }
}

async fn serve_connection(shared: Arc<Shared>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| handle(Arc::clone(&shared), request));
    // A connection that was cut ends with an error.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An error closes the connection without a response.
async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<ResponseBody>, Broken> {
    let (seen, fault) = shared.meet(&request);
    let response = respond(&shared, request, seen, fault).await;
    let mut state = shared.state();
    state.in_flight = state.in_flight.saturating_sub(1);
    response
}

async fn respond(
    shared: &Shared,
    request: Request<Incoming>,
    seen: SeenRequest,
    fault: Option<Fault>,
) -> Result<Response<ResponseBody>, Broken> {
    shared.may_pass(&seen, When::Before).await;
    match &fault {
        Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
        Some(Fault::Cut) => return Err(Broken),
        Some(Fault::Respond(reply)) => return Ok(ResponseBody::reply(reply)),
        _ => {}
    }
    let response = shared.upstream.pass_on(request).await?;
    let response = match fault {
        Some(Fault::CutAfter) => ResponseBody::discard(response).await.and(Err(Broken)),
        Some(Fault::RespondAfter(reply)) => {
            ResponseBody::discard(response).await.map(|()| ResponseBody::reply(&reply))
        }
        Some(Fault::CutBody) => ResponseBody::half(response, seen.path.contains("watch=")).await,
        _ => Ok(response.map(ResponseBody::Streamed)),
    };
    shared.may_pass(&seen, When::After).await;
    response
}
