//! Call ids as VS Code sees them: `gw-` and the server's id, at most 64 of `[A-Za-z0-9_-]`.
//!
//! The prefix keeps our calls apart from other providers' in one conversation. The limit holds for the whole id,
//! because a conversation may go on with another provider, which is then sent our ids as they are.

use std::collections::{BTreeMap, BTreeSet};

const PREFIX: &str = "gw-";
const MAX_LENGTH: usize = 64;
/// 64 bits in hexadecimal, behind a dash.
const HASH_LENGTH: usize = 17;

/// The ids that are in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    ids: BTreeSet<String>,
    /// The last number given to ids with this start, so that the next one need not be searched for.
    last_number: BTreeMap<String, u64>,
}

/// The id under which VS Code gets to know a call, unique among `taken`.
///
/// A server's id that fits is kept whole. One that does not is shortened to its usable characters and a hash of all
/// of it; one that was used before in this response (some gateways number calls afresh) gets a counter. `plain` leaves
/// the prefix off.
pub(crate) fn to_vscode(server_id: &str, plain: bool, taken: &mut Taken) -> String {
    unique(&fitted(server_id, if plain { "" } else { PREFIX }), taken)
}

/// The id under which a server gets a call and its result back: its own, if it was ours and usable; any other
/// provider's id is made to fit.
pub(crate) fn from_vscode(vscode_id: &str, taken: &mut Taken) -> String {
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

fn unique(base: &str, taken: &mut Taken) -> String {
    // As long as any number leaves it: ids with the same start count together, because cut short they may be the same.
    const START_LENGTH: usize = MAX_LENGTH - 21;
    if taken.ids.insert(base.to_owned()) {
        return base.to_owned();
    }
    let number = taken.last_number.entry(base.chars().take(START_LENGTH).collect()).or_insert(1);
    loop {
        *number += 1;
        let suffix = format!("-{number}");
        let start: String = base.chars().take(MAX_LENGTH - suffix.len()).collect();
        let id = start + &suffix;
        if taken.ids.insert(id.clone()) {
            return id;
        }
    }
}

fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// FNV-1a: short, stable for ever, and good enough to keep a handful of ids apart.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
