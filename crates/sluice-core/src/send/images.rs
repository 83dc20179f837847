//! Bytes that may be sent: images by what they are, text by what it says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Servers refuse longer ones.
const MAX_DATA_URL: usize = 20_971_520;

/// A data URL, if the bytes are an image that models read. The declared type is not trusted: VS Code re-encodes large
/// images as PNG and leaves the old type on them.
pub(super) fn data_url(mime_type: &str, base64: &str) -> Option<String> {
    if !mime_type.starts_with("image/") {
        return None;
    }
    // Checked as a whole: one broken image would cost the request.
    let start = decode(base64)?;
    let sniffed = match start.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => return None,
    };
    let url = format!("data:{sniffed};base64,{base64}");
    (url.len() <= MAX_DATA_URL).then_some(url)
}

/// The text of a textual data part, such as the JSON some tools return.
pub(crate) fn textual(mime_type: &str, base64: &str) -> Option<String> {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let is_text = essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json");
    if !is_text {
        return None;
    }
    String::from_utf8(decode(base64)?).ok()
}

fn decode(base64: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(base64.trim_end_matches('=')).ok()
}
