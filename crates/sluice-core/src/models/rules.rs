//! Patterns for model ids. They select the models that are hidden, favourites or the default.

use crate::message::{Message, MessageCode};

/// The maximum length of a pattern in characters. No id is longer.
const LONGEST: usize = 200;

/// An id that may contain `*` and `?`. A `!` before it makes it negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    is_negative: bool,
    characters: Vec<char>,
}

impl Pattern {
    /// Parses a pattern. The error says what is wrong and what to do about it.
    pub(crate) fn parse(text: &str) -> Result<Self, Message> {
        let text = text.trim();
        let (is_negative, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text),
        };
        let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
        if rest.is_empty() {
            return Err(Message::new(MessageCode::PatternEmpty, [&shown]));
        }
        if rest.chars().count() > LONGEST {
            return Err(Message::new(MessageCode::PatternTooLong, [&format!("{shown}…")]));
        }
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Message::new(MessageCode::PatternWhiteSpace, [&shown]));
        }
        if rest.starts_with('!') || rest.contains(['{', '}', '\\', '^', '$', '|', '(', ')']) {
            return Err(Message::new(MessageCode::PatternCharacters, [&shown]));
        }
        Ok(Self { is_negative, characters: folded(rest) })
    }

    pub(super) fn matches(&self, id: &str) -> bool {
        self.matches_folded(&folded(id))
    }

    fn matches_folded(&self, id: &[char]) -> bool {
        let without_creator = || {
            let slash = id.iter().position(|c| *c == '/').filter(|_| !self.characters.contains(&'/'));
            slash.and_then(|slash| id.get(slash + 1..)).is_some_and(|tail| wildcard(&self.characters, tail))
        };
        wildcard(&self.characters, id) || without_creator()
    }
}

/// A list of patterns. Later ones override earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Pattern>);

impl Rules {
    pub(super) fn parse(patterns: &[String], problems: &mut Vec<Message>) -> Self {
        let parsed = patterns.iter().filter_map(|text| Pattern::parse(text).map_err(|bad| problems.push(bad)).ok());
        Self(parsed.collect())
    }

    pub(super) fn hold_for(&self, id: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let id = folded(id);
        self.0.iter().rev().find(|pattern| pattern.matches_folded(&id)).is_some_and(|pattern| !pattern.is_negative)
    }

    /// Returns the first match of the earliest pattern, among the ids that no negative pattern matches.
    pub(super) fn first_of<'a>(&self, ids: &[&'a str]) -> Option<&'a str> {
        let positive = self.0.iter().filter(|pattern| !pattern.is_negative);
        let allowed = |id: &&&str| !self.0.iter().any(|pattern| pattern.is_negative && pattern.matches(id));
        positive.flat_map(|pattern| ids.iter().filter(|id| pattern.matches(id))).find(allowed).copied()
    }

    pub(super) fn idle<'a>(&'a self, ids: &'a [&str]) -> impl Iterator<Item = String> + 'a {
        let idle = self.0.iter().filter(|pattern| !pattern.is_negative && !ids.iter().any(|id| pattern.matches(id)));
        idle.map(|pattern| pattern.characters.iter().collect())
    }
}

fn folded(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Matches text against a pattern. After a mismatch, it continues from the last star with one more character. There is no
/// recursion, so that the time is at most the product of both lengths.
fn wildcard(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(from) {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(p) if *p == '?' || p == c => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((star_at, star_from)) = star else { return false };
                star = Some((star_at, star_from + 1));
                at = star_at + 1;
                from = star_from + 1;
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Returns whether a search finds a model. The query is a pattern, or a part of the id or name.
pub fn finds_model(query: &str, id: &str, name: &str) -> bool {
    let query = folded(query.trim());
    let (id, name) = (folded(id), folded(name));
    if query.contains(&'*') || query.contains(&'?') {
        let query: String = query.into_iter().collect();
        return Pattern::parse(&query).is_ok_and(|pattern| pattern.matches_folded(&id));
    }
    let holds = |text: &[char]| query.is_empty() || text.windows(query.len()).any(|window| window == query);
    holds(&id) || holds(&name)
}

/// Returns the ids that are most similar to a mistyped one.
pub fn similar_models<'a>(query: &str, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const SHOWN: usize = 3;
    let wanted = folded(query.trim_matches('*'));
    let mut near: Vec<(usize, &str)> = ids
        .into_iter()
        .filter_map(|id| {
            let whole = folded(id);
            let tail = id.split_once('/').map_or_else(Vec::new, |(_, tail)| folded(tail));
            let distance = edits(&wanted, &whole).min(edits(&wanted, &tail));
            (distance <= (wanted.len() / 3).max(2)).then_some((distance, id))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(SHOWN).map(|(_, id)| id).collect()
}

/// Returns the edit distance: how many letters must be added, removed or changed.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, a) in from.iter().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        let mut next = vec![left];
        for (b, above) in to.iter().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(a != b)).min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
