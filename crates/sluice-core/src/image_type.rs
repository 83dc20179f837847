//! Recognizes images and other files by their first bytes.

use crate::tokens::has_image_size;

/// Returns the media type of a file that models can read besides text: an image whose header is complete, or a PDF.
pub fn attachment_type(file: &[u8]) -> Option<&'static str> {
    if file.starts_with(b"%PDF-") {
        return Some("application/pdf");
    }
    image_type(file).filter(|_| has_image_size(file))
}

/// Returns the media type of an image that models can read.
pub(crate) fn image_type(file: &[u8]) -> Option<&'static str> {
    match file {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
