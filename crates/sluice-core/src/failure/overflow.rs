//! Errors about a conversation that is too long. Every provider has its own words for it, and most mention the limit.

use std::borrow::Cow;

use crate::boundary::Overflow;

/// The number of characters that are read at the beginning and at the end of a message. No sentence for people is longer.
const MAX_READ: usize = 2_000;
/// The maximum distance in bytes between the words for a limit and its number.
const MAX_BETWEEN: usize = 80;
/// A smaller number is a count of messages or a status, not of tokens.
const MIN_TOKENS: u64 = 256;

/// Words that only such errors use.
const PHRASES: [&str; 26] = [
    "context window",
    "context length",
    "context size",
    "context limit",
    "maximum context",
    "context_length",
    "context_window",
    "exceed_context_size",
    "input is too long",
    "input too long",
    "prompt is too long",
    "prompt too long",
    "prompt length",
    "input length",
    "too many tokens",
    "too many input tokens",
    "token limit exceeded",
    "exceeds the maximum number of tokens",
    "input token count",
    "prompt token count",
    "model token limit",
    "maximum number of input tokens",
    "maximum input tokens",
    "reduce the length of the messages",
    "max_seq_len",
    "max_model_len",
];

/// Words of other errors about tokens and limits: rate limits, and limits for the answer's length.
const OTHERWISE: [&str; 15] = [
    "rate limit",
    "rate_limit",
    "too many requests",
    "throttl",
    "per minute",
    "per min",
    "per day",
    "per hour",
    "(tpm)",
    "please wait",
    "number of output tokens",
    "fewer output tokens",
    "max_tokens is too large",
    "completion tokens, whereas",
    "quota",
];

/// The words right before the limit. The first of them that is followed by a number determines it.
const BEFORE_LIMIT: [&str; 31] = [
    ">",
    "maximum context length",
    "maximum context window",
    "maximum context size",
    "maximum prompt length",
    "maximum input length",
    "maximum allowed input length",
    "maximum number of tokens",
    "maximum number of input tokens",
    "maximum input tokens",
    "maximum allowed",
    "max context length",
    "max context window",
    "context length",
    "context window",
    "context size",
    "context limit",
    "model token limit",
    "token limit",
    "n_ctx",
    "max_seq_len",
    "max_model_len",
    "max_position_embeddings",
    "configured limit",
    "less than or equal to",
    "up to",
    "at most",
    "limit",
    "maximum",
    "max",
    "supports",
];

/// Those of them that also occur in other sentences.
const GENERAL: [&str; 6] = ["up to", "at most", "limit", "maximum", "max", "supports"];

/// The words that may be between those and the number.
const FILLERS: [&str; 16] = [
    "is", "of", "to", "the", "only", "about", "set", "for", "this", "model", "at", "allowed", "tokens", "limited",
    "token", "size",
];

/// Returns the parts of a message that are read: all of it, unless it is absurdly long.
pub(super) fn excerpt(message: &str) -> Cow<'_, str> {
    let start = message.char_indices().nth(MAX_READ).map_or(message.len(), |(at, _)| at);
    let end = message.char_indices().rev().nth(MAX_READ - 1).map_or(0, |(at, _)| at);
    if end <= start {
        return Cow::Borrowed(message);
    }
    let part = |range: std::ops::Range<usize>| message.get(range).unwrap_or_default();
    Cow::Owned(format!("{} … {}", part(0..start), part(end..message.len())))
}

pub(super) fn is_overflow(code: &str, message: &str) -> bool {
    let message = excerpt(message).to_ascii_lowercase();
    if OTHERWISE.iter().any(|words| message.contains(words)) {
        return code == "context_length_exceeded";
    }
    let by_code = ["context_length_exceeded", "context_window_exceeded", "model_context_window_exceeded"];
    let too_large = ["too large for model", "longer than the model", "exceeds the limit of"];
    by_code.contains(&code)
        || PHRASES.iter().any(|words| message.contains(words))
        || message.contains("token") && too_large.iter().any(|words| message.contains(words))
}

/// Returns how many tokens an answer may have, if a message about a request for more says so. The size of the window says
/// nothing about that.
pub(crate) fn output_limit(message: &str) -> Option<u32> {
    const ABOUT_WINDOW: [&str; 3] = ["context", "max_model_len", "window"];
    let message = excerpt(message).to_ascii_lowercase();
    if ABOUT_WINDOW.iter().any(|words| message.contains(words)) {
        return None;
    }
    let numbers = numbers(&message);
    let limit = limit_after_words(&message, &numbers).or_else(|| {
        let smallest = numbers.iter().map(|number| number.tokens).min();
        smallest.filter(|smallest| numbers.iter().any(|number| number.tokens > *smallest))
    });
    limit.and_then(|limit| u32::try_from(limit).ok())
}

/// Returns the numbers in such a message, or `None` if the message is about something else.
pub(crate) fn overflow_numbers(message: &str) -> Option<Overflow> {
    let message = excerpt(message).to_ascii_lowercase();
    // vLLM also mentions the window if only the answer would be too long.
    if !is_overflow("", &message) && !message.contains("max_model_len") {
        return None;
    }
    let numbers = numbers(&message);
    let limit = limit_after_words(&message, &numbers).or_else(|| limit_before_words(&message, &numbers));
    let limit = limit.or(match numbers.as_slice() {
        // The error says that more was requested than is allowed.
        [one, other] if one.tokens != other.tokens => Some(one.tokens.min(other.tokens)),
        _ => None,
    });
    let largest = numbers.iter().map(|number| number.tokens).max();
    let asked = largest.filter(|asked| limit.is_none_or(|limit| *asked > limit));
    let overflow = Overflow { asked_tokens: asked, limit_tokens: limit };
    (asked.is_some() || limit.is_some()).then_some(overflow)
}

struct Number {
    start: usize,
    end: usize,
    tokens: u64,
}

/// Finds every count of tokens: `200000`, `1,048,576`, `200_000`, `128k`. Digits inside a word, such as a model's name
/// or a request id, don't count.
fn numbers(message: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let is_inside = |c: char| c.is_ascii_digit() || c == ',' || c == '_';
    let mut from = 0;
    while let Some(start) = message.get(from..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let start = from + start;
        let rest = message.get(start..).unwrap_or_default();
        let digits = rest.split_at(rest.find(|c| !is_inside(c)).unwrap_or(rest.len())).0.trim_end_matches([',', '_']);
        from = start + digits.len();
        let after = message.get(from..).unwrap_or_default();
        let mut next = after.chars();
        let (scale, next) = match next.next() {
            Some('k') => (1_000, next.next()),
            Some('m') => (1_000_000, next.next()),
            other => (1, other),
        };
        let before = message.get(..start).and_then(|before| before.chars().next_back());
        let joins = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let is_word = before.is_some_and(|c| joins(c) || c == '-')
            || scale > 1 && next.is_some_and(|c| c.is_ascii_alphanumeric())
            || scale == 1 && next.is_some_and(|c| c.is_ascii_alphabetic());
        let counts_characters = after.trim_start().starts_with("character");
        let tokens = digits.replace([',', '_'], "").parse::<u64>().ok().and_then(|tokens| tokens.checked_mul(scale));
        if let Some(tokens) = tokens.filter(|tokens| !is_word && !counts_characters && *tokens >= MIN_TOKENS) {
            found.push(Number { start, end: from + usize::from(scale > 1), tokens });
        }
    }
    found
}

fn limit_after_words(message: &str, numbers: &[Number]) -> Option<u64> {
    let is_filler = |between: &str| {
        let mut words =
            between.split(|c: char| !c.is_ascii_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        !between.contains(['.', ';', '+']) && words.all(|word| FILLERS.contains(&word))
    };
    BEFORE_LIMIT.iter().find_map(|words| {
        message.match_indices(words).find_map(|(at, _)| {
            let end = at + words.len();
            let number = numbers.get(numbers.partition_point(|number| number.start < end))?;
            let between = message.get(end..number.start).filter(|between| between.len() <= MAX_BETWEEN)?;
            let after = message.get(number.end..).unwrap_or_default().trim_start();
            // "exceeds limit (2013)": after such a general word, a number in brackets is an error code.
            let is_code = between.contains('(') && GENERAL.contains(words);
            // "199000 + 20000 > 200000": a sum is what was requested.
            (is_filler(between) && !is_code && !after.starts_with('+')).then_some(number.tokens)
        })
    })
}

/// Matches `200000 maximum` and `32768-token limit`.
fn limit_before_words(message: &str, numbers: &[Number]) -> Option<u64> {
    let limit = numbers.iter().find(|number| {
        let after = message.get(number.end..).unwrap_or_default();
        let after = after.trim_start_matches([' ', '-', ')']);
        let after = after.strip_prefix("tokens").or_else(|| after.strip_prefix("token")).unwrap_or(after).trim_start();
        ["maximum", "max", "limit", "context", "allowed"].iter().any(|word| after.starts_with(word))
    });
    limit.map(|number| number.tokens)
}
