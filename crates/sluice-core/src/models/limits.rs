//! Determines how long a conversation may be. VS Code summarizes when `max_input_tokens` is nearly reached: if that is
//! too large, requests fail; if it is too small, VS Code summarizes too early.

use crate::boundary::{LimitsFrom, ModelOverride, ModelProvider};

/// The window to assume if the server reports none.
const COMMON_WINDOW: u32 = 128_000;
const COMMON_OUTPUT: u32 = 16_384;
/// A number outside these bounds isn't a context window but a mistake.
const SMALLEST_WINDOW: u64 = 512;
/// The protocol's minimum.
const SMALLEST_OUTPUT: u32 = 16;
const LARGEST_WINDOW: u64 = 100_000_000;

/// The limits of one model. Input and output add up to the window, and both are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenLimits {
    pub window: u32,
    pub input: u32,
    pub output: u32,
    /// The limit for the answer that a request may state. `None` if it is unknown, because servers refuse a request
    /// for more than they have.
    pub sent_output: Option<u32>,
    pub from: LimitsFrom,
}

/// Everything that is known about a model's limits, the least trusted source first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LimitSources<'a> {
    pub window: Option<u64>,
    pub output: Option<u64>,
    pub providers: &'a [ModelProvider],
    /// What an error message revealed.
    pub learned: Option<u32>,
    pub setting: Option<&'a ModelOverride>,
}

impl TokenLimits {
    pub(super) fn of(known: LimitSources<'_>) -> Self {
        let stated = known.window.and_then(plausible_window);
        let mut from = if stated.is_some() { LimitsFrom::List } else { LimitsFrom::Assumed };
        let mut window = stated.unwrap_or(COMMON_WINDOW);
        let mut output = known.output.and_then(plausible).filter(|output| *output >= SMALLEST_OUTPUT);
        let mut most_input = None;

        // The gateway picks a provider that fits, so the largest window counts, but never more than the list says.
        let active = || known.providers.iter().filter(|provider| provider.is_active);
        let largest = active().filter_map(|provider| provider.context_window).max();
        if let Some(largest) = largest.filter(|largest| stated.is_none() || *largest < window) {
            (window, from) = (largest, LimitsFrom::Providers);
        }
        if let Some(largest) = active().filter_map(|provider| provider.max_output_tokens).max() {
            output = Some(output.map_or(largest, |output| output.min(largest)));
        }
        let says_input = active().all(|provider| provider.max_input_tokens.is_some());
        if let Some(largest) = active().filter_map(|provider| provider.max_input_tokens).max().filter(|_| says_input) {
            most_input = Some(largest);
            if largest < window.saturating_sub(output_within(window, output)) {
                from = LimitsFrom::Providers;
            }
        }
        let is_better = |learned: &u32| *learned < window || from == LimitsFrom::Assumed;
        if let Some(learned) = known.learned.filter(is_better) {
            (window, from) = (learned, LimitsFrom::Learned);
        }
        if let Some(setting) = known.setting {
            let positive = |limit: Option<u32>| limit.filter(|limit| *limit > 0);
            if let Some(wanted) = positive(setting.context_window) {
                (window, from) = (wanted.max(2), LimitsFrom::Setting);
                most_input = None;
            }
            if let Some(wanted) = positive(setting.max_output_tokens) {
                // The user's value is used unchanged, unless it is the whole window.
                output = Some(wanted);
                from = LimitsFrom::Setting;
                if wanted < window {
                    let most_input = positive(setting.max_input_tokens).or(most_input);
                    return Self::with_input(window, wanted, most_input, from).sending(true);
                }
            }
            if let Some(wanted) = positive(setting.max_input_tokens) {
                (most_input, from) = (Some(wanted), LimitsFrom::Setting);
                // If the user allows more input than fits into the window, the window must be larger, too.
                if setting.context_window.is_none() && wanted >= window {
                    window = wanted.saturating_add(output.unwrap_or(COMMON_OUTPUT).min(wanted / 4).max(1));
                }
            }
        }
        Self::with_input(window, output_within(window, output), most_input, from).sending(output.is_some())
    }

    fn sending(self, output_is_stated: bool) -> Self {
        Self { sent_output: output_is_stated.then_some(self.output), ..self }
    }

    fn with_input(window: u32, output: u32, most_input: Option<u32>, from: LimitsFrom) -> Self {
        let input = window.saturating_sub(output).max(1);
        let input = most_input.map_or(input, |most| input.min(most)).max(1);
        Self { window: input.saturating_add(output), input, output, sent_output: None, from }
    }
}

/// Returns the output limit for a window. Some servers report an output as large as the window, which would leave no
/// room for the conversation. If less than a quarter of the window would be left, the output gets a quarter.
fn output_within(window: u32, output: Option<u32>) -> u32 {
    let quarter = (window / 4).max(1);
    let Some(output) = output else { return COMMON_OUTPUT.min(quarter) };
    if window.saturating_sub(output) < quarter { quarter } else { output }
}

fn plausible(tokens: u64) -> Option<u32> {
    u32::try_from(tokens).ok().filter(|_| tokens > 0 && tokens <= LARGEST_WINDOW)
}

pub(crate) fn plausible_window(tokens: u64) -> Option<u32> {
    plausible(tokens).filter(|_| tokens >= SMALLEST_WINDOW)
}

/// Returns smaller windows to choose from, and the whole one as the last. A smaller one costs less and is summarized
/// earlier. Most models have no choice.
pub(super) fn smaller_windows(window: u32) -> Vec<u32> {
    const SIZES: [u32; 3] = [128_000, 200_000, 400_000];
    let mut sizes: Vec<u32> = SIZES.into_iter().filter(|size| *size <= window / 2).collect();
    if !sizes.is_empty() {
        sizes.push(window);
    }
    sizes
}
