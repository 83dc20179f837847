//! Converts token counts from the names of versions 4 to 7 of the SDK to those of Open Responses.

use serde_json::Map;

use super::fields::RawFields;
use crate::boundary::{TokenDetails, Usage};

/// Objects with counts are never longer.
const MAX_BYTES: usize = 32 << 10;

/// Returns the usage in a chunk, if it contains any number.
pub(super) fn usage(chunk: &RawFields<'_>) -> Option<Usage> {
    // UI message streams have no field for usage; applications put it into their metadata.
    let metadata = chunk.object(&["messageMetadata"]);
    let places = [Some(chunk), metadata.as_ref()];
    // It is parsed several times.
    let short = |json: &&str| json.len() <= MAX_BYTES;
    let usage = |place: &RawFields<'_>, name| read(&RawFields::read(place.json(&[name]).filter(short)?)?);
    let of = |place| usage(place, "totalUsage").or_else(|| usage(place, "usage"));
    places.into_iter().flatten().find_map(of)
}

fn read(usage: &RawFields<'_>) -> Option<Usage> {
    // In a provider's own stream, the counts are nested: `{"inputTokens":{"total":1,…}}`.
    let nested = |name: &str| usage.object(&[name]);
    let count =
        |names: &[&str]| usage.number(names).or_else(|| names.iter().find_map(|name| nested(name)?.number(&["total"])));
    let detail = |flat: &[&str], groups: [&str; 2], names: &[&str]| {
        let in_group = || groups.iter().find_map(|group| nested(group)?.number(names));
        in_group().or_else(|| usage.number(flat))
    };
    let input = ["inputTokenDetails", "inputTokens"];
    let output = ["outputTokenDetails", "outputTokens"];
    let cached = detail(&["cachedInputTokens"], input, &["cacheReadTokens", "cacheRead"]);
    let written = detail(&[], input, &["cacheWriteTokens", "cacheWrite"]);
    let reasoning = detail(&["reasoningTokens"], output, &["reasoningTokens", "reasoning"]);

    let (input_tokens, output_tokens) =
        (count(&["inputTokens", "promptTokens"]), count(&["outputTokens", "completionTokens"]));
    let sum = || input_tokens?.checked_add(output_tokens?);
    let usage = Usage {
        input_tokens,
        output_tokens,
        total_tokens: count(&["totalTokens"]).or_else(sum),
        input_tokens_details: details([("cached_tokens", cached), ("cache_write_tokens", written)]),
        output_tokens_details: details([("reasoning_tokens", reasoning)]),
        more: Map::new(),
    };
    (usage != Usage::default()).then_some(usage)
}

fn details<const N: usize>(counts: [(&str, Option<u64>); N]) -> Option<TokenDetails> {
    let mut said = Map::new();
    said.extend(counts.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?.into()))));
    (!said.is_empty()).then_some(TokenDetails(said))
}

/// Returns the usage of all steps so far.
pub(super) fn add(total: Option<Usage>, step: Usage) -> Usage {
    let Some(total) = total else { return step };
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    let sum_details = |a: Option<TokenDetails>, b: Option<TokenDetails>| match (a, b) {
        (Some(TokenDetails(mut a)), Some(b)) => {
            for name in b.0.keys() {
                let count = sum(a.get(name).and_then(serde_json::Value::as_u64), b.count(name));
                a.insert(name.clone(), count.into());
            }
            Some(TokenDetails(a))
        }
        (a, b) => a.or(b),
    };
    Usage {
        input_tokens: sum(total.input_tokens, step.input_tokens),
        output_tokens: sum(total.output_tokens, step.output_tokens),
        total_tokens: sum(total.total_tokens, step.total_tokens),
        input_tokens_details: sum_details(total.input_tokens_details, step.input_tokens_details),
        output_tokens_details: sum_details(total.output_tokens_details, step.output_tokens_details),
        more: Map::new(),
    }
}
