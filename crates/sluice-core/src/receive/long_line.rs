//! Scans a long line while it arrives, so that little is left to do when it is complete.
//!
//! An event is handled at once, when its last byte has arrived, and nothing else runs meanwhile. The only long events
//! that honest servers send are generated images: base64 strings of up to sixteen megabytes. [`LongLine`] takes such
//! strings out of the line as they arrive and leaves a placeholder ([`LongRuns`]), so that they aren't walked over
//! again. The rest of the line is read byte by byte, so its limits are far lower, and they are checked as soon as bytes
//! arrive rather than when the event is complete.

use memchr::{memchr, memchr2};

use crate::wire::{LongRuns, is_base64};

/// The most that a single event may contain outside of JSON strings. Two megabytes of tools, which every response repeats,
/// have as much.
pub(super) const MAX_DENSE_BYTES: usize = 1 << 20;
/// The most that a single event may contain apart from long runs of base64. This is several times the longest text that a
/// model can write in one answer.
pub(crate) const MAX_PLAIN_BYTES: usize = 4 << 20;

/// The shortest run of base64 that is taken out of its line.
const MIN_RUN: usize = 64 << 10;

/// How many bytes of padding base64 may have.
const MAX_PADDING: usize = 2;

/// Reading one string, however short, takes as long as reading this many bytes outside of strings.
const BYTES_FOR_A_STRING: usize = 2;
/// Reading one escape takes as long as reading this many bytes outside of strings.
const BYTES_FOR_AN_ESCAPE: usize = 6;
/// Reading this many bytes that are not ASCII takes as long as reading one byte outside of strings.
const NOT_ASCII_FOR_A_BYTE: usize = 4;

/// The scan of one line. A JSON string cannot continue on the next line, so each line is scanned separately.
#[derive(Clone, Debug, Default)]
pub(super) struct LongLine {
    /// How much of the line has been scanned.
    seen: usize,
    in_string: bool,
    /// Whether the last byte was the backslash of an escape.
    in_escape: bool,
    /// How many bytes before `seen` are base64 without interruption, inside the current string.
    run: usize,
    /// The current run is long: its bytes are moved to the last of `runs`.
    is_moving: bool,
    dense: usize,
    not_ascii: usize,
    /// The runs that were taken out, and by how many bytes that made the line shorter.
    pub(super) runs: Vec<String>,
    pub(super) bytes_taken_out: usize,
}

/// What one event may contain.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventLimits {
    pub(super) max_bytes: usize,
    /// Whether long runs of base64 are removed. The rest may have up to [`MAX_PLAIN_BYTES`].
    pub(super) takes_out_runs: bool,
}

impl LongLine {
    /// Scans what has been appended to the line since the last call. `runs_before` counts those of the event's other lines.
    pub(super) fn scan(&mut self, line: &mut Vec<u8>, runs_before: usize, limits: EventLimits) {
        // There are none outside of strings, and counting all of them at once is several times faster.
        self.not_ascii += count_not_ascii(line.get(self.seen..).unwrap_or_default());
        while let Some(rest) = line.get(self.seen..).filter(|rest| !rest.is_empty()) {
            if self.is_moving {
                self.move_more(line, limits.max_bytes);
            } else if self.in_escape {
                self.in_escape = false;
                self.seen += 1;
            } else if self.in_string {
                let end = end_of_string_or_escape(rest).unwrap_or(rest.len());
                let inside = rest.get(..end).unwrap_or_default();
                let may_be_long = end == rest.len() || self.run + end >= MIN_RUN;
                let long_run = if limits.takes_out_runs && may_be_long { self.find_long_run(inside) } else { None };
                if let Some(so_far) = long_run
                    && let Some(placeholder) = LongRuns::placeholder(runs_before + self.runs.len())
                {
                    self.seen += so_far;
                    self.start_moving(line, &placeholder);
                    continue;
                }
                self.seen += end;
                match rest.get(end) {
                    Some(b'"') => self.in_string = false,
                    Some(_) => {
                        self.in_escape = true;
                        self.dense += BYTES_FOR_AN_ESCAPE;
                    }
                    None => break,
                }
                self.seen += 1;
                self.run = 0;
            } else {
                let quote = start_of_string(rest);
                self.in_string = quote.is_some();
                let outside = quote.map_or(rest.len(), |quote| quote + 1);
                self.dense += outside + if self.in_string { BYTES_FOR_A_STRING } else { 0 };
                self.seen += outside;
            }
        }
    }

    /// Returns how much of what was scanned is expensive to read.
    pub(super) fn dense_bytes(&self) -> usize {
        self.dense + self.not_ascii / NOT_ASCII_FOR_A_BYTE
    }

    /// Returns how many bytes will certainly remain in the line; the current run may still turn out to be long.
    pub(super) fn plain_bytes(&self) -> usize {
        self.seen - self.run
    }

    /// Continues the current run with the inside of a string. As soon as a run is long, returns how far that is.
    #[inline(never)]
    fn find_long_run(&mut self, inside: &[u8]) -> Option<usize> {
        let mut passed = 0;
        for block in inside.chunks(64) {
            if is_base64(block) {
                self.run += block.len();
                passed += block.len();
            } else {
                let is_other = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(*byte, b'+' | b'/');
                let first = block.iter().position(is_other).unwrap_or(0);
                if self.run + first >= MIN_RUN {
                    self.run += first;
                    return Some(passed + first);
                }
                passed += block.len();
                self.run = block.iter().rev().position(is_other).unwrap_or(0);
            }
            if self.run >= MIN_RUN {
                return Some(passed);
            }
        }
        None
    }

    /// Takes the current run out of the line.
    #[inline(never)]
    fn start_moving(&mut self, line: &mut Vec<u8>, placeholder: &str) {
        let start = self.seen - self.run;
        let run = line.get(start..self.seen).and_then(|run| str::from_utf8(run).ok()).unwrap_or_default().to_owned();
        line.splice(start..self.seen, placeholder.bytes());
        self.bytes_taken_out += run.len().saturating_sub(placeholder.len());
        self.seen = start + placeholder.len();
        self.run = 0;
        self.is_moving = true;
        self.runs.push(run);
    }

    /// Takes out what continues the run.
    #[inline(never)]
    fn move_more(&mut self, line: &mut Vec<u8>, max_bytes: usize) {
        let rest = line.get(self.seen..).unwrap_or_default();
        let blocks = 64 * rest.chunks(64).take_while(|block| is_base64(block)).count();
        let last = rest.get(blocks..).unwrap_or_default().iter().take_while(|byte| is_base64(&[**byte])).count();
        let more = (blocks + last).min(rest.len());
        let text = rest.get(..more).and_then(|more| str::from_utf8(more).ok()).unwrap_or_default();
        if let Some(run) = self.runs.last_mut() {
            if run.capacity() - run.len() < more {
                // Moving a long run to a larger block is what takes longest here, so it is done a few times only. The last
                // block is as large as a run can be, because another one of about that size would double the memory.
                let larger = if 8 * run.len() < max_bytes { 4 * run.len() } else { max_bytes };
                let capacity = larger.max(run.len() + more);
                run.reserve_exact(capacity - run.len());
            }
            run.push_str(text);
            if more < rest.len() {
                // Padding may follow.
                run.shrink_to(run.len() + MAX_PADDING);
            }
        }
        self.is_moving = more == rest.len();
        self.bytes_taken_out += more;
        line.drain(self.seen..self.seen + more);
    }
}

/// How much of a JSON text is expensive to read.
pub(super) fn dense_bytes(json: &str) -> usize {
    let mut line = LongLine::default();
    let limits = EventLimits { max_bytes: json.len(), takes_out_runs: false };
    line.scan(&mut json.as_bytes().to_vec(), 0, limits);
    line.dense_bytes()
}

/// Most strings of an event are short, and so is what is between them: a vector search would take longer to start than the
/// plain loop takes to find their ends.
const SHORT: usize = 16;

fn end_of_string_or_escape(json: &[u8]) -> Option<usize> {
    let near = json.iter().take(SHORT).position(|byte| matches!(byte, b'"' | b'\\'));
    near.or_else(|| memchr2(b'"', b'\\', json))
}

fn start_of_string(json: &[u8]) -> Option<usize> {
    json.iter().take(SHORT).position(|byte| *byte == b'"').or_else(|| memchr(b'"', json))
}

/// How many bytes are counted in one byte, which they can't overflow.
const COUNTED_AT_ONCE: usize = 192;

/// Sums that fit into a byte let the processor add many bytes in one step, which takes a quarter of the time.
fn count_not_ascii(bytes: &[u8]) -> usize {
    bytes.chunks(COUNTED_AT_ONCE).map(|block| usize::from(block.iter().map(|byte| byte >> 7).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CUTTING: EventLimits = EventLimits { max_bytes: 1 << 20, takes_out_runs: true };

    /// Scans a line that arrives in two pieces. Returns what remains of it, the scan, and the line put together again.
    fn scan(line: &str, cut: usize) -> (String, LongLine, String) {
        let mut scan = LongLine::default();
        let mut kept = Vec::new();
        let (first, second) = line.as_bytes().split_at(cut);
        for piece in [first, second] {
            kept.extend_from_slice(piece);
            scan.scan(&mut kept, 0, CUTTING);
        }
        let kept = String::from_utf8(kept).unwrap_or_default();
        let whole = LongRuns::new(scan.runs.clone()).put_back(&kept).into_owned();
        (kept, scan, whole)
    }

    #[test]
    fn counts_what_is_outside_of_strings_and_escapes_however_it_is_cut() {
        let cases = [
            ("", 0),
            ("{}", 2),
            (r#"{"a":1}"#, 5 + BYTES_FOR_A_STRING),
            (r#""a\"b\\" "#, 2 + 2 * BYTES_FOR_AN_ESCAPE + BYTES_FOR_A_STRING),
            (r#""never ends {[,"#, 1 + BYTES_FOR_A_STRING),
            ("\"\\", 1 + BYTES_FOR_AN_ESCAPE + BYTES_FOR_A_STRING),
            ("\"漢字漢字\"", 4 + BYTES_FOR_A_STRING),
        ];
        for (line, dense) in cases {
            for cut in 0..=line.len() {
                let (kept, scan, _) = scan(line, cut);
                assert_eq!((kept.as_str(), scan.dense_bytes()), (line, dense), "{line:?} {cut}");
            }
        }
    }

    #[test]
    fn takes_out_runs_of_base64_that_are_long_enough() {
        let long = |bytes: usize| "A+/z09".repeat(bytes / 6 + 1).split_at(bytes).0.to_owned();
        let cases = [
            (format!(r#"{{"a":"{}"}}"#, long(MIN_RUN - 1)), vec![]),
            (format!(r#"{{"a":"{}"}}"#, long(MIN_RUN)), vec![MIN_RUN]),
            (format!(r#"{{"a":"{}"#, long(3 * MIN_RUN)), vec![3 * MIN_RUN]),
            (format!(r#"{{"a":"data:image/png;base64,{}==","b":1}}"#, long(MIN_RUN + 1)), vec![MIN_RUN + 1]),
            (format!(r#"["{}=","ä{}\/{}"]"#, long(MIN_RUN), long(MIN_RUN), long(MIN_RUN)), vec![MIN_RUN; 3]),
            (format!(r#""{}""#, "Two words ".repeat(MIN_RUN)), vec![]),
            (long(MIN_RUN), vec![]),
        ];
        for (line, runs) in cases {
            for cut in [0, 1, 63, 64, 100, MIN_RUN, MIN_RUN + 9, line.len() - 1] {
                let (kept, scan, whole) = scan(&line, cut.min(line.len()));
                assert!(whole == line, "{kept} {cut}");
                assert_eq!(scan.runs.iter().map(String::len).collect::<Vec<_>>(), runs, "{kept} {cut}");
                assert_eq!(kept.len() + scan.bytes_taken_out, line.len());
            }
        }
    }

    proptest! {
        #[test]
        fn any_line_can_be_put_together_again(
            pieces in prop::collection::vec((r#"[aA"ä\\= ]{0,3}"#, 0..3 * MIN_RUN / 2), 0..4), cut in 0..4 * MIN_RUN,
        ) {
            let line: String = pieces.iter().map(|(other, run)| format!("{other}{}", "A".repeat(*run))).collect();
            let cut = line.floor_char_boundary(cut);
            let (kept, at_once) = (scan(&line, cut), scan(&line, 0));
            prop_assert!(kept.2 == line && kept.0 == at_once.0);
            prop_assert_eq!(kept.1.dense_bytes(), at_once.1.dense_bytes());
            prop_assert_eq!(kept.1.plain_bytes(), at_once.1.plain_bytes());
        }
    }
}
