//! Why something failed, for people and for retry loops: HTTP responses, error events and connection errors in one
//! shape. What to do next is decided here, so that every shell says and does the same.

mod body_rule;
mod budget;
mod cause;
mod help;
mod overflow;
mod retry;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::boundary::{Failure, FailureKind, Overflow};
use crate::message::{Message, MessageCode, join_messages};
use crate::receive::plain_line;
use crate::secrets::Secrets;
use crate::send::Parameter;

pub use body_rule::BodyRule;
use budget::Budget;
pub use cause::connection_cause;
pub(crate) use cause::is_broken_connection;
pub(crate) use help::{help_page, keys_page};
use overflow::{excerpt, is_overflow};
pub(crate) use overflow::{output_limit, overflow_numbers};
pub(crate) use retry::retry_delay_ms;

/// Longer than any sentence that a server writes for people. Anything beyond that is a dump.
const MAX_MESSAGE_CHARS: usize = 500;
const MAX_ID_CHARS: usize = 120;
const MAX_TITLE_CHARS: usize = 100;
/// The title of a web page comes first.
const MAX_HTML_HEAD: usize = 4 << 10;
/// A longer body isn't an error message.
const MAX_BODY: usize = 1 << 20;

/// A response that isn't the requested stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// All headers. Their names are compared without regard to case.
    pub headers: Vec<(String, String)>,
    /// The body, or the beginning of it ([`BodyRule`]).
    pub body: String,
}

/// What went wrong with the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Transport {
    /// There was no connection: the name, the route or TLS failed.
    Connect,
    /// The server accepted the connection but sent no response in time.
    HeadersTimeout,
    /// The connection broke in the middle of the answer.
    Broken,
    /// Nothing arrived for too long in the middle of an answer.
    Idle,
    /// The server redirected us to another address, and the key must not follow.
    Redirect,
    /// The body is larger than the shell reads. The request was aborted.
    TooLarge,
}

impl Failure {
    /// `now` is the time in seconds since 1970, for servers that send the time of the next retry as a date.
    pub fn from_http(response: &HttpResponse, now: u64) -> Self {
        let header = |name: &str| {
            let found = response.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        let error = ErrorBody::parse(&response.body);
        let is_hidden = error.is_error && (200..300).contains(&response.status);
        let status = if is_hidden { error.status_in_words() } else { Some(response.status) };
        let mut failure = Self::classified(&error, status, Some(now));
        failure.status = Some(response.status);
        failure.request_id = ["x-vercel-id", "x-request-id", "request-id", "x-litellm-call-id", "cf-ray"]
            .into_iter()
            .find_map(header)
            .and_then(id);
        failure.retry_after_ms = retry::retry_after_ms(header, now);
        if failure.may_retry && failure.retry_after_ms.is_some_and(|wait| wait > retry::MAX_RETRY_AFTER_MS) {
            failure = failure.with_next(MessageCode::TryAfterThat);
        }
        if header("x-should-retry") == Some("false") {
            failure.may_retry = false;
        }
        failure.with_wait()
    }

    /// Makes a failure from an `error` event or a failed response.
    pub(crate) fn from_stream(message: Option<&str>, code: Option<&str>) -> Self {
        let error = ErrorBody::of(message, code);
        let status = error.status_in_words();
        Self::classified(&error, status, None)
    }

    /// Makes a failure from an error that another library made from an HTTP response or an error event.
    pub(crate) fn from_library(message: Option<&str>, code: Option<&str>, status: Option<u16>) -> Self {
        Self { status, ..Self::classified(&ErrorBody::of(message, code), status, None) }
    }

    /// Makes a failure from a connection error. `host` is the server's name for the message.
    pub fn from_transport(transport: Transport, host: &str) -> Self {
        // A caller that only reads a stream doesn't know the server.
        let host = if host.is_empty() { "the server".to_owned() } else { plain_line(host, 120) };
        let (kind, message, next) = match transport {
            Transport::Connect => (FailureKind::Network, MessageCode::NoConnection, MessageCode::CheckNetwork),
            Transport::HeadersTimeout => {
                (FailureKind::Network, MessageCode::NoAnswerInTime, MessageCode::TryAnotherModel)
            }
            Transport::Broken => (FailureKind::Network, MessageCode::ConnectionBroke, MessageCode::TryAgain),
            Transport::Idle => (FailureKind::Network, MessageCode::StoppedSending, MessageCode::RaiseIdleTimeout),
            Transport::Redirect => (FailureKind::BadRequest, MessageCode::Redirects, MessageCode::UseFinalAddress),
            Transport::TooLarge => (FailureKind::TooLarge, MessageCode::ResponseTooLarge, MessageCode::CheckBaseUrl),
        };
        let may_retry = kind == FailureKind::Network;
        let failure = Self::new(kind, Message::new(message, [&host])).with_next(next);
        Self { may_retry, ..failure }
    }

    /// Adds why there is no connection, before what to do next. `code` is the operating system's or the browser's.
    #[must_use]
    pub(crate) fn with_cause(mut self, code: &str) -> Self {
        let next = self.text.pop();
        self.text.extend(connection_cause(code));
        self.message = join_messages(&self.text, " ");
        self.text.extend(next);
        self
    }

    /// Makes a failure about a tool whose call can't be used. The sentence has the tool's name as its argument.
    pub(crate) fn tool_call(tool: Option<&str>, reason: MessageCode) -> Self {
        let tool = tool.and_then(id);
        let message = match &tool {
            Some(name) => Message::new(reason, [name]),
            None => MessageCode::ToolCallWithoutName.into(),
        };
        Self { tool, ..Self::new(FailureKind::ToolCall, message) }
    }

    /// Makes a failure that we have a sentence for.
    pub(crate) fn new(kind: FailureKind, message: Message) -> Self {
        Self::made_of(kind, message.to_string(), vec![message])
    }

    fn made_of(kind: FailureKind, message: String, mut text: Vec<Message>) -> Self {
        let (next, _) = advice(kind);
        text.push(next.into());
        Self {
            kind,
            message,
            code: None,
            parameter: None,
            tool: None,
            next: next.english().to_owned(),
            text,
            status: None,
            request_id: None,
            generation_id: None,
            overflow: None,
            may_retry: false,
            retry_after_ms: None,
        }
    }

    /// The last message says what to do next.
    pub(crate) fn with_next(mut self, next: impl Into<Message>) -> Self {
        let next = next.into();
        self.next = next.to_string();
        self.text.pop();
        self.text.push(next);
        self
    }

    /// Servers write whatever they like, so their message becomes one line of bounded length, without control characters
    /// and without what looks like a key.
    fn classified(error: &ErrorBody, status: Option<u16>, now: Option<u64>) -> Self {
        let kind = error.kind(status);
        let mut failure = if let Some(message) = error.message.as_deref().and_then(|text| line(text, MAX_MESSAGE_CHARS))
        {
            let end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
            let text = vec![Message::new(MessageCode::Plain, [&format!("{message}{end}")])];
            Self::made_of(kind, message, text)
        } else {
            let (_, otherwise) = advice(kind);
            let status = status.map(|status| Message::new(MessageCode::HttpStatus, [&status]));
            let page = error.title.as_ref().map(|title| Message::new(MessageCode::WebPage, [title]));
            let text: Vec<Message> = status.into_iter().chain([otherwise.into()]).chain(page).collect();
            Self::made_of(kind, join_messages(&text, " "), text)
        };
        if let Some(budget) = &error.budget {
            let next = failure.text.pop();
            failure.text.extend(budget.text(now));
            failure.message = join_messages(&failure.text, " ");
            failure.text.extend(next);
        }
        Self {
            code: error.code.as_deref().and_then(id),
            parameter: error.param.as_str().and_then(Parameter::at),
            generation_id: error.generation_id.as_deref().and_then(id),
            overflow: if kind == FailureKind::ContextOverflow { error.overflow() } else { None },
            may_retry: matches!(kind, FailureKind::RateLimited | FailureKind::ServerDown | FailureKind::Network),
            ..failure
        }
    }
}

/// Returns one line of at most `max_chars` characters, without control characters and without anything that looks like
/// a key. Blank text is `None`.
fn line(text: &str, max_chars: usize) -> Option<String> {
    Some(plain_line(&Secrets::default().mask(&excerpt(text)), max_chars)).filter(|line| !line.is_empty())
}

/// Like [`line`], for a code, a name or an id.
fn id(text: &str) -> Option<String> {
    line(text, MAX_ID_CHARS)
}

/// Returns what the user can do, and what to say if the server said nothing.
fn advice(kind: FailureKind) -> (MessageCode, MessageCode) {
    match kind {
        FailureKind::SignIn => (MessageCode::EnterKey, MessageCode::KeyRefused),
        FailureKind::Forbidden => (MessageCode::AskForAccess, MessageCode::Forbidden),
        FailureKind::NoCredit => (MessageCode::AddCredit, MessageCode::NoCreditLeft),
        FailureKind::ModelNotFound => (MessageCode::ChooseListedModel, MessageCode::UnknownModel),
        FailureKind::ContextOverflow => (MessageCode::StartNewChat, MessageCode::ConversationTooLong),
        FailureKind::BadRequest => (MessageCode::CheckModelSettings, MessageCode::RequestRefused),
        FailureKind::RateLimited => (MessageCode::WaitAMoment, MessageCode::TooManyRequests),
        FailureKind::ServerDown => (MessageCode::TryLater, MessageCode::ServerProblem),
        FailureKind::NotAStream => (MessageCode::CheckEndpoint, MessageCode::NotAnEventStream),
        FailureKind::Network => (MessageCode::CheckConnection, MessageCode::ConnectionFailed),
        FailureKind::Server => (MessageCode::TryAgain, MessageCode::UnnamedServerError),
        FailureKind::ToolCall => (MessageCode::AskAgain, MessageCode::ToolCallUnusable),
        FailureKind::TooLarge => (MessageCode::AskForLess, MessageCode::AnswerTooLarge),
    }
}

/// The gateway's code for a budget that is used up.
const BUDGET_USED_UP: &str = "quota_for_entity_exceeded";

fn budget(code: Option<&str>, message: Option<&str>, error: &Value) -> Option<Budget> {
    (code == Some(BUDGET_USED_UP)).then(|| Budget::read(message.unwrap_or_default(), error))
}

/// What an error body says, regardless of its shape.
#[derive(Debug, Default)]
struct ErrorBody {
    message: Option<String>,
    code: Option<String>,
    generation_id: Option<String>,
    param: Value,
    is_html: bool,
    /// The title of a web page.
    title: Option<String>,
    /// Whether the body says that it is an error although the status may be 200, and the status that it says.
    is_error: bool,
    stated_status: Option<u16>,
    /// The gateway's budget that is used up.
    budget: Option<Budget>,
}

impl ErrorBody {
    fn of(message: Option<&str>, code: Option<&str>) -> Self {
        let message = message.map(|message| excerpt(message).into_owned());
        let code = code.map(|code| excerpt(code).into_owned());
        let budget = budget(code.as_deref(), message.as_deref(), &Value::Null);
        Self { message, code, budget, ..Self::default() }.unwrapped()
    }

    /// Some proxies have the provider's whole error as their message. Returns that error.
    fn unwrapped(self) -> Self {
        let json = self.message.as_deref().filter(|message| message.starts_with('{'));
        let inner = json.and_then(|json| serde_json::from_str(json).ok()).map(|json| Self::from_json(&json));
        match inner.filter(|inner| inner.message.is_some()) {
            Some(inner) => Self {
                message: inner.message,
                code: inner.code.or(self.code),
                budget: inner.budget.or(self.budget),
                stated_status: inner.stated_status.or(self.stated_status),
                ..self
            },
            None => self,
        }
    }

    /// Returns the HTTP status that a proxy got and passed on as the code, or at the beginning of its message.
    fn status_in_words(&self) -> Option<u16> {
        let message = self.message.as_deref().unwrap_or_default();
        let first_word = message.strip_prefix("Error code: ").unwrap_or(message).split(' ').next();
        self.stated_status.or_else(|| self.code.as_deref().and_then(error_status)).or(first_word.and_then(error_status))
    }

    fn parse(body: &str) -> Self {
        if body.len() > MAX_BODY {
            return Self::default();
        }
        let body = body.trim();
        if body.starts_with('<') {
            return Self { is_html: true, title: html_title(body), ..Self::default() };
        }
        // Some proxies begin a stream before they know that the request has failed.
        let is_stream = body.starts_with("data:") || body.starts_with("event:");
        let data = body.lines().find_map(|line| line.strip_prefix("data:")).filter(|_| is_stream);
        let Ok(json) = serde_json::from_str::<Value>(data.unwrap_or(body)) else {
            return Self::of(body.lines().next(), None);
        };
        Self::from_json(&json).unwrapped()
    }

    fn from_json(json: &Value) -> Self {
        // Google wraps its error in a list.
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
        let field = |name: &str| error.get(name).and_then(text_of).or_else(|| json.get(name).and_then(text_of));
        let status = || ["code", "status", "status_code"].into_iter().find_map(|name| error_status(&field(name)?));
        let message = message_in(json, MAX_NESTING);
        // A numeric code says no more than the status. A type in words does.
        let code = field("code").filter(|code| code.parse::<u64>().is_err()).or_else(|| field("type"));
        Self {
            budget: budget(code.as_deref(), message.as_deref(), error),
            message,
            code,
            generation_id: field("generationId").or_else(|| field("generation_id")),
            param: error.get("param").cloned().unwrap_or_default(),
            is_html: false,
            title: None,
            is_error: json.get("error").is_some_and(|error| !error.is_null()),
            stated_status: status(),
        }
    }

    fn kind(&self, status: Option<u16>) -> FailureKind {
        let code = self.code.as_deref().unwrap_or_default();
        if is_overflow(code, self.message.as_deref().unwrap_or_default()) {
            return FailureKind::ContextOverflow;
        }
        // llama.cpp and Ollama send these with status 500, as if it could help to try again.
        let is_refusal = |message: &str| {
            message.starts_with("image input is not supported")
                || (message.starts_with("think value ") && message.ends_with("is not supported for this model"))
        };
        if self.message.as_deref().is_some_and(is_refusal) {
            return FailureKind::BadRequest;
        }
        match code {
            "insufficient_quota" | "insufficient_funds" | BUDGET_USED_UP => return FailureKind::NoCredit,
            // LiteLLM without a database has one key, and looks for every other key in the database.
            "authentication_error" | "invalid_api_key" | "no_db_connection" => return FailureKind::SignIn,
            "model_not_found" => return FailureKind::ModelNotFound,
            "forbidden" | "customer_verification_required" | "permission_error" => return FailureKind::Forbidden,
            "rate_limit_exceeded" | "too_many_requests" | "rate_limit_error" => return FailureKind::RateLimited,
            "server_error" | "internal_server_error" | "overloaded_error" | "model_error" if status.is_none() => {
                return FailureKind::ServerDown;
            }
            _ => {}
        }
        match status {
            Some(401) => FailureKind::SignIn,
            Some(402) => FailureKind::NoCredit,
            Some(403) => FailureKind::Forbidden,
            Some(404) if self.names_a_model() => FailureKind::ModelNotFound,
            Some(400) if self.message.as_deref().is_some_and(|message| message.contains("Invalid model name")) => {
                FailureKind::ModelNotFound
            }
            // This isn't a stream, or there is no such address, or not for this method.
            Some(200..=299 | 404 | 405) => FailureKind::NotAStream,
            Some(429) => FailureKind::RateLimited,
            Some(408 | 409 | 500..) => FailureKind::ServerDown,
            Some(_) => FailureKind::BadRequest,
            None => FailureKind::Server,
        }
    }

    /// Returns whether an error with status 404 is about the model and not about the address.
    fn names_a_model(&self) -> bool {
        let says =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.to_ascii_lowercase().contains("model"));
        !self.is_html && (says(&self.message) || says(&self.code))
    }

    /// Reads the numbers in a structured `param`, or in the message.
    fn overflow(&self) -> Option<Overflow> {
        let from_param = |name: &str| self.param.get(name).and_then(Value::as_u64);
        if let (Some(actual), Some(limit)) = (from_param("actual"), from_param("limit")) {
            return Some(Overflow { asked_tokens: Some(actual), limit_tokens: Some(limit) });
        }
        overflow_numbers(self.message.as_deref()?)
    }
}

/// Returns the title of a web page, such as the sign-in page of a network.
fn html_title(body: &str) -> Option<String> {
    let head = body.chars().take(MAX_HTML_HEAD).collect::<String>();
    let lower = head.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let from = start + lower.get(start..)?.find('>')? + 1;
    let length = lower.get(from..)?.find("</title")?;
    line(head.get(from..from + length)?, MAX_TITLE_CHARS)
}

fn error_status(text: &str) -> Option<u16> {
    text.parse().ok().filter(|status| (400..600).contains(status))
}

/// How deep a message may be nested in the errors of others.
const MAX_NESTING: u8 = 4;

/// Returns the message of an error, which has many names and may be nested.
fn message_in(value: &Value, depth: u8) -> Option<String> {
    const NAMES: [&str; 7] = ["error", "message", "detail", "errors", "msg", "error_description", "title"];
    let inside = |name: &&str| message_in(value.get(*name)?, depth - 1);
    let nested = || NAMES.iter().find_map(inside).or_else(|| message_in(value.get(0)?, depth - 1));
    text_of(value).filter(|_| !value.is_number()).or_else(|| if depth > 0 { nested() } else { None })
}

/// Returns the text of a message, or of the first messages in a list. Validators list each problem with its path.
fn text_of(value: &Value) -> Option<String> {
    const MAX_PROBLEMS: usize = 3;
    let problem = |problem: &Value| {
        let message = ["message", "msg"].iter().find_map(|name| problem.get(*name)?.as_str())?;
        let path = ["path", "loc"].iter().find_map(|name| problem.get(*name)?.as_array());
        let steps = path.into_iter().flatten().filter_map(Value::as_str).filter(|step| *step != "body");
        let path = steps.collect::<Vec<_>>().join(".");
        Some(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") })
    };
    match value {
        Value::String(text) if !text.is_empty() => Some(excerpt(text).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(problems) => {
            let texts: Vec<String> = problems.iter().take(MAX_PROBLEMS).filter_map(problem).collect();
            (!texts.is_empty()).then(|| excerpt(&texts.join("; ")).into_owned())
        }
        _ => None,
    }
}
