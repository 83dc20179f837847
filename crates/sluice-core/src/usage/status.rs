//! The status line of a conversation and the warning before a request, as data.

use std::cmp::Reverse;

use super::{ConversationUsage, Open, freed};
use crate::boundary::{Activity, Level, Preflight, RequestKind, RequestUsage, StatusLine, TooltipLine, Totals};
use crate::numbers::{fixed_count, grouped, short_count};

const WARNING_PERCENT: u64 = 75;
const ERROR_PERCENT: u64 = 90;

/// Returns the status line. It shows the estimate of the running main request, or else the server's last count, or else
/// the estimate of a request that was never counted.
pub(super) fn line(conversation: &ConversationUsage, open: &[&Open]) -> StatusLine {
    let main = open.iter().filter(|open| open.start.kind == RequestKind::Main).min_by_key(|open| Reverse(open.number));
    let counted = conversation.counted.as_ref();
    // A main request without an estimate doesn't hide the last count.
    let running = main.filter(|main| {
        (main.start.estimate.is_some() || counted.is_none()) && counted.is_none_or(|last| last.number < main.number)
    });
    let guessed = running.map(|main| &main.start).or(conversation.guessed.as_ref());
    let (tokens, limit, is_estimate) = match (guessed, counted) {
        (Some(start), _) => (start.estimate, start.max_input_tokens, true),
        (None, Some(counted)) => (Some(counted.input_tokens), counted.max_input_tokens, false),
        (None, None) => (None, None, false),
    };

    let percent = tokens.zip(limit).and_then(|(tokens, limit)| percent(tokens, limit));
    let mut text = match (tokens, limit, percent) {
        (Some(tokens), Some(limit), Some(percent)) => {
            format!("{}/{} · {percent} %", fixed_count(tokens), short_count(limit))
        }
        (Some(tokens), ..) => format!("{} tokens", fixed_count(tokens)),
        (None, ..) if open.is_empty() => "not counted".to_owned(),
        (None, ..) => "…".to_owned(),
    };
    if is_estimate && tokens.is_some() {
        text.insert(0, '~');
    }
    // Until the first answer after a summary, the freed tokens are an estimate.
    let shrinking = || tokens.zip(counted).and_then(|(tokens, counted)| freed(counted.input_tokens, tokens));
    let freed = if is_estimate { shrinking() } else { None }.or(conversation.freed.map(|freed| freed.tokens));
    if let Some(freed) = freed {
        text.push_str(&format!(" · ↓{}", fixed_count(freed)));
    }

    let mut tooltip = Vec::new();
    let mut say = |label: &str, value: String| tooltip.push(TooltipLine { label: label.to_owned(), value });
    let model = guessed.map(|start| &start.model).or(counted.map(|counted| &counted.usage.model));
    if let Some(model) = model {
        say("Model", model.clone());
    }
    if let Some(tokens) = tokens {
        let about = if is_estimate { "about " } else { "" };
        let of = limit.map(|limit| format!(" of {}", grouped(limit))).unwrap_or_default();
        say("Context", format!("{about}{}{of} tokens", grouped(tokens)));
    }
    if let Some(freed) = freed {
        say("Freed", format!("{} tokens", grouped(freed)));
    }
    if let Some(counted) = counted {
        last_answer(&counted.usage, &mut say);
    }
    if conversation.totals.requests > 0 {
        say("Conversation", sums(&conversation.totals));
    }
    let running = |kind| open.iter().filter(|open| open.start.kind == kind).count();
    match running(RequestKind::SubAgent) {
        0 => {}
        1 => say("Running", "1 sub-agent".to_owned()),
        many => say("Running", format!("{many} sub-agents")),
    }
    let activity = match () {
        () if running(RequestKind::Summary) > 0 => Activity::Summarizing,
        () if open.iter().any(|open| open.start.kind != RequestKind::Utility) => Activity::Answering,
        () => Activity::Idle,
    };
    StatusLine { text, level: percent.map_or(Level::Normal, level), activity, tooltip }
}

fn last_answer(usage: &RequestUsage, say: &mut dyn FnMut(&str, String)) {
    let part = |tokens: Option<u64>, word: &str| {
        tokens.filter(|tokens| *tokens > 0).map(|tokens| format!(" ({} {word})", grouped(tokens))).unwrap_or_default()
    };
    let side = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), grouped);
    say(
        "Last answer",
        format!(
            "{} in{}, {} out{}",
            side(usage.input_tokens),
            part(usage.cached_tokens, "cached"),
            side(usage.output_tokens),
            part(usage.reasoning_tokens, "reasoning")
        ),
    );
    if let Some(cost) = usage.cost {
        say("Cost", cost.to_string());
    }
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let first_part = usage.first_part_ms.map(|ms| format!("first part after {:.1} s", ms as f64 / 1000.0));
    let speed = usage.tokens_per_second.map(|rate| format!("{rate:.0} tokens/s"));
    let speed: Vec<String> = first_part.into_iter().chain(speed).collect();
    if !speed.is_empty() {
        say("Speed", speed.join(", "));
    }
}

fn sums(totals: &Totals) -> String {
    let requests = if totals.requests == 1 { "request" } else { "requests" };
    let mut line = format!(
        "{} {requests}, {} in, {} out",
        grouped(totals.requests),
        grouped(totals.input_tokens),
        grouped(totals.output_tokens)
    );
    if totals.cost.0 > 0 {
        let more = if totals.unpriced > 0 { " and more" } else { "" };
        line.push_str(&format!(", {}{more}", totals.cost));
    }
    line
}

/// Returns a warning if a request comes close to the model's window. Nothing is refused: the estimate may be wrong, and
/// only the server knows the limit for certain.
pub fn preflight(model: &str, estimate: u64, max_input_tokens: Option<u64>) -> Option<Preflight> {
    let limit = max_input_tokens?;
    let percent = percent(estimate, limit)?;
    let (estimate, window) = (fixed_count(estimate), short_count(limit));
    let message = match percent {
        ..ERROR_PERCENT => return None,
        ERROR_PERCENT..=100 => format!(
            "This request has about {estimate} tokens, {percent} % of {model}'s input limit ({window}). Summarize the conversation soon, or start a new one."
        ),
        _ => format!(
            "This request has about {estimate} tokens, but {model} accepts at most {window}, so it may be refused. Summarize the conversation, drop some context, or choose a model with a larger window."
        ),
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
