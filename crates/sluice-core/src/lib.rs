//! Sluice's brain: bytes of an Open Responses answer in, VS Code parts out.
//!
//! Nothing here performs I/O, reads a clock, draws a random number, logs or panics. A shell (the command line, the
//! WebAssembly face) feeds bytes and receives plain values.
//!
//! A byte becomes a part, file by file:
//!
//! 1. [`receive`]: [`ResponseStream`], the whole calling contract
//! 2. `receive/sse.rs`: bytes to SSE events (WHATWG)
//! 3. `receive/decode.rs`: SSE event to [`wire`] event, or a note
//! 4. `receive/assemble.rs`: wire event to [`boundary`] parts, the state machine
//! 5. `receive/outcome.rs`: how the body ended to an [`Outcome`]
//!
//! Chunks of the Vercel AI SDK become the same parts in [`ai_sdk`]: [`ChunkStream`].
//!
//! Beside that journey: [`ModelCatalog`], the models of an endpoint as VS Code shows them, and [`Counter`], which counts
//! what a request will cost before it is sent.

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
#![warn(unreachable_pub)]

mod ai_sdk;
mod boundary;
mod call_id;
mod exchange;
mod failure;
mod ledger;
mod memory;
mod models;
mod next_step;
mod receive;
mod secrets;
mod send;
mod surrogates;
mod tokens;
mod usage;
mod wire;

pub use ai_sdk::{ChunkStream, is_ai_sdk_chunk};
pub use boundary::{
    Activity, Dollars, Level, Preflight, RequestEnd, RequestKind, RequestStart, RequestUsage, StatusLine, TooltipLine,
    Totals,
};
pub use boundary::{
    ChatMessage, ChatModel, ChatOptions, ChatPart, ChatRequest, Citation, EffortChoices, Empty, Failure, FailureKind,
    Gateway, HttpRequest, LimitSetting, LimitsFrom, ModelCapabilities, ModelList, ModelProvider, ModelSettings, Note,
    NoteKind, OtherModel, Outcome, Output, Overflow, Part, PriceTier, Prices, ReasoningItem, Role, Routing, Status,
    ThinkingReplay, TokenBreakdown, TokenDetails, ToolDefinition, ToolMode, Turn, Usage,
};
pub use exchange::{
    Action, ConnectionError, Dialect, Drain, Ending, Exchange, ExchangeOptions, Report, Transcript, VsCodeUsage,
};
pub use failure::{HttpAnswer, MAX_ATTEMPTS, Transport, retry_delay_ms};
pub use ledger::{Begun, Ended, Ledger, LedgerEntry, LedgerModel, TreeNode};
pub use memory::{FileState, MAX_FILE, Memory};
pub use models::{ListState, ModelCatalog, Refresh, finds_model, learned_limit, short_count, similar_models};
pub use next_step::{NextStep, next_step};
pub use receive::{BodyEnd, Limits, ResponseStream, StreamOptions};
pub use secrets::Secrets;
pub use send::{BadAddress, BuiltRequest, Endpoint, Parameter, Prompt, ToolNames, VERCEL, build_request, request_kind};
pub use tokens::{BadRequestBody, Calibration, Counter, Estimate, InstallKey, KnownCounts, Measured, Piece};
pub use usage::{History, Period, UsageTracker, date, preflight};
pub use wire::{as_stream, is_open_responses_event};

/// SSE framing on its own, for benchmarks and fuzzing.
pub use receive::sse;
