//! What Sluice knows about Open Responses: a chat becomes a request, and the bytes of the answer become parts that an
//! editor or a terminal can show.
//!
//! Nothing here performs I/O, reads a clock, draws a random number, logs or panics. A shell owns sockets, time and the
//! screen: the command line, the client library, or JavaScript through WebAssembly.
//!
//! | to do this | start here |
//! |---|---|
//! | make a request and follow it to its end, retries included | [`Exchange`] |
//! | build a request from a chat | [`build_request`], [`ChatRequest`], [`Endpoint`] |
//! | read the body of an answer | [`ResponseStream`], or [`ChunkStream`] for chunks of the Vercel AI SDK |
//! | explain a failure to the user | [`Failure`] |
//! | list the models of an endpoint | [`ModelCatalog`] |
//! | find out what a server can do | [`Probe`] |
//! | count tokens before the server does | [`Counter`] |
//! | keep track of usage, costs and what servers counted | [`Ledger`], [`Memory`] |
//! | keep files that several windows share, and the lists of models | [`ShellWork`] |
//! | ask the user of an editor | [`DialogWork`] |
//! | keep secrets out of logs | [`Secrets`] |
//!
//! # Example
//!
//! The body of an answer, read in whatever pieces it arrives:
//!
//! ```
//! use sluice_core::{BodyEnd, Output, Part, ResponseStream, Status, StreamOptions};
//!
//! let body = "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hello\"}\n\n\
//!             data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5}}}\n\n";
//!
//! let mut stream = ResponseStream::new(StreamOptions::default());
//! let mut text = String::new();
//! for chunk in body.as_bytes().chunks(7) {
//!     for output in stream.push(chunk) {
//!         if let Output::Part(Part::Text { value }) = output {
//!             text.push_str(&value);
//!         }
//!     }
//! }
//! let (_, outcome) = stream.finish(BodyEnd::Eof);
//!
//! assert_eq!(text, "Hello");
//! assert_eq!(outcome.status, Status::Completed);
//! assert_eq!(outcome.usage.unwrap().input_tokens, Some(5));
//! ```

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types
)]
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod ai_sdk;
mod boundary;
mod call_id;
mod connections;
mod dialogs;
mod editor;
mod environment;
mod exchange;
mod failure;
mod files;
mod fnv;
mod forecast;
mod image_type;
mod inspect;
mod keys;
mod ledger;
mod lens;
mod limits;
mod link_free;
mod log;
mod memory;
mod message;
mod models;
mod numbers;
mod pace;
mod probe;
mod receive;
mod recording;
mod secrets;
mod send;
mod settings;
mod sources;
mod steps;
mod surrogates;
mod tokens;
mod usage;
mod vault;
mod vercel;
mod wire;

pub use ai_sdk::{ChunkStream, is_ai_sdk_chunk};
pub use boundary::{
    Activity, Dollars, Level, Preflight, RequestEnd, RequestKind, RequestStart, RequestUsage, StatusLine, TooltipLine,
    Totals,
};
pub use boundary::{
    AddressQuestion, ConnectionResult, ConnectionTask, FoundConnection, RoundEvent, RoundList, RoundModel, RoundView,
};
pub use boundary::{
    BuildRequest, CatalogView, HistoryPeriod, HistoryRow, LogLevel, PreparedRequest, RequestsQuestion, TokensQuestion,
};
pub use boundary::{
    CacheBreak, CallTime, Cost, CostBasis, CostRange, Finish, Forecast, Lens, NoteCount, PieceGroup, PieceKind,
    PieceRecord, RequestRecord, Retry, Route, Timeline, TokenUse,
};
pub use boundary::{
    Change, ComparedRow, Comparison, Expected, GroupTokens, OtherRequest, Phase, PieceRow, RecordsQuestion,
    RequestDetail, TreeKind, TreeRow,
};
pub use boundary::{
    ChatMessage, ChatModel, ChatOptions, ChatPart, ChatRequest, Citation, EffortChoices, Empty, Failure, FailureKind,
    Gateway, HttpRequest, LimitsFrom, ListedModel, LoggedFailure, LoggedOutcome, ModelCapabilities, ModelCategory,
    ModelList, ModelOverride, ModelProvider, ModelSettings, Note, NoteKind, OtherModel, Outcome, Output, Overflow,
    Part, PriceCategory, PriceTier, Prices, ReasoningItem, ReplayItem, ReplayMessage, Role, Routing, SettingProblem,
    Settings, ShownModel, Status, ThinkingFallback, ThinkingReplay, TokenBreakdown, TokenDetails, ToolDefinition,
    ToolMode, Usage,
};
pub use boundary::{
    ConnectionTest, Dialog, DialogConnection, DialogInput, DialogLevel, DialogModel, DialogRow, DialogStep,
    InputAnswer, ServerCheck, VercelAnswer,
};
pub use boundary::{
    FileEntry, LedgerTask, ListTask, ListWork, Received, RecordingTask, RequestsTask, SignInResult, SignInTask,
    SignInWork, VaultTask, WorkResult, WorkStep, WorkTask,
};
pub use boundary::{LimitState, SpendAction, SpendChoice, SpendLimit, SpendLimits, SpendPeriod, Verdict};
pub use connections::ConnectionNotes;
pub use dialogs::DialogWork;
pub use editor::{
    DEMO_BASE_URL, ModelRounds, Reader, RejectedAnswer, ReportFacts, ShownRejection, StatusBarFacts, StatusBarView,
    settings_schema,
};
pub use environment::{Environment, EnvironmentEndpoint, KEY_VARIABLES};
pub use exchange::{
    Action, ConnectionError, Drain, Elsewhere, Ending, Exchange, ExchangeOptions, Report, Stream, Transcript,
    VsCodeUsage,
};
pub use failure::{BodyRule, HttpResponse, Transport, connection_cause};
pub use files::{EditorState, KeptLedger, Shared, ShellWork};
pub use image_type::attachment_type;
pub use inspect::Records;
pub use keys::{KeptKey, put_key, read_keys, remove_key};
pub use ledger::{Begun, Ended, Ledger, LedgerEntry, LedgerModel, SpendCheck, TreeNode};
pub use link_free::{link_free, link_free_lines};
pub use log::{log_line, log_outcome, logged_model};
pub use memory::{FileState, MAX_FILE, Memory};
pub use message::{Language, Message, MessageCode, join_messages};
pub use models::{
    Credit, KeyCheck, KeyState, ListState, ModelCatalog, ModelLists, OverrideField, Refresh, check_key, edit_override,
    finds_model, override_form, similar_models,
};
pub use numbers::{date, fixed_count, grouped, short_count};
pub use pace::Pace;
pub use probe::{
    Card, Check, CheckResult, Probe, ProbeAnswer, ProbeEvent, ProbeFailure, ProbeOptions, ProbeStep, Topic,
};
pub use receive::{BodyEnd, Limits, ResponseStream, StreamOptions};
pub use recording::{Recording, redact_body, redact_response};
pub use secrets::Secrets;
pub use send::{
    BadAddress, BuiltRequest, Consent, Effort, Endpoint, KeyUse, Parameter, Permission, Prompt, Purpose, ToolNames,
    ToolOrder, VERCEL, build_request, header_problem, purpose,
};
pub use settings::read_settings;
pub use sources::{ConnectionSource, GroupSource, SignInSource, SourceKey, Sources};
pub use surrogates::mend_surrogates;
pub use tokens::{BadRequestBody, Calibration, Counter, Estimate, InstallKey, KnownCounts, Measured, Piece};
pub use usage::{History, UsageTracker, preflight};
pub use vault::{QuestionId, Vault, question_id};
pub use vercel::{
    NewSession, TokenState, VercelChoice, VercelProject, VercelQuestion, VercelSession, VercelStep, VercelTask,
    VercelTeam, vercel_files, vercel_session, vercel_step,
};
pub use wire::is_open_responses_event;

/// SSE framing by itself, for other readers of event streams, benchmarks and fuzzing.
pub use receive::sse;
