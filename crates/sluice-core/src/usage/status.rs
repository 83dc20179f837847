//! The status line of a conversation and the warning before a request, as data.

use std::cmp::Reverse;

use super::{ConversationUsage, Kinds, Open, freed};
use crate::boundary::{
    Activity, CostBasis, Level, Preflight, RequestKind, RequestUsage, StatusLine, TooltipLine, Totals,
};
use crate::message::{Message, MessageCode};
use crate::numbers::{fixed_count, grouped, short_count};

const WARNING_PERCENT: u64 = 75;
const ERROR_PERCENT: u64 = 90;

/// Returns the status line. It shows the estimate of the running main request, or else the server's last count, or else
/// the estimate of a request that was never counted. Like the ring in VS Code's chat, it compares the input and the
/// output of a request with the context window.
pub(super) fn line(conversation: &ConversationUsage, open: &[&Open], kinds: Kinds) -> StatusLine {
    let main = open.iter().filter(|open| open.start.kind == RequestKind::Main).min_by_key(|open| Reverse(open.number));
    let counted = conversation.counted.as_ref();
    // A main request without an estimate doesn't hide the last count.
    let running = main.filter(|main| {
        (main.start.estimate.is_some() || counted.is_none()) && counted.is_none_or(|last| last.number < main.number)
    });
    let guessed = running.map(|main| &main.start).or(conversation.guessed.as_ref());
    let (tokens, limit, is_estimate) = match (guessed, counted) {
        (Some(start), _) => (start.estimate, start.context_window, true),
        (None, Some(counted)) => {
            let used = counted.input_tokens.saturating_add(counted.usage.output_tokens.unwrap_or(0));
            (Some(used), counted.context_window, false)
        }
        (None, None) => (None, None, false),
    };

    let percent = tokens.zip(limit).and_then(|(tokens, limit)| percent(tokens, limit));
    let sign = if is_estimate { "~" } else { "" };
    let mut text = vec![match (tokens, limit, percent) {
        (Some(tokens), Some(limit), Some(percent)) => {
            plain(&format!("{sign}{}/{} · {percent} %", fixed_count(tokens), short_count(limit)))
        }
        (Some(tokens), ..) => Message::new(MessageCode::Tokens, [&format!("{sign}{}", fixed_count(tokens))]),
        (None, ..) if open.is_empty() => MessageCode::NotCounted.into(),
        (None, ..) => plain(&"…"),
    }];
    // Until the first answer after a summary, the freed tokens are an estimate.
    let shrinking = || tokens.zip(counted).and_then(|(tokens, counted)| freed(counted.input_tokens, tokens));
    let freed = if is_estimate { shrinking() } else { None }.or(conversation.freed.map(|freed| freed.tokens));
    text.extend(freed.map(|freed| plain(&format!("↓{}", fixed_count(freed)))));
    text.extend(cost(&conversation.totals));

    let mut tooltip = Vec::new();
    let mut say = |label: MessageCode, value: Vec<Message>| tooltip.push(TooltipLine { label: label.into(), value });
    let model = guessed.map(|start| &start.model).or(counted.map(|counted| &counted.usage.model));
    if let Some(model) = model {
        say(MessageCode::ModelLabel, vec![plain(model)]);
        let effort = guessed.map(|start| &start.effort).or(counted.map(|counted| &counted.usage.effort));
        say(
            MessageCode::ThinkingLabel,
            vec![match effort.and_then(Option::as_deref) {
                Some("none") => MessageCode::ThinkingOff.into(),
                Some(effort) => plain(&effort),
                None => MessageCode::ThinkingByModel.into(),
            }],
        );
    }
    if let Some(tokens) = tokens {
        let tokens = grouped(tokens);
        let context = match (limit.map(grouped), is_estimate) {
            (Some(limit), true) => Message::new(MessageCode::AboutTokensOf, [&tokens, &limit]),
            (Some(limit), false) => Message::new(MessageCode::TokensOf, [&tokens, &limit]),
            (None, true) => Message::new(MessageCode::AboutTokens, [&tokens]),
            (None, false) => Message::new(MessageCode::Tokens, [&tokens]),
        };
        let by = if is_estimate { MessageCode::EstimatedCount } else { MessageCode::CountedByServer };
        say(MessageCode::ContextLabel, vec![context, by.into()]);
    }
    if let Some(freed) = freed {
        say(MessageCode::FreedLabel, vec![Message::new(MessageCode::Tokens, [&grouped(freed)])]);
    }
    if let Some(counted) = counted {
        last_answer(&counted.usage, &mut say);
    }
    if conversation.totals.requests > 0 {
        say(MessageCode::ConversationLabel, sums(&conversation.totals));
    }
    let also = [
        (kinds.sub_agent, MessageCode::SubAgentRequests),
        (kinds.summary, MessageCode::SummaryRequests),
        (kinds.inline, MessageCode::InlineRequests),
        (kinds.utility, MessageCode::UtilityRequests),
    ];
    let also: Vec<Message> =
        also.into_iter().filter(|(count, _)| *count > 0).map(|(count, code)| Message::new(code, [&count])).collect();
    if !also.is_empty() {
        say(MessageCode::AlsoLabel, also);
    }
    let running = |kind| open.iter().filter(|open| open.start.kind == kind).count();
    match running(RequestKind::SubAgent) {
        0 => {}
        1 => say(MessageCode::RunningLabel, vec![MessageCode::OneSubAgent.into()]),
        many => say(MessageCode::RunningLabel, vec![Message::new(MessageCode::SubAgents, [&many])]),
    }
    let activity = match () {
        () if running(RequestKind::Summary) > 0 => Activity::Summarizing,
        () if open.iter().any(|open| open.start.kind != RequestKind::Utility) => Activity::Answering,
        () => Activity::Idle,
    };
    StatusLine { text, level: percent.map_or(Level::Normal, level), activity, tooltip }
}

fn last_answer(usage: &RequestUsage, say: &mut dyn FnMut(MessageCode, Vec<Message>)) {
    let input = (usage.input_tokens, usage.cached_tokens);
    say(MessageCode::LastAnswerLabel, in_and_out(input, (usage.output_tokens, usage.reasoning_tokens), grouped).into());
    if let Some(cost) = usage.cost {
        let code = if usage.cost_basis == Some(CostBasis::Play) { MessageCode::CostPlay } else { MessageCode::Plain };
        say(MessageCode::CostLabel, vec![Message::new(code, [&cost])]);
    }
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let first_part = usage.first_part_ms.map(|ms| format!("{:.1}", ms as f64 / 1000.0));
    let first_part = first_part.map(|seconds| Message::new(MessageCode::FirstPartAfter, [&seconds]));
    let rate = usage.tokens_per_second.map(|rate| Message::new(MessageCode::TokensPerSecond, [&format!("{rate:.0}")]));
    let speed: Vec<Message> = first_part.into_iter().chain(rate).collect();
    if !speed.is_empty() {
        say(MessageCode::SpeedLabel, speed);
    }
}

/// Says how many tokens went in and out, and how many of them were cached or thinking.
pub(crate) fn in_and_out(
    input: (Option<u64>, Option<u64>),
    output: (Option<u64>, Option<u64>),
    format: fn(u64) -> String,
) -> [Message; 2] {
    let side = |(tokens, part): (Option<u64>, Option<u64>), alone, with_part| {
        let tokens = tokens.map_or_else(|| "?".to_owned(), format);
        match part.filter(|part| *part > 0) {
            Some(part) => Message::new(with_part, [&tokens, &format(part)]),
            None => Message::new(alone, [&tokens]),
        }
    };
    [
        side(input, MessageCode::TokensIn, MessageCode::TokensInCached),
        side(output, MessageCode::TokensOut, MessageCode::TokensOutReasoning),
    ]
}

fn sums(totals: &Totals) -> Vec<Message> {
    totalled(totals, in_and_out((Some(totals.input_tokens), None), (Some(totals.output_tokens), None), grouped))
}

/// Describes the usage of a day or a month with one model.
pub(super) fn details(totals: &Totals) -> Vec<Message> {
    let input = (Some(totals.input_tokens), Some(totals.cached_tokens));
    let output = (Some(totals.output_tokens), Some(totals.reasoning_tokens));
    let rate =
        totals.tokens_per_second().map(|rate| Message::new(MessageCode::TokensPerSecond, [&format!("{rate:.0}")]));
    totalled(totals, in_and_out(input, output, short_count)).into_iter().chain(rate).collect()
}

fn totalled(totals: &Totals, in_and_out: [Message; 2]) -> Vec<Message> {
    let requests = match totals.requests {
        1 => MessageCode::OneRequest.into(),
        many => Message::new(MessageCode::Requests, [&grouped(many)]),
    };
    [requests].into_iter().chain(in_and_out).chain(cost(totals)).collect()
}

fn cost(totals: &Totals) -> Option<Message> {
    let code = if totals.unpriced > 0 { MessageCode::AndMore } else { MessageCode::Plain };
    (totals.cost.0 > 0).then(|| Message::new(code, [&totals.cost]))
}

fn plain(text: &dyn ToString) -> Message {
    Message::new(MessageCode::Plain, [text])
}

/// Returns a warning if a request comes close to the model's window. Nothing is refused: the estimate may be wrong, and
/// only the server knows the limit for certain.
pub fn preflight(model: &str, estimate: u64, max_input_tokens: Option<u64>) -> Option<Preflight> {
    let limit = max_input_tokens?;
    let percent = percent(estimate, limit)?;
    let (estimate, window) = (fixed_count(estimate), short_count(limit));
    let message = match percent {
        ..ERROR_PERCENT => return None,
        ERROR_PERCENT..=100 => Message::new(MessageCode::NearlyFull, [&estimate, &percent, &model, &window]),
        _ => Message::new(MessageCode::TooFull, [&estimate, &model, &window]),
    };
    Some(Preflight { level: level(percent), message })
}

fn level(percent: u64) -> Level {
    match percent {
        ..WARNING_PERCENT => Level::Normal,
        WARNING_PERCENT..ERROR_PERCENT => Level::Warning,
        _ => Level::Error,
    }
}

/// Returns the rounded percentage, so that the colour matches the number that is shown. A request that doesn't fit is
/// never shown as 100 %.
fn percent(tokens: u64, limit: u64) -> Option<u64> {
    let hundredths = tokens.saturating_mul(100);
    if tokens > limit {
        return hundredths.checked_div(limit).map(|percent| percent.max(101));
    }
    hundredths.saturating_add(limit / 2).checked_div(limit)
}
