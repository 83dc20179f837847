//! Finds text that looks like a secret, by its prefix or by the text before it.

use std::ops::Range;

/// Keys start with these, followed by a separator.
const PREFIXES: [&str; 27] = [
    "ak",
    "fw",
    "gho",
    "ghp",
    "ghr",
    "ghs",
    "ghu",
    "github_pat",
    "glpat",
    "gsk",
    "hf",
    "npm",
    "nvapi",
    "pk",
    "pplx",
    "r8",
    "rk",
    "sk",
    "tgp",
    "vca",
    "vck",
    "vcp",
    "vcr",
    "vercel",
    "xai",
    "xapp",
    "xox",
];
/// Keys that start with these need no separator.
const STARTS: [&str; 4] = ["AIza", "AKIA", "ASIA", "eyJ"];
const SHORTEST_KEY: usize = 12;
/// Words without a digit are never longer than this.
const LONGEST_WORD: usize = 20;
/// In a log, words of letters and digits that are at least this long are masked.
const LONG_WORD: usize = 40;
/// A query parameter is secret if its name contains one of these.
const PARAMETERS: [&str; 6] = ["key", "token", "secret", "password", "auth", "signature"];

/// The authentication schemes whose header contains the secret itself.
pub(super) fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns the ranges to hide.
pub(super) fn alike(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut before = "";
    let mut scheme: Option<&str> = None;
    for (start, word) in words(text) {
        let end = start + word.len();
        let is_credential = scheme.is_some_and(|before| {
            let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
            has_digit && word.len() >= 8
                || word.len() > LONGEST_WORD
                || before.to_ascii_lowercase().ends_with("authorization")
        });
        if is_key(word) || is_credential {
            found.push(start..end);
        }
        scheme = is_scheme(word).then_some(before);
        before = word;
    }
    in_urls(text, &mut found);
    found
}

/// Finds runs of characters that can occur in keys, without the full stop of a sentence.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "-_.*+~".contains(c);
    let mut at = 0;
    text.split(move |c: char| !is_inside(c)).filter_map(move |word| {
        let start = at;
        // The separator is one character of one to four bytes.
        at += word.len();
        at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let trimmed = word.trim_start_matches(['.', '-', '*', '+', '~']);
        let start = start + word.len() - trimmed.len();
        let trimmed = trimmed.trim_end_matches('.');
        (!trimmed.is_empty()).then_some((start, trimmed))
    })
}

/// Returns the ranges of words that contain both letters and digits and are longer than any word, id or address without
/// a separator.
pub(super) fn long_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_+=-".contains(c);
    let mut end = 0;
    text.split_inclusive(move |c| !is_inside(c)).filter_map(move |piece| {
        let start = end;
        end += piece.len();
        let word = piece.trim_end_matches(|c| !is_inside(c));
        let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
        (word.len() >= LONG_WORD && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
            .then_some(start..start + word.len())
    })
}

fn is_key(word: &str) -> bool {
    let is_prefixed = |prefix: &str| {
        let rest = word.strip_prefix(prefix).unwrap_or_default();
        // Slack's prefixes have another letter: `xoxb-`.
        let rest = if prefix == "xox" { rest.trim_start_matches(|c: char| c.is_ascii_lowercase()) } else { rest };
        rest.starts_with(['-', '_'])
    };
    let is_word = |word: &str| word.starts_with("vercel") && !word.bytes().any(|byte| byte.is_ascii_digit());
    word.len() >= SHORTEST_KEY
        && !is_word(word)
        && (PREFIXES.iter().any(|prefix| is_prefixed(prefix)) || STARTS.iter().any(|start| word.starts_with(start)))
}

/// Finds `://user:password@` and `?api_key=…`.
fn in_urls(text: &str, found: &mut Vec<Range<usize>>) {
    let ends = |c: char| c.is_whitespace() || "\"'`<>\\".contains(c);
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let rest = text.get(start..).unwrap_or_default();
        // The search goes no further than the next `://`, so that all of them together take linear time.
        let end = rest.char_indices().find(|(_, c)| ends(*c) || "/?#@".contains(*c));
        if let Some((length, '@')) = end {
            found.push(start..start + length);
        }
    }
    let mut done = 0;
    for (at, _) in text.match_indices(['?', '&']) {
        // This question mark is inside a value that is hidden already.
        if at < done {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let name_end = rest.char_indices().take(64).find(|(_, c)| !c.is_ascii_alphanumeric() && !"-_".contains(*c));
        let Some((length, '=')) = name_end else { continue };
        let name = rest.get(..length).unwrap_or_default().to_ascii_lowercase();
        if PARAMETERS.iter().any(|secret| name.contains(secret)) {
            let start = at + 1 + length + 1;
            let value = text.get(start..).unwrap_or_default();
            let length = value.find(|c: char| ends(c) || c == '&' || c == '#').unwrap_or(value.len());
            done = start + length;
            found.push(start..done);
        }
    }
}
