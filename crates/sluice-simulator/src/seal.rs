//! Simulates encrypted reasoning. The content isn't really encrypted; the seal only checks that the client returns it
//! unchanged and to the model that produced it.

use serde_json::Value;

use crate::problem::Problem;
use crate::seed::{Seed, fingerprint};

const MARK: &str = "sealed";

/// Creates encrypted content with a random text.
pub fn close(model: &str, seed: &mut Seed) -> String {
    with_content(model, &seed.id(""))
}

/// Seals a text. The same model can read it again with [`open`].
pub fn with_content(model: &str, content: &str) -> String {
    let hex: String = content.bytes().map(|byte| format!("{byte:02x}")).collect();
    let check = fingerprint(format!("{model}\n{hex}").as_bytes());
    format!("{MARK}.{hex}.{check:016x}")
}

/// Returns the sealed text, or `None` if another model sealed it or it was changed.
pub fn open(model: &str, sealed: &str) -> Option<String> {
    let hex = sealed.strip_prefix(MARK)?.strip_prefix('.')?.split('.').next()?;
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    let content = String::from_utf8(bytes?).ok()?;
    (with_content(model, &content) == sealed).then_some(content)
}

/// Refuses encrypted content that this model didn't produce.
pub fn check(model: &str, items: &[Value]) -> Result<(), Problem> {
    for (at, item) in items.iter().enumerate() {
        let Some(sealed) = item["encrypted_content"].as_str() else { continue };
        if open(model, sealed).is_none() {
            let param = format!("input[{at}].encrypted_content");
            let message = "The encrypted content could not be verified: it is damaged, or another model produced it.";
            return Err(Problem::invalid(&param, message).code("invalid_encrypted_content"));
        }
    }
    Ok(())
}
