//! One request in detail.

use super::{cost, failure, group, note, piece, plain, status, tree};
use crate::boundary::{
    Expected, Forecast, GroupTokens, NoteCount, OtherRequest, Phase, PieceGroup, PieceRow, RequestDetail,
    RequestRecord, Timeline, TooltipLine,
};
use crate::message::{Message, MessageCode};
use crate::numbers::grouped;
use crate::usage::in_and_out;

/// Returns the details of a record. `others` are the other requests of its conversation, the oldest first.
pub(super) fn of(record: &RequestRecord, others: &[&RequestRecord]) -> RequestDetail {
    let (groups, pieces) = pieces(record);
    RequestDetail {
        id: record.id.clone(),
        title: tree::title(record, 1),
        started_ms: record.started_ms,
        status: record.finish.status,
        facts: facts(record),
        forecast: record.forecast.map(|forecast| expected(forecast, record)).unwrap_or_default(),
        cache: record.lens.as_ref().map(|lens| lens.text.clone()).unwrap_or_default(),
        phases: phases(&record.timeline),
        calls: record.timeline.calls.iter().map(|call| phase(plain(&call.name), call.ms, call.ms)).collect(),
        groups,
        pieces,
        others: others
            .iter()
            .rev()
            .map(|other| OtherRequest {
                id: other.id.clone(),
                title: tree::title(other, 1),
                started_ms: other.started_ms,
            })
            .collect(),
        continues: record.parent.clone().filter(|parent| others.iter().any(|other| other.id == *parent)),
    }
}

fn facts(record: &RequestRecord) -> Vec<TooltipLine> {
    let mut facts = Vec::new();
    let mut say = |label: MessageCode, value: Vec<Message>| {
        if !value.is_empty() {
            facts.push(TooltipLine { label: label.into(), value });
        }
    };
    let finish = &record.finish;
    let ended = [Message::from(status(finish.status))].into_iter();
    let ended = ended.chain(finish.failure.map(|kind| failure(kind).into()));
    say(MessageCode::FinishLabel, ended.chain(finish.reason.as_ref().map(|reason| plain(reason))).collect());
    say(MessageCode::ModelLabel, vec![plain(&record.model)]);
    let route = &record.routing;
    let answered_by = route.model.as_ref().filter(|model| **model != record.model).map(|model| plain(model));
    say(MessageCode::AnsweredByLabel, answered_by.into_iter().collect());
    say(
        MessageCode::ThinkingLabel,
        vec![match record.effort.as_deref() {
            Some("none") => MessageCode::ThinkingOff.into(),
            Some(effort) => plain(&effort),
            None => MessageCode::ThinkingByModel.into(),
        }],
    );
    let usage = record.usage;
    if usage.input.is_some() || usage.output.is_some() {
        let used = in_and_out((usage.input, usage.cached), (usage.output, usage.reasoning), grouped);
        let written = usage.cache_write.filter(|tokens| *tokens > 0);
        let written = written.map(|tokens| Message::new(MessageCode::CacheWritten, [&grouped(tokens)]));
        say(MessageCode::TokensLabel, used.into_iter().chain(written).collect());
    } else {
        say(MessageCode::TokensLabel, vec![MessageCode::NotCounted.into()]);
    }
    say(MessageCode::CostLabel, record.cost.map(cost).into_iter().collect());
    say(
        MessageCode::ServerLabel,
        Some(&record.origin).filter(|origin| !origin.is_empty()).map(|origin| plain(origin)).into_iter().collect(),
    );
    say(MessageCode::ProviderLabel, route.provider.iter().map(|provider| plain(provider)).collect());
    // If only one provider was tried, it is the one that answered.
    let tried = Some(&route.tried).filter(|tried| tried.len() > 1);
    say(MessageCode::TriedLabel, tried.into_iter().flatten().map(|provider| plain(provider)).collect());
    for (number, retry) in record.retries.iter().enumerate() {
        let label = Message::new(MessageCode::AttemptLabel, [&(number + 1)]);
        let value = vec![failure(retry.why).into(), Message::new(MessageCode::AfterSeconds, [&seconds(retry.ms)])];
        facts.push(TooltipLine { label, value });
    }
    for NoteCount { kind, count } in &record.notes {
        let often = (*count > 1).then(|| Message::new(MessageCode::Times, [count]));
        let value = [note(*kind).into()].into_iter().chain(often).collect();
        facts.push(TooltipLine { label: MessageCode::NoteLabel.into(), value });
    }
    facts
}

fn expected(forecast: Forecast, record: &RequestRecord) -> Vec<Expected> {
    let tokens = |label: MessageCode, expected: u64, actual: Option<u64>| Expected {
        label: label.into(),
        expected: plain(&grouped(expected)),
        actual: actual.map(|actual| plain(&grouped(actual))),
    };
    let mut rows = vec![
        tokens(MessageCode::InputLabel, forecast.input, record.usage.input),
        tokens(MessageCode::CachedLabel, forecast.cached, record.usage.cached),
        tokens(MessageCode::OutputLabel, forecast.output, record.usage.output),
    ];
    rows.extend(forecast.cost.map(|range| Expected {
        label: MessageCode::CostLabel.into(),
        expected: Message::new(MessageCode::CostBetween, [&range.expected, &range.low, &range.high]),
        actual: record.cost.map(cost),
    }));
    rows
}

fn seconds(ms: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let seconds = ms as f64 / 1000.0;
    if ms < 1_000 { format!("{seconds:.2}") } else { format!("{seconds:.1}") }
}

fn phase(label: Message, from_ms: u64, to_ms: u64) -> Phase {
    let ms = if from_ms == to_ms { from_ms } else { to_ms - from_ms };
    Phase { label, time: Message::new(MessageCode::Seconds, [&seconds(ms)]), from_ms, to_ms }
}

fn phases(timeline: &Timeline) -> Vec<Phase> {
    let call = timeline.calls.iter().map(|call| call.ms).min();
    let answer = [timeline.first_text_ms, call].into_iter().flatten().min();
    // Thinking after the first text belongs to the answer.
    let thinking = timeline.first_thinking_ms.filter(|thinking| answer.is_none_or(|answer| *thinking < answer));
    let output = [thinking, answer].into_iter().flatten().min();
    let starts = [
        (timeline.sent_ms.map(|_| 0), MessageCode::PhaseBefore),
        (timeline.sent_ms, MessageCode::PhaseWaiting),
        (timeline.first_byte_ms.filter(|_| output.is_some()), MessageCode::PhaseReading),
        (thinking, MessageCode::PhaseThinking),
        (answer, MessageCode::PhaseAnswer),
    ];
    let starts: Vec<(u64, MessageCode)> = starts.into_iter().filter_map(|(ms, label)| Some((ms?, label))).collect();
    let ends = starts.iter().skip(1).map(|(ms, _)| *ms).chain([timeline.end_ms]);
    let spans = starts.iter().zip(ends).filter(|((from, _), to)| from < to);
    spans.map(|((from, label), to)| phase((*label).into(), *from, to)).collect()
}

/// Returns the pieces and the sums of their groups. A cache contains the beginning of a prompt.
fn pieces(record: &RequestRecord) -> (Vec<GroupTokens>, Vec<PieceRow>) {
    let mut left = record.usage.cached.unwrap_or(0);
    let mut sums = [PieceGroup::System, PieceGroup::Tools, PieceGroup::History, PieceGroup::New].map(|one| (one, 0, 0));
    let mut rows = Vec::new();
    for sent in &record.pieces {
        let tokens = u64::from(sent.tokens);
        let cached = tokens.min(left);
        left -= cached;
        for (_, sum, sum_cached) in sums.iter_mut().filter(|(group, ..)| *group == sent.group) {
            *sum += tokens;
            *sum_cached += cached;
        }
        let is_cached = cached == tokens && tokens > 0;
        rows.push(PieceRow { title: piece(sent), group: sent.group, tokens: super::tokens(tokens), is_cached });
    }
    let groups = sums.into_iter().filter(|(_, tokens, _)| *tokens > 0).map(|(name, tokens, cached)| GroupTokens {
        group: name,
        label: group(name).into(),
        tokens,
        cached,
        text: [super::tokens(tokens)]
            .into_iter()
            .chain((cached > 0).then(|| Message::new(MessageCode::CachedTokens, [&grouped(cached)])))
            .collect(),
    });
    (groups.collect(), rows)
}
