//! What goes with a question: files, directories and web pages, as text, images and PDFs.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sluice_core::{ChatPart, Endpoint, attachment_type};

use crate::output::tell;

/// The largest files that servers accept, before base64 makes them a third larger.
const MAX_IMAGE: usize = 15_000_000;
const MAX_PDF: usize = 24_000_000;
/// More text than any model reads.
const MAX_TEXT: usize = 20_000_000;
/// How long a web page may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Reads a file, or all text files in a directory and below it, as parts of a question.
pub fn files(path: &Path) -> Result<Vec<ChatPart>, String> {
    if !path.is_dir() {
        let name = path.display().to_string();
        return Ok(vec![wrapped(part(read(path)?, &name)?, "file path", &name)]);
    }
    let mut parts = Vec::new();
    let (mut size, mut left_out) = (0, 0);
    // Hidden files and files that `.gitignore` names are skipped.
    let walk = ignore::WalkBuilder::new(path).require_git(false).sort_by_file_name(Ord::cmp).build();
    for entry in walk {
        let entry = entry.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let name = entry.path().display().to_string();
        match part(read(entry.path())?, &name) {
            Ok(ChatPart::Text { value }) => {
                size += value.len();
                parts.push(wrapped(ChatPart::Text { value }, "file path", &name));
            }
            _ => left_out += 1,
        }
        if size > MAX_TEXT {
            return Err(format!(
                "{} is too large: at most {} MB of text can be sent; name the files that matter",
                path.display(),
                MAX_TEXT / 1_000_000
            ));
        }
    }
    if parts.is_empty() {
        return Err(format!("there are no text files in {}", path.display()));
    }
    if left_out > 0 {
        tell!("sluice: files in {} that aren't text were left out: {left_out}", path.display());
    }
    Ok(parts)
}

/// Fetches a web page. It is sent as it is, also if it is HTML.
pub async fn page(url: &str) -> Result<ChatPart, String> {
    let cannot = |error: reqwest::Error| format!("cannot fetch {url}: {}", causes(&error.without_url()));
    // Another part of the program may have chosen a provider already; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A server on this machine is never reached through a proxy.
    let is_loopback = Endpoint::parse_confirmed(url).is_ok_and(|endpoint| endpoint.is_loopback);
    let http = reqwest::Client::builder().timeout(PATIENCE).user_agent(concat!("sluice/", env!("CARGO_PKG_VERSION")));
    let http = if is_loopback { http.no_proxy() } else { http };
    let mut response = http.build().map_err(cannot)?.get(url).send().await.map_err(cannot)?;
    if !response.status().is_success() {
        return Err(format!("cannot fetch {url}: the server says {}", response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(cannot)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_PDF {
            return Err(format!("{url} is too large: at most {} MB can be sent", MAX_PDF / 1_000_000));
        }
    }
    Ok(wrapped(part(bytes, url)?, "page url", url))
}

/// Wraps a text, so that the model sees where it starts and ends.
fn wrapped(part: ChatPart, attribute: &str, name: &str) -> ChatPart {
    let ChatPart::Text { value } = part else { return part };
    let (element, _) = attribute.split_once(' ').unwrap_or((attribute, ""));
    let end = if value.ends_with('\n') { "" } else { "\n" };
    ChatPart::Text { value: format!("<{attribute}=\"{name}\">\n{value}{end}</{element}>\n") }
}

/// Returns an error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
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
