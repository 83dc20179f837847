//! Simulates encrypted reasoning, and ids by which a model recognizes what it produced. The content isn't really
//! encrypted; a seal only shows whether the client returns it unchanged, to the model and the server that produced it.
//! Both are identified by a key.

use serde_json::Value;

use crate::problem::Problem;
use crate::seed::{Seed, fingerprint};

const MARK: &str = "sealed";
/// The content in the id of a call that the model made after thinking about it.
pub const THOUGHT: &str = "thought";

/// Creates encrypted content for reasoning with this summary.
pub fn close(key: &str, summary: &[String], seed: &mut Seed) -> String {
    let summary = fingerprint(summary.join("\n").as_bytes());
    with_content(key, &format!("{} {summary:x}", seed.id("")))
}

/// Returns whether encrypted content or a signature belongs to reasoning with this summary.
pub fn belongs_to(key: &str, sealed: &str, summary: &[String]) -> bool {
    let expected = format!(" {:x}", fingerprint(summary.join("\n").as_bytes()));
    open(key, sealed).is_some_and(|content| content.ends_with(&expected))
}

/// Seals a text. The same model can read it again with [`open`].
pub fn with_content(key: &str, content: &str) -> String {
    let hex: String = content.bytes().map(|byte| format!("{byte:02x}")).collect();
    let check = fingerprint(format!("{key}\n{hex}").as_bytes());
    format!("{MARK}.{hex}.{check:016x}")
}

/// Returns the sealed text, or `None` if another model sealed it or it was changed.
pub fn open(key: &str, sealed: &str) -> Option<String> {
    let hex = sealed.strip_prefix(MARK)?.strip_prefix('.')?.split('.').next()?;
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    let content = String::from_utf8(bytes?).ok()?;
    (with_content(key, &content) == sealed).then_some(content)
}

/// Creates an id that shows which model created it, and for which content.
pub fn signed_id(prefix: &str, key: &str, content: &str, seed: &mut Seed) -> String {
    let id = seed.id(prefix);
    let check = id_check(&id, key, content);
    format!("{id}{check:08x}")
}

/// Returns whether this model created an id, for this content.
pub fn is_own_id(id: &str, key: &str, content: &str) -> bool {
    let split = id.len().checked_sub(8).and_then(|at| id.split_at_checked(at));
    split.is_some_and(|(id, check)| check == format!("{:08x}", id_check(id, key, content)))
}

fn id_check(id: &str, key: &str, content: &str) -> u64 {
    fingerprint(format!("{key}\n{id}\n{content}").as_bytes()) & 0xffff_ffff
}

/// Refuses encrypted content that this model didn't produce.
pub fn check(key: &str, items: &[Value]) -> Result<(), Problem> {
    for (at, item) in items.iter().enumerate() {
        let Some(sealed) = item["encrypted_content"].as_str() else { continue };
        if open(key, sealed).is_none() {
            let param = format!("input[{at}].encrypted_content");
            let message = "The encrypted content could not be verified: it is damaged, or another model produced it.";
            return Err(Problem::invalid(&param, message).code("invalid_encrypted_content"));
        }
    }
    Ok(())
}
