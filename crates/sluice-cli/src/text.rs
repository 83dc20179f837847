//! Makes text from others (a model, a server, a file) safe to print.
//!
//! A terminal obeys control characters, and shows bidirectional controls and invisible characters by what they do to the
//! text around them: what is on the screen is then not what the bytes say. There are three ways to print such text, and
//! every subcommand uses one of them: [`one_line`] for names, messages and everything else that must stay on its line,
//! [`RunningText`] for what the model says, and [`json`] for `--json`.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes text safe to print within a line. Line breaks and tabs become spaces; control characters, bidirectional
/// controls and invisible characters are shown as JSON would escape them, such as `\u202e`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let mut before = Before::default();
    replaced(text, |c| match c {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Replacement::Space,
        c if before.allows(c) => Replacement::Itself,
        _ => Replacement::Escape,
    })
}

/// Makes JSON text safe to print. The escapes change no value, and the characters they replace can only be in strings.
pub fn json(text: &str) -> Cow<'_, str> {
    replaced(text, |c| if is_unsafe(c) && c != '\n' { Replacement::Escape } else { Replacement::Itself })
}

/// Makes the model's text safe to print, piece by piece: line breaks and tabs stay, control characters, bidirectional
/// controls and invisible characters go. Text in any script stays as it is, and so do emoji that are joined from several
/// characters.
#[derive(Debug, Default)]
pub struct RunningText {
    before: Before,
}

impl RunningText {
    pub fn next<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        replaced(piece, |c| match c {
            '\u{2028}' | '\u{2029}' => Replacement::LineFeed,
            c if self.before.allows(c) || matches!(c, '\n' | '\t') => Replacement::Itself,
            _ => Replacement::Nothing,
        })
    }
}

/// Which special characters may follow the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Whether a joiner would have a visible effect: after an emoji, or in a script that uses joiners.
    joiner: bool,
    /// Whether a variation selector would have an effect.
    selector: bool,
}

impl Before {
    /// Returns whether this character may be printed after the previous ones.
    fn allows(&mut self, c: char) -> bool {
        let (is_allowed, next) = match c {
            '\u{200C}' | '\u{200D}' => (self.joiner, Self::default()),
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => {
                (self.selector, Self { joiner: self.joiner && self.selector, selector: false })
            }
            c if is_unsafe(c) => (false, Self::default()),
            c => {
                // Scripts from Arabic to those of South and South-East Asia, and symbols. Not Latin, Greek or Cyrillic,
                // where a joiner could only make two equal words different.
                let joins = matches!(c, '\u{600}'..='\u{1CFF}') || (c >= '\u{2190}' && !c.is_alphabetic());
                (true, Self { joiner: joins, selector: !c.is_whitespace() })
            }
        };
        *self = next;
        is_allowed
    }
}

/// Control characters, and everything that Unicode calls default-ignorable (bidirectional controls and variation
/// selectors among it), a line separator or an annotation.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

#[derive(PartialEq, Eq)]
enum Replacement {
    Itself,
    Space,
    LineFeed,
    Escape,
    Nothing,
}

/// Only the text from the first changed character on is copied.
fn replaced(text: &str, mut replacement: impl FnMut(char) -> Replacement) -> Cow<'_, str> {
    let mut shown: Option<String> = None;
    for (at, c) in text.char_indices() {
        let replacement = replacement(c);
        if replacement == Replacement::Itself {
            if let Some(shown) = &mut shown {
                shown.push(c);
            }
            continue;
        }
        let shown = shown.get_or_insert_with(|| text[..at].to_owned());
        match replacement {
            Replacement::Space => shown.push(' '),
            Replacement::LineFeed => shown.push('\n'),
            Replacement::Escape => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            Replacement::Nothing | Replacement::Itself => {}
        }
    }
    shown.map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The characters with the property `Bidi_Control`.
    fn is_bidi_control(c: char) -> bool {
        matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    }

    fn running(pieces: &[&str]) -> String {
        let mut text = RunningText::default();
        pieces.iter().map(|piece| text.next(piece).into_owned()).collect()
    }

    #[test]
    fn dangerous_characters_are_escaped_or_dropped() {
        let check = |text: &str, line: &str, in_text: &str| {
            assert_eq!((&*one_line(text), running(&[text]).as_str()), (line, in_text), "{text:?}");
        };
        check("plain, ü, 水", "plain, ü, 水", "plain, ü, 水");
        check("a\nb\tc\r\nd", "a b c  d", "a\nb\tc\nd");
        check("\u{1b}[31m\u{7f}\u{9b}2J\0", "\\u001b[31m\\u007f\\u009b2J\\u0000", "[31m2J");
        check("safe\u{202e}exe.\u{202c}", "safe\\u202eexe.\\u202c", "safeexe.");
        check("\u{2067}a\u{2069}\u{200f}", "\\u2067a\\u2069\\u200f", "a");
        check("a\u{2028}b\u{2029}c\u{85}d", "a b c d", "a\nb\ncd");
        check("r\u{200b}m\u{ad}\u{feff}\u{3164}", "r\\u200bm\\u00ad\\ufeff\\u3164", "rm");
        check("hidden\u{e0041}\u{e007f}", "hidden\\udb40\\udc41\\udb40\\udc7f", "hidden");
        // Scripts that are written from right to left, and joiners where they belong but nowhere else.
        for text in [
            "שלום עולם",
            "مرحبا",
            "می\u{200c}خواهم",
            "ക്\u{200d}ഷ",
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
        ] {
            check(text, text, text);
        }
        check("a\u{200d}b\u{200c}", "a\\u200db\\u200c", "ab");
        check("\u{fe0f}a\u{fe0f}\u{fe0f}", "\\ufe0fa\u{fe0f}\\ufe0f", "a\u{fe0f}");
        check("👩\u{200d}\u{200d}", "👩\u{200d}\\u200d", "👩\u{200d}");
    }

    #[test]
    fn emoji_survive_any_split() {
        assert_eq!(running(&["👩", "\u{200d}", "💻 ❤", "\u{fe0f}"]), "👩\u{200d}💻 ❤\u{fe0f}");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{202e}\u{7f}\u{2028}\u{e0041}👩\u{200d}💻\n\\", "b": [1, "שלום"]});
        let shown = json(&value.to_string()).into_owned();
        assert_eq!(shown, r#"{"a\u009b":"\u202e\u007f\u2028\udb40\udc41👩\u200d💻\n\\","b":[1,"שלום"]}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    /// Characters of every kind, with many dangerous ones.
    fn hostile() -> impl Strategy<Value = String> {
        let c = prop_oneof![
            any::<char>(),
            (0_u32..0x100).prop_filter_map("a character", char::from_u32),
            (0x2000_u32..0x2070).prop_filter_map("a character", char::from_u32),
            (0xE0000_u32..0xE01F0).prop_filter_map("a character", char::from_u32),
            prop::sample::select(vec!['\u{61c}', '\u{feff}', '\u{fe0f}', '\u{200d}', '👩', 'ی', '"', '\\']),
        ];
        prop::collection::vec(c, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_that_is_printed_controls_the_terminal(pieces in prop::collection::vec(hostile(), 0..4)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            let line = one_line(&whole);
            prop_assert!(!line.contains(|c: char| c.is_control() || is_bidi_control(c)), "{line:?}");
            prop_assert!(!line.contains(['\u{2028}', '\u{2029}', '\u{200b}', '\u{feff}']), "{line:?}");
            let text = running(&pieces);
            let is_wrong = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_bidi_control(c);
            prop_assert!(!text.contains(is_wrong), "{text:?}");
            prop_assert_eq!(&text, &running(&[&whole]), "the cuts made a difference");
            let value = serde_json::Value::from(whole.as_str());
            let shown = json(&value.to_string()).into_owned();
            prop_assert!(!shown.contains(is_unsafe), "{shown:?}");
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
