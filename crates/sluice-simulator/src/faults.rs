//! Faults and dialects: everything a server may do that a client has to survive, each by a name, in any combination.
//!
//! They come from the server's options, from the header `x-sluice-fault: crlf, cut-at=500` or from the model's id,
//! `sluice/echo+crlf+cut-at=500`. A fault has at most one value; one without gets its default.

use std::fmt;

use crate::http::Request;

mod catalogue;

pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod frames;
pub(crate) mod head;

pub use catalogue::faults;

/// The header that asks for faults.
pub const HEADER: &str = "x-sluice-fault";

/// One entry of the catalogue: what a fault does, and what a good client makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub name: &'static str,
    /// The value it has if none is given; empty if it takes none, or if the seed or the length of the body decides.
    pub default: &'static str,
    /// Other values worth trying.
    pub values: &'static [&'static str],
    pub about: &'static str,
    /// A model whose answer shows it.
    pub model: &'static str,
    pub outcome: Outcome,
}

impl Fault {
    /// The fault with its default and with every other value worth trying, each as it is written: `chunk`, `chunk=1`, ….
    pub fn variants(&self) -> impl Iterator<Item = String> {
        let others = self.values.iter().map(|value| format!("{}={value}", self.name));
        std::iter::once(self.name.to_owned()).chain(others)
    }
}

/// What a client should arrive at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The same answer as without the fault.
    Same,
    /// The same answer, after the client has tried again.
    SameAfterRetries,
    /// A completed answer; what it says may differ.
    Completed,
    /// An answer that the server says is incomplete.
    Incomplete,
    /// An error: the stream ended, or broke, before its end.
    Truncated,
    /// An error that the stream tells of.
    FailedByServer,
    /// An error by its HTTP status.
    FailedByStatus,
    /// An error: no connection, or it broke before the first byte.
    FailedByNetwork,
    /// An error: success by its status, but not an answer.
    NotAnAnswer,
    /// An error: an event larger than any client has to take.
    TooLarge,
    /// An error: redirects are not followed.
    RedirectRefused,
    /// An error: no headers for too long.
    HeadersTimeout,
    /// An error: no byte for too long.
    IdleTimeout,
    /// Never ends by itself; only cancelling helps.
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

/// A choice of faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    chosen: Vec<(&'static str, String)>,
    /// What the client authorized itself with, for faults that repeat it.
    credentials: String,
}

impl Faults {
    /// Reads `name` and `name=value`, with commas, plus signs or white space between them.
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

    /// These and those.
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

    /// These; if there are none but `fail-times`, status 503.
    pub(crate) fn or_unavailable(mut self) -> Self {
        if self.are_only(&["fail-times"]) {
            self.chosen.push(("status", "503".into()));
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Whether there is none but these.
    pub(crate) fn are_only(&self, names: &[&str]) -> bool {
        self.chosen.iter().all(|(chosen, _)| names.contains(chosen))
    }

    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The value of a fault, if it is chosen. The last mention counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        debug_assert!(faults().iter().any(|fault| fault.name == name), "{name} is not in the catalogue");
        self.chosen.iter().rev().find(|(chosen, _)| *chosen == name).map(|(_, value)| value.as_str())
    }

    /// Its value as a number; 0 if it is none.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).map(|value| value.parse().unwrap_or(0))
    }

    /// Its value as a position; in the middle if none is given.
    fn place(&self, name: &str, length: usize) -> Option<usize> {
        self.value(name).map(|value| value.parse().map_or(length / 2, |place: usize| place.min(length)))
    }
}
