//! When text is shown: the pace of a stream for VS Code's Chat view.
//!
//! VS Code (1.139) does not show text when it arrives. Three of its rules decide when a word is seen:
//!
//! 1. The extension host forwards parts 30 ms after the last one, or when there are 31.
//! 2. The window estimates how fast the answer arrives, in words per second: all words divided by the time that they took.
//!    A pause between two updates counts as at most 250 ms, or as at most 1000 ms if the second update has more than ten
//!    words.
//! 3. At each update, and every 50 ms while there is more, it shows as many further words as the estimated rate (at least
//!    40 words per second) allows for the time since it last showed one, rounded down. The rest of that time is lost.
//!
//! Because of the rounding, the screen falls behind by up to a third, for as long as the answer lasts. The only remedy is
//! a higher estimate, and rule 2 offers one: after a pause of more than 250 ms, an update of up to ten words. At medium
//! speed, the pacer therefore repeats a cycle of a pause, ten words, and the rest. Slow answers don't need this, and fast
//! ones lose so little that they need it only after some seconds.
//!
//! When an answer becomes faster, or comes in fits and starts, the view falls behind all the same. `View` knows how far.
//! Until the view has shown what it has, further text would only wait there, and waiting here makes the pause longer. So
//! the further the view is behind, the faster it catches up.
//!
//! The figures below were found by a search with a model of these rules (`tests/support/chat_view.rs`), which agrees with
//! what was measured in VS Code. `tests/pace.rs` has the latencies that result.

mod view;
mod whole;
mod words;

use serde::{Deserialize, Serialize};

use crate::boundary::Part;
use view::{FEW_WORDS, View};
use whole::Whole;
use words::Words;

/// When the text of an answer is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Pace {
    /// As it arrives.
    #[default]
    Immediate,
    /// Joined, about every 40 ms: right for every reader behind VS Code's extension host that shows text at once.
    Steady,
    /// As VS Code's Chat view shows it soonest.
    ChatView,
    /// At the end, in the order that VS Code's agent host expects, which reads nothing before the end. What the model needs
    /// back comes first, together with the thinking before any text.
    AtEnd,
}

/// VS Code's extension host forwards a part after this much silence. An update of its own needs a little more.
const UPDATE_MS: u64 = 33;
/// The interval for readers that show text at once, and for fast answers.
const STEADY_MS: u64 = 40;
/// At the lowest rate of 40 words per second, two words may be shown after 50 ms, but only one after 40 ms.
const SLOW_MS: u64 = 55;
/// Below this rate, in words per second, the lowest rate of the Chat view suffices.
const SLOW_RATE: f64 = 37.0;
/// Below this rate, it suffices for each word as it arrives.
const SINGLE_RATE: f64 = 31.0;
/// Above this rate, the rounding costs little.
const FAST_RATE: f64 = 120.0;
/// How long a fast answer does without pauses, in milliseconds for each word per second.
const FAST_FOR_MS: f64 = 20.0;
/// A slow or fast answer has no pauses as long as the view isn't further behind than this many words, or milliseconds.
const SLOW_BEHIND: u64 = 2;
const FAST_BEHIND_MS: f64 = 200.0;
/// The longest pause, even if the view needs longer to show what it has.
const LONGEST_PAUSE_MS: u64 = 1000;
/// The Chat view makes its first estimate from ten words. The second piece waits this long for them.
const START_MS: u64 = 270;
/// The rate is measured over the last one to two intervals of this length.
const RATE_MS: u64 = 500;

/// The pause at a medium rate: the shortest one after which the estimate is high enough to show everything before the next.
fn pause_ms(rate: f64) -> u64 {
    if rate < 40.0 {
        310
    } else if rate < 48.0 {
        360
    } else {
        340
    }
}

/// Joins the text and the thinking of an answer and returns them in pieces. It has no clock: every call has the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    pace: Pace,
    /// Text or thinking that has arrived and has not been returned.
    pending: Option<Part>,
    /// Everything that has arrived, for [`Pace::AtEnd`].
    whole: Whole,
    /// The words of all text that has arrived, and of the text that was returned.
    arrived: Words,
    returned: Words,
    view: View,
    /// When the first text was returned, and when anything was last returned.
    first_ms: Option<u64>,
    last_ms: Option<u64>,
    /// Whether the last piece was the few words after a pause, so that the rest follows immediately.
    rest_follows: bool,
    /// The time and the number of words when the last two intervals of the rate began.
    marks: [(u64, u64); 2],
}

impl Pacer {
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, ..Self::default() }
    }

    /// Returns whether a part can be held together with what is pending. If not, the latter has to be returned first.
    pub(crate) fn joins(&self, part: &Part) -> bool {
        match (&self.pending, part) {
            (None, _) | (Some(Part::Text { .. }), Part::Text { .. }) => true,
            (Some(Part::Thinking { id, .. }), Part::Thinking { id: same, replay: None, .. }) => id == same,
            _ => false,
        }
    }

    /// Keeps a part that [joins](Self::joins) for later. Gives it back if it must not be delayed.
    pub(crate) fn hold(&mut self, part: Part, now_ms: u64) -> Result<(), Part> {
        if self.pace == Pace::Immediate {
            return Err(part);
        }
        if self.pace == Pace::AtEnd {
            self.whole.push(part);
            return Ok(());
        }
        if let Part::Text { value } = &part {
            self.count(value, now_ms);
        }
        match (&mut self.pending, part) {
            (Some(Part::Text { value }), Part::Text { value: more })
            | (Some(Part::Thinking { value, .. }), Part::Thinking { value: more, .. }) => value.push_str(&more),
            (pending, part @ (Part::Text { .. } | Part::Thinking { replay: None, .. })) => *pending = Some(part),
            (_, part) => return Err(part),
        }
        Ok(())
    }

    /// Returns a piece if it is time for one.
    pub(crate) fn due(&mut self, now_ms: u64) -> Option<Part> {
        if self.wait_ms(now_ms)? > 0 {
            return None;
        }
        let few = if self.rest_follows { None } else { self.split_few(now_ms) };
        self.rest_follows = few.is_some();
        if few.is_some() {
            self.last_ms = Some(now_ms);
            self.view.update(self.returned.count, now_ms);
            return few;
        }
        self.flush(now_ms)
    }

    /// Returns everything that is pending. An answer that is returned at its end must be over, and is returned part by part.
    pub(crate) fn flush(&mut self, now_ms: u64) -> Option<Part> {
        if self.pace == Pace::AtEnd {
            return self.whole.next();
        }
        let part = self.pending.take()?;
        self.rest_follows = false;
        self.last_ms = Some(now_ms);
        if matches!(part, Part::Text { .. }) {
            self.first_ms.get_or_insert(now_ms);
            self.returned = self.arrived;
            self.view.update(self.returned.count, now_ms);
        }
        Some(part)
    }

    /// Drops what is pending.
    pub(crate) fn clear(&mut self) {
        self.pending = None;
        self.whole = Whole::default();
    }

    /// Returns how long to wait for the next piece, if nothing else arrives before.
    pub(crate) fn wait_ms(&self, now_ms: u64) -> Option<u64> {
        let pending = self.pending.as_ref()?;
        let Some(last) = self.last_ms else { return Some(0) };
        if self.pace == Pace::Steady || !matches!(pending, Part::Text { .. }) {
            return Some((last + STEADY_MS).saturating_sub(now_ms));
        }
        let Some(first) = self.first_ms else { return Some(0) };
        let rate = self.rate(now_ms);
        let due = if self.rest_follows {
            last + UPDATE_MS
        } else if self.returned.count < FEW_WORDS {
            // The Chat view makes its first estimate when it has two updates and ten words.
            if self.arrived.count >= FEW_WORDS {
                last + UPDATE_MS
            } else if now_ms < first + SLOW_MS {
                first + SLOW_MS
            } else if rate < SLOW_RATE {
                last + SLOW_MS
            } else {
                first + START_MS
            }
        } else if self.pauses(now_ms) {
            // The rest of the text, which may be long, follows one update later.
            let shown_up = self.view.shown_up_ms().saturating_sub(UPDATE_MS);
            (last + pause_ms(rate)).max(shown_up.min(last + LONGEST_PAUSE_MS))
        } else if rate < SINGLE_RATE {
            last + UPDATE_MS
        } else if rate < SLOW_RATE {
            last + SLOW_MS
        } else {
            last + STEADY_MS
        };
        Some(due.saturating_sub(now_ms))
    }

    /// Returns whether the Chat view would fall behind without pauses.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of one answer")]
    fn pauses(&self, now_ms: u64) -> bool {
        let rate = self.rate(now_ms);
        let elapsed_ms = now_ms.saturating_sub(self.first_ms.unwrap_or(now_ms)) as f64;
        let behind = self.view.behind(now_ms);
        if rate < SLOW_RATE {
            behind > SLOW_BEHIND
        } else if rate < FAST_RATE {
            true
        } else {
            elapsed_ms > rate * FAST_FOR_MS || behind as f64 > rate * FAST_BEHIND_MS / 1000.0
        }
    }

    /// Takes the first few words of the pending text if they end a pause and there are more, unless the view would show
    /// them all.
    fn split_few(&mut self, now_ms: u64) -> Option<Part> {
        let more = self.arrived.count - self.returned.count;
        let is_needed =
            self.returned.count >= FEW_WORDS && self.view.has_paused(now_ms) && !self.view.would_show(more, now_ms);
        if self.pace != Pace::ChatView || !is_needed {
            return None;
        }
        let Some(Part::Text { value }) = &mut self.pending else { return None };
        let (end, words) = self.returned.few(value, FEW_WORDS)?;
        let rest = value.split_off(end);
        self.returned = words;
        Some(Part::Text { value: std::mem::replace(value, rest) })
    }

    /// Counts the words of a text that arrives.
    fn count(&mut self, text: &str, now_ms: u64) {
        let [_, newer] = self.marks;
        let age_ms = now_ms.saturating_sub(newer.0);
        if self.first_ms.is_none() || age_ms >= 2 * RATE_MS {
            self.marks = [(now_ms, self.arrived.count); 2];
        } else if age_ms >= RATE_MS {
            self.marks = [newer, (now_ms, self.arrived.count)];
        }
        self.arrived.add(text);
    }

    /// Returns how many words have arrived per second.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn rate(&self, now_ms: u64) -> f64 {
        let [(since, words), _] = self.marks;
        let elapsed_ms = now_ms.saturating_sub(since).max(SLOW_MS);
        self.arrived.count.saturating_sub(words) as f64 * 1000.0 / elapsed_ms as f64
    }
}
