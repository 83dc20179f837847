//! How much work an event will be, counted while it arrives.
//!
//! An event is read when it is complete, all of it in one go. The long ones of honest servers are an image, which is one
//! string without escapes, and a reader passes over that many bytes at a time. Everything else costs time for every byte: so
//! the limit for it is far lower, and is noticed as soon as it is passed, not when the event is complete.

use memchr::{memchr, memchr2};

/// What stands outside of strings may be so long in one event. Tools with large schemas, which every response repeats, are a
/// tenth of it.
pub(super) const MAX_DENSE_BYTES: usize = 1 << 20;

/// Reading one escape takes as long as reading so many bytes outside of strings.
const BYTES_FOR_AN_ESCAPE: usize = 4;
/// Reading so many bytes that are not ASCII takes as long as one outside of strings.
const OTHER_THAN_ASCII: usize = 2;

/// What is known of one line. A JSON string cannot go on in the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Density {
    seen: usize,
    in_string: bool,
    /// The last byte seen was the backslash of an escape.
    in_escape: bool,
    dense: usize,
    not_ascii: usize,
}

impl Density {
    /// Looks at what has been added to the line since the last time. Returns how much of all of it is expensive.
    pub(super) fn look_at(&mut self, line: &[u8]) -> usize {
        let mut rest = line.get(self.seen..).unwrap_or_default();
        self.seen = line.len();
        while !rest.is_empty() {
            let passed = if self.in_escape {
                self.in_escape = false;
                1
            } else if self.in_string {
                let end = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                let inside = rest.get(..end).unwrap_or_default();
                self.not_ascii += inside.iter().filter(|byte| !byte.is_ascii()).count();
                match rest.get(end) {
                    Some(b'"') => self.in_string = false,
                    Some(_) => {
                        self.in_escape = true;
                        self.dense += BYTES_FOR_AN_ESCAPE;
                    }
                    None => {}
                }
                end + 1
            } else {
                let quote = memchr(b'"', rest);
                self.in_string = quote.is_some();
                let outside = quote.map_or(rest.len(), |quote| quote + 1);
                self.dense += outside;
                outside
            };
            rest = rest.get(passed..).unwrap_or_default();
        }
        self.dense + self.not_ascii / OTHER_THAN_ASCII
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_outside_of_strings_and_escapes_however_it_is_cut() {
        let cases = [
            ("", 0),
            ("{}", 2),
            (r#"{"a":1}"#, 5),
            (r#""a\"b\\" "#, 2 + 8),
            (r#""never ends {[,"#, 1),
            ("\"\\", 5),
            ("\"漢字\"", 4),
        ];
        for (line, dense) in cases {
            let line = line.as_bytes();
            for cut in 0..=line.len() {
                let mut density = Density::default();
                density.look_at(line.get(..cut).unwrap_or_default());
                assert_eq!(density.look_at(line), dense, "{line:?} {cut}");
            }
        }
    }
}
