//! Turns chunks into parts: the state machine of this dialect. It is simpler than the one for Open Responses, because
//! the SDK sends every text once. Only calls, which arrive in pieces and whole, need care.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::vec::Drain;

use super::calls::Calls;
use super::chunk::Chunk;
use super::data::Data;
use super::fields::RawFields;
use super::usage;
use crate::boundary::{Failure, NoteKind, Output, Part, ReasoningItem, ReplayItem, SEPARATOR, ThinkingReplay};
use crate::message::MessageCode;
use crate::receive::sse::EventTooLarge;
use crate::receive::{About, BodyEnd, MAX_PLAIN_BYTES, Sink, StreamOptions, Verdict, protocol_word};
use crate::wire::LongRuns;

const MAX_BLOCK_ID_BYTES: usize = 200;
/// The memory for an entry in addition to its id.
const OVERHEAD: usize = 192;

#[derive(Clone, Debug)]
pub(super) struct Assembler {
    trace: bool,
    calls: Calls,
    data: Data,
    /// Text and thinking that began but hasn't ended.
    open_blocks: BTreeSet<(bool, String)>,
    /// How often each thinking block's id was used, because every step restarts the numbering.
    thinking_starts: BTreeMap<String, u32>,
    last_thinking: Option<String>,
    /// The id of the message that the text belongs to, if the provider names it.
    message: Option<String>,
    /// Whether the next text begins another message.
    begins_message: bool,
    replay: Vec<ReasoningItem>,
    /// The position in `replay` of the item with each id.
    replay_by_id: BTreeMap<String, usize>,
    /// Whether the last `finish` had the usage of all steps. Later steps add to it.
    pub about: About,
    pub verdict: Option<Verdict>,
    /// Whether `finish` was read. More may follow, because applications append data to their streams.
    finished: Option<Verdict>,
    pub sink: Sink,
}

impl Assembler {
    pub(super) fn new(options: StreamOptions) -> Self {
        Self {
            trace: options.trace,
            calls: Calls::new(options.tool_names, options.plain_call_ids),
            data: Data::default(),
            open_blocks: BTreeSet::new(),
            thinking_starts: BTreeMap::new(),
            last_thinking: None,
            message: None,
            begins_message: false,
            replay: Vec::new(),
            replay_by_id: BTreeMap::new(),
            about: About::default(),
            verdict: None,
            finished: None,
            sink: Sink::new(options.limits),
        }
    }

    /// Handles the JSON of one chunk. After the verdict, chunks are ignored.
    pub(super) fn handle(&mut self, json: &str, long_runs: &LongRuns) {
        if self.verdict.is_some() {
            return;
        }
        let fields = RawFields::read(json);
        let kind = fields.as_ref().and_then(|fields| fields.word(&["type"]));
        if !long_runs.is_empty() && !kind.as_deref().is_some_and(Chunk::is_file) {
            return self.handle_whole(&long_runs.put_back(json));
        }
        if let (Some(fields), Some(kind)) = (&fields, &kind) {
            self.handle_chunk(kind, fields, long_runs);
        } else {
            // What can't be read may have been a piece of a call.
            self.calls.doubt_open_calls();
            self.sink.note(NoteKind::Malformed, "");
        }
        let items = self.calls.len()
            + self.thinking_starts.len()
            + self.open_blocks.len()
            + self.replay.len()
            + self.data.sources();
        if items > self.sink.limits.max_items {
            self.sink.over_limit(MessageCode::TooManyItems, self.sink.limits.max_items);
        }
        if let Some(message) = self.sink.over_limit.take() {
            self.verdict = Some(Verdict::TooLarge(message));
        }
    }

    /// Handles a chunk that has a long text although it is not a file.
    #[inline(never)]
    fn handle_whole(&mut self, json: &str) {
        if json.len() > MAX_PLAIN_BYTES {
            self.give_up(EventTooLarge::Longer { max_bytes: MAX_PLAIN_BYTES });
        } else {
            self.handle(json, &LongRuns::default());
        }
    }

    /// A verdict from before the oversized chunk still counts.
    #[inline(never)]
    pub(super) fn give_up(&mut self, error: EventTooLarge) {
        self.verdict.get_or_insert(Verdict::TooLarge(error.into()));
    }

    pub(super) fn outputs(&mut self) -> Drain<'_, Output> {
        if self.verdict.is_some() {
            self.calls.report_held(&mut self.sink);
            self.sink.sum_up_notes();
        }
        self.sink.outputs.drain(..)
    }

    fn handle_chunk(&mut self, kind: &str, fields: &RawFields<'_>, long_runs: &LongRuns) {
        if self.trace {
            self.sink.note(NoteKind::Event, protocol_word(kind));
        }
        let sink = &mut self.sink;
        match Chunk::named(kind, fields) {
            Chunk::Text { piece } => {
                if !piece.is_empty() {
                    let is_next = std::mem::take(&mut self.begins_message) && sink.gave_text;
                    let value = if is_next { format!("{SEPARATOR}{piece}") } else { piece.into_owned() };
                    sink.part(Part::Text { value });
                }
            }
            Chunk::Thinking { block, piece } => self.think(block.as_deref(), piece.into_owned()),
            Chunk::BlockStart { is_thinking, block } => {
                let block = block.unwrap_or_default().into_owned();
                let bytes = OVERHEAD + block.len();
                if !is_thinking && let Some(item) = item_id(fields) {
                    // Other providers split one message into several blocks, in the middle of a sentence.
                    self.begins_message |= self.message.as_ref().is_some_and(|before| *before != item);
                    self.message = Some(item);
                }
                if is_thinking {
                    let starts = self.thinking_starts.entry(block.clone()).or_default();
                    sink.retain(if *starts == 0 { bytes } else { 0 });
                    *starts += 1;
                    self.learn_replay(fields);
                }
                if self.open_blocks.insert((is_thinking, block)) {
                    self.sink.retain(bytes);
                }
            }
            Chunk::BlockEnd { is_thinking, block } => {
                let block = block.unwrap_or_default().into_owned();
                let bytes = OVERHEAD + block.len();
                if self.open_blocks.remove(&(is_thinking, block)) {
                    sink.release(bytes);
                }
                if is_thinking {
                    self.learn_replay(fields);
                } else {
                    self.data.sources_of_text(fields, sink);
                }
            }

            Chunk::InputStart { id, name, ran_elsewhere } => {
                self.calls.input_start(&id, name.as_deref(), ran_elsewhere, sink);
            }
            Chunk::InputDelta { id, name, piece } => {
                self.calls.input_delta(id.as_deref(), name.as_deref(), &piece, sink);
            }
            Chunk::InputEnd { id } => self.calls.input_end(id.as_deref()),
            Chunk::Call { id, name, input, ran_elsewhere, is_invalid } => {
                self.calls.whole(id.as_deref(), name.as_deref(), input, ran_elsewhere, sink);
                if is_invalid {
                    self.calls.set_invalid(id.as_deref());
                }
            }
            Chunk::Ran { id, output, by_provider } => {
                let by_provider = by_provider || self.calls.is_ran_elsewhere(id.as_deref());
                if let Some(output) = output.filter(|_| by_provider) {
                    Data::image_of_tool(output, sink);
                }
                self.calls.ran(id.as_deref(), sink);
            }
            Chunk::RanInVain { id } => {
                if !self.calls.is_invalid(id.as_deref()) {
                    self.calls.ran(id.as_deref(), sink);
                }
            }

            Chunk::File => Data::file(fields, long_runs, sink),
            Chunk::Source => self.data.source(fields, sink),
            Chunk::Data { name } => Data::custom(name, fields, sink),

            Chunk::Response => self.learn_response(fields),
            Chunk::Step => self.end_step(fields),
            Chunk::Finish => self.finish(fields),
            Chunk::Reset => {
                self.calls.forget_open(sink);
                self.open_blocks.clear();
                if self.sink.gave_part {
                    self.sink.note(NoteKind::TakenBack, protocol_word(kind));
                }
            }
            Chunk::Abort => self.verdict = Some(Verdict::Cancelled),
            Chunk::Error => self.verdict = Some(Verdict::Failed(Failure::from_chunk(fields))),
            Chunk::Silent => {}
            Chunk::Ignored => sink.note(NoteKind::IgnoredContent, protocol_word(kind)),
            Chunk::Unknown => sink.note(NoteKind::UnknownEvent, protocol_word(kind)),
        }
    }

    fn think(&mut self, block: Option<&str>, value: String) {
        // Every part has the id, so it must be short.
        let id = match block.filter(|block| block.len() <= MAX_BLOCK_ID_BYTES) {
            Some(block) => match self.thinking_starts.get(block) {
                Some(starts @ 2..) => format!("{block}:{}", starts - 1),
                _ => block.to_owned(),
            },
            None => "thinking".to_owned(),
        };
        if !value.is_empty() {
            self.last_thinking = Some(id.clone());
            self.sink.part(Part::Thinking { value, id, replay: None });
        }
    }

    /// Encrypted thinking is in the metadata of the provider that produced it.
    fn learn_replay(&mut self, fields: &RawFields<'_>) {
        let Some(metadata) = fields.object(&["providerMetadata"]) else { return };
        for provider in metadata.iter().filter_map(|(_, json)| RawFields::read(json)) {
            let Some(encrypted) = provider.word(&["reasoningEncryptedContent"]) else { continue };
            let id = provider.word(&["itemId"]).map(std::borrow::Cow::into_owned);
            let item =
                ReasoningItem { id, encrypted_content: Some(encrypted.into_owned()), ..ReasoningItem::default() };
            let bytes = |item: &ReasoningItem| OVERHEAD + item.bytes() + item.id.as_deref().map_or(0, str::len);
            self.sink.retain_waiting(bytes(&item));
            // Each block of one item repeats it.
            let known = item.id.as_ref().and_then(|id| self.replay_by_id.get(id));
            if let Some(known) = known.and_then(|known| self.replay.get_mut(*known)) {
                self.sink.release_waiting(bytes(known));
                *known = item;
            } else {
                if let Some(id) = item.id.clone() {
                    self.replay_by_id.insert(id, self.replay.len());
                }
                self.replay.push(item);
            }
        }
    }

    fn learn_response(&mut self, response: &RawFields<'_>) {
        self.about.name(response.word(&["id"]).as_deref(), response.word(&["modelId", "model"]).as_deref());
    }

    fn end_step(&mut self, fields: &RawFields<'_>) {
        if let Some(response) = fields.object(&["response"]) {
            self.learn_response(&response);
        }
        if let Some(step) = usage::usage(fields) {
            self.about.usage = Some(usage::add(self.about.usage.take(), step));
        }
        self.calls.end_step(&mut self.sink);
    }

    fn finish(&mut self, fields: &RawFields<'_>) {
        if let Some(response) = fields.object(&["response"]) {
            self.learn_response(&response);
        }
        if let Some(total) = usage::usage(fields) {
            self.about.usage = Some(total);
        }
        let reason = fields.word(&["finishReason"]);
        let reason = reason.or_else(|| fields.object(&["finishReason"])?.word(&["unified", "type"]));
        self.calls.end_step(&mut self.sink);
        self.give_replay();
        let verdict = match reason.as_deref() {
            Some("length") => Verdict::Incomplete(Some("max_output_tokens".to_owned())),
            Some("content-filter") => Verdict::Incomplete(Some("content_filter".to_owned())),
            Some("error") => Verdict::Failed(Failure::from_stream(None, None)),
            // If a provider's stream just ends, the SDK adds `finish` with one of these reasons.
            Some("other" | "unknown") if !self.open_blocks.is_empty() => Verdict::CutOff("eof"),
            _ => Verdict::Completed,
        };
        self.finished = Some(verdict);
        self.open_blocks.clear();
    }

    pub(super) fn has_open_call(&self) -> bool {
        self.calls.any_open()
    }

    /// One empty part at the end contains what has to be sent back for all thinking.
    fn give_replay(&mut self) {
        let items = mem::take(&mut self.replay);
        self.replay_by_id.clear();
        if items.is_empty() {
            return;
        }
        let first = items.first().and_then(|item| item.id.clone());
        let id = self.last_thinking.clone().or(first).unwrap_or_else(|| "thinking".to_owned());
        let items = items.into_iter().map(ReplayItem::Reasoning).collect();
        let replay = Some(ThinkingReplay { model: self.about.model.clone(), origin: None, items });
        self.sink.part(Part::Thinking { value: String::new(), id, replay });
    }

    /// `[DONE]`, which follows every UI message stream.
    pub(super) fn done(&mut self) {
        if self.verdict.is_none() {
            self.settle("done_marker");
        }
    }

    /// There are no more chunks. `is_body` says that they arrived as bytes, which can be cut off anywhere; a program's
    /// own stream ends when the program ends it.
    pub(super) fn end(&mut self, end: BodyEnd, is_body: bool) {
        if self.verdict.is_some() || end == BodyEnd::Cancelled {
            return;
        }
        if end == BodyEnd::Eof && (!is_body || self.finished.is_some()) {
            self.settle("eof");
        } else if end == BodyEnd::Eof {
            self.calls.end_step(&mut self.sink);
            self.calls.drop_open(&mut self.sink);
        } else if self.finished.is_some() {
            self.settle("broken");
        } else {
            self.calls.report_held(&mut self.sink);
        }
    }

    /// The stream ended normally. It may have no `finish` (`sendFinish: false`), but a stream that stops inside a text
    /// or a call was cut off.
    fn settle(&mut self, cut_off_by: &'static str) {
        self.calls.end_step(&mut self.sink);
        self.give_replay();
        let verdict = match self.finished.take() {
            Some(Verdict::Completed) => self.calls.failure().map_or(Verdict::Completed, Verdict::Failed),
            Some(verdict) => verdict,
            None if self.open_blocks.is_empty() && !self.calls.any_open() => Verdict::Completed,
            None => Verdict::CutOff(cut_off_by),
        };
        if !matches!(verdict, Verdict::Completed | Verdict::Failed(_)) {
            self.calls.drop_open(&mut self.sink);
        }
        self.verdict = Some(verdict);
    }
}

/// Returns the id of the item that a block belongs to, from the metadata of its provider.
fn item_id(fields: &RawFields<'_>) -> Option<String> {
    let metadata = fields.object(&["providerMetadata"])?;
    metadata.iter().filter_map(|(_, json)| RawFields::read(json)).find_map(|provider| {
        provider.word(&["itemId"]).filter(|id| id.len() <= MAX_BLOCK_ID_BYTES).map(std::borrow::Cow::into_owned)
    })
}
