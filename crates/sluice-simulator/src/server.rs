//! Serves the responder on sockets: `Server` for a program that only serves, [`Simulator`] for a program that needs a
//! gateway in addition to its own work.
//!
//! It listens only on 127.0.0.1, accepts only host names of this machine (a web page can make any other name point
//! here), and never sends a header that would let a page read an answer.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{FromRequestParts, Request as HttpRequest, WebSocketUpgrade};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::{Domain, Socket, Type};

use crate::http::{Opening, Reply, Request};
use crate::problem::Problem;
use crate::respond::{Options, Responder};

mod connection;
mod simulator;
mod stream;
mod web_socket;

pub use simulator::Simulator;
pub use stream::Streams;

use connection::{Connection, Control};
use stream::{Open, Tally};

/// The maximum size of a body, which is more than any request the protocol allows.
const LARGEST_BODY: usize = 64 * 1024 * 1024;
/// The maximum number of recorded requests.
const MAX_RECORDED: usize = 10_000;
/// The maximum size of all recorded bodies.
const MAX_RECORDED_BYTES: usize = 64 << 20;

/// The configuration of a server. By default, it listens on a free port.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The port to listen on, or 0 for any free port.
    pub port: u16,
    pub options: Options,
    /// Called for every request, with the status of the response (0 if there is none).
    pub on_request: Option<fn(&Request, u16)>,
    /// Whether to record requests for [`Simulator::requests`], at most 10,000 and 64 MiB. This is for tests; otherwise
    /// no part of a request is kept after its answer.
    pub record: bool,
}

impl Config {
    /// Returns the default configuration with recording enabled.
    pub fn recording() -> Self {
        Self { record: true, ..Self::default() }
    }
}

/// A server that is bound to its port but not running yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    port: u16,
    responder: Responder,
    on_request: Option<fn(&Request, u16)>,
    connections: AtomicUsize,
    /// `None` if requests aren't recorded.
    requests: Option<Mutex<Record>>,
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Record {
    requests: Vec<Request>,
    /// The total size of all bodies.
    bytes: usize,
}

/// Serves on the caller's runtime until an error occurs.
pub async fn serve(config: Config) -> io::Result<()> {
    Server::bind(config)?.run().await
}

impl Server {
    pub fn bind(config: Config) -> io::Result<Self> {
        let listener = listen(config.port)?;
        let shared = Shared {
            port: listener.local_addr()?.port(),
            responder: Responder::new(config.options),
            on_request: config.on_request,
            connections: AtomicUsize::default(),
            requests: config.record.then(Mutex::default),
            tally: Arc::default(),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Returns the base URL, including `/v1`.
    pub fn url(&self) -> String {
        self.shared.url()
    }

    /// Serves until an error occurs.
    pub async fn run(self) -> io::Result<()> {
        let mut listener = tokio::net::TcpListener::from_std(self.listener)?;
        loop {
            // axum's `accept` waits if the process has no sockets left.
            let (stream, _) = Listener::accept(&mut listener).await;
            self.shared.connections.fetch_add(1, Ordering::SeqCst);
            let connection = Connection::new(stream);
            let (shared, control) = (Arc::clone(&self.shared), connection.control());
            let answer = service_fn(move |request: hyper::Request<Incoming>| {
                let answer = handle(Arc::clone(&shared), control.clone(), request.map(Body::new));
                async { Ok::<_, Infallible>(answer.await) }
            });
            // Only HTTP/1 is supported: detecting HTTP/2 would double the memory of every connection.
            let serving = http1::Builder::new().serve_connection(TokioIo::new(connection), answer).with_upgrades();
            tokio::spawn(serving);
        }
    }
}

/// Binds like [`TcpListener::bind`], but with a queue for a thousand simultaneous clients. With a full queue, the
/// system lets a client retry only after a second.
fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    // On other systems, this would allow two servers to share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    socket.listen(1024)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

impl Shared {
    fn url(&self) -> String {
        format!("http://{}/v1", SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))
    }

    fn record(&self, request: Request) {
        let Some(record) = &self.requests else { return };
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = record.bytes + request.body.len();
        if record.requests.len() < MAX_RECORDED && bytes <= MAX_RECORDED_BYTES {
            record.bytes = bytes;
            record.requests.push(request);
        }
    }

    fn log(&self, request: &Request, status: u16) {
        if let Some(on_request) = self.on_request {
            on_request(request, status);
        }
    }

    /// Checks that a request was meant for this server, and wasn't sent by a web page or under another host name.
    fn admit(&self, request: &Request) -> Result<(), Problem> {
        let forbidden = |status, message: &str| Problem { message: message.into(), ..Problem::of_status(status) };
        let ours = |authority: &str| {
            let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
            ["127.0.0.1", "localhost", "[::1]"].contains(&host) && port == self.port.to_string()
        };
        if !request.header("host").is_some_and(ours) {
            return Err(forbidden(421, "This server answers only to 127.0.0.1 and localhost, with its port"));
        }
        match request.header("origin") {
            Some(origin) if !origin.strip_prefix("http://").is_some_and(ours) => {
                Err(forbidden(403, "This server is not for web pages"))
            }
            _ => Ok(()),
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

async fn handle(shared: Arc<Shared>, control: Control, request: HttpRequest) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let mut request = plain(&parts);
    if let Err(problem) = shared.admit(&request) {
        shared.log(&request, problem.status);
        return send(problem.reply(), &control, shared.tally.open());
    }
    let upgrade = request.route() == "/v1/responses" && request.header("upgrade").is_some();
    if upgrade && let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        if let Err(problem) = shared.responder.check_key(&request) {
            return send(problem.reply(), &control, shared.tally.open());
        }
        shared.log(&request, 101);
        return upgrade.on_upgrade(move |socket| web_socket::run(shared, control, request, socket));
    }
    let Ok(body) = axum::body::to_bytes(body, LARGEST_BODY).await else {
        return send(Problem::of_status(413).reply(), &control, shared.tally.open());
    };
    // The body is copied, because it is a slice of the connection's buffer, which would stay allocated as long as the
    // request.
    request.body = body.to_vec();
    drop((parts, body));
    let reply = shared.responder.respond(&request, now_ms());
    shared.log(&request, if reply.opening == Opening::Answer { reply.status } else { 0 });
    shared.record(request);
    // The reply is counted from here on: if the client disconnects before the headers, this future is dropped.
    let open = shared.tally.open();
    if reply.head_delay_ms > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(reply.head_delay_ms)).await;
    }
    match reply.opening {
        Opening::Answer => {}
        Opening::Silence => std::future::pending().await,
        Opening::Reset => control.reset(),
    }
    send(reply, &control, open)
}

fn plain(parts: &request::Parts) -> Request {
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        headers: parts.headers.iter().map(header).collect(),
        body: Vec::new(),
    }
}

fn send(reply: Reply, control: &Control, open: Open) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &reply.headers {
        // A fault may ask for a header that isn't valid in HTTP.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    *response.body_mut() = Body::from_stream(stream::body(reply.chunks, reply.end, control.clone(), open));
    response
}
