//! The gateway's token count. It is only an estimate, but the same rule is used for everything: the input, the output,
//! the output limit, and the deltas. With the fault `tokens`, every count is a percentage of it.
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

/// Passes the tokens of a tool definition to a function, one at a time.
pub fn visit_tool(tool: &Value, token: &mut dyn FnMut(&[u8])) {
    around("tool", token);
    let schema = tool.get("parameters").filter(|schema| !schema.is_null()).map(Value::to_string);
    let texts = [tool["name"].as_str(), tool["description"].as_str(), schema.as_deref()];
    texts.into_iter().flatten().for_each(|text| visit(text, token));
}

/// Passes the tokens of an input or output item to a function, one at a time.
pub fn visit_item(item: &Value, token: &mut dyn FnMut(&[u8])) {
    around(item["role"].as_str().or(item["type"].as_str()).unwrap_or_default(), token);
    let own = ["name", "arguments", "encrypted_content"].iter().filter_map(|key| item[key].as_str());
    own.for_each(|text| visit(text, token));
    for list in ["content", "output", "summary"] {
        match &item[list] {
            Value::String(text) => visit(text, token),
            Value::Array(parts) => parts.iter().for_each(|part| visit_part(part, token)),
            _ => {}
        }
    }
}

/// Passes the tokens of a text to a function, one at a time.
pub fn visit(text: &str, token: &mut dyn FnMut(&[u8])) {
    let mut rest = text;
    while let Some(piece) = first(rest) {
        token(piece.as_bytes());
        rest = &rest[piece.len()..];
    }
}

fn around(name: &str, token: &mut dyn FnMut(&[u8])) {
    (0..ITEM).for_each(|_| token(name.as_bytes()));
}

fn visit_part(part: &Value, token: &mut dyn FnMut(&[u8])) {
    let data = part["file_data"].as_str();
    let number = match part["type"].as_str() {
        Some("input_image") => IMAGE,
        Some("input_file" | "input_video") => data.map_or(IMAGE, |data| data.len() / FILE_CHARACTERS),
        _ => return part["text"].as_str().or(part["refusal"].as_str()).map_or((), |text| visit(text, token)),
    };
    let content = data.or(part["image_url"].as_str()).unwrap_or_default().as_bytes();
    if number > 0 {
        token(content);
        (1..number).for_each(|_| token(&[]));
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
