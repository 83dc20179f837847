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
/// of it; one that was used before in this response (some gateways number calls afresh) gets a counter. `plain` leaves
/// the prefix off.
pub(crate) fn to_vscode(server_id: &str, plain: bool, taken: &mut BTreeSet<String>) -> String {
    unique(&fitted(server_id, if plain { "" } else { PREFIX }), taken)
}

/// The id under which a server gets a call and its result back: its own, if it was ours and usable; any other
/// provider's id is made to fit.
pub(crate) fn from_vscode(vscode_id: &str, taken: &mut BTreeSet<String>) -> String {
    unique(&fitted(vscode_id.strip_prefix(PREFIX).unwrap_or(vscode_id), ""), taken)
}

fn fitted(id: &str, prefix: &str) -> String {
    if is_usable(id) && prefix.len() + id.len() <= MAX_LENGTH {
        return format!("{prefix}{id}");
    }
    let usable = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-');
    let readable: String = usable.take(MAX_LENGTH - prefix.len() - HASH_LENGTH).collect();
    format!("{prefix}{readable}-{:016x}", fnv1a(id.as_bytes()))
}

fn unique(base: &str, taken: &mut BTreeSet<String>) -> String {
    let mut id = base.to_owned();
    let mut count = 1_u64;
    while !taken.insert(id.clone()) {
        count += 1;
        let suffix = format!("-{count}");
        let start: String = base.chars().take(MAX_LENGTH - suffix.len()).collect();
        id = start + &suffix;
    }
    id
}

fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// FNV-1a: short, stable for ever, and good enough to keep a handful of ids apart.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
