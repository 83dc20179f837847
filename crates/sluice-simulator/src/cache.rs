//! The prompt cache, as providers have it: the beginning of a prompt is kept for some minutes in blocks of tokens, if it
//! is long enough. A later prompt for the same model that begins alike reads these blocks from the cache.

use std::collections::BTreeMap;

/// The number of tokens in a block.
const BLOCK: usize = 128;
/// The least number of tokens that are read from the cache.
const MINIMUM: usize = 1024;
/// How long a block is kept after it was last used.
const LIFE_MS: u64 = 5 * 60_000;
/// The maximum number of blocks. When it is exceeded, all are forgotten.
const KEPT: usize = 200_000;

/// The blocks by the hash of everything up to their end, with the time at which they expire.
#[derive(Debug, Default)]
pub struct PromptCache(BTreeMap<u64, u64>);

impl PromptCache {
    /// Reads and keeps a prompt. `visit` passes each of its tokens to a function. Returns how many tokens were in the cache.
    pub fn read(&mut self, model: &str, now_ms: u64, visit: impl FnOnce(&mut dyn FnMut(&[u8]))) -> usize {
        if self.0.len() > KEPT {
            self.0.clear();
        }
        let mut hash = hashed(0xcbf2_9ce4_8422_2325, model.as_bytes());
        let (mut tokens, mut cached) = (0, 0);
        visit(&mut |token| {
            hash = hashed(hash, token);
            tokens += 1;
            if tokens % BLOCK == 0 {
                let expires = self.0.insert(hash, now_ms + LIFE_MS);
                if expires.is_some_and(|expires| expires > now_ms) && cached + BLOCK == tokens {
                    cached = tokens;
                }
            }
        });
        if cached < MINIMUM { 0 } else { cached }
    }
}

/// FNV-1a, with an end that separates tokens.
fn hashed(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().chain(&[0xFF]).fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a prompt of `tokens` tokens, which are all the same except the one at `other`. Returns what was cached.
    fn read(cache: &mut PromptCache, model: &str, now_ms: u64, tokens: usize, other: Option<usize>) -> usize {
        cache.read(model, now_ms, |token| {
            (0..tokens).for_each(|at| token(if Some(at) == other { b"other" } else { b"same" }));
        })
    }

    #[test]
    fn a_prompt_that_begins_alike_is_read_from_the_cache() {
        let mut cache = PromptCache::default();
        assert_eq!(read(&mut cache, "a", 0, 2_000, None), 0, "nothing is cached yet");
        assert_eq!(read(&mut cache, "a", 1, 2_500, None), 1_920, "whole blocks only");
        assert_eq!(read(&mut cache, "a", 2, 2_500, Some(1_500)), 1_408, "up to the first difference");
        assert_eq!(read(&mut cache, "a", 3, 2_500, Some(0)), 0, "a different beginning is a different prompt");
        assert_eq!(read(&mut cache, "b", 4, 2_500, None), 0, "every model has a cache of its own");
    }

    #[test]
    fn short_prompts_are_not_cached_and_old_ones_expire() {
        let mut cache = PromptCache::default();
        read(&mut cache, "a", 0, 1_100, None);
        assert_eq!(read(&mut cache, "a", 0, 1_023, None), 0, "it is too short");
        assert_eq!(read(&mut cache, "a", LIFE_MS - 1, 1_100, None), 1_024, "it is used in time");
        assert_eq!(read(&mut cache, "a", 2 * LIFE_MS - 2, 1_100, None), 1_024, "using it prolongs its life");
        assert_eq!(read(&mut cache, "a", 3 * LIFE_MS, 1_100, None), 0, "it has expired");
    }
}
