//! The sources an answer cites, gathered while the text streams and given after it.
//!
//! Titles and addresses come from web pages: they are escaped, and only http(s) addresses become links.

use super::streamed::Streamed;
use crate::boundary::{Citation, Part};
use crate::wire::Annotation;

/// More would bury the answer, and each is searched for in the whole text.
const MAX_CITATIONS: usize = 100;
const MAX_TITLE_CHARS: usize = 200;
const MAX_URL_BYTES: usize = 2048;

#[derive(Clone, Debug, Default)]
pub(super) struct Citations {
    list: Vec<Citation>,
    given: bool,
}

impl Citations {
    pub fn add(&mut self, annotation: &Annotation<'_>) {
        let Some(url) = annotation.url.as_deref().and_then(web_address) else { return };
        if self.list.len() < MAX_CITATIONS && self.list.iter().all(|citation| citation.url != url) {
            let title = annotation.title.as_deref().map(|title| plain_line(title, MAX_TITLE_CHARS));
            let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| url.clone());
            self.list.push(Citation { url, title });
        }
    }

    /// The sources that the text does not link itself, once.
    pub fn take_part(&mut self, text: &Streamed) -> Option<Part> {
        if self.given || self.list.is_empty() {
            return None;
        }
        self.part_beside(text)
    }

    #[inline(never)]
    fn part_beside(&mut self, text: &Streamed) -> Option<Part> {
        let citations: Vec<Citation> =
            self.list.iter().filter(|citation| !text.contains(&citation.url)).cloned().collect();
        if citations.is_empty() {
            return None;
        }
        self.given = true;
        let lines: Vec<String> = citations
            .iter()
            .map(|citation| format!("- [{}]({})", escape_markdown(&citation.title), escape_url(&citation.url)))
            .collect();
        Some(Part::Citations { citations, markdown: format!("\n\nSources:\n{}\n", lines.join("\n")) })
    }
}

fn web_address(url: &str) -> Option<String> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| {
        let (start, rest) = url.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })?;
    let clean =
        !rest.is_empty() && url.len() <= MAX_URL_BYTES && !url.chars().any(|c| c.is_whitespace() || is_hidden(c));
    clean.then(|| url.to_owned())
}

/// One line without control characters and without those that reorder or hide text.
pub(crate) fn plain_line(text: &str, max_chars: usize) -> String {
    let one_line = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let visible: String = one_line.filter(|c| !is_hidden(*c)).collect();
    visible.trim().chars().take(max_chars).collect()
}

/// Control characters, and others that are not seen or change how the text around them is shown.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{061C}')
}

fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Characters that could end the link or start something else.
fn escape_url(url: &str) -> String {
    let mut escaped = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '(' => escaped.push_str("%28"),
            ')' => escaped.push_str("%29"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            '"' => escaped.push_str("%22"),
            '\\' => escaped.push_str("%5C"),
            '`' => escaped.push_str("%60"),
            _ => escaped.push(c),
        }
    }
    escaped
}
