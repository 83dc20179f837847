//! Files that go with a question: text, images and PDFs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sluice_core::{ChatPart, attachment_type};

/// What servers accept at most. In base64, it is a third more.
const MAX_IMAGE: usize = 15_000_000;
const MAX_PDF: usize = 24_000_000;
/// More text than any model reads.
const MAX_TEXT: usize = 20_000_000;

/// Reads a file as a part of a question. A text is wrapped so that the model sees where it starts and ends.
pub fn file(path: &Path) -> Result<ChatPart, String> {
    let name = path.display().to_string();
    match part(read(path)?, &name)? {
        ChatPart::Text { value } => {
            let end = if value.ends_with('\n') { "" } else { "\n" };
            Ok(ChatPart::Text { value: format!("<file path=\"{name}\">\n{value}{end}</file>\n") })
        }
        part => Ok(part),
    }
}

/// Reads a file that must be an image.
pub fn image(path: &Path) -> Result<ChatPart, String> {
    let bytes = read(path)?;
    let name = path.display().to_string();
    match attachment_type(&bytes) {
        Some(kind) if kind.starts_with("image/") => part(bytes, &name),
        _ => Err(format!(
            "{name} is not an image that models can read; use PNG, JPEG, GIF or WebP, or -f for other files"
        )),
    }
}

/// Returns the part for the bytes of a file: an image, a PDF or text.
pub fn part(bytes: Vec<u8>, name: &str) -> Result<ChatPart, String> {
    let kind = attachment_type(&bytes);
    let limit = match kind {
        Some("application/pdf") => MAX_PDF,
        Some(_) => MAX_IMAGE,
        None => MAX_TEXT,
    };
    if bytes.len() > limit {
        return Err(format!("{name} is too large: at most {} MB can be sent", limit / 1_000_000));
    }
    if let Some(mime_type) = kind {
        return Ok(ChatPart::Data { mime_type: mime_type.to_owned(), base64: STANDARD.encode(bytes) });
    }
    match String::from_utf8(bytes) {
        Ok(value) if !value.contains('\0') => Ok(ChatPart::Text { value }),
        _ => Err(format!("{name} is neither text (UTF-8) nor an image or a PDF that models can read")),
    }
}

/// Reads everything, but no more than can be sent.
pub fn read_limited(input: &mut dyn Read, name: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PDF).unwrap_or(u64::MAX) + 1;
    input.take(limit).read_to_end(&mut bytes).map_err(|error| format!("cannot read {name}: {error}"))?;
    if bytes.len() > MAX_PDF {
        return Err(format!("{name} is too large: at most {} MB can be sent", MAX_PDF / 1_000_000));
    }
    Ok(bytes)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display().to_string();
    if path.is_dir() {
        return Err(format!("{name} is a directory; name the files in it"));
    }
    let mut file = File::open(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    read_limited(&mut file, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_what_a_file_is() {
        let check = |bytes: &[u8], expected: &str| {
            let shown = match part(bytes.to_vec(), "x") {
                Ok(ChatPart::Text { value }) => format!("text {value:?}"),
                Ok(ChatPart::Data { mime_type, .. }) => mime_type,
                Ok(other) => format!("{other:?}"),
                Err(message) => message,
            };
            assert_eq!(shown, expected);
        };
        check(b"plain", "text \"plain\"");
        check(b"%PDF-1.7\n", "application/pdf");
        check(b"GIF89a\x01\x00\x01\x00", "image/gif");
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01", "image/png");
        let neither = "x is neither text (UTF-8) nor an image or a PDF that models can read";
        check(b"\x89PNG\r\n\x1a\n", neither);
        check(b"a\0b", neither);
        check(b"\xFF\xFE", neither);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut image = b"GIF89a\x01\x00\x01\x00".to_vec();
        image.resize(MAX_IMAGE + 1, 0);
        assert_eq!(part(image, "x").unwrap_err(), "x is too large: at most 15 MB can be sent");
        assert!(read_limited(&mut std::io::repeat(0), "x").is_err());
    }
}
