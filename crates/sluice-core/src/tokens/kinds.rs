//! Counts the kinds of text that other vocabularies split in another way than ours.
//!
//! A smaller vocabulary has fewer long words and hardly any in capitals, but the short words of English are single tokens in
//! all of them. A factor alone is therefore too high for prose where it is right for code.

/// How often some kinds of text occur. Only ASCII letters are looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// Words of up to three letters between spaces, as in prose. In code, short names are next to other signs.
    pub short_words: i64,
    /// Capital letters next to each other.
    pub capitals: i64,
    pub lines: i64,
}

impl Kinds {
    pub(super) fn of(text: &str) -> Self {
        let mut kinds = Self::default();
        let (mut letters, mut capitals, mut is_after_space) = (0, 0, true);
        for byte in text.bytes().chain([0]) {
            if byte.is_ascii_uppercase() {
                capitals += 1;
            } else {
                kinds.capitals += if capitals > 1 { capitals } else { 0 };
                capitals = 0;
            }
            if byte.is_ascii_alphabetic() {
                letters += 1;
            } else {
                let is_between_spaces = is_after_space && byte == b' ';
                kinds.short_words += i64::from(is_between_spaces && (1..=3).contains(&letters));
                (letters, is_after_space) = (0, byte == b' ');
                kinds.lines += i64::from(byte == b'\n');
            }
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_text_are_counted() {
        let cases = [
            ("", 0, 0, 0),
            ("A word of the text.\n", 3, 0, 1),
            ("HTTP and JSONValue\r\n\r\n", 1, 9, 2),
            ("été 42 x", 0, 0, 0),
            ("f(a, b) if x in y;", 3, 0, 0),
            ("ID", 0, 2, 0),
        ];
        for (text, short_words, capitals, lines) in cases {
            assert_eq!(Kinds::of(text), Kinds { short_words, capitals, lines }, "{text:?}");
        }
    }
}
