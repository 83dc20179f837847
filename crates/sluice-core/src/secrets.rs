//! Masks secrets in text that a server wrote. Servers quote the key they refuse, and their text is shown, logged and
//! saved.

mod find;
mod home;
mod look;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::boundary::{Failure, Note, Outcome, TokenDetails, Usage};
use crate::exchange::{Ending, Report};
use crate::failure::HttpResponse;
use crate::message::Message;

use find::Needle;

/// Masking shorter secrets would hide ordinary words.
const SHORTEST: usize = 8;
/// The same in logs and reports, where a hidden word does less harm.
const SHORTEST_IN_LOGS: usize = 6;

/// The replacement for a secret.
pub(crate) const HIDDEN: &str = "[hidden]";

/// Masks secrets in text.
///
/// Two kinds of secrets are replaced by `[hidden]`:
///
/// - the exact values passed to [`new`](Self::new), in upper or lower case, percent-encoded, escaped as in JSON or HTML,
///   written in hexadecimal, part of base64 (with anything before them, such as `Bearer ` or a user's name), or
///   interrupted by invisible characters; and their first eight or more characters where the text is cut off;
/// - anything that looks like a secret: keys with a well-known prefix such as `sk-` or `ghp_`, JSON web tokens,
///   credentials after `Bearer` or `Basic`, passwords in URLs, and query parameters that are named like a key.
///
/// The time is linear in the length of the text. JSON stays valid JSON, unless a secret is a bare number in it.
///
/// ```
/// let secrets = sluice_core::Secrets::new(["canary-0123456789"]);
/// assert_eq!(secrets.mask("Wrong key: canary-0123456789"), "Wrong key: [hidden]");
/// assert_eq!(secrets.mask("Wrong key: sk-abcdefghijkl"), "Wrong key: [hidden]");
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    needles: Vec<Needle>,
    /// Secrets that are so short that only logs don't show them.
    short: Vec<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secrets(hidden)")
    }
}

impl Secrets {
    /// Stores the values to mask: keys, tokens, header values. A leading `Bearer ` or `Basic ` is not part of the
    /// secret. Values of fewer than eight bytes are masked by [`redact`](Self::redact) only, and those of fewer than six
    /// nowhere, because masking them would hide ordinary words.
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Self {
        let (mut needles, mut short) = (Vec::new(), Vec::new());
        for value in values {
            let value = value.as_ref().trim();
            let secret = match value.split_once(char::is_whitespace) {
                Some((scheme, rest)) if look::is_scheme(scheme) => rest.trim_start(),
                _ => value,
            };
            if secret.len() >= SHORTEST {
                needles.extend(Needle::all_of(secret));
            } else if secret.len() >= SHORTEST_IN_LOGS {
                short.push(secret.to_owned());
            }
        }
        Self { needles, short }
    }

    /// Returns the text with all secrets masked.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.without(look::alike(text), text)
    }

    /// Returns the text with only the values passed to [`new`](Self::new) masked. Anything else that looks like a
    /// secret stays: this is for what a model says, and an example key in an explanation is part of the explanation.
    pub fn mask_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.without(Vec::new(), text)
    }

    /// Returns the text as a log or a report may contain it: with all secrets masked, with long words of letters and
    /// digits masked, which may be secrets of an unknown kind, and with `~` in place of home folders, which contain the
    /// user's name.
    pub fn redact(&self, text: &str) -> String {
        let mut found = look::alike(text);
        found.extend(look::long_words(text));
        let mut redacted = self.without(found, text).into_owned();
        for secret in &self.short {
            redacted = redacted.replace(secret, HIDDEN);
        }
        home::without_home_folders(&redacted)
    }

    /// Returns what of a header's value may be a key: the value itself if it is one word, otherwise the words with digits and
    /// what follows `Bearer` or `Basic`. Some servers want the address and the name of the user's application in headers, and
    /// a model may mention those.
    pub fn in_header(value: &str) -> Vec<&str> {
        let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
        let is_announced = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            before.is_some_and(|word| look::is_scheme(word))
        };
        let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
        let is_credential =
            |at: usize, word: &str| !word.contains("://") && (words.len() == 1 || is_announced(at) || has_digit(word));
        words.iter().enumerate().filter(|(at, word)| is_credential(*at, word)).map(|(_, word)| *word).collect()
    }

    /// Returns whether there is nothing to mask by its value.
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Returns how many bytes at the end of a text may be the beginning of a known value. The text that follows decides.
    pub fn begun_at_end(&self, text: &str) -> usize {
        self.needles.iter().map(|needle| needle.begun_at_end(text.as_bytes())).max().unwrap_or(0)
    }

    /// Returns the text with these ranges and the known values masked.
    fn without<'a>(&self, mut found: Vec<Range<usize>>, text: &'a str) -> Cow<'a, str> {
        find::spellings(text, &self.needles, &mut found);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable_by_key(|range| range.start);
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for Range { start, end } in found {
            // Ranges that touch or overlap belong to one secret.
            if start > done || done == 0 {
                masked.push_str(text.get(done..start).unwrap_or_default());
                masked.push_str(HIDDEN);
            }
            done = done.max(end);
        }
        masked.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(masked)
    }

    fn mask_in_place(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    fn mask_messages(&self, messages: &mut [Message]) {
        messages.iter_mut().flat_map(|message| &mut message.args).for_each(|argument| self.mask_in_place(argument));
    }

    /// Masks everything in a failure that a server wrote.
    pub fn mask_failure(&self, failure: &mut Failure) {
        let Failure { message, code, tool, next, text, request_id, generation_id, .. } = failure;
        let texts = [code, tool, request_id, generation_id].into_iter().flatten();
        texts.chain([message, next]).for_each(|text| self.mask_in_place(text));
        self.mask_messages(text);
    }

    /// Masks everything in an outcome that a server wrote, including its failure.
    pub fn mask_outcome(&self, outcome: &mut Outcome) {
        let Outcome { reason, error, response_id, model, usage, gateway, .. } = outcome;
        if let Some(failure) = error {
            self.mask_failure(failure);
        }
        if let Some(Usage { input_tokens_details, output_tokens_details, more, .. }) = usage {
            let details = [input_tokens_details, output_tokens_details].into_iter().flatten();
            for map in details.map(|TokenDetails(map)| map).chain([more]) {
                self.mask_fields(map);
            }
        }
        let mut texts: Vec<_> = [reason, response_id, model].into_iter().collect();
        if let Some(gateway) = gateway {
            self.mask_value(&mut gateway.metadata);
            texts.extend([&mut gateway.generation_id, &mut gateway.cost, &mut gateway.provider]);
        }
        texts.into_iter().flatten().for_each(|text| self.mask_in_place(text));
    }

    /// Masks everything in a report that a server wrote, except the answer itself, which the next request repeats.
    pub fn mask_report(&self, report: &mut Report) {
        self.mask_outcome(&mut report.outcome);
        if let Ending::Rejected { message, text, .. } = &mut report.ending {
            self.mask_in_place(message);
            self.mask_messages(text);
        }
    }

    /// Masks the texts of a note.
    pub fn mask_note(&self, note: &mut Note) {
        self.mask_in_place(&mut note.detail);
        self.mask_messages(&mut note.text);
    }

    /// Masks the header values and the body of a response.
    pub fn mask_response(&self, response: &mut HttpResponse) {
        let values = response.headers.iter_mut().map(|(_, value)| value);
        values.chain([&mut response.body]).for_each(|text| self.mask_in_place(text));
    }

    /// Masks every string in a JSON value, including field names.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask_in_place(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.mask_value(value)),
            Value::Object(fields) => self.mask_fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn mask_fields(&self, fields: &mut Map<String, Value>) {
        let masked = std::mem::take(fields).into_iter().map(|(mut name, mut value)| {
            self.mask_in_place(&mut name);
            self.mask_value(&mut value);
            (name, value)
        });
        fields.extend(masked);
    }
}
