//! Estimates tokens without a vocabulary: the text is split into runs of characters of one kind, and each run has the
//! usual cost of such a run in o200k.
//!
//! The estimate is meant to be slightly too high: a conversation whose count is too low isn't summarized in time.

/// The kind of characters that a run consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Space,
    Newline,
    Punctuation,
    /// Scripts that the vocabulary splits into pieces of about four letters: Cyrillic, Arabic, Devanagari.
    Known,
    /// Scripts that the vocabulary splits into pieces of about two letters: Greek, Hebrew, Thai, other scripts of
    /// India.
    Spelled,
    /// Chinese, Japanese, Korean.
    Ideograph,
    /// Emoji, rare scripts and symbols, at two or three tokens each.
    Rare,
}

pub(super) fn tokens(text: &str) -> usize {
    // Costs are in quarters of a token.
    let mut quarters = 0;
    let mut run: Option<(Kind, usize)> = None;
    let mut before = '\0';
    let mut words = Words::default();
    for c in text.chars() {
        let kind = kind(c);
        // An accent splits a word into more pieces; rarer accents cost more.
        quarters += match c {
            '\u{C0}'..='\u{FF}' => 2,
            '\u{100}'..='\u{24F}' => 5,
            _ => 0,
        };
        let repeats = c == before;
        before = c;
        match &mut run {
            // A ruler such as `-----` is one token, whatever its length.
            Some((Kind::Punctuation, length)) if repeats && *length > 2 => {}
            Some((current, length)) if *current == kind => *length += 1,
            // `Word` is one run, not `W` and `ord`.
            Some((current @ Kind::Upper, length)) if kind == Kind::Lower && *length == 1 => {
                (*current, *length) = (Kind::Lower, 2);
            }
            _ => {
                quarters += run.map_or(0, |(kind, length)| words.cost(kind, length));
                run = Some((kind, 1));
            }
        }
    }
    quarters += run.map_or(0, |(kind, length)| words.cost(kind, length));
    quarters.div_ceil(4)
}

/// Detects hashes, keys and base64, in which letters and digits alternate quickly, so that they aren't counted as
/// words.
#[derive(Default)]
struct Words {
    /// The number of characters since the last one that was neither a letter nor a digit.
    length: usize,
    /// The number of runs that these characters were in.
    runs: usize,
}

impl Words {
    fn cost(&mut self, kind: Kind, length: usize) -> usize {
        if matches!(kind, Kind::Lower | Kind::Upper | Kind::Digit) {
            self.length += length;
            self.runs += 1;
        } else {
            *self = Self::default();
        }
        let scrambled = self.runs >= 4 && self.length < self.runs * 4;
        match kind {
            // A word of up to eight letters is one token; longer words are split into pieces of about five.
            Kind::Lower if length <= 8 => {
                if scrambled {
                    3 + length
                } else {
                    5
                }
            }
            Kind::Lower => 5 + (length - 8),
            Kind::Digit => 4 * length.div_ceil(3),
            // A single space is part of the word that follows it.
            Kind::Space => {
                if length == 1 {
                    0
                } else {
                    4
                }
            }
            Kind::Newline => 3,
            Kind::Upper => 4 + length.saturating_sub(3),
            // `});` and `": "` are one token each.
            Kind::Punctuation => 4 + 3 * length.saturating_sub(2),
            Kind::Known => 3 + length,
            Kind::Spelled => 2 + 2 * length,
            Kind::Ideograph => 4 * length,
            Kind::Rare => 10 * length,
        }
    }
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | '\u{C0}'..='\u{24F}' => Kind::Lower,
        'A'..='Z' => Kind::Upper,
        '0'..='9' => Kind::Digit,
        ' ' | '\t' => Kind::Space,
        '\n' | '\r' => Kind::Newline,
        '!'..='~' | '\u{2010}'..='\u{203A}' => Kind::Punctuation,
        '\u{400}'..='\u{52F}' | '\u{600}'..='\u{6FF}' | '\u{900}'..='\u{97F}' => Kind::Known,
        '\u{370}'..='\u{3FF}' | '\u{590}'..='\u{5FF}' | '\u{980}'..='\u{E7F}' => Kind::Spelled,
        '\u{3000}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF00}'..='\u{FFEF}' => {
            Kind::Ideograph
        }
        _ => Kind::Rare,
    }
}
