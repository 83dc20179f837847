//! Tokens without a vocabulary: runs of characters of one kind, each with what such runs usually cost in o200k.
//!
//! A little too high on most text and hardly ever too low: what is counted too low is not summarized in time.

/// What a run is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Space,
    Newline,
    Punctuation,
    /// Accented Latin letters, Greek, Cyrillic, Hebrew, Arabic: words, in shorter pieces.
    Word,
    /// Chinese, Japanese, Korean.
    Ideograph,
    /// Emoji, rare scripts, symbols: hardly anything is one token.
    Rare,
}

pub(super) fn tokens(text: &str) -> usize {
    // In quarters of a token.
    let mut quarters = 0;
    let mut run: Option<(Kind, usize)> = None;
    let mut words = Words::default();
    for c in text.chars() {
        let kind = kind(c);
        match &mut run {
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

/// Letters and digits in quick alternation are no words: hashes, keys, base64.
#[derive(Default)]
struct Words {
    /// Characters since the last one that is neither letter nor digit, and how many short runs they came in.
    length: usize,
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
            // One token up to eight letters; long words come in pieces of about five.
            Kind::Lower if length <= 8 => {
                if scrambled {
                    3 + length
                } else {
                    5
                }
            }
            Kind::Lower => 5 + (length - 8),
            Kind::Digit => 4 * length.div_ceil(3),
            // The space before a word belongs to it.
            Kind::Space => {
                if length == 1 {
                    0
                } else {
                    4
                }
            }
            Kind::Newline => 3,
            // `URL`, `});` and `": "` are one token each; a ruler of dashes is a few.
            Kind::Upper | Kind::Punctuation => 4 + 2 * length.saturating_sub(2),
            Kind::Word => 2 + 2 * length,
            Kind::Ideograph => 4 * length,
            Kind::Rare => 10 * length,
        }
    }
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' => Kind::Lower,
        'A'..='Z' => Kind::Upper,
        '0'..='9' => Kind::Digit,
        ' ' | '\t' => Kind::Space,
        '\n' | '\r' => Kind::Newline,
        '!'..='~' | '\u{2010}'..='\u{203A}' => Kind::Punctuation,
        '\u{80}'..='\u{6FF}' => Kind::Word,
        '\u{3000}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF00}'..='\u{FFEF}' => {
            Kind::Ideograph
        }
        _ => Kind::Rare,
    }
}
