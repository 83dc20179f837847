//! Pseudorandom numbers that are the same for the same seed, and identifiers made from them.

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A `SplitMix64` generator.
#[derive(Clone, Debug)]
pub struct Seed(u64);

impl Seed {
    /// Returns the `nth` generator of a seed. Generators with different numbers are unrelated.
    pub fn new(seed: u64, nth: u64) -> Self {
        let mut outer = Self(seed ^ nth.wrapping_mul(0xA24B_AED4_963E_E407));
        Self(outer.next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap_or(0)
    }

    /// Returns `prefix` and sixteen characters.
    pub fn id(&mut self, prefix: &str) -> String {
        let mut id = String::with_capacity(prefix.len() + 16);
        id.push_str(prefix);
        self.push_characters(&mut id, 16);
        id
    }

    /// Returns an id in the gateway's format for responses: `gen_` and a ULID, which is the time in ten characters and
    /// sixteen random ones.
    pub fn generation_id(&mut self, now_ms: u64) -> String {
        let mut id = String::from("gen_");
        for place in (0..10).rev() {
            id.push(character(now_ms >> (5 * place)));
        }
        self.push_characters(&mut id, 16);
        id
    }

    fn push_characters(&mut self, id: &mut String, count: usize) {
        for _ in 0..count {
            id.push(character(self.next() >> 20));
        }
    }
}

fn character(bits: u64) -> char {
    char::from(ALPHABET[(bits % 32) as usize])
}

/// Hashes some bytes (FNV-1a).
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
