//! The values that usage is tracked with: what a request reports when it starts and ends, and the sums.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::outcome::Usage;
use super::record::CostBasis;
use crate::message::{Message, MessageCode};

/// The number of input tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Estimate {
    /// How many tokens the request is expected to have.
    #[cfg_attr(test, ts(type = "number"))]
    pub tokens: u64,
    /// How many of them a server has counted: all of them, if this exact request was answered before.
    #[cfg_attr(test, ts(type = "number"))]
    pub known: u64,
}

/// The state of the file of token counts and usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FileState {
    /// It was read.
    Good,
    /// There is none yet.
    Missing,
    /// Cut short, altered, or not ours. The shell sets it aside.
    Damaged,
    /// Written by a newer version. It must not be touched.
    Newer,
}

impl FileState {
    /// Returns whether the file may be replaced.
    pub fn may_write(self) -> bool {
        self != Self::Newer
    }

    /// Returns what to tell the user, once.
    pub fn message(self) -> Option<MessageCode> {
        match self {
            Self::Good | Self::Missing => None,
            Self::Damaged => Some(MessageCode::MemoryDamaged),
            Self::Newer => Some(MessageCode::MemoryNewer),
        }
    }
}

/// A request that starts.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStart {
    /// Any id that no other open request has.
    pub id: String,
    /// The conversation that the request belongs to.
    pub conversation: String,
    /// The model's id.
    pub model: String,
    /// What the request is for.
    pub kind: RequestKind,
    /// The thinking effort that was asked for, or `None` if the model decides.
    pub effort: Option<String>,
    /// The estimated number of input tokens.
    pub estimate: Option<u64>,
    /// How many tokens a request and its answer may have together.
    pub context_window: Option<u64>,
}

/// The purpose of a request. Only `main` shows how full the conversation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum RequestKind {
    /// The user's own conversation.
    #[default]
    Main,
    /// A conversation that an agent has on the user's behalf.
    SubAgent,
    /// The host asks for a summary, to continue with a shorter conversation.
    Summary,
    /// For example, a title or a commit message.
    Utility,
    /// A question or an edit that isn't part of a conversation: inline chat, the terminal, the search view.
    Inline,
}

/// How a request ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestEnd {
    /// What the server counted.
    pub usage: Option<Usage>,
    /// The gateway's own number, in US dollars.
    pub cost: Option<String>,
    /// The cost according to the model's prices, in US dollars. It is used if the gateway reports no cost.
    pub cost_by_prices: Option<f64>,
    /// Whether the server said that the answer is over.
    pub is_answered: bool,
    /// Whether the embedded gateway answered, whose money isn't real.
    pub is_play: bool,
    /// When the first part of the answer arrived, in milliseconds from the start of the request.
    pub first_part_ms: Option<u64>,
    /// Whether that part was thinking.
    pub began_with_thinking: bool,
}

/// What one request used. Unknown values are `null`, never zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestUsage {
    /// The id from the start.
    pub id: String,
    /// The conversation that the request belongs to.
    pub conversation: String,
    /// The model's id.
    pub model: String,
    /// What the request was for.
    pub kind: RequestKind,
    /// The thinking effort that was asked for, or `null` if the model decided.
    pub effort: Option<String>,
    /// Whether the server said that the answer is over.
    pub is_answered: bool,
    /// How many input tokens were expected.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub estimate: Option<u64>,
    /// The tokens of the request, cached ones included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub input_tokens: Option<u64>,
    /// The input tokens that were in the provider's prompt cache.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub cached_tokens: Option<u64>,
    /// The tokens of the answer, reasoning included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub output_tokens: Option<u64>,
    /// The output tokens that were reasoning.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub reasoning_tokens: Option<u64>,
    /// In US dollars.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub cost: Option<Dollars>,
    /// Where the cost comes from.
    pub cost_basis: Option<CostBasis>,
    /// The time to the first part.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub first_part_ms: Option<u64>,
    /// The time to the end.
    #[cfg_attr(test, ts(type = "number"))]
    pub total_ms: u64,
    /// The speed while the answer was streaming.
    pub tokens_per_second: Option<f64>,
}

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Totals {
    /// How many requests there were.
    #[cfg_attr(test, ts(type = "number"))]
    pub requests: u64,
    /// How many of them the server didn't count. Their tokens are missing here.
    #[cfg_attr(test, ts(type = "number"))]
    pub uncounted: u64,
    /// How many of them were counted but have no known cost.
    #[cfg_attr(test, ts(type = "number"))]
    pub unpriced: u64,
    /// The tokens of the requests, cached ones included.
    #[cfg_attr(test, ts(type = "number"))]
    pub input_tokens: u64,
    /// The input tokens that were in a prompt cache.
    #[cfg_attr(test, ts(type = "number"))]
    pub cached_tokens: u64,
    /// The tokens of the answers, reasoning included.
    #[cfg_attr(test, ts(type = "number"))]
    pub output_tokens: u64,
    /// The output tokens that were reasoning.
    #[cfg_attr(test, ts(type = "number"))]
    pub reasoning_tokens: u64,
    /// In US dollars.
    #[cfg_attr(test, ts(type = "number"))]
    pub cost: Dollars,
    /// The number of requests that returned a part. `first_part_ms` is the sum over these.
    #[cfg_attr(test, ts(type = "number"))]
    pub first_parts: u64,
    /// The sum of the times to the first part.
    #[cfg_attr(test, ts(type = "number"))]
    pub first_part_ms: u64,
    /// The tokens of the requests whose speed is known. `streaming_ms` is the sum over these.
    #[cfg_attr(test, ts(type = "number"))]
    pub streamed_tokens: u64,
    /// The sum of the times from the first part to the end.
    #[cfg_attr(test, ts(type = "number"))]
    pub streaming_ms: u64,
}

/// Billionths of a US dollar, so that sums are exact. In JSON, it is a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(pub u64);

impl Dollars {
    const SCALE: u32 = 9;

    /// Parses a decimal number such as `0.000227`, `1.5e-7` or `$2`. Digits after the ninth are rounded.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('$');
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if integer.len() + fraction.len() == 0 || !digits(integer) || !digits(fraction) {
            return text.parse().ok().and_then(Self::from_f64);
        }
        let (kept, rest) = fraction.split_at_checked(Self::SCALE as usize).unwrap_or((fraction, ""));
        let whole: u64 = if integer.is_empty() { 0 } else { integer.parse().ok()? };
        let nanos: u64 = format!("{kept:0<9}").parse().ok()?;
        let round = u64::from(rest.bytes().next().is_some_and(|digit| digit >= b'5'));
        whole.checked_mul(10_u64.pow(Self::SCALE))?.checked_add(nanos + round).map(Self)
    }

    /// Rounds an amount to billionths. Negative and absurd amounts are `None`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    pub fn from_f64(dollars: f64) -> Option<Self> {
        (0.0..1e9).contains(&dollars).then(|| Self((dollars * 1e9).round() as u64))
    }

    /// Returns the amount in dollars.
    #[allow(clippy::cast_precision_loss, reason = "for display: exact up to nine million dollars")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// Prints two significant digits: `$12.34`, `$0.052`, `$0.00023`. Amounts that would round to zero are printed in full.
impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            0 => return f.write_str("$0"),
            100_000_000.. => 2,
            10_000_000.. => 3,
            1_000_000.. => 4,
            100_000.. => 5,
            10_000.. => 6,
            _ => return write!(f, "${}", format!("{:.9}", self.as_f64()).trim_end_matches('0')),
        };
        write!(f, "${:.decimals$}", self.as_f64())
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::from_f64(dollars).ok_or_else(|| serde::de::Error::custom("not an amount of dollars"))
    }
}

/// What the status bar shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct StatusLine {
    /// For example `52.0k/128k · 41 %`, preceded by `~` while it is an estimate. Join with ` · `.
    pub text: Vec<Message>,
    /// How full the conversation is.
    pub level: Level,
    /// What is happening.
    pub activity: Activity,
    /// What is shown when the pointer rests on the status bar.
    pub tooltip: Vec<TooltipLine>,
}

/// `warning` from three quarters of the window, `error` from nine tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Level {
    /// There is enough room.
    Normal,
    /// The conversation fills three quarters of the window.
    Warning,
    /// The conversation fills nine tenths of the window.
    Error,
}

/// What is happening in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Activity {
    /// No request is running.
    Idle,
    /// A model is answering.
    Answering,
    /// The conversation is being summarized.
    Summarizing,
}

/// A line of the status bar's tooltip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TooltipLine {
    /// What the line is about.
    pub label: Message,
    /// The details, to be joined with commas.
    pub value: Vec<Message>,
}

/// A warning before a request is sent. The request is sent anyway, because only the server knows the limit for certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Preflight {
    /// How serious it is.
    pub level: Level,
    /// What to tell the user.
    pub message: Message,
}

impl Usage {
    /// Returns the input tokens that were in the provider's prompt cache.
    pub fn cached_tokens(&self) -> Option<u64> {
        self.input_tokens_details.as_ref()?.count("cached_tokens")
    }

    /// Returns the input tokens that were written to the provider's prompt cache.
    pub fn cache_write_tokens(&self) -> Option<u64> {
        let details = self.input_tokens_details.as_ref()?;
        details.count("cache_write_tokens").or_else(|| details.count("cache_creation_input_tokens"))
    }

    /// Returns the output tokens that were reasoning.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        self.output_tokens_details.as_ref()?.count("reasoning_tokens")
    }
}
