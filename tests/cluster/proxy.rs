//! A proxy in front of an API server that counts every request and, when asked to, does what networks do. It speaks
//! plain HTTP on loopback, on a free port, and TLS to the API server; whoever calls keeps his token.

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

use crate::faults::{Fault, Faults, Seen, Which};
use crate::upstream::{AnswerBody, Broken, Upstream};

/// On which side of passing a request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    /// Whether to refuse, and who wants to know that it is so.
    orders: mpsc::UnboundedSender<(bool, std::sync::mpsc::Sender<()>)>,
}

/// What the proxy's thread and the cases both see.
struct Shared {
    state: Mutex<State>,
    upstream: Upstream,
}

#[derive(Default)]
struct State {
    seen: Vec<Seen>,
    faults: Faults,
    stop: Option<StopAt>,
    /// The request was there: nothing passes any more.
    stopped: bool,
}

struct StopAt {
    number: usize,
    when: When,
    reached: Option<oneshot::Sender<Seen>>,
}

/// Tells when the request was reached at which everything is to stop.
pub(crate) struct Stop(oneshot::Receiver<Seen>);

impl Stop {
    /// Waits for it. `None`: it took longer than this.
    pub(crate) fn wait(self, at_most: Duration) -> Option<Seen> {
        crate::call::block_on(async { tokio::time::timeout(at_most, self.reached()).await.ok().flatten() })
    }

    /// Waits for it, for ever. `None`: the proxy was reset.
    pub(crate) async fn reached(self) -> Option<Seen> {
        self.0.await.ok()
    }
}

impl Proxy {
    /// Stands in front of the API server of a kubeconfig.
    pub(crate) fn start(kubeconfig: &Path) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), upstream: Upstream::new(kubeconfig) });
        let socket = bound(0);
        let port = socket.local_addr().unwrap().port();
        let (orders, inbox) = mpsc::unbounded_channel();
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || crate::call::block_on(serve(for_thread, socket, port, inbox)));
        Self { port, shared, orders }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Something goes wrong so many times (`usize::MAX`: always) with requests of this kind.
    pub(crate) fn fault(&self, which: Which, times: usize, what: Fault) {
        self.shared.state().faults.add(which, times, what);
    }

    /// Nothing goes wrong any more; the count goes on.
    pub(crate) fn clear_faults(&self) {
        self.shared.state().faults.clear();
    }

    /// Every request since the last reset, in the order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// When that request arrives or was passed on, it and all that arrive later are held until the next reset; meant for
    /// cases that end the client at this very point.
    pub(crate) fn stop_at(&self, number: usize, when: When) -> Stop {
        let (reached, receiver) = oneshot::channel();
        self.shared.state().stop = Some(StopAt { number, when, reached: Some(reached) });
        Stop(receiver)
    }

    /// Refuses all connections and cuts those that there are, or takes new ones again.
    pub(crate) fn refuse(&self, refuse: bool) {
        let (done, wait) = std::sync::mpsc::channel();
        self.orders.send((refuse, done)).unwrap();
        wait.recv().unwrap();
    }

    /// No faults, no connections, no stop, and the next request is number 1.
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

    /// Counts a request; says what is to happen to it.
    fn meet(&self, request: &Request<Incoming>) -> (Seen, Option<Fault>) {
        let mut state = self.state();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let seen = Seen { number: state.seen.len() + 1, method: request.method().to_string(), path };
        state.seen.push(seen.clone());
        let fault = state.faults.strike(&seen);
        (seen, fault)
    }

    /// Never returns if everything is to stop here, or did before.
    async fn may_pass(&self, seen: &Seen, at: When) {
        if self.state().stops(seen, at) {
            pending::<()>().await;
        }
    }
}

impl State {
    fn stops(&mut self, seen: &Seen, at: When) -> bool {
        if let Some(stop) = &mut self.stop
            && (stop.number, stop.when) == (seen.number, at)
            && let Some(reached) = stop.reached.take()
        {
            self.stopped = true;
            let _ = reached.send(seen.clone());
            return true;
        }
        // What was on its way already still arrives.
        self.stopped && at == When::Before
    }
}

/// A socket that is bound but does not listen refuses connections, and keeps its port from everybody else.
fn bound(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    // The next one is bound while this one is still there: any connection on this machine could take the port otherwise.
    socket.set_reuseport(true).unwrap();
    socket.bind(([127, 0, 0, 1], port).into()).unwrap();
    socket
}

/// Listens and refuses in turn, as ordered, until nobody gives orders any more.
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

/// That an order was carried out.
fn tell(who: Option<std::sync::mpsc::Sender<()>>) {
    if let Some(who) = who {
        let _ = who.send(());
    }
}

async fn serve_connection(shared: Arc<Shared>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| handle(Arc::clone(&shared), request));
    // A connection ends with an error whenever it was cut: that is what it is for.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An error closes the connection without an answer.
async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<AnswerBody>, Broken> {
    let (seen, fault) = shared.meet(&request);
    shared.may_pass(&seen, When::Before).await;
    match &fault {
        Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
        Some(Fault::Cut) => return Err(Broken),
        Some(Fault::Answer(reply)) => return Ok(AnswerBody::reply(reply)),
        _ => {}
    }
    let answer = shared.upstream.pass_on(request).await?;
    let answer = match fault {
        Some(Fault::CutAfter) => AnswerBody::discard(answer).await.and(Err(Broken)),
        Some(Fault::AnswerAfter(reply)) => {
            AnswerBody::discard(answer).await.map(|()| AnswerBody::reply(&reply))
        }
        Some(Fault::CutBody) => AnswerBody::half(answer, seen.path.contains("watch=")).await,
        _ => Ok(answer.map(AnswerBody::Streamed)),
    };
    shared.may_pass(&seen, When::After).await;
    answer
}
