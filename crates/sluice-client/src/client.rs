//! The HTTP client: sockets and time for the core's exchanges, and the requests for lists of models.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Response, redirect};
use sluice_core::{
    Action, BodyRule, BuiltRequest, ChatRequest, ConnectionError, Drain, Endpoint, Exchange, ExchangeOptions, Failure,
    HttpRequest, HttpResponse, KeyCheck, ModelCatalog, Output, Parameter, Refresh, Report, Secrets, StreamOptions,
    Transport, build_request, check_key,
};
use tokio::time::{Instant, sleep, timeout};

use crate::cause::cause_code;
use crate::{ApiKey, SetupError};

/// Why there is no response, and the code of the cause for [`connection_cause`](sluice_core::connection_cause).
pub(crate) type NoResponse = (Transport, Option<&'static str>);

/// A client for one endpoint. A clone shares its connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
    key: Option<ApiKey>,
    /// Masks the key in everything that a server says, because servers quote keys that they refuse.
    secrets: Secrets,
    timeouts: Timeouts,
    /// By model, the parameters that the server refused. Clones share it.
    refused: Arc<Mutex<BTreeMap<String, Vec<Parameter>>>>,
    /// Where the API is, if it isn't at the endpoint's base URL. Clones share it.
    elsewhere: Arc<Mutex<Option<String>>>,
    /// Sent with every request.
    headers: BTreeMap<String, String>,
}

/// How long a client waits before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The time to establish a connection.
    pub connect: Duration,
    /// The time from the request to the response's headers.
    pub headers: Duration,
    /// The time between two chunks of a body. Comments count, so that a server can signal that it is still working.
    pub idle: Duration,
    /// The time between two outputs of a stream, or for a whole answer that isn't a stream. Comments don't extend it.
    pub output: Duration,
    /// The time from the request to the last byte of a small response: a list, or an error.
    pub small: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            headers: Duration::from_mins(2),
            idle: Duration::from_mins(10),
            output: Duration::from_hours(1),
            small: Duration::from_mins(3),
        }
    }
}

/// What happens while a request runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A part of the answer, or a note about something that was ignored or repaired.
    Output(Output),
    /// The bytes behind the outputs, for captures.
    Bytes(&'a [u8]),
    /// An attempt failed before its first part, and the next one begins after a delay.
    Retrying {
        /// Why the attempt failed.
        failure: &'a Failure,
        /// How long the client waits.
        delay: Duration,
        /// The number of the next attempt.
        attempt: u32,
    },
}

impl Client {
    /// Returns a client that sends the key, if there is one, to the endpoint's origin only.
    pub fn new(endpoint: Endpoint, key: Option<ApiKey>, timeouts: Timeouts) -> Result<Self, SetupError> {
        let http = http(&endpoint, timeouts).build().map_err(SetupError)?;
        let secrets = key.as_ref().map(ApiKey::secrets).unwrap_or_default();
        let (refused, elsewhere) = Default::default();
        Ok(Self { http, endpoint, key, secrets, timeouts, refused, elsewhere, headers: BTreeMap::new() })
    }

    /// Returns a client that also sends these headers with every request. A header takes the place of one that was set
    /// before; those that Sluice sets itself or that aren't valid are left out. Their values are masked like the key.
    #[must_use]
    pub fn with_headers(mut self, headers: impl IntoIterator<Item = (String, String)>) -> Self {
        self.headers.extend(headers);
        let values = self.headers.values().flat_map(|value| Secrets::in_header(value));
        self.secrets = Secrets::new(values.chain(self.key.as_ref().map(ApiKey::secret)));
        self
    }

    /// Returns whether the client has a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Returns what masks the key and the values of headers in everything that is shown or stored of an answer.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Asks the server whether it accepts the key. Not every server says.
    pub async fn check_key(&self) -> Result<KeyCheck, Failure> {
        Ok(check_key(&self.get(ModelCatalog::new(&self.endpoint).credits_request()).await?, now()))
    }

    /// Returns the endpoint that the requests go to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Leaves out parameters in requests to a model, because its server refused them before. The client also leaves out
    /// what the server refuses from now on; [`Report::refused`] says what to remember for the next client.
    pub fn leave_out(&self, model: &str, parameters: &[Parameter]) {
        if !parameters.is_empty() {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.entry(model.to_owned()).or_default().extend(parameters);
        }
    }

    /// Sends a chat and reports the answer as it arrives, until the answer ends or `cancel` completes. Dropping the
    /// future closes the connection too. The core's [`Exchange`] makes all decisions; this is the loop that carries them
    /// out.
    ///
    /// The key is masked in notes, failures and the report, but not in parts and bytes, which are passed on as the server
    /// sent them: a tool must get exactly the input that the model gave.
    pub async fn respond(
        &self,
        chat: &ChatRequest,
        cancel: impl Future<Output = ()>,
        on_event: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Report {
        let (built, base_url) = self.build(chat);
        for note in built.notes.clone() {
            on_event(Event::Output(Output::Note(note)));
        }
        let mut exchange = Exchange::new(self.options(chat, &built, base_url));
        let started = Instant::now();
        let mut response: Option<Response> = None;
        let mut cancel = pin!(cancel);
        let mut is_cancelled = false;
        loop {
            match exchange.poll(milliseconds(started.elapsed())) {
                // The caller may cancel while it handles an output. The rest of the outputs must not follow then, and without
                // them the answer isn't complete.
                Action::Output(_) if !is_cancelled && is_ready(cancel.as_mut()).await => {
                    is_cancelled = true;
                    exchange.cancel_unseen();
                }
                Action::Output(output) => on_event(Event::Output(self.masked(output))),
                Action::Send { timeout_ms, without, url } => {
                    let mut request = built.request.without(&without);
                    request.url = url.unwrap_or(request.url);
                    let sent = self.request(&request, true).send();
                    tokio::select! {
                        biased;
                        () = &mut cancel => {
                            is_cancelled = true;
                            exchange.cancel();
                        }
                        sent = timeout(Duration::from_millis(timeout_ms), sent) => match sent {
                            Ok(Ok(mut head)) => {
                                let HttpResponse { status, headers, .. } = head_of(&head);
                                // The headers are slices of the connection's first buffer and would keep it in memory.
                                head.headers_mut().clear();
                                exchange.handle_head(status, headers, now());
                                response = Some(head);
                            }
                            Ok(Err(error)) if error.is_connect() => {
                                exchange.handle_connection_error(ConnectionError::Connect);
                            }
                            Ok(Err(_)) => exchange.handle_connection_error(ConnectionError::Broken),
                            Err(_) => exchange.handle_timeout(),
                        },
                    }
                }
                Action::Read { timeout_ms } => {
                    let chunk = async {
                        match &mut response {
                            Some(response) => response.chunk().await,
                            None => Ok(None),
                        }
                    };
                    tokio::select! {
                        biased;
                        () = &mut cancel => {
                            is_cancelled = true;
                            exchange.cancel();
                        }
                        chunk = timeout(Duration::from_millis(timeout_ms), chunk) => match chunk {
                            Ok(Ok(Some(bytes))) => {
                                on_event(Event::Bytes(&bytes));
                                exchange.handle_bytes(&bytes);
                            }
                            Ok(Ok(None)) => exchange.handle_end(),
                            Ok(Err(_)) => exchange.handle_connection_error(ConnectionError::Broken),
                            Err(_) => exchange.handle_timeout(),
                        },
                    }
                }
                Action::Wait { timeout_ms, mut failure, attempt } => {
                    self.secrets.mask_failure(&mut failure);
                    let delay = Duration::from_millis(timeout_ms);
                    on_event(Event::Retrying { failure: &failure, delay, attempt });
                    tokio::select! {
                        biased;
                        () = &mut cancel => {
                            is_cancelled = true;
                            exchange.cancel();
                        }
                        () = sleep(delay) => exchange.handle_timeout(),
                    }
                }
                Action::End(report) => {
                    if let (Some(limits), Some(response)) = (report.drain, response) {
                        drain(response, limits).await;
                    }
                    self.leave_out(&chat.model, &report.refused);
                    if let Some(elsewhere) = &report.elsewhere {
                        let mut known = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
                        *known = Some(elsewhere.base_url.clone());
                    }
                    let mut report = Arc::unwrap_or_clone(report);
                    self.secrets.mask_report(&mut report);
                    return report;
                }
            }
        }
    }

    /// Returns the request for a chat, with everything that is known about the server, and the base URL that it goes to.
    fn build(&self, chat: &ChatRequest) -> (BuiltRequest, String) {
        let mut endpoint = self.endpoint.clone();
        if let Some(base_url) = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            endpoint.base_url = base_url;
        }
        let mut built = build_request(chat, &endpoint);
        built.request = built.request.with_headers(&self.headers);
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).get(&chat.model).cloned();
        (built.without(&refused.unwrap_or_default()), endpoint.base_url)
    }

    fn options(&self, chat: &ChatRequest, built: &BuiltRequest, base_url: String) -> ExchangeOptions {
        ExchangeOptions {
            origin: self.endpoint.origin.clone(),
            base_url,
            model: chat.model.clone(),
            stream: StreamOptions { tool_names: built.tool_names.clone(), ..StreamOptions::default() },
            head_timeout_ms: milliseconds(self.timeouts.headers),
            idle_timeout_ms: milliseconds(self.timeouts.idle),
            output_timeout_ms: milliseconds(self.timeouts.output),
            refusal_timeout_ms: milliseconds(self.timeouts.small),
            optional: built.optional.clone(),
            random: fastrand::f64(),
            ..ExchangeOptions::default()
        }
    }

    /// Requests the list of models and updates the catalog, which keeps what it knows if the request fails.
    pub async fn refresh_models(&self, catalog: &mut ModelCatalog) -> Refresh {
        let response = match self.get(catalog.list_request()).await {
            Ok(response) => response,
            Err(failure) => return catalog.handle_list_failure(&failure, now()),
        };
        if let Some(other) = catalog.other_list_request(&response)
            && let Ok(other) = self.get(other).await
        {
            return catalog.handle_other_list(&other, now());
        }
        catalog.handle_list(&response, now())
    }

    /// Requests the providers that serve a model, unless the catalog knows them.
    pub async fn refresh_endpoints(&self, catalog: &mut ModelCatalog, id: &str) -> Result<Refresh, Failure> {
        match catalog.endpoints_request(id, now()) {
            Some(request) => Ok(catalog.handle_endpoints(id, &self.get(request).await?, now())),
            None => Ok(Refresh::Unchanged),
        }
    }

    /// Sends one of the core's own requests and reads the whole response, whatever its status.
    async fn get(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        let response = self.fetch(request, true).await;
        response.map_err(|(transport, _)| Failure::from_transport(transport, &self.endpoint.origin))
    }

    /// Does the same with or without the key.
    pub(crate) async fn fetch(&self, request: HttpRequest, with_key: bool) -> Result<HttpResponse, NoResponse> {
        let request = request.with_headers(&self.headers);
        let whole = async {
            let head = self.head(self.request(&request, with_key)).await?;
            let mut response = head_of(&head);
            response.body = text(self.read(head).await?);
            // Lists are stored. What is masked here doesn't get into the file.
            self.secrets.mask_response(&mut response);
            Ok(response)
        };
        timeout(self.timeouts.small, whole).await.unwrap_or(Err((Transport::HeadersTimeout, None)))
    }

    fn request(&self, request: &HttpRequest, with_key: bool) -> reqwest::RequestBuilder {
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
        match self.bearer().filter(|_| with_key) {
            Some(bearer) => builder.header(AUTHORIZATION, bearer),
            None => builder,
        }
    }

    async fn head(&self, request: reqwest::RequestBuilder) -> Result<Response, NoResponse> {
        match timeout(self.timeouts.headers, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err((Transport::Connect, cause_code(&error))),
            Ok(Err(_)) => Err((Transport::Broken, None)),
            Err(_) => Err((Transport::HeadersTimeout, None)),
        }
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, NoResponse> {
        let rule = BodyRule::for_status(response.status().as_u16()).map_err(|transport| (transport, None))?;
        let mut body = Vec::new();
        let problem = loop {
            let left = rule.max_bytes as usize - body.len();
            match timeout(self.timeouts.idle, response.chunk()).await {
                Ok(Ok(Some(bytes))) if bytes.len() > left => {
                    body.extend_from_slice(&bytes[..left]);
                    break Transport::TooLarge;
                }
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(_)) => break Transport::Broken,
                Err(_) => break Transport::Idle,
            }
        };
        if rule.may_be_partial { Ok(body) } else { Err((problem, None)) }
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
}

fn http(endpoint: &Endpoint, timeouts: Timeouts) -> reqwest::ClientBuilder {
    // The process may have chosen a provider already; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .connect_timeout(timeouts.connect)
        // The key must not follow a redirect, and the body can't be sent twice.
        .redirect(redirect::Policy::none())
        // The core decides what is tried again, and how often.
        .retry(reqwest::retry::never())
        .user_agent(concat!("sluice/", env!("CARGO_PKG_VERSION")));
    // Plain HTTP is allowed on this machine because it doesn't leave it. A proxy would see the key and the prompts.
    if endpoint.is_loopback { http.no_proxy() } else { http }
}

/// Returns whether a future is ready now. If it is, it must not be polled again.
async fn is_ready(mut future: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await
}

/// Reads what is left of a body, because a connection can serve the next request only if its body was read to the end.
async fn drain(mut response: Response, limits: Drain) {
    let mut rest = 0;
    let _ = timeout(Duration::from_millis(limits.timeout_ms), async {
        while let Ok(Some(bytes)) = response.chunk().await
            && rest < limits.max_bytes
        {
            rest += bytes.len();
        }
    })
    .await;
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The status and headers of a response whose body hasn't been read.
fn head_of(response: &Response) -> HttpResponse {
    let header =
        |(name, value): (&HeaderName, &HeaderValue)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()));
    let headers = response.headers().iter().filter_map(header).collect();
    HttpResponse { status: response.status().as_u16(), headers, body: String::new() }
}

/// Copies the text only if it isn't valid UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use sluice_core::FailureKind;
    use tokio::net::TcpListener;
    use tokio::sync::Notify;

    use super::{ChatRequest, Client, Endpoint, Event, Timeouts, http};

    /// Only HTTP/2 can refuse a request, and without TLS the client uses HTTP/1 unless it is configured otherwise.
    #[tokio::test]
    async fn a_refused_http2_stream_is_retried_only_by_our_own_rule() {
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
        let client = Client { http, ..Client::new(endpoint, None, timeouts).unwrap() };
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
