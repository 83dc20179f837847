//! Halves of surrogate pairs. JavaScript strings hold them and JSON can spell them, but no server takes them and no text
//! can show them: one in a message makes a whole conversation fail until it is gone.

/// Replaces `\uD800`-`\uDFFF` escapes that form no pair by `\uFFFD`.
pub(crate) fn mend_surrogates(json: &str) -> String {
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
            // Any other escape: its backslash and the character after it, which may be a backslash itself.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at(taken);
        mended.push_str(kept);
        rest = after;
    }
    mended + rest
}

/// The surrogate that an escape at the start of the text stands for.
fn surrogate(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(hex, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}
