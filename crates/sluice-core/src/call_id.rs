//! Call ids as VS Code sees them: `gw-` and the server's id, at most 64 characters of `[A-Za-z0-9_-]`.
//!
//! The prefix distinguishes our calls from those of other providers in the same conversation. The limit applies to the
//! whole id, because a conversation may continue with another provider, which then gets our ids as they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::fnv::fnv1a;

const PREFIX: &str = "gw-";
const MAX_LENGTH: usize = 64;
/// A dash and 64 bits in hexadecimal.
const HASH_LENGTH: usize = 17;

/// The ids that are in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    ids: BTreeSet<String>,
    /// The last number that was appended to ids with this start, so that the next one is found at once.
    last_number: BTreeMap<String, u64>,
}

/// Returns the id under which VS Code gets a call. It is unique among `taken`.
///
/// A valid id is kept. An invalid one is shortened to its valid characters and a hash of the whole id. One that was
/// already used in this response (some gateways restart their numbering) gets a number. `plain` omits the prefix.
pub(crate) fn to_vscode(server_id: &str, plain: bool, taken: &mut Taken) -> String {
    unique(&fitted(server_id, if plain { "" } else { PREFIX }), taken)
}

/// Returns the id under which a server gets a call and its result back: its own id if it was valid. The id of another
/// provider is made valid.
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
    // The longest start that leaves room for any number. Ids with the same start share their numbers, because they may
    // be equal once shortened.
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
