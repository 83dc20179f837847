//! One request: sent, read until the server says it is over, and asked again where that is safe.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode, redirect};
use sluice_core::{
    BodyEnd, BuiltRequest, ChatRequest, Endpoint, Failure, HttpAnswer, HttpRequest, ModelCatalog, Outcome, Output,
    Refresh, ResponseStream, Secrets, StreamOptions, Transport, build_request, retry_delay_ms,
};
use tokio::time::{Instant, sleep, timeout};

use crate::ApiKey;

/// The most that is read of a response that reports an error.
const MAX_ERROR_BODY: usize = 64 << 10;
/// The most that is read of a whole answer, from a server that doesn't stream.
const MAX_JSON_BODY: usize = 64 << 20;
/// What may follow the last event before the body ends, in time and in bytes. Usually that is `[DONE]`, at once.
const LINGER: Duration = Duration::from_millis(100);
const MAX_LINGER: usize = 64 << 10;
/// The most that is read of a list of models.
const MAX_LIST_BODY: usize = 8 << 20;

#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
    key: Option<ApiKey>,
    /// Servers quote the key they refuse, and others log what they got: it is taken out of whatever they say.
    secrets: Secrets,
    timeouts: Timeouts,
}

/// How long a client waits before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From the request to the response's headers.
    pub headers: Duration,
    /// Between two pieces of a body. Comments count, so that a server can say that it is still working.
    pub idle: Duration,
    /// Between two outputs of a stream, and for a whole answer that isn't a stream: the longest that a server can keep a
    /// request alive with nothing but comments.
    pub output: Duration,
    /// From the request to the last byte of a small response: a list, or an error.
    pub small: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            headers: Duration::from_mins(2),
            idle: Duration::from_mins(5),
            output: Duration::from_hours(1),
            small: Duration::from_mins(3),
        }
    }
}

/// What a request says while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    Output(Output),
    /// The bytes behind the outputs, for captures.
    Bytes(&'a [u8]),
    /// Nothing was given yet, and the request is made again after a while.
    Retrying {
        failure: &'a Failure,
        delay: Duration,
        attempt: u32,
    },
}

/// How a request ended.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub attempts: u32,
}

impl Client {
    pub fn new(endpoint: Endpoint, key: Option<ApiKey>, timeouts: Timeouts) -> Result<Self, String> {
        let http = http(&endpoint, timeouts);
        let http = http.build().map_err(|error| format!("cannot set up HTTP: {error}"))?;
        let secrets = key.as_ref().map(ApiKey::secrets).unwrap_or_default();
        Ok(Self { http, endpoint, key, secrets, timeouts })
    }

    /// The key, if there is one: for whoever shows or keeps what a server sends.
    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a chat and reports what comes, until the answer is over or `cancel` completes. Dropping the future closes
    /// the connection as well.
    ///
    /// The key is masked in notes, failures and the outcome. Parts and bytes are what the server sent: they are the
    /// caller's to show, and a tool must get the input that the model gave.
    pub async fn respond(
        &self,
        chat: &ChatRequest,
        cancel: impl Future<Output = ()>,
        on_event: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Answer {
        let built = build_request(chat, &self.endpoint);
        for note in built.notes.clone() {
            on_event(Event::Output(Output::Note(note)));
        }
        let cancel = pin!(cancel);
        let cancel = Cancel(Mutex::new((cancel, false)));
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut stream =
                ResponseStream::new(StreamOptions { tool_names: built.tool_names.clone(), ..StreamOptions::default() });
            let end = tokio::select! {
                biased;
                () = cancel.wait() => End::Body(BodyEnd::Cancelled),
                end = self.attempt(&built, &mut stream, &cancel, on_event) => end,
            };
            let mut outcome = match end {
                End::Body(end) => {
                    let (outputs, outcome) = stream.finish(end);
                    for output in outputs {
                        on_event(Event::Output(self.masked(output)));
                    }
                    outcome.with_host(end, &self.endpoint.origin)
                }
                End::Failed(failure) => Outcome::refused(failure),
            };
            self.secrets.mask_outcome(&mut outcome);
            let delay = outcome
                .error
                .as_ref()
                .and_then(|failure| retry_delay_ms(failure, attempts, !outcome.retry_safe, fastrand::f64()));
            let (Some(delay), Some(failure)) = (delay, &outcome.error) else {
                return Answer { outcome, attempts };
            };
            let delay = Duration::from_millis(delay);
            on_event(Event::Retrying { failure, delay, attempt: attempts + 1 });
            tokio::select! {
                biased;
                () = cancel.wait() => {
                    let (_, outcome) = ResponseStream::new(StreamOptions::default()).finish(BodyEnd::Cancelled);
                    return Answer { outcome, attempts };
                }
                () = sleep(delay) => {}
            }
        }
    }

    /// Asks for the list of models; the catalog takes what is new and keeps what it knows if nothing useful comes.
    pub async fn refresh_models(&self, catalog: &mut ModelCatalog) -> Refresh {
        match self.get(&catalog.list_request()).await {
            Ok(answer) => catalog.list_answer(&answer, now()),
            Err(failure) => catalog.list_failed(&failure, now()),
        }
    }

    /// Asks who serves a model, unless the catalog knows.
    pub async fn refresh_endpoints(&self, catalog: &mut ModelCatalog, id: &str) -> Result<Refresh, Failure> {
        match catalog.endpoints_request(id, now()) {
            Some(request) => Ok(catalog.endpoints_answer(id, &self.get(&request).await?, now())),
            None => Ok(Refresh::Unchanged),
        }
    }

    /// One of the core's own requests, answered whole, whatever the status.
    async fn get(&self, request: &HttpRequest) -> Result<HttpAnswer, Failure> {
        let whole = async {
            let response = self.head(self.request(request)).await?;
            let mut answer = head_of(&response);
            answer.body = text(self.read(response, MAX_LIST_BODY).await?);
            // Lists are kept: what is masked here is nowhere in the file.
            self.secrets.mask_answer(&mut answer);
            Ok(answer)
        };
        match timeout(self.timeouts.small, whole).await {
            Ok(answer) => answer,
            Err(_) => Err(self.broken(Transport::HeadersTimeout)),
        }
    }

    fn request(&self, request: &HttpRequest) -> reqwest::RequestBuilder {
        let mut builder = if request.method == "POST" {
            self.http.post(&request.url).body(request.body.clone())
        } else {
            self.http.get(&request.url)
        };
        for (name, value) in &request.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                builder = builder.header(name, value);
            }
        }
        match self.bearer() {
            Some(bearer) => builder.header(AUTHORIZATION, bearer),
            None => builder,
        }
    }

    async fn attempt(
        &self,
        built: &BuiltRequest,
        stream: &mut ResponseStream,
        cancel: &Cancel<'_, impl Future<Output = ()>>,
        on_event: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> End {
        let response = match self.head(self.request(&built.request)).await {
            Ok(response) => response,
            Err(failure) => return End::Failed(failure),
        };
        if !response.status().is_success() {
            return End::Failed(self.refusal(response).await);
        }
        match content_type(&response).as_str() {
            "text/html" => End::Failed(self.refusal(response).await),
            "application/json" => self.read_whole(response, stream, on_event).await,
            // Whatever else it calls itself, the core will tell whether it is a stream.
            _ => self.read_stream(response, stream, cancel, on_event).await,
        }
    }

    async fn read_stream(
        &self,
        mut response: Response,
        stream: &mut ResponseStream,
        cancel: &Cancel<'_, impl Future<Output = ()>>,
        on_event: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> End {
        // They are slices of the connection's first buffer, which would be kept as long as they are.
        response.headers_mut().clear();
        let mut last_output = Instant::now();
        // At the terminal event the answer is over, whether or not the server closes.
        while !stream.is_terminal() {
            let patience = self.timeouts.output.saturating_sub(last_output.elapsed());
            if patience.is_zero() {
                return End::Body(BodyEnd::IdleTimeout);
            }
            match timeout(patience.min(self.timeouts.idle), response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    on_event(Event::Bytes(&bytes));
                    for output in stream.push(&bytes) {
                        last_output = Instant::now();
                        // Whoever hears a part may cancel there, with more of the same bytes to come.
                        if cancel.is_requested().await {
                            return End::Body(BodyEnd::Cancelled);
                        }
                        on_event(Event::Output(self.masked(output)));
                    }
                }
                Ok(Ok(None)) => return End::Body(BodyEnd::Eof),
                Ok(Err(_)) => return End::Body(BodyEnd::Broken),
                Err(_) => return End::Body(BodyEnd::IdleTimeout),
            }
        }
        // A connection whose body was read to its end can serve the next request; any other is closed.
        let mut rest = 0;
        let _ = timeout(LINGER, async {
            while let Ok(Some(bytes)) = response.chunk().await
                && rest < MAX_LINGER
            {
                rest += bytes.len();
            }
        })
        .await;
        End::Body(BodyEnd::Eof)
    }

    /// A server that does not stream answers with the whole response, or with an error, as JSON.
    async fn read_whole(
        &self,
        response: Response,
        stream: &mut ResponseStream,
        on_event: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> End {
        let status = response.status().as_u16();
        let body = match timeout(self.timeouts.output, self.read(response, MAX_JSON_BODY)).await {
            Ok(Ok(body)) => text(body),
            Ok(Err(failure)) => return End::Failed(failure),
            Err(_) => return End::Failed(self.broken(Transport::Idle)),
        };
        on_event(Event::Bytes(body.as_bytes()));
        let Some(frame) = sluice_core::as_stream(&body) else {
            return End::Failed(Failure::from_http(&HttpAnswer { status, body, ..HttpAnswer::default() }, now()));
        };
        for output in stream.push(frame.as_bytes()) {
            on_event(Event::Output(self.masked(output)));
        }
        End::Body(BodyEnd::Eof)
    }

    async fn head(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        match timeout(self.timeouts.headers, request.send()).await {
            Ok(Ok(response)) if response.status() == StatusCode::NOT_MODIFIED => Ok(response),
            Ok(Ok(response)) if response.status().is_redirection() => Err(self.broken(Transport::Redirect)),
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(self.broken(Transport::Connect)),
            Ok(Err(_)) => Err(self.broken(Transport::Broken)),
            Err(_) => Err(self.broken(Transport::HeadersTimeout)),
        }
    }

    async fn refusal(&self, response: Response) -> Failure {
        let mut answer = head_of(&response);
        let body = timeout(self.timeouts.small, self.read(response, MAX_ERROR_BODY)).await;
        // The status says enough if the body doesn't come.
        answer.body = text(body.unwrap_or(Ok(Vec::new())).unwrap_or_default());
        self.secrets.mask_answer(&mut answer);
        Failure::from_http(&answer, now())
    }

    async fn read(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        loop {
            match timeout(self.timeouts.idle, response.chunk()).await {
                Ok(Ok(Some(bytes))) if body.len() < limit => body.extend_from_slice(&bytes),
                Ok(Ok(_)) => break,
                Ok(Err(_)) => return Err(self.broken(Transport::Broken)),
                Err(_) => return Err(self.broken(Transport::Idle)),
            }
        }
        body.truncate(limit);
        Ok(body)
    }

    fn masked(&self, mut output: Output) -> Output {
        if let Output::Note(note) = &mut output {
            self.secrets.mask_note(note);
        }
        output
    }

    fn bearer(&self) -> Option<HeaderValue> {
        let bearer = self.key.as_ref()?.bearer_for(&self.endpoint.origin)?;
        let mut value = HeaderValue::try_from(bearer.as_str()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    fn broken(&self, transport: Transport) -> Failure {
        Failure::from_transport(transport, &self.endpoint.origin)
    }
}

fn http(endpoint: &Endpoint, timeouts: Timeouts) -> reqwest::ClientBuilder {
    // The process may have chosen a provider already; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .connect_timeout(timeouts.connect)
        // The key must not follow a redirect, and the body cannot be sent twice.
        .redirect(redirect::Policy::none())
        // The core decides what is tried again, and how often.
        .retry(reqwest::retry::never())
        .user_agent(concat!("sluice/", env!("CARGO_PKG_VERSION")));
    // Plain HTTP is allowed on this machine because it doesn't leave it. A proxy would see the key and the prompts.
    if endpoint.is_loopback() { http.no_proxy() } else { http }
}

/// The caller's wish to stop. It is asked after in two places, and a future must not be polled again once it is done.
struct Cancel<'a, F>(Mutex<(Pin<&'a mut F>, bool)>);

impl<F: Future<Output = ()>> Cancel<'_, F> {
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut cancel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (future, done) = &mut *cancel;
        *done = *done || future.as_mut().poll(context).is_ready();
        if *done { Poll::Ready(()) } else { Poll::Pending }
    }

    async fn wait(&self) {
        poll_fn(|context| self.poll(context)).await;
    }

    async fn is_requested(&self) -> bool {
        poll_fn(|context| Poll::Ready(self.poll(context).is_ready())).await
    }
}

/// How one attempt ended.
enum End {
    Body(BodyEnd),
    Failed(Failure),
}

/// Status and headers; the body is still to be read.
fn head_of(response: &Response) -> HttpAnswer {
    let header =
        |(name, value): (&HeaderName, &HeaderValue)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()));
    let headers = response.headers().iter().filter_map(header).collect();
    HttpAnswer { status: response.status().as_u16(), headers, body: String::new() }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Without a copy, unless there is something wrong with it.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use sluice_core::FailureKind;
    use tokio::net::TcpListener;
    use tokio::sync::Notify;

    use super::{ChatRequest, Client, Endpoint, Event, Secrets, Timeouts, http};

    /// Only HTTP/2 can refuse a request, and without TLS the client speaks HTTP/1 unless it is told otherwise.
    #[tokio::test]
    async fn a_refused_stream_is_sent_again_by_the_retry_rule_alone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint::parse(&format!("http://{}/v1", listener.local_addr().unwrap())).unwrap();
        let refused = Arc::new(AtomicU32::default());
        let count = Arc::clone(&refused);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    let mut connection = h2::server::handshake(socket).await.unwrap();
                    while let Some(Ok((_, mut respond))) = connection.accept().await {
                        count.fetch_add(1, Ordering::SeqCst);
                        respond.send_reset(h2::Reason::REFUSED_STREAM);
                    }
                });
            }
        });
        let timeouts = Timeouts::default();
        let http = http(&endpoint, timeouts).http2_prior_knowledge().build().unwrap();
        let client = Client { http, endpoint, key: None, secrets: Secrets::default(), timeouts };
        let (cancel, mut kinds) = (Notify::new(), Vec::new());
        let answer = client
            .respond(&ChatRequest::default(), cancel.notified(), &mut |event| {
                if let Event::Retrying { failure, .. } = event {
                    kinds.push(failure.kind);
                    cancel.notify_one();
                }
            })
            .await;
        assert_eq!((answer.attempts, kinds), (1, vec![FailureKind::Network]));
        assert_eq!(refused.load(Ordering::SeqCst), 1);
    }
}
