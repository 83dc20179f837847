//! How vocabularies are laid out in memory. `build.rs` writes this layout, and `bpe.rs` uses it without reading it first.
//!
//! The pieces of a vocabulary are sorted by length and, within a length, by rank. They are stored without separators: a
//! piece is found by its length and its *index* among the pieces of that length. A hash table leads from the bytes of a
//! piece to its index; see [`hash`]. Pieces of two bytes aren't in it, because their ranks have a table of their own.

/// A slot of the hash table: a byte of the hash, and the index of a piece plus one, or zero if the slot is empty.
pub(super) const SLOT: usize = 3;

/// The rank of two bytes that aren't a piece.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The kinds of characters that patterns distinguish, one bit each.
pub(super) mod class {
    /// `\p{Lu}` and `\p{Lt}`.
    pub(crate) const UPPER: u8 = 1;
    /// `\p{Ll}`.
    pub(crate) const LOWER: u8 = 2;
    /// `\p{Lm}` and `\p{Lo}`.
    pub(crate) const CASELESS: u8 = 4;
    /// `\p{M}`.
    pub(crate) const MARK: u8 = 8;
    /// `\p{N}`.
    pub(crate) const NUMBER: u8 = 16;
    /// `\s` except for newlines.
    pub(crate) const SPACE: u8 = 32;
    /// `[\r\n]`.
    pub(crate) const NEWLINE: u8 = 64;
    /// Everything else.
    pub(crate) const OTHER: u8 = 128;
}

/// Returns the slot at which the search for a piece starts, if the table has `mask + 1` slots, and the byte of the hash
/// that its slot contains. If a slot is taken, the next one is tried.
#[expect(clippy::cast_possible_truncation, reason = "a hash may lose bits")]
pub(super) fn hash(piece: &[u8], mask: usize) -> (usize, u8) {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let seed = (piece.len() as u64).wrapping_mul(0xA24B_AED4_963E_E407);
    let mixed = if let (Some(first), Some(last)) = (piece.first_chunk::<8>(), piece.last_chunk::<8>()) {
        let mut state = seed;
        for chunk in piece.as_chunks::<8>().0.iter().skip(1) {
            state = (state ^ u64::from_le_bytes(*chunk)).wrapping_mul(MIX).rotate_left(29);
        }
        ((state ^ u64::from_le_bytes(*first)).wrapping_mul(MIX).rotate_left(29) ^ u64::from_le_bytes(*last))
            .wrapping_mul(MIX)
    } else if let (Some(first), Some(last)) = (piece.first_chunk::<4>(), piece.last_chunk::<4>()) {
        let both = u64::from(u32::from_le_bytes(*last)) << 32 | u64::from(u32::from_le_bytes(*first));
        (both ^ seed).wrapping_mul(MIX)
    } else {
        (piece.iter().fold(seed, |state, byte| state << 8 ^ u64::from(*byte))).wrapping_mul(MIX)
    };
    let mixed = mixed ^ mixed >> 32;
    (mixed.wrapping_mul(MIX) as usize >> 8 & mask, mixed as u8)
}
