//! Faults and dialects: everything a server may do that a client has to survive. Each has a name, and they can be
//! combined.
//!
//! Faults are set by the server's options, by the header `x-sluice-fault: crlf, cut-at=500`, or by the model's id,
//! `sluice/echo+crlf+cut-at=500`. A fault has at most one value; without one, its default is used.

use std::fmt;

use crate::http::Request;

mod catalogue;

pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod frames;
pub(crate) mod head;

pub use catalogue::faults;

/// The header that sets faults.
pub const HEADER: &str = "x-sluice-fault";

/// An entry of the catalogue: what a fault does, and the outcome that a good client reaches.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub name: &'static str,
    /// The default value. Empty if the fault takes no value, or if the seed or the length of the body determines it.
    pub default: &'static str,
    /// Other values that are worth testing.
    pub values: &'static [&'static str],
    pub about: &'static str,
    /// A model whose answer shows the fault.
    pub model: &'static str,
    pub outcome: Outcome,
}

impl Fault {
    /// Returns the fault with its default and with each value in `values`, in the notation that [`Faults::parse`]
    /// reads: `chunk`, `chunk=1`, ….
    pub fn variants(&self) -> impl Iterator<Item = String> {
        let others = self.values.iter().map(|value| format!("{}={value}", self.name));
        std::iter::once(self.name.to_owned()).chain(others)
    }
}

/// The outcome that a client should reach.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The same answer as without the fault.
    Same,
    /// The same answer, after the client has retried.
    SameAfterRetries,
    /// A completed answer, whose text may differ.
    Completed,
    /// An answer that the server marks as incomplete.
    Incomplete,
    /// An error: the stream ended or broke before the terminal event.
    Truncated,
    /// An error that is reported in the stream.
    FailedByServer,
    /// An error that is reported by the HTTP status.
    FailedByStatus,
    /// An error: there was no connection, or it broke before the first byte.
    FailedByNetwork,
    /// An error: the status was success, but the body isn't an answer.
    NotAnAnswer,
    /// An error: an event is larger than any client has to accept.
    TooLarge,
    /// An error: redirects are not followed.
    RedirectRefused,
    /// An error: no headers arrived for too long.
    HeadersTimeout,
    /// An error: no bytes arrived for too long.
    IdleTimeout,
    /// The answer never ends; the client must cancel it.
    Endless,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Same => "the same answer",
            Self::SameAfterRetries => "the same answer after retries",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Truncated => "truncated",
            Self::FailedByServer => "failed: the server says so",
            Self::FailedByStatus => "failed: HTTP status",
            Self::FailedByNetwork => "failed: network",
            Self::NotAnAnswer => "failed: not an answer",
            Self::TooLarge => "failed: too large",
            Self::RedirectRefused => "failed: redirect refused",
            Self::HeadersTimeout => "failed: headers timeout",
            Self::IdleTimeout => "failed: idle timeout",
            Self::Endless => "endless until cancelled",
        })
    }
}

/// A set of faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    chosen: Vec<(&'static str, String)>,
    /// What the client authorized itself with, for faults that repeat it.
    credentials: String,
}

impl Faults {
    /// Parses `name` and `name=value`, separated by commas, plus signs or spaces.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut chosen = Vec::new();
        for word in text.split([',', '+', ' ']).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let fault = faults()
                .iter()
                .find(|fault| fault.name == name)
                .ok_or_else(|| format!("There is no fault called '{name}'"))?;
            let value = if value.is_empty() { fault.default } else { value };
            chosen.push((fault.name, value.to_owned()));
        }
        Ok(Self { chosen, credentials: String::new() })
    }

    /// Adds `others` to these faults.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.chosen.extend(others.chosen);
        self
    }

    /// The same, for a request that came with this `Authorization` header.
    #[must_use]
    pub(crate) fn for_request(mut self, request: &Request) -> Self {
        request.header("authorization").unwrap_or("no key").clone_into(&mut self.credentials);
        self
    }

    /// Adds status 503 if there is no fault except `fail-times`.
    pub(crate) fn or_unavailable(mut self) -> Self {
        if self.are_only(&["fail-times", "as"]) {
            self.chosen.push(("status", "503".into()));
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Returns whether there are no faults except these.
    pub(crate) fn are_only(&self, names: &[&str]) -> bool {
        self.chosen.iter().all(|(chosen, _)| names.contains(chosen))
    }

    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Returns the value of a fault, if it is set. The last one wins.
    pub fn value(&self, name: &str) -> Option<&str> {
        debug_assert!(faults().iter().any(|fault| fault.name == name), "{name} is not in the catalogue");
        self.chosen.iter().rev().find(|(chosen, _)| *chosen == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value as a number, or 0 if it isn't one.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).map(|value| value.parse().unwrap_or(0))
    }

    /// Returns how many tokens this server counts for a hundred of the usual ones.
    pub(crate) fn token_percent(&self) -> usize {
        let percent = self.number("tokens").and_then(|percent| usize::try_from(percent).ok());
        percent.map_or(100, |percent| percent.clamp(1, 1000))
    }

    /// Returns the value as a position, or the middle if there is no value.
    fn place(&self, name: &str, length: usize) -> Option<usize> {
        self.value(name).map(|value| value.parse().map_or(length / 2, |place: usize| place.min(length)))
    }
}
