//! Text that VS Code shows and that may come from a server. VS Code turns parts of such text into something to click on:
//! notifications and input boxes parse `[label](command:…)`, Markdown also has `<https://…>` and bare addresses, and labels
//! have `$(icon)`. The hover of Manage Models even trusts commands. A word joiner (U+2060) inside such a construct makes it
//! ordinary text again: nobody sees it, and an address that is copied still works, because URL parsers ignore it in a host.

const WORD_JOINER: char = '\u{2060}';

/// VS Code itself truncates notifications at this length, in UTF-16 units.
const MAX_LENGTH: usize = 1_000;

/// Returns one line that looks the same but in which nothing can be clicked. Applying it twice changes nothing.
pub fn link_free(text: &str) -> String {
    let shown = shorten(&visible(text));
    let letters: Vec<char> = shown.chars().collect();
    let mut result = String::with_capacity(shown.len());
    for (at, letter) in letters.iter().enumerate() {
        let (before, after) = letters.split_at(at);
        if is_link(before, after) {
            result.push(WORD_JOINER);
        }
        result.push(*letter);
    }
    if ends_with(&letters, "://") {
        result.push(WORD_JOINER);
    }
    result
}

/// Returns the same for Markdown with several paragraphs.
pub fn link_free_lines(text: &str) -> String {
    text.split('\n').map(link_free).collect::<Vec<_>>().join("\n")
}

/// Returns a text in one line, without characters that can't be seen, such as those that reorder text.
fn visible(text: &str) -> String {
    let is_seen = |letter: &char| letter.is_whitespace() || !(letter.is_control() || is_format(*letter));
    let seen: String = text.chars().filter(is_seen).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is invisible: a format character of Unicode (category `Cf`), or U+FFFD, which replaces an
/// unpaired surrogate.
fn is_format(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}' | '\u{890}'..='\u{891}' | '\u{8E2}'
        | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFD}' | '\u{110BD}' | '\u{110CD}'
        | '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0001}'
        | '\u{E0020}'..='\u{E007F}')
}

fn shorten(text: &str) -> String {
    let mut units = 0;
    let ends = text.char_indices().map(|(at, letter)| {
        units += letter.len_utf16();
        (at + letter.len_utf8(), units)
    });
    let ends: Vec<(usize, usize)> = ends.take_while(|(_, units)| *units <= MAX_LENGTH).collect();
    if ends.last().is_none_or(|(end, _)| *end == text.len()) {
        return text.to_owned();
    }
    let end = ends.iter().rev().find(|(_, units)| *units < MAX_LENGTH).map_or(0, |(end, _)| *end);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// Returns whether a link, an icon or a block of Markdown would go on here.
fn is_link(before: &[char], after: &[char]) -> bool {
    let next = after.first().copied().unwrap_or_default();
    match before.last() {
        // [label]: target, and what else begins a block of Markdown
        None => begins_block(after),
        // [label](target), ![image](target), $(icon)
        Some(']' | '$') if next == '(' => true,
        // <https://…>, <command:…>, <someone@example.com>, <a href=…>, <!--
        Some('<') if next.is_ascii_alphanumeric() || "/!?.+_-".contains(next) => true,
        // https://…, and every other scheme
        Some('/') => ends_with(before, "://"),
        // www.example.com
        Some('.') => ends_with(before, "www.") && (next.is_ascii_alphanumeric() || next == '-'),
        // someone@example.com; a version such as claude@latest stays as it is
        Some('@') => {
            let is_name = |letter: &&char| letter.is_ascii_alphanumeric() || "_-".contains(**letter);
            let name = after.iter().take_while(is_name).count();
            name > 0 && after.get(name) == Some(&'.')
        }
        _ => false,
    }
}

/// Returns whether Markdown would not show a line that begins like this as a paragraph.
fn begins_block(line: &[char]) -> bool {
    let digits = line.iter().take_while(|letter| letter.is_ascii_digit()).count();
    match line {
        ['[' | '#' | '>' | '|' | '`', ..] | ['~', '~', '~', ..] | ['*' | '+' | '-', ' ', ..] => true,
        _ => digits > 0 && matches!(line.get(digits..), Some(['.' | ')', ' ', ..])),
    }
}

fn ends_with(letters: &[char], ending: &str) -> bool {
    let mut last = letters.iter().rev();
    ending.chars().rev().all(|letter| last.next().is_some_and(|last| last.eq_ignore_ascii_case(&letter)))
}
