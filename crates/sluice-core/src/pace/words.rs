//! Counts words as VS Code's Chat view does.

/// The number of words in a text that grows, and how it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    pub(super) count: u64,
    last: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Kind {
    /// White space, bars and backticks.
    #[default]
    Between,
    /// A run of one of the characters `=`, `+` and `-`.
    Sign(char),
    /// Every Han character is a word.
    Han,
    /// A run of anything else.
    Other,
}

impl Words {
    pub(super) fn add(&mut self, text: &str) {
        for c in text.chars() {
            self.add_char(c);
        }
    }

    /// Returns where the first `count` words of the text that follows end, and the state at that point. Returns `None` if the
    /// text has no more words than that.
    pub(super) fn few(self, text: &str, count: u64) -> Option<(usize, Self)> {
        let mut until = self;
        for (at, c) in text.char_indices() {
            let before = until;
            until.add_char(c);
            if until.count > self.count + count {
                return Some((at, before));
            }
        }
        None
    }

    fn add_char(&mut self, c: char) {
        let kind = match c {
            'a'..='z' => Kind::Other,
            '|' | '`' => Kind::Between,
            '=' | '+' | '-' => Kind::Sign(c),
            _ if c.is_whitespace() => Kind::Between,
            '\u{2e80}'..='\u{2fd5}'
            | '\u{3005}'
            | '\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{fad9}'
            | '\u{20000}'..='\u{323af}' => Kind::Han,
            _ => Kind::Other,
        };
        let is_new = kind != Kind::Between && (kind != self.last || kind == Kind::Han);
        self.count += u64::from(is_new);
        self.last = kind;
    }
}
