//! Text for people, as codes with arguments: the core decides what to say, and a shell in which language.
//!
//! There is one English sentence for each code, in `message/sentences.rs`. Shells that don't translate print it; the extension looks the
//! sentence up in the bundle of the user's language. Text that a server wrote is an argument, never a code.
//!
//! A module that only reads answers is built with `--cfg answers_only`, and has only the sentences that can end one.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One sentence, or one label, for people. Its [`Display`](fmt::Display) output is English.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Message {
    /// Which sentence it is.
    pub code: MessageCode,
    /// What replaces `{0}`, `{1}` and so on.
    pub args: Vec<String>,
}

impl Message {
    pub(crate) fn new<const N: usize>(code: MessageCode, args: [&dyn ToString; N]) -> Self {
        Self { code, args: args.iter().map(|argument| argument.to_string()).collect() }
    }
}

impl From<MessageCode> for Message {
    fn from(code: MessageCode) -> Self {
        Self { code, args: Vec::new() }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.fill(self.code.english()))
    }
}

impl Message {
    /// Puts the arguments into a sentence.
    fn fill(&self, sentence: &str) -> String {
        let mut pieces = sentence.split('{');
        let mut filled = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (number, rest) = piece.split_once('}').unwrap_or(("", piece));
            let argument = number.parse::<usize>().ok().and_then(|number| self.args.get(number));
            filled.extend([argument.map_or("", String::as_str), rest]);
        }
        filled
    }
}

/// Joins messages in English: sentences with a space, the details of a line with a comma.
pub fn join_messages(messages: &[Message], separator: &str) -> String {
    messages.iter().map(Message::to_string).collect::<Vec<_>>().join(separator)
}

/// The language of the user. A sentence that has no translation is shown in English.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Language {
    /// Its name, such as `de`.
    pub name: String,
    /// The translations, by the English sentence.
    pub sentences: BTreeMap<String, String>,
}

impl Language {
    /// Joins messages, like [`join_messages`].
    pub fn join(&self, messages: &[Message], separator: &str) -> String {
        let translated = |message: &Message| {
            let english = message.code.english();
            message.fill(self.sentences.get(english).map_or(english, String::as_str))
        };
        messages.iter().map(translated).collect::<Vec<_>>().join(separator)
    }

    /// Returns one message.
    pub(crate) fn text(&self, message: impl Into<Message>) -> String {
        self.join(&[message.into()], "")
    }
}

macro_rules! messages {
    ($($code:ident = $english:literal,)* ; $($other:ident = $other_english:literal,)*) => {
        /// Every sentence and label that the core has for people.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
        #[non_exhaustive]
        pub enum MessageCode {
            $(#[doc = $english] $code,)*
            $(#[doc = $other_english] $other,)*
        }

        impl MessageCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code,)* $(Self::$other,)*];

            /// Returns the English sentence, with `{0}`, `{1}` and so on for the arguments.
            pub fn english(self) -> &'static str {
                match self {
                    $(Self::$code => $english,)*
                    $(#[cfg(not(answers_only))] Self::$other => $other_english,)*
                    #[cfg(answers_only)]
                    _ => "",
                }
            }

            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)*
                    $(#[cfg(not(answers_only))] Self::$other => stringify!($other),)*
                    #[cfg(answers_only)]
                    _ => "",
                }
            }
        }
    };
}

mod sentences;
pub use sentences::MessageCode;

/// Writes the name in camel case. Derived code would have a branch for each name, which takes six kilobytes of
/// WebAssembly.
impl Serialize for MessageCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut name = self.name().to_owned();
        name.get_mut(..1).map(str::make_ascii_lowercase);
        serializer.serialize_str(&name)
    }
}

impl<'de> Deserialize<'de> for MessageCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|code| {
            let (own, name) = (code.name(), name.as_str());
            own.eq_ignore_ascii_case(name) && own.get(1..) == name.get(1..)
        });
        found.copied().ok_or_else(|| D::Error::custom("an unknown sentence"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, Message, MessageCode, join_messages};

    #[test]
    fn arguments_replace_their_numbers() {
        let message = |args: &[&str]| {
            let args = args.iter().map(|argument| (*argument).to_owned()).collect();
            Message { code: MessageCode::TokensOf, args }.to_string()
        };
        assert_eq!(message(&["1", "2"]), "1 of 2 tokens");
        assert_eq!(message(&["{1}", "{0}"]), "{1} of {0} tokens");
        assert_eq!(message(&[]), " of  tokens");
    }

    #[test]
    fn sentences_are_joined_by_spaces() {
        let messages = [Message::new(MessageCode::NoConnection, [&"a.example"]), MessageCode::CheckNetwork.into()];
        assert_eq!(
            join_messages(&messages, " "),
            "No connection to a.example. Check the network, the proxy settings and the base URL."
        );
    }

    #[test]
    fn a_sentence_without_a_translation_stays_english() {
        let sentences = [("No connection to {0}.".to_owned(), "Keine Verbindung zu {0}.".to_owned())];
        let german = Language { name: "de".to_owned(), sentences: sentences.into() };
        let messages = [Message::new(MessageCode::NoConnection, [&"{0}"]), MessageCode::TooManyRequests.into()];
        assert_eq!(german.join(&messages, " "), "Keine Verbindung zu {0}. Too many requests.");
    }

    #[test]
    fn placeholders_are_numbered_from_zero_without_gaps() {
        for code in MessageCode::ALL {
            let english = code.english();
            let numbers = (0..).take_while(|number| english.contains(&format!("{{{number}}}")));
            let places: usize = numbers.map(|number| english.matches(&format!("{{{number}}}")).count()).sum();
            assert_eq!(places, english.matches('{').count(), "{english}");
        }
    }
}
