//! Decides whether and when a request is retried. Shells only sleep.

use std::error::Error;
use std::fmt;

use crate::boundary::{Failure, FailureKind};
use crate::message::{Message, MessageCode, join_messages};

const FIRST_DELAY_MS: f64 = 500.0;
const MAX_DELAY_MS: f64 = 8_000.0;
/// If the server asks for a longer wait, don't retry; report the failure.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 60_000;
/// Waits are capped at about a year.
const MAX_WAIT_MS: u64 = 366 * 24 * 3_600_000;

/// Returns how long to wait before the next attempt, or `None` to give up. `attempt` counts from 1, `random` is between 0
/// and 1.
pub(crate) fn retry_delay_ms(failure: &Failure, attempt: u32, random: f64) -> Option<u64> {
    if !failure.may_retry {
        return None;
    }
    if let Some(asked) = failure.retry_after_ms {
        return (asked <= MAX_RETRY_AFTER_MS).then_some(asked);
    }
    let doubled = FIRST_DELAY_MS * f64::from(2_u32.saturating_pow(attempt.saturating_sub(1)));
    let jittered = doubled.min(MAX_DELAY_MS) * (1.0 - 0.25 * random.clamp(0.0, 1.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 8000")]
    Some(jittered as u64)
}

impl Failure {
    /// Returns what to tell the user, in English: what happened, when to come back, what to do.
    pub fn sentence(&self) -> String {
        join_messages(&self.text, " ")
    }

    /// Adds how long the server asks to wait, before what to do next.
    pub(super) fn with_wait(mut self) -> Self {
        let is_passing = self.may_retry || self.kind == FailureKind::RateLimited;
        if let Some(wait) = self.retry_after_ms.filter(|wait| is_passing && *wait > 0) {
            self.text.insert(self.text.len().saturating_sub(1), wait_message(wait));
        }
        self
    }
}

/// The same words as [`Failure::sentence`].
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence())
    }
}

impl Error for Failure {}

fn wait_message(ms: u64) -> Message {
    let seconds = ms.div_ceil(1000);
    match seconds {
        0..120 => Message::new(MessageCode::WaitSeconds, [&seconds]),
        120..7_200 => Message::new(MessageCode::WaitMinutes, [&seconds.div_ceil(60)]),
        7_200..172_800 => Message::new(MessageCode::WaitHours, [&seconds.div_ceil(3_600)]),
        172_800..31_536_000 => Message::new(MessageCode::WaitDays, [&seconds.div_ceil(86_400)]),
        _ => MessageCode::WaitMoreThanAYear.into(),
    }
}

/// Reads when to try again: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date. Anything else is ignored,
/// including negative numbers. A number of any size is a wait.
pub(super) fn retry_after_ms<'a>(header: impl Fn(&str) -> Option<&'a str>, now: u64) -> Option<u64> {
    if let Some(exact) = header("retry-after-ms").and_then(|text| thousandths(text.trim())) {
        return Some((exact / 1000).min(MAX_WAIT_MS));
    }
    // LiteLLM passes on the headers of its providers under other names.
    let text = header("retry-after").or_else(|| header("llm_provider-retry-after"))?;
    let wait_ms = thousandths(text.trim()).or_else(|| Some(http_date(text)?.saturating_sub(now).saturating_mul(1000)));
    Some(wait_ms?.min(MAX_WAIT_MS))
}

/// Reads a number such as `7` or `1.5`, in thousandths. The standard library's parser for floating-point numbers would add
/// ten kilobytes of tables to the WebAssembly module.
fn thousandths(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let fraction = fraction.bytes().chain(*b"000").take(3).fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
    Some(whole.parse().unwrap_or(u64::MAX).saturating_mul(1000).saturating_add(fraction))
}

/// Converts a date such as `Sun, 06 Nov 1994 08:49:37 GMT` to seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split_ascii_whitespace().take(5);
    let day: u64 = words.next()?.parse().ok()?;
    let month_name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == month_name)? as u64 + 1;
    let year = words.next().filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?;
    // A year with twenty digits is in the far future, too.
    let year = year.parse().unwrap_or(u64::MAX).min(9_999);
    if year < 1970 {
        return None;
    }
    let mut time = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (time.next()??, time.next()??, time.next()??);
    if words.next() != Some("GMT") || !(1..=31).contains(&day) || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Returns the days since 1970-01-01. Years are counted from March, so that the leap day comes last.
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let days = 365 * shifted_year + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 + day_of_year;
    Some((days.checked_sub(719_468)?) * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}
