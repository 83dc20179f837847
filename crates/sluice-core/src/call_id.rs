//! Call ids as VS Code sees them: `gw-` and the server's id, at most 64 of `[A-Za-z0-9_-]`.
//!
//! The prefix keeps our calls apart from other providers' in one conversation. The limit holds for the whole id,
//! because a conversation may go on with another provider, which is then sent our ids as they are.

use std::collections::BTreeSet;

const PREFIX: &str = "gw-";
const MAX_LENGTH: usize = 64;
/// 64 bits in hexadecimal, behind a dash.
const HASH_LENGTH: usize = 17;

/// The id under which VS Code gets to know a call, unique among `taken`.
///
/// A server's id that fits is kept whole. One that does not is shortened to its usable characters and a hash of all
/// of it; one that was used before in this response (some gateways number calls afresh) gets a counter.
pub(crate) fn to_vscode(server_id: &str, taken: &mut BTreeSet<String>) -> String {
    let fits = is_usable(server_id) && PREFIX.len() + server_id.len() <= MAX_LENGTH;
    let base = if fits { format!("{PREFIX}{server_id}") } else { hashed(server_id) };
    let mut id = base.clone();
    let mut count = 1_u64;
    while !taken.insert(id.clone()) {
        count += 1;
        let suffix = format!("-{count}");
        let start: String = base.chars().take(MAX_LENGTH - suffix.len()).collect();
        id = start + &suffix;
    }
    id
}

fn hashed(server_id: &str) -> String {
    let readable: String = server_id
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
        .take(MAX_LENGTH - PREFIX.len() - HASH_LENGTH)
        .collect();
    format!("{PREFIX}{readable}-{:016x}", fnv1a(server_id.as_bytes()))
}

fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// FNV-1a: short, stable for ever, and good enough to keep a handful of ids apart.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
