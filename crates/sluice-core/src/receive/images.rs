//! Generated images become data parts, once each.

use std::collections::BTreeSet;

use super::assemble::Sink;
use crate::boundary::{NoteKind, Part};
use crate::call_id::fnv1a;
use crate::wire::Item;

#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// By content: ids rotate, and the final output repeats every image.
    given: BTreeSet<u64>,
}

impl Images {
    #[inline(never)]
    pub fn done(&mut self, item: &Item<'_>, sink: &mut Sink) {
        let Some(base64) = item.result.as_deref().filter(|result| !result.is_empty()) else {
            sink.note(NoteKind::IgnoredItem, "image_generation_call");
            return;
        };
        if !self.given.insert(fnv1a(base64.as_bytes())) {
            return;
        }
        if !base64.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')) {
            sink.note(NoteKind::IgnoredContent, "image_generation_call");
            return;
        }
        let mime_type = mime_type(base64, item.output_format.as_deref()).to_owned();
        sink.part(Part::Data { mime_type, base64: base64.to_owned() });
    }
}

/// What the first bytes say, else what the server says.
fn mime_type(base64: &str, format: Option<&str>) -> &'static str {
    image_type(base64).unwrap_or(match format {
        Some("jpeg" | "jpg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("gif") => "image/gif",
        _ => "image/png",
    })
}

/// What kind of image the first bytes say this is.
pub(crate) fn image_type(base64: &str) -> Option<&'static str> {
    let magic =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("UklGR", "image/webp"), ("R0lGOD", "image/gif")];
    magic.iter().find(|(start, _)| base64.starts_with(start)).map(|(_, mime_type)| *mime_type)
}
