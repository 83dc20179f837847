//! What VS Code's Chat view has shown of an answer, as far as it follows from what was returned and when.
//!
//! The window gets every piece at about the same delay, so the times here are those at which pieces were returned.

/// While there is more to show, the view shows some of it this often. VS Code's own figure is 50 ms, but its timers are late.
const TICK_MS: u64 = 52;
/// The view shows at least this many words per second.
const LEAST_RATE: f64 = 40.0;
const MOST_RATE: f64 = 2000.0;
/// The view counts at most this much of a pause, or the second value if the update after it has many words.
const PAUSE_MS: u64 = 250;
const LONG_PAUSE_MS: u64 = 1000;
/// An update with more words than this has many. The view's first estimate also needs this many words.
pub(super) const FEW_WORDS: u64 = 10;

/// The Chat view's estimate of how fast the answer arrives, and how much of it is on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    words: u64,
    /// How many words are on the screen since `shown_ms`. More follow at each tick.
    shown: u64,
    shown_ms: u64,
    updates: u32,
    first_ms: u64,
    last_ms: u64,
    /// The time that the words took, as the view counts it.
    counted_ms: u64,
    /// The words that the estimate leaves out, once there is more than a first guess.
    left_out: Option<u64>,
}

impl View {
    /// Records that a piece was returned, after which the answer has this many words.
    pub(super) fn update(&mut self, words: u64, now_ms: u64) {
        let before = self.words;
        if words <= before {
            return;
        }
        let behind = self.behind(now_ms);
        if behind < before - self.shown {
            // The last tick is this long ago.
            let rest_ms = now_ms.saturating_sub(self.shown_ms) % TICK_MS;
            self.shown_ms = if behind == 0 { self.shown_up_ms() } else { now_ms - rest_ms };
            self.shown = before - behind;
        }
        if self.updates == 0 {
            (self.first_ms, self.last_ms) = (now_ms, now_ms);
        }
        self.updates += 1;
        let most_ms = if words - before > FEW_WORDS { LONG_PAUSE_MS } else { PAUSE_MS };
        let elapsed_ms = now_ms.saturating_sub(self.last_ms).min(most_ms);
        self.counted_ms += elapsed_ms;
        self.last_ms = now_ms;
        self.words = words;
        if self.left_out.is_none() {
            if self.updates >= 2 && words >= FEW_WORDS {
                self.counted_ms = elapsed_ms.max(now_ms.saturating_sub(self.first_ms));
                self.left_out = Some(before);
            } else {
                let least_ms = if before == 0 && words > FEW_WORDS { 500 } else { 250 };
                self.counted_ms = self.counted_ms.max(least_ms);
            }
        }
        let more = if before == 0 { words } else { self.allowed(now_ms.saturating_sub(self.shown_ms)) };
        if more > 0 {
            self.shown = words.min(self.shown + more);
            self.shown_ms = now_ms;
        }
    }

    /// Returns how many words of the returned text are not on the screen yet.
    pub(super) fn behind(&self, now_ms: u64) -> u64 {
        let ticks = now_ms.saturating_sub(self.shown_ms) / TICK_MS;
        (self.words - self.shown).saturating_sub(ticks * self.allowed(TICK_MS))
    }

    /// Returns when everything that was returned is on the screen.
    pub(super) fn shown_up_ms(&self) -> u64 {
        self.shown_ms + TICK_MS * (self.words - self.shown).div_ceil(self.allowed(TICK_MS).max(1))
    }

    /// Returns whether the time since the last piece counts only in part if few words end it.
    pub(super) fn has_paused(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.last_ms) > PAUSE_MS
    }

    /// Returns whether the view would show this many further words at once, with half as many to spare.
    pub(super) fn would_show(&self, words: u64, now_ms: u64) -> bool {
        let idle_ms = now_ms.saturating_sub(self.shown_up_ms());
        self.behind(now_ms) == 0 && self.allowed(idle_ms) >= words + words / 2
    }

    /// Returns how many words the view shows if it last showed one this long ago.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "milliseconds and words of one answer"
    )]
    fn allowed(&self, elapsed_ms: u64) -> u64 {
        let words = self.words - self.left_out.unwrap_or(0);
        let rate = words as f64 * 1000.0 / self.counted_ms.max(1) as f64;
        (elapsed_ms as f64 * rate.clamp(LEAST_RATE, MOST_RATE) / 1000.0) as u64
    }
}
