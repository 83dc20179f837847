//! Every value that a shell passes in or gets back: plain data with public fields. The TypeScript types
//! (`packages/loader/src/boundary.ts`) are generated from it.

mod chat;
mod connections;
mod dialogs;
mod inspect;
mod model;
mod outcome;
mod part;
mod questions;
mod record;
mod settings;
mod spending;
mod tokens;
#[cfg(test)]
mod typescript;
mod usage;
mod work;

pub(crate) use chat::NOTE;
pub use chat::{ChatMessage, ChatOptions, ChatPart, ChatRequest, HttpRequest, Role, Routing, ToolDefinition, ToolMode};
pub use connections::{
    AddressQuestion, ConnectionResult, ConnectionTask, FoundConnection, RoundEvent, RoundList, RoundModel, RoundView,
};
pub use dialogs::{
    ConnectionTest, Dialog, DialogConnection, DialogInput, DialogLevel, DialogModel, DialogRow, DialogStep,
    InputAnswer, ServerCheck, VercelAnswer,
};
pub use inspect::{
    Change, ComparedRow, Comparison, Expected, GroupTokens, OtherRequest, Phase, PieceRow, RecordsQuestion,
    RequestDetail, TreeKind, TreeRow,
};
pub use model::{
    ChatModel, EffortChoices, LimitsFrom, ListedModel, ModelCapabilities, ModelCategory, ModelList, ModelOverride,
    ModelProvider, ModelSettings, OtherModel, PriceCategory, PriceTier, Prices, ShownModel,
};
pub use outcome::{
    Empty, Failure, FailureKind, Gateway, LoggedFailure, LoggedOutcome, Outcome, Overflow, Status, TokenDetails, Usage,
};
pub(crate) use part::SEPARATOR;
pub use part::{Citation, Note, NoteKind, Output, Part, ReasoningItem, ReplayItem, ReplayMessage, ThinkingReplay};
pub use questions::{
    BuildRequest, CatalogView, HistoryPeriod, HistoryRow, LogLevel, PreparedRequest, RequestsQuestion, TokensQuestion,
};
pub use record::{
    CacheBreak, CallTime, Cost, CostBasis, CostRange, Finish, Forecast, Lens, NoteCount, PieceGroup, PieceKind,
    PieceRecord, RequestRecord, Retry, Route, Timeline, TokenUse,
};
pub use settings::{SettingProblem, Settings, ThinkingFallback};
pub use spending::{LimitState, SpendAction, SpendChoice, SpendLimit, SpendLimits, SpendPeriod, Verdict};
pub use tokens::TokenBreakdown;
pub use usage::{
    Activity, Dollars, Estimate, FileState, Level, Preflight, RequestEnd, RequestKind, RequestStart, RequestUsage,
    StatusLine, TooltipLine, Totals,
};
pub use work::{
    FileEntry, LedgerTask, ListTask, ListWork, Received, RecordingTask, RequestsTask, SignInResult, SignInTask,
    SignInWork, VaultTask, WorkResult, WorkStep, WorkTask,
};
