//! The gateway's token count. It is only an estimate, but the same rule is used for everything: the input, the output,
//! the output limit, and the deltas.
//!
//! A token is white space followed by up to seven letters and digits, or by one other character. On English and on
//! code, that is close to a byte-pair tokenizer, and closer isn't necessary.

use serde_json::Value;

/// The maximum number of letters and digits in a token.
const WORD: usize = 7;
/// The overhead of an item in addition to its text.
const ITEM: usize = 4;
/// The tokens of an image of any size.
const IMAGE: usize = 256;
/// The number of characters of an attached file per token.
const FILE_CHARACTERS: usize = 4;

/// Splits a text into tokens. Concatenated, they are the text.
pub fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(piece) = first(rest) {
        pieces.push(piece);
        rest = &rest[piece.len()..];
    }
    pieces
}

/// Returns the first token, or `None` if the text is empty.
pub fn first(text: &str) -> Option<&str> {
    let mut word = 0;
    for (at, character) in text.char_indices() {
        let blank = character.is_whitespace();
        let part_of_word = character.is_alphanumeric() && character.is_ascii();
        // A token ends before white space, before and after a single character, and when its word is long enough.
        let ends = match (word, blank, part_of_word) {
            (0, ..) => false,
            (_, true, _) | (_, _, false) => true,
            (length, ..) => length >= WORD,
        };
        if ends {
            return Some(&text[..at]);
        }
        if !blank {
            word = if part_of_word { word + 1 } else { WORD };
        }
    }
    (!text.is_empty()).then_some(text)
}

pub fn count(text: &str) -> usize {
    pieces(text).len()
}

/// Counts the tokens of a tool definition.
pub fn count_tool(tool: &Value) -> usize {
    ITEM + count(tool["name"].as_str().unwrap_or_default())
        + count(tool["description"].as_str().unwrap_or_default())
        + tool.get("parameters").filter(|schema| !schema.is_null()).map_or(0, |schema| count(&schema.to_string()))
}

/// Counts the tokens of an input or output item.
pub fn count_item(item: &Value) -> usize {
    let own = ["name", "arguments", "encrypted_content"].iter().filter_map(|key| item[key].as_str()).map(count);
    let lists = ["content", "output", "summary"].iter().map(|key| count_content(&item[key]));
    ITEM + own.chain(lists).sum::<usize>()
}

fn count_content(content: &Value) -> usize {
    match content {
        Value::String(text) => count(text),
        Value::Array(parts) => parts.iter().map(count_part).sum(),
        _ => 0,
    }
}

fn count_part(part: &Value) -> usize {
    match part["type"].as_str() {
        Some("input_image") => IMAGE,
        Some("input_file" | "input_video") => {
            part["file_data"].as_str().map_or(IMAGE, |data| data.len() / FILE_CHARACTERS)
        }
        _ => part["text"].as_str().or(part["refusal"].as_str()).map_or(0, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_concatenate_to_the_text() {
        for (text, expected) in [
            ("", vec![]),
            ("Hello, world!", vec!["Hello", ",", " world", "!"]),
            ("  two  spaces ", vec!["  two", "  spaces", " "]),
            ("internationalisation", vec!["interna", "tionali", "sation"]),
            ("naïve 水位", vec!["na", "ï", "ve", " 水", "位"]),
            ("a\n\nb", vec!["a", "\n\nb"]),
        ] {
            assert_eq!(pieces(text), expected);
            assert_eq!(pieces(text).concat(), text);
        }
    }
}
