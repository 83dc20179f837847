//! Decides which data parts may be sent: images and PDFs by their magic bytes, and text by its type.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::image_type::image_type;
use crate::wire::Content;

/// The maximum length of a data URL. Servers refuse longer ones.
const MAX_DATA_URL: usize = 20_971_520;
const MAX_FILE: usize = 33_554_432;

/// Returns a data URL if the bytes are an image that models can read. The declared type isn't trusted: VS Code
/// re-encodes large images as PNG and keeps the old type.
pub(super) fn data_url(mime_type: &str, base64: &str) -> Option<String> {
    if !mime_type.starts_with("image/") {
        return None;
    }
    // All of it is decoded, because one broken image would make the whole request fail.
    let sniffed = image_type(&decode(base64)?)?;
    let url = format!("data:{sniffed};base64,{base64}");
    (url.len() <= MAX_DATA_URL).then_some(url)
}

/// Returns a file that models can read, which is a PDF.
pub(super) fn file(mime_type: &str, base64: &str) -> Option<Content> {
    let is_pdf = mime_type == "application/pdf" && decode(base64)?.starts_with(b"%PDF-");
    let file_data = format!("data:application/pdf;base64,{base64}");
    (is_pdf && file_data.len() <= MAX_FILE)
        .then(|| Content::InputFile { filename: "document.pdf".to_owned(), file_data })
}

/// Returns the text of a textual data part, such as the JSON that some tools return.
pub(super) fn textual(mime_type: &str, base64: &str) -> Option<String> {
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
