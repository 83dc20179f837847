//! Turns generated images into data parts, each once.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::sink::Sink;
use crate::boundary::{NoteKind, Part};
use crate::fnv::fnv1a;
use crate::image_type::image_type;
use crate::wire::{Base64, ItemKind, is_base64};

#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// The images that were delivered, by content, because ids rotate and the final output repeats every image.
    given: BTreeSet<u64>,
}

impl Images {
    #[inline(never)]
    pub(super) fn handle_done(&mut self, result: Option<Base64<'_>>, format: Option<&str>, sink: &mut Sink) {
        let name = ItemKind::ImageGenerationCall.name();
        let text = match &result {
            Some(Base64::Checked(text)) => text.as_str(),
            Some(Base64::Unchecked(text)) => text,
            None => "",
        };
        if text.is_empty() {
            sink.note(NoteKind::IgnoredItem, name);
            return;
        }
        if !self.given.insert(content_hash(text.as_bytes())) {
            return;
        }
        let base64 = match result {
            Some(Base64::Checked(text)) => padded(Cow::Owned(text)),
            Some(Base64::Unchecked(text)) => checked_base64(text),
            None => None,
        };
        let Some(base64) = base64 else {
            sink.note(NoteKind::IgnoredContent, name);
            return;
        };
        let mime_type = mime_type(&base64, format).to_owned();
        sink.part(Part::Data { mime_type, base64: base64.into_owned() });
    }

    pub(super) fn len(&self) -> usize {
        self.given.len()
    }
}

/// Hashes the content. An image has tens of megabytes, and two different ones differ everywhere, so every eighth word
/// of a long one is enough.
fn content_hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let step = if bytes.len() > 1 << 20 { 8 } else { 1 };
    let hash = words.iter().step_by(step).fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, fnv1a(rest))
}

/// Returns the text with its padding, if every decoder accepts it.
pub(crate) fn checked_base64(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let (blocks, rest) = without_padding(text.as_bytes()).as_chunks::<64>();
    let is_base64 = blocks.iter().all(|block| is_base64(block)) && is_base64(rest);
    if is_base64 { padded(text) } else { None }
}

fn without_padding(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(bytes)
}

/// The same for a text that is known to have only base64 characters.
pub(crate) fn padded(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let content = without_padding(bytes);
    // The last character of an incomplete group has unused bits, which strict decoders require to be zero.
    let ends = match content.len() % 4 {
        0 => return (content.len() == bytes.len() && !bytes.is_empty()).then_some(text),
        2 => "AQgw",
        3 => "AEIMQUYcgkosw048",
        _ => return None,
    };
    let padding = if content.len() % 4 == 2 { "==" } else { "=" };
    if !content.last().is_some_and(|last| ends.as_bytes().contains(last)) {
        None
    } else if bytes.len().is_multiple_of(4) {
        Some(text)
    } else {
        (content.len() == bytes.len()).then(|| text + padding)
    }
}

/// Returns the type according to the first bytes, or else according to the server.
fn mime_type(base64: &str, format: Option<&str>) -> &'static str {
    image_type_of_base64(base64).unwrap_or(match format {
        Some("jpeg" | "jpg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("gif") => "image/gif",
        _ => "image/png",
    })
}

/// Returns the type of an image according to its first bytes.
pub(crate) fn image_type_of_base64(base64: &str) -> Option<&'static str> {
    const ENOUGH: usize = 16;
    let start = base64.get(..ENOUGH).unwrap_or(base64).trim_end_matches('=');
    let full_groups = start.get(..start.len() / 4 * 4).unwrap_or_default();
    image_type(&STANDARD_NO_PAD.decode(start).or_else(|_| STANDARD_NO_PAD.decode(full_groups)).ok()?)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_base64_that_every_decoder_accepts_passes() {
        let taken = ["AAAA", "AA==", "AAA=", "iVBORw0KGgoAAA==", "+/8=", "AQ", "AAE"];
        assert_eq!(taken.map(|text| checked_base64(text.into()).is_some()), [true; 7]);
        let refused =
            ["", "=", "==", "A", "A===", "AA=", "AAA==", "AAAA=", "AAAA==", "AA=A", "=AAA", "AB==", "AAB=", "A-_A"];
        assert_eq!(refused.map(|text| checked_base64(text.into()).is_some()), [false; 14]);
    }

    #[test]
    fn an_image_that_does_not_say_its_type_has_that_of_the_server() {
        let types = ["jpeg", "jpg", "webp", "gif", "png", "tiff"].map(|format| mime_type("AAAA", Some(format)));
        assert_eq!(types, ["image/jpeg", "image/jpeg", "image/webp", "image/gif", "image/png", "image/png"]);
        assert_eq!(mime_type("iVBORw0KGgoAAA==", Some("gif")), "image/png");
    }

    proptest! {
        #[test]
        fn base64_that_passes_can_be_decoded(text in "[A-Za-d0-3+/=é ]{0,9}|[A-Za-z0-9+/]{0,140}={0,3}") {
            let counts = if text.ends_with('=') { 0..1 } else { 0..3 };
            let padded = || counts.map(|count| text.clone() + &"=".repeat(count)).find(|text| STANDARD.decode(text).is_ok());
            let expected = padded().filter(|_| !text.is_empty());
            prop_assert_eq!(checked_base64(Cow::Borrowed(&text)).map(Cow::into_owned), expected);
        }
    }
}
