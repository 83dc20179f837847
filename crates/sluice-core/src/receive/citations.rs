//! The sources that an answer cites. They are collected while the text streams and delivered after it.
//!
//! Titles and addresses come from web pages, so they are escaped, and only http(s) addresses become links.

use std::collections::BTreeSet;

use memchr::memchr2_iter;

use super::sink::Sink;
use super::streamed::Streamed;
use crate::boundary::{Citation, Part};
use crate::wire::Annotation;

/// More sources would bury the answer.
const MAX_CITATIONS: usize = 100;
const MAX_TITLE_CHARS: usize = 200;
const MAX_URL_BYTES: usize = 2048;
/// An address and a title are delivered twice, once escaped. This is how much more work that is than delivering text.
const WORK_FOR_A_BYTE: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Citations {
    list: Vec<WebPage>,
    /// How many of them are known to be linked in the text.
    linked: usize,
    /// The sum of the work that delivering them takes.
    work: usize,
    given: bool,
}

#[derive(Clone, Debug)]
struct WebPage {
    url: String,
    title: String,
}

impl Citations {
    pub(super) fn add(&mut self, annotation: &Annotation<'_>, sink: &mut Sink) {
        if self.given || self.list.len() == MAX_CITATIONS {
            return;
        }
        let Some(url) = annotation.url.as_deref().and_then(web_address) else { return };
        if self.list.iter().all(|page| page.url != url) {
            let title = annotation.title.as_deref().map(|title| plain_line(title, MAX_TITLE_CHARS));
            let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| url.clone());
            let work = WORK_FOR_A_BYTE * (url.len() + title.len());
            sink.retain_waiting(work);
            self.work += work;
            self.list.push(WebPage { url, title });
        }
    }

    /// Returns the sources that the text doesn't link to, each once. At most `Sink::bytes_to_search` bytes of text are
    /// searched for all of them together.
    pub(super) fn take_part(&mut self, text: &Streamed, sink: &mut Sink) -> Option<Part> {
        if self.given || self.list.len() == self.linked {
            return None;
        }
        let part = self.part_beside(text, &mut sink.bytes_to_search)?;
        self.given = true;
        self.list = Vec::new();
        sink.release_waiting(self.work);
        Some(part)
    }

    #[inline(never)]
    fn part_beside(&mut self, text: &Streamed, bytes_to_search: &mut usize) -> Option<Part> {
        let new = self.list.get(self.linked..).unwrap_or_default();
        let mut addresses = Addresses::new(new.iter().map(|page| page.url.as_str()));
        for text in text.texts() {
            addresses.look_for_links(text, bytes_to_search);
        }
        let citations: Vec<Citation> = (new.iter().filter(|page| !addresses.is_linked(&page.url)).cloned())
            .map(|WebPage { url, title }| Citation { url: Some(url), title: Some(title), ..Citation::default() })
            .collect();
        if citations.is_empty() {
            self.linked = self.list.len();
            return None;
        }
        Some(citations_part(citations))
    }
}

/// Adds the Markdown to a list of sources.
pub(crate) fn citations_part(citations: Vec<Citation>) -> Part {
    let line = |citation: &Citation| {
        let url = citation.url.as_deref().and_then(web_address);
        let name = [&citation.title, &citation.filename, &citation.url].into_iter().find_map(Option::as_deref);
        let name = escape_markdown(&plain_line(name.unwrap_or_default(), MAX_TITLE_CHARS));
        match url {
            Some(url) => format!("- [{name}]({})\n", escape_url(&url)),
            None => format!("- {name}\n"),
        }
    };
    let lines: String = citations.iter().map(line).collect();
    Part::Citations { markdown: format!("\n\nSources:\n{lines}"), citations }
}

/// Addresses that are searched for in a text, all in one pass.
struct Addresses<'a> {
    /// In alphabetical order, so that the longest address at the start of a text is found by binary search.
    list: Vec<Address<'a>>,
}

struct Address<'a> {
    url: &'a str,
    /// The longest other address that is a prefix of this one.
    start: Option<usize>,
    is_linked: bool,
}

impl<'a> Addresses<'a> {
    fn new(urls: impl Iterator<Item = &'a str>) -> Self {
        let mut sorted = BTreeSet::new();
        sorted.extend(urls);
        let mut list: Vec<Address<'a>> = Vec::with_capacity(sorted.len());
        for url in sorted {
            let mut start = list.len().checked_sub(1);
            while let Some(other) = start.and_then(|start| list.get(start))
                && !url.starts_with(other.url)
            {
                start = other.start;
            }
            list.push(Address { url, start, is_linked: false });
        }
        Self { list }
    }

    fn is_linked(&self, url: &str) -> bool {
        let found = self.list.binary_search_by(|address| address.url.cmp(url)).ok();
        found.and_then(|found| self.list.get(found)).is_some_and(|address| address.is_linked)
    }

    /// Marks the addresses that occur in the text, as far as the budget allows.
    fn look_for_links(&mut self, text: &str, budget: &mut usize) {
        const LETTERS_AT_THE_COST_OF_ONE: usize = 16;
        const COST_OF_A_LOOK: usize = 32;
        let text = text.as_bytes();
        *budget = budget.saturating_sub(text.len() / LETTERS_AT_THE_COST_OF_ONE);
        for at in memchr2_iter(b'h', b'H', text) {
            let Some(rest) = text.get(at..).filter(|rest| has_scheme(rest)) else { continue };
            let place = self.list.partition_point(|address| address.url.as_bytes() <= rest);
            let neighbours = self.list.get(place.saturating_sub(1)..).unwrap_or_default().iter().take(2);
            let compared: usize = neighbours.map(|address| common_start(address.url.as_bytes(), rest)).sum();
            *budget = budget.saturating_sub(COST_OF_A_LOOK + compared);
            if *budget == 0 {
                return;
            }
            // The longest address at the start of the rest is either the one before this position or one of its
            // prefixes. If an address is known to be linked, so are its prefixes.
            let mut candidate = place.checked_sub(1);
            while let Some(address) = candidate.and_then(|candidate| self.list.get_mut(candidate))
                && !address.is_linked
            {
                address.is_linked = rest.starts_with(address.url.as_bytes());
                candidate = address.start;
            }
        }
    }
}

fn has_scheme(text: &[u8]) -> bool {
    text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
}

fn common_start(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
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

/// Returns one line without control characters and without characters that reorder or hide text.
pub(crate) fn plain_line(text: &str, max_chars: usize) -> String {
    // Ids and names of models are nearly always like this.
    if text.len() <= max_chars && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return text.to_owned();
    }
    visible_line(text, max_chars)
}

#[inline(never)]
fn visible_line(text: &str, max_chars: usize) -> String {
    let one_line = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let visible = one_line.filter(|c| !is_hidden(*c)).skip_while(|c| *c == ' ');
    let mut line: String = visible.take(max_chars).collect();
    line.truncate(line.trim_end().len());
    line
}

/// Control characters, and others that are invisible or change how the text around them is shown.
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
