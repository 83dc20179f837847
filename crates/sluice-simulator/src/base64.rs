//! The parts of base64 that the gateway needs: validation, decoding the first bytes, and recognizing the image format.

/// The number of characters to decode, which is enough for the header of every accepted image format.
const START: usize = 64;

/// Returns whether the text is base64 with the standard alphabet and padding.
pub fn is_valid(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(|byte| digit(byte).is_some())
}

/// Decodes the first bytes.
pub fn decode_start(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.bytes().take(START).map_while(digit).collect();
    let mut bytes = Vec::with_capacity(START);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}
