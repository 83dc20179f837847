//! Replaces unpaired surrogates. JavaScript strings can contain them and JSON can spell them, but no server accepts
//! them and they can't be displayed: one in a message makes every request of the conversation fail until it is removed.

/// Replaces `\uD800`-`\uDFFF` escapes that don't form a pair with `\uFFFD`.
pub fn mend_surrogates(json: &str) -> String {
    mend(json, &mut None, false)
}

/// The first half of a pair, as its escape, that was cut off the end of a string. Servers in JavaScript split text
/// between UTF-16 units, so that the next event may begin with the other half.
pub(crate) type FirstHalf = Option<String>;

/// Like [`mend_surrogates`], for one of several consecutive events: a string that begins with the second half of a pair
/// gets the first half of the event before, and a first half at the end of a string is kept for the event after.
pub(crate) fn join_surrogates(json: &str, half: &mut FirstHalf) -> String {
    mend(json, half, true)
}

fn mend(json: &str, half: &mut FirstHalf, join: bool) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut before = half.take();
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        mended.push_str(plain);
        let after = escape.get(6..).unwrap_or_default();
        let taken = match (surrogate(escape), surrogate(after)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDBFF), _) if join && after.starts_with('"') => {
                *half = escape.get(..6).map(str::to_owned);
                rest = after;
                continue;
            }
            (Some(0xDC00..=0xDFFF), _) if before.is_some() && mended.ends_with('"') && !mended.ends_with("\\\"") => {
                mended.extend(before.take());
                6
            }
            (Some(_), _) => {
                mended.push_str("\\uFFFD");
                rest = after;
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
