//! Replaces unpaired surrogates. JavaScript strings can contain them and JSON can spell them, but no server accepts
//! them and they can't be displayed: one in a message makes every request of the conversation fail until it is removed.

/// Replaces `\uD800`-`\uDFFF` escapes that don't form a pair with `\uFFFD`.
pub fn mend_surrogates(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let taken = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => {
                mended.push_str("\\uFFFD");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // For any other escape, skip the backslash and the next character, which may be a backslash too.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at(taken);
        mended.push_str(kept);
        rest = after;
    }
    mended + rest
}

/// Returns the surrogate if the text starts with the escape of one.
fn surrogate(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(hex, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}
