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
    Refresh, ResponseStream, StreamOptions, Transport, build_request, retry_delay_ms,
};
use tokio::time::{sleep, timeout};

use crate::ApiKey;

/// Of an answer that is no stream this much is read.
const MAX_ERROR_BODY: usize = 64 << 10;
/// A whole answer, from a server that does not stream.
const MAX_JSON_BODY: usize = 64 << 20;
/// What may follow the last event before the body ends, in time and in bytes. Usually that is `[DONE]`, at once.
const LINGER: Duration = Duration::from_millis(100);
const MAX_LINGER: usize = 64 << 10;
/// The list of models.
const MAX_LIST_BODY: usize = 8 << 20;

#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
    key: Option<ApiKey>,
    timeouts: Timeouts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the head of the answer.
    pub headers: Duration,
    /// Between bytes of the body; comments count, so a server that says "still here" is not given up.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(30), headers: Duration::from_mins(2), idle: Duration::from_mins(5) }
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
        // The process may have chosen a provider already; any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(timeouts.connect)
            // The key must not follow a redirect, and the body cannot be sent twice.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("sluice/", env!("CARGO_PKG_VERSION")));
        // Plain HTTP is allowed on this machine because it doesn't leave it. A proxy would see the key and the prompts.
        let http = if endpoint.is_loopback() { http.no_proxy() } else { http };
        let http = http.build().map_err(|error| format!("cannot set up HTTP: {error}"))?;
        Ok(Self { http, endpoint, key, timeouts })
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a chat and reports what comes, until the answer is over or `cancel` completes. Dropping the future closes
    /// the connection as well.
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
            let outcome = match end {
                End::Body(end) => {
                    let (outputs, outcome) = stream.finish(end);
                    for output in outputs {
                        on_event(Event::Output(output));
                    }
                    outcome.with_host(end, &self.endpoint.origin)
                }
                End::Failed(failure) => Outcome::refused(failure),
            };
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
        let response = self.head(self.request(request)).await?;
        let mut answer = head_of(&response);
        answer.body = String::from_utf8_lossy(&self.read(response, MAX_LIST_BODY).await?).into_owned();
        Ok(answer)
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
        // At the terminal event the answer is over, whether or not the server closes.
        while !stream.is_terminal() {
            match timeout(self.timeouts.idle, response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    on_event(Event::Bytes(&bytes));
                    for output in stream.push(&bytes) {
                        // Whoever hears a part may cancel there, with more of the same bytes to come.
                        if cancel.is_requested().await {
                            return End::Body(BodyEnd::Cancelled);
                        }
                        on_event(Event::Output(output));
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
        let body = match self.read(response, MAX_JSON_BODY).await {
            Ok(body) => String::from_utf8_lossy(&body).into_owned(),
            Err(failure) => return End::Failed(failure),
        };
        on_event(Event::Bytes(body.as_bytes()));
        let Some(frame) = sluice_core::as_stream(&body) else {
            return End::Failed(Failure::from_http(&HttpAnswer { status, body, ..HttpAnswer::default() }, now()));
        };
        for output in stream.push(frame.as_bytes()) {
            on_event(Event::Output(output));
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
        let body = self.read(response, MAX_ERROR_BODY).await.unwrap_or_default();
        answer.body = String::from_utf8_lossy(&body).into_owned();
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

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
