//! The FNV-1a hash: short, the same in every version, and good enough against accidents. It doesn't protect against an
//! attacker who searches for collisions.

pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A hash of 32 bits, because JavaScript can't represent all numbers of 64 bits.
pub(crate) fn short_hash(text: &str) -> u32 {
    u32::try_from(fnv1a(text.as_bytes()) & 0xffff_ffff).unwrap_or_default()
}
