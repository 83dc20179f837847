//! What an inspector shows about requests: conversations as a tree, one request in detail, and two requests compared.
//!
//! A shell keeps the [`RequestRecord`]s of all requests and adds them to [`Records`], which answers the questions of its
//! view. Nothing here contains text of a conversation.

mod compare;
mod detail;
mod tree;

use std::collections::BTreeMap;

use crate::boundary::{
    Comparison, Cost, CostBasis, FailureKind, NoteKind, PieceGroup, PieceKind, PieceRecord, RequestDetail,
    RequestRecord, Status, TreeRow,
};
use crate::message::{Message, MessageCode};
use crate::numbers::grouped;

/// The records of requests, by the time when they began.
#[derive(Debug, Default)]
pub struct Records {
    records: BTreeMap<(u64, String), RequestRecord>,
}

impl Records {
    /// Adds the records in a file, which has one on each line. A line that is damaged or was written by a newer version
    /// is skipped, and a record that is already known is replaced.
    pub fn add_lines(&mut self, lines: &str) {
        lines.lines().filter_map(RequestRecord::read).for_each(|record| self.add(record));
    }

    /// Adds one record.
    pub fn add(&mut self, record: RequestRecord) {
        self.records.insert((record.started_ms, record.id.clone()), record);
    }

    /// Returns the conversations with their requests, the newest conversation first, and the requests of each in the
    /// order in which they began.
    pub fn tree(&self) -> Vec<TreeRow> {
        tree::rows(&self.records.values().collect::<Vec<_>>())
    }

    /// Returns the details of a request.
    pub fn request(&self, id: &str) -> Option<RequestDetail> {
        let record = self.find(id)?;
        let others = self.records.values().filter(|other| other.conversation == record.conversation && other.id != id);
        Some(detail::of(record, &others.collect::<Vec<_>>()))
    }

    /// Compares what was sent with two requests, piece by piece.
    pub fn compare(&self, before: &str, after: &str) -> Option<Comparison> {
        Some(compare::compare(self.find(before)?, self.find(after)?))
    }

    fn find(&self, id: &str) -> Option<&RequestRecord> {
        self.records.values().find(|record| record.id == id)
    }
}

fn tokens(count: u64) -> Message {
    if count == 1 { MessageCode::OneToken.into() } else { Message::new(MessageCode::Tokens, [&grouped(count)]) }
}

fn plain(text: &dyn ToString) -> Message {
    Message::new(MessageCode::Plain, [text])
}

/// Returns a cost, and says where the figure comes from unless the server reported it.
fn cost(Cost { usd, basis }: Cost) -> Message {
    let code = match basis {
        CostBasis::Reported => MessageCode::Plain,
        CostBasis::Computed => MessageCode::CostComputed,
        CostBasis::Play => MessageCode::CostPlay,
    };
    Message::new(code, [&usd])
}

fn piece(PieceRecord { kind, name, .. }: &PieceRecord) -> Message {
    let name = name.as_deref().unwrap_or("?");
    match kind {
        PieceKind::Frame => MessageCode::PieceFrame.into(),
        PieceKind::System => MessageCode::PieceSystem.into(),
        PieceKind::Tool => Message::new(MessageCode::PieceTool, [&name]),
        PieceKind::Message if name == "assistant" => MessageCode::PieceAnswer.into(),
        PieceKind::Message => MessageCode::PieceQuestion.into(),
        PieceKind::Call => Message::new(MessageCode::PieceCall, [&name]),
        PieceKind::Result => Message::new(MessageCode::PieceResult, [&name]),
        PieceKind::Reasoning => MessageCode::PieceReasoning.into(),
    }
}

fn group(group: PieceGroup) -> MessageCode {
    match group {
        PieceGroup::System => MessageCode::GroupSystem,
        PieceGroup::Tools => MessageCode::GroupTools,
        PieceGroup::History => MessageCode::GroupHistory,
        PieceGroup::New => MessageCode::GroupNew,
    }
}

fn status(status: Status) -> MessageCode {
    match status {
        Status::Completed => MessageCode::FinishCompleted,
        Status::Incomplete => MessageCode::FinishIncomplete,
        Status::Truncated => MessageCode::FinishTruncated,
        Status::Failed => MessageCode::FinishFailed,
        Status::Cancelled => MessageCode::FinishCancelled,
    }
}

fn failure(kind: FailureKind) -> MessageCode {
    match kind {
        FailureKind::SignIn => MessageCode::WhySignIn,
        FailureKind::Forbidden => MessageCode::WhyForbidden,
        FailureKind::NoCredit => MessageCode::WhyNoCredit,
        FailureKind::ModelNotFound => MessageCode::WhyModelNotFound,
        FailureKind::ContextOverflow => MessageCode::WhyContextOverflow,
        FailureKind::BadRequest => MessageCode::WhyBadRequest,
        FailureKind::RateLimited => MessageCode::WhyRateLimited,
        FailureKind::ServerDown => MessageCode::WhyServerDown,
        FailureKind::NotAStream => MessageCode::WhyNotAStream,
        FailureKind::Network => MessageCode::WhyNetwork,
        FailureKind::Server => MessageCode::WhyServer,
        FailureKind::ToolCall => MessageCode::WhyToolCall,
        FailureKind::TooLarge => MessageCode::WhyTooLarge,
    }
}

fn note(kind: NoteKind) -> MessageCode {
    match kind {
        NoteKind::Event | NoteKind::MoreNotes => MessageCode::NotedMore,
        NoteKind::UnknownEvent => MessageCode::NotedUnknownEvent,
        NoteKind::IgnoredItem => MessageCode::NotedIgnoredItem,
        NoteKind::IgnoredContent => MessageCode::NotedIgnoredContent,
        NoteKind::Malformed => MessageCode::NotedMalformed,
        NoteKind::TypeMismatch => MessageCode::NotedTypeMismatch,
        NoteKind::Sequence => MessageCode::NotedSequence,
        NoteKind::TextMismatch => MessageCode::NotedTextMismatch,
        NoteKind::OrphanArguments => MessageCode::NotedOrphanArguments,
        NoteKind::DroppedCall => MessageCode::NotedDroppedCall,
        NoteKind::RepeatedCall => MessageCode::NotedRepeatedCall,
        NoteKind::Leftover => MessageCode::NotedLeftover,
        NoteKind::LeftOut => MessageCode::NotedLeftOut,
        NoteKind::Repaired => MessageCode::NotedRepaired,
        NoteKind::RanElsewhere => MessageCode::NotedRanElsewhere,
        NoteKind::TakenBack => MessageCode::NotedTakenBack,
        NoteKind::ModelList => MessageCode::NotedModelList,
        NoteKind::Setting => MessageCode::NotedSetting,
    }
}
